"""When the next frame may start: absolute targets on a grid, waited for without drift.

Target ``k`` is ``floor(k * den * 10**9 / num)`` nanoseconds after the origin. It is never the time
now plus a period, which turns the work of every frame into a lower rate, and never a sum of
periods, which are not whole nanoseconds at 60 or 90 Hz.

Pacing decides when a frame is shown and nothing else. The pacer refuses to plan steps, to smooth,
and to make up for lost frames: a burst of frames after a stall shows nobody anything. What the
simulation owes after a stall is the business of `FrameLoop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._arguments import nanos, shown, timestamp
from ..time import Nanos, Rate, Timestamp
from ..timing import FrameTiming
from . import monotonic

if TYPE_CHECKING:
    from collections.abc import Callable

_SECOND = 10**9
_NOTHING = Nanos(0)

_STILL_SLEEPS = 1_000
_STILL_ASKED = _SECOND
_STILL_FEWEST = 8
_STILL_READS = 1_000_000


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
    """How late frames started: a summary with percentiles, of its own."""


class FramePacer:
    """Waits for the start of each frame: call `wait` once a frame, before the clock is read.

    ``rate`` is frames a second; None never waits, for a display that paces by itself, and a rate
    then is the cap over it. ``max_lateness`` is nanoseconds: a frame later than this starts at
    once and all targets up to now are skipped. It is 0 unless told otherwise, so that no two frames
    are ever run for targets that have both passed; 100 ms would allow six frames without a pause at
    60 Hz. ``spin`` is the last nanoseconds before a target that are spent reading the clock, more
    precise than a sleep and a processor core at full load; 0 never does.

    ``clock`` returns nanoseconds, ``sleep`` takes them; both are the machine's.

    >>> time = 0
    >>> def sleep(span):
    ...     global time
    ...     time += span
    >>> pacer = FramePacer(Rate(60), clock=lambda: time, sleep=sleep)
    >>> [pacer.wait() for _ in range(4)]
    [0, 16666666, 33333333, 50000000]
    >>> time += 250_000_000
    >>> pacer.wait(), pacer.wait(), pacer.report().skipped
    (300000000, 316666666, 14)

    Raises TypeError for a rate of another kind, and TypeError and OverflowError for spans as
    `FrameLoop` does for timestamps.
    """

    def __init__(
        self,
        rate: Rate | None,
        *,
        max_lateness: Nanos = _NOTHING,
        spin: Nanos = _NOTHING,
        clock: Callable[[], Timestamp] = monotonic.now,
        sleep: Callable[[Nanos], None] = monotonic.sleep,
    ) -> None:
        self._rate = _rate(rate)
        self._max_lateness = nanos(max_lateness, "max_lateness")
        self._spin = nanos(spin, "spin")
        self._clock = clock
        self._sleep = sleep
        self._origin: int | None = None
        self._next = 1
        self._in_time = False
        self._on_time = self._late = self._skipped = self._resets = 0
        self._lateness = FrameTiming()

    @property
    def rate(self) -> Rate | None:
        """Frames a second, or None where nothing is waited for."""
        return self._rate

    @property
    def next_target(self) -> Timestamp | None:
        """What the next `wait` waits for; None where it will set an origin or never waits."""
        if self._origin is None or self._rate is None:
            return None
        return Timestamp(self._target(self._rate, self._origin, self._next))

    def set_rate(self, rate: Rate | None) -> None:
        """Pace at another rate from now on: an idle one in menus, a low one in a hidden window.

        Starts a new grid as `reset` does, and does nothing if the rate is the same.

        >>> pacer = FramePacer(Rate(60)); pacer.set_rate(Rate(4)); pacer.rate
        Rate(4, 1)
        """
        if _rate(rate) != self._rate:
            self._rate = rate
            self.reset()

    def reset(self) -> None:
        """Forget the grid: after activation, a change of visibility, a load.

        The next `wait` returns at once and is the new origin. What was counted stays.
        """
        if self._origin is not None:
            self._resets += 1
        self._origin = None
        self._next = 1
        self._in_time = False

    def left(self) -> Nanos:
        """Nanoseconds to the next target, for a caller that waits by itself and calls `wait` then.

        0 where `wait` would return at once. A frame that asks before its target is counted as on
        time, however late its caller is woken; `wait` alone would see only the waking.

        >>> now = 0
        >>> pacer = FramePacer(Rate(10), clock=lambda: now)
        >>> _ = pacer.wait()
        >>> pacer.left()
        100000000
        >>> now = 100_000_300
        >>> pacer.left(), pacer.wait(), pacer.report().on_time
        (0, 100000300, 1)
        """
        target, rate = self.next_target, self._rate
        if target is None or rate is None:
            return _NOTHING
        left = target - timestamp(self._clock())
        if left < 0 or left > _period(rate):  # over, or the clock went back
            return _NOTHING
        self._in_time = True
        return Nanos(left)

    def wait(self) -> Timestamp:
        """Wait for the next target and return the time then, in nanoseconds.

        The first call, and the first after a reset, returns at once: that moment is the origin. So
        does a call when the clock has gone back, rather than sleep until it is where it was. A
        reset while it sleeps, by an event that the sleep delivers, makes its end the new origin.

        Raises RuntimeError when the clock stands still; the target is then still to come.
        """
        now = timestamp(self._clock())
        rate = self._rate
        if rate is None:
            return Timestamp(now)
        if self._origin is None:
            self._origin = now
            return Timestamp(now)
        target = self._target(rate, self._origin, self._next)
        in_time = self._in_time or now <= target
        if now <= target:
            grid = self._origin, self._next
            reached = self._reach(target, now, _period(rate))
            if reached is None:
                self.reset()
            now = timestamp(self._clock()) if reached is None else reached
            if self._origin is None:
                self._origin = now
            if reached is None or (self._origin, self._next) != grid:  # no target any more
                return Timestamp(now)
        lateness = now - target
        newest = self._next
        if lateness > self._max_lateness:
            # The last target that is not after now. floor(elapsed * num / unit) is one short where
            # a target was rounded down.
            unit = rate.denominator * _SECOND
            newest = ((now - self._origin + 1) * rate.numerator - 1) // unit
        self._lateness.record(Nanos(lateness), drawn=True)
        self._skipped += newest - self._next
        if in_time:
            self._on_time += 1
        else:
            self._late += 1
        self._next = newest + 1
        self._in_time = False
        return Timestamp(now)

    def report(self) -> PacerReport:
        """What was counted so far, as a snapshot."""
        return PacerReport(
            scheduled=self._on_time + self._late + self._skipped,
            on_time=self._on_time,
            late=self._late,
            skipped=self._skipped,
            resets=self._resets,
            largest_lateness=self._lateness.max,
            lateness=self._lateness.__copy__(),
        )

    @staticmethod
    def _target(rate: Rate, origin: int, k: int) -> int:
        return origin + k * rate.denominator * _SECOND // rate.numerator

    def _reach(self, target: int, now: int, furthest: int) -> int | None:
        """The first reading that is not before ``target``; None if the clock goes back too far."""
        watch = StandstillWatch()
        while now < target:
            left = target - now
            if left > furthest:
                return None
            span = max(left - self._spin, 0)
            if span:
                self._sleep(Nanos(span))
            before, now = now, timestamp(self._clock())
            watch.look(before, now, span, left)
        return now


class StandstillWatch:
    """Notices, within one wait, that the clock does not move.

    That is a fault, told from a coarse clock (some move every 15.625 ms) by how long was slept on
    it. Returning early instead would let a loop run unpaced and nobody notice; waiting on would be
    a program that hangs.
    """

    def __init__(self) -> None:
        self._sleeps = self._asked = self._reads = 0

    def look(self, before: int, now: int, span: int, left: int) -> None:
        """Compare two readings with a sleep of ``span`` nanoseconds between them, 0 for none;
        ``left`` is what there was to wait. Raises RuntimeError when it stood for too long."""
        if now != before:
            self._sleeps = self._asked = self._reads = 0
            return
        if span:
            self._sleeps += 1
            self._asked += span
        else:
            self._reads += 1
        if (
            self._sleeps >= _STILL_SLEEPS
            or (self._sleeps >= _STILL_FEWEST and self._asked >= _STILL_ASKED)
            or self._reads >= _STILL_READS
        ):
            raise RuntimeError(
                f"the clock stands still at {now} ns, {left} ns before the next frame, after "
                f"{self._sleeps} sleeps of {self._asked} ns together and {self._reads} readings; "
                "pass a clock that moves while sleep sleeps"
            )


def _period(rate: Rate) -> int:
    """Rounded up: a target is at most so far away, unless the clock went back."""
    return -(-rate.denominator * _SECOND // rate.numerator)


def _rate(rate: Rate | None) -> Rate | None:
    if rate is not None and not isinstance(rate, Rate):
        raise TypeError(
            f"rate must be a Rate in frames a second, or None, not {type(rate).__name__} "
            f"{shown(rate)}; Rate(60) is 60 frames a second"
        )
    return rate
