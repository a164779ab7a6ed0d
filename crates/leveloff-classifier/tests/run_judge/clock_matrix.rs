//! Every cause of growth at every spacing of events and pace of steps, sampled once a second: the right clock is named,
//! or none.

use leveloff_classifier::observation::{CountAtMark, Observation};
use leveloff_classifier::verdict::{Clock, ClockTick};
use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::{Bytes, Seconds, Step};

use crate::made_up::{MIB, judged, trainer, wobble};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Cause {
    Even,
    Evaluation,
    Checkpoint,
    Epoch,
    Token,
    EvaluationAndCheckpoint,
}

/// A cell of the matrix.
#[derive(Debug, Clone, Copy)]
struct Cell {
    cause: Cause,
    /// Seconds of training between the events that are the cause, or that would be blamed wrongly.
    spacing: f64,
    steps_per_s: f64,
    /// MiB that come and go between samples.
    noise: f64,
    /// Whether what the training says arrives one sample late, as piped output does.
    is_late: bool,
    /// Whether memory is a heap, which keeps the room that an evaluation needed for a while, and malloc is counted every
    /// half second and at marks.
    is_heap: bool,
    seed: u32,
}

/// Evaluations, checkpoints, epochs: when the next one comes, and how far they are apart.
struct Schedule {
    next: f64,
    every: f64,
    lasts: f64,
}

/// A heap, and what the training has counted of it.
#[derive(Default)]
struct Heap {
    /// Its size, which never shrinks.
    mib: f64,
    counted_mib: f64,
    counts: u64,
    at_marks: Vec<Option<CountAtMark>>,
}

impl Heap {
    fn hold(&mut self, in_use: f64) {
        self.mib = self.mib.max(in_use);
    }

    fn count(&mut self, in_use: f64) {
        self.counts += 1;
        self.counted_mib = in_use;
    }

    /// A count with a mark.
    fn mark(&mut self, in_use: f64, t: f64, steps: f64) {
        self.count(in_use);
        self.at_marks.push(Some(CountAtMark {
            t: Seconds(t),
            step: Some(Step(steps as u64)),
            malloc_used: Bytes((in_use * MIB) as u64),
        }));
    }

    fn set(&mut self, observation: &mut Observation) {
        observation.memory = Bytes((self.mib * MIB) as u64);
        observation.counts_at_marks = std::mem::take(&mut self.at_marks);
        let counters = &mut observation.counters;
        counters.set(TrainingCounter::MallocUsed, (self.counted_mib * MIB) as u64);
        counters.set(TrainingCounter::MallocCounts, self.counts);
    }
}

const SECONDS: u32 = 500;
const PARTS: u32 = 50;

impl Cell {
    fn schedules(&self) -> [Schedule; 3] {
        let schedule = |every: f64, first: f64, lasts: f64| Schedule {
            next: first * every,
            every,
            lasts,
        };
        let own = self.spacing;
        let offset = 0.37 + 0.1 * f64::from(self.seed % 5);
        let other = own * 1.7;
        let eval = |every| schedule(every, offset, 0.15 * every.min(6.0));
        let saves = |every, first| schedule(every, first, 0.02 * every);
        let epochs = |every| schedule(every, 0.9 * offset, 0.0);
        match self.cause {
            Cause::Even | Cause::Token | Cause::Evaluation => {
                [eval(own), saves(other, 0.8), epochs(2.3 * own)]
            }
            Cause::Checkpoint => [eval(other), saves(own, offset), epochs(2.3 * own)],
            Cause::Epoch => [eval(other), saves(2.3 * own, 0.8), epochs(own)],
            // A checkpoint is saved at the end of each evaluation.
            Cause::EvaluationAndCheckpoint => [eval(own), saves(own, offset), epochs(2.3 * own)],
        }
    }

    /// Growth at each event of the kind that is the cause, in MiB.
    fn at_event(&self, kind: usize) -> f64 {
        let is_cause = matches!(
            (self.cause, kind),
            (Cause::Evaluation | Cause::EvaluationAndCheckpoint, 0)
                | (Cause::Checkpoint, 1)
                | (Cause::Epoch, 2)
        );
        f64::from(u8::from(is_cause)) * 2.0 * self.spacing
    }

