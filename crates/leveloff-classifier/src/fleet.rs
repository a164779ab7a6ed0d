//! Many runs beside each other. Ranks of one job do the same work, so one that leaks while the others
//! are level is evidence that none of them gives alone: it is not the model, it is what this one has more.

use crate::verdict::{Finding, Rate, RunVerdict, Verdict};

/// The name of what is found here.
pub const OUTLIER: &str = "outlier-rank";

/// Fewer than this are no crowd that one could stand out of.
const FEWEST: usize = 3;

/// Outliers are few: at most this share of all, and at least one.
const MOST_OUTLIERS: f64 = 0.2;

/// The others must agree: this share of them is level.
const AGREEING: f64 = 0.8;

/// Which of these stand out, with what is to be said of them; `amount` words bytes.
///
/// All must be of one job: ranks of two jobs have nothing to agree on.
pub fn outliers(runs: &[&RunVerdict], amount: fn(f64) -> String) -> Vec<(usize, Finding)> {
    let leaks = |run: &RunVerdict| matches!(run.verdict, Verdict::Leak(_));
    let (few, others): (Vec<usize>, Vec<usize>) =
        (0..runs.len()).partition(|&place| leaks(runs[place]));
    let level: Vec<&RunVerdict> = others
        .iter()
        .map(|&place| runs[place])
        .filter(|run| run.verdict == Verdict::Level)
        .collect();
    let most = (runs.len() as f64 * MOST_OUTLIERS).max(1.0);
    let stand_out = runs.len() >= FEWEST
        && few.len() as f64 <= most
        && level.len() as f64 >= others.len() as f64 * AGREEING;
    if !stand_out {
        return Vec::new();
    }
    let crowd = Crowd {
        of: runs.len(),
        leaking: few.len(),
        level: level.len(),
        growth: greatest_growth(&level),
        amount,
    };
    let found = few.into_iter();
    found
        .map(|place| (place, crowd.finding(runs[place])))
        .collect()
}

struct Crowd {
    of: usize,
    leaking: usize,
    level: usize,
    growth: Option<f64>,
    amount: fn(f64) -> String,
}

impl Crowd {
    fn finding(&self, run: &RunVerdict) -> Finding {
        let hour = |rate: f64| format!("{} per hour", (self.amount)(rate * 3600.0));
        let own = a_second(run).map_or_else(
            || "grows".to_owned(),
            |rate| format!("grows by {}", hour(rate)),
        );
        let theirs = match self.growth.filter(|growth| *growth > 0.0) {
            Some(growth) => format!(", none by more than {}", hour(growth)),
            None => String::new(),
        };
        let (level, of, leaking) = (self.level, self.of, self.leaking);
        let leak = if leaking == 1 { "leaks" } else { "leak" };
        Finding {
            name: OUTLIER,
            text: format!("{own}; of {of} ranks, {level} are level{theirs}, and {leaking} {leak}"),
            next:
                "they run the same model: look at what this one does beside it (its shard of the \
                   data, its node, and, if it is rank 0, logging, evaluation and checkpoints); \
                   `leveloff watch` on its node tells which process and kind"
                    .to_owned(),
        }
    }
}

/// Growth of the fastest of them. Level runs grow by next to nothing; the number says how little.
fn greatest_growth(level: &[&RunVerdict]) -> Option<f64> {
    level
        .iter()
        .filter_map(|run| a_second(run))
        .max_by(f64::total_cmp)
}

/// Growth of the run's memory in bytes a second, where its pace is known.
pub fn a_second(run: &RunVerdict) -> Option<f64> {
    let Rate { value, .. } = run.memory.rate?;
    match (run.x_unit, run.pace) {
        (crate::observation::XUnit::Second, _) => Some(value),
        (_, Some(pace)) if pace.0 > 0.0 => Some(value / pace.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::recording::StatedFacts;
    use leveloff_model::units::{Bytes, Seconds};

    use super::*;
    use crate::observation::{Observation, XUnit};
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
        outliers(&runs.iter().collect::<Vec<_>>(), |bytes| {
            format!("{:.0} MB", bytes / 1e6)
        })
    }

    #[test]
    fn one_that_leaks_among_level_ones_stands_out_with_its_numbers() {
        let found = standing_out(&[0.0, 0.0, 500e3, 0.0]);
        assert_eq!(found.len(), 1);
        let (place, finding) = &found[0];
        assert_eq!((*place, finding.name), (2, OUTLIER));
        assert!(
            finding.text.contains("1800 MB per hour"),
            "{}",
            finding.text
        );
        assert!(
            finding.text.contains("of 4 ranks, 3 are level"),
            "{}",
            finding.text
        );
    }

    #[test]
    fn where_all_leak_or_all_are_level_nobody_does() {
        assert!(standing_out(&[500e3; 4]).is_empty());
        assert!(standing_out(&[0.0; 4]).is_empty());
        assert!(standing_out(&[500e3, 500e3, 0.0, 0.0]).is_empty());
        assert!(standing_out(&[500e3, 0.0]).is_empty(), "two are no crowd");
    }
}
