"""A stream and its schedule as one picture, to be understood at a glance.

From top to bottom the questions in the order in which they are asked: how long did frames take and
where did it stall; how many steps did each run and how many were refused; what does alpha do around
the worst moment; how are frame times distributed. Colours are those of Okabe and Ito, which people
who see colours differently can tell apart, and nothing is told by colour alone: stalls have a mark
and their length, drops stand on top of the steps, thicker and with a cross.

matplotlib is imported when a picture is asked for, and drawn on without its global state.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..captures import Group
    from ..captures.series import Frame
    from ..time import Rate, StepBudget, Timestep

BLUE, ORANGE, VERMILION, GREEN, GREY = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#555555"

#: More frames than this are thinned: about two to each dot across.
_MOST_POINTS = 4000
#: Frames around the longest one in which alpha is shown.
_AROUND = 30
_NAMED_STALLS = 3
_WRITTEN = ("png", "svg", "pdf")


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


def draw(
    path: str, group: Group, timestep: Timestep | Rate, budget: StepBudget, stall_over: int
) -> None:
    """Write the picture of a group with at least one frame; its format is that of the name."""
    import matplotlib
    from matplotlib.figure import Figure

    from ..captures.series import frames, thinned
    from .layout import printable, schedule

    totals: Counter[str] = Counter()

    def counted() -> Iterator[Frame]:
        for frame in frames(group, timestep, budget):
            totals["steps"] += frame.steps
            totals["dropped"] += frame.dropped
            yield frame

    kept = thinned(counted(), group.frames, _MOST_POINTS)
    longest = max(kept, key=lambda frame: frame.span)
    # The same file for the same figures: no date, no random names.
    with matplotlib.rc_context(
        {
            "svg.hashsalt": "fixedstep",
            "svg.fonttype": "path",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlelocation": "left",
            "axes.titlesize": 10,
            "axes.titleweight": "bold",
        }
    ):
        figure = Figure(figsize=(9, 10), layout="constrained")
        # What a file calls its process is no formula and no command, and may be any length.
        name = printable(group.title)
        name = name if len(name) <= 120 else f"{name[:117]}..."
        figure.suptitle(
            f"{name}\n{schedule(timestep, budget)}",
            fontsize=10,
            x=0.01,
            ha="left",
            parse_math=False,
        )
        axes = figure.subplots(4, 1, height_ratios=(3, 2, 2, 2.4))
        _frame_times(axes[0], group, kept, timestep, budget, stall_over)
        _steps(axes[1], kept, totals, group.frames, budget)
        _alphas(axes[2], group, timestep, budget, longest)
        _histogram(axes[3], group)
        axes[1].sharex(axes[0])
        dateless: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        kind = path.rpartition(".")[2].lower()
        figure.savefig(path, dpi=110, format=kind, metadata=dateless.get(kind))


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
    group: Group,
    kept: Sequence[Frame],
    timestep: Timestep | Rate,
    budget: StepBudget,
    stall_over: int,
) -> None:
    from ..captures.analysis import per_second

    step = _step_ms(timestep)
    times = [frame.start / 1e9 for frame in kept]
    spans = [frame.span / 1e6 for frame in kept]
    top = max(*spans, step) * 1.25
    # A frame is as long as it is high: a line from point to point would show slopes.
    end = (kept[-1].start + kept[-1].span) / 1e9
    axes.plot(
        [*times, end],
        [*spans, spans[-1]],
        drawstyle="steps-post",
        color=BLUE,
        linewidth=0.9,
        label="frame time",
    )
    axes.axhline(step, color=GREEN, linewidth=1, linestyle="--", label=f"step, {step:.2f} ms")
    if step * budget.steps < top:
        label = f"budget, {step * budget.steps:.1f} ms"
        axes.axhline(step * budget.steps, color=VERMILION, linewidth=1, linestyle=":", label=label)
    stalls = [frame for frame in kept if frame.span > stall_over]
    if stalls:
        axes.plot(
            [frame.start / 1e9 for frame in stalls],
            [frame.span / 1e6 for frame in stalls],
            "v",
            color=ORANGE,
            markeredgecolor="black",
            markersize=6,
            label=f"stall, over {stall_over / 1e6:g} ms",
        )
    width = max(end, 1e-9)
    named: list[float] = []
    for frame in sorted(stalls, key=lambda frame: -frame.span):
        at = frame.start / 1e9
        # A label beside another would be written over it; the longest of a cluster has one.
        if len(named) == _NAMED_STALLS or any(abs(at - other) < 0.12 * width for other in named):
            continue
        named.append(at)
        right = at > 0.85 * width
        axes.annotate(
            f"{frame.span / 1e6:.0f} ms at {at:.2f} s",
            (at, frame.span / 1e6),
            xytext=(-6 if right else 6, 4),
            ha="right" if right else "left",
            textcoords="offset points",
            fontsize=8,
        )
    rate = per_second(group.frames, group.total)
    title = f"{group.frames} frames" + (f", {rate:.1f} a second" if rate is not None else "")
    axes.set(title=title, ylabel="ms", ylim=(0, top), xlim=(0, width))
    _legend(axes)


def _steps(
    axes: Any, kept: Sequence[Frame], totals: Counter[str], count: int, budget: StepBudget
) -> None:
    times = [frame.start / 1e9 for frame in kept]
    steps = [frame.steps for frame in kept]
    dropped = [frame.dropped for frame in kept]
    most = max(map(sum, zip(steps, dropped, strict=True)))
    axes.vlines(times, 0, steps, color=BLUE, linewidth=1, label="steps run")
    both = [frame for frame in kept if frame.dropped]
    if both:
        at = [frame.start / 1e9 for frame in both]
        high = [frame.steps + frame.dropped for frame in both]
        axes.vlines(
            at, [f.steps for f in both], high, color=VERMILION, linewidth=2.5, label="dropped"
        )
        axes.plot(at, high, "x", color=VERMILION, markersize=5)
    if budget.steps <= 1.3 * most:
        axes.axhline(
            budget.steps, color=GREY, linewidth=0.8, linestyle=":", label=f"budget, {budget.steps}"
        )
    across = "seconds"
    if len(kept) < count:
        across += f"; of every {-(-count // _MOST_POINTS)} frames the most extreme"
    axes.set(
        title=f"{totals['steps']} steps, {totals['dropped']} dropped",
        ylabel="steps",
        xlabel=across,
        ylim=(0, max(most, 1) * 1.1),
    )
    axes.yaxis.get_major_locator().set_params(integer=True)
    _legend(axes)


def _alphas(
    axes: Any, group: Group, timestep: Timestep | Rate, budget: StepBudget, longest: Frame
) -> None:
    from ..captures.series import frames

    # By time and not by number: the frame was found among thinned ones.
    before: list[Frame] = []
    after = 0
    for frame in frames(group, timestep, budget):
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


def _histogram(axes: Any, group: Group) -> None:
    low, high, *marks = group.percentiles((0, 100, 50, 99, "99.9"))
    bins = 80
    width = (high - low) // bins + 1
    counts = [0] * bins
    for block in group.spans.blocks():
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
