"""A stream and its schedule as one picture, to be understood at a glance.

From top to bottom: frame times and stalls; the steps that each frame ran and dropped; alpha around
the longest frame; the distribution of frame times. Colours are those of Okabe and Ito, which people
who see colours differently can tell apart, and nothing is shown by colour alone: stalls have a mark
and their length, drops are drawn on top of the steps, thicker and with a cross.

matplotlib is imported when a picture is asked for, and drawn on without its global state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..captures import Stream
    from ..time import Rate, StepBudget, Timestep
    from .series import Bin, Frame

BLUE, ORANGE, VERMILION, GREEN, GREY = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#555555"

#: Columns of a picture, about two to each dot across. More frames than this share columns.
_MOST_COLUMNS = 2000
#: Frames around the longest one in which alpha is shown.
_AROUND = 30
_NAMED_STALLS = 3
_WRITTEN = ("png", "svg", "pdf")
_STYLE: Any = {
    "svg.hashsalt": "fixedstep",
    "svg.fonttype": "path",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
}


class PictureError(Exception):
    """A picture that cannot be drawn, and what to do about it."""


def check(path: str) -> None:
    """Raise PictureError where a picture could not be written, before anything is read."""
    if path.rpartition(".")[2].lower() not in _WRITTEN:
        raise PictureError(f"--plot writes {', '.join(_WRITTEN)}, by the file's name, not {path!r}")
    try:
        import matplotlib.figure  # noqa: F401 - whether it is there
    except ImportError as error:
        raise PictureError(
            f"--plot needs matplotlib, which is not there ({error}); pip install 'fixedstep[plot]'"
        ) from None


class _Seen:
    """What is found while the frames go by, once and in order."""

    def __init__(self) -> None:
        self.steps = self.dropped = 0
        self.longest: Frame | None = None
        self.pause = (0, 0)
        """Where the longest time without a step begins and ends."""
        self._last = 0

    def watch(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """The same frames."""
        end = 0
        for frame in frames:
            self.steps += frame.steps
            self.dropped += frame.dropped
            if self.longest is None or frame.span > self.longest.span:
                self.longest = frame
            end = frame.start + frame.span
            if frame.steps:
                self._ran(end)
            yield frame
        self._ran(end)

    def _ran(self, end: int) -> None:
        if end - self._last > self.pause[1] - self.pause[0]:
            self.pause = self._last, end
        self._last = end


def draw(
    path: str,
    kind: str,
    stream: Stream,
    timestep: Timestep | Rate,
    budget: StepBudget,
    stall_over: int,
) -> None:
    """Write the picture of a stream with at least one frame, as a file of this kind."""
    import matplotlib

    # The same file for the same figures: no date, no random names.
    dateless: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context(_STYLE):
        drawn = figure(stream, timestep, budget, stall_over)
        drawn.savefig(path, dpi=110, format=kind, metadata=dateless.get(kind))


def figure(stream: Stream, timestep: Timestep | Rate, budget: StepBudget, stall_over: int) -> Any:
    """The picture, as a figure of matplotlib."""
    from matplotlib.figure import Figure

    from .layout import schedule, seconds
    from .series import binned, frames

    seen = _Seen()
    bins = binned(seen.watch(frames(stream, timestep, budget)), stream.frames, _MOST_COLUMNS)
    drawn = Figure(figsize=(9, 10), layout="constrained")
    name = _drawable(stream.title)
    name = name if len(name) <= 120 else f"{name[:117]}..."
    gaps = ""
    if stream.gaps.count:
        counted = "counted" if stream.gaps.counted else "left out"
        gaps = f"; time without rows, {seconds(stream.gaps.total)}, {counted}"
    drawn.suptitle(
        f"{name}\n{schedule(timestep, budget)}{gaps}",
        fontsize=10,
        x=0.01,
        ha="left",
        parse_math=False,
    )
    axes = drawn.subplots(4, 1, height_ratios=(3, 2, 2, 2.4))
    _frame_times(axes[0], stream, bins, timestep, budget, stall_over)
    _steps(axes[1], bins, seen, budget)
    assert seen.longest is not None
    _alphas(axes[2], stream, timestep, budget, seen.longest)
    _histogram(axes[3], stream)
    axes[1].sharex(axes[0])
    return drawn


def _drawable(text: str) -> str:
    """The text with what the font has no shape for written as an escape."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    from .layout import printable

    shapes = get_font(findfont(FontProperties())).get_charmap()
    return "".join(
        c if ord(c) in shapes else c.encode("unicode_escape", "surrogatepass").decode()
        for c in printable(text)
    )


