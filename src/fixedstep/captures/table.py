"""Tables of text: the part that all formats with rows and columns share.

A format says in which columns the frame time, the clock and the names of the process stand; here
rows become numbers and go to the `Collector`. Rows are taken a block of 64 KiB at a time, with the
work done by the interpreter's own loops. A block that holds anything unusual (a quote, a value that
is no plain number, a row of another length) is read line by line instead, and both ways give the
same integers and the same errors.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from .collector import Collector, quoted
from .decimal_text import (
    decimals,
    fraction,
    last_digit,
    many_nanoseconds,
    nanoseconds,
    sum_nanoseconds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .capture import Capture
    from .collector import Key
    from .source import Line, Source

#: What a column called FrameType holds for frames that the program drew itself. Every other word
#: is the name of a generator.
_DRAWN = frozenset({"Application", "NotSet", "Not Set", "Unspecified", "Original", "NA", ""})
_SEPARATORS = (",", ";", "\t")
NOT_MEASURED = "NA"


class Layout(NamedTuple):
    """Where the columns are."""

    names: list[str]
    """All of them, as the header has them."""
    separator: str
    times: tuple[int, ...] = ()
    """The frame time, or the columns that add up to it; none where the clock is all there is."""
    unit: str = "ms"
    clock: int | None = None
    """When a row was, by the file's own clock."""
    clock_unit: str = "s"
    tick: Fraction = Fraction(1)
    """Nanoseconds of a unit of the clock, where that is ``"ns"`` and not one."""
    slack: int = 0
    """Nanoseconds by which the clock may differ from the frame times, where it is the time of
    something else in the frame."""
    keys: tuple[int | None, int | None, int | None] = (None, None, None)
    """Application, process and swap chain."""
    kind: int | None = None
    """Who drew the frame."""

    @property
    def needed(self) -> int:
        """The last column that a row must have."""
        found = [index for index in (*self.keys, *self.times) if index is not None]
        return max(found if self.times or self.clock is None else [*found, self.clock])

    @property
    def label(self) -> str:
        """The columns of the frame time, for messages."""
        at = self.times or (self.clock or 0,)
        return " + ".join(self.names[index] for index in at)


def fold(names: Sequence[str]) -> list[str]:
    """Names of columns, to compare."""
    return [name.strip().lower() for name in names]


def separator_of(text: str) -> str:
    """What separates the columns of a header."""
    return max(_SEPARATORS, key=text.count)


def listed(names: Sequence[str]) -> str:
    """The columns of a header, for a message."""
    text = ", ".join(repr(name if len(name) <= 30 else name[:27] + "...") for name in names[:12])
    return text + (f" and {len(names) - 12} more" if len(names) > 12 else "")


