//! Lines of a stream of any length, in bounded memory.

use std::fs::File;
use std::io::{self, Read};

use crate::observation_sink::{ObservationSink, counted};
use crate::stream::Stream;

/// Hands out one line after the other.
pub struct Lines {
    rest: Box<dyn Read + Send>,
    file: Option<(File, u64)>,
    buffer: Vec<u8>,
    /// What of the buffer is not handed out yet.
    start: usize,
    end: usize,
    is_at_end: bool,
    /// Lines that were skipped because they are too long.
    pub too_long: u64,
    /// The last line was incomplete and was left out.
    pub is_torn: bool,
}

/// A line longer than this is no line of a table or a log.
const LONGEST_LINE: usize = 1 << 20;

/// What is read at once.
const CHUNK: usize = 256 << 10;

impl Lines {
    /// The lines of a stream, those of its head first.
    pub fn of(stream: Stream) -> Lines {
        let end = stream.head.len();
        Lines {
            rest: stream.rest,
            file: stream.file,
            buffer: stream.head,
            start: 0,
            end,
            is_at_end: stream.is_whole,
            too_long: 0,
            is_torn: false,
        }
    }

    /// The next line without its end, be that LF or CR LF.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = self.start..searched + at;
                self.start = line.end + 1;
                return Ok(Some(without_return(&self.buffer[line])));
            }
            if self.is_at_end {
                return Ok(self.last_line());
            }
            if self.end - self.start > LONGEST_LINE {
                self.pass_over_line()?;
            } else {
                self.fill()?;
            }
            searched = self.start;
        }
    }

    /// All bytes that are left, for a reader that splits lines itself.
    pub fn bytes(&mut self) -> impl Read + '_ {
        self.buffer[self.start..self.end].chain(&mut self.rest)
    }

    /// Notes which lines were left out.
    pub fn report(&self, sink: &mut ObservationSink<'_>) {
        if self.is_torn {
            sink.notes
                .push("the last line is incomplete, as if it was still being written".to_owned());
        }
        if self.too_long > 0 {
            let lines = counted(self.too_long, "lines");
            sink.notes
                .push(format!("left out {lines}: longer than 1 MiB"));
        }
    }

    /// What follows the last newline: a line without its end, or a part of a line that is still being written. A part of
    /// a number is another number.
    fn last_line(&mut self) -> Option<&[u8]> {
        if self.start == self.end {
            return None;
        }
        let line = self.start..self.end;
        self.start = self.end;
        if self.file.as_ref().is_some_and(is_being_written) {
            self.is_torn = true;
            return None;
        }
        Some(without_return(&self.buffer[line]))
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < self.end + CHUNK {
            self.buffer.resize(self.end + CHUNK, 0);
        }
        let read = read_some(&mut self.rest, &mut self.buffer[self.end..])?;
        self.end += read;
        self.is_at_end = read == 0;
        Ok(())
    }

    /// Reads on to the next newline and keeps nothing on the way.
    fn pass_over_line(&mut self) -> io::Result<()> {
        self.too_long += 1;
        while !self.is_at_end {
            let found = memchr::memchr(b'\n', &self.buffer[self.start..self.end]);
            if let Some(at) = found {
                self.start += at + 1;
                return Ok(());
            }
            self.start = self.end;
            self.fill()?;
        }
        Ok(())
    }
}

fn read_some(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// It has grown since it was opened, or ends where a writer's buffer does.
fn is_being_written((file, size_at_open): &(File, u64)) -> bool {
    /// Buffers of C, Python and Rust are whole multiples of this.
    const BUFFER: u64 = 4096;
    let has_grown = file
        .metadata()
        .is_ok_and(|metadata| metadata.len() > *size_at_open);
    has_grown || size_at_open % BUFFER == 0
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::stream::Input;

    fn lines_of(stream: Stream) -> (Vec<String>, Lines) {
        let mut lines = Lines::of(stream);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push(String::from_utf8_lossy(line).into_owned());
        }
        (all, lines)
    }

    fn of_bytes(bytes: Vec<u8>) -> Stream {
        Stream::of(Box::new(io::Cursor::new(bytes))).unwrap()
    }

    #[test]
    fn lines_end_in_either_way_or_not_at_all() {
        let (lines, _) = lines_of(of_bytes(b"a\r\n\nb\nc".to_vec()));
        assert_eq!(lines, ["a", "", "b", "c"]);
        assert!(lines_of(of_bytes(Vec::new())).0.is_empty());
    }

    #[test]
    fn lines_do_not_depend_on_where_chunks_end() {
        let text: String = (0..200_000).map(|n| format!("{n}\n")).collect();
        let (lines, _) = lines_of(of_bytes(text.into_bytes()));
        assert_eq!(lines.len(), 200_000);
        assert!(
            lines
                .iter()
                .enumerate()
                .all(|(n, line)| *line == n.to_string())
        );
    }

    #[test]
    fn an_endless_line_is_passed_over_in_bounded_memory() {
        let mut bytes = b"first\n".to_vec();
        bytes.resize(20 << 20, b'x');
        bytes.extend(b"\nlast\n");
        let (lines, state) = lines_of(of_bytes(bytes));
        assert_eq!(lines, ["first", "last"]);
        assert_eq!(state.too_long, 1);
        assert!(state.buffer.len() < 4 << 20, "{}", state.buffer.len());
    }

    #[test]
    fn a_file_that_grows_ends_where_it_was_and_loses_the_torn_line() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "1,10\n2,2").unwrap();
        let stream = Input::from(file.path()).open().unwrap();
        write!(file, "0\n3,30\n").unwrap();
        let (lines, state) = lines_of(stream);
        assert_eq!(lines, ["1,10"]);
        assert!(state.is_torn);
    }

    #[test]
    fn a_file_at_rest_may_lack_its_last_newline_but_not_at_the_end_of_a_buffer() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "1,10\n2,20").unwrap();
        assert_eq!(
            lines_of(Input::from(file.path()).open().unwrap()).0.len(),
            2
        );
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[b"1,10\n".repeat(819), b"2".to_vec()].concat())
            .unwrap();
        let (lines, state) = lines_of(Input::from(file.path()).open().unwrap());
        assert_eq!((lines.len(), state.is_torn), (819, true));
    }
}
