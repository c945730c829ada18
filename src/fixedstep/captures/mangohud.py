"""MangoHud CSV, old and new, whose frame times are milliseconds or whole microseconds.

Two things cannot be told from the columns and are told from the numbers. The unit of ``frametime``
changed between releases; and with ``log_interval`` above zero a row is a sample, one frame out of
many. Both show against ``elapsed``, in nanoseconds: frame times in the right unit add up to the
time that passed, and samples do not. A log whose sum and span agree in neither unit is refused.
The column ``fps`` is not used: in some releases it is a running average.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from .collector import Collector, quoted
from .decimal_text import is_number, nanoseconds
from .source import Line, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .capture import Capture

FORMAT = "MangoHud CSV"
LOOKED_FOR = "the columns fps, frametime and elapsed"

#: Rows read before the unit is decided, and characters in them: honest rows have twenty.
_DECIDED_ON = 4096
_DECIDED_IN = 1 << 20
#: The sum and the span agree if they differ by less than one part in so many. Honest logs are
#: within a thousandth; the next unit is a thousand times off, a sample every second frame twice.
_TOLERANCE = 20
#: Nanoseconds by which elapsed may differ from frametime in one row: it is taken by another thread.
_JITTER = 10_000_000


class _Row(NamedTuple):
    line: int
    frametime: str
    elapsed: int


def is_header(names: Sequence[str]) -> bool:
    """Whether a line of CSV names the columns that are needed."""
    folded = {name.strip().lower() for name in names}
    return folded >= {"fps", "frametime"} and folded.isdisjoint({"msbetweenpresents", "processid"})


def begins(text: str) -> bool:
    """Whether a line is how such a log begins, before its columns are named."""
    return text.strip() == "v1" or text.lower().startswith("os,cpu,gpu")


def _agree(total: int, span: int) -> bool:
    return abs(total - span) * _TOLERANCE <= span


class _Reader:
    """One pass over one file."""

    def __init__(self, source: Source, gaps: str) -> None:
        self._source = source
        self._refuse = source.refuse
        self._found = Collector(source.refuse, gaps)
        self._lines = source.lines(LOOKED_FOR, self._found.warnings)

    def _header(self) -> tuple[int, int, int]:
        """Where frametime and elapsed are, and how many columns there are."""
        number = 0
        names: list[str] = []
        for line in islice(self._lines, 32):
            number = line.number
            names = [name.strip().lower() for name in self._source.fields(line, ",")]
            if is_header(names) or (len(names) > 1 and all(map(is_number, filter(None, names)))):
                break
        if not is_header(names):
            self._refuse(
                "is a MangoHud log without a line that names its columns, as old releases wrote "
                "them: they hold a sample every so often (100 ms), not every frame, so frame times "
                "cannot be had from it; record again with a newer release and log_interval=0",
                number,
            )
        for name in ("frametime", "elapsed"):
            if names.count(name) != 1:
                self._refuse(
                    f"the column {name} is there {names.count(name)} times, and {FORMAT} has it "
                    "once; without it a sample cannot be told from a frame",
                    number,
                )
        frametime, elapsed = names.index("frametime"), names.index("elapsed")
        return frametime, elapsed, max(frametime, elapsed) + 1

    def _rows(self) -> Iterator[_Row]:
        frametime, elapsed, needed = self._header()
        for line in self._lines:
            if not line.text.strip():
                continue
            fields = self._source.fields(line, ",")
            if not line.whole and len(fields) <= needed:
                self._found.warnings.append(
                    f"line {line.number}, the last, has no line end and may be cut; it is left out "
                    "(if the line is whole, add a line end)"
                )
                continue
            if len(fields) < needed:
                self._refuse(
                    f"has {len(fields)} fields, and frametime with elapsed needs {needed}; the row "
                    "is damaged: repair or remove it",
                    line.number,
                )
            at = self._number(line, "elapsed", fields[elapsed].strip(), "ns")
            yield _Row(line.number, fields[frametime].strip(), at)

    def _number(self, line: Line, name: str, text: str, unit: str) -> int:
        try:
            return nanoseconds(text, unit)
        except ValueError as error:
            self._refuse(
                f"{name} {quoted(text)} {error}; the row is damaged: repair or remove it",
                line.number,
            )

    def _delta(self, row: _Row, unit: str) -> int:
        return self._number(Line(row.line, "", True), "frametime", row.frametime, unit)

    def _unit(self, first: list[_Row]) -> str:
        span = first[-1].elapsed - first[0].elapsed
        for unit in ("ms", "us"):
            # Microseconds were whole numbers, so text with a point in it is milliseconds.
            if unit == "us" and any("." in row.frametime for row in first):
                break
            if _agree(sum(self._delta(row, unit) for row in first[1:]), span):
                return unit
        return "ms"

    def read(self) -> Capture:
        rows = self._rows()
        first: list[_Row] = []
        size = 0
        for row in islice(rows, _DECIDED_ON):
            first.append(row)
            size += len(row.frametime)
            if size > _DECIDED_IN:
                break
        if len(first) < 2:
            self._refuse(
                f"has {len(first)} rows, and a frame time needs two; record again, for longer"
            )
        unit = self._unit(first)
        key = ("", "", "")
        begin = end = first[0].elapsed
        total = 0
        for row in chain(first, rows):
            delta = self._delta(row, unit)
            if row.elapsed < end:
                self._refuse(
                    f"elapsed goes back, from {end} ns to {row.elapsed} ns, so the rows are not in "
                    "order or from two logs; split the file there",
                    row.line,
                )
            end = row.elapsed
            if self._found.rows:
                total += delta
            self._found.add(key, [delta], [row.elapsed], row.line.__add__, _JITTER)
        span = end - begin
        if not _agree(total, span):
            share = 100 * total // span if span else 0
            per = span // (self._found.rows - 1)
            self._refuse(
                f"is sampled, not per frame: its frame times add up to {share} % of the time that "
                f"passed, with a row every {per // 10**6} ms; record again with log_interval=0"
                if total < span
                else f"has frame times that add up to {share} % of the time that passed, so "
                "frametime is in no unit that is known here, or elapsed is not nanoseconds"
            )
        return self._found.capture(FORMAT)


def read(source: Source, gaps: str) -> Capture:
    """What `fixedstep.captures.read` does, for this format."""
    return _Reader(source, gaps).read()
