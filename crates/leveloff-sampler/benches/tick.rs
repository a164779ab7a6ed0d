//! What a tick of a small tree costs, and each of the parsers that it rests on:
//! `cargo bench -p leveloff-sampler --bench tick`. Against psutil: `scripts/bench/sampler`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use divan::{Bencher, black_box};
use leveloff_model::process::Pid;
use leveloff_sampler::kernel::smaps::SmapsFold;
use leveloff_sampler::kernel::{rollup, stat, statm, status};
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use leveloff_sampler::processes::Scope;
use leveloff_sampler::processes::handle::{ProcessHandle, SCRATCH_SIZE, page_size};
use leveloff_sampler::sampler::{Sampler, SamplerOptions};

fn main() {
    divan::main();
}

/// A shell and what it forked, idle until this is dropped: all of them read the same pipe.
struct ForkedTree(Child);

impl ForkedTree {
    fn of(children: usize) -> ForkedTree {
        // The parentheses make a fork that stays a shell; what is forked to read does not run on.
        let script = format!(
            "exec 3<&0; i=0; while [ $i -lt {children} ]; do (read line <&3; :) & i=$((i+1)); \
             done; echo ready; wait"
        );
        let mut shell = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let mut said = String::new();
        let output = shell.stdout.take().expect("its output");
        BufReader::new(output)
            .read_line(&mut said)
            .expect("its word");
        assert_eq!(said, "ready\n");
        ForkedTree(shell)
    }

    fn pid(&self) -> Pid {
        Pid(i32::try_from(self.0.id()).expect("a pid"))
    }
}

impl Drop for ForkedTree {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("the shell ends with its input");
    }
}

fn sampler_of(tree: &ForkedTree) -> Sampler {
    let root = key_of(&ProcRoot::live(), tree.pid()).expect("the shell runs");
    let options = SamplerOptions {
        scope: Scope::Descendants(vec![root]),
        interval: Duration::from_secs(1),
        // Slow readings are on a thread of their own.
        pss_budget_percent: 0.0,
        limit: None,
        log: None,
        step_regex: None,
        has_output: false,
        adopter: None,
        own_processes: Vec::new(),
    };
    Sampler::new(options).expect("a sampler")
}

#[divan::bench(args = [0, 20, 200])]
fn tick_of_a_tree(bencher: Bencher<'_, '_>, children: usize) {
    let tree = ForkedTree::of(children);
    let mut sampler = sampler_of(&tree);
    let tick = sampler.tick().expect("a tick");
    assert_eq!(tick.sample.processes.len(), children + 1);
    bencher.bench_local(|| sampler.tick().expect("a tick"));
}

#[divan::bench]
fn open_a_process(bencher: Bencher<'_, '_>) {
    let us = Pid(i32::try_from(std::process::id()).expect("a pid"));
    let root = ProcRoot::live();
    let mut scratch = Box::new([0; SCRATCH_SIZE]);
    bencher.bench_local(|| ProcessHandle::open(&root, us, &mut scratch).expect("we are there"));
}

/// Our own file: as long as real ones are.
fn own(name: &str) -> Vec<u8> {
    std::fs::read(format!("/proc/self/{name}")).expect("we may read ourselves")
}

#[divan::bench]
fn parse_statm(bencher: Bencher<'_, '_>) {
    let text = own("statm");
    bencher.bench(|| statm::parse(black_box(&text), page_size().0).expect("a statm"));
}

#[divan::bench]
fn parse_stat(bencher: Bencher<'_, '_>) {
    let text = own("stat");
    bencher.bench(|| stat::parse(black_box(&text)).expect("a stat").cpu_ticks);
}

#[divan::bench]
fn parse_status(bencher: Bencher<'_, '_>) {
    let text = own("status");
    bencher.bench(|| status::memory(black_box(&text)).expect("a status"));
}

#[divan::bench]
fn parse_rollup(bencher: Bencher<'_, '_>) {
    let text = own("smaps_rollup");
    bencher.bench(|| rollup::parse(black_box(&text)).expect("a rollup"));
}

#[divan::bench]
fn fold_smaps(bencher: Bencher<'_, '_>) {
    let text = own("smaps");
    bencher.bench(|| {
        let mut fold = SmapsFold::default();
        black_box(&text)
            .split(|&byte| byte == b'\n')
            .for_each(|line| fold.line(line));
        fold.finish()
    });
}
