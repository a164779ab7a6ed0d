//! What can go wrong, and what is possible instead.

use std::io;

use leveloff_model::process::Pid;

/// Why the library cannot be added to a program that runs, or not be taken out.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// It has ended.
    #[error("there is no process {0}; `leveloff find` lists training runs")]
    Gone(Pid),
    /// Another user namespace, a program without a dump, or a policy of the kernel.
    #[error(
        "process {0} may not be examined: {1}; this takes the rights of a debugger over it: its user and user namespace, and no \
         policy against it (kernel.yama.ptrace_scope)"
    )]
    Forbidden(Pid, io::Error),
    /// Not even root is let in: the directory of the segments is the user's own.
    #[error("process {0} belongs to the user with the number {1}; run leveloff as that user")]
    OtherUser(Pid, u32),
    /// Nothing asks it to load anything.
    #[error(
        "process {0} is no Python: a library can be added to a running program only if that is Python 3.14 or later. Start it \
         again with `leveloff run --blame -- …`"
    )]
    NotPython(Pid),
    /// PEP 768 came with 3.14.
    #[error(
        "process {pid} is Python {}.{}, and only 3.14 or later loads a library while it runs. Start it again with `leveloff run \
         --blame -- …`; or see what the next minutes allocate with `memray attach {pid}`, which needs gdb or lldb",
        version.0, version.1
    )]
    OldPython {
        /// The process.
        pid: Pid,
        /// Its version.
        version: (u32, u32),
    },
    /// Its objects have other heads, and its threads no common lock.
    #[error(
        "process {0} is a Python without the global interpreter lock, which leveloff does not support; `memray attach {0}` may"
    )]
    FreeThreaded(Pid),
    /// It has the library already.
    #[error(
        "process {0} was started with --blame already; `leveloff blame FILE` reads its recording"
    )]
    AlreadyBlamed(Pid),
    /// In a container.
    #[error("process {0} sees other files than leveloff; run leveloff in the same container")]
    OtherFiles(Pid),
    /// Only the same version can ask.
    #[error("there is no python{}.{} to ask process {pid} with; it must be in PATH", version.0, version.1)]
    NoInterpreter {
        /// The process.
        pid: Pid,
        /// Its version.
        version: (u32, u32),
    },
    /// No place for the script.
    #[error("cannot write the script for the program: {0}")]
    NoScript(io::Error),
    /// Python or the kernel does not allow it.
    #[error("the program cannot be asked: {0}")]
    Refused(String),
    /// The library says no.
    #[error("the program did not accept the library: {0}")]
    NotAccepted(String),
    /// Another tool has wrapped Python's allocator since.
    #[error(
        "another tool of the program still uses the library, so it stays in place; it is silent and passes every call on"
    )]
    StaysInPlace,
}

impl AttachError {
    /// What the interpreter printed when it was asked to ask.
    pub(super) fn refused(stderr: &[u8]) -> AttachError {
        let text = String::from_utf8_lossy(stderr);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        let last = last.unwrap_or("no reason was given").trim();
        let is_forbidden = last.contains("PermissionError") || last.contains("not permitted");
        AttachError::Refused(match is_forbidden {
            true => format!(
                "{last}. It takes the rights of a debugger: kernel.yama.ptrace_scope=0, or root (as the program's own user: \
                 CAP_SYS_PTRACE)"
            ),
            false => last.to_owned(),
        })
    }
}

/// What the script wrote: the library's number (`preload/attachment.rs`), or what Python raised.
pub(super) fn result_of(text: &str) -> Result<(), AttachError> {
    let why = match text.trim() {
        "0" => return Ok(()),
        "7" => return Err(AttachError::StaysInPlace),
        "1" => "it has been sampled before; each process can be sampled once in this way",
        "2" => "its allocator is linked into the program, and would not be seen whole",
        "3" => "it has no memory, or the kernel is older than 4.14",
        "4" => "it runs under a sanitizer, or the name of the directory is too long",
        "5" => "none of its libraries calls malloc in a way that can be redirected",
        "6" => "its tables are protected against changes",
        other => other,
    };
    Err(AttachError::NotAccepted(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_worded() {
        assert!(result_of("0\n").is_ok());
        assert!(matches!(result_of("7"), Err(AttachError::StaysInPlace)));
        let why = |text| result_of(text).unwrap_err().to_string();
        assert!(why("2").contains("linked into the program"), "{}", why("2"));
        let raised = "OSError: x.so: cannot allocate memory in static TLS block";
        assert!(why(raised).contains("static TLS"), "{}", why(raised));
    }

    #[test]
    fn a_refusal_ends_with_what_to_do() {
        let stderr = b"Traceback (most recent call last):\n  File \"<string>\"\nPermissionError: [Errno 1] x\n";
        let text = AttachError::refused(stderr).to_string();
        assert!(
            text.contains("[Errno 1] x. It takes") && text.contains("ptrace_scope"),
            "{text}"
        );
        let text = AttachError::refused(b"").to_string();
        assert!(text.ends_with("no reason was given"), "{text}");
    }
}
