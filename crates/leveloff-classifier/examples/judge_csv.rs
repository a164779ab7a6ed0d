//! Judges many small CSV files at once and writes what a scorer reads: the loop for tuning.
//!
//! ```text
//! judge_csv --labels DIR/labels.csv [--out DIR] [--looks 40] [--level-by N] [--no-facts]
//! judge_csv [--out DIR] [--looks 40] [--level-by N] FILE.csv…
//! ```
//!
//! A file has the columns `step,t_seconds,rss_mb`. A table of labels names files beside it and what
//! is known of each run (`planned_steps`, `epoch_steps`, `limit_mb`). Every run is judged at
//! log-spaced prefixes, as if somebody had looked again and again. `predictions.csv` has the last
//! verdict of each run, `trajectory.csv` all of them.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::{RunVerdict, Shape, Verdict};
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Bytes, Limit, Seconds, Step};

type Failure = Box<dyn Error + Send + Sync>;

/// The fewest points that are worth a look.
const FIRST_LOOK: usize = 6;
/// A megabyte of the files, which are 1000-based.
const MEGABYTE: f64 = 1e6;
const THREADS: usize = 2;

fn main() -> Result<(), Failure> {
    let options = Options::from_arguments(std::env::args().skip(1))?;
    let results = judge_all(&options)?;
    write_results(&options.out, &results)
}

struct Options {
    runs: Vec<Run>,
    out: PathBuf,
    looks: usize,
}

struct Run {
    name: String,
    path: PathBuf,
    facts: StatedFacts,
}

struct Look {
    step: f64,
    verdict: RunVerdict,
}

impl Options {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Options, Failure> {
        let mut options = Options {
            runs: Vec::new(),
            out: PathBuf::from("."),
            looks: 40,
        };
        let (mut level_by, mut with_facts) = (None, true);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--labels" => options.runs.extend(labelled_runs(Path::new(&value()?))?),
                "--out" => options.out = PathBuf::from(value()?),
                "--looks" => options.looks = value()?.parse()?,
                "--level-by" => level_by = Some(Step(value()?.parse()?)),
                "--no-facts" => with_facts = false,
                _ => options.runs.push(unlabelled_run(Path::new(&argument))),
            }
        }
        for run in &mut options.runs {
            if !with_facts {
                run.facts = StatedFacts::default();
            }
            run.facts.level_by = level_by;
        }
        Ok(options)
    }
}

fn unlabelled_run(path: &Path) -> Run {
    let stem = path.file_stem().unwrap_or_default();
    Run {
        name: stem.to_string_lossy().into_owned(),
        path: path.to_owned(),
        facts: StatedFacts::default(),
    }
}

fn labelled_runs(labels: &Path) -> Result<Vec<Run>, Failure> {
    let text = fs::read_to_string(labels).map_err(|error| format!("{labels:?}: {error}"))?;
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let directory = labels.parent().unwrap_or(Path::new("."));
    lines
        .map(|line| {
            labelled_run(
                directory,
                &columns.iter().copied().zip(line.split(',')).collect(),
            )
        })
        .collect()
}

fn labelled_run(directory: &Path, row: &HashMap<&str, &str>) -> Result<Run, Failure> {
    let name = row.get("name").ok_or("the labels have no column 'name'")?;
    let number = |column: &str| row.get(column).and_then(|text| text.parse::<f64>().ok());
    let steps = |column: &str| number(column).map(|steps| Step(steps as u64));
    Ok(Run {
        name: (*name).to_owned(),
        path: directory.join(format!("{name}.csv")),
        facts: StatedFacts {
            level_by: None,
            limit: number("limit_mb").map(|mb| Limit::Size(bytes(mb))),
            planned_steps: steps("planned_steps"),
            epoch_steps: steps("epoch_steps"),
        },
    })
}

fn bytes(megabytes: f64) -> Bytes {
    Bytes((megabytes * MEGABYTE).round() as u64)
}

fn judge_all(options: &Options) -> Result<Vec<(&Run, Vec<Look>)>, Failure> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Vec<Look>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let work = || -> Result<(), Failure> {
            while let (index, Some(run)) = taken(&next, &options.runs) {
                let looks = judged(run, options.looks)
                    .map_err(|error| format!("{}: {error}", run.path.display()))?;
                results
                    .lock()
                    .expect("no thread panics")
                    .push((index, looks));
            }
            Ok(())
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    let mut results = results.into_inner()?;
    results.sort_by_key(|result| result.0);
    Ok(results
        .into_iter()
        .map(|(index, looks)| (&options.runs[index], looks))
        .collect())
}

