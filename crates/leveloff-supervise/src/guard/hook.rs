//! A command of the user's that runs when the guard warns or stops.
//!
//! A hook must not delay the guard: it runs beside it, in a process group of its own, for a bounded time. An intermediate
//! process adopts whatever the hook leaves running. Without it, such orphans would become children of `leveloff run`, which
//! takes its orphans for processes of the run.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use leveloff_model::process::{Pid, printable};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Signal, WaitOptions, kill_process_group};

/// A running hook.
#[derive(Debug)]
pub struct Hook {
    name: &'static str,
    child: Child,
    /// The intermediate process prints the hook's exit code here. The wait status is not reliable: `run` reaps all its
    /// children.
    status: ChildStdout,
    exit_code: Vec<u8>,
    output: ChildStderr,
    /// The end of the hook's output.
    tail: Vec<u8>,
    timeout: Duration,
    deadline: Instant,
}

/// How a hook ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookResult {
    /// With exit code 0.
    Success,
    /// In another way; the text completes "the --on-stop command …".
    Failure(String),
}

/// The environment variables that a hook gets.
pub type HookVariables = Vec<(String, String)>;

/// The time that a hook may take. A message to a chat takes a second, and a stop must not wait for a hook that hangs.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// The most of a hook's last line that is shown.
const LAST_LINE: usize = 200;

/// The most of its output that is kept, and that is read at a time.
const TAIL: usize = 4096;

/// The most reads of one poll.
const MOST_READS: usize = 16;

/// The first argument of the intermediate process. Not for users.
const HOOK_ARGUMENT: &str = "--adopt-what-this-leaves";

impl Hook {
    /// Starts `command` with the shell.
    pub fn start(name: &'static str, command: &str, variables: &HookVariables) -> io::Result<Hook> {
        let program = std::env::current_exe()?;
        let arguments = [HOOK_ARGUMENT.as_ref(), command.as_ref()];
        Hook::start_by(program.as_ref(), &arguments, TIMEOUT, name, variables)
    }

    fn start_by(
        program: &OsStr,
        arguments: &[&OsStr],
        timeout: Duration,
        name: &'static str,
        variables: &HookVariables,
    ) -> io::Result<Hook> {
        let mut child = Command::new(program)
            .args(arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let status = child.stdout.take().expect("stdout is a pipe");
        let output = child.stderr.take().expect("stderr is a pipe");
        set_nonblocking(&status)?;
        set_nonblocking(&output)?;
        Ok(Hook {
            name,
            child,
            status,
            exit_code: Vec::new(),
            output,
            tail: Vec::new(),
            timeout,
            deadline: Instant::now() + timeout,
        })
    }

    /// The flag that the hook was given with.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The process group that it runs in.
    pub fn group(&self) -> Pid {
        Pid(i32::try_from(self.child.id()).unwrap_or(0))
    }

    /// How it ended, if it has. A hook past its deadline is killed.
    pub fn poll(&mut self, now: Instant) -> Option<HookResult> {
        self.read_output();
        let is_over =
            drain(&mut self.status, &mut self.exit_code) || self.exit_code.contains(&b'\n');
        if !is_over && now < self.deadline {
            return None;
        }
        if !is_over {
            // The group cannot be another's: its leader was not reaped, or the group is gone.
            if let Some(group) = rustix::process::Pid::from_raw(self.group().0) {
                let _ = kill_process_group(group, Signal::KILL);
            }
        }
        // `run` reaps all its children and may have been first.
        let _ = self.child.try_wait();
        self.read_output();
        Some(match is_over {
            true => self.result(),
            false => HookResult::Failure(format!(
                "took longer than {} s and was killed",
                self.timeout.as_secs()
            )),
        })
    }

    /// Reads the output, so that the hook never waits for us, and keeps the end of it.
    fn read_output(&mut self) {
        drain(&mut self.output, &mut self.tail);
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
    }

    fn result(&self) -> HookResult {
        let code = String::from_utf8_lossy(&self.exit_code).trim().to_owned();
        if code == "0" {
            return HookResult::Success;
        }
        let how = match code.as_str() {
            "" => "was killed by a signal".to_owned(),
            code => format!("exited with code {code}"),
        };
        match self.last_line() {
            line if line.is_empty() => HookResult::Failure(how),
            line => HookResult::Failure(format!("{how}: {line}")),
        }
    }

    fn last_line(&self) -> String {
        let mut lines = self.tail.trim_ascii_end().rsplit(|&b| b == b'\n');
        let mut line = lines.next().unwrap_or_default().to_vec();
        line.retain(|byte| !byte.is_ascii_control());
        line.truncate(LAST_LINE);
        printable(&line)
    }
}

/// Call early in `main`: if this process is the intermediate process of a hook, does its work and returns its exit code.
pub fn hook_entry() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != HOOK_ARGUMENT {
        return None;
    }
    let command = arguments.next()?;
    // If this is refused, orphans go where they would go without it.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let status = Command::new("sh")
        .arg("-c")
        .arg(command)
        // The hook's stdout and stderr both go to our stderr; our stdout is for its exit code.
        .stdout(Stdio::from(rustix::io::dup(rustix::stdio::stderr()).ok()?))
        .status();
    let code = status.ok().and_then(|status| status.code());
    println!("{}", code.map_or_else(String::new, |code| code.to_string()));
    let null = std::fs::File::options()
        .write(true)
        .open("/dev/null")
        .ok()?;
    // The guard reads no more; our ends of its pipes are closed, so that it sees their end.
    let _ = rustix::stdio::dup2_stdout(&null);
    let _ = rustix::stdio::dup2_stderr(&null);
    while let Ok(Some(_)) = rustix::process::wait(WaitOptions::empty()) {}
    Some(ExitCode::SUCCESS)
}

