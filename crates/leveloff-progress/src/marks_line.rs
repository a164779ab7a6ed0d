//! Parses one line of a marks file.

use leveloff_model::allocation::{Holder, HolderKind, ReportedHolder};
use leveloff_model::process::Pid;
use leveloff_model::process::StartTicks;
use leveloff_model::progress::Phase;
use leveloff_model::training_counters::{
    GrownObjects, GrownTensors, RecompileKind, RecompileReason, TrainingCounter,
};
use leveloff_model::units::{Bytes, Step};
use serde_json::{Map, Value};

use crate::number::LARGEST;
use crate::update::{Plan, ProgressUpdate, UnixSeconds};

/// The version of the protocol that this crate reads.
pub const VERSION: u64 = 1;

/// What a line holds.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "short-lived, and nearly always a mark"
)]
pub enum MarksLine {
    /// The first line, which identifies the writer.
    Header(MarksHeader),
    /// A mark, with its first invalid field, if any. The other fields are valid.
    Mark(ProgressUpdate, Option<BadMark>),
}

/// The writer of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarksHeader {
    /// The protocol's version.
    pub version: u64,
    /// The writer's pid in its own pid namespace.
    pub pid: Option<Pid>,
    /// When the writer started, if it wrote that.
    pub start: Option<StartTicks>,
}

/// Why a line is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMark {
    /// Not JSON; NaN and Infinity are not JSON either.
    #[error("not a JSON object (NaN and Infinity are not JSON: write null)")]
    NotJson,
    /// Longer than any mark.
    #[error("longer than 64 KiB")]
    TooLong,
    /// A field of the wrong type, or out of range.
    #[error("\"{0}\" is not {1}")]
    WrongField(&'static str, &'static str),
}

/// How many facts of one mark are kept.
const MOST_FACTS: usize = 64;

/// How many kinds of tensors, classes of objects or reasons are kept.
const MOST_GROWN: usize = 8;

/// The longest name of a fact, an event or a phase that is kept.
const LONGEST_NAME: usize = 64;

/// The longest path that is kept.
const LONGEST_PATH: usize = 1024;

/// Replaces `NaN` and `Infinity` after a colon by `null`: Python writes a diverged loss that way, which is
/// not JSON, and the step beside it is still valid.
fn without_python_numbers(line: &[u8]) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(line).into_owned();
    for word in ["-Infinity", "Infinity", "NaN"] {
        text = text
            .replace(&format!(": {word}"), ": null")
            .replace(&format!(":{word}"), ":null");
    }
    text.into_bytes()
}

/// Reads a line without its end.
pub fn parse(line: &[u8]) -> Result<MarksLine, BadMark> {
    let fields: Map<String, Value> = serde_json::from_slice(line)
        .or_else(|_| serde_json::from_slice(&without_python_numbers(line)))
        .map_err(|_| BadMark::NotJson)?;
    if let Some(version) = fields.get("leveloff_marks") {
        return Ok(MarksLine::Header(MarksHeader {
            version: whole(version).unwrap_or(0),
            pid: number_of(&fields, "pid")
                .and_then(|pid| i32::try_from(pid).ok())
                .map(Pid),
            start: number_of(&fields, "start").map(StartTicks),
        }));
    }
    let mut mark = ProgressUpdate::default();
    let mut bad = None;
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        if let Err(wrong) = take(&mut mark, name, value) {
            bad.get_or_insert(wrong);
        }
    }
    Ok(MarksLine::Mark(mark, bad))
}

fn take(mark: &mut ProgressUpdate, name: &str, value: &Value) -> Result<(), BadMark> {
    const COUNT: &str = "a whole number from 0 to 9e15";
    let count = |name| whole(value).ok_or(BadMark::WrongField(name, COUNT));
    match name {
        "t" => mark.at = Some(UnixSeconds(number(value, "t")?)),
        "step" => mark.step = Some(Step(count("step")?)),
        "epoch" => mark.epoch = Some(not_negative(number(value, "epoch")?, "epoch")?),
        "phase" => mark.phase = Some(Phase::from(word(value, "phase")?)),
        "event" => mark.event = Some(word(value, "event")?),
        "planned_steps" => mark.plan = Some(Plan::Steps(Step(count("planned_steps")?))),
        "epoch_steps" => mark.epoch_steps = Some(Step(count("epoch_steps")?)),
        "path" => mark.path = Some(path(value)?),
        "obeys_stop" => mark.obeys_stop = Some(yes_or_no(value, "obeys_stop")?),
        "tensors_grown" => mark.grown = Some(grown_tensors(value)?),
        "objects_grown" => mark.grown_objects = Some(grown_objects(value)?),
        "holders" => mark.holders = Some(holders(value)?),
        "recompile_reasons" => mark.recompile_reasons = Some(recompile_reasons(value)?),
        _ => {
            if let Some(fact) = TrainingCounter::from_name(name) {
                mark.counters.set(fact, count(fact.name())?);
                return Ok(());
            }
            // Unknown fields of later versions are ignored, unless they are numbers.
            let has_room = mark.facts.len() < MOST_FACTS && name.len() <= LONGEST_NAME;
            if let Some(fact) = value.as_f64().filter(|_| has_room) {
                mark.facts.insert(name.to_owned(), fact);
            }
        }
    }
    Ok(())
}

