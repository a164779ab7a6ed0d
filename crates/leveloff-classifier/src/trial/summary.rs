//! What a trial comes to.

use super::{ArmResult, BuiltInArm, Effect, RunOver, Stretch};
use crate::observation::XUnit;
use crate::units::{Amount, X};
use crate::verdict::{LevelGrade, RunVerdict, Verdict};

/// What stays undecided is run so many times as often as what is decided: intervals shrink with each run.
pub const UNDECIDED_REPEATS: u32 = 2;

/// A trial, as far as it went.
#[derive(Debug, Clone)]
pub struct TrialSummary {
    /// What x counts.
    pub unit: XUnit,
    /// The verdict on the first control run; `None` if it could not be judged.
    pub control: Option<RunVerdict>,
    /// Whether the first control run went to its own end.
    pub control_ended: bool,
    /// The control runs over the stretch.
    pub control_runs: Vec<RunOver>,
    /// Where the runs are compared; `None` if nothing was.
    pub stretch: Option<Stretch>,
    /// The changes, in the order in which they were tried.
    pub arms: Vec<ArmSummary>,
    /// How often a change that stops the growth has to show it.
    pub repeats: u32,
    /// The furthest that every measured run has come: memory of all is compared there.
    pub common_end: Option<X>,
    /// Memory of the control runs there.
    pub control_memory: Option<Amount>,
}

/// One change of a trial.
#[derive(Debug, Clone)]
pub struct ArmSummary {
    /// Its name.
    pub name: String,
    /// The change that leveloff knows; `None` for one of the user's own.
    pub built_in: Option<BuiltInArm>,
    /// How it is made by hand.
    pub by_hand: String,
    /// The version of a package that it is.
    pub version: Option<TriedVersion>,
    /// Memory at the common end of the trial.
    pub memory: Option<Amount>,
    /// How it went.
    pub state: ArmState,
}

/// A version of a package as a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedVersion {
    /// The package.
    pub package: String,
    /// Its version.
    pub version: String,
}

/// How a change went.
#[derive(Debug, Clone)]
pub enum ArmState {
    /// Measured in so many runs.
    Measured {
        /// Beside the control runs.
        result: ArmResult,
        /// In how many runs.
        runs: u32,
    },
    /// It could not be measured: why.
    Failed(String),
    /// It changes nothing here: why.
    NotApplicable(String),
    /// The trial ended before.
    NotRun,
}

/// What a trial comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialOutcome {
    /// At least one change stops the growth, and repeats agree.
    Stopped,
    /// None stops it, at least one reduces it.
    Reduced,
    /// No change that was measured has an effect.
    NothingHelps,
    /// The evidence does not suffice.
    Undecided,
    /// The control run levels off.
    NothingToCure,
    /// The control run was neither level nor a leak by its end.
    ControlUndecided,
}

impl TrialSummary {
    /// What it comes to.
    pub fn outcome(&self) -> TrialOutcome {
        let Some(control) = &self.control else {
            return TrialOutcome::ControlUndecided;
        };
        // Without steps, a job that loads, hangs or prints nothing is level as well.
        let counts = self.unit != XUnit::Second || self.control_ended;
        if control.verdict == Verdict::Level(LevelGrade::Confirmed) && counts {
            return TrialOutcome::NothingToCure;
        }
        if self.stretch.is_none() {
            return TrialOutcome::ControlUndecided;
        }
        let has = |effect: Effect| self.with(effect).next().is_some();
        let is_open = self
            .arms
            .iter()
            .any(|arm| matches!(arm.state, ArmState::NotRun) || self.is_unconfirmed(arm));
        if has(Effect::Stops) {
            TrialOutcome::Stopped
        } else if is_open || has(Effect::Undecided) {
            TrialOutcome::Undecided
        } else if has(Effect::Reduces) {
            TrialOutcome::Reduced
        } else if has(Effect::None) {
            TrialOutcome::NothingHelps
        } else {
            TrialOutcome::Undecided
        }
    }

    /// The changes with this effect, in order. What stops or reduces the growth counts only if it was repeated.
    pub fn with(&self, effect: Effect) -> impl Iterator<Item = (&ArmSummary, &ArmResult)> {
        self.arms.iter().filter_map(move |arm| match &arm.state {
            ArmState::Measured { result, .. } if result.effect == effect => {
                (!self.is_unconfirmed(arm)).then_some((arm, result))
            }
            _ => None,
        })
    }

    /// The nearest versions of a package, in their order, of which one is known to have the growth and the other is known not
    /// to.
    pub fn turning_points(&self) -> Vec<(&TriedVersion, &TriedVersion)> {
        let mut points = Vec::new();
        let mut last: Option<(&TriedVersion, bool)> = None;
        for arm in &self.arms {
            let (Some(version), Some(grows)) = (&arm.version, self.grows(arm)) else {
                continue;
            };
            if let Some((before, did)) = last
                && before.package == version.package
                && did != grows
            {
                points.push((before, version));
            }
            last = Some((version, grows));
        }
        points
    }

    /// The versions between two turning points of which it is not known whether they have the growth.
    pub fn unknown_between(&self, before: &TriedVersion, after: &TriedVersion) -> Vec<&str> {
        let versions = self.arms.iter().filter_map(|arm| arm.version.as_ref());
        versions
            .skip_while(|version| *version != before)
            .skip(1)
            .take_while(|version| *version != after)
            .map(|version| version.version.as_str())
            .collect()
    }

    /// Whether the trial would make another run of a change, given the time.
    pub fn has_runs_left(&self, arm: &ArmSummary) -> bool {
        match &arm.state {
            ArmState::NotRun => true,
            ArmState::Measured { result, runs } => match result.effect {
                Effect::Undecided => *runs < self.repeats.saturating_mul(UNDECIDED_REPEATS),
                _ => self.is_unconfirmed(arm),
            },
            ArmState::Failed(_) | ArmState::NotApplicable(_) => false,
        }
    }

    /// Whether a change leaves the growth as it is; `None` if that is not known.
    pub fn grows(&self, arm: &ArmSummary) -> Option<bool> {
        match &arm.state {
            ArmState::Measured { result, .. } if !self.is_unconfirmed(arm) => match result.effect {
                Effect::None => Some(true),
                Effect::Stops => Some(false),
                Effect::Reduces | Effect::Undecided => None,
            },
            _ => None,
        }
    }

    /// Whether a change looks like a cure and was not repeated.
    pub fn is_unconfirmed(&self, arm: &ArmSummary) -> bool {
        match &arm.state {
            ArmState::Measured { result, runs } => {
                matches!(result.effect, Effect::Stops | Effect::Reduces) && *runs < self.repeats
            }
            _ => false,
        }
    }
}
