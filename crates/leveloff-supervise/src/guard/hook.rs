//! Commands of the user's that are told when the guard warns or stops.
//!
//! A hook must not hold the guard up: it runs beside it, in a group of its own, for a while at most. Between us and the
//! hook stands a process that adopts whatever the hook leaves running: under `run`, orphans that come to us are taken
//! for the run's.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use leveloff_model::process::{Pid, printable};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Signal, WaitOptions, kill_process_group};

/// A hook that runs.
#[derive(Debug)]
pub struct Hook {
    name: &'static str,
    child: Child,
    /// Where it is said how it ended. Whoever reaps our children may have taken that already.
    status: ChildStdout,
    said: Vec<u8>,
    output: ChildStderr,
    /// The end of what it printed.
    tail: Vec<u8>,
    patience: Duration,
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

/// As much of its output as is kept, and as is read at a time.
const TAIL: usize = 4096;

/// The first argument of the process between us and a hook. Nobody types this.
const HOOK_ARGUMENT: &str = "--adopt-what-this-leaves";

impl Hook {
    /// Starts `command` by the shell.
    pub fn start(name: &'static str, command: &str, facts: &Facts) -> io::Result<Hook> {
        let ourselves = std::env::current_exe()?;
        let between = [HOOK_ARGUMENT.as_ref(), command.as_ref()];
        Hook::start_by(ourselves.as_ref(), &between, PATIENCE, name, facts)
    }

    fn start_by(
        program: &OsStr,
        arguments: &[&OsStr],
        patience: Duration,
        name: &'static str,
        facts: &Facts,
    ) -> io::Result<Hook> {
        let mut child = Command::new(program)
            .args(arguments)
            .envs(facts.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let status = child.stdout.take().expect("stdout is a pipe");
        let output = child.stderr.take().expect("stderr is a pipe");
        never_wait(&status)?;
        never_wait(&output)?;
        Ok(Hook {
            name,
            child,
            status,
            said: Vec::new(),
            output,
            tail: Vec::new(),
            patience,
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
        self.listen();
        let is_over = drain(&mut self.status, &mut self.said) || self.said.contains(&b'\n');
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
        self.listen();
        Some(match is_over {
            true => self.how_it_ended(),
            false => HookEnd::Badly(format!(
                "took longer than {} s and was ended",
                self.patience.as_secs()
            )),
        })
    }

    /// Takes what it printed, so that it does not wait for us, and keeps the end of it.
    fn listen(&mut self) {
        drain(&mut self.output, &mut self.tail);
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
    }

    fn how_it_ended(&self) -> HookEnd {
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

    fn last_words(&self) -> String {
        let lines = self.tail.trim_ascii_end().rsplit(|&b| b == b'\n');
        let last = lines.into_iter().next().unwrap_or_default();
        let text: Vec<u8> = last
            .iter()
            .copied()
            .filter(|byte| !byte.is_ascii_control())
            .collect();
        printable(&text[..text.len().min(LAST_WORDS)])
    }
}

/// To be called early in `main`: if this process was started to stand between us and a hook, does its work and says
/// with what code to exit.
pub fn hook_entry() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != HOOK_ARGUMENT {
        return None;
    }
    let command = arguments.next()?;
    // If that is refused, what it leaves goes where it would have gone.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let status = Command::new("sh")
        .arg("-c")
        .arg(command)
        // Its output is one; ours is how it ended.
        .stdout(Stdio::from(rustix::io::dup(rustix::stdio::stderr()).ok()?))
        .status();
    let code = status.ok().and_then(|status| status.code());
    println!("{}", code.map_or_else(String::new, |code| code.to_string()));
    let null = std::fs::File::options()
        .write(true)
        .open("/dev/null")
        .ok()?;
    // Nobody listens any more, and what is left running must not find that out by dying of it.
    let _ = rustix::stdio::dup2_stdout(&null);
    let _ = rustix::stdio::dup2_stderr(&null);
    while let Ok(Some(_)) = rustix::process::wait(WaitOptions::empty()) {}
    Some(ExitCode::SUCCESS)
}

fn never_wait(pipe: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&pipe)?;
    Ok(fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?)
}

/// Takes what is there now, a bounded amount; whether that was the end.
fn drain(pipe: &mut impl Read, into: &mut Vec<u8>) -> bool {
    let mut buffer = [0; TAIL];
    // A flood must not hold the guard up: the rest waits for the next look.
    for _ in 0..16 {
        match pipe.read(&mut buffer) {
            Ok(0) => return true,
            Ok(count) => into.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(patience: Duration, command: &str) -> HookEnd {
        let facts = vec![("LEVELOFF_HOOK_EVENT", "stop".to_owned())];
        // As the process between does it, which is another program in a test.
        let script = "sh -c \"$1\" >&2; echo \"$?\"";
        let arguments = ["-c", script, "sh", command].map(OsStr::new);
        let mut hook =
            Hook::start_by("sh".as_ref(), &arguments, patience, "--on-stop", &facts).unwrap();
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
    fn one_that_prints_much_is_listened_to_and_not_kept() {
        let HookEnd::Badly(how) = ends(PATIENCE, "yes | head -c 3000000; echo the end; exit 2")
        else {
            panic!("it failed");
        };
        assert_eq!(how, "ended with code 2: the end");
    }

    #[test]
    fn what_it_leaves_running_does_not_keep_it_from_ending() {
        assert_eq!(ends(PATIENCE, "sleep 2 & true"), HookEnd::Well);
    }
}
