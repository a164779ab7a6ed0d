use proptest::prelude::*;

use super::super::limit_usage::Measure;
use super::*;

const MIB: u64 = 1 << 20;

/// A limit of 1000 MiB with a ceiling at 2000, read as often as the policy asks for.
struct Replay {
    policy: GuardPolicy,
    begin: Instant,
    at: f64,
}

impl Replay {
    fn new(stop_before: Option<u64>) -> Replay {
        Replay {
            policy: GuardPolicy::new(PolicyTimes {
                interval: Duration::from_secs(1),
                dwell: Duration::from_secs(3),
                stop_before: stop_before.map(Duration::from_secs),
            }),
            begin: Instant::now(),
            at: 0.0,
        }
    }

    fn read(&mut self, mib: f64, forecast: Option<Forecast>) -> Decision {
        let used = Bytes((mib * MIB as f64) as u64);
        let usage = |limit: u64, measure| {
            Some(LimitUsage {
                measure,
                used,
                limit: Bytes(limit * MIB),
            })
        };
        self.policy.decide(&PolicyInput {
            now: self.begin + Duration::from_secs_f64(self.at),
            usages: LimitUsages {
                limit: usage(1000, Measure::Tree),
                limit_is_ours: true,
                warn: usage(900, Measure::Tree),
                ceiling: usage(2000, Measure::Cgroup),
                gpu: None,
            },
            forecast,
        })
    }

    /// Follows a curve at the policy's pace; when the run was stopped, and at how many MiB.
    fn follow(&mut self, seconds: f64, curve: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
        let end = self.at + seconds;
        while self.at < end {
            let mib = curve(self.at);
            if let Decision::Stop(_) = self.read(mib, None) {
                return Some((self.at, mib));
            }
            self.at += self.policy.pace().as_secs_f64();
        }
        None
    }
}

#[test]
fn a_rise_is_stopped_when_it_passes_and_not_before() {
    for rate in [1.0, 10.0, 50.0, 100.0, 300.0, 500.0] {
        let mut replay = Replay::new(None);
        let (at, mib) = replay.follow(2000.0, |t| 50.0 + rate * t).expect("stopped");
        assert!(mib >= 1000.0, "{rate} MiB/s: stopped at {mib}");
        // The growth between two readings, and never more than that of a sampling interval.
        assert!(
            mib <= 1000.0 + (0.1 * rate).max(1.0),
            "{rate} MiB/s: only at {mib}"
        );
        assert!(at > 1.0);
    }
}

#[test]
fn a_spike_of_one_sample_does_not_stop_a_run() {
    let mut replay = Replay::new(None);
    let spikes = |t: f64| {
        if t % 60.0 < 1.0 && t > 30.0 {
            1400.0
        } else {
            800.0
        }
    };
    assert_eq!(replay.follow(600.0, spikes), None);
}

#[test]
fn a_jump_that_lasts_stops_a_run() {
    let mut replay = Replay::new(None);
    let jump = |t: f64| if t < 30.0 { 800.0 } else { 1400.0 };
    let (at, _) = replay.follow(60.0, jump).expect("stopped");
    assert!((33.0..34.5).contains(&at), "{at}");
}

#[test]
fn a_jump_to_the_ceiling_stops_a_run_at_once() {
    let mut replay = Replay::new(None);
    let jump = |t: f64| if t < 30.0 { 800.0 } else { 1950.0 };
    let (at, _) = replay.follow(60.0, jump).expect("stopped");
    assert!(at < 31.1, "{at}");
}

#[test]
fn memory_that_oscillates_around_the_limit_counts_as_above_it() {
    let mut replay = Replay::new(None);
    let hover = |t: f64| 1000.0 + 15.0 * (7.0 * t).sin();
    let (at, mib) = replay.follow(60.0, hover).expect("stopped");
    assert!((3.0..6.0).contains(&at) && mib >= 1000.0, "{at} {mib}");
}

