//! Many runs beside each other. Ranks of one job do the same work, so one that leaks while the others
//! are level is evidence that none of them gives alone: it is not the model, it is what this one has more.

use leveloff_model::units::BytesPerSecond;

use crate::finding::Finding;
use crate::observation::XUnit;
use crate::verdict::{Rate, RunVerdict};

/// Fewer than this are no crowd that one could stand out of.
const FEWEST: usize = 3;

/// Outliers are few: at most this share of all, and at least one.
const MOST_OUTLIERS: f64 = 0.2;

/// The others must agree: this share of them is level.
const AGREEING: f64 = 0.8;

/// Which of these stand out, by their place in `runs`, and why.
///
/// All must be of one job: ranks of two jobs do different work.
pub fn outliers(runs: &[&RunVerdict]) -> Vec<(usize, Finding)> {
    let leaks = |run: &RunVerdict| run.verdict.is_alarm();
    let (few, others): (Vec<usize>, Vec<usize>) =
        (0..runs.len()).partition(|&place| leaks(runs[place]));
    let level: Vec<&RunVerdict> = others
        .iter()
        .map(|&place| runs[place])
        .filter(|run| run.verdict.is_level())
        .collect();
    let most = (runs.len() as f64 * MOST_OUTLIERS).max(1.0);
    let stand_out = runs.len() >= FEWEST
        && few.len() as f64 <= most
        && level.len() as f64 >= others.len() as f64 * AGREEING;
    if !stand_out {
        return Vec::new();
    }
    let finding = |place: usize| Finding::OutlierRank {
        growth: growth_per_second(runs[place]),
        ranks: runs.len(),
        level: level.len(),
        level_growth: fastest(&level),
        leaking: few.len(),
    };
    few.iter().map(|&place| (place, finding(place))).collect()
}

/// Growth of the fastest of them, if any grows. Level runs grow by next to nothing; the number says how little.
fn fastest(level: &[&RunVerdict]) -> Option<BytesPerSecond> {
    let rates = level.iter().filter_map(|run| growth_per_second(run));
    rates
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|rate| rate.0 > 0.0)
}

/// Growth of the run's memory over time, where its pace is known.
pub fn growth_per_second(run: &RunVerdict) -> Option<BytesPerSecond> {
    let Rate { value, .. } = run.memory.rate?;
    match (run.x_unit, run.pace) {
        (XUnit::Second, _) => Some(BytesPerSecond(value.0)),
        (_, Some(pace)) if pace.0 > 0.0 => Some(BytesPerSecond(value.0 / pace.0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::recording::StatedFacts;
    use leveloff_model::units::{Bytes, Seconds};

    use super::*;
    use crate::observation::Observation;
    use crate::run::RunJudge;

    fn run(bytes_a_second: f64) -> RunVerdict {
        let mut judge = RunJudge::new(XUnit::Second, &StatedFacts::default());
        for place in 0..1440_u32 {
            let t = f64::from(place) * 15.0;
            let noise = f64::from(place.wrapping_mul(2_654_435_761) >> 16) * 64.0;
            judge.observe(&Observation {
                t: Some(Seconds(t)),
                memory: Bytes((8e9 + bytes_a_second * t + noise) as u64),
                ..Observation::default()
            });
        }
        judge.verdict()
    }

    fn standing_out(rates: &[f64]) -> Vec<(usize, Finding)> {
        let runs: Vec<RunVerdict> = rates.iter().map(|rate| run(*rate)).collect();
        outliers(&runs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn one_that_leaks_among_level_ones_stands_out_with_its_numbers() {
        let found = standing_out(&[0.0, 0.0, 500e3, 0.0]);
        assert_eq!(found.len(), 1);
        let (
            2,
            Finding::OutlierRank {
                growth: Some(growth),
                ranks: 4,
                level: 3,
                leaking: 1,
                ..
            },
        ) = found[0]
        else {
            panic!("{found:?}");
        };
        assert!((growth.0 / 500e3 - 1.0).abs() < 0.01, "{growth:?}");
    }

    #[test]
    fn a_fleet_in_which_all_leak_or_all_are_level_has_no_outlier() {
        assert!(standing_out(&[500e3; 4]).is_empty());
        assert!(standing_out(&[0.0; 4]).is_empty());
        assert!(standing_out(&[500e3, 500e3, 0.0, 0.0]).is_empty());
        assert!(standing_out(&[500e3, 0.0]).is_empty(), "two are no crowd");
    }
}
