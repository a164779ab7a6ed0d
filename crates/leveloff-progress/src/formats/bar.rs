//! Parses progress bars: tqdm's, and rich's as Lightning draws them.

use crate::number::{self, scaled};

/// One drawing of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar<'a> {
    /// The text in front, without its colon; may be empty.
    pub description: &'a [u8],
    /// How many are done.
    pub n: u64,
    /// Of how many; `None` when the bar shows no total.
    pub total: Option<u64>,
    /// What is counted.
    pub unit: Unit,
    /// A loss is shown after the rate, which only a training bar does.
    pub shows_loss: bool,
    /// Which library drew it.
    pub style: Style,
}

/// What a bar counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Iterations, steps, batches.
    Steps,
    /// Epochs.
    Epochs,
    /// Training samples, if it is a training's bar: images, sequences, examples.
    Samples,
    /// Bytes, files and anything else.
    Other,
}

/// Which library drew a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `25%|██▌   | 10/40 [00:01<00:04, 7.22it/s]`
    Tqdm,
    /// `Epoch 0/1 ━━━╸━━━ 2/40 0:00:00 • 0:00:01 202.91it/s`
    Rich,
}

/// How far before its closing bracket a bar may begin: a terminal's width in blocks of three bytes each,
/// and the metrics after them.
const LONGEST_BAR: usize = 2048;

/// How many `|` or `[` after a bar are skipped. Without a bound, a line of `|]` would cost quadratic time.
const MOST_FRAMES: usize = 8;

/// Reads a tqdm bar from text that ends with its closing bracket; `None` when there is none.
pub fn tqdm(text: &[u8]) -> Option<Bar<'_>> {
    with_frame(text)
        .or_else(|| without_frame(text))
        .or_else(|| without_total(text))
}

/// Reads a tqdm bar that the terminal's edge cut: its bracket is open at the end of the line. `None` when too little of it is
/// left to say what it counts.
pub fn cut_tqdm(line: &[u8]) -> Option<Bar<'_>> {
    // The last field may be half a number; the rate must be whole.
    let last_comma = memchr::memrchr(b',', &line[open_bracket(line)?..])?;
    let whole = &line[..open_bracket(line)? + last_comma];
    with_frame(whole)
}

/// Where the bracket of a tqdm bar opens that does not close in this line: `| 22/50 [00:02<00:02, 10.63it/s, step=12`.
pub fn open_bracket(line: &[u8]) -> Option<usize> {
    let open = memchr::memrchr(b'[', line)?;
    let is_open = memchr::memchr(b']', &line[open..]).is_none();
    let has_frame = memchr::memchr(b'|', &line[..open]).is_some();
    (is_open && has_frame && time_then_rest(&line[open + 1..]).is_some()).then_some(open)
}

/// Whether text that ends with a bracket may be a tqdm bar: it has a rate and an opening bracket. Nearly
/// all other text is rejected here.
pub fn may_be_tqdm(text: &[u8]) -> bool {
    let window = &text[text.len().saturating_sub(LONGEST_BAR)..];
    memchr::memrchr(b'[', window).is_some() && memchr::memrchr(b'/', window).is_some()
}

/// Reads a rich bar from a line; `None` when there is none.
pub fn rich(line: &[u8]) -> Option<Bar<'_>> {
    memchr::memchr(FIRST_OF_GLYPH, line)?;
    let first = GLYPHS
        .iter()
        .filter_map(|glyph| memchr::memmem::find(line, glyph))
        .min()?;
    let last = GLYPHS
        .iter()
        .filter_map(|glyph| memchr::memmem::rfind(line, glyph))
        .max()?;
    let counts = line[last + 3..].trim_ascii_start();
    let (n, total, rest) = grouped_counts(counts).or_else(|| {
        let (n, rest) = scaled(counts)?;
        let (total, rest) = total_after_slash(rest)?;
        Some((n, total, rest))
    })?;
    // Only a bar has an elapsed time here; a table has none. tqdm.rich frames it.
    let rest = rest.trim_ascii_start();
    let time = rest.strip_prefix(b"[ ").unwrap_or(rest);
    if !matches!(
        time,
        [b'0'..=b'9', b':', ..] | [b'0'..=b'9', b'0'..=b'9', b':', ..]
    ) {
        return None;
    }
    let rate_end = memchr::memmem::find(time, b"/s")?;
    let rate_start = memchr::memrchr(b' ', &time[..rate_end])?;
    Some(Bar {
        description: without_percentage(line[..first].trim_ascii()).trim_ascii(),
        n,
        total,
        unit: unit_of_rate(&time[rate_start..rate_end + 2]),
        shows_loss: false,
        style: Style::Rich,
    })
}

