"""What every object can do: compare, hash, print itself, be copied, be pickled, refuse to change.

One table of examples, one row a type; the tests run over the table, so a type that is added to it
is held to all of them. The types of the two cores are the same types to a program: equal states are
equal objects with equal hashes, and a pickle says nothing of the core that wrote it.
"""

from __future__ import annotations

import copy
import operator
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from unittest.mock import ANY

import pytest

import fixedstep
from fixedstep import Nanos, Rate, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Core

    from fixedstep import FramePlans

U64_MAX = 2**64 - 1
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def _used_loop(core: Core) -> Any:
    loop = core.FrameLoop(Timestep(10), StepBudget(3), Timestamp(100))
    loop.begin_frame(Timestamp(157))
    return loop


def _loop_at_speed(core: Core, speed: int) -> Any:
    loop = core.FrameLoop(Rate(60), start=Timestamp(100))
    loop._set_scale(60 * speed, 2 * 10**9, 5, Rate(60))
    loop.begin_frame(Timestamp(50_000_000))
    return loop


def _used_steps(core: Core) -> Any:
    steps = core.FramePlan(7, 3, 0, 0, Rate(60)).steps()
    next(steps)
    return steps


def _batch(core: Core, timestep: Timestep | Rate, *nows: int) -> FramePlans:
    return core.FrameLoop(timestep, start=Timestamp(0)).begin_frames(
        [Timestamp(now) for now in nows]
    )


def _timing(core: Core) -> Any:
    timing = core.FrameTiming()
    for nanos in (5, 300, 10**9):
        timing.record(Nanos(nanos), drawn=nanos != 300)
    return timing


# Two different objects of each type. Types of a core come first, types written once after them.
EXAMPLES: dict[str, tuple[Callable[[Core], Any], Callable[[Core], Any]]] = {
    "FrameLoop": (lambda core: core.FrameLoop(start=Timestamp(0)), _used_loop),
    "FrameLoop-rate": (
        lambda core: core.FrameLoop(Rate(60_000, 1001), start=Timestamp(0), tick=5, remainder=7),
        lambda core: core.FrameLoop(Rate(U64_MAX), StepBudget(2**32 - 1), Timestamp(U64_MAX)),
    ),
    "FrameLoop-speed": (
        lambda core: _loop_at_speed(core, 3),
        lambda core: _loop_at_speed(core, 4),
    ),
    "FrameLoop-without-start": (
        lambda core: core.FrameLoop(Timestep(10), tick=5, remainder=7),
        lambda core: core.FrameLoop(Timestep(10), start=Timestamp(0), tick=5, remainder=7),
    ),
    "FramePlan": (
        lambda core: core.FramePlan(7, 2, 1, 4, Timestep(10)),
        lambda core: core.FramePlan(7, 2, 1, 5, Timestep(10)),
    ),
    "FramePlan-rate": (
        lambda core: core.FramePlan(U64_MAX, 2**32 - 1, U64_MAX, 4, Rate(60)),
        lambda core: core.FramePlan(U64_MAX, 2**32 - 1, U64_MAX, 4, Rate(61)),
    ),
    "Steps": (lambda core: core.Steps(7, 3, Timestep(10)), _used_steps),
    "StateHash": (lambda core: core.StateHash(), lambda core: core.StateHash().absorb_u64(5)),
    "FrameStats": (
        lambda core: core.FrameStats(),
        lambda core: core.FrameStats(1, U64_MAX, 3, 0xABC),
    ),
    "FrameTiming": (lambda core: core.FrameTiming(), _timing),
    "Step": (
        lambda core: core.Step(2, Nanos(10), Nanos(20)),
        lambda core: next(core.Steps(3, 1, Timestep(10))),
    ),
    "FramePlans": (
        lambda core: _batch(core, Timestep(10), 5, 10, 31),
        lambda core: _batch(core, Rate(60)),
    ),
    "Timestep": (lambda core: Timestep(5), lambda core: Timestep(U64_MAX)),
    "Rate": (lambda core: Rate(60_000, 1001), lambda core: Rate(U64_MAX)),
    "StepBudget": (lambda core: StepBudget(1), lambda core: StepBudget(2**32 - 1)),
}
OF_A_CORE = ["FrameLoop", "FramePlan", "Steps", "StateHash", "FrameStats", "FrameTiming"]
IMMUTABLE = ["FramePlan", "StateHash", "Step", "FramePlans", "Timestep", "Rate", "StepBudget"]
CHANGING = ["FrameLoop", "Steps", "FrameStats", "FrameTiming"]

