"""How numbers and names are written for people: with units, in columns, on one line.

Everything here turns integers into text and stays in integers on the way, so that what is printed
is what was counted. A `Page` is what a command has to say, as content. How it looks is decided at
the end: with rich's tables where the output is a terminal and rich is installed, and otherwise as
plain text. The words and the numbers are the same.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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
    """Rows in columns; the first ``left`` columns are aligned left, the others right.

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


@dataclass
class Page:
    """Lines, pairs and tables, in order. All text is made printable on its way in.

    >>> page = Page()
    >>> page.line("result")
    >>> page.pairs([("steps", "7"), ("dropped", "0")])
    >>> print(page.plain())
    result
      steps    7
      dropped  0
    """

    _parts: list[tuple[str, Any]] = field(default_factory=list)

    def line(self, text: str = "") -> None:
        """A line."""
        self._parts.append(("line", printable(text)))

    def heading(self, text: str) -> None:
        """A line that names what follows, after an empty one."""
        self._parts.append(("heading", printable(text)))

    def warning(self, text: str) -> None:
        """Something that may make the figures other than they look."""
        self._parts.append(("warning", printable(f"warning: {text}")))

    def pairs(self, rows: Sequence[tuple[str, str]]) -> None:
        """Names and values."""
        self._parts.append(("pairs", [(printable(a), printable(b)) for a, b in rows]))

    def table(self, rows: Sequence[Sequence[str]], left: int = 1) -> None:
        """Rows under a first row of headings; the first ``left`` columns are aligned left."""
        self._parts.append(("table", ([[printable(cell) for cell in row] for row in rows], left)))

    def plain(self) -> str:
        """All of it as text."""
        lines = []
        for kind, what in self._parts:
            if kind == "heading":
                lines += ["", what]
            elif kind == "pairs":
                lines.append(pairs(what, indent="  "))
            elif kind == "table":
                rows, left = what
                lines.append(table(rows, left))
            else:
                lines.append(what)
        return "\n".join(lines)

    def show(self) -> None:
        """Print it, as suits the standard output."""
        if not sys.stdout.isatty():
            print(self.plain())
            return
        try:
            from rich.console import Console
        except ImportError:
            print(self.plain())
        else:
            self.show_on(Console())

    def show_on(self, console: Any) -> None:
        """Print it on a console of rich."""
        from rich.table import Table
        from rich.text import Text

        for kind, what in self._parts:
            if kind == "heading":
                console.print()
                console.print(Text(what, style="bold"))
            elif kind == "warning":
                console.print(Text(what, style="yellow"))
            elif kind == "pairs":
                grid = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
                for name, value in what:
                    grid.add_row(Text(f"  {name}", style="cyan"), Text(value))
                console.print(grid)
            elif kind == "table":
                rows, left = what
                drawn = Table(header_style="bold")
                for index, name in enumerate(rows[0]):
                    drawn.add_column(Text(name), justify="left" if index < left else "right")
                for row in rows[1:]:
                    drawn.add_row(*map(Text, row))
                console.print(drawn)
            else:
                console.print(Text(what))
