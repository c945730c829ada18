"""What a schedule would have made of a capture: one file in, one plain dictionary out.

`analyze` is a function of a path and of `AnalysisSettings` and of nothing else, and both it and its
result can be pickled: so a folder of a hundred thousand captures is a ``map`` over whatever engine
is there, and this file needs to know none. Figures are integers where they are times or counts; a
rate per second is rounded for reading and never computed with.

The schedule's arithmetic is not repeated here. A `FrameLoop` plans, in batches, and what is here
adds up what it said.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from .. import FrameTiming
from .._arguments import U64_MAX, nanos, shown
from .._select import core as chosen_core
from ..time import Rate, StepBudget, Timestamp, Timestep, scale_and_unit
from .capture import CaptureError, SummaryError
from .collector import GAPS
from .formats import read

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Iterator, Sequence

    from .._plans import FramePlans
    from .capture import Capture, Stream
    from .source import Progress

PERCENTILES = (("min", 0), ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", "99.9"), ("max", 100))
LOWS = (("low_1", 1), ("low_0.1", "0.1"))

#: How many stalls are named one by one.
_NAMED_STALLS = 10
_SECOND = 10**9


@dataclass(frozen=True)
class AnalysisSettings:
    """What is asked of each capture.

    ``timesteps`` are the steps to plan with, and ``budgets`` the budgets, each with each step. A
    frame of more than ``stall_over`` nanoseconds is a stall; where ``resync_over`` is given, each
    schedule is planned also with a ``resync`` at frames of more nanoseconds than that. ``unit`` is
    that of a plain column of numbers, and ``histogram`` adds all frame times as buckets.

    >>> AnalysisSettings(timesteps=(Timestep.HZ_60, Rate(30)), budgets=(StepBudget(5),)).stall_over
    50000000

    Raises TypeError and OverflowError for values that are none, and ValueError for no timestep or
    no budget.
    """

    timesteps: tuple[Timestep | Rate, ...] = (Timestep.HZ_60,)
    """The steps to plan with."""
    budgets: tuple[StepBudget, ...] = (StepBudget.DEFAULT,)
    """The budgets to plan with, each with each step."""
    resync_over: int | None = None
    """Plan also with a ``resync`` at each frame longer than this many nanoseconds."""
    stall_over: int = 50_000_000
    """A frame longer than this many nanoseconds is a stall."""
    unit: str | None = None
    """The unit of a plain column of numbers; see `fixedstep.captures.read`."""
    histogram: bool = False
    """Add the frame times as the buckets of a `FrameTiming`, which can be merged exactly."""
    column: str | None = None
    """The column of a table that holds the frame times, in ``unit``."""
    stamps: bool = False
    """The numbers are the times at which frames came, in ``unit``."""
    process: str | None = None
    """Only streams of the program of this name, with or without ``.exe``, or this number."""
    stream: str | None = None
    """Only streams with this text in their names."""
    gaps: str = "count"
    """Whether time without rows counts (``"count"``) or is left out (``"skip"``)."""

    def __post_init__(self) -> None:
        for name, one in (("timesteps", "(Rate(60),)"), ("budgets", "(StepBudget(5),)")):
            values = getattr(self, name)
            if not isinstance(values, (tuple, list)):
                raise TypeError(
                    f"{name} must be a tuple, not {type(values).__name__} {shown(values)}; {one} "
                    "is one"
                )
            if not values:
                raise ValueError(
                    f"{name} must not be empty: nothing would be planned; {one} is one"
                )
        if self.gaps not in GAPS:
            raise ValueError(f"gaps must be 'count' or 'skip', not {shown(self.gaps)}")
        if self.unit is None and (self.column is not None or self.stamps):
            raise ValueError("unit must be given with column or stamps: 's', 'ms', 'us' or 'ns'")
        for timestep in self.timesteps:
            scale_and_unit(timestep)
        for budget in self.budgets:
            if not isinstance(budget, StepBudget):
                raise TypeError(
                    f"budget must be a StepBudget, not {type(budget).__name__} {shown(budget)}; "
                    "StepBudget(5) lets a frame run at most five steps"
                )
        nanos(self.stall_over, "stall_over")
        if self.resync_over is not None:
            nanos(self.resync_over, "resync_over")


_DEFAULT = AnalysisSettings()


def analyze(
    path: str | os.PathLike[str],
    settings: AnalysisSettings = _DEFAULT,
    *,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The figures of one capture, as a dictionary of plain values.

    Keys: ``path``, ``format``, ``rows``, ``warnings`` and ``streams``. A file that cannot be opened
    or read exactly gives ``path`` and ``error`` instead of an exception, so that it does not end
    the analysis of others. A summary that a tool wrote beside its captures has ``summary`` as well,
    which is True.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "times")
    ...     _ = path.write_text("16.7\\n100\\n16.7\\n")
    ...     found = analyze(path, AnalysisSettings(unit="ms"))
    >>> [(plan["steps"], plan["dropped"]) for plan in found["streams"][0]["schedules"]]
    [(7, 1)]
    """
    name = os.fspath(path)
    try:
        capture = read(
            path,
            settings.unit,
            column=settings.column,
            stamps=settings.stamps,
            gaps=settings.gaps,
            progress=progress,
        )
    except SummaryError as error:
        return {"path": name, "error": str(error), "summary": True}
    except CaptureError as error:
        return {"path": name, "error": str(error)}
    except OSError as error:
        if error.filename is None:
            return {"path": name, "error": _no_room(name, error)}
        return {"path": name, "error": f"{name}: {error.strerror or error}"}
    try:
        streams = [report(stream, settings) for stream in chosen(capture, settings)]
    except CaptureError as error:
        return {"path": name, "error": f"{name}: {error}"}
    except OSError as error:
        return {"path": name, "error": _no_room(name, error)}
    return {
        "path": name,
        "format": capture.format,
        "rows": capture.rows,
        "warnings": list(capture.warnings),
        "streams": streams,
    }


