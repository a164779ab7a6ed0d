//! What a Python interpreter runs.

use crate::facts::ProcessFacts;

/// The first thing on the command line that is not an interpreter flag. What follows belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PythonTarget<'a> {
    /// `-c CODE`
    Code(&'a [u8]),
    /// `-m MODULE`
    Module(&'a [u8]),
    /// A file.
    Script(&'a [u8]),
}

/// What this process runs, if it is a Python interpreter. `sh -c` takes the same flag, and its code could
/// quote anything.
pub(super) fn python_target(facts: &ProcessFacts) -> Option<PythonTarget<'_>> {
    let program = facts.program();
    if !program.starts_with(b"python") && !program.starts_with(b"pypy") {
        return None;
    }
    let mut arguments = facts.command.iter().skip(1).map(Vec::as_slice);
    loop {
        match arguments.next()? {
            b"-c" => return arguments.next().map(PythonTarget::Code),
            b"-m" => return arguments.next().map(PythonTarget::Module),
            // The two flags that may be separated from their value.
            b"-X" | b"-W" => drop(arguments.next()),
            flag if flag.starts_with(b"-") && flag != b"-" => {}
            script => return Some(PythonTarget::Script(script)),
        }
    }
}

/// The code behind `-c`.
pub(super) fn python_code(facts: &ProcessFacts) -> Option<&[u8]> {
    match python_target(facts)? {
        PythonTarget::Code(code) => Some(code),
        _ => None,
    }
}

/// Whether it runs the fork server's code; so do its forks, until they name themselves.
pub(super) fn is_fork_server(facts: &ProcessFacts) -> bool {
    python_code(facts)
        .is_some_and(|code| code.starts_with(b"from multiprocessing.forkserver import main;"))
}

/// Whether multiprocessing's spawn started it.
pub(super) fn is_spawned(facts: &ProcessFacts) -> bool {
    python_code(facts)
        .is_some_and(|code| code.starts_with(b"from multiprocessing.spawn import spawn_main;"))
}
