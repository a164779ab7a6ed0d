//! A run under watch: sampler, recording and summary, moved on tick by tick.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::progress::RESTART;
use leveloff_model::recording::{End, EndReason, Header, StatedFacts, Target};
use leveloff_model::sample::{Event, Tick};
use leveloff_model::units::{Seconds, Step};
use leveloff_prometheus::metrics::Metrics;
use leveloff_sampler::clock::{Clock, SystemClock};
use leveloff_sampler::sampler::{Sampler, SamplerError, SamplerOptions};
use leveloff_supervise::guard::{self, Guard, Judgement, Seen};
use leveloff_supervise::oom::{OomReport, OomWatch};
use leveloff_supervise::restart::Ending;

use crate::cli::WatchArgs;
use crate::guard::bundle_reports;
use crate::judge::live::LiveJudge;
use crate::notice::{flush, is_dumb_terminal, is_writable, notice};
use crate::recorder::Recorder;
use crate::summary::Summary;

/// What a session is about.
pub struct Plan<'a> {
    /// What is watched.
    pub target: Target,
    /// The command, for the recording's name.
    pub command: &'a [String],
    /// Where to record, if the user said.
    pub output: Option<PathBuf>,
    /// How to watch.
    pub watch: &'a WatchArgs,
}

/// A run under watch.
pub struct Session {
    sampler: Sampler,
    recorder: Option<Recorder>,
    /// What the user knows it by.
    recording: Option<PathBuf>,
    /// Where it can be read, named or not.
    source: Option<PathBuf>,
    summary: Summary,
    judge: Option<LiveJudge>,
    guard: Option<Box<Guard>>,
    metrics: Option<Box<Metrics>>,
    oom: OomWatch,
    status: StatusLine,
    next: Instant,
    /// When the guard wants to look, if before the next sample.
    next_glance: Option<Instant>,
    interval: Duration,
    last_t: Seconds,
    last_step: Option<Step>,
    /// What happened by our own doing since the last tick.
    news: Vec<Event>,
    has_told_stop: bool,
}

impl Plan<'_> {
    /// Creates the recording. Done before anything is started, so that a place that cannot be
    /// written to costs nobody a run.
    pub fn create_recording(&self) -> Result<Recorder> {
        match &self.output {
            Some(path) => Recorder::create(path, &self.header()),
            None => Recorder::create_named_after(self.command, &self.header()),
        }
    }

    /// Creates one without a name, where that can be done.
    pub fn create_scratch(&self) -> Option<(Recorder, File)> {
        Recorder::scratch(&self.header()).ok()
    }

    fn header(&self) -> Header {
        let name = rustix::system::uname();
        Header {
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix: (SystemClock.now().unix * 1000.0).round() / 1000.0,
            host: Some(name.nodename().to_string_lossy().into_owned()),
            kernel: Some(name.release().to_string_lossy().into_owned()),
            target: self.target.clone(),
            interval: Seconds(self.watch.interval.as_secs_f64()),
            pss_budget_percent: self.watch.pss_budget,
            stated: self.watch.facts.stated(),
        }
    }
}

impl Session {
    /// Starts watching, and recording if there is a recorder; the first tick is due at once.
    pub fn start(
        recorder: impl Into<Option<Recorder>>,
        options: SamplerOptions,
    ) -> Result<Session> {
        raise_descriptor_limit();
        survive_file_size_limit();
        let interval = options.interval;
        let recorder = recorder.into();
        Ok(Session {
            sampler: Sampler::new(options)?,
            recording: recorder
                .as_ref()
                .filter(|recorder: &&Recorder| recorder.is_named())
                .map(|recorder| recorder.path().to_owned()),
            source: recorder.as_ref().map(|recorder| recorder.path().to_owned()),
            recorder,
            summary: Summary::default(),
            judge: None,
            guard: None,
            metrics: None,
            oom: OomWatch::begin(),
            status: StatusLine::new(),
            next: Instant::now(),
            next_glance: None,
            interval,
            last_t: Seconds(0.0),
            last_step: None,
            news: Vec::new(),
            has_told_stop: false,
        })
    }

    /// When the next turn is due.
    pub fn next_turn_at(&self) -> Instant {
        self.next_glance
            .map_or(self.next, |glance| glance.min(self.next))
    }

    /// The sampler.
    pub fn sampler(&mut self) -> &mut Sampler {
        &mut self.sampler
    }

    /// Does what is due: a sample, or a guard's glance, of which there is nothing to hand out.
    pub fn turn(&mut self) -> Result<Option<Tick>, SamplerError> {
        let now = Instant::now();
        if let Some(guard) = self.guard.as_mut().filter(|guard| !guard.is_stopping())
            && now < self.next
        {
            let standing = self.sampler.quick_read();
            if !guard.glance(&standing) {
                self.next_glance = guard.pace().map(|pace| now + pace);
                return Ok(None);
            }
        }
        self.tick().map(Some)
    }

