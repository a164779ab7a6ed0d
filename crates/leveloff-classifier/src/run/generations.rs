//! Loader workers that are replaced by new ones, epoch after epoch.
//!
//! When workers end, what they held goes with them, and the trainer's heap settles again. Growth
//! since the last replacement may go with the next: it counts as a leak once it has outlived one.

use leveloff_model::process::{ProcessIndex, Role};

use crate::observation::ProcessShare;
use crate::units::X;
use crate::verdict::{DecideBy, Judgement, Reason, Verdict};

/// When the workers were last replaced, and how long those before them lived.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Generations {
    newest: Option<ProcessIndex>,
    began_at: f64,
    lasted: Option<f64>,
}

impl Generations {
    /// A replacement may come so much later than the one before.
    const LATE: f64 = 1.5;
    /// Whether growth outlived a replacement is known after this share of the next generation.
    const SETTLES: f64 = 0.25;
    /// Growth may seem to begin a little before the replacement that it follows.
    const BEFORE: f64 = 0.1;

    /// Takes the processes of the next observation.
    pub(super) fn observe(&mut self, x: f64, processes: &[ProcessShare]) {
        let workers = || {
            let of_role = |process: &&ProcessShare| process.role == Role::DataloaderWorker;
            processes
                .iter()
                .filter(of_role)
                .map(|process| process.index)
        };
        let (Some(oldest), Some(newest)) = (workers().min(), workers().max()) else {
            return;
        };
        match self.newest {
            None => self.began_at = x,
            // Numbers are never reused: all that live came after all that lived before.
            Some(before) if oldest > before => {
                self.lasted = Some(x - self.began_at);
                self.began_at = x;
            }
            Some(_) => {}
        }
        self.newest = self.newest.max(Some(newest));
    }

    /// Takes a leak back that began with the living workers and may end with them.
    pub(super) fn hold_back(&self, judgement: Judgement) -> Judgement {
        let (Some(lasted), Some(X(onset)), Some((_, X(now)))) =
            (self.lasted, judgement.onset_x, judgement.span)
        else {
            return judgement;
        };
        let slack = Generations::BEFORE * lasted;
        // What a replacement took away shows only after a while.
        let (began_at, settled_by) = if now < self.began_at + Generations::SETTLES * lasted {
            let settled_by = self.began_at + Generations::SETTLES * lasted;
            (self.began_at - lasted, settled_by)
        } else {
            (self.began_at, self.began_at + Generations::LATE * lasted)
        };
        if judgement.verdict.grade().is_none() || onset < began_at - slack || now >= settled_by {
            return judgement;
        }
        Judgement {
            verdict: Verdict::WarmingUp,
            decided_at_x: None,
            decide_by: Some(DecideBy {
                if_it_levels: X(settled_by),
                if_it_goes_on: X(settled_by),
                level_after: X(Generations::SETTLES * lasted),
            }),
            reason: Reason::YoungGrowth,
            ..judgement
        }
    }
}
