//! Launchers of ranks that are known by no name.

use super::*;

/// The session of a job.
const JOB: Pid = Pid(5);

fn rank(pid: i32, rank: u32) -> ProcessFacts {
    ProcessFacts {
        environment: facts::environment::parse(format!("RANK={rank}\0").as_bytes()),
        session: JOB,
        ..with_torch(process(pid, 5, "train", &["train", "--ranks", "2"]))
    }
}

fn starter(comm: &str, command: &[&str]) -> ProcessFacts {
    ProcessFacts {
        session: JOB,
        ..process(5, 4, comm, command)
    }
}

const RANKS: [Role; 2] = [Role::Trainer; 2];

/// Asserts what the starter of two ranks is, found by itself and named.
fn check_starter(starter: ProcessFacts, ranks: [ProcessFacts; 2], role: Role) {
    let [first, second] = ranks;
    let tree = [starter, first, second];
    check(&tree, None, &[role, RANKS[0], RANKS[1]]);
}

#[test]
fn a_program_that_starts_itself_as_every_rank_only_launches_them() {
    let same = starter("train", &["train", "--ranks", "2"]);
    let ranks = || [rank(10, 0), rank(11, 1)];
    // Large enough to be looked into, or not.
    check_starter(with_torch(same.clone()), ranks(), Role::Launcher);
    check_starter(same.clone(), ranks(), Role::Launcher);
    let tree = [with_torch(same), rank(10, 0), rank(11, 1)];
    let said = assign(&tree, Some(Pid(5)));
    let parts: Vec<_> = said.iter().map(|one| (one.role, one.rank)).collect();
    let of = |n| (Role::Trainer, Some(Rank(n)));
    assert_eq!(parts, [(Role::Launcher, None), of(0), of(1)]);
}

#[test]
fn a_program_that_is_rank_0_itself_trains() {
    let first = with_torch(starter("train", &["train", "--ranks", "2"]));
    check_starter(first, [rank(10, 1), rank(11, 2)], Role::Trainer);
}

#[test]
fn a_login_shell_and_a_reaper_are_no_launchers() {
    let ranks = || [rank(10, 0), rank(11, 1)];
    check_starter(starter("bash", &["-bash"]), ranks(), Role::Other);
    let script = starter("bash", &["bash", "two_ranks.sh"]);
    check_starter(script, ranks(), Role::Launcher);
    let manager = ProcessFacts {
        session: Pid(3),
        ..starter("systemd", &["/lib/systemd/systemd", "--user"])
    };
    check_starter(manager, ranks(), Role::Other);
    // One process with a rank may have it from anywhere.
    let service = starter("service", &["service"]);
    check(&[service, rank(10, 0)], None, &[Role::Other, Role::Trainer]);
}
