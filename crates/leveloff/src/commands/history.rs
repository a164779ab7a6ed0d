//! `leveloff history`: how earlier runs of a job ended, what follows from that, and forgetting it.

use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use leveloff_model::process::printable;
use leveloff_text::verdict::earlier_words;
use serde_json::{Value, json};

use crate::args::{Format, HistoryArgs};
use crate::exit_code::Exit;
use crate::history::{self, History, HistoryFile, Job, JobRuns, PastRun};
use crate::notice::notice;
use crate::stdout::print;

/// The shortest beginning of a key that names a job.
const SHORTEST_KEY: usize = 4;

/// Digits of a key that are shown.
const SHOWN_KEY: usize = 8;

pub(crate) fn run(args: &HistoryArgs) -> Result<Exit> {
    let file = HistoryFile::of_user()
        .context("there is no place for a history: neither XDG_STATE_HOME nor HOME is set")?;
    if args.forget.as_deref() == Some("all") {
        file.remove().map_err(|error| unusable(&file, &error))?;
        notice("forgot all jobs");
        return Ok(Exit::Success);
    }
    let history = file.read().map_err(|error| unusable(&file, &error))?;
    if let Some(beginning) = &args.forget {
        return forget(&file, &history, beginning);
    }
    let shown = chosen(args, history)?;
    let shown = match args.format {
        Format::Text => text(&file, &shown),
        Format::Json => format!("{}\n", document(&file, &shown)),
    };
    print(shown.as_bytes())?;
    Ok(Exit::Success)
}

fn unusable(file: &HistoryFile, error: &history::HistoryError) -> anyhow::Error {
    anyhow!("{}", history::unused(file.path(), error))
}

fn forget(file: &HistoryFile, history: &History, beginning: &str) -> Result<Exit> {
    let key = key_of(history, beginning)?;
    let forgotten = file.update(|history| history.jobs.retain(|known| known.job.key != key));
    forgotten.map_err(|error| unusable(file, &error))?;
    notice(&format!("forgot the job {}", &key[..SHOWN_KEY]));
    Ok(Exit::Success)
}

/// The only key that begins so.
fn key_of(history: &History, beginning: &str) -> Result<String> {
    let beginning = beginning.to_ascii_lowercase();
    let is_named = |known: &&JobRuns| known.job.key.starts_with(&beginning);
    let mut named = history.jobs.iter().filter(is_named);
    match (beginning.len() >= SHORTEST_KEY, named.next(), named.next()) {
        (false, ..) => bail!(
            "write at least {SHORTEST_KEY} digits of the key, which `leveloff history` lists, or 'all'"
        ),
        (true, None, _) => bail!("there is no job {beginning}; `leveloff history` lists them"),
        (true, Some(_), Some(_)) => bail!("several jobs begin with {beginning}; write more digits"),
        (true, Some(known), None) => Ok(known.job.key.clone()),
    }
}

/// The job of the named command, or all of them, the last one first.
fn chosen(args: &HistoryArgs, history: History) -> Result<Vec<JobRuns>> {
    let command: Vec<String> = args
        .command
        .iter()
        .map(|word| printable(word.as_encoded_bytes()))
        .collect();
    let directory = std::env::current_dir().ok();
    let Some(job) = Job::of(&command, directory.as_deref()) else {
        return Ok(history.jobs.into_iter().rev().collect());
    };
    let mut jobs = history.jobs.into_iter();
    match jobs.find(|known| known.job.key == job.key) {
        Some(known) => Ok(vec![known]),
        None => Ok(vec![JobRuns {
            job,
            runs: Vec::new(),
        }]),
    }
}

fn text(file: &HistoryFile, jobs: &[JobRuns]) -> String {
    if jobs.is_empty() {
        let path = file.path().display();
        return format!("no runs are remembered yet ({path})\n");
    }
    jobs.iter().map(block).collect()
}

/// `3f9ac201  python train.py` and what is known of it.
fn block(known: &JobRuns) -> String {
    let key = &known.job.key[..SHOWN_KEY];
    let name = printable(known.job.name.as_bytes());
    let runs = counted(&known.runs);
    format!("{key}  {name}\n  {runs}\n  {}\n", expected(&known.runs))
}

/// `5 runs, the last on 2026-11-18: 4 level, 1 leak`
fn counted(runs: &[PastRun]) -> String {
    let Some(last) = runs.last() else {
        return "no run is remembered".to_owned();
    };
    let number = match runs.len() {
        1 => "1 run".to_owned(),
        number => format!("{number} runs"),
    };
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for run in runs {
        match kinds.iter_mut().find(|(name, _)| *name == run.verdict) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&run.verdict, 1)),
        }
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(name, count)| format!("{count} {}", name.replace('_', " ")))
        .collect();
    let day = day(last.ended_unix).map_or_else(String::new, |day| format!(", the last on {day}"));
    format!("{number}{day}: {}", kinds.join(", "))
}

fn day(unix: f64) -> Option<String> {
    let moment = Timestamp::from_second(unix as i64).ok()?;
    Some(moment.strftime("%Y-%m-%d").to_string())
}

/// What the next run is held against, or why nothing is.
fn expected(runs: &[PastRun]) -> String {
    match history::earlier_runs(runs) {
        Some(earlier) => format!(
            "{}: growth beyond that is called a leak in the next one",
            earlier_words(&earlier)
        ),
        None if runs.iter().any(|run| run.level_after.is_some()) => {
            "the next run is judged as usual: one short run that was level is too little".to_owned()
        }
        None if runs.is_empty() => "the next run is judged as usual".to_owned(),
        None => "the next run is judged as usual: none was level for certain".to_owned(),
    }
}

fn document(file: &HistoryFile, jobs: &[JobRuns]) -> Value {
    json!({
        "file": file.path().to_string_lossy(),
        "jobs": jobs.iter().map(job_row).collect::<Vec<_>>(),
    })
}

fn job_row(known: &JobRuns) -> Value {
    let earlier = history::earlier_runs(&known.runs);
    let runs = known.runs.iter().map(|run| {
        json!({
            "ended_unix_s": run.ended_unix,
            "verdict": run.verdict,
            "unit": run.axis.name(),
            "level_after": run.level_after,
            "length": run.length,
        })
    });
    json!({
        "key": known.job.key,
        "name": known.job.name,
        "runs": runs.collect::<Vec<_>>(),
        "horizon": earlier.map(|earlier| json!({
            "unit": earlier.axis.name(),
            "runs": earlier.runs,
            "level_from": earlier.earliest,
            "level_to": earlier.latest,
            "level_by": earlier.horizon(),
        })),
    })
}
