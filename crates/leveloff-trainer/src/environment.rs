//! How many threads candle may use.
//!
//! Candle asks `RAYON_NUM_THREADS` at each product and takes all cores without it. With one thread
//! the training is the same each time, leaves cores to what watches it, and can fork. A variable
//! cannot be set soundly in a process that is running, so the program executes itself again with it:
//! same pid, same start time, same arguments.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What candle and rayon read.
const THREADS: &str = "RAYON_NUM_THREADS";

/// Returns if all is as wanted, or if it cannot be had: `threads`, else what the user's environment
/// says, else one.
pub fn settle(threads: Option<u32>) {
    let set = std::env::var_os(THREADS);
    if let Some(wanted) = missing(threads, set.as_deref()) {
        let error = start_anew(&wanted);
        crate::notice::notice(&format!(
            "cannot restart with {THREADS}={wanted}: {error}; set it yourself for the same \
             numbers each time"
        ));
    }
}

/// What the variable must become, if it is not that already.
fn missing(threads: Option<u32>, set: Option<&OsStr>) -> Option<String> {
    let wanted = match (threads, set) {
        (Some(threads), _) => threads.to_string(),
        (None, Some(_)) => return None,
        (None, None) => "1".to_owned(),
    };
    (set != Some(OsStr::new(&wanted))).then_some(wanted)
}

/// Returns only if that fails.
fn start_anew(threads: &str) -> io::Error {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    match std::env::current_exe() {
        Err(error) => error,
        Ok(program) => Command::new(program)
            .arg0(name)
            .args(arguments)
            .env(THREADS, threads)
            .exec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_unless_someone_wants_more() {
        let missing = |threads, set: Option<&str>| missing(threads, set.map(OsStr::new));
        assert_eq!(missing(None, None).as_deref(), Some("1"));
        assert_eq!(missing(None, Some("8")), None);
        assert_eq!(missing(Some(2), Some("8")).as_deref(), Some("2"));
        // It ends: the restarted program finds the variable set.
        assert_eq!(missing(Some(2), Some("2")), None);
        assert_eq!(missing(None, Some("1")), None);
    }
}
