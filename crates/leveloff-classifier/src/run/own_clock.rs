//! Is growth that belongs to no process the run's own? It is if it follows the run's steps better
//! than it follows time, or if it began with the first step.
//!
//! /dev/shm belongs to the whole machine. Another program that fills it does so on its own clock:
//! its growth is smooth in time and jitters against our steps. Files that our steps write come
//! with the steps, however long each of them takes.

/// Sums of squares that show how well increments follow the steps and the time.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnClock {
    committed: Option<Moment>,
    pending: Option<Moment>,
    increments: u64,
    /// Increments that were not zero: they alone show the usual size.
    moves: u64,
    size: f64,
    sums: Sums,
    before: Before,
}

#[derive(Debug, Clone, Copy)]
struct Moment {
    step: f64,
    t: f64,
    amount: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    steps: f64,
    times: f64,
    amounts: f64,
    with_steps: f64,
    with_times: f64,
    grown: f64,
    lasted: f64,
}

/// What happened before the first step, while the program was loading.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    first: Option<(f64, f64)>,
    last: Option<(f64, f64)>,
}

impl OwnClock {
    /// Fewer increments than this decide nothing.
    const LEAST_INCREMENTS: u64 = 20;
    /// The steps must leave at most this share of what time leaves unexplained.
    const BETTER_THAN_TIME: f64 = 0.6;
    /// A foreign jump would drown everything else: increments are cut at this many usual sizes.
    const JUMP: f64 = 8.0;
    /// Loading must have been watched for this long to say that nothing grew meanwhile.
    const LEAST_LOADING: f64 = 2.0;
    /// What grew at less than this share of the later speed did not grow before the first step.
    const STOOD_STILL: f64 = 0.1;

    /// Takes an amount from before the first step.
    pub(super) fn loading(&mut self, t: f64, amount: f64) {
        self.before.first.get_or_insert((t, amount));
        self.before.last = Some((t, amount));
    }

    /// Takes the amount at a step. A step's first amount counts once the next step has come: the
    /// last step of a run is its teardown.
    pub(super) fn observe(&mut self, step: f64, t: f64, amount: f64) {
        let moment = Moment { step, t, amount };
        match self.pending {
            Some(pending) if step > pending.step => {
                if let Some(committed) = self.committed {
                    self.add(&committed, &pending);
                }
                self.committed = Some(pending);
                self.pending = Some(moment);
            }
            Some(_) => {}
            None => self.pending = Some(moment),
        }
    }

    /// Whether the growth is the run's own.
    pub(super) fn explains_growth(&self) -> bool {
        self.increments >= OwnClock::LEAST_INCREMENTS
            && self.sums.grown > 0.0
            && (self.follows_steps() || self.began_with_the_steps())
    }

    fn add(&mut self, from: &Moment, to: &Moment) {
        let (steps, time) = (to.step - from.step, to.t - from.t);
        let grown = to.amount - from.amount;
        let bound = if self.moves < OwnClock::LEAST_INCREMENTS / 2 {
            f64::INFINITY
        } else {
            OwnClock::JUMP * self.size / self.moves as f64
        };
        let grown = grown.clamp(-bound, bound);
        self.increments += 1;
        self.moves += u64::from(grown != 0.0);
        self.size += grown.abs();
        let sums = &mut self.sums;
        sums.steps += steps * steps;
        sums.times += time * time;
        sums.amounts += grown * grown;
        sums.with_steps += steps * grown;
        sums.with_times += time * grown;
        sums.grown += grown;
        sums.lasted += time;
    }

    /// Both through the origin: no step, no growth; no time, no growth.
    fn follows_steps(&self) -> bool {
        let sums = &self.sums;
        let left_by = |with: f64, squares: f64| 1.0 - with * with / (squares * sums.amounts);
        let by_steps = left_by(sums.with_steps, sums.steps);
        let by_time = left_by(sums.with_times, sums.times);
        // Files that come with evaluations follow neither; a foreign program may do so too.
        by_time > f64::EPSILON && by_steps <= OwnClock::BETTER_THAN_TIME * by_time && by_steps < 0.5
    }

    fn began_with_the_steps(&self) -> bool {
        let (Some((from, first)), Some((to, last))) = (self.before.first, self.before.last) else {
            return false;
        };
        let speed = self.sums.grown / self.sums.lasted;
        let loading = to - from;
        loading >= OwnClock::LEAST_LOADING
            && last - first <= OwnClock::STOOD_STILL * speed * loading
            && self.is_steady()
    }

    /// What comes and goes, or came in one jump, began with the steps by chance.
    fn is_steady(&self) -> bool {
        self.sums.grown >= 0.8 * self.size
            && self.sums.with_times.powi(2) >= 0.5 * self.sums.times * self.sums.amounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps that take 0.8 to 1.2 s, looked at every 2 s.
    fn run(loaded: impl Fn(f64) -> f64, amount: impl Fn(f64, f64) -> f64) -> bool {
        let mut clock = OwnClock::default();
        for t in 0..10 {
            clock.loading(f64::from(t), loaded(f64::from(t)));
        }
        let (mut step, mut t) = (0.0, 10.0);
        for look in 0..150 {
            t += 2.0;
            step += [2.0, 1.0, 2.0, 3.0, 2.0, 1.0, 3.0][look % 7];
            clock.observe(step, t, amount(step, t));
        }
        clock.explains_growth()
    }

    #[test]
    fn files_written_by_steps_are_ours() {
        assert!(run(|_| 0.0, |step, _| step * 1e6));
        assert!(run(|_| 5e8, |step, _| 5e8 + step * 1e6));
        assert!(run(|_| 0.0, |step, _| (step - 100.0).max(0.0) * 1e6));
    }

    #[test]
    fn growth_on_another_clock_is_not() {
        assert!(!run(|t| t * 1e6, |_, t| t * 1e6));
        // It jumped while we happened to train, as another run's start and end do.
        assert!(!run(|_| 0.0, |_, t| if t > 150.0 { 1e8 } else { 0.0 }));
        assert!(!run(|_| 0.0, |_, t| 1e8 * (t / 9.0).sin().abs()));
        assert!(!run(|_| 0.0, |_, _| 0.0));
    }

    #[test]
    fn a_foreign_jump_does_not_hide_ours() {
        assert!(run(
            |_| 0.0,
            |step, t| { step * 1e6 + if t > 150.0 { 1e8 } else { 0.0 } }
        ));
    }
}
