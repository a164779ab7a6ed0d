use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::{Amount, X};
use leveloff_classifier::verdict::{
    Blame, DecideBy, Extremes, Grade, Kind, LevelGrade, Reason, Shape, Subject, Verdict,
};
use leveloff_model::process::{Pid, Rank, Role};
use leveloff_model::recording::StatedFacts;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Step;
use leveloff_text::judged::Look;
use leveloff_text::verdict::line;

use super::*;
use crate::cases::{
    GIB, MIB, descriptor_leak, judgement, leak, mib_rate, run, story_at_80, story_at_300, undecided,
};

fn rendered(verdict: &RunVerdict) -> String {
    rendered_with(verdict, &StatedFacts::default())
}

/// The text, which always fits into the width and never shows a missing value or, when plain, a colour.
#[track_caller]
fn rendered_with(verdict: &RunVerdict, stated: &StatedFacts) -> String {
    let text = block(&Judged::plain("story.csv", verdict, stated), Paint::Plain);
    let wide = text.lines().find(|line| columns(line) > WIDTH);
    assert_eq!(wide, None, "{text}");
    for bad in ["NaN", "inf", "\x1b", "None"] {
        assert!(!text.contains(bad), "{bad} in {text}");
    }
    text
}

#[test]
fn the_story_at_step_80() {
    assert_eq!(
        rendered(&story_at_80()),
        "\
story.csv   WARMING UP: a leak from step 379 on if it continues
  steps 10–80 · 10 min · 8 points

  growing    165 MiB per step (160 … 171), straight
             = 1.61 GiB per 10 steps = 1.03 GiB per minute
             no sign of slowing; 24 % of healthy warmups are still growing at
             this age
  decided    as a leak at step 379 if it continues, as level about 40 steps
             after it stops
             state a horizon to decide sooner: --level-by STEPS

  risk       if it goes on, 32.0 GiB (stated limit) is reached at step 168 (163
             … 173), in about 13 min

  next       leveloff run -- CMD, or leveloff record --pid PID -o FILE: a
             recording also shows which process and which kind of memory grows
"
    );
}

#[test]
fn the_story_in_the_end() {
    assert_eq!(
        rendered(&story_at_300()),
        "\
story.csv   LEVEL since step 88 at 17.4 GiB             steps 10–300 · 30 points

  warmup     5.4 GiB → 17.4 GiB over 78 steps, then no growth faster than
             410 KiB per step
  sizing     baseline 5.4 GiB · level 17.4 GiB · peak 17.7 GiB → 20 GiB needed,
             32 GiB comfortable
"
    );
}

#[test]
fn a_leak_with_all_its_evidence() {
    assert_eq!(
        rendered(&leak()),
        "\
story.csv   LEAK (confirmed) since step 1               steps 1–900 · 900 points

  growing    2.06 MiB per step (2.03 … 2.09), straight
             = 20.6 MiB per 10 steps = 112 MiB per minute
             growing for longer than healthy warmups: less than 0.1 % of them
             still grow at this age

  who        trainer (pid 22180): 98 %, +1.8 GiB of anonymous memory
             dataloader-worker: 2 %, +37 MiB of shared memory
  when       each evaluation adds 296 MiB: 5 times so far, about every 100 steps

  found      held-references: live tensors rise with memory: +899 (+1.00 per
             step) while memory grew by 1.8 GiB since step 1, so references are
             kept
             → look for losses or outputs that are appended or summed without
               .detach() or .item(), and for caches without a bound; a cache
               that is meant to fill ends with the first epoch
"
    );
}

#[test]
fn a_worker_is_named_with_its_number_and_rank_and_tiny_parts_are_left_out() {
    let mut run = leak();
    let part = |role, share: f64| Blame {
        role: Some(role),
        pid: Some(Pid(7)),
        rank: Some(Rank(1)),
        worker: (role == Role::DataloaderWorker).then_some(2),
        kind: Kind::Anonymous,
        share,
        growth: Amount(share * 100.0 * MIB),
    };
    run.blame = vec![
        part(Role::Trainer, 0.8),
        part(Role::DataloaderWorker, 0.199),
        part(Role::Helper, 0.001),
    ];
    let text = rendered(&run);
    let who = "  who        trainer (rank 1, pid 7): 80 %, +80 MiB of anonymous memory\n             \
               dataloader-worker 2 (rank 1, pid 7): 20 %, +20 MiB of anonymous\n             \
               memory\n  when";
    assert!(text.contains(who), "{text}");
}

#[test]
fn too_few_points_that_all_rise() {
    let mut run = story_at_80();
    run.judgement.reason = Reason::TooFewPoints { missing: 2 };
    run.judgement.rate = None;
    run.judgement.onset_level = Some(Amount(5.4 * GIB));
    run.judgement.level = Some(Amount(9.0 * GIB));
    let text = rendered(&run);
    let growing = "\n  growing    5.4 GiB → 9.0 GiB, at every point so far\n             \
                   2 more points are needed for a verdict\n";
    assert!(text.contains(growing), "{text}");
}

