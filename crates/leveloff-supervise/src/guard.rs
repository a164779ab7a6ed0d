//! The guard: stops a run gracefully before the kernel kills it for its memory.
//!
//! `options` holds the user's limits and reactions. At every reading, `limit_usage` compares memory with the limits; `policy`
//! decides by that and by the `trend` of the last second, and says when the next reading is due. `stop_sequence` has the
//! stages of a stop, from a request to SIGKILL; `active_stop` carries them out on the `run_processes`. `hooks` run the user's commands,
//! `bundle` collects the evidence. `docs/GUARD.md` has the reasons.

mod active_stop;
mod bundle;
mod hook;
mod hook_facts;
mod hooks;
mod limit_usage;
mod messages;
mod options;
mod policy;
mod run_processes;
mod stop_report;
mod stop_sequence;
mod trend;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use leveloff_model::process::{Pid, ProcessInfo, ProcessKey, Role};
use leveloff_model::sample::Tick;
use leveloff_model::units::{Bytes, Seconds};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::sampler::{MemoryUsage, Sampler};
use leveloff_sampler::signalling;
use leveloff_sampler::system::container::is_contained;

use crate::notify::{Notify, Urgency};
use active_stop::{ActiveStop, event_at};
use bundle::{Bundle, MOST_PROCESSES};
use hook_facts::HookFacts;
use hooks::Hooks;
use limit_usage::LimitUsages;
use policy::{Decision, GuardPolicy, PolicyInput, PolicyTimes};

pub use active_stop::event;
pub use bundle::BundleFile;
pub use hook::hook_entry;
pub use limit_usage::{LimitUsage, Measure, StatedLimits};
pub use messages::stop_summary;
pub use options::GuardOptions;
pub use policy::{Forecast, Reason};
pub use stop_report::{Checkpoint, StopReport};
pub use stop_sequence::Stage;

/// The exit code after a stop: what `sysexits.h` calls a temporary failure, which schedulers retry.
pub const STOPPED: u8 = 75;

/// Guards one run.
#[derive(Debug)]
pub struct Guard {
    options: GuardOptions,
    interval: Duration,
    notify: Notify,
    policy: GuardPolicy,
    is_contained: bool,
    bundle: Option<Bundle>,
    hooks: Hooks,
    /// The process that restarts the run: it is not stopped.
    excluded: Option<Pid>,
    peak: Bytes,
    restarts: u32,
    /// A decision between two samples. The sample that follows at once carries it out.
    pending: Option<Decision>,
    stop: Option<ActiveStop>,
    /// Whether the user knows that a process cannot be signalled.
    has_warned_of_rights: bool,
}

/// The verdict on the run so far. The guard calls it only when it needs an answer, because a verdict takes milliseconds.
pub trait Judgement {
    /// When the run's memory meets its ceiling, at the judged rate of growth.
    fn forecast(&self) -> Forecast;

    /// The verdict in one line; `None` before the first observation.
    fn headline(&self) -> Option<String>;
}

/// What the session that the guard is part of knows.
pub struct SessionView<'a> {
    /// The verdict, if the run is judged.
    pub judge: Option<&'a dyn Judgement>,
    /// The recording, if it has a name that the user knows.
    pub recording: Option<&'a Path>,
}

/// The user's commands.
#[derive(Debug, Clone, Copy)]
enum HookKind {
    Warn,
    Stop,
}

/// A signal waits this long for the capture of the mappings, which takes a second for 30 GB of small pages.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest time between two readings during a stop.
const STOP_PACE: Duration = Duration::from_millis(100);

/// Until the first step, or for this long where no steps are known, the training loads its model and data: no forecast is
/// made from that growth.
const LOADING: Seconds = Seconds(60.0);

impl Guard {
    /// A guard for a run that is sampled once in `interval`. Makes the bundle's directory.
    pub fn new(options: GuardOptions, interval: Duration, notify: Notify) -> Result<Guard> {
        let bundle = options.bundle.as_deref().map(Bundle::prepare).transpose()?;
        Ok(Guard {
            policy: new_policy(&options, interval),
            options,
            interval,
            notify,
            is_contained: false,
            bundle,
            hooks: Hooks::new(notify),
            excluded: None,
            peak: Bytes::ZERO,
            restarts: 0,
            pending: None,
            stop: None,
            has_warned_of_rights: false,
        })
    }

    /// Never signals this process, which has to restart the run.
    pub fn excluding(mut self, pid: Option<Pid>) -> Guard {
        self.excluded = pid;
        self
    }

    /// The run was restarted: forgets the run before.
    pub fn restart(&mut self) {
        self.policy = new_policy(&self.options, self.interval);
        (self.pending, self.stop) = (None, None);
        self.restarts += 1;
    }

    /// Checks, after the first sample, that the limits can be enforced and the run can be signalled. Then says what is
    /// guarded.
    pub fn attach(&mut self, sampler: &Sampler) -> Result<()> {
        let first = sampler.infos().next().map(|info| info.key.pid);
        let first = first.unwrap_or(Pid(rustix::process::getpid().as_raw_pid()));
        self.is_contained = is_contained(&ProcRoot::live(), first);
        let memory = sampler.memory_usage();
        self.options.check(&memory, self.is_contained)?;
        if let Some(refusal) = self.cannot_signal(sampler) {
            bail!(refusal);
        }
        self.notice(&self.options.describe(&memory, self.is_contained));
        Ok(())
    }

