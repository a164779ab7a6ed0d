"""A run of a pattern, what was said of it, and how many were right, in rows of a table."""

from dataclasses import dataclass

from answers import LEVEL_BY, LEVEL_SOON, ask_both, at, blame, first_alarm, is_leak, verdict
from places import LEVELOFF

HEADER = ["pattern", "truth", "steps", "verdict", "ever leak", "blamed", f"--level-by {LEVEL_BY}", "ever leak", "pace", ""]


@dataclass
class Judged:
    """One recording with its truth, judged without and with a stated horizon."""

    name: str
    truth: dict
    steps: int
    plain: dict
    stated: dict

    @property
    def leaks(self):
        return self.truth["truth"] == "leak"

    def row(self):
        blamed = self.plain if self.plain["verdict"] == "leak" else self.stated
        return [
            self.name, self.truth["truth"], self.steps,
            verdict(self.plain), at(first_alarm(self.plain)),
            blame(blamed) if self.leaks or blamed["verdict"] == "leak" else "",
            verdict(self.stated), at(first_alarm(self.stated)),
            f"{1000 * (self.plain['pace_s'] or 0):.0f} ms", self.remark(),
        ]

    def remark(self):
        if not self.leaks:
            wrong = ["WRONG"] if first_alarm(self.plain) else []
            return "; ".join(wrong + (["WRONG by horizon"] if self.soon and first_alarm(self.stated) else []))
        said = [answer for answer in (self.plain, self.stated) if answer["verdict"] == "leak"]
        if not said:
            return "MISSED"
        remarks = [] if self.plain in said else ["called level" if self.plain["verdict"] == "level" else "open"]
        return "; ".join(remarks + ([] if all(map(self.rightly_blamed, said)) else ["WRONG blame"]))

    @property
    def soon(self):
        return not self.leaks and self.truth["level_at"] <= LEVEL_SOON

    def rightly_blamed(self, answer):
        """The largest share of the blame is on who keeps it, and on a kind in which it shows."""
        if not answer["blame"]:
            return False
        largest = answer["blame"][0]
        right_role = largest["role"] == self.truth["role"] or largest["role"] is None
        return right_role and largest["kind"] in self.truth["kinds"]


def judge(name, truth, steps, recording):
    return Judged(name, truth, steps, *ask_both(LEVELOFF, recording))


def totals(judged, short):
    """How often it was right: rows with what was measured and what must be reached."""
    healthy = [one for one in judged if not one.leaks]
    leaks = [one for one in judged if one.leaks and one.steps > short]
    short_leaks = [one for one in judged if one.leaks and one.steps <= short]
    soon = [one for one in judged if one.soon]
    return [
        ["healthy called leak at the end", some(healthy, lambda one: is_leak(one.plain)), "0"],
        ["healthy called leak at any look", some(healthy, lambda one: first_alarm(one.plain)), "0"],
        ["leaks flagged by their end", some(leaks, lambda one: is_leak(one.plain)), "≥ 10 of 11"],
        *blame_row(leaks, "plain"),
        ["leaks called level", some(leaks, lambda one: one.plain["verdict"] == "level"), "0"],
        [f"--level-by {LEVEL_BY}: leaks flagged", some(leaks, lambda one: is_leak(one.stated)), "all"],
        [f"--level-by {LEVEL_BY}: level by {LEVEL_SOON}, ever called leak",
         some(soon, lambda one: first_alarm(one.stated)), "0"],
        [f"leaks of {short} steps flagged by their end", some(short_leaks, lambda one: is_leak(one.plain)), "≥ 3 in 5"],
        *blame_row(short_leaks, "plain"),
        [f"--level-by {LEVEL_BY}: leaks of {short} steps flagged",
         some(short_leaks, lambda one: is_leak(one.stated)), "all that move a measured series"],
        *blame_row(short_leaks, "stated"),
    ]


def blame_row(leaks, round_name):
    flagged = [one for one in leaks if is_leak(getattr(one, round_name))]
    right = some(flagged, lambda one: one.rightly_blamed(getattr(one, round_name)))
    return [["… with the right role and kind", right, "all"]]


def some(items, condition):
    return f"{sum(bool(condition(item)) for item in items)} of {len(items)}"
