"""The training runs that are tested: every way in which torch starts processes."""

from dataclasses import dataclass, field


@dataclass
class Case:
    """One training run. `ready` processes say that they are, before anything is compared."""

    name: str
    arguments: list
    environment: dict = field(default_factory=dict)
    launcher: list = field(default_factory=list)
    ready: int = 1
    roles: dict = field(default_factory=dict)  # What must be there, so that no case tests nothing.
    steady: bool = True  # The same processes all the time, so that a single look can be compared.
    watch_start: bool = False  # Also ask from its first moment on: roles may be unknown then, never wrong.
    settle_s: int = 0  # Some signs count only in a process that has lived for a while; steps need time to be printed.
    killed: bool = False  # Ended by SIGKILL, so that its workers are orphans for a while.
    under_run: str = ""  # Started by `leveloff run` on "pipes" or a "terminal", instead of recorded.
    steps: str = ""  # How it prints its steps: "print" or a "bar".
    fresh_cache: bool = False  # Nothing is compiled yet, so that compilers run.
    memory: bool = False  # Compare the recorded total with a sum of our own.
    overcount: float = 0  # How many times the recorded total the sum of RSS has to be, at least.


def compilers(threads, **more):
    return {"TORCHINDUCTOR_COMPILE_THREADS": str(threads), **more}


FORK = {"TORCHINDUCTOR_WORKER_START": "fork"}
SPAWN = {"TORCHINDUCTOR_WORKER_START": "spawn"}
TORCHRUN = ["{bin}/torchrun", "--nproc-per-node=2", "--master-port=29541"]
MODULE_RUN = ["{bin}/python", "-m", "torch.distributed.run", "--nproc-per-node=1", "--master-port=29542"]
# A run in the background of a script: the shell makes it ignore Ctrl-C, and so do its children.
BACKGROUND = ["/bin/sh", "-c", "trap '' INT; \"$@\"; exit", "sh", "{bin}/python"]

CASES = [
    Case("plain", ["--note", "forkserver, spawn_main and compile_worker are only words here"], roles={"trainer": 1}),
    Case("compile", ["--compile"], compilers(4), fresh_cache=True, roles={"compile-pool": 1, "compile-worker": 4}),
    Case("compile-20", ["--compile"], compilers(20), memory=True, overcount=2,
         roles={"compile-pool": 1, "compile-worker": 20}),
    Case("compile-fork", ["--compile"], compilers(3, **FORK), roles={"compile-worker": 3}),
    Case("compile-spawn", ["--compile"], compilers(3, **SPAWN), roles={"compile-worker": 3}),
    Case("loader-fork", ["--loader=fork"], memory=True, roles={"dataloader-worker": 4}),
    Case("loader-spawn", ["--loader=spawn"], roles={"dataloader-worker": 4, "helper": 1}),
    Case("loader-forkserver", ["--loader=forkserver"], watch_start=True, roles={"dataloader-worker": 4, "helper": 2}),
    Case("loader-shm-manager", ["--loader=fork", "--workers=2", "--share-files"], roles={"helper": 2}),
    Case("loader-old-names", ["--loader=fork", "--workers=2", "--legacy-names"], roles={"dataloader-worker": 2}),
    Case("epochs-fork", ["--loader=fork", "--workers=2", "--epoch-steps=60"], steady=False,
         roles={"dataloader-worker": 6}),
    Case("epochs-spawn", ["--loader=spawn", "--workers=2", "--epoch-steps=60"], steady=False,
         roles={"dataloader-worker": 6}),
    Case("epochs-old-names", ["--loader=fork", "--workers=2", "--epoch-steps=60", "--legacy-names"], steady=False,
         roles={"dataloader-worker": 6}),
    Case("both", ["--compile", "--loader=fork"], compilers(4), watch_start=True, memory=True,
         roles={"compile-worker": 4, "dataloader-worker": 4}),
    Case("both-fork", ["--compile", "--loader=fork", "--workers=2", "--legacy-names"], compilers(2, **FORK),
         roles={"compile-worker": 2, "dataloader-worker": 2}),
    Case("both-spawn", ["--compile", "--loader=spawn", "--workers=2"], compilers(2, **SPAWN), watch_start=True,
         roles={"compile-worker": 2, "dataloader-worker": 2}),
    Case("background-fork", ["--compile", "--loader=fork", "--workers=2", "--legacy-names"], compilers(2, **FORK),
         BACKGROUND, roles={"launcher": 1, "compile-worker": 2}),
    Case("background-spawn", ["--compile", "--loader=spawn", "--workers=2"], compilers(2, **SPAWN), BACKGROUND,
         settle_s=21, roles={"launcher": 1, "compile-worker": 2}),
    Case("killed-trainer", ["--compile", "--loader=fork", "--workers=2", "--legacy-names"], compilers(2, **FORK),
         killed=True, roles={"compile-worker": 2, "dataloader-worker": 2}),
    Case("title", ["--title", "my experiment (seed 7)", "--loader=fork", "--workers=2"], roles={"trainer": 1}),
    Case("torchrun", ["--loader=fork", "--workers=2"], launcher=TORCHRUN, ready=2, memory=True,
         roles={"launcher": 1, "trainer": 2, "dataloader-worker": 4}),
    Case("torchrun-module", ["--compile"], compilers(2), MODULE_RUN, roles={"launcher": 1, "trainer": 1}),
    Case("spawned-ranks", ["--ranks=2", "--port=29543"], ready=3, roles={"launcher": 1, "trainer": 2}),
    Case("relaunched-ranks", ["--relaunch=2", "--port=29544"], ready=2, roles={"trainer": 2}),
    Case("steps-in-a-log", [], steps="print", settle_s=8, roles={"trainer": 1}),
    Case("run-on-pipes", ["--compile", "--loader=fork", "--workers=2"], compilers(2), under_run="pipes",
         steps="print", settle_s=8, fresh_cache=True, roles={"compile-worker": 2, "dataloader-worker": 2}),
    Case("run-on-a-terminal", ["--loader=fork", "--workers=2"], under_run="terminal", steps="bar", settle_s=8,
         memory=True, roles={"dataloader-worker": 2}),
]
