//! A scope of systemd's: a control group that its manager makes around a command that we start.
//!
//! The manager may move processes where we may not, which is why this comes before a group of our own.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use leveloff_model::process::{Pid, printable};
use leveloff_model::units::Bytes;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::system::cgroup::{CgroupLocation, CgroupReader};
use rustix::event::{PollFd, PollFlags, Timespec};

use super::parent::limits;

/// How systemd is reached.
#[derive(Debug, Clone)]
pub struct Systemd {
    /// Present while systemd is the machine's init.
    booted: PathBuf,
    /// The program that asks it.
    program: OsString,
    /// Whose scopes; root's are the system manager's.
    user: u32,
    /// It answers within this, or not at all.
    patience: Duration,
}

/// A manager that makes scopes whose limit holds.
#[derive(Debug, Clone)]
pub struct Scope {
    systemd: Systemd,
    limit: Bytes,
    ends_all: bool,
}

/// A manager that is there answers within some ten milliseconds; on a busy machine within a second.
const PATIENCE: Duration = Duration::from_secs(3);

/// Says that it is inside, and stays there until it is told to go.
const HOLD: &str = "echo inside && read -r word";

impl Systemd {
    /// Of this machine.
    pub fn here() -> Systemd {
        Systemd {
            booted: PathBuf::from("/run/systemd/system"),
            program: OsString::from("systemd-run"),
            user: rustix::process::geteuid().as_raw(),
            patience: PATIENCE,
        }
    }

    /// Whether a process at `place` may be taken to a scope. In a user's session it may. A batch
    /// system's job, a container or a service with limits is no session: whoever set it up counts on
    /// finding its processes there.
    fn may_take_from(&self, place: &CgroupLocation) -> Result<(), String> {
        if !self.booted.exists() {
            return Err("systemd does not run here".to_owned());
        }
        let slices = match self.user {
            0 => vec!["user.slice".to_owned(), "system.slice".to_owned()],
            user => vec![format!("user-{user}.slice")],
        };
        let is_slice = |directory: &&PathBuf| {
            let name = directory.file_name().unwrap_or_default();
            slices.iter().any(|slice| name == OsStr::new(slice))
        };
        let Some(height) = place.directories.iter().position(|d| is_slice(&d)) else {
            return Err(format!(
                "control group {} is not one of a systemd session",
                place.path
            ));
        };
        match place.directories[..height].iter().find(|d| limits(d)) {
            Some(limited) => Err(format!(
                "a systemd scope would escape the limits of control group {}",
                limited.display()
            )),
            None => Ok(()),
        }
    }
}

impl Scope {
    /// Has a scope made around a process that does nothing, and looks at the limit it really got: a
    /// manager that was not given the memory controller takes the setting and does nothing.
    pub fn probe(systemd: &Systemd, place: &CgroupLocation, limit: Bytes) -> Result<Scope, String> {
        systemd.may_take_from(place)?;
        let scope = |ends_all| Scope {
            systemd: systemd.clone(),
            limit,
            ends_all,
        };
        let whole = scope(true);
        match whole.try_out() {
            Ok(()) => Ok(whole),
            // Before version 253 a scope knows no OOMPolicy.
            Err(Refusal::Said(why)) if why.contains("OOMPolicy") => {
                let plain = scope(false);
                plain.try_out().map(|()| plain).map_err(Refusal::words)
            }
            Err(refusal) => Err(refusal.words()),
        }
    }

    /// The command that starts this one in a scope. It replaces itself by the command, so pid,
    /// parent, terminal and descriptors are the command's own.
    pub fn wrap(&self, command: &[OsString]) -> Vec<OsString> {
        let mut words = vec![self.systemd.program.clone()];
        if self.systemd.user != 0 {
            words.push("--user".into());
        }
        words.extend(["--scope", "--quiet", "--collect"].map(OsString::from));
        let limit = format!("MemoryMax={}", self.limit.0);
        let mut properties = vec![limit, "MemorySwapMax=0".to_owned()];
        properties.extend(self.ends_all.then(|| "OOMPolicy=kill".to_owned()));
        for property in properties {
            words.extend(["-p".into(), property.into()]);
        }
        words.push("--".into());
        words.extend_from_slice(command);
        words
    }

    /// Whether the kernel ends all of it at once, and not only its largest process.
    pub fn ends_all(&self) -> bool {
        self.ends_all
    }

