//! Why a process has its role, as values. Only [`RoleReason`]'s `Display` puts them into words.

use std::fmt;

use leveloff_model::process::Pid;

/// The evidence for a process's role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleReason {
    /// It is leveloff.
    Leveloff,
    /// It runs torch's autotuning script.
    AutotuneScript,
    /// It runs torch's compile script; `--parent=` may name its trainer.
    CompileScript(Option<Pid>),
    /// It runs torch's compile script, and the pool that forked it has exited.
    CompileScriptWithoutPool(Pid),
    /// Its title is that of a compile worker.
    CompileTitle,
    /// A compile pool forked it.
    ForkedByCompilePool(Pid),
    /// A compile pool created it through multiprocessing.
    CreatedByCompilePool(Creation, Pid),
    /// It tests whether this CPU can run what torch.compile built.
    CompileProbe,
    /// It is multiprocessing's fork server.
    ForkServer,
    /// It is multiprocessing's resource tracker.
    ResourceTracker,
    /// It is torch's shared-memory manager.
    SharedMemoryManager,
    /// It runs this program.
    Program(String),
    /// It has this name, which it gives itself.
    Name(&'static str),
    /// It has this title, which it gives itself.
    Title(String),
    /// multiprocessing created it, or it is a fork of its parent, and its own setup shows its role.
    Created {
        /// How it was created.
        how: Creation,
        /// The process that created it.
        by: Pid,
        /// What its own setup shows.
        sign: ChildSign,
    },
    /// multiprocessing created it, and its parent has exited. Its role is still open.
    Orphan,
    /// Its executable contains this framework.
    FrameworkInside(String),
    /// It maps this library, and is not a forked copy of another process.
    Framework(String),
    /// It has this GPU device open, and draws no windows.
    ComputeDevice(String),
    /// It owns workers.
    Workers(OwnedWorkers),
    /// It has another reason, and owns workers as well.
    AlsoWorkers(Box<RoleReason>, OwnedWorkers),
    /// It started this many trainers, this one first, and shows no training of its own.
    StartedTrainers(usize, Pid),
    /// It gave ranks to this many trainers, this one first.
    AssignedRanks(usize, Pid),
    /// It started this trainer.
    StartedTrainer(Pid),
    /// It works while this process, which created it, waits.
    WorksForCreator(Pid),
    /// It was created like this trainer, its sibling.
    LikeSibling(Pid),
    /// No process maps a framework, and it is the largest below the root.
    Largest,
    /// It only runs a command that it was given.
    RunsCommand,
    /// No process maps a framework, and it is the process that the user named.
    Root,
    /// It maps no framework.
    NoFramework,
    /// It maps no framework, and may still turn out to be the trainer.
    NoFrameworkYet,
    /// Its mappings could not be read.
    UnreadableMappings(String),
    /// It is a zombie.
    Zombie,
}

/// How a child process was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// By `fork`.
    Forked,
    /// By a fork of multiprocessing's fork server.
    ForkedByServer,
    /// By multiprocessing's spawn.
    Spawned,
}

/// What the setup of a child process shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChildSign {
    /// It handles the signals that torch's dataloader workers handle.
    LoaderSignals,
    /// It ignores SIGINT, as torch's compile workers do.
    IgnoresInterrupt,
    /// It was started with `TORCH_WARM_POOL=0`.
    NoWarmPool,
    /// It is idle and has a watchdog thread.
    IdleWithWatchdog,
    /// It trains.
    Training(TrainingSign),
    /// It maps this library, and its creator maps no framework.
    OwnFramework(String),
    /// Nothing yet, but other children of the same process had this role.
    LikeEarlier,
    /// Nothing yet.
    None,
}

/// What only a training process has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrainingSign {
    /// A thread with this name.
    Thread(String),
    /// This GPU device, open.
    Device(String),
}

/// The workers that a process owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnedWorkers {
    /// A compile pool that names its owner by this pid.
    CompilePool(Pid),
    /// This many compile workers.
    Compilers(usize),
    /// This many dataloader workers.
    Loaders(usize),
}

impl RoleReason {
    /// Whether the process may still show another role: a training process created it, or no process in
    /// its tree maps a framework.
    pub fn is_undecided(&self) -> bool {
        match self {
            RoleReason::Orphan | RoleReason::NoFrameworkYet => true,
            RoleReason::Created { sign, .. } => {
                matches!(sign, ChildSign::None | ChildSign::LikeEarlier)
            }
            _ => false,
        }
    }
}

