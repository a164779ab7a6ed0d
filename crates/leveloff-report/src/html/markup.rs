//! HTML being written. Only words of our own are taken as they are: the compiler knows them by their
//! lifetime. Whatever comes from outside is text, and escaped.

use leveloff_classifier::verdict::{Grade, Verdict};
use leveloff_model::process::turns_text_around;

/// The class that has the colour of a verdict.
pub fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Level(_) => "level",
        Verdict::Leak(Grade::Early | Grade::Confirmed) => "leak",
        Verdict::Leak(Grade::Suspected) | Verdict::WarmingUp => "warming-up",
        Verdict::Undecided => "undecided",
    }
}

/// A piece of a page.
#[derive(Debug, Default)]
pub struct Markup {
    html: String,
}

impl Markup {
    /// Nothing yet.
    pub fn new() -> Markup {
        Markup::default()
    }

    /// HTML of our own.
    pub fn raw(&mut self, html: &'static str) -> &mut Markup {
        self.html.push_str(html);
        self
    }

    /// Anything, shown as it is. Safe between tags and within quoted attributes.
    pub fn text(&mut self, text: &str) -> &mut Markup {
        for c in text.chars() {
            match c {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '"' => self.html.push_str("&quot;"),
                '\'' => self.html.push_str("&#39;"),
                // HTML has no way to write the first; a parser may stop at it. The others hide text.
                '\0' => self.html.push('\u{fffd}'),
                c if turns_text_around(c) || (c.is_control() && !c.is_whitespace()) => {
                    self.html.extend(c.escape_default());
                }
                c => self.html.push(c),
            }
        }
        self
    }

    /// An SVG of this crate, in which names from a recording are already escaped.
    pub fn picture(&mut self, svg: &str) -> &mut Markup {
        // What comes before the element is for files, and not for pages.
        let from = svg.find("<svg").unwrap_or(0);
        self.html.push_str(&svg[from..]);
        self
    }

    /// An element with text in it. `tag` may have attributes: `td class="n"`.
    pub fn element(&mut self, tag: &'static str, text: &str) -> &mut Markup {
        self.open(tag).text(text).close(tag)
    }

    /// A sentence of ours, in which what stands in backticks is code.
    pub fn sentence(&mut self, text: &str) -> &mut Markup {
        let pieces: Vec<&str> = text.split('`').collect();
        // One without its partner is a backtick.
        if pieces.len().is_multiple_of(2) {
            return self.text(text);
        }
        for (place, piece) in pieces.into_iter().enumerate() {
            match place % 2 {
                0 => self.text(piece),
                _ => self.element("code", piece),
            };
        }
        self
    }

    /// The beginning of an element.
    pub fn open(&mut self, tag: &'static str) -> &mut Markup {
        self.raw("<").raw(tag).raw(">")
    }

    /// The end of an element, named by its beginning.
    pub fn close(&mut self, tag: &'static str) -> &mut Markup {
        let name = tag.split_once(' ').map_or(tag, |(name, _)| name);
        self.raw("</").raw(name).raw(">")
    }

    /// The beginning of a section with its heading, which names it for a screen reader.
    pub fn section(&mut self, id: &'static str, heading: &'static str) -> &mut Markup {
        self.raw("<section aria-labelledby=\"").raw(id).raw("\">\n");
        self.raw("<h2 id=\"").raw(id).raw("\">");
        self.text(heading).raw("</h2>\n")
    }

    /// The end of a section.
    pub fn end_section(&mut self) -> &mut Markup {
        self.raw("</section>\n")
    }

    /// The beginning of a table that scrolls by itself, named by the heading with this id. A column has a
    /// class (`n` for numbers) and a name.
    pub fn table(
        &mut self,
        heading: &'static str,
        caption: &str,
        columns: &[(&'static str, &str)],
    ) -> &mut Markup {
        self.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"");
        self.raw(heading).raw("\"><table>");
        self.element("caption", caption).raw("\n<thead><tr>");
        for (class, name) in columns {
            match *class {
                "" => self.raw("<th scope=\"col\">"),
                class => self.raw("<th scope=\"col\" class=\"").raw(class).raw("\">"),
            };
            self.text(name).raw("</th>");
        }
        self.raw("</tr></thead>\n<tbody>\n")
    }

    /// A row of a table: its name, then numbers.
    pub fn row(&mut self, name: &str, numbers: &[String]) -> &mut Markup {
        self.raw("<tr>").element("th scope=\"row\"", name);
        for number in numbers {
            self.element("td class=\"n\"", number);
        }
        self.raw("</tr>\n")
    }

    /// The end of a table.
    pub fn end_table(&mut self) -> &mut Markup {
        self.raw("</tbody></table></div>\n")
    }

    /// A list of texts; nothing when there are none.
    pub fn list<T: AsRef<str>>(
        &mut self,
        class: &'static str,
        items: impl IntoIterator<Item = T>,
    ) -> &mut Markup {
        let mut items = items.into_iter().peekable();
        if items.peek().is_none() {
            return self;
        }
        self.raw("<ul class=\"").raw(class).raw("\">\n");
        for item in items {
            self.element("li", item.as_ref()).raw("\n");
        }
        self.raw("</ul>\n")
    }

    /// A term and what is said of it. Nothing, when there is nothing to say.
    pub fn term(&mut self, term: &str, about: Option<&str>) -> &mut Markup {
        if let Some(about) = about {
            self.raw("<div>").element("dt", term);
            self.element("dd", about).raw("</div>\n");
        }
        self
    }

    /// As it stands.
    pub fn into_html(self) -> String {
        self.html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text_between_tags_and_in_attributes() {
        let mut markup = Markup::new();
        markup.element("td class=\"n\"", "<b>\"&'\0");
        assert_eq!(
            markup.into_html(),
            "<td class=\"n\">&lt;b&gt;&quot;&amp;&#39;\u{fffd}</td>"
        );
    }

    #[test]
    fn unknown_values_are_left_out() {
        let mut markup = Markup::new();
        markup.term("host", None);
        assert_eq!(markup.into_html(), "");
    }
}
