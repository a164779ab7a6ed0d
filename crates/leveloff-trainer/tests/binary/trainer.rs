//! Starts the built program in a directory of its own.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory of its own for the marks and checkpoints of a test.
pub struct Home(TempDir);

impl Home {
    pub fn new() -> Home {
        Home(tempfile::tempdir().expect("a directory"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program, with marks in `marks/`. `CKPT` in the arguments is a directory in this home.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_leveloff-trainer"));
        let own = self.path("ckpt").display().to_string();
        command
            .args(
                arguments
                    .split_whitespace()
                    .map(|word| word.replace("CKPT", &own)),
            )
            .env(
                "LEVELOFF_MARKS",
                format!("{}/", self.path("marks").display()),
            )
            .env_remove("RAYON_NUM_THREADS");
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    /// Runs it, which must succeed, and returns its JSON lines.
    pub fn json_lines(&self, arguments: &str) -> Vec<Value> {
        let output = self.run(&format!("{arguments} --format json"));
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    /// Starts it, to be talked to while it runs.
    pub fn start(&self, arguments: &str) -> Running {
        let mut child = self
            .command(&format!("{arguments} --format json"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Running { child, lines }
    }

    /// The marks of the process with this pid, which has ended.
    pub fn marks(&self, pid: u32) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(&format!("marks/{pid}.jsonl")));
        let text = text.expect("a file of marks");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    /// The marks of one that goes on: the last line may be half written.
    pub fn marks_so_far(&self, pid: u32) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(&format!("marks/{pid}.jsonl")));
        let text = text.expect("a file of marks");
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

/// A training that is going on.
pub struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads on until it says that this step was done.
    pub fn wait_for_step(&mut self, step: u64) {
        let mut line = String::new();
        while self.lines.read_line(&mut line).expect("a line") > 0 {
            let printed: Value = serde_json::from_str(&line).expect("JSON");
            if printed["event"] == "step" && printed["step"] == step {
                return;
            }
            line.clear();
        }
        panic!("it ended before step {step}");
    }

    pub fn send(&self, signal: rustix::process::Signal) {
        let pid = i32::try_from(self.pid())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.expect("a pid"), signal).expect("sent");
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_some()
    }

    /// Reads all that is left, and waits for its end.
    pub fn end(&mut self) -> (ExitStatus, Vec<Value>) {
        let rest = (&mut self.lines).lines();
        let lines = rest
            .map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON"))
            .collect();
        (self.child.wait().expect("its end"), lines)
    }
}

/// A test that failed leaves no training behind.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What was said on stderr.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The losses by step.
pub fn losses(lines: &[Value]) -> Vec<(u64, String)> {
    lines
        .iter()
        .filter(|line| line["event"] == "step")
        .map(|line| {
            (
                line["step"].as_u64().expect("a step"),
                line["loss"].to_string(),
            )
        })
        .collect()
}
