//! A systemd scope: a control group that systemd makes around a command that we start.
//!
//! systemd may move processes where we may not, so this method comes before a control group of our own.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use leveloff_model::process::{Pid, printable};
use leveloff_model::units::Bytes;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::system::cgroup::{CgroupLocation, CgroupReader};
use rustix::event::{PollFd, PollFlags, Timespec};

use super::parent_cgroup::has_limit;

/// How to reach systemd.
#[derive(Debug, Clone)]
pub struct Systemd {
    /// Exists while systemd is the machine's init.
    booted: PathBuf,
    program: OsString,
    /// The user whose manager makes the scope; for root, the system manager.
    user: u32,
    timeout: Duration,
}

/// A scope whose limit holds.
#[derive(Debug, Clone)]
pub struct SystemdScope {
    systemd: Systemd,
    limit: Bytes,
    kills_all: bool,
}

/// Why there is no scope.
#[derive(Debug)]
enum Refusal {
    /// systemd-run exited with this message.
    Exited(String),
    /// Another reason.
    Other(String),
}

/// systemd answers within some ten milliseconds; on a busy machine within a second.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Prints a line inside the scope, and stays there until stdin closes.
const HOLD: &str = "echo inside && read -r word";

impl Systemd {
    /// The systemd of this machine.
    pub fn here() -> Systemd {
        Systemd {
            booted: PathBuf::from("/run/systemd/system"),
            program: OsString::from("systemd-run"),
            user: rustix::process::geteuid().as_raw(),
            timeout: TIMEOUT,
        }
    }

    /// Whether a process at `location` may be moved to a scope. In a user's session it may. A batch system's job, a container or
    /// a service with limits is no session: its manager expects its processes to stay.
    fn may_move_from(&self, location: &CgroupLocation) -> Result<(), String> {
        if !self.booted.exists() {
            return Err("systemd does not run here".to_owned());
        }
        let slices = match self.user {
            0 => vec!["user.slice".to_owned(), "system.slice".to_owned()],
            user => vec![format!("user-{user}.slice")],
        };
        let is_slice = |directory: &PathBuf| {
            let name = directory.file_name().unwrap_or_default();
            slices.iter().any(|slice| name == OsStr::new(slice))
        };
        let Some(height) = location.directories.iter().position(is_slice) else {
            return Err(format!(
                "control group {} is not one of a systemd session",
                location.path
            ));
        };
        match location.directories[..height].iter().find(|d| has_limit(d)) {
            Some(limited) => Err(format!(
                "a systemd scope would escape the limits of control group {}",
                limited.display()
            )),
            None => Ok(()),
        }
    }
}

impl SystemdScope {
    /// Makes a scope around a process that does nothing, and reads its limit: a manager without the memory controller accepts
    /// the setting and ignores it.
    pub fn probe(
        systemd: &Systemd,
        location: &CgroupLocation,
        limit: Bytes,
    ) -> Result<SystemdScope, String> {
        systemd.may_move_from(location)?;
        let scope = |kills_all| SystemdScope {
            systemd: systemd.clone(),
            limit,
            kills_all,
        };
        // Before version 253 a scope has no OOMPolicy, and systemd-run exits with an error.
        let result = match scope(true).try_out() {
            Err(Refusal::Exited(_)) => scope(false).try_out().map(|()| scope(false)),
            result => result.map(|()| scope(true)),
        };
        result.map_err(|(Refusal::Exited(reason) | Refusal::Other(reason))| reason)
    }

    /// The command that starts `command` in a scope. It execs the command, so pid, parent, terminal and descriptors stay.
    pub fn wrap(&self, command: &[OsString]) -> Vec<OsString> {
        let mut words = vec![self.systemd.program.clone()];
        if self.systemd.user != 0 {
            words.push("--user".into());
        }
        words.extend(["--scope", "--quiet", "--collect"].map(OsString::from));
        let limit = format!("MemoryMax={}", self.limit.0);
        let mut properties = vec![limit, "MemorySwapMax=0".to_owned()];
        properties.extend(self.kills_all.then(|| "OOMPolicy=kill".to_owned()));
        for property in properties {
            words.extend(["-p".into(), property.into()]);
        }
        words.push("--".into());
        words.extend_from_slice(command);
        words
    }

    /// Whether the kernel kills all its processes at once, and not only the largest.
    pub fn kills_all(&self) -> bool {
        self.kills_all
    }

    fn try_out(&self) -> Result<(), Refusal> {
        let words = self.wrap(&["sh", "-c", HOLD].map(OsString::from));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::piped()).spawn();
        let child = child.map_err(|error| Refusal::Other(format!("no systemd-run: {error}")))?;
        let mut trial = Trial(child);
        trial.wait_until_inside(self.systemd.timeout)?;
        match limit_of(Pid(trial.0.id().cast_signed())) {
            Some(limit) if limit <= self.limit => Ok(()),
            _ => Err(Refusal::Other(
                "systemd made a scope, and its limit does not hold: the memory controller is not \
                 delegated"
                    .to_owned(),
            )),
        }
    }
}

/// A process that does nothing, on its way into a scope. Dropping this ends it.
struct Trial(Child);

impl Trial {
    fn wait_until_inside(&mut self, timeout: Duration) -> Result<(), Refusal> {
        let mut output = [0; 16];
        let stdout = self.0.stdout.as_mut();
        let read = stdout.and_then(|stdout| {
            let limit = Timespec::try_from(timeout).ok()?;
            let mut fds = [PollFd::new(stdout, PollFlags::IN)];
            rustix::event::poll(&mut fds, Some(&limit))
                .is_ok_and(|ready| ready > 0)
                .then(|| stdout.read(&mut output))
        });
        match read {
            None => Err(Refusal::Other(format!(
                "systemd did not answer within {} s",
                timeout.as_secs_f32()
            ))),
            Some(Ok(1..)) => Ok(()),
            Some(_) => Err(Refusal::Exited(self.last_error())),
        }
    }

