"""How much simulated time passed for the real time that passed, as an exact fraction.

A factor of 1 says that the simulation keeps up. It is the quotient of what was counted: no moving
average, which after one slow second creeps towards 1 and never arrives, and no float. What is said
of a lap is true of that lap alone, and the total is said beside it.

It reads no clock and counts no ticks: pass it both, usually `GameLoop.sim_time` and the time of the
frame.
"""

from __future__ import annotations

from fractions import Fraction

from .._arguments import nanos, timestamp
from ..time import Nanos, Timestamp

_NOTHING = Nanos(0)


class RealTimeFactor:
    """Simulated over real nanoseconds since ``start``, and since the last lap.

    ``start`` and ``simulated`` are the readings at the beginning.

    >>> factor = RealTimeFactor(Timestamp(5_000_000_000))
    >>> factor.lap(Timestamp(6_050_000_000), Nanos(1_000_000_000))
    Fraction(20, 21)
    >>> factor.lap(Timestamp(7_050_000_000), Nanos(2_000_000_000))
    Fraction(1, 1)
    >>> factor.overall
    Fraction(40, 41)

    Raises TypeError and OverflowError for readings as `FrameLoop` does for timestamps.
    """

    def __init__(self, start: Timestamp, simulated: Nanos = _NOTHING) -> None:
        self._start = self._at = timestamp(start, "start")
        self._first = self._simulated = nanos(simulated, "simulated")

    def lap(self, now: Timestamp, simulated: Nanos) -> Fraction | None:
        """The factor since the last lap, which ends here.

        None where no real time has passed since: there is no factor then, and the lap goes on.
        Raises ValueError for a reading that went back, and what the constructor raises; the lap
        then goes on.
        """
        now, simulated = Timestamp(timestamp(now)), Nanos(nanos(simulated, "simulated"))
        if now < self._at or simulated < self._simulated:
            raise ValueError(
                f"a lap must not go back: now {now} ns after {self._at} ns, simulated {simulated} "
                f"ns after {self._simulated} ns; begin a new RealTimeFactor"
            )
        if now == self._at:
            return None
        factor = Fraction(simulated - self._simulated, now - self._at)
        self._at, self._simulated = now, simulated
        return factor

    @property
    def overall(self) -> Fraction | None:
        """The factor from the start to the end of the last lap; None before there is one."""
        if self._at == self._start:
            return None
        return Fraction(self._simulated - self._first, self._at - self._start)
