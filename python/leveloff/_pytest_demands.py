"""The options of the pytest marker, and the flags of the program for them."""

import re
import zlib
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from pytest import Mark

FACTS = {"level_by": "--level-by", "limit": "--limit", "epoch_steps": "--epoch-steps"}
"""Also passed to the recorder, so that a later report of the recording has them."""

BOUNDS = {"max_growth": "--max-growth", "max_level": "--max-level", "max_peak": "--max-peak"}
"""Checked on the finished recording."""

KNOWN = (*FACTS, *BOUNDS, "undecided", "interval", "keep")

UNDECIDED = ("warn", "fail", "pass")

INTERVAL = "100ms"
"""A verdict needs some thirty samples, and a test of three seconds should have one."""

LONGEST_NAME = 100
"""Of a test in a file's name; file systems take 255 bytes."""


class Demands(NamedTuple):
    """The options of one test."""

    recorder_flags: List[str]
    check_flags: List[str]
    undecided: str
    keep: Optional[str]
    states_steps: bool
    """Whether an option needs steps."""

    @staticmethod
    def of(markers: Sequence[Mark]) -> "Demands":
        """Out of all markers of a test, nearest first: its own goes before its class's, word by word."""
        stated = _stated(markers)
        facts = _flags(stated, FACTS)
        keep = stated.get("keep")
        return Demands(
            recorder_flags=[f"--interval={stated.get('interval', INTERVAL)}", *facts],
            check_flags=[*facts, *_flags(stated, BOUNDS)],
            undecided=stated.get("undecided", "warn"),
            keep=None if keep is None else str(keep),
            states_steps=stated.get("level_by") is not None,
        )

    def is_failed_by(self, outcome: str) -> bool:
        """Whether the test fails for this answer."""
        return outcome == "failed" or outcome == "undecided" and self.undecided == "fail"

    def is_warned_of(self, outcome: str) -> bool:
        """Whether this answer is worth a warning."""
        return outcome == "undecided" and self.undecided == "warn"


def file_name(test: str) -> str:
    """A recording's name: the test's, as far as file systems take it, and a number that makes it unique."""
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", test.rpartition("/")[2]).strip("-.")
    return f"{plain[:LONGEST_NAME]}-{zlib.crc32(test.encode()):08x}.jsonl"


def _stated(markers: Sequence[Mark]) -> Dict[str, Any]:
    stated: Dict[str, Any] = {}
    for marker in reversed(markers):
        if marker.args:
            raise ValueError("the marker takes named arguments only: leveloff(level_by=90)")
        stated.update(marker.kwargs)
    for name in stated:
        if name not in KNOWN:
            raise ValueError(f"the marker knows no {name}; it takes {', '.join(KNOWN)}")
    if stated.get("undecided", "warn") not in UNDECIDED:
        raise ValueError(f"undecided={stated['undecided']!r}: write one of {', '.join(UNDECIDED)}")
    return stated


def _flags(stated: Dict[str, Any], names: Dict[str, str]) -> List[str]:
    return [f"{flag}={stated[name]}" for name, flag in names.items() if stated.get(name) is not None]
