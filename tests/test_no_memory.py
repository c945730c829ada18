"""Memory runs out at every single allocation of an operation, one after the other.

An allocation that fails is the one error that any line of C may meet and that no argument brings
about. CPython's own test module can refuse the n-th allocation, so each is refused once: the answer
is MemoryError and no crash, a loop, a tally and an iterator are what they were before, and nothing
that was half made is kept. What is mostly Python is left out: the interpreter itself does not
survive this in every version (3.12 and 3.13 crash in the reference's batch), and its faults are not
looked for here.
"""

from __future__ import annotations

import copy
import sys
import sysconfig
from array import array
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import Nanos, Rate, StepBudget, Timestamp, Timestep, _state, reference
from fixedstep._plans import FramePlans

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Core

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    pytest.skip(
        "CPython without a GIL (3.14) crashes in a call of Python when it is refused memory",
        allow_module_level=True,
    )
_testcapi: Any = pytest.importorskip(
    "_testcapi", reason="this build of Python lacks its own test module, which can refuse memory"
)

#: After so many calls that nothing could stop, no allocation is left to refuse.
UNHURT = 12


# A collection in the middle would move the count of the allocations.
pytestmark = pytest.mark.usefixtures("quiet_collector")


def refused(call: Callable[[], object], n: int) -> bool:
    """Whether ``call`` raises MemoryError where the n-th allocation in it fails."""
    _testcapi.set_nomemory(n - 1, n)
    try:
        call()
    except MemoryError:
        return True
    except SystemError as error:  # 3.10 forgets to say what went wrong in a function of Python
        if "_PyEval_EvalFrameDefault returned NULL" not in str(error):
            raise
        return True
    finally:
        _testcapi.remove_mem_hooks()
    return False


def stopped(make: Callable[[], Any], call: Callable[[Any], object]) -> int:
    """How many allocations of a call could be refused; each time what it works on is as it was."""
    expected = make()
    call(expected)
    n = failed = unhurt = 0
    while unhurt < UNHURT:
        n += 1
        value = make()
        before = value._state()
        if refused(lambda value=value: call(value), n):  # type: ignore[misc]
            failed, unhurt = failed + 1, 0
            assert value._state() == before, f"after allocation {n} was refused"
            call(value)
        else:
            unhurt += 1
        assert value._state() == expected._state() != before, f"allocation {n}"
    return failed


STAMPS = [*range(10_000, 90_000, 1_000)]
MANY = STAMPS * 250  # blocks, and columns that grow


def test_a_frame_without_memory_did_not_begin(core: Core) -> None:
    held = []

    def make() -> Any:
        # a plan that is let go would lend the next one its memory
        held.append(core.FramePlan(0, 0, 0, 0, Timestep(10)))
        return core.FrameLoop(Timestep(1_000), StepBudget(3), Timestamp(500), tick=2**40)

    assert stopped(make, lambda loop: loop.begin_frame(Timestamp(9_700))) >= 1


def test_a_plan_without_memory_is_not_restored(native: Core) -> None:
    """Its short way gives up without an error for numbers that are odd, and with one for this."""
    held = [native.FramePlan(2**40, 3, 2, 1, Timestep(10))]
    state, restore = held[0]._state(), native.FramePlan._from_state
    outcomes = []
    for n in range(1, UNHURT):
        held.append(native.FramePlan(0, 0, 0, 0, Timestep(10)))  # it takes the spare memory
        outcomes.append(refused(lambda: restore(*state), n))
    assert outcomes[0]  # the plan is all that it allocates, after the frame of the lambda (3.10)
    assert not any(outcomes[2:])
    assert restore(*state) == held[0]


@pytest.mark.parametrize("timestep", [Timestep(1_000), Rate(3)])
def test_a_step_without_memory_is_not_taken(core: Core, timestep: Timestep | Rate) -> None:
    assert stopped(lambda: core.Steps(2**40, 5, timestep), next) >= 2


