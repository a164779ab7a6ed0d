use proptest::prelude::*;

use super::super::gauge::Measure;
use super::*;

const MIB: u64 = 1 << 20;

/// A limit of 1000 MiB, with a ceiling at 2000, looked at as often as asked for.
struct Watch {
    watchman: Watchman,
    begin: Instant,
    at: f64,
}

impl Watch {
    fn new(stop_before: Option<u64>) -> Watch {
        Watch {
            watchman: Watchman::new(Patience {
                interval: Duration::from_secs(1),
                dwell: Duration::from_secs(3),
                stop_before: stop_before.map(Duration::from_secs),
            }),
            begin: Instant::now(),
            at: 0.0,
        }
    }

    fn look(&mut self, mib: f64, forecast: Option<Forecast>) -> Decision {
        let used = Bytes((mib * MIB as f64) as u64);
        let gauge = |limit: u64, measure| {
            Some(Gauge {
                measure,
                used,
                limit: Bytes(limit * MIB),
            })
        };
        self.watchman.decide(&Look {
            now: self.begin + Duration::from_secs_f64(self.at),
            gauges: Gauges {
                limit: gauge(1000, Measure::Tree),
                limit_is_ours: true,
                warn: gauge(900, Measure::Tree),
                ceiling: gauge(2000, Measure::Cgroup),
                gpu: None,
            },
            forecast,
        })
    }

    /// Follows a curve at the pace that is asked for; when it was stopped, and at how many MiB.
    fn follow(&mut self, seconds: f64, curve: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
        let end = self.at + seconds;
        while self.at < end {
            let mib = curve(self.at);
            if let Decision::Stop(_) = self.look(mib, None) {
                return Some((self.at, mib));
            }
            self.at += self.watchman.pace().as_secs_f64();
        }
        None
    }
}

#[test]
fn a_rise_is_stopped_when_it_passes_and_not_before() {
    for rate in [1.0, 10.0, 50.0, 100.0, 300.0, 500.0] {
        let mut watch = Watch::new(None);
        let (at, mib) = watch.follow(2000.0, |t| 50.0 + rate * t).expect("stopped");
        assert!(mib >= 1000.0, "{rate} MiB/s: stopped at {mib}");
        // One look's growth, and never more than a sample interval's.
        assert!(
            mib <= 1000.0 + (0.1 * rate).max(1.0),
            "{rate} MiB/s: only at {mib}"
        );
        assert!(at > 1.0);
    }
}

#[test]
fn a_spike_of_one_sample_does_not_end_a_run() {
    let mut watch = Watch::new(None);
    let spikes = |t: f64| {
        if t % 60.0 < 1.0 && t > 30.0 {
            1400.0
        } else {
            800.0
        }
    };
    assert_eq!(watch.follow(600.0, spikes), None);
}

#[test]
fn a_jump_that_stays_does() {
    let mut watch = Watch::new(None);
    let jump = |t: f64| if t < 30.0 { 800.0 } else { 1400.0 };
    let (at, _) = watch.follow(60.0, jump).expect("stopped");
    assert!((33.0..34.5).contains(&at), "{at}");
}

#[test]
fn a_jump_to_the_ceiling_does_at_once() {
    let mut watch = Watch::new(None);
    let jump = |t: f64| if t < 30.0 { 800.0 } else { 1950.0 };
    let (at, _) = watch.follow(60.0, jump).expect("stopped");
    assert!(at < 31.1, "{at}");
}

#[test]
fn what_hovers_around_the_limit_is_passed_as_long_as_it_hovers() {
    let mut watch = Watch::new(None);
    let hover = |t: f64| 1000.0 + 15.0 * (7.0 * t).sin();
    let (at, mib) = watch.follow(60.0, hover).expect("stopped");
    assert!((3.0..6.0).contains(&at) && mib >= 1000.0, "{at} {mib}");
}

#[test]
fn it_warns_once_and_again_only_after_it_was_well_below() {
    let mut watch = Watch::new(None);
    let mut warnings = 0;
    for mib in [800.0, 905.0, 890.0, 910.0, 870.0, 902.0, 800.0, 901.0] {
        warnings += u32::from(matches!(watch.look(mib, None), Decision::Warn(_)));
        watch.at += 30.0;
    }
    assert_eq!(warnings, 2);
    for mib in [800.0, 905.0, 800.0, 905.0] {
        warnings += u32::from(matches!(watch.look(mib, None), Decision::Warn(_)));
        watch.at += 1.0;
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
    let mut watch = Watch::new(Some(300));
    // 300 s were asked for, so it has to hold for 30 s before that is all that is left.
    for (at, left) in [
        (0.0, 200.0),
        (20.0, 250.0),
        (25.0, 400.0),
        (26.0, 325.0),
        (50.0, 301.0),
    ] {
        watch.at = at;
        assert_eq!(watch.look(500.0, met(left)), Decision::Calm, "{at}");
        // A glance does not judge, and is no end of a forecast.
        assert_eq!(watch.look(500.0, None), Decision::Calm, "{at}");
    }
    watch.at = 57.0;
    assert!(matches!(
        watch.look(500.0, met(299.0)),
        Decision::Stop(Why::Forecast { .. })
    ));
}

#[test]
fn looks_come_sooner_the_nearer_the_limit() {
    let mut watch = Watch::new(None);
    watch.look(100.0, None);
    assert!(watch.watchman.pace() > Duration::from_millis(300));
    watch.at = 1.0;
    watch.look(995.0, None);
    assert_eq!(watch.watchman.pace(), FASTEST_PACE);
}

#[test]
fn a_run_without_a_limit_is_looked_at_as_usual() {
    let mut watchman = Watch::new(None).watchman;
    let decision = watchman.decide(&Look {
        now: Instant::now(),
        gauges: Gauges::default(),
        forecast: None,
    });
    assert_eq!(decision, Decision::Calm);
    assert_eq!(watchman.pace(), Duration::from_secs(1));
}

proptest! {
    #[test]
    fn nothing_below_the_limit_is_ever_stopped(
        amounts in proptest::collection::vec(0.0f64..999.9, 1..200),
        step in 0.02f64..1.0,
    ) {
        let mut watch = Watch::new(None);
        for mib in amounts {
            let decision = watch.look(mib, None);
            prop_assert!(!matches!(decision, Decision::Stop(_)), "{decision:?} at {mib}");
            watch.at += step;
        }
    }
}

#[test]
fn what_is_above_more_often_than_not_adds_up() {
    let mut watch = Watch::new(None);
    let comes_and_goes = |t: f64| if t % 2.3 < 2.2 { 1400.0 } else { 100.0 };
    let (at, mib) = watch.follow(30.0, comes_and_goes).expect("stopped");
    assert!(at < 5.0 && mib >= 1000.0, "{at} {mib}");
}

#[test]
fn a_machine_that_others_fill_is_warned_of_and_not_answered_for() {
    let mut watchman = Watch::new(None).watchman;
    let full = Gauge {
        measure: Measure::Host,
        used: Bytes(1100 * MIB),
        limit: Bytes(1000 * MIB),
    };
    let begin = Instant::now();
    for second in 0..20 {
        let decision = watchman.decide(&Look {
            now: begin + Duration::from_secs(second),
            gauges: Gauges {
                limit: Some(full),
                limit_is_ours: false,
                warn: Some(full),
                ..Gauges::default()
            },
            forecast: None,
        });
        assert!(!matches!(decision, Decision::Stop(_)));
    }
}
