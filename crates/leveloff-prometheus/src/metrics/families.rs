//! The names of the metrics. `docs/METRICS.md` explains each.

use std::collections::BTreeMap;
use std::time::SystemTime;

use leveloff_classifier::run_analysis::GroupAccount;
use leveloff_classifier::verdict::{Grade, LevelGrade, Verdict};
use leveloff_model::process::{Rank, Role};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Bytes;

use super::exposition::{Family, Label, MetricKind, Point};
use super::snapshot::{SampleNumbers, Snapshot};

/// The verdict's family, and the label that holds its states: in a state set they have one name.
pub const VERDICT: &str = "leveloff_verdict";

/// What the training counts inside, by family and unit.
const INSIDE: [(TrainingCounter, &str, Option<&str>, &str); 8] = [
    (
        TrainingCounter::Tensors,
        "leveloff_tensors",
        None,
        "Live tensors, on all devices",
    ),
    (
        TrainingCounter::TensorBytes,
        "leveloff_tensor",
        BYTES,
        "Bytes in live tensors, on all devices",
    ),
    (
        TrainingCounter::GcObjects,
        "leveloff_gc_objects",
        None,
        "Objects that Python's garbage collector tracks",
    ),
    (
        TrainingCounter::MallocUsed,
        "leveloff_malloc_used",
        BYTES,
        "Bytes that native code holds from malloc",
    ),
    (
        TrainingCounter::MallocFree,
        "leveloff_malloc_free",
        BYTES,
        "Bytes that were freed and that malloc has kept",
    ),
    (
        TrainingCounter::CudaReserved,
        "leveloff_cuda_reserved",
        BYTES,
        "Bytes that the CUDA allocator holds",
    ),
    (
        TrainingCounter::CudaAllocated,
        "leveloff_cuda_allocated",
        BYTES,
        "Bytes of the CUDA allocator that are in tensors",
    ),
    (
        TrainingCounter::Pinned,
        "leveloff_pinned",
        BYTES,
        "Page-locked host memory that CUDA's host allocator holds",
    ),
];

const BYTES: Option<&str> = Some("bytes");

const SECONDS: Option<&str> = Some("seconds");

/// All that is known, by name. A family of which nothing is known is not there.
pub fn families(snapshot: &Snapshot) -> Vec<Family> {
    let mut list = FamilyList {
        snapshot,
        families: Vec::new(),
    };
    list.add_info();
    if let Some(sample) = &snapshot.sample {
        list.add_memory(sample);
        list.add_progress(sample);
        list.add_machine(sample);
    }
    list.add_verdict_numbers();
    list.families.retain(|family| !family.points.is_empty());
    list.families
}

struct FamilyList<'a> {
    snapshot: &'a Snapshot,
    families: Vec<Family>,
}

