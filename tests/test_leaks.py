"""No operation keeps memory: not the hot path, not the other methods, not the failing calls.

A frame is planned sixty times a second for as long as a game runs, so one block lost a frame is a
crash the next day. What is counted is ``sys.getallocatedblocks()``, references where the
interpreter counts them, and the pages of the process, for what an extension allocates past Python's
allocator. No clock is read: the numbers are amounts and not times.
"""

from __future__ import annotations

import copy
import gc
import importlib
import os
import pickle
import sys
import tracemalloc
from array import array
from collections import OrderedDict, deque
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from fixedstep import Nanos, Rate, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Core

_STATM = Path("/proc/self/statm")


def resident() -> int:
    """Bytes of memory that the process occupies now; 0 where the system does not say."""
    if not _STATM.exists():
        return 0
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def references() -> int:
    """All references there are, on an interpreter that counts them."""
    count: Callable[[], int] = getattr(sys, "gettotalrefcount", lambda: 0)
    return count()


def collect() -> None:
    """Twice: without a GIL, what one collection finds is given back by the next."""
    gc.collect()
    gc.collect()


class Growth:
    """What was allocated between the beginning and the end of a ``with``."""

    blocks = 0
    references = 0
    resident = 0

    def __enter__(self) -> Growth:
        collect()
        self._before = sys.getallocatedblocks(), references(), resident()
        return self

    def __exit__(self, *_: object) -> None:
        collect()
        blocks, counted, pages = self._before
        self.blocks = sys.getallocatedblocks() - blocks
        self.references = references() - counted
        self.resident = resident() - pages


pytestmark = pytest.mark.usefixtures("quiet_collector")  # no collection but those of `Growth`


def play(core: Core, frames: int, keep: list[Any] | None = None) -> tuple[Any, int]:
    """The documented body of a frame, over and over: frames of 0 to 5 steps, some dropped."""
    loop, stats = (
        core.FrameLoop(Timestep(1_000), StepBudget(4), start=Timestamp(0)),
        core.FrameStats(),
    )
    now = run = 0
    for k in range(frames):
        now += (400, 1_000, 2_600, 17, 5_300)[k % 5]
        plan = loop.begin_frame(Timestamp(now))
        for step in plan.steps():
            run += step.tick >= 0
        plan.alpha()
        stats.absorb(plan)
        if keep is not None:
            keep.append(plan)
    return stats, run


def test_a_million_frames_leave_nothing_behind(core: Core) -> None:
    """A tenth of them on the reference, where no reference is counted by hand."""
    frames = 100_000 if core.__name__.endswith("reference") else 1_000_000
    play(core, 2_000)
    with Growth() as growth:
        stats, run = play(core, frames)
    assert stats.frames == frames
    assert stats.ticks == run > frames
    assert stats.steps_dropped > 0
    assert growth.blocks < 50
    assert growth.references < 500
    assert growth.resident < 2**20


def test_a_leak_of_one_object_a_frame_would_be_seen(core: Core) -> None:
    """The control: the same body, keeping what it should let go."""
    play(core, 2_000)
    keep: list[Any] = []
    with Growth() as growth:
        play(core, 20_000, keep)
    assert len(keep) == 20_000
    assert growth.blocks > 15_000


def test_memory_past_the_allocator_of_python_would_be_seen() -> None:
    """The other control, where the system tells what a process occupies: 64 MiB in one block, which
    Python does not count as many, and which no freed memory of the process is large enough for."""
    keep: list[bytes] = []
    with Growth() as growth:
        keep.append(b"x" * 2**26)
    assert len(keep[0]) == 2**26
    assert growth.blocks < 50
    assert growth.resident > 2**20 or not _STATM.exists()


def attempt(call: Callable[..., object], *arguments: Any) -> None:
    """A call that must fail; what it raised is let go."""
    try:
        call(*arguments)
    except (TypeError, ValueError, OverflowError, BufferError, RuntimeError, AttributeError):
        return
    raise AssertionError(f"{call} took {arguments!r}")


class Index:
    """A number that is no ``int``, and a new one each time that it is asked."""

    value = 10**9

    def __index__(self) -> int:
        return self.value + 7


