//! A directory with everything known of a run that was stopped or killed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use anyhow::{Context, Result, bail};
use leveloff_model::process::ProcessKey;
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use rustix::fs::Access;
use serde_json::Value;

/// The bundle's directory.
#[derive(Debug)]
pub struct Bundle {
    directory: PathBuf,
    /// Reads the processes while they live. Walking large page tables takes time.
    capture: Option<JoinHandle<()>>,
}

/// The name and content of a file that the caller makes, or why it could not be made.
pub type BundleFile = (&'static str, Result<Vec<u8>>);

/// The content of a bundle.
#[derive(Debug)]
pub struct Contents<'a> {
    /// The messages to the user.
    pub message: &'a [String],
    /// The same for programs.
    pub facts: Value,
    /// The recording, which is complete.
    pub recording: Option<&'a Path>,
    /// Reports on the recording.
    pub reports: Vec<BundleFile>,
    /// The lines of the kernel log about OOM kills, or why it cannot be read.
    pub kernel: Result<Vec<String>, String>,
}

/// The most processes that are captured: trainers and launchers, but not hundreds of workers.
pub const MOST_PROCESSES: usize = 8;

/// The files of `/proc/PID` that are captured, in this order.
const CAPTURED: [&str; 6] = [
    "status",
    "limits",
    "cgroup",
    "oom_score",
    "oom_score_adj",
    "smaps_rollup",
];

impl Bundle {
    /// Makes the directory, before the run is started: a directory that cannot be written to is an error at once. An
    /// existing directory must be empty.
    pub fn prepare(directory: &Path) -> Result<Bundle> {
        let shown = directory.display();
        let another = "choose another place with --bundle";
        let made = DirBuilder::new().mode(0o700).create(directory);
        if made
            .as_ref()
            .is_err_and(|e| e.kind() == io::ErrorKind::AlreadyExists)
        {
            let entries = directory.read_dir();
            let mut entries =
                entries.with_context(|| format!("cannot use {shown} for the bundle"))?;
            if entries.next().is_some() {
                bail!("{shown} is not empty; name a new directory with --bundle");
            }
        } else {
            made.with_context(|| format!("cannot make the directory {shown}; {another}"))?;
        }
        rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK)
            .with_context(|| format!("cannot write to {shown}; {another}"))?;
        Ok(Bundle {
            directory: directory.to_owned(),
            capture: None,
        })
    }

    /// Its path.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Begins to capture these processes, on a thread of its own.
    pub fn capture(&mut self, processes: Vec<ProcessKey>) {
        let directory = self.directory.clone();
        let capture = std::thread::Builder::new()
            .name("bundle".to_owned())
            .spawn(move || {
                for key in processes {
                    // A process that has exited has no mappings; the recording has its memory.
                    let _ = capture_one(&directory, key);
                }
            });
        self.capture = capture.ok();
    }

    /// Whether the capture is still running.
    pub fn is_capturing(&self) -> bool {
        self.capture
            .as_ref()
            .is_some_and(|capture| !capture.is_finished())
    }

    /// Writes all other files. Returns the files that could not be written, with the reasons.
    pub fn complete(mut self, contents: Contents<'_>) -> Vec<String> {
        if let Some(capture) = self.capture.take() {
            // The files that it wrote are its result, also if it panicked.
            let _ = capture.join();
        }
        let mut failures = Vec::new();
        let mut put = |name: &str, bytes: Result<Vec<u8>>| {
            let put = bytes.and_then(|bytes| Ok(self.create(name)?.write_all(&bytes)?));
            if let Err(error) = put {
                failures.push(format!("{name}: {error:#}"));
            }
        };
        put("message.txt", Ok(lines(contents.message)));
        put(
            "stop.json",
            serde_json::to_vec_pretty(&contents.facts).map_err(Into::into),
        );
        put(
            "kernel.txt",
            Ok(match &contents.kernel {
                Ok(log) if log.is_empty() => b"the kernel log has no OOM kill\n".to_vec(),
                Ok(log) => lines(log),
                Err(why) => format!("the kernel log cannot be read: {why}\n").into_bytes(),
            }),
        );
        if let Some(recording) = contents.recording {
            put(
                "recording.jsonl",
                std::fs::read(recording).map_err(Into::into),
            );
        }
        for (name, bytes) in contents.reports {
            put(name, bytes);
        }
        failures
    }

    fn create(&self, name: &str) -> io::Result<File> {
        create(&self.directory.join(name))
    }
}

