//! Fetches and judges every run of a fleet.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use leveloff_model::process::printable;
use leveloff_model::units::Seconds;
use leveloff_prometheus::query::{
    self, Client, ClientOptions, CustomQuery, MEMORY, QueryError, RankBatch, RunHistory,
    SeriesResponse, Window,
};
use leveloff_readers::SizeUnit;
use leveloff_text::fleet::{Fleet, Member};

use super::fleet_judge::FleetJudge;
use super::progress::Progress;
use crate::args::FleetArgs;
use crate::worker_pool::{self, Event};

/// Clocks that differ by more than this are reported. HTTP dates are in whole seconds, and an answer takes a while.
const REPORTED_SKEW: Seconds = Seconds(10.0);

/// How many jobs are listed if the requested one does not exist.
const JOBS_NAMED: usize = 12;

/// How many failures are listed.
const FAILURES_NAMED: usize = 6;

/// Fetches and judges a fleet, as often as needed.
pub(crate) struct FleetReader {
    args: FleetArgs,
    client: Client,
}

/// What came of a part of the fleet.
type Part = (Vec<Member>, Vec<String>);

impl FleetReader {
    /// Nothing is sent to the server yet.
    pub(crate) fn new(args: &FleetArgs) -> Result<FleetReader> {
        let client = Client::new(&ClientOptions {
            address: args.prometheus.clone(),
            bearer_file: args.bearer_file.clone(),
            user_file: args.user_file.clone(),
            ca_file: args.ca_file.clone(),
            timeout: args.timeout,
        })?;
        Ok(FleetReader {
            args: args.clone(),
            client,
        })
    }

    /// Fetches and judges everything, worst first.
    pub(crate) fn look(&self) -> Result<Fleet> {
        self.check_server()?;
        let window = Window::until(self.client.now(), self.args.since, self.args.step);
        let judge = FleetJudge {
            window,
            stated: self.args.facts.stated(),
            unit: self.args.y_unit.unwrap_or(SizeUnit::B),
        };
        let (members, failures) = match self.custom_query() {
            Some(query) => self.judge_query(&query, &judge)?,
            None => self.judge_ranks(&judge)?,
        };
        if members.is_empty() && failures.is_empty() {
            bail!("{}", self.nothing(&window));
        }
        let mut fleet = Fleet {
            server: self.client.address().to_string(),
            query: self.query_words(),
            at: utc(window.end()),
            members,
            failures: self.all_failures(failures),
            notes: self.skew().into_iter().collect(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
        };
        fleet.sort();
        Ok(fleet)
    }

    /// The screen of --watch shows its own progress.
    fn progress(&self, runs: u64) -> Progress {
        match self.args.watch {
            true => Progress::none(),
            false => Progress::of(runs),
        }
    }

    fn custom_query(&self) -> Option<CustomQuery<'_>> {
        let (query, by) = (self.args.query.as_deref()?, self.args.by.as_deref()?);
        Some(CustomQuery { query, by })
    }

    /// The first request: it shows the server's time, and whether there is a server at all.
    fn check_server(&self) -> Result<()> {
        if self.client.skew().is_some() {
            return Ok(());
        }
        let answer = self
            .client
            .ask_all::<SeriesResponse>("query", &[("query", "vector(1)")]);
        answer.map(drop).map_err(|error| self.whole(&error))
    }

    /// leveloff's own metrics, in batches.
    fn judge_ranks(&self, judge: &FleetJudge) -> Result<Part> {
        let job = self.args.job.as_deref();
        let batches = query::list_ranks(&self.client, job, &judge.window)
            .map_err(|error| self.whole(&error))?;
        let ranks: usize = batches.iter().map(RankBatch::ranks).sum();
        let progress = self.progress(ranks as u64);
        let mut all = Part::default();
        let work = |batch: &RankBatch| match batch
            .fetch(&self.client, &judge.window, &|| progress.done())
        {
            Ok((histories, incomplete)) => {
                let (members, mut failures) =
                    self.judge(&histories, judge, &progress, NonZeroUsize::new(1));
                failures.extend(incomplete.map(|error| self.part(&batch.title(), &error)));
                (members, failures)
            }
            Err(error) => (Vec::new(), vec![self.part(&batch.title(), &error)]),
        };
        worker_pool::in_order(&batches, self.args.jobs, work, |event| {
            if let Event::Done { result, .. } = event {
                all.0.extend(result.0);
                all.1.extend(result.1);
            }
        });
        match all {
            (members, failures) if members.is_empty() && !failures.is_empty() => {
                bail!("{}", few(failures).join("; "))
            }
            all => Ok(all),
        }
    }

