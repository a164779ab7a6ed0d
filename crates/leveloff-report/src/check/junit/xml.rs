//! As much XML as JUnit needs: elements, attributes and text, indented, safe for any text.

/// A document being written.
#[derive(Debug)]
pub struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    /// The beginning.
    pub fn document() -> Xml {
        Xml {
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
            depth: 0,
        }
    }

    /// An element with others inside.
    pub fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, ">\n");
        self.depth += 1;
    }

    /// Its end.
    pub fn close(&mut self, name: &str) {
        self.depth -= 1;
        self.indent();
        self.text += &format!("</{name}>\n");
    }

    /// An element with nothing inside.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.tag(name, attributes, "/>\n");
    }

    /// An element with text inside, which is kept as it is, line breaks too.
    pub fn text_element(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.tag(name, attributes, ">");
        escape(text, &mut self.text);
        self.text += &format!("</{name}>\n");
    }

    /// All of it.
    pub fn into_text(self) -> String {
        self.text
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &str)], end: &str) {
        self.indent();
        self.text += &format!("<{name}");
        for (name, value) in attributes {
            self.text += &format!(" {name}=\"");
            escape_attribute(value, &mut self.text);
            self.text.push('"');
        }
        self.text += end;
    }

    fn indent(&mut self) {
        self.text += &"  ".repeat(self.depth);
    }
}

fn escape(text: &str, into: &mut String) {
    for c in text.chars().filter(|c| is_allowed(*c)) {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            // Only "]]>" is forbidden; escaping every one is simpler.
            '>' => into.push_str("&gt;"),
            // A reader would make a line feed of it.
            '\r' => into.push_str("&#13;"),
            c => into.push(c),
        }
    }
}

/// Within quotes; a line break there would be read as a space.
fn escape_attribute(text: &str, into: &mut String) {
    for c in text.chars().filter(|c| is_allowed(*c)) {
        match c {
            '"' => into.push_str("&quot;"),
            '\n' => into.push_str("&#10;"),
            '\t' => into.push_str("&#9;"),
            c => escape(c.encode_utf8(&mut [0; 4]), into),
        }
    }
}

/// What XML 1.0 allows at all: there is no way to write the others, not even escaped.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_but_for_what_xml_forbids() {
        let nasty = "a<b>&\"c'\u{0}\u{1b}[31m\u{fffe}]]>\r\n\t é 日本 \u{1f600}";
        let kept = "a<b>&\"c'[31m]]>\r\n\t é 日本 \u{1f600}";
        let mut xml = Xml::document();
        xml.open("a", &[("b", nasty)]);
        xml.text_element("c", &[], nasty);
        xml.close("a");
        let text = xml.into_text();
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("b"), Some(kept));
        assert_eq!(root.first_element_child().unwrap().text(), Some(kept));
    }
}
