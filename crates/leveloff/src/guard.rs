//! The guard: stops a run gracefully before the machine kills it.
//!
//! [`terms`] is what was asked for. At every look, [`gauge`] says how full everything is, [`watchman`] decides
//! by that and by the [`trend`] of the last seconds, and says when to look again. A [`stop`] goes from a kind
//! request to SIGKILL, stage by stage, to the [`crew`] that is there; [`hook`] tells others, [`bundle`] keeps
//! what is known afterwards, [`words`] says it. `docs/GUARD.md` has the reasons.

mod alone;
pub mod bundle;
mod crew;
pub mod gauge;
mod hook;
mod stop;
pub mod terms;
mod trend;
mod watchman;
mod words;

pub use alone::run;
pub use terms::Terms;
pub use words::stopped as told;

use words::facts;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::{Pid, ProcessInfo, ProcessKey, Role};
use leveloff_model::progress::{Mark, MarkKind};
use leveloff_model::sample::{Event, Tick};
use leveloff_model::units::{Bytes, Seconds, Step};
use leveloff_report::judge_text;
use leveloff_sampler::container::is_contained;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::progress::SentRequest;
use leveloff_sampler::sampler::{Sampler, Standing};
use leveloff_sampler::signalling::{self, Sent, StopSignal};

use crate::judge::live::LiveJudge;
use crate::notice::{alarm, notice};
use bundle::{Bundle, MOST_PROCESSES};
use crew::{Crew, on_this_machine};
use gauge::Gauges;
use hook::{Facts, Hook, HookEnd};
use stop::{Answer, Order, Scene, Stage, Stop};
use watchman::{Decision, Forecast, Look, Patience, Watchman, Why};

/// The exit code after a stop: what `sysexits.h` calls a temporary failure, which schedulers retry.
pub const STOPPED: u8 = 75;

/// Guards one run.
#[derive(Debug)]
pub struct Guard {
    terms: Terms,
    interval: Duration,
    watchman: Watchman,
    is_contained: bool,
    bundle: Option<Bundle>,
    hooks: Vec<Hook>,
    /// Not told to end: what has to start the run again.
    spared: Option<Pid>,
    peak: Bytes,
    /// What was decided at a glance, and is done with the sample that follows at once.
    decided: Option<Decision>,
    stopping: Option<Stopping>,
    /// Whether it was said what cannot be done.
    has_warned_of_rights: bool,
}

/// What a guard did.
#[derive(Debug, Clone, PartialEq)]
pub struct Stopped {
    /// Why.
    pub why: Why,
    /// At which step it was decided.
    pub step: Option<Step>,
    /// What the run held then.
    pub memory: Bytes,
    /// The most that it held.
    pub peak: Bytes,
    /// The signal that trainings know.
    pub signal: StopSignal,
    /// The stages, and when each began after the decision.
    pub did: Vec<(Stage, Duration)>,
    /// The last checkpoint that was saved since.
    pub checkpoint: Option<Checkpoint>,
    /// How long it took until all of it had ended.
    pub took: Duration,
    /// Who did not end.
    pub left: Vec<Pid>,
}

/// A checkpoint that a training told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Of which step.
    pub step: Option<Step>,
    /// Where, if it said.
    pub path: Option<String>,
}

/// A stop that is under way.
#[derive(Debug)]
struct Stopping {
    stop: Stop,
    begun: Instant,
    request: Option<SentRequest>,
    answer: Option<Answer>,
    report: Stopped,
}

/// What a guard sees of the session that it is part of.
#[derive(Debug)]
pub struct Seen<'a> {
    /// Who judges it.
    pub judge: Option<&'a LiveJudge>,
    /// Where the run is recorded to, if anywhere that the user knows.
    pub recording: Option<&'a Path>,
}

/// The longest time between two looks while a run is being stopped.
const STOPPING_PACE: Duration = Duration::from_millis(100);

/// How long a signal waits for the mappings to be written down: a second for 30 GB of small pages.
const CAPTURE_PATIENCE: Duration = Duration::from_secs(2);

/// Before the first step, or this long where no steps are known, memory is loaded and not leaked: no
/// forecast is made from it.
const LOADING: Seconds = Seconds(60.0);