/// `3,000/100,000`
fn grouped_counts(text: &[u8]) -> Option<(u64, Option<u64>, &[u8])> {
    let (n, rest) = number::whole(text)?;
    let (total, rest) = number::whole(rest.strip_prefix(b"/")?)?;
    Some((n, Some(total), rest))
}

/// The first byte of each glyph of a bar.
pub const FIRST_OF_GLYPH: u8 = 0xe2;

/// `━`, `╸` and `╺`.
const GLYPHS: [&[u8]; 3] = [b"\xe2\x94\x81", b"\xe2\x95\xb8", b"\xe2\x95\xba"];

/// `description: 25%|██▌   | 10/40 [00:01<00:04, 7.22it/s, loss=0.8]`
fn with_frame(text: &[u8]) -> Option<Bar<'_>> {
    let window = text.len().saturating_sub(LONGEST_BAR);
    // From the right: the text in front of the bar may be a log line without a line end.
    let frames = memchr::memrchr_iter(b'|', &text[window..]).take(MOST_FRAMES);
    for at in frames.map(|at| at + window) {
        let Some((n, total, inside)) = counts(&text[at + 1..]) else {
            continue;
        };
        let open = memchr::memrchr(b'|', &text[..at])?;
        if text[open + 1..at].iter().any(u8::is_ascii_alphabetic) {
            return None;
        }
        let (unit, shows_loss) = rate_and_metrics(inside)?;
        return Some(Bar {
            description: description(without_percentage(&text[..open])),
            n,
            total,
            unit,
            shows_loss,
            style: Style::Tqdm,
        });
    }
    None
}

/// `description: 25% 10/40 [00:01<00:04, 7.22it/s]`: the bar itself is left out.
fn without_frame(text: &[u8]) -> Option<Bar<'_>> {
    let window = text.len().saturating_sub(LONGEST_BAR);
    let open = memchr::memrchr(b'[', &text[window..])? + window;
    let inside = time_then_rest(&text[open + 1..])?;
    let counts = text[..open].trim_ascii_end();
    let begin = counts.iter().rposition(|b| *b == b' ')?;
    let (n, rest) = scaled(&counts[begin + 1..])?;
    let (total, b"") = total_after_slash(rest)? else {
        return None;
    };
    let share = counts[..begin].trim_ascii_end();
    let percentage = share.len() - without_percentage(share).len();
    if percentage == 0 {
        return None;
    }
    let (unit, shows_loss) = rate_and_metrics(inside)?;
    Some(Bar {
        description: description(without_percentage(share)),
        n,
        total,
        unit,
        shows_loss,
        style: Style::Tqdm,
    })
}

/// `description: 12it [00:03, 4.00it/s]`, tqdm's form without a total.
fn without_total(text: &[u8]) -> Option<Bar<'_>> {
    let window = text.len().saturating_sub(LONGEST_BAR);
    let (open, inside) = memchr::memrchr_iter(b'[', &text[window..])
        .take(MOST_FRAMES)
        .map(|at| at + window)
        .find_map(|at| Some((at.checked_sub(1)?, time_then_rest(&text[at + 1..])?)))?;
    if text[open] != b' ' {
        return None;
    }
    let word_start = memchr::memrchr2(b' ', b']', &text[..open]).map_or(0, |at| at + 1);
    let (n, unit) = scaled(&text[word_start..open])?;
    if unit_named(unit) != Unit::Steps {
        return None;
    }
    let (unit, shows_loss) = rate_and_metrics(inside)?;
    Some(Bar {
        description: description(&text[..word_start]),
        n,
        total: None,
        unit,
        shows_loss,
        style: Style::Tqdm,
    })
}

/// ` 10/40 [00:01<00:04, …`: the counts, and what follows the elapsed time.
fn counts(text: &[u8]) -> Option<(u64, Option<u64>, &[u8])> {
    let (n, rest) = scaled(text.trim_ascii_start())?;
    let (total, rest) = total_after_slash(rest)?;
    let inside = time_then_rest(rest.trim_ascii_start().strip_prefix(b"[")?)?;
    Some((n, total, inside))
}

