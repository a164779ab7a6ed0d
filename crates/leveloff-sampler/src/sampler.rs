//! The sampler: everything that one look at a run takes, in order.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use leveloff_model::process::{Pid, ProcessInfo, Role};
use leveloff_model::sample::{Event, Gap, OwnCost, Sample, Subject, Tick, TreeMemory};
use leveloff_model::units::{Bytes, CpuMillis, Limit, Seconds};

use crate::cast::Part;
use crate::clock::{Clock, Moment, SystemClock, process_cpu, thread_cpu};
use crate::detail::DetailReader;
use crate::gpu::GpuDevice;
use crate::handle::{self, SCRATCH_SIZE, Scratch};
use crate::proc_root::ProcRoot;
use crate::progress::{OutputStream, ProgressError, ProgressOptions, ProgressTracker, StopRequest};
use crate::roster::Roster;
use crate::shared_memory::SharedMemory;
use crate::software::SoftwareReader;
use crate::surroundings::{Ceilings, Surroundings};
use crate::tree::Scope;
use crate::watched::FastContext;

/// What to sample and how.
#[derive(Debug, Clone)]
pub struct SamplerOptions {
    /// Whose processes.
    pub scope: Scope,
    /// Time between ticks, to notice late ones.
    pub interval: Duration,
    /// CPU that PSS may cost, in percent of one core; 0 reads none.
    pub pss_budget_percent: f64,
    /// A limit that the user stated.
    pub limit: Option<Limit>,
    /// A log file to read progress from.
    pub log: Option<PathBuf>,
    /// Under `run`: whether the command's output comes through [`Sampler::feed_output`].
    pub has_output: bool,
    /// Under `run`: the process (we) to which the run's orphans come.
    pub adopter: Option<Pid>,
    /// Processes of our own that are not part of the run.
    pub ours: Vec<Pid>,
}

/// How a run stands against what limits it, to the byte.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// What the tree holds, shared pages counted once.
    pub tree: Bytes,
    /// What limits it.
    pub ceilings: Ceilings,
    /// What the tree holds on GPUs; `None` when nothing can tell.
    pub gpu: Option<Bytes>,
    /// The cards.
    pub cards: Vec<GpuDevice>,
}

/// Why sampling cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// No such process.
    #[error("process {0} is gone; `leveloff find` lists what is there to watch")]
    Gone(Pid),
    /// /proc itself cannot be read.
    #[error("cannot read {path}: {source}; leveloff needs /proc mounted and readable")]
    NoProc {
        /// Where it should be.
        path: PathBuf,
        /// What the system said.
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
    roster: Roster,
    shared_memory: SharedMemory,
    /// The tree's memory at the last tick.
    total: Bytes,
    surroundings: Surroundings,
    progress: ProgressTracker,
    software: SoftwareReader,
    context: FastContext,
    scratch: Box<Scratch>,
    said: HashSet<Gap>,
    last_tick_cost: Duration,
}

/// A tick that comes later than this many intervals is worth a word.
const LATE_INTERVALS: u32 = 5;

