//! How long a step takes, lately.

use std::collections::VecDeque;

use leveloff_model::units::Seconds;

/// Follows (count, time) and estimates the time that one count takes.
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    recent: VecDeque<(f64, f64)>,
}

impl Pace {
    /// Counts that are remembered: enough for a median, few enough to be recent.
    const REMEMBERED: usize = 65;
    /// Spans that the median is taken over. A span holds several counts, so that the pauses of a
    /// short evaluation are part of the pace; one long pause is one span and falls out.
    const SPANS: usize = 8;

    /// Takes the next moment; repetitions of a count say nothing.
    pub(super) fn push(&mut self, count: f64, t: Seconds) {
        if self.recent.back().is_some_and(|last| count <= last.0) || !t.0.is_finite() {
            return;
        }
        if self.recent.len() == Pace::REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((count, t.0));
    }

    /// Seconds for each count.
    pub(super) fn seconds(&self) -> Option<Seconds> {
        let spans = (self.recent.len().checked_sub(1)?).min(Pace::SPANS);
        let mut paces: Vec<f64> = (0..spans).map(|span| self.pace_of(span, spans)).collect();
        paces.sort_by(f64::total_cmp);
        let middle = *paces.get(paces.len() / 2)?;
        (middle.is_finite() && middle > 0.0).then_some(Seconds(middle))
    }

    fn pace_of(&self, span: usize, spans: usize) -> f64 {
        let last = self.recent.len() - 1;
        let (from, to) = (last * span / spans, last * (span + 1) / spans);
        let (start, end) = (self.recent[from], self.recent[to]);
        (end.1 - start.1) / (end.0 - start.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace_of(moments: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
        let mut pace = Pace::default();
        for (count, t) in moments {
            pace.push(count, Seconds(t));
        }
        pace.seconds().map(|seconds| seconds.0)
    }

    #[test]
    fn one_long_pause_does_not_slow_it() {
        let with_a_pause = (0..100).map(|i| {
            let pause = if i > 80 { 3600.0 } else { 0.0 };
            (f64::from(i), f64::from(i) * 2.0 + pause)
        });
        assert_eq!(pace_of(with_a_pause), Some(2.0));
    }

    #[test]
    fn it_is_recent() {
        let slower = (0..400).map(|i: i32| {
            let t = if i < 200 { i } else { 200 + (i - 200) * 5 };
            (f64::from(i), f64::from(t))
        });
        assert_eq!(pace_of(slower), Some(5.0));
    }

    #[test]
    fn too_few_moments_have_none() {
        assert_eq!(pace_of([]), None);
        assert_eq!(pace_of([(1.0, 5.0)]), None);
        assert_eq!(pace_of([(1.0, 5.0), (1.0, 9.0)]), None);
        assert_eq!(pace_of([(1.0, 5.0), (3.0, 9.0)]), Some(2.0));
        assert_eq!(pace_of([(1.0, 5.0), (3.0, 5.0)]), None);
    }
}
