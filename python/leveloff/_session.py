"""What one process reports: its steps, phases and events."""

import os
import sys
import threading
import time
from contextlib import suppress
from typing import AbstractSet, Any, Callable, Dict, List, Mapping, Optional, Tuple

from . import _numbers
from ._guard import Trouble, guarded, switch
from ._counters import Counters, Options
from ._inputs import InputShapes
from ._paths import MarksPaths, choose
from ._stop import StopWatch
from ._writer import MarksFile

PLAIN = frozenset((int, float))
"""Numbers that hold on to nothing else."""

VALID: Dict[str, Tuple[Callable[[Any], bool], str]] = {
    "every": (lambda every: type(every) is int and every > 0, "a number of steps from 1 on"),
    "tensors": (lambda tensors: tensors is None or type(tensors) is bool, "True, False or None"),
    "shapes": (lambda shapes: type(shapes) is bool, "True or False"),
    "objects": (lambda objects: type(objects) is bool, "True or False"),
    "trim_probe": (lambda trim: type(trim) is bool, "True or False"),
    "budget": (lambda budget: type(budget) in (int, float) and budget > 0, "a share above 0"),
}
"""Options, what they may be, and that in words."""

STANDING = ("planned_steps", "epoch_steps")
"""Facts that hold until they are replaced. They are repeated for a watcher that starts late."""


