//! The facts that a hook gets in its environment; `docs/GUARD.md` lists the variables.

use std::path::Path;

use leveloff_model::process::ProcessInfo;
use leveloff_model::units::{Bytes, Step};

use super::hook::HookVariables;
use super::limit_usage::LimitUsage;

/// What is known at a warning or a stop.
#[derive(Debug)]
pub struct HookFacts<'a> {
    /// `warn` or `stop`.
    pub event: &'static str,
    /// The message to the user.
    pub text: &'a str,
    /// The run's memory.
    pub memory: Bytes,
    /// The usage of `--limit`.
    pub limit: Option<LimitUsage>,
    /// The first trainer.
    pub trainer: Option<&'a ProcessInfo>,
    /// The newest step.
    pub step: Option<Step>,
    /// The verdict in one line.
    pub verdict: Option<String>,
    /// The recording.
    pub recording: Option<&'a Path>,
}

impl HookFacts<'_> {
    /// The environment variables. What is not known has none.
    pub fn variables(self) -> HookVariables {
        let bytes = |amount: Bytes| amount.0.to_string();
        let trainer = self.trainer.map(|info| info.key.pid.to_string());
        let recording = self.recording.map(|path| path.display().to_string());
        let variables = [
            ("EVENT", Some(self.event.to_owned())),
            ("TEXT", Some(self.text.to_owned())),
            ("MEMORY_BYTES", Some(bytes(self.memory))),
            ("USED_BYTES", self.limit.map(|limit| bytes(limit.used))),
            ("LIMIT_BYTES", self.limit.map(|limit| bytes(limit.limit))),
            ("PID", trainer),
            ("STEP", self.step.map(|step| step.to_string())),
            ("VERDICT", self.verdict),
            ("RECORDING", recording),
        ];
        let known = variables.into_iter();
        known
            .filter_map(|(name, value)| Some((format!("LEVELOFF_HOOK_{name}"), value?)))
            .collect()
    }
}
