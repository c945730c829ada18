"""Batches: begin_frames is begin_frame on each timestamp, and nothing else but faster.

What can go wrong is all in how timestamps come in (buffers of every kind, iterables of every
behaviour) and in when the loop takes the result over: after the last timestamp, or not at all.
"""

from __future__ import annotations

import copy
import ctypes
import pickle
import subprocess
import sys
import threading
from array import array
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fixedstep
from fixedstep import FramePlans, Rate, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Core

    from fixedstep.reference import FrameLoop, FramePlan, FrameStats

BLOCK = 8192  # timestamps that are read at a time; what happens at its edges is tested below
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1

u64 = st.sampled_from([0, 1, 9, 10, 11, 2**32, 2**63, U64_MAX]) | st.integers(0, U64_MAX)
timesteps = (
    st.sampled_from([Timestep(1), Timestep(10), Timestep(U64_MAX), Rate(60), Rate(U64_MAX)])
    | st.integers(1, U64_MAX).map(Timestep)
    | st.builds(Rate, st.integers(1, U64_MAX), st.integers(1, U64_MAX // 10**9))
)


def one_by_one(loop: FrameLoop, nows: list[int], stats: FrameStats) -> list[FramePlan]:
    plans = []
    for now in nows:
        plans.append(loop.begin_frame(Timestamp(now)))
        stats.absorb(plans[-1])
    return plans


def hostile(count: int) -> list[int]:
    """Timestamps that run steps, drop some, go back now and then, and differ all the time."""
    return [
        7 * k + k * k % 13 + (500 if k % 97 == 0 else 0) - (3 * k if k % 89 == 0 else 0)
        for k in range(count)
    ]


@given(
    timestep=timesteps,
    budget=st.integers(1, 7) | st.just(U32_MAX),
    start=u64,
    nows=st.lists(u64, max_size=30),
)
def test_a_batch_equals_its_frames_one_by_one(
    core: Core, timestep: Timestep | Rate, budget: int, start: int, nows: list[int]
) -> None:
    single = core.FrameLoop(timestep, StepBudget(budget), Timestamp(start))
    batch, digest = copy.copy(single), copy.copy(single)
    expected = core.FrameStats()
    plans = one_by_one(single, nows, expected)

    stats = core.FrameStats()
    result = batch.begin_frames([Timestamp(now) for now in nows], stats)
    assert list(result) == plans
    assert batch == single
    assert stats == expected

    tally = core.FrameStats()
    digest.digest_frames(array("Q", nows), tally)
    assert digest == single
    assert tally == expected


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 5])
@pytest.mark.parametrize(
    "form", [list, iter, lambda nows: array("Q", nows)], ids=["list", "iterator", "array"]
)
def test_a_batch_of_any_length_equals_its_frames(
    core: Core, count: int, form: Callable[[list[int]], Any]
) -> None:
    """Lengths around the blocks that timestamps are read in."""
    nows = hostile(count)
    single, batch = (
        core.FrameLoop(Timestep(10), StepBudget(3), start=Timestamp(0)) for _ in range(2)
    )
    expected, stats = core.FrameStats(), core.FrameStats()
    plans = one_by_one(single, nows, expected)
    result = batch.begin_frames(form(nows), stats)
    assert len(result) == count
    assert list(result) == plans
    assert (batch, stats) == (single, expected)
    if count > 1:
        assert stats.ticks > 0
        assert stats.steps_dropped > 0
    digested = core.FrameStats()
    core.FrameLoop(Timestep(10), StepBudget(3), start=Timestamp(0)).digest_frames(
        form(nows), digested
    )
    assert digested == expected


def test_batches_follow_one_another(core: Core) -> None:
    nows = hostile(100)
    whole, parts = (
        core.FrameLoop(Timestep(10), StepBudget(3), start=Timestamp(0)) for _ in range(2)
    )
    stats, tally = core.FrameStats(), core.FrameStats()
    whole.begin_frames(array("Q", nows), stats)
    for start in range(0, 100, 30):
        parts.begin_frames(array("Q", nows[start : start + 30]), tally)
    assert parts == whole
    assert tally == stats
    assert stats.frames == 100


