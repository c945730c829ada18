"""``fixedstep analyze``: what this schedule would have done on the machine of a capture.

The frame times are real, the schedule is asked "what if": how many steps each frame would have
owed, how many the budget would have refused, how many frames would have had nothing to simulate.
Each stream of frames in the capture is planned by itself, from its own first row.
"""

from __future__ import annotations

from operator import add as plus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from ..captures import Capture, Group
    from ..time import Rate, StepBudget, Timestep


def report(
    group: Group, timestep: Timestep | Rate, budget: StepBudget, core: Any
) -> dict[str, Any]:
    """The figures of one group, by the names that ``--json`` prints them under.

    Spans are nanoseconds, except ``remainder``: 1/numerator of one for a Rate. A group of one row
    has no frame times; what would need one is None. ``core`` is the module whose types plan.
    """
    stats = core.FrameStats()
    plans = core.FrameLoop(timestep, budget).begin_frames(group.timestamps(), stats)
    figures: dict[str, Any] = {
        "application": group.application,
        "process_id": group.process_id,
        "swap_chain": group.swap_chain,
        "frames": group.frames,
        "sum_ns": group.total,
        "steps": stats.ticks,
        "dropped": stats.steps_dropped,
        "zero_step_frames": plans.step_count.tolist().count(0),
        "largest_due": max(map(plus, plans.step_count, plans.dropped), default=0),
        "remainder": plans.remainder[-1] if len(plans) else 0,
        "schedule_hash": f"0x{stats.schedule_hash:016x}",
    }
    for name, p in (("min", 0), ("p50", 50), ("p99", 99), ("p99.9", "99.9"), ("max", 100)):
        figures[f"{name}_ns"] = group.percentile(p) if group.frames else None
    figures["average_fps"] = round(group.frames * 10**9 / group.total, 4) if group.total else None
    figures["longest_stall"] = None
    if group.frames:
        frame = group.deltas.tolist().index(figures["max_ns"])
        figures["longest_stall"] = {
            "frame": frame,
            "start_ns": sum(group.deltas[:frame]),
            "length_ns": figures["max_ns"],
        }
    return figures


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    from .options import add_schedule

    parser = commands.add_parser(
        "analyze",
        allow_abbrev=False,
        help="what a schedule would have done on the machine of a PresentMon capture",
        description="Read real frame times (PresentMon CSV 1.x or 2.x, OCAT, CapFrameX CSV) and "
        "say what this schedule would have done on that machine.",
    )
    parser.add_argument("file", metavar="FILE", help="the capture")
    add_schedule(parser)
    parser.add_argument(
        "--exact",
        action="store_true",
        help="exactly N steps a second, instead of a step in whole nanoseconds",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def _remainder(figures: dict[str, Any], timestep: Timestep | Rate) -> str:
    from ..time import scale_and_unit
    from .layout import decimal, milliseconds

    scale, unit = scale_and_unit(timestep)
    share = decimal(100 * figures["remainder"], unit, 1)
    return f"{milliseconds(figures['remainder'] // scale)}, {share} % of a step"


def _text(figures: dict[str, Any], timestep: Timestep | Rate) -> str:
    from .layout import decimal, milliseconds, pairs, printable, seconds

    title = printable(
        f"{figures['application']}, process {figures['process_id']}, "
        f"swap chain {figures['swap_chain']}"
    )
    if not figures["frames"]:
        return f"{title}\n  one row only, so there is no frame time"
    total, stall = figures["sum_ns"], figures["longest_stall"]
    fps = f", {decimal(figures['frames'] * 10**9, total, 4)} a second" if total else ""
    rows = [
        ("frames", f"{figures['frames']} in {seconds(total)}{fps}"),
        ("steps", f"{figures['steps']}"),
        ("dropped", f"{figures['dropped']}"),
        ("zero-step frames", f"{figures['zero_step_frames']}"),
        ("largest due", f"{figures['largest_due']} in one frame"),
        ("remainder", _remainder(figures, timestep)),
        (
            "longest stall",
            f"{milliseconds(stall['length_ns'])}, from {seconds(stall['start_ns'])} on "
            f"(frame {stall['frame']})",
        ),
        *(
            (f"frame time {name}", milliseconds(figures[f"{name}_ns"]))
            for name in ("p50", "p99", "p99.9")
        ),
    ]
    return f"{title}\n{pairs(rows, indent='  ')}"


def _as_json(capture: Capture, groups: list[dict[str, Any]], schedule: dict[str, Any]) -> str:
    import json

    return json.dumps(
        {
            "format": capture.format,
            "rows": capture.rows,
            "warnings": capture.warnings,
            **schedule,
            "groups": groups,
        },
        indent=2,
    )


def run(arguments: argparse.Namespace) -> int:
    """Read, plan, print."""
    from .. import captures
    from ..backend import core
    from ..time import Rate, Timestep
    from .layout import printable, schedule

    capture = captures.read(arguments.file)
    exact, hz, budget = arguments.exact, arguments.hz, arguments.budget
    step = Timestep.from_hz(hz)
    timestep = Rate(hz) if exact else step
    groups = [report(group, timestep, budget, core) for group in capture.groups]
    if arguments.json:
        configured = {"rate": [hz, 1]} if exact else {"timestep": step.nanos}
        print(_as_json(capture, groups, {**configured, "budget": budget.steps}))
        return 0
    count = f"{len(groups)} swap chains" if len(groups) > 1 else "one swap chain"
    print(f"{printable(arguments.file)}: {capture.format}, {capture.rows} rows, {count}")
    print(f"schedule: {schedule(timestep, budget)}")
    for warning in capture.warnings:
        print(f"warning: {printable(warning)}")
    for figures in groups:
        print()
        print(_text(figures, timestep))
    return 0
