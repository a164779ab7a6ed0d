//! Verdicts built by hand, with the numbers of the reference story, for the tests of what is printed.

#![allow(missing_docs, reason = "for tests only")]

use std::collections::BTreeMap;

use leveloff_classifier::finding::{Finding, Growth, TensorGrowth};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::{Amount, AmountPerX, Position, X};
use leveloff_classifier::verdict::{
    Blame, Clock, ClockTick, DecideBy, Extremes, Grade, HorizonSource, Judgement, Kind, LevelGrade,
    Rate, Reason, Risk, RunVerdict, Shape, Subject, Verdict, WhyUnknown, WillFinish,
};
use leveloff_model::process::{Pid, Role};
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::CeilingKind;
use leveloff_model::training_counters::GrownTensors;
use leveloff_model::units::{Bytes, Seconds};

use crate::fleet::{Fleet, Member};

pub const MIB: f64 = 1048576.0;
pub const GIB: f64 = 1073741824.0;

/// A curve of which nothing is known but this.
pub fn judgement(verdict: Verdict, shape: Shape, reason: Reason) -> Judgement {
    Judgement {
        verdict,
        shape,
        rate: None,
        onset_x: None,
        onset_level: None,
        level: None,
        level_since_x: None,
        decided_at_x: None,
        decide_by: None,
        reason,
        healthy_share: None,
        noise: Amount(12.0 * MIB),
        autocorrelation: 0.2,
        period: None,
        material: Amount(350.0 * MIB),
        hidden: None,
        full_cache: None,
        full_mapping: None,
        span: Some((X(10.0), X(80.0))),
        startup_end: None,
        extremes: Some(Extremes {
            first: Amount(5.4 * GIB),
            peak: Amount(17.0 * GIB),
            last: Amount(17.0 * GIB),
        }),
        points: 8,
    }
}

/// A run whose memory decided.
pub fn run(memory: Judgement) -> RunVerdict {
    RunVerdict {
        verdict: memory.verdict,
        shape: memory.shape,
        x_unit: XUnit::Step,
        pace: None,
        decisive: Subject::Memory,
        points: memory.points,
        span: memory.span,
        judgement: memory.clone(),
        memory,
        limit: None,
        risk: None,
        will_finish: WillFinish::Unknown(WhyUnknown::NoPlan),
        horizon: None,
        horizon_source: HorizonSource::Prior,
        history: None,
        blame: Vec::new(),
        clock: None,
        known_bugs: Vec::new(),
        findings: Vec::new(),
        subjects: Vec::new(),
        duration: None,
    }
}

pub fn undecided(reason: Reason) -> RunVerdict {
    run(judgement(Verdict::Undecided, Shape::Flat, reason))
}

/// The story at step 80: growing, and not decided.
pub fn story_at_80() -> RunVerdict {
    let mut memory = judgement(Verdict::WarmingUp, Shape::Linear, Reason::YoungGrowth);
    memory.rate = Some(mib_rate(165.0, 160.0, 171.0));
    memory.onset_x = Some(X(10.0));
    memory.decide_by = Some(DecideBy {
        if_it_levels: X(130.0),
        if_it_goes_on: X(379.0),
        level_after: X(40.0),
    });
    memory.healthy_share = Some(0.24);
    RunVerdict {
        pace: Some(Seconds(9.4)),
        duration: Some(Seconds(658.0)),
        risk: Some(Risk {
            limit: Bytes(32 << 30),
            kind: CeilingKind::Stated,
            at_x: X(168.0),
            earliest_x: X(163.0),
            latest_x: Some(X(173.0)),
            in_time: Some(Seconds(827.0)),
        }),
        ..run(memory)
    }
}

/// The story in the end.
pub fn story_at_300() -> RunVerdict {
    let mut memory = judgement(
        Verdict::Level(LevelGrade::Confirmed),
        Shape::Saturating,
        Reason::Steady,
    );
    memory.span = Some((X(10.0), X(300.0)));
    memory.level = Some(Amount(17.4 * GIB));
    memory.level_since_x = Some(X(88.0));
    memory.decided_at_x = Some(X(130.0));
    memory.rate = Some(mib_rate(0.1, -0.2, 0.4));
    memory.points = 30;
    memory.extremes = Some(Extremes {
        first: Amount(5.4 * GIB),
        peak: Amount(17.7 * GIB),
        last: Amount(17.4 * GIB),
    });
    run(memory)
}

