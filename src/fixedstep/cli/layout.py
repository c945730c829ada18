"""How numbers and names are written for people: with units, in columns, on one line.

Everything here turns integers into text and stays in integers on the way, so that what is printed
is what was counted. No colours and no moving cursor: output ends in a log as often as on a screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..time import Rate, StepBudget, Timestep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def printable(text: str) -> str:
    """The text on one line, with what does not print written as an escape.

    >>> printable("a\\x1b[31m b")
    'a\\\\x1b[31m b'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def decimal(numerator: int, denominator: int, places: int) -> str:
    """A quotient with so many decimal places, rounded to the nearest (a half up).

    >>> decimal(2, 3, 4), decimal(60, 1, 0)
    ('0.6667', '60')
    """
    scaled = (2 * numerator * 10**places + denominator) // (2 * denominator)
    whole, part = divmod(scaled, 10**places)
    return f"{whole}.{part:0{places}d}" if places else str(whole)


def milliseconds(nanos: int) -> str:
    """Nanoseconds as milliseconds, exactly.

    >>> milliseconds(16_666_667)
    '16.666667 ms'
    """
    return f"{decimal(nanos, 10**6, 6)} ms"


def seconds(nanos: int) -> str:
    """Nanoseconds as seconds, to the nearest millisecond.

    >>> seconds(1_234_567_890)
    '1.235 s'
    """
    return f"{decimal(nanos, 10**9, 3)} s"


def digest(value: int) -> str:
    """A digest as everything here writes it.

    >>> digest(255)
    '0x00000000000000ff'
    """
    return f"0x{value:016x}"


def schedule(timestep: Timestep | Rate, budget: StepBudget) -> str:
    """How a loop is configured.

    >>> schedule(Timestep.HZ_60, StepBudget(5))
    'steps of 16.666667 ms, at most 5 a frame'
    >>> schedule(Rate(60_000, 1_001), StepBudget(5))
    'exactly 60000/1001 steps a second, at most 5 a frame'
    """
    if isinstance(timestep, Timestep):
        step = f"steps of {milliseconds(timestep.nanos)}"
    elif timestep.denominator == 1:
        step = f"exactly {timestep.numerator} steps a second"
    else:
        step = f"exactly {timestep.numerator}/{timestep.denominator} steps a second"
    return f"{step}, at most {budget.steps} a frame"


def pairs(rows: Iterable[tuple[str, str]], indent: str = "") -> str:
    """Names and values, the values in one column.

    >>> print(pairs([("core", "native"), ("reason", "it loads")]))
    core    native
    reason  it loads
    """
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{indent}{name:{width}}  {value}" for name, value in rows)


def table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows of equal length in columns; the first ``left`` columns stand left, the others right.

    >>> print(table([("core", "frames"), ("native", "7")]))
    core    frames
    native       7
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            f"{cell:<{width}}" if index < left else f"{cell:>{width}}"
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
