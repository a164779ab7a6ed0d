use proptest::prelude::*;

use super::*;

fn step(line: &str) -> Option<(u64, Option<u64>)> {
    let step = parse(line.as_bytes())?.step?;
    Some((step.n, step.total))
}

#[test]
fn the_ways_of_printing_a_step_are_understood() {
    let table = [
        ("step 120", (120, None)),
        ("Step 10: 6529 tensors, RAM: 5552 MB", (10, None)),
        (
            "Step 30: 6529 tensors (CPU: 330, GPU: 6199), RAM: 8851 MB (+1692 MB)",
            (30, None),
        ),
        ("iter 10: loss 2.3041, time 30.12ms, mfu 3.2%", (10, None)),
        ("iteration 10/40", (10, Some(40))),
        ("Iteration 10 of 40: loss=2.3", (10, Some(40))),
        ("[epoch 3] step 120", (120, None)),
        (
            "Epoch [3/10], Step [120/500], Loss: 0.2931",
            (120, Some(500)),
        ),
        (
            "TrainOutput(global_step=40, training_loss=6.03)",
            (40, None),
        ),
        ("steps: 1,234", (1234, None)),
        (
            "2024-05-01 10:00:00,123 - __main__ - INFO - step 7",
            (7, None),
        ),
        ("INFO:root:training step 7", (7, None)),
        ("step 0: train loss 10.9, val loss 10.9", (0, None)),
        ("step:5/10 train_loss:nan", (5, Some(10))),
        ("Saving checkpoint at step 500", (500, None)),
        ("{step: 12, loss: 0.2}", (12, None)),
        ("step 3 | loss 2.5 | 120 tok/s", (3, None)),
    ];
    for (line, expected) in table {
        assert_eq!(step(line), Some(expected), "{line}");
    }
}

#[test]
fn what_is_no_training_step_is_none() {
    for line in [
        "step 3: install the package",
        "Step 1/12 : FROM python:3.11",
        "Step 2/12 : RUN pip install torch==2.8.0",
        "Please see step 3",
        "Step 2:",
        "max_steps=100, save_steps: 50",
        "{'train_steps_per_second': 24.418}",
        "  Total optimization steps = 40",
        "Num steps = 40, loss 2.3",
        "Steps 0-90: memory grows, loss 3",
        "340 ms/step: 12, loss 3",
        "step: 20 ms, loss 3",
        "saved to lightning_logs/version_0/checkpoints/epoch=0-step=40.ckpt",
        "iter 1.2.3 loss 2",
        "warmup steps: 100 lr 1e-5",
        "python train.py --step=3",
        "eval step 3/10 loss 2.3",
        "iteration 2024-05-01",
        "step 99999999999999999999 loss 2",
        "time per step: 3, loss 2",
        "footstep 3 loss 2",
    ] {
        assert_eq!(step(line), None, "{line}");
    }
}

#[test]
fn tensors_plans_epochs_and_checkpoints_come_along() {
    let read = |line: &str| parse(line.as_bytes()).unwrap();
    assert_eq!(
        read("Step 10: 6,529 tensors, RAM: 5552 MB").tensors,
        Some(6529)
    );
    assert_eq!(
        read("  Total optimization steps = 1,200").planned,
        Some(1200)
    );
    assert_eq!(read("[epoch 3] step 120").epoch, Some(3));
    assert_eq!(read("Epoch 2/10").epoch, Some(2));
    assert!(read("Saving model checkpoint to out/checkpoint-500").is_checkpoint);
    assert_eq!(parse(b"since epoch 3 of the protocol"), None);
}

#[test]
fn names_are_distinguished() {
    assert!(StepName::GlobalStep > StepName::Step && StepName::Step > StepName::Iteration);
    assert_eq!(
        parse(b"iter 3 loss 2").unwrap().step.unwrap().name,
        StepName::Iteration
    );
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&text);
    }

    #[test]
    fn nothing_like_a_step_makes_it_panic(
        text in "(step|Iter|epoch|global_step|loss|é7 tensors|of|total|[ :=/,#\\[\\].0-9é-]){0,30}"
    ) {
        let _ = parse(text.as_bytes());
    }
}
