//! The user's commands that run beside a guard.

use std::time::Instant;

use leveloff_sampler::sampler::Sampler;

use super::hook::{Facts, Hook, HookEnd};
use crate::notice::notice;

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
}
