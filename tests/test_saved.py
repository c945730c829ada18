"""Pickles: one public name in all of them, and no damaged one makes an object.

A pickle holds the arguments of a constructor, or the state of a type that both cores have. Here
each value in each pickle is replaced by wrong ones, on both cores, and what loads must be an object
that works: equal to itself after another round, with a repr, as a constructor would have made it.
"""

from __future__ import annotations

import copy
import pickle
import pickletools
import random
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

import fixedstep
from fixedstep import FrameTiming, Nanos, Rate, StepBudget, Timestamp, Timestep, restore
from fixedstep.sim import (
    PRESS,
    ActionState,
    Cadence,
    Deadline,
    FrameClock,
    TickInput,
)
from fixedstep.testing import FrameProfile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Core

U64_MAX = 2**64 - 1


def timing_of(core: Core, *spans: int) -> FrameTiming:
    timing = core.FrameTiming()
    for span in spans:
        timing.record(Nanos(span), drawn=span % 2 == 0)
    return timing


def _frame_clock(core: Core) -> FrameClock:
    clock = FrameClock(max_delta=Nanos(100))
    for now in (5, 50, 1_000):
        clock.sample(Timestamp(now))
    return clock


def _steps(core: Core) -> Any:
    return core.FramePlan(7, 3, 0, 0, Rate(60)).steps()


MAKERS: dict[str, Callable[[Core], Any]] = {
    "FrameLoop": lambda core: core.FrameLoop(Rate(60_000, 1001), StepBudget(3), Timestamp(5)),
    "FramePlan": lambda core: core.FramePlan(7, 2, 1, 4, Timestep(10)),
    "Steps": _steps,
    "StateHash": lambda core: core.StateHash().absorb_u64(5),
    "FrameStats": lambda core: core.FrameStats(1, 2, 3, 4),
    "Step": lambda core: core.Step(2, Nanos(10), Nanos(20)),
    "FramePlans": lambda core: core.FrameLoop(Timestep(10)).begin_frames(map(Timestamp, (5, 31))),
    "Timestep": lambda core: Timestep(5),
    "Rate": lambda core: Rate(60_000, 1001),
    "StepBudget": lambda core: StepBudget(7),
    "FrameTiming": lambda core: timing_of(core, 5, 300, 10**9),
    "sim.Deadline": lambda core: Deadline(5),
    "sim.Cadence": lambda core: Cadence(4, 3),
    "sim.ActionState": lambda core: ActionState(True, -3, 2, 1, False),
    "sim.TickInput": lambda core: TickInput({"jump": PRESS, "move": ActionState(axis=5)}),
    "sim.FrameClock": _frame_clock,
    "testing.FrameProfile": lambda core: FrameProfile([1, 2], "two"),
}
WRONG: list[Any] = [-1, 2**64, 2**200, 1.5, None, "5", b"", [], (), {}, {"a": 1}, object, [None]]
every_kind = pytest.mark.parametrize("kind", MAKERS)


def damaged(value: Any) -> Iterator[Any]:
    """The value with one part of it wrong: itself, or one of what it holds, one at a time."""
    yield from WRONG
    if isinstance(value, dict):
        for key in value:
            yield {name: each for name, each in value.items() if name != key}
            yield {**{name: each for name, each in value.items() if name != key}, 5: value[key]}
            for wrong in damaged(value[key]):
                yield {**value, key: wrong}
        yield {**value, "more": 1}
    elif isinstance(value, (list, tuple)):
        for at in range(len(value)):
            for wrong in damaged(value[at]):
                parts = [*value[:at], wrong, *value[at + 1 :]]
                yield tuple.__new__(type(value), parts) if isinstance(value, tuple) else parts


def works(made: Any) -> bool:
    """Whether an object behaves as one that its constructor made."""
    repr(made)
    again = pickle.loads(pickle.dumps(made))
    return bool(again == made) and type(again) is type(made)


@every_kind
def test_a_pickle_names_one_public_function_and_nothing_else(core: Core, kind: str) -> None:
    value = MAKERS[kind](core)
    found, (name, *_) = value.__reduce_ex__(2)[:2]
    assert (found, name) == (restore, kind)
    names = set()
    strings: list[str] = []
    for opcode, argument, _ in pickletools.genops(pickle.dumps(value, 4)):
        if opcode.name == "STACK_GLOBAL":
            names.add(tuple(strings[-2:]))
        elif isinstance(argument, str):
            strings.append(argument)
    ours = {pair for pair in names if pair[0].startswith("fixedstep")}
    assert ours == {("fixedstep", "restore")}
    assert pickle.loads(pickle.dumps(value)) == value


@every_kind
def test_a_pickle_that_is_damaged_in_one_place_is_refused_or_loads_whole(
    core: Core, kind: str
) -> None:
    """Some damage cannot be seen: another number in range, a list of a name's letters."""
    loader, (name, *state) = MAKERS[kind](core).__reduce_ex__(2)[:2]
    messages: list[str] = []
    for wrong in damaged(state):
        if not isinstance(wrong, list):
            continue
        try:
            made = loader(name, *wrong)
        except (TypeError, ValueError, OverflowError) as error:
            messages.append(str(error))
        else:
            assert works(made)
    assert len(messages) >= len(state) * len(WRONG) // 3
    assert {len(message.splitlines()) for message in messages} == {1}


