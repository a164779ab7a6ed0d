//! Threads with names that torch gives them and that only a training process has.

use std::io;
use std::path::Path;

use leveloff_model::process::printable;

/// Names of such threads, each once, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrainingThreads(pub Vec<String>);

/// Prefixes of the names (torch 2.5 and later): the backward pass, the process groups, the store of the
/// rendezvous. `pt_data_worker` is the name of a process that does not train.
const NAMES: [&[u8]; 6] = [
    b"pt_autograd",
    b"pt_nccl",
    b"pt_gloo",
    b"pt_tcpstore",
    b"pt_data_pin",
    b"pt_reentrant",
];

/// How many threads are read.
const MOST_THREADS: usize = 4096;

/// Reads the names in a `task` directory.
pub fn read(directory: &Path) -> io::Result<TrainingThreads> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)?.take(MOST_THREADS) {
        // A thread that has ended since it was listed is no error.
        if let Ok(name) = entry.and_then(|entry| std::fs::read(entry.path().join("comm")))
            && NAMES.iter().any(|known| name.starts_with(known))
        {
            names.push(printable(name.trim_ascii_end()));
        }
    }
    names.sort();
    names.dedup();
    Ok(TrainingThreads(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_telling_names_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        for (thread, name) in [
            ("1", "python\n"),
            ("2", "pt_nccl_watchdg\n"),
            ("3", "pt_data_worker\n"),
        ] {
            std::fs::create_dir(directory.path().join(thread)).unwrap();
            std::fs::write(directory.path().join(thread).join("comm"), name).unwrap();
        }
        assert_eq!(read(directory.path()).unwrap().0, ["pt_nccl_watchdg"]);
    }
}
