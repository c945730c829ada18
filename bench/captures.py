"""How fast captures are read and planned, and that memory does not grow with the file.

A PresentMon CSV of a million rows is made (random frame times of a fixed seed, so that every run
reads the same file), read and analysed, each in a process of its own, once whole and once at a
quarter of its length. Planning is compared with the loop that everybody writes first, a row at a
time in Python with the same integers, and the two must agree before a time is taken.

It is no test: it measures the machine and what else the machine does. Linux only, for the
peak of memory that its kernel keeps.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from array import array
from itertools import accumulate
from pathlib import Path

from fixedstep import FrameLoop, FrameStats, StepBudget, Timestamp, Timestep

ROWS = 1_000_000
SEED = 7
HEADER = (
    "Application,ProcessID,SwapChainAddress,Runtime,SyncInterval,PresentFlags,AllowsTearing,"
    "PresentMode,Dropped,TimeInSeconds,MsBetweenPresents,MsBetweenDisplayChange,MsInPresentAPI,"
    "MsUntilRenderComplete,MsUntilDisplayed\n"
)


def microseconds(rows: int) -> list[int]:
    """Frame times around 14 ms, one in a thousand a stall."""
    rng = random.Random(SEED)
    return [
        max(int(rng.gauss(14_000, 2_000)), 500)
        + (rng.random() < 0.001) * rng.randrange(50_000, 400_000)
        for _ in range(rows)
    ]


def make(path: Path, rows: int) -> None:
    """Write the capture."""
    with path.open("w", encoding="ascii") as file:
        file.write(HEADER)
        now = 0
        for span in microseconds(rows):
            now += span
            ms = f"{span // 1000}.{span % 1000:03d}"
            file.write(
                f"game.exe,4242,0x000001A8D2B55E20,DXGI,1,0,0,Hardware: Legacy Flip,0,"
                f"{now // 10**6}.{now % 10**6:06d},{ms},16.649,0.458,36.777,41.998\n"
            )


CHILD = """
import json, re, sys, time
from fixedstep.captures import analyze, read
begin = time.perf_counter()
if sys.argv[1] == "read":
    capture = read(sys.argv[2])
    rows, total = capture.rows, capture.streams[0].total
else:
    found = analyze(sys.argv[2])
    rows, total = found["rows"], found["streams"][0]["sum_ns"]
took = time.perf_counter() - begin
# Not getrusage: what it calls the peak includes that of the process this one was forked from.
peak = int(re.search(r"VmHWM:\\s*([0-9]+)", open("/proc/self/status").read())[1])
print(json.dumps([took, peak, rows, total]))
"""


def measured(what: str, path: Path, rows: int) -> tuple[float, int]:
    """Seconds and peak KiB of a fresh process."""
    result = subprocess.run(
        [sys.executable, "-c", CHILD, what, str(path)], capture_output=True, text=True, check=True
    )
    took, peak, found, total = json.loads(result.stdout)
    assert found == rows
    assert total == 1000 * sum(microseconds(rows)[1:]), "another file was read"
    return took, peak


def by_row(spans: list[int], dt: int, budget: int) -> tuple[int, int, int]:
    """The loop that everybody writes first: steps, drops and the remainder."""
    bank = steps = dropped = 0
    for span in spans:
        bank += span
        due = bank // dt
        bank -= due * dt
        run = min(due, budget)
        steps += run
        dropped += due - run
    return steps, dropped, bank


def planned(rows: int) -> tuple[float, float]:
    """Nanoseconds a row: the loop by row, and `FrameLoop.begin_frames` in the blocks of analyze."""
    from fixedstep.captures.capture import BLOCK

    spans = [1000 * span for span in microseconds(rows)]
    times = memoryview(array("Q", accumulate(spans)))

    def batches() -> tuple[int, int, int]:
        loop, stats = FrameLoop(Timestep.HZ_60, StepBudget(5), start=Timestamp(0)), FrameStats()
        for begin in range(0, rows, BLOCK):
            loop.begin_frames(times[begin : begin + BLOCK], stats)
        return stats.ticks, stats.steps_dropped, loop.remainder

    expected = by_row(spans, Timestep.HZ_60.nanos, 5)
    assert batches() == expected
    assert expected[1] > rows // 10_000, "the budget was never exceeded"

    def rows_alone() -> tuple[int, int, int]:
        return by_row(spans, Timestep.HZ_60.nanos, 5)

    best = []
    for work in (rows_alone, batches):
        took = []
        for _ in range(5):
            begin_at = time.perf_counter_ns()
            work()
            took.append(time.perf_counter_ns() - begin_at)
        best.append(min(took) / rows)
    return best[0], best[1]


def main() -> int:
    """Measure and print; the exit code says whether planning and memory are as promised."""
    parser = argparse.ArgumentParser(description="Reading and planning captures.")
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    short = rows // 4
    peaks: dict[str, list[int]] = {"read": [], "analyze": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "capture.csv")
        for count in (short, rows):
            make(path, count)
            size = path.stat().st_size
            for what, found in peaks.items():
                took, peak = measured(what, path, count)
                found.append(peak)
                print(
                    f"{what:8} {count:>9} rows, {size / 1e6:6.1f} MB: {count / took:>9.0f} rows a "
                    f"second, {size / took / 1e6:5.1f} MB a second, peak {peak / 1024:.1f} MiB",
                    flush=True,
                )
    row, batch = planned(rows)
    print(
        f"planning {rows} rows: {row:.1f} ns a row one by one, {batch:.1f} in batches: "
        f"{row / batch:.1f} times as fast"
    )
    grown = max(long - brief for brief, long in peaks.values())
    print(f"memory: {grown} KiB more for {rows - short} rows more")
    return 0 if row >= 10 * batch and grown < 4096 else 1


if __name__ == "__main__":
    sys.exit(main())
