//! Blocks of Markdown. What goes in is Markdown already, except in fences.

use crate::markdown::{fenced, table};

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

    pub(super) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        self.block(table(head, rows).trim_end());
    }

    /// Text as it is, whatever it is.
    pub(super) fn fence(&mut self, language: &str, text: &str) {
        self.block(fenced(language, text).trim_end());
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
