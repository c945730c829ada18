"""The command line of the demo: without a window or in one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fixedstep.records import Recorder

from .host import NOTES, Host, play
from .level import LEVELS
from .world import state_hash


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="world_demo", description="A player, a guard and an exit, on a fixedstep session."
    )
    parser.add_argument("--ticks", type=int, metavar="N", help="run N ticks without a window")
    parser.add_argument(
        "--axis", type=int, default=500, metavar="N", help="the stick, in thousandths (default 500)"
    )
    parser.add_argument("--level", choices=LEVELS, default="yard", help="default yard")
    parser.add_argument("--record", type=Path, metavar="FILE", help="record the headless run")
    return parser


def headless(arguments: argparse.Namespace) -> int:
    """Play the script; 1 if a tick failed."""
    host = Host(LEVELS[arguments.level])
    session = host.session
    if arguments.record is None:
        effects = play(host, arguments.ticks, arguments.axis)
    else:
        notes = {"level": arguments.level, **NOTES}
        with Recorder(arguments.record, session, notes=notes, phases=True):
            effects = play(host, arguments.ticks, arguments.axis)
    if (fault := session.fault) is not None:
        print(f"tick {fault.tick} failed in {fault.phase}: {fault.error!r}", file=sys.stderr)
        return 1
    world = session.world
    for record in effects:
        print(f"tick {record.tick:4}  {record.kind}")
    for name, digest in world.digests().items():
        print(f"{name:8}  0x{digest.finish():016x}")
    print(f"state hash after {session.tick} ticks: 0x{state_hash(world):016x}")
    return 0


def main() -> int:
    """Run as asked; the exit code."""
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.ticks is not None:
        if arguments.ticks < 0 or not -1_000 <= arguments.axis <= 1_000:
            parser.error("--ticks must be 0 or more, --axis within -1000 .. 1000")
        return headless(arguments)
    try:
        from . import window
    except ImportError as error:
        if error.name != "pygame":
            raise
        print(
            "world_demo: the window needs pygame-ce: pip install pygame-ce\n"
            "            without it: python examples/world_demo --ticks 120",
            file=sys.stderr,
        )
        return 2
    window.run(LEVELS[arguments.level])
    return 0
