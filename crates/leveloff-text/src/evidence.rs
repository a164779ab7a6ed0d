//! What the verdict rests on: how fast it grows or how level it is, and when an open question will
//! be settled.

use leveloff_classifier::verdict::{Grade, Judgement, Reason, RunVerdict, Shape, Subject, Verdict};

use crate::judged::Judged;
use crate::rate::{CountRate, MemoryRate};
use crate::sizing::Sizing;
use crate::steps;
use crate::subject::things;
use crate::verdict::{finishing_words, hidden, history_words, sentence, settling, verdict_words};
use crate::x_position::extent;

/// A label and what is said under it; an empty label continues the row above.
pub type Row = (&'static str, String);

/// All of it, for a terminal as for a page.
pub fn rows(judged: &Judged) -> Vec<Row> {
    let mut rows = Rows::default();
    write(judged, &mut rows);
    rows.0
}

#[derive(Default)]
struct Rows(Vec<Row>);

impl Rows {
    fn row(&mut self, label: &'static str, text: &str) {
        self.0.push((label, text.to_owned()));
    }
}

fn write(judged: &Judged, rows: &mut Rows) {
    let run = judged.verdict;
    if let Some(finishing) = finishing_words(run) {
        rows.row("outlook", &finishing);
    }
    if let Some(history) = history_words(run) {
        rows.row("earlier", &history);
    }
    match run.verdict {
        Verdict::Level(_) => write_level(judged, rows),
        Verdict::Leak(Grade::Early | Grade::Confirmed) => {
            write_growth(run, rows);
            rows.row("", &sentence(run, judged.stated));
        }
        Verdict::Leak(Grade::Suspected) | Verdict::WarmingUp => {
            write_growth(run, rows);
            rows.row("", &sentence(run, judged.stated));
            write_settling(judged, rows);
        }
        Verdict::Undecided => {
            rows.row("why", &sentence(run, judged.stated));
            write_growth(run, rows);
            write_settling(judged, rows);
        }
    }
    write_memory_beside(run, rows);
    write_steps(judged, rows);
}

/// Where the steps come from, and what a horizon in steps means without them.
fn write_steps(judged: &Judged, rows: &mut Rows) {
    if let Some(source) = judged.progress.and_then(steps::source_words) {
        rows.row("steps", &source);
    }
    if let Some(text) = steps::unapplied_horizon(judged.verdict, judged.stated) {
        rows.row("horizon", &text);
    }
}

fn write_settling(judged: &Judged, rows: &mut Rows) {
    let mut label = "decided";
    for line in settling(judged.verdict, judged.stated) {
        rows.row(label, &line);
        label = "";
    }
}

fn write_growth(run: &RunVerdict, rows: &mut Rows) {
    let Some(rate) = run.judgement.rate else {
        return write_rise(run, rows);
    };
    let label = if rate.value.0 < 0.0 {
        "falling"
    } else {
        "growing"
    };
    let shape = shape_words(run.shape);
    match things(run.decisive) {
        Some(things) => {
            let rate = CountRate::new(rate, run.x_unit, things);
            rows.row(label, &format!("{}{shape}", rate.with_interval()));
        }
        None => {
            let rate = MemoryRate::new(rate, run.x_unit);
            rows.row(label, &format!("{}{shape}", rate.with_interval()));
            let also = rate.conversions(run.pace);
            if !also.is_empty() {
                rows.row("", &format!("= {}", also.join(" = ")));
            }
        }
    }
}

/// With too few points for a rate: how far it rose.
fn write_rise(run: &RunVerdict, rows: &mut Rows) {
    let Judgement {
        onset_level, level, ..
    } = run.judgement;
    if let (Verdict::WarmingUp, Some(from), Some(to)) = (run.verdict, onset_level, level) {
        let rise = format!("{} → {}, at every point so far", from.bytes(), to.bytes());
        rows.row("growing", &rise);
    }
}

fn shape_words(shape: Shape) -> &'static str {
    match shape {
        Shape::Linear => ", straight",
        Shape::Staircase => ", in lasting jumps",
        Shape::Sawtooth => ", below a sawtooth",
        Shape::Saturating => ", bending",
        Shape::Creeping => ", slowly",
        Shape::Filling => ", straight",
        Shape::Flat | Shape::Jump | Shape::Shrinking => "",
    }
}

fn write_level(judged: &Judged, rows: &mut Rows) {
    let run = judged.verdict;
    let bound = bound(run);
    match warmup(run) {
        Some(warmup) => rows.row("warmup", &format!("{warmup}, then {bound}")),
        None => rows.row("level", &bound),
    }
    // That nothing grows has just been said.
    if run.judgement.reason != Reason::Steady {
        rows.row("", &sentence(run, judged.stated));
    }
    if let Some(hidden) = hidden(run) {
        rows.row("open", &hidden);
    }
    if let Some(sizing) = Sizing::of_memory(&run.memory) {
        rows.row("sizing", &sizing.line());
    }
}

/// `5.4 GiB → 17.4 GiB over 88 steps`, if it grew at all.
pub fn warmup(run: &RunVerdict) -> Option<String> {
    let judgement = &run.judgement;
    let (first, level) = (judgement.extremes?.first, judgement.level?);
    let judged = judgement.span?.0;
    let (begun, ended) = (
        judgement
            .startup_end
            .map_or(judged, |_| run.span.map_or(judged, |span| span.0)),
        judgement.level_since_x?,
    );
    let grew = ended > begun && level - first > judgement.material;
    grew.then(|| {
        let over = extent(ended - begun, run.x_unit);
        format!("{} → {} over {over}", first.bytes(), level.bytes())
    })
}

/// What a level may hide: `no growth faster than 410 KiB per step`.
pub fn bound(run: &RunVerdict) -> String {
    let rate = run.judgement.rate;
    let at_most = rate.and_then(|rate| MemoryRate::new(rate, run.x_unit).at_most());
    match at_most {
        Some(at_most) => format!("no growth faster than {at_most}"),
        None => "no growth".to_owned(),
    }
}

fn write_memory_beside(run: &RunVerdict, rows: &mut Rows) {
    if let Some(text) = memory_beside(run) {
        rows.row("all memory", &text);
    }
}

/// When a part or a count decided, what the run's memory as a whole does.
pub fn memory_beside(run: &RunVerdict) -> Option<String> {
    if run.decisive == Subject::Memory {
        return None;
    }
    let Judgement { level, rate, .. } = run.memory;
    let mut text = verdict_words(run.memory.verdict).to_lowercase();
    if let Some(level) = level {
        text += &format!(" at {}", level.bytes());
    }
    if let (Some(rate), false) = (rate, run.memory.verdict.is_level()) {
        let rate = MemoryRate::new(rate, run.x_unit).with_interval();
        text += &format!(", growing {rate}");
    }
    Some(text)
}
