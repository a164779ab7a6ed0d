//! Opening an input: its first bytes to recognise it by, and the rest behind them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::iter;
use std::path::{Path, PathBuf};

use crate::error::{Problem, Result};

/// Where observations come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file, a pipe with a name, a device.
    File(PathBuf),
    /// Standard input, which the command line calls `-`.
    Stdin,
}

/// The bytes of an input.
pub struct Stream {
    /// The first bytes, to recognise the format by.
    pub head: Vec<u8>,
    /// Whether `head` is all there is.
    pub is_whole: bool,
    /// What follows the head.
    pub rest: Box<dyn Read + Send>,
    /// The file and the size it had when it was opened, where that says something.
    pub file: Option<(File, u64)>,
}

/// Enough to see a header and some hundred rows.
pub const HEAD: usize = 64 << 10;

impl Input {
    /// Opens it. A file is read up to the size that it has now: one that is still being written
    /// has an end that way.
    pub fn open(&self) -> Result<Stream> {
        match self {
            Input::Stdin => Stream::of(Box::new(io::stdin())),
            Input::File(path) => open_file(path),
        }
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Input {
        if path == Path::new("-") {
            Input::Stdin
        } else {
            Input::File(path.to_owned())
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::File(path) => path.display().fmt(f),
            Input::Stdin => f.pad("stdin"),
        }
    }
}

impl Stream {
    /// Reads the head of `reader`.
    pub fn of(reader: Box<dyn Read + Send>) -> Result<Stream> {
        let mut stream = Stream {
            head: Vec::new(),
            is_whole: false,
            rest: reader,
            file: None,
        };
        stream.read_head(HEAD)?;
        Ok(stream)
    }

    /// Reads on until the head has this many bytes or the input ends.
    pub fn read_head(&mut self, bytes: usize) -> Result<()> {
        let missing = bytes.saturating_sub(self.head.len()) as u64;
        let read = (&mut self.rest).take(missing).read_to_end(&mut self.head);
        self.is_whole = (read? as u64) < missing;
        Ok(())
    }

    /// The whole lines of the head, without their ends.
    pub fn first_lines(&self) -> impl Iterator<Item = &[u8]> {
        let mut left = (!self.head.is_empty()).then(|| self.whole_lines());
        iter::from_fn(move || {
            let text = left?;
            let end = memchr::memchr(b'\n', text);
            left = end.map(|end| &text[end + 1..]);
            let line = &text[..end.unwrap_or(text.len())];
            Some(line.strip_suffix(b"\r").unwrap_or(line))
        })
    }

    /// The head without its last newline. What follows that is an incomplete line, or nothing.
    fn whole_lines(&self) -> &[u8] {
        match memchr::memrchr(b'\n', &self.head) {
            Some(end) if !self.is_whole || end + 1 == self.head.len() => &self.head[..end],
            _ => &self.head,
        }
    }
}

fn open_file(path: &Path) -> Result<Stream> {
    let file = File::open(path).map_err(|error| explain(path, &error))?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(Problem::unusable("is a directory; name the files in it"));
    }
    // The size of a pipe or of a file in /proc means nothing.
    if !metadata.is_file() || metadata.len() == 0 {
        return Stream::of(Box::new(file));
    }
    let kept = file.try_clone()?;
    let mut stream = Stream::of(Box::new(file.take(metadata.len())))?;
    stream.file = Some((kept, metadata.len()));
    Ok(stream)
}

fn explain(path: &Path, error: &io::Error) -> Problem {
    let reason = match error.kind() {
        io::ErrorKind::NotFound if path.as_os_str().is_empty() => "the name is empty",
        io::ErrorKind::NotFound => "there is no such file",
        io::ErrorKind::PermissionDenied => "permission denied; may this user read it?",
        _ => return Problem::Unusable(format!("cannot be opened: {error}")),
    };
    Problem::Unusable(format!("cannot be opened: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(head: &str, is_whole: bool) -> Vec<String> {
        let stream = Stream {
            head: head.as_bytes().to_vec(),
            is_whole,
            rest: Box::new(io::empty()),
            file: None,
        };
        let lines = stream.first_lines();
        lines
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect()
    }

    #[test]
    fn an_incomplete_line_at_the_end_of_the_head_is_left_out() {
        assert_eq!(lines("a\r\nb\nc", true), ["a", "b", "c"]);
        assert_eq!(lines("a\r\nb\nc", false), ["a", "b"]);
        assert_eq!(lines("a\n\nb\n", false), ["a", "", "b"]);
        assert_eq!(lines("a\n\n", true), ["a", ""]);
        assert_eq!(lines("only", false), ["only"]);
        assert!(lines("", true).is_empty());
    }
}
