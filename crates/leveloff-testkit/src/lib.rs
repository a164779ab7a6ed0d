//! Support for the tests of all crates. Only ever a dev-dependency.

use std::fs::File;
use std::io::Write;

/// The variable with the path of the file that lists the tests that could not run.
pub const SKIPPED_TESTS: &str = "LEVELOFF_SKIPPED_TESTS";

/// Reports that the test of this thread cannot run on this machine; the test then returns.
///
/// The test harness captures what `println!` prints and counts the test as passed. This writes past the harness, and
/// into the file of [`SKIPPED_TESTS`], from which `scripts/test` prints a summary.
pub fn cannot_run_here(why: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    let _ = write!(std::io::stderr(), "CANNOT RUN HERE: {line}");
    if let Some(path) = std::env::var_os(SKIPPED_TESTS)
        && let Ok(mut file) = File::options().create(true).append(true).open(path)
    {
        // In a single write, so that lines of other tests do not mix.
        let _ = file.write_all(line.as_bytes());
    }
}
