//! A run's numbers for others: scraped by clients good and bad, kept in a file.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::recording::{Recording, wait_for_samples};
use crate::stage::{Ended, Stage, read_until, send, wait_until};
use crate::watched_process::WatchedProcess;

const MIB: f64 = 1_048_576.0;

/// Records `process` often, with metrics at a port that is free. Says where.
fn start(stage: &Stage, process: &WatchedProcess, more: &[&str]) -> (Child, SocketAddr) {
    let pid = process.pid().to_string();
    let common = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
    let mut command = stage.leveloff(common.iter().chain(more));
    let mut recorder = command.args(["--metrics", "127.0.0.1:0"]).spawn().unwrap();
    let address = address(&mut recorder);
    (recorder, address)
}

/// Where the metrics are, as it says itself.
fn address(leveloff: &mut Child) -> SocketAddr {
    let said = read_until(leveloff.stderr.as_mut().unwrap(), "metrics at http://");
    let line = said.lines().next_back().unwrap();
    let (_, url) = line.split_once("http://").unwrap();
    url.split_once("/metrics").unwrap().0.parse().unwrap()
}

/// A connection that gives a test up instead of waiting for ever.
fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    let patience = Some(Duration::from_secs(60));
    stream.set_read_timeout(patience).unwrap();
    stream.set_write_timeout(patience).unwrap();
    stream
}

fn scrape(address: SocketAddr) -> String {
    let mut stream = connect(address);
    let request = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The values of all series of this name whose labels hold all of these.
fn values(text: &str, name: &str, labels: &[&str]) -> Vec<f64> {
    let is_meant = |line: &&str| {
        line.starts_with(&format!("{name}{{")) && labels.iter().all(|label| line.contains(label))
    };
    let lines = text.lines().filter(is_meant);
    lines
        .map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap())
        .collect()
}

fn memory(text: &str) -> f64 {
    let of_rank = ["job=\"tune\"", "rank=\"3\"", "role="];
    values(text, "leveloff_memory_bytes", &of_rank).iter().sum()
}

#[test]
fn a_run_is_scraped_under_its_name_until_it_ends() {
    let variables = [("SLURM_JOB_NAME", "tune"), ("SLURM_PROCID", "3")];
    let (stage, mut process) = (
        Stage::new(),
        WatchedProcess::with_variables("metrics", &variables),
    );
    let (recorder, address) = start(&stage, &process, &[]);
    wait_until("a first sample", || memory(&scrape(address)) > 0.0);
    let before = memory(&scrape(address));
    process.grow(64);
    wait_until("growth by 64 MiB", || {
        memory(&scrape(address)) >= before + 64.0 * MIB
    });
    wait_until("a verdict", || {
        let states = values(&scrape(address), "leveloff_verdict", &["rank=\"3\""]);
        states.len() == 4 && states.iter().sum::<f64>() == 1.0
    });
    let text = scrape(address);
    assert_eq!(values(&text, "leveloff_processes", &["role="]), [1.0]);
    assert!(values(&text, "leveloff_step", &[]).is_empty(), "{text}");
    process.end(0);
    Ended::of(recorder).well();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn what_is_said_of_the_run_goes_before_what_is_found() {
    let variables = [("JOB_NAME", "found"), ("RANK", "3")];
    let (stage, process) = (
        Stage::new(),
        WatchedProcess::with_variables("named", &variables),
    );
    let (recorder, address) = start(&stage, &process, &["--job", "mine", "--rank", "12"]);
    wait_until("a first sample", || {
        let of_run = ["job=\"mine\"", "rank=\"12\""];
        !values(&scrape(address), "leveloff_memory_bytes", &of_run).is_empty()
    });
    assert!(!scrape(address).contains("found"));
    send(&recorder, Signal::TERM);
    Ended::of(recorder).well();
}

#[test]
fn a_command_is_run_with_metrics_and_does_not_get_the_door() {
    let stage = Stage::new();
    let words = ["run", "-i", "20ms", "--metrics", "127.0.0.1:0", "--", "cat"];
    let mut command = stage.leveloff(words);
    command.env_remove("JOB_NAME").env_remove("SLURM_JOB_NAME");
    let mut leveloff = command.stdin(Stdio::piped()).spawn().unwrap();
    let address = address(&mut leveloff);
    wait_until("a sample of cat", || {
        let of_run = ["job=\"cat\""];
        !values(&scrape(address), "leveloff_memory_bytes", &of_run).is_empty()
    });
    // Killed, it leaves the command behind, and with it whatever that has inherited.
    leveloff.kill().unwrap();
    wait_until("the end of the endpoint", || {
        TcpStream::connect(address).is_err()
    });
    drop(leveloff.stdin.take());
    leveloff.wait().unwrap();
}

#[test]
fn an_address_that_cannot_be_had_is_said_before_anything_starts() {
    let stage = Stage::new();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().to_string();
    let wrong = [
        (taken.as_str(), "another process uses it"),
        ("192.0.2.1:9184", "this machine has no address"),
        ("9184", "127.0.0.1:9184 for this machine"),
        ("nowhere", "write an IP address and a port"),
    ];
    for (address, words) in wrong {
        let start = ["run", "--metrics", address, "--", "touch", "started"];
        stage.ask(&start).refused(&[address, words]);
    }
    assert!(!stage.path("started").exists());
    assert!(stage.recordings().is_empty());
}

/// Clients that ask for nothing, for nonsense, for too much, and that do not read the reply.
fn bad_clients(address: SocketAddr) -> Vec<TcpStream> {
    let long_header = format!("GET / HTTP/1.1\r\nX: {}\r\n", "x".repeat(1 << 20));
    let pipelined = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2_000);
    let said: [&[u8]; 7] = [
        b"",
        b"GET /met",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS",
        b"\0\0\0\0\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nx",
        long_header.as_bytes(),
        pipelined.as_bytes(),
    ];
    let client = |words: &[u8]| {
        let mut stream = connect(address);
        stream.set_nonblocking(true).unwrap();
        // It may be cut off, or its buffers be full: that is what is tried here.
        let _ = stream.write_all(words);
        stream
    };
    (0..20).flat_map(|_| said.map(client)).collect()
}

