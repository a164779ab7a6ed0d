//! Label matchers in PromQL.

/// A matcher for one value: `job="lm"`.
pub fn is(label: &str, value: &str) -> String {
    format!("{label}=\"{}\"", quoted(value))
}

/// A matcher for any of these values: `rank=~"0|1|2"`.
pub fn is_any<'a>(label: &str, values: impl Iterator<Item = &'a str>) -> String {
    let values: Vec<String> = values.map(regex::escape).collect();
    format!("{label}=~\"{}\"", quoted(&values.join("|")))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        match c {
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_cannot_end_the_matcher() {
        assert_eq!(is("job", "a\"} or x{y=\"\\"), r#"job="a\"} or x{y=\"\\""#);
        let any = is_any("rank", ["0", "a.b|c"].into_iter());
        assert_eq!(any, r#"rank=~"0|a\\.b\\|c""#);
    }
}