impl FamilyList<'_> {
    fn add_info(&mut self) {
        let mut labels = self.labels();
        labels.push(("version", env!("CARGO_PKG_VERSION").to_owned()));
        self.add(Family {
            stem: "leveloff",
            unit: None,
            help: "The version that publishes these metrics, always 1",
            kind: MetricKind::Info,
            points: vec![Point { labels, value: 1.0 }],
        });
    }

    fn add_memory(&mut self, sample: &SampleNumbers) {
        let by_role = |amount: fn(&GroupAccount) -> Option<f64>| -> Vec<Point> {
            let parts = sample.roles.iter();
            let point = |(&(rank, role), part): (&(Option<Rank>, Role), &GroupAccount)| {
                let mut labels = self.labels_of(rank);
                labels.push(("role", role.name().to_owned()));
                let value = amount(part)?;
                Some(Point { labels, value })
            };
            parts.filter_map(point).collect()
        };
        let gauge = |stem, unit, help, points| Family {
            stem,
            unit,
            help,
            kind: MetricKind::Gauge,
            points,
        };
        let memory = gauge(
            "leveloff_memory",
            BYTES,
            "Memory that processes of this role really hold, swap included, shared pages counted once",
            by_role(|part| Some(amount(part.memory.now))),
        );
        let kinds = gauge(
            "leveloff_memory_kind",
            BYTES,
            "The same memory by kind: anonymous, shared, swap",
            self.kinds(sample),
        );
        let rss = gauge(
            "leveloff_rss_sum",
            BYTES,
            "Sum of RSS, which counts a shared page once for each process that maps it",
            by_role(|part| Some(amount(part.rss))),
        );
        let gpu = gauge(
            "leveloff_gpu_memory",
            BYTES,
            "GPU memory as reported by the driver",
            by_role(|part| part.gpu.map(amount)),
        );
        let processes = gauge(
            "leveloff_processes",
            None,
            "Living processes",
            by_role(|part| Some(f64::from(part.processes))),
        );
        self.families.extend([memory, kinds, rss, gpu, processes]);
    }

    fn kinds(&self, sample: &SampleNumbers) -> Vec<Point> {
        let mut by_rank: BTreeMap<Option<Rank>, [Bytes; 3]> = BTreeMap::new();
        for (&(rank, _), part) in &sample.roles {
            let sums = by_rank.entry(rank).or_default();
            let parts = [part.anonymous(), part.shared, part.swapped];
            for (sum, part) in sums.iter_mut().zip(parts) {
                *sum += part;
            }
        }
        let mut points = Vec::new();
        for (rank, sums) in by_rank {
            for (kind, sum) in ["anonymous", "shared", "swap"].into_iter().zip(sums) {
                let mut labels = self.labels_of(rank);
                labels.push(("kind", kind.to_owned()));
                let value = amount(sum);
                points.push(Point { labels, value });
            }
        }
        points
    }

    fn add_progress(&mut self, sample: &SampleNumbers) {
        let step = sample.step.map(|step| step.0 as f64);
        self.add_gauge("leveloff_step", None, "The training's step", step);
        let planned = sample.planned_steps.map(|step| step.0 as f64);
        let help = "How many steps the training plans";
        self.add_gauge("leveloff_planned_steps", None, help, planned);
        for (fact, stem, unit, help) in INSIDE {
            let value = sample.counters.get(fact).map(|value| value as f64);
            self.add_gauge(stem, unit, help, value);
        }
    }

    fn add_machine(&mut self, sample: &SampleNumbers) {
        let ratio = Some("ratio");
        let help = "Share of the last 10 s in which some task of the machine waited for memory";
        self.add_gauge("leveloff_pressure_some", ratio, help, sample.pressure_some);
        let help = "Share of the last 10 s in which all tasks of the machine waited for memory";
        self.add_gauge("leveloff_pressure_full", ratio, help, sample.pressure_full);
        let help = "CPU time that leveloff itself has used";
        let cpu = Some(sample.cost.cpu.0 as f64 / 1000.0);
        self.add_one("leveloff_own_cpu", SECONDS, help, MetricKind::Counter, cpu);
        let help = "Resident memory of leveloff itself";
        let own = Some(amount(sample.cost.rss));
        self.add_gauge("leveloff_own_memory", BYTES, help, own);
        let help = "When the newest sample was taken, since 1970";
        let at = sample
            .at
            .and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let at = at.map(|at| at.as_secs_f64());
        self.add_gauge("leveloff_sample_timestamp", SECONDS, help, at);
    }

    fn add_verdict_numbers(&mut self) {
        let verdict = self.snapshot.verdict;
        let sample = self.snapshot.sample.as_ref();
        let ceiling = verdict.and_then(|verdict| verdict.ceiling);
        let ceiling = ceiling.or_else(|| sample.and_then(|sample| sample.ceiling));
        let help = "The amount of the run's memory at which the nearest limit is met";
        self.add_gauge("leveloff_ceiling", BYTES, help, ceiling.map(amount));
        let Some(verdict) = verdict else { return };
        let growth = verdict.growth.unwrap_or_default();
        let help = "Growth of the run's memory, as judged";
        let per_step = Some("bytes_per_step");
        self.add_gauge("leveloff_growth", per_step, help, growth.per_step);
        let per_second = Some("bytes_per_second");
        self.add_gauge("leveloff_growth", per_second, help, growth.per_second);
        let help = "Time until the ceiling is met if the growth continues";
        let time = verdict.to_ceiling.map(|time| time.0);
        // The unit is not at the end of this name, so it is not given as one.
        self.add_gauge("leveloff_seconds_to_ceiling", None, help, time);
        self.add_verdict(verdict.verdict);
    }

    fn add_verdict(&mut self, verdict: Verdict) {
        let states = [
            Verdict::WarmingUp,
            Verdict::Level(LevelGrade::Confirmed),
            Verdict::Leak(Grade::Confirmed),
            Verdict::Undecided,
        ];
        // An alert on `leak` must not fire for a suspicion.
        let shown = match verdict {
            Verdict::Leak(Grade::Suspected) => Verdict::WarmingUp,
            verdict => verdict,
        };
        let points = states.map(|state| {
            let mut labels = self.labels();
            labels.push((VERDICT, state.name().to_owned()));
            let value = f64::from(u8::from(state.name() == shown.name()));
            Point { labels, value }
        });
        self.add(Family {
            stem: VERDICT,
            unit: None,
            help: "The verdict on the run: 1 for the state that holds",
            kind: MetricKind::StateSet,
            points: points.into(),
        });
    }

    fn add_gauge(
        &mut self,
        stem: &'static str,
        unit: Option<&'static str>,
        help: &'static str,
        value: Option<f64>,
    ) {
        self.add_one(stem, unit, help, MetricKind::Gauge, value);
    }

    /// A number of the whole run.
    fn add_one(
        &mut self,
        stem: &'static str,
        unit: Option<&'static str>,
        help: &'static str,
        kind: MetricKind,
        value: Option<f64>,
    ) {
        let labels = self.labels();
        let points = value.filter(|value| value.is_finite());
        self.add(Family {
            stem,
            unit,
            help,
            kind,
            points: points
                .map(|value| Point { labels, value })
                .into_iter()
                .collect(),
        });
    }

    fn add(&mut self, family: Family) {
        self.families.push(family);
    }

    fn labels(&self) -> Vec<Label> {
        self.labels_of(self.snapshot.rank)
    }

    fn labels_of(&self, rank: Option<Rank>) -> Vec<Label> {
        let job = ("job", self.snapshot.identity.job.clone());
        let rank = rank.map(|rank| ("rank", rank.to_string()));
        std::iter::once(job).chain(rank).collect()
    }
}

fn amount(bytes: Bytes) -> f64 {
    bytes.0 as f64
}
