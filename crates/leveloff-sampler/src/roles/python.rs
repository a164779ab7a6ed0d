//! What a Python interpreter was told to run.

use crate::facts::ProcessFacts;

/// The first thing on the command line that is not an interpreter flag. What follows belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told<'a> {
    /// `-c CODE`
    Code(&'a [u8]),
    /// `-m MODULE`
    Module(&'a [u8]),
    /// A file.
    Script(&'a [u8]),
}

/// What this process was told, if it is a Python interpreter. `sh -c` takes the same flag, and its
/// code could quote anything.
pub(super) fn told(facts: &ProcessFacts) -> Option<Told<'_>> {
    let program = facts.program();
    if !program.starts_with(b"python") && !program.starts_with(b"pypy") {
        return None;
    }
    let mut arguments = facts.command.iter().skip(1).map(Vec::as_slice);
    loop {
        match arguments.next()? {
            b"-c" => return arguments.next().map(Told::Code),
            b"-m" => return arguments.next().map(Told::Module),
            // The two flags whose value may stand apart.
            b"-X" | b"-W" => drop(arguments.next()),
            flag if flag.starts_with(b"-") && flag != b"-" => {}
            script => return Some(Told::Script(script)),
        }
    }
}