def _step_ms(timestep: Timestep | Rate) -> float:
    from ..time import scale_and_unit

    scale, unit = scale_and_unit(timestep)
    return unit / scale / 1e6


def _legend(axes: Any) -> None:
    """In one line above the axes, where it hides nothing."""
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=4,
        fontsize=8,
        frameon=False,
        borderpad=0,
        columnspacing=1.2,
        handlelength=1.6,
    )


def _frame_times(
    axes: Any,
    stream: Stream,
    bins: Sequence[Bin],
    timestep: Timestep | Rate,
    budget: StepBudget,
    stall_over: int,
) -> None:
    from ..captures.analysis import per_second

    step = _step_ms(timestep)
    edges = [*(bin.start / 1e9 for bin in bins), bins[-1].end / 1e9]
    longest = [bin.longest / 1e6 for bin in bins]
    top = max(*longest, step) * 1.25
    # A frame is as long as it is high: a line from point to point would show slopes.
    axes.fill_between(
        edges,
        [bin.shortest / 1e6 for bin in bins] + [bins[-1].shortest / 1e6],
        [*longest, longest[-1]],
        step="post",
        color=BLUE,
        alpha=0.45,
        linewidth=0,
    )
    axes.plot(
        edges,
        [*longest, longest[-1]],
        drawstyle="steps-post",
        color=BLUE,
        linewidth=0.9,
        label="frame time",
    )
    axes.axhline(step, color=GREEN, linewidth=1, linestyle="--", label=f"step, {step:.2f} ms")
    if step * budget.steps < top:
        label = f"budget, {step * budget.steps:.1f} ms"
        axes.axhline(step * budget.steps, color=VERMILION, linewidth=1, linestyle=":", label=label)
    stalls = [bin for bin in bins if bin.longest > stall_over]
    if stalls:
        axes.plot(
            [bin.longest_at / 1e9 for bin in stalls],
            [bin.longest / 1e6 for bin in stalls],
            "v",
            color=ORANGE,
            markeredgecolor="black",
            markersize=6,
            label=f"stall, over {stall_over / 1e6:g} ms",
        )
    width = max(edges[-1], 1e-9)
    named: list[float] = []
    for bin in sorted(stalls, key=lambda bin: -bin.longest):
        at = bin.longest_at / 1e9
        # A label beside another would be written over it; the longest of a cluster has one.
        if len(named) == _NAMED_STALLS or any(abs(at - other) < 0.12 * width for other in named):
            continue
        named.append(at)
        right = at > 0.85 * width
        axes.annotate(
            f"{bin.longest / 1e6:.0f} ms at {at:.2f} s",
            (at, bin.longest / 1e6),
            xytext=(-6 if right else 6, 4),
            ha="right" if right else "left",
            textcoords="offset points",
            fontsize=8,
        )
    rate = per_second(stream.frames, stream.total)
    title = f"{stream.frames} frames" + (f", {rate:.1f} a second" if rate is not None else "")
    axes.set(title=title, ylabel="ms", ylim=(0, top), xlim=(0, width))
    _legend(axes)


