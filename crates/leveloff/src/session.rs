//! A watched run: the sampler, and what happens with each of its ticks. [`SessionBuilder`] puts it together for `run`,
//! `record`, `watch`, `guard` and `demo`.

mod builder;
mod limits;
mod voice;
mod watch;

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_classifier::run_analysis::RunAccount;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::Pid;
use leveloff_model::progress::{MarkKind, RESTART};
use leveloff_model::recording::{End, EndReason, StatedFacts, Target};
use leveloff_model::sample::{Event, Gap, Subject, Tick};
use leveloff_model::units::{Seconds, Step};
use leveloff_progress::StepRegex;
use leveloff_prometheus::metrics::Metrics;
use leveloff_sampler::clock::{Clock, SystemClock};
use leveloff_sampler::processes::Scope;
use leveloff_sampler::sampler::{Sampler, SamplerError, SamplerOptions};
use leveloff_supervise::guard::{self, Guard, Judgement, SessionView};
use leveloff_supervise::oom::{OomReport, OomWatch};
use leveloff_supervise::restart::StopState;
use leveloff_text::steps;

use crate::blame::Blame;
use crate::exit_code::Exit;
use crate::history::JobMemory;
use crate::live_analysis::LiveAnalysis;
use crate::metrics::MetricsChoice;
use crate::notice::{flush, notice, notice_beside_dashboard};
use crate::recorder::Recorder;
use crate::report_files::bundle_reports;
use crate::status_line::StatusLine;
use crate::summary::{Summary, top_growers};
pub(crate) use builder::SessionBuilder;
pub(crate) use voice::{VoiceMode, VoiceOptions};

use voice::Voice;

/// How a run is watched.
#[derive(Debug, Clone)]
pub(crate) struct WatchOptions {
    /// Time between samples.
    pub interval: Duration,
    /// CPU time that reading shared memory may take, in percent of one core.
    pub pss_budget_percent: f64,
    /// The log file that the steps are read from.
    pub log: Option<PathBuf>,
    /// The user's pattern for the lines that hold the step.
    pub step_regex: Option<StepRegex>,
    pub stated: StatedFacts,
    /// Whether earlier runs of the same job count, and this one is remembered.
    pub uses_history: bool,
    pub metrics: MetricsChoice,
    pub voice: VoiceOptions,
}

pub(crate) struct Session {
    sampler: Sampler,
    recorder: Option<Recorder>,
    /// What the user knows it by.
    recording: Option<PathBuf>,
    /// Where it can be read, named or not.
    source: Option<PathBuf>,
    /// Keeps a recording without a name in existence.
    _scratch: Option<File>,
    summary: Summary,
    stated: StatedFacts,
    analysis: LiveAnalysis,
    guard: Option<Box<Guard>>,
    metrics: Option<Box<Metrics>>,
    oom: OomWatch,
    blame: Option<Blame>,
    /// Where the end of the run is remembered.
    memory: Option<JobMemory>,
    voice: Option<Voice>,
    status: StatusLine,
    next: Instant,
    /// When the guard wants to look, if before the next sample.
    next_glance: Option<Instant>,
    interval: Duration,
    last_t: Seconds,
    last_step: Option<Step>,
    /// What happened by our own doing since the last tick.
    news: Vec<Event>,
    is_stop_reported: bool,
}

impl WatchOptions {
    /// Looks up earlier runs of the same job, unless the user does without; what they say becomes part of what is known.
    pub(crate) fn recall(&mut self, target: &Target, command: &[String]) -> Option<JobMemory> {
        match self.uses_history {
            true => JobMemory::recall(target, command, &mut self.stated),
            false => None,
        }
    }

    /// Sampler options for these processes, with the defaults for a run that leveloff did not start.
    pub(crate) fn sampler(&self, scope: Scope) -> SamplerOptions {
        SamplerOptions {
            scope,
            interval: self.interval,
            pss_budget_percent: self.pss_budget_percent,
            limit: self.stated.limit,
            log: self.log.clone(),
            step_regex: self.step_regex.clone(),
            has_output: false,
            adopter: None,
            own_processes: vec![own_pid()],
        }
    }
}