@dataclass
class Unit:
    """A part of a state that is digested."""

    x: float
    inventory: object


class Place(NamedTuple):
    """Another."""

    row: int
    column: object


class Team(Enum):
    """Another."""

    RED = 1


class Hidden:
    """Has no digest."""


class Shown:
    """Has one, made anew each time."""

    def __digest__(self) -> list[object]:
        return [1, 2.5, {"hp": 7}]


def game_state(last: object = None) -> list[Any]:
    """All that `StateHash.absorb` takes, and ``last`` at the end of it."""
    units = {"one": Unit(1.5, {"a", "b"}), "two": Unit(-0.0, {1: frozenset([2**80]), (2,): b"x"})}
    parts = [Place(1, deque([1, 2], 9)), Team.RED, Fraction(1, 3), Shown(), bytearray(b"a")]
    grids = [array("d", [1.5, float("nan")]), np.zeros((2, 3)), np.array([True]), np.float32(1.5)]
    return [units, parts, OrderedDict(units), *grids, {Place(3, 4): [last], 7: 1}]


def digest_parts(core: Core) -> dict[str, Callable[[], object]]:
    """Digests that fail, each at the end of a state."""
    cycle: list[object] = []
    cycle.append((cycle,))
    bad = {
        "hidden": Hidden(),
        "a hidden key": {(1, Hidden()): 2, 3: 4},
        "a hidden element": {(1, Hidden()), 3},
        "a cycle": cycle,
        "a surrogate": {"a": 1, "\ud800": 2},
        "a surrogate in a field": Unit(1.5, "\ud800"),
        "one key twice": {float("nan"): 1, -float("nan"): 2},
        "an array": array("l", [1]),
        "an array of numpy": np.array([1j]),
        "a field that is not set": object.__new__(Unit),
    }
    return {
        f"digest of {name}": partial(attempt, core.digest, game_state(value))
        for name, value in bad.items()
    }


def test_a_digest_gives_back_every_reference(core: Core) -> None:
    """Those on parts that live longer than the digest allocate nothing."""
    state = game_state()
    held: list[Any] = [1.25, (1,), "text of its own", 2**90, Hidden(), Team.RED, Unit, Place, Shown]
    whole = [state, {held[2]: held[0], held[1]: held[3]}, {held[0], held[1]}, [held[1]]]
    failing = [whole, {held[1]: held[4], held[2]: held[0]}, held[4]]
    before = [sys.getrefcount(part) for part in held]
    for _ in range(100):
        core.digest(whole)
        attempt(core.digest, failing)
    collect()
    after = [sys.getrefcount(part) for part in held]
    assert [later - earlier for earlier, later in zip(before, after, strict=True)] == [0] * 9