def test_stats_are_left_alone_where_none_are_given(core: Core) -> None:
    loop = core.FrameLoop(Timestep(10), start=Timestamp(0))
    assert len(loop.begin_frames(array("Q", [10]))) == 1
    assert len(loop.begin_frames(array("Q", [20]), None)) == 1
    assert loop.tick == 2


def test_an_empty_batch_changes_nothing(core: Core) -> None:
    loop, stats = (
        core.FrameLoop(Timestep(10), start=Timestamp(0), tick=5, remainder=3),
        core.FrameStats(1, 2, 3, 4),
    )
    before = copy.copy(loop)
    empties: list[Any] = [[], (), array("Q"), np.zeros(0, dtype="u8"), iter([]), range(0)]
    for empty in empties:
        assert list(loop.begin_frames(empty, stats)) == []
    assert loop == before
    assert stats == core.FrameStats(1, 2, 3, 4)


# where timestamps come from

NOWS = [5, 10, 31, 31, 7, 90]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(lambda: array("Q", NOWS), id="array"),
        pytest.param(lambda: memoryview(array("Q", NOWS)), id="memoryview"),
        pytest.param(lambda: memoryview(array("Q", [0, *NOWS, 0]))[1:-1], id="slice-of-memoryview"),
        pytest.param(lambda: memoryview(array("Q", NOWS).tobytes()).cast("Q"), id="read-only"),
        pytest.param(lambda: memoryview(bytearray(array("Q", NOWS))).cast("Q"), id="bytearray"),
        pytest.param(lambda: memoryview(array("Q", NOWS)).cast("B").cast("@Q"), id="native-sign"),
        pytest.param(lambda: np.array(NOWS, dtype=np.uint64), id="numpy"),
        pytest.param(lambda: np.array([0, *NOWS], dtype=np.uint64)[1:], id="slice-of-numpy"),
        pytest.param(lambda: np.array(NOWS, dtype=np.ulonglong), id="numpy-ulonglong"),
        pytest.param(lambda: (ctypes.c_uint64 * 6)(*NOWS), id="ctypes"),
        pytest.param(lambda: array("q", NOWS), id="signed"),
        pytest.param(lambda: np.array(NOWS, dtype=np.int64), id="numpy-signed"),
        pytest.param(lambda: np.array(NOWS, dtype=np.longlong), id="numpy-longlong"),
        pytest.param(lambda: (ctypes.c_int64 * 6)(*NOWS), id="ctypes-signed"),
        pytest.param(lambda: list(NOWS), id="list"),
        pytest.param(lambda: tuple(NOWS), id="tuple"),
        pytest.param(lambda: deque(NOWS), id="deque"),
        pytest.param(lambda: (now for now in NOWS), id="generator"),
        pytest.param(lambda: map(int, NOWS), id="map"),
        pytest.param(lambda: [np.uint64(now) for now in NOWS], id="numpy-scalars"),
        pytest.param(lambda: dict.fromkeys(NOWS) and iter(NOWS), id="iterator"),
    ],
)
def test_timestamps_come_from_any_buffer_or_iterable(core: Core, source: Callable[[], Any]) -> None:
    expected = core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(
        [Timestamp(now) for now in NOWS]
    )
    assert sum(expected.step_count) > 0
    loop = core.FrameLoop(Timestep(10), start=Timestamp(0))
    assert loop.begin_frames(source()) == expected
    stats, tally = core.FrameStats(), core.FrameStats()
    core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(source(), stats)
    core.FrameLoop(Timestep(10), start=Timestamp(0)).digest_frames(source(), tally)
    assert tally == stats
    assert stats.frames == len(NOWS)


