//! A kernel file that is opened once and read repeatedly.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Holds one descriptor. Reading at offset 0 makes the kernel write the file again, without the path walk
/// and the allocation that opening costs.
#[derive(Debug)]
pub(crate) struct KeptFile(File);

/// Large enough for meminfo and every single-value file; longer files make the buffer grow.
const FIRST_BUFFER: usize = 4096;

impl KeptFile {
    pub(crate) fn open(path: &Path) -> io::Result<KeptFile> {
        File::open(path).map(KeptFile)
    }

    /// The beginning of the file, with one system call. An incomplete last line is dropped, because half a
    /// number is a wrong one.
    pub(crate) fn beginning<'b>(&self, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
        if buffer.len() < FIRST_BUFFER {
            buffer.resize(FIRST_BUFFER, 0);
        }
        let length = read_at(&self.0, buffer, 0)?;
        let whole_lines = memchr::memrchr(b'\n', &buffer[..length]).map_or(0, |end| end + 1);
        Ok(&buffer[..whole_lines])
    }

    /// The whole file, however long.
    pub(crate) fn whole<'b>(&self, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
        let mut filled = 0;
        loop {
            if buffer.len() < filled + FIRST_BUFFER {
                buffer.resize(filled + FIRST_BUFFER, 0);
            }
            match read_at(&self.0, &mut buffer[filled..], filled)? {
                0 => return Ok(&buffer[..filled]),
                more => filled += more,
            }
        }
    }
}

/// A file of the kernel, read once. `std::fs::read` asks for its size, which is 0, and then reads it in small pieces.
pub(crate) fn read_once(path: &Path) -> io::Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let length = KeptFile::open(path)?.whole(&mut buffer)?.len();
    buffer.truncate(length);
    Ok(buffer)
}

fn read_at(file: &File, into: &mut [u8], offset: usize) -> io::Result<usize> {
    loop {
        match file.read_at(into, offset as u64) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_read_sees_the_file_as_it_is_now() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.current");
        std::fs::write(&path, "17\n").unwrap();
        let file = KeptFile::open(&path).unwrap();
        let mut buffer = Vec::new();
        assert_eq!(file.beginning(&mut buffer).unwrap(), b"17\n");
        std::fs::write(&path, "4096\n").unwrap();
        assert_eq!(file.beginning(&mut buffer).unwrap(), b"4096\n");
        assert_eq!(file.whole(&mut buffer).unwrap(), b"4096\n");
    }

    #[test]
    fn long_files_are_read_whole_and_a_beginning_ends_with_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vmstat");
        let text: String = (0..2000).map(|n| format!("key_{n} {n}\n")).collect();
        std::fs::write(&path, &text).unwrap();
        let file = KeptFile::open(&path).unwrap();
        let mut buffer = Vec::new();
        let beginning = file.beginning(&mut buffer).unwrap();
        assert!(beginning.len() < FIRST_BUFFER && beginning.ends_with(b"\n"));
        assert_eq!(file.whole(&mut buffer).unwrap(), text.as_bytes());
    }

    #[test]
    fn the_kernel_writes_its_files_anew() {
        let file = KeptFile::open(Path::new("/proc/self/stat")).unwrap();
        let mut buffer = Vec::new();
        let first = file.whole(&mut buffer).unwrap().to_vec();
        let again = file.whole(&mut buffer).unwrap();
        assert!(first.len() > 40 && again.len() > 40);
    }
}
