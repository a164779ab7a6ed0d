//! The training while it runs: our own child, held by a handle that can only ever mean it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use anyhow::{Context, Result};
use leveloff_model::process::{Pid, ProcessKey};
use leveloff_model::recording::EndReason;
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The running training. Dropping it asks it to stop.
#[derive(Debug)]
pub(crate) struct TrainerProcess {
    child: Child,
    handle: OwnedFd,
    was_stopped: bool,
    is_reaped: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    status: ExitStatus,
    /// Whether leveloff stopped it before its last step.
    pub was_stopped: bool,
}

impl TrainerProcess {
    /// Starts it in a process group of its own: Ctrl-C is for us, who then ask it to stop. If we are
    /// killed, it trains to its last step and ends.
    pub(crate) fn start(mut command: Command) -> Result<TrainerProcess> {
        let mut child = command
            .process_group(0)
            .spawn()
            .context("cannot start the reference trainer")?;
        let pid = rustix::process::Pid::from_child(&child);
        // Not waited for yet, so the number is still its own.
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => Ok(TrainerProcess {
                child,
                handle,
                was_stopped: false,
                is_reaped: false,
            }),
            Err(errno) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(errno).context("cannot watch the reference trainer's end; see leveloff doctor")
            }
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid(self.child.id().cast_signed())
    }

    /// Who it is; `None` when it is over already.
    pub(crate) fn key(&self) -> Option<ProcessKey> {
        key_of(&ProcRoot::live(), self.pid()).ok()
    }

    /// Readable when it has ended.
    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Asks it to save and stop.
    pub(crate) fn ask_to_stop(&mut self) {
        if !std::mem::replace(&mut self.was_stopped, true) {
            // It may have ended just now.
            let _ = pidfd_send_signal(&self.handle, Signal::TERM);
        }
    }

    /// Asks it to stop; the second time, kills it.
    pub(crate) fn stop(&mut self) {
        if self.was_stopped {
            let _ = pidfd_send_signal(&self.handle, Signal::KILL);
        }
        self.ask_to_stop();
    }

    /// How it ended; waits for that.
    pub(crate) fn ended(mut self) -> Result<Ended> {
        let status = self.child.wait().context("cannot wait for the trainer")?;
        self.is_reaped = true;
        Ok(Ended {
            status,
            was_stopped: self.was_stopped,
        })
    }
}

impl Drop for TrainerProcess {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.ask_to_stop();
        }
    }
}

impl Ended {
    pub(crate) fn reason(&self) -> EndReason {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => EndReason::Exited(code),
            (None, Some(signal)) => EndReason::Signalled(signal),
            (None, None) => EndReason::TargetGone,
        }
    }

    /// Its failure, if any. After a stop every ending is fine.
    pub(crate) fn trouble(&self) -> Option<String> {
        (!self.status.success() && !self.was_stopped)
            .then(|| format!("the reference trainer failed ({})", self.status))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use super::*;
    use leveloff_supervise::termination_signals::{TerminationSignals, WaitResult};

    fn shell(script: &str) -> TrainerProcess {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        TrainerProcess::start(command).unwrap()
    }

    #[test]
    fn its_end_is_noticed_and_reported() {
        let trainer = shell("exit 3");
        let stop = TerminationSignals::listen().unwrap();
        let far = Instant::now() + Duration::from_secs(60);
        assert_eq!(
            stop.wait_for(&[trainer.handle()], far).unwrap(),
            WaitResult::Other(0)
        );
        let ended = trainer.ended().unwrap();
        assert_eq!(ended.reason(), EndReason::Exited(3));
        assert!(ended.trouble().unwrap().contains('3'));
    }

    #[test]
    fn a_stopped_trainer_may_end_in_any_way() {
        let mut trainer = shell("exec sleep 600");
        trainer.ask_to_stop();
        trainer.ask_to_stop();
        let ended = trainer.ended().unwrap();
        assert_eq!(ended.reason(), EndReason::Signalled(15));
        assert_eq!(ended.trouble(), None);
    }

    #[test]
    fn a_trainer_that_ignores_the_stop_is_killed_the_second_time() {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' TERM; echo; while :; do sleep 600; done"]);
        let mut trainer = TrainerProcess::start({
            command.stdout(Stdio::piped());
            command
        })
        .unwrap();
        // It says a line when its trap is set.
        let mut line = String::new();
        let said = trainer.child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(said), &mut line).unwrap();
        trainer.stop();
        trainer.stop();
        let ended = trainer.ended().unwrap();
        assert_eq!(ended.reason(), EndReason::Signalled(9));
    }
}
