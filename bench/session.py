"""``python -m bench.session``: what a frame costs in a game loop and in a session, in one run.

Each row runs the same frames of one tick and checks its work; the first is the bare body of a loop
that is driven by hand, and the last two are the same busy tick, by hand and in a session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median
from typing import Any

from fixedstep import Alpha, FrameLoop, FrameStats, Rate, Timestamp
from fixedstep.host._window import Window
from fixedstep.sim import GameLoop, Session, Tick, TickInput, TimerQueue

from .measure import Effort, Played, Side, clock, interleave
from .report import machine

_FRAMES = 6_000
_TIMES = [Timestamp(-(-frame * 10**9 // 60)) for frame in range(_FRAMES + 1)]
_EFFORT = Effort(processes=1, rounds=15, value=20 * 10**6, paced=0, starts=0)
_BUTTONS = [f"button {number}" for number in range(10)]


class _Empty:
    def step(self, input: TickInput, tick: Tick) -> None:
        pass


class _Busy:
    """Twenty timers wait, ten buttons are read, and ten requests are staged."""

    def __init__(self) -> None:
        self.timers = TimerQueue[int](32)
        for number in range(20):
            self.timers.schedule(0, 60 + number, number, period=60)
        self.held = 0

    def step(self, input: TickInput, tick: Tick) -> None:
        for name in _BUTTONS:
            self.held += input[name].held
        for number in range(10):
            tick.outbox.stage("spark", anchor=number)


def _body() -> Played:
    loop, stats, ran = FrameLoop(Rate(60), start=Timestamp(0)), FrameStats(), 0
    start = clock()
    for now in _TIMES[1:]:
        plan = loop.begin_frame(now)
        for _ in plan.steps():
            ran += 1
        plan.alpha()
        stats.absorb(plan)
    return Played(clock() - start, ran)


def _played(
    make: Callable[[], GameLoop], each: Callable[[Any, int], object] | None = None
) -> Played:
    game = make()
    frame = game.frame
    frame(_TIMES[0])
    start = clock()
    if each is None:
        for now in _TIMES[1:]:
            frame(now)
    else:
        for number, now in enumerate(_TIMES[1:]):
            each(game, number)
            frame(now)
    return Played(clock() - start, game.tick)


def _press(game: Session[Any], number: int) -> None:
    name = _BUTTONS[number % 10]
    game.input.button(name, number % 20 < 10)
    game.outbox.deliver()


class _Still(Window):
    """A window of no toolkit: no events come, and nothing is drawn."""

    def _pump(self) -> None:
        pass

    def _show(self, alpha: Alpha) -> None:
        pass

    def _close(self) -> None:
        pass


def _windowed() -> Played:
    times = iter(_TIMES)
    window = _Still(GameLoop(lambda step: None), clock=lambda: next(times))
    run_frame = window.run_frame
    run_frame()
    start = clock()
    for _ in _TIMES[1:]:
        run_frame()
    return Played(clock() - start, window.game.tick)


def _by_hand() -> Played:
    """The busy tick without a session: dictionaries, a list of timers and a queue."""
    loop, stats = FrameLoop(Rate(60), start=Timestamp(0)), FrameStats()
    held = dict.fromkeys(_BUTTONS, False)
    timers = [(60 + number, number) for number in range(20)]
    queue: deque[tuple[str, int]] = deque()
    ran = count = 0
    start = clock()
    for number, now in enumerate(_TIMES[1:]):
        held[_BUTTONS[number % 10]] = number % 20 < 10
        queue.clear()
        plan = loop.begin_frame(now)
        for step in plan.steps():
            while timers[0][0] <= step.tick:
                due, which = timers.pop(0)
                timers.append((due + 60, which))
            for name in _BUTTONS:
                count += held[name]
            for spark in range(10):
                queue.append(("spark", spark))
            ran += 1
        plan.alpha()
        stats.absorb(plan)
    return Played(clock() - start, ran if count else 0)


_ROWS: dict[str, Callable[[], Played]] = {
    "the body, by hand": _body,
    "GameLoop, a plain step": lambda: _played(lambda: GameLoop(lambda step: None)),
    "the same in a window": _windowed,
    "Session, an empty tick": lambda: _played(lambda: Session(_Empty)),
    "Session, ten buttons at rest": lambda: _played(lambda: Session(_Empty, buttons=_BUTTONS)),
    "Session, one of ten changes": lambda: _played(
        lambda: Session(_Empty, buttons=_BUTTONS), _press
    ),
    "a busy tick, by hand": _by_hand,
    "a busy tick, in a Session": lambda: _played(lambda: Session(_Busy, buttons=_BUTTONS), _press),
}


def main() -> None:
    """Print the table."""
    print(machine())
    sides = (Side(name, _FRAMES, play, lambda ran: ran == _FRAMES) for name, play in _ROWS.items())
    values = interleave(sides, _EFFORT).values
    first = median(values["the body, by hand"])
    print(f"\n{_FRAMES} frames of one tick; medians of {_EFFORT.rounds} rounds\n")
    print(f"{'':30}  {'us a frame':>10}  {'to the body':>11}")
    for name in _ROWS:
        nanos = median(values[name])
        print(f"{name:30}  {nanos / 1000:>10.2f}  {nanos / first:>11.2f}")


if __name__ == "__main__":
    main()
