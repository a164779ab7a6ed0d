//! The hooks that run now.

use std::time::{Duration, Instant};

use leveloff_sampler::sampler::Sampler;

use super::hook::{Hook, HookResult, HookVariables};
use crate::notify::{Notify, Urgency};

/// The time between two polls while waiting for hooks.
const POLL_EVERY: Duration = Duration::from_millis(10);

/// After this time, a message says what is being waited for.
const QUIET_WAIT: Duration = Duration::from_secs(1);

/// The hooks that run now.
#[derive(Debug)]
pub struct Hooks {
    notify: Notify,
    running: Vec<Hook>,
}

impl Hooks {
    /// No hook runs yet.
    pub fn new(notify: Notify) -> Hooks {
        Hooks {
            notify,
            running: Vec::new(),
        }
    }

    /// Starts a hook, and excludes its processes from the run.
    pub fn start(
        &mut self,
        name: &'static str,
        command: &str,
        variables: &HookVariables,
        sampler: &mut Sampler,
    ) {
        match Hook::start(name, command, variables) {
            Ok(hook) => {
                sampler.exclude_group(hook.group());
                self.running.push(hook);
            }
            Err(error) => self.notice(&format!("cannot run the {name} command: {error}")),
        }
    }

    /// Reports the hooks that failed, and forgets those that ended.
    pub fn poll(&mut self) {
        let now = Instant::now();
        let mut running = std::mem::take(&mut self.running);
        running.retain_mut(|hook| {
            let result = hook.poll(now);
            if let Some(HookResult::Failure(how)) = &result {
                let name = hook.name();
                self.notice(&format!("the {name} command {how}; the guard goes on"));
            }
            result.is_none()
        });
        self.running = running;
    }

    /// Waits for the hooks that still run; each has a timeout.
    pub fn wait(&mut self) {
        let begin = Instant::now();
        let mut is_reported = false;
        self.poll();
        while !self.running.is_empty() {
            if begin.elapsed() > QUIET_WAIT && !std::mem::replace(&mut is_reported, true) {
                let names: Vec<&str> = self.running.iter().map(Hook::name).collect();
                self.notice(&format!("waiting for the {} command", names.join(" and ")));
            }
            std::thread::sleep(POLL_EVERY);
            self.poll();
        }
    }

    fn notice(&self, text: &str) {
        (self.notify)(text, Urgency::Normal);
    }
}
