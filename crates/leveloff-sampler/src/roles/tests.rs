use std::path::{Path, PathBuf};

use super::*;
use crate::facts;
use crate::proc_root::ProcRoot;

mod engines;
mod fallback_trainer;
mod rank_givers;
mod ray;

/// What a saved tree's roles.csv says.
struct Truth {
    pid: Pid,
    role: String,
    rank: Option<Rank>,
}

#[test]
fn every_saved_tree_is_named_right() {
    let trees = saved_trees();
    assert!(trees.len() >= 15, "fixtures are missing: {trees:?}");
    let misses: Vec<String> = trees.iter().flat_map(|tree| misses(tree, None)).collect();
    assert_eq!(misses, [""; 0]);
}

#[test]
fn naming_the_root_changes_no_right_answer() {
    for tree in saved_trees() {
        let root = truth(&tree)
            .into_iter()
            .find(|one| ["launcher", "trainer"].contains(&one.role.as_str()));
        assert_eq!(misses(&tree, root.map(|root| root.pid)), [""; 0]);
    }
}

/// Each process of a saved tree that is named wrong, in words.
fn misses(tree: &Path, root: Option<Pid>) -> Vec<String> {
    let truth = truth(tree);
    let proc_root = ProcRoot::at(tree);
    let facts: Vec<_> = truth
        .iter()
        .map(|one| facts::read(&proc_root, one.pid).unwrap())
        .collect();
    let mut misses = Vec::new();
    for (one, said) in truth.iter().zip(assign(&facts, root)) {
        // Ranks that a program gave itself do not show outside; a rank that is said must be right.
        let wrong_rank = said.rank.is_some() && said.rank != one.rank;
        if said.role.name() != one.role || wrong_rank {
            misses.push(format!(
                "{}: {} is {} in truth; {said:?}",
                tree.display(),
                one.pid,
                one.role
            ));
        }
    }
    misses
}

fn saved_trees() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/proc");
    let mut trees: Vec<PathBuf> = std::fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("roles.csv").exists())
        .collect();
    trees.sort();
    trees
}

fn truth(tree: &Path) -> Vec<Truth> {
    let text = std::fs::read_to_string(tree.join("roles.csv")).unwrap();
    let row = |line: &str| {
        let mut cells = line.split(',');
        let mut cell = || cells.next().unwrap().to_owned();
        Truth {
            pid: Pid(cell().parse().unwrap()),
            role: cell(),
            rank: cell().parse().ok().map(Rank),
        }
    };
    text.lines().skip(1).map(row).collect()
}

/// A process as its command line, name and parent show it; tests add what else they need.
fn process(pid: i32, parent: i32, comm: &str, command: &[&str]) -> ProcessFacts {
    let pid = Pid(pid);
    ProcessFacts {
        key: leveloff_model::process::ProcessKey {
            pid,
            start: leveloff_model::process::StartTicks(pid.0 as u64),
        },
        parent: Pid(parent),
        group: pid,
        session: pid,
        own_pid: pid,
        state: ProcessState::Sleeping,
        comm: comm.into(),
        command: command
            .iter()
            .map(|argument| argument.as_bytes().to_vec())
            .collect(),
        uid: Some(1000),
        memory: Some(crate::kernel::status::StatusMemory {
            anon: leveloff_model::units::Bytes(u64::from(pid.0.unsigned_abs()) << 20),
            ..Default::default()
        }),
        threads: 1,
        cpu_ticks: 0,
        age: None,
        stack_start: Some(1000 + pid.0 as u64),
        signals: Some(facts::Signals::default()),
        libraries: Some(facts::Libraries::default()),
        environment: Some(facts::Environment::default()),
        gpu: Some(facts::GpuDevices::default()),
        ray_session: None,
        training_threads: Some(facts::TrainingThreads::default()),
        notes: Vec::new(),
    }
}

fn with_torch(mut facts: ProcessFacts) -> ProcessFacts {
    facts.libraries = Some(facts::Libraries {
        framework: Some(facts::Framework::Torch),
        evidence: "libtorch_python.so".to_owned(),
        displays: false,
    });
    facts
}

