"""The callbacks, driven as the frameworks drive them. The frameworks are stand-ins with just their base class;
scripts/suites/torch uses the real ones."""

from training_process import train

STAND_INS = """
import sys, types
def module(name, **things):
    sys.modules[name] = types.ModuleType(name); vars(sys.modules[name]).update(things)
N = types.SimpleNamespace
"""

HUGGING_FACE = (
    STAND_INS
    + """
module("transformers"); module("transformers.trainer_callback", TrainerCallback=object, TrainerControl=object, TrainerState=object)
from leveloff.huggingface import LeveloffCallback
assert leveloff.LeveloffCallback is LeveloffCallback
args = N(gradient_accumulation_steps=4, output_dir='out')
state = N(max_steps=40, global_step=0, epoch=0.0)
control = N(should_save=False, should_training_stop=False, should_evaluate=True)
callback = LeveloffCallback()
callback.on_train_begin(args, state, control, train_dataloader=range(30))
def step():
    state.global_step += 1; state.epoch += 0.125
    callback.on_step_end(args, state, control)
"""
)

LIGHTNING = (
    STAND_INS
    + """
class Callback: pass
module("lightning"); module("lightning.pytorch", Callback=Callback)
from leveloff.lightning import LeveloffCallback
assert leveloff.LeveloffCallback is LeveloffCallback and issubclass(LeveloffCallback, Callback)
saved = []
trainer = N(global_step=0, current_epoch=0, num_training_batches=10, accumulate_grad_batches=2, estimated_stepping_batches=15,
            limit_val_batches=1.0, sanity_checking=False, should_stop=False, checkpoint_callback=None,
            default_root_dir="/out", save_checkpoint=saved.append,
            fit_loop=N(min_epochs=3, epoch_loop=N(min_steps=100)))
callback = LeveloffCallback()
"""
)

ASK = "open(f\"{os.environ['LEVELOFF_MARKS']}/{os.getpid()}.stop\", 'w').close()\n"


def test_hugging_face_tells_steps_evaluations_and_saves(tmp_path):
    result = train(
        tmp_path,
        HUGGING_FACE
        + """
step()
for _ in range(3): callback.on_prediction_step(args, state, control)
callback.on_evaluate(args, state, control, metrics={})
callback.on_save(args, state, control)
step()
callback.on_train_end(args, state, control)
assert not control.should_training_stop and not control.should_save
""",
    )
    assert result.code == 0 and result.err == "", result.err
    assert result.phases() == ["train", "eval", "train"]
    assert result.events() == ["train_begin", "checkpoint", "train_end"]
    begin = next(line for line in result.lines if line.get("event") == "train_begin")
    assert begin["planned_steps"] == 40 and begin["epoch_steps"] == 8
    assert next(line for line in result.lines if line.get("step") == 1)["epoch"] == 0.125


def test_hugging_face_saves_and_stops_on_request(tmp_path):
    result = train(
        tmp_path,
        HUGGING_FACE
        + "step()\n"
        + ASK
        + """
step()
assert control.should_save and control.should_training_stop and not control.should_evaluate
args.output_dir = os.environ['LEVELOFF_MARKS']; os.mkdir(args.output_dir + '/checkpoint-2')
callback.on_save(args, state, control)
control.should_save = control.should_evaluate = True  # As strategies by epoch ask for.
callback.on_epoch_end(args, state, control)
assert not control.should_save and not control.should_evaluate, "it is saved already"
callback.on_train_end(args, state, control)
control.should_training_stop = False
state.global_step = 0
callback.on_train_begin(args, state, control)
callback.on_epoch_end(args, N(), N())
step()
assert not control.should_training_stop, "a stop request of the first training does not stop a second one"
""",
    )
    assert result.code == 0, result.err
    assert result.events() == ["train_begin", "stopping", "checkpoint", "stopped", "train_end", "train_begin"]
    saved = next(line for line in result.lines if line.get("event") == "checkpoint")
    assert saved["path"] == str(tmp_path / "checkpoint-2")
    second = next(line for line in reversed(result.lines) if line.get("event") == "train_begin")
    assert second["step"] == 0, "what the first one result is over"


def test_hugging_face_can_ignore_stop_requests(tmp_path):
    script = HUGGING_FACE.replace("LeveloffCallback()", "LeveloffCallback(obey_stop=False, every=5)")
    result = train(tmp_path, script + ASK + "step()\nassert not control.should_training_stop")
    assert result.code == 0, result.err
    assert not any("obeys_stop" in line for line in result.lines)


def test_data_without_a_length_have_no_epoch(tmp_path):
    result = train(tmp_path, HUGGING_FACE.replace("range(30)", "iter([])") + "step()")
    assert result.code == 0 and not any("epoch_steps" in line for line in result.lines)


def test_lightning_tells_steps_and_not_batches(tmp_path):
    result = train(
        tmp_path,
        LIGHTNING
        + """
trainer.sanity_checking = True
callback.on_sanity_check_start(trainer, None); callback.on_validation_start(trainer, None)
callback.on_validation_end(trainer, None); callback.on_sanity_check_end(trainer, None)
trainer.sanity_checking = False
callback.on_train_start(trainer, None)
for batch in range(4):
    trainer.global_step = (batch + 1) // 2
    callback.on_train_batch_end(trainer, None, None, None, batch)
    time.sleep(0.12)
callback.on_validation_start(trainer, None); callback.on_validation_end(trainer, None)
callback.on_save_checkpoint(trainer, None, {})
callback.on_train_end(trainer, None)
""",
    )
    assert result.code == 0 and result.err == "", result.err
    assert result.phases() == ["sanity", "train", "eval", "train"]
    assert result.events() == ["train_begin", "checkpoint", "train_end"]
    assert [(line["step"], line["epoch"]) for line in result.lines if "epoch" in line] == [(1, 0.2), (2, 0.4)]
    begin = next(line for line in result.lines if line.get("event") == "train_begin")
    assert begin["planned_steps"] == 15 and begin["epoch_steps"] == 5


def test_lightning_saves_and_stops_on_request(tmp_path):
    result = train(
        tmp_path,
        LIGHTNING
        + "callback.on_train_start(trainer, None)\n"
        + ASK
        + """
trainer.global_step = 7
callback.on_train_batch_end(trainer, None, None, None, 0)
assert trainer.should_stop and saved == ["/out/leveloff-stop-step=7.ckpt"]
assert not trainer.fit_loop.min_epochs and not trainer.fit_loop.epoch_loop.min_steps, "or it would train on"
assert trainer.limit_val_batches == 0, "or it would validate first"
callback.on_train_end(trainer, None)
assert trainer.limit_val_batches == 1.0, "the next training validates again"
""",
    )
    assert result.code == 0, result.err
    assert result.events() == ["train_begin", "stopping", "stopped", "train_end"]
    stopped = next(line for line in result.lines if line.get("event") == "stopped")
    assert stopped["path"] == "/out/leveloff-stop-step=7.ckpt"


def test_lightning_under_both_its_names(tmp_path):
    other = "class Other: pass\nmodule('pytorch_lightning', Callback=Other)\nfrom leveloff.lightning"
    result = train(
        tmp_path,
        LIGHTNING.replace("from leveloff.lightning", other, 1) + "assert issubclass(LeveloffCallback, (Other,))",
    )
    assert result.code == 0, result.err


def test_with_both_frameworks_one_must_say_which(tmp_path):
    result = train(
        tmp_path,
        STAND_INS
        + """
module("transformers"); module("pytorch_lightning")
try: leveloff.LeveloffCallback
except ImportError as error: print(error)
""",
    )
    assert "both" in result.out
