"""The default clock and the waiting on it. Every other file takes its timestamps as arguments.

The clock is ``time.perf_counter_ns``. On Linux, macOS and in browsers it is the same clock as
``time.monotonic_ns``; on Windows before Python 3.13 ``monotonic_ns`` moves in steps of 15.625 ms,
which is a frame at 64 Hz. The wall clock jumps when it is set, and a float of seconds is too coarse
after a hundred days.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from .._arguments import nanos, timestamp
from ..time import Nanos, Timestamp

if TYPE_CHECKING:
    from collections.abc import Callable

#: The longest single sleep, in nanoseconds: systems reject sleeps of centuries.
_LONGEST_SLEEP = 3600 * 10**9
#: Windows' timer fires every 15.625 ms, and Python 3.10 rounds a sleep up to whole milliseconds.
_MOST_SPIN = 20_000_000
_SLEEPS_KEPT = 16
_WAITS_WITHOUT_SLEEP = 1024


def now() -> Timestamp:
    """Nanoseconds since some moment before this process, never going back.

    >>> earlier = now()
    >>> earlier <= now()
    True
    """
    return Timestamp(time.perf_counter_ns())


def sleep(nanos: Nanos) -> None:
    """Sleep for about ``nanos`` nanoseconds, at most an hour. It may end late.

    >>> earlier = now()
    >>> sleep(Nanos(1_000))
    >>> now() > earlier
    True
    """
    time.sleep(min(nanos, _LONGEST_SLEEP) / 10**9)


def clock_description() -> str:
    """The clock that `now` reads and its resolution, for `fixedstep info`."""
    info = time.get_clock_info("perf_counter")
    return f"{info.implementation}, resolution {round(info.resolution * 10**9)} ns"


class Waiter:
    """Waits until a moment on the clock: sleeps first, then reads the clock until it is there.

    ``spin`` is how many nanoseconds before the moment the sleep ends. None measures it: twice the
    second-largest lateness of the last 16 sleeps, at most 20 ms. That is 0.1 to 0.2 ms on most
    systems. On Windows with Python 3.10, whose sleeps end up to 16 ms late, short waits do not
    sleep at all and keep a processor busy; ``spin=0`` prevents that and ends later.

    ``clock`` returns nanoseconds, ``sleep`` takes them.

    >>> waiter = Waiter()
    >>> deadline = Timestamp(now() + 1_000)
    >>> waiter.wait_until(deadline) >= deadline
    True

    Raises TypeError and OverflowError for a ``spin`` that is no number of nanoseconds.
    """

    def __init__(
        self,
        *,
        spin: Nanos | None = None,
        clock: Callable[[], Timestamp] = now,
        sleep: Callable[[Nanos], object] = sleep,
    ) -> None:
        self._fixed = None if spin is None else Nanos(nanos(spin, "spin"))
        self._clock = clock
        self._sleep = sleep
        self._lateness: deque[int] = deque(maxlen=_SLEEPS_KEPT)
        self._without_sleep = 0

    @property
    def spin(self) -> Nanos:
        """Nanoseconds before a moment at which the sleep to it should end, as given or measured."""
        if self._fixed is not None:
            return self._fixed
        if len(self._lateness) < 2:
            return Nanos(0)
        return Nanos(min(2 * sorted(self._lateness)[-2], _MOST_SPIN))

    def sleep_span(self, left: Nanos) -> Nanos:
        """How long to sleep with ``left`` nanoseconds to wait; 0 if too little is left to sleep.

        For a caller that sleeps by itself, in an event loop say, and then calls `note_sleep`.
        """
        span = left - self.spin
        if span > 0:
            self._without_sleep = 0
            return Nanos(span)
        self._without_sleep += 1
        if self._without_sleep == _WAITS_WITHOUT_SLEEP:
            # Sleeps may have become better since: measure again, at the cost of two late frames
            self._lateness.clear()
            self._without_sleep = 0
        return Nanos(0)

    def note_sleep(self, span: Nanos, took: Nanos) -> None:
        """Measure ``spin`` from a sleep of ``span`` nanoseconds that took ``took``."""
        self._lateness.append(max(took - span, 0))

    def wait_until(self, deadline: Timestamp) -> Timestamp:
        """Return the first reading of the clock that is not before ``deadline`` (nanoseconds).

        Raises TypeError for anything without ``__index__`` and OverflowError out of range.
        """
        deadline = Timestamp(timestamp(deadline, "deadline"))
        now = timestamp(self._clock())
        while now < deadline:
            span = self.sleep_span(Nanos(deadline - now))
            if not span:
                while now < deadline:
                    now = timestamp(self._clock())
                break
            self._sleep(span)
            before, now = now, timestamp(self._clock())
            self.note_sleep(span, Nanos(now - before))
        return Timestamp(now)
