//! A watch over made-up ticks and log lines.

use leveloff_model::process::{ProcessIndex, ProcessInfo, ProcessKey, Role, StartTicks};
use leveloff_model::progress::Progress;
use leveloff_model::sample::{Event, MachineReading, OwnCost, Sample, Tick};
use leveloff_model::units::Seconds;

use super::*;

const KILLED: &str = "Out of memory: Killed process 50 (python) total-vm:9kB, anon-rss:8kB";

/// A watch that does not read this machine's log.
fn watch() -> OomWatch {
    OomWatch {
        log: None,
        ..OomWatch::begin()
    }
}

fn tick(events: Vec<Event>) -> Tick {
    Tick {
        events,
        sample: Sample {
            t: Seconds(0.0),
            progress: Progress::default(),
            processes: Vec::new(),
            mappings: None,
            machine: MachineReading::default(),
            cgroup: None,
            ceiling: None,
            cost: OwnCost::default(),
        },
    }
}

fn appeared(index: u32, pid: i32) -> Event {
    Event::Appeared(ProcessInfo {
        index: ProcessIndex(index),
        key: ProcessKey {
            pid: Pid(pid),
            start: StartTicks(1),
        },
        parent: Pid(1),
        role: Role::Other,
        unknown_role: None,
        rank: None,
        comm: "python".to_owned(),
        command: Vec::new(),
        why: String::new(),
    })
}

fn is_included(watch: &mut OomWatch, lines: &[&str]) -> bool {
    let kill = lines
        .iter()
        .filter_map(|text| watch.parser.push(LogLine::parse(text.as_bytes())?))
        .last();
    watch.pids.include(&kill.unwrap())
}

#[test]
fn a_pid_belongs_to_the_run_only_while_its_process_lives() {
    if std::fs::read_link("/proc/self/ns/pid").unwrap() != Path::new("pid:[4026531836]") {
        leveloff_testkit::cannot_run_here("the kernel's log has other pids than this container");
        return;
    }
    let mut watch = watch();
    assert!(!is_included(&mut watch, &[KILLED]));
    watch.add_command(Pid(50));
    assert!(is_included(&mut watch, &[KILLED]));
    watch.observe(&tick(vec![appeared(0, 50), appeared(1, 51)]));
    assert!(is_included(&mut watch, &[KILLED]));
    watch.observe(&tick(vec![Event::Exited(ProcessIndex(0))]));
    assert!(!is_included(&mut watch, &[KILLED]));
}

#[test]
fn every_process_in_the_job_cgroup_belongs_to_the_run() {
    let mut watch = watch();
    watch.set_job_cgroup(Path::new("/sys/fs/cgroup/x/leveloff-1-2"), Bytes(1 << 30));
    let victim = |group: &str| {
        format!(
            "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/x,task_memcg=/x/{group},task=a,pid=50,uid=0"
        )
    };
    assert!(is_included(&mut watch, &[&victim("leveloff-1-2"), KILLED]));
    assert!(!is_included(&mut watch, &[&victim("leveloff-1-3"), KILLED]));
}

#[test]
fn the_log_of_this_machine_is_read_without_waiting() {
    match kernel_log_lines() {
        Ok(lines) => {
            println!("{} lines about OOM kills", lines.len());
            assert!(lines.iter().all(|line| line.starts_with('[')));
        }
        Err(error) => leveloff_testkit::cannot_run_here(&format!("/dev/kmsg: {error}")),
    }
}
