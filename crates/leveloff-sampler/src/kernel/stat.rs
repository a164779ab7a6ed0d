//! `/proc/PID/stat`.

use leveloff_model::process::{Pid, ProcessState, StartTicks};

use super::keyed::leading_number;

/// The fields of `stat` that leveloff uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat<'a> {
    /// Process number.
    pub pid: Pid,
    /// The name, raw: it may hold spaces, parentheses, newlines and any other byte but NUL.
    pub comm: &'a [u8],
    /// Scheduler state.
    pub state: ProcessState,
    /// Parent.
    pub parent: Pid,
    /// Process group.
    pub group: Pid,
    /// Session.
    pub session: Pid,
    /// Faults without I/O.
    pub minor_faults: u64,
    /// Faults with I/O.
    pub major_faults: u64,
    /// User and system time in clock ticks.
    pub cpu_ticks: u64,
    /// Threads.
    pub threads: u32,
    /// Start, in clock ticks since boot.
    pub start: StartTicks,
    /// Where its stack began when it executed its program: a fork has its parent's, any other
    /// program a random one. `None` where the kernel hides it.
    pub stack_start: Option<u64>,
}

/// Reads `stat`; `None` when the bytes are not one.
pub fn parse(text: &[u8]) -> Option<Stat<'_>> {
    let (pid, rest) = leading_number(text)?;
    let comm_start = rest.strip_prefix(b" (")?;
    // The name may itself hold ") ", so it ends at the last closing parenthesis.
    let comm_end = memchr::memrchr(b')', comm_start)?;
    let comm = &comm_start[..comm_end];
    let mut fields = comm_start.get(comm_end + 2..)?.split(|&b| b == b' ');
    let state = ProcessState::from(char::from(*fields.next()?.first()?));
    let mut number = |skipped: usize| signed(fields.nth(skipped)?);
    let (parent, group, session) = (number(0)?, number(0)?, number(0)?);
    // Skipped: terminal, its group, flags; faults of children; priority and niceness; interval timer.
    let (minor_faults, major_faults) = (number(3)?, number(1)?);
    let (user, system) = (number(1)?, number(0)?);
    let (threads, start) = (number(4)?, number(1)?);
    // Skipped: sizes, the limit, and where the code is.
    let stack_start = number(5).and_then(|address| u64::try_from(address).ok());
    Some(Stat {
        pid: Pid(i32::try_from(pid).ok()?),
        comm,
        state,
        parent: Pid(i32::try_from(parent).ok()?),
        group: Pid(i32::try_from(group).ok()?),
        session: Pid(i32::try_from(session).ok()?),
        minor_faults: u64::try_from(minor_faults).ok()?,
        major_faults: u64::try_from(major_faults).ok()?,
        cpu_ticks: u64::try_from(user)
            .ok()?
            .checked_add(u64::try_from(system).ok()?)?,
        threads: u32::try_from(threads).ok()?,
        start: StartTicks(u64::try_from(start).ok()?),
        // The kernel writes 0 without permission to trace the process, and 1 for a process without memory.
        stack_start: stack_start.filter(|&address| address > 1),
    })
}

fn signed(field: &[u8]) -> Option<i64> {
    let (negative, digits) = match field.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, field),
    };
    let (number, rest) = leading_number(digits)?;
    if !rest.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    // Some fields are unsigned 64-bit masks; none that is used here exceeds i64.
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    Some(if negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TAIL: &[u8] =
        b" S 10 11 12 34816 77 4194304 501 2 3 4 150 50 1 1 20 0 20 0 987654 8589934592 1000 18446744073709551615 1 1 140721007610416";

    fn with_comm(comm: &[u8]) -> Vec<u8> {
        [b"42 (", comm, b")", TAIL].concat()
    }

    #[test]
    fn every_used_field_is_read() {
        let text = with_comm(b"python");
        let stat = parse(&text).unwrap();
        assert_eq!(stat.pid, Pid(42));
        assert_eq!(stat.comm, b"python");
        assert_eq!(
            (stat.state, stat.parent, stat.group, stat.session),
            (ProcessState::Sleeping, Pid(10), Pid(11), Pid(12))
        );
        assert_eq!((stat.minor_faults, stat.major_faults), (501, 3));
        assert_eq!((stat.cpu_ticks, stat.threads), (200, 20));
        assert_eq!(stat.start, StartTicks(987_654));
        assert_eq!(stat.stack_start, Some(140_721_007_610_416));
    }

    #[test]
    fn names_may_hold_anything() {
        for comm in [
            &b"a b"[..],
            b"x) S 1 1",
            b"((",
            b"))",
            b"new\nline",
            b"\xff\xfe",
            b"",
        ] {
            let text = with_comm(comm);
            let stat = parse(&text).unwrap();
            assert_eq!(stat.comm, comm);
            assert_eq!(stat.start, StartTicks(987_654));
        }
    }

    #[test]
    fn our_own_stat_agrees_with_the_procfs_crate() {
        let text = std::fs::read("/proc/self/stat").unwrap();
        let ours = parse(&text).unwrap();
        use procfs_core::FromRead;
        let theirs = procfs_core::process::Stat::from_read(&text[..]).unwrap();
        assert_eq!(ours.pid, Pid(theirs.pid));
        assert_eq!(ours.parent, Pid(theirs.ppid));
        assert_eq!(ours.minor_faults, theirs.minflt);
        assert_eq!(ours.cpu_ticks, theirs.utime + theirs.stime);
        assert_eq!(i64::from(ours.threads), theirs.num_threads);
        assert_eq!(ours.start, StartTicks(theirs.starttime));
        assert_eq!(ours.stack_start, Some(theirs.startstack));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&text);
        }

        #[test]
        fn no_cut_makes_it_panic(cut in 0usize..140) {
            let text = with_comm(b"a) b");
            let _ = parse(&text[..cut.min(text.len())]);
        }
    }
}
