//! The frame of a page: style, scripts, data, and the policy that keeps everything else out.

use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};

use super::markup::Markup;

/// The style of every page.
const STYLE: &str = include_str!("../../assets/report.css");

/// The chart, which takes runs and knows nothing of the page around it, then what wires it to this one.
/// One script, so that none of its names can be seen from outside.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../../assets/units.js"),
    include_str!("../../assets/curve.js"),
    include_str!("../../assets/chart.js"),
    include_str!("../../assets/gestures.js"),
    include_str!("../../assets/report.js"),
    "})();\n"
);

/// A page before it is put together.
pub struct Document<'a> {
    /// What the browser's tab says.
    pub title: &'a str,
    /// What is seen.
    pub body: Markup,
    /// What the chart draws, as JSON.
    pub data: &'a str,
}

impl Document<'_> {
    /// The whole page.
    pub fn into_html(self) -> String {
        let mut html = head(self.title, &policy());
        html += &self.body.into_html();
        html += "<script type=\"application/json\" id=\"data\">";
        html += &within_script(self.data);
        html += "</script>\n<script>";
        html += SCRIPT;
        html += "</script>\n</body>\n</html>\n";
        html
    }
}

/// A page without data or script.
pub fn plain_page(title: &str, body: Markup) -> String {
    let policy =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
    head(title, policy) + &body.into_html() + "</body>\n</html>\n"
}

fn head(title: &str, policy: &str) -> String {
    let mut head = Markup::new();
    head.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    head.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    head.text(policy).raw("\">\n");
    head.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    head.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
    head.raw("<meta name=\"referrer\" content=\"no-referrer\">\n");
    head.element("title", title);
    head.raw("\n<style>\n").raw(STYLE);
    head.raw("</style>\n</head>\n<body>\n");
    head.raw("<a class=\"skip\" href=\"#main\">Skip to the report</a>\n");
    head.into_html()
}

/// No request to anywhere, and no script but ours: text from a recording that got into the
/// page unescaped would still not run. Styles cannot run code, and the chart sets some.
fn policy() -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'"
    )
}

/// JSON that cannot end the element it stands in: `<` and its like only occur within strings, where
/// they can be written as escapes.
fn within_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                safe += &format!("\\u{:04x}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_cannot_end_itself_early() {
        let script = SCRIPT.to_lowercase();
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(!STYLE.to_lowercase().contains("</style"));
    }

    #[test]
    fn json_stays_the_same_to_its_reader() {
        let json = serde_json::to_string("</script><!--&\u{2028}").unwrap();
        let safe = within_script(&json);
        assert!(!safe.contains(['<', '>', '&', '\u{2028}']), "{safe}");
        let read: String = serde_json::from_str(&safe).unwrap();
        assert_eq!(read, "</script><!--&\u{2028}");
    }
}
