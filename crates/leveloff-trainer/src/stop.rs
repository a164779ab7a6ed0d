//! Requests to stop: a signal, or a file beside the marks.
//!
//! The training finishes the current step and saves a checkpoint. A second Ctrl-C ends it at once.
//!
//! Both can be ignored, to test the later stages of a guard.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// What stops the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// SIGINT or SIGTERM.
    Signal,
    /// The stop request, a file.
    Request,
}

impl StopCause {
    /// Its name in messages.
    pub fn words(self) -> &'static str {
        match self {
            StopCause::Signal => "a signal",
            StopCause::Request => "a stop request",
        }
    }
}

/// Stop requests that the training ignores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IgnoredStops {
    /// The file beside the marks.
    pub requests: bool,
    /// SIGTERM and SIGINT.
    pub signals: bool,
}

/// Watches for signals and for the request file.
#[derive(Debug)]
pub struct StopRequests {
    signalled: Arc<AtomicBool>,
    request: Option<PathBuf>,
}

impl StopRequests {
    /// Watches for signals, and for a request at this path, unless they are ignored.
    pub fn listen(request: Option<&Path>, ignored: IgnoredStops) -> io::Result<StopRequests> {
        let signalled = Arc::new(AtomicBool::new(false));
        if !ignored.signals {
            StopRequests::catch_signals(&signalled)?;
        }
        let request = request.filter(|_| !ignored.requests);
        Ok(StopRequests {
            signalled,
            request: request.map(Path::to_owned),
        })
    }

    fn catch_signals(signalled: &Arc<AtomicBool>) -> io::Result<()> {
        let interrupted = Arc::new(AtomicBool::new(false));
        // Registered first: it acts when the flag is set already, and the next lines set it.
        flag::register_conditional_default(SIGINT, Arc::clone(&interrupted))?;
        flag::register(SIGINT, interrupted)?;
        for signal in [SIGINT, SIGTERM] {
            flag::register(signal, Arc::clone(signalled))?;
        }
        Ok(())
    }

    /// The cause to stop, if there is one now.
    pub fn cause(&self) -> Option<StopCause> {
        if self.signalled.load(Ordering::Relaxed) {
            return Some(StopCause::Signal);
        }
        let request = self.request.as_deref()?;
        is_believed(request).then_some(StopCause::Request)
    }

    /// Removes the request after it was obeyed.
    pub fn obeyed(&self) {
        if let Some(request) = self.request.as_deref().filter(|path| is_believed(path)) {
            let _ = fs::remove_file(request);
        }
    }
}

/// Only a regular file of our own user or root is obeyed: anyone could have made a link.
fn is_believed(request: &Path) -> bool {
    let own = rustix::process::getuid().as_raw();
    fs::symlink_metadata(request)
        .is_ok_and(|found| found.is_file() && (found.uid() == own || found.uid() == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_ours_is_a_request_until_it_was_obeyed() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("1.stop");
        let requests = StopRequests {
            signalled: Arc::default(),
            request: Some(path.clone()),
        };
        assert_eq!(requests.cause(), None);
        fs::write(&path, "").expect("written");
        assert_eq!(requests.cause(), Some(StopCause::Request));
        requests.obeyed();
        assert_eq!(requests.cause(), None);
        assert!(!path.exists());
    }

    /// The shared fixtures of the protocol: any text is a request, an empty one too.
    #[test]
    fn every_request_of_the_fixtures_is_obeyed() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/marks/stop-requests.json");
        let text = fs::read_to_string(path).expect("the fixture");
        let cases: Vec<serde_json::Value> = serde_json::from_str(&text).expect("JSON");
        let place = tempfile::tempdir().expect("a directory");
        let request = place.path().join("1.stop");
        for case in cases {
            fs::write(&request, case["text"].as_str().expect("a text")).expect("written");
            assert!(is_believed(&request), "{case}");
        }
    }

    #[test]
    fn a_link_and_a_file_of_another_user_are_no_requests() {
        let place = tempfile::tempdir().expect("a directory");
        let link = place.path().join("1.stop");
        std::os::unix::fs::symlink("/etc/passwd", &link).expect("a link");
        assert!(!is_believed(&link));
        let strange = place.path().join("2.stop");
        fs::write(&strange, "").expect("written");
        match std::os::unix::fs::chown(&strange, Some(12_345), None) {
            Ok(()) => assert!(!is_believed(&strange)),
            Err(error) => leveloff_testkit::cannot_run_here(&format!(
                "only root can give a file away ({error})"
            )),
        }
    }
}
