//! Amounts of memory in a line: `RAM: 5552 MB`, `host 17.2GiB`, `'rss_mb': 512.5`, `5.2 GB used`.

use super::label::Label;
use super::token::{Token, Tokens};
use crate::size_unit::SizeUnit;

/// An amount, and what it is called.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryValue {
    /// The known words around it.
    pub label: Label,
    /// The number.
    pub value: f64,
    /// Its unit; `None` for a bare number behind a word for memory.
    pub unit: Option<SizeUnit>,
}

/// Every amount of a line. A change (`+160 MB`), a rate (`5 MB/s`) and the whole of which something
/// is a part (`5.5/32 GB`) are none. Of a chain (`13.1 GB → 13.3 GB`) the newest counts.
pub fn memory_values(line: &[u8]) -> impl Iterator<Item = MemoryValue> {
    MemoryValues::of(line)
}

struct MemoryValues<'a> {
    tokens: Tokens<'a>,
    clause: Clause,
    /// Found, and held back until it is sure that no chain goes on.
    held: Option<MemoryValue>,
    is_over: bool,
}

/// The words and signs since the last delimiter or number.
#[derive(Default)]
struct Clause {
    label: Label,
    unit: Option<SizeUnit>,
    last_sign: u8,
    /// The number to come is a change.
    is_change: bool,
    /// The number to come is the whole of the one before.
    is_whole: bool,
    /// The number to come takes the place of the one before.
    is_chained: bool,
}

impl<'a> MemoryValues<'a> {
    fn of(line: &'a [u8]) -> MemoryValues<'a> {
        MemoryValues {
            tokens: Tokens::of(line),
            clause: Clause::default(),
            held: None,
            is_over: false,
        }
    }

    /// Reads on to the next amount.
    fn find(&mut self) -> Option<MemoryValue> {
        while let Some(token) = self.tokens.next() {
            match token {
                Token::Word(word) => self.clause.add_word(word),
                Token::Sign(sign) => self.clause.add_sign(sign),
                Token::Number(value) => {
                    let clause = std::mem::take(&mut self.clause);
                    if let Some(mention) = self.amount(value, &clause) {
                        return Some(mention);
                    }
                }
            }
        }
        None
    }

    fn amount(&mut self, value: f64, clause: &Clause) -> Option<MemoryValue> {
        let glued = unit_suffix(&mut self.tokens);
        let unit = match glued {
            Suffix::Unit(unit) => Some(unit),
            Suffix::Nothing => clause.unit,
            Suffix::Percent => {
                // `RAM: 45 % (5.4 GB)` goes on about the same thing.
                self.clause.label = clause.label;
                return None;
            }
            Suffix::Else => return None,
        };
        self.clause.is_chained = false;
        if clause.is_change || clause.is_whole || goes_on_as_rate(&self.tokens) {
            return None;
        }
        let mut label = clause.label;
        if label.is_empty() && unit.is_some() && !clause.is_chained {
            label = label_behind(&self.tokens);
        }
        // A bare number says nothing unless a word for memory is in front of it.
        let is_amount = unit.is_some() || !label.is_empty();
        if clause.is_chained
            && label.is_empty()
            && unit.is_some()
            && let Some(held) = &mut self.held
        {
            (held.value, held.unit) = (value, unit);
            return None;
        }
        is_amount.then_some(MemoryValue { label, value, unit })
    }
}

impl Iterator for MemoryValues<'_> {
    type Item = MemoryValue;

    fn next(&mut self) -> Option<MemoryValue> {
        while !self.is_over {
            let found = self.find();
            self.is_over = found.is_none();
            if let Some(ready) = std::mem::replace(&mut self.held, found) {
                return Some(ready);
            }
        }
        self.held.take()
    }
}

impl Clause {
    fn add_word(&mut self, word: &[u8]) {
        self.is_change = false;
        let is_beyond_ascii = word.iter().all(|b| *b >= 0x80);
        if is_beyond_ascii || word == b"to" {
            // An arrow, or what became of one on its way through wrong encodings.
            self.is_chained = true;
        } else if word == b"of" {
            self.is_whole = true;
        } else {
            self.label = self.label.and(Label::of_name(word));
            let last = word.rsplit(|b| *b == b'_').next().unwrap_or(word);
            let is_unit = last.len() > 1 || last == b"B";
            if let Some(unit) = SizeUnit::of_word(last).filter(|_| is_unit) {
                self.unit = Some(unit);
            }
        }
    }

    fn add_sign(&mut self, sign: u8) {
        match sign {
            b',' | b';' | b'|' | b'{' | b'}' => *self = Clause::default(),
            b'>' => self.is_chained = b"-=".contains(&self.last_sign),
            b'/' => self.is_whole = true,
            _ => {}
        }
        self.is_change = sign == b'+' || sign == b'-';
        self.last_sign = sign;
    }
}

enum Suffix {
    Unit(SizeUnit),
    Nothing,
    /// `45%`
    Percent,
    /// `10it`, `12:30`: no amount.
    Else,
}