#[test]
fn a_warning_is_repeated_only_after_memory_was_well_below() {
    let mut replay = Replay::new(None);
    let mut warnings = 0;
    for mib in [800.0, 905.0, 890.0, 910.0, 870.0, 902.0, 800.0, 901.0] {
        warnings += u32::from(matches!(replay.read(mib, None), Decision::Warn(_)));
        replay.at += 30.0;
    }
    assert_eq!(warnings, 2);
    for mib in [800.0, 905.0, 800.0, 905.0] {
        warnings += u32::from(matches!(replay.read(mib, None), Decision::Warn(_)));
        replay.at += 1.0;
    }
    assert_eq!(warnings, 2, "not every second");
}

#[test]
fn a_forecast_has_to_hold() {
    let met = |left| {
        Some(Forecast::Met {
            left: Seconds(left),
            ceiling: Bytes(2000 * MIB),
        })
    };
    let mut replay = Replay::new(Some(300));
    // --stop-before is 300 s, so the forecast has to hold for 30 s before only 300 s are left.
    for (at, left) in [
        (0.0, 200.0),
        (20.0, 250.0),
        (25.0, 400.0),
        (26.0, 325.0),
        (50.0, 301.0),
    ] {
        replay.at = at;
        assert_eq!(replay.read(500.0, met(left)), Decision::NoAction, "{at}");
        // A reading without a forecast does not interrupt one.
        assert_eq!(replay.read(500.0, None), Decision::NoAction, "{at}");
    }
    replay.at = 57.0;
    assert!(matches!(
        replay.read(500.0, met(299.0)),
        Decision::Stop(Reason::Forecast { .. })
    ));
}

#[test]
fn readings_are_more_frequent_near_the_limit() {
    let mut replay = Replay::new(None);
    replay.read(100.0, None);
    assert!(replay.policy.pace() > Duration::from_millis(300));
    replay.at = 1.0;
    replay.read(995.0, None);
    assert_eq!(replay.policy.pace(), FASTEST_PACE);
}

#[test]
fn a_run_without_a_limit_is_read_once_an_interval() {
    let mut policy = Replay::new(None).policy;
    let decision = policy.decide(&PolicyInput {
        now: Instant::now(),
        usages: LimitUsages::default(),
        forecast: None,
    });
    assert_eq!(decision, Decision::NoAction);
    assert_eq!(policy.pace(), Duration::from_secs(1));
}

proptest! {
    #[test]
    fn nothing_below_the_limit_is_ever_stopped(
        amounts in proptest::collection::vec(0.0f64..999.9, 1..200),
        step in 0.02f64..1.0,
    ) {
        let mut replay = Replay::new(None);
        for mib in amounts {
            let decision = replay.read(mib, None);
            prop_assert!(!matches!(decision, Decision::Stop(_)), "{decision:?} at {mib}");
            replay.at += step;
        }
    }
}

#[test]
fn memory_that_is_above_most_of_the_time_adds_up() {
    let mut replay = Replay::new(None);
    let comes_and_goes = |t: f64| if t % 2.3 < 2.2 { 1400.0 } else { 100.0 };
    let (at, mib) = replay.follow(30.0, comes_and_goes).expect("stopped");
    assert!(at < 5.0 && mib >= 1000.0, "{at} {mib}");
}

#[test]
fn a_machine_that_others_fill_stops_no_run() {
    let mut policy = Replay::new(None).policy;
    let full = LimitUsage {
        measure: Measure::Host,
        used: Bytes(1100 * MIB),
        limit: Bytes(1000 * MIB),
    };
    let begin = Instant::now();
    for second in 0..20 {
        let decision = policy.decide(&PolicyInput {
            now: begin + Duration::from_secs(second),
            usages: LimitUsages {
                limit: Some(full),
                limit_is_ours: false,
                warn: Some(full),
                ..LimitUsages::default()
            },
            forecast: None,
        });
        assert!(!matches!(decision, Decision::Stop(_)));
    }
}
