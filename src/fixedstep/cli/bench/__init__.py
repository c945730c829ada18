"""``fixedstep bench``: how fast the library is on this machine, in under a minute.

Ratios, each measured in one run, beside what the project promises. The rows are those of the long
form, ``python bench/run.py`` in the source distribution, with less patience. Nothing is needed but
the library; other libraries are measured where they are installed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

#: Starts a fresh process for a row of the short form.
COMMAND = [sys.executable, "-m", "fixedstep.cli.bench.worker"]
#: The rows whose times are shown beside their ratios: what one frame costs.
FRAME_ROWS = "frame", "body"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "bench",
        allow_abbrev=False,
        help="measure the library on this machine, in under a minute",
        description="Measure the library on this machine, in under a minute.",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure every row and print the tables.

    Returns 1 if a row did other work than it should: its times are worth nothing then.
    """
    from .measure import SHORT, fresh
    from .rows import ROWS
    from .table import claims, machine, times
    from .workload import WrongWorkError

    print(machine(), flush=True)
    results = []
    for row in ROWS:
        print(f"measuring: {row.title}", file=sys.stderr, flush=True)
        try:
            results.append(fresh(COMMAND, row, SHORT))
        except WrongWorkError as error:
            arguments.code = 1
            print(f"fixedstep: {error}", file=sys.stderr)
            return 1
    for result in results:
        if result.row.name in FRAME_ROWS:
            print(f"\n{times(result)}")
    print(f"\n{claims(results)}")
    return 0
