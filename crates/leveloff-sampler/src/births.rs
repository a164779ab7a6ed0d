//! Who was born since the last look, without a look through all of /proc.
//!
//! The kernel counts process numbers upwards, and `/proc/loadavg` ends with the newest one. As long
//! as it stands still, nobody was born; when it moved by a few, only these few need be looked at.
//! A machine that runs thousands of processes starts some in every second, and listing them all
//! each time would cost more than reading the tree.

use std::os::fd::OwnedFd;

use leveloff_model::process::Pid;
use rustix::fs::{Mode, OFlags};
use rustix::io::pread;

use crate::handle::Scratch;
use crate::kernel::keyed::leading_number;
use crate::proc_root::ProcRoot;

/// What the kernel's counter of process numbers did since it was last looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Births {
    /// It stands still.
    Nobody,
    /// It went over these numbers. Some are processes, some threads, some are gone already.
    Numbers(Vec<Pid>),
    /// It went over too many to look at each, or cannot be read.
    Many,
    /// It began again from the bottom: a number that was known may be somebody else's.
    Wrapped,
}

/// Follows the newest process number.
#[derive(Debug)]
pub struct BirthCounter {
    file: Option<OwnedFd>,
    last: Option<u64>,
}

/// Numbers that are looked at one by one: a look at a number takes some microseconds, a listing
/// about one for each process of the machine, and then each has to be told from those known.
const LOOKED_AT_SINGLY: u64 = 32;

impl BirthCounter {
    /// The counter of a /proc.
    pub fn open(root: &ProcRoot) -> BirthCounter {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::open(root.path().join("loadavg"), flags, Mode::empty()).ok();
        BirthCounter { file, last: None }
    }

    /// Looks again.
    pub fn look(&mut self, scratch: &mut Scratch) -> Births {
        let newest = self.file.as_ref().and_then(|file| {
            let length = pread(file, &mut scratch[..], 0).ok()?;
            newest_pid(&scratch[..length])
        });
        let births = births(self.last, newest);
        self.last = newest;
        births
    }
}

/// Whether a `stat` is a thread's. A thread's number can be opened in /proc like a process's,
/// although it is not listed there. Threads send no signal to anybody when they end: the 38th
/// field, the 36th from the state on, is −1.
pub fn is_thread(stat: &[u8]) -> bool {
    memchr::memrchr(b')', stat)
        .and_then(|end| stat.get(end + 2..))
        .and_then(|fields| fields.split(|&byte| byte == b' ').nth(35))
        .is_some_and(|exit_signal| exit_signal == b"-1")
}

fn births(before: Option<u64>, now: Option<u64>) -> Births {
    match (before, now) {
        (Some(before), Some(now)) if now == before => Births::Nobody,
        (Some(before), Some(now)) if now < before => Births::Wrapped,
        (Some(before), Some(now)) if now - before <= LOOKED_AT_SINGLY => Births::Numbers(
            (before + 1..=now)
                .filter_map(|number| i32::try_from(number).ok().map(Pid))
                .collect(),
        ),
        _ => Births::Many,
    }
}

fn newest_pid(loadavg: &[u8]) -> Option<u64> {
    let field = loadavg.trim_ascii_end().rsplit(|&b| b == b' ').next()?;
    leading_number(field).map(|(pid, _)| pid)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_newest_pid_is_the_last_field() {
        assert_eq!(newest_pid(b"0.00 0.01 0.00 2/79 2024\n"), Some(2024));
        assert_eq!(newest_pid(b""), None);
    }

    #[test]
    fn a_few_are_named_and_many_are_not() {
        assert_eq!(births(Some(7), Some(7)), Births::Nobody);
        assert_eq!(
            births(Some(7), Some(9)),
            Births::Numbers(vec![Pid(8), Pid(9)])
        );
        assert_eq!(births(Some(7), Some(7000)), Births::Many);
        assert_eq!(births(Some(7000), Some(301)), Births::Wrapped);
        assert_eq!(births(None, Some(7)), Births::Many);
        assert_eq!(births(Some(7), None), Births::Many);
    }

    #[test]
    fn a_thread_is_told_from_a_process() {
        let (tell, told) = channel();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_pid()).unwrap();
            ended.recv().unwrap();
        });
        let stat_of = |number: &str| std::fs::read(format!("/proc/{number}/stat")).unwrap();
        assert!(is_thread(&stat_of(&told.recv().unwrap().to_string())));
        assert!(!is_thread(&stat_of("self")));
        end.send(()).unwrap();
        thread.join().unwrap();
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = (is_thread(&text), newest_pid(&text));
        }
    }
}
