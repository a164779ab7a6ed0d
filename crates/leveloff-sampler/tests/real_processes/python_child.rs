//! A real Python process that does what a test asks for, by handshake: it runs the script, prints
//! lines, and waits for lines.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leveloff_model::process::Pid;
use leveloff_sampler::clock::{Clock, Moment};
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use leveloff_sampler::processes::Scope;
use leveloff_sampler::sampler::{Sampler, SamplerOptions};

/// A process under test. Killed when dropped.
pub struct PythonChild {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// What every script can use: memory whose pages are all there, a word to us, a word from us.
const PRELUDE: &str = r#"
import ctypes, mmap, os, signal, sys, time
MIB = 1 << 20
def touched(mib):
    memory = mmap.mmap(-1, mib * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    memory[::4096] = bytes(mib * 256)
    return memory
def say(*words): print(*words, flush=True)
def wait(): return sys.stdin.readline()
# Does nothing until the test is over, with whatever parent by then.
def pause():
    while os.path.exists("/proc/%s" % os.environ["TEST_PID"]): time.sleep(1)
    os._exit(0)
"#;

impl PythonChild {
    /// Runs a script.
    pub fn start(script: &str) -> PythonChild {
        let mut child = Command::new("python3")
            .args(["-c", &format!("{PRELUDE}\n{script}")])
            .env("TEST_PID", std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 can be started");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        PythonChild {
            child,
            input,
            output,
        }
    }

    pub fn pid(&self) -> Pid {
        Pid(i32::try_from(self.child.id()).unwrap())
    }

    /// The next line that it prints.
    pub fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the process exited");
        line.trim_end().to_owned()
    }

    /// Lets it go on.
    pub fn resume(&mut self) {
        self.input.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    /// Ends it and takes its status, so that its number is free.
    pub fn end(&mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

impl Drop for PythonChild {
    fn drop(&mut self) {
        self.end();
    }
}

/// A clock that moves only when the test moves it.
#[derive(Clone)]
pub struct HandClock(Arc<Mutex<Moment>>);

impl HandClock {
    pub fn new() -> HandClock {
        HandClock(Arc::new(Mutex::new(Moment {
            boot: Duration::from_secs(1000),
            awake: Duration::from_secs(1000),
            unix: 1.8e9,
        })))
    }

    pub fn pass(&self, seconds: f64) {
        let mut now = self.0.lock().unwrap();
        now.boot += Duration::from_secs_f64(seconds);
        now.awake += Duration::from_secs_f64(seconds);
        now.unix += seconds;
    }

    pub fn sleep(&self, seconds: f64) {
        let mut now = self.0.lock().unwrap();
        now.boot += Duration::from_secs_f64(seconds);
        now.unix += seconds;
    }

    pub fn step_wall_clock(&self, seconds: f64) {
        self.0.lock().unwrap().unix += seconds;
    }
}

impl Clock for HandClock {
    fn now(&self) -> Moment {
        *self.0.lock().unwrap()
    }
}

/// A sampler of one process and what comes from it.
pub fn sampler_of(pid: Pid, clock: &HandClock) -> Sampler {
    let root = key_of(&ProcRoot::live(), pid).unwrap();
    sampler_on(ProcRoot::live(), Scope::Descendants(vec![root]), clock)
}

pub fn sampler_on(proc_root: ProcRoot, scope: Scope, clock: &HandClock) -> Sampler {
    let options = SamplerOptions {
        scope,
        interval: Duration::from_secs(1),
        pss_budget_percent: 50.0,
        limit: None,
        log: None,
        step_regex: None,
        has_output: false,
        adopter: None,
        own_processes: Vec::new(),
    };
    Sampler::with_world(options, proc_root, Arc::new(clock.clone())).unwrap()
}
