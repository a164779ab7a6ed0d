//! Marks: what this training reports to a watcher.
//!
//! Each mark is a line of JSON in a file named after our pid. A failed write never ends the
//! training: it is reported once, and no more marks are written.

mod location;

pub use location::{MarksError, MarksLocation};

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// Something that happened in the training. Unknown fields are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Mark {
    /// Steps done, over all epochs.
    pub step: u64,
    /// The phase that begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<&'static str>,
    /// What happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<&'static str>,
    /// Path of the saved checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether this training obeys stop requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obeys_stop: Option<bool>,
    /// Epochs done, with a fraction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<f64>,
    /// The loss of the step. One that is not finite is written as null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<f32>,
    /// Steps in the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_steps: Option<u64>,
    /// Steps in an epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_steps: Option<u64>,
    /// Tensors that are held between steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensors: Option<u64>,
    /// Bytes in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor_bytes: Option<u64>,
    /// Bytes taken on the CUDA device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda_bytes: Option<u64>,
    /// The length of a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_bytes: Option<u64>,
    /// The accuracy of an evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f32>,
}

/// The longest path that watchers read.
const LONGEST_PATH: usize = 1024;

/// A path for a mark: absolute, since a watcher does not know the working directory.
pub fn mark_path(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let text = path.to_str().filter(|text| text.len() <= LONGEST_PATH)?;
    (!text.chars().any(char::is_control)).then(|| text.to_owned())
}

/// The file that marks are written to, or none.
#[derive(Debug)]
pub struct Marks {
    file: Option<File>,
    path: PathBuf,
    stop_request: Option<PathBuf>,
}

impl Marks {
    /// Writes no marks, and has no path for a stop request.
    pub fn none() -> Marks {
        Marks {
            file: None,
            path: PathBuf::new(),
            stop_request: None,
        }
    }

    /// Creates a new file. If that fails, prints why and writes no marks.
    pub fn begin(location: &MarksLocation) -> Marks {
        match location.create() {
            Ok((path, file)) => {
                let mut marks = Marks {
                    file: Some(file),
                    stop_request: Some(location.stop_request_beside(&path)),
                    path,
                };
                marks.write_line(&location.header());
                marks
            }
            Err(error) => {
                crate::notice::notice(&format!("the training goes on without marks: {error}"));
                Marks::none()
            }
        }
    }

    /// Writes a mark.
    pub fn write(&mut self, mark: &Mark) {
        #[derive(Serialize)]
        struct Timed<'a> {
            t: f64,
            #[serde(flatten)]
            mark: &'a Mark,
        }
        if self.file.is_some() {
            self.write_line(&Timed { t: now(), mark });
        }
    }

    /// Path of a stop request.
    pub fn stop_request(&self) -> Option<&Path> {
        self.stop_request.as_deref()
    }

    /// With a single write, so that a reader never sees half a line.
    fn write_line(&mut self, line: &impl Serialize) {
        let Some(file) = &mut self.file else { return };
        let written = serde_json::to_string(line)
            .map_err(std::io::Error::from)
            .and_then(|text| file.write_all(format!("{text}\n").as_bytes()));
        if let Err(error) = written {
            crate::notice::notice(&format!(
                "the training goes on without marks: cannot write {}: {error}",
                self.path.display()
            ));
            self.file = None;
        }
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_mark_has_what_is_known_and_nothing_else() {
        let mark = Mark {
            step: 10,
            phase: Some("train"),
            loss: Some(f32::NAN),
            ..Mark::default()
        };
        let text = serde_json::to_string(&mark).expect("text");
        assert_eq!(text, r#"{"step":10,"phase":"train","loss":null}"#);
    }

    /// The shared fixtures of the protocol: a watcher is tested to read these lines.
    #[test]
    fn marks_are_written_as_the_fixtures_have_them() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/marks/written.jsonl");
        let text = std::fs::read_to_string(path).expect("the fixture");
        let mut expected: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let header = MarksLocation::of_this_process().header();
        let header = serde_json::to_value(header).expect("a value");
        let names = |value: &serde_json::Value| -> Vec<String> {
            value
                .as_object()
                .expect("an object")
                .keys()
                .cloned()
                .collect()
        };
        assert_eq!(names(&header), names(&expected.remove(0)));
        let marks = [
            Mark {
                step: 1,
                phase: Some("train"),
                epoch: Some(0.5),
                planned_steps: Some(400),
                epoch_steps: Some(20),
                ..Mark::default()
            },
            Mark {
                step: 1,
                obeys_stop: Some(true),
                ..Mark::default()
            },
            Mark {
                step: 2,
                loss: Some(2.5),
                tensors: Some(114),
                tensor_bytes: Some(4096),
                cuda_bytes: Some(8192),
                ..Mark::default()
            },
            Mark {
                step: 2,
                phase: Some("eval"),
                ..Mark::default()
            },
            Mark {
                step: 2,
                event: Some("checkpoint"),
                path: Some("/ckpt/step-2".to_owned()),
                saved_bytes: Some(7_000_000),
                ..Mark::default()
            },
        ];
        for line in &mut expected {
            line.as_object_mut().expect("an object").remove("t");
        }
        let written = marks.map(|mark| serde_json::to_value(mark).expect("a value"));
        assert_eq!(written.as_slice(), expected);
    }

    #[test]
    fn a_path_is_written_whole_or_not_at_all() {
        let here = std::env::current_dir().expect("a directory");
        let expected = here.join("ckpt/1").to_str().map(str::to_owned);
        assert_eq!(mark_path(Path::new("ckpt/1")), expected);
        assert_eq!(mark_path(Path::new("/a\u{1b}[2J")), None);
        assert_eq!(mark_path(Path::new(&"/x".repeat(600))), None);
    }

    #[test]
    fn a_file_begins_with_the_header_and_is_ours_alone() {
        let place = tempfile::tempdir().expect("a directory");
        let here = MarksLocation {
            named: Some(format!("{}/deeper/", place.path().display()).into()),
            ..MarksLocation::of_this_process()
        };
        let mut marks = Marks::begin(&here);
        marks.write(&Mark::default());
        let pid = std::process::id();
        let path = place.path().join(format!("deeper/{pid}.jsonl"));
        let text = std::fs::read_to_string(&path).expect("text");
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(lines[0]["leveloff_marks"], 1);
        assert_eq!(lines[0]["pid"], pid);
        assert!(lines[0]["start"].as_u64() > Some(0));
        assert!(lines[1]["t"].as_f64() > Some(1.7e9));
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(&path) & 0o777, 0o600);
        assert_eq!(mode(&place.path().join("deeper")) & 0o777, 0o700);
        assert_eq!(
            marks.stop_request(),
            Some(place.path().join(format!("deeper/{pid}.stop")).as_path())
        );
    }

    #[test]
    fn a_full_disk_ends_the_marks_and_not_the_training() {
        let file = File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full");
        let mut marks = Marks {
            file: Some(file),
            ..Marks::none()
        };
        marks.write(&Mark::default());
        assert!(marks.file.is_none());
        marks.write(&Mark::default());
    }
}
