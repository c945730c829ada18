"""``fixedstep analyze``: what this schedule would have done on the machines of these captures.

The frame times are real, the schedule is asked "what if": how many steps each frame would have
owed, how many the budget would have refused, how many frames would have had nothing to simulate.
Each stream of frames in a capture is planned by itself, from its own first row. The figures come
from `fixedstep.captures.analyze`; here they are asked for and shown.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..captures import AnalysisSettings
    from ..time import Rate, StepBudget, Timestep
    from .layout import Page

#: What ``--json`` prints says itself what it is. A key may be added; one that goes, or comes to
#: mean something else, is another version.
FORMAT = "fixedstep-analysis"
VERSION = 1

_MOST_SCHEDULES = 1000

_DEFINITIONS = """
definitions:
  frame time       from one frame to the next; the first row of a stream is its origin
  steps, dropped   what the budget allowed and what it refused; together they are all whole steps
                   that the frame times hold
  average          frames / time, over the whole; never a mean of frames-per-second
  percentiles      nearest rank: the frame time that so many per cent of the frames do not exceed
  1 % low          frames a second of the longest 1 % of the frames, together: their number (the
                   next whole one, at least 1) / the time they took; 0.1 % low likewise
  stall            a frame longer than --stall-over
  alpha            where a frame lies between two steps; in tenths of a step, per cent of the frames
  resync           with --resync-over, frames longer than that are given to resync() first, so
                   that their time is not simulated
  gap              a place where rows are missing: the file's own clock moved on by more than the
                   frame time. By default that time counts in the frame that it interrupted

A file is a PresentMon, OCAT, FrameView or CapFrameX CSV, CapFrameX JSON, MangoHud, FRAPS or Unreal
CSV, Android framestats, a Chrome trace in JSON, a trace of fixedstep, or, with --unit, any column
of numbers; packed with gzip or not; - is the standard input. The format is told by the content.
Several files are a line each and a total; --details prints all figures of each.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    from .options import add_schedule

    parser = commands.add_parser(
        "analyze",
        allow_abbrev=False,
        help="what a schedule would have done on the machines of these captures",
        description="Read real frame times and say what a schedule would have done on that "
        "machine. Exit code 2 if any file could not be read; the others are analyzed all the same.",
        epilog=_DEFINITIONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", metavar="FILE", nargs="*", help="captures, or folders of them")
    add_schedule(parser)
    parser.add_argument(
        "--exact",
        action="store_true",
        help="exactly N steps a second, as FrameLoop(Rate(N)), instead of steps of a whole number "
        "of nanoseconds, as FrameLoop(Timestep.from_hz(N))",
    )
    parser.add_argument(
        "--sweep",
        nargs="+",
        metavar="hz=|budget=",
        help="many schedules in one table: hz=30,60,120 budget=1..8",
    )
    for name, what in (
        ("--resync-over", "also plan with a resync at frames longer than this"),
        ("--stall-over", "frames longer than this are stalls (default 50)"),
    ):
        parser.add_argument(name, type=_milliseconds, metavar="MS", help=what)
    parser.add_argument(
        "--unit", choices=("s", "ms", "us", "ns"), help="the files are columns of numbers, in this"
    )
    parser.add_argument(
        "--column", metavar="NAME", help="with --unit: the column of a table that holds the numbers"
    )
    parser.add_argument(
        "--stamps",
        action="store_true",
        help="with --unit: the numbers are the times at which frames came, not how long they took",
    )
    parser.add_argument(
        "--gaps",
        choices=("count", "skip"),
        default="count",
        help="time without rows counts as part of a frame (default), or is left out",
    )
    parser.add_argument(
        "--process", metavar="NAME", help="only this program or process number of each file"
    )
    parser.add_argument(
        "--stream", metavar="TEXT", help="only streams with this text in their names"
    )
    for name, what in (
        ("--plot", "draw the main stream: a .png, .svg or .pdf file"),
        ("--trace", "write all streams as a Chrome trace, for the Perfetto viewer"),
    ):
        parser.add_argument(name, metavar="OUT", help=f"{what}; needs one FILE and one schedule")
    parser.add_argument("--jobs", type=_jobs, metavar="N", help="processes to read files with")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--details", action="store_true", help="print all figures of each of several files"
    )
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument(
        "--csv", action="store_true", help="print CSV, a line for each stream and schedule"
    )
    parser.set_defaults(run=run, refuse=parser.error)


