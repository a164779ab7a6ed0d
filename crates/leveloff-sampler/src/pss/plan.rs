//! Chooses the processes to read PSS of: most uncertainty per CPU time first, within the budget.

use std::time::Duration;

use leveloff_model::units::{Bytes, Seconds};

use super::cpu_budget::CpuBudget;
use crate::processes::WatchedProcesses;
use crate::processes::pss_uncertainty::{expected_cost, tolerable, uncertainty};

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
    /// Whether its relatives must be read with it.
    pub with_relatives: bool,
    /// Whether a reading without its relatives would show what it and its siblings have copied.
    pub shows_copies: bool,
    /// Whether it is read for that only, and its PSS does not count.
    pub without_relatives: bool,
}

/// Relatives are read when they are uncertain by this multiple of what is tolerable for one process, 1 % of the run:
/// reading all of them costs several times as much, and forks that come and go are never known as exactly.
const RELATIVES_TOLERANCE: u64 = 4;

/// A process, or one of several siblings, is read without its relatives at most this often.
const SAMPLED_EVERY: Seconds = Seconds(4.0);

/// Processes that are uncertain enough for a reading, best first.
pub fn candidates(
    processes: &mut WatchedProcesses,
    budget: &CpuBudget,
    now: Seconds,
    page_size: Bytes,
) -> Vec<Candidate> {
    let watched = processes.all();
    let total: Bytes = watched.iter().map(|process| process.reading.memory()).sum();
    let tolerable = tolerable(total);
    let largest = (0..watched.len()).max_by_key(|&place| watched[place].reading.memory());
    let together = processes.to_read_together();
    let in_family = processes.places_in_families();
    let sampled = processes.recently_sampled(now - SAMPLED_EVERY);
    let mut candidates: Vec<Candidate> = Vec::new();
    for (place, process) in processes.all_mut().iter_mut().enumerate() {
        let Some(since) = process.since_reading(now, in_family.contains(&place)) else {
            continue;
        };
        let uncertainty = uncertainty(&since, tolerable, page_size);
        process.set_uncertainty(uncertainty, tolerable);
        let kinds_due = process.kinds_are_due(now, tolerable);
        candidates.push(Candidate {
            place,
            cost: expected_cost(process.last_pss_cost(), process.reading.rss()),
            uncertainty,
            by_kind: largest == Some(place) && kinds_due,
            with_relatives: together.contains(&place),
            shows_copies: !sampled.contains(&place),
            without_relatives: false,
        });
    }
    let relatives = candidates.iter().filter(|it| it.with_relatives);
    let of_relatives: Bytes = relatives.map(|candidate| candidate.uncertainty).sum();
    let read_relatives =
        of_relatives.0 > RELATIVES_TOLERANCE * tolerable.0 || budget.is_plentiful();
    candidates.retain(|candidate| match candidate.with_relatives {
        true => read_relatives,
        false => candidate.uncertainty > tolerable || candidate.by_kind,
    });
    candidates.sort_by(|a, b| value(b).total_cmp(&value(a)));
    candidates
}

/// The candidates that the budget allows now. While an expensive reading waits for budget, cheaper ones may
/// use half of the income.
///
/// Relatives are read together or not at all: the pages that they share count once only if the shares of all of
/// them are known. While the budget does not allow that, a single one is read to learn what it and its siblings copy.
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
        .partition(|candidate| candidate.with_relatives);
    let together = relatives.iter().map(|candidate| candidate.cost).sum();
    if left.affords(together) {
        left.spend(together);
        chosen.extend(relatives);
    } else if let Some(sample) = sample_of(&relatives).filter(|it| left.affords(it.cost)) {
        left.spend(sample.cost);
        chosen.push(sample);
        waiting = true;
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

/// The relative whose reading says most. They are sorted by that.
fn sample_of(relatives: &[Candidate]) -> Option<Candidate> {
    let first = relatives.iter().find(|candidate| candidate.shows_copies)?;
    Some(Candidate {
        without_relatives: true,
        ..*first
    })
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
            with_relatives: false,
            shows_copies: false,
            without_relatives: false,
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
            with_relatives: true,
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
    fn while_the_family_is_too_dear_one_of_it_is_read_alone() {
        let member = |place, cost_ms, shows_copies| Candidate {
            with_relatives: true,
            shows_copies,
            ..candidate(place, cost_ms)
        };
        let mut budget = CpuBudget::percent(0.5);
        budget.spend(Duration::from_millis(280));
        let family = [
            member(0, 90, false),
            member(2, 10, true),
            member(1, 10, true),
        ];
        let chosen = affordable(&family, &budget, Duration::from_millis(5));
        assert_eq!(places(&chosen), [2]);
        assert!(chosen[0].without_relatives);
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
