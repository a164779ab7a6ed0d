//! Checks of real curves: observations through the judge, the gates and the comparison.

use leveloff_classifier::compare::compare;
use leveloff_classifier::gate::{CheckOutcome, GateResult, Gates, Horizon};
use leveloff_classifier::observation::{Observation, ProcessShare, XUnit};
use leveloff_classifier::profile::{RunProfile, Side};
use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_classifier::units::X;
use leveloff_model::process::{Pid, ProcessIndex, Role};

use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Bytes, Seconds, Step};

use crate::cases::finished;
use crate::check::report::{BaselineCheck, CheckReport, CheckedRun, GatedRun, Runs};
use crate::comparison::compared::{BothCurves, Compared};
use crate::run_report::{ReportContext, RunReport};

const MIB: f64 = 1048576.0;

/// What every check here asks besides: level by step 90, a peak below 4 GiB.
fn gates() -> Gates {
    Gates {
        level_by: Some(Horizon::Step(X(90.0))),
        max_peak: Some(Bytes(4 << 30)),
        ..Gates::default()
    }
}

/// A run of a trainer and a loader; `memory` gives the MiB at each step.
pub fn run_report(input: &str, steps: u32, memory: impl Fn(f64) -> f64) -> RunReport {
    let stated = StatedFacts {
        level_by: Some(Step(90)),
        ..StatedFacts::default()
    };
    let mut analysis = RunAnalysis::new(XUnit::Step, &stated);
    for step in 0..steps {
        let wobble = f64::from(step * 7919 % 13) * 0.2;
        analysis.observe(&observation(step, memory(f64::from(step)) + wobble));
    }
    let about = ReportContext {
        input: input.to_owned(),
        format: "leveloff recording".to_owned(),
        tool: "leveloff".to_owned(),
        stated,
        notes: Vec::new(),
        progress: None,
        header: None,
        end: None,
    };
    finished(analysis, about)
}

/// The same, held against the gates.
pub fn run(input: &str, steps: u32, memory: impl Fn(f64) -> f64) -> CheckedRun {
    let report = run_report(input, steps, memory);
    let gates = gates().hold(&report.verdict, &report.curves);
    CheckedRun {
        input: input.to_owned(),
        result: Ok(GatedRun { report, gates }),
    }
}

pub fn unreadable(input: &str) -> CheckedRun {
    CheckedRun {
        input: input.to_owned(),
        result: Err(format!(
            "cannot read {input}: no such file; is the path right?"
        )),
    }
}

pub fn check(runs_are: Runs, runs: Vec<CheckedRun>) -> CheckReport {
    CheckReport {
        name: "fine-tune".to_owned(),
        runs_are,
        runs,
        baseline: None,
        open_counts_as: CheckOutcome::Open,
    }
}

/// Warms up until step 60 and stays, at about so many MiB.
pub fn healthy(level: f64) -> impl Fn(f64) -> f64 {
    move |step| level - 240.0 + 4.0 * step.min(60.0)
}

pub fn leaky(step: f64) -> f64 {
    1000.0 + 2.0 * step
}

pub fn passing() -> CheckReport {
    let mut report = check(
        Runs::Different,
        vec![run("run.jsonl", 400, healthy(2000.0))],
    );
    report.baseline = Some(baseline(&[1995.0, 2004.0, 2001.0], &report));
    report
}

pub fn leak() -> CheckReport {
    check(Runs::Different, vec![run("run.jsonl", 900, leaky)])
}

pub fn disagreeing() -> CheckReport {
    let runs = vec![
        run("run-1.jsonl", 400, healthy(2000.0)),
        run("run-2.jsonl", 900, leaky),
        run("run-3.jsonl", 400, healthy(2010.0)),
    ];
    check(Runs::Repeats, runs)
}

pub fn regression() -> CheckReport {
    let runs = (1..=3).map(|n| {
        let level = 2400.0 + f64::from(n);
        run(&format!("run-{n}.jsonl"), 400, healthy(level))
    });
    let mut report = check(Runs::Repeats, runs.collect());
    report.baseline = Some(baseline(&[1995.0, 2004.0, 2001.0], &report));
    report
}

pub fn broken() -> CheckReport {
    let runs = vec![
        run("run-1.jsonl", 400, healthy(2000.0)),
        unreadable("run-2.jsonl"),
    ];
    check(Runs::Different, runs)
}

/// Too short for a verdict.
pub fn undecided() -> CheckReport {
    check(Runs::Different, vec![run("short.jsonl", 30, leaky)])
}

