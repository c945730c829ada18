"""How far four ways to pace 60 frames a second are from it, on this machine's clock.

Each runs the frames of ten seconds, one after the other in one process, with a millisecond of work
a frame. A right pacer needs ten seconds for them; the exit code says whether `FramePacer` was
within one period of that, both when it sleeps alone and when it spins through the last two
milliseconds. The usual ``sleep(period)`` adds work and lateness to every frame, and pygame's
``Clock.tick(60)`` waits for whole milliseconds: 16 of them are 62.5 frames a second.

The processor time beside each figure is what it costs: with the work, 60 ms a second are needed,
and a spin adds up to its length a frame.

It refuses to be a test: it measures the machine and what else the machine does.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from typing import TYPE_CHECKING

from fixedstep import FrameTiming, Nanos, Rate
from fixedstep.host import monotonic
from fixedstep.host.pacer import FramePacer

if TYPE_CHECKING:
    from collections.abc import Callable

HERTZ = 60
SECOND = 10**9
SPIN = 2_000_000


def work(span: int = 1_000_000) -> None:
    """Keep the processor busy, as a frame would."""
    end = monotonic.now() + span
    while monotonic.now() < end:
        pass


def measure(name: str, wait: Callable[[], object], frames: int) -> int:
    """Run the frames, print how they lay against the grid, return the error of the whole in ns."""
    lateness = FrameTiming()
    busy = time.process_time_ns()
    origin = monotonic.now()
    for k in range(1, frames + 1):
        work()
        wait()
        late = monotonic.now() - origin - k * SECOND // HERTZ
        lateness.record(Nanos(abs(late)), drawn=True)
    took = monotonic.now() - origin
    busy = time.process_time_ns() - busy
    error = took - frames * SECOND // HERTZ
    shown = " ".join(f"p{p}={lateness.percentile(p) / 10**6:.3f}" for p in (50, 90, 99, 100))
    print(
        f"{name:20} {frames} frames in {took / SECOND:.6f} s = {frames * SECOND / took:.3f} a "
        f"second, off by {error / 10**6:+.3f} ms; distance from the grid in ms: {shown}; "
        f"{busy * 1000 // took} ms of processor a second",
        flush=True,
    )
    return error


def main() -> int:
    """Measure all four; without pygame the fourth is said to be missing."""
    parser = argparse.ArgumentParser(description="Pacing 60 frames a second, four ways.")
    parser.add_argument("--seconds", type=int, default=10, help="of frames, each way")
    frames = parser.parse_args().seconds * HERTZ

    errors = []
    for name, spin in (("FramePacer", 0), ("FramePacer, spin", SPIN)):
        pacer = FramePacer(Rate(HERTZ), spin=Nanos(spin))
        pacer.wait()
        errors.append(measure(name, pacer.wait, frames))
        report = pacer.report()
        lateness = " ".join(
            f"p{p}={report.lateness.percentile(p) / 10**3:.0f}" for p in (50, 90, 99, 100)
        )
        print(
            f"{'':20} scheduled {report.scheduled}, on time {report.on_time}, late {report.late}, "
            f"skipped {report.skipped}; lateness in microseconds: {lateness}"
        )
    measure("sleep(period)", lambda: time.sleep(1 / HERTZ), frames)
    try:
        pygame = importlib.import_module("pygame")
    except ModuleNotFoundError:
        print("Clock.tick(60)       not measured: pip install pygame-ce")
    else:
        clock = pygame.time.Clock()
        clock.tick(HERTZ)
        measure("Clock.tick(60)", lambda: clock.tick(HERTZ), frames)
    return 0 if max(map(abs, errors)) < SECOND // HERTZ else 1


if __name__ == "__main__":
    sys.exit(main())
