//! The sampler: everything that one look at a run takes, in order.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, Role};
use leveloff_model::sample::{
    Event, Gap, MappingReading, OwnCost, Sample, Subject, Tick, TreeMemory,
};
use leveloff_model::units::{Bytes, CpuMillis, Limit, Seconds};
use rustix::io::Errno;

use crate::budget::CpuBudget;
use crate::cast::{Cast, Part, anyone_training};
use crate::clock::{Clock, Moment, SystemClock, process_cpu, thread_cpu};
use crate::detail::{Detail, DetailReader, Outcome, Request};
use crate::doubt::tolerable;
use crate::handle::{self, SCRATCH_SIZE, Scratch};
use crate::proc_root::ProcRoot;
use crate::progress::{OutputStream, ProgressError, ProgressOptions, ProgressTracker};
use crate::pss_plan;
use crate::surroundings::Surroundings;
use crate::tree::{Scope, Tree};
use crate::watched::{FastContext, Look, Watched};

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
    tree: Tree,
    roots: Vec<ProcessKey>,
    watched: Vec<Watched>,
    cast: Cast,
    trainers: HashSet<ProcessIndex>,
    detail: DetailReader,
    /// Readings that were waited for, to be taken in by the next tick.
    arrived: Vec<Detail>,
    budget: CpuBudget,
    kin: KinFlux,
    mappings: Option<MappingReading>,
    /// The tree's memory at the last tick.
    total: Bytes,
    surroundings: Surroundings,
    progress: ProgressTracker,
    context: FastContext,
    scratch: Box<Scratch>,
    said: HashSet<Gap>,
    last_tick_cost: Duration,
}

/// Forks come in bursts. Reading PSS in the middle of one gives numbers that the next fork makes
/// wrong, so readings wait until it is over, within reason.
#[derive(Debug, Default)]
struct KinFlux {
    last_change: Option<Seconds>,
    unsettled_since: Option<Seconds>,
}

/// A burst of forks is over when nobody came or went for this long.
const KIN_SETTLED: Seconds = Seconds(0.9);

