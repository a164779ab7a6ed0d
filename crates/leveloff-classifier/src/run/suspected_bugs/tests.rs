use leveloff_model::units::Bytes;

use super::*;
use crate::finding::{Growth, NativeEvidence};
use crate::observation::XUnit;
use crate::units::{Amount, Position, X};
use crate::verdict::{Grade, Kind, LevelGrade};

const COMPILE: &[Role] = &[Role::Trainer, Role::CompilePool];

const GROWTH: Growth = Growth {
    bytes: Bytes(1 << 30),
    since: Position {
        x: X(1.0),
        unit: XUnit::Step,
    },
};

fn pinned_pool() -> Finding {
    Finding::PinnedPool {
        growth: GROWTH,
        now: Bytes(2 << 30),
    }
}

fn native_growth() -> Finding {
    Finding::NativeGrowth {
        evidence: NativeEvidence::MallocInUse {
            more: Bytes(1 << 30),
            tensors: None,
            python_blocks: None,
        },
        memory: GROWTH,
        new_shapes: None,
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
    let (found, trainer) = ([native_growth()], [grown(Role::Trainer, 0.9)]);
    let with = |version| names(LEAK, &found, &trainer, Some(&[("torch", version)]));
    assert_eq!(with("2.0.0"), ["torch-compile-calls"]);
    assert_eq!(with("2.8.0+cu128"), ["torch-compile-calls"]);
    assert_eq!(with("2.10.0"), [""; 0]);
    assert_eq!(with("1.13.1"), [""; 0]);
}

#[test]
fn an_unknown_version_is_enough_only_for_a_bug_that_was_never_fixed() {
    let (found, trainer) = ([native_growth()], [grown(Role::Trainer, 0.9)]);
    for packages in [None, Some(&[("torch", "unknown")][..]), Some(&[])] {
        assert_eq!(names(LEAK, &found, &trainer, packages), [""; 0]);
    }
    let pinned = [pinned_pool()];
    let expected = ["torch-pinned-prefetch"];
    assert_eq!(names(LEAK, &pinned, &[], None), expected);
    for (package, version, named) in [
        ("torch", "2.8.0", true),
        ("torch", "1.12.1", false),
        ("jax", "0.7", false),
    ] {
        let bugs = names(LEAK, &pinned, &[], Some(&[(package, version)]));
        assert_eq!(bugs == expected, named, "{package} {version}");
    }
}

#[test]
fn a_level_run_has_no_bug_and_neither_has_growth_elsewhere() {
    let torch = Some(&[("torch", "2.8.0")][..]);
    let found = [native_growth()];
    let level = Verdict::Level(LevelGrade::Early);
    let trainer = [grown(Role::Trainer, 0.9)];
    assert_eq!(names(level, &found, &trainer, torch), [""; 0]);
    for elsewhere in [
        grown(Role::DataloaderWorker, 0.9),
        grown(Role::Trainer, 0.3),
    ] {
        assert_eq!(names(LEAK, &found, &[elsewhere], torch), [""; 0]);
    }
}
