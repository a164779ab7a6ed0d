"""Which containers keep the memory that `leveloff run --blame=holders` sampled: asked of the preload library.

The library knows the sampled blocks that are alive, and finds with Python's lock held which objects own them and which refer to
these. From there the search goes from container to container until one keeps half of the blocks of a line, and then until that has
a name."""

import ctypes
import gc
import os
import random
import re
import sys
import types
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from . import _tensors

ASKED = "LEVELOFF_BLAME_HOLDERS"
"""Set by `leveloff run --blame=holders`."""

STACKS = 4096
"""Different stacks that the library has room for."""

MOST_FOUND = 16384
"""Owners or references that one call returns."""

LEAST_GROWTH = 8
"""Sampled blocks that a stack must have gained since the first look, each about half a MiB."""

MOST_STACKS = 3
"""Stacks that are looked at: those that grew most."""

MOST_BLOCKS = 256
"""Blocks of a stack whose holder is looked for; of more, a random part."""

MOST_REFERRERS = 4096
"""Objects of which the referrers are asked for at once."""

MOST_LEVELS = 4
"""Containers within each other, from the object that owns a block to the one that keeps half of all."""

MOST_STEPS_TO_NAME = 6
"""Containers from there to a name."""

KEEPS_MOST = 0.5
"""The share of the blocks of a stack that a holder must keep."""

LONGEST = 64
"""Bytes of a text in a mark."""

Row = Tuple[int, int, str, int, str, str, str, int, int]


class Name(NamedTuple):
    """What a container is called."""

    kind: str
    """global, attribute, class, closure, local, cache or unnamed"""
    name: str
    where: str
    """A file for a global, else a class or function."""


class Library:
    """The functions of the preload library in this process."""

    def __init__(self, functions: Any) -> None:
        self._live = functions.leveloff_blame_live
        self._owners = functions.leveloff_blame_owners
        self._structures = functions.leveloff_blame_structures
        self._referrers = functions.leveloff_blame_referrers

    @staticmethod
    def find() -> "Optional[Library]":
        """None if the process was not started with it. It finds nothing in a Python whose objects it does not know."""
        if os.environ.get(ASKED) != "1" or sys.implementation.name != "cpython":
            return None
        try:
            library = Library(ctypes.PyDLL(None))
        except (OSError, AttributeError):
            return None
        return library

    def live(self) -> Dict[int, int]:
        """Sampled blocks that are alive, by stack."""
        counts = (ctypes.c_uint32 * STACKS)()
        self._live.restype = ctypes.c_size_t
        self._live(counts, ctypes.c_size_t(STACKS))
        return {stack: count for stack, count in enumerate(counts) if count}

    def owners(self, objects: List[Any]) -> Iterator[Tuple[int, int, int]]:
        """Address of an object, of a block that it owns, and the block's stack."""
        return _found(self._owners, _items(objects), len(objects))

    def structures(self, addresses: Iterable[int]) -> Iterator[Tuple[int, int, int]]:
        """The same of structures of native code."""
        array = _array(addresses)
        return _found(self._structures, array, len(array))

    def referrers(self, objects: List[Any], wanted: Iterable[int]) -> Iterator[Tuple[int, int, int]]:
        """Address of an object that refers to a wanted one, the number of the object in the list that it is or that leads to it, and
        the address of the wanted one."""
        array = _array(sorted(wanted))
        return _found(self._referrers, _items(objects), len(objects), array, len(array))


ITEMS_OF_LIST = 24
"""Where a list has the address of its items, in all versions that the library knows."""


def _items(objects: List[Any]) -> Any:
    return ctypes.c_void_p(ctypes.c_void_p.from_address(id(objects) + ITEMS_OF_LIST).value)


def _array(addresses: Iterable[int]) -> Any:
    numbers = list(addresses)
    return (ctypes.c_uint64 * len(numbers))(*numbers)


def _found(function: Any, *arguments: Any) -> Iterator[Tuple[int, int, int]]:
    out = (ctypes.c_uint64 * (3 * MOST_FOUND))()
    function.restype = ctypes.c_size_t
    sized = [ctypes.c_size_t(it) if isinstance(it, int) else it for it in arguments]
    found = out[: 3 * function(*sized, out, ctypes.c_size_t(MOST_FOUND))]
    return zip(found[0::3], found[1::3], found[2::3])


