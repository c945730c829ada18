"""How far something has come between its departure and its arrival, for drawing.

Use it for what takes longer than a tick: an army on the march, a door that opens. The simulation
keeps the two times; the renderer computes the share of the way in each frame and draws by it. The
simulation must not use the result.
"""

from __future__ import annotations

from fractions import Fraction

from .exact import Exact, exact

_FIX = "all three are in one unit from one origin, such as simulated nanoseconds, or ticks"


def progress_exact(at: Exact, departed: Exact, arrives: Exact) -> Fraction:
    """The share of the way that is done at the time ``at``: 0 before departure, 1 from arrival on.

    The times are integers or Fractions in one unit (nanoseconds, ticks), ``0 .. 2**64 - 1``. If
    departure and arrival are equal, it is 0 before that time and 1 from it on.

    >>> progress_exact(at=15, departed=10, arrives=30)
    Fraction(1, 4)
    >>> progress_exact(at=99, departed=10, arrives=30)
    Fraction(1, 1)

    Raises TypeError for a float or anything else that is no exact number, OverflowError out of
    range, and ValueError for an arrival before the departure.
    """
    # a list: PyPy takes a TypeError out of a generator for "this is no iterable"
    now, start, end = [
        exact(value, name, _FIX)
        for value, name in ((at, "at"), (departed, "departed"), (arrives, "arrives"))
    ]
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

    Just before the arrival it may round to 1.0, so it does not tell whether something has arrived;
    the simulation does. Raises what `progress_exact` raises.
    """
    return float(progress_exact(at, departed, arrives))