def _milliseconds(text: str) -> int:
    from ..captures.decimal_text import nanoseconds

    try:
        return nanoseconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} {error}") from None


def _jobs(text: str) -> int:
    from .options import whole

    jobs = whole(text, "jobs", "processes")
    if not 1 <= jobs <= 64:
        raise argparse.ArgumentTypeError(f"jobs must be 1 .. 64 processes, not {jobs}")
    return jobs


def _numbers(text: str) -> Iterator[int]:
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,10})(?:\.\.([0-9]{1,10}))?", part)
        if not match:
            raise ValueError(f"{part[:40]!r} is neither a whole number nor a range such as 1..8")
        first = int(match[1])
        last = int(match[2] or match[1])
        if not 0 <= last - first < _MOST_SCHEDULES:
            raise ValueError(f"{part!r} is empty or longer than {_MOST_SCHEDULES}")
        yield from range(first, last + 1)


def _parse_sweep(words: Sequence[str]) -> tuple[dict[str, list[int]], list[str]]:
    """What ``--sweep`` says, and what it took from the files that stood behind it."""
    found: dict[str, list[int]] = {}
    files = []
    for word in words:
        name, equals, numbers = word.partition("=")
        if not equals or name not in ("hz", "budget"):
            files.append(word)
        elif name in found:
            raise ValueError(f"{name} is there twice; give its numbers as {name}=1,2,3")
        else:
            found[name] = list(_numbers(numbers))
    if not found:
        odd = next((f" ({word!r} is neither)" for word in words if "=" in word), "")
        raise ValueError(f"what to sweep is missing: hz=30,60,120 or budget=1..8 or both{odd}")
    return found, files


def _parse_settings(arguments: argparse.Namespace) -> tuple[AnalysisSettings, list[str]]:
    """The settings and the files."""
    from ..captures import AnalysisSettings
    from ..time import Rate, StepBudget, Timestep

    files = list(arguments.files)
    hertz, budgets = [arguments.hz], [arguments.budget]
    try:
        if arguments.sweep is not None:
            swept, more = _parse_sweep(arguments.sweep)
            files += more
            hertz = swept.get("hz", hertz)
            if "budget" in swept:
                budgets = [StepBudget(steps) for steps in swept["budget"]]
        timesteps: list[Timestep | Rate] = [
            Rate(hz) if arguments.exact else Timestep.from_hz(hz) for hz in hertz
        ]
        if len(timesteps) * len(budgets) > _MOST_SCHEDULES:
            raise ValueError(
                f"{len(timesteps) * len(budgets)} schedules are more than {_MOST_SCHEDULES}"
            )
    except (ValueError, OverflowError) as error:
        arguments.refuse(f"argument --sweep: {error}")
    if not files:
        arguments.refuse("the following arguments are required: FILE")
    if arguments.unit is None and (arguments.column is not None or arguments.stamps):
        arguments.refuse("--column and --stamps need --unit: s, ms, us or ns")
    more_settings = {}
    if arguments.stall_over is not None:
        more_settings["stall_over"] = arguments.stall_over
    settings = AnalysisSettings(
        timesteps=tuple(timesteps),
        budgets=tuple(budgets),
        resync_over=arguments.resync_over,
        unit=arguments.unit,
        column=arguments.column,
        stamps=arguments.stamps,
        process=arguments.process,
        stream=arguments.stream,
        gaps=arguments.gaps,
        **more_settings,
    )
    return settings, files


