//! Any PromQL query that gives one series for each value of a label.

use std::collections::BTreeMap;

use leveloff_text::number::thousands;

use super::client::Client;
use super::error::QueryError;
use super::ranges::{self, MOST_POINTS};
use super::response::SeriesResponse;
use super::run_history::RunHistory;
use super::window::Window;

/// The series of a job are held against each other.
const JOB: &str = "job";

/// A query of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CustomQuery<'a> {
    /// In PromQL.
    pub query: &'a str,
    /// The label that distinguishes the series.
    pub by: &'a str,
}

impl CustomQuery<'_> {
    /// How many series there are now, so that too many are not requested; `None` when the server
    /// cannot count them.
    pub fn count(&self, client: &Client, window: &Window) -> Result<Option<u64>, QueryError> {
        let query = format!("count({})", self.query);
        let time = format!("{:.3}", window.end());
        let answer =
            client.ask_all::<SeriesResponse>("query", &[("query", &*query), ("time", &*time)])?;
        let count = answer
            .first()
            .and_then(|series| series.value)
            .map(|sample| sample.1 as u64);
        match count {
            Some(series) if series * u64::from(window.places()) > MOST_POINTS => {
                Err(ranges::too_much(series, window))
            }
            count => Ok(count),
        }
    }

    /// Fetches them, and the reason if the answer was incomplete.
    ///
    /// # Errors
    /// If the server fails, or gives several series for one value of the label.
    pub fn fetch(
        &self,
        client: &Client,
        window: &Window,
        on_series: &(dyn Fn() + Sync),
    ) -> Result<(Vec<RunHistory>, Option<QueryError>), QueryError> {
        let fetched = ranges::fetch(client, self.query, window, on_series)?;
        let mut found: BTreeMap<String, RunHistory> = BTreeMap::new();
        let series = fetched.series.len() as u64;
        for (labels, memory) in fetched.series {
            let name = labels.get(self.by).cloned().unwrap_or_default();
            let history = RunHistory {
                name: self.called(&name),
                job: labels.get(JOB).cloned(),
                labels,
                memory,
                ..RunHistory::default()
            };
            if found.insert(name.clone(), history).is_some() {
                return Err(self.ambiguous(&name, series));
            }
        }
        let found = found.into_values().filter(|run| !run.memory.is_empty());
        Ok((found.collect(), fetched.incomplete))
    }

    /// Metrics that may have been meant instead.
    pub fn others(&self, client: &Client) -> Vec<String> {
        let matcher = r#"{__name__=~".*(memory|rss|resident|working_set|FB_USED).*"}"#;
        let mut found = client
            .ask_all::<String>("label/__name__/values", &[("match[]", matcher)])
            .unwrap_or_default();
        let likeness = |name: &String| (strsim::jaro(self.query, name) * 1e6) as u64;
        found.sort_by_cached_key(|name| std::cmp::Reverse(likeness(name)));
        found.truncate(8);
        found
    }

    fn called(&self, name: &str) -> String {
        match name {
            "" => format!("(without {})", self.by),
            name => name.to_owned(),
        }
    }

    fn ambiguous(&self, name: &str, series: u64) -> QueryError {
        let CustomQuery { query, by } = self;
        let (called, series) = (self.called(name), thousands(series));
        QueryError::Ambiguous(format!(
            "it has {series} series, more than one of them for {by} {called}; ask for one each: --query \
             'sum by ({by}) ({query})'"
        ))
    }
}
