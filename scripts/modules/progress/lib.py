"""Shared pieces of the generator of the development set: a log under construction, tqdm bars, invented numbers.

Every log is written by this code from a project's own format strings; no line is copied from a log of others.
"""
import hashlib
import math
import random
import re
from datetime import datetime, timedelta

FORMATS = []  # (name, source, kind, function)


def positive(name, source):
    return lambda function: add(name, source, "positive", function)


def negative(name, source):
    return lambda function: add(name, source, "negative", function)


def add(name, source, kind, function):
    """Each format is a file of its name, so that a second one would replace it."""
    if any(name == known for known, *_ in FORMATS):
        raise ValueError(f"two formats are called {name}")
    FORMATS.append((name, source, kind, function))
    return function


class Log:
    """Bytes as the program would write them, and where the first step stands in them."""

    def __init__(self, name, pty=False):
        self.name = name
        self.pty = pty
        self.parts = []
        self.size = 0
        self.first = None
        self.random = random.Random(int(hashlib.sha256(name.encode()).hexdigest()[:12], 16))
        self.now = datetime(2025, 3, 11, 9, 14, 2, 318000) + timedelta(seconds=self.random.randint(0, 90000))

    def raw(self, text, step=False):
        if self.pty:
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
        if step and self.first is None:
            self.first = self.size
        data = text.encode("utf-8")
        self.parts.append(data)
        self.size += len(data)

    def line(self, text="", step=False):
        self.raw(text + "\n", step)

    def lines(self, text):
        for one in text.strip("\n").split("\n"):
            self.line(one)

    def step(self, text):
        self.line(text, step=True)

    def bar(self, text):
        self.raw("\r" + text, step=True)

    def tick(self, seconds):
        self.now += timedelta(seconds=seconds * (0.8 + 0.4 * self.random.random()))
        return self.now

    def at(self, pattern="%Y-%m-%d %H:%M:%S"):
        return self.now.strftime(pattern)

    def ms(self, comma=","):
        return self.now.strftime("%Y-%m-%d %H:%M:%S") + comma + "%03d" % (self.now.microsecond // 1000)

    def loss(self, part, high=2.4, low=0.3, noise=0.05):
        value = low + (high - low) * math.exp(-4 * part)
        return max(1e-4, value * (1 + noise * (2 * self.random.random() - 1)))

    def near(self, value, share=0.1):
        return value * (1 + share * (2 * self.random.random() - 1))

    def data(self):
        return b"".join(self.parts)


INVISIBLE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|[\x00-\x08\x0b-\x1f\s]")


def piece_index(data, offset):
    """Index of the piece (split at \\n or \\r, pieces without a visible character left out) that holds the first step.

    `offset` is where the write that holds the step begins; the write may begin with \\r or with escape codes.
    """
    index, position = 0, 0
    for piece in re.split(rb"[\r\n]", data):
        visible = INVISIBLE.sub(b"", piece)
        end = position + len(piece)
        if visible:
            if end > offset:
                return index
            index += 1
        position = end + 1
    raise ValueError("no piece at the offset")


BLOCKS = " ▏▎▍▌▋▊▉█"
ASCII = " 123456789#"


def clock(seconds):
    minutes, s = divmod(abs(int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:d}:{minutes:02d}:{s:02d}" if hours else f"{minutes:02d}:{s:02d}"


def sized(number):
    for unit in ["", "k", "M", "G", "T"]:
        if abs(number) < 999.5:
            if abs(number) < 99.95:
                return f"{number:1.2f}{unit}" if abs(number) < 9.995 else f"{number:2.1f}{unit}"
            return f"{number:3.0f}{unit}"
        number /= 1000
    return f"{number:3.1f}P"


def filled(part, width, symbols=BLOCKS):
    count = len(symbols) - 1
    whole, rest = divmod(int(part * width * count), count)
    text = symbols[-1] * whole
    return text + symbols[rest] + symbols[0] * (width - whole - 1) if whole < width else text


def tqdm(n, total, elapsed, desc="", unit="it", postfix="", ncols=None, ascii=False, scale=False, noinv=False):
    """The text of a tqdm bar (tqdm/tqdm tqdm/std.py, format_meter)."""
    rate = n / elapsed if elapsed and n else None
    inverse = 1 / rate if rate else None
    plain = ((sized(rate) if scale else f"{rate:5.2f}") if rate else "?") + unit + "/s"
    slow = ((sized(inverse) if scale else f"{inverse:5.2f}") if inverse else "?") + "s/" + unit
    speed = slow if inverse and inverse > 1 and not noinv else plain
    n_text = sized(n) if scale else str(n)
    tail = ", " + postfix if postfix else ""
    head = desc if desc.endswith(": ") else desc + ": " if desc else ""
    if not total:
        return f"{head}{n_text}{unit} [{clock(elapsed)}, {speed}{tail}]"
    total_text = sized(total) if scale else str(total)
    left = clock((total - n) / rate) if rate else "?"
    left_part = f"{head}{n / total * 100:3.0f}%|"
    right = f"| {n_text}/{total_text} [{clock(elapsed)}<{left}, {speed}{tail}]"
    width = max(1, ncols - len(left_part) - len(right)) if ncols else 10
    return left_part + filled(n / total, width, ASCII if ascii else BLOCKS) + right


def truth(last_step, unit="steps", total="", epoch_steps="", last_epoch="", notes=""):
    return dict(last_step=last_step, unit=unit, total=total, epoch_steps=epoch_steps, last_epoch=last_epoch, notes=notes)
