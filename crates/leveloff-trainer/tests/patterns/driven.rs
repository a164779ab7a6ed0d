//! A pattern in a process of its own, driven by handshake (see `examples/drive.rs`).

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::SystemTime;

/// A process that runs a pattern. It ends when dropped, and gives back what is not only its own.
pub struct Driven {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Driven {
    /// Starts the process, with settings such as `rate=2MiB`; the pattern has not begun.
    pub fn start(pattern: &str, steps: u64, settings: &[&str]) -> Driven {
        let mut command = Command::new(program());
        command.arg(pattern).arg(steps.to_string()).args(settings);
        Driven::from_command(command)
    }

    /// The same with another command in front.
    pub fn from_command(mut command: Command) -> Driven {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut driven = Driven {
            child,
            input,
            output,
        };
        assert_eq!(driven.line(), "ready");
        driven
    }

    /// Starts a pattern and begins it.
    pub fn begun(pattern: &str, steps: u64, settings: &[&str]) -> Driven {
        let mut driven = Driven::start(pattern, steps, settings);
        driven.order("begin");
        driven
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has an order carried out; what comes back is a number.
    pub fn order(&mut self, order: &str) -> u64 {
        let answer = self.try_order(order);
        answer.unwrap_or_else(|error| panic!("{order}: {error}"))
    }

    /// Has an order carried out that may fail.
    pub fn try_order(&mut self, order: &str) -> Result<u64, String> {
        writeln!(self.input.as_mut().unwrap(), "{order}").unwrap();
        let line = self.line();
        match line.split_once(' ') {
            Some(("done", number)) => Ok(number.parse().unwrap()),
            Some(("error", error)) => Err(error.to_owned()),
            _ => panic!("{order}: it answered {line:?}"),
        }
    }

    pub fn steps(&mut self, count: u64) {
        self.order(&format!("steps {count}"));
    }

    /// Ends it as the kernel would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        drop(self.input.take());
        // A test that failed does not wait for a driver that may be the reason.
        if std::thread::panicking() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// The driver, which a plain `cargo test -p leveloff-trainer` builds. With `--test` cargo leaves it
/// as it was, and an old one would be tested in place of the sources.
pub fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let program = profile.join("examples/drive");
    let built = modified(&program);
    let sources = fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let mut sources = sources.split_whitespace().skip(1).map(Path::new);
    assert!(
        built.is_some() && sources.all(|source| modified(source) <= built),
        "{} is not built, or not from these sources: run cargo test -p leveloff-trainer, without --test",
        program.display()
    );
    program
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}
