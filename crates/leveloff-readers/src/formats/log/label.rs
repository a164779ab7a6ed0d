//! What an amount in a log is called: the known words in front of it.

/// A set of known words; unknown ones do not count, so that `Step 10 RAM` and `| RAM` are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Label(u64);

/// How well an amount with such a label represents the run's memory, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Something else in bytes: a download, a model, what is free.
    Other,
    /// No known word.
    Unnamed,
    /// Memory of a graphics card.
    Gpu,
    /// A highest value so far, which cannot fall.
    Peak,
    /// The whole machine.
    Host,
    /// Memory, used memory.
    Memory,
    /// The process itself.
    Process,
}

impl Label {
    /// Adds a word, if it is a known one.
    pub fn add(&mut self, word: &[u8]) {
        let known = WORDS
            .iter()
            .position(|(known, _)| word.eq_ignore_ascii_case(known.as_bytes()));
        if let Some(bit) = known {
            self.0 |= 1 << bit;
        }
    }

    /// The words of a name such as `gpu_mem_mb`.
    pub fn of_name(name: &[u8]) -> Label {
        let mut label = Label::default();
        for part in name.split(|b| b"_ ./".contains(b)) {
            label.add(part);
        }
        label
    }

    /// Both.
    pub fn and(self, other: Label) -> Label {
        Label(self.0 | other.0)
    }

    /// Whether it has every word of the other.
    pub fn has_all(self, other: Label) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is no known word.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How well it represents the run's memory: the most limiting word decides.
    pub fn class(self) -> Class {
        let classes = || self.words().map(|(_, class)| class);
        if self.is_empty() {
            return Class::Unnamed;
        }
        let limiting = [
            Class::Other,
            Class::Gpu,
            Class::Peak,
            Class::Process,
            Class::Host,
        ];
        limiting
            .into_iter()
            .find(|class| classes().any(|c| c == *class))
            .unwrap_or(Class::Memory)
    }

    /// Whether it says that a number is memory, and not only whose number it is: `Process index: 0` is an index.
    pub fn names_memory(self) -> bool {
        self.words().any(|(word, _)| !OWNERS.contains(&word))
    }

    /// Its words, for messages.
    pub fn text(self) -> String {
        let words: Vec<&str> = self.words().map(|(word, _)| word).collect();
        words.join(" ")
    }

    fn words(self) -> impl Iterator<Item = (&'static str, Class)> {
        let has = move |bit: usize| self.0 & (1 << bit) != 0;
        WORDS
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| has(*bit))
            .map(|(_, word)| word)
    }
}

/// Known words that say whose memory it is. A number without a unit is no memory because of them.
const OWNERS: [&str; 6] = ["process", "proc", "host", "system", "node", "machine"];

/// The known words; at most 64.
const WORDS: [(&str, Class); 64] = [
    ("process", Class::Process),
    ("proc", Class::Process),
    ("rss", Class::Process),
    ("vmrss", Class::Process),
    ("uss", Class::Process),
    ("pss", Class::Process),
    ("resident", Class::Process),
    ("host", Class::Host),
    ("system", Class::Host),
    ("node", Class::Host),
    ("machine", Class::Host),
    ("ram", Class::Memory),
    ("mem", Class::Memory),
    ("memory", Class::Memory),
    ("used", Class::Memory),
    ("usage", Class::Memory),
    ("heap", Class::Memory),
    ("footprint", Class::Memory),
    ("peak", Class::Peak),
    ("max", Class::Peak),
    ("maximum", Class::Peak),
    ("maxrss", Class::Peak),
    ("gpu", Class::Gpu),
    ("cuda", Class::Gpu),
    ("vram", Class::Gpu),
    ("device", Class::Gpu),
    ("mps", Class::Gpu),
    ("hbm", Class::Gpu),
    ("nvidia", Class::Gpu),
    ("allocated", Class::Gpu),
    ("reserved", Class::Gpu),
    ("virtual", Class::Other),
    ("virt", Class::Other),
    ("vms", Class::Other),
    ("vsz", Class::Other),
    ("free", Class::Other),
    ("available", Class::Other),
    ("avail", Class::Other),
    ("total", Class::Other),
    ("limit", Class::Other),
    ("swap", Class::Other),
    ("disk", Class::Other),
    ("file", Class::Other),
    ("dataset", Class::Other),
    ("model", Class::Other),
    ("params", Class::Other),
    ("parameters", Class::Other),
    ("weights", Class::Other),
    ("download", Class::Other),
    ("downloaded", Class::Other),
    ("downloading", Class::Other),
    ("checkpoint", Class::Other),
    ("cache", Class::Other),
    ("size", Class::Other),
    ("read", Class::Other),
    ("write", Class::Other),
    ("saved", Class::Other),
    ("saving", Class::Other),
    ("delta", Class::Other),
    ("diff", Class::Other),
    ("growth", Class::Other),
    ("increase", Class::Other),
    ("leak", Class::Other),
    ("tensor", Class::Other),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_limits_most_decides() {
        let class = |name: &str| Label::of_name(name.as_bytes()).class();
        assert_eq!(class("RAM"), Class::Memory);
        assert_eq!(class("Process RAM"), Class::Process);
        assert_eq!(class("System RAM"), Class::Host);
        assert_eq!(class("GPU memory used"), Class::Gpu);
        assert_eq!(class("peak rss"), Class::Peak);
        assert_eq!(class("free memory"), Class::Other);
        assert_eq!(class("batch"), Class::Unnamed);
        let names_memory = |name: &str| Label::of_name(name.as_bytes()).names_memory();
        assert!(names_memory("Process RAM") && names_memory("rss"));
        assert!(!names_memory("Process index") && !names_memory("node"));
        assert!(class("rss") > class("ram") && class("ram") > class("gpu"));
    }
}
