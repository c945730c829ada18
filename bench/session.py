"""``python bench/session.py``: what a frame of a session costs when the game does nothing in it.

One frame brings one tick, one action is held and let go every few frames, and one timer waits, due
once a second. The parts are played alone with the same frames, so that it can be seen where the
time goes; what no part accounts for is the session's own: the tick record, the trace, the report
and the call of the game's function. Everything checks its work, or there is no table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median

from fixedstep.sim.input_bridge import PRESS, RELEASE, ActionState, InputBridge, Sample
from fixedstep.sim.tick_input import TickInput

from fixedstep import FrameLoop, Nanos, Rate, StepBudget, Timestamp
from fixedstep.cli.bench.measure import Effort, Played, Side, clock, interleave
from fixedstep.cli.bench.table import machine
from fixedstep.sim.frame_clock import FrameClock
from fixedstep.sim.session import Session, Tick
from fixedstep.sim.timers import TimerQueue

_FRAMES = 6_000
_TIMES = [Timestamp(frame * 10**9 // 60) for frame in range(_FRAMES + 1)]
_RATE = Rate(60)
_BUDGET = StepBudget(4)
_EFFORT = Effort(processes=1, rounds=15, value=20 * 10**6, paced=0, starts=0)

_HELD, _REST = ActionState(held=True), ActionState()
_CYCLE: tuple[Sample, ...] = tuple(
    {"jump": state} for state in (PRESS, _HELD, _HELD, _HELD, RELEASE, _REST, _REST, _REST)
)
_SAMPLES = [_CYCLE[frame % 8] for frame in range(_FRAMES + 1)]
_PRESSES = _FRAMES // 8  # that of the baseline frame is refused at the gate, and one is at the end


class _World:
    """A timer, and two counts that show that ticks ran and saw what they should."""

    def __init__(self, level: int) -> None:
        self.timers = TimerQueue[str](16)
        self.timers.schedule(0, 60, "second", period=60)
        self.fired = self.pressed = 0


def _timers_of(world: _World) -> TimerQueue[str]:
    return world.timers


def _run_tick(world: _World, tick_input: TickInput, tick: Tick) -> None:
    world.pressed += tick_input["jump"].pressed
    if tick.due:
        world.fired += 1


def _session() -> Played:
    session = Session(
        _World, _run_tick, 0, actions=["jump"], timestep=_RATE, budget=_BUDGET, timers=_timers_of
    )
    frame = session.frame
    frame(_TIMES[0], {"jump": _REST})
    start = clock()
    for now, sample in zip(_TIMES[1:], _SAMPLES[1:], strict=True):
        frame(now, sample)
    nanos = clock() - start
    world = session.world
    return Played(nanos, (session.tick, world.pressed, world.fired))


def _clock_and_loop() -> Played:
    frame_clock = FrameClock(Nanos(250_000_000))
    loop = frame_clock.frame_loop(_RATE, _BUDGET)
    frame_clock.sample(_TIMES[0])
    ticks = 0
    start = clock()
    for now in _TIMES[1:]:
        frame_clock.sample(now)
        plan = loop.begin_frame(frame_clock.frame_time)
        for _ in plan.steps():
            ticks += 1
        plan.alpha()
    return Played(clock() - start, ticks)


def _loop_alone() -> Played:
    loop = FrameLoop(_RATE, _BUDGET, start=Timestamp(0))
    ticks = 0
    start = clock()
    for now in _TIMES[1:]:
        plan = loop.begin_frame(now)
        for _ in plan.steps():
            ticks += 1
        plan.alpha()
    return Played(clock() - start, ticks)


def _input() -> Played:
    bridge = InputBridge(["jump"])
    pressed = 0
    start = clock()
    for sample in _SAMPLES[1:]:
        bridge.sample(sample)
        pressed += bridge.take()["jump"].pressed
    return Played(clock() - start, pressed)


def _timers() -> Played:
    queue = _World(0).timers
    fired = 0
    start = clock()
    for tick in range(_FRAMES):
        if queue.begin_tick(tick):
            fired += 1
    return Played(clock() - start, fired)


def _nothing() -> Played:
    start = clock()
    for _now, _sample in zip(_TIMES[1:], _SAMPLES[1:], strict=True):
        pass
    return Played(clock() - start, None)


_FIRED = (_FRAMES - 1) // 60
_WHOLE = "Session.frame"
_PARTS: dict[str, tuple[Callable[[], Played], object]] = {
    _WHOLE: (_session, (_FRAMES, _PRESSES, _FIRED)),
    "clock and schedule": (_clock_and_loop, _FRAMES),
    "  of that, the schedule": (_loop_alone, _FRAMES),
    "input": (_input, _PRESSES),
    "timers": (_timers, _FIRED),
    "the loop around it": (_nothing, None),
}


def _side(name: str, play: Callable[[], Played], expected: object) -> Side:
    return Side(name, _FRAMES, play, lambda found: found == expected)


def main() -> None:
    """Print the table."""
    print(machine())
    sides = (_side(name, play, expected) for name, (play, expected) in _PARTS.items())
    values = interleave(sides, _EFFORT).values
    empty = median(values["the loop around it"])
    whole = median(values[_WHOLE]) - empty
    accounted = 0.0
    print(f"\n{_FRAMES} frames of one tick, one action, one timer; medians, less the loop around\n")
    print(f"{'':24}  {'ns a frame':>10}  {'share':>6}")
    for name in _PARTS:
        if name == "the loop around it":
            continue
        nanos = median(values[name]) - empty
        if name != _WHOLE and not name.startswith(" "):
            accounted += nanos
        print(f"{name:24}  {nanos:>10.0f}  {nanos / whole:>6.1%}")
    rest = whole - accounted
    print(f"{'the session itself':24}  {rest:>10.0f}  {rest / whole:>6.1%}")


if __name__ == "__main__":
    main()
    sys.exit(0)
