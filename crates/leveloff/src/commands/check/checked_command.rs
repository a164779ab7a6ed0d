//! The command of a check, run and recorded by `leveloff run`, once or several times.

use std::fs::File;
use std::io::{BufReader, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use leveloff_model::recording::RecordingReader;
use leveloff_supervise::termination_signals::{TerminationSignals, WaitResult};
use rustix::io::dup;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::Recorded;
use crate::args::{CheckArgs, Format};
use crate::notice::notice;
use crate::outputs::{self, Existing};
use crate::recorder::Recorder;

/// Runs the command --repeat times; returns the recordings.
///
/// A failure of the command ends it: its recording proves nothing, and it would fail again.
pub(crate) fn run_all(args: &CheckArgs) -> Result<Vec<Recorded>> {
    let recordings = recordings(args);
    for recording in &recordings {
        make_room(recording, args.force)?;
    }
    let stop_requests = TerminationSignals::listen()?;
    let mut runs = Vec::new();
    for (turn, recording) in (1..).zip(recordings) {
        if args.repeat > 1 {
            notice(&format!("run {turn} of {}", args.repeat));
        }
        let status = run(args, &recording, &stop_requests)?;
        let failure = (!status.success()).then(|| failure(status, &recording));
        let is_over = failure.is_some();
        runs.push(Recorded { recording, failure });
        if is_over {
            break;
        }
    }
    Ok(runs)
}

fn failure(status: ExitStatus, recording: &Path) -> String {
    let ended = ended(status);
    match recording.exists() {
        true => format!("the command {ended}, so its memory was not checked"),
        false => format!("the command {ended} before anything could be recorded"),
    }
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
///
/// A signal to leveloff is meant for the command: it is passed on, and leveloff waits for the end.
fn run(args: &CheckArgs, recording: &Path, stops: &TerminationSignals) -> Result<ExitStatus> {
    let ourselves = std::env::current_exe().context("cannot find leveloff itself")?;
    let mut run = Command::new(ourselves);
    run.args(["run", "--checked", "--output"]).arg(recording);
    run.arg(format!("--interval={}ms", args.interval.as_millis()));
    run.arg(format!("--pss-budget={}", args.pss_budget));
    run.arg(format!("--history={}", args.history));
    run.args(args.blame.then_some("--blame"));
    run.args(facts(args)).arg("--").args(&args.command);
    if args.format == Format::Json {
        // Stdout is for the result, not for the output of the command.
        run.stdout(Stdio::from(dup(rustix::stdio::stderr())?));
    }
    let mut child = run.spawn().context("cannot start leveloff itself")?;
    let pid = rustix::process::Pid::from_child(&child);
    // A handle means this process and no other, however long we wait.
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        return Ok(child.wait()?);
    };
    let mut is_stopping = false;
    loop {
        let far = Instant::now() + Duration::from_secs(3600);
        match stops.wait_for(&[handle.as_fd()], far)? {
            // Ctrl-C reaches the command as well, which may need time to save.
            WaitResult::Signal if !is_stopping && std::io::stdin().is_terminal() => {
                is_stopping = true;
                notice("waiting for the command to end; nothing will be checked");
            }
            WaitResult::Signal => {
                is_stopping = true;
                notice("stopping the command; nothing will be checked");
                let _ = pidfd_send_signal(&handle, Signal::TERM);
            }
            WaitResult::Other(_) => return Ok(child.wait()?),
            WaitResult::Deadline => {}
        }
    }
}

/// Stated facts are stored in the recording.
fn facts(args: &CheckArgs) -> Vec<String> {
    let facts = &args.facts;
    let limit = facts.limit.map(|limit| match limit {
        leveloff_model::units::Limit::Size(bytes) => format!("--limit={}B", bytes.0),
        leveloff_model::units::Limit::Share(share) => format!("--limit={}%", share * 100.0),
    });
    let steps = |name: &str, steps: Option<u64>| steps.map(|n| format!("--{name}={n}"));
    [
        limit,
        facts.level_by.map(|by| format!("--level-by={by}")),
        steps("planned-steps", facts.planned_steps),
        steps("epoch-steps", facts.epoch_steps),
    ]
    .into_iter()
    .chain([args
        .columns
        .step_regex()
        .map(|regex| format!("--step-regex={}", regex.pattern()))])
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
    match args.output {
        Some(_) => numbered(&chosen, args.repeat),
        None => free_names(&chosen, args.repeat),
    }
}

/// The first free names.
fn free_names(chosen: &Path, count: u32) -> Vec<PathBuf> {
    let stem = chosen.with_extension("");
    let others = (2..).map(|n: u64| PathBuf::from(format!("{}-run{n}.jsonl", stem.display())));
    let mut names = std::iter::once(chosen.to_owned())
        .chain(others)
        .map(|name| numbered(&name, count));
    let are_free = |names: &Vec<PathBuf>| names.iter().all(|name| !name.exists());
    names.find(are_free).expect("the names are without end")
}

/// `run.jsonl`, or `run-1.jsonl`, `run-2.jsonl` of several.
pub(crate) fn numbered(path: &Path, count: u32) -> Vec<PathBuf> {
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
