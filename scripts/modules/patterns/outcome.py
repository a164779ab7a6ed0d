"""A pattern of the reference trainer, what was said of it, and whether that is its truth."""

from dataclasses import dataclass

from answers import LEVEL_BY, LEVEL_SOON, at, first_alarm, is_leak, verdict

HEADER = [
    "pattern", "truth", "steps", f"--level-by {LEVEL_BY}", "decided", "without", "decided", "blamed", "rate", "",
]
EVENT_FINDINGS = {"evaluation-growth", "checkpoint-growth", "epoch-growth"}


@dataclass
class Outcome:
    """One recording, judged without and with a stated horizon, beside the trainer's own truth."""

    name: str
    truth: dict
    steps: int
    plain: dict
    stated: dict

    @property
    def leaks(self):
        return self.truth["verdict"] == "leak"

    def row(self):
        return [
            self.name, self.truth_words(), self.steps,
            verdict(self.stated), at(decided(self.stated)),
            verdict(self.plain), at(decided(self.plain)),
            blamed(self.stated) if self.leaks else "", self.rate_error(),
            "; ".join(self.misses()),
        ]

    def truth_words(self):
        words = f"{self.truth['verdict']} since {self.truth['since']}"
        whose = [self.truth.get("role"), self.truth.get("kind")]
        return ", ".join([words, " ".join(filter(None, whose))]) if any(whose) else words

    def misses(self):
        """What makes the test fail, in words."""
        return self.misses_of_leak() if self.leaks else self.misses_of_health()

    def misses_of_leak(self):
        if not is_leak(self.stated):
            return ["MISSED"]
        wrong = [] if self.rightly_blamed() else ["WRONG blame"]
        wrong += [f"WRONG {name}" for name in self.wrong_clocks()]
        return wrong + [f"NOT FOUND {name}" for name in self.missing_findings()]

    def misses_of_health(self):
        misses = [] if self.stated["verdict"] == "level" else ["NOT LEVEL"]
        alarms = [("", self.plain)]
        # One that is still growing past the stated horizon is a leak by the user's own word.
        if self.truth["since"] <= LEVEL_SOON:
            alarms.append((" by horizon", self.stated))
        for how, answer in alarms:
            if (alarm := first_alarm(answer)) is not None:
                misses.append(f"CALLED LEAK{how} {at(alarm)}")
        return misses + [f"NOT FOUND {name}" for name in self.missing_findings()]

    def rightly_blamed(self):
        """The largest share of the blame is on the true role and kind. Memory of no process has no role."""
        role, kind = self.truth.get("role"), self.truth.get("kind")
        if not self.stated["blame"]:
            return not (role or kind)
        largest = self.stated["blame"][0]
        return (not role or largest["role"] in (role, None)) and (not kind or largest["kind"] == kind)

    def missing_findings(self):
        found = {finding["name"] for finding in self.stated["findings"]}
        return [name for name in self.truth["findings"] if name not in found]

    def wrong_clocks(self):
        """Kinds of events that are named, and that the growth does not come with."""
        found = {finding["name"] for answer in (self.plain, self.stated) for finding in answer["findings"]}
        return sorted(found & EVENT_FINDINGS - set(self.truth["findings"]))

    def rate_error(self):
        """How far the rate that was said is from the true one. A count is no amount of memory."""
        said, true = self.stated["rate_bytes"], self.truth["bytes_per_step"]
        is_counted = self.truth.get("kind") == "fds"
        if not self.leaks or not true or is_counted or said is None or not is_leak(self.stated):
            return ""
        return f"{100 * (said / true - 1):+.1f} %"


def decided(answer):
    """The step from which on the last verdict was said without a break."""
    since = None
    for look in answer["trajectory"]:
        if look["verdict"] != answer["verdict"]:
            since = None
        elif since is None:
            since = look["x"]
    return since


def blamed(answer):
    if not answer["blame"]:
        return "nothing"
    largest = answer["blame"][0]
    return f"{largest['role'] or 'no process'} {largest['kind']}"