/// Forks that never stop must not keep PSS from being read.
const KIN_PATIENCE: Seconds = Seconds(10.0);

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
        let roots = match &options.scope {
            Scope::Descendants(roots) => roots.clone(),
            Scope::Everyone => Vec::new(),
        };
        let root_pid = roots.first().map(|key| key.pid);
        let mut tree = Tree::new(proc_root.clone(), options.scope).excluding(options.ours);
        if let Some(adopter) = options.adopter {
            tree = tree.with_sure_adopter(adopter);
        }
        Ok(Sampler {
            started,
            last: None,
            last_t: Seconds(0.0),
            interval: options.interval,
            tree,
            roots,
            watched: Vec::new(),
            cast: Cast::new(root_pid),
            trainers: HashSet::new(),
            detail: DetailReader::start(Arc::clone(&clock)).map_err(SamplerError::Thread)?,
            arrived: Vec::new(),
            budget: CpuBudget::percent(options.pss_budget_percent),
            kin: KinFlux::default(),
            mappings: None,
            total: Bytes::ZERO,
            surroundings: Surroundings::new(&proc_root, root_pid, options.limit),
            progress: ProgressTracker::new(ProgressOptions {
                log: options.log,
                has_output: options.has_output,
            })?,
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

    /// Whether there is nobody left to watch: the roots are gone and no other process trains.
    pub fn is_over(&self) -> bool {
        if self.roots.is_empty() {
            return false;
        }
        let root_lives = self.watched.iter().any(|process| {
            self.roots.contains(&process.handle().key()) && process.reading().state != 'Z'
        });
        !root_lives && !anyone_training(self.cast.infos())
    }

    /// Every process that is or was just seen, with its part.
    pub fn infos(&self) -> impl Iterator<Item = &ProcessInfo> {
        self.cast.infos()
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
        self.budget.earn(elapsed);
        self.take_details(&mut events);
        self.take_in(t, &mut events)?;
        self.look_at_all(&mut events);
        self.review_cast(t, &mut events);
        self.plan_pss(t, elapsed);
        let sample = self.sample(now, t, cpu_before, &mut events);
        self.last = Some(now);
        self.context.tick += 1;
        self.last_tick_cost = thread_cpu().saturating_sub(cpu_before);
        Ok(Tick { events, sample })
    }

    /// Waits for the slow readings that are under way; the next tick has them.
    pub fn wait_for_details(&mut self) {
        self.arrived.extend(self.detail.wait());
    }

    /// CPU time of the last whole tick.
    pub fn last_tick_cost(&self) -> Duration {
        self.last_tick_cost
    }

    /// Seconds on the recording's clock: to the millisecond, and never back.
    fn recording_time(&mut self, moment: Moment) -> Seconds {
        let elapsed = moment.boot.saturating_sub(self.started.boot);
        let t = (elapsed.as_secs_f64() * 1000.0).round() / 1000.0;
        self.last_t = Seconds(t.max(self.last_t.0));
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

    fn take_details(&mut self, events: &mut Vec<Event>) {
        let mut details = std::mem::take(&mut self.arrived);
        details.extend(self.detail.finished());
        for detail in details {
            self.budget.spend(detail.cost);
            self.take_detail(&detail, events);
        }
    }

    fn take_detail(&mut self, detail: &Detail, events: &mut Vec<Event>) {
        let at = self.started.boot;
        let at =
            Seconds((detail.at.boot.saturating_sub(at).as_secs_f64() * 1000.0).round() / 1000.0);
        let Some(process) = self
            .watched
            .iter_mut()
            .find(|process| process.index() == detail.process)
        else {
            return;
        };
        match &detail.outcome {
            Outcome::Read(rollup, base, kinds) => {
                let surprise = process.take_pss(at, detail.cost, rollup, *base, kinds.as_ref());
                if surprise > tolerable(self.total) {
                    self.share_surprise(detail.process);
                }
                if let Some(kinds) = kinds {
                    self.mappings = Some(MappingReading {
                        process: detail.process,
                        at,
                        kinds: *kinds,
                    });
                }
            }
            Outcome::Gone => process.pss_failed(false),
            Outcome::Unreadable(errno) => {
                process.pss_failed(true);
                let pid = process.handle().key().pid;
                self.say(pss_gap(detail.process, pid, *errno), events);
            }
        }
    }

    /// A share that is not what it was thought to be changed the shares of those it shares with: a
    /// page that one copies for itself is the other's alone from then on.
    fn share_surprise(&mut self, surprised: ProcessIndex) {
        let sharers = self.sharers();
        let is_sharer = |process: &Watched| sharers.contains(&process.index());
        if self
            .watched
            .iter()
            .any(|process| process.index() == surprised && is_sharer(process))
        {
            for process in &mut self.watched {
                if is_sharer(process) && process.index() != surprised {
                    process.kin_changed();
                }
            }
        }
    }

    /// Forks that hold their parent's pages, and the parents.
    fn sharers(&self) -> HashSet<ProcessIndex> {
        let is_fork = |process: &&Watched| process.reading().inherited > Bytes::ZERO;
        let parents: HashSet<Pid> = self
            .watched
            .iter()
            .filter(is_fork)
            .map(Watched::parent)
            .collect();
        self.watched
            .iter()
            .filter(|process| is_fork(process) || parents.contains(&process.handle().key().pid))
            .map(Watched::index)
            .collect()
    }

    /// New processes, unless nobody was born.
    fn take_in(&mut self, t: Seconds, events: &mut Vec<Event>) -> Result<(), SamplerError> {
        let joined =
            self.tree
                .refresh(&mut self.scratch)
                .map_err(|source| SamplerError::NoProc {
                    path: self.proc_root.path().to_owned(),
                    source,
                })?;
        if self.context.tick == 0 && joined.is_empty() && !self.roots.is_empty() {
            return Err(SamplerError::Gone(self.roots[0].pid));
        }
        for process in joined {
            self.cast.joined(process.index, process.handle.key(), t);
            self.watched.push(Watched::new(
                process.index,
                process.handle,
                process.parent,
                t,
            ));
        }
        for (pid, error) in self.tree.take_refused() {
            let text = format!(
                "cannot watch process {pid}, which belongs to the run: {error}; it is missing from \
                 the totals. Out of descriptors? Raise the limit with `ulimit -n`"
            );
            self.say(
                Gap {
                    subject: Subject::Process,
                    process: None,
                    text,
                },
                events,
            );
        }
        Ok(())
    }

    fn look_at_all(&mut self, events: &mut Vec<Event>) {
        let mut gone = Vec::new();
        let mut gaps = Vec::new();
        for process in &mut self.watched {
            match process.look(&self.context, &mut self.scratch) {
                Look::There => {}
                Look::Renamed => self.cast.renamed(process.index()),
                Look::Gone => gone.push(process.index()),
                Look::Unreadable(errno) => gaps.push(Gap {
                    subject: Subject::Process,
                    process: Some(process.index()),
                    text: format!(
                        "cannot read process {}: {errno}",
                        process.handle().key().pid
                    ),
                }),
            }
        }
        for gap in gaps {
            self.say(gap, events);
        }
        for index in gone {
            self.let_go(index, events);
        }
    }

    fn let_go(&mut self, index: ProcessIndex, events: &mut Vec<Event>) {
        let Some(place) = self
            .watched
            .iter()
            .position(|process| process.index() == index)
        else {
            return;
        };
        let process = self.watched.remove(place);
        self.surroundings.forget_trainer(process.handle().key().pid);
        self.tree.remove(process.handle().key());
        if self.trainers.remove(&index) {
            self.progress.forget_process(index);
        }
        if process.reading().inherited > Bytes::ZERO {
            self.kin_changed();
        }
        if self.cast.left(index) {
            events.push(Event::Exited(index));
        }
    }

    fn review_cast(&mut self, t: Seconds, events: &mut Vec<Event>) {
        for part in self.cast.review(&self.proc_root, t) {
            let Part {
                info,
                first,
                fork_copy,
            } = part;
            if first && fork_copy {
                self.kin_changed();
            }
            if let Some(process) = self
                .watched
                .iter_mut()
                .find(|process| process.index() == info.index)
                && (first || !fork_copy)
            {
                process.set_fork_copy(fork_copy);
            }
            self.follow_trainer(&info);
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
        if info.role == Role::Trainer {
            if self.trainers.insert(index) {
                self.progress
                    .watch_process(&self.proc_root, index, pid, info.rank);
                self.surroundings.follow_trainer(pid);
            }
        } else if self.trainers.remove(&index) {
            self.progress.forget_process(index);
            self.surroundings.forget_trainer(pid);
        }
    }

    /// Someone who shares pages came or went: whoever shares must be read again.
    fn kin_changed(&mut self) {
        let sharers = self.sharers();
        for process in &mut self.watched {
            if sharers.contains(&process.index()) {
                process.kin_changed();
            }
        }
        self.kin.changed(self.last_t);
    }

    fn plan_pss(&mut self, t: Seconds, elapsed: Duration) {
        if !self.budget.is_open() || self.detail.is_busy() || !self.kin.is_settled(t) {
            return;
        }
        let candidates = pss_plan::candidates(&self.watched, t, self.context.page_size);
        let income = self.budget.income(elapsed);
        for candidate in pss_plan::affordable(&candidates, &self.budget, income) {
            let process = &mut self.watched[candidate.place];
            if let Ok(directory) = process.handle().directory() {
                process.pss_asked();
                self.detail.request(Request {
                    process: process.index(),
                    directory,
                    by_kind: candidate.by_kind,
                });
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
        for gap in news.gaps {
            self.say(gap, events);
        }
        self.surroundings.read_gpu(t, &mut self.watched);
        let processes: Vec<_> = self
            .announced()
            .map(|process| process.reading().clone())
            .collect();
        self.total = TreeMemory::of(&processes, t).total;
        let around = self.surroundings.read(t, self.total);
        for gap in self.surroundings.take_gaps() {
            self.say(gap, events);
        }
        self.context.swap_in_use = around.machine.swap_used.is_none_or(|used| used.0 > 0);
        Sample {
            t,
            progress: self.progress.progress().clone(),
            processes,
            mappings: self.mappings.clone(),
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

    /// Processes of which the recording knows who they are.
    fn announced(&self) -> impl Iterator<Item = &Watched> {
        self.watched
            .iter()
            .filter(|process| self.cast.info(process.index()).is_some())
    }

    /// Each gap is told once.
    fn say(&mut self, gap: Gap, events: &mut Vec<Event>) {
        if self.said.len() < GAPS_TOLD && self.said.insert(gap.clone()) {
            events.push(Event::Gap(gap));
        }
    }
}

impl KinFlux {
    fn changed(&mut self, t: Seconds) {
        self.last_change = Some(t);
        self.unsettled_since.get_or_insert(t);
    }

    fn is_settled(&mut self, t: Seconds) -> bool {
        let quiet = self
            .last_change
            .is_none_or(|at| (t - at).0 >= KIN_SETTLED.0);
        let patient = self
            .unsettled_since
            .is_some_and(|since| (t - since).0 < KIN_PATIENCE.0);
        if quiet || !patient {
            self.unsettled_since = None;
        }
        quiet || !patient
    }
}

fn pss_gap(process: ProcessIndex, pid: Pid, errno: Errno) -> Gap {
    let next = match errno {
        Errno::ACCESS | Errno::PERM => {
            "; its share is estimated from its RSS. Run leveloff as the same user or as root"
        }
        _ => "; its share is estimated from its RSS",
    };
    Gap {
        subject: Subject::Pss,
        process: Some(process),
        text: format!("cannot read memory detail of {pid}: {errno}{next}"),
    }
}
