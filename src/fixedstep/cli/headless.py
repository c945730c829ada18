"""``fixedstep demo --headless``: a run on made-up timestamps, which prints the same everywhere.

Frame ``k`` of the run is at ``k`` times 16,666,667 ns, a step of 60 Hz. The world is one number:
each step adds ``1 + seed % 7`` to it, modulo 2**64. The two cores run it side by side where both
are there, so exit code 1 says that they differ. The line, and the half called ``gated`` in JSON,
are the same in every run; the half called ``measured`` is the time that the frames took here.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from .. import FrameTiming
from ..time import Nanos, Timestamp, Timestep
from .options import whole

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_MOST_FRAMES = 10**9
_U64 = 2**64 - 1
#: What each kind of demo has, and the value that says it was not given.
_HEADLESS = {"frames": None, "seed": None, "dump_stats": None, "json": False}
_REAL_TIME = dict.fromkeys(("seconds", "hz", "budget", "stall_ms", "window", "record"))


def _number(low: int, high: int, name: str, unit: str) -> Callable[[str], int]:
    def parsed(text: str) -> int:
        value = whole(text, name, unit)
        if not low <= value <= high:
            raise ArgumentTypeError(f"{name} must be {low} .. {high}, not {value}")
        return value

    return parsed


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.set_defaults(refuse=parser.error)
    parser.add_argument(
        "--headless",
        action="store_true",
        help="run --frames frames on made-up timestamps and print one line, the same on every "
        "machine; exit code 1 if the two cores differ",
    )
    parser.add_argument(
        "--frames",
        type=_number(1, _MOST_FRAMES, "frames", "frames"),
        metavar="N",
        help="how many frames to run with --headless",
    )
    parser.add_argument(
        "--seed",
        type=_number(0, _U64, "seed", "the world's count"),
        metavar="N",
        help="the --headless world counts by 1 + N %% 7 (default 0)",
    )
    parser.add_argument(
        "--dump-stats",
        metavar="FILE",
        help="with --headless, write counts and digests, and the times measured here, as JSON",
    )
    parser.add_argument(
        "--json", action="store_true", help="with --headless, print that JSON in place of the line"
    )


def check(arguments: argparse.Namespace) -> None:
    """Refuse an option that belongs to the other kind of demo."""
    for name, absent in (_REAL_TIME if arguments.headless else _HEADLESS).items():
        if getattr(arguments, name) != absent:
            kind = "without" if arguments.headless else "with"
            option = f"--{name.replace('_', '-')}"
            arguments.refuse(f"{option} is for a demo {kind} --headless; leave one out")
    if arguments.headless and arguments.frames is None:
        arguments.refuse("--headless needs --frames; --frames 600 runs ten seconds")


def play(core: Any, seed: int, frames: int, timing: FrameTiming) -> tuple[Any, int]:
    """Run it on one core: its `FrameStats`, and the digest of the world."""
    from ..host.monotonic import now

    length = Timestep.HZ_60.nanos
    loop = core.FrameLoop(Timestep.HZ_60, 5, Timestamp(0))
    stats, state = core.FrameStats(), core.StateHash()
    value, stride = 0, 1 + seed % 7
    for k in range(1, frames + 1):
        began = now()
        plan = loop.begin_frame(Timestamp(k * length))
        for step in plan.steps():
            value = (value + stride) & _U64
            state = state.absorb_u64(step.tick).absorb_u64(step.sim_time).absorb_u64(value)
        stats.absorb(plan)
        timing.record(Nanos(max(now() - began, 0)), False)
    return stats, state.absorb_u64(stats.ticks).absorb_u64(value).finish()


def run(arguments: argparse.Namespace) -> int:
    """Run it, write it down and print it: 0, or 1 where the two cores differ."""
    import json

    import fixedstep

    from .. import reference
    from .._select import core
    from .cores import native_core
    from .layout import digest

    seed, frames, timing = arguments.seed or 0, arguments.frames, FrameTiming()
    stats, state = play(core, seed, frames, timing)
    for other in (reference, native_core()[0]):
        if other not in (core, None) and play(other, seed, frames, FrameTiming()) != (stats, state):
            arguments.code = 1
            print(f"fixedstep: {other.__name__} and {core.__name__} differ", file=sys.stderr)
    gated = {"seed": seed, **json.loads(stats.json()), "state_hash": digest(state)}
    measured = {"core": fixedstep.backend().name, **json.loads(timing.json())}
    both = json.dumps({"gated": gated, "measured": measured}, indent=2)
    if arguments.dump_stats is not None:
        beside = f"{arguments.dump_stats}.part"
        with open(beside, "w", encoding="ascii") as file:
            file.write(both + "\n")
        os.replace(beside, arguments.dump_stats)
    line = (
        f"renew-frame sample=hello_triangle seed={seed} frames={stats.frames} ticks={stats.ticks} "
        f"dropped={stats.steps_dropped} schedule_hash={digest(stats.schedule_hash)} "
        f"state_hash={digest(state)}"
    )
    print(both if arguments.json else line)
    return int(arguments.code)
