//! `leveloff export`: tables for others, from recordings good and bad.

use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::recording::{Recording, wait_for_samples};
use crate::sheet::Sheet;
use crate::stage::{Ended, Stage, cannot_run_here};
use crate::watched_process::WatchedProcess;

/// The contract of docs/RECORDING_FORMAT.md, written down once more: others read these by place.
const FIRST_COLUMNS: [&str; 25] = [
    "t_s",
    "step",
    "pid",
    "ppid",
    "role",
    "comm",
    "rss_bytes",
    "anon_bytes",
    "file_bytes",
    "shmem_bytes",
    "swap_bytes",
    "pss_bytes",
    "pss_anon_bytes",
    "pss_file_bytes",
    "pss_shmem_bytes",
    "private_bytes",
    "threads",
    "fds",
    "minor_faults",
    "major_faults",
    "cpu_ms",
    "tensors",
    "tensor_bytes",
    "devshm_bytes",
    "available_bytes",
];

/// Columns that hold words; all others hold numbers or nothing.
const WORDS: [&str; 4] = ["role", "comm", "state", "phase"];

/// The recording that every version has to read, for ever.
fn frozen() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recordings/v1.jsonl")
}

/// A real recording of a process that grew.
fn recorded(stage: &Stage) -> PathBuf {
    let mut process = WatchedProcess::new();
    let pid = process.pid().to_string();
    let arguments = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
    let recorder = stage.leveloff(arguments).spawn().unwrap();
    let path = stage.path("run.jsonl");
    wait_for_samples(&path, 3);
    process.grow(16);
    wait_for_samples(&path, 3);
    process.end(0);
    Ended::of(recorder).well();
    path
}

#[track_caller]
fn assert_numbers_parse(sheet: &Sheet) {
    for column in &sheet.columns {
        let fields = sheet.column(column);
        let known = fields.iter().filter(|field| !field.is_empty());
        for field in known.filter(|_| !WORDS.contains(&column.as_str())) {
            let is_number = field.parse::<u64>().is_ok()
                || column.ends_with("_s") && field.parse::<f64>().is_ok_and(f64::is_finite)
                || column == "epoch" && field.parse::<f64>().is_ok_and(f64::is_finite);
            assert!(is_number, "{column}: {field}");
        }
    }
}

#[test]
fn the_first_columns_are_the_contract() {
    let stage = Stage::new();
    let recordings = [frozen(), recorded(&stage)];
    for recording in recordings {
        let sheet = Sheet::of(&stage, &recording, "process");
        assert_eq!(sheet.columns[..25], FIRST_COLUMNS);
        assert!(!sheet.rows.is_empty());
        assert_numbers_parse(&sheet);
    }
}

#[test]
fn a_row_for_each_process_role_or_moment() {
    let stage = Stage::new();
    let path = recorded(&stage);
    let samples = Recording::load(&path).samples();
    let tree = Sheet::of(&stage, &path, "tree");
    // Samples after the end of the run are left out: one without a process must not become a row of zeros.
    assert!((6..=samples).contains(&tree.rows.len()));
    assert!(
        tree.numbers("processes")
            .iter()
            .all(|&processes| processes > 0)
    );
    assert_eq!(tree.columns[..2], ["t_s", "step"]);
    let roles = Sheet::of(&stage, &path, "role");
    assert_eq!(roles.columns[..3], ["t_s", "step", "role"]);
    let processes = Sheet::of(&stage, &path, "process");
    for sheet in [&tree, &roles] {
        assert_numbers_parse(sheet);
    }
    // One process: the three scopes have the same numbers, as long as the run goes on.
    let of_tree = tree.numbers("memory_bytes");
    assert_eq!(roles.numbers("memory_bytes"), of_tree);
    assert_eq!(processes.numbers("memory_bytes")[..of_tree.len()], of_tree);
    let default = stage.ask(&["export", "run.jsonl", "-o", "-"]).well().stdout;
    let default = Sheet::parse(&default);
    assert_eq!(default.columns, processes.columns);
}

#[test]
fn unknown_is_empty_and_never_zero() {
    let sheet = Sheet::of(&Stage::new(), &frozen(), "process");
    let is_worker = |row: &&Vec<String>| row[2] == "101";
    let worker = sheet.rows.iter().find(is_worker).unwrap();
    let pss: Vec<&str> = worker[11..16].iter().map(String::as_str).collect();
    assert_eq!(pss, [""; 5], "its PSS was a gap");
    assert_eq!(sheet.column("fds").last(), Some(&""));
}

