//! The counts of one line, with what their words say about them.

use leveloff_model::progress::StepUnit;

use super::Clock;
use super::counter::{Counter, CounterPlace};
use super::global_count::EpochCount;
use super::table_header::columns;
use crate::label::{Label, Words};
use crate::line::{Number, ScannedLine};
use crate::line_facts::LineFacts;
use crate::vocabulary::Meaning;

use super::{LAST_EPOCH, TAKE_OVER};

/// The first row of a table stands at most this many lines below the names of its columns.
const ROWS_BELOW_HEADER: u64 = 3;

/// Where a number stands.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    /// The numbers of its line.
    numbers: &'a [Number],
    /// It is the first count of its line.
    is_first: bool,
    /// Its line has a metric.
    has_metric: bool,
    /// Its line has values of any name.
    has_values: bool,
    /// Its line is a record of a training, with names and values only.
    is_record: bool,
    /// What the header of its table says.
    column: Option<Label>,
}

/// A count of a line, with its label.
#[derive(Debug, Clone, Copy)]
pub struct LabelledCount {
    /// Identifies its counter.
    pub key: u64,
    /// A bracket or a comma stands between it and the number in front, and nothing else.
    is_bracketed: bool,
    /// What it is called.
    pub label: Label,
    /// The count.
    pub n: u64,
    /// Of how many.
    pub total: Option<u64>,
    is_further: bool,
    /// It follows a letter directly.
    pub is_glued: bool,
    /// It is rounded, as `12K`.
    pub is_rounded: bool,
    /// It counts an evaluation.
    pub is_evaluation: bool,
    /// Nothing stands in front of it.
    begins_line: bool,
    /// Which number of the line it is.
    pub index: usize,
}

impl Clock {
    /// The counts of a line with their labels, in order.
    pub fn labelled_counts(
        &mut self,
        line: &[u8],
        scanned: &ScannedLine,
        facts: &LineFacts,
        in_table: bool,
        counts: &mut Vec<LabelledCount>,
    ) {
        let columns = match in_table {
            true => columns(line, &scanned.numbers),
            false => 0,
        };
        for (index, number) in scanned.numbers.iter().enumerate() {
            let Some(n) = number.amount.count() else {
                continue;
            };
            let is_evaluation = facts.is_evaluation(index);
            // An evaluation often has the format of the training and another total.
            let Some(key) = self.key_of(number, is_evaluation) else {
                continue;
            };
            let column = self
                .header
                .as_ref()
                .filter(|_| index < columns)
                .and_then(|header| header.column(index));
            let key = key ^ u64::from(column.is_some()) << 8;
            let place = Place {
                numbers: &scanned.numbers,
                is_first: counts.is_empty(),
                has_metric: facts.has_metric,
                has_values: facts.has_values,
                is_record: facts.is_training && facts.has_fraction && !facts.has_loose_words,
                column,
            };
            let Some(label) = self.label(key, line, number, is_evaluation, place) else {
                continue;
            };
            let before = index
                .checked_sub(1)
                .map_or(0, |before| scanned.numbers[before].end);
            let gap = &line[before.min(number.start)..number.start];
            // "[1.     5]"
            let is_dotted = gap.starts_with(b". ") && line.starts_with(b"[");
            counts.push(LabelledCount {
                key,
                is_bracketed: is_dotted || gap.iter().any(|b| b"[](),|:;".contains(b)),
                label,
                n,
                total: number.total,
                is_further: number.is_further,
                is_glued: number.is_glued,
                is_rounded: number.is_rounded,
                is_evaluation,
                begins_line: index == 0 && number.start == 0,
                index,
            });
        }
    }

    /// The key of a number. A format with another total is another counter, unless its totals vary all the time.
    fn key_of(&mut self, number: &Number, is_evaluation: bool) -> Option<u64> {
        const MOST_TOTALS: u32 = 6;
        let format =
            number.key ^ u64::from(is_evaluation) ^ (u64::from(number.total.is_some()) << 9);
        let Some(counter) = self.counters.get(format) else {
            return Some(format);
        };
        let known = counter.global.last().and_then(|last| last.total);
        if number.total.is_none() || known.is_none() || known == number.total {
            return Some(format);
        }
        let key = format ^ number.total.map_or(0, |total| total << 1);
        if self.counters.get(key).is_some() {
            return Some(key);
        }
        let counter = self.counters.get_mut(format)?;
        counter.other_totals += 1;
        (counter.other_totals <= MOST_TOTALS).then_some(key)
    }

