//! Ray: servers, actors, trainers, and the program that uses them.

use super::*;

const SESSION: &str = "session_2026-11-18_14-16-22_767891_20526";

fn of_session(facts: ProcessFacts) -> ProcessFacts {
    ProcessFacts {
        ray_session: Some(SESSION.to_owned()),
        ..facts
    }
}

/// A worker as its title shows it. The kernel cuts the name, and `setproctitle` leaves no environment.
fn worker(pid: i32, title: &str) -> ProcessFacts {
    let name = &title[..title.len().min(15)];
    of_session(ProcessFacts {
        environment: None,
        ..process(pid, 20, name, &[title])
    })
}

fn raylet() -> ProcessFacts {
    let socket = format!("--raylet_socket_name=/tmp/ray/{SESSION}/sockets/raylet");
    of_session(process(
        20,
        10,
        "raylet",
        &["/v/ray/core/src/ray/raylet/raylet", &socket],
    ))
}

fn server(pid: i32, script: &str) -> ProcessFacts {
    let logs = format!("--logs-dir=/tmp/ray/{SESSION}/logs");
    let script = format!("/v/site-packages/ray/{script}");
    of_session(process(
        pid,
        10,
        "python",
        &["/v/bin/python", "-u", &script, &logs],
    ))
}

fn driver() -> ProcessFacts {
    of_session(process(10, 1, "python", &["python", "job.py"]))
}

#[test]
fn actors_and_servers_are_told_from_the_program() {
    let tree = [
        driver(),
        raylet(),
        of_session(process(11, 10, "gcs_server", &["/v/ray/gcs/gcs_server"])),
        server(12, "autoscaler/_private/monitor.py"),
        server(13, "dashboard/dashboard.py"),
        server(14, "_private/workers/default_worker.py"),
        worker(21, "ray::DashboardAgent"),
        worker(22, "ray::RuntimeEnvAgent"),
        worker(23, "ray::IDLE"),
        worker(24, "ray::Cache.add"),
    ];
    let helper = Role::Helper;
    #[rustfmt::skip]
    let expected = [
        Role::Trainer, helper, helper, helper, helper, Role::Actor, helper, helper, Role::Actor, Role::Actor,
    ];
    check(&tree, Some(10), &expected);
    let said = assign(&tree, Some(Pid(10)));
    assert_eq!(said[9].reason.to_string(), "is titled ray::Cache");
}

#[test]
fn the_program_of_ray_train_only_launches() {
    let trainers = || {
        [
            with_torch(worker(21, "ray::RayTrainWorker.execute")),
            with_torch(worker(22, "ray::_RayTrainWorker__execute.get_next")),
        ]
    };
    let expected = [Role::Launcher, Role::Helper, Role::Trainer, Role::Trainer];
    let [first, second] = trainers();
    check(
        &[with_torch(driver()), raylet(), first, second],
        Some(10),
        &expected,
    );
    // A cluster that was there before.
    let [first, second] = trainers();
    let raylet = ProcessFacts {
        parent: Pid(1),
        ..raylet()
    };
    check(&[driver(), raylet, first, second], Some(10), &expected);
}

#[test]
fn names_that_the_kernel_cut_are_enough() {
    let cut = |name: &str| of_session(process(21, 20, name, &["python", "x.py"]));
    let tree = [driver(), raylet(), with_torch(cut("ray::RayTrainWo"))];
    check(
        &tree,
        Some(10),
        &[Role::Launcher, Role::Helper, Role::Trainer],
    );
    let tree = [driver(), raylet(), cut("ray::RuntimeEnv")];
    check(
        &tree,
        Some(10),
        &[Role::Trainer, Role::Helper, Role::Helper],
    );
}

#[test]
fn loader_workers_of_a_trainer_have_its_title_and_are_no_trainers() {
    let trainer = with_torch(worker(21, "ray::RayTrainWorker"));
    let loader = ProcessFacts {
        parent: Pid(21),
        stack_start: trainer.stack_start,
        comm: b"pt_data_worker".to_vec(),
        ..with_torch(worker(22, "ray::RayTrainWorker"))
    };
    let young = ProcessFacts {
        comm: b"ray::RayTrainWo".to_vec(),
        key: leveloff_model::process::ProcessKey {
            pid: Pid(23),
            ..loader.key
        },
        ..loader.clone()
    };
    let tree = [driver(), raylet(), trainer, loader, young];
    #[rustfmt::skip]
    let expected = [Role::Launcher, Role::Helper, Role::Trainer, Role::DataloaderWorker, Role::Other];
    check(&tree, Some(10), &expected);
}

#[test]
fn an_actor_that_loads_batches_trains() {
    let actor = with_torch(worker(21, "ray::MyTrainer.fit"));
    let loader = ProcessFacts {
        parent: Pid(21),
        stack_start: actor.stack_start,
        comm: b"pt_data_worker".to_vec(),
        ..with_torch(worker(22, "ray::MyTrainer"))
    };
    let tree = [driver(), raylet(), actor, loader];
    #[rustfmt::skip]
    let expected = [Role::Launcher, Role::Helper, Role::Trainer, Role::DataloaderWorker];
    check(&tree, Some(10), &expected);
}