/// `[["float32[64, 1024] cpu", 412, 107374182], …]`
fn grown_tensors(value: &Value) -> Result<Vec<GrownTensors>, BadMark> {
    const NAME: &str = "tensors_grown";
    let wrong = BadMark::WrongField(NAME, "a list of [text, tensors, bytes]");
    let one = |row: &[Value]| {
        let [what, more, more_bytes] = row else {
            return None;
        };
        Some(GrownTensors {
            what: plain_word(what, NAME)?,
            more: whole(more)?,
            more_bytes: Bytes(whole(more_bytes)?),
        })
    };
    rows(value, one).ok_or(wrong)
}

/// `[["matplotlib.figure.Figure", 41], …]`
fn grown_objects(value: &Value) -> Result<Vec<GrownObjects>, BadMark> {
    const NAME: &str = "objects_grown";
    let wrong = BadMark::WrongField(NAME, "a list of [text, objects]");
    let one = |row: &[Value]| {
        let [what, more] = row else {
            return None;
        };
        Some(GrownObjects {
            what: plain_word(what, NAME)?,
            more: whole(more)?,
        })
    };
    rows(value, one).ok_or(wrong)
}

/// `[[4312, 54, "list", 300, "global", "outs", "train.py", 52, 52], …]`
fn holders(value: &Value) -> Result<Vec<ReportedHolder>, BadMark> {
    const NAME: &str = "holders";
    let wrong = BadMark::WrongField(
        NAME,
        "a list of [pid, stack, class, length, kind, name, place, kept, looked at]",
    );
    let text = |value: &Value| match value.as_str() {
        Some("") => Some(String::new()),
        _ => plain_word(value, NAME),
    };
    let one = |row: &[Value]| {
        let [
            pid,
            stack,
            class,
            length,
            kind,
            name,
            place,
            kept,
            looked_at,
        ] = row
        else {
            return None;
        };
        Some(ReportedHolder {
            pid: Pid(i32::try_from(whole(pid)?).ok()?),
            stack: u32::try_from(whole(stack)?).ok()?,
            holder: Holder {
                class: text(class)?,
                length: whole(length)?,
                kind: HolderKind::from_name(kind.as_str()?),
                name: text(name)?,
                place: text(place)?,
                kept: whole(kept)?,
                looked_at: whole(looked_at)?,
            },
        })
    };
    rows(value, one).ok_or(wrong)
}

/// `[["size", "x, dimension 1", 41], …]`
fn recompile_reasons(value: &Value) -> Result<Vec<RecompileReason>, BadMark> {
    const NAME: &str = "recompile_reasons";
    let wrong = BadMark::WrongField(NAME, "a list of [kind, text, times]");
    let one = |row: &[Value]| {
        let [kind, what, count] = row else {
            return None;
        };
        Some(RecompileReason {
            kind: RecompileKind::from_name(kind.as_str()?),
            what: plain_word(what, NAME)?,
            count: whole(count)?,
        })
    };
    rows(value, one).ok_or(wrong)
}

/// The first rows of a list of lists; `None` if one of them is invalid.
fn rows<T>(value: &Value, one: impl Fn(&[Value]) -> Option<T>) -> Option<Vec<T>> {
    let listed = value.as_array()?.iter().take(MOST_GROWN);
    listed.map(|row| one(row.as_array()?)).collect()
}

/// A type, a shape, a class or an argument. It is printed inside messages and Markdown, so nothing else is accepted.
fn plain_word(value: &Value, name: &'static str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.,:[] ".contains(c);
    word(value, name)
        .ok()
        .filter(|word| word.chars().all(is_plain))
}

/// A whole number, also one written as `10.0`, within what a float can hold.
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    let is_count = (0.0..LARGEST).contains(&number) && number.fract() == 0.0;
    is_count.then_some(number as u64)
}

