//! What is refused or left out, and what is said about it.

use super::*;

#[test]
fn what_cannot_be_used_is_left_out_and_counted() {
    let input = read("step,rss_mb\n1,5\n2,nan\n3,inf\n4,-7\n5,\n6,words\n7,0\n8\n9,6\n,6\n10,7\n");
    assert_eq!(input.counts(), [1.0, 9.0, 10.0]);
    for note in [
        "3 rows: no number for memory",
        "2 rows: a negative",
        "1 row: 0 after",
        "1 row: too few",
        "1 row: no number for x",
    ] {
        assert!(input.is_noted(note), "{note}: {:?}", input.notes);
    }
}

#[test]
fn x_goes_forward_only() {
    let input = read("step,rss_mb\n1,5\n2,5\n3,5\n2,6\n3,7\n4,8\n");
    assert_eq!(input.counts(), [1.0, 2.0, 3.0, 3.0, 4.0]);
    assert!(
        input.is_noted("left out 1 row: out of order"),
        "{:?}",
        input.notes
    );
    let resumed = read("step,rss_mb\n1,5\n2,5\n3,5\n4,5\n1,5\n2,5\n3,5\n4,5\n5,5\n");
    assert_eq!(resumed.counts(), [1.0, 2.0, 3.0, 4.0, 7.0, 8.0, 9.0]);
    assert!(resumed.is_noted("restarted once"), "{:?}", resumed.notes);
    let epochs = read("epoch,step,rss_mb\n0,1,5\n0,2,5\n1,1,5\n1,2,5\n2,1,5\n");
    assert_eq!(epochs.counts(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    let shuffled = wrong("step,rss_mb\n9,5\n8,5\n7,5\n6,5\n5,5\n");
    assert!(
        shuffled.contains("out of order") && shuffled.contains("sort"),
        "{shuffled}"
    );
}

#[test]
fn one_point_is_a_point() {
    assert_eq!(read("step,rss_mb\n1,5\n").memory(), [5_000_000]);
}

#[test]
fn what_is_no_input_is_refused_with_what_to_do() {
    let cases: [(&[u8], &str); 14] = [
        (b"", "empty"),
        (b"step,rss_mb\n", "no rows yet"),
        (b"step,rss_mb", "no rows yet"),
        (b"\x1f\x8b\x08\0\0\0", "gzip -dc"),
        (b"\xff\xfes\0t\0e\0p\0", "iconv"),
        (b"s\0t\0e\0p\0,\0r\0s\0s\0", "iconv"),
        (b"SQLite format 3\0....", "sqlite3"),
        (
            b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\x02\0>\0\x01",
            "binary",
        ),
        (b"[{\"step\":1,\"rss_mb\":5}]", "jq -c"),
        (b"hello world\nnothing here\n", "hello world"),
        (b"RAM: 5552\nRAM: 7159\n", "--y-unit"),
        (
            b"{\"step\":1,\"loss\":5}\n{\"step\":2,\"loss\":4}\n",
            "loss, step",
        ),
        (b"step,loss\n1,5\n2,4\n", "step, loss"),
        (b"\n\n\n", "has no memory values"),
    ];
    for (bytes, expected) in cases {
        let error = wrong(bytes);
        assert!(error.contains(expected), "{expected}: {error}");
        assert!(error.starts_with("input: "), "{error}");
    }
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let problem = |path: &Path| match open(&Input::from(path), &ColumnChoice::default()) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => format!("{error:#}"),
    };
    let missing = problem(&folder.path().join("missing.csv"));
    assert!(
        missing.contains("missing.csv") && missing.contains("no such file"),
        "{missing}"
    );
    assert!(problem(folder.path()).contains("is a directory"));
    let closed = folder.path().join("closed.csv");
    std::fs::write(&closed, "step,rss_mb\n1,5\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    std::fs::set_permissions(&closed, mode).unwrap();
    if std::fs::read(&closed).is_ok() {
        eprintln!("NOT TESTED: a file without permission, because this user may read everything");
    } else {
        let closed = problem(&closed);
        assert!(closed.contains("permission denied"), "{closed}");
    }
}

#[test]
fn a_file_that_is_still_written_has_an_end() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "step,rss_mb\n1,5\n2,60").unwrap();
    let opened = open(&Input::from(file.path()), &ColumnChoice::default()).unwrap();
    writeln!(file, "00\n3,7000").unwrap();
    let input = ReadInput::of(opened).unwrap();
    assert_eq!(input.memory(), [5_000_000]);
    assert!(input.is_noted("incomplete"), "{:?}", input.notes);
}