    fn label(
        &mut self,
        key: u64,
        line: &[u8],
        number: &Number,
        is_evaluation: bool,
        place: Place<'_>,
    ) -> Option<Label> {
        if let Some(counter) = self.counters.get(key) {
            return Some(counter.label);
        }
        let label = place.column.unwrap_or_else(|| Label::of(line, number));
        let label = match label {
            Label::Unknown if place.is_record => {
                Label::of_initial(&line[number.phrase_start..number.start]).unwrap_or(label)
            }
            Label::Other | Label::Length | Label::Unknown
                if is_of_all_episodes(line, number, place) =>
            {
                Label::Unit(StepUnit::Timesteps)
            }
            label => label,
        };
        // `resnet50`, `rank0`, identifiers and `I0312`, which begins the lines of glog, are no counters.
        let is_letter = number.start - number.phrase_start == 1;
        let initial = Label::of_bracketed_initial(line, number);
        let label = match initial {
            Some(initial) if is_letter && place.has_metric => initial,
            _ if number.is_glued
                && (is_letter
                    || line[number.start - 1] == b'_'
                    || !matches!(label, Label::Step(_) | Label::Unit(_) | Label::Epoch)) =>
            {
                return None;
            }
            _ => label,
        };
        let clock = self.current.and_then(|key| self.counters.get(key));
        let is_announced =
            self.is_evaluation_announced && clock.is_some_and(|clock| clock.rises >= TAKE_OVER);
        // Without a metric in their lines, these can never be of use.
        let is_known = !matches!(label, Label::Other | Label::Metric | Label::Unknown);
        let has_values = place.has_values && number.total.is_some();
        if is_known || place.has_metric || place.is_record || has_values {
            let phrase = &line[number.phrase_start..number.start];
            let is_total = memchr::memmem::find(phrase, b"otal").is_some();
            let in_other_table = (self.other_header_line)
                .is_some_and(|header| self.log.lines - header <= ROWS_BELOW_HEADER);
            let is_of_training = Words::of(phrase).any(|word| word.meaning == Meaning::Training);
            let last_word = Words::of(phrase).last();
            let counter = Counter::new(
                label,
                CounterPlace {
                    is_total,
                    is_evaluation: is_evaluation || is_announced,
                    is_first: place.is_first,
                    has_count_form: has_count_form(line, number, place),
                    in_other_table,
                    is_of_training,
                    is_named_behind: Label::is_behind(line, number),
                    is_plural: last_word.is_some_and(|word| word.is_plural),
                    is_named: last_word.is_some(),
                },
            );
            self.counters.insert(key, counter, self.current);
        }
        Some(label)
    }
}

/// `Total T: 2514 Episode Num: 4 Reward: -0.8`: the steps of all episodes.
fn is_of_all_episodes(line: &[u8], number: &Number, place: Place<'_>) -> bool {
    let is_episode = |other: &Number| Label::of(line, other) == Label::Unit(StepUnit::Episodes);
    Label::is_sum_of_steps(&line[number.phrase_start..number.start])
        && place.numbers.iter().any(is_episode)
}

/// `10 (0.03%)`, `[#10]`
fn has_count_form(line: &[u8], number: &Number, place: Place<'_>) -> bool {
    let is_hashed = line[..number.start].ends_with(b"[#");
    is_hashed || place.is_first && has_share(line, number)
}

fn has_share(line: &[u8], number: &Number) -> bool {
    let Some(behind) = line
        .get(number.end..)
        .and_then(|rest| rest.strip_prefix(b" ("))
    else {
        return false;
    };
    let is_digit = |b: &u8| b.is_ascii_digit() || *b == b'.';
    let digits = behind.iter().take_while(|b| is_digit(b)).count();
    digits > 0 && behind[digits..].starts_with(b"%)")
}

/// The epoch that a line names.
pub fn epoch_of(counts: &[LabelledCount]) -> Option<EpochCount> {
    let is_epoch = |count: &&LabelledCount| {
        count.label == Label::Epoch && !count.is_evaluation && count.n <= LAST_EPOCH
    };
    counts.iter().find(is_epoch).map(|count| EpochCount {
        number: count.n,
        of: count.total.filter(|of| *of <= LAST_EPOCH),
        is_in_line: true,
    })
}

/// The number directly in front, as the `3` of `[3][10/40]`, `train 3 [10/40]`, and of `3 10 loss 2.3`.
pub fn neighbour_epoch(count: &LabelledCount, counts: &[LabelledCount]) -> Option<EpochCount> {
    if !count.is_further || !matches!(count.label, Label::None | Label::Step(_)) {
        return None;
    }
    let before = counts
        .iter()
        .find(|before| before.index + 1 == count.index)?;
    let is_plain = before.label == Label::None && !before.is_glued && before.n <= LAST_EPOCH;
    if !count.is_bracketed && !before.begins_line {
        return None;
    }
    is_plain.then_some(EpochCount {
        number: before.n,
        of: before.total.filter(|of| *of <= LAST_EPOCH),
        is_in_line: true,
    })
}

/// Whether a line has neither a metric, nor a known counter, nor an unnamed count that could be one.
pub fn is_barren(facts: &LineFacts, counts: &[LabelledCount]) -> bool {
    let is_first = counts
        .first()
        .is_some_and(|count| count.label == Label::None);
    let may_count = |count: &LabelledCount| match count.label {
        Label::Other => false,
        Label::Unknown => count.total.is_some() && facts.has_values,
        Label::None => count.total.is_some() && facts.has_epoch || is_first && facts.has_fraction,
        _ => true,
    };
    !facts.has_metric
        && !facts.is_record
        && !facts.is_checkpoint
        && !facts.announces_evaluation
        && !facts.is_training
        && !counts.iter().any(may_count)
}

/// The words in front of a number, for messages.
pub fn name_of(line: &[u8], scanned: &ScannedLine, counts: &[LabelledCount], key: u64) -> String {
    const LONGEST: usize = 40;
    let count = counts.iter().find(|count| count.key == key);
    let Some(number) = count.map(|count| &scanned.numbers[count.index]) else {
        return String::new();
    };
    let phrase = &line[number.phrase_start..number.start];
    let cut = phrase.len().saturating_sub(LONGEST);
    // A name that is too long begins with a whole word.
    let is_space = |b: &u8| b.is_ascii_whitespace();
    let word = match phrase[cut..].iter().position(is_space) {
        Some(space) if cut > 0 && !is_space(&phrase[cut - 1]) => cut + space,
        _ => cut,
    };
    let text = String::from_utf8_lossy(&phrase[word..]);
    let words: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match words.trim_matches(|c: char| !c.is_alphabetic()) {
        "" => "counter without a name".to_owned(),
        name => name.to_owned(),
    }
}
