//! A command that is not what it was when it was started, in a /proc made up for it.

use super::*;

/// The run's root.
const SHIM: Pid = Pid(10);

/// A /proc in which time passes.
struct Machine {
    directory: tempfile::TempDir,
    tracker: RoleTracker,
    now: f64,
}

/// A program of the simulated tree.
#[derive(Clone, Copy)]
struct Program {
    comm: &'static str,
    command: &'static str,
    mebibytes: u64,
    /// Executed one after another, no two have the same.
    stack_start: u64,
    maps: &'static str,
}

const SCRIPT: Program = Program {
    comm: "bash",
    command: "bash\0/opt/shims/python3\0x.py\0",
    mebibytes: 1,
    stack_start: 1000,
    maps: "",
};
const HELPER: Program = Program {
    comm: "python3",
    command: "/usr/bin/python3\0-c\0print(1)\0",
    mebibytes: 30,
    stack_start: 2000,
    maps: "",
};
const PYTHON: Program = Program {
    comm: "python3",
    command: "/opt/bin/python3\0x.py\0",
    mebibytes: 8,
    stack_start: 3000,
    maps: "",
};

impl Machine {
    /// A machine on which the shim has just been started.
    fn new() -> Machine {
        let mut machine = Machine {
            directory: tempfile::tempdir().unwrap(),
            tracker: RoleTracker::new(Some(SHIM)),
            now: 0.0,
        };
        machine.start(SHIM, Pid(1), SCRIPT);
        machine
    }

    fn start(&mut self, pid: Pid, parent: Pid, program: Program) {
        let start = (100.0 * self.now) as u64;
        std::fs::create_dir_all(self.place(pid).join("fd")).unwrap();
        std::fs::create_dir_all(self.place(pid).join("task")).unwrap();
        std::fs::write(self.place(pid).join("environ"), "").unwrap();
        self.write(pid, parent, start, program);
        let key = ProcessKey {
            pid,
            start: StartTicks(start),
        };
        self.tracker.add(index(pid), key, Seconds(self.now));
    }

    /// It becomes another program.
    fn execute(&mut self, pid: Pid, program: Program) {
        let key = key_of(&ProcRoot::at(self.directory.path()), pid).unwrap();
        self.write(pid, Pid(1), key.start.0, program);
        self.tracker.examine_again(index(pid));
    }

    fn end(&mut self, pid: Pid) {
        std::fs::remove_dir_all(self.place(pid)).unwrap();
        self.tracker.remove(index(pid));
    }

    fn write(&self, pid: Pid, parent: Pid, start: u64, program: Program) {
        let Program {
            comm,
            stack_start,
            mebibytes,
            ..
        } = program;
        let place = self.place(pid);
        let stat = format!(
            "{pid} ({comm}) S {parent} 10 10 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 {start} 0 0 0 1 1 {stack_start}"
        );
        std::fs::write(place.join("stat"), stat).unwrap();
        let status = format!("Uid:\t0\t0\t0\t0\nRssAnon:\t{} kB\n", mebibytes << 10);
        std::fs::write(place.join("status"), status).unwrap();
        std::fs::write(place.join("cmdline"), program.command).unwrap();
        std::fs::write(place.join("maps"), program.maps).unwrap();
    }

    /// Updates the roles ten times a second, less often over minutes; returns the final role of each process.
    fn pass(&mut self, seconds: f64) -> Vec<(Pid, Role)> {
        let (end, step) = (self.now + seconds, (seconds / 50.0).max(0.1));
        while self.now < end {
            self.now = (self.now + step).min(end);
            let uptime = format!("{} 0\n", self.now);
            std::fs::write(self.directory.path().join("uptime"), uptime).unwrap();
            let proc_root = ProcRoot::at(self.directory.path());
            self.tracker
                .update(&proc_root, Seconds(self.now), runs(Seconds(self.now)));
        }
        let infos = self.tracker.infos();
        infos.map(|info| (info.key.pid, info.role)).collect()
    }

    fn shim(&self) -> &ProcessInfo {
        self.tracker.info(index(SHIM)).unwrap()
    }

    fn place(&self, pid: Pid) -> std::path::PathBuf {
        self.directory.path().join(pid.to_string())
    }
}

#[test]
fn a_passing_helper_takes_no_part_away() {
    let mut machine = Machine::new();
    assert_eq!(machine.pass(0.1), [(SHIM, Role::Trainer)]);
    for pid in [Pid(11), Pid(12), Pid(13)] {
        machine.start(pid, SHIM, HELPER);
        let parts = machine.pass(0.5);
        assert_eq!(parts, [(SHIM, Role::Trainer), (pid, Role::Other)]);
        machine.end(pid);
    }
    machine.execute(SHIM, PYTHON);
    assert_eq!(machine.pass(0.1), [(SHIM, Role::Trainer)]);
    assert_eq!(machine.shim().comm, "python3");
}

#[test]
fn a_helper_that_lasted_gives_the_part_back_when_the_shim_becomes_the_program() {
    let mut machine = Machine::new();
    machine.start(Pid(11), SHIM, HELPER);
    let parts = machine.pass(1.5);
    assert_eq!(parts, [(SHIM, Role::Launcher), (Pid(11), Role::Trainer)]);
    machine.end(Pid(11));
    assert_eq!(machine.pass(2.0), [(SHIM, Role::Launcher)]);
    machine.execute(SHIM, PYTHON);
    assert_eq!(machine.pass(0.1), [(SHIM, Role::Trainer)]);
}

#[test]
fn the_program_below_a_shell_that_waits_is_the_trainer_within_seconds() {
    let mut machine = Machine::new();
    machine.start(Pid(11), SHIM, HELPER);
    machine.pass(0.3);
    machine.end(Pid(11));
    machine.start(Pid(12), SHIM, PYTHON);
    let parts = machine.pass(1.5);
    assert_eq!(parts, [(SHIM, Role::Launcher), (Pid(12), Role::Trainer)]);
}

#[test]
fn one_that_has_become_another_program_is_young_again() {
    let mut machine = Machine::new();
    machine.pass(600.0);
    machine.execute(SHIM, PYTHON);
    machine.pass(0.1);
    // It imports torch a second later, as any program does.
    let libtorch = "7f00-7f01 r-xp 0 00:00 1 /v/torch/lib/libtorch_python.so\n";
    std::fs::write(machine.place(SHIM).join("maps"), libtorch).unwrap();
    machine.pass(1.5);
    assert!(
        machine.shim().why.contains("libtorch"),
        "{:?}",
        machine.shim()
    );
}

#[test]
fn where_the_stack_is_hidden_another_command_is_another_program() {
    let hidden = |program| Program {
        stack_start: 0,
        ..program
    };
    let mut machine = Machine::new();
    machine.execute(SHIM, hidden(SCRIPT));
    machine.start(Pid(11), SHIM, hidden(HELPER));
    assert_eq!(machine.pass(1.5)[0], (SHIM, Role::Launcher));
    machine.end(Pid(11));
    machine.execute(SHIM, hidden(PYTHON));
    assert_eq!(machine.pass(0.1), [(SHIM, Role::Trainer)]);
}
