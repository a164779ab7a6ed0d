use leveloff_model::units::Bytes;

use super::*;
use crate::finding::Growth;
use crate::observation::XUnit;
use crate::units::{Amount, Position, X};
use crate::verdict::{Grade, Kind, LevelGrade};

const COMPILE: &[Role] = &[Role::Trainer, Role::CompilePool];

fn pinned_pool() -> Finding {
    Finding::PinnedPool {
        growth: Growth {
            bytes: Bytes(1 << 30),
            since: Position {
                x: X(1.0),
                unit: XUnit::Step,
            },
        },
        now: Bytes(2 << 30),
    }
}

fn grown(role: Role, share: f64) -> Blame {
    Blame {
        role: Some(role),
        pid: None,
        rank: None,
        worker: None,
        kind: Kind::Anonymous,
        share,
        growth: Amount(1e9),
    }
}

fn names(
    verdict: Verdict,
    findings: &[Finding],
    blame: &[Blame],
    packages: Option<&[(&str, &str)]>,
) -> Vec<&'static str> {
    let packages = packages.map(|packages| {
        let owned = packages.iter();
        owned
            .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
            .collect()
    });
    let evidence = BugEvidence {
        verdict,
        findings,
        blame,
        roles: COMPILE,
    };
    let bugs = suspected(evidence, packages.as_ref());
    bugs.iter().map(|one| one.bug.name).collect()
}

const LEAK: Verdict = Verdict::Leak(Grade::Early);

#[test]
fn a_bug_is_named_for_the_versions_that_have_it() {
    let engine = [grown(Role::Engine, 0.9)];
    let with = |version| names(LEAK, &[], &engine, Some(&[("vllm", version)]));
    assert_eq!(with("0.22.0"), ["vllm-block-ids"]);
    assert_eq!(with("0.22.1+cu130"), ["vllm-block-ids"]);
    assert_eq!(with("0.23.0"), [""; 0]);
    assert_eq!(with("0.21.0"), [""; 0]);
    assert_eq!(with("0.8.1"), ["vllm-images"]);
}

#[test]
fn an_unknown_version_is_enough_only_for_a_bug_that_was_never_fixed() {
    let engine = [grown(Role::Engine, 0.9)];
    assert_eq!(names(LEAK, &[], &engine, None), [""; 0]);
    assert_eq!(
        names(LEAK, &[], &engine, Some(&[("vllm", "unknown")])),
        [""; 0]
    );
    assert_eq!(
        names(LEAK, &[], &engine, Some(&[("torch", "2.8.0")])),
        [""; 0]
    );
    let pinned = [pinned_pool()];
    let expected = ["torch-pinned-prefetch"];
    assert_eq!(names(LEAK, &pinned, &[], None), expected);
    assert_eq!(
        names(LEAK, &pinned, &[], Some(&[("torch", "2.8.0")])),
        expected
    );
    assert_eq!(
        names(LEAK, &pinned, &[], Some(&[("torch", "1.12.1")])),
        [""; 0]
    );
    assert_eq!(names(LEAK, &pinned, &[], Some(&[("jax", "0.7")])), [""; 0]);
}

#[test]
fn a_level_run_has_no_bug_and_neither_has_growth_elsewhere() {
    let vllm = Some(&[("vllm", "0.22.0")][..]);
    let level = Verdict::Level(LevelGrade::Early);
    assert_eq!(
        names(level, &[], &[grown(Role::Engine, 0.9)], vllm),
        [""; 0]
    );
    assert_eq!(
        names(LEAK, &[], &[grown(Role::Trainer, 0.9)], vllm),
        [""; 0]
    );
    assert_eq!(names(LEAK, &[], &[grown(Role::Engine, 0.3)], vllm), [""; 0]);
}