fn number_of(fields: &Map<String, Value>, name: &str) -> Option<u64> {
    fields.get(name).and_then(whole)
}

fn number(value: &Value, name: &'static str) -> Result<f64, BadMark> {
    let number = value.as_f64().filter(|number| number.abs() < LARGEST);
    number.ok_or(BadMark::WrongField(name, "a number"))
}

fn not_negative(number: f64, name: &'static str) -> Result<f64, BadMark> {
    if number >= 0.0 {
        Ok(number)
    } else {
        Err(BadMark::WrongField(name, "0 or more"))
    }
}

fn yes_or_no(value: &Value, name: &'static str) -> Result<bool, BadMark> {
    let answer = value.as_bool();
    answer.ok_or(BadMark::WrongField(name, "true or false"))
}

/// A short text that is safe to print.
fn word(value: &Value, name: &'static str) -> Result<String, BadMark> {
    const WANTED: &str = "a text of at most 64 bytes without control characters";
    text(value, LONGEST_NAME).ok_or(BadMark::WrongField(name, WANTED))
}

/// A path that is shown and never opened.
fn path(value: &Value) -> Result<String, BadMark> {
    const WANTED: &str = "a text of at most 1024 bytes without control characters";
    text(value, LONGEST_PATH).ok_or(BadMark::WrongField("path", WANTED))
}

