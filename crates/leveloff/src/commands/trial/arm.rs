//! One change of a trial, as environment and command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use leveloff_classifier::trial::{BuiltInArm, Change};
use leveloff_text::trial::change_by_hand;

use super::job_facts::JobFacts;
use super::versions::PackageVersion;

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
    /// The version of a package that it has, in a venv that has to be made before.
    pub version: Option<PackageVersion>,
}

/// The variable that names a change to `python_changes.py`.
pub(super) const PYTHON_CHANGE: &str = "LEVELOFF_TRY_CHANGE";

/// The variable with the libraries that the dynamic linker loads before all others.
const PRELOAD: &str = "LD_PRELOAD";

impl Arm {
    pub(super) fn of(built_in: BuiltInArm) -> Arm {
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
            version: None,
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
            version: None,
        }
    }

    /// Why it changes nothing for a job that uses no more than this.
    pub(super) fn is_left_out(&self, facts: &JobFacts, is_auto: bool) -> Option<String> {
        self.is_set_already()
            .or_else(|| self.is_without_object(facts, is_auto).map(str::to_owned))
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

    /// Why it changes nothing for a job that uses no more than this. A variable that is named is tried all the same, because
    /// it may reach what was not noted; a change that Python makes does nothing where Python notes nothing.
    fn is_without_object(&self, facts: &JobFacts, is_auto: bool) -> Option<&'static str> {
        let built_in = self.built_in?;
        let is_asked = is_auto || matches!(built_in.change(), Change::Python(_));
        facts.rules_out(built_in).filter(|_| is_asked)
    }
}

/// Where the dynamic linker finds libraries of this machine, and conda those of its environment.
fn installed(name: &str) -> Option<PathBuf> {
    let set = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let conda = std::env::var_os("CONDA_PREFIX").map(|prefix| Path::new(&prefix).join("lib"));
    let usual = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/local/lib",
    ];
    let directories = std::env::split_paths(&set).chain(conda);
    let directories = directories.chain(usual.map(PathBuf::from));
    let mut paths = directories
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name));
    paths.find(|path| path.is_file())
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
