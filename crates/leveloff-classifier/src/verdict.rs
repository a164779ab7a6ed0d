//! The verdict on a curve, and on a run. A verdict carries its evidence: screen, report, JSON
//! and CI print these numbers and recompute none.

use leveloff_model::process::{Pid, Rank, Role};
use leveloff_model::recording::EarlierRuns;
use leveloff_model::sample::CeilingKind;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::{Bytes, Seconds};

pub use crate::clock_tick::ClockTick;
use crate::finding::Finding;
use crate::known_bugs::SuspectedBug;
use crate::observation::XUnit;
use crate::units::{Amount, AmountPerX, X};

/// Does it level off, or does it leak?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Growing, and not decidable yet.
    WarmingUp,
    /// It levelled off, or never grew.
    Level(LevelGrade),
    /// It leaks.
    Leak(Grade),
    /// Not decidable, and growth is not the reason.
    Undecided,
}

/// How sure a level is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LevelGrade {
    /// Flat so far. Growth that would matter by the end cannot be ruled out ([`Judgement::hidden`]).
    Early,
    /// Growth that would matter by the end is ruled out.
    Confirmed,
}

/// How sure a leak is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Grade {
    /// Straight growth through the newer half of what was seen, with no known reason to stop. Healthy warmups may still last
    /// as long.
    Suspected,
    /// It has outlived nearly all healthy warmups, or a stated horizon.
    Early,
    /// It is twice as old as that.
    Confirmed,
}

/// What the curve looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// No growth.
    Flat,
    /// Growth that bends or has stopped.
    Saturating,
    /// Straight growth.
    Linear,
    /// Growth in lasting jumps.
    Staircase,
    /// Rises and falls again and again.
    Sawtooth,
    /// One lasting jump.
    Jump,
    /// Falling.
    Shrinking,
    /// Certain growth that is too slow to matter yet.
    Creeping,
    /// Growth that fills something of a known size: a cache of the data set within the first epoch, or a reserved mapping.
    Filling,
}

/// A rate of growth, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The estimate.
    pub value: AmountPerX,
    /// The lower end of its interval, which is safe to look at again and again.
    pub low: AmountPerX,
    /// The upper end.
    pub high: AmountPerX,
}

/// The verdict on one curve, with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The shape.
    pub shape: Shape,
    /// Growth now, if anything grows: over the growth run or, for a level curve, an upper bound.
    pub rate: Option<Rate>,
    /// Where the growth that is judged began.
    pub onset_x: Option<X>,
    /// How high it was there.
    pub onset_level: Option<Amount>,
    /// The level now: the lower envelope of a sawtooth, the newest fitted value of growth.
    pub level: Option<Amount>,
    /// Since when it has been level.
    pub level_since_x: Option<X>,
    /// The first x at which this verdict was possible.
    pub decided_at_x: Option<X>,
    /// For what is not decided: by when it will be.
    pub decide_by: Option<DecideBy>,
    /// Why it is not decided, or what the verdict rests on.
    pub reason: Reason,
    /// The share of healthy warmups that are still growing at this age.
    pub healthy_share: Option<f64>,
    /// Scale of the noise around the curve.
    pub noise: Amount,
    /// Autocorrelation of that noise from one point to the next.
    pub autocorrelation: f64,
    /// The period of a sawtooth, or the usual distance of jumps.
    pub period: Option<X>,
    /// Growth below this is immaterial: below the reporting threshold.
    pub material: Amount,
    /// Of what is not known to grow: the growth that the noise may hide, where that would matter.
    pub hidden: Option<HiddenGrowth>,
    /// Of growth within the first epoch: the cache of the data set that would explain it, once it is full.
    pub full_cache: Option<FullCache>,
    /// Of growth that fills a reserved mapping: that mapping, and where it is full.
    pub full_mapping: Option<FullMapping>,
    /// The first and the last x judged.
    pub span: Option<(X, X)>,
    /// On a time axis: where the start-up ended, which is not judged.
    pub startup_end: Option<X>,
    /// The first, the highest and the newest value judged.
    pub extremes: Option<Extremes>,
    /// Points judged.
    pub points: u64,
}