every_type = pytest.mark.parametrize("name", EXAMPLES)


def both(core: Core, name: str) -> tuple[Any, Any]:
    one, other = EXAMPLES[name]
    return one(core), other(core)


def test_the_table_has_every_public_type() -> None:
    classes = {name for name in fixedstep.__all__ if isinstance(getattr(fixedstep, name), type)}
    assert classes - {"Backend", "Nanos", "Timestamp", "Alpha"} <= set(EXAMPLES)
    assert {name.split("-")[0] for name in EXAMPLES} == {*IMMUTABLE, *CHANGING}


@every_type
def test_equal_objects_are_equal_and_others_are_not(core: Core, name: str) -> None:
    one, other = both(core, name)
    again, _ = both(core, name)
    assert one is not again
    assert operator.eq(one, again) is True
    assert operator.ne(one, again) is False
    assert operator.eq(one, other) is False
    assert operator.ne(one, other) is True


@every_type
def test_nothing_equals_a_stranger(core: Core, name: str) -> None:
    for value in both(core, name):
        for stranger in (None, 5, "text", 1.5, object(), int):
            assert operator.eq(value, stranger) is operator.eq(stranger, value) is False
            assert operator.ne(value, stranger) is operator.ne(stranger, value) is True


@every_type
def test_nothing_equals_an_object_of_another_type(core: Core, name: str) -> None:
    for other in EXAMPLES:
        if other.split("-")[0] != name.split("-")[0]:
            assert both(core, name)[0] != both(core, other)[0]


@pytest.mark.parametrize("name", OF_A_CORE)
def test_a_stranger_is_asked_whether_it_is_equal(core: Core, name: str) -> None:
    """What compares equal to anything (unittest.mock.ANY) does so from both sides."""
    value = both(core, name)[0]
    assert operator.eq(value, ANY) is operator.eq(ANY, value) is True
    assert operator.ne(value, ANY) is operator.ne(ANY, value) is False


def test_a_type_of_the_same_name_is_a_stranger(core: Core) -> None:
    """Equality across cores goes by name and state; a look-alike has neither of the right kind."""
    for name in OF_A_CORE:
        value = both(core, name)[0]
        assert value != type(name, (), {})()
        assert value != type(name, (), {"_state": lambda self: (1, 2, 3)})()


def test_objects_of_two_types_with_the_same_numbers_are_not_equal(
    core: Core, native: Core, reference: Core
) -> None:
    """A loop and a plan are six numbers each, steps and a tally four."""
    for one, other, numbers in (
        ("FrameLoop", "FramePlan", (1, 10, 5, 2, 1, 7)),
        ("Steps", "FrameStats", (0, 1, 1, 10)),
    ):
        kind: Any = getattr(core, one)
        value = kind._from_state(*numbers)
        for twin_core in (native, reference):
            stranger: Any = getattr(twin_core, other)
            twin = stranger._from_state(*numbers)
            assert value._state() == twin._state() == numbers
            assert operator.eq(value, twin) is operator.eq(twin, value) is False


SECOND = 10**9
STATES: dict[str, tuple[int, ...]] = {
    "FrameLoop": (3, SECOND, 5, 100, 3, 7),
    "FramePlan": (1, 2, 3, 4, 3, SECOND),
    "Steps": (7, 3, 3, SECOND),
    "StateHash": (5,),
    "FrameStats": (1, 2, 3, 4),
}


