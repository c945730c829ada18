"""FRAPS frame times: a number and a running clock in milliseconds for each frame.

The second column is when the frame was, so a frame time is the difference of two rows. Added up as
if they were frame times, they would give hours for a minute of play.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .table import Layout, Table, fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .capture import Capture
    from .source import Source

FORMAT = "FRAPS CSV"
_COLUMNS = ["frame", "time (ms)"]


def is_header(names: Sequence[str]) -> bool:
    """Whether a line of CSV names the columns of this format."""
    return fold(names) == _COLUMNS


def read(source: Source) -> Capture:
    """What `fixedstep.captures.read` does, for this format."""
    table = Table(source, "the columns Frame and Time (ms)")
    header = table.header()
    assert header is not None, "it was seen when the format was told"
    _, names, separator = header
    table.layout = Layout(names, separator, clock=1, clock_unit="ms")
    return table.read(FORMAT)
