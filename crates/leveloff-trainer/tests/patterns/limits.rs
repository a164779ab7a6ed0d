//! Limits that are met: an error that names the limit and the next step, and nothing left behind.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use leveloff_testkit::cannot_run_here;

use crate::driven::{Driven, program};
use crate::machine::{tree, turn};

/// A user without rights: a limit on processes does not bind root.
const NOBODY: u32 = 65534;

#[test]
fn a_full_shared_memory_is_an_error_and_no_signal() {
    if !rustix::process::geteuid().is_root() {
        return cannot_run_here("mounting a small one needs root");
    }
    let mount = "mount -t tmpfs -o size=8m tmpfs /dev/shm && exec \"$0\" \"$@\"";
    let tried = Command::new("unshare")
        .args(["-m", "sh", "-c", mount, "true"])
        .status();
    if !tried.is_ok_and(|status| status.success()) {
        return cannot_run_here("no mount namespace of its own is allowed");
    }
    // A mount of its own, but memory of the same machine.
    let _turn = turn();
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", mount]).arg(program());
    command.args(["shm-leak", "60"]);
    let mut driven = Driven::from_command(command);
    driven.order("begin");
    driven.steps(7);
    let error = driven.try_order("steps 5").unwrap_err();
    assert!(
        error.contains("cannot write 1.0 MiB to a file in /dev/shm"),
        "{error}"
    );
    assert!(error.contains("No space left on device"), "{error}");
    assert!(error.contains("--shm-size"), "{error}");
}

#[test]
fn too_many_open_files_is_an_error_that_names_the_limit() {
    for pattern in ["fd-leak", "memfd-leak"] {
        let mut driven = Driven::begun(pattern, 400, &["most_files=40", "rate=4KiB"]);
        let error = driven.try_order("steps 100").unwrap_err();
        assert!(error.contains("Too many open files"), "{pattern}: {error}");
        assert!(error.contains("`ulimit -Hn`"), "{pattern}: {error}");
    }
}

#[test]
fn too_many_processes_is_an_error_that_names_the_limit() {
    let place = reachable_by_anyone();
    for (pattern, order, who) in [
        ("dataloader-workers", "begin", "loader worker 1 of 4"),
        ("one-leaking-worker", "begin", "loader worker 1 of 4"),
        ("compile-workers", "begin", "a pool of 20 compile workers"),
        ("worker-process-leak", "evaluated", "a loader worker"),
    ] {
        let mut command = Command::new(place.path().join("drive"));
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY);
        }
        command.args([pattern, "60", "most_processes=1"]);
        let mut driven = Driven::from_command(command);
        let error = driven.try_order(order).unwrap_err();
        assert!(error.contains(&format!("cannot start {who}")), "{error}");
        assert!(error.contains("`ulimit -u`"), "{pattern}: {error}");
    }
}

#[test]
fn a_pool_whose_workers_cannot_be_forked_ends_and_says_why() {
    // One process for the driver, one for the pool, and none for its workers; a limit counts all
    // processes of a user, so this takes one who has no others.
    if !rustix::process::geteuid().is_root() {
        return cannot_run_here("it takes a user without other processes");
    }
    let place = reachable_by_anyone();
    let mut command = Command::new(place.path().join("drive"));
    command.uid(NOBODY - 1000 - std::process::id() % 1000);
    command.args(["compile-workers", "60", "most_processes=5"]);
    let mut driven = Driven::from_command(command);
    let error = driven.try_order("begin").unwrap_err();
    assert!(error.contains("a pool of 20 compile workers"), "{error}");
    assert!(error.contains("`ulimit -u`"), "{error}");
    assert!(tree(driven.pid()).len() <= 1);
}

/// A copy of the driver that another user can run.
fn reachable_by_anyone() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::copy(program(), place.path().join("drive")).unwrap();
    let anyone = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path(), anyone).unwrap();
    place
}
