//! What the truths do not say in numbers: curves, spikes, sharing, retention.

use crate::driven::Driven;
use crate::machine::{comm, command_line, memory, rss, tree};

const MIB: f64 = 1_048_576.0;

#[test]
fn the_story_goes_through_the_reported_numbers_and_stays() {
    let mut driven = Driven::begun("story", 300, &[]);
    let reported = [
        55.52, 71.59, 88.51, 103.75, 120.00, 137.57, 155.59, 174.12, 177.0,
    ];
    for (tens, megabytes) in (1..).zip(reported) {
        driven.steps(10);
        let total = rss(driven.pid()) / 1e6;
        let error = (total / megabytes - 1.0).abs();
        assert!(error < 0.01, "{total} MB at step {tens}0, not {megabytes}");
    }
    for _ in 0..20 {
        driven.steps(10);
        let total = rss(driven.pid()) / 1e6;
        assert!((total / 177.0 - 1.0).abs() < 0.005, "{total} MB");
    }
}

#[test]
fn a_cache_grows_in_a_straight_line_through_the_first_epoch() {
    let mut driven = Driven::begun("epoch-cache", 300, &[]);
    let start = memory(driven.pid());
    for part in 1..=4 {
        driven.steps(20);
        let grown = (memory(driven.pid()) - start) / MIB;
        assert!((grown - 30.0 * f64::from(part)).abs() < 1.0, "{grown} MiB");
    }
}

#[test]
fn a_pool_fills_ever_more_slowly() {
    let mut driven = Driven::begun("pool-warmup", 300, &[]);
    let start = memory(driven.pid());
    let mut filled = || {
        driven.steps(30);
        (memory(driven.pid()) - start) / MIB
    };
    let (early, middle, late) = (filled(), filled(), filled());
    assert!(early > 40.0 && middle - early < early, "{early} {middle}");
    assert!((late - 120.0).abs() < 2.0, "{late}");
}

#[test]
fn garbage_piles_up_and_is_collected() {
    let mut driven = Driven::begun("gc-sawtooth", 300, &[]);
    driven.steps(1);
    let start = memory(driven.pid());
    driven.steps(38);
    let piled_up = memory(driven.pid()) - start;
    driven.steps(1);
    let collected = memory(driven.pid()) - start;
    assert!((piled_up / MIB - 38.0).abs() < 1.0, "{piled_up}");
    assert!(collected < 1e6, "{collected}");
}

#[test]
fn a_spike_is_there_while_evaluating_and_returns() {
    let mut driven = Driven::begun("eval-spikes", 300, &[]);
    driven.steps(10);
    let start = memory(driven.pid());
    driven.order("evaluating");
    let peak = memory(driven.pid()) - start;
    driven.order("evaluated");
    let after = memory(driven.pid()) - start;
    assert!((peak / MIB - 64.0).abs() < 1.0, "{peak}");
    assert!(after.abs() < 1e6, "{after}");
}

#[test]
fn what_shrinks_is_gone_in_the_end() {
    let mut driven = Driven::begun("shrinking", 300, &[]);
    let full = memory(driven.pid());
    driven.steps(150);
    let half = memory(driven.pid());
    driven.steps(150);
    let freed = |now: f64| (full - now) / MIB;
    assert!((freed(half) - 80.0).abs() < 1.5, "{}", freed(half));
    let end = freed(memory(driven.pid()));
    assert!((end - 160.0).abs() < 1.5, "{end}");
}

#[test]
fn retained_memory_is_free_and_malloc_trim_returns_it() {
    let mut driven = Driven::begun("retention", 400, &[]);
    driven.steps(50);
    let (start, in_use) = (memory(driven.pid()), driven.order("in-use"));
    driven.steps(200);
    let grown = memory(driven.pid()) - start;
    let kept = driven.order("in-use") as f64 - in_use as f64;
    assert!((grown / MIB - 200.0).abs() < 10.0, "{grown}");
    assert!(kept < 0.01 * grown, "{kept} bytes are in use");
    assert_eq!(driven.order("trim"), 1);
    let left = memory(driven.pid()) - start;
    assert!(left < 0.1 * grown, "{left} of {grown} stay");
}

#[test]
fn held_tensors_are_reported() {
    for (pattern, each_step) in [("tensor-leak", 1), ("graph-leak", 4)] {
        let mut driven = Driven::begun(pattern, 400, &["rate=64KiB"]);
        driven.steps(10);
        let held = driven.order("held");
        driven.steps(10);
        assert_eq!(driven.order("held"), 2 * held, "{pattern}");
        assert!(held >= 10 * each_step, "{pattern}: {held}");
    }
    let mut driven = Driven::begun("native-leak", 400, &["rate=64KiB"]);
    driven.steps(10);
    assert_eq!(driven.order("held"), 0);
}

#[test]
fn compile_workers_look_like_torch_s_and_share_their_memory() {
    let mut driven = Driven::begun("compile-workers", 300, &[]);
    driven.steps(1);
    let processes = tree(driven.pid());
    assert_eq!(processes.len(), 22, "trainer, pool and 20 workers");
    let parent = format!("--parent={}", driven.pid());
    for &pid in &processes[1..] {
        let words = command_line(pid);
        assert!(words[1].ends_with("/site-packages/torch/_inductor/compile_worker/__main__.py"));
        assert!(words.contains(&parent) && words.contains(&"--workers=20".to_owned()));
        assert_eq!(comm(pid), "python");
    }
    let apparent: f64 = processes.iter().map(|&pid| rss(pid)).sum();
    let real: f64 = processes.iter().map(|&pid| memory(pid)).sum();
    assert!(apparent > 1.3e9, "{apparent}");
    assert!(real < 130.0 * MIB && real > 90.0 * MIB, "{}", real / MIB);
}

#[test]
fn copied_pages_do_not_show_in_rss() {
    let mut driven = Driven::begun("dataloader-workers", 400, &[]);
    let workers = tree(driven.pid())[1..].to_vec();
    assert_eq!(workers.len(), 4);
    assert!(workers.iter().all(|&pid| comm(pid) == "pt_data_worker"));
    let sum = |of: fn(u32) -> f64| workers.iter().map(|&pid| of(pid)).sum::<f64>();
    let start = sum(rss);
    driven.steps(200);
    let grown = sum(rss) - start;
    assert!(grown.abs() < 1e6, "{grown}");
}

#[test]
fn copying_ends_when_every_worker_has_everything() {
    let settings = ["size=1MiB", "rate=1MiB", "workers=2"];
    let mut driven = Driven::begun("dataloader-workers", 400, &settings);
    let all = |driven: &Driven| tree(driven.pid()).into_iter().map(memory).sum::<f64>();
    driven.steps(4);
    let full = all(&driven);
    driven.steps(20);
    assert!((all(&driven) - full).abs() < 0.1 * MIB);
}

#[test]
fn one_worker_grows_and_its_siblings_do_not() {
    let mut driven = Driven::begun("one-leaking-worker", 400, &[]);
    let workers = tree(driven.pid())[1..].to_vec();
    driven.steps(1);
    let start: Vec<f64> = workers.iter().map(|&pid| memory(pid)).collect();
    driven.steps(50);
    let grown = workers
        .iter()
        .zip(start)
        .map(|(&pid, start)| memory(pid) - start);
    let mut grown: Vec<f64> = grown.map(|grown| grown / MIB).collect();
    grown.sort_by(f64::total_cmp);
    assert!((grown[3] - 50.0).abs() < 1.0, "{grown:?}");
    assert!(
        grown[..3].iter().all(|grown| grown.abs() < 0.2),
        "{grown:?}"
    );
}
