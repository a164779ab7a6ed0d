//! Lines that allocate, in words.

use leveloff_classifier::allocation_history::{Certainty, LineGrowth};
use leveloff_classifier::observation::XUnit;
use leveloff_model::allocation::{AllocationSite, Holder, HolderKind};
use leveloff_model::process::printable;

use crate::rate::MemoryRate;

/// Lines that are named, at most.
pub const LINES_NAMED: usize = 3;
/// A line with a smaller share of the growth explains nothing.
pub const SHARE_NAMED: f64 = 0.03;

/// The lines that are worth naming: the culprit alone where there is one, since a runner-up is no second culprit.
pub fn named(lines: &[LineGrowth]) -> impl Iterator<Item = &LineGrowth> {
    let has_culprit = lines
        .first()
        .is_some_and(|line| line.certainty != Certainty::Unclear);
    let count = if has_culprit { 1 } else { LINES_NAMED };
    lines
        .iter()
        .take(count)
        .filter(|line| line.share >= SHARE_NAMED && line.blocks > 0)
}

/// `train.py:88 in step allocated 97 % of the memory that is not freed (±6), 0.98 MiB per step`
pub fn line_words(line: &LineGrowth, unit: XUnit) -> String {
    let allocated = match line.certainty {
        Certainty::Confirmed => "allocated",
        Certainty::Candidate => "probably allocated",
        Certainty::Unclear => "allocated, within the sampling error,",
    };
    let rate = line.rate.map_or_else(String::new, |rate| {
        format!(", {}", MemoryRate::new(rate, unit).alone())
    });
    format!(
        "{} {allocated} {:.0} % of the memory that is not freed (±{:.0}), {}{rate}, from {} sampled blocks",
        place(line),
        line.share * 100.0,
        line.share_margin * 100.0,
        line.growth.byte_delta(),
        line.blocks,
    )
}

/// `train.py:88 in step`, and the library's function that it called for memory.
pub fn place(line: &LineGrowth) -> String {
    let site = &line.site;
    let leaf = site.leaf().filter(|leaf| site.own_frame() != Some(leaf));
    let through = leaf.map_or_else(String::new, |leaf| format!(", through {}", leaf.place()));
    format!("{}{}", site_place(site), printable(through.as_bytes()))
}

/// `train.py:88 in step`
pub fn site_place(site: &AllocationSite) -> String {
    let Some(own) = site.own_frame() else {
        return "code without a name".to_owned();
    };
    let function = match own.line {
        Some(_) => format!(" in {}", own.function),
        None => String::new(),
    };
    printable(format!("{}{function}", own.place()).as_bytes())
}

/// The text of the line, where it is known.
pub fn source(line: &LineGrowth) -> Option<String> {
    let source = line.site.source.as_ref()?;
    Some(printable(source.as_bytes()))
}

/// "kept by the list `outs` in train.py: 790 of 812 sampled blocks"
pub fn holder_words(holder: &Holder) -> String {
    let (name, place) = (&holder.name, &holder.place);
    let which = match holder.kind {
        HolderKind::Global => format!("`{name}`, a global of {place}"),
        HolderKind::Class => format!("`{name}` of the class {place}"),
        HolderKind::Attribute => format!("`{name}` of a {place}"),
        HolderKind::Cache => format!("that functools.lru_cache keeps for `{name}` in {place}"),
        HolderKind::Closure => format!("`{name}` in the closure of {place}"),
        HolderKind::Local if name.is_empty() => format!("in a variable of {place}"),
        HolderKind::Local => format!("`{name}`, a variable of {place}"),
        HolderKind::Unnamed => "without a name that was found".to_owned(),
    };
    let items = match holder.length {
        0 => String::new(),
        items => format!(" ({items} items)"),
    };
    let words = format!(
        "kept by the {} {which}{items}: {} of {} sampled blocks that were looked at",
        holder.class, holder.kept, holder.looked_at
    );
    printable(words.as_bytes())
}

/// What this does not show.
pub fn caution(line: &LineGrowth) -> &'static str {
    match line.is_recycled {
        true => {
            "these are small Python objects, whose memory Python hands from one line to another: the line is uncertain, \
             and another line that creates the same type may be the one"
        }
        false if line.holder.is_some() => {
            "the memory is allocated there, and the container keeps a reference to it"
        }
        false => "the memory is allocated there; the reference that keeps it may be elsewhere",
    }
}
