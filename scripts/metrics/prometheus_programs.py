"""Prometheus' own programs: those that are installed, or those of Debian's package, unpacked and not installed."""

import glob
import os
import shutil
import subprocess


def programs(place):
    """promtool and prometheus. An installed package would start a service, which is nobody's wish here."""
    found = [shutil.which(name) for name in ("promtool", "prometheus")]
    if all(found):
        return found
    download, update = ["apt-get", "-q", "download", "prometheus"], ["apt-get", "-q", "update"]
    # The lists of packages may be old, or missing.
    for command in (download, update, download):
        subprocess.run(command, cwd=place, stdout=subprocess.DEVNULL)
        package = glob.glob(os.path.join(place, "prometheus_*.deb"))
        if package:
            break
    if not package:
        raise SystemExit("promtool is missing, and Debian's package cannot be had; apt-get install prometheus")
    subprocess.run(["dpkg-deb", "-x", package[0], place], check=True)
    return [os.path.join(place, "usr", "bin", name) for name in ("promtool", "prometheus")]
