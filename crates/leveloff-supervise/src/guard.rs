//! The guard: stops a run gracefully before the machine kills it.
//!
//! [`options`] is what was asked for. At every look, [`gauge`] says how full everything is; `watchman` decides by that
//! and by the `trend` of the last second, and says when to look again. A `stop` goes from a kind request to
//! SIGKILL, stage by stage, to the `crew` that is there, and `stopping` does it; `hooks` tell others,
//! [`bundle`] keeps what is known afterwards, `words` says it. `docs/GUARD.md` has the reasons.

pub mod bundle;
mod crew;
pub mod gauge;
mod hook;
mod hooks;
pub mod options;
mod stop;
mod stopping;
mod trend;
mod watchman;
mod words;

pub use hook::hook_entry;
pub use options::GuardOptions;
pub use stopping::{Checkpoint, Stopped, event};
pub use watchman::Forecast;
pub use words::stopped as told;

use words::facts;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_model::process::{Pid, ProcessInfo, ProcessKey, Role};
use leveloff_model::sample::Tick;
use leveloff_model::units::{Bytes, Seconds};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::sampler::{MemoryUsage, Sampler};
use leveloff_sampler::signalling;
use leveloff_sampler::system::container::is_contained;

use crate::notify::{Notify, Urgency};
use bundle::{Bundle, BundleFile, MOST_PROCESSES};
use gauge::Gauges;
use hook::Facts;
use hooks::Hooks;
use stop::Stage;
use stopping::{Decided, Stopping};
use watchman::{Decision, Look, Patience, Watchman, Why};

/// The exit code after a stop: what `sysexits.h` calls a temporary failure, which schedulers retry.
pub const STOPPED: u8 = 75;

/// Guards one run.
#[derive(Debug)]
pub struct Guard {
    options: GuardOptions,
    interval: Duration,
    notify: Notify,
    watchman: Watchman,
    is_contained: bool,
    bundle: Option<Bundle>,
    hooks: Hooks,
    /// Not told to end: what has to start the run again.
    spared: Option<Pid>,
    peak: Bytes,
    /// How often the run was started again.
    restarts: u32,
    /// What was decided at a glance, and is done with the sample that follows at once.
    decided: Option<Decision>,
    stopping: Option<Stopping>,
    /// Whether it was said what cannot be done.
    has_warned_of_rights: bool,
}

/// The verdict on the run so far. The guard calls it only when it needs an answer, because a verdict takes milliseconds.
pub trait Judgement {
    /// When the run's memory meets its ceiling, at the judged rate of growth.
    fn forecast(&self) -> Forecast;

    /// The verdict in one line; `None` before the first observation.
    fn headline(&self) -> Option<String>;
}

/// What a guard sees of the session that it is part of.
pub struct Seen<'a> {
    /// The verdict, if the run is judged.
    pub judge: Option<&'a dyn Judgement>,
    /// Where the run is recorded to, if anywhere that the user knows.
    pub recording: Option<&'a Path>,
}

/// The flags of the user's commands, by which they are called.
const ON_WARN: &str = "--on-warn";
const ON_STOP: &str = "--on-stop";

/// How long a signal waits for the mappings to be written down: a second for 30 GB of small pages.
const CAPTURE_PATIENCE: Duration = Duration::from_secs(2);

/// The longest time between two looks while a run is being stopped.
const STOPPING_PACE: Duration = Duration::from_millis(100);

/// Before the first step, or this long where no steps are known, memory is loaded and not leaked: no
/// forecast is made from it.
const LOADING: Seconds = Seconds(60.0);

impl Guard {
    /// A guard for a run that is looked at this often. Makes the bundle's directory.
    pub fn new(options: GuardOptions, interval: Duration, notify: Notify) -> Result<Guard> {
        let bundle = options.bundle.as_deref().map(Bundle::prepare).transpose()?;
        Ok(Guard {
            watchman: Watchman::new(Patience {
                interval,
                dwell: options.dwell,
                stop_before: options.stop_before,
            }),
            options,
            interval,
            notify,
            is_contained: false,
            bundle,
            hooks: Hooks::new(notify),
            spared: None,
            peak: Bytes::ZERO,
            restarts: 0,
            decided: None,
            stopping: None,
            has_warned_of_rights: false,
        })
    }