@every_kind
def test_a_pickle_of_another_length_is_refused(core: Core, kind: str) -> None:
    loader, (name, *state) = MAKERS[kind](core).__reduce_ex__(2)[:2]
    for wrong in ([], state[:-1], [*state, 1]):
        with pytest.raises(
            TypeError, match=r"the saved state of a .* is damaged, or another release"
        ):
            loader(name, *wrong)


@pytest.mark.parametrize(
    "kind",
    ["FrameLoops", "__init__", "", "sim.Nothing", "sim", "os.system", "host.now", 5, None, []],
)
def test_a_pickle_of_an_unknown_kind_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"no type is called .* in that release"):
        restore(kind, 5)


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("FrameLoop", (60, 60, 5, 5, 1, 1)),  # a rate of 60 ticks in 60 ns
        ("FramePlan", (0, 1, 0, 0, 7, 10)),
        ("Steps", (0, 1, 7, 10)),
        ("sim.Deadline", ({"at": -1},)),
        ("sim.Cadence", ({"period": 0, "phase": 0},)),
        ("sim.Cadence", ({"period": 2, "phase": 2},)),
        ("FrameTiming", ({"min": 5, "max": 5, "sum": 5, "drawn": 1, "skipped": 0, "buckets": {}},)),
        (
            "FrameTiming",
            ({"min": 5, "max": 5, "sum": 5, "drawn": 0, "skipped": 0, "buckets": {5: 1}},),
        ),
        (
            "FrameTiming",
            ({"min": 5, "max": 5, "sum": 5, "drawn": 1, "skipped": 0, "buckets": {6: 1}},),
        ),
        ("testing.FrameProfile", ({"name": "none", "pattern": ()},)),
    ],
)
def test_a_state_that_no_object_can_have_is_refused_when_it_is_loaded(
    kind: str, state: tuple[Any, ...]
) -> None:
    """Each of these used to load, and raised when it was used."""
    with pytest.raises((ValueError, OverflowError), match=r"; "):
        restore(kind, *state)


def test_a_batch_with_a_remainder_of_a_whole_step_is_refused(core: Core) -> None:
    plans = core.FrameLoop(Timestep(10)).begin_frames(map(Timestamp, (5, 31)))
    loader, (kind, scale, unit, *columns) = plans.__reduce__()
    assert loader(kind, scale, unit, *columns) == plans
    columns[3][0] = 10
    with pytest.raises(ValueError, match="remainder must be below one step"):
        loader(kind, scale, unit, *columns)


def test_a_batch_with_columns_of_unequal_length_is_refused(core: Core) -> None:
    """With the arrays that a pickle carries, each in turn one number longer and one shorter."""
    plans = core.FrameLoop(Timestep(10)).begin_frames(map(Timestamp, (5, 31)))
    loader, (kind, scale, unit, *columns) = plans.__reduce__()
    for at in range(4):
        for other in (columns[at][:1], columns[at] * 2, columns[at][:0]):
            wrong = [*columns[:at], other, *columns[at + 1 :]]
            with pytest.raises(ValueError, match="equal length; the saved state is damaged"):
                loader(kind, scale, unit, *wrong)


@pytest.mark.parametrize("kind", ["FrameLoop", "FramePlan", "Steps", "StateHash", "FrameStats"])
def test_random_states_load_alike_on_both_cores(native: Core, reference: Core, kind: str) -> None:
    """Or are refused alike, with the same words."""
    chance = random.Random(kind)
    edges = [0, 1, 2, 60, 10**9, 2**32 - 1, 2**32, 2**63, U64_MAX, 2**64, -1]
    numbers = len(MAKERS[kind](reference)._state())
    answers: dict[bool, int] = {True: 0, False: 0}
    for _ in range(4_000):
        state = [
            chance.choice(edges)
            if chance.random() < 0.2
            else chance.randrange(1, 2 ** chance.choice((4, 31)))
            for _ in range(numbers)
        ]
        said: list[Any] = []
        for core in (native, reference):
            of_the_core: Any = getattr(core, kind)
            try:
                made = of_the_core._from_state(*state)
                said.append(made._state())
            except (TypeError, ValueError, OverflowError) as error:
                said.append((type(error), str(error)))
        assert said[0] == said[1]
        answers[said[0] == tuple(state)] += 1
    assert min(answers.values()) > 100


