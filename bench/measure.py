"""How a row is measured, and what it claims.

The sides of a row are played in turns, forwards and backwards, in one process: whatever slows the
machine down slows all of them, so their ratio is steadier than either time, and a ratio is what a
row claims. How often a side is played for one value is calibrated; the first value warms caches and
the interpreter up and is dropped. A row is measured in several fresh processes, because the layout
of a process alone moves times by some percent. Medians everywhere; the spread is that of the
processes.

The clock is read here and not in ``host.monotonic``: that clock is made for timestamps, this one
(``perf_counter_ns``) for the length of what was just run, and no schedule ever sees it. The garbage
collector stays on, as it is in the programs that this stands for.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from .workload import WrongWorkError

ROOT = Path(__file__).resolve().parent.parent
#: Nanoseconds, for the length of something.
clock: Callable[[], int] = time.perf_counter_ns


class Effort(NamedTuple):
    """How long to measure."""

    #: Fresh processes a row.
    processes: int
    #: Values a side and process, after the dropped one.
    rounds: int
    #: Nanoseconds of timed work that one value takes, at least.
    value: int
    #: Frames in a row about latency.
    paced: int
    #: Pairs of interpreters in a row about starting.
    starts: int


SHORT = Effort(processes=3, rounds=3, value=4 * 10**6, paced=200, starts=15)
LONG = Effort(processes=7, rounds=9, value=40 * 10**6, paced=2_000, starts=60)


class Played(NamedTuple):
    """One pass of a side: the time of its timed part, and what came out of it."""

    nanos: int
    outcome: object


class Side(NamedTuple):
    """A contender. ``play`` starts from fresh state each time; setting that up is not timed."""

    name: str
    #: What the time is divided by: frames, bytes, calls.
    units: int
    play: Callable[[], Played]
    #: Whether the outcome is that of the work; asked after every pass.
    accept: Callable[[object], bool]


class Absent(NamedTuple):
    """A contender that cannot play here, and why."""

    name: str
    reason: str


class Sample(NamedTuple):
    """What one process measured: the values of each side, and which sides are absent, and why."""

    values: dict[str, list[float]]
    absent: dict[str, str]


class Claim(NamedTuple):
    """A ratio of two sides, or their difference in the unit of the row, and its bounds."""

    what: str
    side: str
    against: str
    low: float | None = None
    high: float | None = None
    difference: bool = False

    def of(self, side: float, against: float) -> float:
        """The claimed quantity of two values that were measured right after each other."""
        return side - against if self.difference else side / against

    def target(self, unit: str) -> str:
        """The bounds in words, empty if there are none."""
        unit = f" {unit}" if self.difference else ""
        if self.low is not None and self.high is not None:
            return f"{self.low:g}..{self.high:g}{unit}"
        if self.high is not None:
            return f"<= {self.high:g}{unit}"
        return f">= {self.low:g}{unit}" if self.low is not None else ""

    def met(self, value: float) -> bool:
        """Whether a value is within the bounds."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


class Row(NamedTuple):
    """Sides that are measured together, and what is claimed of them."""

    name: str
    title: str
    #: The unit of the values, as it is printed.
    unit: str
    measure: Callable[[Effort], Sample]
    claims: tuple[Claim, ...] = ()


class Spread(NamedTuple):
    """A median over processes, with the smallest and largest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """From one value a process."""
        values = list(values)
        return cls(median(values), min(values), max(values))


class Result(NamedTuple):
    """A row after its last process."""

    row: Row
    samples: list[Sample]

    @property
    def sides(self) -> list[str]:
        """The sides that played."""
        return list(self.samples[0].values)

    @property
    def absent(self) -> dict[str, str]:
        """The sides that could not, and why."""
        return self.samples[0].absent

    def side(self, name: str) -> Spread:
        """The value of a side."""
        return Spread.of(median(sample.values[name]) for sample in self.samples)

    def claim(self, claim: Claim) -> Spread | None:
        """The value of a claim, or None if a side of it is absent.

        That of a process is the median over pairs of values taken right after each other.
        """
        if claim.side not in self.sides or claim.against not in self.sides:
            return None
        pairs = (
            zip(sample.values[claim.side], sample.values[claim.against], strict=True)
            for sample in self.samples
        )
        return Spread.of(median(claim.of(*pair) for pair in values) for values in pairs)


def _value(side: Side, passes: int) -> float:
    nanos = 0
    for _ in range(passes):
        played = side.play()
        if not side.accept(played.outcome):
            raise WrongWorkError(f"{side.name}: did other work than it should: {played.outcome!r}")
        nanos += played.nanos
    return nanos / passes / side.units


def interleave(contenders: Iterable[Side | Absent], effort: Effort) -> Sample:
    """Time the sides in turns: nanoseconds a unit.

    Raises WrongWorkError if one of them does not do its work.
    """
    contenders = list(contenders)
    sides = [side for side in contenders if isinstance(side, Side)]
    absent = {side.name: side.reason for side in contenders if isinstance(side, Absent)}
    passes: dict[str, int] = {}
    values: dict[str, list[float]] = {side.name: [] for side in sides}
    for side in sides:
        once = max(_value(side, 1) * side.units, 1.0)
        passes[side.name] = max(1, round(effort.value / once))
        if passes[side.name] > 1:  # else the pass that calibrated was as long as a value
            _value(side, passes[side.name])
    for turn in range(effort.rounds):
        for side in sides if turn % 2 else reversed(sides):
            values[side.name].append(_value(side, passes[side.name]))
    return Sample(values, absent)


def fresh(command: Sequence[str], row: Row, effort: Effort) -> Result:
    """Measure a row in fresh processes: ``command`` starts one that calls `serve`, in the checkout.

    Raises WrongWorkError if one of them fails."""
    samples = []
    for _ in range(effort.processes):
        ended = subprocess.run(
            [*command, row.name, json.dumps(effort)], cwd=ROOT, capture_output=True, text=True
        )
        if ended.returncode != 0:
            raise WrongWorkError(f"{row.name}: {(ended.stderr or 'no message').strip()}")
        samples.append(Sample(*json.loads(ended.stdout)))
    return Result(row, samples)


def serve(rows: Iterable[Row], argv: Sequence[str]) -> None:
    """The other end of `fresh`: measure the row that is named and print the sample as JSON."""
    name, effort = argv
    row = next(row for row in rows if row.name == name)
    print(json.dumps(row.measure(Effort(*json.loads(effort)))))