    /// The series of --query, in one request.
    fn judge_query(&self, query: &CustomQuery, judge: &FleetJudge) -> Result<Part> {
        let whole = |error: QueryError| self.whole(&error);
        let expected = query.count(&self.client, &judge.window).map_err(whole)?;
        let progress = self.progress(expected.unwrap_or(1));
        let on_series = || progress.done();
        let (histories, incomplete) = query
            .fetch(&self.client, &judge.window, &on_series)
            .map_err(whole)?;
        let arrived = histories.len();
        let (members, mut failures) = self.judge(&histories, judge, &progress, self.args.jobs);
        failures.extend(
            incomplete.map(|error| {
                self.part(&format!("more than the {arrived} that are listed"), &error)
            }),
        );
        Ok((members, failures))
    }

    fn judge(
        &self,
        histories: &[RunHistory],
        judge: &FleetJudge,
        progress: &Progress,
        jobs: Option<NonZeroUsize>,
    ) -> Part {
        let mut part = Part::default();
        let work = |history: &RunHistory| {
            let judged = judge.judge(history);
            progress.done();
            judged
        };
        worker_pool::in_order(histories, jobs, work, |event| match event {
            Event::Done {
                result: Ok(member), ..
            } => part.0.push(member),
            Event::Done {
                result: Err(failure),
                ..
            } => part.1.push(failure),
            Event::Waiting { .. } => {}
        });
        part
    }

    /// An error for the whole fleet.
    fn whole(&self, error: &QueryError) -> anyhow::Error {
        anyhow!("{} {error}", self.client.address())
    }

    /// An error for a part of the fleet.
    fn part(&self, what: &str, error: &QueryError) -> String {
        let what = printable(what.as_bytes());
        format!("without {what}: {} {error}", self.client.address())
    }

    fn all_failures(&self, mut failures: Vec<String>) -> Vec<String> {
        let (address, warned) = (self.client.address(), self.client.take_warnings());
        let warned = warned.into_iter();
        failures.extend(warned.map(|warning| format!("{address} warns: {warning}")));
        few(failures)
    }

    fn skew(&self) -> Option<String> {
        let skew = self
            .client
            .skew()
            .filter(|skew| skew.abs() > REPORTED_SKEW.0)?;
        let direction = if skew > 0.0 { "ahead of" } else { "behind" };
        let by = Seconds(skew.abs());
        Some(format!(
            "the server's clock is {by} {direction} ours; its time is used"
        ))
    }

    /// What was requested, in words.
    fn query_words(&self) -> String {
        let what = match (&self.args.query, &self.args.job) {
            (Some(query), _) => query.clone(),
            (None, Some(job)) => format!("{MEMORY} of {job}"),
            (None, None) => MEMORY.to_owned(),
        };
        let [since, step] = [self.args.since, self.args.step].map(seconds);
        format!("{what}, the last {since} by {step}")
    }

    /// The error without any result: what was requested, and what exists.
    fn nothing(&self, window: &Window) -> String {
        let empty = format!(
            "{} has nothing for {} (from {} to {})",
            self.client.address(),
            self.query_words(),
            utc(window.start()),
            utc(window.end())
        );
        let Some(query) = self.custom_query() else {
            return format!(
                "{empty}; {}",
                jobs_words(&query::jobs(&self.client), self.args.job.is_some())
            );
        };
        match query.others(&self.client) {
            others if others.is_empty() => {
                format!("{empty}; it has no other metric with a name like memory")
            }
            others => format!(
                "{empty}; similar metrics: {}",
                printable(others.join(", ").as_bytes())
            ),
        }
    }
}

/// The first ones, and how many more there are.
fn few(mut failures: Vec<String>) -> Vec<String> {
    let more = failures.len().saturating_sub(FAILURES_NAMED);
    failures.truncate(FAILURES_NAMED);
    if more > 0 {
        failures.push(format!("and {more} more parts"));
    }
    failures
}

fn jobs_words(jobs: &[String], is_named: bool) -> String {
    let named: Vec<&str> = jobs.iter().take(JOBS_NAMED).map(|job| &**job).collect();
    let named = printable(named.join(", ").as_bytes());
    let more = jobs.len().saturating_sub(JOBS_NAMED);
    match (jobs, is_named) {
        ([], _) => format!(
            "it has no {MEMORY} at all: start runs with `leveloff record --metrics` and let Prometheus scrape them, or \
             judge other metrics with --query"
        ),
        (_, true) if more > 0 => format!("jobs: {named} and {more} more"),
        (_, true) => format!("jobs: {named}"),
        (_, false) => {
            format!("jobs at other times: {named}; look further back with --since")
        }
    }
}

fn seconds(time: Duration) -> Seconds {
    Seconds(time.as_secs_f64())
}

fn utc(time: f64) -> String {
    let time = jiff::Timestamp::from_second(time as i64).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}
