use serde_json::{Value, json};

use super::*;
use crate::check_cases::{self, all, hostile};
use crate::verdict;

fn json_of(report: &CheckReport) -> Value {
    let text = object(report);
    assert!(!text.contains('\n'));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn golden() {
    for (name, report) in all() {
        let text = serde_json::to_string_pretty(&json_of(&report)).unwrap();
        insta::assert_snapshot!(format!("json-{name}"), text);
    }
}

#[test]
fn a_run_has_every_field_that_judge_tells_of_it() {
    let report = check_cases::leak();
    let held = report.held().next().unwrap();
    let judged: Value =
        serde_json::from_str(&verdict::json::object(&held.report.judged())).unwrap();
    let run = &json_of(&report)["runs"][0];
    for (key, value) in judged.as_object().unwrap() {
        assert_eq!(run.get(key), Some(value), "{key}");
    }
    assert_eq!(
        (&run["outcome"], &run["error"]),
        (&json!("failed"), &Value::Null)
    );
    let leak = &run["gates"][0];
    assert_eq!(
        (&leak["name"], &leak["unit"]),
        (&json!("leak"), &json!("bytes/step"))
    );
}

#[test]
fn what_could_not_be_read_is_an_error_with_no_gates() {
    let row = json_of(&check_cases::broken());
    assert_eq!(row["outcome"], "error");
    let run = &row["runs"][1];
    assert_eq!(
        (&run["outcome"], &run["gates"]),
        (&json!("error"), &json!([]))
    );
    assert!(
        run["error"]
            .as_str()
            .unwrap()
            .starts_with("cannot read run-2")
    );
}

#[test]
fn a_regression_has_all_its_numbers() {
    let row = json_of(&check_cases::regression());
    let baseline = &row["baseline"];
    assert_eq!(
        (&baseline["outcome"], &baseline["comparison"]),
        (&json!("failed"), &json!("worse"))
    );
    let level = &baseline["differences"][0];
    assert_eq!(level["quantity"], "level_bytes");
    assert_eq!(
        (&level["before_runs"], &level["after_runs"]),
        (&json!(3), &json!(3))
    );
    let number = |key: &str| level[key].as_f64().unwrap();
    assert!(number("low") > 0.0 && number("low") < number("change"));
    assert!((number("after") - number("before") - number("change")).abs() < 1.0);
}

#[test]
fn names_come_back_as_they_are() {
    let report = hostile();
    let row = json_of(&report);
    assert_eq!(row["name"], report.name);
    assert_eq!(row["runs"][0]["input"], report.name);
}
