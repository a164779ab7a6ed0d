//! The session of a process, asked of the kernel.
//!
//! rustix has no number for the session of a kernel thread, which is 0, and nothing in /proc is as cheap: opening a file
//! there takes fifty times as long.

#![allow(unsafe_code)]

use leveloff_model::process::Pid;
use rustix::io::Errno;

/// The session of a process or thread of our own pid namespace. It is 0 for kernel threads and for sessions that were
/// created outside of the namespace.
pub fn session_id(pid: Pid) -> Result<Pid, Errno> {
    // SAFETY: the call takes and returns numbers, and touches no memory of ours.
    let session = unsafe { libc::getsid(pid.0) };
    match session {
        -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::SRCH)),
        session => Ok(Pid(session)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_that_of_stat_and_a_number_without_a_process_has_none() {
        let pid = Pid(std::process::id() as i32);
        let text = std::fs::read("/proc/self/stat").unwrap();
        let stat = crate::kernel::stat::parse(&text).unwrap();
        assert_eq!(session_id(pid), Ok(stat.session));
        assert_eq!(session_id(Pid(i32::MAX)), Err(Errno::SRCH));
    }
}
