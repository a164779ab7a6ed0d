//! One look at the whole fleet: who is there, what they held, what is to be said of it.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use leveloff_model::process::printable;
use leveloff_model::units::Seconds;
use leveloff_text::fleet::{Fleet, Member};

use super::answer::SeriesAnswer;
use super::client::Client;
use super::foreign::Question;
use super::history::History;
use super::judging::Bench;
use super::own_metrics::{self, MEMORY, Parcel};
use super::progress::Progress;
use super::trouble::Trouble;
use super::window::Window;
use crate::cli::FleetArgs;
use crate::intake::SizeUnit;
use crate::judge::crew::{self, Event};

/// Clocks that differ by more are worth a word. HTTP tells whole seconds, and an answer takes a while.
const SKEW_WORTH_A_WORD: Seconds = Seconds(10.0);

/// Jobs that are named to who asked for one that is not there.
const JOBS_NAMED: usize = 12;

/// Parts that are named, of those that could not be fetched.
const FAILURES_NAMED: usize = 6;

/// Looks at a fleet, as often as it is asked to.
pub struct Survey {
    args: FleetArgs,
    client: Client,
}

/// What came of a part of the fleet.
type Part = (Vec<Member>, Vec<String>);

impl Survey {
    /// As it was asked for; nothing is said to the server yet.
    pub fn new(args: &FleetArgs) -> Result<Survey> {
        let client = Client::new(args)?;
        Ok(Survey {
            args: args.clone(),
            client,
        })
    }

    /// Fetches and judges everything, worst first.
    pub fn look(&self) -> Result<Fleet> {
        self.hear_time()?;
        let window = Window::until(self.client.now(), self.args.since, self.args.step);
        let bench = Bench {
            window,
            stated: self.args.facts.stated(),
            unit: self.args.y_unit.unwrap_or(SizeUnit::B),
        };
        let (members, failures) = match self.question() {
            Some(question) => self.ask(&question, &bench)?,
            None => self.call(&bench)?,
        };
        if members.is_empty() && failures.is_empty() {
            bail!("{}", self.nothing(&window));
        }
        let mut fleet = Fleet {
            server: self.client.address().to_string(),
            asked: self.asked(),
            at: told(window.end()),
            members,
            failures: self.all_failures(failures),
            notes: self.skew().into_iter().collect(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
        };
        fleet.sort();
        Ok(fleet)
    }

    /// A screen says by itself that it looks.
    fn progress(&self, runs: u64) -> Progress {
        match self.args.watch {
            true => Progress::none(),
            false => Progress::of(runs),
        }
    }

    fn question(&self) -> Option<Question<'_>> {
        let (query, by) = (self.args.query.as_deref()?, self.args.by.as_deref()?);
        Some(Question { query, by })
    }

    /// The first word: it tells the time, and whether anybody is there at all.
    fn hear_time(&self) -> Result<()> {
        if self.client.skew().is_some() {
            return Ok(());
        }
        let asked = self
            .client
            .ask_all::<SeriesAnswer>("query", &[("query", "vector(1)")]);
        asked.map(drop).map_err(|trouble| self.whole(&trouble))
    }

