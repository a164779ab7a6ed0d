//! `leveloff report`: every format of four runs as it was accepted once, and what is refused.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::stage::{Ended, Stage, cannot_run_here, ended};

/// What the host held at steps 10, 20, … 80 in the story that everything began with, in MB.
const STORY: [u32; 8] = [5552, 7159, 8851, 10375, 12000, 13757, 15559, 17412];

/// How it went on: again and again between 17.0 and 17.7 GB.
const PLATEAU: [u32; 11] = [
    17650, 17380, 17210, 17460, 17040, 17520, 17330, 17480, 17190, 17440, 17270,
];

/// The four runs: the story, a leak, workers whose RSS misleads, and too little to tell.
pub const RUNS: [&str; 4] = ["story", "leak", "overcount", "short"];

fn story() -> String {
    let went_on = PLATEAU.iter().cycle().take(22);
    let rows = (1..).zip(STORY.iter().chain(went_on));
    rows.fold("step,rss_mb\n".to_owned(), |table, (n, mb)| {
        table + &format!("{},{mb}\n", 10 * n)
    })
}

fn trace(name: &str) -> String {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces");
    std::fs::read_to_string(traces.join(name)).unwrap()
}

pub fn stage() -> Stage {
    let stage = Stage::new();
    stage.file("story.csv", story());
    stage.file("leak.csv", trace("l03_append_outputs.csv"));
    stage.file("overcount.csv", trace("h05_compile.csv"));
    stage.file("short.csv", "step,rss_mb\n1,900\n2,930\n3,910\n");
    stage
}

/// A report on stdout, without the version that wrote it.
fn written(stage: &Stage, run: &str, format: &str) -> String {
    let input = format!("{run}.csv");
    let ended = stage.ask(&["report", &input, "--format", format, "-o", "-"]);
    let ended = ended.never_panicked();
    assert!(ended.status.success(), "{ended:?}");
    let version = env!("CARGO_PKG_VERSION");
    let text = ended
        .stdout
        .replace(&format!("leveloff {version}"), "leveloff VERSION");
    text.replace(&format!("\"tool\":\"{version}\""), "\"tool\":\"VERSION\"")
}

#[track_caller]
fn refused(ended: Ended, words: &[&str]) {
    let ended = ended.never_panicked();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    for word in words {
        assert!(ended.stderr.contains(word), "{word}: {}", ended.stderr);
    }
}

/// The last digits of a logarithm are another library's on another machine.
pub fn rounded(text: &str) -> String {
    let long = regex::Regex::new(r"-?\d+\.\d{4,}(e-?\d+)?").unwrap();
    let short = |number: &regex::Captures| format!("{:.5e}", number[0].parse::<f64>().unwrap());
    long.replace_all(text, short).into_owned()
}

#[test]
fn markdown_is_as_it_was_accepted() {
    let stage = stage();
    for run in RUNS {
        insta::assert_snapshot!(format!("{run}.md"), written(&stage, run, "markdown"));
    }
}

#[test]
fn json_is_as_it_was_accepted() {
    let stage = stage();
    for run in RUNS {
        let text = written(&stage, run, "json");
        serde_json::from_str::<Value>(&text).unwrap();
        // A key a line: a difference is seen where it is.
        let text = rounded(&text.replace(",\"", ",\n\""));
        insta::assert_snapshot!(format!("{run}.json"), text);
    }
}

#[test]
fn svg_is_as_it_was_accepted() {
    let stage = stage();
    for run in RUNS {
        insta::assert_snapshot!(format!("{run}.svg"), written(&stage, run, "svg"));
    }
}

#[test]
fn the_ending_names_the_format() {
    let stage = stage();
    let begins: [(&str, &[u8]); 4] = [
        ("r.md", b"**Memory does not grow"),
        ("r.svg", b"<svg "),
        ("r.png", b"\x89PNG"),
        ("r.JSON", b"{\"input\":\"story.csv\""),
    ];
    for (name, begin) in begins {
        let ended = stage
            .ask(&["report", "story.csv", "-o", name])
            .never_panicked();
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(ended.stdout, "", "{name}");
        let content = std::fs::read(stage.path(name)).unwrap();
        assert!(content.starts_with(begin), "{name}");
    }
}

