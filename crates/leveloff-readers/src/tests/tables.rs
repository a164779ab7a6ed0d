//! Tables of an x and a memory.

use super::*;

#[test]
fn a_table_of_steps_and_times_tells_both() {
    let input = read("step,t_seconds,rss_mb\n10,1.500,5552.25\n20,3.000,7159\n");
    assert_eq!((input.format, input.unit), ("table", XUnit::Step));
    assert_eq!(input.counts(), [10.0, 20.0]);
    assert_eq!(input.times(), [1.5, 3.0]);
    assert_eq!(input.memory(), [5_552_250_000, 7_159_000_000]);
    assert_eq!(input.notes, Vec::<String>::new());
}

#[test]
fn x_is_what_the_header_says() {
    let cases = [
        ("x,value_mb\n0,5\n1,6\n", XUnit::Iteration),
        ("iteration,rss_kib\n0,5\n1,6\n", XUnit::Iteration),
        ("epoch,rss_gib\n0,5\n1,6\n", XUnit::Epoch),
        ("t_s,rss_bytes\n0,5\n1,6\n", XUnit::Second),
        (
            "timestamp,rss_bytes\n2026-11-16 08:00:00,5\n2026-11-16 08:00:01,6\n",
            XUnit::Second,
        ),
        ("rss_mb\n5\n6\n", XUnit::Sample),
        ("run,elapsed,rss_mb\n7,0,5\n7,1,6\n7,2,6\n", XUnit::Second),
        ("loss,mem_mb\n0.5,5\n0.4,6\n", XUnit::Sample),
    ];
    for (text, unit) in cases {
        let input = read(text);
        assert_eq!(input.unit, unit, "{text}");
        assert!(input.observations.len() >= 2, "{text}");
    }
}

#[test]
fn dates_become_seconds_since_the_first() {
    let input = read("time,rss_mb\n1794820000000,5\n1794820001500,6\n");
    assert_eq!(input.times(), [0.0, 1.5]);
    let input = read("datetime;rss_mb\n2026-11-16T08:00:00Z;5\n2026-11-16T08:01:00Z;6\n");
    assert_eq!(input.times(), [0.0, 60.0]);
}

#[test]
fn a_table_may_come_in_any_dress() {
    let expected = [5_500_000, 6_500_000];
    for text in [
        "\u{feff}step,rss_mb\r\n1,5.5\r\n2,6.5\r\n",
        "\"step\";\"RSS (MB)\"\n1;5,5\n2;6,5\n",
        "# a comment\nstep\trss_mb\n1\t5.5\n\n# half-way\n2\t6.5",
        "# step rss_mb\n1 5.5\n2 6.5\n",
        "| step | RAM [MB] |\n|---|---|\n| 1 | 5.5 |\n| 2 | 6.5 |\n",
        "step,memory\n1,5.5 MB\n2,6500 kB\n",
        "{\"step\": 1, \"mem\": {\"rss_mb\": 5.5}}\n{\"step\": 2, \"mem\": {\"rss_mb\": 6.5}}\n",
    ] {
        let input = read(text);
        assert_eq!(input.memory(), expected, "{text}");
        assert_eq!(input.counts(), [1.0, 2.0], "{text}");
    }
}

#[test]
fn columns_can_be_named() {
    let text = "a,b,c\n1,10,100\n2,20,200\n";
    let error = wrong(text);
    assert!(
        error.contains("a, b, c") && error.contains("--y"),
        "{error}"
    );
    let input = read_with(text, &choice(Some("b"), Some("c"), Some(SizeUnit::MiB))).unwrap();
    assert_eq!(
        (input.unit, input.counts()),
        (XUnit::Iteration, vec![10.0, 20.0])
    );
    assert_eq!(input.memory(), [100 << 20, 200 << 20]);
    let error = read_with(text, &choice(Some("z"), Some("c"), Some(SizeUnit::B)));
    let error = format!("{:#}", error.unwrap_err());
    assert!(
        error.contains("'z'") && error.contains("a, b, c"),
        "{error}"
    );
}

#[test]
fn a_unit_must_be_stated_or_plain() {
    let error = wrong("step,memory\n1,500\n2,600\n");
    assert!(
        error.contains("memory") && error.contains("--y-unit MB"),
        "{error}"
    );
    let pages = "step,rss\n1,40960000\n2,40964096\n3,40968192\n";
    let input = read(pages);
    assert_eq!(input.memory()[0], 40_960_000);
    assert!(input.is_noted("bytes"), "{:?}", input.notes);
    let stated = read_with("1,500\n2,600\n", &choice(None, None, Some(SizeUnit::GB)));
    assert_eq!(stated.unwrap().memory(), [500_000_000_000, 600_000_000_000]);
}
