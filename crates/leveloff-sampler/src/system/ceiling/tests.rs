use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;

const GIB: u64 = 1 << 30;

fn gib(amount: u64) -> Bytes {
    Bytes(amount * GIB)
}

fn ceiling(kind: CeilingKind, limit: u64, used: u64) -> Option<Ceiling> {
    Some(Ceiling {
        kind,
        limit: gib(limit),
        used: gib(used),
    })
}

/// 32 GiB of which 20 can be had, and 8 GiB of swap with 2 in use.
fn machine() -> MachineReading {
    MachineReading {
        total: Some(gib(32)),
        available: Some(gib(20)),
        swap_total: Some(gib(8)),
        swap_used: Some(gib(2)),
        ..MachineReading::default()
    }
}

fn check(
    stated: Option<&str>,
    cgroup: Option<Ceiling>,
    rlimit: Option<Ceiling>,
    expected: Option<Ceiling>,
) {
    let limits = Limits {
        stated: stated.map(|text| text.parse().unwrap()),
        cgroup,
        rlimit,
        machine: &machine(),
        tree: gib(5),
    };
    assert_eq!(nearest(&limits), expected, "stated {stated:?}");
}

use CeilingKind::{Cgroup, Host, Rlimit, Stated};

#[test]
fn the_least_headroom_wins_and_not_the_smallest_limit() {
    check(None, None, None, ceiling(Host, 40, 14));
    check(
        None,
        ceiling(Cgroup, 100, 90),
        None,
        ceiling(Cgroup, 100, 90),
    );
    check(None, ceiling(Cgroup, 30, 1), None, ceiling(Host, 40, 14));
    check(None, None, ceiling(Rlimit, 64, 60), ceiling(Rlimit, 64, 60));
    check(Some("28GiB"), None, None, ceiling(Stated, 28, 5));
    check(Some("200GiB"), None, None, ceiling(Host, 40, 14));
}

#[test]
fn a_share_is_of_the_nearest_other_limit() {
    check(
        Some("50%"),
        ceiling(Cgroup, 16, 2),
        None,
        ceiling(Stated, 8, 2),
    );
    check(
        Some("50%"),
        ceiling(Cgroup, 64, 2),
        None,
        ceiling(Stated, 20, 14),
    );
    check(Some("100%"), None, None, ceiling(Stated, 40, 14));
}

#[test]
fn a_limit_already_passed_has_no_headroom_and_wins() {
    check(
        Some("4GiB"),
        ceiling(Cgroup, 16, 15),
        None,
        ceiling(Stated, 4, 5),
    );
}

#[test]
fn what_is_unknown_does_not_limit() {
    let nothing = MachineReading::default();
    let limits = Limits {
        stated: Some(Limit::Share(0.9)),
        cgroup: None,
        rlimit: None,
        machine: &nothing,
        tree: gib(5),
    };
    assert_eq!(nearest(&limits), None);
    let no_swap_numbers = MachineReading {
        swap_used: None,
        ..machine()
    };
    assert_eq!(host(&no_swap_numbers), ceiling(Host, 32, 12));
}

const LIMITS: &[u8] =
    b"Limit                     Soft Limit           Hard Limit           Units     \n\
Max data size             2147483648           unlimited            bytes     \n\
Max address space         unlimited            unlimited            bytes     \n";

#[test]
fn soft_limits_are_held_against_what_the_kernel_compares() {
    let status = b"VmSize:\t 9000000 kB\nVmData:\t 1048576 kB\n";
    assert_eq!(rlimit_ceiling(LIMITS, status), ceiling(Rlimit, 2, 1));
    assert_eq!(rlimit_ceiling(b"", status), None);
    assert_eq!(rlimit_ceiling(LIMITS, b"Name:\tzombie\n"), None);
}

#[test]
fn a_real_child_with_ulimit_v_has_a_ceiling() {
    // `read` waits for our pipe, so the child stays until its limits were read.
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v 1000000 && echo set && read line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 4];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
    let pid = Pid(child.id().try_into().unwrap());
    let found = rlimit(&ProcRoot::live(), pid).unwrap().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    child.wait().unwrap();
    assert_eq!(found.limit, Bytes::from_kib(1_000_000));
    assert!(found.used.0 > 0 && found.used < found.limit, "{found:?}");
    assert!(rlimit(&ProcRoot::live(), pid).is_err(), "it is gone");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        limits in proptest::collection::vec(any::<u8>(), 0..200),
        status in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = rlimit_ceiling(&limits, &status);
        let _ = soft_limits(&[b"Max data size ", &limits[..]].concat());
    }

    #[test]
    fn the_nearest_never_has_more_headroom_than_the_host(
        available in 0u64..64, limit in 0u64..64, used in 0u64..64,
    ) {
        let machine = MachineReading { available: Some(gib(available)), ..machine() };
        let limits = Limits {
            stated: None,
            cgroup: ceiling(Cgroup, limit, used),
            rlimit: None,
            machine: &machine,
            tree: gib(1),
        };
        let found = nearest(&limits).unwrap();
        prop_assert!(found.headroom() <= host(&machine).unwrap().headroom());
        prop_assert!(found.headroom() <= gib(limit.saturating_sub(used)));
    }
}
