//! What a fleet is asked for.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use super::{FactArgs, Format, LookArgs, UndecidedAs, parse_duration};
use leveloff_prometheus::query::Address;
use leveloff_readers::SizeUnit;

/// What `fleet --help` begins with.
pub(super) const LONG_ABOUT: &str = "Judge every rank of a job, or of all jobs, from Prometheus; worst first.\n\n\
    Reads what `leveloff record --metrics` exposes and Prometheus has scraped: memory by role, step, \
    ceiling. With --query it judges what is there already: cAdvisor's containers, process-exporter, \
    node_exporter, DCGM. Each series is judged by the same method as `judge`; a rank that leaks while \
    the others of its job are level is named. Works with whatever answers Prometheus' HTTP API: Mimir, \
    Thanos, VictoriaMetrics.\n\n\
    Who asks is told from a file (--bearer-file, --user-file) or LEVELOFF_PROMETHEUS_TOKEN, or \
    LEVELOFF_PROMETHEUS_USER and LEVELOFF_PROMETHEUS_PASSWORD; it is never printed.";

/// What it ends with.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff fleet --prometheus http://prometheus:9090 --job lm-7b\n  \
    leveloff fleet --prometheus http://prometheus:9090 --since 1d --step 1m -o fleet.html\n  \
    leveloff fleet --prometheus https://mimir/prometheus --bearer-file token --watch\n  \
    leveloff fleet --prometheus localhost:9090 --by pod --limit 32GiB \\\n    \
    --query 'sum by (pod) (container_memory_working_set_bytes{namespace=\"train\"})'\n  \
    leveloff fleet --prometheus localhost:9090 --format json | jq 'select(.verdict == \"leak\")'\n\n\
    Exit codes: 0 all are level, 1 one leaks, 2 something could not be fetched (whatever the others \
    are), 3 one is undecided or warming up and none leaks (--undecided=pass makes it 0, =fail 1).";

/// `fleet`
#[derive(Debug, Clone, Args)]
pub struct FleetArgs {
    /// Where Prometheus is, or what speaks its language
    #[arg(long, value_name = "URL", value_parser = Address::from_str, env = "LEVELOFF_PROMETHEUS")]
    pub prometheus: Address,
    /// Only the ranks of this job
    #[arg(long, conflicts_with = "query")]
    pub job: Option<String>,
    /// How far to look back, such as 6h, 2d
    #[arg(long, value_name = "TIME", default_value = "6h", value_parser = parse_since, allow_hyphen_values = true)]
    pub since: Duration,
    /// Time between values; not less than what is scraped
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_step, allow_hyphen_values = true)]
    pub step: Duration,
    /// Judge this instead of leveloff's own metrics: one series for each value of --by
    #[arg(long, value_name = "PROMQL", requires = "by")]
    pub query: Option<String>,
    /// The label that tells the series of --query apart
    #[arg(long, value_name = "LABEL", requires = "query")]
    pub by: Option<String>,
    /// The unit of what --query gives: B, kB, KiB, MB, MiB, GB, GiB [default: B]
    #[arg(long, value_name = "UNIT", requires = "query")]
    pub y_unit: Option<SizeUnit>,
    /// Output for people, or one JSON object a line for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Also write a page: FILE.html; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
    /// Show it live, and look again and again
    #[arg(long, conflicts_with_all = ["output", "format"])]
    pub watch: bool,
    /// How often --watch looks
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_step, allow_hyphen_values = true)]
    pub every: Duration,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: LookArgs,
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
    #[allow(missing_docs)]
    pub facts: FactArgs,
    /// What undecided and warming up count as, for the exit code [default: code 3]
    #[arg(long, value_enum, value_name = "AS")]
    pub undecided: Option<UndecidedAs>,
    /// Requests and judges at the same time [default: as many as there are cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Every run, also all that are level
    #[arg(short, long)]
    pub verbose: bool,
}

/// More points than this of one run are more than any verdict needs.
const MOST_PLACES: f64 = 1e6;

fn parse_since(text: &str) -> Result<Duration, String> {
    let since = parse_duration(text)?;
    match since.as_secs_f64() {
        seconds if seconds > MOST_PLACES * 15.0 => {
            Err("that is longer than half a year; 6h is usual".to_owned())
        }
        seconds if seconds < 60.0 => {
            Err("a minute is the least that tells anything; 6h is usual".to_owned())
        }
        _ => Ok(since),
    }
}

fn parse_step(text: &str) -> Result<Duration, String> {
    let step = parse_duration(text)?;
    match step < Duration::from_secs(1) {
        true => Err("a second is the least that Prometheus is asked for; 15s is usual".to_owned()),
        false => Ok(step),
    }
}

#[cfg(test)]
impl Default for FleetArgs {
    fn default() -> FleetArgs {
        use clap::Parser;
        let line = ["leveloff", "fleet", "--prometheus", "http://127.0.0.1:9090"];
        match super::Cli::parse_from(line).command {
            Some(super::Command::Fleet(args)) => *args,
            other => panic!("not a fleet: {other:?}"),
        }
    }
}
