"""What `leveloff judge` says of a recording at many moments, and how to put it into a table."""

import json
import subprocess

LOOKS = 40
LEVEL_BY = 90  # The horizon that is stated in the second round.
LEVEL_SOON = 100  # What levelled off this early must not be called a leak then.
ANSWERS = (0, 1, 3)  # Level, leak, not decided. Anything else is not an answer.


def ask(program, recording, *flags):
    command = [program, "judge", "--format", "json", "--looks", str(LOOKS), *flags, recording]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in ANSWERS:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def ask_both(program, recording):
    """Without and with a stated horizon."""
    return ask(program, recording), ask(program, recording, f"--level-by={LEVEL_BY}")


def is_leak(answer):
    return answer["verdict"] == "leak"


def verdict(answer):
    graded = f" ({answer['grade']})" if answer["grade"] else ""
    return f"{answer['verdict']}{graded}, {answer['shape']}"


def first_alarm(answer):
    """The step at which a leak was called first, if ever."""
    return next((look["x"] for look in answer["trajectory"] if is_leak(look)), None)


def at(step):
    return "" if step is None else f"at {step:.0f}"


def blame(answer):
    parts = [f"{one['role'] or 'no process'} {one['kind']} {100 * one['share']:.0f} %" for one in answer["blame"][:2]]
    return ", ".join(parts) or "nothing"