def test_random_timings_load_alike_on_both_cores(native: Core, reference: Core) -> None:
    """Or are refused alike, with the same words."""
    chance = random.Random(5)
    numbers = [0, 1, 2, 3, 5, 128, 130, 2**63, U64_MAX, 2**64, -1]
    answers: dict[bool, int] = {True: 0, False: 0}
    for _ in range(4_000):
        (state,) = timing_of(
            reference, *(chance.choice(numbers[:7]) for _ in range(chance.randrange(4)))
        )._state()
        if chance.random() < 0.6:
            name = chance.choice(["min", "max", "sum", "drawn", "skipped"])
            state[name] = chance.choice(numbers)  # type: ignore[literal-required]
        else:
            state["buckets"][chance.choice([0, 1, 5, 129, 3775, 3776])] = chance.choice(numbers)
        said: list[Any] = []
        for core in (native, reference):
            try:
                said.append(core.FrameTiming._from_state(state)._state())
            except (TypeError, ValueError, OverflowError) as error:
                said.append((type(error), str(error)))
        assert said[0] == said[1]
        answers[said[0] == (state,)] += 1
    assert min(answers.values()) > 100


# what they all can do

VALUES = [
    kind
    for kind in MAKERS
    if kind.split(".")[-1]
    not in (
        "FrameLoop",
        "FramePlan",
        "Steps",
        "StateHash",
        "FrameStats",
        "FrameTiming",
        "FramePlans",
        "Step",
        "ActionState",
    )
]
CHANGING = ["sim.Deadline", "sim.FrameClock"]


@pytest.mark.parametrize("kind", [*VALUES, "FrameTiming"])
def test_a_pickle_with_other_arguments_is_refused(core: Core, kind: str) -> None:
    """One that lacks an argument would load with the default, which is another value."""
    loader, (name, arguments) = MAKERS[kind](core).__reduce__()
    for left_out in arguments:
        fewer = {key: value for key, value in arguments.items() if key != left_out}
        with pytest.raises((TypeError, ValueError), match=left_out):
            loader(name, fewer)
    with pytest.raises(TypeError, match="more"):
        loader(name, {**arguments, "more": 1})


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_compares_copies_and_prints_itself(reference: Core, kind: str) -> None:
    one, again = MAKERS[kind](reference), MAKERS[kind](reference)
    assert one == again
    assert one is not again
    assert one != object()
    names = {**vars(fixedstep.sim), **vars(fixedstep), "FrameProfile": FrameProfile}
    names["Fraction"] = Fraction
    assert eval(repr(one), names) == one
    for twin in (copy.copy(one), copy.deepcopy(one), one.__replace__()):
        assert twin == one
        assert type(twin) is type(one)
    if kind in CHANGING:
        assert copy.copy(one) is not one
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
    else:
        assert copy.copy(one) is copy.deepcopy(one) is one
        assert hash(one) == hash(again)
        with pytest.raises(AttributeError, match="cannot be changed"):
            one.other = 5
        with pytest.raises(AttributeError, match="cannot be changed"):
            del one.other


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_is_as_it_was_after_its_constructor_is_called_again(
    reference: Core, kind: str
) -> None:
    one = MAKERS[kind](reference)
    before = repr(one)
    for arguments in ((), (1,), (2, 3)):
        try:
            one.__init__(*arguments)
        except TypeError:
            continue
    assert repr(one) == before


def test_the_default_budget_stays() -> None:
    """Calling ``__init__`` on it used to change the budget of every loop made later."""
    default: Any = StepBudget.DEFAULT
    default.__init__(1)
    assert default == StepBudget(5)
    assert fixedstep.FrameLoop().budget == StepBudget(5)


@pytest.mark.parametrize("kind", VALUES)
def test_a_value_cannot_be_subclassed(reference: Core, kind: str) -> None:
    with pytest.raises(TypeError, match=r"cannot be subclassed: .*; keep a"):
        type("Mine", (type(MAKERS[kind](reference)),), {})


def test_a_changed_value_is_made_with_replace_and_matched_by_its_attributes() -> None:
    assert Rate(60).__replace__(denominator=7) == Rate(60, 7)
    assert Cadence(4, 3).__replace__(phase=1) == Cadence(4, 1)
    assert FrameProfile([7, 8]).__replace__(name="mine") == FrameProfile([7, 8], "mine")
    with pytest.raises(ValueError, match="at least 1, not 0"):
        Timestep(5).__replace__(nanos=0)
    with pytest.raises(TypeError, match="steps"):
        Timestep(5).__replace__(steps=5)
    match Rate(60_000, 1001), Timestep(5), StepBudget(7), Cadence(4, 3), Deadline(9):
        case Rate(n, d), Timestep(nanos), StepBudget(steps), Cadence(every, first), Deadline(at):
            assert (n, d, nanos, steps, every, first, at) == (60_000, 1001, 5, 7, 4, 3, 9)
        case _:
            pytest.fail("none of them matched")


def test_copies_of_a_timing_go_their_own_way(core: Core) -> None:
    for duplicate in (copy.copy, copy.deepcopy):
        timing = timing_of(core, 5, 6)
        twin = duplicate(timing)
        twin.record(Nanos(10**9), True)
        assert (timing, timing.percentile(50), timing.max) == (timing_of(core, 5, 6), 5, 6)
        timing.record(Nanos(10**6), True)
        assert twin == timing_of(core, 5, 6, 10**9)
