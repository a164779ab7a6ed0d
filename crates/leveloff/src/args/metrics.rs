use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::metrics::MetricsChoice;
use crate::option_values::parse_number;

/// Where metrics of the run are published, and under which name.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct MetricsArgs {
    /// Serve metrics at http://ADDR/metrics while the run is watched [without ADDR: 127.0.0.1:9184]
    #[arg(
        long,
        help_heading = HEADING,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = USUAL_ADDRESS,
        value_parser = parse_address
    )]
    pub metrics: Option<SocketAddr>,
    /// Write metrics to this file, for node_exporter's textfile collector; removed at the end of the run
    #[arg(long, help_heading = HEADING, value_name = "FILE.prom")]
    pub metrics_file: Option<PathBuf>,
    /// The job name in metrics [default: JOB_NAME, SLURM_JOB_NAME, POD_NAME, the command]
    #[arg(long, help_heading = HEADING, value_name = "NAME", env = "LEVELOFF_JOB")]
    pub job: Option<String>,
    /// The rank in metrics [default: that of the trainer, RANK, SLURM_PROCID, JOB_COMPLETION_INDEX]
    #[arg(long, help_heading = HEADING, value_name = "N", env = "LEVELOFF_RANK", value_parser = parse_number, allow_hyphen_values = true)]
    pub rank: Option<u32>,
}

/// Repeated for each option: a heading of the struct would also apply to options of later structs.
const HEADING: &str = "Metrics (for Prometheus)";

/// Reachable from this machine only.
const USUAL_ADDRESS: &str = "127.0.0.1:9184";

impl MetricsArgs {
    pub(crate) fn choice(&self) -> MetricsChoice {
        MetricsChoice {
            address: self.metrics,
            file: self.metrics_file.clone(),
            job: self.job.clone(),
            rank: self.rank,
        }
    }
}

/// Numbers only: a host name may have several addresses, and it matters which hosts can reach them.
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
        format!(
            "write an IP address and a port: {example}; or pass --metrics last, without a value"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_numbers_and_a_port() {
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
        let error = parse_address(":9200").unwrap_err();
        assert!(error.contains("127.0.0.1:9200 for this machine"), "{error}");
    }
}
