//! The step in a table of metrics: Lightning's `metrics.csv`, stable-baselines3's `progress.csv`.

use leveloff_model::progress::StepUnit;
use leveloff_model::units::Step;

use crate::number;
use crate::update::ProgressUpdate;

/// Columns that count, best first, and what they count.
const COUNTERS: [(&str, StepUnit); 9] = [
    ("global_step", StepUnit::Steps),
    ("trainer/global_step", StepUnit::Steps),
    ("step", StepUnit::Steps),
    ("steps", StepUnit::Steps),
    ("iteration", StepUnit::Steps),
    ("iter", StepUnit::Steps),
    ("time/total_timesteps", StepUnit::Timesteps),
    ("total_timesteps", StepUnit::Timesteps),
    ("epoch", StepUnit::Epochs),
];

/// The progress of the newest row that has one. `head` is the start of the file and `tail` its end; they may overlap.
/// A last row without its line end is still being written.
pub fn metrics_csv(head: &[u8], tail: &[u8]) -> Option<ProgressUpdate> {
    let names = head.split(|&byte| byte == b'\n').next()?;
    let (column, name, unit) = COUNTERS.iter().find_map(|(name, unit)| {
        let is_it = |cell: &[u8]| cell.eq_ignore_ascii_case(name.as_bytes());
        Some((cells(names).position(is_it)?, *name, *unit))
    })?;
    let epoch = cells(names).position(|cell| cell.eq_ignore_ascii_case(b"epoch"));
    let width = cells(names).count();
    let whole_rows = &tail[..memchr::memrchr(b'\n', tail)?];
    let newest = whole_rows.rsplit(|&byte| byte == b'\n').find_map(|row| {
        let step = whole(cells(row).nth(column)?)?;
        (cells(row).count() == width).then_some((step, row))
    });
    let (step, row) = newest?;
    Some(ProgressUpdate {
        step: Some(Step(step)),
        unit: Some(unit),
        new_clock: Some(name.to_owned()),
        epoch: epoch.and_then(|epoch| decimal(cells(row).nth(epoch)?)),
        ..ProgressUpdate::default()
    })
}

/// The cells of a row. Numbers and names of columns have no commas, so quotes need not be understood.
fn cells(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// A whole number; pandas writes `100.0` where other rows are empty.
fn whole(cell: &[u8]) -> Option<u64> {
    let number = decimal(cell)?;
    (number >= 0.0 && number.fract() == 0.0 && number < 1e15).then_some(number as u64)
}

fn decimal(cell: &[u8]) -> Option<f64> {
    let (number, rest) = number::decimal(cell)?;
    rest.is_empty().then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(table: &str) -> Option<(u64, StepUnit, Option<f64>)> {
        let update = metrics_csv(table.as_bytes(), table.as_bytes())?;
        Some((update.step?.0, update.unit?, update.epoch))
    }

    #[test]
    fn the_newest_row_counts() {
        let lightning = "epoch,lr-SGD,step,train_loss\n0,0.1,49,2.3\n1,,99,1.9\n";
        assert_eq!(read(lightning), Some((99, StepUnit::Steps, Some(1.0))));
        // A row that is still being written is not read.
        let torn = format!("{lightning}1,,14");
        assert_eq!(read(&torn), Some((99, StepUnit::Steps, Some(1.0))));
        let baselines = "rollout/ep_rew_mean,time/total_timesteps\r\n21.4,2048\r\n30.1,4096\r\n";
        assert_eq!(read(baselines), Some((4096, StepUnit::Timesteps, None)));
    }

    #[test]
    fn a_row_without_a_step_is_passed_over() {
        assert_eq!(read("epoch,step,val_loss\n0,49,\n0,,1.5\n").unwrap().0, 49);
        assert_eq!(
            read("epoch,loss\n0,2.5\n1,2.4\n"),
            Some((1, StepUnit::Epochs, Some(1.0)))
        );
        assert_eq!(read("time,rss\n0,5\n"), None);
        assert_eq!(read("step,loss\n"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn the_end_of_a_long_table_may_begin_within_a_row() {
        let update = metrics_csv(b"step,loss\n1,2\n", b"345,0.5\n346,0.4\n").unwrap();
        assert_eq!(update.step, Some(Step(346)));
        assert_eq!(metrics_csv(b"step,loss,x\n1,2,3\n", b"4,0.4\n"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            head in prop::collection::vec(any::<u8>(), 0..80),
            tail in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let _ = metrics_csv(&head, &tail);
            let _ = metrics_csv(&[b"step,a\n", &head[..]].concat(), &tail);
        }
    }
}
