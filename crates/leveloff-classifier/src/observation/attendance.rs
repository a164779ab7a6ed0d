//! Who is still there: a run that ends must not look like memory that falls.

use leveloff_model::units::Seconds;

/// After this long with fewer trainers the run goes on without them. Ranks of one job end within
/// seconds of each other; a job that loses a rank and lives on keeps running for much longer.
const PATIENCE: Seconds = Seconds(60.0);

/// Tells samples of a run from samples of its end.
#[derive(Debug, Clone, Default)]
pub struct Attendance {
    /// As many trainers as the run has.
    full: usize,
    /// Since when there are fewer.
    fewer_since: Option<Seconds>,
}

impl Attendance {
    /// Whether the run is going on, with so many living processes and trainers among them at `t`.
    ///
    /// Nobody left is the end. Where trainers are known, the last one's exit is the end too: what
    /// remains are launchers and helpers. A trainer less than before is the beginning of the end,
    /// until it has lasted for [`PATIENCE`]. A run that never had a trainer is anything that was
    /// recorded, and goes on as long as somebody lives.
    pub fn goes_on(&mut self, processes: usize, trainers: usize, t: Option<Seconds>) -> bool {
        if processes == 0 || trainers == 0 && self.full > 0 {
            return false;
        }
        if trainers >= self.full {
            (self.full, self.fewer_since) = (trainers, None);
            return true;
        }
        let Some(now) = t else {
            return false;
        };
        let since = *self.fewer_since.get_or_insert(now);
        let is_lasting = (now - since) > PATIENCE;
        if is_lasting {
            (self.full, self.fewer_since) = (trainers, None);
        }
        is_lasting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these moments (time, processes, trainers) belong to the run.
    fn going_on(moments: &[(f64, usize, usize)]) -> Vec<bool> {
        let mut attendance = Attendance::default();
        moments
            .iter()
            .map(|&(t, all, trainers)| attendance.goes_on(all, trainers, Some(Seconds(t))))
            .collect()
    }

    #[test]
    fn the_end_of_the_trainer_is_the_end_of_the_run() {
        let moments = [(0.0, 2, 0), (1.0, 3, 1), (2.0, 2, 0), (3.0, 0, 0)];
        assert_eq!(going_on(&moments), [true, true, false, false]);
    }

    #[test]
    fn what_never_had_a_trainer_goes_on_while_somebody_lives() {
        assert_eq!(
            going_on(&[(0.0, 2, 0), (1.0, 1, 0), (2.0, 0, 0)]),
            [true, true, false]
        );
    }

    #[test]
    fn ranks_that_end_one_after_another_are_the_end() {
        let moments = [(0.0, 5, 4), (1.0, 4, 3), (2.0, 3, 2), (3.0, 1, 0)];
        assert_eq!(going_on(&moments), [true, false, false, false]);
    }

    #[test]
    fn a_job_that_lives_on_with_fewer_ranks_goes_on() {
        let moments = [
            (0.0, 5, 4),
            (1.0, 4, 3),
            (60.0, 4, 3),
            (62.0, 4, 3),
            (63.0, 4, 3),
        ];
        assert_eq!(going_on(&moments), [true, false, false, true, true]);
    }

    #[test]
    fn a_trainer_that_is_started_again_goes_on_at_once() {
        let moments = [(0.0, 2, 1), (1.0, 1, 0), (2.0, 2, 1)];
        assert_eq!(going_on(&moments), [true, false, true]);
    }
}
