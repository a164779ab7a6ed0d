//! The marks of a training, as docs/MARKS.md wants them.

use std::os::unix::fs::MetadataExt;

use serde_json::Value;

use crate::trainer::Home;

#[test]
fn a_training_tells_its_steps_phases_and_tensors() {
    let home = Home::new();
    let arguments = "--steps 6 --evaluate-every 3 --checkpoint-every 4 --epoch-steps 4 \
                     --checkpoint-dir CKPT --quiet";
    let mut child = home.command(arguments).spawn().expect("it starts");
    let pid = child.id();
    assert!(child.wait().expect("its end").success());

    let marks = home.marks(pid);
    assert_eq!(marks[0]["leveloff_marks"], 1);
    assert_eq!(marks[0]["pid"], pid);
    assert_eq!(marks[1]["planned_steps"], 6);
    assert_eq!(marks[1]["epoch_steps"], 4);
    let with_loss: Vec<_> = marks.iter().filter(|mark| mark["loss"].is_f64()).collect();
    assert_eq!(with_loss.len(), 6);
    assert_eq!(with_loss[5]["step"], 6);
    assert_eq!(with_loss[5]["epoch"], 1.5);
    assert_eq!(words(&marks, "event"), ["checkpoint", "checkpoint"]);
    let saved = home.path("ckpt/step-00000006.safetensors");
    assert_eq!(words(&marks, "path").last().copied(), saved.to_str());
    assert_eq!(marks[1]["obeys_stop"], true);
    let phases = words(&marks, "phase");
    assert!(
        ["train", "eval", "checkpoint"]
            .iter()
            .all(|phase| phases.contains(phase))
    );
    let tensors: Vec<_> = marks[1..]
        .iter()
        .map(|mark| mark["tensors"].as_u64())
        .collect();
    assert!(tensors[0] > Some(100), "{tensors:?}");
    assert!(
        tensors.iter().all(|count| *count == tensors[0]),
        "a healthy count stands still"
    );
    let file = std::fs::metadata(home.path(&format!("marks/{pid}.jsonl"))).expect("there");
    assert_eq!(file.mode() & 0o777, 0o600);
}

#[test]
fn without_marks_there_are_none_and_without_a_place_the_training_goes_on() {
    let home = Home::new();
    assert!(home.run("--steps 1 --no-marks").status.success());
    assert!(!home.path("marks").exists());
    let output = home
        .command("--steps 1")
        .env("LEVELOFF_MARKS", "/proc/none/")
        .output()
        .expect("it runs");
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("goes on without marks").count(), 1, "{said}");
}

fn words<'a>(marks: &'a [Value], field: &str) -> Vec<&'a str> {
    marks
        .iter()
        .filter_map(|mark| mark[field].as_str())
        .collect()
}
