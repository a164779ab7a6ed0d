//! Which run is worth most: what seems to stop the growth again, beside another control run; then what was never tried;
//! then what is still undecided. Pure, so that the order can be tested without a run.

use leveloff_classifier::trial::{Effect, UNDECIDED_REPEATS};

use super::bisection;

/// A run of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// The control run with this number, from 1.
    Control(u32),
    /// A run of a change.
    Change {
        /// Which of the changes.
        place: usize,
        /// From 1.
        number: u32,
    },
}

/// How far a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArmProgress {
    /// Nothing more can be learned of it.
    pub is_closed: bool,
    /// Its runs that have ended.
    pub runs: u32,
    /// What they show; `None` if nothing yet.
    pub effect: Option<Effect>,
    /// The bisection that it is a version of.
    pub bisection: Option<usize>,
}

/// What is known when the next run is chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress<'a> {
    /// Control runs that were started.
    pub control: u32,
    /// Whether the control run leaks, so that there is something to stop.
    pub has_axis: bool,
    pub arms: &'a [ArmProgress],
    pub active: &'a [Task],
    /// How often a change that helps must show it.
    pub repeats: u32,
    /// Whether the first change that stops the growth is enough.
    pub first: bool,
}

/// The next run; `None` if there is none, or none before another has ended.
pub(super) fn next_run(progress: &Progress) -> Option<Task> {
    if progress.control == 0 {
        return Some(Task::Control(1));
    }
    if !progress.has_axis || progress.is_found() {
        return None;
    }
    let stops = |arm: &ArmProgress| arm.effect == Some(Effect::Stops);
    let reduces = |arm: &ArmProgress| arm.effect == Some(Effect::Reduces);
    let undecided = |arm: &ArmProgress| arm.effect == Some(Effect::Undecided);
    let most = progress.repeats.saturating_mul(UNDECIDED_REPEATS);
    progress
        .again(progress.repeats, stops)
        .or_else(|| progress.untried())
        .or_else(|| progress.again(progress.repeats, reduces))
        .or_else(|| progress.again(most, undecided))
}

