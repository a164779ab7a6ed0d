use leveloff_classifier::units::{Amount, X};
use leveloff_classifier::verdict::{AtPlannedEnd, LevelGrade, MetLimit, Risk};
use leveloff_text::cases::{leak, story_at_80, story_at_300};

use super::*;

const GIB: u64 = 1 << 30;

fn with_time_left(seconds: f64) -> RunVerdict {
    let run = story_at_80();
    let risk = run.risk.map(|risk| Risk {
        in_time: Some(Seconds(seconds)),
        ..risk
    });
    RunVerdict { risk, ..run }
}

fn change<'a>(said: &mut Said, run: &'a RunVerdict) -> Option<Change<'a>> {
    said.change(run, Bytes(GIB), Seconds(100.0))
}

#[test]
fn a_verdict_is_said_once_and_again_when_it_changes() {
    let mut said = Said::default();
    let (level, leak) = (story_at_300(), leak());
    assert_eq!(change(&mut said, &level), Some(Change::Verdict(&level)));
    assert_eq!(change(&mut said, &level), None);
    let mut early = story_at_300();
    early.verdict = Verdict::Level(LevelGrade::Early);
    assert_eq!(change(&mut said, &early), None, "only the grade changed");
    assert_eq!(change(&mut said, &leak), Some(Change::Verdict(&leak)));
}

#[test]
fn a_risk_is_said_when_it_is_known_and_when_it_comes_nearer() {
    let mut said = Said::default();
    let heard: Vec<bool> = [5000.0, 4900.0, 3599.0, 3000.0, 880.0, 200.0, 190.0, 50.0]
        .into_iter()
        .map(|left| change(&mut said, &with_time_left(left)).is_some())
        .collect();
    assert_eq!(heard, [true, false, true, false, true, true, false, true]);
}

#[test]
fn a_limit_that_is_days_away_and_a_rate_that_may_be_none_are_not_said() {
    let days = with_time_left(200_000.0);
    assert_eq!(change(&mut Said::default(), &days), None);
    let mut unsure = story_at_80();
    unsure.risk = unsure.risk.map(|risk| Risk {
        latest_x: None,
        ..risk
    });
    assert_eq!(change(&mut Said::default(), &unsure), None);
}

#[test]
fn that_a_run_will_be_killed_is_taken_back_when_it_finishes() {
    let mut said = Said::default();
    let killed = RunVerdict {
        will_finish: WillFinish::No(MetLimit {
            planned: X(663.0),
            at: X(170.0),
            earliest: None,
            latest: None,
            in_time: Some(Seconds(200_000.0)),
            limit: Bytes(32 * GIB),
        }),
        ..with_time_left(200_000.0)
    };
    assert_eq!(change(&mut said, &killed), Some(Change::Risk(&killed)));
    assert_eq!(change(&mut said, &killed), None);
    let finishes = RunVerdict {
        will_finish: WillFinish::Yes(AtPlannedEnd {
            planned: X(663.0),
            memory: Amount(1e9),
            limit: Bytes(32 * GIB),
        }),
        ..with_time_left(200_000.0)
    };
    assert_eq!(
        change(&mut said, &finishes),
        Some(Change::Finishes(&finishes))
    );
    assert_eq!(change(&mut said, &finishes), None);
}

#[test]
fn a_near_limit_is_said_again_only_after_it_was_far() {
    let mut said = Said::default();
    let run = RunVerdict {
        limit: Some(Bytes(100 * GIB)),
        risk: None,
        ..story_at_80()
    };
    let heard: Vec<bool> = [50, 91, 89, 91, 79, 92]
        .into_iter()
        .map(|gib| {
            said.change(&run, Bytes(gib * GIB), Seconds(100.0))
                .is_some()
        })
        .collect();
    assert_eq!(heard, [false, true, false, false, false, true]);
}