fn text(value: &Value, longest: usize) -> Option<String> {
    let text = value.as_str().filter(|text| {
        !text.is_empty() && text.len() <= longest && !text.chars().any(char::is_control)
    });
    text.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark(line: &str) -> (ProgressUpdate, Option<BadMark>) {
        match parse(line.as_bytes()) {
            Ok(MarksLine::Mark(mark, bad)) => (mark, bad),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_full_line_is_read() {
        let (mark, bad) = mark(
            r#"{"t":1760000000.5,"step":10,"phase":"train","epoch":0.5,"tensors":6529,"tensor_bytes":1024,"cuda_bytes":2048,"planned_steps":400,"epoch_steps":20,"event":"checkpoint","loss":2.5,"note":"x"}"#,
        );
        assert_eq!(bad, None);
        assert_eq!(mark.at, Some(UnixSeconds(1_760_000_000.5)));
        assert_eq!((mark.step, mark.epoch), (Some(Step(10)), Some(0.5)));
        assert_eq!(mark.phase, Some(Phase::Train));
        assert_eq!(mark.plan, Some(Plan::Steps(Step(400))));
        assert_eq!(
            mark.counters.known().collect::<Vec<_>>(),
            [
                (TrainingCounter::Tensors, 6529),
                (TrainingCounter::TensorBytes, 1024),
                (TrainingCounter::CudaReserved, 2048),
            ]
        );
        assert_eq!(mark.event.as_deref(), Some("checkpoint"));
        assert_eq!(
            mark.facts.into_iter().collect::<Vec<_>>(),
            [("loss".to_owned(), 2.5)]
        );
    }

    #[test]
    fn a_wrong_field_is_named_and_the_others_count() {
        let (update, bad) = mark(r#"{"step":10,"epoch":"half"}"#);
        assert_eq!(update.step, Some(Step(10)));
        assert_eq!(bad, Some(BadMark::WrongField("epoch", "a number")));
        for line in [
            r#"{"step":-1}"#,
            r#"{"step":1.5}"#,
            r#"{"step":1e300}"#,
            r#"{"step":true}"#,
            r#"{"phase":"a\u001b[2J"}"#,
            r#"{"event":""}"#,
            r#"{"t":1e18}"#,
        ] {
            assert!(mark(line).1.is_some(), "{line}");
        }
        assert_eq!(mark(r#"{"step":10.0,"epoch":null}"#).0.step, Some(Step(10)));
    }

    #[test]
    fn tensors_that_grew_are_read_or_refused_whole() {
        let (update, bad) = mark(r#"{"tensors_grown":[["float32[2, 3] cpu",12,288]]}"#);
        let expected = GrownTensors {
            what: "float32[2, 3] cpu".to_owned(),
            more: 12,
            more_bytes: Bytes(288),
        };
        assert_eq!((update.grown, bad), (Some(vec![expected]), None));
        for list in [
            "7",
            "[7]",
            r#"[["a",1]]"#,
            r#"[["a",-1,2]]"#,
            r#"[["\u001b",1,2]]"#,
            r#"[["@me",1,2]]"#,
        ] {
            let (update, bad) = mark(&format!("{{\"step\":3,\"tensors_grown\":{list}}}"));
            assert_eq!((update.step, update.grown), (Some(Step(3)), None), "{list}");
            assert!(bad.is_some(), "{list}");
        }
        let many = vec![r#"["a",1,2]"#; 100].join(",");
        let (update, _) = mark(&format!("{{\"tensors_grown\":[{many}]}}"));
        assert_eq!(update.grown.map(|grown| grown.len()), Some(MOST_GROWN));
    }

    #[test]
    fn reasons_and_objects_are_read_or_refused_whole() {
        let (update, bad) = mark(
            r#"{"recompile_reasons":[["size","x, dimension 1",41],["of later",  "f",1]],"objects_grown":[["a.B",3]]}"#,
        );
        let reason = |kind, what: &str, count| RecompileReason {
            kind,
            what: what.to_owned(),
            count,
        };
        let expected = [
            reason(RecompileKind::Size, "x, dimension 1", 41),
            reason(RecompileKind::Other, "f", 1),
        ];
        assert_eq!(
            (update.recompile_reasons, bad),
            (Some(expected.to_vec()), None)
        );
        assert_eq!(update.grown_objects.unwrap()[0].more, 3);
        for line in [
            r#"{"recompile_reasons":[["size","a`b",1]]}"#,
            r#"{"recompile_reasons":[[7,"a",1]]}"#,
            r#"{"recompile_reasons":[["size","a"]]}"#,
            r#"{"objects_grown":[["a.B",1,2]]}"#,
            r#"{"objects_grown":[["@a",1]]}"#,
            r#"{"objects_grown":{}}"#,
        ] {
            let (update, bad) = mark(line);
            assert!(update.is_empty() && bad.is_some(), "{line}");
        }
    }

    #[test]
    fn a_path_and_a_promise_are_read_and_wrong_ones_are_reported() {
        let (update, bad) =
            mark(r#"{"event":"checkpoint","path":"/ckpt/step 5","obeys_stop":true}"#);
        assert_eq!(update.path.as_deref(), Some("/ckpt/step 5"));
        assert_eq!((update.obeys_stop, bad), (Some(true), None));
        let long = format!("{{\"step\":3,\"path\":\"{}\"}}", "x".repeat(1025));
        for line in [
            &long,
            r#"{"step":3,"path":7}"#,
            r#"{"step":3,"path":""}"#,
            r#"{"step":3,"path":"a\u001b[2J"}"#,
            r#"{"step":3,"obeys_stop":"yes"}"#,
            r#"{"step":3,"obeys_stop":1}"#,
        ] {
            let (update, bad) = mark(line);
            assert_eq!(update.step, Some(Step(3)), "{line}");
            assert_eq!((update.path, update.obeys_stop), (None, None), "{line}");
            assert!(matches!(bad, Some(BadMark::WrongField(..))), "{line}");
        }
        let (update, _) = mark(r#"{"obeys_stop":null,"path":null}"#);
        assert!(update.is_empty());
    }

    #[test]
    fn a_diverged_loss_does_not_cost_the_step() {
        let plain = parse(br#"{"step":7,"loss":null,"low":null}"#);
        let python = br#"{"step":7,"loss":NaN,"low": -Infinity}"#;
        assert!(plain.is_ok());
        assert_eq!(parse(python), plain);
    }

    #[test]
    fn what_is_no_object_is_bad() {
        for line in [
            "",
            "{",
            "[1]",
            "7",
            r#"{"step":?}"#,
            r#"{"loss":1e999}"#,
            "\u{0}",
        ] {
            assert_eq!(parse(line.as_bytes()), Err(BadMark::NotJson), "{line}");
        }
        assert_eq!(parse(b"\xff\xfe"), Err(BadMark::NotJson));
        let deep = "[".repeat(100_000);
        assert_eq!(
            parse(format!("{{\"a\":{deep}").as_bytes()),
            Err(BadMark::NotJson)
        );
    }

    #[test]
    fn the_header_says_who_writes() {
        let header = parse(br#"{"leveloff_marks":1,"pid":17,"start":987654}"#).unwrap();
        let expected = MarksHeader {
            version: 1,
            pid: Some(Pid(17)),
            start: Some(StartTicks(987_654)),
        };
        assert_eq!(header, MarksLine::Header(expected));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line);
        }

        #[test]
        fn no_value_makes_it_panic(
            name in "(t|step|epoch|phase|event|tensors|leveloff_marks|pid|x)",
            value in "(-?[0-9]{1,25}(\\.[0-9]{1,5})?(e[0-9]{1,4})?|true|null|\"[a-z]{0,80}\"|\\[\\]|\\{\\})",
        ) {
            let _ = parse(format!("{{\"{name}\":{value}}}").as_bytes());
        }
    }
}