class Table:
    """One pass over the rows of one file."""

    def __init__(self, source: Source, looked_for: str, gaps: str = "count") -> None:
        self.source = source
        self.refuse = source.refuse
        self.found: Collector = Collector(source.refuse, gaps)
        self.lines = source.lines(looked_for, self.found.warnings)
        self.layout: Layout = Layout([], ",")
        self.suffix = ""
        self.other: Callable[[Line, list[str]], bool] = lambda line, fields: False
        """Takes a row that is no frame, such as a second header, and says whether it did."""
        self.nothing = "has columns but no rows; record again, with the application running"
        self._width = 0
        self._mark = ""
        self._generated: Counter[str] = Counter()
        self._names: dict[tuple[str, ...], Key] = {}

    def header(self) -> tuple[Line, list[str], str] | None:
        """The line that names the columns, its names and the separator; None in a file without."""
        separator = ""
        for line in self.lines:
            text = line.text.strip()
            if text.lower().startswith("sep=") and not separator:
                separator = line.text.strip("\r\n \"'")[4:5] or "\t"
                if separator in '\0\r"':
                    self.refuse(f"names {separator!r} as the separator; use a comma", line.number)
            elif text and not text.startswith("//"):
                separator = separator or separator_of(line.text)
                names = [name.strip() for name in self.source.fields(line, separator)]
                return line, names, separator
        return None

    def only(self, names: Sequence[str], name: str, line: Line) -> int:
        """Where the column is, which must be there once."""
        folded = fold(names)
        if folded.count(name) > 1:
            self.refuse(
                f"the column {names[folded.index(name)]} is there {folded.count(name)} times, "
                "and which one counts cannot be known; rename the others",
                line.number,
            )
        return folded.index(name)

    def read(self, form: str) -> Capture:
        """All rows below the header, in this layout."""
        while True:
            while block := self.source.block():
                if not self._block(*block):
                    for line in self.source.split(block):
                        self._row(line)
            last = next(self.lines, None)
            if last is None:
                break
            self._row(last)
        for kind, count in sorted(self._generated.items()):
            self.found.warnings.append(
                f"generated frames ({quoted(kind)[1:-1]}) left out: {count}; a loop runs no "
                "ticks in them"
            )
        if not self.found.rows:
            self.refuse(self.nothing)
        return self.found.capture(form)

    def _key(self, values: Sequence[str]) -> Key:
        key = self._names.get(values := tuple(values))
        if key is None:
            application, process, chain = (value.strip() for value in values)
            chain = f"swap chain {chain}" if self.layout.keys[2] is not None else ""
            name = f"{chain}{self.suffix}" if chain else self.suffix.removeprefix(", ")
            key = self._names[values] = (application, process, name)
            if len(self._names) > 4096:  # a few names, with blanks around them
                self._names.clear()
        return key

    # A block of rows.

    def _block(self, number: int, raw: bytes) -> bool:
        """Take the rows of a block; False, and nothing taken, where one is unusual."""
        layout = self.layout
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return False
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if '"' in text or "\r" in text:
            return False
        rows = [line.split(layout.separator) for line in text[:-1].split("\n")]
        if max(map(len, rows)) > len(layout.names):
            return False
        columns = list(zip(*rows, strict=False))
        wanted = (layout.needed, layout.clock or 0, layout.kind or 0)
        if len(columns) <= max(wanted):
            return False
        if layout.kind is not None and not _DRAWN.issuperset(columns[layout.kind]):
            return False
        deltas = clocks = None
        digits = 0
        if layout.times:
            taken = self._numbers([columns[index] for index in layout.times], layout.unit)
            if taken is None:
                return False
            deltas, part = taken
            digits = 2 * last_digit(layout.unit, part)
        if layout.clock is not None:
            taken = self._numbers([columns[layout.clock]], layout.clock_unit)
            if taken is None:
                return False
            clocks, part = taken
            digits += self._clock_digits(part)
            if layout.tick != 1:
                multiple, divisor = layout.tick.numerator, layout.tick.denominator
                clocks = [clock * multiple // divisor for clock in clocks]
        self._width = len(rows[-1])
        named = [columns[index] for index in layout.keys if index is not None]
        if all(column.count(column[0]) == len(rows) for column in named):
            parts: dict[Key, list[int]] = {self._key_of(rows[0]): []}
        else:
            parts = {}
            for index, row in enumerate(rows):
                parts.setdefault(self._key_of(row), []).append(index)
        for key, at in parts.items():
            if not at:
                self.found.add(key, deltas, clocks, number.__add__, digits)
                continue
            self.found.add(
                key,
                deltas and [deltas[index] for index in at],
                clocks and [clocks[index] for index in at],
                lambda index, at=at: number + at[index],  # type: ignore[misc]
                digits,
            )
        return True

    def _key_of(self, fields: Sequence[str]) -> Key:
        return self._key([fields[at] if at is not None else "" for at in self.layout.keys])

    def _numbers(self, columns: list[tuple[str, ...]], unit: str) -> tuple[list[int], int] | None:
        if self.layout.separator != ",":
            texts = "".join(map("".join, columns))
            if ("," in texts and self._mark != ",") or ("." in texts and self._mark != "."):
                return None
            if self._mark == ",":
                columns = [tuple(text.replace(",", ".") for text in column) for column in columns]
        return many_nanoseconds(columns, unit)

    def _clock_digits(self, part: int) -> int:
        return self.layout.slack + self._last_digits(part)

    def _last_digits(self, part: int) -> int:
        if self.layout.tick != 1:
            return 2 * -(-self.layout.tick.numerator // self.layout.tick.denominator)
        return 2 * last_digit(self.layout.clock_unit, part)

    # One row.

    def _row(self, line: Line) -> None:
        if not line.text.strip():
            return
        fields = self.source.fields(line, self.layout.separator)
        layout = self.layout
        needed = layout.needed
        if not line.whole and self._cut_off(line, fields, needed):
            return
        if self.other(line, fields):
            return
        if needed >= len(fields):
            self.refuse(
                f"has {len(fields)} fields, and {layout.label} with what names its "
                f"process needs {needed + 1}; the row is damaged: repair or remove it",
                line.number,
            )
        self._width = len(fields)
        fields = self._in_columns(line, fields)
        if layout.kind is not None and layout.kind < len(fields):
            kind = fields[layout.kind].strip()
            if kind not in _DRAWN:
                self.found.rows += 1
                self._generated[kind[:60] if len(self._generated) < 16 else "others"] += 1
                return
        deltas = clock = None
        digits = 0
        if layout.times:
            texts = [fields[index].strip() for index in layout.times]
            deltas = [self._time(line, texts)]
            digits = 2 * last_digit(layout.unit, max(map(decimals, texts)))
        if layout.clock is not None:
            clock, part = self._clock(line, fields)
            digits += self._clock_digits(part)
        clocks = None if layout.clock is None else [clock]
        self.found.add(self._key_of(fields), deltas, clocks, lambda _: line.number, digits)

    def _in_columns(self, line: Line, fields: list[str]) -> list[str]:
        """The fields, one for each column. PresentMon writes the name of a program without quotes,
        so a comma in it makes one more; where the name comes first and the number of the process
        is where it has to be then, the pieces are put together again. Anything else moves the
        columns, and another one would be taken for the frame time."""
        width = len(self.layout.names)
        more = len(fields) - width
        if more <= 0 or not any(field.strip() for field in fields[width:]):
            return fields
        application, process, _ = self.layout.keys
        if (
            application != 0
            or process is None
            or not fields[process + more].strip().isdecimal()
            or any(fields[process + at].strip().isdecimal() for at in range(more))
        ):
            self.refuse(
                f"has {len(fields)} fields, and its header names {width}: a comma in a "
                "name or in a number makes one more; put quotes around it, or repair or remove the "
                "row",
                line.number,
            )
        return [self.layout.separator.join(fields[: more + 1]), *fields[more + 1 :]]

    def _cut_off(self, line: Line, fields: list[str], needed: int) -> bool:
        """Whether the last line lacks its end before what is needed of it. Says so if it does."""
        if needed < len(fields) - 1:  # a separator follows, so the value is whole
            if len(fields) < self._width:
                self.found.warnings.append(
                    f"line {line.number} is cut off after {len(fields)} of {self._width} fields; "
                    "its frame time is whole and counted, but frames after it may be missing"
                )
            return False
        self.found.warnings.append(
            f"line {line.number}, the last, has no line end, and its frame time may be cut; it is "
            "left out (if the line is whole, add a line end)"
        )
        return True

    def _plain(self, line: Line, text: str) -> str:
        """A number with a decimal point. A semicolon or a tab separates columns where the comma is
        the decimal mark; a file has one mark."""
        if self.layout.separator == ",":
            return text
        mark = "," if "," in text else "." if "." in text else ""
        if mark and self._mark and mark != self._mark:
            self.refuse(
                f"{quoted(text)} has another decimal mark than the lines before it, "
                f"{self._mark!r}, so one of them is a thousands separator; export the file with "
                "one decimal mark",
                line.number,
            )
        self._mark = self._mark or mark
        return text.replace(",", ".")

    def _time(self, line: Line, texts: list[str]) -> int | None:
        """The frame time of a row in nanoseconds; None where the tool could not measure it."""
        if NOT_MEASURED in texts:
            return None
        plain = [self._plain(line, text) for text in texts]
        try:
            return sum_nanoseconds(plain, self.layout.unit)
        except ValueError as error:
            self.refuse_number(line, " + ".join(map(quoted, texts)), error)

    def refuse_number(self, line: Line, shown: str, error: ValueError) -> NoReturn:
        """Raise CaptureError for a frame time or a time stamp."""
        what = f"{self.layout.label[:60]} {shown} {error}".lstrip()
        self.refuse(f"{what}; the row is damaged: repair or remove it", line.number)

    def _clock(self, line: Line, fields: list[str]) -> tuple[int | None, int]:
        """When a row was, and the decimals of it; None where the file does not say."""
        layout = self.layout
        at = layout.clock or 0
        if at >= len(fields) or (not line.whole and at == len(fields) - 1):
            return None, 0
        text = self._plain(line, fields[at].strip())
        try:
            clock = nanoseconds(text, layout.clock_unit)
        except ValueError as error:
            if not layout.times:
                self.refuse_number(line, quoted(fields[at].strip()), error)
            return None, 0
        return clock * layout.tick.numerator // layout.tick.denominator, decimals(text)

    # The unit of a clock.

    def measured_tick(self) -> Fraction | None:
        """Nanoseconds in a unit of the clock, measured against the frame times at the beginning of
        the file; None where there are too few. Rows may be missing, so that the clock moves on by
        more than a frame, and never by less: the upper end of what is found is right."""
        layout = self.layout
        rows: dict[Key, list[tuple[Fraction, Fraction]]] = {}
        for text in self.source.head.split("\n")[:-1]:
            fields = [field.strip() for field in text.rstrip("\r").split(layout.separator)]
            if len(fields) != len(layout.names) or layout.clock is None:
                continue
            values = [
                field.replace(",", ".") if layout.separator != "," else field
                for field in (fields[layout.clock], *(fields[index] for index in layout.times))
            ]
            numbers = [number for number in map(fraction, values) if number is not None]
            if len(numbers) == len(values):
                clock, *times = numbers
                rows.setdefault(self._key_of(fields), []).append((clock, sum(times, Fraction(0))))
        self._names.clear()
        ratios = []
        for found in rows.values():
            for (before, held), (after, time) in pairwise(found):
                frame = held if self.found.forward else time
                if frame > Fraction(1, 2) and after > before:
                    ratios.append(frame * last_digit(layout.unit, 0) / (after - before))
        if not ratios:
            return None
        return sorted(ratios)[-(len(ratios) // 10) - 1]
