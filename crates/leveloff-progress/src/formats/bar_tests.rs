use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Option<(&str, u64, Option<u64>, Unit)> {
    let bar = tqdm(text.as_bytes())?;
    let description = std::str::from_utf8(bar.description).unwrap();
    Some((description, bar.n, bar.total, bar.unit))
}

#[test]
fn tqdm_bars_of_every_form_are_read() {
    use Unit::{Epochs, Other, Samples, Steps};
    let table = [
        (
            " 25%|██▌       | 10/40 [00:01<00:04,  7.22it/s]",
            ("", 10, Some(40), Steps),
        ),
        (
            "  0%|          | 0/40 [00:00<?, ?it/s]",
            ("", 0, Some(40), Steps),
        ),
        (
            "Train:  25%|##5   | 10/40 [1:00:01<00:04, 12.20s/it]",
            ("Train", 10, Some(40), Steps),
        ),
        (
            "Training: |          | 0/? [00:00<?, ?it/s]",
            ("Training", 0, None, Steps),
        ),
        ("12it [00:03,  4.00it/s]", ("", 12, None, Steps)),
        (
            "Train: 1.20kit [00:03, 4.00kit/s]",
            ("Train", 1200, None, Steps),
        ),
        (
            " 12%|█▏  | 1.20k/10.0k [00:03<00:20, 400it/s]",
            ("", 1200, Some(10_000), Steps),
        ),
        (
            "Epoch 0:   2%|▎  | 1/40 [00:00<00:00, 262.49it/s, train_loss=0.841]",
            ("Epoch 0", 1, Some(40), Steps),
        ),
        (
            " 10%|█  | 1/10 [00:05<00:45,  5.0s/epoch]",
            ("", 1, Some(10), Epochs),
        ),
        (
            "model.safetensors: 100%|██| 1.20G/1.20G [00:10<00:00, 120MB/s]",
            (
                "model.safetensors",
                1_200_000_000,
                Some(1_200_000_000),
                Other,
            ),
        ),
        (
            "Map: 100%|██| 1000/1000 [00:00<00:00, 9000.12 examples/s]",
            ("Map", 1000, Some(1000), Samples),
        ),
        (
            "an unfinished log line 25%|██▌   | 10/40 [00:01<00:04, 7.22it/s]",
            ("", 10, Some(40), Steps),
        ),
        (
            " 25%|██▌   | 10/40 [00:01<00:04, 7.22it/s, lr=[0.1]",
            ("", 10, Some(40), Steps),
        ),
    ];
    for (text, expected) in table {
        assert_eq!(read(text), Some(expected), "{text}");
    }
}

#[test]
fn brackets_are_not_bars() {
    for text in [
        "[transformers]",
        "tensor([1.0, 2.0]",
        "| 10/40 | see table 1/2 [00]",
        "a/b [x]",
        "]",
        "Generating train split: 1000 examples [00:00, 5000.0 examples/s]",
        "| name | 10/40 [00:01<00:04, 7.22it/s]",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_loss_behind_the_rate_is_seen_but_a_validation_loss_is_none() {
    let shows = |metrics: &str| {
        let text = format!(" 25%|██▌   | 10/40 [00:01<00:04, 7.22it/s{metrics}]");
        tqdm(text.as_bytes()).unwrap().shows_loss
    };
    assert!(shows(", loss=0.84"));
    assert!(shows(", lr=1e-5, train_loss=0.84"));
    assert!(!shows(", val_loss=0.84"));
    assert!(!shows(""));
}

#[test]
fn rich_bars_are_read_and_tables_are_not() {
    let line = "Epoch 1/1  ━━━━━━╸━━━ 14/40 0:00:00 • 0:00:01 84.18it/s train_loss: 0.639";
    let bar = rich(line.as_bytes()).unwrap();
    assert_eq!(
        (bar.description, bar.n, bar.total),
        (&b"Epoch 1/1"[..], 14, Some(40))
    );
    assert_eq!(bar.unit, Unit::Steps);
    assert_eq!(rich("┏━━━┳━━━━━━┓".as_bytes()), None);
    assert_eq!(
        rich("files ━━━━ 3/10 0:00:01 • 0:00:02 12 MB/s".as_bytes())
            .unwrap()
            .unit,
        Unit::Other
    );
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = (tqdm(&text), rich(&text));
    }

    #[test]
    fn nothing_like_a_bar_makes_it_panic(text in "[ 0-9:%|/\\[\\]<?,its━╸kM.]{0,60}\\]") {
        let _ = (tqdm(text.as_bytes()), rich(text.as_bytes()));
    }
}
