//! A fleet for programs: a line for each run, with every field that `judge` has, and its labels.

use leveloff_text::fleet::{Fleet, Member};
use serde_json::Value;

use crate::json::{merged, object};
use crate::verdict;

/// The lines of all runs, then one for each thing that could not be fetched.
pub fn lines(fleet: &Fleet) -> String {
    let mut text = String::new();
    for member in &fleet.members {
        text += &object(member);
        text.push('\n');
    }
    for failure in &fleet.failures {
        text += &verdict::json::error(&fleet.server, failure);
        text.push('\n');
    }
    text
}

/// The object of one run, without the end of its line.
pub fn object(member: &Member) -> String {
    let mut row = verdict::json::row(&member.judged());
    // A metric has roles, but neither processes nor kinds of memory.
    for blame in row["blame"].as_array_mut().into_iter().flatten() {
        blame["pid"] = Value::Null;
        blame["kind"] = Value::Null;
    }
    let more = object! {
        labels: member.labels,
        job: member.job,
        now_bytes: member.now.0,
        ended_s: member.ended.map(|time| time.0),
    };
    merged([row, more]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveloff_text::cases::fleet;

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
