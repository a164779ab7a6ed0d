//! A check with its runs and outcome: what every format prints.

use leveloff_classifier::compare::Comparison;
use leveloff_classifier::gate::{CheckOutcome, Gate, GateResult};

use crate::run_report::RunReport;

/// What a check came to.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// What is checked, as the user calls it.
    pub name: String,
    /// Whether the runs are repeats of one, which vote, or different ones, of which the worst counts.
    pub runs_are: Runs,
    /// Each run.
    pub runs: Vec<CheckedRun>,
    /// The comparison with a baseline, if one is given.
    pub baseline: Option<BaselineCheck>,
    /// What an open outcome counts as; `Open` if it stays so.
    pub open_counts_as: CheckOutcome,
}

/// What several runs are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// The same, again: more than half decide.
    Repeats,
    /// Different: the worst decides.
    Different,
}

/// One run of a check.
#[derive(Debug, Clone)]
pub struct CheckedRun {
    /// What the user calls it.
    pub input: String,
    /// Its result, or why there is none.
    pub result: Result<GatedRun, String>,
}

/// A run that was held against the gates.
#[derive(Debug, Clone)]
pub struct GatedRun {
    /// The run.
    pub report: RunReport,
    /// Each gate.
    pub gates: Vec<GateResult>,
}

/// A comparison with what was before.
#[derive(Debug, Clone)]
pub struct BaselineCheck {
    /// The file that holds it.
    pub path: String,
    /// What changed.
    pub comparison: Comparison,
    /// How that counts.
    pub result: GateResult,
    /// Whether what was measured now takes its place; then it is not held against it.
    pub is_replaced: bool,
}

impl CheckReport {
    /// What it came to.
    pub fn outcome(&self) -> CheckOutcome {
        if self.runs.iter().any(|run| run.result.is_err()) {
            return CheckOutcome::Broken;
        }
        let baseline = self.baseline.iter().map(|baseline| baseline.result.outcome);
        let all = self.gates().into_iter().map(|(_, outcome)| outcome);
        let worst = all.chain(baseline).max().unwrap_or(CheckOutcome::Passed);
        worst.counted(self.open_counts_as)
    }

    /// Each gate over all runs, without the baseline.
    pub fn gates(&self) -> Vec<(Gate, CheckOutcome)> {
        let mut gates: Vec<Gate> = self.results().map(|result| result.gate).collect();
        gates.sort_unstable();
        gates.dedup();
        gates
            .into_iter()
            .map(|gate| (gate, self.together(gate)))
            .collect()
    }

    /// The runs that could be read.
    pub fn held(&self) -> impl Iterator<Item = &GatedRun> {
        self.runs.iter().filter_map(|run| run.result.as_ref().ok())
    }

    fn results(&self) -> impl Iterator<Item = &GateResult> {
        self.held().flat_map(|held| &held.gates)
    }

    fn together(&self, gate: Gate) -> CheckOutcome {
        let of_gate = |result: &&GateResult| result.gate == gate;
        let outcomes: Vec<CheckOutcome> = self
            .results()
            .filter(of_gate)
            .map(|result| result.outcome)
            .collect();
        match self.runs_are {
            Runs::Different => outcomes.into_iter().max().unwrap_or(CheckOutcome::Passed),
            Runs::Repeats => voted(&outcomes, self.held().count()),
        }
    }
}

/// More than half of the repeats decide. A failure that only some have is an open question: a leak
/// shows every time, a false alarm once.
fn voted(outcomes: &[CheckOutcome], runs: usize) -> CheckOutcome {
    let count = |outcome: CheckOutcome| outcomes.iter().filter(|is| **is == outcome).count();
    let (failed, open) = (count(CheckOutcome::Failed), count(CheckOutcome::Open));
    if 2 * failed > runs {
        CheckOutcome::Failed
    } else if failed > 0 || (open > 0 && 2 * open >= runs) {
        CheckOutcome::Open
    } else {
        CheckOutcome::Passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CheckOutcome::{Failed, Open, Passed};

    #[test]
    fn more_than_half_of_the_repeats_decide() {
        assert_eq!(voted(&[Failed, Failed, Passed], 3), Failed);
        assert_eq!(voted(&[Failed, Passed, Passed], 3), Open);
        assert_eq!(voted(&[Failed, Passed], 2), Open);
        assert_eq!(voted(&[Open, Passed, Passed], 3), Passed);
        assert_eq!(voted(&[Open, Open, Passed], 3), Open);
        assert_eq!(voted(&[Open, Open, Passed, Passed], 4), Open);
        assert_eq!(voted(&[Failed], 1), Failed);
        assert_eq!(voted(&[], 0), Passed);
    }
}
