"""The proof that a world can be rolled back: a copy is the whole world, and nothing but it."""

from __future__ import annotations

import copy as copying
import types
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from itertools import islice
from typing import Any, NoReturn, SupportsIndex, TypeVar

from .. import _encoding
from .._arguments import positive, shown
from ..sim.outbox import Outbox
from ..sim.rollback import check_no_mailbox, run_tick
from ..time import Nanos, Step
from ._states import Table, difference

W = TypeVar("W")

_SIXTIETH = 16_666_666
_ATOMS = (bool, int, float, complex, str, bytes, type(None), range, type)
_DEEPEST = 200


def assert_rollback_safe(
    make_world: Callable[[], W],
    inputs: Iterable[tuple[Any, ...]],
    *,
    distance: SupportsIndex = 8,
    copy: Callable[[W], W] = copying.deepcopy,
    every: SupportsIndex = 1,
) -> None:
    """Run a world over ``inputs`` and check that it can be rolled back at every tick.

    ``inputs`` has, for each tick, the tuple that ``world.step(inputs, tick)`` is given. At every
    ``every``-th tick a copy is made, and three things are checked:

    - the copy equals the world: otherwise the copy forgets something;
    - a copy that runs ``distance`` ticks ahead on other inputs leaves the world as it is: otherwise
      the two share something;
    - a copy that runs on the true inputs equals the world in each of the next ``distance`` ticks:
      otherwise a tick depends on something that is not in the world, such as Python's global
      `random`.

    Worlds are compared by all their attributes, not only by ``digests()``. Use it with the ``copy``
    that `Rollback` is given.

    >>> class World:
    ...     def __init__(self):
    ...         self.x, self.trail = 0, []
    ...     def step(self, inputs, tick):
    ...         self.x += inputs[0]
    ...         self.trail.append(self.x)
    >>> assert_rollback_safe(World, [(1,), (2,), (0,)] * 10)
    >>> import copy
    >>> assert_rollback_safe(World, [(1,), (2,), (0,)] * 10, copy=copy.copy)
    Traceback (most recent call last):
        ...
    AssertionError: tick 0, trail: a list of 0 before and a list of 8 after a copy ran ahead; the \
world and its copy share it, so copy it too

    Raises AssertionError with the tick, the path and both values, ValueError if there are no
    inputs or the world never changes, and whatever a tick raises.
    """
    ahead = positive(distance, "distance", "a whole number of ticks", "8 is the default")
    step_by = positive(every, "every", "a whole number of ticks", "1 checks each tick")
    source = iter(inputs)
    coming: deque[tuple[Any, ...]] = deque(islice(source, ahead))
    if not coming:
        raise ValueError("inputs must have at least one tick; without one, nothing is compared")
    world = make_world()
    check_no_mailbox(world)
    outbox = Outbox()
    followers: list[tuple[int, W, Outbox]] = []
    tick, changed = 0, False
    before = _table(world)
    while coming:
        if tick % step_by == 0:
            follower, guess = copy(world), copy(world)
            _compare(tick, before, _table(world), "before", "after a copy was made", _SHARED)
            _compare(tick, before, _table(follower), "in the world", "in its copy", _FORGOTTEN)
            for number, wrong in enumerate(_wrong(coming), tick):
                try:
                    _run(guess, wrong, number, Outbox())
                except Exception:
                    break  # a guess may be impossible
            _compare(tick, before, _table(world), "before", "after a copy ran ahead", _SHARED)
            followers.append((tick + ahead, follower, Outbox()))
        given = coming.popleft()
        coming.extend(islice(source, 1))
        _run(world, given, tick, outbox)
        after = _table(world)
        for _, follower, own in followers:
            _run(follower, given, tick, own)
            _compare(tick, after, _table(world), "before", "after its copy ran", _SHARED)
            _compare(tick, after, _table(follower), "in the world", "in its copy", _OUTSIDE)
        outbox.deliver()
        tick += 1
        followers = [each for each in followers if each[0] > tick]
        changed = changed or after != before
        before = after
    if not changed:
        raise ValueError(
            f"the world never changes in {tick} ticks, so nothing was compared; pass inputs that "
            "do something"
        )


_FORGOTTEN = "the copy has another value there, so copy it too"
_SHARED = "the world and its copy share it, so copy it too"
_OUTSIDE = (
    "the tick depends on something outside the world, such as the global random or a class "
    "attribute, so keep it in the world"
)


def _run(world: Any, inputs: tuple[Any, ...], tick: int, outbox: Outbox) -> None:
    run_tick(world, inputs, Step(tick, Nanos(_SIXTIETH), Nanos(tick * _SIXTIETH)), outbox)
    outbox.deliver()


