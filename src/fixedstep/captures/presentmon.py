"""PresentMon CSV, 1.x and 2.x, and tools that share its columns: OCAT, FrameView, CapFrameX.

A frame time is the text of one column, milliseconds in decimal. MsBetweenPresents looks back, to
the row before; FrameTime (2.1, 2.2 and ``--v2_metrics``) looks forward, to the next row, and so
does CPUBusy + CPUWait, which is all that 2.0.0 and 2.0.1 have. The column with the time of each row
is what frame times are compared with (by `collector`), since rows may be missing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from .decimal_text import is_number
from .limits import MAX_STREAMS
from .table import Layout, Table, fold, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .capture import Capture
    from .source import Line, Source

FORMAT = "PresentMon CSV"

_KEYS = ("application", "processid", "swapchainaddress")
#: In order of preference: the columns of the frame time, and whether it looks forward.
_TIMES = ((("msbetweenpresents",), False), (("frametime",), True), (("cpubusy", "cpuwait"), True))
#: When a frame was presented, and when work on it began.
_PRESENTED = ("timeinseconds", "timeinms", "timeinqpc", "qpctime", "timeinqpctime")
_BEGAN = ("cpustarttime", "cpustartqpc", "cpustartqpctime", "cpustartqpctimeinms")
#: Nanoseconds by which the times between presents may differ from those between beginnings.
_SLACK = 100_000_000
#: Nanoseconds in a unit of the clocks: seconds, milliseconds, and the usual ticks of Windows.
_USUAL_TICKS = (Fraction(10**9), Fraction(10**6), Fraction(100))
LOOKED_FOR = "the column MsBetweenPresents, or FrameTime, or CPUBusy and CPUWait"


def is_header(names: Sequence[str]) -> bool:
    """Whether a line of CSV names the columns that are needed."""
    folded = set(fold(names))
    return any(folded.issuperset(times) for times, _ in _TIMES)


class _Reader(Table):
    """One pass over one file."""

    def columns(self, line: Line, names: list[str], separator: str) -> None:
        """Find the columns."""
        if not is_header(names):
            self.refuse(
                f"this is no capture that is known: looked for {LOOKED_FOR} of {FORMAT}, found "
                f"{listed(names)}; where one of the columns holds frame times, name it and its "
                "unit (--column NAME --unit ms, or s, us, ns), with --stamps where it holds time "
                "stamps; a plain column of numbers needs its unit alone (--unit ms)",
                line.number,
            )
        folded = fold(names)
        times, forward = next(one for one in _TIMES if set(folded).issuperset(one[0]))
        keys = [self.only(names, name, line) if name in folded else None for name in _KEYS]
        clocks = _BEGAN if forward else _PRESENTED + _BEGAN
        clock = next((name for name in clocks if folded.count(name) == 1), None)
        self.found.forward = forward
        self.layout = Layout(
            names,
            separator,
            times=tuple(self.only(names, name, line) for name in times),
            clock=folded.index(clock) if clock else None,
            slack=_SLACK if clock in _BEGAN and not forward else 0,
            keys=(keys[0], keys[1], keys[2]),
            kind=folded.index("frametype") if folded.count("frametype") == 1 else None,
        )

    def measure_clock(self) -> None:
        """Find the unit of the clock, which its name does not always tell."""
        if self.layout.clock is None:
            return
        clock = self.layout.names[self.layout.clock].lower()
        if clock == "timeinseconds":
            return
        tick = self.measured_tick()
        if clock.endswith("inms"):
            tick = Fraction(10**6)
        elif tick is None:
            tick = Fraction(100 if "qpc" in clock else 10**6)
        for usual in _USUAL_TICKS:
            if abs(tick - usual) * 100 < usual:
                tick = usual
        unit = {10**9: "s", 10**6: "ms"}.get(int(tick), "ns")
        self.layout = self.layout._replace(
            clock_unit=unit, tick=tick if unit == "ns" else Fraction(1)
        )

    def again(self, line: Line, fields: list[str]) -> bool:
        """Whether the row names the columns once more: a new recording begins there."""
        at = self.layout.times[0]
        if at >= len(fields) or is_number(fields[at].strip()) or not is_header(fields):
            return False
        keys = {self.layout.names[key].lower() for key in self.layout.keys if key is not None}
        if not keys.issubset(fold(fields)):
            return False
        part = int(self.suffix.rpartition(" ")[2] or 1) + 1
        if part > MAX_STREAMS:
            self.refuse(
                f"names the columns again, as more than {MAX_STREAMS} recordings in one "
                "file would; split the file there",
                line.number,
            )
        self.suffix = f", part {part}"
        self._names.clear()
        forward, unit, tick = self.found.forward, self.layout.clock_unit, self.layout.tick
        self.columns(line, [field.strip() for field in fields], self.layout.separator)
        if forward != self.found.forward:
            self.refuse(
                "names other columns of frame times than the recording before it; split the file "
                "there",
                line.number,
            )
        self.layout = self.layout._replace(clock_unit=unit, tick=tick)
        self.found.warnings.append(
            f"line {line.number} names the columns again, so a new recording begins there; "
            f"its frames are given as part {part}"
        )
        return True


def read(source: Source, gaps: str) -> Capture:
    """What `fixedstep.captures.read` does, for this format."""
    reader = _Reader(source, LOOKED_FOR, gaps)
    header = reader.header()
    if header is None:
        reader.refuse(f"holds no rows; looked for {LOOKED_FOR}")
    reader.columns(*header)
    reader.measure_clock()
    reader.other = reader.again
    return reader.read(FORMAT)
