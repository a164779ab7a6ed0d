//! What others measure: any query that gives one series for each value of a label.

use std::collections::BTreeMap;

use leveloff_text::number::thousands;

use super::answer::SeriesAnswer;
use super::client::Client;
use super::history::History;
use super::ranges::{self, MOST_POINTS};
use super::trouble::Trouble;
use super::window::Window;

/// The series of a job are held against each other.
const JOB: &str = "job";

/// What the user asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<'a> {
    /// In PromQL.
    pub query: &'a str,
    /// The label that tells the series apart.
    pub by: &'a str,
}

impl Question<'_> {
    /// How many series there are now, so that too many are not even asked for; `None` when the server
    /// cannot count them.
    pub fn count(&self, client: &Client, window: &Window) -> Result<Option<u64>, Trouble> {
        let query = format!("count({})", self.query);
        let time = format!("{:.3}", window.end());
        let answer =
            client.ask_all::<SeriesAnswer>("query", &[("query", &*query), ("time", &*time)])?;
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

    /// Fetches them.
    pub fn fetch(
        &self,
        client: &Client,
        window: &Window,
        heard: &(dyn Fn() + Sync),
    ) -> Result<(Vec<History>, Option<Trouble>), Trouble> {
        let fetched = ranges::fetch(client, self.query, window, heard)?;
        let mut found: BTreeMap<String, History> = BTreeMap::new();
        let series = fetched.series.len() as u64;
        for (labels, memory) in fetched.series {
            let name = labels.get(self.by).cloned().unwrap_or_default();
            let history = History {
                name: self.called(&name),
                job: labels.get(JOB).cloned(),
                labels,
                memory,
                ..History::default()
            };
            if found.insert(name.clone(), history).is_some() {
                return Err(self.ambiguous(&name, series));
            }
        }
        let found = found.into_values().filter(|run| !run.memory.is_empty());
        Ok((found.collect(), fetched.torn))
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

    fn ambiguous(&self, name: &str, series: u64) -> Trouble {
        let Question { query, by } = self;
        let (called, series) = (self.called(name), thousands(series));
        Trouble::Ambiguous(format!(
            "it has {series} series, more than one of them for {by} {called}; ask for one each: --query \
             'sum by ({by}) ({query})'"
        ))
    }
}