    /// Never ends this process: it has to start the run again.
    pub fn sparing(mut self, pid: Option<Pid>) -> Guard {
        self.spared = pid;
        self
    }

    /// The run is started again: what was before is over.
    pub fn begin_anew(&mut self) {
        self.watchman = Watchman::new(self.patience());
        (self.decided, self.stopping) = (None, None);
        self.restarts += 1;
    }

    fn patience(&self) -> Patience {
        Patience {
            interval: self.interval,
            dwell: self.options.dwell,
            stop_before: self.options.stop_before,
        }
    }

    /// Looks at the run that is to be guarded, as of its first sample: can the limit be kept, may it be
    /// stopped? Says what is guarded.
    pub fn take_post(&mut self, sampler: &Sampler) -> Result<()> {
        let head = sampler.infos().next().map(|info| info.key.pid);
        let head = head.unwrap_or(Pid(rustix::process::getpid().as_raw_pid()));
        self.is_contained = is_contained(&ProcRoot::live(), head);
        let standing = sampler.memory_usage();
        self.options.check(&standing, self.is_contained)?;
        if let Some(refused) = self.refused(sampler) {
            anyhow::bail!("{refused}");
        }
        self.notice(&self.options.words(&standing, self.is_contained));
        Ok(())
    }

    /// How long until the next look; `None` when the usual interval will do.
    pub fn pace(&self) -> Option<Duration> {
        let pace = match &self.stopping {
            Some(stopping) if !stopping.is_over() => STOPPING_PACE,
            Some(_) => return None,
            None => self.watchman.pace(),
        };
        (pace < self.interval).then_some(pace)
    }

    /// Whether a stop is under way and needs the whole tree at each look.
    pub fn is_stopping(&self) -> bool {
        self.stopping.as_ref().is_some_and(|it| !it.is_over())
    }

    /// What was done, once it is over. A run that ended before anything was done was not stopped by us.
    pub fn stopped(&self) -> Option<&Stopped> {
        let stopping = self.stopping.as_ref().filter(|it| it.is_over())?;
        Some(stopping.report()).filter(|report| !report.did.is_empty())
    }

    /// Whether it has stopped the run, or did so before it was started again.
    pub fn has_stopped_once(&self) -> bool {
        self.restarts > 0 || self.stopped().is_some()
    }

    /// The user does not want to wait for the next stage.
    pub fn hurry(&mut self) {
        if let Some(stopping) = &mut self.stopping {
            stopping.hurry();
        }
    }

    /// Waits for the user's commands that still run.
    pub fn wait_for_hooks(&mut self) {
        self.hooks.wait();
    }

    /// Whether it came to SIGKILL.
    pub fn has_killed(&self) -> bool {
        let mut did = self.stopping.iter().flat_map(|it| &it.report().did);
        did.any(|(stage, _)| *stage == Stage::Kill)
    }

    /// A look between two samples. Whether something has to be done now.
    pub fn glance(&mut self, standing: &MemoryUsage) -> bool {
        let decision = self.decide(standing, None);
        self.decided = Some(decision).filter(|decision| *decision != Decision::Calm);
        self.hooks.poll();
        self.decided.is_some()
    }

    /// A sample: decides, and does what is due. What it does is told as events of the run.
    pub fn take(&mut self, tick: &mut Tick, sampler: &mut Sampler, seen: &Seen<'_>) {
        self.hooks.poll();
        let standing = sampler.memory_usage();
        if self.stopping.is_none() {
            self.watch(tick, sampler, &standing, seen);
        }
        let is_capturing = self.bundle.as_ref().is_some_and(Bundle::is_capturing);
        let Some(stopping) = &mut self.stopping else {
            return;
        };
        stopping.has_held(self.peak);
        stopping.hear(tick);
        // Who dies of a signal has no mappings any more. Who is asked to stop has time enough.
        let is_asked = sampler
            .stop_request()
            .is_some_and(|request| request.is_obeyed());
        let waits = is_capturing && !is_asked && stopping.age() < CAPTURE_PATIENCE;
        if !stopping.is_over() && !waits {
            stopping.go_on(tick, sampler, self.spared);
        }
    }

