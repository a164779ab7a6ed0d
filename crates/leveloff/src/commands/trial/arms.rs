//! The changes that a user asks for: their own, and those that leveloff knows by name.

use anyhow::{Result, bail};
use leveloff_classifier::finding::Finding;
use leveloff_classifier::trial::BuiltInArm;

use super::arm::Arm;
use super::directory::file_name;
use super::own_arms;
use crate::args::TryArgs;

/// What `--arms` says of all changes that matter to the job, and of all.
pub(super) const AUTO: &str = "auto";
pub(super) const ALL: &str = "all";
const NONE: &str = "none";

/// Below this likeness a name is not what the user meant.
const ALIKE: f64 = 0.7;

/// The changes that the user asks for: those of their own first, then those that leveloff knows, in the order of the
/// evidence.
pub(super) fn chosen(args: &TryArgs, findings: &[Finding]) -> Result<Vec<Arm>> {
    let mut arms = own_arms::chosen(args)?;
    for built_in in built_ins(&args.arms, findings)? {
        arms.push(Arm::of(built_in));
    }
    if arms.is_empty() {
        bail!(
            "--arms none leaves nothing to try; add --arm 'NAME=CMD', --env NAME=VALUE, --python PATH or --bisect PACKAGE==V,V"
        );
    }
    refuse_equal_names(&arms)?;
    Ok(arms)
}

/// Orders the changes by what is found, if the user did not name them in an order: those of the user's own stay first.
pub(super) fn place_of(arm: &Arm, order: &[BuiltInArm]) -> usize {
    let place = arm
        .built_in
        .and_then(|built_in| order.iter().position(|other| *other == built_in));
    place.map_or(0, |place| place + 1)
}

fn built_ins(names: &[String], findings: &[Finding]) -> Result<Vec<BuiltInArm>> {
    if let [only] = names {
        match only.as_str() {
            AUTO | ALL => return Ok(BuiltInArm::ordered_by(findings)),
            NONE => return Ok(Vec::new()),
            _ => {}
        }
    }
    let alone = names
        .iter()
        .find(|name| [AUTO, ALL, NONE].contains(&name.as_str()));
    if let Some(name) = alone {
        bail!("--arms {name} stands alone; name changes without it, or leave the names out");
    }
    names.iter().map(|name| built_in(name)).collect()
}

fn built_in(name: &str) -> Result<BuiltInArm> {
    let found = BuiltInArm::ALL.into_iter().find(|arm| arm.name() == name);
    let Some(arm) = found else {
        let likeness = |arm: BuiltInArm| (strsim::jaro_winkler(arm.name(), name), arm.name());
        let all = BuiltInArm::ALL.into_iter().map(likeness);
        let nearest = all.max_by(|(a, _), (b, _)| a.total_cmp(b));
        let meant = match nearest.filter(|(likeness, _)| *likeness >= ALIKE) {
            Some((_, nearest)) => format!("did you mean '{nearest}'? "),
            None => String::new(),
        };
        bail!("no change is called '{name}'; {meant}`leveloff try --list` has all");
    };
    Ok(arm)
}

fn refuse_equal_names(arms: &[Arm]) -> Result<()> {
    for (place, arm) in arms.iter().enumerate() {
        // Their recordings are named after them.
        let name = file_name(&arm.name);
        let is_taken = |other: &Arm| file_name(&other.name) == name;
        if arm.built_in.is_some() && arms[..place].iter().any(|it| it.built_in == arm.built_in) {
            bail!("--arms names '{}' twice", arm.name);
        }
        if name == "control" || arms[..place].iter().any(is_taken) {
            bail!(
                "two changes are called '{}'; give each a name of its own",
                arm.name
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(result: Result<impl std::fmt::Debug>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_change_has_the_nearest_one_named() {
        let error = error_of(built_in("no-compiler"));
        assert!(error.contains("did you mean 'no-compile'?"), "{error}");
        let error = error_of(built_in("bisect"));
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn what_stands_for_several_changes_stands_alone() {
        let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let error = error_of(built_ins(&names(&["none", "no-compile"]), &[]));
        assert!(error.starts_with("--arms none stands alone"), "{error}");
        assert!(built_ins(&names(&["one-arena", "no-compile"]), &[]).is_ok());
    }

    #[test]
    fn names_are_unique() {
        let arm = Arm::of(BuiltInArm::NoCompile);
        let error = error_of(refuse_equal_names(&[arm.clone(), arm]));
        assert_eq!(error, "--arms names 'no-compile' twice");
        assert!(refuse_equal_names(&[Arm::control()]).is_err());
    }
}