def run(arguments: argparse.Namespace) -> int:
    """Read, plan, print."""
    import sys

    from .fleet import analyze_all, files_in
    from .layout import printable

    settings, paths = _parse_settings(arguments)
    files, unlisted = files_in(paths)
    if arguments.plot is not None or arguments.trace is not None:
        _check_pictures(arguments, settings, files)
    results = analyze_all(files, settings, arguments.jobs) + unlisted
    skipped = [result for result in results if "summary" in result and result["path"] not in paths]
    results = [result for result in results if result not in skipped]
    failed = [result for result in results if "error" in result]
    arguments.code = 2 if failed or not results else 0
    if not failed and (arguments.plot is not None or arguments.trace is not None):
        _pictures(arguments, settings, files[0])  # first: who reads the text may stop reading
    try:
        _show(arguments, settings, results)
    finally:  # who reads the figures and has seen enough may still want the errors
        for result in skipped:
            print(f"fixedstep: skipped: {printable(result['error'])}", file=sys.stderr)
        for result in failed:
            print(f"fixedstep: {printable(result['error'])}", file=sys.stderr)
        if arguments.csv or _is_fleet(arguments, results):
            for result in results:
                for warning in result.get("warnings", ()):
                    text = printable(f"{result['path']}: {warning}")
                    print(f"fixedstep: warning: {text}", file=sys.stderr)
        if not results:
            print("fixedstep: there is no capture, only summaries", file=sys.stderr)
    code: int = arguments.code
    return code


def _is_fleet(arguments: argparse.Namespace, results: list[dict[str, Any]]) -> bool:
    """Whether a line a capture is printed, and not all figures of each."""
    return len(results) > 1 and not (arguments.json or arguments.csv or arguments.details)


def _show(
    arguments: argparse.Namespace, settings: AnalysisSettings, results: list[dict[str, Any]]
) -> None:
    """Print the figures, in the form that was asked for."""
    good = [result for result in results if "error" not in result]
    if arguments.json or arguments.csv:
        if good or len(results) > 1:
            (_print_json if arguments.json else _print_csv)(results)
        return
    if good and _is_fleet(arguments, results):
        _fleet_page(good, settings).show()
        return
    for index, result in enumerate(good):
        if index:
            print()
        _page(result, settings).show()


def _check_pictures(
    arguments: argparse.Namespace, settings: AnalysisSettings, files: Sequence[str]
) -> None:
    """Refuse what could not be drawn before anything is read."""
    from ..captures.source import STANDARD_INPUT
    from .picture import PictureError, check

    if len(files) != 1 or len(settings.timesteps) * len(settings.budgets) != 1:
        arguments.refuse("--plot and --trace need one FILE and one schedule")
    if files[0] == STANDARD_INPUT or (os.path.exists(files[0]) and not os.path.isfile(files[0])):
        arguments.refuse(
            "--plot and --trace read the file again, so it cannot be standard input or a pipe"
        )
    for name, out in (("--plot", arguments.plot), ("--trace", arguments.trace)):
        # By what they are and not by name: a link leads to the same file.
        if out is None or not (os.path.exists(out) and os.path.exists(files[0])):
            continue
        if os.path.samefile(out, files[0]):
            arguments.refuse(
                f"{name} {out} is the capture itself, and would be written over; name another file"
            )
    outputs = [out for out in (arguments.plot, arguments.trace) if out is not None]
    if len(set(map(os.path.realpath, outputs))) < len(outputs):
        arguments.refuse(f"--plot and --trace would both write {arguments.plot}; name two files")
    if arguments.plot is not None:
        try:
            check(arguments.plot)
        except PictureError as error:
            arguments.refuse(str(error))


