"""A real Prometheus on loopback, with a data directory of its own, for as long as a test takes."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

from programs import skip

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
PATIENCE_S = 60


def binaries():
    """The directory of prometheus and promtool: installed, or Debian's package unpacked in the cache. Nothing is
    installed, because an installed package would start a service."""
    found = shutil.which("prometheus"), shutil.which("promtool")
    if all(found):
        return pathlib.Path(found[0]).parent
    place = CACHE / "leveloff" / "prometheus"
    if not (place / "usr/bin/promtool").exists():
        print("fetching Debian's prometheus package", file=sys.stderr, flush=True)
        place.mkdir(parents=True, exist_ok=True)
        # The lists of packages may be old, or missing.
        for command in ("download prometheus", "update", "download prometheus"):
            if shutil.which("apt-get") and not list(place.glob("prometheus_*.deb")):
                subprocess.run(["apt-get", *command.split()], cwd=place, stdout=subprocess.DEVNULL, check=False)
        package = next(place.glob("prometheus_*.deb"), None)
        if package is None:
            skip("Prometheus is not installed, and Debian's package cannot be downloaded: apt install prometheus")
        subprocess.run(["dpkg", "-x", package, place], stdout=subprocess.DEVNULL, check=True)
    return place / "usr/bin"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Prometheus:
    """Started on `data`; scrapes `targets` (addresses) every `interval`. Use as a context."""

    def __init__(self, data, targets=(), interval="1s"):
        self.data, self.targets, self.interval = pathlib.Path(data), targets, interval
        self.url = f"http://127.0.0.1:{free_port()}"

    def __enter__(self):
        config = self.data.parent / "prometheus.yml"
        config.write_text(self.config())
        log = open(self.data.parent / "prometheus.log", "wb")
        self.process = subprocess.Popen(
            [
                binaries() / "prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.data}",
                f"--web.listen-address={self.url.removeprefix('http://')}", "--storage.tsdb.retention.time=10y",
                "--log.level=warn",
            ],
            stdout=log, stderr=log,
        )  # fmt: skip
        self.wait_until_ready()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE_S)

    def config(self):
        targets = ", ".join(f"'{target}'" for target in self.targets)
        return (
            f"global: {{scrape_interval: {self.interval}}}\n"
            "scrape_configs:\n"
            "  - job_name: leveloff\n"
            "    honor_labels: true\n"
            f"    static_configs: [{{targets: [{targets}]}}]\n"
        )

    def wait_until_ready(self):
        give_up = time.monotonic() + PATIENCE_S
        while time.monotonic() < give_up:
            try:
                with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"prometheus ended; see {self.data.parent}/prometheus.log")
            time.sleep(0.1)
        sys.exit("prometheus did not become ready")
