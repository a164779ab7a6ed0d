//! `leveloff.toml` and `[tool.leveloff]`: what they set, what goes before them, and mistakes in them.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::stage::{Ended, NOBODY, Stage, cannot_run_here, ended, is_root};

/// A run that grows by 165 MB a step, and is too young to be called a leak unless a horizon is stated.
fn young_leak() -> Stage {
    let stage = Stage::new();
    let jitter = |step: u32| f64::from(step.wrapping_mul(2_654_435_761) >> 16) / 32_768.0;
    let rows = (1..200).map(|step| {
        let mb = 5000.0 + 165.0 * f64::from(step) + jitter(step);
        format!("{step},{mb:.3}\n")
    });
    stage.file(
        "young.csv",
        "step,rss_mb\n".to_owned() + &rows.collect::<String>(),
    );
    stage
}

/// A file of ours, that only we may write.
fn setting(stage: &Stage, name: &str, text: &str) {
    let path = stage.file(name, text);
    std::fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
}

fn judged(stage: &Stage, variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
    let arguments = [&["judge", "young.csv"], arguments].concat();
    let mut command = stage.leveloff(&arguments);
    ended(command.envs(variables.iter().copied())).never_panicked()
}

/// The step by which memory had to be level, if one was stated.
#[track_caller]
fn horizon(ended: &Ended) -> Option<u32> {
    let stated = ended.stdout.split("after step ").nth(1);
    assert_eq!(
        ended.status.code(),
        Some(if stated.is_some() { 1 } else { 3 }),
        "{ended:?}"
    );
    let digits: String = stated?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_file() {
    let stage = young_leak();
    assert_eq!(horizon(&judged(&stage, &[], &[])), None);
    setting(&stage, "leveloff.toml", "level_by = 90\n");
    let variable = ("LEVELOFF_LEVEL_BY", "80");
    assert_eq!(horizon(&judged(&stage, &[], &[])), Some(90));
    assert_eq!(horizon(&judged(&stage, &[variable], &[])), Some(80));
    let flag = ["--level-by", "70"];
    assert_eq!(horizon(&judged(&stage, &[variable], &flag)), Some(70));
    assert_eq!(horizon(&judged(&stage, &[], &flag)), Some(70));
}

#[test]
fn a_pyproject_is_as_good_unless_there_is_a_file_of_our_own() {
    let stage = young_leak();
    setting(
        &stage,
        "pyproject.toml",
        "[project]\nname = 'x'\n[tool.leveloff]\nlevel_by = 85\n",
    );
    assert_eq!(horizon(&judged(&stage, &[], &[])), Some(85));
    setting(&stage, "leveloff.toml", "level_by = 90\n");
    assert_eq!(horizon(&judged(&stage, &[], &[])), Some(90));
}

#[test]
fn the_root_of_the_repository_speaks_for_what_lies_below() {
    let stage = young_leak();
    std::fs::create_dir_all(stage.path("src/deep")).unwrap();
    setting(&stage, "leveloff.toml", "level_by = 90\n");
    let below = || {
        let mut command = stage.leveloff(["judge", "../../young.csv"]);
        ended(command.current_dir(stage.path("src/deep")))
    };
    assert_eq!(horizon(&below()), None);
    std::fs::create_dir(stage.path(".git")).unwrap();
    assert_eq!(horizon(&below()), Some(90));
}

#[test]
fn a_file_can_be_named_or_refused() {
    let stage = young_leak();
    setting(&stage, "leveloff.toml", "level_by = 90\n");
    setting(&stage, "strict.toml", "level_by = 60\n");
    let named = ("LEVELOFF_CONFIG", "strict.toml");
    assert_eq!(horizon(&judged(&stage, &[named], &[])), Some(60));
    assert_eq!(
        horizon(&judged(&stage, &[], &["--config", "strict.toml"])),
        Some(60)
    );
    assert_eq!(
        horizon(&judged(&stage, &[named], &["--config", "leveloff.toml"])),
        Some(90)
    );
    assert_eq!(horizon(&judged(&stage, &[], &["--no-config"])), None);
    assert_eq!(horizon(&judged(&stage, &[named], &["--no-config"])), None);
    let both = ["--config", "strict.toml", "--no-config"];
    assert_eq!(horizon(&judged(&stage, &[], &both)), None);
    let empty = ("LEVELOFF_CONFIG", "");
    assert_eq!(horizon(&judged(&stage, &[empty], &[])), Some(90));
    let before = stage.ask(&["--config", "strict.toml", "judge", "young.csv"]);
    assert_eq!(horizon(&before), Some(60));
    let missing = judged(&stage, &[], &["--config", "missing.toml"]);
    missing.refused(&["leveloff: cannot read the configuration file missing.toml: No such file"]);
    let missing = judged(&stage, &[("LEVELOFF_CONFIG", "missing.toml")], &[]);
    missing.refused(&["missing.toml: No such file"]);
}

#[test]
fn mistakes_are_reported_with_file_and_line() {
    let stage = young_leak();
    for (text, words) in [
        (
            "level_by = 90\n[check]\nmax_lvel = '20GiB'\n",
            "leveloff: unknown key 'max_lvel' in leveloff.toml, line 3; did you mean 'max_level'?\n",
        ),
        (
            "tensors = 1",
            "known in the top level of the file: level_by, limit,",
        ),
        (
            "\nlimit = 28",
            "limit = 28 in leveloff.toml, line 2: '28' has no unit; write 28GiB",
        ),
        (
            "level_by = 'soon'",
            "level_by = 'soon' in leveloff.toml, line 1: write a step, such as 90, or a time",
        ),
        (
            "[check]\nmax_growth = '1MiB'",
            "line 2: 1MiB per what? write 1MiB/step",
        ),
        (
            "level_by = 90\nlevel_by",
            "leveloff.toml, line 2 is not TOML: ",
        ),
    ] {
        setting(&stage, "leveloff.toml", text);
        let ended = judged(&stage, &[], &["--level-by", "70"]).refused(&[words]);
        assert_eq!(ended.stdout, "", "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
    let run = stage.ask(&["run", "--", "touch", "started"]);
    run.refused(&["leveloff.toml, line 2 is not TOML"]);
    assert!(!stage.path("started").exists());
}

#[test]
fn a_pyproject_that_is_broken_elsewhere_is_no_concern() {
    let stage = young_leak();
    setting(&stage, "pyproject.toml", "[project\nname =\n");
    assert_eq!(judged(&stage, &[], &[]).stderr, "");
    setting(
        &stage,
        "pyproject.toml",
        "[project\n[tool.leveloff]\nlevel_by = 90\n",
    );
    judged(&stage, &[], &[]).refused(&["pyproject.toml, line 1 is not TOML"]);
}

#[test]
fn what_takes_no_settings_is_stopped_by_no_mistake_in_them() {
    let stage = young_leak();
    let commands = [
        &["--help"][..],
        &["--version"],
        &["judge", "--help"],
        &["help", "record"],
        &["man"],
        &["man", "judge"],
        &["completions", "bash"],
    ];
    let without: Vec<String> = commands.map(|ask| stage.ask(ask).well().stdout).into();
    for text in ["level_by = 90\ninterval = '7s'\n", "nonsense"] {
        setting(&stage, "leveloff.toml", text);
        let with: Vec<String> = commands.map(|ask| stage.ask(ask).well().stdout).into();
        assert_eq!(with, without);
    }
    let doctor = stage.ask(&["doctor"]).well();
    assert!(
        doctor.stdout.contains("leveloff.toml, line 1 is not TOML"),
        "{doctor:?}"
    );
    assert_eq!(doctor.stderr, "");
    let doctor = stage.ask(&["doctor", "--no-config"]).well();
    assert!(doctor.stdout.contains("switched off"), "{doctor:?}");
}

#[test]
fn without_a_command_leveloff_watches_with_settings_as_well() {
    let stage = Stage::new();
    setting(&stage, "leveloff.toml", "levelby = 90\n");
    stage.ask(&[]).refused(&["did you mean 'level_by'?"]);
    stage.ask(&["--no-config"]).refused(&["needs a terminal"]);
    stage
        .ask(&["--config", "no.toml"])
        .refused(&["no.toml: No such file"]);
}

#[test]
fn what_others_may_write_is_said_and_not_used() {
    let stage = young_leak();
    let path = stage.file("leveloff.toml", "level_by = 90\n");
    std::fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    let open = judged(&stage, &[], &[]);
    assert_eq!(horizon(&open), None);
    assert_eq!(
        open.said(),
        [
            "leveloff.toml is not used: every user may write it; if you trust it, name it with --config"
        ]
    );
    let named = judged(&stage, &[], &["--config", "leveloff.toml"]);
    assert_eq!((horizon(&named), named.said().len()), (Some(90), 0));
    if !is_root() {
        return cannot_run_here("only root can give a file away");
    }
    setting(&stage, "leveloff.toml", "level_by = 90\n");
    std::os::unix::fs::chown(&path, Some(NOBODY), None).unwrap();
    let foreign = judged(&stage, &[], &[]);
    assert_eq!(horizon(&foreign), None);
    assert!(
        foreign.said()[0].contains("it belongs to another user"),
        "{foreign:?}"
    );
    // Its owner may use it.
    stage.public_leveloff();
    let own = ended(&mut stage.leveloff_as_nobody(&["judge", "young.csv"]));
    assert_eq!((horizon(&own), own.said().len()), (Some(90), 0));
}

/// What the file states is recorded with the run, as if it had been stated on the command line.
#[test]
fn a_run_is_recorded_with_what_the_file_states() {
    let stage = Stage::new();
    setting(
        &stage,
        "leveloff.toml",
        "planned_steps = 123457\ninterval = '50ms'\n",
    );
    stage.ask(&["run", "-o", "run.jsonl", "--", "true"]).well();
    let recording = std::fs::read_to_string(stage.path("run.jsonl")).unwrap();
    let header = recording.lines().next().unwrap();
    assert!(header.contains("123457"), "{header}");
}
