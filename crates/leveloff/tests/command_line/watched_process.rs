//! A process to be watched: carries out orders from its input, and confirms each.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use crate::stage::python;

/// Exits at the end of its input, so a test that fails leaves no process behind.
const PROGRAM: &str = "import os, sys
held = []
def done(word='done'): print(word, flush=True)
done()
for line in sys.stdin:
    word, *rest = line.split()
    if word == 'grow': held.append(b'x' * (int(rest[0]) << 20))
    if word == 'end': sys.exit(int(rest[0]))
    done()";

/// A Python process that answers.
pub struct WatchedProcess {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl WatchedProcess {
    pub fn new() -> WatchedProcess {
        WatchedProcess::named("watched")
    }

    /// With `name` in its command line.
    pub fn named(name: &str) -> WatchedProcess {
        WatchedProcess::with_variables(name, &[])
    }

    /// With these variables in its environment, beside ours.
    pub fn with_variables(name: &str, variables: &[(&str, &str)]) -> WatchedProcess {
        let mut child = Command::new(python())
            .args(["-c", PROGRAM, name])
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The tests' own standard error may be a file, which leveloff would read for steps.
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut process = WatchedProcess {
            orders: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        };
        process.expect_done();
        process
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Takes this much memory, and has it when this returns.
    pub fn grow(&mut self, mebibytes: u32) {
        self.order_line(&format!("grow {mebibytes}"));
        self.expect_done();
    }

    /// Asserts that it is alive and carries out orders.
    #[track_caller]
    pub fn is_unharmed(&mut self) {
        self.order_line("answer");
        self.expect_done();
    }

    pub fn end(mut self, code: i32) -> ExitStatus {
        self.order_line(&format!("end {code}"));
        self.child.wait().unwrap()
    }

    fn order_line(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
    }

    #[track_caller]
    fn expect_done(&mut self) {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "done\n");
    }
}

impl Drop for WatchedProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
