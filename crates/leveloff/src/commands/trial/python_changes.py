"""Run by Python at its start in a run of `leveloff try`: notes what the job uses, and makes one change.

The change is named by LEVELOFF_TRY_CHANGE; none in a control run. What the job uses goes to LEVELOFF_TRY_FACTS, a line
each. Nothing here may end the job: an error leaves the job as it is.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

CHANGE = os.environ.get("LEVELOFF_TRY_CHANGE", "")
FACTS = os.environ.get("LEVELOFF_TRY_FACTS", "")
OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))
noted = set()


def note(fact):
    """Writes a fact once for each process."""
    if fact in noted or not FACTS:
        return
    noted.add(fact)
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(FACTS, flags)
        try:
            os.write(file, (fact + "\n").encode())
        finally:
            os.close(file)
    except OSError:
        pass


def change_optimizers(module):
    """torch.optim.optimizer"""
    steps = 0

    def after_step(optimizer, *_):
        nonlocal steps
        steps += 1
        note("optimizer")
        if steps & (steps - 1) == 0:
            note_libraries()
        if CHANGE == "collect-garbage" or (CHANGE == "collect-garbage-10" and steps % 10 == 0):
            import gc

            gc.collect()
            if CHANGE == "collect-garbage" and steps == 1:
                # Modules have some 200,000 objects, and a collection that looks at them takes longer than a step. They are no
                # growth: what a step leaves is younger.
                gc.freeze()
        elif CHANGE == "close-figures":
            pyplot = sys.modules.get("matplotlib.pyplot")
            if pyplot is not None:
                pyplot.close("all")
        elif CHANGE == "drop-gradients":
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    parameter.grad = None

    module.register_optimizer_step_post_hook(after_step)


def note_libraries():
    modules = sys.modules
    for name in ("wandb", "tokenizers", "matplotlib.pyplot"):
        if name in modules:
            note(name)
    torch = modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        note("cuda")
    dynamo = modules.get("torch._dynamo.utils")
    if dynamo is not None and dynamo.counters["frames"]["total"] > 0:
        note("compiled")


def change_loaders(module):
    """torch.utils.data.dataloader"""
    import functools
    import inspect

    created = module.DataLoader.__init__
    signature = inspect.signature(created)

    @functools.wraps(created)
    def create(self, *positional, **named):
        try:
            bound = signature.bind(self, *positional, **named)
            bound.apply_defaults()
            settings = bound.arguments
            if settings.get("num_workers", 0) > 0:
                note("workers")
            if settings.get("pin_memory"):
                note("pinned")
            changed = changed_settings(settings)
        except Exception:
            changed = None
        if not changed:
            return created(self, *positional, **named)
        names = [name for name in signature.parameters if name != "self"]
        for name in changed:
            if name in names[: len(positional)]:
                positional = (*positional[: names.index(name)], changed[name], *positional[names.index(name) + 1 :])
            else:
                named[name] = changed[name]
        return created(self, *positional, **named)

    module.DataLoader.__init__ = create


def changed_settings(settings):
    """The settings of a loader that the change replaces."""
    workers = settings.get("num_workers", 0)
    if CHANGE == "no-workers" and workers > 0:
        return {
            "num_workers": 0,
            "prefetch_factor": None,
            "persistent_workers": False,
            "timeout": 0,
            "multiprocessing_context": None,
        }
    if CHANGE == "swap-persistent-workers" and workers > 0:
        return {"persistent_workers": not settings.get("persistent_workers", False)}
    if CHANGE == "no-pinning" and settings.get("pin_memory"):
        return {"pin_memory": False}
    return None


def is_file(target):
    """A path, or a file that is open."""
    if isinstance(target, (str, os.PathLike)):
        return True
    try:
        return isinstance(target.fileno(), int)
    except Exception:
        return False


def change_saving(module):
    """torch.serialization and safetensors.torch"""
    import functools

    def patched(save):
        @functools.wraps(save)
        def maybe_save(*positional, **named):
            # What is saved to memory is read again by the program itself.
            if not any(map(is_file, (*positional, *named.values()))):
                return save(*positional, **named)
            note("checkpoint")
            return None if CHANGE == "no-checkpoints" else save(*positional, **named)

        return maybe_save

    for name in ("save", "save_file", "save_model"):
        if module.__name__ == "safetensors.torch" and name == "save":
            continue  # It returns bytes.
        if hasattr(module, name):
            setattr(module, name, patched(getattr(module, name)))


def change_trainer(module):
    """transformers.trainer: before it evaluates and saves, as its control says."""
    import functools

    act = module.Trainer._maybe_log_save_evaluate

    @functools.wraps(act)
    def maybe_act(self, *positional, **named):
        control = self.control
        if control.should_evaluate:
            note("evaluation")
            if CHANGE == "no-evaluation":
                control.should_evaluate = False
        if control.should_save:
            note("checkpoint")
            if CHANGE == "no-checkpoints":
                control.should_save = False
        return act(self, *positional, **named)

    module.Trainer._maybe_log_save_evaluate = maybe_act


def change_lightning(module):
    """lightning.pytorch.trainer.trainer"""
    import functools

    trainer = module.Trainer
    created, save = trainer.__init__, trainer.save_checkpoint

    @functools.wraps(created)
    def create(self, *positional, **named):
        created(self, *positional, **named)
        if CHANGE == "no-evaluation":
            self.limit_val_batches = 0
            self.num_sanity_val_steps = 0

    @functools.wraps(save)
    def maybe_save(self, *positional, **named):
        note("checkpoint")
        return None if CHANGE == "no-checkpoints" else save(self, *positional, **named)

    trainer.__init__, trainer.save_checkpoint = create, maybe_save


def note_evaluation_loop(module):
    """lightning.pytorch.loops.evaluation_loop"""
    import functools

    run = module._EvaluationLoop.run

    @functools.wraps(run)
    def noted(self, *positional, **named):
        if not self.trainer.sanity_checking:
            note("evaluation")
        return run(self, *positional, **named)

    module._EvaluationLoop.run = noted


def note_own_evaluation(module):
    """torch.nn.modules.module: a model that is put into evaluation, be it by code that no change reaches"""
    import functools

    evaluate = module.Module.eval

    @functools.wraps(evaluate)
    def noted(self):
        note("own evaluation")
        return evaluate(self)

    module.Module.eval = noted


def change_writers(module):
    """torch.utils.tensorboard.writer"""
    note("tensorboard")
    if CHANGE != "no-tensorboard":
        return
    for name in dir(module.SummaryWriter):
        if name.startswith("add_"):
            setattr(module.SummaryWriter, name, lambda *_positional, **_named: None)


PATCHES = {
    "torch.optim.optimizer": change_optimizers,
    "torch.utils.data.dataloader": change_loaders,
    "torch.serialization": change_saving,
    "safetensors.torch": change_saving,
    "transformers.trainer": change_trainer,
    "lightning.pytorch.trainer.trainer": change_lightning,
    "pytorch_lightning.trainer.trainer": change_lightning,
    "lightning.pytorch.loops.evaluation_loop": note_evaluation_loop,
    "pytorch_lightning.loops.evaluation_loop": note_evaluation_loop,
    "torch.nn.modules.module": note_own_evaluation,
    "torch.utils.tensorboard.writer": change_writers,
}


class Finder(importlib.abc.MetaPathFinder):
    """Has the modules of PATCHES patched once they are loaded."""

    def __init__(self):
        self.searched = set()

    def find_spec(self, name, path, target=None):
        patch = PATCHES.get(name)
        if patch is None or name in self.searched:
            return None
        self.searched.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.searched.discard(name)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_patch(module):
            load(module)
            try:
                patch(module)
            except Exception as error:
                note(f"unpatched {name}: {error}")

        spec.loader.exec_module = load_and_patch
        return spec


def run_next_sitecustomize():
    """The module that this file takes the place of, if there is one."""
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != OWN_DIRECTORY]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


try:
    note("python")
    sys.meta_path.insert(0, Finder())
except Exception:
    pass
run_next_sitecustomize()
