//! Memory that rises and falls again and again: garbage collection, evaluations, caches that are
//! emptied. What counts then is the lower envelope: does each valley lie higher than the last?

use crate::stats::{LineFit, median, quantile};

/// A regular up and down.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycles {
    /// Distance from one peak to the next, in x.
    pub period: f64,
    /// Share of the time that it is nearer to the peaks than to the valleys.
    pub duty: f64,
    /// How far it rises from a valley to the next peak, on average.
    pub amplitude: f64,
    /// Where its valleys are.
    valleys: Vec<usize>,
}

/// The lowest points of a curve, one for each stretch of about a period.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Envelope {
    /// x of each stretch's middle.
    pub x: Vec<f64>,
    /// Its lowest y.
    pub y: Vec<f64>,
}

/// Fewer peaks may be chance.
const FEWEST_PEAKS: usize = 4;

/// So many of the distances from peak to peak must be within 0.6 to 1.6 of the usual one: a peak may
/// be missed now and then.
const REGULAR_SHARE: f64 = 0.75;

/// Heights may differ by this share of their mean.
const AMPLITUDE_SPREAD: f64 = 0.45;

/// A drop is at least this share of the height, or it is a bend and no cycle.
const REAL_DROP: f64 = 0.4;

/// A point must predict this much of the one a period later.
const LEAST_ECHO: f64 = 0.25;

/// Cycles that are high for less than this share of the time are spikes.
const SHORT_SPIKES: f64 = 0.3;

/// A reversal is larger than this share of the range of a curve without its trend.
const REVERSAL_OF_RANGE: f64 = 0.3;

/// A rise of less than this share of what is material is a quiver and no sawtooth, the same share
/// as of a jump. In a view of a long run even the last digits of a steady value beat against the
/// points that were joined, with a period that is nowhere in the run.
const SAWTOOTH_OF_MATERIAL: f64 = 0.25;