def test_a_range_is_an_iterable_like_any_other(core: Core) -> None:
    plans = core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(
        map(Timestamp, range(0, 40, 5))
    )
    assert list(plans.step_count) == [0, 0, 1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("source", "error", "says"),
    [
        pytest.param(array("I", [1, 2]), TypeError, "format 'I' of 4 bytes", id="u32"),
        pytest.param(array("d", [1.0, 2.0]), TypeError, "format 'd' of 8 bytes", id="float"),
        pytest.param(b"12345678", TypeError, "format 'B' of 1 bytes", id="bytes"),
        pytest.param(bytearray(16), TypeError, "format 'B' of 1 bytes", id="bytearray"),
        pytest.param(np.array([1], dtype="u4"), TypeError, "of 4 bytes", id="numpy-u4"),
        pytest.param(np.array([1], dtype=">i8"), TypeError, "format '>q'", id="big-endian-i8"),
        pytest.param(np.array([1.0]), TypeError, "format 'd'", id="numpy-f8"),
        pytest.param(np.array([1], dtype=">u8"), TypeError, "format '>Q'", id="big-endian"),
        pytest.param(np.array([True]), TypeError, r"format '\?'", id="numpy-bool"),
        pytest.param(
            np.zeros(2, dtype=[("a", "u8")]), TypeError, "format 'T", id="numpy-structure"
        ),
        pytest.param(
            np.zeros((2, 2), dtype="u8"), ValueError, r"not 2 \(shape \(2, 2\)\)", id="2-d"
        ),
        pytest.param(np.zeros((1, 4), dtype="u8"), ValueError, "one dimension", id="one-row"),
        pytest.param(np.array(5, dtype="u8"), ValueError, "not 0", id="0-d"),
        pytest.param(np.arange(8, dtype="u8")[::2], BufferError, r"strides \(16,\)", id="gaps"),
        pytest.param(np.arange(8, dtype="u8")[::-1], BufferError, "C-contiguous", id="backwards"),
        pytest.param(memoryview(array("Q", range(8)))[::2], BufferError, "copy", id="view-gaps"),
        pytest.param("5", TypeError, "str '5'.*begin_frame", id="text"),
        pytest.param(5, TypeError, "int 5.*begin_frame", id="one-timestamp"),
        pytest.param(None, TypeError, "NoneType None", id="none"),
        pytest.param(5.0, TypeError, "float 5.0", id="float-number"),
    ],
)
def test_a_source_of_the_wrong_kind_is_refused(
    core: Core, source: Any, error: type[Exception], says: str
) -> None:
    loop, stats = (
        core.FrameLoop(Timestep(10), start=Timestamp(0), tick=5),
        core.FrameStats(1, 2, 3, 4),
    )
    before = copy.copy(loop)
    for call in (loop.begin_frames, loop.digest_frames):
        with pytest.raises(error, match=says) as caught:
            call(source, stats)
        assert str(caught.value).startswith("timestamps must ")
        assert loop == before
        assert stats == core.FrameStats(1, 2, 3, 4)


