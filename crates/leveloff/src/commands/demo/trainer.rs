//! The reference trainer: finds it, lists its patterns, starts it.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::demo_files::DemoFiles;
use super::pattern_list::PatternList;

const NAME: &str = "leveloff-trainer";

#[derive(Debug)]
pub(crate) struct Trainer {
    program: PathBuf,
}

impl Trainer {
    /// What the user named, else what lies beside this program, else what is on PATH.
    pub(crate) fn find(named: Option<&Path>) -> Result<Trainer> {
        if let Some(program) = named {
            return match is_program(program) {
                true => Ok(Trainer::at(program)),
                false => bail!(
                    "there is no program {}, which --trainer or LEVELOFF_TRAINER names as the \
                     reference trainer",
                    program.display()
                ),
            };
        }
        // Where we are, and where the link is through which we were called.
        let own = std::env::current_exe().unwrap_or_default();
        let called = std::env::args_os().next().map(PathBuf::from);
        let called = called.unwrap_or_default();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let beside = [own.parent(), called.parent()].into_iter().flatten();
        match places(beside, &path).find(|place| is_program(place)) {
            Some(program) => Ok(Trainer::at(&program)),
            None => bail!(
                "the reference trainer was found neither next to leveloff nor on PATH; it is not part of \
                 the wheel or the crate: build it from the sources with cargo build --release -p \
                 {NAME}, and pass --trainer"
            ),
        }
    }

    /// The patterns that it knows, with what is true of each in so many steps.
    pub(crate) fn patterns(&self, steps: Option<u64>) -> Result<PatternList> {
        let name = self.program.display();
        let steps = steps.map(|steps| format!("--steps={steps}"));
        let answer = Command::new(&self.program)
            .args(["--list-patterns", "--format", "json"])
            .args(steps)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("cannot start the reference trainer {name}"))?;
        if !answer.status.success() {
            bail!("{name} could not list its patterns: {}", answer.status);
        }
        PatternList::parse(&answer.stdout).with_context(|| {
            format!("{name} lists patterns in a format that this leveloff does not know; build both from the same sources")
        })
    }

    /// The command that trains with a pattern, at so many steps a second or as fast as it can. Its
    /// messages are on stderr only; steps come by marks.
    pub(crate) fn command(
        &self,
        pattern: &str,
        steps: u64,
        pace: Option<f64>,
        files: &DemoFiles,
    ) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--quiet", "--pattern", pattern]);
        command.args(["--steps", &steps.to_string()]);
        command.arg("--checkpoint-dir").arg(files.checkpoints());
        if let Some(pace) = pace {
            command.args(["--pace", &format!("{pace}")]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// An absolute path: without one, `Command` would look through PATH instead.
    fn at(program: &Path) -> Trainer {
        let program = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
        Trainer { program }
    }
}

/// Where it can be, best first.
fn places<'a>(
    beside: impl Iterator<Item = &'a Path>,
    path: &OsStr,
) -> impl Iterator<Item = PathBuf> {
    let on_path = std::env::split_paths(path);
    let directories: Vec<PathBuf> = beside.map(Path::to_owned).chain(on_path).collect();
    let directories = directories.into_iter();
    // An empty entry of PATH means the current directory to a shell, and mischief to us.
    let directories = directories.filter(|directory| !directory.as_os_str().is_empty());
    directories.map(|directory| directory.join(NAME))
}

fn is_program(path: &Path) -> bool {
    let about = std::fs::metadata(path);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_for_beside_us_before_path() {
        let found: Vec<PathBuf> =
            places([Path::new("/a")].into_iter(), OsStr::new("/b::/c")).collect();
        let expected = ["/a", "/b", "/c"].map(|directory| Path::new(directory).join(NAME));
        assert_eq!(found, expected);
    }

    #[test]
    fn only_a_file_that_can_be_run_is_a_program() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(NAME);
        assert!(!is_program(&file));
        std::fs::write(&file, "").unwrap();
        assert!(!is_program(&file));
        assert!(!is_program(directory.path()));
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        assert!(is_program(&file));
    }
}
