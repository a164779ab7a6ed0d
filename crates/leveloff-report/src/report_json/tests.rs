use serde_json::Value;

use super::*;
use crate::cases::{report, story_report};
use crate::judge_json::object;

fn told(report: &RunReport) -> Value {
    let text = document(report);
    assert!(text.ends_with("}\n") && text.matches('\n').count() == 1);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn it_begins_with_what_judge_says() {
    for report in [story_report(20), story_report(8), story_report(2)] {
        let judged = object(&report.judged());
        let judged = judged.strip_suffix('}').unwrap();
        let text = document(&report);
        assert!(text.starts_with(judged), "{text}");
        let rest = &text[judged.len()..];
        let keys = [
            "parts",
            "members",
            "sizing",
            "environment",
            "events",
            "curves",
            "format",
            "version",
        ];
        let places: Vec<usize> = keys
            .iter()
            .map(|key| rest.find(&format!(",\"{key}\":")).unwrap())
            .collect();
        assert!(places.is_sorted(), "{places:?}");
    }
}

#[test]
fn the_story_in_numbers() {
    let row = told(&story_report(20));
    assert_eq!(
        (&row["format"], &row["version"]),
        (&FORMAT.into(), &VERSION.into())
    );
    assert_eq!(row["sizing"]["host"]["baseline_bytes"], 5_552_000_000_u64);
    assert_eq!(row["sizing"]["gpu"], Value::Null);
    assert_eq!(
        row["environment"]["stated"]["limit_bytes"],
        32_000_000_000_u64
    );
    assert_eq!(row["environment"]["host"], Value::Null);
    let curves = &row["curves"];
    assert_eq!(
        (&curves["samples"], &curves["samples_per_span"]),
        (&20.into(), &1.into())
    );
    assert_eq!(curves["x"]["low"][0], 10);
    assert_eq!(curves["t_s"]["high"][19], 1880);
    let names: Vec<&str> = curves["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|series| series["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["memory", "tensors"]);
    assert_eq!(curves["series"][0]["high"][7], 17_412_000_000_u64);
    assert_eq!(curves["series"][1]["unit"], "count");
}

#[test]
fn what_was_not_measured_is_an_empty_list_and_no_zero() {
    let row = told(&report(std::iter::empty()));
    assert_eq!(row["verdict"], "undecided");
    assert_eq!(row["curves"]["x"]["low"], serde_json::json!([]));
    assert_eq!(row["sizing"]["host"], Value::Null);
}
