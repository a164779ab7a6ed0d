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
