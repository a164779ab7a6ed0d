"""Virtual environments with the libraries that the scripts need, in the user's cache directory."""

import os
import pathlib
import subprocess
import sys
import venv

from programs import skip

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
    """Restarts the script with the Python of the venv of this name. Creates the venv when it does not exist. A library
    whose version is None may have any."""
    place = CACHE / "leveloff" / name
    if pathlib.Path(sys.prefix) == place:
        return
    python = place / "bin" / "python"
    if not python.exists():
        print(f"creating the venv {place}", file=sys.stderr, flush=True)
        venv.create(place, with_pip=True)
    has_all = [python, "-c", f"import importlib.metadata as m; [m.version(name) for name in {list(libraries)}]"]
    if subprocess.run(has_all, stderr=subprocess.DEVNULL).returncode != 0:
        wanted = [f"{name}=={version}" if version else name for name, version in libraries.items()]
        print(f"installing {', '.join(wanted)}", file=sys.stderr, flush=True)
        if subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted]).returncode != 0:
            skip(f"pip cannot install {', '.join(wanted)} into {place}: a network is needed once")
    os.execv(python, [python, *sys.argv])
