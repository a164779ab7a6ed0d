//! Memory that is really there: pages that were written to, mapped and unmapped one by one.
//!
//! It goes past the allocator, so that a pattern takes exactly what it says and gives it back at
//! once, whatever the heap does; and past huge pages, which would round every amount up.

pub mod own;
pub mod trim;

use std::io;

use memmap2::{Advice, MmapMut};

use crate::pattern::PatternError;
use crate::sizes::Size;

/// Touched pages of one mapping.
#[derive(Debug)]
pub struct Pages {
    map: MmapMut,
}

impl Pages {
    /// Maps so many bytes, a whole number of pages at the least, and writes to each page.
    pub fn touched(bytes: u64) -> Result<Pages, PatternError> {
        map(bytes).map_err(|error| {
            let what = format!("cannot map {} of memory", Size(bytes));
            PatternError::new(what, error, "lower --rate or --size, or take fewer steps")
        })
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// Writes to each page of a stretch again; what lies behind the end is left out. Does not
    /// allocate, so that a forked worker may call it.
    pub fn rewrite(&mut self, from: u64, bytes: u64) {
        let page = page_size() as usize;
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let count = usize::try_from(bytes.div_ceil(page_size())).unwrap_or(usize::MAX);
        let pages = self.map.iter_mut().skip(from).step_by(page).take(count);
        pages.for_each(|byte| *byte = byte.wrapping_add(1));
    }
}

/// Holds exactly as much memory as it is set to.
#[derive(Debug, Default)]
pub struct Ballast {
    chunks: Vec<Pages>,
    held: u64,
}

impl Ballast {
    /// Memory comes and goes in pieces of this size, the last one smaller: few mappings, and little
    /// to map again when it shrinks.
    const CHUNK: u64 = 1 << 20;

    /// Maps or unmaps until it holds this many bytes, less what is not a whole page.
    pub fn hold(&mut self, bytes: u64) -> Result<(), PatternError> {
        let wanted = whole_pages(bytes);
        while self.held > wanted
            && let Some(last) = self.chunks.pop()
        {
            self.held -= last.bytes();
        }
        while self.held < wanted {
            let chunk = Pages::touched((wanted - self.held).min(Ballast::CHUNK))?;
            self.held += chunk.bytes();
            self.chunks.push(chunk);
        }
        Ok(())
    }

    /// Bytes that it holds.
    pub fn held(&self) -> u64 {
        self.held
    }
}

/// What is due by a rate, handed out in whole pages; the rest is remembered.
#[derive(Debug, Default)]
pub struct Due {
    owed: u64,
}

impl Due {
    /// Adds to what is due, and takes the whole pages of it.
    pub fn take_pages(&mut self, more: u64) -> u64 {
        self.owed = self.owed.saturating_add(more);
        let pages = whole_pages(self.owed);
        self.owed -= pages;
        pages
    }
}

/// The size of a page of memory.
pub fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

fn whole_pages(bytes: u64) -> u64 {
    bytes - bytes % page_size()
}

fn map(bytes: u64) -> io::Result<Pages> {
    let length = bytes.max(1).checked_next_multiple_of(page_size());
    let length = length.and_then(|length| usize::try_from(length).ok());
    let map = MmapMut::map_anon(length.ok_or(io::ErrorKind::OutOfMemory)?)?;
    // A kernel without huge pages knows no such advice, and needs none.
    let _ = map.advise(Advice::NoHugePage);
    let mut pages = Pages { map };
    pages.rewrite(0, bytes.max(1));
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ballast_holds_the_requested_amount() {
        let mut ballast = Ballast::default();
        for wanted in [10 << 20, 3 << 20, (3 << 20) + 8192, 4096, 0] {
            ballast.hold(wanted).unwrap();
            assert_eq!(ballast.held(), wanted);
        }
        ballast.hold(5000).unwrap();
        assert_eq!(ballast.held(), page_size());
    }

    #[test]
    fn parts_of_pages_are_remembered() {
        let mut due = Due::default();
        let taken: Vec<u64> = (0..4).map(|_| due.take_pages(page_size() / 4)).collect();
        assert_eq!(taken, [0, 0, 0, page_size()]);
    }

    #[test]
    fn memory_that_is_not_to_be_had_is_an_error_with_advice() {
        let error = Pages::touched(u64::MAX).unwrap_err().to_string();
        assert!(error.starts_with("cannot map "), "{error}");
        assert!(error.contains("lower --rate or --size"), "{error}");
        assert!(Pages::touched(1 << 60).is_err());
    }

    #[test]
    fn a_stretch_behind_the_end_is_left_out() {
        let mut pages = Pages::touched(3 * page_size()).unwrap();
        pages.rewrite(2 * page_size(), u64::MAX);
        let firsts: Vec<u8> = pages.map.chunks(4096).map(|page| page[0]).collect();
        assert_eq!((firsts[0], firsts[firsts.len() - 1] > 0), (1, true));
        pages.rewrite(u64::MAX, 1);
    }
}
