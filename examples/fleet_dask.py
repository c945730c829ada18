# mypy: disable-error-code="import-not-found,no-untyped-call"
"""A folder of captures over a Dask cluster: what one schedule would have meant to a whole fleet.

`analyze` is a pure function whose argument and result can be pickled: the work is one ``map``.
Percentiles cannot be averaged, and a mean of p99 is no p99: what is merged are the histograms,
whose buckets are counts and add up exactly, in whatever order the cluster finishes.

    python examples/fleet_dask.py FOLDER                 a cluster on this machine
    python examples/fleet_dask.py FOLDER tcp://host:8786  one that runs
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import dask.bag
from dask.distributed import Client

from fixedstep import FrameTiming
from fixedstep.captures import AnalysisSettings, analyze, histogram, merge_histograms

SETTINGS = AnalysisSettings(histogram=True)


class Fleet(NamedTuple):
    """All captures of a folder together."""

    captures: int
    """Files that were read."""
    refused: list[str]
    """Why the others were not."""
    steps: int
    dropped: int
    frame_times: FrameTiming
    """Every frame of every stream."""


def part(results: Any) -> list[dict[str, Any]]:
    """Some captures as one small summary: what the cluster sends, instead of every capture."""
    results = list(results)
    streams = [stream for result in results for stream in result.get("streams", ())]
    return [
        {
            "captures": sum("error" not in result for result in results),
            "refused": [result["error"] for result in results if "error" in result],
            "steps": sum(plan["steps"] for stream in streams for plan in stream["schedules"]),
            "dropped": sum(plan["dropped"] for stream in streams for plan in stream["schedules"]),
            "histogram": histogram(merge_histograms(stream["histogram"] for stream in streams)),
        }
    ]


def analyze_fleet(
    paths: list[str], settings: AnalysisSettings = SETTINGS, partitions: int = 16
) -> Fleet:
    """The fleet, on the client that is current."""
    bag = dask.bag.from_sequence(paths, npartitions=min(partitions, max(len(paths), 1)))
    parts = bag.map(analyze, settings).map_partitions(part).compute()
    return Fleet(
        captures=sum(some["captures"] for some in parts),
        refused=sorted(error for some in parts for error in some["refused"]),
        steps=sum(some["steps"] for some in parts),
        dropped=sum(some["dropped"] for some in parts),
        frame_times=merge_histograms(some["histogram"] for some in parts),
    )


def main(folder: str, scheduler: str | None = None) -> None:
    """Analyze everything below a folder and print it."""
    paths = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
    with Client(scheduler) if scheduler else Client(n_workers=2, threads_per_worker=1):
        fleet = analyze_fleet(paths)
    print(f"{fleet.captures} captures, {len(fleet.refused)} refused")
    for error in fleet.refused:
        print(f"  {error}")
    print(f"{fleet.steps} steps, {fleet.dropped} dropped")
    print(fleet.frame_times.json())


if __name__ == "__main__":
    main(*sys.argv[1:3])
