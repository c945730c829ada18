"""What docs/comparison.md says about other Python libraries, run against those libraries.

A comparison that nobody runs is an opinion with a date. This imports the libraries that the page
names, drives their clocks with instants of its own where they let it, and ends with an error when
one of them no longer does what the page says: then the page is wrong and has to be changed.

    python -m pip install . arcade gamekit panda3d pygame-ce pyglet
    python checks/comparison/claims.py

It measures no speed (bench/ does, against the same libraries). Every line is a count that anybody
can repeat. No window is opened.
"""

from __future__ import annotations

import importlib.metadata
import os
from typing import Any

os.environ.update(PYGAME_HIDE_SUPPORT_PROMPT="1", ARCADE_HEADLESS="True")

import arcade.clock
import gamekit
import pygame
import pyglet.clock
from arcade.application import Window
from panda3d.core import ClockObject

from fixedstep import FrameLoop, Rate, StepBudget, Timestamp

HZ = 60
MINUTE = 60
TICKS = HZ * MINUTE
FRAME_RATES = (30, 59, 60, 61, 77, 144, 240, 1000)


def claim(what: str, found: object, said: object) -> None:
    """Print what was found; end if the page says something else."""
    print(f"{what}: {found}")
    if found != said:
        raise SystemExit(f"docs/comparison.md says {said}")


def fixedstep_ticks(fps: int) -> int:
    """Ticks of a minute that was cut into equal frames."""
    loop = FrameLoop(Rate(HZ), StepBudget(5), start=Timestamp(0))
    for frame in range(1, MINUTE * fps + 1):
        loop.begin_frame(Timestamp(frame * 10**9 // fps))
    return loop.tick


def pyglet_calls(fps: int) -> int:
    """Calls of a function that was scheduled at 60 Hz."""
    now = 0.0
    calls = 0

    def count(dt: float) -> None:
        nonlocal calls
        calls += 1

    clock = pyglet.clock.Clock(time_function=lambda: now)
    clock.schedule_interval(count, 1 / HZ)
    clock.tick()
    for frame in range(1, MINUTE * fps + 1):
        now = frame / fps
        clock.tick()
    return calls


class ArcadeWindow:
    """As much of an arcade window as its fixed updates use."""

    def __init__(self, cap: int | None) -> None:
        arcade.clock._setup_clock()
        arcade.clock._setup_fixed_clock(1 / HZ)
        self._fixed_rate = 1 / HZ
        self._fixed_frame_cap = cap
        self.updates = 0

    def dispatch_event(self, name: str, *_: object) -> None:
        """Count the fixed updates among the events."""
        self.updates += name == "on_fixed_update"

    def frame(self, seconds: float) -> int:
        """Fixed updates of one frame."""
        before = self.updates
        stand_in: Any = self
        Window._dispatch_updates(stand_in, seconds)
        return self.updates - before


def arcade_updates(fps: int) -> int:
    """Fixed updates of a minute, without a cap."""
    window = ArcadeWindow(None)
    return sum(window.frame(1 / fps) for _ in range(MINUTE * fps))


def gamekit_steps(fps: int) -> int:
    """Steps of a minute."""
    loop = gamekit.GameLoop(lambda dt: None, float(HZ))
    return sum(loop.advance(1 / fps) for _ in range(MINUTE * fps))


def main() -> None:
    """All claims, in the order of the page."""
    for name in ("fixedstep", "pyglet", "arcade", "gamekit", "pygame-ce", "panda3d"):
        print(name, importlib.metadata.version(name))
    print(f"a minute at {HZ} Hz is {TICKS} ticks; at {FRAME_RATES} frames a second:")

    claim("fixedstep, Rate(60)", [*map(fixedstep_ticks, FRAME_RATES)], [TICKS] * 8)
    claim(
        "pyglet, schedule_interval",
        [*map(pyglet_calls, FRAME_RATES)],
        [1800, 3540, 3362, 1830, 2310, 2880, 3543, 3529],
    )
    claim(
        "arcade, on_fixed_update",
        [*map(arcade_updates, FRAME_RATES)],
        [3600, 3600, 3599, 3600, 3599, 3599, 3600, 3599],
    )
    claim("gamekit, advance", [*map(gamekit_steps, FRAME_RATES)], [TICKS] * 8)

    print("overload:")
    plan = FrameLoop(Rate(HZ), StepBudget(5), start=Timestamp(0)).begin_frame(Timestamp(10**9))
    claim("fixedstep, budget 5, a frame of 1 s", (plan.step_count, plan.dropped), (5, 55))
    window = ArcadeWindow(5)
    claim("arcade, cap 5, a frame of 1 s", window.frame(1.0), 6)
    after = [window.frame(1 / HZ) for _ in range(12)]
    claim("  and in the frames after it", after, [6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 4, 1])
    claim("arcade, no cap, a frame of 10 s", ArcadeWindow(None).frame(10.0), 599)
    loop = gamekit.GameLoop(lambda dt: None, float(HZ), max_steps_per_advance=8)
    claim("gamekit, at most 8, a frame of 12.5 steps", loop.advance(12.5 / HZ), 8)
    claim("  and its alpha then", loop.alpha, 0.0)
    claim("gamekit, a frame 0.5 ps short of a step", loop.advance(1 / HZ - 5e-13), 1)

    print("units:")
    claim("pygame-ce, Clock.tick", type(pygame.time.Clock().tick()).__name__, "int")
    clock = ClockObject()
    claim("panda3d, ClockObject.get_dt", type(clock.get_dt()).__name__, "float")
    clock.mode = ClockObject.M_non_real_time
    clock.dt = 1 / HZ
    clock.tick()
    claim("  in non-real-time mode", clock.get_dt(), 1 / HZ)

    print("all as the page says")


if __name__ == "__main__":
    main()
