//! The sampler: everything that one tick reads, in order.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, Role};
use leveloff_model::progress::MissingSteps;
use leveloff_model::sample::{Event, Gap, OwnCost, Sample, Subject, Tick, TreeMemory};
use leveloff_model::units::{Bytes, CpuMillis, Limit, Seconds};
use leveloff_progress::StepRegex;

use crate::clock::{Clock, Moment, SystemClock, process_cpu, thread_cpu};
use crate::gpu::GpuDevice;
use crate::proc_root::ProcRoot;
use crate::processes::handle::{self, SCRATCH_SIZE, Scratch};
use crate::processes::watched_process::FastContext;
use crate::processes::{Scope, WatchedProcesses};
use crate::progress::{OutputStream, ProgressError, ProgressOptions, ProgressTracker, StopRequest};
use crate::pss::{PssTracker, reader};
use crate::roles::RoleChange;
use crate::software::SoftwareReader;
use crate::system::{Ceilings, SystemReaders};

/// What to sample and how.
#[derive(Debug, Clone)]
pub struct SamplerOptions {
    /// Which processes.
    pub scope: Scope,
    /// Time between ticks, to notice late ones.
    pub interval: Duration,
    /// CPU that PSS may cost, in percent of one core; 0 reads none.
    pub pss_budget_percent: f64,
    /// A limit that the user stated.
    pub limit: Option<Limit>,
    /// A log file to read progress from.
    pub log: Option<PathBuf>,
    /// The user's pattern for the lines that hold the step.
    pub step_regex: Option<StepRegex>,
    /// Under `run`: whether the command's output comes through [`Sampler::feed_output`].
    pub has_output: bool,
    /// Under `run`: leveloff's own pid, which adopts the orphans of the run.
    pub adopter: Option<Pid>,
    /// Processes of leveloff that are not part of the run.
    pub own_processes: Vec<Pid>,
}

/// The memory of a run and its limits, to the byte.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemoryUsage {
    /// Memory of the tree, shared pages counted once.
    pub tree: Bytes,
    /// The limits.
    pub ceilings: Ceilings,
    /// GPU memory of the tree; `None` when it cannot be read.
    pub gpu: Option<Bytes>,
    /// The cards.
    pub cards: Vec<GpuDevice>,
}

