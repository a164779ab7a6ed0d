//! Resource limits of leveloff itself.

use std::sync::Arc;

/// Past a limit on file sizes (`ulimit -f`) a write ends the writer by signal. When the signal is
/// caught, the write fails as on a full disk, which is reported and survived.
pub(crate) fn survive_file_size_limit() {
    // If that is not allowed, the signal ends leveloff like any other program.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::default());
}

/// Two or three descriptors are kept open for each process, so the soft limit is raised to the hard one. The command
/// under `run` is started before this.
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If that is not allowed, running out is reported when it happens.
    let _ = setrlimit(Resource::Nofile, limit);
}