@pytest.mark.parametrize("position", [0, 1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
@pytest.mark.parametrize("form", [list, tuple, iter], ids=["list", "tuple", "iterator"])
def test_a_bad_item_names_its_position_and_nothing_is_applied(
    core: Core, position: int, form: Callable[[list[Any]], Any]
) -> None:
    nows: list[Any] = list(range(0, 4 * (position + 3), 4))
    loop, stats = (
        core.FrameLoop(Timestep(10), start=Timestamp(0), tick=5),
        core.FrameStats(1, 2, 3, 4),
    )
    before = copy.copy(loop)
    bad_items: list[Any] = [1.5, "5", None, -1, 2**64]
    for bad in bad_items:
        nows[position] = bad
        error = OverflowError if isinstance(bad, int) else TypeError
        for call in (loop.begin_frames, loop.digest_frames):
            with pytest.raises(error, match=rf"^timestamps\[{position}\] must be a whole number"):
                call(form(nows), stats)
            assert loop == before
            assert stats == core.FrameStats(1, 2, 3, 4)


@pytest.mark.parametrize("form", [lambda nows: array("q", nows), lambda nows: np.array(nows, "i8")])
def test_signed_timestamps_are_taken_unless_negative(core: Core, form: Any) -> None:
    nows = [*range(0, 4 * BLOCK, 4), 2**63 - 1]
    one, two = (core.FrameLoop(Timestep(10), start=Timestamp(0)) for _ in range(2))
    assert one.begin_frames(form(nows)) == two.begin_frames(array("Q", nows))
    assert len(core.FrameLoop().begin_frames(form([]))) == 0
    before = copy.copy(one)
    nows[BLOCK] = -1
    with pytest.raises(OverflowError, match=rf"^timestamps\[{BLOCK}\] must be .*, not -1; "):
        one.begin_frames(form(nows))
    assert one == before


def own_columns(count: int) -> tuple[Any, Any, Any, Any]:
    return (
        array("Q", bytes(8 * count)),
        np.zeros(count, "u4"),
        memoryview(bytearray(8 * count)).cast("Q"),
        np.zeros(count, "u8"),
    )


@pytest.mark.parametrize("count", [0, 1, 100, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
@pytest.mark.parametrize("form", [lambda nows: array("Q", nows), iter], ids=["buffer", "iterator"])
def test_a_batch_writes_into_the_callers_columns(core: Core, count: int, form: Any) -> None:
    nows = hostile(count)
    expected, stats = core.FrameLoop(Timestep(10), 3, Timestamp(0)), core.FrameStats()
    plans = expected.begin_frames(array("Q", nows), stats)
    loop, tally, out = (
        core.FrameLoop(Timestep(10), 3, Timestamp(0)),
        core.FrameStats(),
        own_columns(count + 2),
    )
    found = loop.begin_frames(form(nows), tally, out)
    assert (loop, tally) == (expected, stats)
    assert len(found) == count
    assert found == plans
    assert list(found) == list(plans)
    names = ("first_tick", "step_count", "dropped", "remainder")
    for name, column in zip(names, out, strict=True):
        assert list(column[:count]) == list(getattr(plans, name))
        assert list(column[count:]) == [0, 0], "what lies behind is not touched"
    if count:
        out[3][0] = 9
        assert found.remainder[0] == 9, "a view, not a copy"
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda out: out[:3], TypeError, "out must be four columns"),
        (lambda out: 5, TypeError, "out must be four columns.* not int 5"),
        (lambda out: (5, *out[1:]), TypeError, "first_tick must be a buffer of unsigned 64-bit"),
        (lambda out: (*out[:1], out[0], *out[2:]), TypeError, "step_count must be unsigned 32-bit"),
        (lambda out: (array("d", bytes(800)), *out[1:]), TypeError, "not format 'd'"),
        (lambda out: (array("q", bytes(800)), *out[1:]), TypeError, "not format 'q'"),
        (lambda out: (memoryview(bytes(800)).cast("Q"), *out[1:]), BufferError, "read-only"),
        (lambda out: (np.zeros(200, "u8")[::2], *out[1:]), BufferError, "with strides"),
        (lambda out: (np.zeros((10, 10), "u8"), *out[1:]), BufferError, "of one dimension"),
        (lambda out: (*out[:3], np.zeros(99, "u8")), ValueError, "not 99 for 100 or more"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    core: Core, change: Any, error: type[Exception], says: str
) -> None:
    loop, stats = core.FrameLoop(Timestep(10), start=Timestamp(0)), core.FrameStats()
    with pytest.raises(error, match=says):
        loop.begin_frames(array("Q", range(100)), stats, change(own_columns(100)))
    assert loop == core.FrameLoop(Timestep(10), start=Timestamp(0))
    assert stats == core.FrameStats()


def test_an_error_from_an_iterator_comes_through_and_nothing_is_applied(core: Core) -> None:
    def failing() -> Iterator[Timestamp]:
        yield from map(Timestamp, range(0, 10 * BLOCK, 5))
        raise LookupError("the file ended")

    loop, stats = core.FrameLoop(Timestep(10), start=Timestamp(0)), core.FrameStats()
    for call in (loop.begin_frames, loop.digest_frames):
        with pytest.raises(LookupError, match="the file ended"):
            call(failing(), stats)
        assert loop == core.FrameLoop(Timestep(10), start=Timestamp(0))
        assert stats == core.FrameStats()


def test_an_iterator_is_drained_once_and_in_order(core: Core) -> None:
    seen: list[int] = []

    def counting() -> Iterator[Timestamp]:
        for now in range(3 * BLOCK):
            seen.append(now)
            yield Timestamp(now)

    plans = core.FrameLoop(Timestep(1), start=Timestamp(0)).begin_frames(counting())
    assert len(plans) == 3 * BLOCK
    assert seen == list(range(3 * BLOCK))


# the loop used from inside its own batch


@pytest.mark.parametrize("method", ["begin_frames", "digest_frames"])
@pytest.mark.parametrize("after", [0, 3, BLOCK + 1])
@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda loop, stats: loop.begin_frame(Timestamp(10**6)), id="begin_frame"),
        pytest.param(lambda loop, stats: loop.resync(Timestamp(10**6)), id="resync"),
        pytest.param(lambda loop, stats: loop.begin_frames(array("Q", [10**6])), id="batch"),
        pytest.param(lambda loop, stats: stats.absorb(loop.begin_frame(loop.last)), id="absorb"),
    ],
)
def test_an_iterator_that_uses_the_loop_is_found_out(
    core: Core, method: str, after: int, use: Callable[[FrameLoop, FrameStats], object]
) -> None:
    """The batch worked on a copy; taking it over would undo what the iterator did."""
    loop, stats = core.FrameLoop(Timestep(10), start=Timestamp(0)), core.FrameStats()
    shadow, tally = core.FrameLoop(Timestep(10), start=Timestamp(0)), core.FrameStats()

    def meddling() -> Iterator[Timestamp]:
        for k in range(after + 5):
            if k == after:
                use(loop, stats)
            yield Timestamp(4 * k)

    with pytest.raises(RuntimeError, match="copy it for the batch"):
        getattr(loop, method)(meddling(), stats)
    use(shadow, tally)
    assert loop == shadow, "what the iterator did stays, what the batch did does not"
    assert stats == tally


