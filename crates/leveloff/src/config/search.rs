//! Finds the file that applies here, and checks whether it can be trusted.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::content::Config;
use super::tables::Flavour;
use super::{ConfigChoice, ConfigError};

/// Looks for a file, beginning in a directory.
#[derive(Debug, Clone)]
pub(crate) struct ConfigSearch {
    /// Where leveloff was started.
    pub directory: PathBuf,
    pub uid: u32,
    pub gid: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Finding {
    pub config: Option<Config>,
    /// Files that would apply if they could be trusted.
    pub passed_over: Vec<PassedOver>,
}

/// A file that was found and is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PassedOver {
    pub file: PathBuf,
    pub why: String,
    /// What can be done.
    pub next: &'static str,
}

impl ConfigSearch {
    /// From the current directory, as the current user.
    pub(crate) fn live() -> ConfigSearch {
        ConfigSearch {
            // A directory that was removed under us holds no file.
            directory: std::env::current_dir().unwrap_or_else(|_| ".".into()),
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        }
    }

    /// The file that was chosen, or the nearest that can be trusted.
    pub(crate) fn find(&self, choice: &ConfigChoice) -> Result<Finding, ConfigError> {
        match choice {
            ConfigChoice::Nothing => Ok(Finding::default()),
            ConfigChoice::Named(file) => self.named(file),
            ConfigChoice::Nearest => self.nearest(),
        }
    }

    /// A file that the user names needs no check of its owner.
    fn named(&self, file: &Path) -> Result<Finding, ConfigError> {
        let content = File::open(self.directory.join(file)).and_then(read_all);
        let content = content.map_err(|why| unreadable(file, why))?;
        match Config::parse(file, &content, Flavour::of(file))? {
            Some(config) => Ok(Finding {
                config: Some(config),
                passed_over: Vec::new(),
            }),
            None => Err(ConfigError::NoTable(file.to_owned())),
        }
    }

    fn nearest(&self) -> Result<Finding, ConfigError> {
        let mut finding = Finding::default();
        for file in self.candidates() {
            match self.examine(&file)? {
                Candidate::None => {}
                Candidate::Unfit(why, next) => {
                    finding.passed_over.push(PassedOver { file, why, next });
                }
                Candidate::Fit(config) => {
                    finding.config = Some(config);
                    break;
                }
            }
        }
        Ok(finding)
    }

    /// Where a file may be, nearest first: here and, in a repository, up to its root. Elsewhere not
    /// above: who works in /tmp/x did not ask for what lies in /tmp.
    fn candidates(&self) -> Vec<PathBuf> {
        let above = || self.directory.ancestors();
        let is_root = |directory: &Path| directory.join(".git").symlink_metadata().is_ok();
        let levels = 1 + above().position(is_root).unwrap_or(0);
        let in_each = |directory: &Path| {
            // What lies here is called by its name alone.
            let is_here = directory == self.directory;
            let directory = if is_here { Path::new("") } else { directory };
            ["leveloff.toml", "pyproject.toml"].map(|name| directory.join(name))
        };
        above().take(levels).flat_map(in_each).collect()
    }

    fn examine(&self, file: &Path) -> Result<Candidate, ConfigError> {
        let flavour = Flavour::of(file);
        let path = self.directory.join(file);
        let (found, content) = match look(&path) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(Candidate::None),
            // Our own file must be readable; others need not concern us at all.
            Err(why) if flavour == Flavour::Own && self.owns(&path) => {
                return Err(unreadable(file, why));
            }
            Err(error) => return Ok(Candidate::Unfit(error.to_string(), "make it readable")),
        };
        let distrust = self.distrust(&path, &found);
        match (Config::parse(file, &content, flavour), distrust) {
            (Ok(None), _) => Ok(Candidate::None),
            (_, Some(why)) => Ok(Candidate::Unfit(why.to_owned(), NAME_IT)),
            (Ok(Some(config)), None) => Ok(Candidate::Fit(config)),
            (Err(error), None) => Err(error),
        }
    }

    /// Why another user could have written the file. Where the umask lets groups write, the user's own
    /// group has no other member.
    fn distrust(&self, path: &Path, found: &Metadata) -> Option<&'static str> {
        if !self.is_trusted(found.uid()) || !self.owns(path) {
            Some("it belongs to another user")
        } else if found.mode() & 0o002 != 0 {
            Some("every user may write it")
        } else if found.mode() & 0o020 != 0 && found.gid() != self.gid && found.gid() != 0 {
            Some("its group may write it")
        } else {
            None
        }
    }

    /// Whether what lies there, be it a link, was put there by us or by root.
    fn owns(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| self.is_trusted(found.uid()))
    }

    fn is_trusted(&self, owner: u32) -> bool {
        owner == self.uid || owner == 0
    }
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, why, next) = (self.file.display(), &self.why, self.next);
        write!(f, "{file} is not used: {why}; {next}")
    }
}

/// What to do about a file that is not trusted.
const NAME_IT: &str = "if you trust it, name it with --config";

enum Candidate {
    /// There is none, or it is not about us.
    None,
    /// Why it is not used, and what can be done.
    Unfit(String, &'static str),
    Fit(Config),
}

/// A file with its content; `None` when there is none. Facts and content are of the same file, whatever
/// happens to the name meanwhile.
fn look(path: &Path) -> io::Result<Option<(Metadata, Vec<u8>)>> {
    // A pipe of that name must not hold us up.
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    let file = match file {
        Err(error) if is_absent(&error) => return Ok(None),
        file => file?,
    };
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    Ok(Some((found, read_all(file)?)))
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// More than anyone writes by hand.
const LARGEST: u64 = 1 << 20;

fn read_all(file: File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    Ok(content)
}

fn unreadable(file: &Path, why: io::Error) -> ConfigError {
    let file = file.to_owned();
    ConfigError::Unreadable { file, why }
}

#[cfg(test)]
mod tests;
