use leveloff_model::allocation::{BlockKind, StackFrame};
use leveloff_model::process::Pid;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Seconds, Step};

use super::*;
use crate::observation::Observation;
use crate::run::RunJudge;
use crate::units::X;

const MIB: f64 = 1024.0 * 1024.0;

fn site(id: u32, line: u32, kind: BlockKind) -> Event {
    Event::Site(AllocationSite {
        id: SiteId(id),
        pid: Pid(1),
        kind,
        stack: vec![StackFrame {
            function: "step".to_owned(),
            file: Some("train.py".to_owned()),
            line: Some(line),
            is_python: true,
        }],
        source: None,
    })
}

/// A site that holds this much, sampled every half MiB, of which nothing was freed.
fn held(id: u32, mib: f64) -> SiteReading {
    let blocks = (mib * 2.0).round();
    SiteReading {
        site: SiteId(id),
        live: Bytes((mib * MIB) as u64),
        blocks: blocks as u64,
        error: Bytes((blocks.sqrt() * MIB / 2.0) as u64),
        freed: 0,
    }
}

/// The history of sites that hold these amounts at a step, and the verdict on a run with as much memory.
fn history(sites: &[Event], amounts: impl Fn(f64) -> Vec<f64>) -> (AllocationHistory, RunVerdict) {
    history_with_missed(sites, amounts, |_| None)
}

/// The same, where some sampled blocks found no room.
fn history_with_missed(
    sites: &[Event],
    amounts: impl Fn(f64) -> Vec<f64>,
    missed: impl Fn(u64) -> Option<MissedBlocks>,
) -> (AllocationHistory, RunVerdict) {
    let mut history = AllocationHistory::default();
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    history.learn(sites);
    for step in 0..600_u32 {
        let amounts = amounts(f64::from(step));
        let memory: f64 = 300.0 + amounts.iter().sum::<f64>();
        let bytes = Bytes((memory * MIB) as u64);
        judge.observe(&Observation::at_step(Step(u64::from(step)), bytes));
        if step % 10 == 0 {
            let sites = (0..).zip(&amounts).map(|(id, mib)| held(id, *mib));
            history.learn(&[Event::Allocations(AllocationReading {
                t: Seconds(f64::from(step)),
                live: Bytes((amounts.iter().sum::<f64>() * MIB) as u64),
                missed: missed(u64::from(step)),
                sites: sites.collect(),
            })]);
            history.set_moment(Moment {
                t: Some(Seconds(f64::from(step))),
                count: Some(f64::from(step)),
            });
        }
    }
    (history, judge.verdict())
}

#[test]
fn a_line_that_leaks_is_confirmed_with_its_rate() {
    let sites = [site(0, 8, BlockKind::Heap), site(1, 9, BlockKind::Heap)];
    let (history, verdict) = history(&sites, |step| vec![0.5 * step, 40.0]);
    let lines = history.lines(&verdict);
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!(line.certainty, Certainty::Confirmed);
    assert_eq!(line.site.own_frame().and_then(|frame| frame.line), Some(8));
    assert!((line.share - 1.0).abs() < 0.01);
    let rate = line.rate.unwrap();
    assert!((rate.value.0 / MIB - 0.5).abs() < 0.05, "{rate:?}");
    assert!(rate.low < rate.value && rate.value < rate.high);
}

#[test]
fn a_cache_that_filled_is_no_culprit() {
    let sites = [site(0, 8, BlockKind::Heap)];
    let (history, verdict) = history(&sites, |step| vec![(2.0 * step).min(300.0)]);
    assert!(
        history
            .lines(&verdict)
            .iter()
            .all(|line| line.certainty != Certainty::Confirmed)
    );
}

#[test]
fn two_lines_that_grow_alike_are_both_unclear() {
    let sites = [site(0, 8, BlockKind::Heap), site(1, 9, BlockKind::Heap)];
    let (history, verdict) = history(&sites, |step| vec![0.1 * step, 0.11 * step]);
    let lines = history.lines(&verdict);
    assert_eq!(lines.len(), 2);
    assert!(
        lines
            .iter()
            .all(|line| line.certainty == Certainty::Unclear)
    );
    let shares: f64 = lines.iter().map(|line| line.share).sum();
    assert!((shares - 1.0).abs() < 0.01, "{shares}");
}

#[test]
fn too_few_blocks_name_nothing() {
    let sites = [site(0, 8, BlockKind::Heap)];
    let (history, verdict) = history(&sites, |step| vec![step / 80.0]);
    assert!(
        history
            .lines(&verdict)
            .iter()
            .all(|it| it.certainty == Certainty::Unclear)
    );
}

#[test]
fn blocks_and_objects_of_one_line_are_one_and_said_to_be_recycled() {
    let sites = [
        site(0, 8, BlockKind::Heap),
        site(1, 8, BlockKind::PythonObject),
    ];
    let (history, verdict) = history(&sites, |step| vec![0.1 * step, 0.4 * step]);
    let lines = history.lines(&verdict);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].is_recycled);
    assert_eq!(lines[0].site.kind, BlockKind::PythonObject);
}

#[test]
fn growth_is_counted_within_a_window() {
    let sites = [site(0, 8, BlockKind::Heap), site(1, 9, BlockKind::Heap)];
    // The first line grows until step 300, the second one from there.
    let (history, verdict) = history(&sites, |step| {
        vec![0.5 * step.min(300.0), 0.5 * (step - 300.0).max(0.0)]
    });
    let first_line = |from: f64, to: f64| {
        let window = LineWindow {
            from: Some(X(from)),
            to: Some(X(to)),
        };
        let lines = history.lines_within(&verdict, &window);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!((lines[0].growth.0 / MIB - 50.0).abs() < 1.0, "{lines:?}");
        lines[0].site.own_frame().and_then(|frame| frame.line)
    };
    assert_eq!(first_line(100.0, 200.0), Some(8));
    assert_eq!(first_line(400.0, 500.0), Some(9));
    let none = LineWindow {
        from: Some(X(900.0)),
        to: None,
    };
    assert_eq!(history.lines_within(&verdict, &none), []);
}

#[test]
fn no_line_stands_out_where_many_blocks_found_no_room() {
    let sites = [site(0, 8, BlockKind::Heap)];
    let missed = |missed: u64| {
        move |step: u64| {
            Some(MissedBlocks {
                missed: missed * step,
                sampled: 100 * step,
            })
        }
    };
    let certainty = |share: u64| {
        let (history, verdict) =
            history_with_missed(&sites, |step| vec![0.5 * step], missed(share));
        history.lines(&verdict)[0].certainty
    };
    assert_eq!(certainty(5), Certainty::Confirmed);
    assert_eq!(certainty(20), Certainty::Unclear);
}
