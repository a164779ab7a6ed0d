//! A pool of compile workers, as torch.compile starts one: a process that has imported a lot, and
//! its forks, which share nearly all of that and idle for the whole run.
//!
//! Summed by RSS they look like a gigabyte; the machine pays for the pool's pages once, and for the
//! few that each worker wrote to.

use std::io;
use std::process::ExitCode;

use super::fork::{Duty, Worker, leave_interrupts_to_the_parent};
use super::started::{Started, failed, ready_until_dropped};
use super::{WorkerKind, cannot_start};
use crate::memory::Pages;
use crate::pattern::PatternError;

/// What each worker makes its own of what it shares: 2.7 MB were measured in torch 2.8.
pub const OWN_PER_WORKER: u64 = 2 << 20;

/// The name of every one of these processes.
const PYTHON: &std::ffi::CStr = c"python";

/// A running pool, with its workers.
#[derive(Debug)]
pub struct CompilePool {
    _pool: Started,
}

impl CompilePool {
    /// Starts a pool that touches `shared` bytes and forks its workers; returns when all are there.
    pub fn start(workers: u32, shared: u64) -> Result<CompilePool, PatternError> {
        let command_line = command_line(workers);
        let words: Vec<&str> = command_line.iter().map(String::as_str).collect();
        let pool = Started::start(WorkerKind::CompilePool { workers, shared }, &words).map_err(
            |error| cannot_start(&format!("a pool of {workers} compile workers"), error),
        )?;
        Ok(CompilePool { _pool: pool })
    }
}

/// The command line that torch 2.8 gives the pool, and its forks inherit. The descriptors are those
/// that it really reads and writes.
fn command_line(workers: u32) -> Vec<String> {
    let parent = rustix::process::getpid().as_raw_pid();
    let module =
        "/opt/venv/lib/python3.11/site-packages/torch/_inductor/compile_worker/__main__.py";
    let pickler = "torch._inductor.compile_worker.subproc_pool.SubprocPickler";
    vec![
        "/opt/venv/bin/python".to_owned(),
        module.to_owned(),
        format!("--pickler={pickler}"),
        "--kind=fork".to_owned(),
        format!("--workers={workers}"),
        format!("--parent={parent}"),
        "--read-fd=0".to_owned(),
        "--write-fd=1".to_owned(),
        "--torch-key=bGV2ZWxvZmYtdHJhaW5lcg==".to_owned(),
    ]
}

/// The pool's own life, in the process that was started for it.
pub(super) fn serve(workers: u32, shared: u64) -> ExitCode {
    leave_interrupts_to_the_parent();
    let _ = rustix::thread::set_name(PYTHON);
    match forked(workers, shared) {
        // The workers end with this list, before the pool itself does.
        Ok(_workers) => match ready_until_dropped() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            failed(&error);
            ExitCode::FAILURE
        }
    }
}

fn forked(workers: u32, shared: u64) -> io::Result<(Vec<Worker>, Pages)> {
    let mut pages = Pages::touched(shared).map_err(|error| error.why)?;
    let mut forked = Vec::new();
    for _ in 0..workers {
        forked.push(Worker::fork(PYTHON, Duty::Rewrite(&mut pages))?);
    }
    for worker in &forked {
        worker.order(OWN_PER_WORKER)?;
    }
    for worker in &forked {
        worker.await_answer()?;
    }
    Ok((forked, pages))
}
