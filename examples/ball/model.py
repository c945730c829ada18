"""A ball in a field of 640 by 360 pixels: the game, which knows of no toolkit."""

from __future__ import annotations

from fixedstep import Step
from fixedstep.sim import GameLoop, History

WIDTH, HEIGHT, RADIUS = 640, 360, 12


class Ball:
    """Moves in whole thousandths of a pixel, so that every machine has the same ball."""

    def __init__(self) -> None:
        self.place = History((100_000, 180_000))
        self.speed = (600_000, 410_000)  # thousandths of a pixel per second

    def step(self, step: Step) -> None:
        """One tick: move, and turn around at the edge."""
        self.place.capture()  # the previous place, for drawing between ticks
        place, speed = list(self.place.current), list(self.speed)
        for axis, size in enumerate((WIDTH, HEIGHT)):
            low, high = RADIUS * 1_000, (size - RADIUS) * 1_000
            place[axis] += speed[axis] * step.dt // 10**9
            if not low <= place[axis] <= high:
                speed[axis] = -speed[axis]
                place[axis] = min(max(place[axis], low), high)
        self.place.set((place[0], place[1]))
        self.speed = (speed[0], speed[1])

    def at(self, alpha: float) -> tuple[float, float]:
        """Where to draw it, in pixels."""
        x, y = self.place.at(alpha)
        return x / 1_000, y / 1_000


def on_key(game: GameLoop, name: str) -> bool:
    """The keys of all three programs: P pauses, N runs one tick. Whether the key was one."""
    if name == "p":
        game.toggle_pause()
    elif name == "n":
        game.pause()
        game.run_ticks(1)
    return name in ("p", "n")