    /// The time until the next reading; `None` when the sampling interval is short enough.
    pub fn pace(&self) -> Option<Duration> {
        let pace = match &self.stop {
            Some(stop) if !stop.is_over() => STOP_PACE,
            Some(_) => return None,
            None => self.policy.pace(),
        };
        (pace < self.interval).then_some(pace)
    }

    /// Whether a stop is in progress, which needs a whole sample at each reading.
    pub fn is_stopping(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| !stop.is_over())
    }

    /// The report of a stop, once it is over. A run that exited before the first stage was not stopped by the guard.
    pub fn stopped(&self) -> Option<&StopReport> {
        let stop = self.stop.as_ref().filter(|stop| stop.is_over())?;
        Some(stop.report()).filter(|report| !report.stages.is_empty())
    }

    /// Whether it has stopped the run, now or before a restart.
    pub fn has_stopped_once(&self) -> bool {
        self.restarts > 0 || self.stopped().is_some()
    }

    /// Begins to stop the run at the next sample, whatever its memory.
    pub fn end_trial(&mut self) {
        if self.stop.is_none() {
            self.pending = Some(Decision::Stop(Reason::TrialOver));
        }
    }

    /// Begins the next stage of a stop now.
    pub fn skip_stage(&mut self) {
        if let Some(stop) = &mut self.stop {
            stop.skip_stage();
        }
    }

    /// Waits for the user's commands that still run.
    pub fn wait_for_hooks(&mut self) {
        self.hooks.wait();
    }

    /// Whether it has sent SIGKILL.
    pub fn has_killed(&self) -> bool {
        let mut stages = self.stop.iter().flat_map(|stop| &stop.report().stages);
        stages.any(|(stage, _)| *stage == Stage::Kill)
    }

    /// Takes a reading between two samples. Whether a sample has to follow at once.
    pub fn check_between_samples(&mut self, memory: &MemoryUsage) -> bool {
        let decision = self.decide(memory, None);
        self.pending = Some(decision).filter(|decision| *decision != Decision::NoAction);
        self.hooks.poll();
        self.pending.is_some()
    }

    /// Takes a sample, decides, and does what is due. Its actions become events of the tick.
    pub fn take(&mut self, tick: &mut Tick, sampler: &mut Sampler, session: &SessionView<'_>) {
        self.hooks.poll();
        if self.stop.is_none() {
            self.watch(tick, sampler, session);
        }
        let is_capturing = self.bundle.as_ref().is_some_and(Bundle::is_capturing);
        let Some(stop) = &mut self.stop else {
            return;
        };
        stop.observe(tick, self.peak);
        // A process that dies of a signal has no mappings any more. After a request there is time enough.
        let takes_requests = sampler
            .stop_request()
            .is_some_and(|request| request.is_obeyed());
        let waits = is_capturing && !takes_requests && stop.age() < CAPTURE_TIMEOUT;
        if !stop.is_over() && !waits {
            stop.advance(tick, sampler, self.excluded);
        }
    }

    /// leveloff exits before the run: withdraws the stop request. Returns a message for the user.
    pub fn leave(&mut self) -> String {
        let unfinished = match &mut self.stop {
            Some(stop) if !stop.is_over() => {
                stop.abandon();
                "the guard had begun to stop the run and does not finish; "
            }
            _ => "",
        };
        format!(
            "{unfinished}the run is no longer guarded; `leveloff guard --pid PID --limit SIZE` takes over"
        )
    }

    /// Completes the bundle, if `--bundle` requests one, and returns its path.
    pub fn complete_bundle(
        &mut self,
        message: &[String],
        recording: Option<&Path>,
        reports: impl FnOnce(&Path) -> Vec<BundleFile>,
    ) {
        let Some(bundle) = self.bundle.take() else {
            return;
        };
        let report = self.stopped();
        let directory = bundle.directory().display().to_string();
        let failures = bundle.complete(bundle::Contents {
            message,
            facts: report.map_or(serde_json::Value::Null, messages::stop_json),
            recording,
            reports: recording.map_or_else(Vec::new, reports),
            kernel: crate::oom::kernel_log_lines().map_err(|error| error.to_string()),
        });
        self.notice(&format!("wrote the bundle to {directory}"));
        for failure in failures {
            self.notice(&format!("missing in the bundle: {failure}"));
        }
    }

    fn watch(&mut self, tick: &mut Tick, sampler: &mut Sampler, session: &SessionView<'_>) {
        self.warn_of_rights(sampler);
        let memory = sampler.memory_usage();
        let decision = match self.pending.take() {
            Some(pending) => pending,
            None => {
                let forecast = self
                    .options
                    .stop_before
                    .map(|_| forecast_once_loaded(tick, session));
                self.decide(&memory, forecast)
            }
        };
        match decision {
            Decision::NoAction => {}
            Decision::Warn(usage) => {
                let limit = self.usages(&memory).limit;
                let limit = limit.map_or(usage.limit, |limit| limit.limit);
                let text = messages::warning(&usage, limit, session.forecast());
                self.alarm(&text);
                tick.events.push(event_at(tick, "guard_warning"));
                self.run_hook(HookKind::Warn, sampler, tick, session, &text);
            }
            Decision::Stop(reason) => self.begin_stop(reason, tick, sampler, session),
        }
    }

    fn decide(&mut self, memory: &MemoryUsage, forecast: Option<Forecast>) -> Decision {
        self.peak = self.peak.max(memory.tree);
        if self.stop.is_some() {
            return Decision::NoAction;
        }
        self.policy.decide(&PolicyInput {
            now: Instant::now(),
            usages: self.usages(memory),
            forecast,
        })
    }

    fn usages(&self, memory: &MemoryUsage) -> LimitUsages {
        LimitUsages::of(&self.options.stated, memory, self.is_contained)
    }

    fn begin_stop(
        &mut self,
        reason: Reason,
        tick: &mut Tick,
        sampler: &mut Sampler,
        session: &SessionView<'_>,
    ) {
        let text = messages::reason(&reason);
        self.alarm(&format!("stopping the run: {text}"));
        if let Some(bundle) = &mut self.bundle {
            bundle.capture(captured(sampler));
        }
        let memory = sampler.memory_usage().tree;
        let report = StopReport {
            reason,
            step: tick.sample.progress.step,
            memory,
            peak: memory,
            signal: self.options.signal,
            stages: Vec::new(),
            checkpoint: None,
            took: Duration::ZERO,
            left: Vec::new(),
        };
        self.stop = Some(ActiveStop::begin(self.notify, self.options.grace, report));
        tick.events.push(event_at(tick, "guard_stop"));
        self.run_hook(HookKind::Stop, sampler, tick, session, &text);
    }

    /// Processes may start later, or change their user: the user learns of it when it is seen, not at the limit.
    fn warn_of_rights(&mut self, sampler: &Sampler) {
        if !self.has_warned_of_rights
            && let Some(refusal) = self.cannot_signal(sampler)
        {
            self.has_warned_of_rights = true;
            self.notice(&refusal);
        }
    }

    fn cannot_signal(&self, sampler: &Sampler) -> Option<String> {
        let mut infos = sampler.infos();
        let other = infos.find(|info| {
            Some(info.key.pid) != self.excluded && !signalling::may_signal(info.key)
        })?;
        Some(format!(
            "process {} ({}) of this run belongs to another user, so leveloff cannot stop it; guard it as that \
             user, or as root",
            other.key.pid, other.comm
        ))
    }

    fn run_hook(
        &mut self,
        kind: HookKind,
        sampler: &mut Sampler,
        tick: &Tick,
        session: &SessionView<'_>,
        text: &str,
    ) {
        let (name, event, command) = match kind {
            HookKind::Warn => ("--on-warn", "warn", &self.options.on_warn),
            HookKind::Stop => ("--on-stop", "stop", &self.options.on_stop),
        };
        let Some(command) = command else { return };
        let memory = sampler.memory_usage();
        let facts = HookFacts {
            event,
            text,
            memory: memory.tree,
            limit: self.usages(&memory).limit,
            trainer: sampler.infos().find(|info| info.role == Role::Trainer),
            step: tick.sample.progress.step,
            verdict: session.judge.and_then(Judgement::headline),
            recording: session.recording,
        };
        let variables = facts.variables();
        self.hooks.start(name, command, &variables, sampler);
    }

    fn notice(&self, text: &str) {
        (self.notify)(text, Urgency::Normal);
    }

    fn alarm(&self, text: &str) {
        (self.notify)(text, Urgency::Alarm);
    }
}

impl SessionView<'_> {
    fn forecast(&self) -> Forecast {
        self.judge.map_or(Forecast::Open, Judgement::forecast)
    }
}

fn new_policy(options: &GuardOptions, interval: Duration) -> GuardPolicy {
    GuardPolicy::new(PolicyTimes {
        interval,
        dwell: options.dwell,
        stop_before: options.stop_before,
    })
}

fn forecast_once_loaded(tick: &Tick, session: &SessionView<'_>) -> Forecast {
    let is_loading = tick.sample.progress.step.is_none() && tick.sample.t.0 < LOADING.0;
    match is_loading {
        true => Forecast::Open,
        false => session.forecast(),
    }
}

/// The processes whose mappings go into the bundle, trainers first.
fn captured(sampler: &Sampler) -> Vec<ProcessKey> {
    let mut infos: Vec<&ProcessInfo> = sampler
        .infos()
        .filter(|info| matches!(info.role, Role::Trainer | Role::Launcher | Role::Other))
        .collect();
    infos.sort_by_key(|info| (info.role != Role::Trainer, info.index));
    infos
        .iter()
        .take(MOST_PROCESSES)
        .map(|info| info.key)
        .collect()
}