def test_an_iterator_may_use_another_loop(core: Core) -> None:
    loop, other = (
        core.FrameLoop(Timestep(10), start=Timestamp(0)),
        core.FrameLoop(Timestep(10), start=Timestamp(0)),
    )

    def nested() -> Iterator[Timestamp]:
        for now in range(0, 50, 5):
            other.begin_frame(Timestamp(now))
            yield Timestamp(now)

    assert len(loop.begin_frames(nested())) == 10
    assert loop == other
    assert loop.tick == 4


def test_an_iterator_that_resizes_its_own_source_is_harmless(core: Core) -> None:
    nows = [Timestamp(k) for k in range(0, 100, 5)]

    def shrinking() -> Iterator[Timestamp]:
        while nows:
            yield nows.pop(0)
            if len(nows) == 10:
                nows.clear()

    plans = core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(shrinking())
    assert len(plans) == 10


_LYING = """
import importlib, sys
from fixedstep import FrameStats, Timestep
core = importlib.import_module("fixedstep." + sys.argv[1])

class Lying:
    def __init__(self, length):
        self.length = length
    def __len__(self):
        return self.length
    def __iter__(self):
        return iter(range(20_000))

expected = core.FrameLoop(Timestep(10), start=0).begin_frames(range(20_000))
assert sum(expected.step_count) == 1999
for length in (0, 1, 19_999, 20_001, 10**6, 2**40, 2**61, 2**62, 2**63 - 1):
    loop = core.FrameLoop(Timestep(10), start=0)
    assert loop.begin_frames(Lying(length)) == expected, length
    assert loop.tick == 1999
"""


@pytest.mark.parametrize("which", ["native", "reference"])
def test_a_length_that_lies_is_not_believed(which: str) -> None:
    """A length is a hint about memory. One that is too small must cost a copy, and one that is far
    too large neither memory nor the process, in which case this one would be gone."""
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _LYING, which],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"exit {run.returncode}: {run.stderr}"


def test_a_length_that_fails_is_not_needed(core: Core) -> None:
    class Unmeasurable:
        def __len__(self) -> int:
            raise ValueError("no length")

        def __iter__(self) -> Iterator[Timestamp]:
            return map(Timestamp, range(0, 30, 5))

    assert len(core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(Unmeasurable())) == 6


# the buffer while it is read


def test_a_buffer_is_free_again_afterwards(core: Core) -> None:
    """After success and after every failure; a kept view would forbid its owner to resize."""
    loop, nows = core.FrameLoop(Timestep(10), start=Timestamp(0)), array("Q", [10, 20])
    loop.begin_frames(nows)
    nows.append(30)
    loop.digest_frames(nows, core.FrameStats())
    nows.append(40)
    wrong: Any = 5
    with pytest.raises(TypeError):
        loop.begin_frames(nows, wrong)
    nows.append(50)
    wrong_kinds: list[Any] = [array("q", [-1]), array("d", [1.0]), bytearray(8)]
    for bad in wrong_kinds:
        with pytest.raises((TypeError, OverflowError)):
            loop.begin_frames(bad)
        bad.append(1)
    assert len(nows) == 5


