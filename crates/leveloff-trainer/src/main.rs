//! The reference trainer: a small training with known memory behaviour.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use leveloff_trainer::checkpoint::{Directory, Skipped, resume_from};
use leveloff_trainer::cli::Cli;
use leveloff_trainer::marks::{Marks, MarksLocation};
use leveloff_trainer::notice::notice;
use leveloff_trainer::progress::Progress;
use leveloff_trainer::ranks::{Arrival, RankGroup, launcher};
use leveloff_trainer::stop::StopRequests;
use leveloff_trainer::training::{Failure, Pace, Session, Training};
use leveloff_trainer::{device, environment, listing, workers};

/// The training failed.
const FAILED: u8 = 1;
/// A usage or tool error.
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    // Workers of a pattern are this same program.
    if let Some(code) = workers::entry() {
        return code;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    environment::settle(cli.threads);
    match dispatch(&cli) {
        Ok(code) => code,
        Err(error) => {
            notice(&format!("{error:#}"));
            ExitCode::from(if error.is::<Failure>() {
                FAILED
            } else {
                USAGE_ERROR
            })
        }
    }
}

fn dispatch(cli: &Cli) -> Result<ExitCode> {
    if cli.list_patterns {
        print(&listing::listing(cli)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if cli.ignore_signals {
        // Before there are workers or ranks, which inherit it.
        workers::fork::ignore_signals();
    }
    match (cli.ranks, RankGroup::of_this_process()?) {
        (Some(count), RankGroup::Alone) => {
            cli.entry().map_err(anyhow::Error::msg)?;
            let stop = StopRequests::listen(None, cli.ignored_stops());
            launcher::launch(count, &stop.context("cannot listen to signals")?)
        }
        (_, ranks) => train(cli, ranks).map(|()| ExitCode::SUCCESS),
    }
}

fn train(cli: &Cli, mut ranks: RankGroup) -> Result<()> {
    let entry = cli.entry().map_err(anyhow::Error::msg)?;
    let schedule = cli.schedule(entry);
    let checkpoints = match &cli.checkpoint_dir {
        Some(path) => Some(own_directory(cli, path, &ranks)?),
        None => None,
    };
    // Before there is any thread or tensor: a pattern may fork here.
    let mut pattern = (entry.make)(&cli.knobs(), &schedule);
    pattern.begin().map_err(Failure::from)?;

    let marks = if cli.no_marks {
        Marks::none()
    } else {
        Marks::begin(&MarksLocation::of_this_process())
    };
    let stop = StopRequests::listen(marks.stop_request(), cli.ignored_stops())
        .context("cannot listen to signals")?;
    let device = device::open(cli.device)?;
    let mut training = Training::new(cli.seed, cli.batch_size, &device)?;
    let resumed = resume(cli, checkpoints.as_ref(), &mut training)?;
    let resumed = start_at_same_step(&mut ranks, checkpoints.as_ref(), &mut training, resumed)?;
    let at = training.steps();
    // Of several ranks, only the first prints.
    let quiet = cli.quiet || ranks.rank().is_some_and(|rank| rank > 0);
    let progress = Progress::new(cli.format, quiet, at, schedule.steps);
    if let Some(path) = &resumed {
        progress.resumed(at, path);
    }
    let session = Session {
        training,
        pattern,
        schedule,
        marks,
        checkpoints,
        progress,
        stop,
        ranks,
        pace: Pace::new(cli.pace),
        last_saved: resumed.map(|path| (at, path)),
    };
    session.run()?;
    Ok(())
}

/// Loads a checkpoint, if `--resume` is given; returns its path.
fn resume(
    cli: &Cli,
    checkpoints: Option<&Directory>,
    training: &mut Training,
) -> Result<Option<PathBuf>> {
    let expected = training.origin();
    let optimiser = training.optimiser_mut();
    match (&cli.resume, checkpoints) {
        (None, _) => Ok(None),
        (Some(Some(file)), _) => match resume_from(file, optimiser, &expected) {
            Ok(_) => Ok(Some(file.clone())),
            Err(why) => bail!("cannot resume from {}: {why}", file.display()),
        },
        (Some(None), None) => bail!("--resume needs --checkpoint-dir or the name of a checkpoint"),
        (Some(None), Some(directory)) => {
            let (path, passed_over) = directory.resume(optimiser, &expected)?;
            for Skipped { path, why } in passed_over {
                notice(&format!("passing over {}: {why}", path.display()));
            }
            Ok(Some(path))
        }
    }
}

/// Each rank has a directory of its own.
fn own_directory(cli: &Cli, path: &Path, ranks: &RankGroup) -> Result<Directory> {
    let keep = cli.keep_checkpoints.into();
    match ranks.rank() {
        None => Directory::open(path, keep),
        Some(rank) => Directory::open(&path.join(format!("rank-{rank}")), keep),
    }
}

/// Ranks begin at the same step: one that was killed while it saved is a checkpoint behind, and the
/// others go back to where it is.
fn start_at_same_step(
    ranks: &mut RankGroup,
    checkpoints: Option<&Directory>,
    training: &mut Training,
    resumed: Option<PathBuf>,
) -> Result<Option<PathBuf>> {
    let here = |training: &Training| Arrival {
        step: training.steps(),
        cause: None,
    };
    let last = ranks.agree(here(training))?.step;
    let resumed = match checkpoints {
        Some(directory) if last < training.steps() => {
            let expected = training.origin();
            let optimiser = training.optimiser_mut();
            Some(
                directory
                    .resume_no_later_than(last, optimiser, &expected)?
                    .0,
            )
        }
        _ => resumed,
    };
    ranks.agree_at(here(training))?;
    Ok(resumed)
}

/// Prints clap's message, an error with our own prefix.
fn explain(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    notice(text.trim_start_matches("error: ").trim_end());
    ExitCode::from(USAGE_ERROR)
}

/// A reader that has seen enough, such as `head`, is no error.
fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot print"),
    }
}
