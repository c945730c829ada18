"""``fixedstep diff``: compare two recordings of ticks, and name the first tick that differs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..records import Recording, RecordingHeader
    from ..records.compare import Divergence


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "diff",
        allow_abbrev=False,
        help="compare two recordings of ticks and name the first divergence",
        description="Compare two recordings of ticks, by tick number, and name the first tick, "
        "phase and digest in which they differ. Exit code 0 if all ticks that both have are equal, "
        "1 for a divergence, 2 for files that cannot be compared. For traces of frames, use "
        "`fixedstep verify`.",
    )
    for name in ("first", "second"):
        parser.add_argument(
            name,
            metavar="RECORDING",
            help="a recording that a Recorder wrote, packed with gzip or not",
        )
    parser.set_defaults(run=run)


def header_differences(one: RecordingHeader, other: RecordingHeader) -> list[str]:
    """What differs in the headers, which is where a divergence often comes from."""
    return [
        f"{name.replace('_', ' ')}: {first!r} and {second!r}"
        for name, first, second in zip(one._fields, one, other, strict=True)
        if first != second
    ]


def described(recording: Recording) -> str:
    """How long a recording is, and how it ended."""
    from .layout import printable

    start = recording.header.first_tick
    text = f"{recording.ticks} ticks, from tick {start}" if recording.ticks else "no ticks"
    fault = recording.fault
    if fault is not None:
        where = f", {fault.phase}" if fault.phase else ""
        text += f"; a fault ended it in tick {fault.tick}{where}: {fault.error}"
    elif recording.reason not in ("", "closed"):
        text += f"; it ended early: {recording.reason}"
    if recording.missing:
        text += f"; not whole: {recording.missing}"
    return printable(text)


def different(divergence: Divergence, names: Sequence[str]) -> str:
    """Where two runs of ticks differ first, and what each of them has there."""
    from ..records.compare import format_sides
    from .layout import pairs, printable

    sides = format_sides(divergence.first, divergence.second)
    rows = [
        *([("phase", divergence.phase)] if divergence.phase else []),
        ("field", divergence.field),
        *zip(names, sides, strict=True),
    ]
    found = pairs([(name, printable(value)) for name, value in rows], indent="  ")
    return f"DIFFERENT: first divergence at tick {divergence.tick}\n{found}"


def run(arguments: argparse.Namespace) -> int:
    """Compare, print."""
    from ..captures.source import opened
    from ..records import Recording, compare
    from .layout import pairs, printable

    names = (arguments.first, arguments.second)
    with opened(names[0]) as first, opened(names[1]) as second:
        one, other = (Recording(source.binary, source.name) for source in (first, second))
        found = compare(one, other)
    divergence = found.divergence
    if divergence is not None:
        arguments.code = 1
    elif not found.compared:
        arguments.code = 2
    print(pairs([("A", printable(names[0])), ("B", printable(names[1]))]))
    for line in header_differences(one.header, other.header):
        print(f"different headers: {printable(line)[:400]}")
    print()
    if divergence is not None:
        print(different(divergence, "AB"))
        return 1
    print(pairs([("A", described(one)), ("B", described(other))]))
    print()
    if not found.compared:
        print("fixedstep: no tick is in both files, so nothing was compared", file=sys.stderr)
        return 2
    only = f"; only in A: {found.only_first}, only in B: {found.only_second}"
    longer = only if found.only_first or found.only_second else ""
    print(f"EQUAL: {found.compared} ticks compared{longer}")
    return 0
