use std::fs;

use proptest::prelude::*;

use super::*;

const MEMINFO: &str = "MemTotal:       24682416 kB\nMemFree:        24301612 kB\nMemAvailable:   20000000 kB\nActive(anon):       1076 kB\nSwapTotal:       8388608 kB\nSwapFree:        8388000 kB\nShmem:             12776 kB\nShmemHugePages:        5 kB\nHugePages_Total:       0\n";

fn saved_tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn texts(reader: &mut MachineReader) -> Vec<String> {
    reader.take_gaps().into_iter().map(|gap| gap.text).collect()
}

#[test]
fn a_saved_tree_is_read_and_slow_files_only_in_a_thorough_reading() {
    let tree = saved_tree(&[
        ("meminfo", MEMINFO),
        (
            "pressure/memory",
            "some avg10=1.25 avg60=0.00 avg300=0.00 total=9\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=3\n",
        ),
        ("vmstat", "nr_free_pages 12\noom_kill 2\n"),
    ]);
    let mut reader = MachineReader::new(&ProcRoot::at(tree.path()), "/dev/shm");
    let first = reader.read(false);
    assert_eq!(first.total, Some(Bytes(24_682_416 << 10)));
    assert_eq!(first.available, Some(Bytes(20_000_000 << 10)));
    assert_eq!(first.shmem, Some(Bytes(12_776 << 10)));
    assert_eq!(first.swap_used, Some(Bytes(608 << 10)));
    assert_eq!(first.pressure_some, Some(1.25));
    assert_eq!(first.pressure_full, Some(0.5));
    assert_eq!(first.oom_kills, Some(2));

    fs::write(tree.path().join("vmstat"), "oom_kill 3\n").unwrap();
    fs::write(tree.path().join("meminfo"), "MemTotal: 10 kB\n").unwrap();
    let fast = reader.read(false);
    assert_eq!(fast.oom_kills, Some(2));
    assert_eq!(fast.total, Some(Bytes(10 << 10)));
    assert_eq!((fast.available, fast.swap_used), (None, None));
    assert_eq!(reader.read(true).oom_kills, Some(3));
    let gaps = texts(&mut reader);
    assert!(
        gaps.len() == 1 && gaps[0].contains("MemAvailable"),
        "{gaps:?}"
    );
}

#[test]
fn missing_files_are_unknown_and_reported_once() {
    let tree = saved_tree(&[]);
    let missing = tree.path().join("shm");
    let mut reader = MachineReader::new(&ProcRoot::at(tree.path()), &missing);
    assert_eq!(reader.read(true), MachineReading::default());
    let gaps = texts(&mut reader);
    assert_eq!(gaps.len(), 4, "{gaps:?}");
    assert!(gaps.iter().any(|text| text.contains("psi=1")), "{gaps:?}");
    reader.read(true);
    assert_eq!(texts(&mut reader), Vec::<String>::new());
}

#[test]
fn a_disk_is_not_taken_for_shared_memory() {
    let here = env!("CARGO_MANIFEST_DIR");
    let found = statfs(here).unwrap();
    if tmpfs_use(&found).is_some() {
        leveloff_testkit::cannot_run_here("the sources themselves are on a tmpfs");
        return;
    }
    let mut reader = MachineReader::new(&ProcRoot::live(), here);
    assert_eq!(reader.read(false).devshm_used, None);
    assert!(texts(&mut reader)[0].contains("not a tmpfs"));
}

#[test]
fn this_machine_agrees_with_its_own_files() {
    let mut reader = MachineReader::new(&ProcRoot::live(), "/dev/shm");
    let reading = reader.read(true);
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap();
    use procfs_core::FromRead;
    let theirs = procfs_core::Meminfo::from_read(meminfo.as_bytes()).unwrap();
    assert_eq!(reading.total, Some(Bytes(theirs.mem_total)));
    assert_eq!(reading.swap_total, Some(Bytes(theirs.swap_total)));
    let available = reading.available.unwrap();
    assert!(available.0 > 0 && available.0 <= theirs.mem_total);
    println!("{reading:?}, gaps {:?}", texts(&mut reader));
}

#[test]
fn a_file_in_dev_shm_shows_in_its_use_and_in_shmem() {
    let mut reader = MachineReader::new(&ProcRoot::live(), "/dev/shm");
    let before = reader.read(false);
    let Some(used_before) = before.devshm_used else {
        leveloff_testkit::cannot_run_here("/dev/shm is not a tmpfs with a size");
        return;
    };
    const SIZE: u64 = 32 << 20;
    let file = tempfile::Builder::new()
        .prefix("leveloff-test-")
        .tempfile_in("/dev/shm")
        .unwrap();
    fs::write(file.path(), vec![1u8; SIZE as usize]).unwrap();
    let after = reader.read(false);
    // Others use /dev/shm as well while tests run, so this is a lower bound with slack.
    let grown = after.devshm_used.unwrap().0.saturating_sub(used_before.0);
    assert!(grown >= SIZE / 2, "grew by {grown} of {SIZE}");
    let shmem_grown = after
        .shmem
        .unwrap()
        .0
        .saturating_sub(before.shmem.unwrap().0);
    assert!(
        shmem_grown >= SIZE / 2,
        "Shmem grew by {shmem_grown} of {SIZE}"
    );
}

#[test]
fn pressure_outside_of_percent_is_not_pressure() {
    assert_eq!(pressure_avg10(b"some avg10=nan total=1\n", b"some "), None);
    assert_eq!(pressure_avg10(b"some avg10=-1.0\n", b"some "), None);
    assert_eq!(pressure_avg10(b"full avg10=3.5\n", b"some "), None);
    assert_eq!(pressure_avg10(b"full avg10=3.5 x\n", b"full "), Some(3.5));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = (parse_meminfo(&text), pressure_avg10(&text, b"some "));
    }

    #[test]
    fn no_damage_makes_it_panic(at in 0usize..240, byte in any::<u8>()) {
        let mut text = MEMINFO.as_bytes().to_vec();
        text[at] = byte;
        let _ = parse_meminfo(&text);
    }
}
