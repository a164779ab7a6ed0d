//! Asking in the wrong way, and asking how to ask.

use std::process::Stdio;

use crate::stage::{LEVELOFF, Stage, ended};
use crate::terminal::Terminal;

const SUBCOMMANDS: [&str; 19] = [
    "demo",
    "find",
    "run",
    "watch",
    "record",
    "guard",
    "replay",
    "judge",
    "report",
    "compare",
    "try",
    "check",
    "fleet",
    "blame",
    "history",
    "export",
    "doctor",
    "completions",
    "man",
];

/// The list above is complete.
#[test]
fn every_subcommand_is_tested() {
    let help = Stage::new().ask(&["--help"]).well().stdout;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let names: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert_eq!(names, SUBCOMMANDS);
}

#[test]
fn help_shows_examples_for_everything() {
    let stage = Stage::new();
    let all = stage.ask(&["--help"]).well().stdout;
    assert!(all.contains("Examples:\n  leveloff "), "{all}");
    for name in SUBCOMMANDS {
        assert!(all.contains(&format!("\n  {name} ")), "{name}: {all}");
        for help in [vec![name, "--help"], vec![name, "-h"], vec!["help", name]] {
            let text = stage.ask(&help).well().stdout;
            let example = format!("Examples:\n  leveloff {name}");
            assert!(text.contains(&example), "{help:?}: {text}");
        }
    }
}

#[test]
fn without_a_command_leveloff_watches() {
    let stage = Stage::new();
    let plain = stage
        .ask(&[])
        .refused(&["needs a terminal", "leveloff record"]);
    assert_eq!(plain.stderr, stage.ask(&["watch"]).stderr);
}

#[test]
fn without_a_terminal_there_is_no_dashboard_and_something_else_is_named() {
    let stage = Stage::new();
    let own_pid = std::process::id().to_string();
    for (arguments, instead) in [
        (vec!["watch", &own_pid], "leveloff record"),
        (
            vec!["watch", "--system", "-o", "x.jsonl"],
            "leveloff record",
        ),
        (vec!["watch", "no.jsonl"], "leveloff record"),
        (vec!["replay", "no.jsonl"], "leveloff judge"),
        (
            vec!["run", "--watch", "--", "touch", "started"],
            "leveloff run -- CMD",
        ),
    ] {
        stage
            .ask(&arguments)
            .refused(&["needs a terminal", "stdout is not one", instead]);
    }
    assert!(!stage.path("started").exists());
    assert!(stage.recordings().is_empty());
}

#[test]
fn a_dumb_terminal_is_refused_with_an_alternative() {
    let stage = Stage::new();
    let mut terminal = Terminal::new(80, 24);
    let mut child = terminal.start(&["env", "TERM=dumb", LEVELOFF, "watch"]);
    terminal.wait_for("TERM=dumb");
    terminal.wait_for("leveloff record");
    assert_eq!(child.wait().unwrap().code(), Some(2));
    drop(stage);
}

#[test]
fn on_a_terminal_what_cannot_be_watched_is_said_as_record_says_it() {
    for (arguments, words) in [
        (&["watch", "999999999"][..], "there is no process 999999999"),
        (
            &["watch", "no-such-file.jsonl"],
            "cannot open the recording no-such-file.jsonl",
        ),
        (&["replay", "/dev/null"], "the recording is empty"),
        (
            &["watch", "--match", "no-such-run-anywhere"],
            "no training run found",
        ),
    ] {
        let mut terminal = Terminal::new(200, 24);
        let mut child = terminal.start(&[&[LEVELOFF], arguments].concat());
        terminal.wait_for(words);
        assert_eq!(child.wait().unwrap().code(), Some(2), "{arguments:?}");
        assert!(!terminal.text().contains("1049h"), "{arguments:?}");
    }
}