def test_a_tally_without_memory_counts_nothing(core: Core) -> None:
    plan = core.FramePlan(2**40, 3, 2, 1, Timestep(1_000))
    count = stopped(lambda: core.FrameStats(2**40, 2**41, 2**42), lambda tally: tally.absorb(plan))
    assert (count > 0) == (core is reference)  # the C core needs none


def test_a_timing_without_memory_counts_nothing(core: Core) -> None:
    span = Nanos(2**40)
    count = stopped(core.FrameTiming, lambda one: one.record(span, True))
    assert (count > 0) == (core is reference)  # the C core needs none
    by_name = stopped(core.FrameTiming, lambda one: one.record(frame_time=span, drawn=True))
    assert by_name > 0


def test_a_timing_without_memory_is_not_restored(
    native: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part in C: arguments are checked in Python, and here they are not."""
    monkeypatch.setattr(_state, "frame_timing_state", tuple)
    checked: Any = (5, 300, 305, 2**50, 0, {5: 1, 203: 2**50 - 1})
    restore = native.FrameTiming._from_state
    outcomes = [refused(lambda: restore(checked), n) for n in range(1, UNHURT)]
    assert any(outcomes[:5])
    assert not any(outcomes[5:])
    for n in range(1, 5):
        assert not keeps(partial(refused, partial(restore, checked), n)), f"allocation {n}"


@pytest.mark.parametrize(
    ("what", "call"),
    {
        "a buffer": lambda loop: loop.begin_frames(array("Q", MANY)),
        "a list": lambda loop: loop.begin_frames(STAMPS),
        "an iterator": lambda loop: loop.begin_frames(iter(MANY)),
    }.items(),
)
def test_a_batch_without_memory_did_not_begin(
    native: Core, what: str, call: Callable[[Any], object]
) -> None:
    assert stopped(lambda: native.FrameLoop(Timestep(1_000), start=Timestamp(0)), call) >= 20, what


def test_the_tally_of_a_batch_without_memory_counts_nothing(native: Core) -> None:
    def loop() -> Any:
        return native.FrameLoop(Timestep(1_000), start=Timestamp(0))

    assert stopped(native.FrameStats, lambda tally: loop().begin_frames(STAMPS, tally)) >= 20
    assert stopped(native.FrameStats, lambda tally: loop().digest_frames(iter(MANY), tally)) >= 20


def test_a_batch_whose_plans_cannot_be_made_did_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for the reference, whose batches no interpreter carries through the above."""

    def no_memory(*_: object) -> None:
        raise MemoryError

    loop, tally = reference.FrameLoop(Timestep(1_000), start=Timestamp(0)), reference.FrameStats()
    with monkeypatch.context() as patched:
        patched.setattr(FramePlans, "_from_bytes", no_memory)
        with pytest.raises(MemoryError):
            loop.begin_frames(STAMPS, tally)
    assert (loop.last, loop.tick, tally.frames) == (0, 0, 0)
    assert len(loop.begin_frames(STAMPS, tally)) == tally.frames == 80
    assert loop.tick == tally.ticks > 80


def keeps(call: Callable[[], object]) -> bool:
    """Whether blocks grow with the calls, once CPython's own free lists are full."""
    growths = []
    for _ in range(8):
        before = sys.getallocatedblocks()
        for _ in range(25):
            call()
        growths.append(sys.getallocatedblocks() - before)
    return min(growths) >= 20


@dataclass
class Unit:
    """A part of a state that is digested."""

    x: float
    hp: int


#: CPython 3.12 and 3.13 crash in the generator of dataclasses.fields() when it is refused memory.
UNITS = (Unit(1, 2),) if sys.version_info < (3, 12) else ()


def no_digest(state: Any, whole: list[Any]) -> None:
    """The error of a value without a digest, whose text takes memory too."""
    try:
        state.absorb([whole, {"units": [*UNITS, iter]}])
    except TypeError:
        return
    raise AssertionError("a function has no digest")


def test_a_state_without_memory_is_not_absorbed(native: Core) -> None:
    whole: list[Any] = [{"a": {1, "b"}, 7: (deque([2.5]), 2**80, *UNITS)}, array("d", [1.5])]
    state = native.StateHash(5)
    expected, n, failed, unhurt = state.absorb(whole), 0, 0, 0
    while unhurt < UNHURT:
        n += 1
        failed, unhurt = (
            (failed + 1, 0) if refused(lambda: state.absorb(whole), n) else (failed, unhurt + 1)
        )
        assert state == native.StateHash(5)
        assert state.absorb(whole) == expected
    assert failed >= 5


def test_what_was_half_made_is_given_back(native: Core) -> None:
    timestep, rate = Timestep(1_000), Rate(60)
    leaked: list[object] = []
    assert keeps(lambda: leaked.append(object()))
    loop, state = native.FrameLoop(timestep, start=Timestamp(0)), native.StateHash()
    stats, plan = native.FrameStats(), native.FramePlan(2**40, 3, 2, 1, timestep)
    of_rate = native.FramePlan(2**40, 3, 2, 1, rate)
    beyond = native.FramePlan(2**64 - 2, 999, 0, 0, rate)
    timing = native.FrameTiming(
        min=5, max=300, sum=305, drawn=2**50, buckets={5: 1, 203: 2**50 - 1}
    )
    values: list[Any] = [loop, plan, plan.steps(), state, stats, timing]
    stamps, large = array("Q", STAMPS), bytearray(200_000)
    whole: list[Any] = [{"a": {1, "b"}, 7: (deque([2.5]), 2**80, *UNITS)}, array("d", [1.5])]
    calls: dict[str, Callable[[], object]] = {
        "make": lambda: [
            native.FrameLoop(timestep, start=Timestamp(0)),
            native.FramePlan(2**40, 3, 2, 1, timestep),
            native.Steps(2**40, 5, rate),
            native.StateHash(2**50),
            native.FrameStats(2**40),
        ],
        "restore": lambda: [type(one)._from_state(*one._state()) for one in values[:-1]],
        "copy": lambda: [copy.copy(value) for value in values],
        "reduce": lambda: [value.__reduce__() for value in values],
        "plan": lambda: copy.copy(loop).begin_frame(Timestamp(2**50)),
        "iterate": lambda: [*plan.steps(), *of_rate.steps()],
        "ticks": lambda: (plan.ticks, beyond.ticks),
        "read": lambda: (plan.first_tick, plan.timestep, of_rate.timestep, loop.budget, loop.tick),
        "hash": lambda: (hash(plan), hash(state)),
        "record by name": lambda: timing.record(frame_time=Nanos(2**40), drawn=False),
        "absorb": lambda: state.absorb_u64(2**63).absorb_i64(-5).absorb_plan(plan).finish(),
        "absorb a state": lambda: state.absorb(whole),
        "absorb what has no digest": lambda: no_digest(state, whole),
        "absorb a buffer": lambda: state.absorb_bytes(large),
        "batch": lambda: copy.copy(loop).begin_frames(stamps, native.FrameStats()),
        "digest": lambda: copy.copy(loop).digest_frames(iter(stamps), native.FrameStats()),
    }
    for name, call in calls.items():
        call()
        # dataclasses.fields() makes a tuple of ten and cuts it: the free list of those it ends as
        # grows by one a call until it holds 2,000
        assert len([(k, k) for k in range(2_001)]) == 2_001
        n = failed = unhurt = 0
        while unhurt < UNHURT:
            n += 1
            failed, unhurt = (failed + 1, 0) if refused(call, n) else (failed, unhurt + 1)
            assert not keeps(partial(refused, call, n)), f"{name}, allocation {n}"
        assert failed > 0, name