    fn run(&self) -> Vec<Observation> {
        let mut schedules = self.schedules();
        let (mut trained, mut tokens, mut leaked, mut busy) = (0.0_f64, 0.0_f64, 0.0, 0.0_f64);
        let (mut marks, mut late, mut phase, mut epoch) = (Vec::new(), Vec::new(), Phase::Train, 0);
        let mut observations = Vec::new();
        let mut heap = Heap::default();
        for part in 0..SECONDS * PARTS {
            let passed = 1.0 / f64::from(PARTS);
            let trains = busy <= 0.0;
            let (t, steps) = (f64::from(part) * passed, trained * self.steps_per_s);
            let by_tokens = match self.cause {
                Cause::Token => 2.0 * tokens / (self.steps_per_s * 512.0),
                _ => 0.0,
            };
            if self.is_heap && trains && phase == Phase::Eval {
                marks.push(MarkKind::Phase(Phase::Train));
                heap.mark(400.0 + leaked + by_tokens, t, steps);
            }
            if trains {
                phase = Phase::Train;
                trained += passed;
                // Sequences are longer for some while, then shorter.
                let length = 1.0 + 0.8 * (trained / 31.0).sin() + 0.3 * (trained / 7.0).cos();
                tokens += passed * self.steps_per_s * 512.0 * length;
                if self.cause == Cause::Even {
                    leaked += 2.0 * passed;
                }
            } else {
                busy -= passed;
            }
            for (kind, schedule) in schedules.iter_mut().enumerate() {
                if !trains || trained < schedule.next {
                    continue;
                }
                schedule.next += schedule.every;
                busy += schedule.lasts;
                // Where an evaluation begins, what it leaves is not there.
                let before = leaked;
                leaked += self.at_event(kind);
                let counted = if kind == 0 { before } else { leaked };
                heap.mark(400.0 + counted + by_tokens, t, steps);
                match kind {
                    0 => {
                        phase = Phase::Eval;
                        marks.push(MarkKind::Phase(Phase::Eval));
                    }
                    1 => marks.push(MarkKind::Event("checkpoint".to_owned())),
                    _ => {
                        epoch += 1;
                        marks.push(MarkKind::Epoch(epoch));
                    }
                }
            }
            let held = match phase {
                Phase::Eval => 60.0,
                _ => 0.0,
            };
            heap.hold(400.0 + leaked + by_tokens + held);
            if trains && part % (PARTS / 2) == 0 {
                heap.count(400.0 + leaked + by_tokens + held);
            }
            if part % PARTS == (self.seed * 7) % PARTS {
                let noise = self.noise * wobble(part + 977 * self.seed);
                let mib = 400.0 + leaked + by_tokens + held + noise;
                let mut observation = Observation {
                    count: Some((trained * self.steps_per_s).floor()),
                    t: Some(Seconds(t)),
                    phase: Some(phase.clone()),
                    marks: match self.is_late {
                        true => std::mem::replace(&mut late, std::mem::take(&mut marks)),
                        false => std::mem::take(&mut marks),
                    },
                    ..trainer(part, mib)
                };
                observation.memory = Bytes((mib * MIB) as u64);
                if self.is_heap {
                    heap.set(&mut observation);
                }
                let counters = &mut observation.counters;
                counters.set(TrainingCounter::Tokens, tokens as u64);
                observations.push(observation);
            }
        }
        observations
    }

    /// Whether a clock is right; `None` is not wrong.
    fn is_right(&self, clock: &Clock) -> bool {
        let mut named = vec![clock.tick];
        named.extend(&clock.coincident);
        match self.cause {
            Cause::Even => named == [ClockTick::Step],
            Cause::Evaluation => named == [ClockTick::Evaluation],
            Cause::Checkpoint => named == [ClockTick::Checkpoint],
            Cause::Epoch => named == [ClockTick::Epoch],
            Cause::Token => named == [ClockTick::Token],
            Cause::EvaluationAndCheckpoint => {
                named.len() == 2
                    && named.contains(&ClockTick::Evaluation)
                    && named.contains(&ClockTick::Checkpoint)
            }
        }
    }
}

fn cells(noise: f64, is_late: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    let causes = [
        Cause::Even,
        Cause::Evaluation,
        Cause::Checkpoint,
        Cause::Epoch,
        Cause::Token,
        Cause::EvaluationAndCheckpoint,
    ];
    for cause in causes {
        for spacing in [2.0, 5.0, 20.0] {
            for steps_per_s in [2.0, 40.0] {
                cells.extend((0..4).map(|seed| Cell {
                    cause,
                    spacing,
                    steps_per_s,
                    noise,
                    is_late,
                    is_heap: false,
                    seed,
                }));
            }
        }
    }
    cells
}

/// Judges every cell; panics if a clock is wrong. How many have one, of how many.
fn named(cells: &[Cell]) -> (usize, usize) {
    let clocks = cells.iter().map(|cell| (cell, judged(cell.run()).clock));
    let named: Vec<(&Cell, Clock)> = clocks
        .filter_map(|(cell, clock)| Some((cell, clock?)))
        .collect();
    let wrong: Vec<String> = named
        .iter()
        .filter(|(cell, clock)| !cell.is_right(clock))
        .map(|(cell, clock)| format!("{cell:?}: {clock:?}"))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    (named.len(), cells.len())
}

#[test]
fn the_right_clock_or_none_in_every_cell() {
    let (named, all) = named(&cells(1.5, false));
    assert!(named * 4 >= all * 3, "a clock in {named} of {all} cells");
}

#[test]
fn noise_hides_a_clock_and_shows_no_wrong_one() {
    let (some, all) = named(&cells(15.0, false));
    assert!(some * 4 >= all, "a clock in {some} of {all} cells");
    named(&cells(60.0, false));
}

#[test]
fn what_is_said_late_shows_no_wrong_clock() {
    let (some, all) = named(&cells(1.5, true));
    assert!(some * 2 >= all, "a clock in {some} of {all} cells");
}

#[test]
fn counts_of_malloc_show_the_clock_where_evaluations_leave_room() {
    let heaps = |cell| Cell {
        is_heap: true,
        ..cell
    };
    let cells: Vec<Cell> = cells(0.0, false).into_iter().map(heaps).collect();
    let (named, all) = named(&cells);
    // With events every 2 s, two samples for each do not suffice, except where tokens explain all.
    assert!(named * 10 >= all * 7, "a clock in {named} of {all} cells");
}
