//! What there are curves of.

use leveloff_model::folded::Reach;
use leveloff_model::process::Role;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Bytes;

use crate::observation::Observation;
use crate::verdict::Kind;

/// What a curve is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Series {
    /// Memory that the run really holds.
    Memory,
    /// What a sum of RSS says.
    RssSum,
    /// Memory of all processes of a role.
    Role(Role),
    /// One kind of memory of all processes.
    Kind(Kind),
    /// Something that the training counts inside.
    Counter(TrainingCounter),
    /// GPU memory of all processes, as the driver reports it.
    Gpu,
}

/// How far each series reached, by [`Series::index`].
pub(super) type Values = [Option<Reach>; Series::COUNT];

const ROLES_FROM: usize = 2;
const KINDS_FROM: usize = ROLES_FROM + Role::ALL.len();
const GPU_AT: usize = KINDS_FROM + Kind::ALL.len();
const INSIDE_FROM: usize = GPU_AT + 1;

impl Series {
    pub(super) const COUNT: usize = INSIDE_FROM + TrainingCounter::COUNT;

    /// Every series there may be, in the order of reading.
    pub fn all() -> impl Iterator<Item = Series> {
        let whole = [Series::Memory, Series::RssSum].into_iter();
        let roles = Role::ALL.into_iter().map(Series::Role);
        let kinds = Kind::ALL.into_iter().map(Series::Kind);
        let inside = TrainingCounter::ALL.into_iter().map(Series::Counter);
        let gpu = [Series::Gpu];
        whole.chain(roles).chain(kinds).chain(inside).chain(gpu)
    }

    /// Its name in files: `memory`, `trainer`, `anon`.
    pub fn name(self) -> &'static str {
        match self {
            Series::Memory => "memory",
            Series::RssSum => "rss_sum",
            Series::Role(role) => role.name(),
            Series::Kind(kind) => kind.name(),
            Series::Counter(fact) => fact.name().trim_end_matches("_bytes"),
            Series::Gpu => "gpu",
        }
    }

    /// Whether it is an amount of memory, and not a count.
    pub fn is_bytes(self) -> bool {
        match self {
            Series::Kind(kind) => kind != Kind::Descriptors,
            Series::Counter(fact) => fact.is_bytes(),
            _ => true,
        }
    }

    /// Whether it changes with the run. What a trim gave back is one number, and what the training has worked through is a clock.
    pub(super) fn is_curve(self) -> bool {
        !matches!(
            self,
            Series::Counter(
                TrainingCounter::Trimmed
                    | TrainingCounter::TensorCounts
                    | TrainingCounter::MallocCounts
                    | TrainingCounter::Samples
                    | TrainingCounter::Tokens
                    | TrainingCounter::Episodes
                    | TrainingCounter::Compilations
                    | TrainingCounter::Recompilations
                    | TrainingCounter::InputShapes
            )
        )
    }

    pub(super) fn index(self) -> usize {
        match self {
            Series::Memory => 0,
            Series::RssSum => 1,
            Series::Role(role) => ROLES_FROM + role as usize,
            Series::Kind(kind) => KINDS_FROM + kind as usize,
            Series::Gpu => GPU_AT,
            Series::Counter(fact) => INSIDE_FROM + fact as usize,
        }
    }
}

/// What each series has in one observation.
pub(super) fn values(observation: &Observation) -> Values {
    let mut values = [None; Series::COUNT];
    let mut set = |series: Series, value: f64| {
        let value = Reach::at(value);
        let place: &mut Option<Reach> = &mut values[series.index()];
        // Processes of a role add up.
        *place = Some(place.map_or(value, |sum| Reach::at(sum.high + value.high)));
    };
    let bytes = |amount: Bytes| amount.0 as f64;
    set(Series::Memory, bytes(observation.memory));
    for process in &observation.processes {
        set(Series::Role(process.role), bytes(process.memory));
        set(Series::Kind(Kind::Anonymous), bytes(process.anonymous()));
        set(Series::Kind(Kind::Shared), bytes(process.shared));
        set(Series::Kind(Kind::Swap), bytes(process.swapped));
        if let Some(fds) = process.fds {
            set(Series::Kind(Kind::Descriptors), f64::from(fds));
        }
    }
    let amounts = [
        (Series::RssSum, observation.rss_sum),
        (Series::Kind(Kind::DevShm), observation.devshm),
        (Series::Kind(Kind::Memfd), observation.memfd_own),
        (Series::Gpu, observation.gpu_bytes),
    ];
    for (series, amount) in amounts {
        if let Some(amount) = amount {
            set(series, bytes(amount));
        }
    }
    for (fact, value) in observation.counters.known() {
        set(Series::Counter(fact), value as f64);
    }
    values
}