#[test]
fn the_version_is_printed() {
    let text = Stage::new().ask(&["--version"]).well().stdout;
    assert_eq!(text, format!("leveloff {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_unknown_subcommand_is_named() {
    Stage::new().ask(&["recrod"]).refused(&["recrod", "record"]);
}

#[test]
fn times_that_are_none_are_refused_with_what_would_do() {
    let stage = Stage::new();
    for (time, words) in [
        ("0s", "more than zero"),
        ("0", "more than zero"),
        ("-1s", "more than zero"),
        ("-1", "more than zero"),
        ("1x", "'x' is not a unit of time"),
        ("1ms", "between 10ms and 1h"),
        ("2h", "between 10ms and 1h"),
        ("soon", "write a time with its unit"),
        ("nan", "write a time with its unit"),
    ] {
        for name in ["record", "run"] {
            let spelt = [
                vec![name, "--interval", time, "--", "true"],
                vec![name, "-i", time, "--", "true"],
            ];
            for arguments in spelt {
                // `record` takes no command; the time is looked at first.
                let ended = stage.ask(&arguments[..if name == "run" { 5 } else { 3 }]);
                ended.refused(&["--interval", time, words]);
            }
        }
    }
    let duration = stage.ask(&["record", "--pid", "1", "--duration", "-5m"]);
    duration.refused(&["--duration", "-5m", "more than zero", "10m"]);
    assert!(stage.recordings().is_empty());
}

#[test]
fn a_value_that_is_none_is_refused_with_what_would_do() {
    let stage = Stage::new();
    for (arguments, words) in [
        (&["judge", "--looks", "many", "x"][..], "from 1 to 10000"),
        (&["judge", "--looks", "0", "x"], "from 1 to 10000"),
        (&["judge", "--jobs", "0", "x"], "above zero, such as 4"),
        (&["judge", "--limit", "120%", "x"], "at most 100%"),
        (
            &["judge", "--limit", "0B", "x"],
            "below what any process needs",
        ),
        (
            &["blame", "--from", "start", "x"],
            "write a step, such as 1000",
        ),
        (&["blame", "--to", "nan", "x"], "write a step, such as 1000"),
        (&["blame", "x", "--yes"], "--yes"),
        (&["check", "--name", " ", "x"], "at least one letter"),
        (&["record", "--rank", "-1"], "it may be 0"),
        (&["history", "--forget", "zz"], "`leveloff history` lists"),
    ] {
        stage.ask(arguments).refused(&[words]);
    }
}

#[test]
fn a_process_that_is_not_there_is_named() {
    let stage = Stage::new();
    // The kernel never gives out a number this high.
    let ended = stage.ask(&["record", "--pid", "999999999"]);
    ended.refused(&["there is no process 999999999", "leveloff find"]);
    for wrong in ["0", "-3", "1.5", "init", "99999999999"] {
        let ended = stage.ask(&["record", "--pid", wrong]);
        ended.refused(&["--pid", wrong, "leveloff find"]);
    }
    assert!(stage.recordings().is_empty());
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    let stage = Stage::new();
    for name in ["record", "find"] {
        let ended = stage.ask(&[name, "--match", "train(.py"]);
        ended.refused(&["--match 'train(.py'", "not a regular expression", "escape"]);
    }
    assert!(stage.recordings().is_empty());
}

#[test]
fn a_pattern_that_matches_nothing_says_what_was_looked_for() {
    let stage = Stage::new();
    let ended = stage.ask(&["record", "--match", "no-such-run-anywhere"]);
    let ended = ended.refused(&["no training run found", "no-such-run-anywhere", "next"]);
    assert!(!ended.stderr.contains("leveloff: leveloff:"), "{ended:?}");
    assert!(!ended.stderr.contains("\n\n"), "{ended:?}");
    assert!(stage.recordings().is_empty());
}

#[test]
fn run_without_a_command_is_refused() {
    let stage = Stage::new();
    for arguments in [&["run"][..], &["run", "--"], &["run", "-o", "x.jsonl"]] {
        stage.ask(arguments).refused(&["CMD", "leveloff run"]);
    }
    // What begins with a minus is an option of ours, and no command.
    stage.ask(&["run", "--tru"]).refused(&["--tru"]);
    assert!(stage.recordings().is_empty());
}

#[test]
fn wishes_that_contradict_each_other_are_refused() {
    let stage = Stage::new();
    for (arguments, words) in [
        (
            vec!["record", "--pid", "1", "--system"],
            ["--pid", "--system"],
        ),
        (
            vec!["record", "--pid", "1", "--match", "x"],
            ["--pid", "--match"],
        ),
        (
            vec!["record", "--match", "x", "--system"],
            ["--match", "--system"],
        ),
        (
            vec!["record", "--pss-budget", "101"],
            ["--pss-budget", "between 0 and 100"],
        ),
        (
            vec!["record", "--limit", "28 quarts"],
            ["--limit", "28 quarts"],
        ),
        (vec!["record", "--level-by", "-1"], ["--level-by", "-1"]),
        (vec!["watch", "1", "--system"], ["PID|FILE", "--system"]),
        (vec!["watch", "0"], ["PID|FILE", "leveloff find"]),
        (
            vec!["watch", "--theme", "pink"],
            ["--theme", "colour-blind"],
        ),
        (vec!["replay"], ["FILE", "leveloff replay"]),
        (
            vec!["replay", "x", "--speed", "0"],
            ["--speed", "above zero"],
        ),
        (vec!["judge"], ["FILE", "leveloff judge"]),
        (vec!["judge", "-", "-"], ["stdin", "only once"]),
        (vec!["judge", "-", "--looks", "0"], ["--looks", "0"]),
        (vec!["judge", "-", "--jobs", "0"], ["--jobs", "0"]),
        (
            vec!["judge", "-", "--undecided", "maybe"],
            ["--undecided", "pass"],
        ),
        (vec!["judge", "-", "--limit", "28"], ["--limit", "28GiB"]),
        (vec!["export", "x.jsonl"], ["--output", "leveloff export"]),
        (
            vec!["export", "x.jsonl", "-o", "-", "--scope", "rank"],
            ["--scope", "process"],
        ),
    ] {
        stage.ask(&arguments).refused(&words);
    }
}

#[test]
fn a_log_that_is_not_there_is_said_before_anything_starts() {
    let stage = Stage::new();
    let own_pid = std::process::id().to_string();
    let recorded = stage.ask(&["record", "--pid", &own_pid, "--log", "no.log"]);
    recorded.refused(&["the log no.log does not exist"]);
    let run = stage.ask(&["run", "--log", "no.log", "--", "touch", "started"]);
    run.refused(&["the log no.log does not exist"]);
    assert!(!stage.path("started").exists());
    assert!(stage.recordings().is_empty());
}

#[test]
fn completions_know_the_subcommands() {
    let stage = Stage::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = stage.ask(&["completions", shell]).well().stdout;
        for name in SUBCOMMANDS {
            assert!(script.contains(name), "{shell} misses {name}");
        }
        assert!(script.contains("pss-budget"), "{shell} misses options");
    }
    stage.ask(&["completions", "tcl"]).refused(&["tcl", "bash"]);
}

#[test]
fn bash_accepts_its_completions() {
    let stage = Stage::new();
    let script = stage.ask(&["completions", "bash"]).well().stdout;
    let script = stage.file("completions.bash", script);
    let mut bash = std::process::Command::new("bash");
    let status = bash.arg("-n").arg(script).status();
    match status {
        Ok(status) => assert!(status.success()),
        Err(_) => crate::stage::cannot_run_here("there is no bash"),
    }
}

#[test]
fn the_manual_has_a_page_for_everything() {
    let stage = Stage::new();
    let page = stage.ask(&["man"]).well().stdout;
    assert!(page.contains(".TH leveloff 1"), "{page}");
    for name in SUBCOMMANDS {
        let page = stage.ask(&["man", name]).well().stdout;
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
        assert!(page.contains("Examples:"), "{page}");
    }
    stage
        .ask(&["man", "nonsense"])
        .refused(&["'nonsense'", "leveloff --help"]);
}

/// `head` closes its input early, which is not an error.
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let stage = Stage::new();
    for arguments in [
        &["--help"][..],
        &["completions", "bash"],
        &["man"],
        &["doctor"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = stage.leveloff(arguments);
        let ended = ended(command.stdout(Stdio::from(writer)));
        ended.well();
    }
}
