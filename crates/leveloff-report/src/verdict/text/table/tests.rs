use leveloff_classifier::verdict::{Grade, LevelGrade, Reason};
use leveloff_model::recording::StatedFacts;

use super::*;
use crate::cases::{leak, story_at_80, story_at_300, undecided};

#[test]
fn many_inputs_get_a_line_each() {
    let stated = StatedFacts::default();
    let table = Table::new(["a.csv", "longer.csv"].into_iter(), Paint::Plain);
    let line = |name, verdict: &RunVerdict| table.row(&Judged::plain(name, verdict, &stated));
    assert_eq!(
        line("a.csv", &leak()),
        "LEAK (confirmed) a.csv       since step 1, 2.06 MiB per step\n"
    );
    assert_eq!(
        line("longer.csv", &story_at_300()),
        "LEVEL            longer.csv  since step 88 at 17.4 GiB\n"
    );
    assert_eq!(
        line("a.csv", &story_at_80()),
        "WARMING UP       a.csv       until step 379, 165 MiB per step\n"
    );
    assert_eq!(
        line("a.csv", &undecided(Reason::NoisyGrowth)),
        "UNDECIDED        a.csv       noise hides any growth\n"
    );
    assert_eq!(table.error_row("a.csv"), format!("{:<17}a.csv\n", "ERROR"));
}

/// A screen is 80 columns wide, and runs often lie in deep directories.
#[test]
fn a_directory_of_all_inputs_is_printed_once() {
    let stated = StatedFacts::default();
    let total = |table: &Table| {
        let mut counts = VerdictCounts::default();
        counts.add(Verdict::Level(LevelGrade::Confirmed));
        table.total(&counts)
    };
    let names = ["/runs/été/a1.csv", "/runs/été/a2.csv", "/runs/étape/b.csv"];
    let deep = Table::shortened(names[..2].iter().copied(), Paint::Plain);
    let row = deep.row(&Judged::plain(names[1], &story_at_300(), &stated));
    assert_eq!(row, "LEVEL            a2.csv  since step 88 at 17.4 GiB\n");
    assert_eq!(total(&deep), "1 inputs in /runs/été/: 1 level\n");
    let wide = Table::shortened(names.into_iter(), Paint::Plain);
    assert!(wide.error_row(names[2]).contains(" étape/b.csv\n"));
    assert_eq!(total(&wide), "1 inputs in /runs/: 1 level\n");
    let apart = Table::shortened(["a/x.csv", "b/x.csv"].into_iter(), Paint::Plain);
    assert!(apart.error_row("b/x.csv").contains(" b/x.csv\n"));
    assert_eq!(total(&apart), "1 inputs: 1 level\n");
}

#[test]
fn inputs_are_counted() {
    let mut counts = VerdictCounts::default();
    for verdict in [
        Verdict::Leak(Grade::Early),
        Verdict::Level(LevelGrade::Confirmed),
        Verdict::Level(LevelGrade::Early),
    ] {
        counts.add(verdict);
    }
    counts.add(Verdict::WarmingUp);
    counts.add_error();
    assert_eq!(
        counts.line("inputs"),
        "5 inputs: 1 leak, 2 level, 1 warming up, 1 not readable\n"
    );
}
