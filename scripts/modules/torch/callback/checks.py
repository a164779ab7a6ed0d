"""What a recording says about a training, against what the training noted. Each check returns its misses."""

from collections import Counter

from steps import misplaced

LOOK_S = 0.25  # A look at the whole tree takes its time on a busy machine; a step may come meanwhile.
HELD_S = 0.1  # A step that comes so soon after a line waits for a later one.
SEEN_S = 0.1  # A line waits for the recorder's next look.
MARKS_FOUND_S = 1.5  # How long a marks file may be there before the recorder looks for it again.
COUNT_SEEN_S = 2  # When a count has to be in the recording.
EXACT = {"checkpoint", "restart"}  # Events that must not be recorded where they did not happen.
PLAIN_ROLES = {"other", "helper", "compiler"}  # Come and go with every training.
MOST_STEP_S, MOST_SHARE = 0.001, 0.005


def steps(recording, notes):
    found_s = notes.steps[0][0] + MARKS_FOUND_S
    done = [(max(moment + SEEN_S, found_s), step) for moment, step in written(notes.steps_done)]
    found = misplaced(notes.steps, recording.samples, done, LOOK_S)
    last = recording.progress[-1]
    if last.get("source") != "marks":
        found.append(f"steps come from {last.get('source')}, not from marks")
    planned = notes.fact("planned_steps")
    if planned and last.get("planned_steps") != planned:
        found.append(f"{last.get('planned_steps')} steps are planned, in truth {planned}")
    return found[:5]


def written(steps):
    """When each step had been written at the latest: with the first one that comes no sooner than the package writes
    lines, and at the very end, which has its own check."""
    later, known = 0, []
    for moment, step in steps:
        while later < len(steps) and steps[later][0] < moment + HELD_S:
            later += 1
        if later < len(steps):
            known.append((steps[later][0], step))
    return known


def phases(recording, notes):
    """Every evaluation begins and ends at its step; a phase before the first step may be recorded or not."""
    said = changes([(row.get("step", 0), row["phase"]) for _, row in recording.marks if "phase" in row])
    true = changes(notes.phases)
    return [] if said == true else [f"phases {said}, in truth {true}"]


def changes(phases):
    """Those that change the phase; a training begins with training."""
    phase, changed = "train", []
    for step, now in phases:
        if now != phase:
            changed.append((step, now))
        phase = now
    return changed


def events(recording, notes, wanted):
    said = Counter((row.get("step", 0), row["event"]) for _, row in recording.marks if "event" in row)
    true = Counter(notes.events)
    missing = [f"{event} at step {step} is not marked" for step, event in (true - said)]
    more = [f"{event} at step {step} never happened" for step, event in (said - true) if event in EXACT]
    names = {event for _, event in said}
    return missing + more + [f"no event {name}" for name in wanted if name not in names]


def tensors(recording, notes, least):
    """Whenever the callback counted, so did the training, right after it."""
    found = []
    for count in notes.counts:
        seen = [progress for (moment, _), progress in zip(recording.samples, recording.progress)
                if count["t"] - HELD_S <= moment <= count["t"] + COUNT_SEEN_S]
        for name in ("tensors", "tensor_bytes"):
            said = sorted({one[name] for one in seen if name in one})
            if seen and count[name] not in said:
                found.append(f"{name} at step {count['at']}: {said}, in truth {count[name]}")
    if len(notes.counts) < least:
        found.append(f"tensors were counted {len(notes.counts)} times, expected {least} or more")
    return found


def roles(recording, expected, ranks):
    """How many there are of each, and that each trainer of several is known by its rank."""
    living = Counter(one.role for one in recording.processes.values() if one.role not in PLAIN_ROLES)
    expected = {role: count for role, count in expected.items() if count}
    found = [] if living == expected else [f"roles {dict(living)}, in truth {expected}"]
    said = {one.pid: one.rank for one in recording.processes.values() if one.role == "trainer"}
    true = {one.pid: one.rank for one in ranks}
    if len(true) > 1 and said != true:
        found.append(f"ranks by pid {said}, in truth {true}")
    return found


def lowest_rank_marks(recording, ranks):
    marking = {one.rank for one, _ in recording.marks}
    return [] if len(ranks) < 2 or marking == {0} else [f"marks of the ranks {marking} are recorded, not of 0 alone"]


def verdict(case, plain, stated):
    """Of leaks it is enough that one is called, without or with a stated horizon."""
    said = [answer for answer in (plain, stated) if answer["verdict"] == "leak"]
    if case.leaks is False and plain["verdict"] == "leak":
        return ["is called a leak"]
    if case.leaks and not said:
        return ["is not called a leak, not even with a stated horizon"]
    return []


def reasons(case, answer):
    """Blame and findings of the answer that counts."""
    found, names = [], [one["name"] for one in answer["findings"]]
    found += [f"no finding {name}" for name in case.findings if name not in names]
    found += [f"wrong finding {name}" for name in case.not_findings if name in names]
    if case.blame:
        role, *kinds = case.blame
        largest = answer["blame"][0] if answer["blame"] else {"role": None, "kind": None}
        if largest["role"] != role or largest["kind"] not in kinds:
            found.append(f"blames {largest['role']} {largest['kind']}, in truth {role} {kinds[0]}")
    return found


def grown(case, recording):
    if not case.grown:
        return []
    said = next((one["tensors_grown"] for one in reversed(recording.progress) if one.get("tensors_grown")), None)
    first = said and str(said[0])
    return [] if first and case.grown in first else [f"grown tensors {said}, not {case.grown} first"]


def cost(case, notes, is_busy):
    """In CPU time always; by the clock, and by what the callback says itself, only where nothing else uses the
    machine: there, a call that has to wait for a core is no cost of the call."""
    if not case.cheap:
        return []
    said, calls, train_s, found = notes.fact("cost"), notes.fact("calls"), notes.fact("train_s"), []
    ways = [("its CPU time", notes.fact("outside_cpu_s")), ("cost()'s CPU time", said["cpu_seconds"])]
    if not is_busy:
        ways += [("the clock", notes.fact("outside_s")), ("cost()", said["seconds"])]
    for way, spent in ways:
        if spent / calls > MOST_STEP_S or spent / train_s > MOST_SHARE:
            found.append(f"by {way}, {calls} steps cost {1e3 * spent:.1f} ms, {spent / train_s:.2%} of the time")
    if said["steps"] != calls:
        found.append(f"cost() knows {said['steps']} steps of {calls}")
    return found
