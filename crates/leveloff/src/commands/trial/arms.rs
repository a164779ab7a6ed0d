//! The changes of a trial: those that leveloff knows and those of the user's own, as environment and command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use leveloff_classifier::finding::Finding;
use leveloff_classifier::trial::{BuiltInArm, Change};
use leveloff_text::trial::change_by_hand;

use super::job_facts::JobFacts;
use crate::args::TryArgs;

/// One change.
#[derive(Debug, Clone)]
pub(super) struct Arm {
    pub name: String,
    pub built_in: Option<BuiltInArm>,
    /// How it is made by hand.
    pub by_hand: String,
    /// Variables of the environment that it sets.
    pub variables: Vec<(String, OsString)>,
    /// The command to run instead.
    pub command: Option<Vec<OsString>>,
}

/// The variable that names a change to `python_changes.py`.
pub(super) const PYTHON_CHANGE: &str = "LEVELOFF_TRY_CHANGE";

/// The variable by which the dynamic linker is told to load a library first.
const PRELOAD: &str = "LD_PRELOAD";

/// The changes that the user asks for: those of their own first, then those that leveloff knows, in the order of the
/// evidence.
pub(super) fn chosen(args: &TryArgs, findings: &[Finding]) -> Result<Vec<Arm>> {
    let mut arms = Vec::new();
    for own in &args.own {
        arms.push(own_command(own)?);
    }
    for variable in &args.env {
        arms.push(own_variable(variable)?);
    }
    for python in &args.python {
        arms.push(other_python(python, &args.command)?);
    }
    for built_in in built_ins(&args.arms, findings)? {
        arms.push(Arm::of(built_in));
    }
    if arms.is_empty() {
        bail!(
            "--arms none leaves nothing to try; add --arm 'NAME=CMD', --env NAME=VALUE or --python PATH"
        );
    }
    refuse_equal_names(&arms)?;
    Ok(arms)
}

impl Arm {
    fn of(built_in: BuiltInArm) -> Arm {
        let variables = match built_in.change() {
            Change::Variables(variables) => variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
                .collect(),
            Change::Preload(names) => {
                let library = names.iter().find_map(|name| installed(name));
                let library = library.map(|path| (PRELOAD.to_owned(), preloaded(&path)));
                library.into_iter().collect()
            }
            Change::Python(name) => vec![(PYTHON_CHANGE.to_owned(), name.into())],
        };
        Arm {
            name: built_in.name().to_owned(),
            built_in: Some(built_in),
            by_hand: change_by_hand(built_in),
            variables,
            command: None,
        }
    }

    /// The control runs: no change.
    pub(super) fn control() -> Arm {
        Arm {
            name: "control".to_owned(),
            built_in: None,
            by_hand: String::new(),
            variables: Vec::new(),
            command: None,
        }
    }

    /// Why it changes nothing for this job, as far as that is known before the job runs.
    pub(super) fn is_set_already(&self) -> Option<String> {
        let built_in = self.built_in?;
        if let Change::Preload(names) = built_in.change()
            && self.variables.is_empty()
        {
            return Some(format!("{} is not installed", names[0]));
        }
        let is_set =
            |(name, value): &(String, OsString)| std::env::var_os(name).as_ref() == Some(value);
        match self.variables.iter().all(is_set) && !self.variables.is_empty() {
            true => Some(format!("{} is set already", self.by_hand)),
            false => None,
        }
    }

    /// Why it changes nothing for a job that uses no more than this.
    pub(super) fn is_without_object(&self, facts: &JobFacts) -> Option<&'static str> {
        self.built_in.and_then(|built_in| facts.rules_out(built_in))
    }
}

fn built_ins(names: &[String], findings: &[Finding]) -> Result<Vec<BuiltInArm>> {
    if let [only] = names {
        match only.as_str() {
            "auto" | "all" => return Ok(BuiltInArm::ordered_by(findings)),
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
        let nearest = nearest.map_or("auto", BuiltInArm::name);
        bail!(
            "no change is called '{name}'; did you mean '{nearest}'? `leveloff try --list` has all"
        );
    };
    Ok(arm)
}

fn own_command(own: &str) -> Result<Arm> {
    let Some((name, command)) = own.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        bail!("--arm wants a name and a command: --arm 'workers0=python train.py --num-workers 0'");
    };
    if command.trim().is_empty() {
        bail!("--arm '{name}=' has no command; write --arm '{name}=python train.py …'");
    }
    Ok(Arm {
        name: name.to_owned(),
        built_in: None,
        by_hand: format!("`{command}`"),
        variables: Vec::new(),
        command: Some(["sh", "-c", command].map(OsString::from).to_vec()),
    })
}

fn own_variable(variable: &str) -> Result<Arm> {
    let Some((name, value)) = variable
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
    else {
        bail!("--env wants a variable and its value: --env OMP_NUM_THREADS=1");
    };
    Ok(Arm {
        name: variable.to_owned(),
        built_in: None,
        by_hand: variable.to_owned(),
        variables: vec![(name.to_owned(), value.into())],
        command: None,
    })
}

/// The same command with another interpreter in its first word.
fn other_python(python: &Path, command: &[OsString]) -> Result<Arm> {
    let shown = python.display();
    if !python.is_file() {
        bail!("--python {shown} does not exist; name the interpreter, such as venv/bin/python");
    }
    let first = command.first().map(Path::new);
    let first = first.and_then(Path::file_name).unwrap_or_default();
    if !first.to_string_lossy().starts_with("python") {
        bail!(
            "--python replaces the first word of the command, which is no python but {}; use --arm 'NAME=CMD'",
            first.to_string_lossy()
        );
    }
    let mut replaced = command.to_vec();
    replaced[0] = python.into();
    Ok(Arm {
        name: format!("python {shown}"),
        built_in: None,
        by_hand: format!("{shown}"),
        variables: Vec::new(),
        command: Some(replaced),
    })
}

fn refuse_equal_names(arms: &[Arm]) -> Result<()> {
    for (place, arm) in arms.iter().enumerate() {
        if arm.name == "control" || arms[..place].iter().any(|other| other.name == arm.name) {
            bail!(
                "two changes are called '{}'; give each a name of its own",
                arm.name
            );
        }
    }
    Ok(())
}

/// Where the dynamic linker finds libraries of this machine.
fn installed(name: &str) -> Option<PathBuf> {
    let directories = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/local/lib",
    ];
    let paths = directories.map(|directory| Path::new(directory).join(name));
    paths.into_iter().find(|path| path.is_file())
}

/// In front of what is loaded first already.
fn preloaded(library: &Path) -> OsString {
    let mut all = library.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
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
    fn changes_of_ones_own_need_a_name_and_a_command() {
        assert_eq!(own_command("a=python b.py").unwrap().name, "a");
        assert!(error_of(own_command("python b.py")).starts_with("--arm wants"));
        assert!(error_of(own_command("a= ")).contains("has no command"));
        assert!(error_of(own_variable("NAME")).starts_with("--env wants"));
    }

    #[test]
    fn names_are_unique() {
        let arm = own_command("a=true").unwrap();
        assert!(refuse_equal_names(&[arm.clone(), arm]).is_err());
        assert!(refuse_equal_names(&[own_command("control=true").unwrap()]).is_err());
    }
}