impl Progress<'_> {
    fn is_found(&self) -> bool {
        let is_confirmed = |arm: &ArmProgress| {
            arm.effect == Some(Effect::Stops) && !arm.is_closed && arm.runs >= self.repeats
        };
        self.first && self.arms.iter().any(is_confirmed)
    }

    fn is_active(&self, place: usize) -> bool {
        let is = |task: &Task| matches!(task, Task::Change { place: at, .. } if *at == place);
        self.active.iter().any(is)
    }

    /// Another run of a change, or of the control before it.
    fn again(&self, most: u32, is_wanted: impl Fn(&ArmProgress) -> bool) -> Option<Task> {
        let wanted = |(place, arm): &(usize, &ArmProgress)| {
            !arm.is_closed && arm.runs < most && is_wanted(arm) && !self.is_active(*place)
        };
        let (place, arm) = self.arms.iter().enumerate().find(wanted)?;
        let number = arm.runs + 1;
        if self.control < number.min(self.repeats) {
            return Some(Task::Control(self.control + 1));
        }
        Some(Task::Change { place, number })
    }

    fn untried(&self) -> Option<Task> {
        let places = 0..self.arms.len();
        let mut untried = places.filter(|place| self.is_untried(*place));
        let place = untried.find(|place| match self.arms[*place].bisection {
            Some(group) => self.wanted_of(group) == Some(*place),
            None => true,
        })?;
        Some(Task::Change { place, number: 1 })
    }

    fn is_untried(&self, place: usize) -> bool {
        let arm = &self.arms[place];
        !arm.is_closed && arm.runs == 0 && !self.is_active(place)
    }

    /// The version of a bisection that says most.
    fn wanted_of(&self, group: usize) -> Option<usize> {
        let versions: Vec<(usize, bisection::Version)> = self
            .arms
            .iter()
            .enumerate()
            .filter(|(_, arm)| arm.bisection == Some(group))
            .filter_map(|(place, arm)| Some((place, self.version(place, arm)?)))
            .collect();
        let known: Vec<bisection::Version> = versions.iter().map(|(_, known)| *known).collect();
        bisection::next(&known).map(|index| versions[index].0)
    }

    /// `None` of a version that says nothing: it failed, or stayed undecided.
    fn version(&self, place: usize, arm: &ArmProgress) -> Option<bisection::Version> {
        if self.is_active(place) && arm.runs == 0 {
            return Some(bisection::Version::Running);
        }
        match (arm.is_closed, arm.effect) {
            (true, _) | (_, Some(Effect::Undecided)) => None,
            (_, None) => Some(bisection::Version::Untried),
            (_, Some(Effect::None)) => Some(bisection::Version::Grows),
            (_, Some(Effect::Stops | Effect::Reduces)) => Some(bisection::Version::Helps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: ArmProgress = ArmProgress {
        is_closed: false,
        runs: 0,
        effect: None,
        bisection: None,
    };

    fn tried(effect: Effect, runs: u32) -> ArmProgress {
        ArmProgress {
            effect: Some(effect),
            runs,
            ..WAITING
        }
    }

    fn next(control: u32, arms: &[ArmProgress], active: &[Task]) -> Option<Task> {
        next_run(&Progress {
            control,
            has_axis: true,
            arms,
            active,
            repeats: 2,
            first: false,
        })
    }

    const fn change(place: usize, number: u32) -> Option<Task> {
        Some(Task::Change { place, number })
    }

    #[test]
    fn the_control_run_is_first_and_a_cure_is_confirmed_before_anything_else_is_tried() {
        assert_eq!(next(0, &[WAITING], &[]), Some(Task::Control(1)));
        assert_eq!(next(1, &[WAITING, WAITING], &[]), change(0, 1));
        let found = [tried(Effect::Stops, 1), WAITING];
        assert_eq!(next(1, &found, &[]), Some(Task::Control(2)));
        assert_eq!(next(2, &found, &[]), change(0, 2));
        assert_eq!(
            next(2, &[tried(Effect::Stops, 2), WAITING], &[]),
            change(1, 1)
        );
    }

    #[test]
    fn what_is_undecided_waits_until_everything_was_tried_and_is_not_repeated_for_ever() {
        let arms = [tried(Effect::Undecided, 1), WAITING];
        assert_eq!(next(1, &arms, &[]), change(1, 1));
        let arms = [tried(Effect::Undecided, 2), tried(Effect::None, 1)];
        assert_eq!(next(2, &arms, &[]), change(0, 3));
        assert_eq!(next(2, &[tried(Effect::Undecided, 4)], &[]), None);
        assert_eq!(next(2, &[tried(Effect::Reduces, 2)], &[]), None);
    }

    #[test]
    fn what_runs_is_not_started_twice_and_what_failed_not_again() {
        let active = [Task::Change {
            place: 0,
            number: 1,
        }];
        assert_eq!(next(1, &[WAITING, WAITING], &active), change(1, 1));
        let failed = ArmProgress {
            is_closed: true,
            ..WAITING
        };
        assert_eq!(next(1, &[failed], &[]), None);
    }

    #[test]
    fn with_first_a_confirmed_cure_ends_the_trial() {
        let arms = [tried(Effect::Stops, 2), WAITING];
        let progress = Progress {
            control: 2,
            has_axis: true,
            arms: &arms,
            active: &[],
            repeats: 2,
            first: true,
        };
        assert_eq!(next_run(&progress), None);
        assert!(
            next_run(&Progress {
                first: false,
                ..progress
            })
            .is_some()
        );
    }

    #[test]
    fn versions_are_bisected() {
        let version = |arm: ArmProgress| ArmProgress {
            bisection: Some(0),
            ..arm
        };
        let mut arms = [version(WAITING); 5];
        assert_eq!(next(2, &arms, &[]), change(0, 1));
        arms[0] = version(tried(Effect::Stops, 2));
        assert_eq!(next(2, &arms, &[]), change(4, 1));
        arms[4] = version(tried(Effect::None, 1));
        assert_eq!(next(2, &arms, &[]), change(2, 1));
        arms[2] = version(tried(Effect::None, 1));
        assert_eq!(next(2, &arms, &[]), change(1, 1));
        arms[1] = version(tried(Effect::Stops, 2));
        assert_eq!(next(2, &arms, &[]), None);
    }
}