/// Everything, with its name.
pub fn all() -> Vec<(&'static str, CheckReport)> {
    vec![
        ("passing", passing()),
        ("leak", leak()),
        ("disagreeing", disagreeing()),
        ("regression", regression()),
        ("broken", broken()),
        ("undecided", undecided()),
    ]
}

/// A check whose names contain markup and control characters.
pub fn hostile() -> CheckReport {
    let name = "a|b`c`<script>@octocat #1\n::error::x\u{1b}[31m & \"d\" ]]>";
    let mut report = check(
        Runs::Different,
        vec![run(name, 900, leaky), unreadable(name)],
    );
    report.name = name.to_owned();
    report
}

/// Holds a check against levels that were measured before.
pub fn baseline(levels: &[f64], report: &CheckReport) -> BaselineCheck {
    let of = |report: &RunReport| RunProfile::of(&report.verdict, &report.curves);
    let before = levels
        .iter()
        .map(|level| of(&run_report("before", 400, healthy(*level))));
    let before = Side::of(&before.collect::<Vec<_>>()).unwrap();
    let after: Vec<RunProfile> = report.held().map(|held| of(&held.report)).collect();
    let comparison = compare(&before, &Side::of(&after).unwrap());
    BaselineCheck {
        path: "leveloff-baseline.json".to_owned(),
        result: GateResult::of_comparison(&comparison),
        comparison,
        is_replaced: false,
    }
}

fn observation(step: u32, memory: f64) -> Observation {
    let bytes = |mib: f64| Bytes((mib * MIB) as u64);
    Observation {
        count: Some(f64::from(step)),
        t: Some(Seconds(2.0 * f64::from(step))),
        memory: bytes(memory),
        processes: vec![
            share(0, Role::Trainer, bytes(memory - 100.0)),
            share(1, Role::DataloaderWorker, bytes(100.0)),
        ],
        ..Observation::default()
    }
}

fn share(index: u64, role: Role, memory: Bytes) -> ProcessShare {
    let pid = 4000 + i32::try_from(index).unwrap();
    ProcessShare::with_memory(
        ProcessIndex(index.try_into().unwrap()),
        Pid(pid),
        role,
        memory,
    )
}

/// Two sides to compare.
pub struct Pair {
    pub before: Vec<RunReport>,
    pub after: Vec<RunReport>,
}

impl Pair {
    /// Everything, with its name.
    pub fn all() -> Vec<(&'static str, Pair)> {
        let runs = |side: &str, steps: u32, levels: &[f64]| -> Vec<RunReport> {
            let named = levels.iter().enumerate();
            named
                .map(|(n, level)| run_report(&format!("{side}-{n}.jsonl"), steps, healthy(*level)))
                .collect()
        };
        let pair = |before, after| Pair { before, after };
        let before = || runs("before", 400, &[1995.0, 2004.0, 2001.0]);
        let leak = || vec![run_report("after.jsonl", 900, leaky)];
        let one = || runs("before", 400, &[2000.0]);
        vec![
            (
                "worse",
                pair(before(), runs("after", 400, &[2400.0, 2410.0, 2402.0])),
            ),
            (
                "better",
                pair(before(), runs("after", 400, &[1500.0, 1510.0, 1502.0])),
            ),
            ("same", pair(one(), runs("after", 300, &[2003.0]))),
            ("leak-came", pair(one(), leak())),
            ("leak-went", pair(leak(), one())),
            ("disputed", pair(before(), [before(), leak()].concat())),
        ]
    }

    /// Hands over the comparison.
    pub fn compared(&self, look: impl Fn(&Compared)) {
        let of = |report: &RunReport| RunProfile::of(&report.verdict, &report.curves);
        let side = |runs: &[RunReport]| Side::of(&runs.iter().map(of).collect::<Vec<_>>()).unwrap();
        let names = |runs: &[RunReport]| runs.iter().map(|r| r.input.clone()).collect::<Vec<_>>();
        let curves =
            |runs: &'_ [RunReport]| runs.iter().map(|r| r.curves.clone()).collect::<Vec<_>>();
        let (before, after) = (curves(&self.before), curves(&self.after));
        look(&Compared {
            before_names: &names(&self.before),
            after_names: &names(&self.after),
            comparison: &compare(&side(&self.before), &side(&self.after)),
            curves: Some(BothCurves {
                before: &before.iter().collect::<Vec<_>>(),
                after: &after.iter().collect::<Vec<_>>(),
            }),
            lines: None,
            notes: &["2 lines of before-0.jsonl are damaged and left out".to_owned()],
        });
    }
}
