//! Marks of a writer that is hostile, or broken: no harm, a gap, and the recording goes on.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::recording::{Recording, wait_for_samples};
use crate::stage::{Ended, Stage, cannot_run_here, is_root, wait_until};
use crate::watched_process::WatchedProcess;

/// A training whose marks are in a directory of the test.
struct Marked {
    stage: Stage,
    process: WatchedProcess,
    directory: PathBuf,
}

impl Marked {
    fn new() -> Marked {
        let stage = Stage::new();
        let directory = stage.path("marks");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
        let place = directory.to_str().unwrap();
        let process = WatchedProcess::with_variables("marked", &[("LEVELOFF_MARKS", place)]);
        Marked {
            stage,
            process,
            directory,
        }
    }

    fn file(&self) -> PathBuf {
        self.directory.join(format!("{}.jsonl", self.process.pid()))
    }

    /// Records until the recording speaks of all these words, then until it has gone on for a while.
    fn recorded_until(self, words: &[&str]) -> Recording {
        let pid = self.process.pid().to_string();
        let arguments = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
        let recorder = self.stage.leveloff(arguments).spawn().unwrap();
        let path = self.stage.path("run.jsonl");
        wait_for_samples(&path, 1);
        wait_until(&format!("{words:?} in the recording"), || {
            let text = fs::read_to_string(&path).unwrap_or_default();
            words.iter().all(|word| text.contains(word))
        });
        wait_for_samples(&path, 5);
        self.process.end(0);
        Ended::of(recorder).well();
        Recording::load(&path)
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .unwrap();
    file.write_all(bytes).unwrap();
}

fn gaps(recording: &Recording) -> Vec<String> {
    let texts = recording.of("gap").into_iter();
    texts.map(|gap| gap["text"].to_string()).collect()
}

#[test]
fn huge_lines_and_wrong_types_cost_one_gap_and_no_step() {
    let marked = Marked::new();
    let path = marked.file();
    append(&path, b"{\"leveloff_marks\":1}\n");
    append(&path, &vec![b'x'; 3 << 20]);
    append(
        &path,
        b"\n\xff\xfe\x00\n[[[[\n{\"step\":\"seven\",\"tensors\":-4,\"phase\":7}\n",
    );
    append(&path, b"{\"step\":1e300}\n{\"tensors_grown\":{\"a\":1}}\n");
    append(
        &path,
        b"{\"step\":41,\"phase\":\"eval\\u001b[2J\"}\n{\"step\":42}\n",
    );
    let recording = marked.recorded_until(&["\"step\":42", "\"gap\""]);
    let gaps = gaps(&recording);
    let damaged = gaps
        .iter()
        .filter(|gap| gap.contains("a line of the marks"));
    assert_eq!(damaged.count(), 1, "{gaps:?}");
    assert!(gaps.iter().all(|gap| !gap.contains('\u{1b}')), "{gaps:?}");
}

#[test]
fn phases_with_names_of_their_own_are_in_every_output() {
    let marked = Marked::new();
    let path = marked.file();
    append(&path, b"{\"leveloff_marks\":1}\n{\"step\":1}\n");
    let pid = marked.process.pid().to_string();
    let arguments = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
    let recorder = marked.stage.leveloff(arguments).spawn().unwrap();
    let written = marked.stage.path("run.jsonl");
    for phase in ["rollout", "weight sync", "train"] {
        wait_for_samples(&written, 1);
        append(&path, format!("{{\"phase\":\"{phase}\"}}\n").as_bytes());
        wait_until(phase, || {
            let text = fs::read_to_string(&written).unwrap_or_default();
            text.contains(&format!("\"phase\":\"{phase}\""))
        });
        wait_for_samples(&written, 5);
    }
    marked.process.end(0);
    Ended::of(recorder).well();
    let stage = marked.stage;
    let tree = stage.ask(&["export", "run.jsonl", "--scope", "tree", "-o", "-"]);
    let tree = tree.well().stdout;
    assert!(
        tree.contains(",rollout,") && tree.contains(",weight sync,"),
        "{tree}"
    );
    let report = stage.ask(&["report", "run.jsonl", "-o", "run.html"]);
    report.never_panicked();
    let page = fs::read_to_string(stage.path("run.html")).unwrap();
    assert!(page.contains("\"rollout\"") && page.contains("\"weight sync\""));
}

#[test]
fn a_link_is_not_followed() {
    let marked = Marked::new();
    let elsewhere = marked.stage.file("elsewhere", "{\"step\":666}\n");
    symlink(&elsewhere, marked.file()).unwrap();
    let recording = marked.recorded_until(&["are not read"]);
    assert_eq!(recording.step(), None);
}

#[test]
fn the_file_of_an_earlier_process_with_this_pid_is_not_read() {
    let marked = Marked::new();
    append(
        &marked.file(),
        b"{\"leveloff_marks\":1,\"start\":1}\n{\"step\":666}\n",
    );
    let recording = marked.recorded_until(&["an earlier process"]);
    assert_eq!(recording.step(), None);
}

#[test]
fn a_file_of_another_user_is_not_read() {
    if !is_root() {
        cannot_run_here("only root can give a file away");
        return;
    }
    let marked = Marked::new();
    append(&marked.file(), b"{\"step\":666}\n");
    chown(marked.file(), Some(65534), Some(65534)).unwrap();
    let recording = marked.recorded_until(&["are not read"]);
    assert_eq!(recording.step(), None);
}
