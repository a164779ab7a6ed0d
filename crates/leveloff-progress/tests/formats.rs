//! The clock in the output of many projects: the shape of their lines, with invented numbers.

use leveloff_model::progress::{Phase, StepUnit};
use leveloff_progress::{OutputParser, Plan, ProgressUpdate};

/// What was read of an output.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Read {
    step: Option<u64>,
    unit: Option<StepUnit>,
    planned: Option<u64>,
    epoch_steps: Option<u64>,
}

fn updates(text: &str) -> Vec<ProgressUpdate> {
    let mut parser = OutputParser::new();
    let mut updates = parser.feed(text.as_bytes());
    updates.extend(parser.finish());
    updates
}

fn read(text: &str) -> Read {
    let mut read = Read::default();
    for update in updates(text) {
        read.step = update.step.map(|step| step.0).or(read.step);
        read.unit = update.unit.or(read.unit);
        read.epoch_steps = update.epoch_steps.map(|steps| steps.0).or(read.epoch_steps);
        match update.plan {
            Some(Plan::Steps(steps)) => read.planned = Some(steps.0),
            Some(Plan::Withdrawn) => read.planned = None,
            None => {}
        }
    }
    read
}

fn steps(step: u64) -> Read {
    Read {
        step: Some(step),
        unit: Some(StepUnit::Steps),
        ..Read::default()
    }
}

/// Lines for each epoch and count; `line` gets both.
fn epochs(
    epochs: std::ops::Range<u64>,
    counts: &[u64],
    line: impl Fn(u64, u64) -> String,
) -> String {
    epochs
        .flat_map(|epoch| counts.iter().map(move |n| (epoch, *n)))
        .map(|(epoch, n)| line(epoch, n) + "\n")
        .collect()
}

#[test]
fn epochs_and_counts_compose_to_a_global_step() {
    let counts = [0, 10, 20, 30];
    let imagenet = epochs(0..3, &counts, |e, n| {
        format!("Epoch: [{e}][{n:3}/40]\tTime 0.{n} (0.3)\tLoss 2.{n}e+00 (2.3)")
    });
    let in_words = epochs(1..4, &counts, |e, n| {
        format!("Epoch [{e}/5], Step [{n}/40], Loss: 2.{n}")
    });
    let gan = epochs(0..3, &counts, |e, n| {
        format!("[{e}/5][{n}/40] Loss_D: 0.{n} Loss_G: 3.1")
    });
    let of_run = Read {
        planned: Some(200),
        epoch_steps: Some(40),
        ..steps(110)
    };
    assert_eq!(
        read(&imagenet),
        Read {
            planned: None,
            ..of_run
        }
    );
    assert_eq!(read(&in_words), of_run);
    assert_eq!(read(&gan), of_run);
}

#[test]
fn samples_are_told_apart_from_steps() {
    let mnist = epochs(1..3, &[0, 640, 1280, 1920], |e, n| {
        format!(
            "Train Epoch: {e} [{n}/2560 ({}%)]\tLoss: 0.{n}",
            n * 100 / 2560
        )
    });
    let read = read(&mnist);
    assert_eq!(
        (read.step, read.unit),
        (Some(2560 + 1920), Some(StepUnit::Samples))
    );
    assert_eq!(read.epoch_steps, Some(2560));
}

#[test]
fn a_step_that_is_printed_once_does_not_beat_the_iterations() {
    let mut text = "step 0: train loss 4.28, val loss 4.29\n".to_owned();
    text += &epochs(0..1, &[0, 10, 20, 30, 40], |_, n| {
        format!("iter {n}: loss 4.{n}, time 12.3ms, mfu 1.2%")
    });
    text += "step 50: train loss 3.28, val loss 3.29\niter 50: loss 3.3, time 12.3ms, mfu 1.2%\n";
    assert_eq!(read(&text), steps(50));
    let changes: Vec<String> = updates(&text)
        .into_iter()
        .filter_map(|update| update.new_clock)
        .collect();
    assert_eq!(changes, ["iter"]);
}

