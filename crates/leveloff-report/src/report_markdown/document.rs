//! Blocks of Markdown. What goes in is Markdown already, except in fences.

use super::text::cell;

/// A page being written.
#[derive(Debug, Default)]
pub(super) struct Document {
    text: String,
}

impl Document {
    /// A heading of the third order: an issue has its own above.
    pub(super) fn heading(&mut self, words: &str) {
        self.block(&format!("### {words}"));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        self.block(text);
    }

    pub(super) fn list(&mut self, items: &[String]) {
        let items: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
        self.block(&items.join("\n"));
    }

    /// A table: amounts to the right, what they are of to the left.
    pub(super) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let mut lines = vec![line(head.iter().map(|text| cell(text)).collect())];
        let aligned = (0..head.len()).map(|i| if i == 0 { ":--" } else { "--:" }.to_owned());
        lines.push(line(aligned.collect()));
        lines.extend(
            rows.iter()
                .map(|row| line(row.iter().map(|text| cell(text)).collect())),
        );
        self.block(&lines.join("\n"));
    }

    /// Text as it is, whatever it is.
    pub(super) fn fence(&mut self, language: &str, text: &str) {
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.block(&format!(
            "{fence}{language}\n{}\n{fence}",
            text.trim_end_matches('\n')
        ));
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn block(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += text;
        self.text.push('\n');
    }
}
