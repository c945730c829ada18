"""Both cores give what the Rust crate gave, for every field of every plan of 88 traces.

This is the one oracle that was written by somebody else. Everything else in the suite could share a
mistake with the code; this could not. The file says what it holds in vectors/README.md.
"""

from __future__ import annotations

import json
import struct
from array import array
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from tests.conftest import Core

    from fixedstep.reference import FrameLoop, FramePlan, FrameStats

_FILE = Path(__file__).parent / "vectors" / "renew_frame.jsonl"
TRACES: list[dict[str, Any]] = [
    json.loads(line) for line in _FILE.read_text(encoding="ascii").splitlines()
]
FRAMES_ONLY = [trace for trace in TRACES if all(op == "frame" for op, _ in trace["ops"])]
CANONICAL = 0x5D290B681D14462C
WRAP = 2**64 - 1


def _named(trace: dict[str, Any]) -> str:
    return str(trace["name"])


def _loop(core: Core, trace: dict[str, Any], *, earlier: int = 0) -> FrameLoop:
    return core.FrameLoop(
        Timestep(trace["timestep"]),
        StepBudget(trace["budget"]),
        Timestamp(trace["start"] - earlier),
    )


def _run(loop: FrameLoop, ops: list[tuple[str, int]], stats: FrameStats) -> list[FramePlan]:
    plans = []
    for op, now in ops:
        if op == "resync":
            loop.resync(Timestamp(now))
            continue
        assert op == "frame"
        plans.append(loop.begin_frame(Timestamp(now)))
        stats.absorb(plans[-1])
    return plans


def _run_world(core: Core, plans: list[FramePlan]) -> int:
    """A world of three numbers that every step changes, digested at the end."""
    position = velocity = ticks = 0
    for plan in plans:
        for step in plan.steps():
            velocity = velocity + (step.dt >> 12) & WRAP
            position = position + (velocity >> 6) + (step.sim_time >> 20) & WRAP
            ticks = ticks + step.tick + 1 & WRAP
    digest = core.StateHash().absorb_u64(position).absorb_u64(velocity).absorb_u64(ticks)
    return digest.finish()


def _row(plan: FramePlan) -> list[int]:
    alpha = plan.alpha()
    packed = struct.pack("<f", alpha)
    assert struct.unpack("<f", packed)[0] == alpha, "alpha must be a float32 value exactly"
    return [
        plan.first_tick,
        plan.step_count,
        plan.dropped,
        plan.remainder,
        int.from_bytes(packed, "little"),
    ]


def _hex(digest: int) -> str:
    return f"0x{digest:016x}"


def test_the_traces_do_something() -> None:
    """Agreement over traces that plan nothing would be worth nothing."""
    rows = [row for trace in TRACES for row in trace["plans"]]
    ops = [op for trace in TRACES for op in trace["ops"]]
    assert len(TRACES) == len({trace["name"] for trace in TRACES}) == 88
    assert len(ops) == 3376
    assert len(FRAMES_ONLY) == 20
    assert sum(op == "resync" for op, _ in ops) == 140
    assert len(rows) == 3236
    assert sum(steps > 0 for _, steps, *_ in rows) == 1271, "frames that ran steps"
    assert sum(dropped > 0 for _, _, dropped, *_ in rows) == 153, "frames where the budget engaged"
    backwards = [a for trace in TRACES for a, b in pairwise(trace["ops"]) if a[1] > b[1]]
    assert len(backwards) == 187
    assert sum(trace["world_hash"] is not None for trace in TRACES) == 80
    digests = {trace["stats"]["schedule_hash"] for trace in TRACES}
    assert len(digests) == 88
    assert _hex(0xCBF29CE484222325) not in digests


@pytest.mark.parametrize("trace", TRACES, ids=_named)
def test_a_trace_gives_the_plans_the_rust_crate_gave(core: Core, trace: dict[str, Any]) -> None:
    loop, stats = _loop(core, trace), core.FrameStats()
    plans = _run(loop, trace["ops"], stats)

    assert [_row(plan) for plan in plans] == trace["plans"]
    assert loop.tick == trace["tick"]
    assert loop.remainder == trace["remainder"]
    assert loop.simulated == trace["simulated"]
    assert stats.json() == json.dumps(trace["stats"], separators=(",", ":"))
    if trace["world_hash"] is not None:
        assert _hex(_run_world(core, plans)) == trace["world_hash"]


@pytest.mark.parametrize("trace", FRAMES_ONLY, ids=_named)
@pytest.mark.parametrize(
    "form", [list, iter, partial(array, "Q")], ids=["list", "iterator", "array"]
)
def test_a_batch_gives_the_plans_the_rust_crate_gave(
    core: Core, trace: dict[str, Any], form: Any
) -> None:
    nows = [now for _, now in trace["ops"]]
    loop, stats = _loop(core, trace), core.FrameStats()
    plans = loop.begin_frames(form(nows), stats)

    assert [_row(plan) for plan in plans] == trace["plans"]
    assert (loop.tick, loop.remainder) == (trace["tick"], trace["remainder"])
    assert loop.last == nows[-1]
    assert json.loads(stats.json()) == trace["stats"]

    again, kept_nothing = _loop(core, trace), core.FrameStats()
    again.digest_frames(form(nows), kept_nothing)
    assert json.loads(kept_nothing.json()) == trace["stats"]
    assert again == loop


def test_the_canonical_trace_gives_the_digest_everybody_quotes(core: Core) -> None:
    trace = TRACES[0]
    assert trace["name"] == "canonical-hostile"
    stats = core.FrameStats()
    plans = _run(_loop(core, trace), trace["ops"], stats)
    assert sum(plan.step_count for plan in plans) == 20
    assert sum(plan.dropped > 0 for plan in plans) == 3
    assert stats.schedule_hash == CANONICAL


def test_one_nanosecond_at_the_start_changes_the_digest(core: Core) -> None:
    """The negative control: a digest that ignored the remainder would pass everything else."""
    stats = core.FrameStats()
    _run(_loop(core, TRACES[0], earlier=1), TRACES[0]["ops"], stats)
    assert stats.frames == 12
    assert stats.schedule_hash == 0xC2E85D3EB9CD31EC != CANONICAL