def _pictures(arguments: argparse.Namespace, settings: AnalysisSettings, file: str) -> None:
    from .. import captures
    from ..captures.analysis import chosen, main_stream
    from . import chrome_writer
    from .picture import draw

    capture = captures.read(
        file, settings.unit, column=settings.column, stamps=settings.stamps, gaps=settings.gaps
    )
    streams = chosen(capture, settings)
    timestep, budget = settings.timesteps[0], settings.budgets[0]
    if arguments.trace is not None:
        with _beside(arguments.trace) as path, open(path, "w", encoding="utf-8") as out:
            chrome_writer.write(out, streams, timestep, budget, settings.stall_over)
    if arguments.plot is not None:
        stream = main_stream(streams)
        if not stream.frames:
            raise captures.CaptureError(f"{file}: has no frame times, so there is nothing to draw")
        with _beside(arguments.plot) as path:
            kind = arguments.plot.rpartition(".")[2].lower()
            draw(path, kind, stream, timestep, budget, settings.stall_over)


@contextmanager
def _beside(path: str) -> Iterator[str]:
    """A file to write to, which takes the place of ``path`` when it is whole. Whatever fails before
    leaves what was at ``path`` as it was, and errors name ``path``."""
    import tempfile

    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    if os.path.exists(target) and not os.path.isfile(target):
        yield path  # a pipe or a device, which nothing can take the place of
        return
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{name[:60]}.", dir=folder)
        os.close(handle)
        try:
            yield beside
            mask = os.umask(0)
            os.umask(mask)
            mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666 & ~mask
            os.chmod(beside, mode)
            os.replace(beside, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), path) from None


def _print_json(results: list[dict[str, Any]]) -> None:
    import json

    print(json.dumps({"format": FORMAT, "version": VERSION, "files": results}, indent=2))


_STREAM = ("application", "process_id", "name", "frames", "sum_ns", "average_fps")
_SPANS = ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p99.9_ns", "max_ns")
_LOWS = ("low_1_fps", "low_0.1_fps")
_PLAN = ("steps", "dropped", "zero_step_frames", "largest_due", "remainder")
_RESYNC = ("frames", "skipped_ns", "steps", "dropped")


def _print_csv(results: list[dict[str, Any]]) -> None:
    import csv
    import sys

    from .layout import printable

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        text = printable(value)
        # A spreadsheet takes what begins like this for a formula, and may run it.
        return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text

    writer = csv.writer(sys.stdout, lineterminator="\n")
    resyncs = [f"resync_{name}" for name in _RESYNC]
    names = ["path", "format", *("stream" if name == "name" else name for name in _STREAM)]
    names += [*_SPANS, *_LOWS, "stalls", "stalls_ns", "gaps", "gaps_ns", "timestep_ns"]
    writer.writerow([*names, "rate", "budget", *_PLAN, *resyncs, "warnings", "error"])
    for result in results:
        if "error" in result:
            blanks = [""] * (len(_STREAM + _SPANS + _LOWS + _PLAN + _RESYNC) + 9)
            writer.writerow([cell(result["path"]), *blanks, cell(result["error"])])
            continue
        warnings = "; ".join(result["warnings"])
        for figures in result["streams"]:
            stalls, gaps = figures["stalls"], figures["gaps"]
            for plan in figures["schedules"]:
                rate = "/".join(map(str, plan["rate"])) if "rate" in plan else ""
                resync = plan.get("resync", {})
                row = [result["path"], result["format"]]
                row += [figures[name] for name in _STREAM + _SPANS + _LOWS]
                row += [stalls["count"], stalls["sum_ns"], gaps["count"], gaps["sum_ns"]]
                row += [plan.get("timestep", ""), rate]
                row += [plan["budget"], *(plan[name] for name in _PLAN)]
                row += [*(resync.get(name, "") for name in _RESYNC), warnings, ""]
                writer.writerow(map(cell, row))