    /// The run is left before its end: takes back what was asked of it. What is to be said then.
    pub fn leave(&mut self) -> String {
        let half_done = match &mut self.stopping {
            Some(stopping) if !stopping.is_over() => {
                stopping.abandon();
                "its stop was begun and is not carried through; "
            }
            _ => "",
        };
        format!(
            "{half_done}the run is no longer guarded; `leveloff guard --pid PID --limit SIZE` takes over"
        )
    }

    /// Collects what is known, if that was asked for, and says where.
    pub fn collect(
        &mut self,
        message: &[String],
        recording: Option<&Path>,
        reports: impl FnOnce(&Path) -> Vec<BundleFile>,
    ) {
        let stopped = self.stopped().cloned();
        let Some(bundle) = self.bundle.take() else {
            return;
        };
        let directory = bundle.directory().display().to_string();
        let trouble = bundle.complete(bundle::Contents {
            message,
            facts: stopped.as_ref().map_or(serde_json::Value::Null, facts),
            recording,
            reports: recording.map_or_else(Vec::new, reports),
            kernel: crate::oom::kernel_log_lines().map_err(|error| error.to_string()),
        });
        self.notice(&format!("what is known is collected in {directory}"));
        for what in trouble {
            self.notice(&format!("could not be collected: {what}"));
        }
    }

    fn watch(
        &mut self,
        tick: &mut Tick,
        sampler: &mut Sampler,
        standing: &MemoryUsage,
        seen: &Seen<'_>,
    ) {
        self.say_what_cannot_be_done(sampler);
        let forecast = self.options.stop_before.map(|_| forecast(tick, seen));
        let decided = self.decided.take();
        let decision = decided.unwrap_or_else(|| self.decide(standing, forecast));
        match decision {
            Decision::Calm => {}
            Decision::Warn(gauge) => {
                let limit = Gauges::of(&self.options.stated, standing, self.is_contained).limit;
                let limit = limit.map_or(gauge.limit, |it| it.limit);
                let text = words::warning(&gauge, limit, seen.forecast());
                self.alarm(&text);
                tick.events.push(event(
                    tick.sample.t,
                    tick.sample.progress.step,
                    "guard_warning",
                ));
                self.run_hook(ON_WARN, sampler, tick, seen, &text);
            }
            Decision::Stop(why) => self.begin(why, tick, sampler, seen),
        }
    }

    fn decide(&mut self, standing: &MemoryUsage, forecast: Option<Forecast>) -> Decision {
        self.peak = self.peak.max(standing.tree);
        if self.stopping.is_some() {
            return Decision::Calm;
        }
        self.watchman.decide(&Look {
            now: Instant::now(),
            gauges: Gauges::of(&self.options.stated, standing, self.is_contained),
            forecast,
        })
    }

    fn begin(&mut self, why: Why, tick: &mut Tick, sampler: &mut Sampler, seen: &Seen<'_>) {
        let text = words::why(&why);
        self.alarm(&format!("stopping the run: {text}"));
        if let Some(bundle) = &mut self.bundle {
            bundle.capture(described(sampler));
        }
        let decided = Decided {
            why,
            step: tick.sample.progress.step,
            memory: sampler.memory_usage().tree,
        };
        self.stopping = Some(Stopping::begin(
            self.notify,
            decided,
            self.options.grace,
            self.options.signal,
        ));
        tick.events.push(event(
            tick.sample.t,
            tick.sample.progress.step,
            "guard_stop",
        ));
        self.run_hook(ON_STOP, sampler, tick, seen, &text);
    }