def chosen(capture: Capture, settings: AnalysisSettings) -> list[Stream]:
    """The streams of the process and of the name that the settings ask for.

    Raises CaptureError where there is none.
    """
    found = list(capture.streams)
    if settings.process is not None:
        name = settings.process.lower()
        found = [
            stream
            for stream in found
            if name == stream.process_id
            or name.removesuffix(".exe") == stream.application.lower().removesuffix(".exe")
        ]
    if settings.stream is not None:
        text = settings.stream.lower()
        found = [stream for stream in found if text in stream.name.lower()]
    if not found:
        there = "; ".join(stream.title[:80] for stream in capture.streams[:5])
        more = len(capture.streams) - 5
        raise CaptureError(
            f"has no such stream; its streams are: {there}" + f"; and {more} more" * (more > 0)
        )
    return found


def main_stream(streams: Sequence[Stream]) -> Stream:
    """The stream that pictures show: the one with the most frames that is neither the desktop's
    compositor nor a browser's own window, unless there is nothing else."""
    return max(streams, key=lambda stream: (not stream.background, stream.frames))


def _no_room(name: str, error: OSError) -> str:
    """An error of no file that was named: of the one that frame times are kept in."""
    return (
        f"{name}: {error.strerror or error}; if that is of the folder for temporary files, "
        f"{tempfile.gettempdir()}, which takes 16 bytes a frame: name another with TMPDIR"
    )


