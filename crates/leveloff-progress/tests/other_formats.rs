//! What other formats taught: epochs whose printed steps begin behind 0, bars with strange names, two bars of one training,
//! and the output of other programs.

use leveloff_progress::{OutputParser, Plan};

/// The last step, and the plan.
fn read(text: &str) -> (Option<u64>, Option<u64>) {
    let mut parser = OutputParser::new();
    let mut updates = parser.feed(text.as_bytes());
    updates.extend(parser.finish());
    let (mut step, mut planned) = (None, None);
    for update in updates {
        step = update.step.map(|step| step.0).or(step);
        planned = match update.plan {
            Some(Plan::Steps(steps)) => Some(steps.0),
            Some(Plan::Withdrawn) => None,
            None => planned,
        };
    }
    (step, planned)
}

fn last_step(text: &str) -> Option<u64> {
    read(text).0
}

/// Lines for each epoch and count; `line` gets both.
fn epochs(count: u64, counts: &[u64], line: impl Fn(u64, u64) -> String) -> String {
    (0..count)
        .flat_map(|epoch| counts.iter().map(move |n| (epoch, *n)))
        .map(|(epoch, n)| line(epoch, n) + "\n")
        .collect()
}

#[test]
fn an_epoch_whose_places_begin_behind_0_has_its_whole_length() {
    let from_one: Vec<u64> = (0..10).map(|k| 1 + 40 * k).collect();
    let text = epochs(2, &from_one, |e, n| match n {
        1 => format!("[GPU0] Epoch {e} Training ====\nEpoch Step: {n:6} | Loss:   7.60"),
        n => format!("Epoch Step: {n:6} | Loss:   6.{n}"),
    });
    assert_eq!(last_step(&text), Some(400 + 361));
    let last_of_hundred = epochs(3, &[99, 199, 299, 399, 499], |e, n| {
        format!("[Epoch {e}][Batch {n}], Speed: 45.1 samples/sec, CrossEntropy=4.{n}")
    });
    assert_eq!(last_step(&last_of_hundred), Some(2 * 500 + 499));
    let each = epochs(2, &(0..100).collect::<Vec<_>>(), |e, n| {
        format!("Epoch: {e} | Step: {n} | Actor Loss: 0.{n}1")
    });
    assert_eq!(last_step(&each), Some(199));
}

#[test]
fn a_bar_with_a_strange_name_counts_beside_losses_of_any_form() {
    let in_its_postfix: String = (0..=50)
        .map(|n| format!("\rmy_first_lora:   2%|▏| {n}/2000 [00:01<00:09, 1.40s/it, lr: 1.0e-04 loss: 3.{n}e-01]"))
        .collect();
    assert_eq!(last_step(&in_its_postfix), Some(50));
    let between: String = (0..=50)
        .map(|n| format!("\rdefault</data>:   2%|▏| {n}/2000 [00:01<00:09, 1.40s/it]\nG: 1.2{n} | D: 0.91 | GP: 0.12\n"))
        .collect();
    assert_eq!(last_step(&between), Some(50));
    let alone: String = (0..=50)
        .map(|n| format!("\rdefault</data>:   2%|▏| {n}/2000 [00:01<00:09, 1.40s/it]"))
        .collect();
    assert_eq!(last_step(&alone), None);
}

#[test]
fn the_bar_of_the_run_wins_over_that_of_the_epoch_if_it_counts_finer() {
    let mut text = String::new();
    for step in 0..=600 {
        let (epoch, item) = (step / 400, step % 400 / 4);
        text += &format!("\rTraining:   0%|  | {step}/9000 [00:01<09:09, 4.10it/s]");
        text += &format!("\rEpoch {epoch}:   1%|  | {item}/100 [00:01<00:09, 1.10it/s]");
    }
    assert_eq!(read(&text), (Some(600), Some(9000)));
}

#[test]
fn messages_of_errors_solvers_and_captions_are_no_training() {
    let import: String = (0..60)
        .map(|k| {
            format!(
                "{} of 3000 items in {k} seconds\n[Iter {}][Error]: {} unprocessed\n",
                k * 25,
                k * 25,
                k % 5
            )
        })
        .collect();
    let electrons: String = (1..60)
        .map(|k| format!("     iteration #{k:3}     ecut=    60.00 Ry     beta= 0.70\n     estimated scf accuracy    <      0.00{k} Ry\n"))
        .collect();
    let programme = "iter   objective    prim res   dual res   rho        time\n".to_owned()
        + &(1..40)
            .map(|k| {
                format!(
                    "{:4}  -1.2{k}e+01   1.{k}e-02   1.{k}e-02   1.00e-01   1.{k}e-02s\n",
                    k * 200
                )
            })
            .collect::<String>();
    let captions: String = (1..80)
        .map(|k| {
            format!("[{k}/80] image_{k:04}.jpg -> a man stands near {} horses (0.4{k}s, score 0.8{k})\n", k % 7)
        })
        .collect();
    let calibration: String = (1..60)
        .map(|k| format!("\r({}/33): Calibrating:   1%|  | {}/512 [00:01<00:09, 99.10it/s]\nINFO - METRIC - error 31.{k}\n", 1 + k / 20, k % 20))
        .collect();
    for text in [import, electrons, programme, captions, calibration] {
        assert_eq!(last_step(&text), None, "{}", &text[..80]);
    }
}

