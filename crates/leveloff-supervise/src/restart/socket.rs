//! The socket at which the wrapper waits for the answer whether to restart.

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A socket in a private directory. Dropping it removes both.
#[derive(Debug)]
pub struct RestartSocket {
    directory: PathBuf,
    address: PathBuf,
    listener: UnixListener,
    wrapper: Option<UnixStream>,
}

/// The answer for a restart.
pub const AGAIN: &str = "again\n";

/// The answer for none: exit as the command did.
pub const END: &str = "end\n";

/// The path of a socket has a short maximum length, so the directory is not under TMPDIR.
const PARENT: &str = "/tmp";

impl RestartSocket {
    /// Makes the directory and listens.
    pub fn open() -> Result<RestartSocket> {
        let directory = new_directory().context("cannot make a directory in /tmp for restarts")?;
        let address = directory.join("socket");
        let listener = UnixListener::bind(&address)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .context("cannot make a socket for restarts")?;
        Ok(RestartSocket {
            directory,
            address,
            listener,
            wrapper: None,
        })
    }

    /// The path of the socket.
    pub fn address(&self) -> &Path {
        &self.address
    }

    /// Whether the wrapper waits for an answer.
    pub fn is_connected(&mut self) -> bool {
        if self.wrapper.is_none() {
            self.wrapper = self.listener.accept().ok().map(|(stream, _)| stream);
        }
        self.wrapper.is_some()
    }

    /// Answers; whether the wrapper was there to get it.
    pub fn answer(&mut self, again: bool) -> bool {
        let answer = if again { AGAIN } else { END };
        let wrapper = self.wrapper.take();
        wrapper.is_some_and(|mut wrapper| wrapper.write_all(answer.as_bytes()).is_ok())
    }
}

impl Drop for RestartSocket {
    fn drop(&mut self) {
        // At worst, an empty directory stays.
        let _ = std::fs::remove_file(&self.address);
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// Makes a new directory for this user only. An existing one is never used.
fn new_directory() -> std::io::Result<PathBuf> {
    let own = std::process::id();
    let mut number = 0_u32;
    loop {
        let path = Path::new(PARENT).join(format!("leveloff-restart-{own}-{number}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 1000 => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}
