"""``python -m bench.report``: write the table of docs/bench.md from docs/bench.json.

bench.json is in the format of pyperf, so that its tools (``python -m pyperf stats``, ``hist``,
``compare_to``) work on the file; its runner is not used, because it measures one side to the end
before the next one begins, and then the ratio of two is at the mercy of what else the machine did
meanwhile. A run in the file is a process, and the sides of a row with the same run were measured in
turns.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from pathlib import Path

import fixedstep
from fixedstep import native
from fixedstep.cli.layout import pairs

from .measure import ROOT, Claim, Result, Sample
from .rows import ROWS

JSON, PAGE = ROOT / "docs" / "bench.json", ROOT / "docs" / "bench.md"
BEGIN, END = "<!-- the table begins -->\n", "<!-- the table ends -->\n"
#: pyperf's unit for a row's, up to a slash, and how many of it that is.
_UNITS = {
    "ns": ("second", 1e-9),
    "ms": ("second", 1e-3),
    "KiB": ("byte", 1024.0),
    "bytes": ("byte", 1.0),
}


def machine_facts() -> dict[str, str]:
    """What a figure means nothing without."""
    built = {name: text for name, text in native.build_info().items() if name != "extension"}
    return {
        "fixedstep": fixedstep.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "cpu": _cpu(),
        "system": f"{platform.system()} {platform.machine()}",
        **built,
    }


def machine() -> str:
    """The same as lines."""
    return pairs(machine_facts().items())


def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0]}, {len(models)} CPUs" if models else platform.processor() or "unknown"


def write_json(results: Iterable[Result], facts: dict[str, str]) -> None:
    """All values of all sides, with the facts about the machine."""
    benchmarks = []
    for result in results:
        unit, factor = _UNITS[result.row.unit.partition("/")[0]]
        for side in result.sides:
            # six digits: more would be noise, and twice the file
            runs = [
                {"values": [float(f"{value * factor:.6g}") for value in sample.values[side]]}
                for sample in result.samples
            ]
            metadata = {"name": f"{result.row.name}: {side}", "unit": unit}
            benchmarks.append({"metadata": metadata, "runs": runs})
    suite = {"benchmarks": benchmarks, "metadata": facts, "version": "1.0"}
    JSON.write_text(json.dumps(suite, separators=(",", ":")) + "\n", encoding="ascii")


def read_json() -> tuple[list[Result], dict[str, str]]:
    """What `write_json` was given, less the rows that there are no more."""
    suite = json.loads(JSON.read_text(encoding="ascii"))
    results = []
    for row in ROWS:
        factor = _UNITS[row.unit.partition("/")[0]][1]
        sides = {
            benchmark["metadata"]["name"].partition(": ")[2]: benchmark["runs"]
            for benchmark in suite["benchmarks"]
            if benchmark["metadata"]["name"].startswith(f"{row.name}: ")
        }
        samples = [
            Sample(
                {
                    side: [value / factor for value in run["values"]]
                    for side, run in zip(sides, runs, strict=True)
                },
                {},
            )
            for runs in zip(*sides.values(), strict=True)
        ]
        results.append(Result(row, samples))
    return results, suite["metadata"]


def number(value: float) -> str:
    """Three digits that matter.

    >>> number(0.034567), number(2.5), number(12345.6)
    ('0.0346', '2.50', '12346')
    """
    for below, places in ((0.1, 4), (1, 3), (10, 2), (100, 1)):
        if abs(value) < below:
            return f"{value:.{places}f}"
    return f"{value:.0f}"


def _cells(result: Result, claim: Claim) -> tuple[str, ...] | None:
    """What, measured, lowest and highest of the processes, both sides, target and whether met."""
    spread = result.claim(claim)
    if spread is None:
        return None
    unit = result.row.unit
    target = claim.target(unit)
    if target and not claim.met(spread.median):
        target += ", **missed**"
    sides = (number(result.side(side).median) for side in (claim.side, claim.against))
    measured = number(spread.median) + (f" {unit}" if claim.difference else "")
    times = f"{', '.join(sides)} {unit}"
    return claim.what, measured, f"{number(spread.low)}..{number(spread.high)}", times, target


def table(results: Iterable[Result]) -> str:
    """The ratios of all rows."""
    rows: list[tuple[str, ...]] = [
        ("what", "measured", "spread", "the two sides", "target"),
        ("---",) * 5,
    ]
    for result in results:
        rows += filter(None, (_cells(result, claim) for claim in result.row.claims))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def write_table() -> None:
    """Put the table and the machine of bench.json into the page."""
    results, facts = read_json()
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    known = "; ".join(f"{name}: {text}" for name, text in facts.items())
    made = f"{BEGIN}\n{known}\n\n{table(results)}\n{END}"
    PAGE.write_text(before + made + after, encoding="utf-8")


if __name__ == "__main__":
    write_table()
