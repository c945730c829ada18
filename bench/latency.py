"""What a frame waits for beside busy threads: not its mean but its worst.

A call that gives up the interpreter's lock has to win it back, and a busy thread lets go of it
every 5 ms only. So a frame is timed by itself, some 2,000 times, with one and with two threads that
never pause. Each frame sleeps to the next millisecond first (beside busy threads it comes
later: it waits for the lock then, which is no doing of what is timed), and then times the same call
on three loops: the C type, the reference (these two in turns first), and last the plain C function
through cffi, which gives up the lock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Thread
from typing import Any

from fixedstep import StepBudget, Timestamp, Timestep, native, reference

from .measure import Effort, Sample, clock
from .workload import WrongWorkError

BUSY = (1, 2)
PACE = 10**6
STEP = Timestep(PACE)
BUDGET = StepBudget(3)

Call = Callable[[Timestamp], Any]


def _plain_functions() -> tuple[Any, str]:
    """The C core as cffi binds it and an empty text, or None and why it cannot be had."""
    try:
        return import_module("fixedstep._core"), ""
    except ImportError as error:
        return None, str(error)


def native_through_cffi(core: Any, start: int) -> tuple[Any, Call]:
    """A plain struct of the core, and its begin_frame as cffi binds it."""
    numbers = {"scale": 1, "unit": STEP.nanos, "last": start, "budget": BUDGET.steps, "started": 1}
    numbers |= {"rate_scale": 1, "rate_unit": STEP.nanos}
    loop = core.ffi.new("fs_loop *", numbers)
    begin_frame = core.lib.fs_loop_begin_frame
    return loop, lambda now: begin_frame(loop, now)


@contextmanager
def busy_threads(count: int) -> Iterator[None]:
    """Threads that run Python and nothing else. Raises WrongWorkError if one of them never ran."""
    running, turns = True, [0] * count

    def spin(index: int) -> None:
        while running:
            turns[index] += 1

    threads = [Thread(target=spin, args=(index,), daemon=True) for index in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        running = False
        for thread in threads:
            thread.join()
    if not all(turns):
        raise WrongWorkError(f"of the busy threads some never ran: {turns}")


def _timed(call: Call, now: Timestamp) -> int:
    begun = clock()
    call(now)
    return clock() - begun


def latencies(effort: Effort) -> Sample:
    """The p99 and the maximum, in nanoseconds, of each loop with each number of threads."""
    plain, reason = _plain_functions()
    values: dict[str, list[float]] = {}
    for busy in BUSY:
        with busy_threads(busy):
            frames = _frames(plain, effort.paced)
        for name, times in frames.items():
            ordered = sorted(times)
            label = f"{name}, {busy} busy,"
            values[f"{label} p99"] = [
                float(ordered[min(len(ordered) * 99 // 100, len(ordered) - 1)])
            ]
            values[f"{label} max"] = [float(ordered[-1])]
    return Sample(values, {"cffi lib": reason} if plain is None else {})


def _frames(core: Any, count: int) -> dict[str, list[int]]:
    start = Timestamp(time.perf_counter_ns())
    fast, slow = native.FrameLoop(STEP, BUDGET, start), reference.FrameLoop(STEP, BUDGET, start)
    struct, through_cffi = native_through_cffi(core, start) if core is not None else (None, None)
    pair: list[tuple[list[int], Call]] = [([], fast.begin_frame), ([], slow.begin_frame)]
    plain: list[int] = []
    deadline = int(start)
    for frame in range(count):
        deadline = max(deadline + PACE, time.perf_counter_ns())
        while (left := deadline - time.perf_counter_ns()) > 0:
            time.sleep(left / 10**9)
        now = Timestamp(time.perf_counter_ns())
        for taken, call in pair if frame % 2 else reversed(pair):
            taken.append(_timed(call, now))
        if through_cffi is not None:
            plain.append(_timed(through_cffi, now))
    ended = [(loop.tick, loop.remainder) for loop in (fast, slow)]
    if struct is not None:
        ended.append((struct.tick, struct.bank))
    if len(set(ended)) != 1 or fast.tick < count // 2:
        raise WrongWorkError(f"loops differ in tick and remainder: {ended}")
    times = {"native": pair[0][0], "reference": pair[1][0]}
    return times | {"cffi lib": plain} if struct is not None else times