def _fleet_page(results: list[dict[str, Any]], settings: AnalysisSettings) -> Page:
    """A line for the main stream of each capture, and a total of all of them."""
    from .layout import Page, decimal, schedule

    page = Page()
    if len(settings.timesteps) * len(settings.budgets) == 1:
        page.line(f"schedule: {schedule(settings.timesteps[0], settings.budgets[0])}")
    else:
        page.line("the steps of the first schedule; --details has them all")
    page.line("the main stream of each capture; --details has them all")
    page.line()
    names = ["capture", "stream", "streams", "frames", "seconds", "average", "p99 ms", "longest ms"]
    rows = [[*names, "stalls", "gaps", "steps", "dropped"]]
    totals = Counter[str]()
    for result in results:
        streams = result["streams"]
        figures = max(streams, key=lambda one: (not one["background"], one["frames"]))
        plan = figures["schedules"][0]
        counts = {
            "streams": len(streams),
            "frames": figures["frames"],
            "sum_ns": figures["sum_ns"],
            "stalls": figures["stalls"]["count"],
            "gaps": figures["gaps"]["count"],
            "steps": plan["steps"],
            "dropped": plan["dropped"],
        }
        totals.update(counts)
        average = figures["average_fps"]
        lengths = [figures["p99_ns"], figures["max_ns"]]
        rows.append(
            [
                _ending(result["path"], 40),
                _ending(figures["application"] or title(figures), 24),
                f"{counts['streams']}",
                f"{counts['frames']}",
                decimal(counts["sum_ns"], 10**9, 3),
                "-" if average is None else f"{average:.1f}",
                *("-" if length is None else decimal(length, 10**6, 2) for length in lengths),
                *(f"{counts[name]}" for name in ("stalls", "gaps", "steps", "dropped")),
            ]
        )
    rows.append(
        [
            f"total of {len(results)}",
            "",
            f"{totals['streams']}",
            f"{totals['frames']}",
            decimal(totals["sum_ns"], 10**9, 3),
            *("" for _ in range(3)),
            *(f"{totals[name]}" for name in ("stalls", "gaps", "steps", "dropped")),
        ]
    )
    page.table(rows, left=2)
    return page


def _ending(text: str, most: int) -> str:
    """The end of a long name, which tells files of a folder apart."""
    return text if len(text) <= most else "..." + text[3 - most :]


def _page(result: dict[str, Any], settings: AnalysisSettings) -> Page:
    from .layout import Page, schedule

    page = Page()
    streams = result["streams"]
    count = "one stream" if len(streams) == 1 else f"{len(streams)} streams"
    page.line(f"{result['path']}: {result['format']}, {result['rows']} rows, {count} of frames")
    configured = [(step, budget) for step in settings.timesteps for budget in settings.budgets]
    if len(configured) == 1:
        page.line(f"schedule: {schedule(*configured[0])}")
    for warning in result["warnings"]:
        page.warning(warning)
    for figures in streams:
        page.heading(title(figures))
        if not figures["frames"]:
            page.line("  one row only, so there is no frame time")
            continue
        rows = _frame_rows(figures)
        if len(configured) == 1:
            page.pairs(rows + _schedule_rows(figures["schedules"][0], *configured[0]))
        else:
            page.pairs(rows)
            page.line()
            page.table(_sweep_rows(figures["schedules"], configured), left=0)
    return page


def title(figures: dict[str, Any]) -> str:
    """The stream that the figures are of, by its names."""
    from ..captures import Stream

    names = figures["application"], figures["process_id"], figures["name"]
    return Stream(*names, []).title