class Holders:
    """Looks for what keeps the lines that grew since the first look."""

    @staticmethod
    def find() -> "Optional[Holders]":
        """None if it is not asked for, or cannot be done in this process."""
        library = Library.find()
        return None if library is None else Holders(library)

    def __init__(self, library: Library) -> None:
        self._library = library
        self._first = library.live()

    def look(self) -> Optional[List[Row]]:
        """A row for each stack that grew and whose holder was found: the process, the stack, and the holder's type, length, kind of
        name, name, place, blocks that it keeps, and blocks that were looked at. None if no stack grew."""
        live = self._library.live()
        growth = {stack: count - self._first.get(stack, 0) for stack, count in live.items()}
        grown = sorted((stack for stack in growth if growth[stack] >= LEAST_GROWTH), key=lambda stack: -growth[stack])
        if not grown:
            return None
        objects = gc.get_objects()
        try:
            return _Search(self._library, objects).rows(grown[:MOST_STACKS])
        finally:
            objects.clear()


class _Search:
    """One search. It ends before the training goes on, so nothing that it looks at is kept alive."""

    def __init__(self, library: Library, objects: List[Any]) -> None:
        self._library = library
        self._objects = objects
        self._own = {id(objects), id(self), id(self.__dict__)}
        modules = [module for module in list(sys.modules.values()) if type(module) is types.ModuleType]
        self._globals = {id(module.__dict__): module for module in modules}

    def rows(self, stacks: List[int]) -> List[Row]:
        blocks: Dict[int, Dict[int, Set[int]]] = {stack: defaultdict(set) for stack in stacks}
        for owner, block, stack in self._owners():
            if stack in blocks and owner not in self._own:
                blocks[stack][block].add(owner)
        rows = []
        for stack, owners in blocks.items():
            row = self._row(stack, owners)
            if row is not None:
                rows.append(row)
        return rows

    def _owners(self) -> Iterator[Tuple[int, int, int]]:
        yield from self._library.owners(self._objects)
        tensors = _tensors.by_storage(self._objects) if _tensors.has_torch() else {}
        for storage, block, stack in self._library.structures(tensors):
            for tensor in tensors[storage]:
                yield tensor, block, stack

    def _row(self, stack: int, owners: Dict[int, Set[int]]) -> Optional[Row]:
        looked_at = list(owners.items())
        if len(looked_at) > MOST_BLOCKS:
            looked_at = random.sample(looked_at, MOST_BLOCKS)
        covers: Dict[int, Set[int]] = {address: set() for _, addresses in looked_at for address in addresses}
        for block, addresses in looked_at:
            for address in addresses:
                covers[address].add(block)
        holder, kept = self._climb(covers, len(looked_at))
        if holder is None:
            return None
        name = self._name(holder)
        length = _length(holder)
        texts = [_clean(text) for text in (_class(holder), *name)]
        return (os.getpid(), stack, texts[0], length, texts[1], texts[2], texts[3], kept, len(looked_at))

    def _climb(self, covers: Dict[int, Set[int]], total: int) -> Tuple[Any, int]:
        """The container nearest to the objects that keeps most of the blocks, and how many: the least that has half of them."""
        seen = set(covers)
        for _ in range(MOST_LEVELS):
            above: Dict[int, Set[int]] = defaultdict(set)
            leads: Dict[int, int] = {}
            for source, visited, wanted in self._library.referrers(self._objects, covers):
                if source not in seen and source not in self._own:
                    above[source] |= covers[wanted]
                    leads[source] = visited
            if not above:
                return None, 0
            best = max(above, key=lambda source: len(above[source]))
            if len(above[best]) >= KEEPS_MOST * total:
                return self._object(best, leads[best]), len(above[best])
            seen.update(above)
            covers = dict(random.sample(sorted(above.items()), min(len(above), MOST_REFERRERS)))
        return None, 0

    def _object(self, address: int, visited: int) -> Any:
        """The object at an address, which is in the list or in what an object of the list leads to: an address alone proves nothing."""
        near = [self._objects[visited]]
        for _ in range(MOST_LEVELS + 1):
            for thing in near:
                if id(thing) == address:
                    return thing
            near = gc.get_referents(*near)
        return None

    def _referrers_of(self, thing: Any) -> List[Any]:
        found = {source: visited for source, visited, _ in self._library.referrers(self._objects, [id(thing)])}
        others = [(source, visited) for source, visited in found.items() if source not in self._own]
        things = [self._object(source, visited) for source, visited in others[:MOST_NAMES]]
        return [it for it in things if it is not None]

    def _name(self, holder: Any) -> Name:
        """Goes on from the holder until something has a name."""
        within, thing = holder, holder
        seen = {id(holder)}
        for _ in range(MOST_STEPS_TO_NAME):
            above = [it for it in self._referrers_of(thing) if id(it) not in seen]
            names = [name for name in (self._named(it, thing, within) for it in above) if name is not None]
            if names:
                return min(names, key=lambda name: KINDS.index(name.kind))
            seen.update(map(id, above))
            above = [it for it in above if type(it) is not types.FrameType]
            if not above:
                break
            within, thing = thing, above[0]
        return _local(holder) or _local(thing) or UNNAMED

    def _named(self, above: Any, thing: Any, within: Any) -> Optional[Name]:
        """The name that `above` has for `thing`, or, where that is its dictionary, for what was within it."""
        module = self._globals.get(id(above))
        if module is not None:
            return _of_key("global", above, thing, _file_of(module))
        kind = type(above)
        if kind is types.CellType:
            return self._closure(above)
        if issubclass(kind, type):
            return _of_key("class", thing, within, _name_of(above)) if type(thing) is dict else None
        if kind.__name__ == "_lru_cache_wrapper":
            function = getattr(above, "__wrapped__", None)
            file = getattr(getattr(function, "__code__", None), "co_filename", "")
            return Name("cache", _name_of(function), os.path.basename(file))
        if kind in (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType):
            return Name("local", "", above.__qualname__)
        if kind in PLAIN:
            return None
        return _attribute(above, thing, within)

    def _closure(self, cell: Any) -> Optional[Name]:
        for function in self._objects:
            if type(function) is types.FunctionType:
                for name, other in zip(function.__code__.co_freevars, function.__closure__ or ()):
                    if other is cell:
                        return Name("closure", name, function.__qualname__)
        return None