class Session:
    """One process's marks. A fork's child has one of its own."""

    def __init__(self, options: Options, is_fork_child: bool) -> None:
        self.pid = os.getpid()
        self.options = options
        self._lock = threading.RLock()  # A signal handler may mark while a mark is written.
        self._is_fork_child = is_fork_child
        self._paths: Optional[MarksPaths] = None
        self._file: Optional[MarksFile] = None
        self._inputs = InputShapes()
        self._counters = Counters(options, is_fork_child, self._inputs)
        self._stop: Optional[StopWatch] = None
        self._step: Optional[int] = None
        self._calls = 0
        self._epoch: Optional[float] = None
        self._phase: Optional[str] = None
        self._blocks: List[str] = []
        self._reported_phase: Optional[str] = None
        self._quiet_until = float("-inf")
        self._waiting: Optional[Tuple[Any, Mapping[str, Any], float]] = None
        self._waiting_facts: AbstractSet[str] = frozenset()

    def step(self, n: Any, phase: Any, facts: Mapping[str, Any]) -> None:
        """A step is done."""
        with self._lock:
            now = time.monotonic()
            if now < self._quiet_until and type(n) is int and phase is self._phase and self._are_plain(facts):
                # Most steps come here, with cold caches, so as little as possible is done.
                self._calls += 1
                switch.steps += 1
                self._waiting = (n, facts, time.time())
                return
            with switch.working():
                self._report_step(n, phase, facts, now)

    def is_quiet(self) -> bool:
        """Whether a step now would only be noted."""
        return time.monotonic() < self._quiet_until

    def _report_step(self, n: Any, phase: Any, facts: Mapping[str, Any], now: float) -> None:
        self._open()
        self._take_waiting()
        line: Dict[str, Any] = {}
        number = _numbers.whole(n, "step")
        if number is not None:
            line["step"] = self._step = number
        if facts:
            self._add_facts(line, facts)
        if phase is not self._phase:
            self._phase = _numbers.name(phase, "phase") or self._phase
        self._calls += 1
        switch.steps += 1
        counted = self._counters.look(self._calls, now)
        if self._begins_epoch(line):
            counted = {**self._counters.at_boundary(now), **counted}
        line.update(counted)
        has_news = self._add_phase(line) or bool(counted)
        self._put(line, now, may_wait=not has_news)
        self._waiting_facts = frozenset(facts)  # Not the view: it would hold on to the values.
        if self._file is not None:
            self._quiet_until = min(self._file.quiet_until, self._counters.quiet_until)

    def _begins_epoch(self, line: Mapping[str, Any]) -> bool:
        """Whether this step begins another epoch than the one before."""
        epoch = line.get("epoch")
        if epoch is None:
            return False
        before, self._epoch = self._epoch, epoch // 1
        return before is not None and before != self._epoch

    def _are_plain(self, facts: Mapping[str, Any]) -> bool:
        """The same facts as with the last line, all plain numbers: a kept tensor would keep its graph alive."""
        return not facts or (facts.keys() == self._waiting_facts and PLAIN.issuperset(map(type, facts.values())))

    def _take_waiting(self) -> None:
        """Hands on the last of the steps that were held back."""
        if self._waiting is None:
            return
        (n, facts, wall), self._waiting = self._waiting, None
        line: Dict[str, Any] = {"t": round(wall, 4)}
        number = _numbers.whole(n, "step")
        if number is not None:
            line["step"] = self._step = number
        self._add_facts(line, facts)
        if self._file is not None:
            self._file.hold(line)

    def inputs(self, batch: Any) -> None:
        """A batch was handed to the model. Only its shapes are remembered."""
        self._inputs.note(batch)

    def set_phase(self, phase: Any, facts: Mapping[str, Any]) -> None:
        """From now on this phase, until the next step or phase says another."""
        if phase is self._phase is self._reported_phase and not facts and not self._blocks:
            return  # Callbacks report it at each batch of an evaluation.
        with self._lock:
            self._open()
            self._take_waiting()
            self._phase = _numbers.name(phase, "phase") or self._phase
            self._report_phase(facts)

    def enter(self, phase: str, facts: Mapping[str, Any]) -> None:
        """A block of a phase begins; steps within are of this phase."""
        with self._lock:
            self._open()
            self._take_waiting()
            self._blocks.append(phase)
            self._report_phase(facts)

    def leave(self, phase: str) -> None:
        """The block ends. Blocks of several threads may end in any order."""
        with self._lock:
            self._open()
            self._take_waiting()
            if phase in self._blocks:
                last = len(self._blocks) - 1 - self._blocks[::-1].index(phase)
                del self._blocks[last]
            self._phase = self._phase or "train"
            self._report_phase({})

    def mark(self, event: Any, facts: Mapping[str, Any], path: Any = None) -> None:
        """Something happened, and is to be found at a path, where there is one."""
        with self._lock:
            self._open()
            self._take_waiting()
            name = _numbers.name(event, "event")
            line: Dict[str, Any] = {} if name is None else {"event": name}
            if self._step is not None:
                line["step"] = self._step
            valid = None if path is None or name is None else _numbers.path(path)
            if valid is not None:
                line["path"] = valid
            self._add_facts(line, facts)
            self._put_with_counts(line)

    def state(self, **facts: Any) -> None:
        """Reports valid facts that hold from now on."""
        with self._lock:
            self._open()
            self._take_waiting()
            if self._file is not None:
                line = self._file.state(**facts)
                self._put(dict(line), time.monotonic(), may_wait=False)

    def begin_file(self) -> None:
        """Creates the marks file before the first report."""
        with self._lock:
            self._open()

    def begin_at(self, step: int) -> None:
        """A training begins at this step, perhaps after another one in this process."""
        with self._lock:
            self._open()
            self._take_waiting()
            self._step = step

    def is_stopping(self) -> bool:
        """Whether the training is stopping."""
        return self._stop is not None and self._stop.is_stopping

    def stop_watch(self) -> StopWatch:
        """The stop request's watch. The first call marks that this training obeys."""
        with self._lock:
            self._open()
            if self._stop is None:
                assert self._paths is not None, "opened just now"
                self._stop = StopWatch(self._paths.stop, os.getuid(), self)
                self.state(obeys_stop=True)
            return self._stop

    def should_stop(self, agree: Optional[Callable[[bool], bool]] = None) -> bool:
        """Whether to save and stop now."""
        stop = self._stop
        if stop is not None and agree is None and stop.is_quiet():
            return False
        return self.stop_watch().look(agree)

    def configure(self, options: Options) -> None:
        """Takes other options."""
        with self._lock:
            self.options = options
            self._counters = Counters(options, self._is_fork_child, self._inputs)
            self._quiet_until = float("-inf")

    def finish(self) -> None:
        """The process ends in order: nothing is held back any more."""
        with self._lock:
            self._take_waiting()
            if self._stop is not None:
                self._stop.finish()
            if self._file is not None and self.pid == os.getpid():
                self._file.flush()

    def discard(self) -> None:
        """Removes the marks."""
        with self._lock:
            if self._file is not None and self._paths is not None and self.pid == os.getpid():
                self._file.close()
                with suppress(FileNotFoundError):
                    os.unlink(self._paths.marks)

    def abandon(self) -> None:
        """In a fork's child: the file is the parent's. The lock may be held by a thread that does not exist here, so it
        is not taken."""
        if self._file is not None:
            self._file.close()

    def _open(self) -> None:
        """Creates the file before the first report."""
        if self.pid != os.getpid():
            # Native code forked, and Python's own hooks did not run.
            self.abandon()
            raise Trouble("it was forked by native code, and its marks are its parent's")
        if self._paths is not None:
            return
        paths = choose(self.pid, os.getuid(), os.environ)
        if os.path.basename(paths.marks) != f"{self.pid}.jsonl" and _is_later_rank():
            self._paths = paths
            switch.warn_once(
                "rank",
                "leveloff: LEVELOFF_MARKS names a file, and several ranks would write to it: only rank 0 does. "
                "Set it to a directory",
            )
            return
        self._file = MarksFile(paths, self.pid, os.getuid())
        # Last: a Ctrl-C before this would leave paths without a file.
        self._paths = paths

    def _put(self, line: Dict[str, Any], now: float, may_wait: bool) -> None:
        if self._file is not None and line:
            self._file.put(line, now, may_wait)

    def _add_facts(self, line: Dict[str, Any], facts: Mapping[str, Any]) -> None:
        kept = _numbers.facts(facts)
        line.update(kept)
        standing = {name: kept[name] for name in STANDING if name in kept}
        if standing and self._file is not None:
            self._file.state(**standing)

    def _report_phase(self, facts: Mapping[str, Any]) -> None:
        line: Dict[str, Any] = {}
        if self._add_phase(line):
            if self._step is not None:
                line["step"] = self._step
            self._add_facts(line, facts)
            self._put_with_counts(line)

    def _put_with_counts(self, line: Dict[str, Any]) -> None:
        """Writes a boundary between phases, or an event, and what malloc has in use at this moment."""
        now = time.monotonic()
        if line:
            line.update(self._counters.at_boundary(now))
        self._put(line, now, may_wait=False)

    def _add_phase(self, line: Dict[str, Any]) -> bool:
        """Adds the phase if it changed since the last report."""
        phase = self._blocks[-1] if self._blocks else self._phase
        if phase is None or phase == self._reported_phase:
            return False
        line["phase"] = self._reported_phase = phase
        if self._file is not None:
            self._file.state(phase=phase)
        return True