/// A data frame that holds numbers where there are numbers.
#[test]
fn python_reads_the_table() {
    let stage = Stage::new();
    let path = recorded(&stage);
    let csv = stage.path("run.csv");
    let arguments = ["export", path.to_str().unwrap(), "-o", "run.csv"];
    let said = stage.ask(&arguments).well().stderr;
    assert!(said.contains(" rows in run.csv"), "{said}");
    let program = r"
import sys
try:
    import pandas
    table = pandas.read_csv(sys.argv[1])
    kinds = {'t_s': 'f', 'pid': 'i', 'rss_bytes': 'i', 'cpu_ms': 'i', 'role': 'O', 'comm': 'O'}
    for column, kind in kinds.items():
        assert table[column].dtype.kind == kind, (column, table[column].dtype)
except ImportError:
    import csv
    for row in csv.DictReader(open(sys.argv[1], newline='')):
        assert None not in row and None not in row.values()
        float(row['t_s']), int(row['pid']), int(row['rss_bytes']), int(row['cpu_ms'])
        assert row['role'] and row['comm']
";
    let mut python = Command::new("python3");
    let status = python.args(["-c", program]).arg(csv).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let stage = Stage::new();
    // Far more than a pipe holds.
    let long = stage.path("long.jsonl");
    let text = std::fs::read_to_string(frozen()).unwrap();
    let mut lines: Vec<String> = text.lines().take(6).map(str::to_owned).collect();
    lines.extend((1..5000).map(|t| format!(r#"{{"s":{{"t":{t}.0,"c":[0,0,0]}}}}"#)));
    std::fs::write(&long, lines.join("\n") + "\n").unwrap();
    let arguments = ["export", "long.jsonl", "-o", "-"];
    let mut export = stage.leveloff(arguments).spawn().unwrap();
    let mut first = [0; 10];
    export
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    assert_eq!(&first, b"t_s,step,p");
    drop(export.stdout.take());
    let ended = Ended::of(export).well();
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_full_disk_is_said() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return cannot_run_here("there is no /dev/full");
    };
    let stage = Stage::new();
    let frozen = frozen();
    let mut command = stage.leveloff(["export", frozen.to_str().unwrap(), "-o", "-"]);
    let ended = crate::stage::ended(command.stdout(Stdio::from(full)));
    ended.refused(&["No space left"]);
}

#[test]
fn what_is_no_recording_is_refused_by_name() {
    let stage = Stage::new();
    stage.file("empty.jsonl", "");
    stage.file("table.csv", "t_s,rss_bytes\n0,1\n");
    stage.file("other.jsonl", "{\"header\":{\"format\":\"other\"}}\n");
    stage.file("numbers.jsonl", "1\n2\n3\n");
    let newer = r#"{"header":{"format":"leveloff-recording","version":9}}"#;
    stage.file("newer.jsonl", format!("{newer}\n"));
    std::fs::create_dir(stage.path("directory")).unwrap();
    for (name, words) in [
        ("missing.jsonl", "No such file"),
        ("empty.jsonl", "the recording is empty"),
        ("table.csv", "not a leveloff recording"),
        ("other.jsonl", "not a leveloff recording"),
        ("numbers.jsonl", "not a leveloff recording"),
        ("newer.jsonl", "format version 9"),
        ("directory", "Is a directory"),
    ] {
        let ended = stage.ask(&["export", name, "-o", "out.csv"]);
        ended.refused(&[name, words]);
        assert!(!stage.path("out.csv").exists(), "{name} left a table");
    }
}

#[test]
fn a_torn_recording_gives_all_that_was_whole() {
    let stage = Stage::new();
    let bytes = std::fs::read(frozen()).unwrap();
    let header_end = bytes.iter().position(|&b| b == b'\n').unwrap();
    for length in (0..bytes.len()).step_by(7) {
        let path = stage.file("torn.jsonl", &bytes[..length]);
        let ended = stage.ask(&["export", "torn.jsonl", "--scope", "tree", "-o", "-"]);
        if length <= header_end {
            ended.refused(&["torn.jsonl"]);
        } else {
            let sheet = Sheet::parse(&ended.well().stdout);
            assert_eq!(sheet.rows.len(), Recording::load(&path).samples());
        }
    }
}

#[test]
fn a_damaged_line_is_reported_and_the_rest_is_read() {
    let stage = Stage::new();
    let text = std::fs::read_to_string(frozen()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(8, "{\"s\":{\"t\":1.0,\"p\":[{\"n\"");
    stage.file("damaged.jsonl", lines.join("\n") + "\n");
    let ended = stage.ask(&[
        "export",
        "damaged.jsonl",
        "-o",
        "out.csv",
        "--scope",
        "tree",
    ]);
    let ended = ended.well();
    assert!(ended.stderr.contains("line 9 is damaged"), "{ended:?}");
    assert!(ended.stderr.contains("4 rows in out.csv"), "{ended:?}");
}

/// A disk that went bad must not fill the screen.
#[test]
fn many_damaged_lines_are_not_reported_one_by_one() {
    let stage = Stage::new();
    let text = std::fs::read_to_string(frozen()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.splice(8..8, ["nonsense"; 1000]);
    stage.file("damaged.jsonl", lines.join("\n") + "\n");
    let arguments = [
        "export",
        "damaged.jsonl",
        "-o",
        "out.csv",
        "--scope",
        "tree",
    ];
    let ended = stage.ask(&arguments).well();
    assert!(ended.said().len() < 20, "{ended:?}");
    assert!(ended.stderr.contains("1000"), "{ended:?}");
}

#[test]
fn a_table_that_is_there_is_never_touched() {
    let stage = Stage::new();
    let frozen = frozen();
    let frozen = frozen.to_str().unwrap();
    stage.file("old.csv", "precious");
    symlink("old.csv", stage.path("link.csv")).unwrap();
    symlink("nowhere.csv", stage.path("dangling.csv")).unwrap();
    for name in ["old.csv", "link.csv", "dangling.csv"] {
        let ended = stage.ask(&["export", frozen, "-o", name]);
        ended.refused(&[name, "exists and is not overwritten", "--force"]);
    }
    assert_eq!(std::fs::read(stage.path("old.csv")).unwrap(), b"precious");
    assert!(!stage.path("nowhere.csv").exists());
}

#[test]
fn force_replaces_a_table_but_not_the_recording() {
    let stage = Stage::new();
    let copy = stage.file("own.jsonl", std::fs::read(frozen()).unwrap());
    let export = |output: &str| stage.ask(&["export", "own.jsonl", "--force", "-o", output]);
    stage.file("old.csv", "precious");
    export("old.csv").well();
    let table = std::fs::read_to_string(stage.path("old.csv")).unwrap();
    assert!(table.starts_with("t_s,step,pid"), "{table}");
    export("own.jsonl").refused(&["own.jsonl would be written over own.jsonl"]);
    assert_eq!(
        std::fs::read(copy).unwrap(),
        std::fs::read(frozen()).unwrap()
    );
}

#[test]
fn numbers_beyond_all_sense_are_no_panic() {
    let stage = Stage::new();
    let max = u64::MAX;
    let text = std::fs::read_to_string(frozen()).unwrap();
    let mut lines: Vec<String> = text.lines().take(3).map(str::to_owned).collect();
    lines[2] = lines[2].replace("other", "trainer");
    let big = |n: u32| {
        format!(
            r#"{{"n":{n},"state":"S","anon":{max},"file":{max},"shmem":{max},"swap":{max},"cpu":{max},"flt":{max}}}"#
        )
    };
    let rollup = format!(
        r#"{{"pss":{{"n":0,"t":1e308,"pss":{max},"anon":{max},"shmem":{max},"swap":{max},"base":[0,{max},0]}}}}"#
    );
    lines.extend([rollup.clone(), rollup.replace("\"n\":0", "\"n\":1")]);
    let readings = [big(0), big(1)].join(",");
    for t in ["-1e308", "1e308"] {
        lines.push(format!(
            r#"{{"s":{{"t":{t},"step":{max},"p":[{readings}],"c":[{max},{max},{max}]}}}}"#
        ));
    }
    lines.push(r#"{"exit":{"n":4294967295}}"#.to_owned());
    stage.file("big.jsonl", lines.join("\n") + "\n");
    for scope in ["process", "role", "tree"] {
        let arguments = ["export", "big.jsonl", "--scope", scope, "-o", "-"];
        stage.ask(&arguments).never_panicked().well();
    }
}

/// Noise, noise behind a header, and a recording with bytes changed: whatever comes out of it, no
/// panic does.
#[test]
fn noise_is_no_panic() {
    let stage = Stage::new();
    let mut noise = Noise(0x5eed);
    let whole = std::fs::read(frozen()).unwrap();
    let header_end = whole.iter().position(|&b| b == b'\n').unwrap() + 1;
    for round in 0..300 {
        let length = (noise.next() % 3000) as usize;
        let random: Vec<u8> = (0..length).map(|_| noise.next() as u8).collect();
        let bytes = match round % 3 {
            0 => random,
            1 => [&whole[..header_end], &random].concat(),
            _ => changed(&whole, &mut noise),
        };
        stage.file("noise.jsonl", &bytes);
        let scope = ["process", "role", "tree"][round % 3];
        let arguments = ["export", "noise.jsonl", "--scope", scope, "-o", "-"];
        let ended = stage.ask(&arguments).never_panicked();
        assert!(
            matches!(ended.status.code(), Some(0 | 2)),
            "round {round}: {ended:?}"
        );
    }
}

fn changed(bytes: &[u8], noise: &mut Noise) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..1 + noise.next() % 30 {
        let place = noise.next() as usize % changed.len();
        // Digits stay digits half of the time, so that many lines stay readable.
        changed[place] = match noise.next() % 2 {
            0 if changed[place].is_ascii_digit() => b'0' + (noise.next() % 10) as u8,
            _ => noise.next() as u8,
        };
    }
    changed
}

/// Numbers that look random and are the same in every run (an xorshift by Marsaglia).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }
}
