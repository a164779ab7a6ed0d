//! leveloff's own metrics: which ranks there are, and their series in batches that fit into memory.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use leveloff_model::process::Role;
use leveloff_text::number::thousands;

use super::client::Client;
use super::error::QueryError;
use super::promql::{is, is_any};
use super::ranges::{self, Ranges};
use super::response::Labels;
use super::run_history::RunHistory;
use super::series::Series;
use super::window::Window;

/// Memory by role; the sum over roles is what a run really holds.
pub const MEMORY: &str = "leveloff_memory_bytes";
const STEP: &str = "leveloff_step";
const CEILING: &str = "leveloff_ceiling_bytes";

/// The label with the job's name. Prometheus has a label `job` of its own, and renames ours unless `honor_labels` is
/// set.
const JOB: &str = "job";
const RENAMED_JOB: &str = "exported_job";
const RANK: &str = "rank";
const INSTANCE: &str = "instance";
const ROLE: &str = "role";

/// Ranks of a batch at most: an alternation of so many is quick on the server.
const RANKS_IN_A_BATCH: usize = 250;

/// Points of a batch, all its series together.
const POINTS_IN_A_BATCH: usize = 1_500_000;

/// Verdicts of so many ranks are kept.
const MOST_RANKS: usize = 20_000;

/// Series that are listed at most: ranks have several roles, and hosts come and go.
const MOST_SERIES: usize = 20 * MOST_RANKS;

/// Ranks that are fetched together.
#[derive(Debug, Clone, PartialEq)]
pub struct RankBatch {
    job: String,
    is_renamed: bool,
    /// The ranks, empty for a job without.
    ranks: Vec<String>,
}

/// The ranks that the server knows.
#[derive(Debug, Default)]
struct RankList {
    /// The ranks of each job, and whether Prometheus renamed it.
    jobs: BTreeMap<(bool, String), BTreeSet<String>>,
    roles: BTreeSet<String>,
    series: usize,
}

