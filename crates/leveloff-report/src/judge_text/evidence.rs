//! What the verdict rests on: how fast it grows or how level it is, and when an open question will
//! be settled.

use leveloff_classifier::verdict::{Because, Judgement, RunVerdict, Shape, Subject, Verdict};

use super::page::Page;
use crate::judged::Judged;
use crate::place::extent;
use crate::rate::{CountRate, MemoryRate};
use crate::sizing::Sizing;
use crate::subject::things;
use crate::words::{bytes, sentence, settling, verdict_words};

/// Writes it.
pub fn write(judged: &Judged, page: &mut Page) {
    let run = judged.verdict;
    match run.verdict {
        Verdict::Level => write_level(judged, page),
        Verdict::Leak(_) => {
            write_growth(run, page);
            page.row("", &sentence(run, judged.stated));
        }
        Verdict::WarmingUp => {
            write_growth(run, page);
            page.row("", &sentence(run, judged.stated));
            write_settling(judged, page);
        }
        Verdict::Undecided => {
            page.row("why", &sentence(run, judged.stated));
            write_growth(run, page);
            write_settling(judged, page);
        }
    }
    write_memory_beside(run, page);
}

fn write_settling(judged: &Judged, page: &mut Page) {
    let mut label = "decided";
    for line in settling(judged.verdict, judged.stated) {
        page.row(label, &line);
        label = "";
    }
}

fn write_growth(run: &RunVerdict, page: &mut Page) {
    let Some(rate) = run.judgement.rate else {
        return write_rise(run, page);
    };
    let label = if rate.value < 0.0 {
        "falling"
    } else {
        "growing"
    };
    let shape = shape_words(run.shape);
    match things(run.decisive) {
        Some(things) => {
            let rate = CountRate::new(rate, run.x_unit, things);
            page.row(label, &format!("{}{shape}", rate.with_interval()));
        }
        None => {
            let rate = MemoryRate::new(rate, run.x_unit);
            page.row(label, &format!("{}{shape}", rate.with_interval()));
            let also = rate.conversions(run.pace);
            if !also.is_empty() {
                page.row("", &format!("= {}", also.join(" = ")));
            }
        }
    }
}

/// With too few points for a rate: how far it rose.
fn write_rise(run: &RunVerdict, page: &mut Page) {
    let Judgement {
        onset_level, level, ..
    } = run.judgement;
    if let (Verdict::WarmingUp, Some(from), Some(to)) = (run.verdict, onset_level, level) {
        let rise = format!("{} → {}, at every point so far", bytes(from), bytes(to));
        page.row("growing", &rise);
    }
}

fn shape_words(shape: Shape) -> &'static str {
    match shape {
        Shape::Linear => ", straight",
        Shape::Staircase => ", in lasting jumps",
        Shape::Sawtooth => ", below a sawtooth",
        Shape::Saturating => ", bending",
        Shape::Flat | Shape::Jump | Shape::Shrinking => "",
    }
}

fn write_level(judged: &Judged, page: &mut Page) {
    let run = judged.verdict;
    let bound = bound(run);
    match warmup(run) {
        Some(warmup) => page.row("warmup", &format!("{warmup}, then {bound}")),
        None => page.row("level", &bound),
    }
    // That nothing grows has just been said.
    if run.judgement.because != Because::Steady {
        page.row("", &sentence(run, judged.stated));
    }
    if let Some(sizing) = Sizing::of_memory(&run.memory) {
        page.row("sizing", &sizing.line());
    }
}

/// `5.4 GiB → 17.4 GiB over 88 steps`, if it grew at all.
pub fn warmup(run: &RunVerdict) -> Option<String> {
    let judgement = &run.judgement;
    let (first, level) = (judgement.extremes?.first, judgement.level?);
    let (begun, ended) = (judgement.span?.0, judgement.level_since_x?);
    let grew = ended > begun && level - first > judgement.material;
    grew.then(|| {
        let over = extent(ended - begun, run.x_unit);
        format!("{} → {} over {over}", bytes(first), bytes(level))
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

fn write_memory_beside(run: &RunVerdict, page: &mut Page) {
    if let Some(text) = memory_beside(run) {
        page.row("all memory", &text);
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
        text += &format!(" at {}", bytes(level));
    }
    if let (Some(rate), false) = (rate, run.memory.verdict == Verdict::Level) {
        let rate = MemoryRate::new(rate, run.x_unit).with_interval();
        text += &format!(", growing {rate}");
    }
    Some(text)
}
