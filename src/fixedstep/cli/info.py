"""``fixedstep info``: what is installed and what runs, in the words a bug report needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "info",
        allow_abbrev=False,
        help="version, core and why it was chosen, clock, compiler of the extension",
        description="What is installed and what runs.",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print it."""
    import platform
    import sys

    import fixedstep

    from ..host.monotonic import clock_description
    from .cores import native_core
    from .layout import pairs

    chosen = fixedstep.backend()
    module, why_not = native_core()
    built = {"extension": f"none: {why_not}"} if module is None else module.build_info()
    python = f"{platform.python_implementation()} {platform.python_version()} on {sys.platform}"
    rows = [
        ("version", fixedstep.__version__),
        ("core", chosen.name),
        ("reason", chosen.reason),
        ("Python", python),
        ("clock", clock_description()),
        *built.items(),
    ]
    print(pairs(rows))
    return 0