def test_a_released_view_is_refused(core: Core) -> None:
    view = memoryview(array("Q", [1, 2]))
    view.release()
    loop = core.FrameLoop(Timestep(10), start=Timestamp(0))
    with pytest.raises(ValueError, match="released"):
        loop.begin_frames(view)
    assert loop == core.FrameLoop(Timestep(10), start=Timestamp(0))


def test_a_buffer_cannot_be_resized_while_a_batch_reads_it(core: Core) -> None:
    """Another thread that tries gets the BufferError, and the batch gets its timestamps. Rounds are
    repeated until the two have met, which the first one nearly always does."""
    frames = 400_000 if core.__name__.endswith("native") else 30_000
    nows = array("Q", range(frames))
    sizes: list[int] = []

    def plan() -> None:
        sizes.append(len(core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(nows)))

    refused = 0
    for _ in range(200):
        if refused:
            break
        planner = threading.Thread(target=plan)
        planner.start()
        while planner.is_alive():
            try:
                nows.append(5)
                nows.pop()
            except BufferError:
                refused += 1
        planner.join()
    assert refused > 0
    assert len(nows) == frames
    assert set(sizes) <= {frames, frames + 1}


def test_a_buffer_that_is_written_while_it_is_read_gives_old_or_new_numbers(core: Core) -> None:
    """Each timestamp is one or the other, so the last ones are as if nobody had written."""
    frames = 200_000 if core.__name__.endswith("native") else 20_000
    nows = array("Q", [10]) * frames
    done = threading.Event()

    def write() -> None:
        k = 0
        while not done.is_set():
            nows[k % frames] = 10 + k % 2
            k += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        loop = core.FrameLoop(Timestep(10), start=Timestamp(0))
        plans = [loop.begin_frames(nows) for _ in range(3)]
    finally:
        done.set()
        writer.join()
    assert [len(batch) for batch in plans] == [frames] * 3
    assert loop.tick >= 1
    assert loop.last in (10, 11)


# FramePlans


@pytest.fixture(scope="session")
def plans(core: Core) -> FramePlans:
    return core.FrameLoop(Timestep(10), StepBudget(2), start=Timestamp(0)).begin_frames(
        [Timestamp(now) for now in (5, 10, 31, 31, 99)]
    )


@pytest.mark.parametrize("position", [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 3])
@pytest.mark.parametrize("bad", [-1, -(2**63)])
def test_a_negative_item_of_a_signed_buffer_is_refused(core: Core, position: int, bad: int) -> None:
    nows = np.arange(0, 4 * (2 * BLOCK + 9), 4, dtype=np.int64)
    nows[-1] = 2**63 - 1
    expected = core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(nows.astype("u8"))
    loop, stats = core.FrameLoop(Timestep(10), start=Timestamp(0)), core.FrameStats()
    assert copy.copy(loop).begin_frames(nows) == expected
    nows[position] = bad
    before = copy.copy(loop)
    text = (
        rf"^timestamps\[{position}\] must be a whole number of nanoseconds in 0 .. \d+, not {bad};"
    )
    for call in (loop.begin_frames, loop.digest_frames):
        with pytest.raises(OverflowError, match=text):
            call(nows, stats)
        assert loop == before
        assert stats == core.FrameStats()


EXPECTED = [(0, 0, 0, 5), (0, 1, 0, 0), (1, 2, 0, 1), (3, 0, 0, 1), (3, 2, 4, 9)]


def numbers(plan: FramePlan) -> tuple[int, int, int, int]:
    return plan.first_tick, plan.step_count, plan.dropped, plan.remainder


