//! How fast a training's output is read: `cargo bench -p leveloff-progress`.

use divan::Bencher;
use divan::counter::BytesCount;
use leveloff_progress::OutputParser;

/// What a pipe or a log is read in.
const CHUNK: usize = 64 * 1024;

fn main() {
    divan::main();
}

fn fixture(name: &str) -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/training-logs/");
    std::fs::read(format!("{root}{name}")).expect("the fixtures are in the repository")
}

fn read(bencher: Bencher<'_, '_>, text: Vec<u8>) {
    let bytes = text.repeat((4 << 20) / text.len() + 1);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| {
        let mut parser = OutputParser::new();
        let updates = bytes.chunks(CHUNK).map(|chunk| parser.feed(chunk).len());
        updates.sum::<usize>()
    });
}

#[divan::bench]
fn plain_log_lines(bencher: Bencher<'_, '_>) {
    let line =
        b"2025-05-01 10:00:00,123 - worker.data - INFO - loaded shard 17 with 4096 rows (cached)\n";
    read(bencher, line.to_vec());
}

#[divan::bench]
fn one_endless_line(bencher: Bencher<'_, '_>) {
    read(bencher, vec![b'x'; 1 << 20]);
}

#[divan::bench]
fn printed_tensors(bencher: Bencher<'_, '_>) {
    read(bencher, b"tensor([[0.12, 0.34], [0.56, 0.78]])\n".to_vec());
}

#[divan::bench]
fn step_lines(bencher: Bencher<'_, '_>) {
    read(
        bencher,
        b"step 120: loss 2.31, lr 3.0e-05, 1200 tok/s\n".to_vec(),
    );
}

#[divan::bench]
fn trainer_on_a_terminal(bencher: Bencher<'_, '_>) {
    read(bencher, fixture("hf_pty.bin"));
}

#[divan::bench]
fn lightning_bars(bencher: Bencher<'_, '_>) {
    read(bencher, fixture("pl_tqdm_stdout.bin"));
}

#[divan::bench]
fn worst_line(bencher: Bencher<'_, '_>) {
    let mut line = b"|]/".repeat(2700);
    line.push(b'\n');
    read(bencher, line);
}