#[test]
fn bad_clients_stop_neither_samples_nor_others() {
    let (stage, process) = (Stage::new(), WatchedProcess::new());
    let (recorder, address) = start(&stage, &process, &[]);
    let path = stage.path("run.jsonl");
    wait_for_samples(&path, 1);
    let held = bad_clients(address);
    wait_for_samples(&path, 10);
    assert!(scrape(address).contains("leveloff_memory_bytes"));
    drop(held);
    process.end(0);
    Ended::of(recorder).well();
    assert_eq!(Recording::load(&path).end().0, "target-gone");
}

/// The numbers that are in the file, which must be complete whenever it exists.
fn kept(path: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(path).ok()?;
    assert!(text.starts_with("# HELP leveloff_info "), "{text}");
    assert!(text.ends_with('\n') && !text.contains("# EOF"), "{text}");
    values(&text, "leveloff_sample_timestamp_seconds", &[]).pop()
}

#[test]
fn a_file_is_kept_up_to_date_and_goes_with_the_run() {
    let (stage, process) = (Stage::new(), WatchedProcess::new());
    let path = stage.path("run.prom");
    // One of us was killed before.
    stage.file("run.prom", "# HELP leveloff_info Who tells this\n");
    let pid = process.pid().to_string();
    let words = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
    let mut command = stage.leveloff(words);
    let recorder = command
        .args(["--metrics-file", "run.prom"])
        .spawn()
        .unwrap();
    wait_until("a first sample", || kept(&path).is_some());
    let first = kept(&path);
    wait_until("a newer one", || kept(&path) > first);
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
    process.end(0);
    Ended::of(recorder).well();
    let left: Vec<_> = std::fs::read_dir(stage.directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["run.jsonl"]);
}

#[test]
fn a_file_that_cannot_be_kept_is_said_before_anything_starts() {
    let stage = Stage::new();
    stage.file("theirs.prom", "# HELP node_load1 not ours\n");
    let wrong = [
        ("run.txt", "does not end in .prom"),
        ("theirs.prom", "was not written by leveloff"),
        ("no/run.prom", "choose a directory that you may write to"),
    ];
    for (file, words) in wrong {
        let start = ["run", "--metrics-file", file, "--", "touch", "started"];
        stage.ask(&start).refused(&[file, words]);
    }
    assert!(!stage.path("started").exists());
    let theirs = std::fs::read_to_string(stage.path("theirs.prom")).unwrap();
    assert_eq!(theirs, "# HELP node_load1 not ours\n");
}