#[test]
fn the_json_holds_what_judge_says() {
    let stage = stage();
    let judged = stage
        .ask(&["judge", "leak.csv", "--format", "json"])
        .never_panicked();
    let judged = judged
        .stdout
        .trim_end()
        .strip_suffix('}')
        .unwrap()
        .to_owned();
    let report = written(&stage, "leak", "json");
    assert!(report.starts_with(&judged), "{judged}\n{report}");
}

#[test]
fn facts_on_the_command_line_are_used() {
    let stage = stage();
    let limit = ["--limit", "32GB", "--level-by", "90"];
    let arguments = [
        &["report", "leak.csv", "--format", "markdown", "-o", "-"][..],
        &limit,
    ]
    .concat();
    let markdown = stage.ask(&arguments).never_panicked().stdout;
    assert!(
        markdown.contains("29.8 GiB (stated limit) is reached at step"),
        "{markdown}"
    );
    assert!(
        markdown.contains("leveloff report leak.csv --level-by 90 --limit 32GB"),
        "{markdown}"
    );
}

#[test]
fn a_file_that_exists_is_kept_unless_force_is_said() {
    let stage = stage();
    stage.file("old.md", "mine\n");
    let arguments = ["report", "story.csv", "-o", "old.md"];
    refused(stage.ask(&arguments), &["old.md exists", "--force"]);
    assert_eq!(
        std::fs::read_to_string(stage.path("old.md")).unwrap(),
        "mine\n"
    );
    let forced = stage.ask(&["report", "story.csv", "-o", "old.md", "--force"]);
    assert!(forced.status.success(), "{forced:?}");
    let content = std::fs::read_to_string(stage.path("old.md")).unwrap();
    assert!(content.starts_with("**Memory does not grow"), "{content}");
}

#[test]
fn an_unknown_format_requires_the_option() {
    let stage = stage();
    let report = |output: &str| stage.ask(&["report", "story.csv", "-o", output]);
    refused(report("-"), &["--format"]);
    refused(report("report.docx"), &["report.docx", ".md", "--format"]);
    refused(report("report"), &["--format"]);
    refused(report("table.csv"), &["leveloff export"]);
    assert!(!stage.path("report.docx").exists());
}

#[test]
fn what_cannot_be_read_is_named_and_nothing_is_written() {
    let stage = stage();
    stage.file("empty.jsonl", "");
    stage.file(
        "newer.jsonl",
        "{\"header\":{\"format\":\"leveloff-recording\",\"version\":99,\"tool\":\"9.0.0\"}}\n",
    );
    let report = |input: &str| stage.ask(&["report", input, "-o", "out.md"]);
    refused(report("empty.jsonl"), &["empty.jsonl"]);
    refused(report("newer.jsonl"), &["newer.jsonl", "99"]);
    refused(report("missing.jsonl"), &["missing.jsonl"]);
    assert!(!stage.path("out.md").exists());
}

#[test]
fn a_place_where_nothing_can_be_written_is_named() {
    let stage = stage();
    let report = |output: &str| stage.ask(&["report", "story.csv", "-o", output]);
    refused(report("no/report.md"), &["no/report.md", "no directory"]);
    refused(
        stage.ask(&["report", "story.csv", "--format", "markdown", "-o", "."]),
        &["directory"],
    );
    refused(
        stage.ask(&["report", "story.csv", "--format", "svg", "-o", "/dev/full"]),
        &["/dev/full"],
    );
}

#[test]
fn a_directory_of_others_is_not_written_to() {
    if !rustix::process::geteuid().is_root() {
        return cannot_run_here("only root can become another user");
    }
    let stage = stage();
    let input = stage.path("story.csv");
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(stage.directory(), 0o755);
    mode(&input, 0o644);
    let mut command = stage.leveloff_as_nobody(&["report", "story.csv", "-o", "report.md"]);
    refused(ended(&mut command), &["report.md", "ermission denied"]);
    assert!(!stage.path("report.md").exists());
}
