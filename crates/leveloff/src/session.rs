//! A run under watch: sampler, recording and summary, moved on tick by tick.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::{End, EndReason, Header, StatedFacts, Target};
use leveloff_model::sample::Tick;
use leveloff_model::units::Seconds;
use leveloff_sampler::clock::{Clock, SystemClock};
use leveloff_sampler::sampler::{Sampler, SamplerError, SamplerOptions};

use crate::cli::WatchArgs;
use crate::judge::live::LiveJudge;
use crate::notice::{is_dumb_terminal, notice};
use crate::oom::{OomReport, OomWatch};
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
    recording: Option<PathBuf>,
    summary: Summary,
    judge: Option<LiveJudge>,
    oom: OomWatch,
    status: StatusLine,
    next: Instant,
    interval: Duration,
    last_t: Seconds,
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
            recorder,
            summary: Summary::default(),
            judge: None,
            oom: OomWatch::begin(),
            status: StatusLine::new(),
            next: Instant::now(),
            interval,
            last_t: Seconds(0.0),
        })
    }

    /// When the next tick is due.
    pub fn next_tick_at(&self) -> Instant {
        self.next
    }

    /// The sampler.
    pub fn sampler(&mut self) -> &mut Sampler {
        &mut self.sampler
    }

    /// Takes a tick, sets the time of the next, and hands the tick out for whoever shows more of it.
    /// A tick that is missed is not made up for.
    pub fn tick(&mut self) -> Result<Tick, SamplerError> {
        let tick = self.sampler.tick();
        self.next += self.interval;
        let now = Instant::now();
        if self.next < now {
            self.next = now + self.interval;
        }
        let tick = tick?;
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&tick);
        }
        self.summary.take(&tick);
        if let Some(judge) = &mut self.judge {
            judge.take(&tick);
        }
        self.oom.see(&tick);
        self.last_t = tick.sample.t;
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

    /// The verdict so far; `None` when nothing was seen, or when nobody asked for one.
    pub fn verdict(&self) -> Option<RunVerdict> {
        self.judge.as_ref()?.verdict()
    }

    /// What the kernel's OOM killer did to the run, if there is a sign of it.
    pub fn oom_report(&mut self, reason: EndReason) -> Option<OomReport> {
        self.oom.report(reason)
    }

    /// Whether nobody is left to watch.
    pub fn is_over(&self) -> bool {
        self.sampler.is_over()
    }

    /// Ends the recording; whoever follows it sees that at once.
    pub fn end_recording(&mut self, reason: EndReason) {
        self.status.clear();
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
        let summary = self.end(reason);
        let is_over = !matches!(reason, EndReason::Duration | EndReason::Stopped);
        killed.iter().for_each(|killed| notice(&killed.words()));
        if let Some(verdict) = verdict {
            notice(&verdict);
        }
        for line in summary.lines(ended, is_over) {
            notice(&line);
        }
        for line in summary.top_growers(top_growers) {
            notice(&line);
        }
        if let Some(recording) = recording {
            notice(&where_recorded(&recording));
        }
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
fn say(text: &str) {
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
