//! `leveloff judge`: verdicts, exit codes, and what programs read.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::stage::{Ended, LEVELOFF, Stage, cannot_run_here, ended};
use crate::terminal::Terminal;

/// What the host held at steps 10, 20, … 80 in the story that everything began with, in MB.
const STORY: [u32; 8] = [5552, 7159, 8851, 10375, 12000, 13757, 15559, 17412];

/// A run that grew for 20 steps and then never again.
fn level() -> String {
    table((1..=400).map(|step| (step, 1000.0 + 50.0 * f64::from(step.min(20)) + jitter(step))))
}

/// A run that never stops growing, by 165 MB a step.
fn leak() -> String {
    table((1..=800).map(|step| (step, 5000.0 + 165.0 * f64::from(step) + jitter(step))))
}

fn story() -> String {
    table((1..).zip(STORY).map(|(n, mb)| (10 * n, f64::from(mb))))
}

fn table(points: impl Iterator<Item = (u32, f64)>) -> String {
    let rows = points.map(|(step, mb)| format!("{step},{mb:.3}\n"));
    rows.fold("step,rss_mb\n".to_owned(), |table, row| table + &row)
}

/// Two megabytes of noise, the same in every run.
fn jitter(step: u32) -> f64 {
    f64::from(step.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 * 2.0
}

/// The three runs, and nothing else.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.file("level.csv", level());
    stage.file("leak.csv", leak());
    stage.file("story.csv", story());
    stage
}