    /// The last line on stderr, which has ended.
    fn last_error(&mut self) -> String {
        let mut text = Vec::new();
        let stderr = self.0.stderr.take();
        let _ = stderr.map(|mut stderr| stderr.by_ref().take(4096).read_to_end(&mut text));
        let last = text
            .split(|&b| b == b'\n')
            .rfind(|line| !line.trim_ascii().is_empty());
        match last {
            Some(line) => format!("systemd-run: {}", printable(line.trim_ascii())),
            None => "systemd-run exited without a message".to_owned(),
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // A systemd-run that hangs does not read its stdin.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The tightest limit of a process.
fn limit_of(pid: Pid) -> Option<Bytes> {
    let mut reader = CgroupReader::new(&ProcRoot::live(), Path::new("/"), pid);
    reader.read(true)?.limit
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;

    const LIMIT: Bytes = Bytes(28 << 30);

    /// A machine on which systemd-run is this script.
    struct Machine {
        place: tempfile::TempDir,
        systemd: Systemd,
    }

    impl Machine {
        fn with(script: &str) -> Machine {
            let place = tempfile::tempdir().unwrap();
            let program = place.path().join("systemd-run");
            // By another process: a file that some fork of ours still has open for writing cannot be
            // executed.
            let write = [
                "-c",
                "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\"; chmod +x \"$2\"",
                "sh",
            ];
            let mut writer = Command::new("sh");
            writer.args(write).arg(script).arg(&program);
            assert!(writer.status().unwrap().success());
            let systemd = Systemd {
                booted: place.path().to_path_buf(),
                program: program.into_os_string(),
                user: 1000,
                timeout: Duration::from_millis(300),
            };
            Machine { place, systemd }
        }

        /// Our own group, with these files in it.
        fn place_in(&self, group: &str, files: &[(&str, &str)]) -> CgroupLocation {
            let own = self.place.path().join(group);
            fs::create_dir_all(&own).unwrap();
            for (name, text) in files {
                fs::write(own.join(name), text).unwrap();
            }
            let above = own.ancestors().take_while(|d| d.starts_with(&self.place));
            CgroupLocation {
                version: 2,
                path: format!("/{group}"),
                directories: above.map(Path::to_path_buf).collect(),
                caveat: None,
            }
        }

        fn refusal(&self) -> String {
            let place = self.place_in(SESSION, &[]);
            SystemdScope::probe(&self.systemd, &place, LIMIT).unwrap_err()
        }
    }

    const SESSION: &str = "user.slice/user-1000.slice/session-3.scope";

    #[test]
    fn the_limits_come_before_the_command() {
        let systemd = Systemd {
            user: 1000,
            ..Systemd::here()
        };
        let scope = SystemdScope {
            systemd,
            limit: LIMIT,
            kills_all: true,
        };
        let words = scope.wrap(&["python3", "--", "train.py"].map(OsString::from));
        let words: Vec<&str> = words.iter().map(|w| w.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "systemd-run --user --scope --quiet --collect -p MemoryMax=30064771072 \
             -p MemorySwapMax=0 -p OOMPolicy=kill -- python3 -- train.py"
        );
    }

    #[test]
    fn a_systemd_that_does_not_answer_is_given_up() {
        let begin = Instant::now();
        let said = Machine::with("exec sleep 60").refusal();
        assert!(said.contains("did not answer within 0.3 s"), "{said}");
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn the_message_of_systemd_is_passed_on() {
        let said = Machine::with("echo 'Failed to connect to bus: No medium found' >&2; exit 1");
        assert_eq!(
            said.refusal(),
            "systemd-run: Failed to connect to bus: No medium found"
        );
        let mut absent = Machine::with("");
        absent.systemd.program = "/no/such/systemd-run".into();
        assert!(absent.refusal().contains("no systemd-run"));
    }

    #[test]
    fn a_limit_that_does_not_hold_is_refused() {
        // Accepts the options, starts the command, and sets no limit.
        let machine = Machine::with("while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"");
        assert!(machine.refusal().contains("does not hold"));
    }

    #[test]
    fn an_old_systemd_is_tried_without_a_policy() {
        let machine = Machine::with(
            "case \"$*\" in *OOMPolicy*) echo 'Unknown assignment: OOMPolicy=kill' >&2; exit 1;; esac\n\
             echo 'second try' >&2; exit 1",
        );
        assert_eq!(machine.refusal(), "systemd-run: second try");
    }

    #[test]
    fn only_a_process_of_a_session_is_moved() {
        let machine = Machine::with("exit 1");
        let may = |group: &str, files: &[(&str, &str)]| {
            let place = machine.place_in(group, files);
            machine.systemd.may_move_from(&place)
        };
        assert_eq!(may(SESSION, &[("memory.max", "max\n")]), Ok(()));
        assert!(may("system.slice/slurmstepd.scope/job_7/step_0", &[]).is_err());
        let limited = may(
            "user.slice/user-1000.slice/user@1000.service/app.slice/x.scope",
            &[("memory.max", "8589934592\n")],
        );
        assert!(limited.unwrap_err().contains("escape the limits"));
        let elsewhere = Systemd {
            booted: "/no/such/place".into(),
            ..machine.systemd.clone()
        };
        let place = machine.place_in(SESSION, &[]);
        let said = elsewhere.may_move_from(&place).unwrap_err();
        assert_eq!(said, "systemd does not run here");
    }
}