def operations(core: Core) -> dict[str, Callable[[], object]]:
    """Everything else that can be done to the types, as calls without arguments."""
    loop = core.FrameLoop(Timestep(10), StepBudget(3), Timestamp(100))
    rate = core.FrameLoop(Rate(60), start=Timestamp(0))
    stats, state = core.FrameStats(), core.StateHash(5)
    plan = core.FramePlan(2**64 - 2, 5, 1, 4, Timestep(10))
    of_rate = core.FramePlan(7, 3, 0, 4, Rate(60))
    steps, nows = plan.steps(), array("Q", range(0, 300, 5))
    stamps = [Timestamp(now) for now in nows]
    plans = loop.begin_frames(nows)
    timing = core.FrameTiming()
    timing.record(Nanos(5 * 10**6), False)
    index: Any = Index()
    values: list[Any] = [loop, rate, stats, state, plan, of_rate, steps, timing, plans]

    def init(kind: Any, *arguments: Any) -> Callable[[], object]:
        return lambda: kind(*arguments)

    return {
        "make a loop": init(core.FrameLoop, Timestep(10), StepBudget(3), 5),
        "make a loop of a rate": init(core.FrameLoop, Rate(60)),
        "make a plan": init(core.FramePlan, 1, 2, 3, 4, Timestep(10)),
        "make steps": init(core.Steps, 1, 2, Rate(60)),
        "make a hash": init(core.StateHash, 5),
        "make a tally": init(core.FrameStats, 1, 2, 3, 4),
        "resync": lambda: loop.resync(Timestamp(100)),
        "plan a rate": lambda: [*rate.begin_frame(Timestamp((rate.last or 0) + 10**8)).steps()],
        "read a loop": lambda: (
            loop.tick,
            loop.remainder,
            loop.simulated,
            loop.timestep,
            loop.budget,
            loop.last,
            rate.timestep,
            rate.simulated,
        ),
        "read a plan": lambda: (
            plan.first_tick,
            plan.step_count,
            plan.dropped,
            plan.remainder,
            plan.timestep,
            plan.ticks,
            of_rate.ticks,
            of_rate.timestep,
        ),
        "read ticks beyond 64 bits": lambda: core.FramePlan(2**64 - 2, 999, 0, 0, Rate(60)).ticks,
        "iterate": lambda: [*plan.steps(), *of_rate.steps()],
        "stop in the middle": lambda: next(plan.steps()),
        "measure steps": lambda: len(steps),
        "read a tally": lambda: (
            stats.frames,
            stats.ticks,
            stats.steps_dropped,
            stats.schedule_hash,
            stats.json(),
        ),
        "absorb": lambda: (
            state.absorb_u64(2**63)
            .absorb_u32(7)
            .absorb_i64(-5)
            .absorb_f32_bits(0.5)
            .absorb_f64_bits(0.5)
            .absorb_plan(plan)
            .absorb_bytes(b"bytes")
            .absorb_bytes(bytearray(b"bytes"))
            .absorb_bytes(nows)
            .finish()
        ),
        "absorb a state": partial(state.absorb, game_state()),
        "absorb an index": lambda: (
            state.absorb_u64(index).absorb_u32(index).absorb_i64(index).absorb_f64_bits(index)
        ),
        "resync to an index": lambda: loop.resync(index),
        "take an index": lambda: (
            copy.copy(loop).begin_frame(index),
            copy.copy(loop).begin_frames([index]),
            core.FrameLoop(start=index, tick=index),
            core.FrameStats(index, index, index, index),
        ),
        "batch of a buffer": lambda: copy.copy(loop).begin_frames(nows, core.FrameStats()),
        "batch of a list": lambda: copy.copy(loop).begin_frames(stamps),
        "batch of an iterator": lambda: copy.copy(loop).begin_frames(iter(stamps)),
        "batch digest": lambda: copy.copy(loop).digest_frames(nows, core.FrameStats()),
        "read a batch": lambda: ([*plans], plans[3], plans[2:9], plans.dropped, plans.timestep),
        "compare": lambda: [one == other for one in values for other in values],
        "compare with a stranger": lambda: [value == 5 for value in values],
        "hash": lambda: (hash(plan), hash(state), hash(plans)),
        "show": lambda: [repr(value) for value in values],
        "copy": lambda: [copy.copy(value) for value in values],
        "copy deeply": lambda: [copy.deepcopy(value) for value in values],
        "pickle": lambda: [pickle.loads(pickle.dumps(value)) for value in values],
        "restore": lambda: [type(value)._from_state(*value._state()) for value in values[:-1]],
        "record": partial(timing.record, Nanos(16_666_667), True),
        "record an index": partial(timing.record, index, drawn=False),
        "record by name": partial(timing.record, frame_time=Nanos(5), drawn=True),
        "make a timing": lambda: core.FrameTiming(
            min=5, max=5, sum=index, drawn=5, skipped=1, buckets={5: 6}
        ),
        "read a timing": lambda: (
            timing.count,
            timing.min,
            timing.max,
            timing.sum,
            timing.drawn,
            timing.skipped,
            timing.percentile(50),
            timing.percentile(p="99.9"),
            timing.json(),
        ),
    }


