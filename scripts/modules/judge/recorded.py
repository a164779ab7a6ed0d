"""Recorded runs and published series whose truth is known: a table of what is said of each."""

import csv

import baselines
import runs
from asking import JudgeProgram
from tables import table

# More looks than any of them has points: every prefix is judged.
EVERY_PREFIX = 10_000

# The horizon that is stated in the second round.
LEVEL_BY = 90
# With a horizon stated, a leak must be seen in runs of this length, and none in what levelled
# off a little later than stated.
LONG_ENOUGH, LEVEL_SOON = 250, 100
HEALTHY_ENDS = ("plateau", "stable", "sawtooth")


def traces(judge, directory):
    """Real runs, judged with all the evidence that a recording has, without and with a horizon."""
    judge = JudgeProgram(judge.program, looks=EVERY_PREFIX)
    labels = rows_of(directory / "labels.csv")
    paths = {label["name"]: directory / f"{label['name']}.csv" for label in labels}
    plain = judge.answers(dict.fromkeys(paths.values(), ()))
    stated = judge.answers(dict.fromkeys(paths.values(), (f"--level-by={LEVEL_BY}",)))
    judged = [
        (label, plain[paths[label["name"]]], stated[paths[label["name"]]]) for label in labels
    ]
    header = ["trace", "truth", "guilty", "verdict", "blamed", "ever leak"]
    header += [f"--level-by {LEVEL_BY}", "blamed", "ever leak", ""]
    return table(header, [trace_row(*one) for one in judged]) + "\n\n" + trace_summary(judged)


def trace_row(label, plain, stated):
    return [
        label["name"],
        label["truth"],
        f"{label['guilty_role']} · {label['visible_in']}" if label["guilty_role"] else "",
        verdict(plain),
        blamed(label, plain),
        first_alarm(plain),
        verdict(stated),
        blamed(label, stated),
        first_alarm(stated),
        remark(label, plain),
    ]


def remark(label, plain):
    if label["truth"] != "leak":
        return "WRONG" if first_alarm(plain) else ""
    if plain["verdict"] == "leak":
        return "" if rightly_blamed(label, plain) else "wrong blame"
    return "WRONG" if plain["verdict"] == "level" else "open"


def trace_summary(judged):
    healthy = [one for one in judged if one[0]["truth"] != "leak"]
    leaks = [one for one in judged if one[0]["truth"] == "leak"]
    long = [one for one in leaks if int(one[0]["steps"]) >= LONG_ENOUGH]
    soon = [one for one in healthy if levelled_by(one[0], LEVEL_SOON)]
    flagged = [one for one in leaks if one[1]["verdict"] == "leak"]
    rows = [
        [
            "healthy or ambiguous ever called leak",
            some(healthy, lambda one: first_alarm(one[1])),
            "0",
        ],
        ["leaks flagged by their end", some(leaks, lambda one: one in flagged), "≥ 3 in 5"],
        [
            "… with the right role and kind",
            some(flagged, lambda one: rightly_blamed(*one[:2])),
            "all",
        ],
        [
            f"--level-by {LEVEL_BY}: leaks of ≥ {LONG_ENOUGH} steps flagged",
            some(long, lambda one: one[2]["verdict"] == "leak"),
            "all that move a measured series",
        ],
        [
            f"--level-by {LEVEL_BY}: level by {LEVEL_SOON}, ever called leak",
            some(soon, lambda one: first_alarm(one[2])),
            "0",
        ],
    ]
    return table(["recorded runs", "measured", "must reach"], rows)


def levelled_by(label, step):
    return label["plateau_step"] != "" and float(label["plateau_step"]) <= step


def rightly_blamed(label, answer):
    """The largest share of the blame is on the guilty role (files have no role) and kind."""
    if not answer["blame"]:
        return False
    largest = answer["blame"][0]
    right_role = largest["role"] in (None, label["guilty_role"])
    return right_role and largest["kind"] in label["visible_in"]


def corpus(judge, directory):
    """Series from public issues, and how each thread ended."""
    judge = JudgeProgram(judge.program, looks=EVERY_PREFIX)
    index = rows_of(directory / "index.csv")
    paths = {row["name"]: directory / "series" / f"{row['name']}.csv" for row in index}
    answers = judge.answers(dict.fromkeys(paths.values(), ()))
    judged = [(row, answers[paths[row["name"]]]) for row in index]
    rows = [
        [row["name"], row["truth"], row["evidence"], row["points"], verdict(answer)]
        + [first_alarm(answer), series_remark(row, answer)]
        for row, answer in judged
    ]
    header = ["series", "truth", "evidence", "points", "verdict", "ever leak", ""]
    return table(header, rows) + "\n\n" + corpus_summary(judged, paths)


def series_remark(row, answer):
    said, truth = answer["verdict"], row["truth"]
    wrong = (said == "leak" and truth in HEALTHY_ENDS) or (said == "level" and truth == "leak")
    return "WRONG" if wrong else ""


def corpus_summary(judged, paths):
    ours = {row["name"]: answer["verdict"] for row, answer in judged}
    predictions = {runs.OURS: ours}
    for name, test in baselines.TESTS.items():
        predictions[name] = {series: said_by(test, path) for series, path in paths.items()}
    healthy = [row["name"] for row, _ in judged if row["truth"] in HEALTHY_ENDS]
    leaks = [row["name"] for row, _ in judged if row["truth"] == "leak"]
    questions = [
        ("healthy called leak", healthy, "leak", "0"),
        ("leaks called level", leaks, "level", "≤ 3"),
        ("leaks called leak", leaks, "leak", ""),
    ]
    rows = [
        [question, *(called(series, word, by) for by in predictions.values()), wanted]
        for question, series, word, wanted in questions
    ]
    return table(["series from public issues", *predictions, "must reach"], rows)


def called(series, word, predictions):
    return some(series, lambda one: predictions[one] == word)


def said_by(test, path):
    leak, _ = test(*runs.read_run(path))
    return "leak" if leak else "level"


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def verdict(answer):
    graded = f" ({answer['grade']})" if answer["grade"] else ""
    return f"{answer['verdict']}{graded}, {answer['shape']}"


def blamed(label, answer):
    """The blamed role and kind, where a leak exists or is reported."""
    if label["truth"] != "leak" and answer["verdict"] != "leak":
        return ""
    if not answer["blame"]:
        return "nothing"
    largest = answer["blame"][0]
    return f"{largest['role'] or 'no process'} · {largest['kind']} {100 * largest['share']:.0f} %"


def first_alarm(answer):
    """Where a leak was called first, or nothing."""
    for look in answer["trajectory"]:
        if look["verdict"] == "leak":
            return f"at {look['x']:,.0f}"
    return ""


def some(items, condition):
    return f"{sum(bool(condition(item)) for item in items)} of {len(items)}"