#[test]
fn tables_bars_and_dictionaries_have_a_clock() {
    let keras = epochs(1..3, &[1, 10, 20], |e, n| {
        let heading = if n == 1 {
            format!("Epoch {e}/3\n")
        } else {
            String::new()
        };
        format!("{heading}{n:2}/20 ━━━━━━━━ 3s 17ms/step - accuracy: 0.1 - loss: 2.3")
    });
    assert_eq!(read(&keras).step, Some(40));
    assert_eq!(read(&keras).planned, Some(60));
    let columns = "  Epoch  Iteration  Loss\n".to_owned()
        + &epochs(0..1, &[50, 100, 150], |e, n| format!("  {e}  {n:8}  1.{n}"));
    assert_eq!(read(&columns).step, Some(150));
    let json = epochs(0..2, &[0, 5, 10], |e, n| {
        format!(r#"{{"epoch":{e},"batch":{n},"num_batches":12,"loss":2.{n}}}"#)
    });
    assert_eq!(read(&json).step, Some(22));
}

#[test]
fn ranks_that_share_a_pipe_are_one_training() {
    let text: String = (1..200)
        .flat_map(|n: u64| {
            [
                (0, n),
                (2, n.saturating_sub(1)),
                (1, n),
                (3, n.saturating_sub(2)),
            ]
        })
        .map(|(rank, n)| format!("[rank{rank}]: step {n}/200 loss 2.{n}\n"))
        .collect();
    let updates = updates(&text);
    assert!(!updates.iter().any(|update| update.restarted));
    let steps: Vec<u64> = updates
        .iter()
        .filter_map(|update| Some(update.step?.0))
        .collect();
    assert!(steps.is_sorted(), "{steps:?}");
    assert_eq!(steps.last(), Some(&199));
}

#[test]
fn evaluations_in_the_format_of_the_training_are_a_phase() {
    let train = |e: u64| {
        epochs(e..e + 1, &[10, 20, 30, 40], |_, n| {
            format!("step {n}/40 - loss: 2.{n} - 14ms/step")
        })
    };
    let eval =
        "Eval begin...\nstep 5/10 - loss: 2.1 - 9ms/step\nstep 10/10 - loss: 2.1 - 9ms/step\n";
    let text = format!("Epoch 1/2\n{}{eval}Epoch 2/2\n{}{eval}", train(1), train(2));
    assert_eq!(read(&text).step, Some(80));
    assert!(
        updates(&text)
            .iter()
            .any(|update| update.phase == Some(Phase::Eval))
    );
}

#[test]
fn other_programs_have_no_clock() {
    let orders = [
        "FROM base",
        "RUN apt-get update",
        "COPY . /app",
        "WORKDIR /app",
        "ENV A=1",
        "CMD run",
    ];
    let numbered = orders.iter().zip(1..);
    let docker: String = numbered
        .map(|(order, n)| format!("Step {n}/6 : {order}\n"))
        .collect();
    let ninja: String = (1..99)
        .map(|n| format!("[{n}/340] Building CXX object lib/part{n}.o\n"))
        .collect();
    let git: String = (1..99)
        .map(|n| format!("Receiving objects: {n:3}% ({}/1000)\r", n * 10))
        .collect();
    let server: String = (1..99)
        .map(|n| format!("request {n} served in 0.{n} s, 200 OK\n"))
        .collect();
    let layers: String = (0..60)
        .map(|n| format!("{n}  | layer{n} | Linear | 33.{n} K | train\n"))
        .collect();
    let settings =
        "Namespace(lr=0.1, step=0, iters=500, batch_size=64, log_interval=10, seed=1, workers=4)\n"
            .to_owned();
    for text in [docker, ninja, git, server, layers, settings] {
        let found = updates(&text)
            .into_iter()
            .find(|update| update.step.is_some());
        assert_eq!(found, None, "{}", &text[..60]);
    }
}

#[test]
fn a_setting_is_no_step_and_a_cut_table_has_its_bar() {
    let settings =
        "engine: amp=False, angle=1.0, batch=8, box=7.5, cache=None, iou=0.7, lr0=0.01\n";
    let header = "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n";
    let cut = epochs(1..4, &[0, 1, 2, 20], |e, n| {
        let bar = "━".repeat(n as usize / 2 + 1);
        format!(
            "\x1b[K        {e}/3         0G      6.2{n}    …: {}% {bar} {n}/20 1.1it/s 2.2s<9.9s",
            n * 5
        )
    });
    let run = Read {
        planned: Some(60),
        epoch_steps: Some(20),
        ..steps(60)
    };
    assert_eq!(read(&format!("{settings}{header}{cut}")), run);
    assert_eq!(read(settings), Read::default());
}

#[test]
fn a_rounded_step_goes_on_beside_counts_that_are_livelier() {
    let text: String = (1..60)
        .map(|n| {
            format!(
                "step:{}K smpl:{}K ep:{n} loss:0.3{n} lr:1.0e-05\n",
                n / 5 + 1,
                n * 2
            )
        })
        .collect();
    assert_eq!(read(&text), steps(12_000));
}

#[test]
fn inference_and_other_work_count_no_steps() {
    let bars = |description: &str| -> String {
        (0..40)
            .map(|n| {
                format!(
                    "\r{description}{:3}%|██  | {n}/40 [00:01<00:03, 9.00it/s]",
                    n * 100 / 40
                )
            })
            .collect()
    };
    let inference = format!("number of problems: 164\nGenerating answers\n{}", bars(""));
    let kmeans: String = (0..30)
        .map(|n| format!("Iteration {n}, inertia {}.5.\n", 900 - n))
        .collect();
    let folds: String = (0..30)
        .map(|n| {
            format!(
                "[CV {}/5] END C={}, gamma=0.1; score=0.9{n} total time= 1.2s\n",
                n % 5 + 1,
                n / 5
            )
        })
        .collect();
    for text in [
        inference,
        bars("Batches: "),
        bars("Running rollout of 40 steps: "),
        kmeans,
        folds,
    ] {
        assert_eq!(read(&text).step, None, "{text}");
    }
    let training = format!("train loss 2.31\n{}", bars("Batches: "));
    assert_eq!(read(&training).step, Some(39));
}

#[test]
fn an_evaluation_with_other_metrics_in_its_bar_is_no_next_stage() {
    let bar = |metrics: &str, total: u64| -> String {
        (0..=total)
            .map(|n| {
                format!(
                    "\r{metrics} ||: {:3}%|#  | {n}/{total} [00:01<00:03, 9.00it/s]",
                    n * 100 / total
                )
            })
            .chain(["\n".to_owned()])
            .collect()
    };
    let epoch = bar("accuracy: 0.31, batch_loss: 0.41, loss: 0.51", 20)
        + &bar("accuracy: 0.32, loss: 0.52", 4);
    assert_eq!(read(&epoch.repeat(3)).step, Some(60));
}

#[test]
fn counts_with_a_share_and_with_negative_values_are_clocks() {
    let share: String = (0..40)
        .map(|n| {
            format!(
                "{} (0.{n:02}%)         31.2 ms      16 m, 12 s     141.21 K\n",
                n * 10
            )
        })
        .collect();
    assert_eq!(
        read(&format!("Step (% Done)   Train Iter (time)\n{share}")),
        steps(390)
    );
    let negative: String = (0..40).map(|n| format!("{n}:\t-5.{n:09}\n")).collect();
    assert_eq!(read(&format!("Epoch: 0\n{negative}")), steps(39));
}

#[test]
fn a_number_that_the_edge_of_the_terminal_cuts_is_no_count() {
    let mut text = String::new();
    for epoch in 0..12 {
        for n in 1..=50 {
            let step = epoch * 50 + n;
            let loss = ["0.9", "0.96", "0.966"][n % 3];
            let bar = format!(
                "Epoch {epoch}:  {}%|#| {n}/50 [00:02<00:02, 10.63it/s, loss={loss}, lr=2.44e-5, step={step}]",
                n * 2
            );
            // Some bars lose their bracket only, and some a digit of the step.
            text += &format!("\r{}", &bar[..bar.len().min(79)]);
        }
        text += "\n\r 80%|####  | 4/5 [00:00<00:00, 12.1it/s]\r100%|#####| 5/5 [00:00<00:00, 12.1it/s]\n";
    }
    let read = read(&text);
    assert_eq!((read.step, read.epoch_steps), (Some(600), Some(50)));
}

#[test]
fn a_bar_that_is_cut_in_its_rate_still_has_its_count() {
    let mut text = String::new();
    for epoch in 0..3 {
        for n in 1..=40 {
            text += &format!("\rEpoch {epoch}: 44%|#| {n}/40 [00:02<00:02, 10");
        }
    }
    assert_eq!(read(&text).step, Some(120));
}

#[test]
fn a_clock_that_stands_still_gives_way_to_the_count_beside_it() {
    let mut text = String::new();
    for n in 1..=200 {
        text += &format!("epoch 1 [{n}/200] step {} loss 0.5\n", n.min(40));
    }
    assert_eq!(read(&text).step, Some(200));
}

#[test]
fn a_rounded_step_gives_way_to_the_exact_count_of_the_epoch() {
    let mut text = String::new();
    for step in 0..437 {
        let (epoch, n) = (step / 400 + 1, step % 400 + 1);
        text += &format!(
            "\r| Epoch: {epoch}/63 ({n}/400) | Loss: 5.71 | 1.9 steps/s | Step: {}k |",
            step / 1000
        );
    }
    let read = read(&text);
    assert_eq!((read.step, read.epoch_steps), (Some(437), Some(400)));
}

#[test]
fn a_step_that_begins_an_epoch_where_it_was_is_not_composed() {
    let mut text = String::new();
    for epoch in 0..4 {
        text += &format!("INFO Epoch {epoch} Step {} begins lr 0.1\n", epoch * 300);
        text += &format!(
            "INFO Epoch {epoch} Step {} ends lr 0.1\n",
            epoch * 300 + 300
        );
    }
    assert_eq!(read(&text).step, Some(1200));
}

#[test]
fn an_epoch_of_unknown_length_ends_an_increment_after_its_last_count() {
    let mut text = String::new();
    for epoch in 0..3 {
        for n in (0..350).step_by(10) {
            text += &format!("ep {epoch} it {n} l 1.25\n");
        }
    }
    assert_eq!(read(&text).step, Some(2 * 350 + 340));
}

#[test]
fn the_bar_of_a_training_goes_on_where_the_clock_of_the_lines_ends() {
    let mut text = String::new();
    for step in 1..=5 {
        text += &format!("step {step} loss 0.5\n");
    }
    text += "\rTraining:   0%|  | 0/900 [00:00<?, ?it/s]";
    for n in 1..=9 {
        text += &format!("\rTraining:   1%|  | {n}/900 [00:01<00:09, 9.10it/s]\n");
        text += &(0..4)
            .map(|k| format!("step {} loss 0.5\n", 5 + n * 4 + k))
            .collect::<String>();
    }
    for n in 10..=900 {
        text += &format!("\rTraining:  40%|# | {n}/900 [00:10<00:09, 9.10it/s]");
    }
    assert_eq!(read(&text).step, Some(900));
}

/// Lines that are printed every `every` batches of `batch` samples: `Train Epoch: 1 [144/6000 (2%)]`.
fn samples_of(batch: u64, every: u64, total: u64) -> String {
    let before_last = (1..).map(|k| (k * every - 1) * batch);
    let counts: Vec<u64> = std::iter::once(0)
        .chain(before_last.take_while(|n| *n < total))
        .collect();
    epochs(1..3, &counts, |e, n| {
        let percent = 100 * n / total;
        format!("Train Epoch: {e} [{n}/{total} ({percent}%)]\tLoss: 0.{n}")
    })
}

#[test]
fn samples_of_small_batches_are_no_steps() {
    for (batch, every) in [(8, 1), (16, 10), (16, 7), (48, 10), (64, 10)] {
        let text = samples_of(batch, every, 6000);
        assert_eq!(read(&text).unit, Some(StepUnit::Samples), "{batch} {every}");
    }
    // Every 400th or 2,000th step.
    for every in [10, 50, 100, 400, 2000] {
        let counts: Vec<u64> = (0..20).map(|k| k * every).collect();
        let text = epochs(1..3, &counts, |e, n| {
            format!("Train Epoch: {e} [{n}/{}] Loss: 0.{n}", 20 * every)
        });
        assert_eq!(read(&text).unit, Some(StepUnit::Steps), "{every}");
    }
}

#[test]
fn the_end_of_an_epoch_says_its_length() {
    let counts = [100, 200];
    let text: String = (1..4)
        .map(|epoch| {
            epochs(epoch..epoch + 1, &counts, |e, n| {
                format!("\titers: {n}, epoch: {e} | loss: 0.{n}{e}")
            }) + &format!("Epoch: {epoch}, Steps: 267 | Train Loss: 1.03 Vali Loss: 1.0{epoch}\n")
        })
        .collect();
    assert_eq!(read(&text).step, Some(3 * 267));
}

#[test]
fn a_count_ahead_of_its_epoch_is_one_of_the_epoch() {
    let line = |e: u64, n: u64| format!("Epoch [{e}/2], Step [{n}/600], Loss: 0.{n}");
    let begun = read(&epochs(1..2, &[100, 200, 300], line));
    assert_eq!(begun.planned, Some(600), "it may run through both");
    let ahead = read(&epochs(1..2, &[100, 200, 300, 400, 500], line));
    assert_eq!((ahead.planned, ahead.epoch_steps), (Some(1200), Some(600)));
    let through = |e: u64, n: u64| line(e, n + 300 * (e - 1));
    let both = read(&epochs(1..3, &[100, 200, 300], through));
    assert_eq!((both.step, both.planned), (Some(600), Some(600)));
}