fn objects(ended: &Ended) -> Vec<Value> {
    let lines = ended.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn judged_from_stdin(stage: &Stage, text: &str, more: &[&str]) -> Ended {
    let mut command = stage.leveloff(["judge", "-"].iter().chain(more));
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    Ended::of(child).never_panicked()
}

#[track_caller]
fn code(stage: &Stage, arguments: &[&str]) -> i32 {
    let arguments = [&["judge"], arguments].concat();
    let ended = stage.ask(&arguments).never_panicked();
    ended.status.code().unwrap()
}

#[test]
fn the_exit_code_is_that_of_the_worst_input() {
    let stage = stage();
    assert_eq!(code(&stage, &["level.csv"]), 0);
    assert_eq!(code(&stage, &["leak.csv"]), 1);
    assert_eq!(code(&stage, &["story.csv"]), 3);
    assert_eq!(code(&stage, &["level.csv", "level.csv"]), 0);
    assert_eq!(code(&stage, &["level.csv", "story.csv"]), 3);
    assert_eq!(code(&stage, &["story.csv", "leak.csv", "level.csv"]), 1);
    assert_eq!(code(&stage, &["leak.csv", "missing.csv"]), 2);
}

#[test]
fn an_open_verdict_counts_as_the_option_says() {
    let stage = stage();
    assert_eq!(code(&stage, &["story.csv", "--undecided=pass"]), 0);
    assert_eq!(code(&stage, &["story.csv", "--undecided=fail"]), 1);
    assert_eq!(
        code(&stage, &["story.csv", "leak.csv", "--undecided=pass"]),
        1
    );
    assert_eq!(code(&stage, &["level.csv", "--undecided=fail"]), 0);
}

#[test]
fn the_text_starts_with_the_verdict() {
    let stage = stage();
    let level = stage.ask(&["judge", "level.csv"]).well();
    assert!(
        level.stdout.starts_with("level.csv   LEVEL since step "),
        "{level:?}"
    );
    assert!(level.stdout.contains("  sizing     baseline"), "{level:?}");
    let leak = stage.ask(&["judge", "leak.csv"]).never_panicked();
    assert!(
        leak.stdout
            .starts_with("leak.csv   LEAK (confirmed) since step "),
        "{leak:?}"
    );
    let story = stage.ask(&["judge", "--limit", "32GB", "story.csv"]);
    for words in [
        "story.csv   WARMING UP: ",
        " MiB per step (",
        " GiB per 10 steps",
        "\n  decided    as a leak at step ",
        "--level-by STEPS",
        "(stated limit) is reached at step 1",
    ] {
        let text = story.stdout.replace("\n             ", " ");
        assert!(text.contains(words), "{words:?}: {story:?}");
    }
    for text in [&level.stdout, &leak.stdout, &story.stdout] {
        assert!(text.lines().all(|line| line.chars().count() <= 80));
        assert!(!text.contains('\x1b'), "no colour in a pipe: {text}");
    }
}

#[test]
fn programs_read_an_object_a_line() {
    let stage = stage();
    let inputs = ["level.csv", "leak.csv", "story.csv"];
    let ended = stage.ask(&[&["judge", "--format", "json"], &inputs[..]].concat());
    let rows = objects(&ended);
    let verdicts: Vec<&str> = rows
        .iter()
        .map(|row| row["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["level", "leak", "warming_up"], "{ended:?}");
    for (row, input) in rows.iter().zip(inputs) {
        assert_eq!(row["input"], input);
        assert_eq!(row["x_unit"], "step");
    }
    assert_eq!(rows[0]["points"], 400);
    let rate = rows[1]["rate_bytes"].as_f64().unwrap();
    assert!((rate / 165e6 - 1.0).abs() < 0.01, "{rate}");
    assert!(rows[1]["rate_low_bytes"].as_f64().unwrap() <= rate);
    assert_eq!(rows[1]["grade"], "confirmed");
    assert!(rows[2]["decide_by_x"].as_f64().unwrap() > 80.0);
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_stated_horizon_decides_sooner() {
    let stage = Stage::new();
    let young = leak().lines().take(200).collect::<Vec<_>>().join("\n");
    stage.file("young.csv", young + "\n");
    assert_eq!(code(&stage, &["young.csv"]), 3);
    assert_eq!(code(&stage, &["young.csv", "--level-by", "90"]), 1);
    // The environment may state it as well.
    let mut command = stage.leveloff(["judge", "young.csv"]);
    let ended = ended(command.env("LEVELOFF_LEVEL_BY", "90"));
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert!(ended.stdout.contains("after step 90"), "{ended:?}");
}

#[test]
fn what_cannot_be_read_costs_the_others_nothing() {
    let stage = stage();
    std::fs::create_dir(stage.path("directory")).unwrap();
    stage.file("empty.csv", "");
    let inputs = [
        "level.csv",
        "missing.csv",
        "directory",
        "empty.csv",
        "leak.csv",
    ];
    let text = stage.ask(&[&["judge"], &inputs[..]].concat());
    let text = text.refused(&["leveloff: missing.csv: ", "leveloff: directory: "]);
    assert!(text.stdout.contains("level.csv   LEVEL"), "{text:?}");
    assert!(text.stdout.contains("leak.csv   LEAK"), "{text:?}");
    assert!(
        text.stdout
            .ends_with("\n5 inputs: 1 leak, 1 level, 3 not readable\n"),
        "{text:?}"
    );

    let json = stage.ask(&[&["judge", "--format", "json"], &inputs[..]].concat());
    let json = json.refused(&["leveloff: empty.csv: "]);
    let rows = objects(&json);
    for (row, input) in rows.iter().zip(inputs) {
        assert_eq!(row["input"], input);
        let is_error = row.get("error").is_some();
        assert_eq!(is_error, row.get("verdict").is_none(), "{row}");
        let error = row["error"].as_str().unwrap_or_default();
        assert!(!error.starts_with(input), "{row}");
    }
    let errors = rows.iter().filter(|row| row.get("error").is_some());
    assert_eq!((rows.len(), errors.count()), (5, 3));
}

#[test]
fn stdin_is_an_input_like_any_other() {
    let stage = stage();
    let ended = judged_from_stdin(&stage, &leak(), &[]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        ended.stdout.starts_with("stdin   LEAK (confirmed)"),
        "{ended:?}"
    );
    let beside = judged_from_stdin(&stage, &level(), &["leak.csv", "--format", "json"]);
    let rows = objects(&beside);
    assert_eq!(
        (&rows[0]["input"], &rows[1]["input"]),
        (&"-".into(), &"leak.csv".into())
    );
    assert_eq!(judged_from_stdin(&stage, "", &[]).status.code(), Some(2));
}

#[test]
fn looks_lists_earlier_verdicts() {
    let stage = stage();
    let ended = stage.ask(&["judge", "leak.csv", "--looks", "40", "--format", "json"]);
    let row = &objects(&ended)[0];
    let looks = row["trajectory"].as_array().unwrap();
    assert!((30..=40).contains(&looks.len()), "{}", looks.len());
    let places: Vec<f64> = looks
        .iter()
        .map(|look| look["x"].as_f64().unwrap())
        .collect();
    assert_eq!((places[0], places.last()), (6.0, Some(&800.0)));
    assert!(places.is_sorted());
    let last = looks.last().unwrap();
    for key in ["verdict", "grade", "shape"] {
        assert_eq!(last[key], row[key]);
    }
    assert_ne!(looks[0]["verdict"], "leak");
    // A pipe cannot be read twice, and gives the same verdicts.
    let more = ["--looks", "40", "--format", "json"];
    let piped = judged_from_stdin(&stage, &leak(), &more);
    assert_eq!(objects(&piped)[0]["trajectory"], row["trajectory"]);
    let text = stage.ask(&["judge", "leak.csv", "--looks", "40"]).stdout;
    assert!(text.contains("\n  history    from step 6: "), "{text}");
}

/// More than fit on a screen get a line each, in the order in which they were named.
#[test]
fn many_inputs_are_a_table_with_a_count() {
    let stage = stage();
    let names: Vec<String> = (0..12).map(|n| format!("run{n}.csv")).collect();
    for (n, name) in names.iter().enumerate() {
        let copied = ["level.csv", "leak.csv", "story.csv"][n % 3];
        std::fs::copy(stage.path(copied), stage.path(name)).unwrap();
    }
    let arguments: Vec<&str> = ["judge"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let mut outputs = Vec::new();
    for jobs in ["1", "2", "16"] {
        let ended = stage.ask(&[&arguments[..], &["--jobs", jobs]].concat());
        let lines: Vec<&str> = ended.stdout.lines().collect();
        assert_eq!(lines.len(), 13, "{ended:?}");
        for (line, name) in lines.iter().zip(&names) {
            assert!(line[17..].starts_with(&format!("{name} ")), "{line}");
        }
        assert!(lines[0].starts_with("LEVEL ") && lines[1].starts_with("LEAK (confirmed) "));
        assert_eq!(lines[12], "12 inputs: 4 leak, 4 level, 4 warming up");
        outputs.push(ended.stdout);
    }
    assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
    let verbose = stage.ask(&[&arguments[..], &["--verbose"]].concat()).stdout;
    assert_eq!(verbose.matches("  growing  ").count(), 8, "{verbose}");
}

#[test]
fn a_recording_is_judged_as_it_is() {
    let stage = Stage::new();
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recordings/v1.jsonl");
    let frozen: PathBuf = frozen.canonicalize().unwrap();
    let ended = stage.ask(&["judge", frozen.to_str().unwrap()]);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert!(
        ended.stdout.contains("UNDECIDED: too few points"),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("\n  decided    "), "{ended:?}");
}

#[test]
fn columns_can_be_named() {
    let stage = Stage::new();
    let renamed = leak().replacen("step,rss_mb", "turn,host", 1);
    stage.file("odd.csv", renamed);
    let named = ["judge", "odd.csv", "--x", "turn", "--y", "host"];
    let with_unit = [&named[..], &["--y-unit", "MiB", "--format", "json"]].concat();
    let ended = stage.ask(&with_unit);
    let rate = objects(&ended)[0]["rate_bytes"].as_f64().unwrap();
    assert!((rate / (165.0 * 1048576.0) - 1.0).abs() < 0.01, "{rate}");
    stage
        .ask(&[&named[..], &["--y-unit", "quarts"]].concat())
        .refused(&["--y-unit", "quarts", "MiB"]);
    stage
        .ask(&["judge", "odd.csv", "--x", "nothing", "--y-unit", "MB"])
        .refused(&["odd.csv", "nothing"]);
}

#[test]
fn a_reader_that_has_seen_enough_does_not_change_the_code() {
    let stage = stage();
    let names: Vec<&str> = std::iter::repeat_n("level.csv", 400).collect();
    let arguments = [&["judge", "--verbose"], &names[..], &["leak.csv"]].concat();
    let mut child = stage.leveloff(&arguments).spawn().unwrap();
    let mut first = [0; 9];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let ended = Ended::of(child).never_panicked();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_full_disk_is_said() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return cannot_run_here("there is no /dev/full");
    };
    let stage = stage();
    let mut command = stage.leveloff(["judge", "level.csv"]);
    ended(command.stdout(Stdio::from(full))).refused(&["cannot print", "No space left"]);
}

/// A wait of more than a moment is explained in a line, which is removed when the verdict comes.
#[test]
fn a_long_wait_is_explained_on_a_terminal() {
    let mut terminal = Terminal::new(80, 24);
    let ask = ["env", "TERM=xterm", LEVELOFF, "judge", "-"];
    let mut child = terminal.start(&ask);
    terminal.wait_for("leveloff: 0 of 1 judged");
    let end_of_input = "\x04";
    terminal.keys(&(story() + end_of_input));
    terminal.wait_for("\r\x1b[K");
    terminal.wait_for("WARMING UP");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

/// On a screen the directory that all inputs share is printed once: there is no room for it in a line.
#[test]
fn a_table_fits_on_a_screen() {
    let stage = stage();
    let inputs: Vec<String> = (0..12)
        .map(|n| stage.path(&format!("a-run-with-a-name-{n}.csv")))
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    for input in &inputs {
        std::fs::copy(stage.path("leak.csv"), input).unwrap();
    }
    let mut terminal = Terminal::new(80, 24);
    let ask = ["env", "TERM=dumb", LEVELOFF, "judge"];
    let inputs = inputs.iter().map(String::as_str);
    let mut child = terminal.start(&ask.into_iter().chain(inputs).collect::<Vec<_>>());
    terminal.wait_for(": 12 leak");
    child.wait().unwrap();
    let text = terminal.text();
    let directory = stage.directory().to_str().unwrap();
    assert!(
        text.contains(&format!("12 inputs in {directory}/: 12 leak")),
        "{text}"
    );
    let rows = text.lines().filter(|line| line.starts_with("LEAK"));
    let widths: Vec<usize> = rows.map(|row| row.trim_end().chars().count()).collect();
    assert_eq!(widths.len(), 12, "{text}");
    assert!(widths.iter().all(|&width| width <= 80), "{text}");
}

#[test]
fn a_terminal_shows_colour_unless_it_is_unwanted() {
    let stage = stage();
    let input = stage.path("leak.csv");
    let input = input.to_str().unwrap();
    let shown = |environment: &[&str]| {
        let mut terminal = Terminal::new(80, 24);
        let set = ["env", "-u", "NO_COLOR", "TERM=xterm"];
        let ask = [LEVELOFF, "judge", input];
        let mut child = terminal.start(&[&set[..], environment, &ask].concat());
        terminal.wait_for("LEAK (confirmed)");
        child.wait().unwrap();
        terminal.text()
    };
    assert!(shown(&[]).contains("\x1b[1;31mLEAK (confirmed)\x1b[0m"));
    assert!(shown(&["NO_COLOR="]).contains('\x1b'));
    for unwanted in ["NO_COLOR=1", "TERM=dumb"] {
        assert!(!shown(&[unwanted]).contains('\x1b'), "{unwanted}");
    }
}
