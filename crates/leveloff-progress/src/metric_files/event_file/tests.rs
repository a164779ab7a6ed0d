use proptest::prelude::*;

use super::record_head::masked_crc32c;
use super::*;

/// A record with a scalar, as TensorBoard writes it.
fn scalar(tag: &str, step: u64) -> Vec<u8> {
    let mut value = vec![0x0a, tag.len() as u8];
    value.extend(tag.as_bytes());
    value.extend([0x15, 0, 0, 0x80, 0x3f]);
    let mut event = vec![0x09, 0, 0, 0, 0, 0, 0, 0xd9, 0x41, 0x10];
    let mut left = step;
    while left >= 0x80 {
        event.push(left as u8 | 0x80);
        left >>= 7;
    }
    event.push(left as u8);
    event.extend([0x2a, value.len() as u8 + 2, 0x0a, value.len() as u8]);
    event.extend(value);
    record(&event)
}

fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let mut record = length.to_vec();
    record.extend(masked_crc32c(&length).to_le_bytes());
    record.extend(data);
    record.extend(masked_crc32c(data).to_le_bytes());
    record
}

fn steps(updates: &[ProgressUpdate]) -> Vec<u64> {
    updates
        .iter()
        .map(|update| update.step.unwrap().0)
        .collect()
}

#[test]
fn the_steps_of_a_tag_are_read_in_chunks_of_any_size() {
    let mut file = record(b"\x1a\x0dbrain.Event:2");
    for step in 1..=300 {
        file.extend(scalar("train/loss", step * 10));
    }
    let whole = EventFile::new().feed(&file);
    assert_eq!(steps(&whole), (1..=300).map(|n| n * 10).collect::<Vec<_>>());
    assert_eq!(whole[0].new_clock.as_deref(), Some("train/loss"));
    for size in [1, 3, 7, 100] {
        let mut reader = EventFile::new();
        let updates: Vec<_> = file
            .chunks(size)
            .flat_map(|chunk| reader.feed(chunk))
            .collect();
        assert_eq!(updates, whole);
    }
}

/// `fixtures/tensorboard/README.md` has what TensorBoard's own reader finds in it.
#[test]
fn a_file_of_torch_is_read_as_tensorboard_reads_it() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/tensorboard/events.out.tfevents.torch"
    );
    let file = std::fs::read(path).unwrap();
    let updates = EventFile::new().feed(&file);
    let tag = updates.iter().rev().find_map(|it| it.new_clock.as_deref());
    assert_eq!(tag, Some("train/loss"));
    let expected: Vec<u64> = (0..60).map(|n| n * 10).collect();
    let mut read = steps(&updates);
    read.dedup();
    assert_eq!(read, expected);
}

#[test]
fn a_tag_that_is_logged_by_epoch_is_not_the_clock() {
    let mut file = scalar("summary/loss", 0);
    for step in 1..=50_u64 {
        file.extend(scalar("train/loss", step * 100));
        if step % 10 == 0 {
            file.extend(scalar("summary/loss", step / 10));
        }
    }
    let updates = EventFile::new().feed(&file);
    assert_eq!(steps(&updates)[1..3], [100, 200]);
    assert_eq!(steps(&updates).last(), Some(&5000));
    assert!(steps(&updates).is_sorted());
}

#[test]
fn a_tag_of_the_validation_is_not_the_clock() {
    let mut file = EventFile::new();
    let mut bytes = Vec::new();
    for step in 0..200 {
        bytes.extend(scalar("val_loss_step", step));
    }
    for step in (49..500).step_by(50) {
        bytes.extend(scalar("train_loss_step", step));
    }
    let updates = file.feed(&bytes);
    assert_eq!(steps(&updates).last(), Some(&499));
    assert_eq!(updates[0].new_clock.as_deref(), Some("train_loss_step"));
}

#[test]
fn reinforcement_learning_counts_environment_steps() {
    let updates = EventFile::new().feed(&scalar("rollout/ep_rew_mean", 2048));
    assert_eq!(updates[0].unit, Some(StepUnit::Timesteps));
    let updates = EventFile::new().feed(&scalar("train/loss", 2048));
    assert_eq!(updates[0].unit, Some(StepUnit::Steps));
}

#[test]
fn the_place_is_found_again_after_a_gap_and_after_damage() {
    let mut file: Vec<u8> = (0..40).flat_map(|n| scalar("loss", 50 + n)).collect();
    let mut reader = EventFile::new();
    reader.lose_place();
    assert_eq!(steps(&reader.feed(&file[70..])).last(), Some(&89));
    file[100] ^= 0xff;
    file[135] ^= 0xff;
    assert_eq!(steps(&EventFile::new().feed(&file)).last(), Some(&89));
}

#[test]
fn a_large_record_is_not_kept_in_memory() {
    let mut reader = EventFile::new();
    let mut image = vec![0x10, 7, 0x2a, 0xff, 0xff, 0x7f, 0x0a, 0xff, 0xff, 0x7f];
    image.extend(b"\x0a\x03img");
    image.resize(4 << 20, 0xab);
    let mut file = scalar("loss", 6);
    file.extend(record(&image));
    file.extend(scalar("loss", 8));
    let updates: Vec<_> = file
        .chunks(5000)
        .flat_map(|chunk| reader.feed(chunk))
        .collect();
    assert_eq!(steps(&updates).last(), Some(&8));
    assert!(reader.kept.capacity() < 4096);
}

proptest! {
    #[test]
    fn any_bytes_in_any_chunks_give_the_same_steps(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        records in prop::collection::vec((0_u64..9, any::<u64>()), 0..20),
        cuts in prop::collection::vec(1_usize..60, 1..40),
    ) {
        let mut file = Vec::new();
        for (n, (tag, step)) in records.iter().enumerate() {
            file.extend(scalar(&format!("tag{tag}"), *step));
            file.extend(&bytes[..bytes.len().min(n * 7)]);
        }
        file.extend(&bytes);
        let whole = EventFile::new().feed(&file);
        let (mut reader, mut pieces, mut rest) = (EventFile::new(), Vec::new(), &file[..]);
        for cut in cuts.iter().cycle() {
            let (piece, later) = rest.split_at((*cut).min(rest.len()));
            pieces.extend(reader.feed(piece));
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(whole, pieces);
        prop_assert!(reader.tags.len() <= MOST_TAGS);
    }
}
