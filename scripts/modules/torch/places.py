"""Where things are: the command under test, the training script, and the torch that runs it."""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.dirname(os.path.dirname(HERE))
TRAIN = os.path.join(HERE, "train.py")
LEVELOFF = os.environ.get("LEVELOFF", os.path.join(SCRIPTS, "..", "target", "release", "leveloff"))
PACKAGE = os.path.normpath(os.path.join(SCRIPTS, "..", "python"))
TORCH = "torch==2.8.*"
# Runs of one suite are no history of another, and none of the user's.
os.environ.setdefault("LEVELOFF_HISTORY", "0")
NEEDED = ["numpy", "setproctitle", "tqdm", "transformers", "accelerate", "lightning", "matplotlib"]


def torch_binaries():
    """The `bin` of the virtual environment with torch. It is made when it is missing, and gets what it lacks."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    venv = os.environ.get("LEVELOFF_TORCH_VENV", os.path.join(cache, "leveloff", "torch-2.8"))
    binaries = os.path.join(venv, "bin")
    if not os.path.exists(os.path.join(binaries, "torchrun")):
        print(f"installing torch 2.8 into {venv}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([f"{binaries}/pip", "install", TORCH, *NEEDED], check=True)
    lacking = [name for name in NEEDED if not version(binaries, name)]
    if lacking:
        print(f"installing {', '.join(lacking)} into {venv}", flush=True)
        # The installed torch has to stay, whatever version they require. A package that cannot be installed is
        # left out: the cases that need it say so.
        pin = f"torch=={torch_version(binaries)}"
        for name in lacking:
            subprocess.run([f"{binaries}/pip", "install", pin, name], check=False)
    return binaries


def torch_version(binaries):
    return version(binaries, "torch")


def version(binaries, package):
    """Of an installed package, or None."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    command = [f"{binaries}/python", "-c", code]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() or None
