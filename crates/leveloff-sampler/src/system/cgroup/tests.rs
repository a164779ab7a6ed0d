//! Saved trees of every arrangement met in the wild, and this machine's own hierarchy.

use std::fs;

use super::*;

mod live;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn fixture(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/cgroup")
        .join(case)
}

fn reader(tree: &Path, pid: i32) -> CgroupReader {
    CgroupReader::new(&ProcRoot::at(tree.join("proc")), tree, Pid(pid))
}

fn texts(reader: &mut CgroupReader) -> Vec<String> {
    reader.take_gaps().into_iter().map(|gap| gap.text).collect()
}

/// Reads a fixture's process 42 and hands out the reading and the nearest limit.
fn read(case: &str) -> (CgroupReading, Option<Ceiling>) {
    let mut reader = reader(&fixture(case), 42);
    let reading = reader.read(true).unwrap_or_else(|| {
        panic!("{case}: {:?}", reader.take_gaps());
    });
    assert_eq!(texts(&mut reader), Vec::<String>::new(), "{case}");
    (reading, reader.ceiling())
}

fn check_ceiling(ceiling: Option<Ceiling>, limit: u64, used: u64) {
    let ceiling = ceiling.expect("a ceiling");
    assert_eq!((ceiling.limit, ceiling.used), (Bytes(limit), Bytes(used)));
}

#[test]
fn a_user_slice_is_limited_by_an_ancestor() {
    let (reading, ceiling) = read("v2-user-slice");
    assert_eq!(reading.version, 2);
    assert!(reading.path.ends_with("app-term.scope/leaf"));
    // The leaf has no memory files; the scope above it accounts for it.
    assert_eq!(reading.current, Some(Bytes(10 * GIB)));
    assert_eq!(reading.anon, Some(Bytes(8 * GIB)));
    assert_eq!(reading.shmem, Some(Bytes(512 * MIB)));
    assert_eq!(reading.reclaimable, Some(Bytes(GIB)));
    assert_eq!(reading.limit, Some(Bytes(24 * GIB)));
    assert_eq!(reading.high, Some(Bytes(22 * GIB)));
    assert_eq!((reading.limit_hits, reading.oom_kills), (Some(7), Some(1)));
    // The slice's limit is held against the slice's use, not against ours.
    check_ceiling(ceiling, 24 * GIB, 18 * GIB - GIB - 512 * MIB);
}

#[test]
fn a_pod_filled_by_a_neighbour_is_nearer_than_the_containers_own_limit() {
    let (reading, ceiling) = read("v2-kubernetes-pod");
    assert_eq!(reading.limit, Some(Bytes(24 * GIB)));
    assert_eq!(reading.limit_hits, Some(1));
    assert_eq!(reading.current, Some(Bytes(8 * GIB)));
    check_ceiling(ceiling, 32 * GIB, 31 * GIB - 256 * MIB);
}

#[test]
fn a_container_sees_itself_as_the_root() {
    let (reading, ceiling) = read("v2-container");
    assert_eq!(
        (reading.path.as_str(), reading.limit),
        ("/", Some(Bytes(16 * GIB)))
    );
    check_ceiling(ceiling, 16 * GIB, 4 * GIB - 512 * MIB);
}

#[test]
fn a_process_outside_of_the_namespace_is_a_gap() {
    let mut reader = reader(&fixture("v2-container"), 77);
    assert_eq!(reader.read(true), None);
    assert_eq!(reader.ceiling(), None);
    let gaps = texts(&mut reader);
    assert!(gaps.len() == 1 && gaps[0].contains("/../other"), "{gaps:?}");
}

#[test]
fn names_that_the_namespace_hides_are_searched_for() {
    let tree = fixture("v2-unshared-namespace");
    let (reading, ceiling) = read("v2-unshared-namespace");
    assert_eq!(reading.current, Some(Bytes(50 * MIB)));
    check_ceiling(ceiling, 2 * GIB, 50 * MIB);
    let above = reader(&tree, 43).read(true).unwrap();
    assert_eq!(above.current, Some(Bytes(100 * MIB)));
}

#[test]
fn a_group_without_a_name_is_replaced_by_an_ancestor_with_a_gap() {
    let tree = saved_copy("v2-unshared-namespace");
    let root = tree.path().join("sys/fs/cgroup");
    fs::write(root.join("memory.current"), "7\n").unwrap();
    fs::write(root.join("memory.max"), "max\n").unwrap();
    fs::write(root.join("memory.stat"), "anon 3\n").unwrap();
    let mut reader = reader(tree.path(), 44);
    assert_eq!(reader.read(true).unwrap().current, Some(Bytes(7)));
    assert!(texts(&mut reader)[0].contains("ancestor"));
}