def test_a_batch_is_a_sequence_of_plans(core: Core, plans: FramePlans) -> None:
    assert type(plans) is fixedstep.FramePlans
    assert len(plans) == 5
    assert [numbers(plan) for plan in plans] == EXPECTED
    assert [numbers(plans[k]) for k in range(5)] == EXPECTED
    assert [numbers(plans[k]) for k in range(-5, 0)] == EXPECTED
    assert [numbers(plan) for plan in reversed(plans)] == EXPECTED[::-1]
    assert all(type(plan) is core.FramePlan for plan in plans)
    assert plans[2] in plans
    assert plans.index(plans[2]) == 2
    assert plans.count(plans[2]) == 1
    assert core.FramePlan(9, 9, 9, 9, Timestep(10)) not in plans
    assert plans.timestep == plans[0].timestep == Timestep(10)


def test_a_batch_iterates_again_and_again(plans: FramePlans) -> None:
    assert list(plans) == list(plans)
    one, two = iter(plans), iter(plans)
    next(one)
    assert len(list(two)) == 5
    assert len(list(one)) == 4


@pytest.mark.parametrize("index", [5, -6, 2**62, -(2**62), 2**64])
def test_an_index_beyond_a_batch_is_an_index_error(plans: FramePlans, index: int) -> None:
    with pytest.raises(IndexError):
        plans[index]


@pytest.mark.parametrize("index", [1.0, "1", None, (0, 1)])
def test_an_index_that_is_no_integer_is_a_type_error(plans: FramePlans, index: Any) -> None:
    with pytest.raises(TypeError):
        plans[index]


@pytest.mark.parametrize(
    "part",
    [
        slice(1, 3),
        slice(None),
        slice(None, None, 2),
        slice(None, None, -1),
        slice(-2, None),
        slice(9, 9),
    ],
    ids=str,
)
def test_a_slice_of_a_batch_is_a_batch(plans: FramePlans, part: slice) -> None:
    piece = plans[part]
    assert type(piece) is FramePlans
    assert [numbers(plan) for plan in piece] == EXPECTED[part]
    assert piece == plans[part]
    assert piece.timestep == plans.timestep


def test_the_columns_are_the_fields_of_the_plans(plans: FramePlans) -> None:
    columns = (plans.first_tick, plans.step_count, plans.dropped, plans.remainder)
    assert list(zip(*columns, strict=True)) == EXPECTED
    assert [column.format for column in columns] == ["Q", "I", "Q", "Q"]
    assert [column.itemsize for column in columns] == [8, 4, 8, 8]
    assert [column.shape for column in columns] == [(5,)] * 4


def test_all_columns_come_by_name_and_alpha_with_them(plans: FramePlans) -> None:
    columns = plans.columns()
    assert list(columns) == [*COLUMNS, "alpha"]
    for name in COLUMNS:
        assert columns[name] == getattr(plans, name)
    alphas: list[Any] = columns["alpha"].tolist()
    assert alphas == [plan.alpha() for plan in plans]
    assert alphas[-1] == np.float32(0.9)
    assert all(column.readonly for column in columns.values())
    kinds = [np.asarray(column).dtype.str[1:] for column in columns.values()]
    assert kinds == ["u8", "u4", "u8", "u8", "f4"]
    assert [len(column) for column in plans[:0].columns().values()] == [0] * 5


COLUMNS = ["first_tick", "step_count", "dropped", "remainder"]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_cannot_be_written(plans: FramePlans, name: str) -> None:
    column = getattr(plans, name)
    assert column.readonly
    with pytest.raises(TypeError, match="read-only"):
        column[0] = 7
    assert not np.asarray(column).flags.writeable


@pytest.mark.parametrize("name", COLUMNS)
def test_numpy_takes_a_column_without_a_copy(plans: FramePlans, name: str) -> None:
    one, two = (np.asarray(getattr(plans, name)) for _ in range(2))
    assert one.dtype == (np.uint32 if name == "step_count" else np.uint64)
    assert np.shares_memory(one, two), "two copies would lie in two places"
    assert one.tolist() == [row[COLUMNS.index(name)] for row in EXPECTED]
    copied = np.array(getattr(plans, name))
    assert not np.shares_memory(one, copied), "the control: a copy is told from none"


def test_a_column_outlives_its_batch(core: Core) -> None:
    column = (
        core.FrameLoop(Timestep(10), start=Timestamp(0))
        .begin_frames(array("Q", range(0, 1000, 5)))
        .remainder
    )
    assert list(column[:4]) == [0, 5, 0, 5]


