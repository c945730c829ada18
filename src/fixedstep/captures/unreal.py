"""CSV files of Unreal's profiler: FrameTime in milliseconds, and columns that may join later.

The first line names the columns that were known at the start. A profiler that knows more at the
end writes the header again as the last but one line, and marks that in the last, which begins with
a name in brackets. Columns are only ever added behind the others, so FrameTime stays where it is.
Each row is a whole frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .table import Layout, Table, fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .capture import Capture
    from .source import Line, Source

FORMAT = "Unreal CSV"
LOOKED_FOR = "the column FrameTime"


def is_header(names: Sequence[str]) -> bool:
    """Whether a line of CSV names the columns of this format."""
    folded = fold(names)
    return "frametime" in folded and ("gamethreadtime" in folded or folded[0] == "events")


def read(source: Source) -> Capture:
    """What `fixedstep.captures.read` does, for this format."""
    table = Table(source, LOOKED_FOR)
    table.found.forward = True
    header = table.header()
    assert header is not None, "it was seen when the format was told"
    line, names, separator = header
    at = table.only(names, "frametime", line)
    ended = False

    def other(line: Line, fields: list[str]) -> bool:
        nonlocal ended
        if not ended and (fields[at : at + 1] == [names[at]] or line.text.startswith("[")):
            ended = True
        if not ended and len(fields) > len(table.layout.names):
            # A column that joined meanwhile; its name follows at the end.
            table.layout = table.layout._replace(names=names + [""] * (len(fields) - len(names)))
        return ended

    table.other = other
    table.layout = Layout(names, separator, times=(at,))
    return table.read(FORMAT)
