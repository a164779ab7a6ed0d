"""What keeps memory: names of containers, without the preload library, whose part a stand-in plays. The tests of the command run
the real one (crates/leveloff/tests/command_line/blame_holders.rs)."""

import collections
import gc
import sys
import types

from training_process import train

from leveloff import _holders


class StandIn:
    """Finds by Python's own means what the library finds."""

    def __init__(self, kept):
        self.kept = list(kept)

    def live(self):
        return {5: len(self.kept)}

    def owners(self, objects):
        return [(address, address, 5) for address in self.kept]

    def structures(self, addresses):
        return []

    def referrers(self, objects, wanted):
        wanted = set(wanted)
        found = []
        for number, thing in enumerate(objects):
            found += [(id(thing), number, id(it)) for it in gc.get_referents(thing) if id(it) in wanted]
        return found


class Trainer:
    def __init__(self):
        self.history = []


class Slots:
    __slots__ = ("history",)


class Odd:
    """What a class does when it is asked for an attribute is its own affair."""

    def __init__(self):
        self.history = []

    def __getattribute__(self, name):
        raise RuntimeError("asked")


def search(things):
    """The row of a search for what keeps these."""
    search = _holders._Search(StandIn(map(id, things)), gc.get_objects())
    rows = search.rows([5])
    return rows[0][2:] if rows else None


module = types.ModuleType("a_module")
module.__file__ = "/a/b/train.py"


def test_a_global_is_named_with_its_file(monkeypatch):
    monkeypatch.setitem(sys.modules, "a_module", module)
    module.outs = [Trainer() for _ in range(20)]
    assert search(module.outs) == ("list", 20, "global", "outs", "train.py", 20, 20)


def test_attributes_are_named_with_their_class():
    trainer, slots = Trainer(), Slots()
    trainer.history.extend(Trainer() for _ in range(20))
    slots.history = collections.deque(Trainer() for _ in range(20))
    assert search(trainer.history)[2:5] == ("attribute", "history", "Trainer")
    assert search(slots.history)[:5] == ("deque", 20, "attribute", "history", "Slots")


def test_an_object_is_not_asked_for_its_attributes():
    odd = Odd()
    kept = object.__getattribute__(odd, "history")
    kept.extend(Trainer() for _ in range(20))
    assert search(kept)[2:5] == ("attribute", "history", "Odd")


def test_what_is_kept_by_nothing_in_common_has_no_holder():
    class Single:
        def __init__(self):
            self.only = Trainer()

    alone = [Single() for _ in range(3)]
    things = [id(it.only) for it in alone]
    first, second, third = alone
    del alone[:]
    library = StandIn(things)
    library.live = lambda: {5: 3}
    rows = _holders._Search(library, [first, second, third]).rows([5])
    assert rows == []


def test_a_variable_of_a_running_function_is_named_and_nothing_of_the_search_stays():
    here = [Trainer() for _ in range(20)]
    gc.collect()
    gc.disable()
    try:
        before = sys.getrefcount(here)
        assert search(here)[2:4] == ("local", "here")
        assert sys.getrefcount(here) == before
    finally:
        gc.enable()


def test_nothing_is_looked_for_before_a_stack_grew(monkeypatch):
    library = StandIn([])
    counts = iter([{5: 3}, {5: 9}])
    library.live = lambda: next(counts)
    holders = _holders.Holders(library)
    monkeypatch.setattr(gc, "get_objects", no_list)
    assert holders.look() is None


def no_list():
    raise AssertionError("all objects were listed")


def test_texts_have_only_what_a_mark_may_have():
    assert _holders._clean("make.<locals>.step") == "make.step"
    assert _holders._clean("Größe`|" + "x" * 90) == "Gre" + "x" * 61


def test_without_the_library_the_training_goes_on(tmp_path):
    result = train(tmp_path, "for n in range(5): leveloff.step(n)", LEVELOFF_BLAME_HOLDERS="1")
    assert (result.code, result.err) == (0, "")
    assert not any("holders" in line for line in result.lines)
