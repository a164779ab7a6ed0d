use super::*;
use crate::check::report::Runs;
use crate::check_cases::{self, all, check, healthy, hostile, leaky, run};

#[test]
fn golden() {
    for (name, report) in all() {
        insta::assert_snapshot!(format!("text-{name}"), page(&report, Paint::Plain));
    }
}

#[test]
fn fits_the_screen_and_says_first_what_it_came_to() {
    for (name, report) in all() {
        let text = page(&report, Paint::Plain);
        let wide = text.lines().find(|line| columns(line) > WIDTH);
        assert_eq!(wide, None, "{name}");
        let words = outcome_words(report.outcome());
        assert!(text.starts_with(words), "{name}: {text}");
        assert!(text.matches("\n  next  ").count() <= 1, "{name}: {text}");
    }
}

#[test]
fn many_runs_have_a_line_each() {
    let mut runs: Vec<CheckedRun> = (0..30)
        .map(|n| run(&format!("runs/{n}.jsonl"), 300, healthy(2000.0)))
        .collect();
    runs.push(run(
        &format!("{}/last.jsonl", "deep".repeat(20)),
        900,
        leaky,
    ));
    let text = page(&check(Runs::Different, runs), Paint::Plain);
    assert!(text.starts_with("FAILED  fine-tune: memory leaks in 1 of 31 runs\n"));
    assert_eq!(text.matches("  ✓ runs/").count(), 30, "{text}");
    assert_eq!(text.matches("\n  ✗ …").count(), 1, "{text}");
    assert!(text.lines().filter(|line| line.contains('✓')).count() == 30);
}

#[test]
fn what_undecided_counts_as_is_said() {
    let first_line = |counts_as| {
        let mut report = check_cases::undecided();
        report.open_counts_as = counts_as;
        let text = page(&report, Paint::Plain);
        text.lines().next().unwrap().to_owned()
    };
    let passed = "PASSED  fine-tune: nothing failed; --undecided counts undecided as passed";
    assert_eq!(first_line(CheckOutcome::Passed), passed);
    let failed = "FAILED  fine-tune: undecided, which --undecided counts as failed";
    assert_eq!(first_line(CheckOutcome::Failed), failed);
}

#[test]
fn colour_only_repeats_the_words_and_names_drive_no_terminal() {
    let coloured = page(&check_cases::leak(), Paint::Coloured);
    let plain = page(&check_cases::leak(), Paint::Plain);
    let bare = coloured.replace("\x1b[1;31m", "").replace("\x1b[0m", "");
    assert!(coloured.contains("\x1b[1;31mFAILED\x1b[0m"));
    assert_eq!(bare, plain);
    let text = page(&hostile(), Paint::Plain);
    assert!(!text.contains('\x1b'), "{text}");
    assert!(
        !text.lines().any(|line| line.trim_start().starts_with("::")),
        "{text}"
    );
}