/// Different gaps that are told; a machine that fails in more ways than this is known to be broken.
const GAPS_TOLD: usize = 1000;

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
        let detail = DetailReader::start(Arc::clone(&clock)).map_err(SamplerError::Thread)?;
        let roster = Roster::new(&proc_root, options.scope, options.adopter, options.ours);
        Ok(Sampler {
            started,
            last: None,
            last_t: Seconds(0.0),
            interval: options.interval,
            shared_memory: SharedMemory::new(detail, options.pss_budget_percent, started),
            surroundings: Surroundings::new(&proc_root, roster.root(), options.limit),
            roster,
            total: Bytes::ZERO,
            progress: ProgressTracker::new(ProgressOptions {
                log: options.log,
                has_output: options.has_output,
            })?,
            software: SoftwareReader::default(),
            context: FastContext {
                page_size: handle::page_size(),
                ticks_per_second: rustix::param::clock_ticks_per_second(),
                fd_size_is_count: handle::fd_size_is_count(&proc_root),
                swap_in_use: true,
                tick: 0,
            },
            scratch: Box::new([0; SCRATCH_SIZE]),
            said: HashSet::new(),
            last_tick_cost: Duration::ZERO,
            proc_root,
            clock,
        })
    }

    /// The command's output under `run`, from which progress is read. Each stream has lines of its
    /// own.
    pub fn feed_output(&mut self, stream: OutputStream, bytes: &[u8]) {
        self.progress.feed_output(stream, bytes);
    }

    /// How to ask the training to save and stop, if its marks are read: it looks for requests beside
    /// them. Holds for the trainer of the last tick.
    pub fn stop_request(&self) -> Option<StopRequest> {
        self.progress.stop_request()
    }

    /// Whether there is nobody left to watch: the roots are gone and no other process trains.
    pub fn is_over(&self) -> bool {
        self.roster.is_over()
    }

    /// Every process that is or was just seen, with its part.
    pub fn infos(&self) -> impl Iterator<Item = &ProcessInfo> {
        self.roster.infos()
    }

    /// One look at everything.
    pub fn tick(&mut self) -> Result<Tick, SamplerError> {
        let cpu_before = thread_cpu();
        let now = self.clock.now();
        let t = self.recording_time(now);
        let elapsed = self
            .last
            .map_or(Duration::ZERO, |last| now.boot.saturating_sub(last.boot));
        let mut events = Vec::new();
        self.notice_late(now, elapsed, &mut events);
        self.take_in(t, &mut events)?;
        let gaps = self.shared_memory.take(&mut self.roster, self.total, t);
        self.say_all(gaps, &mut events);
        self.tell_software(&mut events);
        self.look_at_all(t, &mut events);
        self.review_cast(t, &mut events);
        self.shared_memory
            .plan(&mut self.roster, t, elapsed, self.context.page_size);
        let sample = self.sample(now, t, cpu_before, &mut events);
        self.last = Some(now);
        self.context.tick += 1;
        self.last_tick_cost = thread_cpu().saturating_sub(cpu_before);
        Ok(Tick { events, sample })
    }

    /// A look between two ticks at nothing but how much there is, for whoever has to act in time: some
    /// microseconds for each process. It is no sample, and nothing is told of it.
    pub fn glance(&mut self) -> Standing {
        self.total = self.roster.glance(&self.context, &mut self.scratch);
        self.surroundings.glance();
        self.standing()
    }

    /// How the run stands as of the last look.
    pub fn standing(&self) -> Standing {
        let gpu = self.roster.watched().iter();
        Standing {
            tree: self.total,
            ceilings: self.surroundings.ceilings(),
            gpu: gpu
                .filter_map(|process| process.reading().gpu)
                .reduce(|a, b| a + b),
            cards: self.surroundings.cards().to_vec(),
        }
    }

    /// From now on these process groups are no part of the run: what we start beside it.
    pub fn leave_out_group(&mut self, group: Pid) {
        self.roster.leave_out_group(group);
    }

    /// Waits for the slow readings that are under way; the next tick has them.
    pub fn wait_for_details(&mut self) {
        self.shared_memory.wait();
        self.software.wait();
    }

    /// CPU time of the last whole tick.
    pub fn last_tick_cost(&self) -> Duration {
        self.last_tick_cost
    }

    /// Seconds on the recording's clock: to the millisecond, and never back.
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
            format!("the machine was suspended for {slept}; nothing was measured meanwhile")
        } else if elapsed > self.interval * LATE_INTERVALS + Duration::from_secs(1) {
            let late = Seconds(elapsed.as_secs_f64());
            format!("no sample for {late}: the recorder was stopped or did not get to run")
        } else {
            return;
        };
        events.push(Event::Gap(Gap {
            subject: Subject::Clock,
            process: None,
            text,
        }));
    }

    /// New processes, unless nobody was born.
    fn take_in(&mut self, t: Seconds, events: &mut Vec<Event>) -> Result<(), SamplerError> {
        let joined = self
            .roster
            .take_in(t, &mut self.scratch)
            .map_err(|source| {
                let path = self.proc_root.path().to_owned();
                SamplerError::NoProc { path, source }
            })?;
        if self.context.tick == 0
            && joined == 0
            && let Some(root) = self.roster.root()
        {
            return Err(SamplerError::Gone(root));
        }
        let refused = self.roster.take_refused();
        self.say_all(refused, events);
        Ok(())
    }

    fn look_at_all(&mut self, t: Seconds, events: &mut Vec<Event>) {
        let looked = self.roster.look_at_all(&self.context, &mut self.scratch);
        if looked.kin_ended {
            self.shared_memory.kin_ended(t);
        }
        self.say_all(looked.gaps, events);
        for index in looked.gone {
            let Some(left) = self.roster.let_go(index) else {
                continue;
            };
            self.progress.forget_process(index);
            self.software.forget(index);
            self.surroundings.forget_trainer(left.pid);
            if left.was_told {
                events.push(Event::Exited(index));
            }
        }
    }

    fn review_cast(&mut self, t: Seconds, events: &mut Vec<Event>) {
        let parts = self.roster.review(&self.proc_root, t);
        // Whoever is no trainer any more makes room for the one who is.
        for part in parts.iter().filter(|part| part.info.role != Role::Trainer) {
            self.follow_trainer(&part.info);
        }
        for Part {
            info,
            first,
            fork_copy,
        } in parts
        {
            if first && fork_copy {
                self.shared_memory.kin_came(&mut self.roster, t);
            }
            self.follow_trainer(&info);
            self.follow_software(&info);
            events.push(if first {
                Event::Appeared(info)
            } else {
                Event::Changed(info)
            });
        }
    }

    /// Steps are read from the trainers, and limits are theirs. Who was taken for one and is not is
    /// let go.
    fn follow_trainer(&mut self, info: &ProcessInfo) {
        let (index, pid) = (info.index, info.key.pid);
        match self.roster.trainer_change(info) {
            Some(true) => {
                self.progress
                    .watch_process(&self.proc_root, index, pid, info.rank);
                self.surroundings.follow_trainer(pid);
            }
            Some(false) => {
                self.progress.forget_process(index);
                self.surroundings.forget_trainer(pid);
            }
            None => {}
        }
    }

    fn follow_software(&mut self, info: &ProcessInfo) {
        if info.role == Role::Trainer {
            let process = self.roster.find_mut(info.index);
            self.software
                .follow(info, || process?.handle().directory().ok());
        }
    }

    /// What was learned of trainers' software since they were told of.
    fn tell_software(&mut self, events: &mut Vec<Event>) {
        for news in self.software.news() {
            match news {
                Event::Gap(gap) => self.say_all([gap], events),
                news => events.push(news),
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
        let news = self.progress.poll(t, now.wall());
        events.extend(news.marks.into_iter().map(Event::Mark));
        self.say_all(news.gaps, events);
        self.surroundings.read_gpu(t, self.roster.watched_mut());
        let processes = self.roster.readings();
        self.total = TreeMemory::of(&processes, t).total;
        let around = self.surroundings.read(t, self.total);
        let gaps = self.surroundings.take_gaps();
        self.say_all(gaps, events);
        self.context.swap_in_use = around.machine.swap_used.is_none_or(|used| used.0 > 0);
        Sample {
            t,
            progress: self.progress.progress().clone(),
            processes,
            mappings: self.shared_memory.mappings(),
            machine: around.machine,
            cgroup: around.cgroup,
            ceiling: around.ceiling,
            cost: OwnCost {
                cpu: CpuMillis(u64::try_from(process_cpu().as_millis()).unwrap_or(u64::MAX)),
                rss: self.surroundings.own_rss(&mut self.scratch),
                tick_us: u32::try_from(thread_cpu().saturating_sub(cpu_before).as_micros())
                    .unwrap_or(u32::MAX),
            },
        }
    }

    /// Each gap is told once.
    fn say_all(&mut self, gaps: impl IntoIterator<Item = Gap>, events: &mut Vec<Event>) {
        for gap in gaps {
            if self.said.len() < GAPS_TOLD && self.said.insert(gap.clone()) {
                events.push(Event::Gap(gap));
            }
        }
    }
}
