"""``python -m bench.timers``: what a timer queue should lie in, at 10, 100 and 10,000 timers.

The contenders keep (due tick, sequence) and nothing else, so that what is compared is the order and
not the payloads; `TimerQueue` plays along as a whole, with its checks and its ids. Each plays the
same ticks: every timer that is due is scheduled anew, 1 to 600 ticks ahead, and every fourth of
those is cancelled and scheduled once more. All must fire the same timers in the same ticks, or
there is no table.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from statistics import median
from typing import NamedTuple, Protocol

from fixedstep import StateHash
from fixedstep.sim.timers import TimerId, TimerQueue

from .measure import Effort, Played, Side, clock, interleave
from .report import machine
from .workload import WrongWorkError

_SIZES = (10, 100, 10_000)
_FARTHEST = 600
_TIMERS_A_PASS = 100_000  # so many, times ticks: a pass of a scan takes milliseconds
_EFFORT = Effort(processes=1, rounds=15, value=20 * 10**6, paced=0, starts=0)


class _Queue(Protocol):
    def add(self, now: int, due: int, sequence: int) -> None: ...
    def remove(self, due: int, sequence: int) -> None: ...
    def take(self, tick: int) -> list[tuple[int, int]]: ...


class _Scan:
    """Looks at every timer in every tick."""

    def __init__(self) -> None:
        self.due: dict[int, int] = {}

    def add(self, now: int, due: int, sequence: int) -> None:
        self.due[sequence] = due

    def remove(self, due: int, sequence: int) -> None:
        del self.due[sequence]

    def take(self, tick: int) -> list[tuple[int, int]]:
        taken = sorted((due, sequence) for sequence, due in self.due.items() if due <= tick)
        for _, sequence in taken:
            del self.due[sequence]
        return taken


class _ScanWhenDue(_Scan):
    """Knows the next due tick, and looks at every timer when it has come."""

    def __init__(self) -> None:
        super().__init__()
        self.next = 2**64

    def add(self, now: int, due: int, sequence: int) -> None:
        self.due[sequence] = due
        self.next = min(self.next, due)

    def take(self, tick: int) -> list[tuple[int, int]]:
        if tick < self.next:
            return []
        taken = super().take(tick)
        self.next = min(self.due.values(), default=2**64)
        return taken


class _Sorted:
    """A list that is kept in order; a cancelled timer is found in it and leaves."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, int]] = []

    def add(self, now: int, due: int, sequence: int) -> None:
        insort(self.entries, (due, sequence))

    def remove(self, due: int, sequence: int) -> None:
        del self.entries[bisect_left(self.entries, (due, sequence))]

    def take(self, tick: int) -> list[tuple[int, int]]:
        if not self.entries or self.entries[0][0] > tick:
            return []
        end = bisect_left(self.entries, (tick + 1, 0))
        taken = self.entries[:end]
        del self.entries[:end]
        return taken


class _Heap:
    """A heap; a cancelled timer stays in it, marked as dead."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, int]] = []
        self.dead: set[int] = set()

    def add(self, now: int, due: int, sequence: int) -> None:
        heappush(self.entries, (due, sequence))

    def remove(self, due: int, sequence: int) -> None:
        self.dead.add(sequence)
        if 2 * len(self.dead) > len(self.entries) + 16:
            self.entries = [entry for entry in self.entries if entry[1] not in self.dead]
            heapify(self.entries)
            self.dead.clear()

    def take(self, tick: int) -> list[tuple[int, int]]:
        taken = []
        while self.entries and self.entries[0][0] <= tick:
            entry = heappop(self.entries)
            if entry[1] in self.dead:
                self.dead.remove(entry[1])
            else:
                taken.append(entry)
        return taken


class _Whole:
    """The queue of the library."""

    def __init__(self) -> None:
        self.queue = TimerQueue[int](capacity=2 * max(_SIZES))

    def add(self, now: int, due: int, sequence: int) -> None:
        timer_id = self.queue.schedule(now, due - now, sequence)
        if timer_id.sequence != sequence:
            raise WrongWorkError(f"timer {sequence} was numbered {timer_id.sequence}")

    def remove(self, due: int, sequence: int) -> None:
        if not self.queue.cancel(TimerId(sequence, 0)):
            raise WrongWorkError(f"timer {sequence} was not there")

    def take(self, tick: int) -> list[tuple[int, int]]:
        return [(timer.due_tick, timer.payload) for timer in self.queue.begin_tick(tick)]


_CONTENDERS: dict[str, Callable[[], _Queue]] = {
    "linear scan": _Scan,
    "scan when due": _ScanWhenDue,
    "sorted list": _Sorted,
    "heap": _Heap,
    "TimerQueue": _Whole,
}


class _Work(NamedTuple):
    """So many timers for so many ticks."""

    timers: int
    ticks: int


def _delays() -> Iterator[int]:
    """1 .. 600, the same in every run."""
    state = 42
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield 1 + (state >> 33) % _FARTHEST


def _play(make: Callable[[], _Queue], work: _Work) -> Played:
    """The timed ticks, and a digest of what fired."""
    queue, delays, fired = make(), _delays(), []
    # one list of delays, made beforehand: the generator is no part of what is compared
    ahead = [next(delays) for _ in range(work.timers + work.timers * work.ticks // 100 + 1_000)]
    delay = iter(ahead).__next__
    for sequence in range(work.timers):
        queue.add(0, delay(), sequence)
    sequence = work.timers
    start = clock()
    for tick in range(1, work.ticks + 1):
        taken = queue.take(tick)
        for _ in taken:
            due = tick + delay()
            queue.add(tick, due, sequence)
            if sequence % 4 == 0:
                queue.remove(due, sequence)
                sequence += 1
                queue.add(tick, tick + delay(), sequence)
            sequence += 1
        fired.append(taken)
    nanos = clock() - start
    digest, count = StateHash(), 0
    for taken in fired:
        for due, number in taken:
            digest = digest.absorb_u64(due).absorb_u64(number)
        count += len(taken)
    return Played(nanos, (count, digest.finish()))


def _row(timers: int) -> str:
    work = _Work(timers, max(240, min(_TIMERS_A_PASS // timers, 10_000)))
    outcomes = {_play(make, work).outcome for make in _CONTENDERS.values()}
    if len(outcomes) != 1:
        raise WrongWorkError(f"{timers} timers: not all fired the same: {outcomes}")
    (outcome,) = outcomes
    if not isinstance(outcome, tuple) or outcome[0] < timers // 20:
        raise WrongWorkError(f"{timers} timers: hardly any fired: {outcome}")
    sides = (
        Side(name, work.ticks, partial(_play, make, work), lambda found: found == outcome)
        for name, make in _CONTENDERS.items()
    )
    values = interleave(sides, _EFFORT).values
    ratios = {
        name: median(x / y for x, y in zip(values[name], values["heap"], strict=True))
        for name in values
    }
    cells = (f"{median(values[name]) / 1000:8.2f} us {ratios[name]:5.1f} x" for name in _CONTENDERS)
    return f"{timers:>7}  {outcome[0] / work.ticks:>8.2f}" + "".join(f"{c:>20}" for c in cells)


def main() -> None:
    """Print the table."""
    print(machine())
    print("\nMicroseconds a tick, and how many times the heap's (medians)\n")
    print(f"{'timers':>7}  {'fired':>8}" + "".join(f"{name:>20}" for name in _CONTENDERS))
    for timers in _SIZES:
        print(_row(timers), flush=True)


if __name__ == "__main__":
    main()
    sys.exit(0)
