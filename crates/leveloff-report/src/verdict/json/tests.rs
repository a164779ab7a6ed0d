use leveloff_classifier::units::AmountPerX;
use leveloff_model::recording::StatedFacts;
use serde_json::{Value, json};

use super::*;
use crate::cases::{MIB, descriptor_leak, leak, story_at_80, story_at_300, undecided};
use leveloff_classifier::verdict::{Grade, Shape, Verdict};

/// What others rely on, in this order.
const CONTRACT: [&str; 17] = [
    "input",
    "verdict",
    "grade",
    "shape",
    "x_unit",
    "rate_bytes",
    "rate_low_bytes",
    "rate_high_bytes",
    "onset_x",
    "level_bytes",
    "level_since_x",
    "decided_at_x",
    "decide_by_x",
    "limit_at_x",
    "blame",
    "findings",
    "points",
];

fn json_of(verdict: &RunVerdict) -> Value {
    let stated = StatedFacts::default();
    let text = object(&Judged::plain("run.csv", verdict, &stated));
    assert!(!text.contains('\n'));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_key_of_the_contract_is_always_there_and_comes_first() {
    let nothing_known = undecided(Reason::TooFewPoints { missing: 5 });
    let cases = [
        nothing_known,
        story_at_80(),
        story_at_300(),
        leak(),
        descriptor_leak(),
    ];
    for verdict in &cases {
        let stated = StatedFacts::default();
        let text = object(&Judged::plain("run.csv", verdict, &stated));
        // As it stands on the line: an object that was parsed has lost its order.
        let place = |key: &&str| {
            text.find(&format!("\"{key}\":"))
                .unwrap_or_else(|| panic!("{key}"))
        };
        let places: Vec<usize> = CONTRACT.iter().map(place).collect();
        assert!(places.is_sorted(), "{text}");
        assert!(places[16] < text.find("\"limit_low_x\":").unwrap());
        assert!(json_of(verdict).get("trajectory").is_none());
    }
}

#[test]
fn what_is_not_known_is_null() {
    let row = json_of(&undecided(Reason::TooFewPoints { missing: 5 }));
    assert_eq!(row["verdict"], "undecided");
    assert_eq!(row["because"], "too_few_points");
    for key in [
        "grade",
        "rate_bytes",
        "onset_x",
        "level_bytes",
        "limit_at_x",
        "clock",
        "pace_s",
    ] {
        assert_eq!(row[key], Value::Null, "{key}");
    }
    assert_eq!((&row["blame"], &row["findings"]), (&json!([]), &json!([])));
}

#[test]
fn the_story_in_numbers() {
    let row = json_of(&story_at_80());
    assert_eq!(row["input"], "run.csv");
    assert_eq!(row["verdict"], "warming_up");
    assert_eq!(row["shape"], "linear");
    assert_eq!(row["x_unit"], "step");
    assert_eq!(
        row["rate_bytes"],
        json!(165.0 * MIB).as_f64().map(|r| r as i64).unwrap()
    );
    assert_eq!(
        (&row["decide_by_x"], &row["decide_by_if_level_x"]),
        (&json!(379), &json!(130))
    );
    assert_eq!(
        (
            &row["limit_low_x"],
            &row["limit_at_x"],
            &row["limit_high_x"]
        ),
        (&json!(163), &json!(168), &json!(173))
    );
    assert_eq!(row["limit_kind"], "stated");
    assert_eq!(row["points"], 8);
    let level = json_of(&story_at_300());
    assert_eq!(level["verdict"], "level");
    assert_eq!(
        (&level["level_since_x"], &level["decided_at_x"]),
        (&json!(88), &json!(130))
    );
    assert_eq!(level["level_bytes"], 18_683_107_738_u64);
}

#[test]
fn a_leak_names_who_what_and_when() {
    let row = json_of(&leak());
    assert_eq!(
        (&row["verdict"], &row["grade"]),
        (&json!("leak"), &json!("confirmed"))
    );
    let blamed = &row["blame"][0];
    assert_eq!(
        (&blamed["role"], &blamed["pid"], &blamed["kind"]),
        (&json!("trainer"), &json!(22180), &json!("anon"))
    );
    assert_eq!(blamed["share"], 0.98);
    assert_eq!(row["findings"][0]["name"], "held-references");
    assert_eq!(row["clock"]["tick"], "evaluation");
}

#[test]
fn when_a_count_decides_bytes_are_those_of_memory() {
    let row = json_of(&descriptor_leak());
    assert_eq!(
        (&row["verdict"], &row["grade"]),
        (&json!("leak"), &json!("early"))
    );
    assert_eq!(row["onset_x"], 12);
    assert_eq!(row["decisive"]["series"], "descriptors");
    assert_eq!(
        (&row["decisive"]["unit"], &row["decisive"]["rate"]),
        (&json!("count"), &json!(2))
    );
    assert_eq!(row["rate_high_bytes"].as_f64(), Some(0.4 * MIB));
    assert_eq!(row["level_bytes"], 18_683_107_738_u64);
    assert_eq!(row["memory_verdict"], "level");
    assert_eq!(row["blame"][0]["kind"], "fds");
    assert_eq!(row["blame"][0]["growth_bytes"], Value::Null);
}

#[test]
fn numbers_that_are_none_are_null() {
    let mut verdict = story_at_80();
    let rate = verdict.judgement.rate.as_mut().unwrap();
    (rate.low, rate.high) = (AmountPerX(f64::NEG_INFINITY), AmountPerX(f64::NAN));
    let row = json_of(&verdict);
    assert_eq!(
        (&row["rate_low_bytes"], &row["rate_high_bytes"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn looks_are_the_trajectory() {
    let (verdict, stated) = (leak(), StatedFacts::default());
    let looks = [
        (Some(6.0), Verdict::WarmingUp, Shape::Linear),
        (None, Verdict::Leak(Grade::Early), Shape::Linear),
    ]
    .map(|(x, verdict, shape)| Look { x, verdict, shape });
    let judged = Judged {
        progress: None,
        looks: &looks,
        ..Judged::plain("-", &verdict, &stated)
    };
    let row: Value = serde_json::from_str(&object(&judged)).unwrap();
    assert_eq!(
        row["trajectory"],
        json!([
            {"x": 6, "verdict": "warming_up", "grade": null, "shape": "linear"},
            {"x": null, "verdict": "leak", "grade": "early", "shape": "linear"},
        ])
    );
}

#[test]
fn an_error_is_an_object_too() {
    let row: Value = serde_json::from_str(&error("no \"such\".csv", "not\nthere")).unwrap();
    assert_eq!(
        row,
        json!({"input": "no \"such\".csv", "error": "not\nthere"})
    );
}
