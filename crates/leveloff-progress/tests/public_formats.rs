//! What loops of public scripts taught: counts above their metrics, scores that look like batches, bars of whole epochs, names with
//! an evaluation in them, and evaluations without a training.

use leveloff_model::progress::StepUnit;
use leveloff_progress::{OutputParser, Plan};

/// What is known at the end.
#[derive(Debug, Default, PartialEq)]
struct Read {
    step: Option<u64>,
    planned: Option<u64>,
    unit: Option<StepUnit>,
    /// The line that the first step was read from, counted from 1.
    first_line: Option<usize>,
}

fn read(text: &str) -> Read {
    let mut parser = OutputParser::new();
    let mut read = Read::default();
    for (index, piece) in text.split_inclusive(['\n', '\r']).enumerate() {
        for update in parser.feed(piece.as_bytes()) {
            read.unit = update.unit.or(read.unit);
            read.planned = match update.plan {
                Some(Plan::Steps(steps)) => Some(steps.0),
                Some(Plan::Withdrawn) => None,
                None => read.planned,
            };
            if let Some(step) = update.step {
                read.step = Some(step.0);
                read.first_line = read.first_line.or(Some(index + 1));
            }
        }
    }
    let last = parser.finish().iter().rev().find_map(|update| update.step);
    read.step = last.map(|step| step.0).or(read.step);
    read
}

fn last_step(text: &str) -> Option<u64> {
    read(text).step
}

/// Lines 1, 2, 3 … of a format.
fn lines(count: u64, line: impl Fn(u64) -> String) -> String {
    (1..=count).map(|n| line(n) + "\n").collect()
}

/// `25%|██▌   | 10/40 [00:01<00:04, 7.22it/s]` behind a description and in front of its metrics.
fn bar(description: &str, n: u64, total: u64, metrics: &str) -> String {
    let share = n * 100 / total;
    format!("\r{description}{share:3}%|██  | {n}/{total} [00:01<00:04, 7.22it/s{metrics}]")
}

#[test]
fn a_count_above_its_metrics_is_read_with_the_first_of_them() {
    let iterations = lines(9, |n| {
        format!("Iteration {n}0 / 90\n  content loss: 12{n}.5\n  style loss: 9{n}.5")
    });
    let first = read(&iterations);
    assert_eq!((first.step, first.first_line), (Some(90), Some(2)));
    let epochs = lines(9, |n| {
        format!("Epoch {n} of 500 took 2.1s\n  training loss:  2.{n}\n")
    });
    let first = read(&epochs);
    assert_eq!((first.step, first.first_line), (Some(9), Some(2)));
    assert_eq!(first.planned, Some(500));
    let other_work = "Step 3: resolving\nerror: 0.5 of 12 packages\nprocess step 4\n";
    assert_eq!(last_step(other_work), None);
}

#[test]
fn an_epoch_with_its_result_is_read_at_once_and_gives_way_to_batches() {
    let first = read("Epoch 1/10: train_loss=0.5, val_loss=0.4\n");
    assert_eq!((first.step, first.first_line), (Some(1), Some(1)));
    let batches = lines(3, |epoch| {
        format!("Epoch {epoch} loss 0.{epoch}\n")
            + &lines(20, |n| format!("Epoch {epoch} Batch {n}/20 loss 0.{n}"))
    });
    let read = read(&batches);
    assert_eq!((read.step, read.unit), (Some(60), Some(StepUnit::Steps)));
}

#[test]
fn the_score_of_each_epoch_is_no_batch() {
    let network = lines(30, |n| {
        format!("Epoch {n}: {} / 10000", 9000 + n * n * 91 % 500)
    });
    let found = read(&network);
    assert_eq!((found.step, found.unit), (Some(30), Some(StepUnit::Epochs)));
    let batches = lines(3, |epoch| {
        lines(4, |n| format!("Epoch {epoch} [{}/400] loss 0.{n}", n * 100))
    });
    assert_eq!(last_step(&batches), Some(1200));
}

#[test]
fn the_length_of_an_epoch_that_begins_with_step_0_ends_behind_its_last_print() {
    let singular = lines(4, |epoch| {
        lines(10, |n| {
            format!("train epoch: {epoch}, step: {}, loss: 0.{n}", (n - 1) * 50)
        })
    });
    assert_eq!(last_step(&singular), Some(3 * 500 + 450));
    let numbered = lines(3, |epoch| {
        lines(5, |n| {
            format!(
                "epoch: {epoch}, batch_id: {}, auc:0.{n}, loss: 0.{n}",
                (n - 1) * 100
            )
        })
    });
    assert_eq!(last_step(&numbered), Some(2 * 500 + 400));
}

