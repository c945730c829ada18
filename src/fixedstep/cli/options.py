"""The options that several commands have, and how their text becomes a number.

The library's own types check every range, so an option cannot accept what a program could not use;
this file only turns text into an integer. Nothing is rounded and nothing is clamped.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..time import StepBudget, Timestep

if TYPE_CHECKING:
    from collections.abc import Callable


def whole(text: str, name: str, unit: str) -> int:
    """An integer from the command line, or the error that argparse reports."""
    try:
        return int(text)
    except ValueError:
        shown = text if len(text) <= 40 else text[:37] + "..."
        raise argparse.ArgumentTypeError(
            f"{name} must be a whole number of {unit}, not {shown!r}"
        ) from None


def _checked(check: Callable[[], object]) -> None:
    try:
        check()
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _hz(text: str) -> int:
    hz = whole(text, "hz", "steps a second")
    _checked(lambda: Timestep.from_hz(hz))
    return hz


def _budget(text: str) -> StepBudget:
    steps = whole(text, "budget", "steps a frame")
    _checked(lambda: StepBudget(steps))
    return StepBudget(steps)


def add_schedule(parser: argparse.ArgumentParser) -> None:
    """``--hz`` and ``--budget``."""
    parser.add_argument(
        "--hz", type=_hz, default=60, metavar="N", help="simulation steps a second (default 60)"
    )
    parser.add_argument(
        "--budget",
        type=_budget,
        default=StepBudget.DEFAULT,
        metavar="N",
        help="the most steps a frame may run (default 5)",
    )
