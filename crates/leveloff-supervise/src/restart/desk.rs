//! Where the starter asks whether to start again.

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A socket in a directory that is only ours. It goes with us.
#[derive(Debug)]
pub struct Desk {
    directory: PathBuf,
    address: PathBuf,
    listener: UnixListener,
    asking: Option<UnixStream>,
}

/// Start again.
pub const AGAIN: &str = "again\n";

/// End as the command ended.
pub const END: &str = "end\n";

/// A socket's name must be short, so it is not in the user's directory.
const PLACE: &str = "/tmp";

impl Desk {
    /// Opens it.
    pub fn open() -> Result<Desk> {
        let directory = new_directory().context("cannot make a directory in /tmp for restarts")?;
        let address = directory.join("desk");
        let listener = UnixListener::bind(&address)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .context("cannot make a socket for restarts")?;
        Ok(Desk {
            directory,
            address,
            listener,
            asking: None,
        })
    }

    /// Where to ask.
    pub fn address(&self) -> &Path {
        &self.address
    }

    /// Whether somebody waits for an answer.
    pub fn is_asked(&mut self) -> bool {
        if self.asking.is_none()
            && let Ok((asking, _)) = self.listener.accept()
        {
            self.asking = Some(asking);
        }
        self.asking.is_some()
    }

    /// Answers; whether anybody heard it.
    pub fn answer(&mut self, again: bool) -> bool {
        let answer = if again { AGAIN } else { END };
        let asking = self.asking.take();
        asking.is_some_and(|mut asking| asking.write_all(answer.as_bytes()).is_ok())
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // What stays is an empty directory of ours, which harms nobody.
        let _ = std::fs::remove_file(&self.address);
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// A new one, that nobody else can look into. A name that is taken is left alone.
fn new_directory() -> std::io::Result<PathBuf> {
    let own = std::process::id();
    let mut number = 0_u32;
    loop {
        let path = Path::new(PLACE).join(format!("leveloff-restart-{own}-{number}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 1000 => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}
