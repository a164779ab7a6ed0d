//! How much a line grew, and whether it is the culprit.

use leveloff_model::allocation::{AllocationSite, BlockKind, Holder, MissedBlocks, SiteReading};

use crate::curve::Curve;
use crate::judge::{Facts, Quantity, judge};
use crate::units::{Amount, AmountPerX, X};
use crate::verdict::{Rate, RunVerdict, Verdict};

/// A line that allocated, and how much more of that is alive than before.
#[derive(Debug, Clone, PartialEq)]
pub struct LineGrowth {
    /// Where.
    pub site: AllocationSite,
    /// Growth, in bytes.
    pub growth: Amount,
    /// Half the width of its 95 % interval.
    pub margin: Amount,
    /// The part of the growth of all lines.
    pub share: f64,
    /// Half the width of its 95 % interval.
    pub share_margin: f64,
    /// Sampled blocks that it rests on.
    pub blocks: i64,
    /// Growth for each unit of the run's axis.
    pub rate: Option<Rate>,
    /// What is said of it.
    pub certainty: Certainty,
    /// Whether most of it is small Python objects, which Python recycles between lines.
    pub is_recycled: bool,
    /// What keeps the memory, where that was looked for and found.
    pub holder: Option<Holder>,
}

/// The part of a run over which growth is counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LineWindow {
    /// Where it begins; else where the growth that the verdict names does.
    pub from: Option<X>,
    /// Where it ends; else with the run.
    pub to: Option<X>,
}

/// What is said of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// It leaks: it stands out, and the judge calls its own series a leak.
    Confirmed,
    /// It stands out of the sampling error and of all other lines.
    Candidate,
    /// It grew, by no more than others or chance.
    Unclear,
}

impl Certainty {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Certainty::Confirmed => "confirmed",
            Certainty::Candidate => "candidate",
            Certainty::Unclear => "unclear",
        }
    }
}

/// Sampled blocks below which no line is named: the relative error of 20 is 22 %.
const FEWEST_BLOCKS: i64 = 20;
/// Standard errors that a growth has to exceed: once in 2,000 lines by chance.
const LEAST_ERRORS: f64 = 3.3;
/// The share of the growth that must be in the later half: a cache that filled is none.
const LATER_SHARE: f64 = 0.25;
/// Of a normal distribution: 95 % lie within.
const TWO_SIDED_95: f64 = 1.96;
/// Where no block of another line was sampled, others may still have this many (95 %; the rule of three).
const UNSEEN_BLOCKS: f64 = 3.0;
/// If more of the blocks that were sampled are in no line, another line may be the one that grew.
const MOST_MISSED: f64 = 0.1;
/// Without an onset, growth counts from here: what came before is start-up.
const START_UP_SHARE: f64 = 0.25;

/// A line's sums at each reading.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) site: AllocationSite,
    bytes: Vec<f64>,
    blocks: Vec<i64>,
    variance: Vec<f64>,
    freed: Vec<u64>,
    /// What its small Python objects hold at the end, and all.
    objects: f64,
    holder: Option<Holder>,
}

impl Line {
    pub(super) fn new(site: AllocationSite, readings: usize) -> Line {
        Line {
            site,
            bytes: vec![0.0; readings],
            blocks: vec![0; readings],
            variance: vec![0.0; readings],
            freed: vec![0; readings],
            objects: 0.0,
            holder: None,
        }
    }

    /// Adds a site, which holds what a point says until the next one. The first point is what it held before it grew.
    pub(super) fn add(&mut self, site: &AllocationSite, points: &[(usize, SiteReading)]) {
        let end = self.bytes.len();
        let ends = points
            .iter()
            .skip(1)
            .map(|(number, _)| *number)
            .chain([end]);
        let mut from = 0;
        for ((_, held), until) in points.iter().zip(ends) {
            for n in from..until.min(end) {
                self.bytes[n] += held.live.0 as f64;
                self.blocks[n] += i64::try_from(held.blocks).unwrap_or(i64::MAX);
                self.variance[n] += (held.error.0 as f64).powi(2);
                self.freed[n] += held.freed;
            }
            from = until;
        }
        let last = points.last().map_or(0.0, |(_, held)| held.live.0 as f64);
        if site.kind == BlockKind::PythonObject {
            self.objects += last;
        }
        if last * 2.0 > self.bytes.last().copied().unwrap_or(0.0) {
            self.site = site.clone();
        }
    }

