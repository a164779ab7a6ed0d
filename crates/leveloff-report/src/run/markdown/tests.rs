use leveloff_model::training_counters::{GrownTensors, TrainingCounter, TrainingCounters};
use leveloff_model::units::Bytes;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;
use crate::cases::{Run, held_references, mib, story_report};
use crate::run_report::Group;

/// Text that breaks tables, opens tags, mentions users and closes code.
const HOSTILE: &str = "a|b `c` ```d <img src=x onerror=alert(1)> @octocat #123 \n\n# heading\n| x | y |\n[l](http://e.vil) &amp; \u{1b}[31m";

fn hostile() -> RunReport {
    let mut report = story_report(8);
    report.input = HOSTILE.to_owned();
    report.notes = vec![HOSTILE.to_owned(), "```".to_owned()];
    let background = &mut report.background;
    background.command = Some(vec![
        "python".to_owned(),
        HOSTILE.to_owned(),
        "it's".to_owned(),
    ]);
    background.host = Some(HOSTILE.to_owned());
    background.kernel = Some(HOSTILE.to_owned());
    background.recorder = Some(HOSTILE.to_owned());
    background.gaps = vec![HOSTILE.to_owned()];
    background.cgroup = Some(Group {
        version: 2,
        path: HOSTILE.to_owned(),
        limit: None,
    });
    report.grown = vec![GrownTensors {
        what: HOSTILE.to_owned(),
        more: 1234,
        more_bytes: Bytes(5 << 20),
    }];
    let finding = held_references(report.grown.clone());
    report.verdict.findings.push(finding);
    report
}

fn events(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).collect()
}

/// How many cells each row of each table has.
fn cells(text: &str) -> Vec<Vec<usize>> {
    let mut tables: Vec<Vec<usize>> = Vec::new();
    for event in events(text) {
        match event {
            Event::Start(Tag::Table(columns)) => tables.push(vec![columns.len()]),
            Event::Start(Tag::TableRow | Tag::TableHead) => tables.last_mut().unwrap().push(0),
            Event::End(TagEnd::TableCell) => *tables.last_mut().unwrap().last_mut().unwrap() += 1,
            _ => {}
        }
    }
    tables
}

/// Text that is rendered as text, where GitHub looks for mentions.
fn rendered(text: &str) -> String {
    let mut is_code = false;
    let mut shown = String::new();
    for event in events(text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Text(text) if !is_code => shown += &text,
            _ => {}
        }
    }
    shown
}

#[test]
fn the_first_line_says_what_grows_how_fast_and_since_when() {
    let growing = document(&story_report(8));
    let first = growing.lines().next().unwrap();
    assert!(
        first.starts_with("**Memory grows by 160 MiB per step (83 … 238) since step 10.**"),
        "{first}"
    );
    let level = document(&story_report(20));
    assert!(
        level.starts_with("**Memory does not grow: LEVEL (early) since step "),
        "{level}"
    );
    let undecided = document(&story_report(2));
    assert!(undecided.starts_with("**It is not decided"), "{undecided}");
}

#[test]
fn every_row_has_as_many_cells_as_its_table() {
    for report in [
        story_report(20),
        story_report(8),
        story_report(1),
        hostile(),
    ] {
        let text = document(&report);
        let tables = cells(&text);
        assert!(!tables.is_empty(), "{text}");
        for table in tables {
            assert!(
                table.iter().all(|row| *row == table[0]),
                "{table:?}\n{text}"
            );
            // The first number is the table's, the second its head's.
            assert!(table.len() <= 2 + 12, "{table:?}");
        }
    }
}

#[test]
fn hostile_text_breaks_nothing_and_mentions_no_user() {
    let text = document(&hostile());
    for event in events(&text) {
        assert!(
            !matches!(event, Event::Html(_) | Event::InlineHtml(_)),
            "{event:?}\n{text}"
        );
        assert!(
            !matches!(event, Event::Start(Tag::Link { .. } | Tag::Image { .. })),
            "{event:?}\n{text}"
        );
    }
    let shown = rendered(&text);
    assert!(
        !shown.contains("@octocat") && !shown.contains("#123"),
        "{shown}"
    );
    assert!(!text.contains('\u{1b}'));
    let headings = events(&text)
        .iter()
        .filter(|event| matches!(event, Event::Start(Tag::Heading { .. })))
        .count();
    let ours = text.lines().filter(|line| line.starts_with("### ")).count();
    assert_eq!(headings, ours, "{text}");
}

#[test]
fn what_does_not_grow_is_ruled_out() {
    let text = document(&story_report(8));
    assert!(
        text.contains("- live tensors: 6,529 at the start, 6,529 at the end"),
        "{text}"
    );
    assert!(!document(&story_report(20)).contains("Ruled out"));
}

#[test]
fn what_malloc_has_in_use_and_which_tensors_became_more_are_evidence() {
    let counts = |step: u32| {
        TrainingCounters::default()
            .with(TrainingCounter::MallocUsed, u64::from(2000 + step) << 20)
            .with(TrainingCounter::GcObjects, 310_000)
            .with(TrainingCounter::Trimmed, 6 << 20)
    };
    let run = Run::default()
        .counts(counts)
        .grown("int8[2] cpu", 1412, 412 << 20);
    let text = document(
        &run.steps(1..=300, |step| mib(f64::from(3000 + step)))
            .report(),
    );
    let evidence = "| step | time | memory | since the row before | malloc in use |\n";
    assert!(text.contains(evidence), "{text}");
    let grown = "### Tensors that grew in number\n\n| what | more | more memory |\n\
                 | :-- | --: | --: |\n| `int8[2] cpu` | +1,412 | +412 MiB |\n";
    assert!(text.contains(grown), "{text}");
    assert!(
        text.contains("- malloc\\_trim released 6.0 MiB in the training"),
        "{text}"
    );
    assert!(!document(&story_report(8)).contains("became more"));
}

#[test]
fn the_command_can_be_typed_again() {
    let mut report = story_report(8);
    report.background.command = Some(
        ["python", "train.py", "--name", "it's new"]
            .map(str::to_owned)
            .to_vec(),
    );
    let text = document(&report);
    let expected =
        "leveloff run --limit 32GB -o run.jsonl -- python train.py --name 'it'\\''s new'";
    assert!(text.contains(expected), "{text}");
}
