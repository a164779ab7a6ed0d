use proptest::prelude::*;

use super::*;

/// All updates of a stream of bytes, fed in one chunk.
fn updates(bytes: &[u8]) -> Vec<ProgressUpdate> {
    let mut parser = OutputParser::new();
    let mut updates = parser.feed(bytes);
    updates.extend(parser.finish());
    updates
}

fn steps(bytes: &[u8]) -> Vec<u64> {
    let step = |update: ProgressUpdate| Some(update.step?.0);
    updates(bytes).into_iter().filter_map(step).collect()
}

fn fixture(name: &str) -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/training-logs/");
    std::fs::read(format!("{root}{name}.bin")).unwrap()
}

/// A line for each update; of consecutive steps, only the first and the last.
fn story(bytes: &[u8]) -> Vec<String> {
    let mut story = Vec::new();
    let mut step = None;
    for update in updates(bytes) {
        step = update.step.or(step);
        let at = step.map_or("-".to_owned(), |step| step.to_string());
        let mut say = |what: String| story.push(format!("{at} {what}"));
        if update.restarted {
            say("restarted".to_owned());
        }
        if let Some(name) = &update.new_clock {
            say(format!("new clock {name}"));
        }
        if let Some(phase) = &update.phase {
            say(format!("phase {}", phase.name()));
        }
        match update.plan {
            Some(Plan::Steps(planned)) => say(format!("planned {planned}")),
            Some(Plan::Withdrawn) => say("plan withdrawn".to_owned()),
            None => {}
        }
        if let Some(epoch_steps) = update.epoch_steps {
            say(format!("epoch has {epoch_steps}"));
        }
        if let Some(event) = &update.event {
            say(event.clone());
        }
    }
    story.push(format!(
        "{} last",
        step.map_or("-".to_owned(), |step| step.to_string())
    ));
    story
}

fn epochs(bytes: &[u8]) -> Vec<f64> {
    updates(bytes)
        .iter()
        .filter_map(|update| update.epoch)
        .collect()
}

/// One drawing of a tqdm bar, as a redraw in place.
fn bar(description: &str, n: u64, total: u64) -> String {
    let percent = n * 100 / total;
    format!("\r{description}{percent:3}%|█▌   | {n}/{total} [00:01<00:04, 7.22it/s]")
}

/// A bar that is drawn at each of `ns`, then closed.
fn bars(description: &str, ns: impl IntoIterator<Item = u64>, total: u64) -> String {
    let drawings: String = ns.into_iter().map(|n| bar(description, n, total)).collect();
    drawings + "\n"
}

/// The same, below another bar.
fn nested(ns: impl IntoIterator<Item = u64>, total: u64) -> String {
    ns.into_iter()
        .map(|n| format!("\n{}\x1b[A", bar("", n, total)))
        .collect()
}

