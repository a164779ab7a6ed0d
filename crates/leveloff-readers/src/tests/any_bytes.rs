//! No input makes it panic.

use super::processes::PROCESSES;
use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = read_with(bytes, &ColumnChoice::default());
    }

    #[test]
    fn no_rows_make_it_panic(
        header in "(step|t_s|pid|rss_mb|memory|role|epoch|,|;|\t| |\"){1,12}",
        rows in "([0-9.,;:\t \"-]|nan|MB|\n|#|\r){0,80}",
        unit in any::<bool>(),
    ) {
        let columns = choice(None, None, unit.then_some(SizeUnit::MB));
        let _ = read_with(format!("{header}\n{rows}"), &columns);
    }

    #[test]
    fn no_damaged_input_makes_it_panic(
        which in 0_usize..7,
        at in any::<prop::sample::Index>(),
        byte: u8,
        end in any::<prop::sample::Index>(),
    ) {
        let name = ["recordings/v1.jsonl", "inputs/mprof-children.dat", "inputs/psrecord.log",
            "inputs/psrecord.csv", "inputs/prmon.txt", "inputs/training.log", ""][which];
        let mut bytes = match name {
            "" => PROCESSES.as_bytes().to_vec(),
            name => std::fs::read(format!("{}/../../fixtures/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap(),
        };
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(end.index(bytes.len()) + 1);
        let _ = read_with(bytes, &ColumnChoice::default());
    }
}
