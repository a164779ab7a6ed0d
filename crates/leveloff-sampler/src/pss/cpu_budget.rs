//! The CPU budget of the PSS readings: a token bucket that fills at a fixed share of one core.

use std::time::Duration;

/// A token bucket of CPU time. It holds at most the income of one minute and starts full, so that a run is
/// read at once after attaching, and the average holds over every longer time.
#[derive(Debug, Clone)]
pub struct CpuBudget {
    /// Share of one core: 0.005 is half a percent.
    share: f64,
    /// CPU seconds in the bucket; negative after a read that cost more than was left.
    credit: f64,
}

/// How much income the bucket holds.
const CAPACITY: Duration = Duration::from_secs(60);

impl CpuBudget {
    /// A budget of `percent` of one core.
    pub fn percent(percent: f64) -> CpuBudget {
        let share = percent / 100.0;
        CpuBudget {
            share,
            credit: share * CAPACITY.as_secs_f64(),
        }
    }

    /// Adds the income of `elapsed` wall time.
    pub fn earn(&mut self, elapsed: Duration) {
        let income = self.income(elapsed);
        self.credit = (self.credit + income.as_secs_f64()).min(self.capacity());
    }

    /// Whether a read that is expected to cost `cost` may start now. A read that costs more than the bucket
    /// holds may start when the bucket is full, and leaves a debt.
    pub fn affords(&self, cost: Duration) -> bool {
        self.share > 0.0 && self.credit >= cost.as_secs_f64().min(self.capacity())
    }

    /// Subtracts what a read has cost.
    pub fn spend(&mut self, cost: Duration) {
        self.credit -= cost.as_secs_f64();
    }

    /// The income of `elapsed` wall time.
    pub fn income(&self, elapsed: Duration) -> Duration {
        elapsed.mul_f64(self.share)
    }

    /// Whether the bucket is nearly full.
    pub fn is_plentiful(&self) -> bool {
        self.credit > self.capacity() * 0.8
    }

    /// Whether there is any budget at all.
    pub fn is_open(&self) -> bool {
        self.share > 0.0
    }

    fn capacity(&self) -> f64 {
        self.share * CAPACITY.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_average_holds_however_large_a_read_is() {
        let mut budget = CpuBudget::percent(0.5);
        let (mut spent, hour) = (Duration::ZERO, 3600);
        for _second in 0..hour {
            while budget.affords(800 * MS) {
                budget.spend(800 * MS);
                spent += 800 * MS;
            }
            budget.earn(Duration::from_secs(1));
        }
        let share = spent.as_secs_f64() / f64::from(hour);
        assert!(share <= 0.005 + 0.8 / f64::from(hour), "{share}");
        assert!(share > 0.0045, "the budget is used: {share}");
    }

    #[test]
    fn a_fresh_bucket_reads_at_once_and_a_closed_one_never() {
        assert!(CpuBudget::percent(0.5).affords(300 * MS));
        assert!(!CpuBudget::percent(0.0).affords(Duration::ZERO));
    }

    #[test]
    fn idle_time_is_not_saved_beyond_a_minute() {
        let mut budget = CpuBudget::percent(1.0);
        budget.earn(Duration::from_secs(36_000));
        budget.spend(600 * MS);
        assert!(!budget.affords(MS));
    }
}