def _frame_rows(figures: dict[str, Any]) -> list[tuple[str, str]]:
    from .layout import milliseconds, seconds

    def rate(value: float | None) -> str:
        return "none: the frames took no time" if value is None else f"{value:.4f} a second"

    stalls = figures["stalls"]
    over = milliseconds(stalls["over_ns"])
    rows = [
        ("frames", f"{figures['frames']} in {seconds(figures['sum_ns'])}"),
        ("average", rate(figures["average_fps"])),
        ("1 % low", rate(figures["low_1_fps"])),
        ("0.1 % low", rate(figures["low_0.1_fps"])),
        *(
            (f"frame time {name}", milliseconds(figures[f"{key}_ns"]))
            for name, key in (
                ("p50", "p50"),
                ("p90", "p90"),
                ("p99", "p99"),
                ("p99.9", "p99.9"),
                ("longest", "max"),
            )
        ),
        ("stalls", f"{stalls['count']} over {over}, {seconds(stalls['sum_ns'])} together"),
    ]
    rows += [
        (
            "",
            f"{milliseconds(stall['length_ns'])}, from {seconds(stall['start_ns'])} on "
            f"(frame {stall['frame']})",
        )
        for stall in stalls["longest"]
    ]
    gaps = figures["gaps"]
    if gaps["count"]:
        done = "counted" if gaps["counted"] else "left out"
        rows.append(("gaps", f"{gaps['count']}, {seconds(gaps['sum_ns'])} together, {done}"))
        rows += [
            (
                "",
                f"{milliseconds(gap['length_ns'])}, at {seconds(gap['start_ns'])} of its clock"
                + (f" (line {gap['line']})" if gap["line"] is not None else ""),
            )
            for gap in gaps["longest"]
        ]
    return rows


def _remainder(remainder: int, timestep: Timestep | Rate) -> str:
    from ..time import scale_and_unit
    from .layout import decimal, milliseconds

    scale, unit = scale_and_unit(timestep)
    share = decimal(100 * remainder, unit, 1)
    return f"{milliseconds(remainder // scale)}, {share} % of a step"


def _schedule_rows(
    plan: dict[str, Any], timestep: Timestep | Rate, budget: StepBudget
) -> list[tuple[str, str]]:
    from .layout import decimal, seconds

    frames = sum(plan["alpha_tenths"])
    shares = (decimal(100 * count, frames, 0) for count in plan["alpha_tenths"])
    rows = [
        ("steps", f"{plan['steps']}"),
        ("dropped", f"{plan['dropped']}"),
        ("zero-step frames", f"{plan['zero_step_frames']}"),
        ("largest due", f"{plan['largest_due']} in one frame"),
        ("remainder", _remainder(plan["remainder"], timestep)),
        ("alpha, by tenths", f"{' '.join(shares)} % of the frames"),
    ]
    if "resync" in plan:
        resync = plan["resync"]
        rows += [
            ("with resync", f"{resync['frames']} frames, {seconds(resync['skipped_ns'])} skipped"),
            ("", f"{resync['steps']} steps, {resync['dropped']} dropped"),
        ]
    return rows


def _sweep_rows(
    plans: list[dict[str, Any]], configured: list[tuple[Timestep | Rate, StepBudget]]
) -> list[list[str]]:
    from ..time import Rate
    from .layout import decimal

    names = ["hz", "budget", "steps", "dropped", "dropped %", "zero-step", "largest due"]
    resynced = "resync" in plans[0]
    rows = [names + ["resyncs", "dropped then"] * resynced]
    for plan, (timestep, budget) in zip(plans, configured, strict=True):
        if isinstance(timestep, Rate):
            hz = f"{timestep.numerator}"
        else:
            hz = decimal(10**9, timestep.nanos, 0)
        whole = plan["steps"] + plan["dropped"]
        share = decimal(100 * plan["dropped"], whole, 2) if whole else "-"
        row = [hz, f"{budget.steps}", f"{plan['steps']}", f"{plan['dropped']}", share]
        row += [f"{plan['zero_step_frames']}", f"{plan['largest_due']}"]
        if resynced:
            row += [f"{plan['resync']['frames']}", f"{plan['resync']['dropped']}"]
        rows.append(row)
    return rows