/// The process that leveloff itself is.
pub(crate) fn own_pid() -> Pid {
    Pid(rustix::process::getpid().as_raw_pid())
}

impl Session {
    /// When the next turn is due.
    pub(crate) fn next_turn_at(&self) -> Instant {
        self.next_glance
            .map_or(self.next, |glance| glance.min(self.next))
    }

    pub(crate) fn sampler(&mut self) -> &mut Sampler {
        &mut self.sampler
    }

    /// Does what is due: a sample, or a guard's glance, of which there is nothing to hand out.
    pub(crate) fn turn(&mut self) -> Result<Option<Tick>, SamplerError> {
        let now = Instant::now();
        if let Some(guard) = self.guard.as_mut().filter(|guard| !guard.is_stopping())
            && now < self.next
        {
            let memory = self.sampler.quick_read();
            if !guard.check_between_samples(&memory) {
                self.next_glance = guard.pace().map(|pace| now + pace);
                return Ok(None);
            }
        }
        self.tick().map(Some)
    }

    /// Takes a tick, sets the time of the next, and returns the tick to the caller, who may show it.
    /// A tick that is missed is not made up for.
    pub(crate) fn tick(&mut self) -> Result<Tick, SamplerError> {
        let tick = self.sampler.tick();
        let now = Instant::now();
        // A guard may want one before its time, which does not move the others.
        if now >= self.next {
            self.next += self.interval;
        }
        if self.next < now {
            self.next = now + self.interval;
        }
        let mut tick = tick?;
        tick.events.append(&mut self.news);
        self.report_missing_steps(&mut tick);
        report_new_clock(&tick);
        if let Some(blame) = &mut self.blame {
            blame.report(&tick.sample.progress.holders);
            tick.events
                .extend(blame.events(tick.sample.t, self.sampler.is_over()));
        }
        if let Some(guard) = &mut self.guard {
            let seen = SessionView {
                judge: Some(&self.analysis as &dyn Judgement),
                recording: self.recording.as_deref(),
            };
            guard.take(&mut tick, &mut self.sampler, &seen);
            self.next_glance = guard.pace().map(|pace| now + pace);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&tick);
        }
        self.summary.take(&tick);
        self.analysis.take(&tick);
        self.publish(&tick);
        self.oom.observe(&tick);
        self.last_t = tick.sample.t;
        self.last_step = tick.sample.progress.step;
        self.speak(&tick);
        self.status.show(|| sampling_words(&tick));
        Ok(tick)
    }

    /// Says once that no steps are read, and what to do; the recording has it as a gap.
    fn report_missing_steps(&self, tick: &mut Tick) {
        let is_run = !self.analysis.is_of_machine();
        if let Some(missing) = self.sampler.missing_steps().filter(|_| is_run) {
            let text = steps::missing(missing);
            notice(&text);
            tick.events.push(Event::Gap(Gap {
                subject: Subject::Progress,
                process: None,
                text,
            }));
        }
    }

    /// Says what changed. What goes wrong there ends the voice, and neither the recording nor the run.
    fn speak(&mut self, tick: &Tick) {
        let Some(voice) = &mut self.voice else {
            return;
        };
        let (analysis, status) = (&self.analysis, &mut self.status);
        let said = catch_unwind(AssertUnwindSafe(|| {
            voice.follow(tick, analysis, || status.clear());
        }));
        if said.is_err() {
            self.voice = None;
        }
    }

    /// What goes wrong there ends the metrics, and neither the recording nor the run.
    fn publish(&mut self, tick: &Tick) {
        let Some(metrics) = &mut self.metrics else {
            return;
        };
        let run = self.analysis.run();
        if catch_unwind(AssertUnwindSafe(|| metrics.take(tick, run))).is_err() {
            notice("no metrics any more; leveloff has a bug, please report the lines above");
            self.metrics = None;
        }
    }

    /// Has the run guarded from now on, if it can be: the first sample must have been taken.
    pub(crate) fn guard_by(&mut self, mut guard: Guard) -> Result<()> {
        guard.attach(&self.sampler)?;
        self.next_glance = guard.pace().map(|pace| Instant::now() + pace);
        self.guard = Some(Box::new(guard));
        Ok(())
    }

    /// Whether the guard has ended the run.
    pub(crate) fn was_stopped_by_guard(&self) -> bool {
        self.guard
            .as_ref()
            .is_some_and(|guard| guard.stopped().is_some())
    }

    /// `leveloff try` needs no more of the run.
    pub(crate) fn end_trial(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.end_trial();
        }
    }

    /// The user does not want to wait for the guard's next stage.
    pub(crate) fn hurry_stop(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.skip_stage();
        }
    }

    /// The exit code when the run ended, or when the user leaves it.
    pub(crate) fn exit(&self) -> Exit {
        match self.was_stopped_by_guard() {
            true => Exit::StoppedByGuard,
            false => Exit::Success,
        }
    }

    /// Where the recording can be read as long as the session exists, named or not.
    pub(crate) fn source(&self) -> Option<&Path> {
        self.source.as_deref()
    }

    pub(crate) fn step(&self) -> Option<Step> {
        self.last_step
    }

    /// What the guard has to say of a command that ended.
    pub(crate) fn stop_state(&self) -> StopState {
        match &self.guard {
            Some(guard) if guard.is_stopping() => StopState::Stopping,
            Some(guard) if guard.stopped().is_some() => StopState::Stopped(self.last_step),
            _ => StopState::NotStopped,
        }
    }

    /// Says what the guard did, before the run goes on.
    pub(crate) fn report_stop(&mut self) {
        for line in self.stop_lines() {
            notice(&line);
        }
        if let Some(verdict) = self.analysis.line() {
            notice(&verdict);
        }
        self.is_stop_reported = true;
    }

    /// The run is started again: guard and judge start over, the recording continues.
    pub(crate) fn restart(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.restart();
        }
        self.is_stop_reported = false;
        if let Some(voice) = &mut self.voice {
            voice.restart();
        }
        // The steps of the one before are not this one's.
        let step = self.last_step.take();
        self.news.push(guard::event(self.last_t, step, RESTART));
    }

    fn stop_lines(&self) -> Vec<String> {
        let stopped = self.guard.as_deref().and_then(Guard::stopped);
        stopped
            .filter(|_| !self.is_stop_reported)
            .map_or_else(Vec::new, guard::stop_summary)
    }

    /// Why the horizon that the user stated does not apply, if it does not.
    fn unapplied_horizon(&self) -> Option<String> {
        steps::unapplied_horizon(&self.analysis.verdict()?, &self.stated)
    }

    /// Whether the guard is ending the run, and not all of it has ended.
    pub(crate) fn is_stopping(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.is_stopping())
    }

    /// The verdict so far; `None` when nothing was seen, or when no verdict was requested.
    pub(crate) fn verdict(&self) -> Option<RunVerdict> {
        self.analysis.verdict()
    }

    /// What the kernel's OOM killer did to the run, if there is a sign of it. What our guard killed is none.
    pub(crate) fn oom_report(&mut self, reason: EndReason) -> Option<OomReport> {
        match self.guard.as_ref().is_some_and(|guard| guard.has_killed()) {
            true => None,
            false => self.oom.report(reason),
        }
    }

    /// Whether no process is left to watch. While the guard stops a run, that is when all of its processes have ended.
    pub(crate) fn is_over(&self) -> bool {
        match &self.guard {
            Some(guard) if guard.is_stopping() => false,
            Some(guard) if guard.stopped().is_some() => true,
            _ => self.sampler.is_over(),
        }
    }

    /// Ends the recording and the metrics; readers that follow them see that at once.
    pub(crate) fn end_recording(&mut self, reason: EndReason) {
        self.status.clear();
        // Series end with the run: later values would be taken for its state.
        self.metrics = None;
        if let Some(recorder) = self.recorder.take() {
            recorder.finish(&End {
                t: self.last_t,
                reason,
            });
        }
    }

    /// Ends the recording; returns what is known of the run.
    pub(crate) fn end(mut self, reason: EndReason) -> (Summary, Option<RunAccount>) {
        self.end_recording(reason);
        if reason.is_end_of_run() {
            self.analysis.end();
        }
        let account = self.analysis.account();
        let memory = self.memory.filter(|_| reason.is_end_of_run());
        let verdict = account.as_ref().and_then(|it| it.verdict.as_ref());
        if let (Some(memory), Some(verdict)) = (memory, verdict) {
            memory.remember(verdict, SystemClock.now().unix.floor());
        }
        (self.summary, account)
    }

    /// Ends the recording, and says where it is and nothing else.
    pub(crate) fn finish_quietly(mut self, reason: EndReason) {
        let recording = self.recording.clone();
        let killed = self.oom_report(reason);
        self.end(reason);
        killed.iter().for_each(|killed| notice(&killed.message()));
        if let Some(recording) = recording {
            notice(&where_recorded(&recording));
        }
    }

    /// Ends the recording and tells what was seen, on stderr: the verdict first, unless the kernel
    /// ended the run.
    pub(crate) fn finish(mut self, reason: EndReason, ended: &str, growers: usize) {
        let recording = self.recording.clone();
        let killed = self.oom_report(reason);
        let is_over = reason.is_end_of_run();
        if is_over {
            self.analysis.end();
        }
        let verdict = self.analysis.last_line(is_over);
        let history = self.analysis.history_line();
        let horizon = self.unapplied_horizon();
        let allocated = self.analysis.allocation_lines();
        let guarded = self.stop_lines();
        let mut guard = self.guard.take();
        let source = self.source.clone();
        let (summary, account) = self.end(reason);
        let was_stopped = guard.as_deref().is_some_and(Guard::has_stopped_once);
        let is_post_mortem = killed.is_some() || was_stopped;
        let first = guarded
            .into_iter()
            .chain(killed.map(|killed| killed.message()));
        let lines = first
            .chain(verdict)
            .chain(history)
            .chain(horizon)
            .chain(allocated)
            .chain(summary.lines(ended, account.as_ref()));
        let left = guard.as_mut().filter(|_| !is_over && !was_stopped);
        let lines: Vec<String> = lines.chain(left.map(|guard| guard.leave())).collect();
        for line in &lines {
            notice(line);
        }
        for line in account
            .iter()
            .flat_map(|account| top_growers(account, growers))
        {
            notice(&line);
        }
        if let Some(recording) = recording {
            let has_verdict = account.map(|account| account.verdict.is_some());
            notice(&match has_verdict {
                Some(true) => where_recorded(&recording),
                Some(false) => format!(
                    "recording {0} · leveloff replay {0} shows it",
                    recording.display()
                ),
                None => format!(
                    "recording {} holds no sample; for so short a run pass --interval 50ms",
                    recording.display()
                ),
            });
        }
        if let Some(mut guard) = guard {
            if is_post_mortem {
                guard.complete_bundle(&lines, source.as_deref(), bundle_reports);
            }
            guard.wait_for_hooks();
        }
        flush();
    }
}

/// Where a recording is, and what it is good for.
pub(crate) fn where_recorded(recording: &Path) -> String {
    let path = recording.display();
    format!("recording {path} · leveloff judge {path} tells more")
}

/// Says that the steps come from another counter now.
fn report_new_clock(tick: &Tick) {
    let counter = tick.events.iter().find_map(|event| match event {
        Event::Mark(mark) => match &mark.kind {
            MarkKind::Clock(counter) => Some(counter),
            _ => None,
        },
        _ => None,
    });
    if let Some(counter) = counter {
        notice_beside_dashboard(&steps::new_clock(counter));
    }
}

/// What the status line says of the newest sample.
fn sampling_words(tick: &Tick) -> String {
    let tree = tick.sample.tree();
    let step = steps::position(&tick.sample.progress)
        .map_or_else(String::new, |step| format!(" · {step}"));
    format!(
        "leveloff: {}{step} · memory {} (RSS {}) · {} processes",
        tick.sample.t, tree.total, tree.rss, tree.processes
    )
}
