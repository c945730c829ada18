"""The ball, the keys and the numbers on screen, without a toolkit.

The ball is integers and moves in steps alone. At 900 pixels a second and 20 ticks it jumps 45
pixels a tick; drawn at alpha between its last two places, it moves in every frame instead. Both
places are drawn as rings, so that a still picture shows it too: with interpolation the ball is
between the rings, without it sits in one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...sim.history import History
from ...time import Nanos, Timestamp
from .. import monotonic
from ..real_time import RealTimeFactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ... import Alpha, Step
    from ..paced_window import PacedWindow

#: Pixels. The field is below, the strip with the text above it; y grows upwards.
WIDTH, HEIGHT, STRIP = 640, 360, 64
RADIUS = 7
CAPTION = "fixedstep: a ball between ticks"

BACKGROUND, FIELD, RING = (24, 27, 33), (36, 41, 50), (92, 105, 125)
BALL, TEXT = (242, 178, 72), (214, 218, 226)

_SECOND = 10**9
_MILLISECOND = 10**6
_PIXEL = 1_000
_SPEED = 900 * _PIXEL, 410 * _PIXEL
_STALL = Nanos(300 * _MILLISECOND)
_REFRESH = _SECOND // 2

KEYS = "I interpolation  P pause  N one step  S stall  Esc close"


class Picture(NamedTuple):
    """What a frame shows, in pixels from the lower left corner of the field."""

    ball: tuple[float, float]
    previous: tuple[float, float]
    current: tuple[float, float]
    lines: tuple[str, str]


class Ball:
    """The whole program but for the window.

    ``stall`` is how long the stall key blocks, in nanoseconds; ``limit`` closes the window after so
    many nanoseconds of frames, None never does. ``sleep`` takes nanoseconds.

    >>> from fixedstep import Step
    >>> ball = Ball()
    >>> ball.step(Step(tick=0, dt=50_000_000, sim_time=0))
    >>> ball.at(0.5), ball.at(1.0)
    ((122.5, 190.25), (145.0, 200.5))
    >>> ball.interpolated = False
    >>> ball.at(0.5)
    (145.0, 200.5)
    """

    def __init__(
        self,
        *,
        stall: Nanos = _STALL,
        limit: Nanos | None = None,
        sleep: Callable[[Nanos], None] = monotonic.sleep,
    ) -> None:
        self.interpolated: bool = True
        self._place = History((100 * _PIXEL, 180 * _PIXEL))
        self._speed = _SPEED
        self._simulated = Nanos(0)
        self._stall = stall
        self._limit = limit
        self._sleep = sleep
        self._window: PacedWindow | None = None
        self._factor = RealTimeFactor(Timestamp(0))
        self._refreshed = self._frames = 0
        self._measured = "fps     -   p99     - ms   real time    -"

    def attach(self, window: PacedWindow) -> None:
        """The window whose numbers are shown and which the keys act on."""
        self._window = window

    def step(self, step: Step) -> None:
        """One tick."""
        self._place.capture()
        moved = [
            _bounced(at + speed * step.dt // _SECOND, speed, end * _PIXEL)
            for at, speed, end in zip(
                self._place.current, self._speed, (WIDTH, HEIGHT), strict=True
            )
        ]
        self._place.set((moved[0][0], moved[1][0]))
        self._speed = moved[0][1], moved[1][1]
        self._simulated = Nanos(step.sim_time + step.dt)

    def key(self, name: str) -> None:
        """A key went down: ``"i"``, ``"p"``, ``"n"``, ``"s"``, ``"escape"`` or one without use."""
        if self._window is None:
            return
        binding = self._window.binding
        if name == "i":
            self.interpolated = not self.interpolated
        elif name == "p" and binding.paused:
            binding.resume()
        elif name == "p":
            binding.pause()
        elif name == "n":
            binding.pause()
            binding.step_once()
        elif name == "s":
            self._sleep(self._stall)
        elif name == "escape":
            binding.request_close()

    def at(self, alpha: Alpha) -> tuple[float, float]:
        """Where the ball is drawn."""
        if not self.interpolated:
            return _pixels(self._place.current)
        x, y = self._place.at(alpha)
        return _pixels((x, y))

    def picture(self, alpha: Alpha) -> Picture:
        """What to draw in this frame."""
        mode = "interpolation " + ("on" if self.interpolated else "off")
        if self._window is not None and self._window.binding.paused:
            mode += "  paused"
        return Picture(
            self.at(alpha),
            _pixels(self._place.previous),
            _pixels(self._place.current),
            (self._numbers(alpha), f"{KEYS}    {mode}"),
        )

    def _numbers(self, alpha: Alpha) -> str:
        window = self._window
        if window is None:
            return ""
        elapsed = window.timing.sum
        if self._limit is not None and elapsed >= self._limit:
            window.binding.request_close()
        if elapsed - self._refreshed >= _REFRESH:
            # Twice a second: faster, nobody can read them.
            frames = window.timing.count
            fps = (frames - self._frames) * _SECOND / (elapsed - self._refreshed)
            p99 = window.timing.percentile(99) / _MILLISECOND
            factor = self._factor.lap(Timestamp(elapsed), self._simulated) or 0
            self._measured = f"fps {fps:5.1f}   p99 {p99:5.1f} ms   real time {float(factor):4.2f}"
            self._refreshed, self._frames = elapsed, frames
        stats = window.binding.stats
        return (
            f"ticks {stats.ticks:5}   dropped {stats.steps_dropped:4}   "
            f"alpha 0.{int(alpha * 100):02}   {self._measured}"
        )


def _bounced(at: int, speed: int, end: int) -> tuple[int, int]:
    """The place and speed after as many reflections as it takes: a tick may be a second long."""
    low, high = RADIUS * _PIXEL, end - RADIUS * _PIXEL
    while not low <= at <= high:
        at, speed = (2 * low if at < low else 2 * high) - at, -speed
    return at, speed


def _pixels(place: tuple[float, float]) -> tuple[float, float]:
    return place[0] / _PIXEL, place[1] / _PIXEL
