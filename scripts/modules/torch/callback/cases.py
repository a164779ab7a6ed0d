"""The trainings with the callback, and the expectations of each beyond its own notes."""

import os
from dataclasses import dataclass, field

TRAININGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trainings")
HF, LIGHTNING, LOOP = (os.path.join(TRAININGS, f"{name}.py") for name in ("hf_trainer", "lightning_fit", "plain_loop"))


@dataclass
class Case:
    """One training. Steps, phases, events and tensors are always held against its own notes."""

    name: str
    script: str
    arguments: list = field(default_factory=list)
    launcher: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    needs: tuple = ()  # Packages without which it is not run.
    roles: dict = field(default_factory=lambda: {"trainer": 1})
    leaks: bool | None = None  # False: must not be called a leak. None: the verdict is only printed.
    blame: tuple = ()  # The role, and one of the kinds, with the largest share.
    findings: tuple = ()
    not_findings: tuple = ()
    events: tuple = ()  # That have to be marked beside those which the training notes.
    grown: str = ""  # The tensors that have to be named first among those that grew.
    notes_workers: bool = False  # The training itself notes how many compile workers it has.
    counts: int = 3  # Tensors have to be counted at least so often.
    cheap: bool = False  # What the callback costs is checked.
    stop_at: int = 0  # It gets a stop request after so many steps, and resumes from its checkpoint afterwards.
    guarded: bool = False  # The request comes from a guard, when the training has grown further.
    compares: bool = False  # Only times steps with and without the callback.


TORCHRUN = ["{bin}/torchrun", "--standalone", "--nproc-per-node=2"]  # On a port that is free.
TWO_RANKS = {"launcher": 1, "trainer": 2}
MEMORY_OF_THE_TRAINER = ("trainer", "anon", "heap")
# Tensors are counted for a fifth of a percent of the time: seldom enough that in the half minute of a run here
# they are counted once or twice. Ten times as often, as many counts as in the minutes of a real one. Where the
# cost is checked, nothing is changed.
OFTEN = "--budget=0.02"
LONG = "--steps=2000"  # Until tensors are counted at the usual pace, with as many objects as transformers has.
STOPPED = ["--steps=200", OFTEN]

CASES = [
    Case("hf-healthy", HF, [LONG], needs=("transformers",), leaks=False, counts=1, cheap=True),
    Case("hf-leak", HF, [OFTEN, "--keep=outputs"], needs=("transformers",), leaks=True, blame=MEMORY_OF_THE_TRAINER,
         findings=("held-references",), not_findings=("native-growth", "allocator-retention")),
    Case("hf-native-leak", HF, [OFTEN, "--keep=blocks"], needs=("transformers",), leaks=True,
         blame=MEMORY_OF_THE_TRAINER, findings=("native-growth",),
         not_findings=("held-references", "allocator-retention")),
    Case("retention", LOOP, [OFTEN, "cut_results"], findings=("allocator-retention",),
         not_findings=("held-references",)),
    Case("retention-trim", LOOP, [OFTEN, "cut_results", "--trim-probe"], findings=("allocator-retention",),
         events=("trim",)),
    Case("compiled-20", LOOP, [LONG, "compiled"], environment={"TORCHINDUCTOR_COMPILE_THREADS": "20"}, leaks=False,
         notes_workers=True, counts=1, cheap=True),
    Case("loader-cow", LOOP, [OFTEN, "copy_on_write"], roles={"trainer": 1, "dataloader-worker": 4},
         blame=("dataloader-worker", "anon", "heap"), findings=("copy-on-write",)),
    Case("ranks", LOOP, [OFTEN, "ranks", "--steps=250"], TORCHRUN, roles=TWO_RANKS, counts=1),
    Case("lightning", LIGHTNING, [LONG], needs=("lightning",), leaks=False, counts=1, cheap=True),
    Case("loop-shapes", LOOP, [OFTEN, "one_shape", "--shapes"], leaks=True, blame=MEMORY_OF_THE_TRAINER,
         findings=("held-references",), grown="float32[3, 50001] cpu"),
    Case("stop-hf", HF, STOPPED, needs=("transformers",), stop_at=40),
    Case("stop-hf-ranks", HF, STOPPED, TORCHRUN, needs=("transformers", "accelerate"), roles=TWO_RANKS,
         stop_at=40),
    Case("stop-ranks", LOOP, ["ranks", *STOPPED], TORCHRUN, roles=TWO_RANKS, stop_at=40),
    Case("guard-hf", HF, [*STOPPED, "--keep=outputs"], needs=("transformers",), stop_at=40, guarded=True),
    Case("guard-hf-ranks", HF, [*STOPPED, "--keep=outputs"], TORCHRUN, needs=("transformers", "accelerate"),
         roles=TWO_RANKS, stop_at=40, guarded=True),
    Case("stop-lightning", LIGHTNING, ["--steps=200"], needs=("lightning",), stop_at=40),
    Case("with-and-without", HF, ["--compare"], needs=("transformers",), compares=True),
]
