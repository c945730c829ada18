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

from fixedstep.cli.bench.measure import Claim, Result
from fixedstep.cli.bench.table import claim_cells, number

#: pyperf's unit for the first word of a row's, and how many of it that is.
_UNITS = {
    "ns": ("second", 1e-9),
    "ms": ("second", 1e-3),
    "KiB": ("byte", 1024.0),
    "bytes": ("byte", 1.0),
}

_HEAD = ("measured", "spread", "target", "")


def write_json(path: Path, results: Iterable[Result], facts: dict[str, str]) -> None:
    """All values of all sides, with the facts about the machine in each benchmark."""
    benchmarks = []
    for result in results:
        unit, factor = _UNITS[result.row.unit.split()[0]]
        for side in result.sides:
            metadata = {"name": f"{result.row.name}: {side}", "unit": unit, **facts}
            runs = [
                pyperf.Run(
                    [_six_digits(value * factor) for value in sample.values[side]],
                    metadata=metadata,
                    collect_metadata=False,
                )
                for sample in result.samples
            ]
            benchmarks.append(pyperf.Benchmark(runs))
    pyperf.BenchmarkSuite(benchmarks).dump(str(path), replace=True)


def _six_digits(value: float) -> float:
    """More would be noise, and twice the file."""
    return float(f"{value:.6g}")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    aligned = ("---", *("---:" for _ in head[1:]))
    return [_row(*head), _row(*aligned), *(_row(*row) for row in rows), ""]


def _times(result: Result) -> Iterable[tuple[str, ...]]:
    for side in result.sides:
        spread = result.side(side)
        yield side, number(spread.median), f"{number(spread.low)} .. {number(spread.high)}"


def _section(result: Result) -> list[str]:
    """A row: its ratios, the worst first, then its times, then who was absent."""
    ratios = [claim for claim in result.row.claims if result.claim(claim) is not None]
    ratios.sort(key=lambda claim: -_median(result, claim))
    return [
        f"## {result.row.title}",
        "",
        *_table(("what", *_HEAD), (claim_cells(result, claim) for claim in ratios)),
        *_table(("side", result.row.unit, "spread"), _times(result)),
        *(f"- {side} did not play: {why}" for side, why in result.absent.items()),
    ]


def _median(result: Result, claim: Claim) -> float:
    spread = result.claim(claim)
    return 0.0 if spread is None else spread.median


def write_table(path: Path, results: list[Result], facts: dict[str, str]) -> None:
    """The targets first, then every row."""
    targets = [
        claim_cells(result, claim)
        for result in results
        for claim in result.row.claims
        if claim.target("")
    ]
    lines = [
        "# The long form of the bench",
        "",
        "Written by `python bench/run.py`; [performance.md](performance.md) explains it. A figure",
        "is the median over fresh processes, its spread the lowest and the highest of them. Both",
        "sides of a ratio were measured in turns in one process.",
        "",
        *_table(("machine", ""), facts.items()),
        "## Targets",
        "",
        *_table(("what", *_HEAD), targets),
    ]
    for result in results:
        lines += _section(result)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
