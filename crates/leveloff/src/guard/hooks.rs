//! The user's commands that run beside a guard.

use std::time::{Duration, Instant};

use leveloff_sampler::sampler::Sampler;

use super::hook::{Facts, Hook, HookEnd};
use crate::notice::notice;

/// Between looks at a hook that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long is waited without a word.
const PATIENT_IN_SILENCE: Duration = Duration::from_secs(1);

/// Those that run now.
#[derive(Debug, Default)]
pub struct Hooks {
    running: Vec<Hook>,
}

impl Hooks {
    /// Starts one, if there is a command for it. It is no part of the run that is watched.
    pub fn run(
        &mut self,
        name: &'static str,
        command: Option<&str>,
        facts: &Facts,
        sampler: &mut Sampler,
    ) {
        let Some(command) = command else { return };
        match Hook::start(name, command, facts) {
            Ok(hook) => {
                sampler.leave_out_group(hook.group());
                self.running.push(hook);
            }
            Err(error) => notice(&format!("cannot run the {name} command: {error}")),
        }
    }

    /// Says how those ended that have.
    pub fn poll(&mut self) {
        let now = Instant::now();
        self.running.retain_mut(|hook| match hook.end(now) {
            None => true,
            Some(HookEnd::Well) => false,
            Some(HookEnd::Badly(how)) => {
                notice(&format!(
                    "the {} command {how}; the guard goes on",
                    hook.name()
                ));
                false
            }
        });
    }

    /// Waits for those that still run, which is not for long, and says how they ended.
    pub fn wait(&mut self) {
        let begin = Instant::now();
        let mut is_said = false;
        self.poll();
        while !self.running.is_empty() {
            if begin.elapsed() > PATIENT_IN_SILENCE && !std::mem::replace(&mut is_said, true) {
                let names: Vec<&str> = self.running.iter().map(Hook::name).collect();
                notice(&format!("waiting for the {} command", names.join(" and ")));
            }
            std::thread::sleep(LOOK_EVERY);
            self.poll();
        }
    }
}
