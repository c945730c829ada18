"""When the next frame may start: absolute targets on a grid, waited for without drift.

Target ``k`` is ``origin + rate.due_after(k)``: the first nanosecond at which tick ``k`` of a
`FrameLoop` with the same rate and origin is due, so that each frame runs one step. It is never the
time now plus a period, which turns the work of every frame into a lower rate, and never a sum of
periods, which are not whole nanoseconds at 60 or 90 Hz.

The pacer plans no steps and does not make up for missed targets: frames run in a burst after a
stall show nothing new. How many steps a stall leaves to run is `FrameLoop`'s part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .. import FrameTiming
from .._arguments import nanos, shown, timestamp
from ..time import Nanos, Rate, Timestamp
from .monotonic import Waiter, now, sleep

if TYPE_CHECKING:
    from collections.abc import Callable

_SECOND = 10**9
_NOTHING = Nanos(0)


class PacerReport(NamedTuple):
    """What a pacer saw. ``scheduled`` is ``on_time + late + skipped``.

    >>> FramePacer(Rate(60)).report().scheduled
    0
    """

    scheduled: int
    """Targets that are over."""
    on_time: int
    """Frames whose work was done by their target. How late the system woke is in ``lateness``."""
    late: int
    """Frames whose work ended after their target, started at once."""
    skipped: int
    """Targets that passed without a frame."""
    resets: int
    """Fresh origins after the first, by `FramePacer.reset` or because the clock went back."""
    largest_lateness: Nanos
    """The most nanoseconds by which a frame started after its target."""
    lateness: FrameTiming
    """How late frames started, with percentiles."""


class _Seen(NamedTuple):
    """Where a pacer is and what it counted. Replaced as one, so that Ctrl-C cannot part them."""

    origin: int | None
    next: int
    on_time: int
    late: int
    skipped: int
    resets: int
    lateness: Nanos
    """Of the last frame."""


class FramePacer:
    """Waits for the start of each frame and returns the time to pass to `FrameLoop.begin_frame`.

    ``rate`` is frames a second; None never waits, for a display that paces by itself. With vsync a
    rate is the upper limit. ``max_lateness`` is nanoseconds: a frame later than this starts at
    once and all targets up to now are skipped. At its default of 0 no two frames are run for
    targets that have both passed; 100 ms would allow six frames without a pause at 60 Hz. ``spin``
    is the last nanoseconds before a target that are spent reading the clock instead of sleeping;
    None measures how late sleeps end, as `Waiter` says, and 0 only sleeps.

    ``clock`` returns nanoseconds, ``sleep`` takes them; both are the machine's.

    >>> time = 0
    >>> def sleep(nanos):
    ...     global time
    ...     time += nanos
    >>> pacer = FramePacer(Rate(60), clock=lambda: time, sleep=sleep)
    >>> [pacer.wait() for _ in range(4)]
    [0, 16666667, 33333334, 50000000]
    >>> time += 250_000_000
    >>> pacer.wait(), pacer.wait(), pacer.report().skipped
    (300000000, 316666667, 14)

    Raises TypeError for a rate of another kind, and TypeError and OverflowError for spans as
    `FrameLoop` does for timestamps.
    """

    def __init__(
        self,
        rate: Rate | None,
        *,
        max_lateness: Nanos = _NOTHING,
        spin: Nanos | None = None,
        clock: Callable[[], Timestamp] = now,
        sleep: Callable[[Nanos], object] = sleep,
    ) -> None:
        self._rate = _rate(rate)
        self._max_lateness = nanos(max_lateness, "max_lateness")
        self._waiter = Waiter(spin=spin, clock=clock, sleep=sleep)
        self._clock = clock
        self._in_time = False
        self._seen = _Seen(None, 1, 0, 0, 0, 0, _NOTHING)
        self._lateness = FrameTiming()

    @property
    def rate(self) -> Rate | None:
        """Frames a second, or None where nothing is waited for."""
        return self._rate

    @property
    def next_target(self) -> Timestamp | None:
        """What the next `wait` waits for; None where it will set an origin or never waits."""
        seen, rate = self._seen, self._rate
        if seen.origin is None or rate is None:
            return None
        return Timestamp(seen.origin + rate.due_after(seen.next))

    def set_rate(self, rate: Rate | None) -> None:
        """Pace at another rate from now on: an idle one in menus, a low one in a hidden window.

        Starts a new grid as `reset` does, and does nothing if the rate is the same.

        >>> pacer = FramePacer(Rate(60)); pacer.set_rate(Rate(4)); pacer.rate
        Rate(4, 1)
        """
        if _rate(rate) != self._rate:
            self.reset()
            self._rate = rate

    def reset(self) -> None:
        """Start a new grid: after activation, a change of visibility, a load, `FrameLoop.resync`.

        The next `wait` returns at once and is the new origin. What was counted stays.
        """
        seen = self._seen
        self._seen = seen._replace(origin=None, resets=seen.resets + (seen.origin is not None))
        self._in_time = False

    def time_left(self) -> Nanos:
        """Nanoseconds to the next target, for a caller that waits by itself and calls `wait` then.

        0 where `wait` would return at once. A frame that asks before its target is counted as on
        time, however late its caller is woken; `wait` alone would see only the waking.

        >>> now = 0
        >>> pacer = FramePacer(Rate(10), clock=lambda: now)
        >>> _ = pacer.wait()
        >>> pacer.time_left()
        100000000
        >>> now = 100_000_300
        >>> pacer.time_left(), pacer.wait(), pacer.report().on_time
        (0, 100000300, 1)
        """
        target, rate = self.next_target, self._rate
        if target is None or rate is None:
            return _NOTHING
        left = target - timestamp(self._clock())
        if left < 0 or left > rate.due_after(1):  # passed, or the clock went back
            return _NOTHING
        self._in_time = True
        return Nanos(left)

    def wait(self) -> Timestamp:
        """Wait for the next target and return the time then, in nanoseconds.

        The first call, and the first after a reset, returns at once: that moment is the origin. So
        does a call when the clock has gone back, rather than sleep until it is where it was.
        """
        now = timestamp(self._clock())
        rate, target = self._rate, self.next_target
        if rate is None:
            return Timestamp(now)
        if target is not None and target - now > rate.due_after(1):  # the clock went back
            self.reset()
        origin, frame = self._seen.origin, self._seen.next
        if target is None or origin is None:
            self._seen = self._seen._replace(origin=now, next=1)
            return Timestamp(now)
        in_time = self._in_time or now <= target
        now = self._waiter.wait_until(target)
        newest = frame
        if now - target > self._max_lateness:  # the last target that is not after now
            newest = (now - origin) * rate.numerator // (rate.denominator * _SECOND)
        seen = self._seen  # the sleep may have called reset
        self._seen = seen._replace(
            next=newest + 1,
            on_time=seen.on_time + in_time,
            late=seen.late + (not in_time),
            skipped=seen.skipped + newest - frame,
            lateness=Nanos(now - target),
        )
        self._in_time = False
        self._settle()
        return now

    def _settle(self) -> None:
        """Put the lateness of the last frame into the summary, unless it is there."""
        seen = self._seen
        if self._lateness.count < seen.on_time + seen.late:
            self._lateness.record(seen.lateness, drawn=True)

    def report(self) -> PacerReport:
        """What was counted so far, as a snapshot."""
        self._settle()
        seen = self._seen
        return PacerReport(
            scheduled=seen.on_time + seen.late + seen.skipped,
            on_time=seen.on_time,
            late=seen.late,
            skipped=seen.skipped,
            resets=seen.resets,
            largest_lateness=self._lateness.max,
            lateness=self._lateness.__copy__(),
        )


def _rate(rate: Rate | None) -> Rate | None:
    if rate is not None and not isinstance(rate, Rate):
        raise TypeError(
            f"rate must be a Rate in frames a second, or None, not {type(rate).__name__} "
            f"{shown(rate)}; Rate(60) is 60 frames a second"
        )
    return rate
