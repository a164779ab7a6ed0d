//! What the kernel shows of a process and of the machine, read again and by hand.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use leveloff_trainer::pattern::SeenIn;

/// All processes share the machine's /dev/shm: tests that use it take turns.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads what a pattern's truth is seen in: bytes, or descriptors.
pub fn read(seen_in: SeenIn, pid: u32) -> f64 {
    match seen_in {
        SeenIn::Trainer => memory(pid),
        SeenIn::Tree => tree(pid).into_iter().map(memory).sum(),
        SeenIn::DevShm => used(Path::new("/dev/shm")),
        SeenIn::MachineShmem => kib_in("/proc/meminfo", "Shmem:"),
        SeenIn::Descriptors => descriptors(pid) as f64,
    }
}

/// A process's own memory: shared pages count by their share.
pub fn memory(pid: u32) -> f64 {
    let rollup = format!("/proc/{pid}/smaps_rollup");
    kib_in(&rollup, "Pss_Anon:") + kib_in(&rollup, "Pss_Shmem:")
}

/// A process's RSS, where shared pages count in full.
pub fn rss(pid: u32) -> f64 {
    kib_in(&format!("/proc/{pid}/smaps_rollup"), "Rss:")
}

pub fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// A process and all its descendants.
pub fn tree(root: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = processes().collect();
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        let parent = found[next];
        let children = parents.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(pid, _)| *pid));
        next += 1;
    }
    found
}

/// The words of a process's command line.
pub fn command_line(pid: u32) -> Vec<String> {
    let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    line.split_terminator('\0').map(str::to_owned).collect()
}

pub fn comm(pid: u32) -> String {
    let comm = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
    comm.trim_end().to_owned()
}

/// Every process with its parent.
fn processes() -> impl Iterator<Item = (u32, u32)> {
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let name = entry.ok()?.file_name();
        name.to_str()?.parse::<u32>().ok()
    });
    numbers.filter_map(|pid| Some((pid, parent(pid)?)))
}

fn parent(pid: u32) -> Option<u32> {
    // The name of a process may contain anything, so what follows it is found from the end.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind_the_name) = stat.rsplit_once(')')?;
    behind_the_name.split_whitespace().nth(1)?.parse().ok()
}

fn used(place: &Path) -> f64 {
    let space = rustix::fs::statvfs(place).unwrap();
    ((space.f_blocks - space.f_bfree) * space.f_frsize) as f64
}

fn kib_in(file: &str, name: &str) -> f64 {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let value = line.unwrap_or_else(|| panic!("{file} has no {name}"));
    let kib: f64 = value.trim().trim_end_matches(" kB").parse().unwrap();
    kib * 1024.0
}