impl Drop for Bundle {
    /// Removes the directory if it is empty.
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// Creates a new file. An existing one, perhaps a symbolic link, is not written through.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

fn capture_one(directory: &Path, key: ProcessKey) -> io::Result<()> {
    let proc_root = ProcRoot::live();
    let process = proc_root.process(key.pid);
    let mut file = create(&directory.join(format!("process-{}.txt", key.pid)))?;
    for name in CAPTURED {
        let content = std::fs::read(process.join(name));
        writeln!(file, "== {name}")?;
        match content {
            Ok(text) => file.write_all(&text)?,
            Err(error) => writeln!(file, "cannot be read: {error}")?,
        }
        writeln!(file)?;
    }
    let mut mappings = File::open(process.join("smaps"))?;
    // Once `smaps` is open it cannot change its process; before, the pid may have been reused.
    if key_of(&proc_root, key.pid)? != key {
        return Ok(());
    }
    let mut file = create(&directory.join(format!("mappings-{}.txt", key.pid)))?;
    io::copy(&mut mappings, &mut file)?;
    Ok(())
}

fn lines(lines: &[String]) -> Vec<u8> {
    let mut text = lines.join("\n").into_bytes();
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::Pid;

    use super::*;

    #[test]
    fn it_holds_the_messages_and_the_state_of_a_process() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("post-mortem");
        let mut bundle = Bundle::prepare(&directory).unwrap();
        let own = Pid(i32::try_from(std::process::id()).unwrap());
        bundle.capture(vec![key_of(&ProcRoot::live(), own).unwrap()]);
        let failures = bundle.complete(Contents {
            message: &["stopped".to_owned()],
            facts: serde_json::json!({"limit_bytes": 1}),
            recording: None,
            reports: Vec::new(),
            kernel: Err("permission denied".to_owned()),
        });
        assert_eq!(failures, Vec::<String>::new());
        let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
        assert_eq!(read("message.txt"), "stopped\n");
        assert!(read("stop.json").contains("\"limit_bytes\": 1"));
        assert!(read("kernel.txt").contains("permission denied"));
        assert!(read(&format!("process-{own}.txt")).contains("VmRSS"));
        assert!(read(&format!("mappings-{own}.txt")).contains("Pss:"));
    }

    #[test]
    fn a_directory_that_is_not_empty_is_refused() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("x"), "").unwrap();
        let error = Bundle::prepare(place.path()).unwrap_err().to_string();
        assert!(error.contains("not empty"), "{error}");
        let error = Bundle::prepare(&place.path().join("no/such"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("choose another place with --bundle"),
            "{error}"
        );
    }

    #[test]
    fn a_planted_link_is_not_written_through() {
        let place = tempfile::tempdir().unwrap();
        let victim = place.path().join("victim");
        std::fs::write(&victim, "mine").unwrap();
        let bundle = Bundle::prepare(&place.path().join("b")).unwrap();
        std::os::unix::fs::symlink(&victim, bundle.directory().join("message.txt")).unwrap();
        let failures = bundle.complete(Contents {
            message: &[],
            facts: Value::Null,
            recording: None,
            reports: Vec::new(),
            kernel: Ok(Vec::new()),
        });
        assert!(failures[0].starts_with("message.txt"), "{failures:?}");
        assert_eq!(std::fs::read_to_string(victim).unwrap(), "mine");
    }
}