#[test]
fn version_1_counts_what_is_below_and_finds_the_parents_limit() {
    let (reading, ceiling) = read("v1");
    assert_eq!(
        (reading.version, reading.path.as_str()),
        (1, "/batch/job 7")
    );
    assert_eq!(reading.limit, Some(Bytes(20 * GIB)));
    assert_eq!(reading.current, Some(Bytes(6 * GIB)));
    assert_eq!(reading.anon, Some(Bytes(4 * GIB)));
    assert_eq!(reading.reclaimable, Some(Bytes(GIB + 512 * MIB)));
    assert_eq!((reading.limit_hits, reading.oom_kills), (Some(5), Some(2)));
    assert_eq!(reading.high, None);
    check_ceiling(ceiling, 20 * GIB, 9 * GIB);
}

#[test]
fn an_empty_unified_hierarchy_beside_version_1_is_not_mistaken_for_it() {
    let (reading, _) = read("hybrid");
    assert_eq!((reading.version, reading.limit), (1, Some(Bytes(2 * GIB))));
}

#[test]
fn a_bind_mounted_container_knows_limits_it_cannot_see() {
    let (reading, ceiling) = read("v1-docker");
    assert_eq!(reading.path, "/docker/f00d");
    assert_eq!(reading.limit, Some(Bytes(6 * GIB)));
    check_ceiling(ceiling, 6 * GIB, 2 * GIB - 256 * MIB);
    assert_eq!(reader(&fixture("v1-docker"), 50).read(true), None);
}

#[test]
fn without_a_group_nothing_is_read_and_the_reason_is_reported_once() {
    for (case, word) in [
        ("none", "no control group"),
        ("v1-not-mounted", "not mounted"),
        ("v2-no-controller", "not enabled"),
    ] {
        let mut reader = reader(&fixture(case), 42);
        assert_eq!(reader.read(true), None, "{case}");
        let gaps = texts(&mut reader);
        assert!(
            gaps.len() == 1 && gaps[0].contains(word),
            "{case}: {gaps:?}"
        );
        assert_eq!(reader.read(true), None);
        assert_eq!(texts(&mut reader), Vec::<String>::new(), "{case}");
    }
    let mut gone = reader(&fixture("v1"), 4711);
    assert_eq!(gone.read(true), None);
    assert!(texts(&mut gone)[0].contains("4711"));
}

#[test]
fn a_fast_reading_carries_what_only_a_thorough_one_reads() {
    let tree = saved_copy("v2-container");
    let group = tree.path().join("sys/fs/cgroup");
    let mut reader = reader(tree.path(), 42);
    reader.read(false).unwrap();
    fs::write(group.join("memory.current"), format!("{}\n", 4 * GIB + MIB)).unwrap();
    fs::write(group.join("memory.max"), format!("{}\n", 8 * GIB)).unwrap();
    fs::write(group.join("memory.stat"), "anon 5\n").unwrap();
    let fast = reader.read(false).unwrap();
    assert_eq!(fast.current, Some(Bytes(4 * GIB + MIB)));
    assert_eq!(
        (fast.limit, fast.anon),
        (Some(Bytes(16 * GIB)), Some(Bytes(3 * GIB)))
    );
    let thorough = reader.read(true).unwrap();
    assert_eq!(
        (thorough.limit, thorough.anon),
        (Some(Bytes(8 * GIB)), Some(Bytes(5)))
    );
    // What the new memory.stat lacks is unknown, and then all that is charged counts as used.
    assert_eq!(thorough.reclaimable, None);
    check_ceiling(reader.ceiling(), 8 * GIB, 4 * GIB + MIB);
}

#[test]
fn cache_that_floods_in_between_thorough_readings_is_not_taken_for_used() {
    let tree = saved_copy("v2-container");
    let group = tree.path().join("sys/fs/cgroup");
    let mut reader = reader(tree.path(), 42);
    reader.read(true).unwrap();
    let cache = 10 * GIB;
    fs::write(
        group.join("memory.current"),
        format!("{}\n", 3 * GIB + cache),
    )
    .unwrap();
    let stat = format!(
        "anon {}\nfile {cache}\ninactive_file {cache}\nactive_file 0\n",
        3 * GIB
    );
    fs::write(group.join("memory.stat"), stat).unwrap();
    assert_eq!(reader.read(false).unwrap().reclaimable, Some(Bytes(cache)));
    check_ceiling(reader.ceiling(), 16 * GIB, 3 * GIB);
}

#[test]
fn a_removed_group_is_unknown_not_empty() {
    let tree = saved_copy("v2-container");
    let mut reader = reader(tree.path(), 42);
    fs::write(tree.path().join("sys/fs/cgroup/memory.current"), "").unwrap();
    let reading = reader.read(true).unwrap();
    assert_eq!((reading.current, reader.ceiling()), (None, None));
}

fn saved_copy(case: &str) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &target);
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    copy(&fixture(case), dir.path());
    dir
}