    /// Of several holders, the one that keeps most stands for the line.
    pub(super) fn add_holder(&mut self, holder: Option<&Holder>) {
        let kept = |holder: &Holder| holder.kept;
        if holder.map(kept) > self.holder.as_ref().map(kept) {
            self.holder = holder.cloned();
        }
    }

    /// Leaves out the readings after this one.
    fn truncate(&mut self, to: usize) {
        self.bytes.truncate(to + 1);
        self.blocks.truncate(to + 1);
        self.variance.truncate(to + 1);
        self.freed.truncate(to + 1);
    }

    fn growth(&self, from: usize) -> f64 {
        self.bytes.last().unwrap_or(&0.0) - self.bytes[from]
    }

    /// Blocks that are alive at both ends have the same error there, which cancels; which these are is known only if
    /// nothing was freed.
    fn growth_variance(&self, from: usize) -> f64 {
        let to = self.bytes.len() - 1;
        match self.freed[to] == self.freed[from] {
            true => (self.variance[to] - self.variance[from]).max(0.0),
            false => self.variance[to] + self.variance[from],
        }
    }

    fn is_leak(&self, xs: &[f64], verdict: &RunVerdict) -> bool {
        let mut curve = Curve::of_finished();
        for (x, bytes) in xs.iter().zip(&self.bytes) {
            curve.push(*x, *bytes);
        }
        let own = judge(&curve, verdict.x_unit, Quantity::Memory, &Facts::default());
        matches!(own.verdict, Verdict::Leak(_))
    }
}

/// All readings: where they are, what was alive, and what was missed.
#[derive(Debug, Clone, Default)]
pub(super) struct Readings {
    pub(super) xs: Vec<f64>,
    pub(super) live: Vec<f64>,
    pub(super) missed: Vec<MissedBlocks>,
}

impl Readings {
    /// Leaves out those after `to`; returns the last one that is left.
    fn truncate(&mut self, to: f64) -> Option<usize> {
        let count = self.xs.iter().filter(|x| **x <= to).count();
        self.xs.truncate(count);
        self.live.truncate(count);
        self.missed.truncate(count);
        count.checked_sub(1)
    }

    /// The part of the blocks sampled since a reading that is in no line.
    fn missed_share(&self, from: usize) -> f64 {
        let (Some(before), Some(after)) = (self.missed.get(from), self.missed.last()) else {
            return 0.0;
        };
        let missed = after.missed.saturating_sub(before.missed) as f64;
        missed / after.sampled.saturating_sub(before.sampled).max(1) as f64
    }
}

/// The lines that grew within a window, most first.
pub(super) fn lines(
    mut lines: Vec<Line>,
    mut readings: Readings,
    verdict: &RunVerdict,
    window: &LineWindow,
) -> Vec<LineGrowth> {
    let to = readings.truncate(window.to.map_or(f64::INFINITY, |to| to.0));
    let Some((to, from)) = to.zip(base(&readings.xs, verdict, window.from)) else {
        return Vec::new();
    };
    lines.iter_mut().for_each(|line| line.truncate(to));
    let mut grown: Vec<(f64, Line)> = lines
        .into_iter()
        .map(|line| (line.growth(from), line))
        .filter(|(growth, _)| *growth > 0.0)
        .collect();
    grown.sort_by(|a, b| b.0.total_cmp(&a.0));
    let totals = Totals::of(&grown, &readings.live, from);
    let xs = &readings.xs;
    let mut rows: Vec<LineGrowth> = grown
        .iter()
        .map(|(growth, line)| totals.row(*growth, line, xs, from))
        .collect();
    let runner_up = rows.get(1).map_or(0.0, |it| it.growth.0 + it.margin.0);
    if let (Some(first), Some((_, line))) = (rows.first_mut(), grown.first())
        && stands_out(first, line, xs, from)
        && first.growth.0 - first.margin.0 > runner_up
        && readings.missed_share(from) <= MOST_MISSED
    {
        let is_confirmed = matches!(verdict.verdict, Verdict::Leak(_)) && line.is_leak(xs, verdict);
        first.certainty = match is_confirmed {
            true => Certainty::Confirmed,
            false => Certainty::Candidate,
        };
    }
    rows
}

