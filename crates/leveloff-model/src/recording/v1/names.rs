//! The names that a recording uses for roles, limits and other closed sets.
//!
//! The file has enums of its own, so renaming a variant of the program cannot change the format.
//! Each keeps a name that a later leveloff wrote, and converts it to the program's `Other`.

use serde::{Deserialize, Serialize};

use crate::process::Role;
use crate::progress::ProgressSource;
use crate::sample::{CeilingKind, Subject};

/// Declares an enum of the file, its names and the conversions to and from the program's enum.
macro_rules! names {
    ($(#[$doc:meta])* $file:ident of $program:ident: $($name:literal $variant:ident,)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $file {
            $(#[serde(rename = $name)] $variant,)*
            #[serde(untagged)]
            Unknown(String),
        }

        impl From<$program> for $file {
            fn from(value: $program) -> $file {
                match value {
                    $($program::$variant => $file::$variant,)*
                }
            }
        }

        impl From<&$file> for $program {
            fn from(value: &$file) -> $program {
                match value {
                    $($file::$variant => $program::$variant,)*
                    $file::Unknown(_) => $program::Other,
                }
            }
        }
    };
}

names! {
    /// `role` of a `process` line.
    RoleName of Role:
    "launcher" Launcher,
    "trainer" Trainer,
    "compile-pool" CompilePool,
    "compile-worker" CompileWorker,
    "dataloader-worker" DataloaderWorker,
    "compiler" Compiler,
    "actor" Actor,
    "engine" Engine,
    "helper" Helper,
    "other" Other,
}

names! {
    /// `source` of an `s` line.
    SourceName of ProgressSource:
    "marks" Marks,
    "output" Output,
    "log" Log,
    "metrics" Metrics,
    "tensorboard" TensorBoard,
    "other" Other,
}

names! {
    /// `of` in a `gap` line.
    SubjectName of Subject:
    "process" Process,
    "pss" Pss,
    "fds" Fds,
    "mappings" Mappings,
    "software" Software,
    "machine" Machine,
    "cgroup" Cgroup,
    "gpu" Gpu,
    "progress" Progress,
    "clock" Clock,
    "allocations" Allocations,
    "recording" Recording,
    "other" Other,
}

names! {
    /// `kind` of a ceiling.
    CeilingName of CeilingKind:
    "cgroup" Cgroup,
    "rlimit" Rlimit,
    "host" Host,
    "stated" Stated,
    "other" Other,
}

/// `reason` of an `end` line; the code stands beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndName {
    Exited,
    Signalled,
    TargetGone,
    Duration,
    Stopped,
    Other,
    #[serde(untagged)]
    Unknown(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables and reports print the names that the recording has.
    #[test]
    fn role_names_are_those_of_the_program() {
        for role in Role::ALL {
            assert_eq!(
                serde_json::to_value(RoleName::from(role)).unwrap(),
                role.name()
            );
        }
    }

    #[test]
    fn source_names_are_those_of_the_program() {
        for source in [
            ProgressSource::Marks,
            ProgressSource::Output,
            ProgressSource::Log,
            ProgressSource::Metrics,
            ProgressSource::TensorBoard,
            ProgressSource::Other,
        ] {
            let written = serde_json::to_value(SourceName::from(source)).unwrap();
            assert_eq!(written, source.name());
        }
    }

    #[test]
    fn a_name_of_a_later_version_is_kept_and_read_as_other() {
        let name: RoleName = serde_json::from_str("\"ray-worker\"").unwrap();
        assert_eq!(name, RoleName::Unknown("ray-worker".to_owned()));
        assert_eq!(Role::from(&name), Role::Other);
        assert_eq!(serde_json::to_value(name).unwrap(), "ray-worker");
        let known: SourceName = serde_json::from_str("\"output\"").unwrap();
        assert_eq!(ProgressSource::from(&known), ProgressSource::Output);
    }

    #[test]
    fn a_value_that_is_no_name_is_damage() {
        assert!(serde_json::from_str::<CeilingName>("7").is_err());
    }
}
