"""The results of the long form as files: pyperf's JSON with every value, and a table to read.

pyperf's format, so that its tools (``python -m pyperf stats``, ``hist``, ``compare_to``) work on
the file; its runner is not used, because it measures one side to the end before the next one
begins, and then the ratio of two is at the mercy of what else the machine did meanwhile. A run in
the file is a process, and the sides of a row with the same run were measured in turns.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyperf  # type: ignore[import-untyped,import-not-found,unused-ignore]

from fixedstep.cli.bench.measure import Result
from fixedstep.cli.bench.table import claim_cells, number

#: pyperf's unit for the first word of a row's, and how many of it that is.
_UNITS = {
    "ns": ("second", 1e-9),
    "ms": ("second", 1e-3),
    "KiB": ("byte", 1024.0),
    "bytes": ("byte", 1.0),
}


def write_json(path: Path, results: Iterable[Result], facts: dict[str, str]) -> None:
    """All values of all sides, with the facts about the machine in each benchmark."""
    benchmarks = []
    for result in results:
        unit, factor = _UNITS[result.row.unit.split()[0]]
        for side in result.sides:
            metadata = {"name": f"{result.row.name}: {side}", "unit": unit, **facts}
            runs = [
                pyperf.Run(
                    [value * factor for value in sample.values[side]],
                    metadata=metadata,
                    collect_metadata=False,
                )
                for sample in result.samples
            ]
            benchmarks.append(pyperf.Benchmark(runs))
    pyperf.BenchmarkSuite(benchmarks).dump(str(path), replace=True)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    aligned = ("---", *("---:" for _ in head[1:]))
    return [_row(*head), _row(*aligned), *(_row(*row) for row in rows), ""]


def _claims(results: Iterable[Result], *, targets: bool) -> list[tuple[str, ...]]:
    return [
        claim_cells(result, claim)
        for result in results
        for claim in result.row.claims
        if bool(claim.target("")) == targets
    ]


def write_table(path: Path, results: list[Result], facts: dict[str, str]) -> None:
    """The targets first, then what else was compared, then every time."""
    head = ("measured", "spread", "target", "")
    lines = [
        "# The long form of the bench",
        "",
        "Written by `python bench/run.py`; [performance.md](performance.md) explains it. Each",
        "figure is the median over processes, the spread is the lowest and highest process.",
        "Ratios are of values measured in turns in one process.",
        "",
        *_table(("machine", ""), facts.items()),
        "## Targets",
        "",
        *_table(("what", *head), _claims(results, targets=True)),
        "## Other ratios",
        "",
        *_table(("what", *head[:2]), (row[:3] for row in _claims(results, targets=False))),
        "## Times",
        "",
    ]
    for result in results:
        times = []
        for side in result.sides:
            spread = result.side(side)
            times.append(
                (side, number(spread.median), f"{number(spread.low)} .. {number(spread.high)}")
            )
        lines += [f"### {result.row.title}", ""]
        lines += _table(("side", result.row.unit, "spread"), times)
        lines += [f"`{side}` did not play: {why}" for side, why in result.absent.items()]
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
