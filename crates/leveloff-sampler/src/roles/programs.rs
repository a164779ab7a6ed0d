//! Programs known by name: compilers, launchers, and wrappers that run a command.

use leveloff_model::process::{Role, printable};

use super::Decision;
use super::python::{PythonTarget, python_target};
use super::reason::RoleReason;
use crate::facts::{ProcessFacts, base_name};

/// Compilers and linkers that torch.compile and Triton start, without prefix and version.
#[rustfmt::skip]
const COMPILERS: [&str; 24] = [
    "g++", "gcc", "c++", "cc", "clang", "clang++", "cc1", "cc1plus", "as", "collect2", "ld",
    "ld.bfd", "ld.gold", "ld.lld", "lto-wrapper", "lto1", "nvcc", "ptxas", "ptxas-blackwell",
    "cicc", "cudafe++", "fatbinary", "nvlink", "hipcc",
];

/// Programs whose children are the ranks of one job.
#[rustfmt::skip]
const LAUNCHERS: [&str; 16] = [
    "torchrun", "accelerate", "accelerate-launch", "deepspeed", "composer", "mpirun", "mpiexec", "mpiexec.hydra", "orterun",
    "prterun", "prun", "srun", "horovodrun", "hydra_pmi_proxy", "orted", "prted",
];

/// The same, as modules: `python -m torch.distributed.run`.
#[rustfmt::skip]
const LAUNCHER_MODULES: [&str; 8] = [
    "torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch",
    "accelerate.commands.accelerate_cli", "deepspeed.launcher.runner",
    "deepspeed.launcher.launch", "horovod.runner.launch", "composer.cli.launcher",
];

/// Programs that run one command given to them.
#[rustfmt::skip]
const WRAPPERS: [&str; 34] = [
    "uv", "uvx", "poetry", "pipenv", "conda", "mamba", "micromamba", "pixi", "hatch", "pdm",
    "rye", "pyenv", "timeout", "env", "nohup", "time", "nice", "ionice", "numactl", "taskset",
    "stdbuf", "setsid", "sudo", "doas", "unbuffer", "script", "xvfb-run", "tini", "dumb-init",
    "catatonit", "make", "chrt", "prlimit", "systemd-run",
];

/// Wrappers that are written in Python: `python /opt/conda/bin/conda run …`.
const PYTHON_WRAPPERS: [&str; 8] = [
    "conda", "mamba", "poetry", "pipenv", "pdm", "hatch", "tox", "nox",
];

const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox"];

/// The first argument of leveloff's restart wrapper, which starts a command and starts it again after a
/// guard's stop. For internal use.
pub const STARTER_ARGUMENT: &str = "--start-and-ask-at";

/// A compiler by its program's name: `x86_64-linux-gnu-g++-12` is `g++`.
pub(super) fn compiler(facts: &ProcessFacts) -> Option<Decision> {
    let name = std::str::from_utf8(facts.program()).ok()?;
    let plain = without_version(name);
    let known = |name: &str| COMPILERS.contains(&name);
    let prefixed = plain
        .rsplit_once("-gnu-")
        .is_some_and(|(_, rest)| known(rest));
    (known(plain) || prefixed).then(|| {
        let reason = RoleReason::Program(printable(name.as_bytes()));
        Decision::new(Role::Compiler, reason)
    })
}

/// A program that starts ranks.
pub(super) fn job_launcher(facts: &ProcessFacts) -> Option<Decision> {
    let reason = if facts.comm == b"pt_elastic" {
        RoleReason::Name("pt_elastic")
    } else {
        RoleReason::Program(launcher_name(facts)?)
    };
    Some(Decision::new(Role::Launcher, reason))
}

/// Whether it runs one command that was given to it: `sh -c`, a script, `uv run`, `timeout`. An
/// interactive shell does not.
pub(crate) fn is_wrapper(facts: &ProcessFacts) -> bool {
    let program = without_version(std::str::from_utf8(facts.program()).unwrap_or_default());
    WRAPPERS.contains(&program)
        || is_restart_wrapper(facts)
        || (SHELLS.contains(&program) && has_command(&facts.command))
        || is_python_wrapper(facts)
}

fn is_restart_wrapper(facts: &ProcessFacts) -> bool {
    facts
        .command
        .get(1)
        .is_some_and(|word| word == STARTER_ARGUMENT.as_bytes())
}

fn is_python_wrapper(facts: &ProcessFacts) -> bool {
    let name = match python_target(facts) {
        Some(PythonTarget::Script(script)) => base_name(script),
        Some(PythonTarget::Module(module)) => module,
        Some(PythonTarget::Code(_)) | None => return false,
    };
    PYTHON_WRAPPERS.iter().any(|known| known.as_bytes() == name)
}

/// Whether a process of this name is a shell.
pub fn is_shell_name(comm: &str) -> bool {
    SHELLS.contains(&comm.trim_start_matches('-'))
}

/// Whether it is a shell, interactive or not.
pub(super) fn is_shell(facts: &ProcessFacts) -> bool {
    let program = std::str::from_utf8(facts.program()).unwrap_or_default();
    SHELLS.contains(&program.trim_start_matches('-'))
}

fn has_command(arguments: &[Vec<u8>]) -> bool {
    let is_command = |argument: &Vec<u8>| argument == b"-c" || !argument.starts_with(b"-");
    arguments.iter().skip(1).any(is_command)
}

/// The launcher that a process is: the program itself, the script that Python runs, or a module.
fn launcher_name(facts: &ProcessFacts) -> Option<String> {
    let known = |path: &[u8]| {
        LAUNCHERS
            .iter()
            .any(|name| name.as_bytes() == base_name(path))
    };
    if facts.comm == b"accelerate" || known(facts.program()) {
        return Some(printable(facts.program()));
    }
    match python_target(facts)? {
        PythonTarget::Module(module) => {
            let module = printable(module);
            LAUNCHER_MODULES
                .contains(&module.as_str())
                .then_some(module)
        }
        PythonTarget::Script(script) => known(script).then(|| printable(base_name(script))),
        PythonTarget::Code(_) => None,
    }
}

/// `g++-12` without its `-12`.
fn without_version(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((plain, version)) if version.chars().all(|c| c.is_ascii_digit() || c == '.') => plain,
        _ => name,
    }
}
