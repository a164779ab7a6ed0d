"""Where things are: the command under test, the training script, and the torch that runs it."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.dirname(HERE)
TRAIN = os.path.join(HERE, "train.py")
LEVELOFF = os.environ.get("LEVELOFF", os.path.join(SCRIPTS, "..", "target", "release", "leveloff"))
NEEDED = ["torch==2.8.*", "numpy", "setproctitle", "tqdm"]


def torch_binaries():
    """The `bin` of the virtual environment with torch, which is made when it is missing."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    venv = os.environ.get("LEVELOFF_TORCH_VENV", os.path.join(cache, "leveloff", "torch-2.8"))
    binaries = os.path.join(venv, "bin")
    if not os.path.exists(os.path.join(binaries, "torchrun")):
        print(f"installing torch 2.8 into {venv}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([f"{binaries}/pip", "install", *NEEDED], check=True)
    return binaries


def torch_version(binaries):
    code = "import importlib.metadata as m; print(m.version('torch'))"
    command = [f"{binaries}/python", "-c", code]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