def _wrong(coming: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Other inputs than those that come: backwards, and each player's given to the next."""
    return [(*inputs[1:], *inputs[:1]) for inputs in reversed([*coming])]


def _compare(tick: int, one: Table, two: Table, first: str, other: str, advice: str) -> None:
    if one != two:
        _fail(f"{difference(tick, one, first, two, other)}; {advice}")


def _fail(text: str) -> NoReturn:
    raise AssertionError(text)


def _table(world: object) -> Table:
    """All parts of a world, by path."""
    found = {}
    for steps, compared, text in _walk([], world, {}):
        found[_encoding.path(steps)] = (compared, text)
    return found


def _walk(
    steps: list[_encoding.Step], value: Any, seen: dict[int, tuple[str, Any]]
) -> Iterator[tuple[list[_encoding.Step], bytes, str]]:
    kind = type(value)
    if kind in _ATOMS or isinstance(value, type):
        yield steps, f"{kind.__qualname__} {value!r}".encode("utf-8", "replace"), shown(value)
        return
    if id(value) in seen:
        path, _ = seen[id(value)]
        yield steps, f"see {path}".encode(), f"the same object as {path or 'the world'}"
        return
    if len(steps) > _DEEPEST:
        raise ValueError(f"{_encoding.path(steps)[:60]} is more than {_DEEPEST} levels deep")
    if not isinstance(value, (tuple, frozenset)):
        seen[id(value)] = _encoding.path(steps), value  # kept, so that its id is not used again
    compared, text, parts = _parts(value)
    yield steps, compared, text
    for step, part in parts:
        yield from _walk([*steps, step], part, seen)


def _parts(value: Any) -> tuple[bytes, str, list[tuple[_encoding.Step, Any]]]:
    kind = type(value)
    name = kind.__qualname__
    if isinstance(value, types.MethodType):
        return value.__func__.__qualname__.encode(), shown(value), [(("a", "self"), value.__self__)]
    if callable(value) and hasattr(value, "__code__"):
        cells = [
            (("a", f"closure_{place}"), cell.cell_contents)
            for place, cell in enumerate(value.__closure__ or ())
            if not isinstance(cell.cell_contents, types.FunctionType)
        ]
        return value.__qualname__.encode(), shown(value), cells
    if isinstance(value, (bytearray, memoryview, array)):
        return name.encode() + bytes(value), shown(value), []
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        objects = value.dtype == object
        data = repr(value.tolist()).encode() if objects else value.tobytes()
        return f"{name} {value.dtype} {value.shape} ".encode() + data, shown(value), []
    library = kind.__module__.partition(".")[0] == "fixedstep"
    if library and any("__reduce__" in each.__dict__ for each in kind.__mro__[:-1]):
        return _opaque(value)  # a copy of a library object may drop what only the tick needs
    parts = [*_attributes(value)]
    size = None
    if isinstance(value, Mapping):
        # The order of a dict is a part of the world: it is iterated in it.
        size = len(value)
        parts += [(("k", key), part) for key, part in value.items()]
        name += f" {[_key(key) for key in value]}"
    elif isinstance(value, (list, tuple, deque)):
        size = len(value)
        parts += [(("i", place), part) for place, part in enumerate(value)]
    elif isinstance(value, Set):
        size = len(value)
        name += f" {sorted(map(_key, value))}"
    elif not parts:
        return _opaque(value)
    article = f"a {kind.__qualname__}"
    return (
        f"{name} {size}".encode("utf-8", "replace"),
        (article if size is None else f"{article} of {size}"),
        parts,
    )


def _attributes(value: Any) -> Iterator[tuple[_encoding.Step, Any]]:
    for name, part in getattr(value, "__dict__", {}).items():
        yield ("a", name), part
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            own = f"_{kind.__name__.lstrip('_')}{slot}" if slot[:2] == "__" != slot[-2:] else slot
            if slot not in ("__dict__", "__weakref__") and hasattr(value, own):
                yield ("a", own), getattr(value, own)


def _opaque(value: Any) -> tuple[bytes, str, list[tuple[_encoding.Step, Any]]]:
    """A value of C or of this library: by its digest, else by what a pickle would hold."""
    name = type(value).__qualname__
    try:
        return name.encode() + _encoding.encode(value), shown(value), []
    except (TypeError, ValueError):
        pass
    try:
        reduced = value.__reduce_ex__(4)
    except TypeError:
        return name.encode(), shown(value), []
    if isinstance(reduced, str):
        return reduced.encode(), shown(value), []
    return name.encode(), f"a {name}", [(("a", "state"), list(reduced[1:3]))]


def _key(key: Any) -> str:
    return (
        f"{type(key).__qualname__} {key!r}"
        if isinstance(key, (*_ATOMS, tuple))
        else (type(key).__qualname__)
    )
