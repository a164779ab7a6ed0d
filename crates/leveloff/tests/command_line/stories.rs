//! What one team pasted into its reports, judged as it stands there.

use serde_json::Value;

use crate::stage::{Ended, Stage};

/// From a report that ended in "a severe memory leak of ~170 MB per 10 training steps".
const PASTED: &str = "\
Step 10: 6529 tensors, RAM: 5552 MB   | Baseline
Step 20: 6529 tensors, RAM: 7159 MB   | +1607 MB (+160 MB/step)
Step 30: 6529 tensors, RAM: 8851 MB   | +1692 MB (+169 MB/step)
Step 40: 6529 tensors, RAM: 10375 MB  | +1524 MB (+152 MB/step)
Step 50: 6529 tensors, RAM: 12000 MB  | +1625 MB (+163 MB/step)
Step 60: 6529 tensors, RAM: 13757 MB  | +1757 MB (+176 MB/step)
Step 70: 6529 tensors, RAM: 15559 MB  | +1802 MB (+180 MB/step)
Step 80: 6529 tensors, RAM: 17412 MB  | +1853 MB (+185 MB/step)
";

/// How the same run went on.
const PLATEAU: [u32; 12] = [
    17650, 17380, 17210, 17460, 17290, 17520, 17330, 17480, 17190, 17440, 17270, 17390,
];

/// Keys that programs rely on.
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

/// One log, judged.
fn judged(log: &str, more: &[&str]) -> Ended {
    let stage = Stage::new();
    stage.file("train.log", log);
    let arguments = [&["judge", "train.log"], more].concat();
    stage.ask(&arguments).never_panicked()
}

/// Its text, with lines that were broken to fit joined again.
fn text(ended: &Ended) -> String {
    ended.stdout.replace("\n             ", " ")
}

fn object(log: &str, more: &[&str]) -> Value {
    let ended = judged(log, &[more, &["--format", "json"]].concat());
    serde_json::from_str(ended.stdout.trim()).unwrap()
}

fn went_on() -> String {
    let lines = (9..).zip(PLATEAU);
    let lines = lines.map(|(n, mb)| format!("Step {}: 6529 tensors, RAM: {mb} MB\n", 10 * n));
    PASTED.to_owned() + &lines.collect::<String>()
}

fn never_ended() -> String {
    let lines = (9..=90).map(|n| {
        let mb = 17412 + 1650 * (n - 8) + (n * 37 % 11) * 8;
        format!("Step {}: 6529 tensors, RAM: {mb} MB\n", 10 * n)
    });
    PASTED.to_owned() + &lines.collect::<String>()
}