def failures(core: Core) -> dict[str, Callable[[], object]]:
    """Every way to be refused, as calls without arguments."""
    loop, state = core.FrameLoop(Timestep(10), start=Timestamp(0)), core.StateHash()
    stats, plan = core.FrameStats(), core.FramePlan(0, 1, 0, 0, Timestep(10))
    timing: Any = core.FrameTiming()
    kinds: dict[str, Any] = {
        "loop": core.FrameLoop,
        "plan": core.FramePlan,
        "steps": core.Steps,
        "hash": core.StateHash,
        "stats": core.FrameStats,
        "timing": core.FrameTiming,
    }
    gaps = memoryview(array("Q", range(9)))[::2]
    bad_items: list[Any] = [5, "x"]

    def meddling() -> Any:
        yield Timestamp(5)
        loop.resync(Timestamp((loop.last or 0) + 1))
        yield Timestamp(6)

    calls: dict[str, Callable[[], object]] = {
        f"{name} with {bad!r}": lambda call=call, bad=bad: attempt(call, bad)  # type: ignore[misc]
        for name, call in {
            "begin_frame": loop.begin_frame,
            "resync": loop.resync,
            "begin_frames": loop.begin_frames,
            "absorb": stats.absorb,
            "record": lambda bad: timing.record(bad, True),
            "absorb_plan": state.absorb_plan,
            "absorb_u64": state.absorb_u64,
            "absorb_u32": state.absorb_u32,
            "absorb_i64": state.absorb_i64,
            "absorb_bytes": state.absorb_bytes,
            "FrameLoop": core.FrameLoop,
            "FrameStats": core.FrameStats,
            "StateHash": core.StateHash,
        }.items()
        for bad in (1.5, None, "text", -(2**63) - 1, 2**64)
    }
    calls |= {
        f"a {name} of nothing": lambda kind=kind: attempt(kind._from_state, 0)  # type: ignore[misc]
        for name, kind in kinds.items()
        if name not in ("hash", "stats")
    }
    calls |= {
        "absorb_f32_bits of text": lambda: attempt(state.absorb_f32_bits, "1.5"),
        "absorb_f64_bits of nothing": lambda: attempt(state.absorb_f64_bits, None),
        "absorb_f32_bits beyond": lambda: attempt(state.absorb_f32_bits, 1e300),
        **digest_parts(core),
        "absorb gaps": lambda: attempt(state.absorb_bytes, gaps),
        "batch of gaps": lambda: attempt(loop.begin_frames, gaps),
        "batch of a bad item": lambda: attempt(loop.begin_frames, bad_items, stats),
        "batch of a bad late item": lambda: attempt(loop.begin_frames, iter([*range(99), None])),
        "batch that meddles": lambda: attempt(loop.begin_frames, meddling()),
        "batch with bad stats": lambda: attempt(loop.begin_frames, [1], plan),
        "digest with bad stats": lambda: attempt(loop.digest_frames, [1], None),
        "digest of a bad item": lambda: attempt(loop.digest_frames, bad_items, stats),
        "record nothing": lambda: attempt(timing.record),
        "record by another name": lambda: attempt(lambda: timing.record(5, shown=True)),
        "record what is no flag": lambda: attempt(timing.record, 5, np.array([1, 2])),
        "a timing of frames that fit no bucket": lambda: attempt(
            lambda: core.FrameTiming(drawn=3, buckets={5: 1})
        ),
        "a percentile of nothing": lambda: attempt(timing.percentile, None),
        "assign": lambda: attempt(setattr, plan, "dropped", 5),
        "assign anew": lambda: attempt(setattr, loop, "speed", 5),
        "hash a loop": lambda: attempt(hash, loop),
        "subclass": lambda: attempt(type, "Mine", (core.FramePlan,), {}),
        "order plans": lambda: attempt(lambda: plan < plan),  # type: ignore[operator]
    }
    return calls


