"""Bad input: refused with the same words by both cores, and nothing has changed afterwards.

One table of every place where a number enters. For each the tests say what is refused and with
which exception, that its text has the value, its unit and what to write instead, that the cores
agree to the last letter, and that a loop, a tally or a hash is as it was before the call that
failed.
"""

from __future__ import annotations

import copy
import math
import re
import sys
from array import array
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import fixedstep
from fixedstep import Rate, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Core

U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1


class Stranger:
    """An object that is no number, with a repr that does not change between runs."""

    def __repr__(self) -> str:
        return "<stranger>"


class Index:
    """What only has ``__index__``."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> Any:
        return self.value

    def __repr__(self) -> str:
        return f"Index({self.value!r})"


class Entry(NamedTuple):
    """A place where an integer enters, and what its errors must speak of."""

    name: str
    call: Callable[[Core, Any], object]
    argument: str
    unit: str
    low: int = 0
    high: int = U64_MAX
    optional: bool = False


NANOS = "a whole number of nanoseconds"
WHOLE = "a whole number"


def loop(core: Core, **arguments: Any) -> Any:
    return core.FrameLoop(Timestep(10), StepBudget(3), Timestamp(100), **arguments)


def plan(core: Core, *bad: Any, **more: Any) -> Any:
    numbers = {"first_tick": 1, "step_count": 2, "dropped": 3, "remainder": 4} | more
    return core.FramePlan(**numbers, timestep=Timestep(10))


ENTRIES = [
    Entry("begin_frame", lambda core, bad: loop(core).begin_frame(bad), "now", NANOS),
    Entry("resync", lambda core, bad: loop(core).resync(bad), "now", NANOS),
    Entry("loop-start", lambda core, bad: core.FrameLoop(start=bad), "start", NANOS, optional=True),
    Entry(
        "loop-budget",
        lambda core, bad: core.FrameLoop(Timestep(10), bad),
        "budget",
        "a whole number of steps a frame",
        low=1,
        high=U32_MAX,
    ),
    Entry("skip_ticks", lambda core, bad: loop(core)._skip_ticks(bad), "ticks", WHOLE),
    Entry("take_back", lambda core, bad: loop(core, tick=U64_MAX)._take_back(bad), "ticks", WHOLE),
    Entry("loop-tick", lambda core, bad: loop(core, tick=bad), "tick", WHOLE),
    Entry("loop-remainder", lambda core, bad: loop(core, remainder=bad), "remainder", WHOLE),
    Entry("plan-first_tick", lambda core, bad: plan(core, first_tick=bad), "first_tick", WHOLE),
    Entry(
        "plan-step_count",
        lambda core, bad: plan(core, step_count=bad),
        "step_count",
        WHOLE,
        high=U32_MAX,
    ),
    Entry("plan-dropped", lambda core, bad: plan(core, dropped=bad), "dropped", WHOLE),
    Entry("plan-remainder", lambda core, bad: plan(core, remainder=bad), "remainder", WHOLE),
    Entry(
        "steps-first_tick",
        lambda core, bad: core.Steps(bad, 1, Timestep(10)),
        "first_tick",
        WHOLE,
    ),
    Entry(
        "steps-step_count",
        lambda core, bad: core.Steps(1, bad, Timestep(10)),
        "step_count",
        WHOLE,
        high=U32_MAX,
    ),
    Entry("hash-state", lambda core, bad: core.StateHash(bad), "state", WHOLE),
    Entry(
        "absorb_u64",
        lambda core, bad: core.StateHash().absorb_u64(bad),
        "value",
        "an unsigned 64-bit integer",
    ),
    Entry(
        "absorb_u32",
        lambda core, bad: core.StateHash().absorb_u32(bad),
        "value",
        "an unsigned 32-bit integer",
        high=U32_MAX,
    ),
    Entry(
        "absorb_i64",
        lambda core, bad: core.StateHash().absorb_i64(bad),
        "value",
        "a signed 64-bit integer",
        low=-(2**63),
        high=2**63 - 1,
    ),
    Entry("stats-frames", lambda core, bad: core.FrameStats(bad), "frames", WHOLE),
    Entry("stats-ticks", lambda core, bad: core.FrameStats(0, bad), "ticks", WHOLE),
    Entry("stats-dropped", lambda core, bad: core.FrameStats(0, 0, bad), "steps_dropped", WHOLE),
    Entry(
        "stats-schedule_hash",
        lambda core, bad: core.FrameStats(schedule_hash=bad),
        "schedule_hash",
        WHOLE,
    ),
    Entry(
        "begin_frames",
        lambda core, bad: loop(core).begin_frames([200, bad, 210]),
        "timestamps[1]",
        NANOS,
    ),
    Entry(
        "begin_frames-late",
        lambda core, bad: loop(core).begin_frames([*range(20_000), bad, 5]),
        "timestamps[20000]",
        NANOS,
    ),
    Entry(
        "digest_frames",
        lambda core, bad: loop(core).digest_frames(iter([bad]), core.FrameStats()),
        "timestamps[0]",
        NANOS,
    ),
    # written once, for both cores
    Entry("Timestep", lambda _, bad: Timestep(bad), "timestep", NANOS, low=1),
    Entry("from_hz", lambda _, bad: Timestep.from_hz(bad), "hz", WHOLE, low=1, high=2 * 10**9),
    Entry("Rate", lambda _, bad: Rate(bad, 7), "numerator", WHOLE, low=1),
    Entry(
        "Rate-denominator",
        lambda _, bad: Rate(60, bad),
        "denominator",
        WHOLE,
        low=1,
        high=U64_MAX // 10**9,
    ),
    Entry("StepBudget", lambda _, bad: StepBudget(bad), "budget", WHOLE, low=1, high=U32_MAX),
    Entry("since-later", lambda _, bad: since(bad, 1), "later", NANOS),
    Entry("since-earlier", lambda _, bad: since(1, bad), "earlier", NANOS),
    Entry("add-at", lambda _, bad: add(bad, 1), "at", NANOS),
    Entry("add-span", lambda _, bad: add(1, bad), "span", NANOS),
    Entry(
        "timing-record", lambda core, bad: core.FrameTiming().record(bad, True), "frame_time", NANOS
    ),
    Entry("timing-sum", lambda core, bad: core.FrameTiming(sum=bad), "sum", NANOS),
    Entry(
        "timing-drawn",
        lambda core, bad: core.FrameTiming(drawn=bad, buckets={0: bad}),
        "drawn",
        WHOLE,
    ),
    Entry(
        "timing-buckets",
        lambda core, bad: core.FrameTiming(drawn=U64_MAX, buckets={0: bad}),
        "count",
        WHOLE,
    ),
]
since: Callable[[Any, Any], object] = fixedstep.saturating_since
add: Callable[[Any, Any], object] = fixedstep.saturating_add

# What stays one step below the remainder's own limit, which depends on the unit.
LIMITED = ("loop-remainder", "plan-remainder")

NOT_INTEGERS = [
    1.0,
    1.5,
    math.nan,
    math.inf,
    Decimal(5),
    Fraction(5, 1),
    "5",
    "",
    b"5",
    None,
    5j,
    [5],
    (),
    {},
    Stranger(),
    int,
    np.float64(5),
    np.array([5, 6]),
    Index(1.5),
    Index("5"),
    "a text so long that a message which held all of it would be of no use to anybody who reads it",
]

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


def refused(entry: Entry, core: Core, bad: Any) -> tuple[type[BaseException], str]:
    with pytest.raises((TypeError, OverflowError, ValueError)) as caught:
        entry.call(core, bad)
    return caught.type, str(caught.value)


@every_entry
def test_what_is_no_integer_is_a_type_error(core: Core, entry: Entry) -> None:
    for bad in NOT_INTEGERS:
        if bad is None and entry.optional:
            continue
        kind, message = refused(entry, core, bad)
        assert kind is TypeError
        start = f"{entry.argument} must be {entry.unit}"
        assert message.startswith(start)
        assert f", not {type(bad).__name__} {bad!r:.50}" in message
        fix = message.rpartition("; ")[2]
        assert len(fix) > 15, "the message must end with what to do"
        assert len(message) < 300


@every_entry
def test_what_is_below_the_range_is_an_overflow_error(core: Core, entry: Entry) -> None:
    for bad in (min(entry.low, 0) - 1, -(2**63) - 1, -(2**64), Index(-(2**63) - 1)):
        kind, message = refused(entry, core, bad)
        assert kind is OverflowError
        assert message.startswith(f"{entry.argument} must be {entry.unit}")
        assert f" .. {entry.high}, not {int(bad)}; " in message
        assert len(message.rpartition("; ")[2]) > 15


@every_entry
def test_what_is_above_the_range_is_an_overflow_error(core: Core, entry: Entry) -> None:
    for bad in (entry.high + 1, 2**64, 2**200, Index(2**64)):
        kind, message = refused(entry, core, bad)
        assert kind is OverflowError
        assert message.startswith(f"{entry.argument} must be {entry.unit}")
        assert f" .. {entry.high}, not {int(bad)}; " in message


@every_entry
def test_a_number_too_long_to_print_is_an_overflow_error_too(core: Core, entry: Entry) -> None:
    """Python does not print integers of more than 4,300 digits; the error must not trip on it."""
    for bad in (10**5000, -(10**5000)):
        kind, message = refused(entry, core, bad)
        assert kind is OverflowError
        assert message.startswith(f"{entry.argument} must be {entry.unit}")
        assert len(message) < 300


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.low == 1], ids=lambda entry: entry.name
)
def test_a_zero_where_one_is_the_least_is_a_value_error(core: Core, entry: Entry) -> None:
    for zero in (0, False, np.uint64(0)):
        kind, message = refused(entry, core, zero)
        assert kind is ValueError
        assert message.startswith(f"{entry.argument} must be {entry.unit}")
        assert "at least 1, not 0; " in message


@every_entry
def test_both_ends_of_the_range_are_taken(core: Core, entry: Entry) -> None:
    entry.call(core, entry.low)
    entry.call(core, 9 if entry.name in LIMITED else entry.high)


@every_entry
def test_anything_with_an_index_is_taken(core: Core, entry: Entry) -> None:
    highest = 9 if entry.name in LIMITED else entry.high
    for good in (True, np.uint64(1), np.int8(1), Index(1), Index(entry.low), Index(highest)):
        entry.call(core, good)


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.name in LIMITED], ids=lambda entry: entry.name
)
def test_a_remainder_of_a_whole_step_is_a_value_error(core: Core, entry: Entry) -> None:
    for whole in (10, 11, U64_MAX):
        kind, message = refused(entry, core, whole)
        assert kind is ValueError
        assert message.startswith(
            f"remainder must be below one step, which is 10 here, not {whole}"
        )


@every_entry
def test_both_cores_refuse_in_the_same_words(native: Core, reference: Core, entry: Entry) -> None:
    below = min(entry.low, 0) - 1
    values = [*NOT_INTEGERS, below, -(2**64), 2**64, 2**200, entry.high + 1, Index(2**64)]
    values.append(Index(below))
    if entry.low == 1:
        values.append(0)
    if entry.name in LIMITED:
        values.extend([10, U64_MAX])
    for bad in values:
        if bad is None and entry.optional:
            continue
        assert refused(entry, native, bad) == refused(entry, reference, bad)
    assert len(values) > 25


# arguments that are no integers

OTHERS: list[tuple[str, Callable[[Core, Any], object], list[Any]]] = [
    (
        "timestep",
        lambda core, bad: core.FrameLoop(bad),
        [16_666_667, 1.5, "60", None, StepBudget(5), Stranger(), Timestep],
    ),
    ("plan-timestep", lambda core, bad: core.FramePlan(0, 0, 0, 0, bad), [10, None, "x" * 500]),
    ("steps-timestep", lambda core, bad: core.Steps(0, 0, bad), [10, None]),
    (
        "budget",
        lambda core, bad: core.FrameLoop(Timestep(10), bad),
        [0, 1.5, "5", None, Timestep(5), Stranger(), StepBudget, "x" * 500],
    ),
    (
        "absorb_bytes",
        lambda core, bad: core.StateHash().absorb_bytes(bad),
        ["text", 5, None, [1, 2], 1.5, np.arange(10)[::2], memoryview(b"abcd")[::2]],
    ),
    (
        "absorb_f32_bits",
        lambda core, bad: core.StateHash().absorb_f32_bits(bad),
        ["1.5", b"1.5", None, 1j, [1.5], Stranger(), float, 1e39, -1e39, 10**400],
    ),
    (
        "absorb_f64_bits",
        lambda core, bad: core.StateHash().absorb_f64_bits(bad),
        ["1.5", b"1.5", None, 1j, [1.5], Stranger(), float, 10**400],
    ),
    ("absorb_plan", lambda core, bad: core.StateHash().absorb_plan(bad), [None, 5, (1, 2)]),
    ("stats-absorb", lambda core, bad: core.FrameStats().absorb(bad), [None, 5, (1, 2)]),
    (
        "begin_frames",
        lambda core, bad: loop(core).begin_frames(bad),
        [
            5,
            None,
            "12",
            1.5,
            Stranger(),
            b"12345678",
            array("L", [1]) if array("L").itemsize != 8 else array("I", [1]),
            array("d", [1.0]),
            array("d", [1.0]),
            np.array([1], dtype=">u8"),
            np.array([[1]], dtype="u8"),
            np.array(1, dtype="u8"),
            np.arange(10, dtype="u8")[::2],
        ],
    ),
    ("stats", lambda core, bad: loop(core).begin_frames([1], bad), [5, "stats", Timestep(5)]),
    ("digest-stats", lambda core, bad: loop(core).digest_frames([1], bad), [None, 5]),
]


@pytest.mark.parametrize(("name", "call", "values"), OTHERS, ids=[row[0] for row in OTHERS])
def test_other_arguments_are_refused_with_the_fix(
    core: Core, name: str, call: Callable[[Core, Any], object], values: list[Any]
) -> None:
    assert values
    for bad in values:
        with pytest.raises((TypeError, ValueError, OverflowError, BufferError)) as caught:
            call(core, bad)
        message = str(caught.value)
        assert re.match(r"(\w+) must (be|have) ", message), message
        assert "not " in message
        assert len(message.rpartition("; ")[2]) > 15, message
        assert len(message) < 300


@pytest.mark.parametrize(("name", "call", "values"), OTHERS, ids=[row[0] for row in OTHERS])
def test_both_cores_refuse_other_arguments_in_the_same_words(
    native: Core,
    reference: Core,
    name: str,
    call: Callable[[Core, Any], object],
    values: list[Any],
) -> None:
    for bad in values:
        answers = []
        for which in (native, reference):
            with pytest.raises((TypeError, ValueError, OverflowError, BufferError)) as caught:
                call(which, bad)
            answers.append((caught.type, str(caught.value)))
        assert answers[0] == answers[1]


# nothing has changed afterwards

BAD_TIMES = [1.5, Decimal(5), "5", None, Stranger(), -1, 2**64, Index(1.5)]


@pytest.mark.parametrize("bad", BAD_TIMES, ids=repr)
def test_a_loop_is_as_it_was_after_a_bad_call(core: Core, bad: Any) -> None:
    used = loop(core)
    used.begin_frame(Timestamp(157))
    before, shown = copy.copy(used), repr(used)
    assert before.tick > 0
    assert before.remainder > 0
    for call in (used.begin_frame, used.resync):
        with pytest.raises((TypeError, OverflowError)):
            call(bad)
        assert used == before
    with pytest.raises((TypeError, OverflowError)):
        used.begin_frames([200, 210, bad, 220])
    assert used == before
    assert repr(used) == shown
    assert used.begin_frame(Timestamp(165)) == before.begin_frame(Timestamp(165))


@pytest.mark.parametrize("bad", BAD_TIMES, ids=repr)
def test_a_tally_is_as_it_was_after_a_bad_call(core: Core, bad: Any) -> None:
    stats = core.FrameStats()
    stats.absorb(plan(core))
    before = copy.copy(stats)
    with pytest.raises(TypeError):
        stats.absorb(bad)
    assert stats == before
    used = loop(core)
    for call in (used.begin_frames, used.digest_frames):
        with pytest.raises((TypeError, OverflowError)):
            call([200, bad], stats)
        assert stats == before
        assert used == loop(core)


@pytest.mark.parametrize("bad", BAD_TIMES, ids=repr)
def test_a_hash_is_as_it_was_after_a_bad_call(core: Core, bad: Any) -> None:
    state = core.StateHash().absorb_u64(5)
    for call in (state.absorb_u64, state.absorb_u32, state.absorb_bytes, state.absorb_plan):
        with pytest.raises((TypeError, OverflowError)):
            call(bad)
    assert state == core.StateHash().absorb_u64(5)


def test_a_second_init_does_the_same_on_both_cores(native: Core, reference: Core) -> None:
    """Nobody means to call ``__init__`` twice; a program that does must not depend on the core."""
    for arguments in (
        {},
        {"timestep": Timestep(7)},
        {"timestep": 5},
        {"timestep": Timestep(7), "start": -1},
    ):
        answers: list[Any] = []
        for core in (native, reference):
            used, stats = loop(core), core.FrameStats(1, 2, 3, 4)
            initialise: Any = used.__init__
            try:
                initialise(**arguments)
            except (TypeError, OverflowError) as error:
                answers.append(type(error))
            initialise = stats.__init__
            initialise()
            answers.append((used, stats))
        half = len(answers) // 2
        assert answers[:half] == answers[half:]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, ValueError])
def test_an_error_inside_an_index_comes_through(core: Core, error: type[BaseException]) -> None:
    class Failing:
        def __index__(self) -> int:
            raise error("from inside")

    failing: Any = Failing()
    used = loop(core)
    for call in (
        used.begin_frame,
        used.resync,
        core.StateHash().absorb_u64,
        core.StateHash().absorb_u32,
        core.StateHash().absorb_i64,
    ):
        with pytest.raises(error, match="from inside"):
            call(failing)
    with pytest.raises(error, match="from inside"):
        used.begin_frames([5, failing])
    assert used == loop(core)


def test_an_index_that_uses_the_loop_is_seen_by_it(core: Core) -> None:
    """The number is asked for before the state is read, so the frame inside comes first."""

    class Reentrant:
        def __index__(self) -> int:
            used.begin_frame(Timestamp(130))
            return 145

    used = loop(core)
    reentrant: Any = Reentrant()
    plan_after = used.begin_frame(reentrant)
    assert (plan_after.first_tick, plan_after.step_count, plan_after.remainder) == (3, 1, 5)


@pytest.mark.parametrize(
    "call",
    [
        lambda core: core.FrameLoop().begin_frame(),
        lambda core: core.FrameLoop().begin_frame(1, 2),
        lambda core: core.FrameLoop().begin_frame(now=1),
        lambda core: core.FrameLoop().resync(),
        lambda core: core.FrameLoop().begin_frames(),
        lambda core: core.FrameLoop().begin_frames([1], None, None, None),
        lambda core: core.FrameLoop().digest_frames([1]),
        lambda core: core.FrameLoop(Timestep(1), StepBudget(1), 0, 0),
        lambda core: core.FrameLoop(speed=2),
        lambda core: core.FramePlan(),
        lambda core: core.FramePlan(0, 0, 0, 0),
        lambda core: core.FramePlan(0, 0, 0, 0, Timestep(1), 0),
        lambda core: core.Steps(),
        lambda core: core.StateHash(1, 2),
        lambda core: core.StateHash().absorb_u64(),
        lambda core: core.StateHash().absorb_u64(value=1),
        lambda core: core.StateHash().finish(1),
        lambda core: core.FrameStats(0, 0, 0, 0, 0),
        lambda core: core.FrameStats(count=1),
        lambda core: core.FrameStats().absorb(),
        lambda core: core.FrameStats().json(1),
        lambda core: core.FrameTiming().record(),
        lambda core: core.FrameTiming().record(5),
        lambda core: core.FrameTiming().record(5, True, 7),
        lambda core: core.FrameTiming().record(5, frame_time=7),
        lambda core: core.FrameTiming().record(5, shown=True),
        lambda core: core.FrameTiming().percentile(),
        lambda core: core.FrameTiming(5),
        lambda core: fixedstep.FramePlans(),
    ],
)
def test_a_call_of_the_wrong_shape_is_a_type_error(
    core: Core, call: Callable[[Any], object]
) -> None:
    with pytest.raises(TypeError):
        call(core)


class Failing:
    """Its ``__index__`` has a mistake of its own."""

    def __index__(self) -> int:
        return len(5)  # type: ignore[arg-type]


def test_a_mistake_in_the_callers_own_index_is_shown(core: Core) -> None:
    bad: Any = Failing()
    for call in (loop(core).begin_frame, loop(core).resync, core.StateHash().absorb_u64):
        with pytest.raises(TypeError, match="must be") as caught:
            call(bad)
        assert "object of type 'int' has no len()" in str(caught.value.__cause__)
    with pytest.raises(TypeError) as caught:
        loop(core).begin_frame("5")
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "name", ["FrameLoop", "FramePlan", "Steps", "StateHash", "FrameStats", "FrameTiming"]
)
def test_a_call_with_an_unknown_argument_names_the_type(core: Core, name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}(\.__new__)?\(\) got an unexpected keyword"):
        getattr(core, name)(speed=2)


@pytest.mark.parametrize("index", [3, -4, 2**70])
def test_a_frame_that_a_batch_does_not_have_is_an_index_error(core: Core, index: int) -> None:
    plans = loop(core).begin_frames([Timestamp(105), Timestamp(110), Timestamp(130)])
    assert plans[-3] == plans[0]
    with pytest.raises(IndexError, match=rf"a batch of 3 frames has no frame {index}$"):
        plans[index]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ((60, 10**9 + 1, 5, Rate(60)), "unit must be a multiple of the rate's, 1000000000 for"),
        ((60, 10**9, 5, Rate(60, 7)), "unit must be a multiple of the rate's, 7000000000 for"),
        ((0, 10**9, 5, Rate(60)), "scale must be a whole number, at least 1, not 0"),
        ((2**64, 10**9, 5, Rate(60)), "scale must be a whole number in 1 .. "),
        ((60, 0, 5, Rate(60)), "unit must be a whole number, at least 1, not 0"),
        ((60, 2**64, 5, Rate(60)), "unit must be a whole number in 1 .. "),
        ((60, 10**9, 0, Rate(60)), "budget must be a whole number, at least 1, not 0"),
        ((60, 10**9, 2**32, Rate(60)), "budget must be a whole number in 1 .. "),
        ((60, 10**9, 5, 60), "timestep must be a Timestep or a Rate, not int 60"),
        ((60, 10**9, 5), ""),
    ],
)
def test_a_speed_that_does_not_fit_changes_nothing(
    core: Core, change: tuple[Any, ...], says: str
) -> None:
    fresh = core.FrameLoop(Rate(60), start=Timestamp(0))
    before = fresh._state()
    with pytest.raises((TypeError, ValueError, OverflowError)) as caught:
        fresh._set_scale(*change)
    assert says in str(caught.value)
    assert fresh._state() == before


def test_the_unit_is_fixed_once_time_has_passed(core: Core) -> None:
    for used in (
        core.FrameLoop(Rate(60), start=Timestamp(0), tick=1),
        core.FrameLoop(Rate(60), start=Timestamp(0), remainder=1),
    ):
        with pytest.raises(ValueError, match="unit must stay 1000000000 once time has passed, not"):
            used._set_scale(60, 2 * 10**9, 5, Rate(60))
        used._set_scale(30, 10**9, 5, Rate(60))
        assert used._scale == 30


def test_no_more_ticks_are_taken_back_than_were_planned(core: Core) -> None:
    used = loop(core, tick=3)
    with pytest.raises(ValueError, match="ticks must be at most those that were planned, not 4;"):
        used._take_back(4)
    assert used.tick == 3
    used._take_back(Index(3))
    assert used.tick == 0


def test_arguments_can_be_named_as_documented(core: Core) -> None:
    named = core.FrameLoop(
        timestep=Timestep(10), budget=StepBudget(3), start=Timestamp(100), tick=1, remainder=2
    )
    assert (named.tick, named.remainder, named.last) == (1, 2, 100)
    stats = core.FrameStats(frames=1, ticks=2, steps_dropped=3, schedule_hash=4)
    assert stats == core.FrameStats(1, 2, 3, 4)
    assert core.StateHash(state=5) == core.StateHash(5)
    assert core.Steps(first_tick=1, step_count=2, timestep=Timestep(10)) == plan(core).steps()
    tally = core.FrameStats()
    named.begin_frames(timestamps=[Timestamp(105)], stats=tally)
    named.digest_frames(timestamps=[Timestamp(106)], stats=tally)
    assert tally.frames == 2


def test_what_only_looks_like_an_integer_is_told_how_seconds_become_one(core: Core) -> None:
    """An array without dimensions has ``__index__``, and raises from it."""
    values: list[Any] = [np.array(1.5), np.array([1, 2])]
    for value in values:
        with pytest.raises(TypeError, match=r"seconds become one with round\(seconds \* 10\*\*9"):
            core.FrameLoop().begin_frame(value)


def test_an_array_of_dates_is_told_how_to_become_one_of_integers(core: Core) -> None:
    dates: Any = np.array([1, 2], "M8[ns]")
    loop = core.FrameLoop()
    for call in (loop.begin_frames, core.StateHash().absorb_bytes):
        with pytest.raises(TypeError, match=r"\.view\('u8'\)"):
            call(dates)
    assert len(loop.begin_frames(dates.view("u8"))) == 2


def test_an_array_of_the_other_byte_order_is_told_so(core: Core) -> None:
    other = ">u8" if sys.byteorder == "little" else "<u8"
    with pytest.raises(TypeError, match=r"numpy\.int64 in this machine's byte order"):
        core.FrameLoop().begin_frames(np.array([1, 2], other))


def test_references_to_objects_are_no_bytes_to_absorb(core: Core) -> None:
    """Their addresses are other ones in every process, and so was the digest."""
    state = core.StateHash()
    odd: Any = np.zeros(2, [("Odd", "u8")])
    references: list[Any] = [np.array(["x", 1.5], object), np.zeros(2, [("a", "u8"), ("b", "O")])]
    for each in references:
        with pytest.raises(TypeError, match="must hold values, not references to Python objects"):
            state.absorb_bytes(each)
    assert state.absorb_bytes(odd) == state.absorb_bytes(bytes(16))


def test_a_range_that_begins_at_one_is_told_as_that() -> None:
    for call in (StepBudget, Timestep, Rate, Timestep.from_hz):
        with pytest.raises(OverflowError, match=r"in 1 \.\. "):
            call(-1)