/// What the number that was just read is followed by; passes over it if it is a unit.
fn unit_suffix(tokens: &mut Tokens<'_>) -> Suffix {
    let mut ahead = tokens.clone();
    let next = ahead.next();
    let is_glued = next.is_some() && !ahead.was_spaced;
    match next {
        Some(Token::Word(word)) => {
            let is_letter = word.len() == 1 && word != b"B";
            let unit = match word {
                [letter] if is_letter && is_glued => SizeUnit::of_letter(*letter),
                _ if is_letter => None,
                word => SizeUnit::of_word(word),
            };
            match unit {
                Some(unit) => {
                    *tokens = ahead;
                    Suffix::Unit(unit)
                }
                None if is_glued => Suffix::Else,
                None => Suffix::Nothing,
            }
        }
        Some(Token::Sign(b'%')) => Suffix::Percent,
        Some(Token::Sign(b':' | b'.' | b'-')) if is_glued => match ahead.next() {
            Some(Token::Number(_)) if !ahead.was_spaced => Suffix::Else,
            _ => Suffix::Nothing,
        },
        // 5.5/32 GB: the unit of the whole is that of the part.
        Some(Token::Sign(b'/')) => match (ahead.next(), ahead.next()) {
            (Some(Token::Number(_)), Some(Token::Word(word))) => {
                SizeUnit::of_word(word).map_or(Suffix::Nothing, Suffix::Unit)
            }
            _ => Suffix::Nothing,
        },
        _ => Suffix::Nothing,
    }
}

/// `/s`, `/step`, ` per batch`.
fn goes_on_as_rate(tokens: &Tokens<'_>) -> bool {
    let mut ahead = tokens.clone();
    match ahead.next() {
        Some(Token::Sign(b'/')) => matches!(ahead.next(), Some(Token::Word(_))),
        Some(Token::Word(word)) => word == b"per",
        _ => false,
    }
}

/// `5.2 GB used`, `5.2 GB of RAM`.
fn label_behind(tokens: &Tokens<'_>) -> Label {
    /// Further behind, words belong to something else.
    const REACH: usize = 2;
    let mut label = Label::default();
    for token in tokens.clone().take(REACH) {
        match token {
            Token::Word(word) => label = label.and(Label::of_name(word)),
            _ => break,
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The amounts of a line as `label value unit`.
    fn found(line: &str) -> Vec<String> {
        memory_values(line.as_bytes())
            .map(|mention| {
                let unit = mention
                    .unit
                    .map_or("?".to_owned(), |unit| format!("{unit:?}"));
                format!("{} {} {unit}", mention.label.text(), mention.value)
            })
            .collect()
    }

    #[test]
    fn amounts_are_found_where_logs_have_them() {
        let cases: [(&str, &[&str]); 15] = [
            (
                "Step 10: 6529 tensors, RAM: 5552 MB   | Baseline",
                &["ram 5552 MB"],
            ),
            (
                "Step 20: 6529 tensors (CPU: 330, GPU: 6199), RAM: 7159 MB (+1607 MB)",
                &["gpu 6199 ?", "ram 7159 MB"],
            ),
            (
                "Step 20: RAM: 7159 MB | +1607 MB (+160 MB/step)",
                &["ram 7159 MB"],
            ),
            ("Batch 1: 732 MB -> 1027 MB (+295 MB)", &[" 1027 MB"]),
            ("Batch 10: 3924 MB (+296 MB per batch)", &[" 3924 MB"]),
            (
                "Process RAM: 13.1 GB → 13.3 GB (+206 MB in 10 seconds)",
                &["process ram 13.3 GB"],
            ),
            ("step 3 host 17.2GiB", &["host 17.2 GiB"]),
            ("Memory usage: 45% (5.4G)", &["memory usage 5.4 GiB"]),
            (
                "{'loss': '6.0', 'ram_mb': 5123.5, 'epoch': 0.25}",
                &["ram 5123.5 MB"],
            ),
            ("mem (MiB): 512", &["mem 512 MiB"]),
            ("RAM 5.5/32 GB, swap 0 B", &["ram 5.5 GB", "swap 0 B"]),
            ("using 5.2 GB of RAM", &["ram 5.2 GB"]),
            ("10/40 [00:01<00:04, 7.22it/s, mem=5.2G]", &["mem 5.2 GiB"]),
            ("downloading 250 MB at 5 MB/s", &["downloading 250 MB"]),
            ("RAM: 5552", &["ram 5552 ?"]),
        ];
        for (line, expected) in cases {
            assert_eq!(found(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_no_amount_is_not_found() {
        for line in [
            "",
            "loss 2.3",
            "grew by +160 MB",
            "memory at 12:30",
            "5 MB/s",
            "10it/s",
        ] {
            assert_eq!(found(line), Vec::<String>::new(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(line: Vec<u8>) {
            memory_values(&line).for_each(drop);
        }

        #[test]
        fn no_likely_text_makes_it_panic(line in "(RAM|MB|[0-9.,]{1,4}|->|[ /:+%-]|→){0,12}") {
            memory_values(line.as_bytes()).for_each(drop);
        }
    }
}
