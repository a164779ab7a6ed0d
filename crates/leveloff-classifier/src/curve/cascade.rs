//! Points in levels: each holds buckets of twice as many points as the one before. When a level is
//! full its two oldest buckets become one of the next. Memory grows with the logarithm of the
//! length only, and whatever happened recently is known as finely as if it were the whole series.

use std::collections::VecDeque;

/// Points next to each other, as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// How many.
    pub points: u64,
    /// Their mean x.
    pub x: f64,
    /// Their mean y.
    pub y: f64,
    /// Their lowest y.
    pub low: f64,
    /// Their highest y.
    pub high: f64,
}

/// The levels, finest first.
#[derive(Debug, Clone)]
pub struct Cascade {
    levels: Vec<VecDeque<Bucket>>,
    /// Buckets in a level. A view of any stretch has between half and twice as many points.
    width: usize,
    points: u64,
}

impl Bucket {
    /// One point.
    pub fn point((x, y): (f64, f64)) -> Bucket {
        Bucket {
            points: 1,
            x,
            y,
            low: y,
            high: y,
        }
    }

    /// Both as one.
    pub fn joined(self, other: Bucket) -> Bucket {
        let points = self.points + other.points;
        let share = other.points as f64 / points as f64;
        Bucket {
            points,
            x: self.x + (other.x - self.x) * share,
            y: self.y + (other.y - self.y) * share,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

impl Cascade {
    /// Nothing yet; levels will hold this many buckets.
    pub fn of_width(width: usize) -> Cascade {
        Cascade {
            levels: Vec::new(),
            width,
            points: 0,
        }
    }

    /// Takes the next bucket of one point.
    pub fn push(&mut self, bucket: Bucket) {
        self.points += bucket.points;
        let mut carried = Some(bucket);
        for level in &mut self.levels {
            let Some(bucket) = carried.take() else {
                return;
            };
            level.push_back(bucket);
            if level.len() > self.width {
                let oldest = level.pop_front().zip(level.pop_front());
                carried = oldest.map(|(first, second)| first.joined(second));
            }
        }
        if let Some(bucket) = carried {
            let mut level = VecDeque::new();
            level.push_back(bucket);
            self.levels.push(level);
        }
    }

    /// Points in all of it.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Points in its largest bucket.
    pub fn coarsest(&self) -> u64 {
        1 << self.levels.len().saturating_sub(1)
    }

    /// All buckets, oldest first.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.levels.iter().rev().flatten().copied()
    }

    /// How many buckets to skip so that about this many points remain, and the size of the largest
    /// that does.
    pub fn newest(&self, points: u64) -> (usize, u64) {
        let mut skip = 0;
        let mut left = self.points;
        for bucket in self.buckets() {
            if left <= points.max(1) {
                return (skip, bucket.points);
            }
            left -= bucket.points;
            skip += 1;
        }
        (skip, 1)
    }
}
