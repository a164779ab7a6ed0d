//! Inputs that know every process.

use super::*;
use leveloff_model::training_counters::TrainingCounter;

#[test]
fn a_recording_tells_everything_and_what_was_stated() {
    let input = fixture("recordings/v1.jsonl");
    assert_eq!(
        (input.format, input.unit),
        ("leveloff recording", XUnit::Step)
    );
    assert_eq!(input.stated.level_by, Some(Step(90)));
    let first = &input.observations[0];
    assert_eq!((first.count, first.t), (Some(0.0), Some(Seconds(0.0))));
    assert_eq!(first.processes[0].role, Role::Trainer);
    let shares: Bytes = first.processes.iter().map(|share| share.memory).sum();
    assert_eq!(shares, first.memory);
    assert!(input.observations.iter().any(|o| !o.marks.is_empty()));
}

/// A run of one trainer and one worker, as `leveloff export` writes it.
pub const PROCESSES: &str = "\
t_s,step,pid,ppid,role,comm,rss_bytes,anon_bytes,file_bytes,shmem_bytes,swap_bytes,pss_bytes,\
pss_anon_bytes,pss_file_bytes,pss_shmem_bytes,private_bytes,threads,fds,minor_faults,major_faults,\
cpu_ms,tensors,tensor_bytes,devshm_bytes,available_bytes
0.000,,10,1,trainer,python,900,500,400,0,0,600,300,300,0,100,1,3,0,0,0,,,4096,10000
1.000,5,10,1,trainer,python,900,500,400,0,0,600,310,290,0,100,1,3,0,0,0,25,800,4096,10000
1.000,5,11,10,dataloader-worker,pt_data_worker,800,450,300,50,7,200,150,40,20,10,1,9,0,0,0,,,4096,10000
2.000,9,10,1,trainer,python,900,520,380,0,0,,,,,,1,3,0,0,0,25,800,8192,9000
2.000,9,11,10,dataloader-worker,pt_data_worker,800,450,300,50,7,200,155,40,20,10,1,9,0,0,0,,,8192,9000
3.000,9,11,10,dataloader-worker,pt_data_worker,800,450,300,50,7,200,155,40,20,10,1,9,0,0,0,,,8192,9000
";

#[test]
fn rows_of_processes_become_moments() {
    let input = read(PROCESSES);
    assert_eq!((input.format, input.unit), ("process table", XUnit::Step));
    assert_eq!(input.times(), [0.0, 1.0, 2.0]);
    assert_eq!(input.observations[0].count, None);
    // PSS where it was read; carried by what was mapped since where it was not.
    assert_eq!(input.memory(), [300, 310 + 177, 330 + 182]);
    let second = &input.observations[1];
    assert_eq!(
        (second.count, second.counters.get(TrainingCounter::Tensors)),
        (Some(5.0), Some(25))
    );
    assert_eq!(second.rss_sum, Some(Bytes(1700)));
    assert_eq!(second.devshm, Some(Bytes(4096)));
    assert_eq!(
        second.ceiling.map(|ceiling| ceiling.headroom()),
        Some(Bytes(10_000))
    );
    let worker = &second.processes[1];
    assert_eq!((worker.role, worker.fds), (Role::DataloaderWorker, Some(9)));
    assert_eq!(
        (worker.memory, worker.shared, worker.swapped),
        (Bytes(177), Bytes(20), Bytes(7))
    );
    assert_eq!(worker.index, input.observations[2].processes[1].index);
    assert!(input.is_noted("trainers had exited"), "{:?}", input.notes);
}

#[test]
fn rows_of_processes_with_times_of_their_own_are_put_together() {
    let input = read("ts,pid,rss_mb\n0.0,7,5\n0.1,8,6\n1.0,7,5\n1.1,8,7\n");
    assert_eq!(input.memory(), [11_000_000, 12_000_000]);
    assert_eq!(input.times(), [0.0, 1.0]);
    assert!(input.is_noted("only RSS"), "{:?}", input.notes);
}

#[test]
fn other_exports_of_leveloff_are_read_back() {
    let tree = read(
        "t_s,step,epoch,phase,processes,memory_bytes,rss_bytes,pss_bytes,overcount_bytes,\
         tensors,cuda_bytes,devshm_bytes,cgroup_limit_bytes,ceiling_bytes,ceiling_used_bytes,\
         own_rss_bytes\n\
         1.000,10,0.5,eval,2,500,900,600,300,25,77,88,4000,4000,1000,1\n",
    );
    let only = &tree.observations[0];
    assert_eq!((only.memory, only.rss_sum), (Bytes(500), Some(Bytes(900))));
    assert_eq!(
        (only.epoch, only.counters.get(TrainingCounter::Tensors)),
        (Some(0.5), Some(25))
    );
    assert_eq!(only.ceiling.map(|ceiling| ceiling.limit), Some(Bytes(4000)));
    assert_eq!(only.phase, Some(leveloff_model::progress::Phase::Eval));
    let roles = read(
        "t_s,step,role,processes,memory_bytes,rss_bytes,pss_bytes,cpu_ms\n\
         1.000,1,trainer,1,500,900,,5\n1.000,1,helper,2,20,90,,5\n\
         2.000,2,trainer,1,510,900,,5\n2.000,2,helper,2,20,90,,5\n",
    );
    assert_eq!(roles.memory(), [520, 530]);
    assert_eq!(roles.observations[0].rss_sum, Some(Bytes(990)));
}