@pytest.mark.parametrize("name", STATES)
def test_every_number_of_a_state_is_seen_by_equality_and_kept_by_copies(
    core: Core, reference: Core, name: str
) -> None:
    """One number at a time, since two that change together hide each other."""
    kind: Any = getattr(core, name)
    twin: Any = getattr(reference, name)
    good = STATES[name]
    value = kind._from_state(*good)
    for position in range(len(good)):
        more = SECOND if good[position] == SECOND else 1  # still a rate
        state = tuple(number + more * (at == position) for at, number in enumerate(good))
        other = kind._from_state(*state)
        assert other._state() == state
        assert operator.eq(value, other) is operator.eq(other, value) is False
        assert operator.ne(value, other) is operator.ne(other, value) is True
        assert twin._from_state(*good) != other
        assert twin._from_state(*state) == other
        for back in (copy.copy(other), copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
            assert back._state() == state
        if name in IMMUTABLE:
            assert hash(other) == hash(twin._from_state(*state)) != hash(value)


@pytest.mark.parametrize("name", OF_A_CORE)
@pytest.mark.parametrize("order", [operator.lt, operator.le, operator.gt, operator.ge])
def test_objects_have_no_order(core: Core, name: str, order: Callable[[Any, Any], bool]) -> None:
    one, other = both(core, name)
    for left, right in ((one, other), (one, one)):
        with pytest.raises(TypeError, match="not supported between instances"):
            order(left, right)


@pytest.mark.parametrize("name", STATES)
def test_both_cores_refuse_a_damaged_state_in_the_same_words(
    native: Core, reference: Core, name: str
) -> None:
    good = STATES[name]
    for position in range(len(good)):
        for value in (-1, 0, 2**32, 2**64, None, 1.5):
            state = [*good[:position], value, *good[position + 1 :]]
            answers: list[Any] = []
            for core in (native, reference):
                kind: Any = getattr(core, name)
                try:
                    answers.append(kind._from_state(*state)._state())
                except (TypeError, ValueError, OverflowError) as error:
                    answers.append((type(error), str(error)))
            assert answers[0] == answers[1]
            assert type(answers[0][0]) is type or answers[0] == tuple(state)


@pytest.mark.parametrize("name", [n for n in EXAMPLES if n.split("-")[0] in IMMUTABLE])
def test_immutable_types_hash_by_value(core: Core, name: str) -> None:
    one, other = both(core, name)
    again, _ = both(core, name)
    assert hash(one) == hash(again)
    assert len({one, again, other}) == 2


@pytest.mark.parametrize("name", [n for n in EXAMPLES if n.split("-")[0] in CHANGING])
def test_changing_types_have_no_hash(core: Core, name: str) -> None:
    """A key that changes is lost in its own dictionary."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(both(core, name)[0])


@pytest.mark.parametrize("name", [n for n in EXAMPLES if n != "FramePlans"])
def test_a_repr_evaluates_back(core: Core, name: str) -> None:
    names: dict[str, Any] = {n: getattr(fixedstep, n) for n in fixedstep.__all__}
    names.update({n: getattr(core, n) for n in [*OF_A_CORE, "Step"]})
    for value in both(core, name):
        back = eval(repr(value), names)
        assert type(back) is type(value)
        assert back == value
        assert repr(back) == repr(value)
    assert repr(both(core, name)[0]) != repr(both(core, name)[1])


def test_the_repr_of_a_batch_says_how_many(core: Core) -> None:
    """Written out, a million plans would fill a terminal for an hour."""
    plans = _batch(core, Timestep(10), *range(1000))
    assert repr(plans) == "<FramePlans: 1000 frames of Timestep(10)>"


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        (
            "FrameLoop",
            (
                "FrameLoop(Timestep(16666667), StepBudget(5), 0, tick=0, remainder=0)",
                "FrameLoop(Timestep(10), StepBudget(3), 157, tick=3, remainder=7)",
            ),
        ),
        (
            "FramePlan",
            (
                "FramePlan(first_tick=7, step_count=2, dropped=1, remainder=4, "
                "timestep=Timestep(10))",
                "FramePlan(first_tick=7, step_count=2, dropped=1, remainder=5, "
                "timestep=Timestep(10))",
            ),
        ),
        ("Steps", ("Steps(7, 3, Timestep(10))", "Steps(8, 2, Rate(60, 1))")),
        ("StateHash", ("StateHash(0xcbf29ce484222325)", "StateHash(0x0de21504f16dc720)")),
        (
            "FrameStats",
            (
                "FrameStats(frames=0, ticks=0, steps_dropped=0, schedule_hash=0xcbf29ce484222325)",
                "FrameStats(frames=1, ticks=18446744073709551615, steps_dropped=3, "
                "schedule_hash=0x0000000000000abc)",
            ),
        ),
        (
            "FrameTiming",
            (
                "FrameTiming(min=0, max=0, sum=0, drawn=0, skipped=0, buckets={})",
                "FrameTiming(min=5, max=1000000000, sum=1000000305, drawn=2, skipped=1, "
                "buckets={5: 1, 203: 1, 1591: 1})",
            ),
        ),
        ("Step", ("Step(tick=2, dt=10, sim_time=20)", "Step(tick=3, dt=10, sim_time=30)")),
    ],
)
def test_a_repr_is_the_same_on_both_cores(core: Core, name: str, texts: tuple[str, str]) -> None:
    assert tuple(map(repr, both(core, name))) == texts
    assert tuple(map(str, both(core, name))) == texts


@every_type
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_is_equal(core: Core, name: str, duplicate: Callable[[Any], Any]) -> None:
    for value in both(core, name):
        twin = duplicate(value)
        assert type(twin) is type(value)
        assert twin == value


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copied_loop_is_a_snapshot(core: Core, duplicate: Callable[[Any], Any]) -> None:
    """What rollback relies on: go on, throw it away, start again from the copy."""
    loop = _used_loop(core)
    snapshot = duplicate(loop)
    assert snapshot is not loop
    first = [loop.begin_frame(now) for now in (170, 205)]
    assert sum(plan.step_count for plan in first) > 0
    assert snapshot != loop
    assert snapshot == _used_loop(core)
    assert [snapshot.begin_frame(now) for now in (170, 205)] == first
    assert snapshot == loop


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_of_changing_types_go_their_own_way(
    core: Core, duplicate: Callable[[Any], Any]
) -> None:
    steps = core.Steps(0, 3, Timestep(10))
    twin = duplicate(steps)
    next(steps)
    assert (len(steps), len(twin)) == (2, 3)

    stats = core.FrameStats()
    tally = duplicate(stats)
    stats.absorb(core.FramePlan(0, 1, 0, 0, Timestep(10)))
    assert (stats.frames, tally.frames) == (1, 0)

    timing = _timing(core)
    summary = duplicate(timing)
    timing.record(Nanos(5), drawn=True)
    assert (timing.count, summary.count) == (4, 3)
    assert timing != summary


def test_a_deep_copy_of_a_structure_keeps_its_shape(core: Core) -> None:
    loop = _used_loop(core)
    pair = copy.deepcopy([loop, loop, {"plan": core.FramePlan(0, 1, 0, 0, Timestep(10))}])
    assert pair[0] == loop
    assert pair[0] is not loop
    assert pair[2]["plan"] == core.FramePlan(0, 1, 0, 0, Timestep(10))


@every_type
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_brings_the_object_back(core: Core, name: str, protocol: int) -> None:
    """In the chosen core, whichever made it: that is what carries a save to another machine."""
    for value in both(core, name):
        back = pickle.loads(pickle.dumps(value, protocol))
        assert back == value
        kind = name.split("-")[0]
        assert type(back) is getattr(fixedstep, kind)
        if kind == "FrameLoop":
            assert back.begin_frame(Timestamp(U64_MAX)) == value.begin_frame(Timestamp(U64_MAX))


def test_a_pickle_of_a_core_names_no_core(core: Core) -> None:
    for name in OF_A_CORE:
        data = pickle.dumps(both(core, name)[0], 0)
        assert b"restore" in data
        assert b"native" not in data
        assert b"reference" not in data


_LOADER = """
import pickle, sys
import fixedstep
values = pickle.load(sys.stdin.buffer)
assert fixedstep.backend().name == sys.argv[1], fixedstep.backend()
for value in values:
    kind = type(value)
    assert kind is getattr(fixedstep, kind.__name__), kind
sys.stdout.buffer.write(pickle.dumps(([repr(v) for v in values], values), int(sys.argv[2])))
"""


@pytest.mark.parametrize("loader", ["native", "reference"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_core_loads_the_pickles_of_both(core: Core, loader: str, protocol: int) -> None:
    """Through a process whose chosen core is another one, and back again."""
    names = [name for name in EXAMPLES if name != "FramePlans"]
    values = [value for name in names for value in both(core, name)]
    plans = _batch(core, Timestep(10), 5, 10, 31)
    environment = dict(os.environ, FIXEDSTEP_BACKEND=loader)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", _LOADER, loader, str(protocol)],
        input=pickle.dumps([*values, plans], protocol),
        env=environment,
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr.decode()
    texts, back = pickle.loads(run.stdout)
    assert len(values) > 20
    assert texts == [repr(value) for value in [*values, plans]]
    assert back == [*values, plans]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_pickles_of_both_cores_are_the_same_bytes(
    native: Core, reference: Core, protocol: int
) -> None:
    for name in EXAMPLES:
        for of_native, of_reference in zip(both(native, name), both(reference, name), strict=True):
            assert pickle.dumps(of_native, protocol) == pickle.dumps(of_reference, protocol)


@pytest.mark.parametrize("name", EXAMPLES)
def test_equal_objects_of_both_cores_are_equal(native: Core, reference: Core, name: str) -> None:
    for one, other in zip(both(native, name), both(reference, name), strict=True):
        assert operator.eq(one, other) is operator.eq(other, one) is True
        assert operator.ne(one, other) is operator.ne(other, one) is False
        if name.split("-")[0] in IMMUTABLE:
            assert hash(one) == hash(other)
    assert both(native, name)[0] != both(reference, name)[1]
    assert both(reference, name)[0] != both(native, name)[1]


def test_a_damaged_pickle_is_refused(core: Core) -> None:
    """What a pickle carries passes the same checks as what a caller passes."""
    restore = core.FrameLoop(start=Timestamp(0)).__reduce__()[0]
    assert callable(restore)
    good = (1, 10, 5, 100, 3, 7)
    assert restore("FrameLoop", *good).remainder == 3
    for position, value, error in (
        (0, 0, ValueError),
        (1, 0, ValueError),
        (2, 0, ValueError),
        (2, 2**32, OverflowError),
        (3, -1, OverflowError),
        (4, 10, ValueError),
        (5, 2**64, OverflowError),
        (5, 1.5, TypeError),
    ):
        bad: list[Any] = list(good)
        bad[position] = value
        with pytest.raises(error):
            restore("FrameLoop", *bad)
    with pytest.raises(ValueError, match="FrameLoops"):
        restore("FrameLoops", *good)
    with pytest.raises(ValueError, match="__init__"):
        restore("__init__", *good)
    with pytest.raises(TypeError):
        restore("FrameLoop", *good[:-1])


def test_a_damaged_state_is_refused_by_every_type(core: Core) -> None:
    timing: dict[str, Any] = {"min": 5, "max": 9, "sum": 14, "drawn": 2, "skipped": 0}
    states: dict[str, tuple[Any, ...]] = {
        "FrameLoop": (1, 10, 5, 100, 3, 7),
        "FramePlan": (0, 1, 0, 5, 1, 10),
        "Steps": (0, 1, 1, 10),
        "StateHash": (5,),
        "FrameStats": (1, 2, 3, 4),
        "FrameTiming": (timing | {"buckets": {5: 1, 9: 1}},),
    }
    assert list(states) == OF_A_CORE
    for name, state in states.items():
        kind: Any = getattr(core, name)
        assert kind._from_state(*state)._state() == state
        with pytest.raises(TypeError):
            kind._from_state(*state, 1)
        for position in range(len(state)):
            for value in (-1, 2**64, None, 1.5):
                bad: list[Any] = list(state)
                bad[position] = value
                if (name, position, value) == ("FrameLoop", 3, None):
                    assert kind._from_state(*bad).last is None  # a loop before its first frame
                    continue
                with pytest.raises((TypeError, OverflowError)):
                    kind._from_state(*bad)
            with pytest.raises(TypeError):
                kind._from_state(*state[:position])


@pytest.mark.parametrize(
    ("name", "state", "error"),
    [
        ("FrameLoop", (0, 10, 5, 100, 3, 7), ValueError),
        ("FrameLoop", (1, 0, 5, 100, 0, 7), ValueError),
        ("FrameLoop", (1, 10, 0, 100, 3, 7), ValueError),
        ("FrameLoop", (1, 10, 2**32, 100, 3, 7), OverflowError),
        ("FrameLoop", (1, 10, 5, 100, 10, 7), ValueError),
        ("FramePlan", (0, 2**32, 0, 5, 1, 10), OverflowError),
        ("FramePlan", (0, 1, 0, 10, 1, 10), ValueError),
        ("FramePlan", (0, 1, 0, 5, 0, 10), ValueError),
        ("FramePlan", (0, 1, 0, 0, 1, 0), ValueError),
        ("FrameLoop", (60, 60, 5, 5, 1, 1), ValueError),
        ("FrameLoop", (2, 2 * 10**9, 5, 5, 1, 1), ValueError),
        ("FrameLoop", (60, 10**9, 5, 5, 1, 1, 60, 60), ValueError),
        ("FrameLoop", (60, 10**9, 5, 5, 1, 1, 60, 7 * 10**9), ValueError),
        ("FrameLoop", (60, 10**9, 5, 5, 1, 1, 0, 10**9), ValueError),
        ("FramePlan", (0, 1, 0, 5, 60, 60), ValueError),
        ("FramePlan", (0, 1, 0, 5, 2, 2 * 10**9), ValueError),
        ("Steps", (0, 1, 60, 60), ValueError),
        ("Steps", (0, 2**32, 1, 10), OverflowError),
        ("Steps", (0, 1, 0, 10), ValueError),
        ("Steps", (0, 1, 1, 0), ValueError),
    ],
)
def test_a_state_that_no_object_can_have_is_refused(
    core: Core, name: str, state: tuple[int, ...], error: type[Exception]
) -> None:
    """A zero unit would be a division by zero in C, and a crash, some frames later."""
    kind: Any = getattr(core, name)
    with pytest.raises(error, match=r"; "):
        kind._from_state(*state)
    for wrong_length in (state[:-1], (*state, 1), ()):
        with pytest.raises(TypeError):
            kind._from_state(*wrong_length)


# immutability


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("FrameLoop", ["tick", "remainder", "simulated", "timestep", "budget", "last"]),
        ("FramePlan", ["first_tick", "step_count", "dropped", "remainder", "timestep", "ticks"]),
        ("FrameStats", ["frames", "ticks", "steps_dropped", "schedule_hash"]),
        ("Step", ["tick", "dt", "sim_time"]),
        ("Timestep", ["nanos"]),
        ("Rate", ["numerator", "denominator"]),
        ("StepBudget", ["steps"]),
        ("FrameTiming", ["count", "min", "max", "sum", "drawn", "skipped"]),
        ("FramePlans", ["first_tick", "step_count", "dropped", "remainder", "timestep"]),
    ],
)
def test_what_is_read_cannot_be_written(core: Core, name: str, attributes: list[str]) -> None:
    for value in both(core, name):
        for attribute in attributes:
            before = getattr(value, attribute)
            with pytest.raises(AttributeError):
                setattr(value, attribute, before)
            with pytest.raises(AttributeError):
                delattr(value, attribute)
            assert getattr(value, attribute) == before


@every_type
def test_no_object_takes_new_attributes(core: Core, name: str) -> None:
    """A misspelt name would be stored in silence otherwise."""
    for value in both(core, name):
        with pytest.raises(AttributeError):
            value.no_such_name = 1


@pytest.mark.parametrize("name", OF_A_CORE)
def test_the_types_of_a_core_cannot_be_subclassed(core: Core, name: str) -> None:
    """Inside the cores a type check is exact; a subclass would be refused everywhere anyway."""
    with pytest.raises(TypeError, match=rf"'fixedstep\.\w+\.{name}' is not an acceptable base"):
        type("Mine", (getattr(core, name),), {})


@pytest.mark.parametrize("name", ["FramePlan", "StateHash"])
def test_a_copy_of_an_immutable_object_is_itself(core: Core, name: str) -> None:
    value = both(core, name)[0]
    assert copy.copy(value) is value
    assert copy.deepcopy(value) is value


_BARE = """
import sys, fixedstep, importlib
core = importlib.import_module("fixedstep." + sys.argv[1])
tried = 0
for kind in (core.FrameLoop, core.FramePlan, core.Steps, core.StateHash, core.FrameStats,
             core.FrameTiming):
    for make in (kind.__new__, object.__new__):
        try:
            bare = make(kind)
        except TypeError:
            continue
        for name in dir(kind):
            if name in ("__class__", "__init_subclass__", "__subclasshook__", "__init__"):
                continue
            for arguments in ((), (5,), (bare,), ([1, 2],), (fixedstep.FramePlan(0, 1, 0, 0,
                              fixedstep.Timestep(5)),)):
                try:
                    value = getattr(bare, name)
                    tried += 1
                    if callable(value):
                        value(*arguments)
                except Exception:
                    pass
print(tried)
"""


@pytest.mark.parametrize("which", ["native", "reference"])
def test_an_object_made_around_its_constructor_crashes_nothing(which: str) -> None:
    """``__new__`` alone leaves a loop without a unit. It may fail in any way but by taking the
    process down."""
    run = subprocess.run(
        [sys.executable, "-X", "dev", "-c", _BARE, which],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"exit {run.returncode}: {run.stderr}"
    assert int(run.stdout) > 100


def test_a_class_of_a_game_with_the_name_of_a_type_is_a_stranger_whatever_it_holds(
    core: Core,
) -> None:
    """Equality used to call what it called its ``_state``."""

    def getattr_raises(self: object, name: str) -> object:
        raise RuntimeError(name)

    plan = core.FramePlan(0, 0, 0, 0, Timestep(1))
    for body in (
        {"_state": "idle"},
        {"_state": lambda self: None},
        {"_state": lambda self: plan._state()},
        {"__getattr__": getattr_raises},
    ):
        stranger = type("FramePlan", (), dict(body))()
        assert (plan == stranger) is False
        assert plan != stranger
        assert plan in [stranger, plan]


def test_a_copied_batch_is_itself_and_stays_of_its_core(core: Core) -> None:
    plans = core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(
        [Timestamp(5), Timestamp(100)]
    )
    assert copy.copy(plans) is copy.deepcopy(plans) is plans
    core.FrameStats().absorb(copy.copy(plans)[0])
