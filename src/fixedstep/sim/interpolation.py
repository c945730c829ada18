"""How far along something is, between its departure and its arrival, at a moment in between.

For drawing what takes longer than a step: an army on the march, a door that opens. The simulation
keeps two times and nothing that changes; the renderer asks here once a frame, with presentation
time, and must not write the answer back. Easing curves and positions are the renderer's own; this
is the number they start from.
"""

from __future__ import annotations

from fractions import Fraction

from .exact import Exact, exact

_FIX = "all three are in one unit from one origin, such as SpeedClock.presentation in nanoseconds"


def progress_exact(at: Exact, departed: Exact, arrives: Exact) -> Fraction:
    """How much of the way is behind at the moment ``at``: 0 before departure, 1 from arrival on.

    The times are integers or Fractions in one unit (nanoseconds, ticks), ``0 .. 2**64 - 1``. What
    takes no time is at 0 before the moment and at 1 from it on.

    >>> progress_exact(at=15, departed=10, arrives=30)
    Fraction(1, 4)
    >>> progress_exact(at=99, departed=10, arrives=30)
    Fraction(1, 1)

    Raises TypeError for a float or anything else that is no exact number, OverflowError out of
    range, and ValueError for an arrival before the departure.
    """
    now, start, end = (
        exact(value, name, _FIX)
        for value, name in ((at, "at"), (departed, "departed"), (arrives, "arrives"))
    )
    if end < start:
        raise ValueError(
            f"arrives must not be before departed, not {end} before {start}; "
            "swap them for something on its way back"
        )
    if now >= end:
        return Fraction(1)
    if now <= start:
        return Fraction(0)
    return Fraction(now - start, end - start)


def progress(at: Exact, departed: Exact, arrives: Exact) -> float:
    """`progress_exact` as the nearest float, ``0.0 .. 1.0``, for drawing.

    >>> progress(at=15, departed=10, arrives=30)
    0.25

    The float nearest to a moment just before the arrival may be 1.0: whether something has arrived
    is for the simulation to say. Raises what `progress_exact` raises.
    """
    return float(progress_exact(at, departed, arrives))