fn trainer() -> ProcessFacts {
    with_torch(process(10, 1, "python", &["python", "train.py"]))
}

fn spawned(pid: i32, parent: i32) -> ProcessFacts {
    let code =
        "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=8, pipe_handle=13)";
    process(
        pid,
        parent,
        "python",
        &["python", "-c", code, "--multiprocessing-fork"],
    )
}

fn check(processes: &[ProcessFacts], root: Option<i32>, expected: &[Role]) {
    let said = assign(processes, root.map(Pid));
    let roles: Vec<Role> = said.iter().map(|one| one.role).collect();
    assert_eq!(roles, expected, "{said:#?}");
}

#[test]
fn command_lines_of_every_torch_name_their_compile_processes() {
    let script = "/v/site-packages/torch/_inductor/compile_worker/__main__.py";
    let old = [
        "python",
        script,
        "--workers=2",
        "--parent=10",
        "--read-fd=3",
        "--write-fd=6",
    ];
    let replaced = [
        "/opt/bin/worker",
        "--pickler=x.Y",
        "--workers=2",
        "--parent=10",
    ];
    for command in [&old[..], &replaced] {
        let pool = process(11, 10, "python", command);
        let worker = ProcessFacts {
            stack_start: pool.stack_start,
            ..process(12, 11, "python", command)
        };
        check(
            &[trainer(), pool, worker],
            None,
            &[Role::Trainer, Role::CompilePool, Role::CompileWorker],
        );
    }
    let autotune = process(
        11,
        10,
        "python",
        &["python", "/v/torch/_inductor/__autotune_main__.py"],
    );
    check(
        &[trainer(), with_torch(autotune)],
        None,
        &[Role::Trainer, Role::CompileWorker],
    );
}

#[test]
fn titled_compile_workers_are_known_with_and_without_a_pool() {
    let titled = |pid, parent| {
        with_torch(process(
            pid,
            parent,
            "torch compile_w",
            &["torch compile_worker"],
        ))
    };
    check(
        &[trainer(), titled(11, 10), titled(12, 10)],
        None,
        &[Role::Trainer, Role::CompileWorker, Role::CompileWorker],
    );
    check(
        &[trainer(), titled(11, 10), titled(12, 11)],
        None,
        &[Role::Trainer, Role::CompilePool, Role::CompileWorker],
    );
}

#[test]
fn a_compile_pool_in_a_container_names_its_trainer_by_the_inner_number() {
    let command = [
        "python",
        "/v/torch/_inductor/compile_worker/__main__.py",
        "--workers=2",
        "--parent=7",
    ];
    let outer = ProcessFacts {
        own_pid: Pid(7),
        ..trainer()
    };
    let said = assign(&[outer, process(11, 10, "python", &command)], None);
    assert_eq!(said[1].role, Role::CompilePool);
    assert!(
        said[0].reason.to_string().contains("--parent=7"),
        "{said:?}"
    );
}

#[test]
fn compilers_are_known_by_whatever_name_they_run() {
    for name in [
        "g++",
        "/usr/bin/x86_64-linux-gnu-g++-12",
        "/usr/libexec/gcc/x86_64-linux-gnu/12/cc1plus",
        "as",
        "/usr/lib/collect2",
        "/usr/bin/ld",
        "nvcc",
        "/v/triton/backends/nvidia/bin/ptxas",
        "cicc",
        "clang++-18",
    ] {
        check(
            &[trainer(), process(11, 10, "x", &[name, "-c"])],
            None,
            &[Role::Trainer, Role::Compiler],
        );
    }
    check(
        &[trainer(), process(11, 10, "cc1plus", &[])],
        None,
        &[Role::Trainer, Role::Compiler],
    );
}

