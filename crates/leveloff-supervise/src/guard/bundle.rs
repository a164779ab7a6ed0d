//! What is known of a run that was stopped or killed, collected in one directory.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use anyhow::{Context, Result, bail};
use leveloff_model::process::ProcessKey;
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use serde_json::Value;

/// A directory for what is known afterwards.
#[derive(Debug)]
pub struct Bundle {
    directory: PathBuf,
    /// Reads processes while they live; walking large page tables takes a while.
    capture: Option<JoinHandle<()>>,
}

/// The name and content of a file that the caller makes, or why it could not be made.
pub type BundleFile = (&'static str, Result<Vec<u8>>);

/// What goes into it in the end.
#[derive(Debug)]
pub struct Contents<'a> {
    /// What was said to the user.
    pub message: &'a [String],
    /// The same for programs.
    pub facts: Value,
    /// The recording, complete by now.
    pub recording: Option<&'a Path>,
    /// Reports on the recording.
    pub reports: Vec<BundleFile>,
    /// What the kernel said of memory, or why that cannot be read.
    pub kernel: Result<Vec<String>, String>,
}

/// Processes that are described: trainers and launchers, and not hundreds of workers.
pub const MOST_PROCESSES: usize = 8;

/// Files of a process that say how it stood, in the order of reading.
const DESCRIBING: [&str; 6] = [
    "status",
    "limits",
    "cgroup",
    "oom_score",
    "oom_score_adj",
    "smaps_rollup",
];

impl Bundle {
    /// Makes the directory, before anything is started: a place that cannot be written to is said then. What
    /// is there already is left alone, and must be empty.
    pub fn prepare(directory: &Path) -> Result<Bundle> {
        let shown = directory.display();
        match DirBuilder::new().mode(0o700).create(directory) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut entries = directory
                    .read_dir()
                    .with_context(|| format!("cannot use {shown} for the bundle"))?;
                if entries.next().is_some() {
                    bail!("{shown} is not empty; name a new directory with --bundle");
                }
            }
            Err(error) => {
                return Err(error).with_context(|| {
                    format!("cannot make the directory {shown}; choose another place with --bundle")
                });
            }
        }
        rustix::fs::access(
            directory,
            rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK,
        )
        .with_context(|| format!("cannot write to {shown}; choose another place with --bundle"))?;
        Ok(Bundle {
            directory: directory.to_owned(),
            capture: None,
        })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Begins to write down how these processes stand, while they still do.
    pub fn capture(&mut self, processes: Vec<ProcessKey>) {
        let directory = self.directory.clone();
        let capture = std::thread::Builder::new()
            .name("bundle".to_owned())
            .spawn(move || {
                for key in processes {
                    // One that is gone has no mappings; the recording has what was known of it.
                    let _ = capture_one(&directory, key);
                }
            });
        self.capture = capture.ok();
    }

    /// Whether that is still under way.
    pub fn is_capturing(&self) -> bool {
        self.capture
            .as_ref()
            .is_some_and(|capture| !capture.is_finished())
    }

    /// Writes everything else. What cannot be written is said; the rest is.
    pub fn complete(mut self, contents: Contents<'_>) -> Vec<String> {
        if let Some(capture) = self.capture.take() {
            // It has nothing to tell that its files do not.
            let _ = capture.join();
        }
        let mut trouble = Vec::new();
        let mut put = |name: &str, bytes: Result<Vec<u8>>| {
            let put = bytes.and_then(|bytes| Ok(self.create(name)?.write_all(&bytes)?));
            if let Err(error) = put {
                trouble.push(format!("{name}: {error:#}"));
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
                Ok(said) if said.is_empty() => {
                    b"the kernel log says nothing of memory that ran out\n".to_vec()
                }
                Ok(said) => lines(said),
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
        trouble
    }

    fn create(&self, name: &str) -> io::Result<File> {
        create(&self.directory.join(name))
    }
}

impl Drop for Bundle {
    /// What was made for nothing goes; if there is anything in it, it stays.
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// A file that is ours: what lies there already, perhaps as a link, is not written through.
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
    for name in DESCRIBING {
        let said = std::fs::read(process.join(name));
        writeln!(file, "== {name}")?;
        match said {
            Ok(text) => file.write_all(&text)?,
            Err(error) => writeln!(file, "cannot be read: {error}")?,
        }
        writeln!(file)?;
    }
    let mut mappings = File::open(process.join("smaps"))?;
    // Opened, it can only be this process's; before, the number may have become another's.
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
    fn it_holds_what_was_said_and_how_a_process_stood() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("post-mortem");
        let mut bundle = Bundle::prepare(&directory).unwrap();
        let own = Pid(i32::try_from(std::process::id()).unwrap());
        bundle.capture(vec![key_of(&ProcRoot::live(), own).unwrap()]);
        let trouble = bundle.complete(Contents {
            message: &["stopped".to_owned()],
            facts: serde_json::json!({"limit_bytes": 1}),
            recording: None,
            reports: Vec::new(),
            kernel: Err("permission denied".to_owned()),
        });
        assert_eq!(trouble, Vec::<String>::new());
        let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
        assert_eq!(read("message.txt"), "stopped\n");
        assert!(read("stop.json").contains("\"limit_bytes\": 1"));
        assert!(read("kernel.txt").contains("permission denied"));
        assert!(read(&format!("process-{own}.txt")).contains("VmRSS"));
        assert!(read(&format!("mappings-{own}.txt")).contains("Pss:"));
    }

    #[test]
    fn what_is_there_already_is_left_alone() {
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
        let trouble = bundle.complete(Contents {
            message: &[],
            facts: Value::Null,
            recording: None,
            reports: Vec::new(),
            kernel: Ok(Vec::new()),
        });
        assert!(trouble[0].starts_with("message.txt"), "{trouble:?}");
        assert_eq!(std::fs::read_to_string(victim).unwrap(), "mine");
    }
}