#[test]
fn names_of_counts_may_begin_with_n_or_end_with_a_number() {
    let table = lines(9, |n| {
        format!(
            "| policy_loss | 0.0{n} |\n| nupdates  | {n} |\n| total_timesteps | {} |",
            n * 128
        )
    });
    assert_eq!(last_step(&table), Some(9 * 128));
    let samples = lines(9, |n| format!("nsamp = {}, p0loss = 2.{n}", n * 256));
    assert_eq!(read(&samples).unit, Some(StepUnit::Samples));
}

#[test]
fn a_bar_may_be_drawn_without_its_blocks() {
    let text: String = (0..=37)
        .map(|n| {
            format!(
                "  0/9  21.5G  0.07  0.03  20  1280: {}% {n}/37 [00:0{}<00:30, 5.14s/it]\n",
                n * 100 / 37,
                n % 10
            )
        })
        .collect();
    let found = read(&text);
    assert_eq!((found.step, found.planned), (Some(37), Some(370)));
}

#[test]
fn bars_that_name_an_epoch_count_what_they_go_on_with() {
    let epochs: String = (0..=40)
        .map(|n| bar(&format!("Epoch {}/40: ", n.max(1)), n, 40, ", v_num=1"))
        .collect();
    let found = read(&(bar("Training: ", 0, 40, "") + &epochs));
    assert_eq!((found.step, found.unit), (Some(40), Some(StepUnit::Epochs)));
    let of_run: String = (0..=60)
        .map(|n| {
            bar(
                &format!("Epoch {}/6, Steps: ", n / 10 + 1),
                n,
                60,
                ", lr=0.1",
            )
        })
        .collect();
    let found = read(&of_run);
    assert_eq!((found.step, found.planned), (Some(60), Some(60)));
    let described: String = (0..=30)
        .map(|n| {
            bar(
                &format!("Epoch: {n}, train_loss: 2.1, val_acc: 0.4: "),
                n,
                30,
                "",
            )
        })
        .collect();
    assert_eq!(last_step(&described), Some(30));
    let passes: String = (0..4)
        .flat_map(|_| (0..=8).map(|k| bar("Train epoch [1/1]: ", k, 8, ", pg=0.1")))
        .collect();
    assert_eq!(last_step(&passes), Some(32));
}

#[test]
fn an_evaluation_in_the_name_of_a_value_says_nothing_about_the_line() {
    let dictionary = lines(9, |n| {
        format!(
            "{{'loss/policy': 0.{n}, 'val/ratio': 0.9{n}, 'episode': {}}}",
            n * 16
        )
    });
    assert_eq!(last_step(&dictionary), Some(144));
    let lr_bar: String = (0..=40)
        .map(|n| {
            bar(
                "eval reward: 31.5 (init: 9.2), lr policy: 0.0003: ",
                n,
                40,
                "",
            )
        })
        .collect();
    assert_eq!(last_step(&lr_bar), Some(40));
    let loss_bar: String = (0..=40)
        .map(|n| bar("loss: 0.31 test_accuracy: 97.5%: ", n, 40, ""))
        .collect();
    assert_eq!(last_step(&loss_bar), Some(40));
    let evaluation: String = (0..=40)
        .map(|n| bar("Test loss: 0.31 accuracy: 97.5%: ", n, 40, ""))
        .collect();
    assert_eq!(last_step(&evaluation), None);
}

#[test]
fn a_rate_and_an_epoch_make_a_count_with_a_total_a_bar() {
    let text = lines(40, |n| {
        format!(
            "[{n:3}/290 02:{:02} < 38:04, 0.12 it/s, Epoch 0.{n:02}/5]",
            n % 60
        )
    });
    let found = read(&text);
    assert_eq!((found.step, found.planned), (Some(40), Some(290)));
}

#[test]
fn a_count_beside_the_clock_does_not_stop_it() {
    let text = lines(40, |n| {
        format!(
            "phase=train | {}/10000 | env_steps={} | buffer={} | loss=0.{n}",
            n * 137,
            n * 137 + 900,
            n * 137 + 900
        )
    });
    assert_eq!(last_step(&text), Some(40 * 137));
}

