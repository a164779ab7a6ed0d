//! Reports as they are pasted, with prose, quotes and fences around the numbers.

use super::*;

/// Ten lines of something.
fn lines(line: impl Fn(u64) -> String) -> String {
    (0..10).map(|n| line(n) + "\n").collect()
}

/// The numbers of a paste, and that it says which lines they are from.
#[track_caller]
fn pasted(text: &str) -> ReadInput {
    let input = read(text);
    assert!(input.is_noted("which have one format"), "{:?}", input.notes);
    assert_eq!(input.memory().len(), 10, "{text}");
    input
}

#[test]
fn a_log_of_one_kernel_value_stands_between_prose() {
    let rows = lines(|n| format!("VmRSS:   {} kB", 2_660_000 + 4000 * n));
    let text = format!(
        "This is on Ubuntu 22.04 with 2 GPUs:\n```\n$ watch.sh 3\n3344\n{rows}```\nIs it a leak?\n"
    );
    let input = read(&text);
    assert_eq!(input.memory().len(), 10);
    assert_eq!(input.memory()[9], 2_696_000_000);
}

#[test]
fn a_table_stands_between_prose() {
    let rows = lines(|n| format!("| {} | {:.2} | 11.2 |", 50 * n, 5.5 + 0.25 * n as f64));
    let head = "| Step | Host RAM (GB) | GPU (GB) |\n|-----:|:---:|---:|\n";
    let input = pasted(&format!(
        "I trained for a while:\n\n{head}{rows}\nAny idea?\n"
    ));
    assert_eq!((input.unit, input.counts()[9]), (XUnit::Step, 450.0));
    assert_eq!(input.memory()[1], 5_750_000_000);
}

#[test]
fn names_of_columns_may_have_blanks_inside() {
    let head = " idx        RSS          Δ RSS   Δ accumulated\n";
    let rows = lines(|n| format!("{n:4} {:10.2}MB {:10.2}MB {:10.2}MB", 400 + 2 * n, 2, 2 * n));
    let input = pasted(&format!("Here is what I get:\n```\n{head}{rows}```\n"));
    assert_eq!(input.counts()[9], 9.0);
    assert_eq!(input.memory()[9], 418_000_000);
}

#[test]
fn bare_pairs_are_read_whatever_stands_between() {
    for (text, counts) in [
        (lines(|n| format!("({n}, {})", 512_000_000 + n)), 9.0),
        (lines(|n| format!("{}: 512,000,00{n}", 100 * n)), 900.0),
        (lines(|n| format!("[{n}]  =  51200000{n}")), 9.0),
    ] {
        let input = pasted(&text);
        assert_eq!(input.counts()[9], counts, "{text}");
        assert_eq!(input.memory()[9], 512_000_009, "{text}");
        assert!(
            input.is_noted("for bytes by its values"),
            "{:?}",
            input.notes
        );
    }
}

#[test]
fn whole_numbers_without_a_unit_are_read_by_their_magnitude() {
    let bytes = read(&lines(|n| {
        format!("iter {n} memory {}", 500_000_000 + 3_000_000 * n)
    }));
    assert_eq!(bytes.memory()[9], 527_000_000);
    assert!(
        bytes.is_noted("for bytes by their magnitude"),
        "{:?}",
        bytes.notes
    );
    let named = read(&lines(|n| {
        format!("pmem(rss={}, vms=8123456789, lib=0)", 500_000_000 + n)
    }));
    assert_eq!(named.memory()[9], 500_000_009);
    let pairs = read(&lines(|n| format!("{n} {}", 245_000 + 900 * n)));
    assert_eq!(pairs.memory()[0], 245_000 * 1024);
    assert!(pairs.is_noted("for KiB"), "{:?}", pairs.notes);
    // As small as this they may be MB, MiB or pages.
    assert!(wrong(lines(|n| format!("rss={}", 3000 + n))).contains("--y-unit"));
}

#[test]
fn code_above_the_numbers_is_passed_over() {
    let code =
        "```python\nfor i in range(40):\n    print(i, getrusage(RUSAGE_SELF).ru_maxrss)\n```\n";
    let rows = lines(|n| format!("{n} {}", 245_000 + 900 * n));
    let input = pasted(&format!("{code}Output:\n```\n{rows}```\n"));
    assert_eq!(input.counts()[9], 9.0);
    assert_eq!(input.memory()[9], 253_100 * 1024);
}

#[test]
fn a_short_list_of_epochs_loses_none() {
    let list = lines(|n| format!("- after epoch {}: {:.1} GB", n + 1, 8.0 + 0.9 * n as f64));
    let input = read(&format!("Memory of the process:\n\n{list}"));
    assert_eq!((input.unit, input.counts().len()), (XUnit::Epoch, 10));
    let lines = lines(|n| {
        format!(
            "Epoch {n}: Memory used: {}.50MiB (peak 4000.00MiB)",
            2100 + n
        )
    });
    assert_eq!(read(&lines).counts().len(), 10);
}

#[test]
fn prose_with_numbers_is_refused() {
    let text = "I have 2 GPUs.\nIt fails at step 300 or so.\nWith 4 workers it takes 5 minutes.\nVersion 2.1.\n";
    assert!(wrong(text).contains("no memory values"));
}
