//! The library on disk, and the variables that have a program load it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;
use tempfile::TempDir;

#[cfg(has_preload_library)]
const LIBRARY: Option<&[u8]> = Some(include_bytes!(concat!(
    env!("OUT_DIR"),
    "/libleveloff_blame.so"
)));
#[cfg(not(has_preload_library))]
const LIBRARY: Option<&[u8]> = None;

pub(crate) const LIBRARY_NAME: &str = "libleveloff_blame.so";
/// The directory of segments, as the library reads it.
const DIRECTORY: &str = "LEVELOFF_BLAME_DIR";
const PRELOAD: &str = "LD_PRELOAD";
/// A sanitizer refuses to start behind a preloaded library, unless an option forbids the check. The library is silent there.
const SANITIZER: &str = "ASAN_OPTIONS";
const SANITIZER_OPTION: &str = "verify_asan_link_order=0";

/// Why lines cannot be blamed here.
#[derive(Debug, thiserror::Error)]
pub enum PreloadError {
    /// Another architecture or C library.
    #[error(
        "--blame needs Linux with glibc on x86-64 or aarch64; this leveloff was built for another system"
    )]
    Unsupported,
    /// All places are mounted noexec, or cannot be written.
    #[error(
        "--blame has to put a library where programs may be executed from, and found no such place: {tried}"
    )]
    NoPlace {
        /// The places, with what was wrong.
        tried: String,
    },
    /// The path would be split by the dynamic linker.
    #[error("--blame cannot use {}: LD_PRELOAD separates names by blanks and colons; set TMPDIR to another place", path.display())]
    UnusablePath {
        /// The path.
        path: PathBuf,
    },
}

/// A directory of this user alone that holds the library and receives the segments. Dropping it removes it.
#[derive(Debug)]
pub struct PreloadDirectory {
    directory: TempDir,
}

impl PreloadDirectory {
    /// Creates it in the first place that allows execution. `/var/tmp` comes first: it is on disk, where segments do not
    /// count as memory.
    pub fn create() -> Result<PreloadDirectory, PreloadError> {
        let library = LIBRARY.ok_or(PreloadError::Unsupported)?;
        let places = [PathBuf::from("/var/tmp"), std::env::temp_dir()]
            .into_iter()
            .chain(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from))
            .chain(std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
        let mut tried = Vec::new();
        for place in places {
            match create_in(&place, library) {
                Ok(directory) => return PreloadDirectory { directory }.checked(),
                Err(why) => tried.push(format!("{}: {why}", place.display())),
            }
        }
        let tried = tried.join("; ");
        Err(PreloadError::NoPlace { tried })
    }

    fn checked(self) -> Result<PreloadDirectory, PreloadError> {
        let path = self.path().to_owned();
        let is_split = |byte: &u8| matches!(byte, b' ' | b':' | b'$');
        match path.as_os_str().as_bytes().iter().any(is_split) {
            true => Err(PreloadError::UnusablePath { path }),
            false => Ok(self),
        }
    }

    /// Where segments appear.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The variables that a program has to be started with. The library comes before what the user preloads: behind another
    /// allocator it would see nothing, in front of it it passes every call on.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let library = self.path().join(LIBRARY_NAME);
        let joined = |name: &str, value: OsString| {
            let mut all = value;
            if let Some(users) = std::env::var_os(name).filter(|users| !users.is_empty()) {
                all.push(":");
                all.push(users);
            }
            (OsString::from(name), all)
        };
        vec![
            joined(PRELOAD, library.into_os_string()),
            joined(SANITIZER, SANITIZER_OPTION.into()),
            (DIRECTORY.into(), self.path().into()),
        ]
    }
}

/// Whether `--blame` works here.
pub fn check() -> Result<(), PreloadError> {
    PreloadDirectory::create().map(drop)
}

fn create_in(place: &Path, library: &[u8]) -> Result<TempDir, String> {
    let words = |error: std::io::Error| error.to_string();
    let mount = rustix::fs::statvfs(place).map_err(|errno| words(errno.into()))?;
    if mount.f_flag.contains(StatVfsMountFlags::NOEXEC) {
        return Err("mounted noexec".to_owned());
    }
    let directory = tempfile::Builder::new()
        .prefix("leveloff-blame-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(place)
        .map_err(words)?;
    let mut file = File::create_new(directory.path().join(LIBRARY_NAME)).map_err(words)?;
    file.write_all(library).map_err(words)?;
    file.set_permissions(fs::Permissions::from_mode(0o500))
        .map_err(words)?;
    Ok(directory)
}
