use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use leveloff_classifier::gate::CheckOutcome;
use leveloff_prometheus::query::Address;
use leveloff_readers::SizeUnit;

use super::{AppearanceArgs, FactArgs, Format};
use crate::option_values::{parse_duration, parse_jobs, undecided_parser};

pub(super) const LONG_ABOUT: &str = "Judge every rank of a job, or of all jobs, from Prometheus; worst first.\n\n\
    Reads the metrics that `leveloff record --metrics` publishes and Prometheus has scraped: memory by role, step, \
    ceiling. With --query it judges metrics of other exporters: cAdvisor, process-exporter, node_exporter, DCGM. Each \
    series is judged by the same method as in `judge`; a rank that leaks while the others of its job are level is \
    pointed out. Works with every server that has Prometheus' HTTP API: Mimir, Thanos, VictoriaMetrics.\n\n\
    Credentials come from a file (--bearer-file, --user-file), from LEVELOFF_PROMETHEUS_TOKEN, or from \
    LEVELOFF_PROMETHEUS_USER and LEVELOFF_PROMETHEUS_PASSWORD. They are never printed.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff fleet --prometheus http://prometheus:9090 --job lm-7b\n  \
    leveloff fleet --prometheus http://prometheus:9090 --since 1d --step 1m -o fleet.html\n  \
    leveloff fleet --prometheus https://mimir/prometheus --bearer-file token --watch\n  \
    leveloff fleet --prometheus localhost:9090 --by pod --limit 32GiB \\\n    \
    --query 'sum by (pod) (container_memory_working_set_bytes{namespace=\"train\"})'\n  \
    leveloff fleet --prometheus localhost:9090 --format json | jq 'select(.verdict == \"leak\")'\n\n\
    Exit codes: 0 all are level, 1 one leaks, 2 something could not be fetched (takes precedence), 3 one is undecided \
    or warming up and none leaks (--undecided=pass makes it 0, =fail 1).";

#[derive(Debug, Clone, Args)]
pub(crate) struct FleetArgs {
    /// The address of Prometheus, or of a server with the same HTTP API
    #[arg(long, value_name = "URL", value_parser = Address::from_str, env = "LEVELOFF_PROMETHEUS")]
    pub prometheus: Address,
    /// Only the ranks of this job
    #[arg(long, conflicts_with = "query")]
    pub job: Option<String>,
    /// How far to look back, such as 6h, 2d
    #[arg(long, value_name = "TIME", default_value = "6h", value_parser = parse_since, allow_hyphen_values = true)]
    pub since: Duration,
    /// Time between values; not less than the scrape interval
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_step, allow_hyphen_values = true)]
    pub step: Duration,
    /// Judge the series of this query instead of leveloff's own metrics, one for each value of --by
    #[arg(long, value_name = "PROMQL", requires = "by")]
    pub query: Option<String>,
    /// The label that identifies the series of --query
    #[arg(long, value_name = "LABEL", requires = "query")]
    pub by: Option<String>,
    /// The unit of the values of --query: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB [default: B]
    #[arg(long, value_name = "UNIT", requires = "query")]
    pub y_unit: Option<SizeUnit>,
    /// Output format; json is one object per line
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Also write an HTML page; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
    /// Show the fleet on a screen that is refreshed
    #[arg(long, conflicts_with_all = ["output", "format"])]
    pub watch: bool,
    /// How often --watch refreshes
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_step, allow_hyphen_values = true)]
    pub every: Duration,
    #[command(flatten)]
    pub appearance: AppearanceArgs,
    /// A file with a token for `Authorization: Bearer`
    #[arg(long, value_name = "FILE", conflicts_with = "user_file")]
    pub bearer_file: Option<PathBuf>,
    /// A file with USER:PASSWORD
    #[arg(long, value_name = "FILE")]
    pub user_file: Option<PathBuf>,
    /// Certificate authorities to trust, in PEM form [default: the system's]
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// How long to wait for an answer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration, allow_hyphen_values = true)]
    pub timeout: Duration,
    #[command(flatten)]
    pub facts: FactArgs,
    /// How undecided and warming up count for the exit code [default: code 3]
    #[arg(long, value_parser = undecided_parser(), value_name = "AS")]
    pub undecided: Option<CheckOutcome>,
    /// How many requests to send in parallel [default: the number of cores]
    #[arg(short, long, value_name = "N", value_parser = parse_jobs, allow_hyphen_values = true)]
    pub jobs: Option<NonZeroUsize>,
    /// List every run, also those that are level
    #[arg(short, long)]
    pub verbose: bool,
}

/// More points of one run than any verdict needs.
const MOST_POINTS: f64 = 1e6;

fn parse_since(text: &str) -> Result<Duration, String> {
    let since = parse_duration(text)?;
    match since.as_secs_f64() {
        seconds if seconds > MOST_POINTS * 15.0 => {
            Err("that is longer than half a year; 6h is usual".to_owned())
        }
        seconds if seconds < 60.0 => {
            Err("a minute is the least that can be judged; 6h is usual".to_owned())
        }
        _ => Ok(since),
    }
}

fn parse_step(text: &str) -> Result<Duration, String> {
    let step = parse_duration(text)?;
    match step < Duration::from_secs(1) {
        true => Err("one second is the shortest step; 15s is usual".to_owned()),
        false => Ok(step),
    }
}
