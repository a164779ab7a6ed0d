//! How far a run had come before it was first observed.
//!
//! A run that is attached to at step 222 is 222 steps old, unless it continues from a checkpoint: then its process is
//! young. The CPU time that the trainer had used by then shows the difference.

use leveloff_model::process::Role;

use crate::observation::{Observation, XUnit};

/// CPU time of the trainer at the first and at the newest observation.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RunAge {
    first_x: Option<f64>,
    first: Option<Worked>,
    newest: Option<Worked>,
}

#[derive(Debug, Clone, Copy)]
struct Worked {
    x: f64,
    cpu: f64,
}

impl RunAge {
    /// Takes the next observation at `x`.
    pub(super) fn observe(&mut self, x: f64, observation: &Observation) {
        self.first_x.get_or_insert(x);
        let trainers = observation
            .processes
            .iter()
            .filter(|process| process.role == Role::Trainer);
        let cpu: Option<u64> = trainers
            .map(|process| process.cpu.map(|cpu| cpu.0))
            .sum::<Option<u64>>()
            .filter(|cpu| *cpu > 0);
        if let Some(cpu) = cpu {
            let worked = Worked { x, cpu: cpu as f64 };
            self.first.get_or_insert(worked);
            self.newest = Some(worked);
        }
    }

    /// How far it had come. Without CPU times, a count is believed.
    pub(super) fn before_first(&self, unit: XUnit) -> Option<f64> {
        let counted = self.first_x.filter(|x| unit != XUnit::Second && *x > 0.0);
        let worked = self.worked_before();
        match (counted, worked) {
            (Some(counted), Some(worked)) => Some(counted.min(worked)),
            (Some(counted), None) => Some(counted),
            (None, worked) => worked.filter(|_| unit == XUnit::Second),
        }
    }

    /// What the CPU time at the first observation is worth on the axis, at the mean rate since then.
    fn worked_before(&self) -> Option<f64> {
        let (first, newest) = (self.first?, self.newest?);
        let per_x = (newest.cpu - first.cpu) / (newest.x - first.x);
        (per_x.is_finite() && per_x > 0.0).then(|| first.cpu / per_x)
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::{Pid, ProcessIndex};
    use leveloff_model::units::CpuMillis;

    use super::*;
    use crate::observation::ProcessShare;

    fn seen(from: u32, cpu_at_first: u64, unit: XUnit) -> Option<f64> {
        let mut age = RunAge::default();
        for step in from..from + 50 {
            let mut trainer = ProcessShare::unread(ProcessIndex(0), Pid(1), Role::Trainer);
            let cpu = cpu_at_first + u64::from(step - from) * 100;
            trainer.cpu = Some(CpuMillis(cpu));
            let observation = Observation {
                processes: vec![trainer],
                ..Observation::default()
            };
            age.observe(f64::from(step), &observation);
        }
        age.before_first(unit)
    }

    #[test]
    fn a_run_that_is_attached_to_late_has_its_age() {
        assert_eq!(seen(222, 25_000, XUnit::Step), Some(222.0));
    }

    #[test]
    fn a_run_that_continues_from_a_checkpoint_is_young() {
        assert_eq!(seen(100_000, 2_000, XUnit::Step), Some(20.0));
    }

    #[test]
    fn over_time_the_work_shows_the_age() {
        assert_eq!(seen(0, 30_000, XUnit::Second), Some(300.0));
    }
}
