//! Puts a session together, in the order that loses nothing: options that cannot be followed are refused before anything
//! is started, and a recording in which nothing was recorded is removed.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use leveloff_model::recording::{Header, Target};
use leveloff_model::sample::Tick;
use leveloff_model::units::Seconds;
use leveloff_prometheus::metrics::Metrics;
use leveloff_sampler::clock::{Clock, SystemClock};
use leveloff_sampler::sampler::{Sampler, SamplerOptions};
use leveloff_supervise::guard::{Guard, GuardOptions};
use leveloff_supervise::oom::OomWatch;

use super::limits::{raise_descriptor_limit, survive_file_size_limit};
use super::voice::Voice;
use super::{Session, WatchOptions};
use crate::blame::Blame;
use crate::history::JobMemory;
use crate::live_analysis::LiveAnalysis;
use crate::metrics;
use crate::notice::say;
use crate::recorder::Recorder;
use crate::status_line::StatusLine;
use crate::summary::Summary;

/// A session that is not started yet.
pub(crate) struct SessionBuilder<'a> {
    target: &'a Target,
    /// The command line of the run, for names.
    command: &'a [String],
    options: &'a WatchOptions,
    recorder: Option<Recorder>,
    scratch: Option<File>,
    metrics: Option<Metrics>,
    guard: Option<Guard>,
    oom: Option<OomWatch>,
    blame: Option<Blame>,
    memory: Option<JobMemory>,
    voice: Option<Voice>,
    has_status_line: bool,
}

impl<'a> SessionBuilder<'a> {
    pub(crate) fn new(
        target: &'a Target,
        command: &'a [String],
        options: &'a WatchOptions,
    ) -> SessionBuilder<'a> {
        SessionBuilder {
            target,
            command,
            options,
            recorder: None,
            scratch: None,
            metrics: None,
            guard: None,
            oom: None,
            blame: None,
            memory: None,
            voice: None,
            has_status_line: true,
        }
    }

    /// A guard, if the options ask for one.
    pub(crate) fn guarded(mut self, options: Option<GuardOptions>) -> Result<SessionBuilder<'a>> {
        self.guard = options
            .map(|options| Guard::new(options, self.options.interval, say))
            .transpose()?;
        Ok(self)
    }

    /// Says what changes while the run goes on, as the options ask for. Not for the dashboard, which shows it.
    pub(crate) fn with_voice(mut self) -> Result<SessionBuilder<'a>> {
        self.voice = self.options.voice.open()?;
        Ok(self)
    }

    /// Opens the metrics that the options ask for.
    pub(crate) fn with_metrics(mut self) -> Result<SessionBuilder<'a>> {
        self.metrics = metrics::open(&self.options.metrics, self.target, self.command)?;
        Ok(self)
    }

    /// Creates the recording, with a name made from the command if the user chose none.
    pub(crate) fn recording_to(mut self, output: Option<&Path>) -> Result<SessionBuilder<'a>> {
        self.recorder = Some(match output {
            Some(path) => Recorder::create(path, &self.header())?,
            None => Recorder::create_named_after(self.command, &self.header())?,
        });
        Ok(self)
    }

    /// Creates the recording that the user chose, or else a temporary one, which exports and bundles are made from.
    pub(crate) fn recording_or_scratch(
        mut self,
        output: Option<&Path>,
    ) -> Result<SessionBuilder<'a>> {
        if output.is_some() {
            return self.recording_to(output);
        }
        (self.recorder, self.scratch) = Recorder::scratch(&self.header()).ok().unzip();
        Ok(self)
    }

    /// For a run that shares the terminal, and for the dashboard.
    pub(crate) fn without_status_line(mut self) -> SessionBuilder<'a> {
        self.has_status_line = false;
        self
    }

    /// Continues a watch for OOM kills that began before the run did.
    pub(crate) fn with_oom_watch(mut self, watch: OomWatch) -> SessionBuilder<'a> {
        self.oom = Some(watch);
        self
    }

    /// Records which lines allocate.
    pub(crate) fn with_blame(mut self, blame: Option<Blame>) -> SessionBuilder<'a> {
        self.blame = blame;
        self
    }

    /// Remembers how the run ends.
    pub(crate) fn remembering(mut self, memory: Option<JobMemory>) -> SessionBuilder<'a> {
        self.memory = memory;
        self
    }

    /// The file that is recorded to, named or temporary.
    pub(crate) fn recording(&self) -> Option<&Path> {
        self.recorder.as_ref().map(Recorder::path)
    }

    /// Removes the recording: nothing was started.
    pub(crate) fn discard(&self) {
        if let Some(recorder) = self.recorder.as_ref().filter(|it| it.is_named()) {
            Recorder::discard(recorder.path());
        }
    }

    /// Starts to watch and to publish. The first tick is due at once; the guard is not on duty yet.
    pub(crate) fn start(self, sampler: SamplerOptions) -> Result<Session> {
        raise_descriptor_limit();
        survive_file_size_limit();
        let interval = sampler.interval;
        let sampler = Sampler::new(sampler).inspect_err(|_| self.discard())?;
        let source = self.recording().map(Path::to_owned);
        let is_named = self.recorder.as_ref().is_some_and(Recorder::is_named);
        let mut status = StatusLine::new();
        status.shown &= self.has_status_line;
        Ok(Session {
            sampler,
            recording: source.clone().filter(|_| is_named),
            source,
            recorder: self.recorder,
            _scratch: self.scratch,
            summary: Summary::default(),
            stated: self.options.stated.clone(),
            analysis: LiveAnalysis::new(self.target, &self.options.stated),
            guard: None,
            metrics: self.metrics.map(|metrics| Box::new(metrics.begin())),
            oom: self.oom.unwrap_or_else(OomWatch::begin),
            blame: self.blame,
            memory: self.memory,
            voice: self.voice,
            status,
            next: Instant::now(),
            next_glance: None,
            interval,
            last_t: Seconds(0.0),
            last_step: None,
            news: Vec::new(),
            is_stop_reported: false,
        })
    }

    /// Starts, takes the first sample and puts the guard on duty. If one of these fails, no recording remains.
    pub(crate) fn start_sampled(mut self, sampler: SamplerOptions) -> Result<(Session, Tick)> {
        let guard = self.guard.take();
        let recording = self.recording().map(Path::to_owned);
        let mut session = self.start(sampler)?;
        let first = session.tick().map_err(Into::into).and_then(|first| {
            if let Some(guard) = guard {
                session.guard_by(guard)?;
            }
            Ok(first)
        });
        let is_named = session.recording.is_some();
        let first = first.inspect_err(|_: &anyhow::Error| {
            if let Some(path) = recording.filter(|_| is_named) {
                Recorder::discard(&path);
            }
        })?;
        Ok((session, first))
    }

    fn header(&self) -> Header {
        let name = rustix::system::uname();
        Header {
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix: (SystemClock.now().unix * 1000.0).round() / 1000.0,
            host: Some(name.nodename().to_string_lossy().into_owned()),
            kernel: Some(name.release().to_string_lossy().into_owned()),
            target: self.target.clone(),
            interval: Seconds(self.options.interval.as_secs_f64()),
            pss_budget_percent: self.options.pss_budget_percent,
            stated: self.options.stated.clone(),
        }
    }
}