    fn try_out(&self) -> Result<(), Refusal> {
        let words = self.wrap(&["sh", "-c", HOLD].map(OsString::from));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::piped()).spawn();
        let mut trial = Trial {
            child: child.map_err(|error| Refusal::Said(format!("no systemd-run: {error}")))?,
            give_up: Instant::now() + self.systemd.patience,
        };
        if !trial.has_spoken() {
            return Err(Refusal::TimedOut(self.systemd.patience));
        }
        trial.hear_that_it_is_inside()?;
        match limit_of(trial.pid()) {
            Some(limit) if limit <= self.limit => Ok(()),
            _ => Err(Refusal::Said(
                "systemd made a scope, and its limit does not hold: the memory controller is not \
                 delegated"
                    .to_owned(),
            )),
        }
    }
}

/// Why there is no scope.
#[derive(Debug)]
enum Refusal {
    Said(String),
    TimedOut(Duration),
}

impl Refusal {
    fn words(self) -> String {
        match self {
            Refusal::Said(why) => why,
            Refusal::TimedOut(patience) => {
                format!("systemd did not answer within {} s", patience.as_secs_f32())
            }
        }
    }
}

/// A process that does nothing, on its way into a scope. It is over when this is dropped.
struct Trial {
    child: Child,
    give_up: Instant,
}

impl Trial {
    fn pid(&self) -> Pid {
        Pid(self.child.id().cast_signed())
    }

    /// Waits until it says something, or ends.
    fn has_spoken(&self) -> bool {
        let left = self.give_up.saturating_duration_since(Instant::now());
        let (Some(stdout), Ok(timeout)) = (&self.child.stdout, Timespec::try_from(left)) else {
            return false;
        };
        let mut look = [PollFd::new(stdout, PollFlags::IN)];
        rustix::event::poll(&mut look, Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    fn hear_that_it_is_inside(&mut self) -> Result<(), Refusal> {
        let mut said = [0; 16];
        let heard = self.child.stdout.as_mut().map(|it| it.read(&mut said));
        match heard {
            Some(Ok(length)) if length > 0 => Ok(()),
            // Its end came before the word.
            _ => Err(Refusal::Said(self.complaint())),
        }
    }

    /// The last line it said on stderr, which has ended with it.
    fn complaint(&mut self) -> String {
        let mut text = Vec::new();
        let end = self.child.stderr.take();
        let _ = end.map(|mut stderr| stderr.by_ref().take(4096).read_to_end(&mut text));
        let last = text
            .split(|&b| b == b'\n')
            .rfind(|line| !line.trim_ascii().is_empty());
        match last {
            Some(line) => format!("systemd-run: {}", printable(line.trim_ascii())),
            None => "systemd-run ended without a word".to_owned(),
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // One that hangs would not notice; it is ours, and nothing but a trial.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The tightest limit that holds for a process.
fn limit_of(pid: Pid) -> Option<Bytes> {
    let mut reader = CgroupReader::new(&ProcRoot::live(), Path::new("/"), pid);
    reader.read(true)?.limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
                patience: Duration::from_millis(300),
            };
            Machine { place, systemd }
        }

        /// We stand in this group, and these files are in it.
        fn standing_in(&self, group: &str, files: &[(&str, &str)]) -> CgroupLocation {
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
            let place = self.standing_in(SESSION, &[]);
            Scope::probe(&self.systemd, &place, LIMIT).unwrap_err()
        }
    }

    const SESSION: &str = "user.slice/user-1000.slice/session-3.scope";

    #[test]
    fn the_command_stands_behind_its_limits() {
        let systemd = Systemd {
            user: 1000,
            ..Systemd::here()
        };
        let scope = Scope {
            systemd,
            limit: LIMIT,
            ends_all: true,
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
    fn a_manager_that_does_not_answer_is_not_waited_for() {
        let begin = Instant::now();
        let said = Machine::with("exec sleep 60").refusal();
        assert!(said.contains("did not answer within 0.3 s"), "{said}");
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn what_systemd_says_is_passed_on() {
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
    fn a_limit_that_does_not_hold_is_not_believed() {
        // Takes the options, starts the command, and limits nothing.
        let machine = Machine::with("while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"");
        assert!(machine.refusal().contains("does not hold"));
    }

    #[test]
    fn an_old_systemd_is_asked_again_without_a_policy() {
        let machine = Machine::with(
            "case \"$*\" in *OOMPolicy*) echo 'Unknown assignment: OOMPolicy=kill' >&2; exit 1;; esac\n\
             echo 'asked again' >&2; exit 1",
        );
        assert_eq!(machine.refusal(), "systemd-run: asked again");
    }

    #[test]
    fn only_a_session_is_left_for_a_scope() {
        let machine = Machine::with("exit 1");
        let may = |group: &str, files: &[(&str, &str)]| {
            let place = machine.standing_in(group, files);
            machine.systemd.may_take_from(&place)
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
        let place = machine.standing_in(SESSION, &[]);
        let said = elsewhere.may_take_from(&place).unwrap_err();
        assert_eq!(said, "systemd does not run here");
    }
}
