//! Roles that a command line or a name shows. Whole phrases are matched: a bare "forkserver" may be an
//! argument of any program.

use leveloff_model::process::{Pid, Role};

use super::Decision;
use super::python::{PythonTarget, is_fork_server, python_code, python_target};
use super::reason::RoleReason;
use super::tree::Tree;
use crate::facts::ProcessFacts;
use crate::kernel::keyed::leading_number;

/// The script of torch's compile workers, pool parent included (2.4 and later).
const COMPILE_SCRIPT: &[u8] = b"torch/_inductor/compile_worker/__main__.py";
/// The script of torch's autotuning subprocess.
const AUTOTUNE_SCRIPT: &[u8] = b"torch/_inductor/__autotune_main__.py";
/// The code with which torch tests a library in a separate Python: three lines up to 2.8, and these among
/// others in 2.15.
const PROBE_LINES: [&[u8]; 3] = [
    b"import torch",
    b"from ctypes import cdll",
    b"cdll.LoadLibrary(\"",
];
/// Options that a program that replaces the script gets, too.
const COMPILE_OPTIONS: [&[u8]; 3] = [b"--pickler=", b"--workers=", b"--parent="];
/// A title that compile workers carry in some installations.
const COMPILE_TITLE: &[u8] = b"torch compile_worker";
/// Names that workers give themselves. torch 2.5 and later names dataloader workers.
const NAMED_WORKERS: &[(&str, Role)] = &[("pt_data_worker", Role::DataloaderWorker)];

/// Whether it is leveloff or its output relay, which are never part of a run.
pub(crate) fn is_leveloff(facts: &ProcessFacts) -> bool {
    matches!(&facts.comm[..], b"leveloff" | b"output-relay")
}

/// The trainer that a compile process names in `--parent=`, by the trainer's pid in its own namespace.
pub(crate) fn named_parent(facts: &ProcessFacts) -> Option<Pid> {
    if !is_compile_command(facts) {
        return None;
    }
    let value = facts
        .command
        .iter()
        .find_map(|argument| argument.strip_prefix(b"--parent="))?;
    let (number, _) = leading_number(value)?;
    i32::try_from(number).ok().map(Pid)
}

/// Compile pool, compile worker or autotuner, by command line or title.
pub(super) fn compile_process(tree: &Tree<'_>, index: usize) -> Option<Decision> {
    let facts = &tree[index];
    if has_script(facts, AUTOTUNE_SCRIPT) {
        let reason = RoleReason::AutotuneScript;
        return Some(Decision::new(Role::CompileWorker, reason));
    }
    if !is_compile(facts) {
        return None;
    }
    let parent = tree.links.parent(index);
    if let Some(parent) = parent.filter(|&parent| is_compile(&tree[parent])) {
        let reason = RoleReason::ForkedByCompilePool(tree[parent].pid());
        return Some(Decision::new(Role::CompileWorker, reason));
    }
    let owner = named_parent(facts);
    let has_workers = tree
        .links
        .children(index)
        .iter()
        .any(|&child| is_compile(&tree[child]));
    let is_child_of_owner = parent.is_some_and(|parent| Some(tree[parent].own_pid) == owner);
    if has_workers || is_child_of_owner {
        let reason = RoleReason::CompileScript(owner);
        return Some(Decision::new(Role::CompilePool, reason));
    }
    let reason = owner.map_or(
        RoleReason::CompileTitle,
        RoleReason::CompileScriptWithoutPool,
    );
    Some(Decision::new(Role::CompileWorker, reason))
}

/// A short-lived Python that torch.compile starts to test whether this CPU can run what it built. It
/// imports torch, so it looks like a trainer for a few seconds.
pub(super) fn compile_probe(facts: &ProcessFacts) -> Option<Decision> {
    let code = python_code(facts)?;
    let has_line = |start: &[u8]| {
        code.split(|&b| b == b'\n')
            .any(|line| line.trim_ascii().starts_with(start))
    };
    PROBE_LINES
        .iter()
        .all(|line| has_line(line))
        .then(|| Decision::new(Role::Compiler, RoleReason::CompileProbe))
}

/// A worker that has named itself.
pub(super) fn named_worker(facts: &ProcessFacts) -> Option<Decision> {
    let (name, role) = NAMED_WORKERS
        .iter()
        .find(|(name, _)| facts.comm == name.as_bytes())?;
    Some(Decision::new(*role, RoleReason::Name(name)))
}

/// Resource tracker, fork server, shared-memory manager.
pub(super) fn helper(facts: &ProcessFacts) -> Option<Decision> {
    let reason = if is_fork_server(facts) {
        RoleReason::ForkServer
    } else if python_code(facts).is_some_and(is_tracker) {
        RoleReason::ResourceTracker
    } else if facts.comm.starts_with(b"torch_shm_manag") || facts.program() == b"torch_shm_manager"
    {
        RoleReason::SharedMemoryManager
    } else {
        return None;
    };
    Some(Decision::new(Role::Helper, reason))
}

fn is_tracker(code: &[u8]) -> bool {
    // multiprocessing's own, its name until Python 3.7, and the copy in loky.
    let trackers: [&[u8]; 2] = [
        b".resource_tracker import main",
        b".semaphore_tracker import main",
    ];
    code.starts_with(b"from ")
        && trackers.iter().any(|name| {
            let line = code.split(|&b| b == b';').next().unwrap_or_default();
            line.ends_with(name)
        })
}

fn is_compile(facts: &ProcessFacts) -> bool {
    is_compile_command(facts) || is_compile_title(facts)
}

fn is_compile_command(facts: &ProcessFacts) -> bool {
    let has_option = |option: &&[u8]| {
        facts
            .command
            .iter()
            .any(|argument| argument.starts_with(option))
    };
    has_script(facts, COMPILE_SCRIPT) || COMPILE_OPTIONS.iter().all(has_option)
}

fn is_compile_title(facts: &ProcessFacts) -> bool {
    facts
        .command
        .first()
        .is_some_and(|title| title.starts_with(COMPILE_TITLE))
}

fn has_script(facts: &ProcessFacts, script: &[u8]) -> bool {
    matches!(python_target(facts), Some(PythonTarget::Script(path)) if path.ends_with(script))
}