#[test]
fn a_leak_without_a_finding_says_what_to_try() {
    let mut run = leak();
    run.findings.clear();
    assert!(rendered(&run).contains("\n  next       report the number of live tensors"));
    run.subjects = vec![(
        Subject::Counter(TrainingCounter::Tensors),
        run.judgement.clone(),
    )];
    assert!(rendered(&run).contains("\n  next       `memray run --native` names"));
    run.blame.clear();
    assert!(rendered(&run).contains("\n  next       leveloff run -- CMD"));
}

#[test]
fn a_leak_that_memory_does_not_show() {
    let stated = StatedFacts {
        level_by: Some(Step(90)),
        ..StatedFacts::default()
    };
    let text = rendered_with(&descriptor_leak(), &stated);
    assert!(
        text.starts_with("story.csv   LEAK (early) of open descriptors since step 12"),
        "{text}"
    );
    assert!(
        text.contains("2.00 open descriptors per step (1.90 … 2.10)"),
        "{text}"
    );
    assert!(text.contains("after step 90, the stated horizon"), "{text}");
    assert!(text.contains("all memory level at 17.4 GiB"), "{text}");
    assert!(
        text.contains("trainer: 100 %, +136 open descriptors"),
        "{text}"
    );
}

/// Every reason that can leave a question open says what would close it.
#[test]
fn what_is_open_says_what_would_settle_it() {
    for (because, words) in [
        (
            Reason::TooFewPoints { missing: 1 },
            "1 more point is needed",
        ),
        (
            Reason::TooFewPoints { missing: 5 },
            "5 more points are needed",
        ),
        (Reason::NoisyGrowth, "noise of ±12.0 MiB"),
        (Reason::ShortPlateau, "flat for too short a time"),
        (Reason::FirstEpoch, "first epoch"),
        (Reason::FillsMapping, "fills a mapping"),
        (Reason::AtCeiling, "the limit holds it"),
        (Reason::Wanders, "fluctuates by ±12.0 MiB"),
        (Reason::Jumps, "in lasting jumps"),
        (Reason::Bending, "growth is slowing"),
        (Reason::YoungGrowth, "no sign of slowing"),
    ] {
        let text = rendered(&undecided(because));
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("story.csv   UNDECIDED: "), "{text}");
        assert!(flat.contains(words), "{words:?} is not in {text}");
        assert!(text.contains("\n  decided    by "), "{text}");
    }
}

/// Memory that comes and goes with evaluations moves by more than its noise.
#[test]
fn what_moves_further_than_noise_is_not_called_noise() {
    let mut open = undecided(Reason::Wanders);
    let mib = |mib: f64| Amount(mib * 1048576.0);
    open.judgement.extremes = Some(Extremes {
        first: mib(400.0),
        peak: mib(690.0),
        last: mib(460.0),
    });
    let flat = |run: &RunVerdict| {
        rendered(run)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let text = flat(&open);
    assert!(
        text.contains("reached 690 MiB and is at 460 MiB now"),
        "{text}"
    );
    assert!(text.contains("its noise of ±12.0 MiB"), "{text}");
    let noisy = open.judgement.extremes.as_mut().unwrap();
    noisy.last = mib(600.0);
    noisy.peak = mib(640.0);
    assert!(flat(&open).contains("fluctuates by ±12.0 MiB"));
}

#[test]
fn one_date_is_not_printed_twice() {
    let mut open = undecided(Reason::TooFewPoints { missing: 2 });
    open.judgement.decide_by = Some(DecideBy {
        if_it_levels: X(60.0),
        if_it_goes_on: X(60.0),
        level_after: X(2.0),
    });
    let text = rendered(&open);
    assert!(
        text.contains("\n  decided    about step 60, either way\n"),
        "{text}"
    );
}

#[test]
fn every_level_says_why() {
    for (because, shape, words) in [
        (Reason::Steady, Shape::Flat, "level no growth sizing"),
        (
            Reason::Returns,
            Shape::Sawtooth,
            "rises and falls back about every 50 steps",
        ),
        (
            Reason::Immaterial,
            Shape::Linear,
            "below the reporting threshold of 350 MiB",
        ),
        (Reason::Falls, Shape::Shrinking, "falling"),
    ] {
        let mut memory = judgement(Verdict::Level(LevelGrade::Confirmed), shape, because);
        memory.period = Some(X(50.0));
        memory.level = Some(Amount(8.0 * crate::cases::GIB));
        memory.level_since_x = Some(X(10.0));
        let text = rendered(&run(memory));
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "{words:?} is not in {text}");
        assert!(text.contains("sizing     baseline"), "{text}");
        let headline = match shape {
            Shape::Shrinking => "LEVEL and shrinking, now 8.0 GiB",
            _ => "LEVEL from the start at 8.0 GiB",
        };
        assert!(text.contains(headline), "{text}");
    }
}