/// Why sampling cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// No such process.
    #[error("process {0} has exited; `leveloff find` lists the processes to watch")]
    Gone(Pid),
    /// /proc itself cannot be read.
    #[error("cannot read {path}: {source}; leveloff needs /proc mounted and readable")]
    NoProc {
        /// Where it should be.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The log cannot be followed.
    #[error(transparent)]
    Progress(#[from] ProgressError),
    /// No thread for the slow readings.
    #[error("cannot start the thread that reads memory detail: {0}")]
    Thread(std::io::Error),
}

/// Reads a run, tick by tick.
pub struct Sampler {
    proc_root: ProcRoot,
    clock: Arc<dyn Clock + Send + Sync>,
    started: Moment,
    last: Option<Moment>,
    last_t: Seconds,
    interval: Duration,
    processes: WatchedProcesses,
    pss: PssTracker,
    /// The memory of the tree at the last tick.
    total: Bytes,
    system: SystemReaders,
    progress: ProgressTracker,
    missing_steps: Option<MissingSteps>,
    software: SoftwareReader,
    context: FastContext,
    scratch: Box<Scratch>,
    reported_gaps: HashSet<Gap>,
    last_tick_cost: Duration,
}

/// A tick that comes later than this many intervals is reported as a gap.
const LATE_INTERVALS: u32 = 5;

/// How many different gaps are reported.
const MOST_GAPS: usize = 1000;

impl Sampler {
    /// A sampler of this machine.
    pub fn new(options: SamplerOptions) -> Result<Sampler, SamplerError> {
        Sampler::with_world(options, ProcRoot::live(), Arc::new(SystemClock))
    }

    /// A sampler of a given /proc and clock.
    pub fn with_world(
        options: SamplerOptions,
        proc_root: ProcRoot,
        clock: Arc<dyn Clock + Send + Sync>,
    ) -> Result<Sampler, SamplerError> {
        let started = clock.now();
        let reader = reader::start(Arc::clone(&clock)).map_err(SamplerError::Thread)?;
        let processes = WatchedProcesses::new(
            &proc_root,
            options.scope,
            options.adopter,
            options.own_processes,
        );
        Ok(Sampler {
            started,
            last: None,
            last_t: Seconds(0.0),
            interval: options.interval,
            pss: PssTracker::new(reader, options.pss_budget_percent, started),
            system: SystemReaders::new(&proc_root, processes.root(), options.limit),
            processes,
            total: Bytes::ZERO,
            progress: ProgressTracker::new(ProgressOptions {
                log: options.log,
                has_output: options.has_output,
                step_regex: options.step_regex,
            })?,
            missing_steps: None,
            software: SoftwareReader::default(),
            context: FastContext {
                page_size: handle::page_size(),
                ticks_per_second: rustix::param::clock_ticks_per_second(),
                fd_size_is_count: handle::fd_size_is_count(&proc_root),
                swap_in_use: true,
                tick: 0,
                now: Seconds(0.0),
                uptime: Seconds(0.0),
            },
            scratch: Box::new([0; SCRATCH_SIZE]),
            reported_gaps: HashSet::new(),
            last_tick_cost: Duration::ZERO,
            proc_root,
            clock,
        })
    }

    /// Reads progress from the output of the command under `run`. Each stream has lines of its own.
    pub fn feed_output(&mut self, stream: OutputStream, bytes: &[u8]) {
        self.progress.feed_output(stream, bytes);
    }

    /// A request to save and stop, for the trainer of the last tick. `None` unless its marks are read,
    /// because a training checks for requests beside its marks.
    pub fn stop_request(&self) -> Option<StopRequest> {
        self.progress.stop_request()
    }

    /// What to say about steps that are not read, if the last tick found that it is time for that.
    pub fn missing_steps(&self) -> Option<&MissingSteps> {
        self.missing_steps.as_ref()
    }

    /// Whether the run is over: the roots have exited and no other process trains.
    pub fn is_over(&self) -> bool {
        self.processes.is_over()
    }

    /// The processes with their roles.
    pub fn infos(&self) -> impl Iterator<Item = &ProcessInfo> {
        self.processes.infos()
    }

    /// Whether a process belongs to the run without being a descendant of its roots: it is of a Ray cluster that the run uses.
    pub fn is_outside_tree(&self, process: ProcessIndex) -> bool {
        self.processes.is_outside(process)
    }

    /// Reads everything once.
    pub fn tick(&mut self) -> Result<Tick, SamplerError> {
        let cpu_before = thread_cpu();
        let now = self.clock.now();
        let t = self.recording_time(now);
        let elapsed = self
            .last
            .map_or(Duration::ZERO, |last| now.boot.saturating_sub(last.boot));
        let mut events = Vec::new();
        self.notice_late(now, elapsed, &mut events);
        self.add_new(t, &mut events)?;
        self.report_software(&mut events);
        self.context.now = t;
        self.context.uptime = Seconds(now.boot.as_secs_f64());
        self.read_all(t, &mut events);
        self.update_roles(t, &mut events);
        let gaps = self.pss.take(&mut self.processes, self.total, t);
        self.report_gaps(gaps, &mut events);
        self.processes.update_families();
        self.pss
            .plan(&mut self.processes, t, elapsed, self.context.page_size);
        let sample = self.sample(now, t, cpu_before, &mut events);
        self.last = Some(now);
        self.context.tick += 1;
        Ok(Tick { events, sample })
    }

    /// Reads only the memory between two ticks, for a guard: some microseconds for each process. The recording
    /// gets no sample of it.
    pub fn quick_read(&mut self) -> MemoryUsage {
        self.total = self.processes.quick_read(&self.context, &mut self.scratch);
        self.system.quick_read();
        self.memory_usage()
    }

    /// The memory of the run as of the last read.
    pub fn memory_usage(&self) -> MemoryUsage {
        let processes = self.processes.all().iter();
        MemoryUsage {
            tree: self.total,
            ceilings: self.system.ceilings(),
            gpu: processes
                .filter_map(|process| process.reading.gpu)
                .reduce(|a, b| a + b),
            cards: self.system.cards().to_vec(),
        }
    }

    /// From now on, processes of this group are no part of the run.
    pub fn exclude_group(&mut self, group: Pid) {
        self.processes.exclude_group(group);
    }

    /// Waits for the requested slow readings; the next tick has them.
    pub fn wait_for_details(&mut self) {
        self.pss.wait();
        self.software.wait();
    }

    /// CPU time of the last tick.
    pub fn last_tick_cost(&self) -> Duration {
        self.last_tick_cost
    }

    /// Seconds on the recording's clock, in milliseconds and never decreasing.
    fn recording_time(&mut self, moment: Moment) -> Seconds {
        let t = moment.since(&self.started);
        self.last_t = Seconds(t.0.max(self.last_t.0));
        self.last_t
    }

    fn notice_late(&mut self, now: Moment, elapsed: Duration, events: &mut Vec<Event>) {
        let Some(last) = self.last else { return };
        let asleep = (now.boot.saturating_sub(now.awake))
            .saturating_sub(last.boot.saturating_sub(last.awake));
        let text = if asleep >= Duration::from_secs(1) {
            let slept = Seconds(asleep.as_secs_f64());
            format!("the machine was suspended for {slept}; no samples were taken")
        } else if elapsed > self.interval * LATE_INTERVALS + Duration::from_secs(1) {
            let late = Seconds(elapsed.as_secs_f64());
            format!("no sample for {late}: the recorder was stopped or got no CPU time")
        } else {
            return;
        };
        events.push(Event::Gap(Gap {
            subject: Subject::Clock,
            process: None,
            text,
        }));
    }

    fn add_new(&mut self, t: Seconds, events: &mut Vec<Event>) -> Result<(), SamplerError> {
        let joined = self
            .processes
            .add_new(t, &mut self.scratch)
            .map_err(|source| {
                let path = self.proc_root.path().to_owned();
                SamplerError::NoProc { path, source }
            })?;
        if self.context.tick == 0
            && joined == 0
            && let Some(root) = self.processes.root()
        {
            return Err(SamplerError::Gone(root));
        }
        let refused = self.processes.take_refused();
        self.report_gaps(refused, events);
        Ok(())
    }

    fn read_all(&mut self, t: Seconds, events: &mut Vec<Event>) {
        let reads = self.processes.read_all(&self.context, &mut self.scratch);
        if reads.fork_exited {
            self.pss.fork_exited(t);
        }
        self.report_gaps(reads.gaps, events);
        for index in reads.exited {
            let Some(removed) = self.processes.remove(index) else {
                continue;
            };
            self.progress.forget_process(index);
            self.software.forget(index);
            self.system.forget_trainer(removed.pid);
            if removed.was_reported {
                events.push(Event::Exited(index));
            }
        }
    }

    fn update_roles(&mut self, t: Seconds, events: &mut Vec<Event>) {
        let changes = self.processes.update_roles(&self.proc_root, t);
        // Former trainers first, because limits are those of one trainer at a time.
        let demoted = |change: &&RoleChange| change.info.role != Role::Trainer;
        for change in changes.iter().filter(demoted) {
            self.follow_trainer(&change.info);
        }
        for change in changes {
            if change.first && change.fork_copy {
                self.pss.fork_started(&mut self.processes, t);
            }
            self.follow_trainer(&change.info);
            self.follow_software(&change);
            events.push(if change.first {
                Event::Appeared(change.info)
            } else {
                Event::Changed(change.info)
            });
        }
    }

    /// Follows the steps and limits of trainers, and stops following former trainers.
    fn follow_trainer(&mut self, info: &ProcessInfo) {
        let (index, pid) = (info.index, info.key.pid);
        match self.processes.trainer_change(info) {
            Some(true) => {
                self.progress
                    .watch_process(&self.proc_root, index, pid, info.rank);
                self.system.follow_trainer(pid);
            }
            Some(false) => {
                self.progress.forget_process(index);
                self.system.forget_trainer(pid);
            }
            None => {}
        }
    }

    fn follow_software(&mut self, change: &RoleChange) {
        if change.info.role == Role::Trainer {
            let process = self.processes.find_mut(change.info.index);
            self.software
                .follow(change, || process?.handle.directory().ok());
        }
    }

    fn report_software(&mut self, events: &mut Vec<Event>) {
        for event in self.software.events() {
            match event {
                Event::Gap(gap) => self.report_gaps([gap], events),
                event => events.push(event),
            }
        }
    }

    fn sample(
        &mut self,
        now: Moment,
        t: Seconds,
        cpu_before: Duration,
        events: &mut Vec<Event>,
    ) -> Sample {
        let progress = self.progress.poll(t, now.wall());
        self.missing_steps = progress.missing;
        events.extend(progress.marks.into_iter().map(Event::Mark));
        self.report_gaps(progress.gaps, events);
        self.system.read_gpu(t, self.processes.all_mut());
        let processes = self.processes.readings();
        self.total = TreeMemory::of(&processes, t).total;
        self.system.read(t, self.total);
        let ticks = self.context.ticks_per_second;
        let system = self
            .system
            .read_shared_files(t, now, ticks, self.processes.all());
        let gaps = self.system.take_gaps();
        self.report_gaps(gaps, events);
        self.context.swap_in_use = system.machine.swap_used.is_none_or(|used| used.0 > 0);
        let progress = self.progress.progress().clone();
        let rss = self.system.own_rss(t, &mut self.scratch);
        self.last_tick_cost = thread_cpu().saturating_sub(cpu_before);
        Sample {
            t,
            progress,
            processes,
            mappings: self.pss.mappings.clone(),
            machine: system.machine,
            cgroup: system.cgroup,
            ceiling: system.ceiling,
            cost: OwnCost {
                cpu: CpuMillis(u64::try_from(process_cpu().as_millis()).unwrap_or(u64::MAX)),
                rss,
                tick_us: u32::try_from(self.last_tick_cost.as_micros()).unwrap_or(u32::MAX),
            },
        }
    }

    /// Reports each gap once.
    fn report_gaps(&mut self, gaps: impl IntoIterator<Item = Gap>, events: &mut Vec<Event>) {
        for gap in gaps {
            if self.reported_gaps.len() < MOST_GAPS && self.reported_gaps.insert(gap.clone()) {
                events.push(Event::Gap(gap));
            }
        }
    }
}
