//! Works on many inputs in parallel, and hands out the results in the order of the inputs.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often progress is reported while no result is ready.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// A result, or progress.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event<'a, I, R> {
    /// The next result, in order.
    Done { input: &'a I, result: R },
    /// Nothing new for a while.
    Waiting {
        /// How many results there are, including those that are not handed out yet.
        done: usize,
    },
}

/// Works on all inputs and hands out each result as soon as it and all before it are there.
pub(crate) fn in_order<I: Sync, R: Send>(
    inputs: &[I],
    jobs: Option<NonZeroUsize>,
    work: impl Fn(&I) -> R + Sync,
    mut take: impl FnMut(Event<I, R>),
) {
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers(inputs.len(), jobs) {
            let (next, work, sender) = (&next, &work, sender.clone());
            scope.spawn(move || {
                while let Some((index, input)) = take_next(inputs, next) {
                    // The receiver is gone: the results are not wanted.
                    if sender.send((index, work(input))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let (mut next_result, mut done) = (0, 0);
        loop {
            match results.recv_timeout(REPORT_EVERY) {
                Ok((index, result)) => {
                    done += 1;
                    early.insert(index, result);
                }
                Err(RecvTimeoutError::Timeout) => take(Event::Waiting { done }),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(result) = early.remove(&next_result) {
                let input = &inputs[next_result];
                take(Event::Done { input, result });
                next_result += 1;
            }
        }
    });
}

fn take_next<'a, I>(inputs: &'a [I], next: &AtomicUsize) -> Option<(usize, &'a I)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    inputs.get(index).map(|input| (index, input))
}

fn workers(inputs: usize, jobs: Option<NonZeroUsize>) -> usize {
    let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    jobs.unwrap_or_else(cores).get().min(inputs)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    fn squares(inputs: &[u64], jobs: usize) -> Vec<(u64, u64)> {
        let mut taken = Vec::new();
        in_order(
            inputs,
            NonZeroUsize::new(jobs),
            |input| input * input,
            |event| {
                if let Event::Done { input, result } = event {
                    taken.push((*input, result));
                }
            },
        );
        taken
    }

    #[test]
    fn results_come_in_the_order_of_their_inputs() {
        let inputs: Vec<u64> = (0..500).rev().collect();
        let expected: Vec<(u64, u64)> = inputs.iter().map(|&n| (n, n * n)).collect();
        for jobs in [1, 2, 7] {
            assert_eq!(squares(&inputs, jobs), expected);
        }
        assert_eq!(squares(&[], 3), []);
    }

    /// Neither can go on without the other, so this ends only if both are at work together.
    #[test]
    fn inputs_are_worked_on_together() {
        let meeting = Barrier::new(2);
        let mut taken = 0;
        in_order(
            &[(), ()],
            NonZeroUsize::new(2),
            |()| meeting.wait().is_leader(),
            |event| taken += usize::from(matches!(event, Event::Done { .. })),
        );
        assert_eq!(taken, 2);
    }
}
