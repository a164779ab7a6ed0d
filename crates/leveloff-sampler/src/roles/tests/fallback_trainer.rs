//! Trees in which no process maps a framework.

use leveloff_model::units::{Bytes, Seconds};

use super::*;

/// A program with so much memory, in MiB, that has lived for so long.
fn program(pid: i32, parent: i32, command: &[&str], mebibytes: u64, age: f64) -> ProcessFacts {
    let mut facts = process(pid, parent, "x", command);
    facts.age = Some(Seconds(age));
    if let Some(memory) = &mut facts.memory {
        memory.anon = Bytes(mebibytes << 20);
    }
    facts
}

fn shell(age: f64) -> ProcessFacts {
    program(10, 1, &["sh", "-c", "set up; python3 x.py"], 1, age)
}

fn python(pid: i32, mebibytes: u64, age: f64) -> ProcessFacts {
    program(pid, 10, &["python3", "x.py"], mebibytes, age)
}

/// The trainer of a run that is watched, whose root is 10.
fn trainer_of(processes: &[ProcessFacts], before: Option<i32>) -> Vec<i32> {
    let previous = PreviousRoles {
        trainer: before.map(Pid),
        ..PreviousRoles::default()
    };
    let said = reassign(processes, Some(Pid(10)), previous);
    let both = processes.iter().zip(said);
    both.filter(|(_, said)| said.role == Role::Trainer)
        .map(|(facts, _)| facts.pid().0)
        .collect()
}

#[test]
fn one_that_has_lived_for_moments_is_not_chosen() {
    assert_eq!(trainer_of(&[shell(0.1), python(11, 30, 0.1)], None), [10]);
    assert_eq!(trainer_of(&[shell(1.1), python(11, 30, 1.0)], None), [11]);
    // A lasting one is, beside a bigger one that passes.
    let both = [shell(9.0), python(11, 30, 8.0), python(12, 300, 0.2)];
    assert_eq!(trainer_of(&both, None), [11]);
    assert_eq!(trainer_of(&both, Some(11)), [11]);
    // Who is looked at only once is taken as he is.
    check(
        &[shell(0.1), python(11, 30, 0.1)],
        Some(10),
        &[Role::Launcher, Role::Trainer],
    );
}

#[test]
fn shells_and_wrappers_and_sleep_never_work_for_another_shell() {
    for command in [
        &["bash", "/opt/pyenv/libexec/pyenv-which", "python3"][..],
        &["/usr/bin/env", "bash", "x"],
        &["/opt/conda/bin/python", "/opt/conda/bin/conda", "activate"],
        &["python3", "-m", "poetry", "env", "info"],
        &["sleep", "30"],
    ] {
        let child = program(11, 10, command, 50, 20.0);
        assert_eq!(trainer_of(&[shell(20.0), child], None), [10], "{command:?}");
    }
}

#[test]
fn wrappers_in_python_leave_the_work_to_a_smaller_one() {
    for command in [
        &["/c/bin/python", "/c/bin/conda", "run", "python", "x.py"][..],
        &["python3", "-m", "pdm", "run", "x.py"],
        &["uv", "run", "x.py"],
    ] {
        let wrapper = program(10, 1, command, 60, 2.0);
        let young = [wrapper.clone(), python(11, 8, 0.1)];
        assert_eq!(trainer_of(&young, None), [0; 0], "{command:?}");
        let roles = reassign(
            &[wrapper, python(11, 8, 1.5)],
            Some(Pid(10)),
            PreviousRoles::default(),
        );
        assert_eq!(
            [roles[0].role, roles[1].role],
            [Role::Launcher, Role::Trainer],
            "{command:?}"
        );
    }
    // The name of a wrapper among the arguments of a script is no wrapper.
    let own = program(10, 1, &["python3", "x.py", "conda"], 60, 2.0);
    assert_eq!(trainer_of(&[own, python(11, 8, 1.5)], None), [10]);
}

#[test]
fn a_script_that_works_itself_is_not_outdone_by_what_it_calls() {
    let works = ProcessFacts {
        cpu_ticks: 5000,
        ..program(10, 1, &["bash", "simulate.sh"], 400, 90.0)
    };
    let called = program(11, 10, &["gzip"], 2, 5.0);
    assert_eq!(trainer_of(&[works, called], None), [10]);
}

#[test]
fn a_pools_workers_are_not_the_program_whose_workers_they_are() {
    let main = python(11, 50, 60.0);
    let worker = |pid| ProcessFacts {
        stack_start: main.stack_start,
        parent: Pid(11),
        ..python(pid, 500, 50.0)
    };
    let spawned = ProcessFacts {
        age: Some(Seconds(50.0)),
        ..spawned(14, 11)
    };
    let tree = [shell(61.0), main.clone(), worker(12), worker(13), spawned];
    assert_eq!(trainer_of(&tree, None), [11]);
    // One whose maker is gone is all that is left of the run.
    let gone = ProcessFacts {
        state: ProcessState::Dead,
        ..main.clone()
    };
    assert_eq!(trainer_of(&[shell(61.0), gone, worker(12)], None), [12]);
}

#[test]
fn a_python_that_waits_for_another_launched_it() {
    let supervisor = || program(10, 1, &["python3", "supervise.py"], 10, 60.0);
    let through_a_shell = program(11, 10, &["sh", "-c", "python3 x.py"], 1, 59.0);
    let worker = |mebibytes, age, cpu_ticks| ProcessFacts {
        cpu_ticks,
        parent: Pid(11),
        ..python(12, mebibytes, age)
    };
    for (mebibytes, age, cpu_ticks, trainer) in [
        (600, 5.0, 10, 10),
        (600, 15.0, 10, 12),
        (20, 50.0, 10, 10),
        (20, 50.0, 4500, 12),
        (8, 50.0, 4500, 10),
    ] {
        let tree = [
            supervisor(),
            through_a_shell.clone(),
            worker(mebibytes, age, cpu_ticks),
        ];
        assert_eq!(
            trainer_of(&tree, None),
            [trainer],
            "{mebibytes} MiB after {age} s"
        );
    }
    // Once known it stays, while it is the bigger one.
    let tree = [supervisor(), through_a_shell, worker(20, 50.0, 10)];
    assert_eq!(trainer_of(&tree, Some(12)), [12]);
}

#[test]
fn the_part_does_not_go_back_and_forth_between_two_of_a_size() {
    let tree = [shell(60.0), python(11, 100, 50.0), python(12, 120, 50.0)];
    assert_eq!(trainer_of(&tree, None), [12]);
    assert_eq!(trainer_of(&tree, Some(11)), [11]);
    let outgrown = [shell(60.0), python(11, 100, 50.0), python(12, 220, 50.0)];
    assert_eq!(trainer_of(&outgrown, Some(11)), [12]);
}

#[test]
fn an_undecided_candidate_is_read_often() {
    let said = reassign(
        &[shell(0.1), python(11, 30, 0.1)],
        Some(Pid(10)),
        PreviousRoles::default(),
    );
    assert!(said[1].reason.is_undecided(), "{said:?}");
    let with_a_trainer = [
        shell(9.0),
        with_torch(python(11, 30, 8.0)),
        python(12, 3, 8.0),
    ];
    let said = reassign(&with_a_trainer, Some(Pid(10)), PreviousRoles::default());
    assert!(!said[2].reason.is_undecided(), "{said:?}");
}