    /// Takes a tick, sets the time of the next, and hands the tick out for whoever shows more of it.
    /// A tick that is missed is not made up for.
    pub fn tick(&mut self) -> Result<Tick, SamplerError> {
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
        if let Some(guard) = &mut self.guard {
            let seen = Seen {
                judge: self.judge.as_ref().map(|judge| judge as &dyn Judgement),
                recording: self.recording.as_deref(),
            };
            guard.take(&mut tick, &mut self.sampler, &seen);
            self.next_glance = guard.pace().map(|pace| now + pace);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&tick);
        }
        self.summary.take(&tick);
        if let Some(judge) = &mut self.judge {
            judge.take(&tick);
        }
        self.publish(&tick);
        self.oom.see(&tick);
        self.last_t = tick.sample.t;
        self.last_step = tick.sample.progress.step;
        self.status.show(&tick);
        Ok(tick)
    }

    /// Turns the line that shows progress off, for a run that prints on the same terminal.
    pub fn without_status_line(mut self) -> Session {
        self.status.shown = false;
        self
    }

    /// Has a watch for OOM kills go on that began before the run did.
    pub fn with_oom_watch(mut self, watch: OomWatch) -> Session {
        self.oom = watch;
        self
    }

    /// Has the run judged, with what the user stated. All processes of a machine are no run.
    pub fn judged_by(mut self, stated: &StatedFacts) -> Session {
        self.judge = Some(LiveJudge::new(stated));
        self
    }

    /// Has the run's numbers published from now on.
    pub fn publish_to(mut self, metrics: Option<Metrics>) -> Session {
        self.metrics = metrics.map(|metrics| Box::new(metrics.begin()));
        self
    }

    /// What goes wrong there ends the metrics, and neither the recording nor the run.
    fn publish(&mut self, tick: &Tick) {
        let Some(metrics) = &mut self.metrics else {
            return;
        };
        let verdict = || self.judge.as_ref().and_then(LiveJudge::verdict);
        if catch_unwind(AssertUnwindSafe(|| metrics.take(tick, verdict))).is_err() {
            notice("no metrics any more; leveloff has a bug, please report the lines above");
            self.metrics = None;
        }
    }

    /// Has the run guarded from now on, if it can be: the first sample must have been taken.
    pub fn guard_by(&mut self, mut guard: Guard) -> Result<()> {
        guard.take_post(&self.sampler)?;
        self.next_glance = guard.pace().map(|pace| Instant::now() + pace);
        self.guard = Some(Box::new(guard));
        Ok(())
    }

    /// Whether the guard has ended the run.
    pub fn was_stopped_by_guard(&self) -> bool {
        self.guard
            .as_ref()
            .is_some_and(|guard| guard.stopped().is_some())
    }

    /// The user does not want to wait for the guard's next stage.
    pub fn hurry_stop(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.hurry();
        }
    }

    /// What to exit with when the run ended, or is left.
    pub fn exit_code(&self) -> ExitCode {
        match self.was_stopped_by_guard() {
            true => ExitCode::from(guard::STOPPED),
            false => ExitCode::SUCCESS,
        }
    }

    /// The newest step.
    pub fn step(&self) -> Option<Step> {
        self.last_step
    }

    /// What the guard has to say of a command that ended.
    pub fn ending(&self) -> Ending {
        match &self.guard {
            Some(guard) if guard.is_stopping() => Ending::BeingStopped,
            Some(guard) if guard.stopped().is_some() => Ending::Stopped(self.last_step),
            _ => Ending::Itself,
        }
    }

    /// Says what the guard did, before the run goes on.
    pub fn tell_stop(&mut self) {
        for line in self.stop_lines() {
            notice(&line);
        }
        if let Some(verdict) = self.judge.as_ref().and_then(LiveJudge::line) {
            notice(&verdict);
        }
        self.has_told_stop = true;
    }

    /// The run is started again: guard and judge begin anew, the recording goes on.
    pub fn begin_anew(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.begin_anew();
        }
        self.has_told_stop = false;
        // The steps of the one before are not this one's.
        let step = self.last_step.take();
        self.news.push(guard::event(self.last_t, step, RESTART));
    }

    fn stop_lines(&self) -> Vec<String> {
        let stopped = self.guard.as_deref().and_then(Guard::stopped);
        stopped
            .filter(|_| !self.has_told_stop)
            .map_or_else(Vec::new, guard::told)
    }

    /// Whether the guard is ending the run, and not all of it has ended.
    pub fn is_stopping(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.is_stopping())
    }

    /// The verdict so far; `None` when nothing was seen, or when nobody asked for one.
    pub fn verdict(&self) -> Option<RunVerdict> {
        self.judge.as_ref()?.verdict()
    }

    /// What the kernel's OOM killer did to the run, if there is a sign of it. What our guard killed is none.
    pub fn oom_report(&mut self, reason: EndReason) -> Option<OomReport> {
        match self.guard.as_ref().is_some_and(|guard| guard.has_killed()) {
            true => None,
            false => self.oom.report(reason),
        }
    }

    /// Whether nobody is left to watch. What a guard is ending is over when all of it has ended.
    pub fn is_over(&self) -> bool {
        match &self.guard {
            Some(guard) if guard.is_stopping() => false,
            Some(guard) if guard.stopped().is_some() => true,
            _ => self.sampler.is_over(),
        }
    }

    /// Ends the recording and the metrics; whoever follows them sees that at once.
    pub fn end_recording(&mut self, reason: EndReason) {
        self.status.clear();
        // Series end with the run: what is told of it afterwards would be taken for its state.
        self.metrics = None;
        if let Some(recorder) = self.recorder.take() {
            recorder.finish(&End {
                t: self.last_t,
                reason,
            });
        }
    }

    /// Ends the recording, and says what was seen only in the summary that it hands out.
    pub fn end(mut self, reason: EndReason) -> Summary {
        self.end_recording(reason);
        self.summary
    }

    /// Ends the recording, and says where it is and nothing else.
    pub fn finish_quietly(mut self, reason: EndReason) {
        let recording = self.recording.clone();
        let killed = self.oom_report(reason);
        self.end(reason);
        killed.iter().for_each(|killed| notice(&killed.words()));
        if let Some(recording) = recording {
            notice(&where_recorded(&recording));
        }
    }

    /// Ends the recording and tells what was seen, on stderr: the verdict first, unless the kernel
    /// ended the run.
    pub fn finish(mut self, reason: EndReason, ended: &str, top_growers: usize) {
        let recording = self.recording.clone();
        let killed = self.oom_report(reason);
        let verdict = self.judge.as_ref().and_then(LiveJudge::line);
        let guarded = self.stop_lines();
        let mut guard = self.guard.take();
        let source = self.source.clone();
        let summary = self.end(reason);
        let is_over = !matches!(reason, EndReason::Duration | EndReason::Stopped);
        let was_stopped = guard.as_deref().is_some_and(Guard::has_stopped_once);
        let is_post_mortem = killed.is_some() || was_stopped;
        let first = guarded
            .into_iter()
            .chain(killed.map(|killed| killed.words()));
        let lines = first.chain(verdict).chain(summary.lines(ended, is_over));
        let left = guard.as_mut().filter(|_| !is_over && !was_stopped);
        let lines: Vec<String> = lines.chain(left.map(|guard| guard.leave())).collect();
        for line in &lines {
            notice(line);
        }
        for line in summary.top_growers(top_growers) {
            notice(&line);
        }
        if let Some(recording) = recording {
            notice(&where_recorded(&recording));
        }
        if let Some(mut guard) = guard {
            if is_post_mortem {
                guard.collect(&lines, source.as_deref(), bundle_reports);
            }
            guard.wait_for_hooks();
        }
        flush();
    }
}

