"""``fixedstep diff``: two recordings of ticks, and the first tick in which they part.

The other half of ``replay``: that one compares schedules, which are the library's, and this one
simulations, which are the game's, by the digests that the game took. It compares ticks by their
numbers and stops at the first difference, since every later one may only follow from it.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from ..sim.recording import Policies, Recording


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "diff",
        allow_abbrev=False,
        help="compare two recordings of ticks and name the first divergence",
        description="Compare two recordings of ticks, by tick number, and name the first tick, "
        "phase and field in which they differ. Exit code 0 if all ticks that both have are equal, "
        "1 for a divergence, 2 for files that cannot be compared.",
    )
    for name in ("first", "second"):
        parser.add_argument(
            name,
            metavar="FILE",
            help="a recording that `Session.record` wrote, packed with gzip or not",
        )
    parser.set_defaults(run=run)


def policy_differences(one: Policies, other: Policies) -> list[str]:
    """The policies that differ, which is where a divergence often comes from."""
    return [
        f"{name}: {first!r} and {second!r}"
        for name, first, second in zip(one._fields, one, other, strict=True)
        if _plain(first) != _plain(second)
    ]


def _plain(value: Any) -> Any:
    return dict(value) if hasattr(value, "keys") else value


def described(recording: Recording) -> str:
    """How long a recording is, and how it ended."""
    from .layout import printable

    start = recording.policies.first_tick
    ticks = f"{recording.ticks} ticks, from tick {start}" if recording.ticks else "no ticks"
    fault = recording.fault
    if fault is not None:
        ticks += f"; a fault ended it in tick {fault.tick}, {fault.phase.value}: {fault.error}"
    if recording.missing:
        ticks += f"; not whole: {recording.missing}"
    return printable(ticks)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print."""
    from ..captures.source import opened
    from ..sim.recording import Recording
    from ..sim.replay import compare, told
    from .layout import pairs, printable

    names = (arguments.first, arguments.second)
    # A recording is ASCII; whatever else is in a file becomes visible and is refused with its line.
    with opened(names[0]) as first, opened(names[1]) as second:
        one, other = (
            Recording(TextIOWrapper(source.binary, "ascii", "backslashreplace"), source.name)
            for source in (first, second)
        )
        found = compare(one, other)
    divergence = found.divergence
    if divergence is not None:
        arguments.code = 1
    elif not found.compared:
        arguments.code = 2
    print(pairs([("A", printable(names[0])), ("B", printable(names[1]))]))
    for line in policy_differences(one.policies, other.policies):
        print(f"configured differently: {printable(line)}")
    print()
    if divergence is not None:
        print(f"DIFFERENT: first divergence at tick {divergence.tick}")
        sides = told(divergence.first, divergence.second)
        rows = [
            ("phase", "not recorded" if divergence.phase is None else divergence.phase.value),
            ("field", divergence.field),
            *zip("AB", sides, strict=True),
        ]
        print(pairs([(name, printable(value)) for name, value in rows], indent="  "))
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