    /// leveloff's own metrics, in parcels.
    fn call(&self, bench: &Bench) -> Result<Part> {
        let job = self.args.job.as_deref();
        let parcels = own_metrics::roll_call(&self.client, job, &bench.window)
            .map_err(|trouble| self.whole(&trouble))?;
        let ranks: usize = parcels.iter().map(Parcel::len).sum();
        let progress = self.progress(ranks as u64);
        let mut all = Part::default();
        let work = |parcel: &Parcel| match parcel
            .fetch(&self.client, &bench.window, &|| progress.done())
        {
            Ok((histories, torn)) => {
                let (members, mut failures) =
                    self.judge(&histories, bench, &progress, NonZeroUsize::new(1));
                failures.extend(torn.map(|trouble| self.part(&parcel.title(), &trouble)));
                (members, failures)
            }
            Err(trouble) => (Vec::new(), vec![self.part(&parcel.title(), &trouble)]),
        };
        crew::in_order(&parcels, self.args.jobs, work, |event| {
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

    /// What others measure, all at once.
    fn ask(&self, question: &Question, bench: &Bench) -> Result<Part> {
        let whole = |trouble: Trouble| self.whole(&trouble);
        let expected = question.count(&self.client, &bench.window).map_err(whole)?;
        let progress = self.progress(expected.unwrap_or(1));
        let heard = || progress.done();
        let (histories, torn) = question
            .fetch(&self.client, &bench.window, &heard)
            .map_err(whole)?;
        let arrived = histories.len();
        let (members, mut failures) = self.judge(&histories, bench, &progress, self.args.jobs);
        failures.extend(
            torn.map(|trouble| {
                self.part(&format!("more than the {arrived} that are told"), &trouble)
            }),
        );
        Ok((members, failures))
    }

    fn judge(
        &self,
        histories: &[History],
        bench: &Bench,
        progress: &Progress,
        jobs: Option<NonZeroUsize>,
    ) -> Part {
        let mut part = Part::default();
        let work = |history: &History| {
            let judged = bench.judge(history);
            progress.done();
            judged
        };
        crew::in_order(histories, jobs, work, |event| match event {
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

    /// Trouble with everything.
    fn whole(&self, trouble: &Trouble) -> anyhow::Error {
        anyhow!("{} {trouble}", self.client.address())
    }

    /// Trouble with a part.
    fn part(&self, what: &str, trouble: &Trouble) -> String {
        let what = printable(what.as_bytes());
        format!("without {what}: {} {trouble}", self.client.address())
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
            .filter(|skew| skew.abs() > SKEW_WORTH_A_WORD.0)?;
        let direction = if skew > 0.0 { "ahead of" } else { "behind" };
        let by = Seconds(skew.abs());
        Some(format!(
            "the server's clock is {by} {direction} ours; its time is used"
        ))
    }

    fn asked(&self) -> String {
        let what = match (&self.args.query, &self.args.job) {
            (Some(query), _) => query.clone(),
            (None, Some(job)) => format!("{MEMORY} of {job}"),
            (None, None) => MEMORY.to_owned(),
        };
        let [since, step] = [self.args.since, self.args.step].map(seconds);
        format!("{what}, the last {since} by {step}")
    }

    /// What was asked, and what exists.
    fn nothing(&self, window: &Window) -> String {
        let asked = format!(
            "{} has nothing for {} (from {} to {})",
            self.client.address(),
            self.asked(),
            told(window.start()),
            told(window.end())
        );
        let Some(question) = self.question() else {
            return format!(
                "{asked}; {}",
                jobs_words(&own_metrics::jobs(&self.client), self.args.job.is_some())
            );
        };
        match question.others(&self.client) {
            others if others.is_empty() => {
                format!("{asked}; it has no metric that sounds like memory either")
            }
            others => format!(
                "{asked}; metrics that are there: {}",
                printable(others.join(", ").as_bytes())
            ),
        }
    }
}

/// As many as anybody reads, and how many there are more.
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
            "it knows no {MEMORY} at all: start runs with `leveloff record --metrics` and let it scrape them, or \
             judge what it has with --query"
        ),
        (_, true) if more > 0 => format!("jobs that it knows: {named} and {more} more"),
        (_, true) => format!("jobs that it knows: {named}"),
        (_, false) => {
            format!("jobs that it knew at other times: {named}; --since looks further back")
        }
    }
}

fn seconds(time: Duration) -> Seconds {
    Seconds(time.as_secs_f64())
}

/// A time, as people of all places read it.
fn told(time: f64) -> String {
    let time = jiff::Timestamp::from_second(time as i64).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}