/// Where a recording is, and what it is good for.
pub fn where_recorded(recording: &Path) -> String {
    let path = recording.display();
    format!("recording {path} · leveloff judge {path} tells more")
}

/// One line on a terminal that says that something happens.
struct StatusLine {
    shown: bool,
    drawn: bool,
    due: Instant,
}

impl StatusLine {
    fn new() -> StatusLine {
        StatusLine {
            shown: std::io::stderr().is_terminal() && !is_dumb_terminal(),
            drawn: false,
            due: Instant::now(),
        }
    }

    /// At most once a second, so that fast sampling does not make a slow link busy.
    fn show(&mut self, tick: &Tick) {
        let now = Instant::now();
        if !self.shown || now < self.due {
            return;
        }
        self.due = now + Duration::from_millis(900);
        let tree = tick.sample.tree();
        let step = tick
            .sample
            .progress
            .step
            .map_or_else(String::new, |step| format!(" · step {step}"));
        say(&format!(
            "\r\x1b[Kleveloff: {}{step} · memory {} (RSS {}) · {} processes",
            tick.sample.t, tree.total, tree.rss, tree.processes
        ));
        self.drawn = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            say("\r\x1b[K");
        }
    }
}

/// `eprint!` panics when the terminal is gone, and a closed window must not cost the recording its
/// end.
///
/// A terminal that takes nothing (Ctrl-S, a dead line) must not hold the next sample up; a line that is drawn again
/// in a second can be left out.
fn say(text: &str) {
    if !is_writable() {
        return;
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Past a limit on file sizes (`ulimit -f`) a write ends the writer by signal. When the signal is
/// caught, the write fails as on a full disk, which is said and survived.
fn survive_file_size_limit() {
    // Not allowed means that we die of it, as everybody else does.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::default());
}

/// Two or three descriptors are kept for each process. A hard limit may be far above the soft one;
/// whatever we may have, we take. The command under `run` is started before this.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Not allowed means that we stay with what we have; running out is said when it happens.
    let _ = setrlimit(Resource::Nofile, limit);
}