    /// A run whose processes came later, or changed their user: said when it is seen, not at the limit.
    fn say_what_cannot_be_done(&mut self, sampler: &Sampler) {
        if !self.has_warned_of_rights
            && let Some(refused) = self.refused(sampler)
        {
            self.has_warned_of_rights = true;
            self.notice(&refused);
        }
    }

    fn notice(&self, text: &str) {
        (self.notify)(text, Urgency::Normal);
    }

    fn alarm(&self, text: &str) {
        (self.notify)(text, Urgency::Alarm);
    }

    fn refused(&self, sampler: &Sampler) -> Option<String> {
        let ends = |info: &&ProcessInfo| Some(info.key.pid) != self.spared;
        let strange = sampler
            .infos()
            .filter(ends)
            .find(|info| !signalling::may_signal(info.key))?;
        Some(format!(
            "process {} ({}) of this run is another user's and cannot be stopped by us; guard it as that user, \
             or as root",
            strange.key.pid, strange.comm
        ))
    }

    fn run_hook(
        &mut self,
        name: &'static str,
        sampler: &mut Sampler,
        tick: &Tick,
        seen: &Seen<'_>,
        text: &str,
    ) {
        let facts = self.hook_facts(name, sampler, tick, seen, text);
        let command = match name {
            ON_STOP => self.options.on_stop.as_deref(),
            _ => self.options.on_warn.as_deref(),
        };
        self.hooks.run(name, command, &facts, sampler);
    }

    fn hook_facts(
        &self,
        name: &str,
        sampler: &Sampler,
        tick: &Tick,
        seen: &Seen<'_>,
        text: &str,
    ) -> Facts {
        let standing = sampler.memory_usage();
        let gauges = Gauges::of(&self.options.stated, &standing, self.is_contained);
        let trainer = sampler.infos().find(|info| info.role == Role::Trainer);
        let event = if name == ON_STOP { "stop" } else { "warn" };
        let mut facts = vec![
            ("LEVELOFF_HOOK_EVENT", event.to_owned()),
            ("LEVELOFF_HOOK_TEXT", text.to_owned()),
            ("LEVELOFF_HOOK_MEMORY_BYTES", standing.tree.0.to_string()),
        ];
        let mut tell = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
        tell(
            "LEVELOFF_HOOK_USED_BYTES",
            gauges.limit.map(|it| it.used.0.to_string()),
        );
        tell(
            "LEVELOFF_HOOK_LIMIT_BYTES",
            gauges.limit.map(|it| it.limit.0.to_string()),
        );
        tell(
            "LEVELOFF_HOOK_PID",
            trainer.map(|info| info.key.pid.to_string()),
        );
        tell(
            "LEVELOFF_HOOK_STEP",
            tick.sample.progress.step.map(|step| step.to_string()),
        );
        tell(
            "LEVELOFF_HOOK_VERDICT",
            seen.judge.and_then(Judgement::headline),
        );
        tell(
            "LEVELOFF_HOOK_RECORDING",
            seen.recording.map(|path| path.display().to_string()),
        );
        facts
    }
}

impl Seen<'_> {
    fn forecast(&self) -> Forecast {
        self.judge.map_or(Forecast::Open, Judgement::forecast)
    }
}

/// The forecast, once the training has loaded its model and data.
fn forecast(tick: &Tick, seen: &Seen<'_>) -> Forecast {
    let is_loading = tick.sample.progress.step.is_none() && tick.sample.t.0 < LOADING.0;
    match is_loading {
        true => Forecast::Open,
        false => seen.forecast(),
    }
}

/// Those whose mappings explain the run.
fn described(sampler: &Sampler) -> Vec<ProcessKey> {
    let mut chosen: Vec<&ProcessInfo> = sampler
        .infos()
        .filter(|info| matches!(info.role, Role::Trainer | Role::Launcher | Role::Other))
        .collect();
    chosen.sort_by_key(|info| (info.role != Role::Trainer, info.index));
    chosen
        .iter()
        .take(MOST_PROCESSES)
        .map(|info| info.key)
        .collect()
}