/// Where a curve began, how high it got, where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extremes {
    /// Its first value.
    pub first: Amount,
    /// Its highest.
    pub peak: Amount,
    /// Its newest.
    pub last: Amount,
}

/// Growth that cannot be ruled out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HiddenGrowth {
    /// The fastest growth that the noise may hide.
    pub rate: AmountPerX,
    /// What it would add by the horizon.
    pub adds: Amount,
    /// The horizon: the planned end, and at least as far again as was seen.
    pub by: X,
    /// How much more x would rule it out, if no growth is there.
    pub decided_after: X,
}

/// A cache of the data set at the end of the first epoch, if growth goes on as it is until then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullCache {
    /// Where that epoch ends.
    pub at: X,
    /// What the run holds there.
    pub amount: Amount,
}

/// A reserved mapping that memory fills, if growth goes on as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullMapping {
    /// Where it is full.
    pub at: X,
    /// Its size.
    pub size: Amount,
}

/// When an open question will be settled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecideBy {
    /// If it stops growing now, it can be called level about here.
    pub if_it_levels: X,
    /// If it goes on as it is, it can be called a leak about here.
    pub if_it_goes_on: X,
    /// It can be called level about so long after it stops growing.
    pub level_after: X,
}

/// The one sentence behind a verdict; the screen words it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// Fewer points than any statement needs.
    TooFewPoints {
        /// How many more are needed.
        missing: u64,
    },
    /// It grows, but healthy warmups grow for as long.
    YoungGrowth,
    /// It grows more slowly than before.
    Bending,
    /// The interval of the rate still holds zero.
    NoisyGrowth,
    /// It grew and has been flat too shortly.
    ShortPlateau,
    /// Growth inside the first epoch may be a cache that fills.
    FirstEpoch,
    /// It fills a mapping that was reserved at once, and that is not full yet.
    FillsMapping,
    /// Growth outlived healthy warmups.
    Outlived,
    /// Growth went on after the stated horizon.
    PastHorizon,
    /// Lasting jumps came again and again.
    Jumps,
    /// No material growth.
    Steady,
    /// Its lower envelope does not grow.
    Returns,
    /// It rose steeply and stops at the limit: that is the ceiling, not a level.
    AtCeiling,
    /// It falls.
    Falls,
    /// It certainly grows, but by an immaterial amount.
    Immaterial,
    /// It varies without a trend that is significant beside its noise.
    Wanders,
    /// Growth goes on straight, with no known reason to stop.
    Unexcused,
    /// Slow growth that is certain, and reaches the limit before the planned end.
    CeilingWithinPlan,
    /// A leak that matters would not stand out from the noise yet.
    LowPower,
    /// A loop that reproduces a leak grows straight behind its first calls.
    Reproduced,
}

/// The verdict on a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunVerdict {
    /// The verdict of the run: the worst that the evidence supports.
    pub verdict: Verdict,
    /// Its shape.
    pub shape: Shape,
    /// What x counts.
    pub x_unit: XUnit,
    /// Seconds that one unit of x takes, when both are known and x is not seconds.
    pub pace: Option<Seconds>,
    /// The series that decided: usually the run's memory.
    pub decisive: Subject,
    /// The judgement of that series.
    pub judgement: Judgement,
    /// The judgement of the run's memory as a whole.
    pub memory: Judgement,
    /// The nearest limit, in terms of the run's memory, whether or not anything grows towards it.
    pub limit: Option<Bytes>,
    /// If growth goes on: when the ceiling is met.
    pub risk: Option<Risk>,
    /// Whether the run ends before its memory meets the limit.
    pub will_finish: WillFinish,
    /// By when memory has to be level, where that is stated or known.
    pub horizon: Option<X>,
    /// Where the horizon comes from that growth is held against.
    pub horizon_source: HorizonSource,
    /// The run beside earlier ones of the same job, where they give the horizon.
    pub history: Option<HistoryCheck>,
    /// Who and what grew, as shares that add up to one; largest first. Empty when nothing grew or
    /// the source does not know processes.
    pub blame: Vec<Blame>,
    /// What makes it grow.
    pub clock: Option<Clock>,
    /// What else the evidence shows, strongest evidence first.
    pub findings: Vec<Finding>,
    /// Public bugs that it looks like.
    pub known_bugs: Vec<SuspectedBug>,
    /// Every series that was judged.
    pub subjects: Vec<(Subject, Judgement)>,
    /// Observations that were taken.
    pub points: u64,
    /// From the first to the newest x. The newest is not judged yet.
    pub span: Option<(X, X)>,
    /// Time from the first to the last observation.
    pub duration: Option<Seconds>,
}

