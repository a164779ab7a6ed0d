//! The output of a job, for messages about its end.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use leveloff_model::process::printable;
use leveloff_report::secrets::masked_text;

/// More than any last line of interest.
const TAIL: u64 = 8192;

/// Longer lines are cut.
const LONGEST: usize = 120;

/// What leveloff prints if it cannot start the job, which then prints nothing.
const NOT_STARTED: &str = "leveloff: cannot ";

/// The last line that the job itself printed, or why it was not started.
pub(super) fn last_line(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = || text.lines().rev().map(str::trim);
    let own = lines().find(|line| !line.is_empty() && !line.starts_with("leveloff: "));
    let not_started = || lines().find(|line| line.starts_with(NOT_STARTED));
    let line = own.or_else(not_started)?;
    let line = line.strip_prefix("leveloff: ").unwrap_or(line);
    let line: String = printable(line.as_bytes()).chars().take(LONGEST).collect();
    Some(masked_text(&line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_the_jobs_own() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let log = "step 1\nImportError: no torch\n\nleveloff: run ended\n";
        std::fs::write(file.path(), log).unwrap();
        let line = last_line(file.path());
        assert_eq!(line.as_deref(), Some("ImportError: no torch"));
        assert_eq!(last_line(Path::new("/nothing/here")), None);
    }

    #[test]
    fn a_job_that_was_not_started_says_why() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let log = "leveloff: cannot start 'x': No such file\nleveloff: run ended\n";
        std::fs::write(file.path(), log).unwrap();
        let line = last_line(file.path());
        assert_eq!(line.as_deref(), Some("cannot start 'x': No such file"));
    }
}
