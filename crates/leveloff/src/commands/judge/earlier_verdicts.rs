//! What would have been said at earlier moments.

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_text::judged::Look;

/// With fewer points nothing but "too few" can be said.
const FIRST_LOOK: u64 = 6;

/// After how many of `points` observations to look: `looks` times at most, evenly spaced in the
/// logarithm, because a verdict is worth a second look when the run is a good deal longer, and not
/// when it is one step longer. The last is always the end.
pub(crate) fn schedule(points: u64, looks: u32) -> Vec<u64> {
    if points <= FIRST_LOOK || looks <= 1 {
        return if points == 0 {
            Vec::new()
        } else {
            vec![points]
        };
    }
    let first = FIRST_LOOK as f64;
    let growth = points as f64 / first;
    let gaps = f64::from(looks - 1);
    let mut places: Vec<u64> = (0..looks)
        .map(|look| (first * growth.powf(f64::from(look) / gaps)).round() as u64)
        .collect();
    if let Some(last) = places.last_mut() {
        *last = points;
    }
    places.dedup();
    places
}

/// Judges a run and looks at it on the way.
pub(crate) struct EarlierVerdicts {
    judge: RunJudge,
    /// After how many observations to look, latest first.
    due: Vec<u64>,
    taken: u64,
    looks: Vec<Look>,
}

impl EarlierVerdicts {
    /// Follows `judge` and looks at these moments.
    pub(crate) fn new(judge: RunJudge, schedule: Vec<u64>) -> EarlierVerdicts {
        let mut due = schedule;
        due.reverse();
        EarlierVerdicts {
            judge,
            due,
            taken: 0,
            looks: Vec::new(),
        }
    }

    /// Takes the next observation.
    pub(crate) fn observe(&mut self, observation: &Observation) {
        self.judge.observe(observation);
        self.taken += 1;
        if self.due.last() == Some(&self.taken) {
            self.due.pop();
            let verdict = self.judge.verdict();
            self.looks.push(look(&verdict, observation));
        }
    }

    /// The last verdict, and those before it.
    pub(crate) fn finish(mut self, has_run_ended: bool) -> (RunVerdict, Vec<Look>) {
        if has_run_ended {
            self.judge.end();
        }
        (self.judge.verdict(), self.looks)
    }
}

fn look(verdict: &RunVerdict, newest: &Observation) -> Look {
    Look {
        x: match verdict.x_unit {
            XUnit::Second => newest.t.map(|t| t.0),
            _ => newest.count,
        },
        verdict: verdict.verdict,
        shape: verdict.shape,
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::recording::StatedFacts;

    use super::*;

    #[test]
    fn looks_are_ever_further_apart_and_end_at_the_end() {
        assert_eq!(schedule(600, 3), [6, 60, 600]);
        let forty = schedule(100_000, 40);
        assert_eq!((forty.len(), forty[0], forty[39]), (40, 6, 100_000));
        let gaps: Vec<u64> = forty.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps[20..].is_sorted(), "{gaps:?}");
    }

    #[test]
    fn few_points_are_looked_at_once_each() {
        assert_eq!(schedule(10, 40), [6, 7, 8, 9, 10]);
        assert_eq!(schedule(4, 40), [4]);
        assert!(schedule(0, 40).is_empty());
        assert_eq!(schedule(500, 1), [500]);
    }

    #[test]
    fn a_look_is_where_the_newest_observation_is() {
        let judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
        let mut verdicts = EarlierVerdicts::new(judge, vec![1, 3]);
        for step in [10.0, 20.0, 30.0] {
            verdicts.observe(&Observation {
                count: Some(step),
                ..Observation::default()
            });
        }
        let (_, looks) = verdicts.finish(true);
        let places: Vec<Option<f64>> = looks.iter().map(|look| look.x).collect();
        assert_eq!(places, [Some(10.0), Some(30.0)]);
    }
}
