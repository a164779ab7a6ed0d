"""A venv with the libraries that the scripts need, in the user's cache directory."""

import os
import pathlib
import subprocess
import sys
import venv

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
# Reference values are only as good as they are repeatable: versions are fixed.
LIBRARIES = {
    "numpy": "2.4.6",
    "scipy": "1.17.1",
    "statsmodels": "0.15.0",
    "pymannkendall": "1.4.3",
    "ruptures": "1.1.10",
}


def enter(name="judge", libraries=LIBRARIES):
    """Goes on under the Python of the venv of this name; makes the venv when there is none."""
    place = CACHE / "leveloff" / name
    if pathlib.Path(sys.prefix) == place:
        return
    python = place / "bin" / "python"
    if not python.exists():
        print("making a venv", file=sys.stderr, flush=True)
        venv.create(place, with_pip=True)
    has_all = [python, "-c", f"import importlib.metadata as m; [m.version(name) for name in {list(libraries)}]"]
    if subprocess.run(has_all, stderr=subprocess.DEVNULL).returncode != 0:
        wanted = [f"{name}=={version}" for name, version in libraries.items()]
        print(f"installing {', '.join(wanted)}", file=sys.stderr, flush=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    os.execv(python, [python, *sys.argv])
