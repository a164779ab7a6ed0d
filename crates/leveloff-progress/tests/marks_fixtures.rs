//! The reader against the fixtures that all sides of the marks protocol share.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail by panicking, in its functions as well"
)]

use std::path::{Path, PathBuf};

use leveloff_progress::marks_line::{BadMark, MarksLine, parse};
use leveloff_progress::{Plan, ProgressUpdate};
use serde_json::{Map, Value, json};

#[test]
fn every_line_is_read_as_expected() {
    let mut read = 0;
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            compare(&path);
            read += 1;
        }
    }
    assert!(read >= 5, "only {read} fixtures were found");
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/marks")
}

fn compare(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let expected = std::fs::read(path.with_extension("expected.json")).unwrap();
    let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&b| b == b'\n').collect();
    assert_eq!(lines.len(), expected.len(), "{}", path.display());
    for (n, (line, expected)) in lines.into_iter().zip(expected).enumerate() {
        assert_eq!(meaning(line), expected, "{}:{}", path.display(), n + 1);
    }
}

/// What a line means, by the names of the protocol. A line without its end, or a blank one, is none.
fn meaning(line: &[u8]) -> Value {
    match line.strip_suffix(b"\n").map(parse) {
        _ if line.trim_ascii().is_empty() => Value::Null,
        None => Value::Null,
        Some(Err(_)) => json!({ "bad": "line" }),
        Some(Ok(MarksLine::Header(header))) => json!({ "header": {
            "version": header.version,
            "pid": header.pid.map(|pid| pid.0),
            "start": header.start.map(|start| start.0),
        } }),
        Some(Ok(MarksLine::Mark(mark, bad))) => of_mark(mark, bad),
    }
}

fn of_mark(mark: ProgressUpdate, bad: Option<BadMark>) -> Value {
    let planned = mark.plan.map(|plan| match plan {
        Plan::Steps(steps) => steps.0,
        Plan::Withdrawn => panic!("a mark withdraws no plan"),
    });
    let counters = mark.counters.known();
    let counters: Map<String, Value> = counters.map(|(c, n)| (c.name().into(), n.into())).collect();
    let grown = mark.grown.map(|grown| {
        let row = grown
            .iter()
            .map(|g| json!([g.what, g.more, g.more_bytes.0]));
        row.collect::<Vec<_>>()
    });
    let reasons = mark.recompile_reasons.map(|reasons| {
        let row = reasons
            .iter()
            .map(|one| json!([one.kind.name(), one.what, one.count]));
        row.collect::<Vec<_>>()
    });
    let objects = mark.grown_objects.map(|grown| {
        let row = grown.iter().map(|one| json!([one.what, one.more]));
        row.collect::<Vec<_>>()
    });
    let holders = mark.holders.map(|holders| {
        let row = holders.iter().map(|one| {
            let it = &one.holder;
            json!([
                one.pid.0,
                one.stack,
                it.class,
                it.length,
                it.kind.name(),
                it.name,
                it.place,
                it.kept,
                it.looked_at
            ])
        });
        row.collect::<Vec<_>>()
    });
    let bad = bad.map(|bad| match bad {
        BadMark::WrongField(field, _) => field,
        BadMark::NotJson | BadMark::TooLong => "line",
    });
    let all = json!({
        "t": mark.at.map(|at| at.0),
        "step": mark.step.map(|step| step.0),
        "epoch": mark.epoch,
        "phase": mark.phase.as_ref().map(leveloff_model::progress::Phase::name),
        "event": mark.event,
        "path": mark.path,
        "planned_steps": planned,
        "epoch_steps": mark.epoch_steps.map(|steps| steps.0),
        "obeys_stop": mark.obeys_stop,
        "counters": (!counters.is_empty()).then_some(counters),
        "tensors_grown": grown,
        "recompile_reasons": reasons,
        "objects_grown": objects,
        "holders": holders,
        "facts": (!mark.facts.is_empty()).then_some(mark.facts),
        "bad": bad,
    });
    let Value::Object(mut fields) = all else {
        unreachable!("an object was made above")
    };
    fields.retain(|_, value| !value.is_null());
    Value::Object(fields)
}
