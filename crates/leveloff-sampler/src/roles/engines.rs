//! Engines that generate text beside a training: vLLM and SGLang.
//!
//! Their processes give themselves titles: `VLLM::EngineCore`, `VLLM::Worker_TP0`, `sglang::scheduler_TP1`. The kernel's name has
//! the first 15 bytes of it, `VLLM::EngineCor`. An engine inside the trainer has no process of its own.

use leveloff_model::process::{Role, printable};

use super::python::{PythonTarget, python_target};
use super::reason::RoleReason;
use super::tree::Tree;
use super::{Decision, has_role};
use crate::facts::{ProcessFacts, base_name};

type Roles = [Option<Decision>];

/// What their titles begin with.
const TITLES: [&[u8]; 3] = [b"VLLM::", b"vllm::", b"sglang::"];

/// vLLM lets the user choose what stands before this.
const OWN_PREFIX: &[u8] = b"::EngineCor";

/// Commands that only serve a model: the program or script, and the argument that must follow, if any.
const SERVERS: [(&[u8], &[u8]); 3] = [
    (b"vllm", b"serve"),
    (b"trl", b"vllm-serve"),
    (b"sglang", b"serve"),
];

/// The same, as beginnings of modules.
const SERVER_MODULES: [&[u8]; 3] = [
    b"vllm.entrypoints.",
    b"sglang.launch_server",
    b"trl.scripts.vllm_serve",
];

/// A process that has an engine's title.
pub(super) fn titled(tree: &Tree<'_>, index: usize) -> Option<Decision> {
    let title = title(&tree[index])?;
    // A fork has its parent's title until it sets its own.
    let is_same_fork = |&parent: &usize| {
        tree.is_copy_of(index, parent) && self::title(&tree[parent]) == Some(title)
    };
    let is_same = tree.links.parent(index).filter(is_same_fork).is_some();
    (!is_same).then(|| Decision::new(Role::Engine, RoleReason::Title(printable(title))))
}

/// Where another process trains, a process that only serves a model is an engine. Alone it is what the user watches.
pub(super) fn name_servers(tree: &Tree<'_>, roles: &mut Roles) {
    let (servers, others): (Vec<usize>, Vec<usize>) = tree
        .indices()
        .filter(|&index| has_role(roles, index, Role::Trainer))
        .partition(|&index| server(&tree[index]).is_some());
    if others.is_empty() {
        return;
    }
    for index in servers {
        let reason = server(&tree[index]).map(RoleReason::Program);
        roles[index] = reason.map(|reason| Decision::new(Role::Engine, reason));
    }
}

fn title(facts: &ProcessFacts) -> Option<&[u8]> {
    let titles = facts.command.first().into_iter().chain([&facts.comm]);
    titles.map(Vec::as_slice).find(|title| {
        TITLES.iter().any(|known| title.starts_with(known))
            || memchr::memmem::find(title, OWN_PREFIX).is_some()
    })
}

fn server(facts: &ProcessFacts) -> Option<String> {
    let has = |argument: &[u8]| facts.command.iter().any(|one| one == argument);
    let by_name = |path: &[u8]| {
        SERVERS
            .iter()
            .find(|(name, argument)| base_name(path) == *name && has(argument))
            .map(|(name, argument)| format!("{} {}", printable(name), printable(argument)))
    };
    match python_target(facts) {
        Some(PythonTarget::Script(script)) => by_name(script),
        Some(PythonTarget::Module(module)) => SERVER_MODULES
            .iter()
            .any(|known| module.starts_with(known))
            .then(|| printable(module)),
        Some(PythonTarget::Code(_)) => None,
        None => by_name(facts.program()),
    }
}
