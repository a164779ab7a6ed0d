//! Processes of vLLM and SGLang, and what starts trainings beside them.

use super::*;

fn titled(pid: i32, parent: i32, title: &str) -> ProcessFacts {
    let name = &title[..title.len().min(15)];
    with_torch(process(pid, parent, name, &[title]))
}

#[test]
fn engines_beside_a_trainer_are_known_by_their_titles() {
    let titles = [
        "VLLM::EngineCore",
        "VLLM::EngineCore_DP0",
        "VLLM::Worker_TP0",
        "VLLM::Worker_PP0_TP1",
        "mine::EngineCore",
        "sglang::scheduler_TP0",
        "sglang::detokenizer",
    ];
    for title in titles {
        let tree = [trainer(), titled(11, 10, title)];
        check(&tree, Some(10), &[Role::Trainer, Role::Engine]);
    }
    // prctl sets the name alone, which the kernel cuts.
    let named = ProcessFacts {
        comm: b"VLLM::EngineCor".to_vec(),
        ..with_torch(spawned(11, 10))
    };
    check(
        &[trainer(), named],
        Some(10),
        &[Role::Trainer, Role::Engine],
    );
}

#[test]
fn ranks_that_an_engine_forks_are_engines_and_its_compile_workers_are_not() {
    let core = titled(11, 10, "VLLM::EngineCore");
    let fork = |pid, title| ProcessFacts {
        stack_start: core.stack_start,
        signals: core.signals,
        ..titled(pid, 11, title)
    };
    let rank = fork(12, "VLLM::Worker_TP0");
    let young = fork(13, "VLLM::EngineCore");
    let tree = [trainer(), core.clone(), rank, young];
    #[rustfmt::skip]
    check(&tree, Some(10), &[Role::Trainer, Role::Engine, Role::Engine, Role::Other]);
}

#[test]
fn a_server_is_an_engine_only_where_another_process_trains() {
    let shell = || process(5, 1, "bash", &["bash", "grpo.sh"]);
    let serve = |command: &[&str]| with_torch(process(11, 5, "python", command));
    let commands: [&[&str]; 4] = [
        &["python", "/v/bin/trl", "vllm-serve", "--model", "m"],
        &["/v/bin/vllm", "serve", "m"],
        &["python", "-m", "vllm.entrypoints.openai.api_server"],
        &["python", "-m", "sglang.launch_server"],
    ];
    for command in commands {
        let train = with_torch(process(12, 5, "python", &["python", "grpo.py"]));
        let both = [shell(), serve(command), train];
        check(
            &both,
            Some(5),
            &[Role::Launcher, Role::Engine, Role::Trainer],
        );
        let alone = [shell(), serve(command)];
        check(&alone, Some(5), &[Role::Launcher, Role::Trainer]);
    }
}

#[test]
fn launchers_of_today_are_launchers() {
    let rank = |number| ProcessFacts {
        environment: facts::environment::parse(format!("RANK={number}\0").as_bytes()),
        ..with_torch(process(
            10 + number,
            5,
            "python",
            &["python", "-u", "train.py"],
        ))
    };
    let starters: [(&str, &[&str]); 6] = [
        (
            "python",
            &[
                "python",
                "-u",
                "-m",
                "deepspeed.launcher.launch",
                "--world_info=e30=",
            ],
        ),
        (
            "deepspeed",
            &["/v/bin/python", "/v/bin/deepspeed", "train.py"],
        ),
        (
            "accelerate-laun",
            &["python", "/v/bin/accelerate-launch", "train.py"],
        ),
        (
            "accelerate",
            &["python", "/v/bin/accelerate", "launch", "train.py"],
        ),
        ("pt_elastic", &["python", "/v/bin/torchrun", "train.py"]),
        ("composer", &["python", "/v/bin/composer", "train.py"]),
    ];
    for (name, command) in starters {
        let tree = [with_torch(process(5, 1, name, command)), rank(0), rank(1)];
        check(
            &tree,
            Some(5),
            &[Role::Launcher, Role::Trainer, Role::Trainer],
        );
    }
}

#[test]
fn spawned_workers_are_named_at_once_after_the_first_ones() {
    let young = spawned(12, 10);
    let roles = |previous| {
        let said = reassign(&[trainer(), young.clone()], Some(Pid(10)), previous);
        (said[1].role, said[1].reason.is_undecided())
    };
    assert_eq!(roles(PreviousRoles::default()), (Role::Other, true));
    let earlier = PreviousRoles {
        spawned: BTreeMap::from([(Pid(10), Role::DataloaderWorker)]),
        ..PreviousRoles::default()
    };
    // It is examined until it shows the role itself.
    assert_eq!(roles(earlier), (Role::DataloaderWorker, true));
}
