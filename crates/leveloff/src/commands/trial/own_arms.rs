//! Changes of the user's own: another command, a variable, another interpreter, versions of a package.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};

use super::arm::Arm;
use super::interpreter::Interpreter;
use super::venvs::VenvStore;
use super::versions::{PackageVersion, Versions};
use crate::args::TryArgs;

/// All of them, in the order of the options.
pub(super) fn chosen(args: &TryArgs) -> Result<Vec<Arm>> {
    let commands = args.own.iter().map(|own| own_command(own));
    let variables = args.env.iter().map(|variable| own_variable(variable));
    let pythons = args.python.iter();
    let pythons = pythons.map(|python| other_python(python, &args.command));
    let mut arms: Vec<Arm> = commands
        .chain(variables)
        .chain(pythons)
        .collect::<Result<_>>()?;
    arms.extend(versions(args)?);
    Ok(arms)
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
        version: None,
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
        version: None,
    })
}

/// The same command with another interpreter in its first word.
fn other_python(python: &Path, command: &[OsString]) -> Result<Arm> {
    let shown = python.display();
    if !python.is_file() {
        bail!("--python {shown} does not exist; name the interpreter, such as venv/bin/python");
    }
    Ok(Arm {
        name: format!("python {shown}"),
        built_in: None,
        by_hand: format!("{shown}"),
        variables: Vec::new(),
        command: Some(with_python(python, command, "--python")?),
        version: None,
    })
}

/// A version of a package for each that is named.
fn versions(args: &TryArgs) -> Result<Vec<Arm>> {
    let mut arms = Vec::new();
    for (bisection, text) in args.bisect.iter().enumerate() {
        let Versions { package, versions } = Versions::parse(text)?;
        // Refused before Python is asked.
        with_python(Path::new("python"), &args.command, "--bisect")?;
        let interpreter = Interpreter::describe(&args.command[0], &package)?;
        let versions: Vec<PackageVersion> = versions
            .into_iter()
            .map(|version| PackageVersion {
                package: package.clone(),
                version,
                bisection,
            })
            .collect();
        let store = VenvStore::of_user()?;
        store.check_space(&interpreter, versions.iter())?;
        for version in versions {
            let python = store.python(&version, &interpreter);
            arms.push(Arm {
                name: version.requirement(),
                built_in: None,
                by_hand: version.requirement(),
                variables: Vec::new(),
                command: Some(with_python(&python, &args.command, "--bisect")?),
                version: Some(version),
            });
        }
    }
    Ok(arms)
}

fn with_python(python: &Path, command: &[OsString], option: &str) -> Result<Vec<OsString>> {
    let first = command.first().map(Path::new);
    let first = first.and_then(Path::file_name).unwrap_or_default();
    if !first.to_string_lossy().starts_with("python") {
        bail!(
            "{option} replaces the first word of the command, which is no python but {}; write `python -m …`, or use \
             --arm 'NAME=CMD'",
            first.to_string_lossy()
        );
    }
    let mut replaced = command.to_vec();
    replaced[0] = python.into();
    Ok(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(result: Result<impl std::fmt::Debug>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn changes_of_ones_own_need_a_name_and_a_command() {
        assert_eq!(own_command("a=python b.py").unwrap().name, "a");
        assert!(error_of(own_command("python b.py")).starts_with("--arm wants"));
        assert!(error_of(own_command("a= ")).contains("has no command"));
        assert!(error_of(own_variable("NAME")).starts_with("--env wants"));
    }

    #[test]
    fn only_python_can_be_replaced_by_another() {
        let command = |word: &str| vec![OsString::from(word), "train.py".into()];
        let replaced = with_python(
            Path::new("venv/python"),
            &command("/usr/bin/python3.11"),
            "x",
        );
        assert_eq!(replaced.unwrap()[0], "venv/python");
        let error = error_of(with_python(
            Path::new("p"),
            &command("torchrun"),
            "--bisect",
        ));
        assert!(error.contains("no python but torchrun"), "{error}");
    }
}