fn set_nonblocking(pipe: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&pipe)?;
    Ok(fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?)
}

/// Reads a bounded amount without waiting; returns whether the pipe has ended.
fn drain(pipe: &mut impl Read, into: &mut Vec<u8>) -> bool {
    let mut buffer = [0; TAIL];
    for _ in 0..MOST_READS {
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

    fn result(timeout: Duration, command: &str) -> HookResult {
        let variables = vec![("LEVELOFF_HOOK_EVENT".to_owned(), "stop".to_owned())];
        // As the intermediate process does; in a test, the current program is not leveloff.
        let script = "sh -c \"$1\" >&2; echo \"$?\"";
        let arguments = ["-c", script, "sh", command].map(OsStr::new);
        let mut hook =
            Hook::start_by("sh".as_ref(), &arguments, timeout, "--on-stop", &variables).unwrap();
        let give_up = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(result) = hook.poll(Instant::now()) {
                return result;
            }
            assert!(Instant::now() < give_up);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn variables_are_in_its_environment() {
        let command = "test \"$LEVELOFF_HOOK_EVENT\" = stop && echo chatter";
        assert_eq!(result(TIMEOUT, command), HookResult::Success);
    }

    #[test]
    fn a_failure_is_reported_with_the_last_line() {
        let HookResult::Failure(how) =
            result(TIMEOUT, "echo first; echo no route to host >&2; exit 7")
        else {
            panic!("it failed");
        };
        assert_eq!(how, "exited with code 7: no route to host");
        let HookResult::Failure(how) = result(TIMEOUT, "nosuchcommand") else {
            panic!("it failed");
        };
        assert!(how.starts_with("exited with code 127"), "{how}");
    }

    #[test]
    fn a_hook_that_hangs_is_killed_with_its_children() {
        let begin = Instant::now();
        let HookResult::Failure(how) = result(Duration::from_millis(200), "sleep 300 & sleep 300")
        else {
            panic!("it hung");
        };
        assert!(how.contains("took longer"), "{how}");
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let HookResult::Failure(how) =
            result(TIMEOUT, "yes | head -c 3000000; echo the end; exit 2")
        else {
            panic!("it failed");
        };
        assert_eq!(how, "exited with code 2: the end");
    }

    #[test]
    fn a_background_process_does_not_delay_the_result() {
        assert_eq!(result(TIMEOUT, "sleep 2 & true"), HookResult::Success);
    }
}
