//! A fleet for programs: a line for each run, with every field that `judge` has, and its labels.

use std::collections::BTreeMap;

use leveloff_text::fleet::{Fleet, Member};
use serde::Serialize;

use crate::verdict::json::{Plain, Row, error, to_line};

/// The lines of all runs, then one for each thing that could not be fetched.
pub fn lines(fleet: &Fleet) -> String {
    let mut text = String::new();
    for member in &fleet.members {
        text += &object(member);
        text.push('\n');
    }
    for failure in &fleet.failures {
        text += &error(&fleet.server, failure);
        text.push('\n');
    }
    text
}

/// The object of one run, without the end of its line.
pub fn object(member: &Member) -> String {
    let mut row = Row::of(&member.judged());
    // A metric tells roles, and not which process or kind.
    row.forget_processes();
    to_line(&FleetRow {
        row,
        labels: &member.labels,
        job: member.job.as_deref(),
        now_bytes: member.now.0,
        ended_s: Plain(member.ended.map(|time| time.0)),
    })
}

#[derive(Serialize)]
struct FleetRow<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    labels: &'a BTreeMap<String, String>,
    job: Option<&'a str>,
    now_bytes: u64,
    ended_s: Plain,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use leveloff_text::samples::fleet;

    #[test]
    fn a_line_is_what_judge_says_and_more() {
        let mut fleet = fleet();
        fleet.failures.push("was cut off".to_owned());
        let text = lines(&fleet);
        let objects: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(objects.len(), 5);
        let worst = &objects[0];
        assert_eq!(
            (&worst["input"], &worst["verdict"]),
            (&"rank <2>".into(), &"leak".into())
        );
        assert_eq!(worst["labels"]["rank"], "rank <2>");
        assert_eq!(worst["blame"][0]["pid"], Value::Null);
        assert_eq!(worst["blame"][0]["kind"], Value::Null);
        assert_eq!(worst["findings"][0]["name"], "outlier-rank");
        assert_eq!(objects[4]["error"], "was cut off");
        let judged: Value =
            serde_json::from_str(&crate::verdict::json::object(&fleet.members[1].judged()))
                .unwrap();
        let of_judge = judged.as_object().unwrap();
        assert!(
            of_judge
                .iter()
                .all(|(key, value)| &objects[1][key] == value)
        );
    }
}
