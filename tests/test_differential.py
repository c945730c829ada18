"""Three ways to run one machine, compared after every operation over the whole of 64 bits.

    reference   the plain Python core
    native      the CPython types
    lib         the C core under those types, on plain structs, through cffi

An error in the C core shows in the last two, an error in the glue of the types in the second alone.
Below that come the properties that need no second opinion: every nanosecond is executed, dropped or
kept, and eight runs of one trace are equal. They hold for each core by itself.
"""

from __future__ import annotations

import copy
import pickle
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from fixedstep import Rate, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from tests.conftest import Core

SECOND = 10**9
HZ_60 = 16_666_667
BASIS = 0xCBF29CE484222325
U32_MAX = 2**32 - 1
U64_MAX = 2**64 - 1

# Uniform 64-bit numbers never hit an edge, so edges are half of everything.
EDGES = [0, 1, 2, HZ_60 - 1, HZ_60, HZ_60 + 1, SECOND, 2**32, 2**63, U64_MAX - 1, U64_MAX]
u64 = st.sampled_from(EDGES) | st.integers(0, U64_MAX)
positive = u64.filter(bool)
budgets = st.sampled_from([1, 2, 5, U32_MAX]) | st.integers(1, U32_MAX)
timesteps = positive.map(Timestep) | st.builds(
    Rate,
    st.sampled_from([1, 60, 60_000, SECOND, 2**32, U64_MAX]) | positive,
    st.sampled_from([1, 1001, U64_MAX // SECOND]) | st.integers(1, U64_MAX // SECOND),
)


def scale_and_unit(timestep: Timestep | Rate) -> tuple[int, int]:
    if isinstance(timestep, Timestep):
        return 1, timestep.nanos
    return timestep.numerator, timestep.denominator * SECOND


class Structs:
    """The third path: the functions of csrc/core on structs, with no Python type between."""

    def __init__(self, ffi: Any, lib: Any, *state: int | None) -> None:
        self.ffi, self.lib = ffi, lib
        scale, unit, budget, last, bank, tick, *rate = state
        rate_scale, rate_unit = rate or (scale, unit)
        self.loop = ffi.new(
            "fs_loop *",
            {
                "scale": scale,
                "unit": unit,
                "budget": budget,
                "last": last or 0,
                "bank": bank,
                "tick": tick,
                "rate_scale": rate_scale,
                "rate_unit": rate_unit,
                "started": last is not None,
            },
        )
        self.stats = ffi.new("fs_stats *", {"schedule_hash": BASIS})

    def state(self) -> tuple[int | None, ...]:
        loop = self.loop
        last = loop.last if loop.started else None
        state = loop.scale, loop.unit, loop.budget, last, loop.bank, loop.tick
        rate = loop.rate_scale, loop.rate_unit
        return state if rate == (loop.scale, loop.unit) else (*state, *rate)

    def tally(self) -> tuple[int, ...]:
        stats = self.stats
        return stats.frames, stats.ticks, stats.steps_dropped, stats.schedule_hash

    def begin_frame(self, now: int) -> Any:
        plan = self.ffi.new("fs_plan *", self.lib.fs_loop_begin_frame(self.loop, now))
        self.lib.fs_stats_absorb(self.stats, plan)
        return plan

    def begin_frames(self, nows: list[int], keep: bool) -> list[tuple[int, ...]]:
        count = len(nows)
        columns = [
            self.ffi.new(f"{kind}[]", count) if keep else self.ffi.NULL
            for kind in ("uint64_t", "uint32_t", "uint64_t", "uint64_t")
        ]
        source = self.ffi.new("uint64_t[]", nows)
        self.lib.fs_loop_begin_frames(self.loop, source, count, *columns, self.stats)
        return list(zip(*columns, strict=True)) if keep and count else []


def plan_numbers(plan: Any) -> tuple[int, ...]:
    return plan.first_tick, plan.step_count, plan.dropped, plan.remainder


def machine(
    native: Core, reference: Core, ffi: Any, lib: Any, seen: Counter[str]
) -> type[RuleBasedStateMachine]:
    """The state machine over the three paths; it counts in ``seen`` what it did."""

    class ThreePaths(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.snapshots: list[tuple[Any, ...]] = []

        @initialize(
            timestep=timesteps,
            budget=budgets,
            start=st.none() | u64,
            tick=u64,
            share=st.fractions(0, 1),
        )
        def make(
            self, timestep: Timestep | Rate, budget: int, start: int | None, tick: int, share: Any
        ) -> None:
            scale, unit = scale_and_unit(timestep)
            bank = min(int(share * unit), unit - 1)
            self.reference, self.native = (
                core.FrameLoop(
                    timestep,
                    StepBudget(budget),
                    None if start is None else Timestamp(start),
                    tick=tick,
                    remainder=bank,
                )
                for core in (reference, native)
            )
            self.reference_stats, self.native_stats = reference.FrameStats(), native.FrameStats()
            self.structs = Structs(ffi, lib, scale, unit, budget, start, bank, tick)

        @property
        def scale(self) -> int:
            return int(self.structs.loop.rate_scale)

        @property
        def unit(self) -> int:
            return int(self.structs.loop.rate_unit)

        def frame(self, now: int) -> None:
            expected = self.reference.begin_frame(Timestamp(now))
            plan = self.native.begin_frame(Timestamp(now))
            bare = self.structs.begin_frame(now)
            self.reference_stats.absorb(expected)
            self.native_stats.absorb(plan)

            assert plan_numbers(plan) == plan_numbers(expected)
            assert plan_numbers(bare) == plan_numbers(expected)
            assert (bare.scale, bare.unit) == (self.scale, self.unit)
            assert plan == expected
            assert hash(plan) == hash(expected)
            assert plan.ticks == expected.ticks
            assert plan.alpha() == expected.alpha() == lib.fs_plan_alpha(bare)

            steps, bare_tick = plan.steps(), bare.first_tick
            assert len(steps) == len(expected.steps()) == bare.step_count
            for step, wanted, _ in zip(steps, expected.steps(), range(3), strict=False):
                assert step == wanted
                assert step.tick == bare_tick
                assert step.sim_time == lib.fs_sim_time(bare_tick, self.scale, self.unit)
                bare_tick = min(bare_tick + 1, U64_MAX)

            state = lib.fs_hash_plan(BASIS, bare)
            assert native.StateHash().absorb_plan(plan).finish() == state
            assert reference.StateHash().absorb_plan(expected).finish() == state
            seen["steps ran"] += plan.step_count > 0
            seen["no step ran"] += plan.step_count == 0
            seen["budget engaged"] += plan.dropped > 0
            seen["something kept"] += plan.remainder > 0
            seen["tick saturated"] += plan.first_tick + plan.step_count > U64_MAX

        @rule(now=u64)
        def frame_anywhere(self, now: int) -> None:
            self.frame(now)

        @rule(steps=st.integers(0, 8), offset=st.integers(-2, 2))
        def frame_around_a_step(self, steps: int, offset: int) -> None:
            """Most numbers of 64 bits are eons away; these are where equality is decided."""
            ahead = steps * self.unit // self.scale + offset
            self.frame(min(max((self.reference.last or 0) + ahead, 0), U64_MAX))

        @rule(now=u64)
        def resync(self, now: int) -> None:
            seen["resync"] += now != self.reference.last
            self.reference.resync(Timestamp(now))
            self.native.resync(Timestamp(now))
            lib.fs_loop_resync(self.structs.loop, now)

        @rule(timestep=timesteps, top=st.integers(1, 2**33), bottom=st.integers(1, 12))
        def another_speed(self, timestep: Timestep | Rate, top: int, bottom: int) -> None:
            """On loops that are new but for their start and budget, where the unit may change."""
            scale, unit = scale_and_unit(timestep)
            if max(scale * top, unit * bottom) > U64_MAX:
                return
            seen["another speed"] += top != bottom
            budget, last = self.reference.budget.steps, self.reference.last
            self.structs = Structs(
                self.structs.ffi,
                self.structs.lib,
                *(scale * top, unit * bottom, budget, last, 0, 0, scale, unit),
            )
            self.structs.stats[0] = ffi.new("fs_stats *", self.reference_stats._state())[0]
            self.reference, self.native = (
                core.FrameLoop(Rate(7), budget, last) for core in (reference, native)
            )
            for loop in (self.reference, self.native):
                loop._set_scale(scale * top, unit * bottom, budget, timestep)

        @rule(count=u64, back=u64)
        def ticks_without_time(self, count: int, back: int) -> None:
            for loop in (self.reference, self.native):
                loop._skip_ticks(count)
                tick = loop.tick
                loop._take_back(min(back, tick))
                assert loop.tick == tick - min(back, tick)
            self.structs.loop.tick = self.reference.tick

        @rule(nows=st.lists(u64, max_size=12), keep=st.booleans())
        def batch(self, nows: list[int], keep: bool) -> None:
            stamps = [Timestamp(now) for now in nows]
            seen["batch"] += len(nows) > 0
            rows = self.structs.begin_frames(nows, keep)
            if keep:
                expected = self.reference.begin_frames(stamps, self.reference_stats)
                plans = self.native.begin_frames(array("Q", nows), self.native_stats)
                assert plans == expected
                assert [plan_numbers(plan) for plan in plans] == rows
            else:
                self.reference.digest_frames(stamps, self.reference_stats)
                self.native.digest_frames(array("Q", nows), self.native_stats)

        @rule(deep=st.booleans())
        def go_on_with_a_copy(self, deep: bool) -> None:
            duplicate = copy.deepcopy if deep else copy.copy
            self.reference, self.native = duplicate(self.reference), duplicate(self.native)
            self.reference_stats = duplicate(self.reference_stats)
            self.native_stats = duplicate(self.native_stats)

        @rule(protocol=st.integers(0, pickle.HIGHEST_PROTOCOL))
        def go_on_with_a_pickle(self, protocol: int) -> None:
            """A pickle comes back in the chosen core; each path takes the state into its own."""
            for_native, for_reference = (
                pickle.loads(pickle.dumps(loop, protocol)) for loop in (self.native, self.reference)
            )
            assert for_native == for_reference == self.reference
            self.native = native.FrameLoop._from_state(*for_reference._state())
            self.reference = reference.FrameLoop._from_state(*for_native._state())

        @rule()
        def save(self) -> None:
            structs = Structs(ffi, lib, *self.structs.state())
            structs.stats[0] = self.structs.stats[0]
            pair = copy.copy(self.reference), copy.copy(self.native)
            tallies = copy.copy(self.reference_stats), copy.copy(self.native_stats)
            self.snapshots.append((*pair, *tallies, structs))

        @rule()
        def roll_back(self) -> None:
            if self.snapshots:
                seen["rolled back"] += 1
                saved = self.snapshots.pop()
                self.reference, self.native = saved[0], saved[1]
                self.reference_stats, self.native_stats = saved[2], saved[3]
                self.structs = saved[4]

        @invariant()
        def all_states_are_equal(self) -> None:
            expected = self.reference._state()
            assert self.native._state() == expected
            assert self.structs.state() == expected
            assert self.native == self.reference
            assert repr(self.native) == repr(self.reference)
            loop, wanted = self.native, self.reference
            assert (loop.tick, loop.remainder, loop.last) == (
                wanted.tick,
                wanted.remainder,
                wanted.last,
            )
            assert loop.simulated == wanted.simulated
            assert loop.simulated == lib.fs_sim_time(loop.tick, self.scale, self.unit)
            assert (loop.timestep, loop.budget) == (wanted.timestep, wanted.budget)
            assert loop.remainder < self.unit

        @invariant()
        def all_tallies_are_equal(self) -> None:
            assert self.native_stats == self.reference_stats
            assert self.native_stats.json() == self.reference_stats.json()
            assert self.structs.tally() == self.reference_stats._state()

    return ThreePaths


def test_three_paths_agree_after_every_operation(
    native: Core, reference: Core, ffi: Any, lib: Any
) -> None:
    seen: Counter[str] = Counter()
    run_state_machine_as_test(
        machine(native, reference, ffi, lib, seen),
        settings=settings(max_examples=max(settings().max_examples, 300), stateful_step_count=30),
    )
    assert len(seen) == 9
    assert min(seen.values()) >= 10, seen


@given(state=u64, value=u64, small=st.integers(0, U32_MAX), data=st.binary(max_size=100))
def test_three_paths_hash_alike(
    native: Core,
    reference: Core,
    ffi: Any,
    lib: Any,
    state: int,
    value: int,
    small: int,
    data: bytes,
) -> None:
    for core in (native, reference):
        start = core.StateHash(state)
        assert start.absorb_u64(value).finish() == lib.fs_hash_u64(state, value)
        assert start.absorb_u32(small).finish() == lib.fs_hash_u32(state, small)
        bare = lib.fs_hash_bytes(state, ffi.from_buffer(data), len(data))
        assert start.absorb_bytes(data).finish() == bare


@given(tick=u64, timestep=timesteps)
def test_the_time_of_a_tick_needs_128_bits_and_gets_them(
    native: Core, lib: Any, tick: int, timestep: Timestep | Rate
) -> None:
    scale, unit = scale_and_unit(timestep)
    exact = min(tick * unit // scale, U64_MAX)
    assert lib.fs_sim_time(tick, scale, unit) == exact
    assert native.FrameLoop(timestep, start=Timestamp(0), tick=tick).simulated == exact


# properties of each core by itself


def test_every_nanosecond_is_executed_dropped_or_kept(core: Core) -> None:
    """As long as nothing saturates. The total is counted here, from the timestamps alone."""
    seen: Counter[str] = Counter()

    @given(
        timestep=timesteps,
        budget=budgets,
        start=u64,
        moves=st.lists(st.tuples(u64, st.booleans()), min_size=1, max_size=30),
    )
    def conserved(
        timestep: Timestep | Rate, budget: int, start: int, moves: list[tuple[int, bool]]
    ) -> None:
        scale, unit = scale_and_unit(timestep)
        loop = core.FrameLoop(timestep, StepBudget(budget), Timestamp(start))
        submitted, last, bank, executed, dropped = 0, start, 0, 0, 0
        for span, back in moves:
            elapsed = 0 if back else min(span, (U64_MAX - bank) // scale, U64_MAX - last)
            last = max(last - span, 0) if back else last + elapsed
            submitted += elapsed
            plan = loop.begin_frame(Timestamp(last))
            bank = plan.remainder
            executed += plan.step_count
            dropped += plan.dropped
            assert plan.step_count <= budget
            assert plan.dropped == 0 or plan.step_count == budget
            assert 0 <= plan.remainder < unit
            assert 0 <= plan.alpha() < 1
            assert submitted * scale == (executed + dropped) * unit + loop.remainder
        seen["time passed"] += submitted > 0
        seen["steps ran"] += executed > 0
        seen["budget engaged"] += dropped > 0
        seen["something kept"] += bank > 0
        seen["a rate"] += scale > 1

    conserved()
    assert len(seen) == 5
    assert min(seen.values()) >= 10, seen


@given(
    timestep=timesteps,
    budget=budgets,
    start=u64,
    tick=u64,
    nows=st.lists(u64, min_size=1, max_size=30),
)
def test_no_number_ever_leaves_its_range(
    core: Core, timestep: Timestep | Rate, budget: int, start: int, tick: int, nows: list[int]
) -> None:
    _, unit = scale_and_unit(timestep)
    loop = core.FrameLoop(timestep, StepBudget(budget), Timestamp(start), tick=tick)
    stats = core.FrameStats()
    for now in nows:
        before = loop.tick
        plan = loop.begin_frame(Timestamp(now))
        stats.absorb(plan)
        assert plan.first_tick == before <= loop.tick == min(before + plan.step_count, U64_MAX)
        assert plan.step_count <= budget
        assert plan.dropped <= U64_MAX - plan.step_count
        assert plan.remainder == loop.remainder < unit
        assert loop.last == now
        assert loop.simulated <= U64_MAX
        assert 0 <= plan.alpha() < 1
    assert stats.frames == len(nows)


HOSTILE = [
    *(SECOND + k for k in (0, 1, HZ_60, 2 * HZ_60, 3 * HZ_60 + 1)),
    4_050_000_002,
    4_058_000_002,
    4_074_666_669,
    3_074_666_669,
    4_074_666_669,
    U64_MAX,
    0,
    7 * HZ_60,
]


def run_hostile(core: Core, start: int) -> tuple[str, list[tuple[int, ...]]]:
    loop, stats = core.FrameLoop(start=Timestamp(start)), core.FrameStats()
    plans = []
    for k, now in enumerate(HOSTILE):
        if k == 6:
            loop.resync(Timestamp(4_055_000_002))
        plan = loop.begin_frame(Timestamp(now))
        stats.absorb(plan)
        plans.append(plan_numbers(plan))
    return stats.json(), plans


def test_eight_runs_of_one_trace_are_equal(core: Core) -> None:
    first, plans = run_hostile(core, SECOND)
    assert sum(steps for _, steps, _, _ in plans) > 10, "steps ran"
    assert sum(dropped > 0 for _, _, dropped, _ in plans) == 4, "the budget engaged"
    assert f"0x{BASIS:016x}" not in first, "the digest moved"
    assert [run_hostile(core, SECOND) for _ in range(7)] == [(first, plans)] * 7


def test_one_nanosecond_at_the_start_is_seen(core: Core) -> None:
    """The control of the test above: runs that differ are told apart."""
    assert run_hostile(core, SECOND - 1)[0] != run_hostile(core, SECOND)[0]


def test_the_cores_agree_on_the_hostile_trace(native: Core, reference: Core) -> None:
    assert run_hostile(native, SECOND) == run_hostile(reference, SECOND)