#[test]
fn evaluations_and_solvers_without_a_training_have_no_steps() {
    let judged = "Evaluating answers with the judge model best\n".to_owned()
        + &lines(40, |n| {
            format!("[{n}/40] question {n}: score 0.{n} (average 0.7{n})")
        });
    assert_eq!(last_step(&judged), None);
    let keras = "Evaluating model best.keras on the test set\n".to_owned()
        + &lines(63, |n| {
            format!("{n}/63 ━━━━━━ 0s 3ms/step - accuracy: 0.7{n} - loss: 0.5{n}")
        });
    assert_eq!(last_step(&keras), None);
    let header =
        "iter      cost      cost_change  |gradient|   |step|    tr_ratio  tr_radius  ls_iter";
    let solver = lines(3, |run| {
        format!("{header}\n")
            + &lines(18, |n| {
                format!(
                    "{n:>4}  1.{run}e+03    1.{n}e+01    1.2e+02   1.{n}e+00   9.1e-01  3.0e+04        1"
                )
            })
            + "Report: Iterations: 18, Initial cost: 2.0e+05, Final cost: 1.0e+03"
    });
    assert_eq!(last_step(&solver), None);
    let chain = lines(90, |n| {
        format!("Epoch: {}, Miner: f0{}", 2_340_000 + n, n * 7)
    });
    assert_eq!(last_step(&chain), None);
}

#[test]
fn a_bar_of_tqdm_rich_and_counts_of_any_form_are_read() {
    let rich: String = (0..=50)
        .map(|n| {
            format!(
                "\r\x1b[2K {:>3}% ━━━╸━━━ {},000/100,000  [ 0:00:12 < 0:06:11 , 2,113 it/s ]",
                n * 2,
                n * 2
            )
        })
        .collect();
    let found = read(&rich);
    assert_eq!((found.step, found.planned), (Some(100_000), Some(100_000)));
    let dotted = lines(3, |epoch| {
        lines(10, |n| format!("[{epoch}. {:5}] loss: 0.{n}", n * 5))
    });
    assert_eq!(last_step(&dotted), Some(150));
    let out_of = lines(3, |n| {
        format!("Epoch {n} out of 15\nacc 90.{n} - f1 80.{n}")
    });
    assert_eq!(read(&out_of).planned, Some(15));
    let alone = lines(20, |n| format!("Epoch: {n}/20\n"));
    assert_eq!(last_step(&alone), Some(20));
}

#[test]
fn simulations_error_rates_and_chains_have_no_steps() {
    let simulation = "Simulating an atom with one electron\n".to_owned()
        + &lines(19, |n| format!("Step {}/1000", n * 50));
    assert_eq!(last_step(&simulation), None);
    let speech = "Evaluating the checkpoint on test-clean\n".to_owned()
        + &lines(90, |n| format!("batch {n}/90: WER 4.{n}%"));
    assert_eq!(last_step(&speech), None);
    let synced = lines(90, |n| {
        format!(
            "epoch-sync.logs epoch:{} latestState:{n} not executed",
            1200 + n
        )
    });
    assert_eq!(last_step(&synced), None);
    let training = "Evaluating the model\nTraining starts\n".to_owned()
        + &lines(90, |n| format!("batch {n}/90: WER 4.{n}%"));
    assert_eq!(last_step(&training), Some(90));
}

#[test]
fn initials_in_a_bracket_and_epochs_that_are_done_are_counts() {
    let initials = lines(3, |epoch| {
        lines(10, |n| {
            format!("[E{epoch}|S{}] loss=0.{n} lr=1.0e-04", n * 20)
        })
    });
    assert_eq!(last_step(&initials), Some(600));
    let done = lines(9, |n| format!("Epochs: {n}000 | Loss: 0.{n}"));
    let found = read(&done);
    assert_eq!(
        (found.step, found.unit),
        (Some(9000), Some(StepUnit::Epochs))
    );
    let bars: String = (1..4)
        .map(|epoch| {
            format!("Epoch {epoch}/5\n")
                + &(0..=40)
                    .map(|n| bar("Batches: ", n, 40, ""))
                    .collect::<String>()
                + "\n"
        })
        .collect();
    assert_eq!(last_step(&bars), Some(120));
}
