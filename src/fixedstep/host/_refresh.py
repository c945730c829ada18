"""Frame times rounded to the refresh of the display, so that even frames get even ticks.

A frame is on screen for a whole number of refreshes, but its measured time jitters by a
millisecond. Where the measured time is near a whole number of refreshes, that number is used and
the difference is carried into the next frame, so no time is lost or added.
"""

from __future__ import annotations

from ..time import Nanos, Rate, Timestamp

_SECOND = 10**9


class RefreshSnap:
    """Turns readings of the clock into snapped ones.

    >>> snap = RefreshSnap(Rate(50))
    >>> [snap.snapped(Timestamp(ms * 10**6)) // 10**6 for ms in (0, 21, 39, 60, 101)]
    [0, 20, 40, 60, 100]

    A reading further than a quarter of a refresh from a whole number of refreshes is used as it is,
    with what was carried.
    """

    def __init__(self, refresh: Rate) -> None:
        self._period = Nanos(_SECOND * refresh.denominator // refresh.numerator)
        self._last: int | None = None
        self._snapped = 0

    def snapped(self, now: Timestamp) -> Timestamp:
        """The time to count for a frame that starts at ``now``, in nanoseconds."""
        if self._last is None or now < self._last:
            self._snapped = now
        else:
            passed = now - self._snapped  # with what was carried
            refreshes = (passed + self._period // 2) // self._period
            even = refreshes * self._period
            close = abs(passed - even) <= self._period // 4
            self._snapped += even if refreshes and close else max(passed, 0)
        self._last = now
        return Timestamp(self._snapped)
