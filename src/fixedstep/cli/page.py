"""What a command has to say, first as content and only then as text: plain, or with rich's tables.

One code path decides what is said. How it looks is decided at the end: where the output is a
terminal and rich is installed, tables get lines and headings weight; in a pipe, a log or without
rich it is the plain text that scripts have always seen. The words and the numbers are the same.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .layout import pairs, printable, table

if TYPE_CHECKING:
    from collections.abc import Sequence


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
        """Rows under a first row of headings; the first ``left`` columns stand left."""
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
