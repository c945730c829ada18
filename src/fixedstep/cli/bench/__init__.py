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
    """Measure every row and print the table."""
    from .measure import SHORT, fresh
    from .rows import ROWS
    from .table import claims, machine

    print(machine(), flush=True)
    results = []
    for row in ROWS:
        print(f"measuring: {row.title}", file=sys.stderr, flush=True)
        results.append(fresh(COMMAND, row, SHORT))
    print(f"\n{claims(results)}")
    return 0
