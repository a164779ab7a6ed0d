//! Files of other tools, made by them.

use super::*;

#[test]
fn mprof_is_read_with_its_children() {
    let input = fixture("inputs/mprof.dat");
    assert_eq!((input.format, input.unit), ("mprof", XUnit::Second));
    assert_eq!(input.observations.len(), 11);
    assert_eq!(input.times()[0], 0.0);
    // 19 steps of 1 MB, and what Python itself takes.
    assert!(
        (18_000_000..40_000_000).contains(&input.memory()[10]),
        "{:?}",
        input.memory()
    );
    let children = fixture("inputs/mprof-children.dat");
    assert_eq!(children.observations.len(), 11);
    assert_eq!(
        children.memory()[10],
        ((28.542969 + 25.289062) * 1048576.0_f64).round() as u64
    );
    assert!(children.is_noted("children"), "{:?}", children.notes);
}

#[test]
fn psrecord_says_mb_and_means_mib() {
    let log = fixture("inputs/psrecord.log");
    assert_eq!((log.format, log.unit), ("psrecord", XUnit::Second));
    assert_eq!(log.memory()[0], (17.273 * 1048576.0_f64).round() as u64);
    let table = fixture("inputs/psrecord.csv");
    assert_eq!((table.format, table.unit), ("psrecord", XUnit::Second));
    assert_eq!(table.memory()[0], (1.66796875 * 1048576.0_f64) as u64);
    assert!(wrong("# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)\n").contains("no rows"));
}

#[test]
fn prmon_counts_kib_and_swap() {
    let input = fixture("inputs/prmon.txt");
    assert_eq!((input.format, input.unit), ("prmon", XUnit::Second));
    assert_eq!(input.times()[1], 30.0);
    assert_eq!(input.memory()[0], 340_000 * 1024);
    assert_eq!(input.notes, Vec::<String>::new());
    assert_eq!(input.memory()[11], (340_000 + 11 * 25_000 + 2048) * 1024);
}
