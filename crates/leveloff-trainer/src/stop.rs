//! Requests to stop: a signal, or a file beside the marks.
//!
//! The step at hand is finished, and a checkpoint saved. Who presses Ctrl-C a second time wants out.
//!
//! A hard patient hears neither, so that a guard's further stages can be tested.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A signal: Ctrl-C, or an end that was asked for kindly.
    BySignal,
    /// The file.
    ByRequest,
}

impl Asked {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Asked::BySignal => "a signal",
            Asked::ByRequest => "a stop request",
        }
    }
}

/// What is not heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deafness {
    /// The file.
    pub to_requests: bool,
    /// SIGTERM and SIGINT.
    pub to_signals: bool,
}

/// Listens.
#[derive(Debug)]
pub struct StopRequests {
    signalled: Arc<AtomicBool>,
    request: Option<PathBuf>,
}

impl StopRequests {
    /// For signals, and for a request at this path, as far as they are heard.
    pub fn listen(request: Option<&Path>, deafness: Deafness) -> io::Result<StopRequests> {
        let signalled = Arc::new(AtomicBool::new(false));
        if !deafness.to_signals {
            StopRequests::listen_to_signals(&signalled)?;
        }
        let request = request.filter(|_| !deafness.to_requests);
        Ok(StopRequests {
            signalled,
            request: request.map(Path::to_owned),
        })
    }

    fn listen_to_signals(signalled: &Arc<AtomicBool>) -> io::Result<()> {
        let interrupted = Arc::new(AtomicBool::new(false));
        // Registered first: it acts when the flag is set already, and the next lines set it.
        flag::register_conditional_default(SIGINT, Arc::clone(&interrupted))?;
        flag::register(SIGINT, interrupted)?;
        for signal in [SIGINT, SIGTERM] {
            flag::register(signal, Arc::clone(signalled))?;
        }
        Ok(())
    }

    /// Whether someone asked until now.
    pub fn asked(&self) -> Option<Asked> {
        if self.signalled.load(Ordering::Relaxed) {
            return Some(Asked::BySignal);
        }
        let request = self.request.as_deref()?;
        is_believed(request).then_some(Asked::ByRequest)
    }

    /// Takes the request away, now that it was obeyed.
    pub fn obeyed(&self) {
        if let Some(request) = self.request.as_deref().filter(|path| is_believed(path)) {
            let _ = fs::remove_file(request);
        }
    }
}

/// Only our own user and root may stop us, and only by a file of theirs: a link could be anyone's.
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
        assert_eq!(requests.asked(), None);
        fs::write(&path, "").expect("written");
        assert_eq!(requests.asked(), Some(Asked::ByRequest));
        requests.obeyed();
        assert_eq!(requests.asked(), None);
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
    fn a_link_and_a_strangers_file_are_no_requests() {
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
