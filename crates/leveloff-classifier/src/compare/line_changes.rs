//! Which lines of the program make more or less memory than before.
//!
//! A line keeps its text when code above it changes, so it is found again by file, function and text; by its number only
//! where the text is not known.

use leveloff_model::allocation::{AllocationSite, StackFrame};

use super::ChangeFinding;
use crate::allocation_history::LineGrowth;
use crate::units::AmountPerX;

/// A smaller part of a run's growth explains nothing.
const SHARE_COMPARED: f64 = 0.03;
/// A line that was not seen has made fewer bytes than this many sampled blocks (95 %; the rule of three).
const UNSEEN_BLOCKS: f64 = 3.0;

/// A line, before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChange {
    /// The line as it is now; as it was, if it is not seen any more.
    pub site: AllocationSite,
    /// What it added before; `None` if it was not seen to grow.
    pub before: Option<LineRate>,
    /// What it adds now.
    pub after: Option<LineRate>,
    /// After less before.
    pub change: AmountPerX,
    /// The lower end of the 95 % interval of the change.
    pub low: AmountPerX,
    /// Its upper end.
    pub high: AmountPerX,
    /// Whether it is more than the sampling error.
    pub finding: ChangeFinding,
}

/// What a line adds for each unit of the run's axis: the mean of the runs of a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineRate {
    /// The mean.
    pub rate: AmountPerX,
    /// Half the width of its 95 % interval.
    pub margin: AmountPerX,
}

/// The lines whose memory grew in the runs of either side, the largest change first. All runs have the same axis.
pub fn line_changes(before: &[&[LineGrowth]], after: &[&[LineGrowth]]) -> Vec<LineChange> {
    let mut sites: Vec<&AllocationSite> = Vec::new();
    for line in after.iter().chain(before).copied().flatten() {
        let is_worth_comparing = line.share >= SHARE_COMPARED && line.blocks > 0;
        if is_worth_comparing && !sites.iter().any(|site| is_same_line(site, &line.site)) {
            sites.push(&line.site);
        }
    }
    let (unseen_before, unseen_after) = (unseen(before), unseen(after));
    let changes = sites.into_iter().map(|site| {
        let (was, is) = (mean(site, before), mean(site, after));
        let ends = (was, unseen_before, is, unseen_after);
        change(site.clone(), ends)
    });
    let mut changes: Vec<LineChange> = changes.collect();
    changes.sort_by(|a, b| b.change.0.abs().total_cmp(&a.change.0.abs()));
    changes
}

fn change(
    site: AllocationSite,
    (before, unseen_before, after, unseen_after): (Option<LineRate>, f64, Option<LineRate>, f64),
) -> LineChange {
    let ends = |line: Option<LineRate>, unseen: f64| {
        line.map_or((0.0, unseen), |line| (line.rate.0, line.margin.0))
    };
    let ((was, before_margin), (is, after_margin)) =
        (ends(before, unseen_before), ends(after, unseen_after));
    let change = is - was;
    let margin = before_margin.hypot(after_margin);
    LineChange {
        site,
        before,
        after,
        change: AmountPerX(change),
        low: AmountPerX(change - margin),
        high: AmountPerX(change + margin),
        finding: match (change - margin > 0.0, change + margin < 0.0) {
            (true, _) => ChangeFinding::More,
            (_, true) => ChangeFinding::Less,
            _ => ChangeFinding::Noise,
        },
    }
}

/// The mean over the runs of a side, in which a line that was not seen has added nothing.
fn mean(site: &AllocationSite, runs: &[&[LineGrowth]]) -> Option<LineRate> {
    let found = runs.iter().filter_map(|lines| {
        let line = lines.iter().find(|line| is_same_line(&line.site, site))?;
        line.rate
    });
    let (mut rate, mut variance, mut count) = (0.0, 0.0, 0_u32);
    for one in found {
        rate += one.value.0;
        variance += (one.high.0 - one.value.0).powi(2);
        count += 1;
    }
    let all = runs.len().max(1) as f64;
    (count > 0).then_some(LineRate {
        rate: AmountPerX(rate / all),
        margin: AmountPerX(variance.sqrt() / all),
    })
}