def report(stream: Stream, settings: AnalysisSettings, core: Any = None) -> dict[str, Any]:
    """The figures of one stream; ``core`` is the module whose types plan.

    Spans are nanoseconds, except ``remainder``: 1/numerator of one for a Rate. A stream of one row
    has no frame times; what would need one is None.

    Raises CaptureError for a frame so long that a Rate of the settings cannot count it in 64 bits:
    a loop would saturate there, and steps would be missing from the sums.
    """
    core = chosen_core if core is None else core
    figures: dict[str, Any] = {
        "application": stream.application,
        "process_id": stream.process_id,
        "name": stream.name,
        "frames": stream.frames,
        "sum_ns": stream.total,
    }
    names = [f"{name}_ns" for name, _ in PERCENTILES]
    figures |= dict.fromkeys(names)
    figures["average_fps"] = per_second(stream.frames, stream.total)
    lows = [f"{name}_fps" for name, _ in LOWS]
    figures |= dict.fromkeys(lows)
    if stream.frames:
        spans, worst = stream._ranked([p for _, p in PERCENTILES], [p for _, p in LOWS])
        figures |= zip(names, spans, strict=True)
        _refuse_saturation(stream, figures["max_ns"], settings.timesteps)
        figures |= zip(lows, (per_second(*low) for low in worst), strict=True)
    figures |= _stalls(stream, settings.stall_over)
    figures["gaps"] = {
        "count": stream.gaps.count,
        "sum_ns": stream.gaps.total,
        "counted": stream.gaps.counted,
        "longest": [
            {"line": gap.line, "start_ns": gap.start, "length_ns": gap.length}
            for gap in stream.gaps.longest
        ],
    }
    figures["background"] = stream.background
    figures["schedules"] = [
        _schedule(stream, timestep, budget, settings.resync_over, core)
        for timestep in settings.timesteps
        for budget in settings.budgets
    ]
    if settings.histogram:
        figures["histogram"] = _histogram(stream)
    return figures


def per_second(frames: int, nanos: int) -> float | None:
    """Frames a second over the whole of a time: n / sum, never a mean of rates.

    >>> per_second(2, 5_000_000)
    400.0
    """
    return round(frames * _SECOND / nanos, 4) if nanos else None


def _refuse_saturation(
    stream: Stream, longest: int, timesteps: tuple[Timestep | Rate, ...]
) -> None:
    for timestep in timesteps:
        scale, unit = scale_and_unit(timestep)
        if longest * scale + unit > U64_MAX:
            raise CaptureError(
                f"{stream.title}: its longest frame, {longest} ns, exceeds 64 bits in the units of "
                f"{timestep!r}; use a step in whole nanoseconds, or repair the capture"
            )


def _stalls(stream: Stream, over: int) -> dict[str, Any]:
    def found() -> Iterator[tuple[int, int, int]]:
        first = start = 0
        for block in stream.frame_time_blocks():
            if max(block) > over:
                at = start
                for frame, span in enumerate(block, first):
                    if span > over:
                        yield span, -frame, at  # of equal ones the first
                    at += span
            first += len(block)
            start += sum(block)

    def named(span: int, frame: int, at: int) -> dict[str, int]:
        return {"frame": -frame, "start_ns": at, "length_ns": span}

    count = total = 0
    longest: list[tuple[int, int, int]] = []
    for stall in found():
        count += 1
        total += stall[0]
        longest.append(stall)
        if len(longest) > 1000:
            longest = nlargest(_NAMED_STALLS, longest)
    return {
        "stalls": {
            "over_ns": over,
            "count": count,
            "sum_ns": total,
            "longest": [named(*stall) for stall in nlargest(_NAMED_STALLS, longest)],
        }
    }


