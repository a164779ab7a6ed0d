//! A recording, as the commands that watch a run would have seen it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use leveloff_classifier::run_analysis::{RunAccount, RunAnalysis};
use leveloff_dashboard::run::RunState;
use leveloff_model::process::Role;
use leveloff_model::recording::{RecordingReader, StatedFacts, Target};
use leveloff_model::sample::Tick;
use leveloff_model::units::Seconds;
use leveloff_prometheus::metrics::{Identity, Metrics, MetricsOptions};

use super::printed::Published;
use crate::csv_export::{self, ExportScope};
use crate::outputs::Existing;
use crate::summary::Summary;

/// A recording as the live commands would have seen it.
pub(super) struct Live {
    pub account: RunAccount,
    pub dashboard: RunState,
    pub summary: Summary,
    pub metrics: Published,
}

pub(super) fn replay(path: &Path, directory: &Path) -> Live {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = RecordingReader::new(file).unwrap();
    let header = reader.header().clone();
    let mut run = RunAnalysis::of_target(&header.target, &header.stated);
    let mut dashboard = match header.target {
        Target::System => RunState::of_machine(&header.stated),
        _ => RunState::new(&header.stated),
    };
    let mut summary = Summary::default();
    let mut ticks = Vec::new();
    while let Some(tick) = reader.next_tick().unwrap() {
        run.take(&tick);
        summary.take(&tick);
        dashboard.take(tick.clone());
        ticks.push(tick);
    }
    run.end();
    dashboard.end();
    dashboard.settle();
    let account = run.account().unwrap();
    let metrics = published(&ticks, &header.target, account.now.t, directory);
    Live {
        account,
        dashboard,
        summary,
        metrics,
    }
}

/// The metrics at the last whole sample; they end with the run.
fn published(
    ticks: &[Tick],
    target: &Target,
    until: Option<Seconds>,
    directory: &Path,
) -> Published {
    let path = directory.join("leveloff.prom");
    let options = MetricsOptions {
        address: None,
        file: Some(path.clone()),
    };
    let mut metrics = Metrics::open(&options, Identity::default(), |_| ())
        .unwrap()
        .begin();
    let mut run = RunAnalysis::of_target(target, &StatedFacts::default());
    let part_of_run = |tick: &&Tick| until.is_none_or(|until| tick.sample.t <= until);
    let mut last = None;
    for tick in ticks.iter().filter(part_of_run) {
        run.take(tick);
        last = Some(tick);
    }
    metrics.take(last.unwrap(), &run);
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(published) = Published::read(&text) {
            return published;
        }
        assert!(Instant::now() < deadline, "no metrics in {text}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Memory by role in the last sample of the role CSV.
pub(super) fn last_of_csv(path: &Path, directory: &Path, name: &str) -> BTreeMap<String, u64> {
    let output = directory.join(format!("{name}.csv"));
    csv_export::to_file(path, ExportScope::Role, &output, Existing::Keep).unwrap();
    let mut reader = csv::Reader::from_path(&output).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let last = rows.last().unwrap()[0].to_owned();
    let mut roles: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row[0] == last) {
        // The table has a role of a later leveloff by its name; the account has it among the others.
        let known = Role::ALL.into_iter().find(|role| row[2] == *role.name());
        let role = known.unwrap_or(Role::Other).name().to_owned();
        *roles.entry(role).or_default() += row[4].parse::<u64>().unwrap();
    }
    roles
}

/// The account's memory by role.
pub(super) fn by_role(account: &RunAccount) -> BTreeMap<String, u64> {
    let mut roles: BTreeMap<String, u64> = BTreeMap::new();
    for group in account.groups.iter().filter(|group| group.processes > 0) {
        *roles.entry(group.role.name().to_owned()).or_default() += group.memory.now.0;
    }
    roles
}
