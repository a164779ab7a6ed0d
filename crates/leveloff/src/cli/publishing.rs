//! Where a run's numbers are published.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Where a run's numbers are published, and under which name.
#[derive(Debug, Clone, Default, Args)]
pub struct MetricsArgs {
    /// Serve metrics at http://ADDR/metrics while the run is watched [bare: 127.0.0.1:9184]
    #[arg(
        long,
        help_heading = HEADING,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = USUAL_ADDRESS,
        value_parser = parse_address
    )]
    pub metrics: Option<SocketAddr>,
    /// Keep metrics in this file, which goes with the run, for node_exporter's textfile collector
    #[arg(long, help_heading = HEADING, value_name = "FILE.prom")]
    pub metrics_file: Option<PathBuf>,
    /// What the run is called in metrics [default: JOB_NAME, SLURM_JOB_NAME, POD_NAME, the command]
    #[arg(long, help_heading = HEADING, value_name = "NAME", env = "LEVELOFF_JOB")]
    pub job: Option<String>,
    /// Its rank in metrics [default: its trainer's, RANK, SLURM_PROCID, JOB_COMPLETION_INDEX]
    #[arg(long, help_heading = HEADING, value_name = "N", env = "LEVELOFF_RANK")]
    pub rank: Option<u32>,
}

/// Said for each of them: said once for all, it would also stand above what other structs add behind.
const HEADING: &str = "Metrics (for Prometheus)";

/// Nobody but this machine.
const USUAL_ADDRESS: &str = "127.0.0.1:9184";

impl MetricsArgs {
    /// Whether anything is to be published.
    pub fn is_asked_for(&self) -> bool {
        self.metrics.is_some() || self.metrics_file.is_some()
    }
}

/// An address is written with numbers: a name may mean several, and who can reach them matters.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let numbers = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    numbers.parse().map_err(|_| {
        let example = match text.trim_start_matches(':').parse::<u16>() {
            Ok(port) => format!("127.0.0.1:{port} for this machine, 0.0.0.0:{port} for all"),
            Err(_) => format!("{USUAL_ADDRESS}, 0.0.0.0:9184 or [::1]:9184"),
        };
        format!("an address has numbers and a port: {example}; or pass --metrics last, without one")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_who_may_come() {
        assert_eq!(
            parse_address("localhost:80"),
            Ok(([127, 0, 0, 1], 80).into())
        );
        assert_eq!(parse_address("0.0.0.0:0"), Ok(([0, 0, 0, 0], 0).into()));
        assert!(parse_address("[::1]:9184").is_ok());
        assert!(parse_address(USUAL_ADDRESS).is_ok());
        for wrong in [
            "",
            "9184",
            ":9184",
            "127.0.0.1",
            "gpu-7:9184",
            "127.0.0.1:99999",
            "-1",
        ] {
            assert!(parse_address(wrong).is_err(), "{wrong}");
        }
        let told = parse_address(":9200").unwrap_err();
        assert!(told.contains("127.0.0.1:9200 for this machine"), "{told}");
    }
}