impl fmt::Display for RoleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SCRIPT: &str = "runs torch's compile_worker script";
        match self {
            RoleReason::Leveloff => write!(f, "leveloff itself"),
            RoleReason::AutotuneScript => write!(f, "runs torch's autotuning script"),
            RoleReason::CompileScript(None) => write!(f, "{SCRIPT}"),
            RoleReason::CompileScript(Some(owner)) => write!(f, "{SCRIPT} (--parent={owner})"),
            RoleReason::CompileScriptWithoutPool(owner) => {
                write!(f, "{SCRIPT}, its pool has exited (--parent={owner})")
            }
            RoleReason::CompileTitle => write!(f, "is titled 'torch compile_worker'"),
            RoleReason::ForkedByCompilePool(pool) => write!(f, "forked by the compile pool {pool}"),
            RoleReason::CreatedByCompilePool(how, pool) => {
                write!(f, "{how} by the compile pool {pool}")
            }
            RoleReason::CompileProbe => write!(f, "tests what torch.compile has built"),
            RoleReason::ForkServer => write!(f, "is multiprocessing's fork server"),
            RoleReason::ResourceTracker => write!(f, "is multiprocessing's resource tracker"),
            RoleReason::SharedMemoryManager => write!(f, "is torch's shared-memory manager"),
            RoleReason::Program(name) => write!(f, "runs {name}"),
            RoleReason::Name(name) => write!(f, "is named {name}"),
            RoleReason::Title(title) => write!(f, "is titled {title}"),
            RoleReason::Created { how, by, sign } => write!(f, "{how} by {by}, {sign}"),
            RoleReason::Orphan => write!(
                f,
                "created by multiprocessing, its parent has exited, {}",
                ChildSign::None
            ),
            RoleReason::FrameworkInside(evidence) => write!(f, "has {evidence}"),
            RoleReason::Framework(library) => {
                write!(f, "maps {library}, is not a forked copy of another process")
            }
            RoleReason::ComputeDevice(device) => {
                write!(f, "has {device} open and draws no windows")
            }
            RoleReason::Workers(workers) => write!(f, "{workers}"),
            RoleReason::AlsoWorkers(reason, workers) => write!(f, "{reason}, {workers}"),
            RoleReason::StartedTrainers(count, first) => write!(
                f,
                "started {count} of the trainers ({first} first), shows no training of its own"
            ),
            RoleReason::AssignedRanks(count, first) => {
                write!(f, "gave {count} trainers their ranks ({first} first)")
            }
            RoleReason::StartedTrainer(trainer) => write!(f, "started the trainer {trainer}"),
            RoleReason::WorksForCreator(creator) => write!(
                f,
                "created by {creator}, works while that process waits, shows no sign of a worker"
            ),
            RoleReason::LikeSibling(sibling) => {
                write!(f, "created like its sibling {sibling}, which trains")
            }
            RoleReason::Largest => write!(
                f,
                "maps no framework; is the largest below the process that was named"
            ),
            RoleReason::RunsCommand => write!(f, "runs a command given to it"),
            RoleReason::Root => write!(f, "maps no framework; is the process that was named"),
            RoleReason::NoFramework => write!(f, "maps no framework"),
            RoleReason::NoFrameworkYet => write!(f, "maps no framework, {}", ChildSign::None),
            RoleReason::UnreadableMappings(note) => {
                write!(f, "its mappings could not be read ({note})")
            }
            RoleReason::Zombie => write!(f, "is a zombie: its parent has not collected it yet"),
        }
    }
}

impl fmt::Display for Creation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Creation::Forked => "forked",
            Creation::ForkedByServer => "forked by a fork server",
            Creation::Spawned => "spawned",
        })
    }
}

impl fmt::Display for ChildSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChildSign::LoaderSignals => {
                write!(f, "handles signals as torch's dataloader workers do")
            }
            ChildSign::IgnoresInterrupt => {
                write!(f, "ignores Ctrl-C as torch's compile workers do")
            }
            ChildSign::NoWarmPool => write!(
                f,
                "was started with TORCH_WARM_POOL=0, as torch's compile workers are"
            ),
            ChildSign::IdleWithWatchdog => write!(
                f,
                "is idle with a watchdog thread, as torch's compile workers are"
            ),
            ChildSign::Training(TrainingSign::Thread(name)) => write!(f, "has a thread {name}"),
            ChildSign::Training(TrainingSign::Device(device)) => write!(f, "has {device} open"),
            ChildSign::OwnFramework(library) => {
                write!(f, "which maps no framework, and maps {library} itself")
            }
            ChildSign::LikeEarlier => {
                write!(f, "like the others that it spawned; not yet confirmed")
            }
            ChildSign::None => write!(f, "role not yet known"),
        }
    }
}

impl fmt::Display for OwnedWorkers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OwnedWorkers::CompilePool(pid) => write!(f, "owns the compile pool (--parent={pid})"),
            OwnedWorkers::Compilers(count) => write!(f, "owns {count} compile workers"),
            OwnedWorkers::Loaders(count) => write!(f, "owns {count} dataloader workers"),
        }
    }
}