/// A leak with everything that can be known of one.
pub fn leak() -> RunVerdict {
    let grade = Grade::Confirmed;
    let mut memory = judgement(Verdict::Leak(grade), Shape::Linear, Reason::Outlived);
    memory.rate = Some(mib_rate(2.06, 2.03, 2.09));
    memory.onset_x = Some(X(1.0));
    memory.span = Some((X(1.0), X(900.0)));
    memory.decided_at_x = Some(X(400.0));
    memory.healthy_share = Some(0.0009);
    memory.points = 900;
    RunVerdict {
        pace: Some(Seconds(1.1)),
        blame: vec![
            blame(Some(Role::Trainer), Some(Pid(22180)), Kind::Anonymous, 0.98),
            blame(Some(Role::DataloaderWorker), None, Kind::Shared, 0.02),
        ],
        clock: Some(Clock {
            tick: ClockTick::Evaluation,
            coincident: Vec::new(),
            growth: Amount(296.0 * MIB),
            ticks: 5,
            every: Some(X(100.0)),
        }),
        known_bugs: Vec::new(),
        findings: vec![held_references(Vec::new())],
        ..run(memory)
    }
}

/// A tensor more at each step, with the types that the training names.
pub fn held_references(grown: Vec<GrownTensors>) -> Finding {
    Finding::HeldReferences {
        tensors: TensorGrowth::Number {
            more: 899,
            more_per_x: AmountPerX(1.0),
        },
        memory: Growth {
            bytes: Bytes((1.8 * GIB) as u64),
            since: Position {
                x: X(1.0),
                unit: XUnit::Step,
            },
        },
        grown,
    }
}

/// A leak that memory does not show: descriptors.
pub fn descriptor_leak() -> RunVerdict {
    let mut descriptors = judgement(
        Verdict::Leak(Grade::Early),
        Shape::Linear,
        Reason::PastHorizon,
    );
    descriptors.rate = Some(Rate {
        value: AmountPerX(2.0),
        low: AmountPerX(1.9),
        high: AmountPerX(2.1),
    });
    descriptors.onset_x = Some(X(12.0));
    descriptors.level = Some(Amount(412.0));
    descriptors.noise = Amount(3.0);
    RunVerdict {
        verdict: descriptors.verdict,
        shape: descriptors.shape,
        decisive: Subject::Descriptors,
        judgement: descriptors,
        blame: vec![Blame {
            growth: Amount(136.0),
            ..blame(Some(Role::Trainer), None, Kind::Descriptors, 1.0)
        }],
        ..story_at_300()
    }
}

pub fn mib_rate(value: f64, low: f64, high: f64) -> Rate {
    Rate {
        value: AmountPerX(value * MIB),
        low: AmountPerX(low * MIB),
        high: AmountPerX(high * MIB),
    }
}

fn blame(role: Option<Role>, pid: Option<Pid>, kind: Kind, share: f64) -> Blame {
    Blame {
        role,
        pid,
        rank: None,
        worker: None,
        kind,
        share,
        growth: Amount(share * 1.8 * GIB),
    }
}

/// So many bytes, of which a test thinks in MiB.
pub fn mib(amount: f64) -> f64 {
    amount * MIB
}

pub fn member(name: &str, verdict: RunVerdict) -> Member {
    Member {
        name: name.to_owned(),
        job: Some("lm".to_owned()),
        labels: BTreeMap::from([("rank".to_owned(), name.to_owned())]),
        verdict,
        stated: StatedFacts::default(),
        notes: Vec::new(),
        now: Bytes(17 << 30),
        ended: None,
        spark: vec![Some(1.0), None, Some(3.0)],
    }
}

pub fn fleet() -> Fleet {
    let names = ["rank 10", "rank 9", "rank <2>", "rank 1"];
    let level = |name: &&str| member(name, story_at_300());
    let mut members: Vec<Member> = names.iter().map(level).collect();
    members[2].verdict = leak();
    let mut fleet = Fleet {
        server: "http://127.0.0.1:9090".to_owned(),
        query: "leveloff_memory_bytes".to_owned(),
        at: "2026-11-17 20:00".to_owned(),
        members,
        tool: "0.1.0".to_owned(),
        ..Fleet::default()
    };
    fleet.sort();
    fleet
}