KINDS = ("global", "class", "attribute", "cache", "closure", "local", "unnamed")
"""Kinds of names, the most telling first."""

UNNAMED = Name("unnamed", "", "")

PLAIN = frozenset((list, dict, tuple, set, frozenset, types.FunctionType, types.MethodType, types.FrameType))
"""What has no names for what it holds, or other ones than attributes."""

MOST_NAMES = 64
"""Referrers of one object that are looked at."""

OPTIMIZED = 1
"""Of a code object's flags: its variables are in the frame, and not in a dictionary of their own."""


def _of_key(kind: str, names: Dict[Any, Any], value: Any, where: str) -> Optional[Name]:
    for name, other in list(names.items()):
        if other is value and type(name) is str:
            return Name(kind, name, where)
    return None


def _attribute(above: Any, thing: Any, within: Any) -> Optional[Name]:
    """The attribute of an object that is `thing`, or `within` if that is the object's dictionary. By object.__getattribute__:
    what a class does when it is asked for an attribute is its own affair."""
    names: Dict[str, Any] = {}
    with suppress(Exception):
        names = object.__getattribute__(above, "__dict__")
    found = _of_key("attribute", names, within if names is thing else thing, _class(above))
    if found is not None:
        return found
    for base in type(above).__mro__:
        for name, slot in list(vars(base).items()):
            if type(slot) is types.MemberDescriptorType:
                with suppress(Exception):
                    if slot.__get__(above) is thing:
                        return Name("attribute", name, _class(above))
    return None


def _local(thing: Any) -> Optional[Name]:
    """The variable of a function that runs: of the outermost one, since inner ones were handed it."""
    frame: Optional[types.FrameType] = None
    found: Optional[Name] = None
    frames = list(sys._current_frames().values())
    try:
        while frames:
            frame = frames.pop()
            while frame is not None:
                found = _variable(frame, thing) or found
                frame = frame.f_back
        return found
    finally:
        # This function's own frame is among them: it would keep itself, and all that called it, until the collector comes.
        frame = None
        frames.clear()


def _variable(frame: types.FrameType, thing: Any) -> Optional[Name]:
    """Up to Python 3.12 a frame keeps the dictionary that it is asked for, and with it all values: it is emptied."""
    code = frame.f_code
    if not code.co_flags & OPTIMIZED or code.co_filename.startswith(OWN_DIRECTORY):
        return None
    variables = frame.f_locals
    try:
        for name, value in variables.items():
            if value is thing:
                return Name("local", name, f"{code.co_name}, {os.path.basename(code.co_filename)}")
        return None
    finally:
        if type(variables) is dict:
            variables.clear()


OWN_DIRECTORY = os.path.dirname(_local.__code__.co_filename) + os.sep
"""As code objects have it: not as a path that was made absolute."""


def _file_of(module: Any) -> str:
    """Not by attributes, which a module may compute."""
    file, name = module.__dict__.get("__file__"), module.__dict__.get("__name__")
    return os.path.basename(file) if type(file) is str else str(name)


def _name_of(thing: Any) -> str:
    name = getattr(thing, "__qualname__", None)
    return name if type(name) is str else ""


def _class(thing: Any) -> str:
    return type(thing).__qualname__


COUNTED = (list, dict, tuple, set, frozenset, deque)


def _length(thing: Any) -> int:
    """Only of what is known to count without doing more. By type(): isinstance asks an object for its class."""
    return len(thing) if issubclass(type(thing), COUNTED) else 0


def _clean(text: str) -> str:
    return UNSAFE.sub("", text.replace(".<locals>", ""))[:LONGEST]


UNSAFE = re.compile(r"[^A-Za-z0-9_.,:\[\] ]+")
"""What a text inside of a mark's list may not have."""
