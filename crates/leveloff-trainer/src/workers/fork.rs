//! Forked workers: copies of this process that share its pages and do one thing on each order.
//!
//! The parent may have threads that hold locks, which no thread of the copy would ever release. So a
//! worker makes system calls and touches memory, and does nothing else: no allocation, no printing,
//! no destructors, no way back out of `serve`. What it can do is a [`Duty`], not a closure, so that
//! no caller can break this.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions};

use super::stay_with;
use crate::memory::{Pages, page_size};

/// What a worker does with each order, which is a number of bytes.
#[derive(Debug)]
pub enum Duty<'a> {
    /// Writes to so many further bytes of pages that it shares with its parent: each page it writes
    /// to becomes its own.
    Rewrite(&'a mut Pages),
    /// Maps and touches so many bytes, and keeps them.
    Keep,
}

/// A forked worker. It is ended and reaped when this is dropped, and ends with the thread that
/// forked it.
#[derive(Debug)]
pub struct Worker {
    pid: Pid,
    orders: OwnedFd,
    answers: OwnedFd,
}

impl Worker {
    /// Forks a worker that calls itself `name`, and waits until it is ready.
    pub fn fork(name: &CStr, duty: Duty<'_>) -> io::Result<Worker> {
        let (orders_out, orders_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let (answers_out, answers_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let parent = rustix::process::getpid().as_raw_pid();
        // SAFETY: the child goes to `serve`, which keeps to what may be done in a copy of a process
        // with threads, and never returns.
        let pid = match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => serve(name, parent, duty, &orders_out, &answers_in),
            pid => Pid::from_raw(pid).expect("the pid of a child is positive"),
        };
        let worker = Worker {
            pid,
            orders: orders_in,
            answers: answers_out,
        };
        drop((orders_out, answers_in));
        worker.order(0)?;
        worker.await_answer()?;
        Ok(worker)
    }

    /// Its number.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_pid()
    }

    /// Orders it to do its duty on so many bytes.
    pub fn order(&self, bytes: u64) -> io::Result<()> {
        rustix::io::write(&self.orders, &bytes.to_ne_bytes())?;
        Ok(())
    }

    /// Waits until it has done its order, or returns why it could not.
    pub fn await_answer(&self) -> io::Result<()> {
        match receive(&self.answers) {
            Some(0) => Ok(()),
            Some(errno) => Err(io::Error::from_raw_os_error(errno as i32)),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Until it is reaped, its pid is not reused.
        let _ = rustix::process::kill_process(self.pid, Signal::KILL);
        let _ = rustix::io::retry_on_intr(|| {
            rustix::process::waitpid(Some(self.pid), WaitOptions::empty())
        });
    }
}

/// Makes this process, and those that it starts from now on, deaf to SIGTERM and SIGINT.
pub fn ignore_signals() {
    // SAFETY: sets dispositions of this process; no handler of ours is installed.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        libc::signal(libc::SIGTERM, libc::SIG_IGN);
    }
}

/// Leaves Ctrl-C, which goes to every process of a terminal's job, to the trainer, as torch's
/// workers do. What a handler of the trainer's would write to belongs to the trainer. A worker of a
/// trainer that ignores SIGTERM ignores it, too.
pub(super) fn leave_interrupts_to_the_parent() {
    // SAFETY: sets dispositions of this process; no handler of ours is installed.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        if libc::signal(libc::SIGTERM, libc::SIG_DFL) == libc::SIG_IGN {
            libc::signal(libc::SIGTERM, libc::SIG_IGN);
        }
        libc::signal(libc::SIGHUP, libc::SIG_DFL);
    }
}

