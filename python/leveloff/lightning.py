"""The callback for Lightning's Trainer, as `lightning` or as `pytorch_lightning`.

    from leveloff.lightning import LeveloffCallback

    trainer = Trainer(..., callbacks=[LeveloffCallback()])
"""

import importlib
import math
import os
import sys
from typing import Any, Optional, Tuple

from . import _session
from ._guard import Trouble, guarded

__all__ = ["LeveloffCallback"]


def _bases() -> Tuple[Any, ...]:
    """Lightning has two independent packages; the imported ones are served."""
    names = ("lightning.pytorch", "pytorch_lightning")
    found = [sys.modules[name] for name in names if name in sys.modules]
    for name in names:
        try:
            found = found or [importlib.import_module(name)]
        except ImportError:
            pass
    if not found:
        raise ImportError("leveloff.lightning needs Lightning: pip install lightning")
    return tuple(module.Callback for module in found)


class LeveloffCallback(*_bases()):  # type: ignore[misc]
    """Reports steps, epochs, validations and saves; saves and stops on a stop request.

    The checkpoint of a stop goes to `stop_checkpoint`, or else beside the others, as
    `leveloff-stop-step=<n>.ckpt`. With `obey_stop=False`, a stop request is not looked for. Further options
    are those of `leveloff.configure`: `LeveloffCallback(shapes=True)`.
    """

    def __init__(self, obey_stop: bool = True, stop_checkpoint: Optional[str] = None, **options: Any) -> None:
        super().__init__()
        self._obeys_stop = obey_stop
        self._stop_checkpoint = stop_checkpoint
        self._last_step: Optional[int] = None
        self._val_batches: Any = None
        _configure(options)

    @guarded(None)
    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        session = _session.current()
        if self._obeys_stop:
            session.stop_watch().begin()
        self._last_step = trainer.global_step
        session.begin_at(trainer.global_step)
        session.set_phase("train", {})
        session.mark("train_begin", _plan(trainer))

    @guarded(None)
    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        step = trainer.global_step
        _session.current().inputs(batch)
        if step == self._last_step:
            return  # Gradients are accumulated: the step is not done yet.
        self._last_step = step
        session = _session.current()
        # Lightning's own properties take longer than the rest of a step that is only noted.
        session.step(step, "train", {} if session.is_quiet() else _epoch(trainer, batch_idx))
        if self._obeys_stop and session.should_stop():
            self._save_and_stop(trainer, step)

    @guarded(None)
    def on_sanity_check_start(self, trainer: Any, pl_module: Any) -> None:
        _session.current().set_phase("sanity", {})

    @guarded(None)
    def on_sanity_check_end(self, trainer: Any, pl_module: Any) -> None:
        _session.current().set_phase("train", {})

    @guarded(None)
    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking:
            _session.current().set_phase("eval", {})

    @guarded(None)
    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if not trainer.sanity_checking:
            _session.current().set_phase("train", {})

    @guarded(None)
    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Any) -> None:
        _session.current().mark("checkpoint", {})

    @guarded(None)
    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        session = _session.current()
        if self._val_batches is not None:
            trainer.limit_val_batches, self._val_batches = self._val_batches, None
        if self._obeys_stop:
            session.stop_watch().stopped()
        session.mark("train_end", {})

    def _save_and_stop(self, trainer: Any, step: int) -> None:
        """Every rank comes here at the same step: saving is a collective in many strategies."""
        trainer.should_stop = True
        # A stop that waits for a minimum of epochs comes too late for the memory.
        trainer.fit_loop.min_epochs = 0
        trainer.fit_loop.epoch_loop.min_steps = None
        # A stop would have it validate first, with the little memory that is left.
        if self._val_batches is None:
            self._val_batches, trainer.limit_val_batches = trainer.limit_val_batches, 0
        path = self._stop_checkpoint or os.path.join(_directory(trainer), f"leveloff-stop-step={step}.ckpt")
        try:
            trainer.save_checkpoint(path)
            _session.current().stop_watch().saved(path)
        except Exception as error:
            raise Trouble(f"the training stops, but its checkpoint {path} could not be saved: {error}") from error


@guarded(None)
def _configure(options: Any) -> None:
    if options:
        _session.configure(**options)


def _plan(trainer: Any) -> Any:
    """What is known of the run's length. Unknown batches are infinite, unknown steps -1."""
    facts = {}
    per_epoch = trainer.num_training_batches / max(trainer.accumulate_grad_batches, 1)
    if math.isfinite(per_epoch):
        facts["epoch_steps"] = math.ceil(per_epoch)
    planned = trainer.estimated_stepping_batches
    if 0 < planned < math.inf:
        facts["planned_steps"] = int(planned)
    return facts


def _epoch(trainer: Any, batch_idx: int) -> Any:
    batches = trainer.num_training_batches
    part = (batch_idx + 1) / batches if batches and math.isfinite(batches) else 0.0
    return {"epoch": trainer.current_epoch + part}


def _directory(trainer: Any) -> str:
    checkpoints = getattr(trainer.checkpoint_callback, "dirpath", None)
    return str(checkpoints or trainer.default_root_dir)
