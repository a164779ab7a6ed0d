"""Writes a log for each format, and truth.csv with what it holds.

The lines are made from the format strings of the named projects and invented numbers.
"""

import csv
import os

from . import bars, blind_frameworks, blind_negative, blind_trainings, field_formats, frameworks, later_formats, last_public, later_trainings, lib, more_negative, more_public, more_trainings, negative, other_programs, prefixes, public_negative, public_projects, public_scripts, ran_trainings, script_formats, torch_scripts, wide_negative, wide_pictures_science, wide_text_speech  # noqa: F401 (they register their formats)

COLUMNS = ["name", "source", "kind", "last_step", "unit", "total", "epoch_steps", "last_epoch", "first_step_line", "notes"]

# Logs with two counters, or two readings of one, that are equally right.
EQUALLY_RIGHT = {
    "litgpt_pretrain": {"last_step": "800|200"},
    "candle_mnist": {"unit": "epochs|steps"},
    "cleanrl_ppo": {"unit": "timesteps|steps"},
    "cleanrl_dqn": {"unit": "timesteps|steps"},
    "rllib_tune": {"last_step": "40|160000", "unit": "steps|timesteps"},
    "pix2pix": {"unit": "samples|steps"},
    "nemo_printer": {"total": "200|199"},
    # The whole length is not printed; the bar is that of an epoch.
    "nemo_lightning": {"total": ""},
    "kaldi_nnet3": {"last_step": "899|890"},
    "fairseq_simple": {"last_step": "4400|4404"},
    "tf_estimator": {"last_step": "8000|8001"},
    "tianshou": {"unit": "timesteps|steps"},
    "keras_verbose2": {"unit": "epochs|steps"},
    # Epochs of 12 batches.
    "mlnet_images": {"last_step": "39|480", "unit": "epochs|steps"},
}


# The names of modules that were collected to be scored once, until something is corrected for them. Those of the last such sets, E (wide_negative,
# wide_pictures_science, wide_text_speech), F (later_trainings), G (public_negative, public_projects, public_scripts), H (more_public) and I (last_public) are in the development set now.
HELD_OUT = set()


def write(directory, held_out=False):
    """Writes the logs of the development set, or those that are held out."""
    entries = [entry for entry in lib.FORMATS if (entry[3].__module__ in HELD_OUT) == held_out]
    rows = [build(directory, *entry) for entry in entries]
    with open(os.path.join(directory, "truth.csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def build(directory, name, source, kind, function):
    log = lib.Log(name)
    row = function(log) or {}
    data = log.data()
    row = dict.fromkeys(COLUMNS, "") | row | {"name": name, "source": source, "kind": kind} | EQUALLY_RIGHT.get(name, {})
    if kind == "positive":
        row["first_step_line"] = lib.piece_index(data, log.first)
    elif log.first is not None:
        raise ValueError(f"{name}: a negative log holds a step")
    with open(os.path.join(directory, name + ".log"), "wb") as file:
        file.write(data)
    return row
