//! How much memory a machine for this run needs, as cells that HTML and Markdown lay out.

use leveloff_text::sizing::{Sizing, whole};
use leveloff_text::verdict::{bytes, is_from_the_start};
use leveloff_text::x_position::XPosition;

use crate::run_report::RunReport;

/// The names of the cells.
pub(super) const CELLS: [&str; 6] = [
    "baseline (model loaded)",
    "end of warmup",
    "level",
    "peak",
    "needed",
    "comfortable",
];

/// How the last two cells are chosen.
pub(super) const LEGEND: &str = "Needed: 10 % above the peak, as samples miss what lies between them. \
     Comfortable: 50 % above the peak, rounded up to a size that machines have.";

/// The cells of the host and of the GPU, as far as they are known.
pub(super) fn cells(report: &RunReport) -> Vec<(&'static str, [String; 6])> {
    let machines = [("host", report.host_sizing), ("GPU", report.gpu_sizing)];
    let known = machines.into_iter();
    known
        .filter_map(|(name, sizing)| Some((name, of_machine(&sizing?, report))))
        .collect()
}

fn of_machine(sizing: &Sizing, report: &RunReport) -> [String; 6] {
    let warmup_end = match sizing.warmup_end_x {
        Some(_) if is_from_the_start(&report.verdict.memory) => "none seen".to_owned(),
        Some(x) => XPosition::new(x, report.verdict.x_unit).to_string(),
        None => "not judged".to_owned(),
    };
    [
        bytes(sizing.baseline).to_string(),
        warmup_end,
        bytes(sizing.level).to_string(),
        bytes(sizing.peak).to_string(),
        whole(sizing.needed),
        whole(sizing.comfortable),
    ]
}
