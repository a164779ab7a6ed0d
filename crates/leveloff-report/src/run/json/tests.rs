use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use serde_json::Value;

use leveloff_classifier::observation::Observation;

use super::*;
use crate::cases::{Run, report, story_report};
use crate::verdict::json::object;

fn json_of(report: &RunReport) -> Value {
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
            "tensors_grown",
            "trimmed_bytes",
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
    let row = json_of(&story_report(20));
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
fn what_is_counted_inside_in_numbers() {
    let counts = |step: u32| {
        TrainingCounters::default()
            .with(TrainingCounter::MallocUsed, 1000 + u64::from(step))
            .with(TrainingCounter::Trimmed, (step > 20).then_some(77))
    };
    let run = Run::default().counts(counts).grown("int8[2]", 3, 4096);
    let row = json_of(&run.steps(1..=30, |_| 1e9).report());
    let grown = serde_json::json!([{"what": "int8[2]", "more": 3, "more_bytes": 4096}]);
    assert_eq!(
        (&row["tensors_grown"], &row["trimmed_bytes"]),
        (&grown, &77.into())
    );
    let series = &row["curves"]["series"];
    assert_eq!(series.as_array().unwrap().len(), 2);
    assert_eq!(series[1]["name"], "malloc_used");
    assert_eq!(series[1]["high"][29], 1030);
}

#[test]
fn what_was_not_measured_is_an_empty_list_and_no_zero() {
    let row = json_of(&report(std::iter::once(Observation {
        count: Some(5.0),
        ..Observation::default()
    })));
    assert_eq!(row["verdict"], "undecided");
    assert_eq!(row["sizing"]["gpu"], Value::Null);
    assert_eq!(row["tensors_grown"], serde_json::json!([]));
    assert_eq!(row["trimmed_bytes"], Value::Null);
}