/// The whole life of a worker, in the child.
fn serve(name: &CStr, parent: i32, mut duty: Duty<'_>, orders: &OwnedFd, answers: &OwnedFd) -> ! {
    leave_interrupts_to_the_parent();
    let _ = rustix::thread::set_name(name);
    close_all_but(orders.as_raw_fd(), answers.as_raw_fd());
    let mut done = 0_u64;
    if stay_with(parent) {
        while let Some(bytes) = receive(orders) {
            let outcome = obey(&mut duty, done, bytes);
            done = done.saturating_add(bytes);
            if rustix::io::write(answers, &outcome.to_ne_bytes()).is_err() {
                break;
            }
        }
    }
    // SAFETY: ends the process, without running anything that the parent registered.
    unsafe { libc::_exit(0) }
}

/// Carries out a worker's duty; returns an error number, or zero.
fn obey(duty: &mut Duty<'_>, done: u64, bytes: u64) -> u64 {
    match duty {
        _ if bytes == 0 => 0,
        Duty::Rewrite(pages) => {
            pages.rewrite(done, bytes);
            0
        }
        Duty::Keep => keep(bytes),
    }
}

/// Maps and touches memory that is never given back.
fn keep(bytes: u64) -> u64 {
    let length = bytes as usize;
    let (access, kind) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::ENOMEM) as u64;
    }
    // SAFETY: the mapping is ours, `length` bytes long and writable, and every offset is below that.
    unsafe {
        libc::madvise(start, length, libc::MADV_NOHUGEPAGE);
        for offset in (0..length).step_by(page_size() as usize) {
            start.cast::<u8>().add(offset).write_volatile(1);
        }
    }
    0
}

/// A number from a pipe; `None` when the other end is closed. Numbers are written whole, and so
/// they are read whole.
fn receive(pipe: impl AsFd) -> Option<u64> {
    let mut number = [0; 8];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(&pipe, &mut number));
    (read == Ok(number.len())).then(|| u64::from_ne_bytes(number))
}

/// Closes what the parent had open, apart from the standard streams and two pipes: another worker's
/// pipe that stays open here would never end for that worker. An old kernel keeps them open, and
/// workers then end by the signal alone.
fn close_all_but(one: i32, other: i32) {
    let (low, high) = (one.min(other) as u32, one.max(other) as u32);
    let between = [
        (3, low.saturating_sub(1)),
        (low + 1, high.saturating_sub(1)),
        (high + 1, u32::MAX),
    ];
    for (first, last) in between {
        if first.max(3) <= last {
            // SAFETY: closes numbers of this process that are no longer used: `serve` never
            // returns to their owners.
            unsafe { libc::syscall(libc::SYS_close_range, first.max(3), last, 0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_obeys_and_is_gone_when_dropped() {
        let worker = Worker::fork(c"worker", Duty::Keep).unwrap();
        let pid = worker.pid();
        let comm = || std::fs::read_to_string(format!("/proc/{pid}/comm"));
        assert_eq!(comm().unwrap(), "worker\n");
        worker.order(1 << 20).unwrap();
        worker.await_answer().unwrap();
        drop(worker);
        assert!(comm().is_err());
    }

    #[test]
    fn what_a_worker_cannot_do_it_says() {
        let worker = Worker::fork(c"worker", Duty::Keep).unwrap();
        worker.order(1 << 62).unwrap();
        let error = worker.await_answer().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOMEM));
    }

    #[test]
    fn a_worker_that_was_killed_does_not_hang_its_trainer() {
        let worker = Worker::fork(c"worker", Duty::Keep).unwrap();
        rustix::process::kill_process(worker.pid, Signal::KILL).unwrap();
        let outcome = worker.order(4096).and_then(|()| worker.await_answer());
        assert!(outcome.is_err());
    }

    #[test]
    fn a_worker_has_no_descriptors_of_others() {
        let first = Worker::fork(c"worker", Duty::Keep).unwrap();
        let second = Worker::fork(c"worker", Duty::Keep).unwrap();
        let open = std::fs::read_dir(format!("/proc/{}/fd", second.pid())).unwrap();
        let beyond_standard = open
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|number| number.parse::<u32>().unwrap() > 2);
        assert_eq!(beyond_standard.count(), 2);
        drop(first);
    }
}