impl Guard {
    /// A guard for a run that is looked at this often. Makes the bundle's directory.
    pub fn new(terms: Terms, interval: Duration) -> Result<Guard> {
        let bundle = terms.bundle.as_deref().map(Bundle::prepare).transpose()?;
        Ok(Guard {
            watchman: Watchman::new(Patience {
                interval,
                dwell: terms.dwell,
                stop_before: terms.stop_before,
            }),
            terms,
            interval,
            is_contained: false,
            bundle,
            hooks: Vec::new(),
            spared: None,
            peak: Bytes::ZERO,
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
    }

    fn patience(&self) -> Patience {
        Patience {
            interval: self.interval,
            dwell: self.terms.dwell,
            stop_before: self.terms.stop_before,
        }
    }

    /// Looks at the run that is to be guarded, as of its first sample: can the limit be kept, may it be
    /// stopped? Says what is guarded.
    pub fn take_post(&mut self, sampler: &Sampler) -> Result<()> {
        let head = sampler.infos().next().map(|info| info.key.pid);
        let head = head.unwrap_or(Pid(rustix::process::getpid().as_raw_pid()));
        self.is_contained = is_contained(&ProcRoot::live(), head);
        let standing = sampler.standing();
        self.terms.check(&standing, self.is_contained)?;
        if let Some(refused) = self.refused(sampler) {
            anyhow::bail!("{refused}");
        }
        notice(&self.terms.words(&standing, self.is_contained));
        Ok(())
    }

    /// How long until the next look; `None` when the usual interval will do.
    pub fn pace(&self) -> Option<Duration> {
        let pace = match &self.stopping {
            Some(stopping) if stopping.stop.stage() != Stage::Over => STOPPING_PACE,
            Some(_) => return None,
            None => self.watchman.pace(),
        };
        (pace < self.interval).then_some(pace)
    }

    /// Whether a stop is under way and needs the whole tree at each look.
    pub fn is_stopping(&self) -> bool {
        self.stopping
            .as_ref()
            .is_some_and(|it| it.stop.stage() != Stage::Over)
    }

    /// What was done, once it is over.
    pub fn stopped(&self) -> Option<&Stopped> {
        let stopping = self.stopping.as_ref()?;
        (stopping.stop.stage() == Stage::Over).then_some(&stopping.report)
    }

    /// Whether it has begun to end the run.
    pub fn has_acted(&self) -> bool {
        self.stopping.is_some()
    }

    /// Whether it came to SIGKILL.
    pub fn has_killed(&self) -> bool {
        let did = self
            .stopping
            .iter()
            .flat_map(|stopping| &stopping.report.did);
        did.into_iter().any(|(stage, _)| *stage == Stage::Kill)
    }

    /// A look between two samples. Whether something has to be done now.
    pub fn glance(&mut self, standing: &Standing) -> bool {
        let decision = self.decide(standing, None);
        self.decided = Some(decision).filter(|decision| *decision != Decision::Calm);
        self.poll_hooks();
        self.decided.is_some()
    }

    /// A sample: decides, and does what is due. What it does is told as events of the run.
    pub fn take(&mut self, tick: &mut Tick, sampler: &mut Sampler, seen: &Seen<'_>) {
        self.poll_hooks();
        let standing = sampler.standing();
        if self.stopping.is_none() {
            self.watch(tick, sampler, &standing, seen);
        }
        self.hear(tick);
        if self.is_stopping() {
            self.go_on(tick, sampler);
        }
        if let Some(stopping) = &mut self.stopping {
            stopping.report.peak = self.peak;
        }
    }

    /// What is to be said when the run is left before its end.
    pub fn parting_words(&self) -> String {
        "the run is no longer guarded; `leveloff guard --pid PID --limit SIZE` takes over"
            .to_owned()
    }

    /// Collects what is known, if that was asked for, and says where.
    pub fn collect(&mut self, message: &[String], recording: Option<&Path>) {
        let stopped = self.stopped().cloned();
        let Some(bundle) = self.bundle.take() else {
            return;
        };
        let directory = bundle.directory().display().to_string();
        let trouble = bundle.complete(&bundle::Contents {
            message,
            facts: stopped.as_ref().map_or(serde_json::Value::Null, facts),
            recording,
            kernel: crate::oom::kernel_log_lines().map_err(|error| error.to_string()),
        });
        notice(&format!("what is known is collected in {directory}"));
        for what in trouble {
            notice(&format!("could not be collected: {what}"));
        }
    }

    /// The run ended by itself: a directory that was made for nothing goes.
    pub fn leave_no_bundle(&mut self) {
        if let Some(bundle) = self.bundle.take() {
            // If it is not empty, it is not ours to remove.
            let _ = std::fs::remove_dir(bundle.directory());
        }
    }

    fn watch(
        &mut self,
        tick: &mut Tick,
        sampler: &mut Sampler,
        standing: &Standing,
        seen: &Seen<'_>,
    ) {
        self.say_what_cannot_be_done(sampler);
        let forecast = self
            .terms
            .stop_before
            .map(|_| forecast(tick, seen.verdict().as_ref()));
        let decided = self.decided.take();
        let decision = decided.unwrap_or_else(|| self.decide(standing, forecast));
        match decision {
            Decision::Calm => {}
            Decision::Warn(gauge) => {
                let limit = Gauges::of(&self.terms.stated, standing, self.is_contained).limit;
                let left = seen.verdict().and_then(|verdict| verdict.risk?.in_time);
                let text = words::warning(&gauge, limit.map_or(gauge.limit, |it| it.limit), left);
                alarm(&text);
                tick.events.push(event(
                    tick.sample.t,
                    tick.sample.progress.step,
                    "guard_warning",
                ));
                self.run_hook(
                    "--on-warn",
                    self.terms.on_warn.clone(),
                    sampler,
                    tick,
                    seen,
                    &text,
                );
            }
            Decision::Stop(why) => self.begin(why, tick, sampler, seen),
        }
    }

    fn decide(&mut self, standing: &Standing, forecast: Option<Forecast>) -> Decision {
        self.peak = self.peak.max(standing.tree);
        if self.stopping.is_some() {
            return Decision::Calm;
        }
        self.watchman.decide(&Look {
            now: Instant::now(),
            gauges: Gauges::of(&self.terms.stated, standing, self.is_contained),
            forecast,
        })
    }

    fn begin(&mut self, why: Why, tick: &mut Tick, sampler: &mut Sampler, seen: &Seen<'_>) {
        let now = Instant::now();
        let text = words::why(&why);
        alarm(&format!("stopping the run: {text}"));
        if let Some(bundle) = &mut self.bundle {
            bundle.capture(described(sampler));
        }
        self.stopping = Some(Stopping {
            stop: Stop::begin(now, self.terms.grace, self.terms.signal),
            begun: now,
            request: None,
            answer: None,
            report: Stopped {
                why,
                step: tick.sample.progress.step,
                memory: sampler.standing().tree,
                peak: self.peak,
                signal: self.terms.signal,
                did: Vec::new(),
                checkpoint: None,
                took: Duration::ZERO,
                left: Vec::new(),
            },
        });
        tick.events.push(event(
            tick.sample.t,
            tick.sample.progress.step,
            "guard_stop",
        ));
        self.run_hook(
            "--on-stop",
            self.terms.on_stop.clone(),
            sampler,
            tick,
            seen,
            &text,
        );
    }

    /// What the training says about it.
    fn hear(&mut self, tick: &Tick) {
        let Some(stopping) = &mut self.stopping else {
            return;
        };
        for event in &tick.events {
            let Event::Mark(Mark {
                kind: MarkKind::Event(name),
                step,
                path,
                ..
            }) = event
            else {
                continue;
            };
            match name.as_str() {
                "stopping" => stopping.answer = Some(Answer::Stopping),
                "not_stopping" => stopping.answer = Some(Answer::NotStopping),
                "checkpoint" => {
                    stopping.report.checkpoint = Some(Checkpoint {
                        step: *step,
                        path: path.clone(),
                    });
                }
                _ => {}
            }
        }
    }

    /// Does what is due of the stop.
    fn go_on(&mut self, tick: &mut Tick, sampler: &mut Sampler) {
        let crew = Crew::of(tick, sampler, self.spared);
        let signal = self.terms.signal;
        let request = sampler.stop_request().filter(|request| request.is_obeyed());
        let is_capturing = self.bundle.as_ref().is_some_and(Bundle::is_capturing);
        let Some(stopping) = &mut self.stopping else {
            return;
        };
        // Who dies of a signal has no mappings any more. Who is asked has time enough.
        if is_capturing && request.is_none() && stopping.begun.elapsed() < CAPTURE_PATIENCE {
            return;
        }
        // A request that cannot be put leads to the next stage, which is done at once.
        for _ in 0..2 {
            let orders = stopping.stop.next(&Scene {
                now: Instant::now(),
                crew: &crew,
                obeys_requests: request.is_some(),
                addressees: crew.addressees(signal, on_this_machine(signal)),
                answer: stopping.answer.take(),
            });
            for order in orders {
                match order {
                    Order::Enter(stage) => {
                        stopping.report.did.push((stage, stopping.begun.elapsed()));
                        say_stage(stage, signal, self.terms.grace);
                        let name = format!("guard_{}", words::name(stage));
                        tick.events
                            .push(event(tick.sample.t, tick.sample.progress.step, &name));
                    }
                    Order::Ask => {
                        let sent = request
                            .as_ref()
                            .map(|it| it.send(&words::why(&stopping.report.why)));
                        match sent {
                            Some(Ok(sent)) => {
                                let grace = words::seconds(self.terms.grace);
                                notice(&format!(
                                    "asked the training to save and stop; it has {grace}"
                                ));
                                stopping.request = Some(sent);
                            }
                            Some(Err(error)) => {
                                notice(&format!("cannot ask the training to stop: {error}"));
                                stopping.stop.cannot_ask(Instant::now());
                            }
                            None => stopping.stop.cannot_ask(Instant::now()),
                        }
                    }
                    Order::Send(key, signal) => send(key, signal),
                }
            }
            if stopping.stop.stage() != Stage::Signal || request.is_none() {
                break;
            }
        }
        if stopping.stop.stage() == Stage::Over {
            stopping.report.took = stopping.begun.elapsed();
            stopping.report.left = crew.members().iter().map(|member| member.key.pid).collect();
            // Nobody is left to obey it, and a later process might have the same number.
            if let Some(request) = stopping.request.take() {
                let _ = request.withdraw();
            }
        }
    }

    /// A run whose processes came later, or changed their user: said when it is seen, not at the limit.
    fn say_what_cannot_be_done(&mut self, sampler: &Sampler) {
        if !self.has_warned_of_rights
            && let Some(refused) = self.refused(sampler)
        {
            self.has_warned_of_rights = true;
            notice(&refused);
        }
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
        command: Option<String>,
        sampler: &mut Sampler,
        tick: &Tick,
        seen: &Seen<'_>,
        text: &str,
    ) {
        let Some(command) = command else { return };
        let facts = self.hook_facts(name, sampler, tick, seen, text);
        match Hook::start(name, &command, &facts) {
            Ok(hook) => {
                sampler.leave_out_group(hook.group());
                self.hooks.push(hook);
            }
            Err(error) => notice(&format!("cannot run the {name} command: {error}")),
        }
    }

    fn hook_facts(
        &self,
        name: &str,
        sampler: &Sampler,
        tick: &Tick,
        seen: &Seen<'_>,
        text: &str,
    ) -> Facts {
        let standing = sampler.standing();
        let gauges = Gauges::of(&self.terms.stated, &standing, self.is_contained);
        let trainer = sampler.infos().find(|info| info.role == Role::Trainer);
        let event = if name == "--on-stop" { "stop" } else { "warn" };
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
            seen.verdict().as_ref().map(judge_text::line),
        );
        tell(
            "LEVELOFF_HOOK_RECORDING",
            seen.recording.map(|path| path.display().to_string()),
        );
        facts
    }

    fn poll_hooks(&mut self) {
        let now = Instant::now();
        self.hooks.retain_mut(|hook| match hook.end(now) {
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

impl Seen<'_> {
    fn verdict(&self) -> Option<RunVerdict> {
        self.judge?.verdict()
    }
}

/// What the judge says of the time that is left, once something is trained.
fn forecast(tick: &Tick, verdict: Option<&RunVerdict>) -> Forecast {
    let is_loading = tick.sample.progress.step.is_none() && tick.sample.t.0 < LOADING.0;
    let risk = verdict
        .and_then(|verdict| verdict.risk)
        .filter(|_| !is_loading);
    match risk.and_then(|risk| Some((risk.in_time?, risk.limit))) {
        Some((left, ceiling)) => Forecast::Met { left, ceiling },
        None => Forecast::Open,
    }
}

/// Something that we did, as an event of the run.
pub fn event(t: Seconds, step: Option<Step>, name: &str) -> Event {
    Event::Mark(Mark {
        t,
        process: None,
        step,
        kind: MarkKind::Event(name.to_owned()),
        path: None,
        facts: Default::default(),
    })
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

fn say_stage(stage: Stage, signal: StopSignal, grace: Duration) {
    let grace = words::seconds(grace);
    let text = match stage {
        Stage::Signal => format!("sending {signal}, on which trainings stop; it has {grace}"),
        Stage::Terminate => {
            format!("sending SIGTERM to every process of the run; they have {grace}")
        }
        Stage::Kill => "sending SIGKILL to every process of the run that is left".to_owned(),
        // Said when it was put.
        Stage::Request | Stage::Over => return,
    };
    notice(&text);
}

fn send(key: ProcessKey, signal: StopSignal) {
    match signalling::send(&ProcRoot::live(), key, signal) {
        Ok(Sent::Delivered | Sent::Gone) => {}
        Err(error) => notice(&format!(
            "cannot send {signal} to process {}: {error}",
            key.pid
        )),
    }
}
