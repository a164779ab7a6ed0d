"""A training's row in the table."""

from collections import Counter
from dataclasses import dataclass, field

from answers import blame, verdict

HEADER = ["case", "steps", "phases", "events", "tensors", "roles", "verdict", "findings", "callback", "time", "misses"]


@dataclass
class Outcome:
    """What was seen of one case; `misses` holds what was wrong."""

    case: str
    seen: dict = field(default_factory=dict)
    misses: list = field(default_factory=list)
    note: str = ""
    run: bool = True

    def row(self):
        missed = "not run" if not self.run else f"{len(self.misses)} MISSED" if self.misses else ""
        remarks = "; ".join(filter(None, [missed, self.note]))
        return [self.case, *(self.seen.get(name, "") for name in HEADER[1:-1]), remarks]


def columns(recording, notes, plain, stated):
    """The cells of the recording and of what is said of it."""
    phases = Counter(row["phase"] for _, row in recording.marks if "phase" in row)
    events = Counter(row["event"] for _, row in recording.marks if "event" in row)
    roles = Counter(one.role for one in recording.processes.values())
    return {
        "steps": f"{recording.samples[-1][1]}/{notes.last_step}",
        "phases": counted(phases), "events": counted(events), "roles": counted(roles),
        "tensors": f"{recording.progress[-1].get('tensors', '–')} ({len(notes.counts)} counts)",
        "verdict": f"{verdict(plain)}; --level-by: {verdict(stated)}",
        "findings": f"{blame(plain)}; {names(plain)}{names_with_horizon(plain, stated)}",
        "callback": cost(notes),
    }


def counted(counts):
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def names(answer):
    return ", ".join(one["name"] for one in answer["findings"]) or "no finding"


def names_with_horizon(plain, stated):
    return "" if names(plain) == names(stated) else f"; --level-by: {names(stated)}"


def cost(notes):
    """The mean of a step from outside, its share of the time, the longest call; then what the package says itself."""
    spent, calls, train_s = notes.fact("outside_s"), notes.fact("calls"), notes.fact("train_s")
    if not calls:
        return ""
    outside = (f"{1e6 * spent / calls:.0f} µs/step (CPU {1e6 * notes.fact('outside_cpu_s') / calls:.0f}), "
               f"{spent / train_s:.2%}, worst {1e3 * notes.fact('outside_worst_s'):.1f} ms")
    said = notes.fact("cost")
    if not said:
        return outside
    steps, counting = max(said["steps"], 1), said["counting_seconds"] / said["seconds"]
    mean, cpu = 1e6 * said["seconds"] / steps, 1e6 * said["cpu_seconds"] / steps
    return (f"{outside}; says {mean:.0f} µs/step (CPU {cpu:.0f}), of that counting {counting:.0%} in "
            f"{said['counts']} counts, worst {1e3 * said['worst_seconds']:.1f} ms")