#[test]
fn at_step_80_it_cannot_be_decided() {
    let ended = judged(PASTED, &["--limit", "32GB"]);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    let text = text(&ended);
    for words in [
        "train.log   WARMING UP: a leak from step 3",
        "  growing    160 MiB per step (",
        " = 1.57 GiB per 10 steps",
        "of healthy warmups are still growing at this age",
        "  decided    as a leak at step 378 if it continues, as level about ",
        "  risk       if it goes on, 29.8 GiB (stated limit) is reached at step 168 (",
        "tensors stay at 6529",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    assert!(!text.contains("LEAK"), "{text}");
}

/// The slip of ten: the report's "170 MB per 10 steps" was the growth of each step. A rate is never
/// printed without what it is per, and stands there in a second base as well.
#[test]
fn no_amount_of_growth_stands_without_its_base() {
    for log in [PASTED.to_owned(), never_ended()] {
        let text = text(&judged(&log, &[]));
        let growing = text
            .lines()
            .find(|line| line.contains("  growing "))
            .unwrap();
        let bases: Vec<&str> = growing.split(" per ").skip(1).collect();
        assert!(bases[0].starts_with("step ("), "{growing}");
        assert!(bases[1].starts_with("10 steps"), "{growing}");
    }
}

#[test]
fn it_levelled_off_in_the_end() {
    let ended = judged(&went_on(), &["--limit", "32GB"]).well();
    let text = text(&ended);
    assert!(
        text.starts_with("train.log   LEVEL (early) since step 8"),
        "{text}"
    );
    assert!(
        text.contains("  warmup     5.2 GiB → 16.2 GiB over 70 steps"),
        "{text}"
    );
    assert!(
        text.contains("  sizing     baseline 5.2 GiB · level 16.2 GiB"),
        "{text}"
    );
    assert!(!text.contains("  risk "), "{text}");
    let horizon = judged(&went_on(), &["--level-by", "90"]).well();
    assert!(
        horizon.stdout.contains("LEVEL (early) since step 8"),
        "{horizon:?}"
    );
}

#[test]
fn it_would_have_been_a_leak_had_it_gone_on() {
    let ended = judged(&never_ended(), &[]);
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let row = object(&never_ended(), &[]);
    let rate = row["rate_bytes"].as_f64().unwrap();
    assert!((rate / 165e6 - 1.0).abs() < 0.01, "{rate}");
    assert_eq!(row["findings"][0]["name"], "native-growth");
}

#[test]
fn programs_find_what_was_promised() {
    for (log, verdict) in [
        (PASTED.to_owned(), "warming_up"),
        (went_on(), "level"),
        (never_ended(), "leak"),
    ] {
        let row = object(&log, &["--limit", "32GB", "--looks", "10"]);
        assert_eq!(row["verdict"], verdict);
        assert_eq!(row["x_unit"], "step");
        for key in CONTRACT {
            assert!(row.get(key).is_some(), "{key} is not in {row}");
        }
        for finding in row["findings"].as_array().unwrap() {
            for key in ["name", "text", "next"] {
                assert!(finding[key].is_string(), "{finding}");
            }
        }
        let looks = row["trajectory"].as_array().unwrap();
        let leaks = looks.iter().any(|look| look["verdict"] == "leak");
        assert_eq!(leaks, verdict == "leak", "{row}");
    }
    let row = object(PASTED, &["--limit", "32GB"]);
    let (low, at) = (row["rate_low_bytes"].as_f64(), row["limit_at_x"].as_f64());
    assert!(low < row["rate_bytes"].as_f64() && low > Some(0.0), "{row}");
    assert!((at.unwrap() - 168.0).abs() < 3.0, "{row}");
}

/// "Process RAM: 8 GB → 8.2 GB → GC → 8 GB", every thirty seconds, beside what it had been before.
#[test]
fn tables_of_before_and_after_get_different_verdicts() {
    let stage = Stage::new();
    let rows = |gigabytes: [f64; 7]| {
        let rows = (0..)
            .zip(gigabytes)
            .map(|(n, gb)| format!("{},{gb}\n", 30 * n));
        "time_s,ram_gb\n".to_owned() + &rows.collect::<String>()
    };
    stage.file("before.csv", rows([8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0]));
    stage.file("after.csv", rows([8.0, 8.1, 8.2, 8.0, 8.1, 8.2, 8.0]));
    let ended = stage.ask(&["judge", "before.csv", "after.csv"]);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    let text = text(&ended);
    assert!(text.contains("before.csv   WARMING UP: "), "{text}");
    assert!(text.contains(" MiB per second ("), "{text}");
    assert!(text.contains("= 1.86 GiB per minute"), "{text}");
    assert!(text.contains("after.csv   LEVEL "), "{text}");
}

/// With a plan and a limit, whether it finishes is answered before there is a verdict.
#[test]
fn from_step_20_on_it_is_said_where_the_limit_ends_the_run() {
    let lines: Vec<&str> = PASTED.lines().collect();
    for seen in 2..=lines.len() {
        let log = lines[..seen].join("\n") + "\n";
        let more = ["--planned-steps", "663", "--limit", "32GB"];
        let row = object(&log, &more);
        assert_eq!(row["outlook"], "killed", "{seen} lines");
        let words = row["outlook_text"].as_str().unwrap();
        assert!(words.contains(" of 663"), "{words}");
        let place = words.split(' ').nth(5).unwrap();
        assert!((160..=180).contains(&place.parse().unwrap()), "{words}");
        let text = text(&judged(&log, &more));
        assert!(text.contains(&format!("outlook    {words}")), "{text}");
    }
}

/// The outcome of the gate, and what it says.
fn finishing(log: &str, more: &[&str]) -> (Option<i32>, String) {
    let stage = Stage::new();
    stage.file("train.log", log);
    let arguments = [&["check", "train.log", "--will-finish"], more].concat();
    let ended = stage.ask(&arguments).never_panicked();
    (ended.status.code(), text(&ended))
}

#[test]
fn a_check_answers_whether_a_run_finishes() {
    let steady: String = (0..120)
        .map(|n| format!("Step {}: RAM: {} MB\n", 5 * n, 4000 + n * 7919 % 13))
        .collect();
    let known = ["--planned-steps", "663", "--limit", "32GB"];
    let (code, said) = finishing(&steady, &known);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("finishes: 3.7"), "{said}");
    let (code, said) = finishing(PASTED, &known);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("will be killed at step 16"), "{said}");
    for (more, why) in [
        (&["--limit", "32GB"][..], "--planned-steps states it"),
        (&["--planned-steps", "663"], "--limit states one"),
        (
            &["--planned-steps", "663", "--limit", "4GB"],
            "at the limit already",
        ),
    ] {
        let (code, said) = finishing(&steady, more);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains(why), "{said}");
    }
}
