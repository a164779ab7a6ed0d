"""The callback for transformers' Trainer.

    from leveloff.huggingface import LeveloffCallback

    trainer = Trainer(..., callbacks=[LeveloffCallback()])
"""

import math
import os
from typing import Any, Optional

from transformers.trainer_callback import (  # type: ignore[import-not-found, unused-ignore]
    TrainerCallback,
    TrainerControl,
    TrainerState,
)

from . import _session
from ._guard import guarded

__all__ = ["LeveloffCallback"]


class LeveloffCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Reports steps, epochs, evaluations and saves; saves and stops on a stop request.

    Options are those of `leveloff.configure`: `LeveloffCallback(shapes=True)`. With `obey_stop=False`, a
    stop request is not looked for.
    """

    def __init__(self, obey_stop: bool = True, **options: Any) -> None:
        self._obeys_stop = obey_stop
        _configure(options)

    @guarded(None)
    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        session = _session.current()
        if self._obeys_stop:
            session.stop_watch().begin()
        facts = {"planned_steps": state.max_steps, "epoch_steps": _epoch_steps(args, state, kwargs)}
        session.begin_at(state.global_step)
        session.set_phase("train", {})
        session.mark("train_begin", {name: value for name, value in facts.items() if value})

    @guarded(None)
    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        session = _session.current()
        session.step(state.global_step, "train", {} if state.epoch is None else {"epoch": state.epoch})
        if self._obeys_stop and session.should_stop():
            control.should_save = True
            control.should_training_stop = True
            # There may be little memory left, and under save_strategy="best" it would undo the save.
            control.should_evaluate = False

    @guarded(None)
    def on_epoch_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        if self._obeys_stop and _session.current().is_stopping():
            # What the epoch's end asks for would come after the save of the stop.
            control.should_evaluate = False
            control.should_save = False

    @guarded(None)
    def on_prediction_step(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        _session.current().set_phase("eval", {})

    @guarded(None)
    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        _session.current().set_phase("train", {})

    @guarded(None)
    def on_predict(self, args: Any, state: TrainerState, control: TrainerControl, *_: Any, **kwargs: Any) -> None:
        _session.current().set_phase("train", {})

    @guarded(None)
    def on_save(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        place = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
        # A search over parameters saves elsewhere.
        _session.current().mark("checkpoint", {}, place if os.path.isdir(place) else None)

    @guarded(None)
    def on_train_end(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        session = _session.current()
        if self._obeys_stop:
            session.stop_watch().stopped()
        session.mark("train_end", {})


@guarded(None)
def _configure(options: Any) -> None:
    if options:
        _session.configure(**options)


def _epoch_steps(args: Any, state: TrainerState, kwargs: Any) -> Optional[int]:
    """Optimizer steps in an epoch: known where the data have a length."""
    try:
        batches = len(kwargs["train_dataloader"])
    except (KeyError, TypeError, NotImplementedError):
        return None
    return int(math.ceil(batches / max(args.gradient_accumulation_steps, 1)))