def leaks(call: Callable[[], object], rounds: int) -> bool:
    """Whether blocks grow with the calls. In six rounds, since interpreters fill caches of their
    own now and then: a leak grows in every round, by a block in ten calls or more."""
    growths = []
    for _ in range(6):
        with Growth() as growth:
            for _ in range(rounds):
                call()
        growths.append(growth.blocks)
    return min(growths[1:]) >= max(rounds // 10, 10)


@pytest.mark.parametrize("which", [operations, failures])
def test_nothing_else_leaves_anything_behind(
    core: Core, which: Callable[[Core], dict[str, Callable[[], object]]]
) -> None:
    """3,000 calls of each operation and error path on the C core. A tenth of that on
    the reference, where no reference is counted by hand."""
    table = which(core)
    assert len(table) >= 25
    rounds = 50 if core.__name__.endswith("reference") else 500
    assert [name for name, call in table.items() if leaks(call, rounds)] == []


def lasting(core: Core) -> list[Any]:
    """What outlives every call and is counted when one borrows it: types, functions, ``()``."""
    modules = [
        importlib.import_module(f"fixedstep.{name}") for name in ("_arguments", "text", "timing")
    ]
    modules += [importlib.import_module(f"fixedstep.{name}") for name in ("_state", "_plans")]
    found = [value for module in modules for value in vars(module).values() if callable(value)]
    kinds = [core.FrameLoop, core.FramePlan, core.FrameStats, core.StateHash, core.Steps, core.Step]
    kinds.append(core.FrameTiming)
    return [*kinds, *found, Timestep, Rate, StepBudget, range, ()]


@pytest.mark.parametrize("which", [operations, failures])
def test_what_lasts_is_borrowed_and_given_back(
    core: Core, which: Callable[[Core], dict[str, Callable[[], object]]]
) -> None:
    """A reference too many on a type or a function allocates nothing, and is a leak no less."""
    table, kept = which(core), lasting(core)
    assert len(kept) > 30

    def rounds(number: int) -> list[int]:
        for _ in range(number):
            for call in table.values():
                call()
        collect()
        return [sys.getrefcount(value) for value in kept]

    before = rounds(2)
    after = rounds(100)
    grown = {repr(value): b - a for value, a, b in zip(kept, before, after, strict=True)}
    assert {name: by for name, by in grown.items() if by > 50} == {}


def test_a_reference_too_many_would_be_seen() -> None:
    """The control, on a function as the C core calls them."""
    from fixedstep import _arguments as arguments

    before = sys.getrefcount(arguments.timestamp)
    keep = [arguments.timestamp for _ in range(100)]
    assert sys.getrefcount(keep[0]) - before > 50


def batches(core: Core) -> dict[str, Callable[[], object]]:
    """Batches whose blocks and columns are too large for Python's own allocator to count."""
    nows = array("Q", range(30_000))
    stamps: list[Any] = list(nows)
    late: list[Any] = [*stamps, "x"]
    loop = core.FrameLoop(Timestep(10), start=Timestamp(0))
    return {
        "buffer": lambda: copy.copy(loop).begin_frames(nows),
        "list": lambda: copy.copy(loop).begin_frames(stamps),
        "iterator": lambda: copy.copy(loop).begin_frames(iter(stamps)),
        "digest": lambda: copy.copy(loop).digest_frames(iter(stamps), core.FrameStats()),
        "bytes": lambda: core.StateHash().absorb_bytes(nows),
        "bad late": lambda: attempt(copy.copy(loop).begin_frames, late),
        "bad late of an iterator": lambda: attempt(copy.copy(loop).begin_frames, iter(late)),
    }


@pytest.fixture
def _traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def kept_by(call: Callable[[], object]) -> int:
    """Bytes that ten calls left allocated, beside what the first ones set up."""
    for _ in range(2):
        call()
    collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(10):
        call()
    collect()
    return tracemalloc.get_traced_memory()[0] - before


@pytest.mark.usefixtures("_traced")
def test_batches_give_back_their_large_blocks(native: Core) -> None:
    """On the C core, which frees by hand; the reference's blocks are Python lists."""
    kept = {name: kept_by(call) for name, call in batches(native).items()}
    assert len(kept) == 7
    assert {name: size for name, size in kept.items() if size > 9_999} == {}


@pytest.mark.usefixtures("_traced")
def test_a_large_block_that_is_kept_would_be_seen() -> None:
    """The control: the smallest block of a batch, kept."""
    keep: list[bytes] = []
    assert kept_by(lambda: keep.append(bytes(30_000 * 4))) > 1_000_000


def test_the_rounds_would_see_a_leak() -> None:
    """The control: a call that keeps one small object, and one that does so in one of ten calls."""
    keep: list[list[int]] = []
    calls = iter(range(10**9))

    def now_and_then() -> None:
        if next(calls) % 10 == 0:
            keep.append([1])

    assert leaks(lambda: keep.append([1]), 100)
    assert leaks(now_and_then, 500)
    assert not leaks(lambda: [1], 100)
