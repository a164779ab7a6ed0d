//! Chooses the processes to read PSS of: most uncertainty per CPU time first, within the budget.

use std::time::Duration;

use leveloff_model::units::{Bytes, Seconds};

use super::cpu_budget::CpuBudget;
use crate::processes::pss_uncertainty::{expected_cost, tolerable, uncertainty};
use crate::processes::watched_process::WatchedProcess;

/// A process worth reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its place in the list of watched processes.
    pub place: usize,
    /// Expected CPU time of the reading.
    pub cost: Duration,
    /// How far off its share may be.
    pub uncertainty: Bytes,
    /// Whether its memory is due to be read by kind as well.
    pub by_kind: bool,
    /// Whether it is uncertain because a relative started or exited.
    pub has_new_relatives: bool,
}

/// How often the memory of the largest process is read by kind, together with its PSS.
const KINDS_EVERY: Seconds = Seconds(60.0);

/// Processes that are uncertain enough for a reading, best first.
pub fn candidates(watched: &[WatchedProcess], now: Seconds, page_size: Bytes) -> Vec<Candidate> {
    let total: Bytes = watched.iter().map(|process| process.reading.memory()).sum();
    let tolerable = tolerable(total);
    let largest = (0..watched.len()).max_by_key(|&place| watched[place].reading.memory());
    let mut candidates: Vec<Candidate> = watched
        .iter()
        .enumerate()
        .filter_map(|(place, process)| {
            let since = process.since_reading(now)?;
            let uncertainty = uncertainty(&since, tolerable, page_size);
            let kinds_due = process
                .kinds_at()
                .is_none_or(|at| (now - at).0 >= KINDS_EVERY.0);
            let by_kind = largest == Some(place) && kinds_due;
            let cost = expected_cost(process.last_pss_cost(), process.reading.rss());
            (uncertainty > tolerable || by_kind).then_some(Candidate {
                place,
                cost,
                uncertainty,
                by_kind,
                has_new_relatives: since.relatives_changed
                    || since.then.is_none() && process.is_fork_copy(),
            })
        })
        .collect();
    candidates.sort_by(|a, b| value(b).total_cmp(&value(a)));
    candidates
}

/// The candidates that the budget allows now. While an expensive reading waits for budget, cheaper ones may
/// use half of the income.
///
/// Relatives are read together or not at all. Before the reading a fork counts with nothing that it shares
/// and its parent with everything, which is right in sum; with only one of them read it would not be.
pub fn affordable(
    candidates: &[Candidate],
    budget: &CpuBudget,
    income: Duration,
) -> Vec<Candidate> {
    let mut left = budget.clone();
    let mut chosen = Vec::new();
    let mut waiting = false;
    let mut small_change = income / 2;
    let (relatives, others): (Vec<Candidate>, Vec<Candidate>) = candidates
        .iter()
        .partition(|candidate| candidate.has_new_relatives);
    let together = relatives.iter().map(|candidate| candidate.cost).sum();
    if left.affords(together) {
        left.spend(together);
        chosen.extend(relatives);
    } else if !relatives.is_empty() {
        waiting = true;
    }
    for candidate in &others {
        let allowed = left.affords(candidate.cost) && (!waiting || candidate.cost <= small_change);
        if allowed {
            left.spend(candidate.cost);
            if waiting {
                small_change -= candidate.cost;
            }
            chosen.push(*candidate);
        } else {
            waiting = true;
        }
    }
    chosen
}

/// Bytes of uncertainty removed per second of CPU.
fn value(candidate: &Candidate) -> f64 {
    candidate.uncertainty.0 as f64 / candidate.cost.as_secs_f64().max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(place: usize, cost_ms: u64) -> Candidate {
        Candidate {
            place,
            cost: Duration::from_millis(cost_ms),
            uncertainty: Bytes(1 << 20),
            by_kind: false,
            has_new_relatives: false,
        }
    }

    fn places(chosen: &[Candidate]) -> Vec<usize> {
        chosen.iter().map(|candidate| candidate.place).collect()
    }

    #[test]
    fn as_many_as_the_budget_pays_for() {
        let budget = CpuBudget::percent(0.5);
        let all: Vec<Candidate> = (0..21).map(|place| candidate(place, 5)).collect();
        assert_eq!(affordable(&all, &budget, Duration::ZERO).len(), 21);
        let dear: Vec<Candidate> = (0..21).map(|place| candidate(place, 90)).collect();
        assert_eq!(affordable(&dear, &budget, Duration::ZERO).len(), 3);
    }

    #[test]
    fn relatives_are_read_together_or_not_at_all() {
        let relative = |place, cost_ms| Candidate {
            has_new_relatives: true,
            ..candidate(place, cost_ms)
        };
        let mut budget = CpuBudget::percent(0.5);
        budget.spend(Duration::from_millis(200));
        let family = [
            relative(0, 90),
            relative(1, 10),
            candidate(2, 1),
            relative(3, 10),
        ];
        let income = Duration::from_millis(5);
        assert_eq!(places(&affordable(&family, &budget, income)), [2]);
        budget.earn(Duration::from_secs(10));
        assert_eq!(places(&affordable(&family, &budget, income)), [0, 1, 3, 2]);
    }

    #[test]
    fn a_dear_reading_is_saved_up_for_while_cheap_ones_go_on() {
        let mut budget = CpuBudget::percent(0.5);
        budget.spend(Duration::from_millis(200));
        let all = [
            candidate(0, 240),
            candidate(1, 1),
            candidate(2, 1),
            candidate(3, 4),
        ];
        let chosen = affordable(&all, &budget, Duration::from_millis(5));
        assert_eq!(places(&chosen), [1, 2]);
        budget.earn(Duration::from_secs(60));
        assert_eq!(
            places(&affordable(&all, &budget, Duration::from_millis(5)))[0],
            0
        );
    }
}