impl Cycles {
    /// The cycles of a curve, if it has any: looked for without its trend first, then as it is,
    /// because a warmup's bend is larger than many a cycle.
    pub fn of(x: &[f64], y: &[f64]) -> Option<Cycles> {
        if x.len() < 12 {
            return None;
        }
        let noise = between_turns(y);
        let line = LineFit::over(x, y, 0.0);
        let detrended: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| y - line.at(x)).collect();
        let mut sorted = detrended.clone();
        let range = quantile(&mut sorted, 0.97) - quantile(&mut sorted, 0.03);
        let level = quantile(&mut y.to_vec(), 0.5).abs();
        let large = (6.0 * noise).max(REVERSAL_OF_RANGE * range);
        let small = (8.0 * noise).max(0.008 * level);
        Cycles::at(x, y, &detrended, large).or_else(|| Cycles::at(x, y, y, small))
    }

    /// The cycles of a curve `y` that turns by more than `reversal`; `raw` is the same before its
    /// trend was taken away.
    fn at(x: &[f64], raw: &[f64], y: &[f64], reversal: f64) -> Option<Cycles> {
        let (peaks, valleys) = turning_points(y, reversal);
        if peaks.len() < FEWEST_PEAKS || valleys.len() + 1 < FEWEST_PEAKS {
            return None;
        }
        let gaps: Vec<f64> = peaks.windows(2).map(|p| x[p[1]] - x[p[0]]).collect();
        let period = median(&mut gaps.clone());
        let usual = |gap: &&f64| (0.6..=1.6).contains(&(**gap / period));
        if (gaps.iter().filter(usual).count() as f64) < REGULAR_SHARE * gaps.len() as f64 {
            return None;
        }
        let (amplitude, spread) = mean_and_spread(&moves(y, &valleys, &peaks));
        // Without its trend, every staircase falls from step to step: drops are looked at in `raw`.
        let drop = -mean_and_spread(&moves(raw, &peaks, &valleys)).0;
        if spread > AMPLITUDE_SPREAD * amplitude || drop < REAL_DROP * amplitude {
            return None;
        }
        let points = (peaks[peaks.len() - 1] - peaks[0]) as f64 / gaps.len() as f64;
        (echo(y, points.round() as usize) >= LEAST_ECHO).then(|| Cycles {
            period,
            duty: duty(y, &peaks, &valleys),
            amplitude,
            valleys,
        })
    }

    /// Whether it rises far enough to be reported, beside what is `material`.
    pub fn are_material(&self, material: f64) -> bool {
        self.amplitude >= SAWTOOTH_OF_MATERIAL * material
    }

    /// The lower envelope. Between short spikes it is the lowest point of each stretch that is
    /// longer than they are, counted from the newest point back; of a sawtooth, its valleys.
    pub fn envelope(&self, x: &[f64], low: &[f64]) -> Envelope {
        if self.duty >= SHORT_SPIKES {
            return self.valleys(x, low);
        }
        let spacing = (x[x.len() - 1] - x[0]) / (x.len() - 1) as f64;
        let width = (1.6 * self.duty * self.period).max(3.0 * spacing);
        let mut envelope = Envelope::default();
        let mut end = x.len();
        while end > 0 {
            let edge = x[end - 1] - width;
            let begin = x[..end].partition_point(|&x| x <= edge);
            // The oldest stretch is cut short by the beginning and may miss its valley.
            if begin == 0 && x[end - 1] - x[0] < 0.9 * width {
                break;
            }
            let lowest = (begin..end)
                .min_by(|&a, &b| low[a].total_cmp(&low[b]))
                .unwrap_or(begin);
            envelope.x.push(x[lowest]);
            envelope.y.push(low[lowest]);
            end = begin;
        }
        envelope.x.reverse();
        envelope.y.reverse();
        envelope
    }

    /// The lowest points of a sawtooth. Where points were joined, the fall may be inside of the one before: its mean is
    /// high, and the lowest point is in it.
    fn valleys(&self, x: &[f64], low: &[f64]) -> Envelope {
        let lowest = |&valley: &usize| {
            let beside = valley.saturating_sub(1)..(valley + 2).min(low.len());
            beside
                .min_by(|&a, &b| low[a].total_cmp(&low[b]))
                .unwrap_or(valley)
        };
        let places = self.valleys.iter().map(lowest);
        let (x, y) = places.map(|place| (x[place], low[place])).unzip();
        Envelope { x, y }
    }
}

/// The noise between turns: the quietest quarter of the second differences, which even short cycles
/// leave alone, scaled to the standard deviation of white noise.
fn between_turns(y: &[f64]) -> f64 {
    /// Φ⁻¹(0.625): a quarter of the absolute values of a normal sample are below so many σ.
    const ONE_IN_FOUR: f64 = 0.318_639_363_964;
    let mut differences: Vec<f64> = y
        .windows(3)
        .map(|three| (three[0] - 2.0 * three[1] + three[2]).abs())
        .collect();
    quantile(&mut differences, 0.25) / ONE_IN_FOUR / 6.0_f64.sqrt()
}

/// Peaks and valleys that are more than `reversal` apart, in order and alternating.
fn turning_points(y: &[f64], reversal: f64) -> (Vec<usize>, Vec<usize>) {
    let (mut peaks, mut valleys) = (Vec::new(), Vec::new());
    let (mut highest, mut lowest) = (0, 0);
    let mut rising: Option<bool> = None;
    for i in 1..y.len() {
        if y[i] > y[highest] {
            highest = i;
        }
        if y[i] < y[lowest] {
            lowest = i;
        }
        if rising != Some(false) && y[highest] - y[i] > reversal {
            // The first peak is the curve's beginning if it only falls from there.
            if rising == Some(true) {
                peaks.push(highest);
            }
            rising = Some(false);
            lowest = i;
        } else if rising != Some(true) && y[i] - y[lowest] > reversal {
            if rising == Some(false) {
                valleys.push(lowest);
            }
            rising = Some(true);
            highest = i;
        }
    }
    (peaks, valleys)
}

