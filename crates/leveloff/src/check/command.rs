//! The command of a check, run and recorded by `leveloff run`, once or several times.

use std::fs::File;
use std::io::BufReader;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use leveloff_model::recording::RecordingReader;
use rustix::io::dup;

use crate::cli::{CheckArgs, Format};
use crate::notice::notice;
use crate::outputs::{self, Existing};
use crate::recorder::Recorder;

/// Runs the command as often as asked; the recordings.
pub fn run_all(args: &CheckArgs) -> Result<Vec<PathBuf>> {
    let recordings = recordings(args);
    for recording in &recordings {
        make_room(recording, args.force)?;
    }
    for (turn, recording) in (1..).zip(&recordings) {
        if args.repeat > 1 {
            notice(&format!("run {turn} of {}", args.repeat));
        }
        let status = run(args, recording)?;
        if !status.success() {
            bail!(
                "the command {}; its memory cannot be vouched for. The recording is {}",
                ended(status),
                recording.display()
            );
        }
    }
    Ok(recordings)
}

/// An existing recording is in the way; `--force` removes it, and never anything that is none.
fn make_room(recording: &Path, force: bool) -> Result<()> {
    let existing = Existing::replaced_if(force);
    outputs::check(recording, existing)?;
    if !recording.exists() {
        return Ok(());
    }
    let shown = recording.display();
    let file = File::open(recording).with_context(|| format!("cannot open {shown}"))?;
    if RecordingReader::new(BufReader::new(file)).is_err() {
        bail!("{shown} exists and is not a recording, so it is not replaced; choose another name");
    }
    std::fs::remove_file(recording).with_context(|| format!("cannot replace {shown}"))
}

/// Through `leveloff run` as a process of its own: it takes the terminal and the signals into its
/// hands, and that can be done once in a process.
fn run(args: &CheckArgs, recording: &Path) -> Result<ExitStatus> {
    let ourselves = std::env::current_exe().context("cannot find leveloff itself")?;
    let mut run = Command::new(ourselves);
    run.arg("run").arg("--output").arg(recording);
    run.arg(format!("--interval={}ms", args.interval.as_millis()));
    run.arg(format!("--pss-budget={}", args.pss_budget));
    run.args(facts(args)).arg("--").args(&args.command);
    if args.format == Format::Json {
        // Whoever reads our stdout wants the answer, and not the command's chatter.
        run.stdout(Stdio::from(dup(rustix::stdio::stderr())?));
    }
    run.status().context("cannot start leveloff itself")
}

/// What is known of the run belongs into its recording.
fn facts(args: &CheckArgs) -> Vec<String> {
    let facts = &args.facts;
    let limit = facts.limit.map(|limit| match limit {
        leveloff_model::units::Limit::Size(bytes) => format!("--limit={}B", bytes.0),
        leveloff_model::units::Limit::Share(share) => format!("--limit={}%", share * 100.0),
    });
    let steps = |name: &str, steps: Option<u64>| steps.map(|n| format!("--{name}={n}"));
    [
        limit,
        steps("level-by", facts.level_by),
        steps("planned-steps", facts.planned_steps),
        steps("epoch-steps", facts.epoch_steps),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn recordings(args: &CheckArgs) -> Vec<PathBuf> {
    let chosen = args.output.clone().unwrap_or_else(|| {
        let words: Vec<String> = args
            .command
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        PathBuf::from(Recorder::stem_named_after(&words) + ".jsonl")
    });
    numbered(&chosen, args.repeat)
}

/// `run.jsonl`, or `run-1.jsonl`, `run-2.jsonl` of several.
pub fn numbered(path: &Path, count: u32) -> Vec<PathBuf> {
    if count <= 1 {
        return vec![path.to_owned()];
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|ending| ending.to_string_lossy());
    (1..=count)
        .map(|n| {
            let ending = ending
                .as_deref()
                .map_or_else(String::new, |e| format!(".{e}"));
            path.with_file_name(format!("{stem}-{n}{ending}"))
        })
        .collect()
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_recordings_are_numbered_and_one_is_not() {
        let path = Path::new("out/run.jsonl");
        assert_eq!(numbered(path, 1), [PathBuf::from("out/run.jsonl")]);
        assert_eq!(
            numbered(path, 2),
            ["out/run-1.jsonl", "out/run-2.jsonl"].map(PathBuf::from)
        );
        assert_eq!(numbered(Path::new("run"), 2)[1], PathBuf::from("run-2"));
    }
}
