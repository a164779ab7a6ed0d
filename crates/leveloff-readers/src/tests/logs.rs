//! Logs of real trainings.

use super::*;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_progress::OutputParser;

#[test]
fn a_hand_written_log_is_read() {
    let input = fixture("inputs/training.log");
    assert_eq!((input.format, input.unit), ("log", XUnit::Step));
    assert_eq!(
        input.counts(),
        [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]
    );
    assert_eq!(input.memory()[0], 5_552_000_000);
    assert_eq!(input.memory()[4], 12_000_000_000);
    assert!(
        input
            .observations
            .iter()
            .all(|o| o.counters.get(TrainingCounter::Tensors) == Some(6529))
    );
    assert!(input.is_noted("skipped 3 lines"), "{:?}", input.notes);
}

#[test]
fn steps_may_stand_on_other_lines_than_memory() {
    let input = read(
        "step 10 loss 2.3\nRAM: 5.0 GB\nstep 20 loss 2.2\nRAM: 5.5 GB\nstep 30 loss 2.1\nRAM: 5.6 GB\n",
    );
    assert_eq!(
        (input.unit, input.counts()),
        (XUnit::Step, vec![10.0, 20.0, 30.0])
    );
    let bars = read(
        " 25%|██▌       | 10/40 [00:01<00:04,  7.22it/s, mem=5.0G]\r \
         50%|█████     | 20/40 [00:02<00:04,  7.22it/s, mem=5.5G]\n\
         75%|███████▌  | 30/40 [00:03<00:04,  7.22it/s, mem=5.6G]\n",
    );
    assert_eq!((bars.unit, bars.counts()), (XUnit::Step, vec![20.0, 30.0]));
}

#[test]
fn a_number_behind_a_word_for_a_process_is_no_memory() {
    let head =
        "Process index: 0\nTraining with a single process on 1 device (cuda:0)\nnode 3 of 4\n";
    let with_memory =
        format!("{head}step 10 RAM: 5552 MB\nstep 20 RAM: 5600 MB\nstep 30 RAM: 5601 MB\n");
    assert_eq!(
        read(&with_memory).memory(),
        [5_552_000_000, 5_600_000_000, 5_601_000_000]
    );
    let without = wrong(format!("{head}step 10 loss 2.3\nstep 20 loss 2.2\n"));
    assert!(without.contains("has no memory values"), "{without}");
}

#[test]
fn logs_without_steps_have_times_or_lines() {
    let input = read("[23:59:50] Memory: 5.4 GB\n[00:00:10] Memory: 5.5 GB\n");
    assert_eq!(
        (input.unit, input.times()),
        (XUnit::Second, vec![0.0, 20.0])
    );
    let input = read("Memory: 5.4 GB\nMemory: 5500 MB\n");
    assert_eq!(
        (input.unit, input.counts()),
        (XUnit::Sample, vec![1.0, 2.0])
    );
    assert_eq!(input.memory(), [5_400_000_000, 5_500_000_000]);
    let epochs = read("Epoch 1: host 17.2GiB\nEpoch 2: host 17.3GiB\n");
    assert_eq!(
        (epochs.unit, epochs.counts()),
        (XUnit::Epoch, vec![1.0, 2.0])
    );
}

#[test]
fn of_several_amounts_in_a_log_one_is_followed() {
    let text = "step 1 GPU mem 10 GB, RAM 5 GB (free 20 GB)\nstep 2 GPU mem 11 GB, RAM 6 GB\n";
    let input = read(text);
    assert_eq!(input.memory(), [5_000_000_000, 6_000_000_000]);
    assert!(input.is_noted("gpu"), "{:?}", input.notes);
    let gpu = read_with(text, &choice(None, Some("gpu mem"), None)).unwrap();
    assert_eq!(gpu.memory(), [10_000_000_000, 11_000_000_000]);
    let stated = read_with("RAM: 5\nRAM: 6\n", &choice(None, None, Some(SizeUnit::GB)));
    assert_eq!(stated.unwrap().memory(), [5_000_000_000, 6_000_000_000]);
}

#[test]
fn a_column_that_a_log_does_not_have_cannot_be_chosen() {
    let ask = |x: Option<&str>, y: Option<&str>| {
        let input = read_with("step 1 RAM 5 GB\nstep 2 RAM 6 GB\n", &choice(x, y, None));
        input
            .map(|input| input.unit)
            .map_err(|error| format!("{error:#}"))
    };
    let error = ask(None, Some("gpu")).unwrap_err();
    assert!(error.contains("'gpu'") && error.contains("ram"), "{error}");
    let error = ask(Some("moon"), None).unwrap_err();
    assert!(error.contains("--x takes step"), "{error}");
    assert_eq!(ask(Some("step"), None), Ok(XUnit::Step));
}

#[test]
fn a_log_may_begin_with_pages_of_something_else() {
    let mut text = "compiling something\n".repeat(20_000);
    text.push_str("step 1 RAM: 5 GB\nstep 2 RAM: 6 GB\n");
    assert_eq!(read(&text).counts(), [1.0, 2.0]);
}

#[test]
fn a_log_has_the_steps_that_its_bytes_have_live() {
    let logs = [
        lines(|n| {
            format!(
                "Epoch: [{}][{}/40]\tTime 0.3 (0.3)\tLoss 2.{n} RAM 5.{n:03} GB",
                n / 4,
                n % 4 * 10
            )
        }),
        lines(|n| format!("step {}: loss 2.{n}, RAM 5.{n:03} GB", n * 10)),
        lines(|n| {
            format!(
                "Train Epoch: {} [{}/640 (1%)]\tLoss: 0.{n}\nRAM 5.{n:03} GB",
                n / 10 + 1,
                n % 10 * 64
            )
        }),
        lines(|n| format!("{{\"global_step\": {n}, \"loss\": 2.5}}\nRAM 5.{n:03} GB")),
    ];
    for log in logs {
        assert_eq!(read(&log).counts(), live_counts(&log), "{log}");
    }
}

fn lines(line: impl Fn(u64) -> String) -> String {
    (1..40).map(|n| line(n) + "\n").collect()
}

/// The step at each line with memory, when the bytes come as `run` gets them: in pieces of any size.
fn live_counts(log: &str) -> Vec<f64> {
    let mut parser = OutputParser::new();
    let (mut step, mut counts) = (None, Vec::new());
    for line in log.split_inclusive('\n') {
        for piece in line.as_bytes().chunks(7) {
            let updates = parser.feed(piece);
            step = updates
                .iter()
                .filter_map(|update| update.step)
                .next_back()
                .or(step);
        }
        if line.contains("RAM") {
            counts.extend(step.map(|Step(step)| step as f64));
        }
    }
    assert!(counts.len() > 30, "{counts:?}");
    counts
}
