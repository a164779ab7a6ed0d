//! Lines of 80 columns: a label, then text that is broken between words.

/// What a screen has at least.
pub const WIDTH: usize = 80;

/// Where the text begins, behind the labels.
const TEXT_BEGINS: usize = 13;

/// A screen being written.
#[derive(Debug, Default)]
pub struct Page {
    lines: Vec<String>,
}

impl Page {
    /// An empty one.
    pub fn new() -> Page {
        Page::default()
    }

    /// A line as it is.
    pub fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Text with a label; an empty label continues the row above.
    pub fn row(&mut self, label: &str, text: &str) {
        self.hanging(label, text, 0);
    }

    /// The same for what is better not broken at spaces of its own, and hangs under its first line.
    pub fn hanging(&mut self, label: &str, text: &str, hang: usize) {
        let mut label = label;
        for (place, part) in wrapped(text, WIDTH - TEXT_BEGINS, hang)
            .into_iter()
            .enumerate()
        {
            let indent = if place == 0 { 0 } else { hang };
            let start = format!("  {label}");
            self.lines
                .push(format!("{start:<TEXT_BEGINS$}{:indent$}{part}", ""));
            label = "";
        }
    }

    /// An empty line, but never two, and none at the end.
    pub fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// All of it.
    pub fn into_text(mut self) -> String {
        while self.lines.last().is_some_and(String::is_empty) {
            self.lines.pop();
        }
        self.lines.into_iter().map(|line| line + "\n").collect()
    }
}

/// Columns that a text takes; our own words have no wide characters.
pub fn columns(text: &str) -> usize {
    text.chars().count()
}

fn wrapped(text: &str, width: usize, hang: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in unbroken(text) {
        let word = word.as_str();
        let room = if lines.len() > 1 { width - hang } else { width };
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The words of a text, a number together with its unit: where a line may be broken.
pub fn unbroken(text: &str) -> Vec<String> {
    const UNITS: [&str; 10] = ["B", "KiB", "MiB", "GiB", "TiB", "%", "s", "min", "h", "d"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_end_matches([',', ';', '.', ':', ')']);
        match words.last_mut() {
            Some(last) if UNITS.contains(&bare) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_broken_between_words_below_itself() {
        let mut page = Page::new();
        page.row("why", &"word ".repeat(40));
        let text = page.into_text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  why        word word"), "{text}");
        assert!(lines[1].starts_with("             word word"), "{text}");
        assert!(lines.iter().all(|line| columns(line) <= WIDTH), "{text}");
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(
            unbroken("at 17.4 GiB, 24 % of 8 points in 3 h 20 min"),
            [
                "at",
                "17.4 GiB,",
                "24 %",
                "of",
                "8",
                "points",
                "in",
                "3 h",
                "20 min"
            ]
        );
    }

    #[test]
    fn what_hangs_stays_within_the_width() {
        let mut page = Page::new();
        page.hanging("next", &format!("→ {}", "word ".repeat(60)), 2);
        let text = page.into_text();
        assert!(text.contains("\n               word"), "{text}");
        assert!(text.lines().all(|line| columns(line) <= WIDTH), "{text}");
    }

    #[test]
    fn a_gap_is_one_line_between_others() {
        let mut page = Page::new();
        page.gap();
        page.line("a".to_owned());
        page.gap();
        page.gap();
        page.line("b".to_owned());
        page.gap();
        assert_eq!(page.into_text(), "a\n\nb\n");
    }
}
