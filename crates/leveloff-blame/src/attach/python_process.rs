//! Which Python a process runs, recognised by what it has mapped.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use leveloff_model::process::Pid;

use super::AttachError;
use crate::preload::LIBRARY_NAME;

/// The first version that executes a debugger's script.
const FIRST: (u32, u32) = (3, 14);

/// A process that can be asked.
#[derive(Debug)]
pub(super) struct PythonProcess {
    pub pid: Pid,
    pub version: (u32, u32),
    /// An interpreter of the same version.
    pub interpreter: PathBuf,
}

/// A version and whether it does without the global lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Build {
    version: (u32, u32),
    is_free_threaded: bool,
}

impl PythonProcess {
    pub fn find(pid: Pid) -> Result<PythonProcess, AttachError> {
        let place = PathBuf::from(format!("/proc/{}", pid.0));
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => AttachError::Forbidden(pid, error),
            _ => AttachError::Gone(pid),
        };
        let executable = fs::read_link(place.join("exe")).map_err(unreadable)?;
        let maps = fs::read_to_string(place.join("maps")).map_err(unreadable)?;
        let build = build(&executable, &maps).ok_or(AttachError::NotPython(pid))?;
        let environment = fs::read(place.join("environ")).unwrap_or_default();
        if is_preloaded(&environment) {
            return Err(AttachError::AlreadyBlamed(pid));
        }
        let version = build.version;
        match build {
            _ if version < FIRST => Err(AttachError::OldPython { pid, version }),
            Build {
                is_free_threaded: true,
                ..
            } => Err(AttachError::FreeThreaded(pid)),
            _ => Ok(PythonProcess {
                pid,
                version,
                interpreter: interpreter(&executable, version)
                    .ok_or(AttachError::NoInterpreter { pid, version })?,
            }),
        }
    }
}

/// The build of a program, from the names of what it has mapped: `python3.14`, `libpython3.14.so.1.0`, or an extension
/// module, `_ssl.cpython-314-x86_64-linux-gnu.so`.
fn build(executable: &Path, maps: &str) -> Option<Build> {
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    let files = paths.filter_map(|path| path.rsplit('/').next());
    let named = executable.file_name().and_then(|name| name.to_str());
    let dotted = named.into_iter().chain(files.clone()).find_map(|file| {
        let rest = file.strip_prefix("lib").unwrap_or(file);
        build_of_dotted(rest.strip_prefix("python")?)
    });
    dotted.or_else(|| {
        files
            .filter_map(|file| file.split_once(".cpython-"))
            .find_map(|(_, rest)| build_of_digits(rest.split('-').next()?))
    })
}

/// `3.14`, `3.14t`, `3.14.so.1.0`.
fn build_of_dotted(text: &str) -> Option<Build> {
    let (major, rest) = text.split_once('.')?;
    let digits = rest.len()
        - rest
            .trim_start_matches(|it: char| it.is_ascii_digit())
            .len();
    Some(Build {
        version: (major.parse().ok()?, rest[..digits].parse().ok()?),
        is_free_threaded: rest[digits..].starts_with('t'),
    })
}

/// `314`, `314t`.
fn build_of_digits(text: &str) -> Option<Build> {
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let (major, minor) = digits.split_at_checked(1)?;
    Some(Build {
        version: (major.parse().ok()?, minor.parse().ok()?),
        is_free_threaded: text.ends_with('t'),
    })
}

fn is_preloaded(environment: &[u8]) -> bool {
    let library = LIBRARY_NAME.as_bytes();
    let names_library = |value: &[u8]| value.windows(library.len()).any(|part| part == library);
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|variable| {
        variable
            .strip_prefix(b"LD_PRELOAD=")
            .is_some_and(names_library)
    })
}

/// The program's own interpreter, or one of its version in PATH if Python is embedded in the program.
fn interpreter(executable: &Path, version: (u32, u32)) -> Option<PathBuf> {
    let is_python = |name: &std::ffi::OsStr| name.as_bytes().starts_with(b"python");
    if executable.file_name().is_some_and(is_python) && executable.exists() {
        return Some(executable.to_owned());
    }
    let name = format!("python{}.{}", version.0, version.1);
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).map(|place| place.join(&name));
    places.find(|place| place.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(executable: &str, mapped: &str) -> Option<Build> {
        let maps = format!(
            "7f00-7f01 r--p 00000000 fe:00 18                   {mapped}\n7ffe-7fff rw-p 0 0:0 0 [stack]\n"
        );
        build(Path::new(executable), &maps)
    }

    fn standard(major: u32, minor: u32) -> Option<Build> {
        Some(Build {
            version: (major, minor),
            is_free_threaded: false,
        })
    }

    #[test]
    fn the_version_is_told_from_any_of_three_names() {
        assert_eq!(
            found("/usr/bin/python3.14", "/usr/lib/libc.so.6"),
            standard(3, 14)
        );
        assert_eq!(
            found("/usr/bin/uwsgi", "/usr/lib/libpython3.15.so.1.0"),
            standard(3, 15)
        );
        let module = "/x/lib-dynload/_ssl.cpython-314-x86_64-linux-gnu.so";
        assert_eq!(found("/opt/train", module), standard(3, 14));
        assert_eq!(found("/usr/bin/python3.9", module), standard(3, 9));
    }

    #[test]
    fn a_free_threaded_build_is_told() {
        let is_free_threaded = |found: Option<Build>| found.unwrap().is_free_threaded;
        assert!(is_free_threaded(found("/usr/bin/python3.14t", "")));
        assert!(is_free_threaded(found(
            "/opt/x",
            "/x/_ssl.cpython-314t-x86_64-linux-gnu.so"
        )));
        assert!(!is_free_threaded(found("/opt/x", "/x/libpython3.14.so")));
    }

    #[test]
    fn other_programs_are_no_python() {
        assert_eq!(found("/usr/bin/sleep", "/usr/lib/libc.so.6"), None);
        assert_eq!(found("/usr/bin/pythonx", "/usr/lib/python-tools.so"), None);
    }

    #[test]
    fn a_program_that_was_started_with_blame_is_told() {
        assert!(is_preloaded(
            b"A=1\0LD_PRELOAD=/x/libleveloff_blame.so:/y.so\0B=2\0"
        ));
        assert!(!is_preloaded(b"A=libleveloff_blame.so\0LD_PRELOAD=/y.so\0"));
    }
}