/// How y changes from each turning point of one kind to the next of the other.
fn moves(y: &[f64], from: &[usize], to: &[usize]) -> Vec<f64> {
    from.iter()
        .filter_map(|&from| {
            let next = to.iter().find(|&&to| to > from)?;
            Some(y[*next] - y[from])
        })
        .collect()
}

fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    (mean, spread.sqrt())
}

/// How much of the curve comes back after `lag` points: its autocorrelation, without what moves more
/// slowly than that. Periods are not exact, so neighbouring lags count too.
fn echo(y: &[f64], lag: usize) -> f64 {
    if lag == 0 || lag + 4 > y.len() {
        return 0.0;
    }
    let fast = without_slow_part(y, lag);
    let power = fast.iter().map(|v| v * v).sum::<f64>() / fast.len() as f64;
    let slack = lag / 8;
    (lag.saturating_sub(slack).max(1)..=lag + slack)
        .filter(|&lag| lag < fast.len())
        .map(|lag| {
            let pairs = fast.len() - lag;
            let shared: f64 = (0..pairs).map(|i| fast[i] * fast[i + lag]).sum();
            shared / pairs as f64 / power.max(f64::MIN_POSITIVE)
        })
        .fold(0.0, f64::max)
}

/// The curve less its mean over a window.
fn without_slow_part(y: &[f64], window: usize) -> Vec<f64> {
    let half = window / 2;
    let mut sums = vec![0.0];
    for &y in y {
        sums.push(sums[sums.len() - 1] + y);
    }
    (0..y.len())
        .map(|i| {
            let (from, to) = (i.saturating_sub(half), (i + half + 1).min(y.len()));
            y[i] - (sums[to] - sums[from]) / (to - from) as f64
        })
        .collect()
}

/// The share of points that are nearer to the line of peaks than to that of valleys.
fn duty(y: &[f64], peaks: &[usize], valleys: &[usize]) -> f64 {
    let (first, last) = (peaks[0], peaks[peaks.len() - 1]);
    let high = |i: usize| {
        let peak = peaks.iter().min_by_key(|&&peak| peak.abs_diff(i));
        let valley = valleys.iter().min_by_key(|&&valley| valley.abs_diff(i));
        match (peak, valley) {
            (Some(&peak), Some(&valley)) => y[i] > 0.5 * (y[peak] + y[valley]),
            _ => false,
        }
    };
    let above = (first..last).filter(|&i| high(i)).count();
    above as f64 / (last - first).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::judge::{Facts, Quantity, judge};
    use crate::observation::XUnit;

    /// Garbage of 1 MB a step, collected every 40 steps, seen every step or two.
    fn collected_every_40_steps(steps: u64) -> Curve {
        let mut curve = Curve::of_finished();
        let (mut step, mut dice) = (1_u64, 12_345_u64);
        while step < steps {
            curve.push(step as f64, 10e6 + 1e6 * (step % 40) as f64);
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            step += 1 + (dice >> 40 & 1);
        }
        curve
    }

    #[test]
    fn valleys_are_the_lowest_points_also_where_points_were_joined() {
        let view = collected_every_40_steps(1000).view();
        assert!(view.weight > 1);
        let cycles = Cycles::of(&view.x, &view.y).unwrap();
        let valleys = cycles.envelope(&view.x, &view.low);
        assert!(valleys.y.len() >= 20);
        let highest = valleys.y.iter().copied().fold(0.0, f64::max);
        assert!(highest <= 11e6, "{highest}");
    }

    #[test]
    fn a_sawtooth_is_level_however_long_it_is_seen() {
        for steps in (320..6000).step_by(60) {
            let curve = collected_every_40_steps(steps);
            let judgement = judge(&curve, XUnit::Step, Quantity::Memory, &Facts::default());
            assert!(judgement.verdict.is_level(), "{steps}: {judgement:?}");
        }
    }
}
