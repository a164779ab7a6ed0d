use super::*;
use crate::check_cases::Pair;
use crate::comparison::json;
use crate::comparison::markdown;

#[test]
fn golden() {
    for (name, pair) in Pair::all() {
        pair.compared(|compared| {
            insta::assert_snapshot!(
                format!("comparison-text-{name}"),
                page(compared, Paint::Plain)
            );
            insta::assert_snapshot!(
                format!("comparison-markdown-{name}"),
                markdown::document(compared)
            );
            let row: serde_json::Value = serde_json::from_str(&json::object(compared)).unwrap();
            let text = serde_json::to_string_pretty(&row).unwrap();
            insta::assert_snapshot!(format!("comparison-json-{name}"), text);
        });
    }
}

#[test]
fn fits_the_screen() {
    for (name, pair) in Pair::all() {
        pair.compared(|compared| {
            let text = page(compared, Paint::Plain);
            let wide = text.lines().find(|line| columns(line) > WIDTH);
            assert_eq!(wide, None, "{name}");
        });
    }
}