#[test]
fn every_leak_says_why() {
    for (because, words) in [
        (Reason::Outlived, "longer than healthy warmups"),
        (Reason::PastHorizon, "after the stated horizon"),
        (
            Reason::Jumps,
            "grows in lasting jumps, about every 50 steps",
        ),
    ] {
        let verdict = Verdict::Leak(Grade::Early);
        let mut memory = judgement(verdict, Shape::Staircase, because);
        memory.period = Some(X(50.0));
        memory.rate = Some(mib_rate(3.0, 2.0, 4.0));
        memory.onset_x = Some(X(10.0));
        let text = rendered(&run(memory));
        assert!(text.contains(words), "{words:?} is not in {text}");
        assert!(text.contains("in lasting jumps"), "{text}");
    }
}

#[test]
fn a_stated_horizon_is_not_requested_again() {
    let stated = StatedFacts {
        level_by: Some(Step(90)),
        ..StatedFacts::default()
    };
    let text = rendered_with(&story_at_80(), &stated);
    assert!(!text.contains("--level-by"), "{text}");
    assert!(text.contains("stated horizon: level by step 90"), "{text}");
}

#[test]
fn over_time_a_rate_is_per_second_and_places_are_times() {
    let mut verdict = story_at_80();
    verdict.x_unit = XUnit::Second;
    verdict.pace = None;
    let text = rendered(&verdict);
    assert!(text.contains("165 MiB per second (160 … 171)"), "{text}");
    assert!(text.contains("= 9.67 GiB per minute"), "{text}");
    assert!(text.contains("minute 6.3 if it continues"), "{text}");
    assert!(text.contains("--level-by TIME"), "{text}");
}

#[test]
fn colour_only_repeats_the_words() {
    let (verdict, stated) = (leak(), StatedFacts::default());
    let judged = Judged::plain("story.csv", &verdict, &stated);
    let coloured = block(&judged, Paint::Coloured);
    assert!(coloured.contains("\x1b[1;31mLEAK (confirmed)\x1b[0m since"));
    let without = coloured.replace("\x1b[1;31m", "").replace("\x1b[0m", "");
    assert_eq!(without, rendered(&verdict));
}

#[test]
fn a_hostile_name_cannot_drive_a_terminal() {
    let (verdict, stated) = (leak(), StatedFacts::default());
    let name = "\x1b[2J\n".to_owned() + &"x".repeat(100);
    let notes = ["3 lines \x07 were skipped".to_owned()];
    let judged = Judged {
        progress: None,
        notes: &notes,
        ..Judged::plain(&name, &verdict, &stated)
    };
    let text = block(&judged, Paint::Plain);
    assert!(!text.contains('\x1b') && !text.contains('\x07'), "{text}");
    assert_eq!(text.lines().nth(1), Some("  LEAK (confirmed) since step 1"));
    assert!(text.contains("\n  note       3 lines"), "{text}");
    let table = Table::new([&*name].into_iter(), Paint::Plain);
    assert!(!table.row(&judged).contains('\x1b'));
}

#[test]
fn a_run_ends_with_one_line() {
    assert_eq!(line(&story_at_300()), "LEVEL since step 88 at 17.4 GiB");
    assert_eq!(
        line(&story_at_80()),
        "WARMING UP: a leak from step 379 on if it continues · 165 MiB per step (160 … 171) · \
         32.0 GiB at step 168 if it goes on"
    );
    assert_eq!(
        line(&leak()),
        "LEAK (confirmed) since step 1 · 2.06 MiB per step (2.03 … 2.09)"
    );
    assert_eq!(
        line(&descriptor_leak()),
        "LEAK (early) of open descriptors since step 12 · 2.00 open descriptors per step \
         (1.90 … 2.10)"
    );
}

#[test]
fn looks_are_listed_where_the_verdict_changed() {
    let (verdict, stated) = (leak(), StatedFacts::default());
    let looks = [
        (6.0, Verdict::WarmingUp),
        (60.0, Verdict::WarmingUp),
        (400.0, Verdict::Leak(Grade::Early)),
    ]
    .map(|(x, verdict)| Look {
        x: Some(x),
        verdict,
        shape: Shape::Linear,
    });
    let judged = Judged {
        progress: None,
        looks: &looks,
        ..Judged::plain("a.csv", &verdict, &stated)
    };
    let text = block(&judged, Paint::Plain);
    assert!(
        text.ends_with(
            "\n  history    from step 6: WARMING UP, linear\n             \
             from step 400: LEAK (early), linear\n"
        ),
        "{text}"
    );
}

#[test]
fn colour_repeats_what_the_words_say() {
    let plain = headline(&story_at_300(), Paint::Plain);
    assert_eq!(plain, "LEVEL since step 88 at 17.4 GiB");
    let painted = headline(&story_at_300(), Paint::Coloured);
    assert_eq!(
        painted.replace("\x1b[1;32m", "").replace("\x1b[0m", ""),
        plain
    );
}