fn total_after_slash(text: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let text = text.strip_prefix(b"/")?;
    match text.strip_prefix(b"?") {
        Some(rest) => Some((None, rest)),
        None => scaled(text).map(|(total, rest)| (Some(total), rest)),
    }
}

/// What follows an elapsed time such as `00:01` or `1:02:03`.
fn time_then_rest(text: &[u8]) -> Option<&[u8]> {
    let end = text
        .iter()
        .position(|b| !b.is_ascii_digit() && *b != b':')?;
    (end >= 4 && text[..end].contains(&b':')).then_some(&text[end..])
}

/// Of `<00:04, 7.22it/s, loss=0.8]`: what is counted, and whether a training loss is shown.
fn rate_and_metrics(inside: &[u8]) -> Option<(Unit, bool)> {
    let mut fields = inside.split(|&b| b == b',').skip(1);
    let rate = fields.next()?;
    let shows_loss = fields.any(names_loss);
    Some((
        unit_of_rate(rate.strip_suffix(b"]").unwrap_or(rate)),
        shows_loss,
    ))
}

/// Whether one of ` lr: 1.0e-04 diffusion_loss: 0.31` is a loss, and not that of an evaluation.
fn names_loss(field: &[u8]) -> bool {
    // Names are short, and nearly every bar is drawn with some.
    let contains = |name: &[u8], word: &[u8]| name.windows(word.len()).any(|part| part == word);
    field.split(|&b| b == b' ').any(|part| {
        let end = part.iter().position(|b| matches!(b, b'=' | b':'));
        let name = &part[..end.unwrap_or(part.len())];
        let is_assigned = end.is_some() || name.starts_with(b"loss");
        is_assigned
            && contains(name, b"loss")
            && !contains(name, b"val")
            && !contains(name, b"test")
    })
}

/// Of `7.22it/s`, `1.20s/it`, `?it/s`, `120MB/s`, `5000 examples/s`.
fn unit_of_rate(rate: &[u8]) -> Unit {
    let Some(slash) = memchr::memchr(b'/', rate) else {
        return Unit::Other;
    };
    let (before, after) = (&rate[..slash], rate[slash + 1..].trim_ascii());
    if after == b"s" {
        if is_too_fast(before) {
            return Unit::Other;
        }
        let number_end = before
            .iter()
            .rposition(|b| b.is_ascii_digit() || matches!(b, b'?' | b'.'))
            .map_or(0, |at| at + 1);
        unit_named(&before[number_end..])
    } else {
        unit_named(after)
    }
}

/// No training takes so many steps a second; downloads count bytes.
fn is_too_fast(rate: &[u8]) -> bool {
    const FASTEST: f64 = 20_000.0;
    let digits = rate
        .iter()
        .position(u8::is_ascii_digit)
        .unwrap_or(rate.len());
    number::decimal(&rate[digits..]).is_some_and(|(rate, _)| rate > FASTEST)
}

fn unit_named(name: &[u8]) -> Unit {
    let name = name.trim_ascii();
    let name = match name {
        [b'k' | b'M' | b'G', name @ ..] => name,
        _ => name,
    };
    match name {
        b"it" | b"step" | b"steps" | b"batch" | b"batches" | b"iter" | b"update" | b"ba"
        | b"its" | b"iters" | b"updates" | b"iteration" | b"b" => Unit::Steps,
        b"epoch" | b"epochs" => Unit::Epochs,
        b"img" | b"imgs" | b"image" | b"images" | b"sample" | b"samples" | b"ex" | b"example"
        | b"examples" | b"seq" | b"sequences" => Unit::Samples,
        _ => Unit::Other,
    }
}

fn without_percentage(text: &[u8]) -> &[u8] {
    let Some(text) = text.strip_suffix(b"%") else {
        return text;
    };
    let digits = text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    &text[..text.len() - digits]
}

/// tqdm ends a description with a colon; other text in front is a log line without a line end.
fn description(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    text.strip_suffix(b":").unwrap_or(&[]).trim_ascii()
}

#[cfg(test)]
#[path = "bar_tests.rs"]
mod tests;
