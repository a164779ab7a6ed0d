//! Files that leveloff writes: whole or not at all, and never over an existing one without --force.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// What to do when there is a file already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// Leave it, and say so.
    Keep,
    /// Put the new one in its place, once that is whole.
    Replace,
}

impl Existing {
    /// What `--force` means.
    pub(crate) fn replaced_if(force: bool) -> Existing {
        if force {
            Existing::Replace
        } else {
            Existing::Keep
        }
    }
}

/// Refuses early what [`write()`] would refuse at the end.
pub(crate) fn check(path: &Path, existing: Existing) -> Result<()> {
    if is_stdout(path) || keeps_nothing(path) {
        return Ok(());
    }
    if path.is_dir() {
        bail!("{} is a directory; name a file in it", path.display());
    }
    if existing == Existing::Keep && path.symlink_metadata().is_ok() {
        bail!("{}", exists(path));
    }
    let directory = directory(path);
    if !directory.is_dir() {
        let directory = directory.display();
        bail!(
            "cannot create {}: there is no directory {directory}",
            path.display()
        );
    }
    Ok(())
}

/// Refuses to write over what is read, whatever it is called and however much it is forced.
pub(crate) fn refuse_input(output: &Path, inputs: &[impl AsRef<Path>]) -> Result<()> {
    let identity = |path: &Path| path.metadata().ok().map(|about| (about.dev(), about.ino()));
    let of_output = identity(output).filter(|_| !is_stdout(output) && !keeps_nothing(output));
    let mut inputs = inputs.iter().map(AsRef::as_ref);
    match inputs.find(|input| of_output.is_some() && identity(input) == of_output) {
        Some(input) => bail!(
            "{} would be written over {}, which is read; choose another name",
            output.display(),
            input.display()
        ),
        None => Ok(()),
    }
}

/// Writes a file as a whole; `-` is stdout, where a reader that has seen enough is no error.
pub(crate) fn write(path: &Path, contents: &[u8], existing: Existing) -> Result<()> {
    if is_stdout(path) {
        return match io::stdout().write_all(contents) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.context("cannot write to stdout"),
        };
    }
    write_with(path, existing, |file| Ok(file.write_all(contents)?))
}

/// The same for contents that are written bit by bit; `fill` writes them.
pub(crate) fn write_with<T>(
    path: &Path,
    existing: Existing,
    fill: impl FnOnce(&mut File) -> Result<T>,
) -> Result<T> {
    check(path, existing)?;
    if keeps_nothing(path) {
        let file = OpenOptions::new().write(true).open(path);
        let filled = file
            .map_err(Into::into)
            .and_then(|mut file| fill(&mut file));
        return filled.with_context(|| format!("cannot write {}", path.display()));
    }
    let unfinished = unfinished_name(path);
    let written = write_new(&unfinished, fill)
        .and_then(|filled| put_in_place(&unfinished, path, existing).map(|()| filled))
        .inspect_err(|_| drop(std::fs::remove_file(&unfinished)));
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Whether `-` is meant.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

fn keeps_nothing(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_char_device() || kind.is_fifo()
    })
}

fn exists(path: &Path) -> String {
    format!(
        "{} exists and is not overwritten; --force replaces it, or choose another name",
        path.display()
    )
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// In the same directory, so that it can be renamed; with our pid, so that two of us do not meet.
fn unfinished_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    directory(path).join(format!(".{name}.{}.unfinished", std::process::id()))
}

fn write_new<T>(path: &Path, fill: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let filled = fill(&mut file)?;
    file.sync_all()?;
    Ok(filled)
}

fn put_in_place(unfinished: &Path, path: &Path, existing: Existing) -> Result<()> {
    if existing == Existing::Replace {
        return Ok(std::fs::rename(unfinished, path)?);
    }
    match renameat_with(CWD, unfinished, CWD, path, RenameFlags::NOREPLACE) {
        // Some network file systems cannot; a link does the same there.
        Err(Errno::INVAL | Errno::NOSYS) => {
            std::fs::hard_link(unfinished, path)?;
            Ok(std::fs::remove_file(unfinished)?)
        }
        // Another program made it in the meantime.
        Err(Errno::EXIST) => bail!("{}", exists(path)),
        result => Ok(result?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_file_that_exists_is_kept_unless_it_may_be_replaced() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("report.html");
        write(&path, b"one", Existing::Keep).unwrap();
        let error = write(&path, b"two", Existing::Keep).unwrap_err();
        assert!(error.to_string().contains("--force"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write(&path, b"two", Existing::Replace).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(names(place.path()), ["report.html"]);
    }

    #[test]
    fn places_where_nothing_can_be_written_are_named() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("no/report.html");
        let error = write(&path, b"one", Existing::Replace).unwrap_err();
        assert!(error.to_string().contains("no directory"), "{error}");
        let error = write(place.path(), b"one", Existing::Replace).unwrap_err();
        assert!(error.to_string().contains("is a directory"), "{error}");
    }

    #[test]
    fn a_dangling_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (link, target) = (place.path().join("link"), place.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(write(&link, b"one", Existing::Keep).is_err());
        assert!(!target.exists());
    }

    #[test]
    fn a_full_disk_leaves_nothing_behind_and_the_old_file_as_it_was() {
        let full = Path::new("/dev/full");
        let error = write(full, b"one", Existing::Keep).unwrap_err();
        assert!(error.to_string().contains("/dev/full"), "{error}");
    }
}