_current: Optional[Session] = None
_options = Options()
_making = threading.Lock()


def current() -> Session:
    """This process's session."""
    global _current
    session = _current
    if session is not None:
        return session
    with _making:
        if _current is None:
            _current = Session(_options, _is_fork_child)
            _finish_with_multiprocessing()
        return _current


def _finish_with_multiprocessing() -> None:
    """Its children end without what is registered for the end of Python."""
    util = sys.modules.get("multiprocessing.util")
    if _is_fork_child and util is not None:
        util.Finalize(None, guarded(None)(finish), exitpriority=100)


def options() -> Options:
    """The options as they are."""
    return _options


def configure(**changes: Any) -> None:
    """Changes options, for the session there is and for those of forked children."""
    global _options
    valid = {name: value for name, value in changes.items() if _is_valid(name, value)}
    _options = _options._replace(**valid)
    if _current is not None:
        _current.configure(_options)


def _is_valid(name: str, value: Any) -> bool:
    """A mistake in an option costs that option, and not the steps."""
    rule = VALID.get(name)
    if rule is None:
        text = f"there is no option {name}; there are {', '.join(VALID)}"
    elif rule[0](value):
        return True
    else:
        text = f"{name}={value!r} is not {rule[1]}"
    switch.warn_once(f"option {name}", f"leveloff: {text}; left out")
    return False


def finish() -> None:
    """Writes what was held back; called when the process ends in order."""
    if _current is not None and _current.pid == os.getpid():
        _current.finish()


@guarded(None)
def _begin_anew() -> None:
    """Discards everything reported so far, for the pytest plugin: the steps of a test are not steps of the next. The next marks file is
    there at once: a recorder looks for one when it begins, and then only now and then."""
    global _current
    with _making:
        session, _current = _current, None
    if session is not None:
        session.discard()
    current().begin_file()


def _after_fork() -> None:
    global _current, _making, _is_fork_child
    abandoned, _current = _current, None
    _making = threading.Lock()
    _is_fork_child = True
    switch.forget_costs()
    try:
        if abandoned is not None:
            abandoned.abandon()
    except OSError:
        pass


_is_fork_child = False

os.register_at_fork(after_in_child=_after_fork)


def _is_later_rank() -> bool:
    return os.environ.get("RANK", "0") not in ("", "0")
