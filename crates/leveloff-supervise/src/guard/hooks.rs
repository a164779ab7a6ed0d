//! The user's commands that run beside a guard.

use std::time::{Duration, Instant};

use leveloff_sampler::sampler::Sampler;

use super::hook::{Facts, Hook, HookEnd};
use crate::notify::{Notify, Urgency};

/// Between looks at a hook that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long is waited without a word.
const PATIENT_IN_SILENCE: Duration = Duration::from_secs(1);

/// Those that run now.
#[derive(Debug)]
pub struct Hooks {
    notify: Notify,
    running: Vec<Hook>,
}

impl Hooks {
    /// None runs yet.
    pub fn new(notify: Notify) -> Hooks {
        Hooks {
            notify,
            running: Vec::new(),
        }
    }

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
                sampler.exclude_group(hook.group());
                self.running.push(hook);
            }
            Err(error) => (self.notify)(
                &format!("cannot run the {name} command: {error}"),
                Urgency::Normal,
            ),
        }
    }

    /// Says how those ended that have.
    pub fn poll(&mut self) {
        let (now, notify) = (Instant::now(), self.notify);
        self.running.retain_mut(|hook| match hook.end(now) {
            None => true,
            Some(HookEnd::Well) => false,
            Some(HookEnd::Badly(how)) => {
                let text = format!("the {} command {how}; the guard goes on", hook.name());
                notify(&text, Urgency::Normal);
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
                let text = format!("waiting for the {} command", names.join(" and "));
                (self.notify)(&text, Urgency::Normal);
            }
            std::thread::sleep(LOOK_EVERY);
            self.poll();
        }
    }
}