#[test]
fn torch_trying_what_it_has_built_is_not_a_second_trainer() {
    let old = "\nimport torch\nfrom ctypes import cdll\ncdll.LoadLibrary(\"/tmp/c/do/cdo.so\")\n";
    let new = "import sys\nif sys.platform != \"linux\":\n    import torch  # noqa\n\
        from ctypes import cdll\ntry:\n    cdll.LoadLibrary(\"/tmp/x.so\")\nexcept OSError:\n    raise";
    let own = "import torch\nfrom ctypes import cdll\ntrain()";
    for (code, role) in [
        (old, Role::Compiler),
        (new, Role::Compiler),
        (own, Role::Trainer),
    ] {
        let child = with_torch(process(11, 10, "python", &["python", "-c", code]));
        check(&[trainer(), child], None, &[Role::Trainer, role]);
    }
}

#[test]
fn a_word_in_an_argument_is_not_a_role() {
    let code = "print('from multiprocessing.forkserver import main; main()')";
    for command in [
        &[
            "python",
            "train.py",
            "--note",
            "from multiprocessing.spawn import spawn_main; x",
        ][..],
        &[
            "python",
            "train.py",
            "torch/_inductor/compile_worker/__main__.py",
        ],
        &["python", "train.py", "--mode", "forkserver", "torchrun"],
        &["python", "-c", code],
        &[
            "python",
            "train.py",
            "-c",
            "from multiprocessing.resource_tracker import main;main(1)",
        ],
    ] {
        let facts = with_torch(process(10, 1, "python", command));
        check(&[facts], None, &[Role::Trainer]);
    }
    let flags = [
        "python",
        "-X",
        "dev",
        "-Wignore",
        "-c",
        "from multiprocessing.resource_tracker import main;main(1)",
    ];
    check(&[process(10, 1, "python", &flags)], None, &[Role::Helper]);
}

#[test]
fn a_young_spawned_child_is_not_called_anything_yet() {
    check(
        &[trainer(), spawned(11, 10)],
        None,
        &[Role::Trainer, Role::Other],
    );
    check(
        &[trainer(), with_torch(spawned(11, 10))],
        None,
        &[Role::Trainer, Role::Other],
    );
    let named = ProcessFacts {
        comm: b"pt_data_worker".to_vec(),
        ..with_torch(spawned(11, 10))
    };
    check(
        &[trainer(), named],
        None,
        &[Role::Trainer, Role::DataloaderWorker],
    );
}

#[test]
fn a_spawned_child_that_trains_makes_its_maker_a_launcher() {
    let waiting = process(10, 1, "python", &["python", "isolate.py"]);
    check(
        &[waiting, with_torch(spawned(11, 10))],
        Some(10),
        &[Role::Launcher, Role::Trainer],
    );
    let busy = ProcessFacts {
        cpu_ticks: 90_000,
        ..with_torch(spawned(11, 10))
    };
    check(&[trainer(), busy], None, &[Role::Launcher, Role::Trainer]);
    let on_gpu = ProcessFacts {
        gpu: Some(facts::GpuDevices(vec!["/dev/nvidia-uvm".into()])),
        ..with_torch(spawned(11, 10))
    };
    check(
        &[trainer(), on_gpu, with_torch(spawned(12, 10))],
        None,
        &[Role::Launcher, Role::Trainer, Role::Trainer],
    );
}

#[test]
fn launchers_are_known_by_name_and_by_what_they_started() {
    let rank = |pid, rank| ProcessFacts {
        environment: facts::environment::parse(format!("RANK={rank}\0").as_bytes()),
        ..with_torch(process(pid, 5, "python", &["python", "-u", "train.py"]))
    };
    for (comm, command) in [
        (
            "accelerate",
            &["/v/bin/python", "/v/bin/accelerate", "launch", "train.py"][..],
        ),
        (
            "python",
            &["python", "-m", "accelerate.commands.launch", "train.py"],
        ),
        ("python", &["python", "/v/bin/deepspeed", "train.py"]),
        ("python", &["python", "-m", "our.launcher"]),
    ] {
        let launcher = with_torch(process(5, 1, comm, command));
        let said = assign(&[launcher, rank(10, 0), rank(11, 1)], None);
        let roles: Vec<_> = said.iter().map(|one| (one.role, one.rank)).collect();
        assert_eq!(
            roles,
            [
                (Role::Launcher, None),
                (Role::Trainer, Some(Rank(0))),
                (Role::Trainer, Some(Rank(1)))
            ]
        );
    }
}