/// What a line may have added without being seen: some blocks of the usual size, over the runs of a side.
fn unseen(runs: &[&[LineGrowth]]) -> f64 {
    let blocks = runs.iter().copied().flatten().filter_map(|line| {
        let rate = line.rate?.value.0;
        (line.blocks > 0).then(|| rate / line.blocks as f64)
    });
    UNSEEN_BLOCKS * blocks.fold(0.0, f64::max)
}

fn is_same_line(a: &AllocationSite, b: &AllocationSite) -> bool {
    let (Some(mine), Some(other)) = (a.own_frame(), b.own_frame()) else {
        return false;
    };
    let is_text_known = a.source.is_some() && b.source.is_some();
    file_name(mine) == file_name(other)
        && mine.function == other.function
        && match is_text_known {
            true => a.source == b.source,
            false => mine.line == other.line,
        }
}

/// The last part of the path: two checkouts of one program lie in different directories.
fn file_name(frame: &StackFrame) -> Option<&str> {
    frame.file.as_deref()?.rsplit('/').next()
}

#[cfg(test)]
mod tests {
    use leveloff_model::allocation::{BlockKind, SiteId};
    use leveloff_model::process::Pid;

    use super::*;
    use crate::allocation_history::Certainty;
    use crate::units::Amount;
    use crate::verdict::Rate;

    fn line(directory: &str, number: u32, source: Option<&str>, rate: f64) -> LineGrowth {
        let frame = StackFrame {
            function: "step".to_owned(),
            file: Some(format!("{directory}/train.py")),
            line: Some(number),
            is_python: true,
        };
        LineGrowth {
            site: AllocationSite {
                id: SiteId(0),
                pid: Pid(1),
                kind: BlockKind::Heap,
                stack: vec![frame],
                source: source.map(str::to_owned),
            },
            growth: Amount(rate * 100.0),
            margin: Amount(rate * 10.0),
            share: 0.9,
            share_margin: 0.05,
            blocks: 100,
            rate: Some(Rate {
                value: AmountPerX(rate),
                low: AmountPerX(0.9 * rate),
                high: AmountPerX(1.1 * rate),
            }),
            certainty: Certainty::Confirmed,
            is_recycled: false,
            holder: None,
        }
    }

    fn findings(before: &[LineGrowth], after: &[LineGrowth]) -> Vec<ChangeFinding> {
        let changes = line_changes(&[before], &[after]);
        changes.iter().map(|change| change.finding).collect()
    }

    #[test]
    fn a_line_that_moved_is_found_again_by_its_text() {
        let before = [line("/a", 10, Some("keep(y)"), 1000.0)];
        let after = [line("/b", 14, Some("keep(y)"), 1050.0)];
        let changes = line_changes(&[&before], &[&after]);
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].finding, ChangeFinding::Noise);
        assert!((changes[0].change.0 - 50.0).abs() < 1e-9);
    }

    #[test]
    fn a_line_that_came_makes_more_and_one_that_went_makes_less() {
        let one = [line("/a", 10, Some("keep(y)"), 1000.0)];
        let other = [line("/a", 20, Some("log(y)"), 3000.0)];
        assert_eq!(
            findings(&one, &other),
            [ChangeFinding::More, ChangeFinding::Less]
        );
        let changes = line_changes(&[&one], &[&[]]);
        assert_eq!(changes[0].finding, ChangeFinding::Less);
        assert_eq!(changes[0].after, None);
    }

    #[test]
    fn without_text_the_number_tells_lines_apart() {
        let one = [line("/a", 10, None, 1000.0)];
        let other = [line("/a", 11, None, 1000.0)];
        assert_eq!(findings(&one, &other).len(), 2);
        assert_eq!(findings(&one, &one), [ChangeFinding::Noise]);
    }

    #[test]
    fn repeats_count_once_each_and_a_run_without_the_line_as_zero() {
        let with = [line("/a", 10, None, 1000.0)];
        let changes = line_changes(&[&with, &[]], &[&with, &with]);
        let before = changes[0].before.unwrap();
        assert!((before.rate.0 - 500.0).abs() < 1e-9);
        assert_eq!(changes[0].finding, ChangeFinding::More);
    }
}