fn taken<'a>(next: &AtomicUsize, runs: &'a [Run]) -> (usize, Option<&'a Run>) {
    let index = next.fetch_add(1, Ordering::Relaxed);
    (index, runs.get(index))
}

/// The looks at a run. One judge follows it and is asked on the way, as a dashboard would.
fn judged(run: &Run, looks: usize) -> Result<Vec<Look>, Failure> {
    let observations = observations(&fs::read_to_string(&run.path)?)?;
    let prefixes = log_spaced(observations.len(), looks);
    let mut judge = RunJudge::new(XUnit::Step, &run.facts);
    let mut looked = Vec::with_capacity(prefixes.len());
    for (index, observation) in observations.iter().enumerate() {
        judge.observe(observation);
        if prefixes.binary_search(&(index + 1)).is_ok() {
            looked.push(Look {
                step: observation.count.unwrap_or_default(),
                verdict: judge.verdict(),
            });
        }
    }
    Ok(looked)
}

fn observations(text: &str) -> Result<Vec<Observation>, Failure> {
    text.lines().skip(1).map(observation).collect()
}

fn observation(line: &str) -> Result<Observation, Failure> {
    let cells: Vec<&str> = line.split(',').collect();
    let [step, seconds, megabytes] = cells[..] else {
        return Err(format!("'{line}' is not step,t_seconds,rss_mb").into());
    };
    Ok(Observation {
        count: Some(step.parse()?),
        t: seconds.parse().ok().map(Seconds),
        memory: bytes(megabytes.parse()?),
        ..Observation::default()
    })
}

/// Lengths of prefixes from the first that is worth a look to the whole, evenly spaced as ratios.
fn log_spaced(points: usize, looks: usize) -> Vec<usize> {
    let first = FIRST_LOOK.min(points) as f64;
    let ratio = points as f64 / first.max(1.0);
    let gaps = looks.saturating_sub(1).max(1) as f64;
    let mut prefixes: Vec<usize> = (0..looks)
        .map(|look| (first * ratio.powf(look as f64 / gaps)).round() as usize)
        .collect();
    prefixes.push(points);
    prefixes.dedup();
    prefixes
}

fn write_results(out: &Path, results: &[(&Run, Vec<Look>)]) -> Result<(), Failure> {
    let mut predictions =
        String::from("name,verdict,rate_mb_per_step,decided_at_step,grade,because\n");
    let mut trajectory = String::from("name,step,verdict,grade,because\n");
    for (run, looks) in results {
        let name = &run.name;
        for Look { step, verdict } in looks {
            writeln!(trajectory, "{name},{step},{}", words(verdict, ""))?;
        }
        if let Some(last) = looks.last() {
            let rate = last.verdict.memory.rate.map(|rate| rate.value / MEGABYTE);
            let rate = rate.map_or(String::new(), |rate| rate.to_string());
            let between = format!("{rate},{},", settled_at(looks));
            writeln!(predictions, "{name},{}", words(&last.verdict, &between))?;
        }
    }
    fs::create_dir_all(out)?;
    fs::write(out.join("predictions.csv"), predictions)?;
    fs::write(out.join("trajectory.csv"), trajectory)?;
    Ok(())
}

/// The verdict in the scorer's words, then `between`, then what helps to understand it.
fn words(verdict: &RunVerdict, between: &str) -> String {
    let grade = verdict.verdict.grade().map_or("", |grade| grade.name());
    let because = format!("{:?}", verdict.memory.because);
    let because = because.split([' ', '{']).next().unwrap_or_default();
    format!("{},{between}{grade},{because}", word(verdict))
}

fn word(verdict: &RunVerdict) -> &'static str {
    match (verdict.verdict, verdict.shape) {
        (Verdict::Leak(_), Shape::Staircase) => "step",
        (Verdict::Leak(_), _) => "leak",
        (_, Shape::Shrinking) => "shrinking",
        (Verdict::Level, Shape::Sawtooth) => "sawtooth",
        (Verdict::Level, _) => "stable",
        (Verdict::WarmingUp, _) => "warming_up",
        (Verdict::Undecided, _) => "inconclusive",
    }
}

/// The step of the first look from which the verdict did not change any more.
fn settled_at(looks: &[Look]) -> f64 {
    let last = looks.last().map(|look| word(&look.verdict));
    looks
        .iter()
        .rev()
        .take_while(|look| Some(word(&look.verdict)) == last)
        .last()
        .map_or(f64::NAN, |look| look.step)
}