fn stands_out(row: &LineGrowth, line: &Line, xs: &[f64], from: usize) -> bool {
    let middle = (xs[from] + xs[xs.len() - 1]) / 2.0;
    let half = xs.iter().position(|x| *x >= middle).unwrap_or(from);
    row.blocks >= FEWEST_BLOCKS
        && row.growth.0 * TWO_SIDED_95 > LEAST_ERRORS * row.margin.0
        && line.growth(half) >= LATER_SHARE * row.growth.0
}

/// The reading that growth counts from: the one that is asked for, else the onset of a leak, else the end of the start-up.
fn base(xs: &[f64], verdict: &RunVerdict, asked: Option<X>) -> Option<usize> {
    let (first, last) = (*xs.first()?, *xs.last()?);
    let onset = match verdict.verdict {
        Verdict::Leak(_) => verdict.growth_since_x().map(|x| x.0),
        _ => None,
    };
    let start_up = first + START_UP_SHARE * (last - first);
    let from = onset.filter(|onset| *onset < last).unwrap_or(start_up);
    let from = asked.map_or(from, |asked| asked.0);
    let from = xs.iter().position(|x| *x >= from)?;
    (from + 1 < xs.len()).then_some(from)
}

/// All lines together.
struct Totals {
    growth: f64,
    variance: f64,
}

impl Totals {
    /// What no recorded line accounts for is growth, too.
    fn of(grown: &[(f64, Line)], live: &[f64], from: usize) -> Totals {
        let recorded: f64 = grown.iter().map(|(growth, _)| growth).sum();
        let all = live.last().unwrap_or(&0.0) - live[from];
        Totals {
            growth: recorded.max(all),
            variance: grown
                .iter()
                .map(|(_, line)| line.growth_variance(from))
                .sum(),
        }
    }

    fn row(&self, growth: f64, line: &Line, xs: &[f64], from: usize) -> LineGrowth {
        let variance = line.growth_variance(from);
        let margin = TWO_SIDED_95 * variance.sqrt();
        let share = growth / self.growth.max(1.0);
        // A part of a sum: its own error counts for what it is not, the others' for what it is.
        let others = (self.variance - variance).max(0.0);
        let share_variance = (1.0 - share).powi(2) * variance + share.powi(2) * others;
        let to = xs.len() - 1;
        let length = xs[to] - xs[from];
        let rate = |bytes: f64| AmountPerX(bytes / length);
        let blocks = line.blocks[to] - line.blocks[from];
        LineGrowth {
            site: line.site.clone(),
            growth: Amount(growth),
            margin: Amount(margin),
            share,
            share_margin: (TWO_SIDED_95 * share_variance.sqrt() / self.growth.max(1.0))
                .max(UNSEEN_BLOCKS / blocks.max(1) as f64),
            blocks,
            rate: (length > 0.0).then(|| Rate {
                value: rate(growth),
                low: rate(growth - margin),
                high: rate(growth + margin),
            }),
            certainty: Certainty::Unclear,
            is_recycled: line.objects * 2.0 > line.bytes[to],
            holder: line.holder.clone(),
        }
    }
}