class _Totals:
    """The figures of a schedule, block by block."""

    def __init__(self, timestep: Timestep | Rate, budget: StepBudget, core: Any) -> None:
        self.loop = core.FrameLoop(timestep, budget, start=0)
        self.stats = core.FrameStats()
        self._unit = scale_and_unit(timestep)[1]
        self._budget = budget.steps
        self._zero_steps = self._largest_due = 0
        self._alpha: Counter[int] = Counter()

    def add(self, timestamps: array[int] | memoryview) -> None:
        if not len(timestamps):
            return
        dropped_before = self.stats.steps_dropped
        plans: FramePlans = self.loop.begin_frames(timestamps, self.stats)
        counts = plans.step_count.tolist()
        self._zero_steps += counts.count(0)
        # Steps are dropped only where the budget is spent, so the largest due is the largest drop
        # above it: no need to add the two columns.
        if self.stats.steps_dropped > dropped_before:
            due = self._budget + max(plans.dropped.tolist())
        else:
            due = max(counts)
        self._largest_due = max(self._largest_due, due)
        unit = self._unit
        self._alpha.update([10 * rest // unit for rest in plans.remainder.tolist()])

    def figures(self) -> dict[str, Any]:
        return {
            "steps": self.stats.ticks,
            "dropped": self.stats.steps_dropped,
            "zero_step_frames": self._zero_steps,
            "largest_due": self._largest_due,
            "remainder": self.loop.remainder,
            "alpha_tenths": [self._alpha[tenth] for tenth in range(10)],
            "schedule_hash": f"0x{self.stats.schedule_hash:016x}",
        }


def _schedule(
    stream: Stream,
    timestep: Timestep | Rate,
    budget: StepBudget,
    resync_over: int | None,
    core: Any,
) -> dict[str, Any]:
    totals = _Totals(timestep, budget, core)
    for times in stream.timestamp_blocks():
        totals.add(times)
    if isinstance(timestep, Rate):
        configured: dict[str, Any] = {"rate": [timestep.numerator, timestep.denominator]}
    else:
        configured = {"timestep": timestep.nanos}
    figures = {**configured, "budget": budget.steps, **totals.figures()}
    if resync_over is not None:
        figures["resync"] = _resynced(stream, _Totals(timestep, budget, core), resync_over)
    return figures


def _resynced(stream: Stream, totals: _Totals, over: int) -> dict[str, Any]:
    """The same with a resync at each frame longer than ``over``: its time is not simulated."""
    frames = skipped = 0
    for spans, times in zip(stream.frame_time_blocks(), stream.timestamp_blocks(), strict=True):
        view = memoryview(times)
        begin = 0
        for index in (i for i, span in enumerate(spans) if span > over):
            totals.add(view[begin:index])
            totals.loop.resync(Timestamp(times[index]))
            begin = index
            frames += 1
            skipped += spans[index]
        totals.add(view[begin:])
    return {"over_ns": over, "frames": frames, "skipped_ns": skipped, **totals.figures()}


def _histogram(stream: Stream) -> dict[str, Any]:
    timing = FrameTiming()
    record = timing.record
    for block in stream.frame_time_blocks():
        for span in block:
            record(span, True)  # type: ignore[arg-type]
    return histogram(timing)


def histogram(timing: FrameTiming) -> dict[str, Any]:
    """A `FrameTiming` as plain values, which another process gives to `merge_histograms`.

    >>> histogram(FrameTiming())
    {'frames': 0, 'skipped': 0, 'min_ns': 0, 'max_ns': 0, 'sum_ns': 0, 'buckets': []}

    ``frames`` are all of them, those that were not drawn (``skipped``) included.
    """
    (state,) = timing._state()
    return {
        "frames": timing.count,
        "skipped": state["skipped"],
        "min_ns": state["min"],
        "max_ns": state["max"],
        "sum_ns": state["sum"],
        "buckets": [list(pair) for pair in state["buckets"].items()],
    }


def merge_histograms(histograms: Iterable[dict[str, Any]]) -> FrameTiming:
    """Histograms as one `FrameTiming`, equal to one that recorded all the frames itself.

    >>> timing = FrameTiming()
    >>> timing.record(16_700_000, drawn=True)
    >>> merge_histograms([histogram(timing), histogram(timing)]).count
    2
    """
    buckets: Counter[int] = Counter()
    drawn = skipped = total = longest = 0
    shortest = None
    for histogram in histograms:
        if not histogram["frames"]:
            continue
        left_out = histogram["skipped"]
        skipped += left_out
        drawn += histogram["frames"] - left_out
        total += histogram["sum_ns"]
        longest = max(longest, histogram["max_ns"])
        least = histogram["min_ns"]
        shortest = least if shortest is None else min(shortest, least)
        buckets.update(dict(histogram["buckets"]))
    top = 2**64 - 1  # where every counter stops
    return FrameTiming(
        min=shortest or 0,
        max=longest,
        sum=min(total, top),
        drawn=drawn,
        skipped=skipped,
        buckets=buckets,
    )