/// Lines 1, 2, 3 … of a format.
fn lines(count: u64, line: impl Fn(u64) -> String) -> String {
    (1..=count).map(|n| line(n) + "\n").collect()
}

#[test]
fn values_behind_a_number_that_rises_evenly_are_those_of_a_training() {
    let initials = lines(60, |n| {
        format!(
            "[  0] {:>7} || B: 6.{n} | C: 5.{n} | M: 4.{n} || ETA: 2 days, 22:15:24",
            n * 10
        )
    });
    assert_eq!(last_step(&initials), Some(600));
    let trees = lines(60, |n| {
        format!("[{n}]:  train's l2:0.2{n}  test's l2:0.3{n} ")
    });
    assert_eq!(last_step(&trees), Some(60));
    let strange = lines(20, |n| {
        format!("Época {n}/20 - pérdida: 2.{n} - exactitud: 0.{n}")
    });
    assert_eq!(read(&strange), (Some(20), Some(20)));
    let listed = lines(20, |n| {
        format!(
            "INFO:my_model:Train Epoch: 1 [20%]\nINFO:my_model:[{}, 9.{n}e-05]\nINFO:my_model:loss_disc=3.{n}",
            n * 200
        )
    });
    assert_eq!(last_step(&listed), Some(4000));
}

#[test]
fn a_number_that_rises_with_the_epochs_beside_it_is_no_step() {
    let games = lines(20, |n| {
        format!(
            "Ep {}/2000  wins={} losses={} draws={n}  time=1.{n}s",
            n * 100,
            n * 50,
            n * 40
        )
    });
    assert_eq!(last_step(&games), Some(2000));
}

#[test]
fn tables_with_an_epoch_and_a_step_need_no_known_metric_beside_them() {
    let two_lines =
        "|  Epoch  |  Iteration  |  Time Elapsed  |\n|         |             |   (hh:mm:ss)   |\n"
            .to_owned()
            + &lines(20, |n| {
                format!("| {:>7} | {:>11} |       00:00:{n:02} |", n / 5 + 1, n * 50)
            });
    assert_eq!(last_step(&two_lines), Some(1000));
    let comment = "# Epoch batch         loss       loss_f\n".to_owned()
        + &epochs(3, &[10, 20, 30], |epoch, n| {
            format!("{epoch:>7} {n:>5}         23.{n}        0.2{n}")
        });
    assert_eq!(last_step(&comment), Some(90));
}

#[test]
fn names_of_counts_are_read_in_any_order() {
    let numbered = lines(9, |n| {
        format!(r#"{{"key": "epoch_start", "epoch_num": {n}}}"#)
            + "\n"
            + &format!(r#"{{"key": "accuracy", "value": 0.{n}}}"#)
    });
    assert_eq!(last_step(&numbered), Some(9));
    let done = lines(9, |n| {
        format!("\t iterations_done: {n}\nLog records:\n\t cost: 13{n}.5")
    });
    assert_eq!(last_step(&done), Some(9));
    let total = lines(9, |n| {
        format!("Progress: {n} / 40 total iterations ({n}.5%)\nComplexity  Loss  Score  Equation")
    });
    assert_eq!(read(&total), (Some(9), Some(40)));
}

#[test]
fn a_step_and_a_time_need_some_sign_of_a_training() {
    let simulation = lines(90, |n| {
        format!(
            "step {}, remaining wall clock time:    {} s",
            n * 500,
            90 - n
        )
    });
    assert_eq!(last_step(&simulation), None);
    let agent = lines(12, |n| {
        format!("━━━ Step {n} ━━━\n[Step {n}: Duration 3.{n} seconds| Input tokens: {n},000]")
    });
    assert_eq!(last_step(&agent), None);
    assert_eq!(
        last_step(&("Start training\n".to_owned() + &simulation)),
        Some(45_000)
    );
}

#[test]
fn searches_and_tables_of_other_programs_have_no_steps() {
    let chess = lines(30, |n| {
        format!(
            "info depth {n} seldepth {} score cp 2{n} nodes {} pv e2e4 e7e5",
            n + 4,
            n * n * 31
        )
    });
    assert_eq!(last_step(&chess), None);
    let thermodynamics = "   Step          Temp          E_pair         TotEng  \n".to_owned()
        + &lines(50, |n| {
            format!("{:>10}   1.4{n}      -5.6{n}      -4.6{n}", n * 100)
        });
    assert_eq!(last_step(&thermodynamics), None);
    assert_eq!(
        last_step("Root relaxation: objective 1.5e+01, 412 iterations, 0.01 seconds\n"),
        None
    );
}
