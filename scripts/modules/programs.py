"""The programs under test, and how a suite ends when it cannot run here."""

import os
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = os.path.join(REPOSITORY, os.environ.get("CARGO_TARGET_DIR", "target"))
# Exit code of a suite that lacks something outside the repository, as in automake and meson.
SKIPPED = 77
# Runs of one suite are no history of another, and none of the user's.
os.environ.setdefault("LEVELOFF_HISTORY", "0")


def add_binaries(parser):
    """The option that every suite has."""
    parser.add_argument("--binaries", metavar="DIR", default=os.path.join(TARGET, "release"), type=os.path.abspath,
                        help="directory with leveloff and leveloff-trainer (default: target/release)")


def program(directory, name):
    """The path of a program, which must be built."""
    path = os.path.join(directory, name)
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} does not exist; build it: cargo build --release -p {name}")
    return path


def skip(reason):
    """Ends a suite that cannot run here. scripts/test-all shows the reason."""
    print(f"skipped: {reason}", file=sys.stderr, flush=True)
    sys.exit(SKIPPED)