def _steps(axes: Any, bins: Sequence[Bin], seen: _Seen, budget: StepBudget) -> None:
    edges = [*(bin.start / 1e9 for bin in bins), bins[-1].end / 1e9]

    def band(low: list[int], high: list[int], **style: Any) -> None:
        axes.fill_between(
            edges, [*low, low[-1]], [*high, high[-1]], step="post", linewidth=0, **style
        )

    most = max(bin.most_due for bin in bins)
    ran = [bin.most_steps for bin in bins]
    fewest = [bin.fewest_steps for bin in bins]
    together = max(bin.frames for bin in bins)
    band([0] * len(bins), fewest, color=BLUE)
    if together > 1:
        band(fewest, ran, color=BLUE, alpha=0.45, label="steps run, lowest to highest")
    else:
        band(fewest, ran, color=BLUE, label="steps run")
    both = [bin for bin in bins if bin.dropped]
    if both:
        at = [(bin.start + bin.end) / 2e9 for bin in both]
        high = [bin.most_due for bin in both]
        axes.vlines(
            at,
            [bin.most_steps for bin in both],
            high,
            color=VERMILION,
            linewidth=2,
            label="dropped",
        )
        axes.plot(at, high, "x", color=VERMILION, markersize=5)
    begin, end = seen.pause
    axes.axvspan(
        begin / 1e9,
        end / 1e9,
        color=ORANGE,
        alpha=0.5,
        linewidth=0,
        zorder=0,
        label=f"longest without a step, {(end - begin) / 1e6:.1f} ms",
    )
    if budget.steps <= 1.3 * most:
        axes.axhline(
            budget.steps, color=GREY, linewidth=0.8, linestyle=":", label=f"budget, {budget.steps}"
        )
    across = "seconds"
    if together > 1:
        across += f"; each column is {together} frames, from the lowest to the highest"
    axes.set(
        title=f"{seen.steps} steps, {seen.dropped} dropped",
        ylabel="steps a frame",
        xlabel=across,
        ylim=(0, max(most, 1) * 1.1),
    )
    axes.yaxis.get_major_locator().set_params(integer=True)
    _legend(axes)


def _alphas(
    axes: Any, stream: Stream, timestep: Timestep | Rate, budget: StepBudget, longest: Frame
) -> None:
    from .series import frames

    # By time: a frame that took none has the same start as the next.
    before: list[Frame] = []
    after = 0
    for frame in frames(stream, timestep, budget):
        before.append(frame)
        if frame.start > longest.start:
            after += 1
            if after == _AROUND:
                break
        elif len(before) > _AROUND:
            del before[0]
    times = [(frame.start + frame.span) / 1e9 for frame in before]
    axes.plot(
        times, [frame.alpha for frame in before], "-o", color=BLUE, markersize=3, linewidth=0.8
    )
    axes.axvspan(
        longest.start / 1e9,
        (longest.start + longest.span) / 1e9,
        color=ORANGE,
        alpha=0.3,
        label=f"longest frame, {longest.span / 1e6:.1f} ms",
    )
    axes.set(
        title="Alpha around the longest frame",
        ylabel="alpha",
        xlabel="seconds",
        ylim=(0, 1),
    )
    _legend(axes)


def _histogram(axes: Any, stream: Stream) -> None:
    low, high, *marks = stream.percentiles((0, 100, 50, 99, "99.9"))
    bins = 80
    width = (high - low) // bins + 1
    counts = [0] * bins
    for block in stream.frame_time_blocks():
        for span in block:
            counts[(span - low) // width] += 1
    axes.bar(
        [(low + width * index) / 1e6 for index in range(bins)],
        counts,
        width=width / 1e6,
        align="edge",
        color=BLUE,
        label="frames",
    )
    styles = (("p50", GREEN, "-"), ("p99", ORANGE, "--"), ("p99.9", VERMILION, ":"))
    for (name, colour, style), mark in zip(styles, marks, strict=True):
        axes.axvline(
            mark / 1e6,
            color=colour,
            linestyle=style,
            linewidth=1.8,
            label=f"{name} {mark / 1e6:.2f} ms",
        )
    axes.set(
        title="Distribution of frame times",
        xlabel="ms",
        ylabel="frames (log)",
        yscale="log",
        ylim=(0.7, max(counts) * 1.6),
    )
    _legend(axes)