#[test]
fn ancestors_of_a_trainer_are_launchers_below_a_named_root() {
    let server = process(5, 1, "gunicorn", &["gunicorn", "app:app"]);
    let shell = process(6, 5, "sh", &["sh", "-c", "python train.py"]);
    let training = ProcessFacts {
        parent: Pid(6),
        ..trainer()
    };
    let tree = [server, shell, training];
    check(
        &tree,
        Some(5),
        &[Role::Launcher, Role::Launcher, Role::Trainer],
    );
    check(&tree, None, &[Role::Other, Role::Launcher, Role::Trainer]);
}

#[test]
fn without_a_framework_the_named_process_trains_or_the_biggest_below_a_launcher() {
    let plain = process(10, 1, "simulate", &["./simulate"]);
    let child = process(11, 10, "gzip", &["gzip"]);
    check(
        &[plain.clone(), child.clone()],
        Some(10),
        &[Role::Trainer, Role::Other],
    );
    check(std::slice::from_ref(&plain), None, &[Role::Other]);
    let shell = process(10, 1, "bash", &["bash", "train.sh"]);
    let bigger = process(12, 10, "simulate", &["./simulate"]);
    check(
        &[shell.clone(), child, bigger],
        Some(10),
        &[Role::Launcher, Role::Other, Role::Trainer],
    );
    check(&[shell], Some(10), &[Role::Trainer]);
    let torchrun = process(10, 1, "pt_elastic", &["python", "/v/bin/torchrun", "x.py"]);
    check(&[torchrun], Some(10), &[Role::Launcher]);
}

#[test]
fn a_gpu_makes_a_trainer_and_a_window_does_not() {
    let with_gpu = |displays| ProcessFacts {
        gpu: Some(facts::GpuDevices(vec!["/dev/dri/renderD128".into()])),
        libraries: Some(facts::Libraries {
            displays,
            ..Default::default()
        }),
        ..process(10, 1, "app", &["/opt/app"])
    };
    check(&[with_gpu(false)], None, &[Role::Trainer]);
    check(&[with_gpu(true)], None, &[Role::Other]);
}

#[test]
fn unreadable_mappings_are_the_reason() {
    let notes = vec!["maps: Permission denied (os error 13)".to_owned()];
    let closed = ProcessFacts {
        libraries: None,
        notes,
        ..process(10, 1, "python", &["python", "x.py"])
    };
    let said = assign(&[closed], None);
    assert_eq!(said[0].role, Role::Other);
    assert_eq!(
        said[0].reason,
        RoleReason::UnreadableMappings("maps: Permission denied (os error 13)".to_owned())
    );
}

#[test]
fn a_settled_background_worker_is_known_only_once_it_has_settled() {
    let tree = saved_trees()
        .into_iter()
        .find(|tree| tree.ends_with("background-spawn"))
        .unwrap();
    let truth = truth(&tree);
    let mut facts: Vec<_> = truth
        .iter()
        .map(|one| facts::read(&ProcRoot::at(&tree), one.pid).unwrap())
        .collect();
    for facts in &mut facts {
        facts.age = Some(leveloff_model::units::Seconds(3.0));
    }
    for (one, said) in truth.iter().zip(assign(&facts, None)) {
        let expected = if one.role == "compile-worker" {
            "other"
        } else {
            &one.role
        };
        assert_eq!(said.role.name(), expected, "{said:?}");
    }
}

proptest::proptest! {
    #[test]
    fn damaged_trees_rings_included_make_it_neither_panic_nor_hang(
        parents in proptest::collection::vec(0i32..12, 1..12),
        root in 0i32..12,
    ) {
        let processes: Vec<ProcessFacts> = parents.iter().enumerate().map(|(pid, &parent)| {
            let facts = if pid % 3 == 0 { spawned(pid as i32, parent) } else { process(pid as i32, parent, "sh", &["sh", "-c", "x"]) };
            if pid % 2 == 0 { with_torch(facts) } else { facts }
        }).collect();
        proptest::prop_assert_eq!(assign(&processes, Some(Pid(root))).len(), processes.len());
    }
}
