//! Memory that was freed and is not returned: holes in the heap that nothing fits into again.
//!
//! It happens in a thread of its own, because glibc gives each thread an arena: in the arena of the
//! training, its batches would fill the holes, and how much stays would be chance.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::{Entry, LEAK_STEPS, USUAL_RATE};
use crate::pattern::{Knob, Knobs, Pattern, PatternError, Schedule, StepDone, Truth};

pub(super) const RETENTION: Entry = Entry {
    name: "retention",
    summary: "small blocks are freed but for a few bytes each: 1 MiB (--rate) a step that only malloc_trim returns",
    says: "leak of 1 MiB a step in the trainer; native growth, or the allocator does not return it",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset],
    needs_checkpoints: false,
    // Marks have only the tensors, and those are constant. From outside, memory that is free inside the
    // allocator looks used.
    truth: |knobs, _| {
        let (onset, rate) = (knobs.onset_or(0), knobs.rate_or(USUAL_RATE));
        Truth::leak(onset, rate).with(&["native-growth"])
    },
    make: |knobs, schedule| Box::new(Retention::new(knobs, schedule)),
};

/// The first blocks: large enough that nearly all of their pages can be returned.
const FIRST_BLOCK: usize = 64 << 10;
/// The last ones stay below 128 KiB, from where glibc maps a block by itself and returns it at once.
/// After 3,500 steps they start over, and find the first holes.
const LAST_BLOCK: usize = 120 << 10;
/// Blocks get longer each step by the allocator's grain, so that no hole of an earlier step is large
/// enough for them.
const LONGER: usize = 16;
/// What is left of each block: its beginning, which keeps the holes on both sides apart.
const SURVIVOR: usize = 16;

#[derive(Debug)]
struct Retention {
    rate: u64,
    onset: u64,
    steps: u64,
    due: u64,
    block: usize,
    allocator: Option<Allocator>,
}

impl Retention {
    fn new(knobs: &Knobs, schedule: &Schedule) -> Retention {
        Retention {
            rate: knobs.rate_or(USUAL_RATE),
            onset: knobs.onset_or(0),
            steps: schedule.steps,
            due: 0,
            block: FIRST_BLOCK,
            allocator: None,
        }
    }

    /// The blocks of this step.
    fn next_order(&mut self) -> Order {
        let order = Order {
            blocks: self.due / self.block as u64,
            bytes: self.block,
        };
        self.due %= self.block as u64;
        self.block = match self.block + LONGER {
            longer if longer < LAST_BLOCK => longer,
            _ => FIRST_BLOCK,
        };
        order
    }
}

impl Pattern for Retention {
    fn begin(&mut self) -> Result<(), PatternError> {
        let expected = self.rate.saturating_mul(self.steps) / FIRST_BLOCK as u64;
        let allocator = Allocator::start(expected.min(1 << 20) as usize).map_err(cannot_start)?;
        self.allocator = Some(allocator);
        Ok(())
    }

    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        if done.step > self.onset {
            self.due = self.due.saturating_add(self.rate);
            let order = self.next_order();
            if let Some(allocator) = &self.allocator {
                allocator.obey(order).map_err(cannot_start)?;
            }
        }
        Ok(())
    }
}

fn cannot_start(error: io::Error) -> PatternError {
    let next = "see that threads may be started (ulimit -u)";
    PatternError::new("cannot keep the thread that allocates", error, next)
}

/// So many blocks of so many bytes.
#[derive(Debug, Clone, Copy)]
struct Order {
    blocks: u64,
    bytes: usize,
}

/// The thread that allocates, and frees nearly all of it.
#[derive(Debug)]
struct Allocator {
    orders: Option<Sender<Order>>,
    done: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Allocator {
    fn start(expected: usize) -> io::Result<Allocator> {
        let (orders, ordered) = channel();
        let (finished, done) = channel();
        let thread = std::thread::Builder::new()
            .name("allocator".to_owned())
            .spawn(move || allocate(expected, &ordered, &finished))?;
        Ok(Allocator {
            orders: Some(orders),
            done,
            thread: Some(thread),
        })
    }

    /// Waits until it is done: what a step retains is allocated when the step ends.
    fn obey(&self, order: Order) -> io::Result<()> {
        let orders = self.orders.as_ref().map(|orders| orders.send(order));
        match (orders, self.done.recv()) {
            (Some(Ok(())), Ok(())) => Ok(()),
            _ => Err(io::Error::other("it has ended")),
        }
    }
}

impl Drop for Allocator {
    fn drop(&mut self) {
        // The thread ends when the sender is dropped.
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn allocate(expected: usize, orders: &Receiver<Order>, done: &Sender<()>) {
    // A list that grows would leave holes of its own, of many sizes.
    let mut survivors: Vec<Vec<u8>> = Vec::with_capacity(expected);
    let mut whole = Vec::new();
    while let Ok(order) = orders.recv() {
        leave_holes(order, &mut whole, &mut survivors);
        if done.send(()).is_err() {
            break;
        }
    }
    drop((survivors, whole));
    // Small blocks are kept for later when they are freed. A large one makes the allocator tidy up
    // and give the arena back.
    drop(vec![1_u8; FIRST_BLOCK]);
}

/// Shrinks the blocks of the step before, each where it is, when those of this step lie behind them:
/// a hole at the heap's end, or beside the free end of a heap, would be no hole at all.
fn leave_holes(order: Order, whole: &mut Vec<Vec<u8>>, survivors: &mut Vec<Vec<u8>>) {
    let fresh = (0..order.blocks).map(|_| vec![1; order.bytes]).collect();
    for mut block in std::mem::replace(whole, fresh) {
        block.truncate(SURVIVOR);
        block.shrink_to_fit();
        survivors.push(block);
    }
}