def test_the_columns_hold_the_largest_numbers(core: Core) -> None:
    loop = core.FrameLoop(Timestep(1), StepBudget(U32_MAX), start=Timestamp(0), tick=U64_MAX - 1)
    plans = loop.begin_frames(array("Q", [U64_MAX]))
    assert numbers(plans[0]) == (U64_MAX - 1, U32_MAX, U64_MAX - U32_MAX, 0)
    slow = core.FrameLoop(Timestep(U64_MAX), start=Timestamp(0)).begin_frames(
        array("Q", [U64_MAX - 1])
    )
    assert list(slow.remainder) == [U64_MAX - 1]


def test_batches_compare_by_value(core: Core) -> None:
    def batch(dt: int, *nows: int) -> FramePlans:
        return core.FrameLoop(Timestep(dt), start=Timestamp(0)).begin_frames(array("Q", nows))

    assert batch(10, 5, 7) == batch(10, 5, 7)
    assert hash(batch(10, 5, 7)) == hash(batch(10, 5, 7))
    assert batch(10, 5, 7) != batch(10, 5, 8)
    assert batch(10, 5, 7) != batch(11, 5, 7)
    assert batch(10) == batch(10)
    assert batch(10, 5) != [batch(10, 5)[0]]


def test_a_pickled_batch_takes_the_memory_of_its_columns(core: Core) -> None:
    plans = core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(array("Q", range(1000)))
    data = pickle.dumps(plans)
    assert pickle.loads(data) == plans
    assert 28 * 1000 < len(data) < 28 * 1000 + 500


def test_digest_frames_keeps_no_plan(core: Core) -> None:
    stats = core.FrameStats()
    digest: Any = core.FrameLoop(Timestep(10), start=Timestamp(0)).digest_frames
    assert digest(array("Q", range(100)), stats) is None
    assert stats.frames == 100


def test_a_batch_of_both_cores_is_the_same(native: Core, reference: Core) -> None:
    nows = array("Q", hostile(20_000))
    for timestep in (Timestep(10), Rate(60_000, 1001), Rate(10**8)):
        answers = []
        for core in (native, reference):
            loop, stats = (
                core.FrameLoop(timestep, StepBudget(2), start=Timestamp(0)),
                core.FrameStats(),
            )
            answers.append((loop.begin_frames(nows, stats), loop, stats))
        assert answers[0] == answers[1]
        assert answers[0][2].frames == 20_000


def test_columns_of_megabytes_hold_what_the_loop_planned(native: Core) -> None:
    """Columns this large get memory in another way. The reference would take seconds over it."""
    nows = array("Q", range(0, 600_000 * 7, 7))
    loop, tally = native.FrameLoop(Timestep(10), start=Timestamp(0)), native.FrameStats()
    plans = loop.begin_frames(nows, tally)
    assert plans.first_tick.nbytes > 2**22
    assert sum(plans.step_count) == loop.tick == tally.ticks == nows[-1] // 10
    assert list(plans.remainder[:5]) == [0, 7, 4, 1, 8]
    assert plans[-1] == native.FramePlan(loop.tick - 1, 1, 0, nows[-1] % 10, Timestep(10))
    alone = native.FrameStats()
    native.FrameLoop(Timestep(10), start=Timestamp(0)).digest_frames(nows, alone)
    assert alone == tally


def test_a_source_is_checked_before_room_is_made_for_its_plans(core: Core) -> None:
    """A view of one number, 2**40 times over: no memory would do, and none must be asked for."""
    endless = np.broadcast_to(np.uint64(0), (2**40,))
    with pytest.raises(BufferError, match="must be C-contiguous"):
        core.FrameLoop(start=Timestamp(0)).begin_frames(endless)


@pytest.mark.parametrize("numbers", [(0, 1, 0, 5, 1, 5), (0, 1, 0, 0, 0, 5)])
def test_no_plan_is_made_of_numbers_that_would_end_the_process(
    native: Core, numbers: tuple[int, ...]
) -> None:
    """A whole step of remainder, and a scale of zero, which divides."""
    of_batch: Any = native.FramePlan._of_batch
    assert of_batch(0, 1, 0, 4, 1, 5).step_count == 1
    with pytest.raises(ValueError, match=r"^(remainder must be below one step|scale must be)"):
        of_batch(*numbers)
