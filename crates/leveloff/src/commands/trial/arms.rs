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
            "none" => return Ok(Vec::new()),
            _ => {}
        }
    }
    names.iter().map(|name| built_in(name)).collect()
}

fn built_in(name: &str) -> Result<BuiltInArm> {
    let found = BuiltInArm::ALL.into_iter().find(|arm| arm.name() == name);
    let Some(arm) = found else {
        let near = |arm: &BuiltInArm| (1000.0 * strsim::jaro_winkler(arm.name(), name)) as u32;
        let nearest = BuiltInArm::ALL.into_iter().max_by_key(near);
        let nearest = nearest.map_or(AUTO, BuiltInArm::name);
        bail!(
            "no change is called '{name}'; did you mean '{nearest}'? `leveloff try --list` has all"
        );
    };
    Ok(arm)
}

fn refuse_equal_names(arms: &[Arm]) -> Result<()> {
    for (place, arm) in arms.iter().enumerate() {
        // Their recordings are named after them.
        let name = file_name(&arm.name);
        let is_taken = |other: &Arm| file_name(&other.name) == name;
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
    }

    #[test]
    fn names_are_unique() {
        let arm = Arm::of(BuiltInArm::NoCompile);
        assert!(refuse_equal_names(&[arm.clone(), arm]).is_err());
        assert!(refuse_equal_names(&[Arm::control()]).is_err());
    }
}