/// A series of a run that is judged on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// The run's memory.
    Memory,
    /// The memory of all processes of a role.
    Role(Role),
    /// One kind of memory of all processes of a role.
    RoleKind(Role, Kind),
    /// One process's memory.
    Process(Pid, Role),
    /// Files in /dev/shm.
    DevShm,
    /// Open descriptors of the whole tree.
    Descriptors,
    /// Living processes.
    Processes,
    /// Something that the training counts inside.
    Counter(TrainingCounter),
}

/// Kinds of memory that every sample distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Heap, arenas, large blocks, tensors.
    Anonymous,
    /// /dev/shm and memfd mappings.
    Shared,
    /// Files in /dev/shm that no process maps.
    DevShm,
    /// memfds that processes of the run hold and none maps.
    Memfd,
    /// Swapped out.
    Swap,
    /// Open descriptors, where they pile up and memory does not: files, or shared memory that
    /// no process maps.
    Descriptors,
}

/// One part of the growth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blame {
    /// The role that grew; `None` for what belongs to no process.
    pub role: Option<Role>,
    /// The process, when one stands for nearly all of the role's growth.
    pub pid: Option<Pid>,
    /// The rank of that process.
    pub rank: Option<Rank>,
    /// Which of the data loader's workers that process is, by the order in which they started.
    pub worker: Option<u32>,
    /// What grew.
    pub kind: Kind,
    /// Its share of what grew, from 0 to 1; all shares add up to 1.
    pub share: f64,
    /// How much it grew since the onset.
    pub growth: Amount,
}

/// If growth goes on as it is: when the ceiling is met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Risk {
    /// The ceiling, in terms of the run's memory.
    pub limit: Bytes,
    /// What it is.
    pub kind: CeilingKind,
    /// Where it is met.
    pub at_x: X,
    /// At the fastest growth that the interval allows.
    pub earliest_x: X,
    /// At the slowest; `None` when the interval allows no growth at all.
    pub latest_x: Option<X>,
    /// Time until then from the newest observation, when the pace is known.
    pub in_time: Option<Seconds>,
}

/// Whether a run reaches its planned end below the limit, if memory goes on as it does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WillFinish {
    /// It does, with this much memory at the planned end.
    Yes(AtPlannedEnd),
    /// It does not: the limit is met before.
    No(MetLimit),
    /// That is not known.
    Unknown(WhyUnknown),
}

/// Why it is not known whether a run finishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyUnknown {
    /// How far it is going to go is not known.
    NoPlan,
    /// No limit is known.
    NoLimit,
    /// Memory was at the limit already.
    WasAtLimit,
    /// The evidence allows both.
    Open,
}

/// Where the horizon comes from that growth is held against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HorizonSource {
    /// How long healthy warmups last.
    #[default]
    Prior,
    /// The user, or a check.
    Stated,
    /// The same, with the planned end or the length of an epoch known.
    Plan,
    /// Earlier runs of the same job.
    History,
}

/// A run beside earlier runs of the same job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistoryCheck {
    /// How they ended.
    pub earlier: EarlierRuns,
    /// Whether this run was not level where they were.
    pub is_contradicted: bool,
}

/// A run at its planned end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AtPlannedEnd {
    /// The planned end.
    pub planned: X,
    /// Memory there.
    pub memory: Amount,
    /// The limit.
    pub limit: Bytes,
}

/// A limit that is met before the planned end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetLimit {
    /// The planned end.
    pub planned: X,
    /// Where the limit is met.
    pub at: X,
    /// At the fastest growth that the interval allows, if there is an interval.
    pub earliest: Option<X>,
    /// At the slowest.
    pub latest: Option<X>,
    /// Time until then, when the pace is known.
    pub in_time: Option<Seconds>,
    /// The limit.
    pub limit: Bytes,
}

