"""Results as text: what was claimed, what was measured, and what could not be."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from pathlib import Path

import fixedstep

from .. import cores
from ..layout import pairs, table
from .measure import Claim, Result, Spread


def machine_facts() -> dict[str, str]:
    """What a figure means nothing without."""
    native, reason = cores.native_core()
    built = {"core": f"no native core: {reason}"} if native is None else native.build_info()
    return {
        "fixedstep": fixedstep.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "cpu": _cpu(),
        "system": f"{platform.system()} {platform.machine()}",
        **{name: text for name, text in built.items() if name != "extension"},
    }


def machine() -> str:
    """The same as lines."""
    return pairs(list(machine_facts().items()))


def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0]}, {len(models)} CPUs" if models else platform.processor() or "unknown"


def number(value: float) -> str:
    """Three digits that matter.

    >>> number(0.034567), number(2.5), number(12345.6)
    ('0.0346', '2.50', '12346')
    """
    for below, places in ((0.1, 4), (1, 3), (10, 2), (100, 1)):
        if abs(value) < below:
            return f"{value:.{places}f}"
    return f"{value:.0f}"


def verdict(claim: Claim, spread: Spread | None) -> str:
    """Whether a target was met, empty where there is none."""
    if spread is None or not claim.target(""):
        return ""
    return "met" if claim.met(spread.median) else "MISSED"


def claim_cells(result: Result, claim: Claim) -> tuple[str, str, str, str, str]:
    """What, measured, lowest to highest of the processes, target, verdict."""
    spread = result.claim(claim)
    unit = f" {result.row.unit}" if claim.difference else ""
    if spread is None:
        return claim.what, "-", "", claim.target(result.row.unit), "not measured"
    return (
        claim.what,
        number(spread.median) + unit,
        f"{number(spread.low)} .. {number(spread.high)}",
        claim.target(result.row.unit),
        verdict(claim, spread),
    )


def claims(results: Iterable[Result]) -> str:
    """The table of what could be measured, and below it what was absent, by reason."""
    cells = [("", "measured", "spread", "target", "")]
    absent: dict[str, list[str]] = {}
    for result in results:
        cells += [claim_cells(result, claim) for claim in result.row.claims]
        for side, reason in result.absent.items():
            absent.setdefault(reason, []).append(f"{result.row.name}: {side}")
    lines = [table(cells)]
    for reason, sides in absent.items():
        lines += ["", f"not measured, {reason}", *(f"  {side}" for side in sides)]
    return "\n".join(lines)


def times(result: Result) -> str:
    """The time of each side of a row."""
    cells = [(result.row.title, result.row.unit, "spread")]
    for name in result.sides:
        spread = result.side(name)
        cells.append(
            (name, number(spread.median), f"{number(spread.low)} .. {number(spread.high)}")
        )
    return table(cells)