#[test]
fn what_real_trainings_print_is_understood() {
    let trainer = |first: u64, is_merged: bool| {
        let evaluation = |at: u64| {
            [format!("{at} phase eval"), format!("{at} phase train")]
                .into_iter()
                .chain(is_merged.then(|| format!("{at} evaluation")))
        };
        [
            format!("{first} phase train"),
            format!("{first} planned 40"),
        ]
        .into_iter()
        .chain(evaluation(20))
        .chain(evaluation(40))
        .chain(is_merged.then(|| "40 train-end".to_owned()))
        .chain(["40 last".to_owned()])
        .collect::<Vec<String>>()
    };
    let lines = |story: &str| {
        story
            .split(", ")
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    let without_bar = "- phase train, - evaluation, - evaluation, - train-end, - last";
    let table = [
        ("hf_pty", trainer(3, true)),
        ("hf_merged", trainer(2, true)),
        ("hf_stderr", trainer(1, false)),
        ("hf4_stderr", trainer(4, false)),
        ("hf_stdout", lines(without_bar)),
        ("hf4_stdout", lines(without_bar)),
        ("hf_notqdm_stdout", lines(without_bar)),
        (
            "pl_tqdm_stdout",
            lines(
                "- phase eval, - phase train, 1 epoch has 40, 40 phase eval, 40 phase train, 80 phase eval, 80 phase train, 80 last",
            ),
        ),
        (
            "pl_pty",
            lines(
                "- phase eval, 0 phase train, 0 planned 80, 0 epoch has 40, 40 phase eval, 43 phase train, 80 phase eval, 80 phase train, 80 train-end, 80 last",
            ),
        ),
        (
            "pl_stdout",
            lines("80 phase train, 80 planned 80, 80 epoch has 40, 80 last"),
        ),
    ];
    for (name, expected) in table {
        let bytes = fixture(name);
        assert_eq!(story(&bytes), expected, "{name}");
        assert!(steps(&bytes).is_sorted(), "{name}");
        assert!(epochs(&bytes).is_sorted(), "{name}");
    }
}

#[test]
fn no_step_of_a_slow_bar_is_skipped() {
    assert_eq!(steps(&fixture("hf_stderr")), (1..=40).collect::<Vec<u64>>());
    assert_eq!(
        steps(&fixture("pl_tqdm_stdout")),
        (0..=80).collect::<Vec<u64>>()
    );
    assert_eq!(epochs(&fixture("hf4_stdout")), [0.25, 0.5, 0.75, 1.0]);
}

#[test]
fn plain_loops_with_real_bars_are_counted_through() {
    for (name, first, last) in [
        ("tqdm_loop", 1, 24),
        ("tqdm_nested", 1, 24),
        ("tqdm_nested_named", 0, 24),
        ("tqdm_loss", 0, 16),
        ("tqdm_no_total", 1, 12),
    ] {
        let bytes = fixture(name);
        assert_eq!(
            steps(&bytes),
            (first..=last).collect::<Vec<u64>>(),
            "{name}"
        );
        let evaluations = story(&bytes)
            .iter()
            .filter(|line| line.ends_with("phase eval"))
            .count();
        let expected = match name {
            "tqdm_loop" => 3,
            "tqdm_loss" => 2,
            _ => 0,
        };
        assert_eq!(evaluations, expected, "{name}");
    }
}

#[test]
fn a_bar_is_read_before_its_next_drawing() {
    let mut parser = OutputParser::new();
    let updates = parser.feed(bar("", 7, 40).as_bytes());
    assert_eq!(updates[0].step, Some(Step(7)));
}

#[test]
fn a_plain_loop_over_epochs_goes_on_counting() {
    let text = bars("", 0..=3, 3) + &bars("", 0..=2, 2) + &bars("", 0..=3, 3) + &bars("", 0..=2, 2);
    assert_eq!(steps(text.as_bytes()), [1, 2, 3, 4, 5, 6]);
    let story = story(text.as_bytes());
    assert!(story.contains(&"3 phase eval".to_owned()), "{story:?}");
    assert!(story.contains(&"3 plan withdrawn".to_owned()), "{story:?}");
    assert!(story.contains(&"3 epoch has 3".to_owned()), "{story:?}");
}

#[test]
fn a_bar_around_epochs_is_not_the_steps() {
    let epoch = |k| bar("", k, 2) + &nested(0..=5, 5);
    let text = epoch(0) + &epoch(1) + &bar("", 2, 2);
    assert_eq!(steps(text.as_bytes()), (1..=10).collect::<Vec<u64>>());
    let described = |k| bar("Epoch: ", k, 2) + &nested(0..=5, 5);
    let text = described(0) + &described(1) + &bar("Epoch: ", 2, 2);
    assert_eq!(steps(text.as_bytes()), (1..=10).collect::<Vec<u64>>());
    assert!(story(text.as_bytes()).contains(&"1 planned 10".to_owned()));
    assert!(epochs(text.as_bytes()).is_sorted());
}

#[test]
fn an_evaluation_before_the_first_step_does_not_hold_on() {
    let text = bar("", 0, 40) + &nested(0..=5, 5) + &bars("", 1..=40, 40);
    assert_eq!(steps(text.as_bytes()).last(), Some(&40));
    assert!(story(text.as_bytes()).contains(&"2 new clock progress bar".to_owned()));
}

#[test]
fn coming_in_during_an_evaluation_finds_the_training() {
    let text = nested(3..=4, 5) + &bar("", 20, 40) + &nested([5], 5) + &bars("", 21..=25, 40);
    assert_eq!(steps(text.as_bytes()), [3, 4, 5, 21, 22, 23, 24, 25]);
}

#[test]
fn a_long_evaluation_at_the_end_is_none_of_the_training() {
    let text = bars("", 0..=40, 40).trim_end().to_owned() + &nested((0..=500).step_by(9), 500);
    assert_eq!(steps(text.as_bytes()).last(), Some(&40));
}

#[test]
fn preparation_before_the_training_is_replaced_by_it() {
    let unnamed = bars("", 0..=5, 5) + &bars("", 0..=40, 40);
    let longer = bars("", 0..=90, 90) + &bars("Train: ", 0..=40, 40);
    let epochs = bars("", 0..=90, 90) + &bars("", 0..=40, 40) + &bars("", 0..=40, 40);
    let lines = bars("", 0..=90, 90)
        + &(1..=40)
            .map(|n| format!("step {n} loss 2.0\n"))
            .collect::<String>();
    for text in [unnamed, longer, epochs, lines] {
        assert_eq!(
            steps(text.as_bytes()).last(),
            Some(&40),
            "{}",
            &text[text.len() - 200..]
        );
    }
}

#[test]
fn bars_that_are_not_training_are_passed_over() {
    let text = "\rmodel.safetensors: 100%|███| 1.20G/1.20G [00:10<00:00, 120MB/s]\n\
        \rLoading checkpoint shards:  50%|█████     | 1/2 [00:01<00:01,  1.20s/it]\n\
        \rMap: 100%|██████████| 1000/1000 [00:00<00:00, 9000.12 examples/s]\n\
        \rMap (num_proc=4):  10%|█  | 1/10 [00:00<00:00, 90.12it/s]\n\
        \rGenerating train split: 100%|██| 8/8 [00:00<00:00, 9.12it/s]\n\
        \rGenerating train split: 1000 examples [00:00, 9000.12 examples/s]\n\
        \rFetching 4 files:  25%|██▌  | 1/4 [00:00<00:00, 9.12it/s]\n\
        torch 2.8.0 built 2025-08-06; step 3: install the package\nStep 1/12 : FROM x\n";
    assert_eq!(updates(text.as_bytes()), []);
}

#[test]
fn lines_are_followed_and_the_best_name_wins() {
    let text = "iter 400: loss 2.1\niter 401: loss 2.1\nstep 50 loss 2.0\niter 402: loss 2.0\n\
        step 51 loss 2.0\nSaving checkpoint at step 51\n";
    assert_eq!(steps(text.as_bytes()), [400, 401, 402, 51]);
    assert!(story(text.as_bytes()).contains(&"51 checkpoint".to_owned()));
}

#[test]
fn an_evaluation_bar_beside_step_lines_is_not_the_training() {
    let text = "step 10 loss 2.1\nstep 20 loss 2.1\n".to_owned()
        + &bars("", 0..=5, 5)
        + "step 30 loss 2.1\n";
    assert_eq!(steps(text.as_bytes()), [10, 20, 30]);
}

/// Python writes to a pipe in blocks of 8 KiB: dozens of lines stand between two drawings of a bar.
#[test]
fn a_block_of_lines_that_count_tokens_does_not_replace_the_bar() {
    let log = |n: u64| format!("{{'loss': '0.69', 'num_tokens': '{}'}}\n", 560 * n);
    let block = |from: u64| (from..from + 40).map(log).collect::<String>();
    let text = bars("", 1..=400, 700) + &block(1) + &bars("", 401..=640, 700) + &block(41);
    assert_eq!(steps(text.as_bytes()).last(), Some(&640));
    let said = story(text.as_bytes());
    assert_eq!(said, ["1 phase train", "1 planned 700", "640 last"]);
}

#[test]
fn the_plan_of_a_bar_is_none_of_another_unit() {
    let log = |n: u64| format!("{{'loss': '0.69', 'num_tokens': '{}'}}\n", 560 * n);
    let lines: String = (1..400).map(log).collect();
    let text = bars("", 1..=40, 700) + &lines;
    let said = story(text.as_bytes());
    assert!(
        said.iter().any(|line| line.ends_with("plan withdrawn")),
        "{said:?}"
    );
}

/// A loss that diverges is a whole number from 16 digits on.
#[test]
fn the_largest_numbers_overflow_nothing() {
    let diverged =
        "loss: 9.968066270453612e+17\nloss: 1.5412869550185744e+19\nloss: 2.2915155511284282e+20\n";
    assert_eq!(steps(diverged.as_bytes()), [0; 0]);
    let most = u64::MAX;
    let text: String = [0, 1, most / 2, most - 1, most, most, 3]
        .map(|n| format!("epoch {n}/{most} 5/7 loss 0.1\nEpoch [{n}], Step {n}\n{n}/{most}\n"))
        .concat();
    let _ = updates((text.clone() + &bar("", most / 200, most / 100) + &text).as_bytes());
}

#[test]
fn a_clock_above_its_metrics_has_a_name() {
    let lines = |n: u64| format!("STEP:  {n}\nloss: 0.5{n}\ntest loss: 0.4{n}\n");
    let mut parser = OutputParser::new();
    let steps = parser.feed((0..5).map(lines).collect::<String>().as_bytes());
    assert_eq!(steps.last().and_then(|update| update.step), Some(Step(4)));
    assert_eq!(parser.clock_name(), Some("STEP"));
}

#[test]
fn steps_carry_tensors() {
    let updates =
        updates(b"Step 10: 6529 tensors, RAM: 5552 MB\nStep 20: 6530 tensors, RAM: 7159 MB\n");
    let tensors: Vec<Option<u64>> = updates
        .iter()
        .map(|update| update.counters.get(TrainingCounter::Tensors))
        .collect();
    assert_eq!(tensors, [Some(6529), Some(6530)]);
}

#[test]
fn a_restarted_training_is_reported() {
    let run: String = [1, 2, 3, 4]
        .map(|n| format!("step {}: loss 2.0\n", n * 10))
        .concat();
    let story = story((run.clone() + &run).as_bytes());
    assert_eq!(story, ["10 phase train", "30 restarted", "40 last"]);
}

const FIXTURES: [&str; 15] = [
    "hf_pty",
    "hf_merged",
    "hf_stderr",
    "hf4_stderr",
    "hf_stdout",
    "hf4_stdout",
    "hf_notqdm_stdout",
    "pl_pty",
    "pl_stdout",
    "pl_tqdm_stdout",
    "tqdm_loop",
    "tqdm_nested",
    "tqdm_nested_named",
    "tqdm_loss",
    "tqdm_no_total",
];

/// The updates when the bytes come in chunks of these sizes, cyclically.
fn updates_in_chunks(bytes: &[u8], sizes: &[usize]) -> Vec<ProgressUpdate> {
    let mut parser = OutputParser::new();
    let mut updates = Vec::new();
    let mut rest = bytes;
    for size in sizes.iter().cycle() {
        let (chunk, after) = rest.split_at((*size).min(rest.len()));
        updates.extend(parser.feed(chunk));
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    updates.extend(parser.finish());
    updates
}

#[test]
fn every_byte_on_its_own_gives_the_same() {
    for name in FIXTURES {
        let bytes = fixture(name);
        assert_eq!(updates_in_chunks(&bytes, &[1]), updates(&bytes), "{name}");
    }
}

proptest! {
    #[test]
    fn any_chunking_of_a_real_output_gives_the_same(
        name in prop::sample::select(FIXTURES.to_vec()),
        sizes in prop::collection::vec(1usize..700, 1..12),
    ) {
        let bytes = fixture(name);
        prop_assert_eq!(updates_in_chunks(&bytes, &sizes), updates(&bytes));
    }

    #[test]
    fn any_mixture_in_any_chunks_gives_the_same(
        parts in prop::collection::vec(prop::sample::select(vec![
            "\r 25%|██▌  | 10/40 [00:01<00:04, 7.22it/s]", "\r100%|██| 5/5 [00:00<00:00, 9.1it/s]\x1b[A",
            "\rEpoch 1:   2%|▎ | 1/40 [00:00<00:00, 9.1it/s, loss=0.8]", "step 12: loss 2\n", "]", "[x]",
            "\n", "\r", "\x1b[2K", "{'loss': 2, 'epoch': 0.5}\n", "{'eval_loss': 2}\n", "iter 9/10", " ",
            "7it [00:03, 4.00it/s]", "Epoch 0/1 ━━ 2/40 0:00:00 • 0:00:01 2.9it/s",
        ]), 0..40),
        sizes in prop::collection::vec(1usize..60, 1..12),
    ) {
        let bytes = parts.concat().into_bytes();
        prop_assert_eq!(updates_in_chunks(&bytes, &sizes), updates(&bytes));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let _ = updates(&bytes);
    }

    #[test]
    fn damage_to_a_real_output_does_not_make_it_panic(
        name in prop::sample::select(FIXTURES.to_vec()),
        damage in prop::collection::vec((0usize..24_000, any::<u8>()), 1..20),
    ) {
        let mut bytes = fixture(name);
        for (at, byte) in damage {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        let _ = updates(&bytes);
    }
}

#[test]
fn a_pattern_is_suggested_for_a_number_that_rises_and_for_no_other() {
    let seen = |text: &str| {
        let mut parser = OutputParser::new();
        parser.feed(text.as_bytes());
        parser.seen()
    };
    let rising = seen("spin 7 of wheel done\nspin 8 of wheel done\nhost 17 is up\n");
    assert_eq!(rising.pattern.as_deref(), Some(r"spin\s*(?P<step>\d+)"));
    assert_eq!(rising.last_line, "spin 8 of wheel done");
    let columns = seen("spin\t7\t0.25 x\nspin\t8\t0.25 x\n");
    assert_eq!(columns.last_line, "spin 8 0.25 x", "a tab is a gap");
    for text in [
        "spin 7 of wheel done\n",
        "port 8080 is open\nport 8080 is open\n",
        "test launch::end_by_signal_9 ... ok\ntest launch::end_by_signal_15 ... ok\n",
        "loading part 3\nloading part 4\n",
    ] {
        let seen = seen(text);
        assert_eq!(seen.pattern, None, "{text}");
        assert!(!seen.last_line.is_empty(), "{text}");
    }
}

#[test]
fn the_sum_of_all_episodes_steps_is_the_clock_beside_episodes() {
    let td3 = |n: u64| {
        format!(
            "Total T: {} Episode Num: {n} Episode T: {} Reward: -{n}.25\n",
            190 * n + n % 3,
            190 + n % 3
        )
    };
    let sac = |n: u64| {
        format!(
            "Episode: {n}, total numsteps: {}, episode steps: {}, reward: -{n}.5\n",
            190 * n + n % 3,
            190 + n % 3
        )
    };
    for line in [&td3 as &dyn Fn(u64) -> String, &sac] {
        let log: String = (1..9).map(line).collect();
        let updates = updates(log.as_bytes());
        let last = updates.iter().rev().find_map(|update| update.step);
        assert_eq!(last.map(|step| step.0), Some(190 * 8 + 2), "{log}");
        assert_eq!(
            updates.iter().rev().find_map(|update| update.unit),
            Some(StepUnit::Timesteps),
            "{log}"
        );
    }
    // Without an episode it is a setting.
    assert_eq!(
        steps(b"total steps: 500\nloss 2.5\ntotal steps: 500\nloss 2.4\n"),
        Vec::<u64>::new()
    );
}

#[test]
fn a_long_name_of_the_clock_begins_with_a_whole_word() {
    let line = |n: u64| {
        format!(
            "Training average positive_sample_loss at step {n}: 0.{}\n",
            900 - n
        )
    };
    let log: String = (1..6).map(|n| line(100 * n)).collect();
    let mut parser = OutputParser::new();
    parser.feed(log.as_bytes());
    assert_eq!(
        parser.clock_name(),
        Some("average positive_sample_loss at step")
    );
}