/// What makes memory grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    /// What ticks.
    pub tick: ClockTick,
    /// Events of other kinds that coincide with it, so that the growth may be theirs as well.
    pub coincident: Vec<ClockTick>,
    /// Growth at each tick.
    pub growth: Amount,
    /// Ticks seen since the onset.
    pub ticks: u64,
    /// Distance of ticks in x.
    pub every: Option<X>,
}

impl Rate {
    /// A bound, of which only the upper end is known.
    pub fn at_most(rate: AmountPerX) -> Rate {
        Rate {
            value: rate,
            low: rate,
            high: rate,
        }
    }

    /// A line's slope, as far as its interval reaches to either side.
    pub(crate) fn around(slope: f64, reach: f64) -> Rate {
        Rate {
            value: AmountPerX(slope),
            low: AmountPerX(slope - reach),
            high: AmountPerX(slope + reach),
        }
    }
}

impl DecideBy {
    /// The first x at which the question may be settled.
    pub fn earliest(&self) -> X {
        self.if_it_levels.min(self.if_it_goes_on)
    }
}

impl RunVerdict {
    /// Where all growth of the run counts from: the onset of the growth that is judged; the first judged x
    /// where nothing grows.
    pub fn growth_since_x(&self) -> Option<X> {
        let first = self.judgement.span.map(|(first, _)| first);
        self.judgement.onset_x.or(first)
    }
}

impl HorizonSource {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            HorizonSource::Prior => "prior",
            HorizonSource::Stated => "stated",
            HorizonSource::Plan => "plan",
            HorizonSource::History => "history",
        }
    }
}

impl WillFinish {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            WillFinish::Yes(_) => "finishes",
            WillFinish::No(_) => "killed",
            WillFinish::Unknown(_) => "unknown",
        }
    }
}

impl Verdict {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::WarmingUp => "warming_up",
            Verdict::Level(_) => "level",
            Verdict::Leak(_) => "leak",
            Verdict::Undecided => "undecided",
        }
    }

    /// The grade of a leak.
    pub fn grade(self) -> Option<Grade> {
        match self {
            Verdict::Leak(grade) => Some(grade),
            _ => None,
        }
    }

    /// The name of the grade in JSON, of a leak or of a level.
    pub fn grade_name(self) -> Option<&'static str> {
        match self {
            Verdict::Leak(grade) => Some(grade.name()),
            Verdict::Level(grade) => Some(grade.name()),
            Verdict::WarmingUp | Verdict::Undecided => None,
        }
    }

    /// Whether it is level, of either grade.
    pub fn is_level(self) -> bool {
        matches!(self, Verdict::Level(_))
    }

    /// Whether it is a leak that was called: early or confirmed. A suspicion is not an alarm.
    pub fn is_alarm(self) -> bool {
        matches!(self, Verdict::Leak(Grade::Early | Grade::Confirmed))
    }
}

impl LevelGrade {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            LevelGrade::Early => "early",
            LevelGrade::Confirmed => "confirmed",
        }
    }
}

impl Grade {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Suspected => "suspected",
            Grade::Early => "early",
            Grade::Confirmed => "confirmed",
        }
    }
}

impl Shape {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Flat => "flat",
            Shape::Saturating => "saturating",
            Shape::Linear => "linear",
            Shape::Staircase => "staircase",
            Shape::Sawtooth => "sawtooth",
            Shape::Jump => "jump",
            Shape::Shrinking => "shrinking",
            Shape::Creeping => "creeping",
            Shape::Filling => "filling",
        }
    }
}

impl Kind {
    /// Every kind, in the order of reading.
    pub const ALL: [Kind; 6] = [
        Kind::Anonymous,
        Kind::Shared,
        Kind::DevShm,
        Kind::Memfd,
        Kind::Swap,
        Kind::Descriptors,
    ];

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Anonymous => "anon",
            Kind::Shared => "shmem",
            Kind::DevShm => "devshm",
            Kind::Memfd => "memfd",
            Kind::Swap => "swap",
            Kind::Descriptors => "fds",
        }
    }
}
