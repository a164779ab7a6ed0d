//! Commands of the user's that are told when the guard warns or stops.
//!
//! A hook must not hold the guard up: it runs beside it, in a group of its own, for a while at most.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use leveloff_model::process::{Pid, printable};
use rustix::fs::{MemfdFlags, OFlags, fcntl_getfl, fcntl_setfl, memfd_create};
use rustix::process::{Signal, kill_process_group};

/// A hook that runs.
#[derive(Debug)]
pub struct Hook {
    name: &'static str,
    child: Child,
    /// Where its shell says how it ended. Whoever reaps our children may have taken that already.
    status: ChildStdout,
    said: Vec<u8>,
    output: File,
    until: Instant,
}

/// How a hook ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookEnd {
    /// Well.
    Well,
    /// Not well, in words.
    Badly(String),
}

/// What a hook is told, as variables of its environment.
pub type Facts = Vec<(&'static str, String)>;

/// How long a hook may take. A message to a chat takes a second, and a stop should not hang on one.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// As much of a hook's last words as is passed on.
const LAST_WORDS: usize = 200;

/// Runs the command with its output elsewhere, and says how it ended.
const SHELL: &str = "sh -c \"$1\" >&2; echo \"$?\"";

impl Hook {
    /// Starts `command` by the shell.
    pub fn start(name: &'static str, command: &str, facts: &Facts) -> std::io::Result<Hook> {
        Hook::start_for(PATIENCE, name, command, facts)
    }

    fn start_for(
        patience: Duration,
        name: &'static str,
        command: &str,
        facts: &Facts,
    ) -> std::io::Result<Hook> {
        let output = File::from(memfd_create("leveloff-hook", MemfdFlags::CLOEXEC)?);
        let mut child = Command::new("sh")
            .args(["-c", SHELL, "sh", command])
            .envs(facts.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(output.try_clone()?)
            .spawn()?;
        let status = child.stdout.take().expect("stdout is a pipe");
        fcntl_setfl(&status, fcntl_getfl(&status)? | OFlags::NONBLOCK)?;
        Ok(Hook {
            name,
            child,
            status,
            said: Vec::new(),
            output,
            until: Instant::now() + patience,
        })
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The process group that it runs in.
    pub fn group(&self) -> Pid {
        Pid(i32::try_from(self.child.id()).unwrap_or(0))
    }

    /// How it ended, if it has. One that takes too long is ended.
    pub fn end(&mut self, now: Instant) -> Option<HookEnd> {
        let mut buffer = [0; 32];
        let is_over = loop {
            match self.status.read(&mut buffer) {
                Ok(0) => break true,
                Ok(count) => self.said.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break self.said.contains(&b'\n'),
            }
        };
        if !is_over && now < self.until {
            return None;
        }
        if !is_over {
            // Its number cannot be another's: it was not reaped, or its group is gone with it.
            if let Some(group) = rustix::process::Pid::from_raw(self.group().0) {
                let _ = kill_process_group(group, Signal::KILL);
            }
        }
        // Whoever reaps all our children may have been faster.
        let _ = self.child.try_wait();
        Some(match is_over {
            true => self.how_it_ended(),
            false => HookEnd::Badly(format!(
                "took longer than {} s and was ended",
                PATIENCE.as_secs()
            )),
        })
    }

    fn how_it_ended(&mut self) -> HookEnd {
        let code = String::from_utf8_lossy(&self.said).trim().to_owned();
        if code == "0" {
            return HookEnd::Well;
        }
        let how = match code.as_str() {
            "" => "was ended by a signal".to_owned(),
            code => format!("ended with code {code}"),
        };
        match self.last_words() {
            words if words.is_empty() => HookEnd::Badly(how),
            words => HookEnd::Badly(format!("{how}: {words}")),
        }
    }

    fn last_words(&mut self) -> String {
        let mut text = Vec::new();
        let read = self
            .output
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.output.read_to_end(&mut text));
        if read.is_err() {
            return String::new();
        }
        let last = text
            .trim_ascii_end()
            .rsplit(|&b| b == b'\n')
            .next()
            .unwrap_or_default();
        printable(&last[..last.len().min(LAST_WORDS)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(patience: Duration, command: &str) -> HookEnd {
        let facts = vec![("LEVELOFF_HOOK_EVENT", "stop".to_owned())];
        let mut hook = Hook::start_for(patience, "--on-stop", command, &facts).unwrap();
        let give_up = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(end) = hook.end(Instant::now()) {
                return end;
            }
            assert!(Instant::now() < give_up);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn facts_are_in_its_environment() {
        let command = "test \"$LEVELOFF_HOOK_EVENT\" = stop && echo chatter";
        assert_eq!(ends(PATIENCE, command), HookEnd::Well);
    }

    #[test]
    fn a_failure_is_told_with_its_last_words() {
        let HookEnd::Badly(how) = ends(PATIENCE, "echo first; echo no route to host >&2; exit 7")
        else {
            panic!("it failed");
        };
        assert_eq!(how, "ended with code 7: no route to host");
        let HookEnd::Badly(how) = ends(PATIENCE, "nosuchcommand") else {
            panic!("it failed");
        };
        assert!(how.starts_with("ended with code 127"), "{how}");
    }

    #[test]
    fn one_that_hangs_is_ended_with_all_that_it_started() {
        let begin = Instant::now();
        let HookEnd::Badly(how) = ends(Duration::from_millis(200), "sleep 300 & sleep 300") else {
            panic!("it hung");
        };
        assert!(how.contains("took longer"), "{how}");
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn what_it_leaves_running_does_not_keep_it_from_ending() {
        assert_eq!(ends(PATIENCE, "sleep 2 & true"), HookEnd::Well);
    }
}
