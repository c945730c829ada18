"""FrameStats: the tally that two equal runs agree on."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from tests.conftest import Core

BASIS = 0xCBF29CE484222325
U64_MAX = 2**64 - 1
u64 = st.sampled_from([0, 1, 2**32, U64_MAX]) | st.integers(0, U64_MAX)


def test_a_fresh_tally_is_byte_for_byte_this(core: Core) -> None:
    assert core.FrameStats().json() == (
        '{"frames":0,"ticks":0,"steps_dropped":0,"schedule_hash":"0xcbf29ce484222325"}'
    )


def test_the_json_of_a_run_is_byte_for_byte_this(core: Core) -> None:
    loop, stats = core.FrameLoop(start=Timestamp(0)), core.FrameStats()
    for now in (16_666_667, 33_333_334, 233_333_334):
        stats.absorb(loop.begin_frame(Timestamp(now)))
    assert stats.json() == (
        '{"frames":3,"ticks":7,"steps_dropped":6,"schedule_hash":"0xbee1994bb6e96b49"}'
    )


def test_the_digest_is_text_and_keeps_its_zeros(core: Core) -> None:
    """As a number it would be rounded by every reader that has only doubles."""
    text = core.FrameStats(schedule_hash=0xABC).json()
    assert text.endswith('"schedule_hash":"0x0000000000000abc"}')


@given(frames=u64, ticks=u64, dropped=u64, digest=u64)
def test_json_reads_back(core: Core, frames: int, ticks: int, dropped: int, digest: int) -> None:
    text = core.FrameStats(frames, ticks, dropped, digest).json()
    assert json.loads(text) == {
        "frames": frames,
        "ticks": ticks,
        "steps_dropped": dropped,
        "schedule_hash": f"0x{digest:016x}",
    }


def test_a_plan_is_counted_once(core: Core) -> None:
    stats = core.FrameStats()
    assert (stats.frames, stats.ticks, stats.steps_dropped, stats.schedule_hash) == (0, 0, 0, BASIS)
    stats.absorb(core.FramePlan(0, 5, 6, 3, Timestep(10)))
    assert (stats.frames, stats.ticks, stats.steps_dropped) == (1, 5, 6)
    stats.absorb(core.FramePlan(5, 0, 0, 4, Timestep(10)))
    assert (stats.frames, stats.ticks, stats.steps_dropped) == (2, 5, 6)


def test_the_digest_is_that_of_the_plans_in_order(core: Core) -> None:
    loop, stats, state = (
        core.FrameLoop(Timestep(10), StepBudget(2), start=Timestamp(0)),
        core.FrameStats(),
        BASIS,
    )
    for now in (3, 10, 55, 40, 61):
        plan = loop.begin_frame(Timestamp(now))
        stats.absorb(plan)
        for byte in struct.pack(
            "<QIQQQ", plan.first_tick, plan.step_count, plan.dropped, plan.remainder, 10
        ):
            state = (state ^ byte) * 0x100000001B3 % 2**64
    assert stats.ticks > 0
    assert stats.steps_dropped > 0
    assert stats.schedule_hash == state != BASIS


def test_the_tally_agrees_with_state_hash(core: Core) -> None:
    plans = [core.FramePlan(k, k % 3, 0, k, Timestep(100)) for k in range(20)]
    stats, state = core.FrameStats(), core.StateHash()
    for plan in plans:
        stats.absorb(plan)
        state = state.absorb_plan(plan)
    assert stats.schedule_hash == state.finish() != BASIS


def test_a_frame_without_a_step_is_seen_by_the_digest(core: Core) -> None:
    """A digest of ticks alone would not know how the time was split into frames."""
    stats = core.FrameStats()
    stats.absorb(core.FramePlan(0, 0, 0, 0, Timestep(10)))
    assert stats.schedule_hash != BASIS


@pytest.mark.parametrize("name", ["frames", "ticks", "steps_dropped"])
def test_every_counter_stops_at_its_end(core: Core, name: str) -> None:
    arguments: dict[str, Any] = {name: U64_MAX - 1}
    stats = core.FrameStats(**arguments)
    plan = core.FramePlan(0, 1, 1, 0, Timestep(10))
    stats.absorb(plan)
    assert getattr(stats, name) == U64_MAX
    stats.absorb(plan)
    assert getattr(stats, name) == U64_MAX
    full = core.FramePlan(0, 2**32 - 1, U64_MAX, 0, Timestep(10))
    stats.absorb(full)
    assert (stats.steps_dropped, getattr(stats, name)) == (U64_MAX, U64_MAX)


def test_a_tally_continues_an_earlier_one(core: Core) -> None:
    plans = [core.FramePlan(k, 1, k, 5, Timestep(10)) for k in range(6)]
    whole = core.FrameStats()
    for plan in plans:
        whole.absorb(plan)
    half = core.FrameStats()
    for plan in plans[:3]:
        half.absorb(plan)
    rest = core.FrameStats(half.frames, half.ticks, half.steps_dropped, half.schedule_hash)
    for plan in plans[3:]:
        rest.absorb(plan)
    assert rest == whole
    assert rest != half


def test_absorbing_gives_nothing_back(core: Core) -> None:
    """A tally changes; a StateHash does not. The return value tells them apart at a glance."""
    absorb: Any = core.FrameStats().absorb
    assert absorb(core.FramePlan(0, 0, 0, 0, Timestep(10))) is None


@pytest.mark.parametrize("value", [None, 5, (0, 0, 0, 0, 0, 0), Timestep(10)])
def test_only_a_plan_is_counted(core: Core, value: Any) -> None:
    stats = core.FrameStats(1, 2, 3, 4)
    with pytest.raises(TypeError, match=r"plan must be a FramePlan.*begin_frame"):
        stats.absorb(value)
    assert stats == core.FrameStats(1, 2, 3, 4)