/// The ranks that have samples within the window.
///
/// # Errors
/// If the server fails, or has more ranks than are judged at once.
pub fn list_ranks(
    client: &Client,
    job: Option<&str>,
    window: &Window,
) -> Result<Vec<RankBatch>, QueryError> {
    let list: RefCell<RankList> = RefCell::default();
    let [start, end] = [window.start(), window.end()].map(|time| format!("{time:.3}"));
    let mut form = vec![("start", &*start), ("end", &*end)];
    let of_job =
        |job: &str| [JOB, RENAMED_JOB].map(|label| format!("{MEMORY}{{{}}}", is(label, job)));
    let selectors = job.map_or_else(|| vec![MEMORY.to_owned()], |job| of_job(job).to_vec());
    form.extend(selectors.iter().map(|selector| ("match[]", &**selector)));
    let result = client.ask(
        "series",
        &form,
        &mut || *list.borrow_mut() = RankList::default(),
        &mut |labels: Labels| {
            let mut list = list.borrow_mut();
            list.take(labels, job);
            match list.series > MOST_SERIES {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        },
    );
    let list = list.into_inner();
    if list.ranks() > MOST_RANKS || list.series > MOST_SERIES {
        return Err(list.too_long());
    }
    result?;
    Ok(list.batches(window))
}

impl RankList {
    fn take(&mut self, mut labels: Labels, job: Option<&str>) {
        self.series += 1;
        let renamed = labels.remove(RENAMED_JOB);
        let is_renamed = renamed.is_some();
        let name = renamed.or_else(|| labels.remove(JOB)).unwrap_or_default();
        if job.is_none_or(|job| job == name) {
            let ranks = self.jobs.entry((is_renamed, name)).or_default();
            ranks.insert(labels.remove(RANK).unwrap_or_default());
            self.roles.extend(labels.remove(ROLE));
        }
    }

    fn ranks(&self) -> usize {
        self.jobs.values().map(BTreeSet::len).sum()
    }

    fn too_long(&self) -> QueryError {
        let jobs: Vec<&str> = self.jobs.keys().take(5).map(|(_, job)| &**job).collect();
        QueryError::TooMuch(format!(
            "{} ranks or more; at most {} are judged at once. Narrow it with --job, such as {}",
            thousands(self.ranks() as u64),
            thousands(MOST_RANKS as u64),
            jobs.join(", ")
        ))
    }

    fn batches(self, window: &Window) -> Vec<RankBatch> {
        // Beside the roles there are the step and the ceiling.
        let points = (self.roles.len().max(1) + 2) * window.places() as usize;
        let ranks_at_once = (POINTS_IN_A_BATCH / points).clamp(1, RANKS_IN_A_BATCH);
        let mut batches = Vec::new();
        for ((is_renamed, job), ranks) in self.jobs {
            let ranks: Vec<String> = ranks.into_iter().collect();
            batches.extend(ranks.chunks(ranks_at_once).map(|ranks| RankBatch {
                job: job.clone(),
                is_renamed,
                ranks: ranks.to_vec(),
            }));
        }
        batches
    }
}

/// Jobs that the server knows of, whenever.
pub fn jobs(client: &Client) -> Vec<String> {
    let of = |label: &str| {
        let path = format!("label/{label}/values");
        client
            .ask_all::<String>(&path, &[("match[]", MEMORY)])
            .unwrap_or_default()
    };
    match of(RENAMED_JOB) {
        renamed if !renamed.is_empty() => renamed,
        _ => of(JOB),
    }
}

impl RankBatch {
    /// How many ranks it has.
    pub fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Its name in messages.
    pub fn title(&self) -> String {
        match &*self.ranks {
            [rank] => name(&self.job, rank),
            [first, .., last] => format!("{} ranks {first} … {last}", self.job),
            [] => self.job.clone(),
        }
    }

    /// Fetches its ranks, and the reason if the answer was incomplete.
    ///
    /// # Errors
    /// If the server fails.
    pub fn fetch(
        &self,
        client: &Client,
        window: &Window,
        on_series: &(dyn Fn() + Sync),
    ) -> Result<(Vec<RunHistory>, Option<QueryError>), QueryError> {
        let (job, ranks) = (self.job_matcher(), self.ranks.iter().map(|rank| &**rank));
        // What is said of a run of several ranks has none.
        let or_none = is_any(RANK, [""].into_iter().chain(ranks.clone()));
        let ranks = is_any(RANK, ranks);
        // What is scraped twice, by two servers that stand in for each other, is still there once.
        let by = format!("{JOB}, {RENAMED_JOB}, {INSTANCE}");
        let fetch = |query: String| ranges::fetch(client, &query, window, &|| ());
        let memory = format!("max by ({by}, {RANK}, {ROLE}) ({MEMORY}{{{job},{ranks}}})");
        let mut seen = Seen {
            memory: ranges::fetch(client, &memory, window, on_series)?,
            steps: fetch(format!("max by ({by}, {RANK}) ({STEP}{{{job},{or_none}}})"))?,
            ceilings: fetch(format!(
                "max by ({by}, {RANK}) ({CEILING}{{{job},{or_none}}})"
            ))?,
            totals: Ranges::default(),
        };
        if seen.has_shared_ceilings() {
            let each = format!("max by ({by}, {RANK}, {ROLE}) ({MEMORY}{{{job}}})");
            seen.totals = fetch(format!("sum by ({by}) ({each})"))?;
        }
        let incomplete = seen.incomplete();
        Ok((newest_places(seen.histories(), window), incomplete))
    }

    fn job_matcher(&self) -> String {
        match self.is_renamed {
            true => is(RENAMED_JOB, &self.job),
            false => format!("{},{}", is(JOB, &self.job), is(RENAMED_JOB, "")),
        }
    }
}

/// What was fetched of a batch.
struct Seen {
    memory: Ranges,
    steps: Ranges,
    ceilings: Ranges,
    /// The memory of all ranks on an instance, where they have one ceiling together.
    totals: Ranges,
}

impl Seen {
    fn incomplete(&self) -> Option<QueryError> {
        let all = [&self.memory, &self.steps, &self.ceilings, &self.totals];
        all.into_iter().find_map(|ranges| ranges.incomplete.clone())
    }

    fn has_shared_ceilings(&self) -> bool {
        let has_rank = |labels: &Labels| labels.contains_key(RANK);
        self.memory.series.keys().any(has_rank) && !self.ceilings.series.keys().all(has_rank)
    }

    fn histories(&self) -> Vec<RunHistory> {
        let mut by_run: BTreeMap<Labels, Vec<(Role, Series)>> = BTreeMap::new();
        for (labels, series) in &self.memory.series {
            let mut labels = labels.clone();
            let role = labels.remove(ROLE).unwrap_or_default();
            let role = Role::ALL.into_iter().find(|known| known.name() == role);
            let role = role.unwrap_or(Role::Other);
            by_run
                .entry(labels)
                .or_default()
                .push((role, series.clone()));
        }
        let all = by_run
            .into_iter()
            .map(|(labels, roles)| self.history(labels, roles));
        all.filter(|run| !run.memory.is_empty()).collect()
    }

    fn history(&self, labels: Labels, roles: Vec<(Role, Series)>) -> RunHistory {
        let parts = roles.iter().map(|(_, series)| series);
        let memory = parts.fold(Series::default(), |sum, series| sum.plus(series));
        let mut of_run = labels.clone();
        of_run.remove(RANK);
        let of = |ranges: &Ranges| {
            let own = ranges.series.get(&labels);
            own.or_else(|| ranges.series.get(&of_run)).cloned()
        };
        let label = |name: &str| labels.get(name).cloned().unwrap_or_default();
        let job = match label(RENAMED_JOB) {
            renamed if renamed.is_empty() => label(JOB),
            renamed => renamed,
        };
        let ceiling = match self.totals.series.get(&of_run) {
            Some(totals) if !self.ceilings.series.contains_key(&labels) => {
                of(&self.ceilings).map(|ceiling| own_ceiling(&memory, &ceiling, totals))
            }
            _ => of(&self.ceilings),
        };
        RunHistory {
            name: name(&job, &label(RANK)),
            job: Some(job),
            memory,
            roles,
            steps: of(&self.steps),
            ceiling,
            notes: Vec::new(),
            labels,
        }
    }
}

/// Ranks that share a ceiling share the room below it: each meets it when the rest of it is used up.
fn own_ceiling(memory: &Series, ceiling: &Series, totals: &Series) -> Series {
    memory.mapped(|place, own| {
        let left = ceiling.at(place)? - totals.at(place)?;
        Some(own + left.max(0.0))
    })
}

fn name(job: &str, rank: &str) -> String {
    match rank {
        "" => job.to_owned(),
        rank => format!("{job} rank {rank}"),
    }
}

/// A rank that was moved to another host is where it was seen last. Two that are there at the same time
/// are two, with their hosts in their names.
fn newest_places(runs: Vec<RunHistory>, window: &Window) -> Vec<RunHistory> {
    let mut by_name: BTreeMap<String, Vec<RunHistory>> = BTreeMap::new();
    for run in runs {
        by_name.entry(run.name.clone()).or_default().push(run);
    }
    by_name
        .into_values()
        .flat_map(|places| newest(places, window))
        .collect()
}

fn newest(mut places: Vec<RunHistory>, window: &Window) -> Vec<RunHistory> {
    let begin = |run: &RunHistory| run.memory.ends().map_or(0, |ends| ends.0);
    let end = |run: &RunHistory| run.memory.ends().map_or(0, |ends| ends.1);
    places.sort_by_key(end);
    let Some(begun) = places.last().map(begin) else {
        return places;
    };
    let (earlier, mut now): (Vec<RunHistory>, Vec<RunHistory>) =
        places.into_iter().partition(|run| end(run) < begun);
    let is_ambiguous = now.len() > 1;
    for run in &mut now {
        let place = run.labels.get(INSTANCE).map_or("", |place| &**place);
        for gone in &earlier {
            let since = leveloff_model::units::Seconds(window.end() - window.time(end(gone)));
            let where_from = gone.labels.get(INSTANCE).map_or("", |place| &**place);
            run.notes.push(format!(
                "it was at {where_from} until {since} ago; judged is what came after"
            ));
        }
        if is_ambiguous {
            run.name = format!("{} at {place}", run.name);
        }
    }
    now
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::response::Sample;
    use super::*;

    fn window() -> Window {
        Window::until(1e6, Duration::from_secs(3600), Duration::from_secs(15))
    }

    fn at(instance: &str, places: std::ops::Range<u32>) -> RunHistory {
        let samples: Vec<Sample> = places
            .map(|place| Sample(window().time(place), 1e9))
            .collect();
        let mut memory = Series::default();
        memory.extend(&samples, &window());
        RunHistory {
            name: "lm rank 3".to_owned(),
            memory,
            labels: Labels::from([(INSTANCE.to_owned(), instance.to_owned())]),
            ..RunHistory::default()
        }
    }

    #[test]
    fn a_rank_is_where_it_was_seen_last() {
        let moved = newest_places(vec![at("a", 0..100), at("b", 110..200)], &window());
        assert_eq!(moved.len(), 1);
        assert_eq!(moved[0].memory.ends(), Some((110, 199)));
        assert!(
            moved[0].notes[0].contains("at a until"),
            "{:?}",
            moved[0].notes
        );
        assert_eq!(moved[0].name, "lm rank 3");
    }

    #[test]
    fn two_at_the_same_time_are_two() {
        let both = newest_places(vec![at("a", 0..100), at("b", 50..200)], &window());
        let names: Vec<&str> = both.iter().map(|run| &*run.name).collect();
        assert_eq!(names, ["lm rank 3 at a", "lm rank 3 at b"]);
    }

    #[test]
    fn many_ranks_are_fetched_in_parcels_of_their_job() {
        let ranks: BTreeSet<String> = (0..600).map(|rank| rank.to_string()).collect();
        let jobs = BTreeMap::from([((false, "lm".to_owned()), ranks)]);
        let list = RankList {
            jobs,
            ..RankList::default()
        };
        let all = list.batches(&window());
        assert!(all.iter().all(|batch| batch.ranks() <= RANKS_IN_A_BATCH));
        assert_eq!(all.iter().map(RankBatch::ranks).sum::<usize>(), 600);
        assert_eq!(all[0].job_matcher(), r#"job="lm",exported_job="""#);
    }

    #[test]
    fn ranks_that_share_a_ceiling_share_the_room_below_it() {
        let series = |value: f64| at("a", 0..3).memory.mapped(|_, _| Some(value));
        let own = own_ceiling(&series(10.0), &series(100.0), &series(70.0));
        assert_eq!(own, series(40.0));
        let none = own_ceiling(&series(10.0), &Series::default(), &series(70.0));
        assert!(none.is_empty());
    }
}
