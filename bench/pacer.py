"""How far four ways to pace 60 frames a second are from it, on this machine's clock.

Each runs through the targets of ten seconds, one after the other in one process, with a millisecond
of work a frame. A right pacer needs ten seconds for them; the exit code says whether `FramePacer`
was within one period of that, both when it sleeps alone and when it measures how late sleeps end
and spins for as long. On a busy machine it skips targets, which are counted, and still does not
drift. The usual ``sleep(period)`` adds work and lateness to every frame, and pygame's
``Clock.tick(60)`` waits for whole milliseconds: 16 of them are 62.5 frames a second.

The processor time beside each figure is what it costs: with the work, 60 ms a second are needed,
and a spin adds up to its length a frame.

It is no test: it measures the machine and what else the machine does.
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


def work(span: int = 1_000_000) -> None:
    """Keep the processor busy, as a frame would."""
    end = monotonic.now() + span
    while monotonic.now() < end:
        pass


def measure(
    name: str, wait: Callable[[], object], targets: int, over: Callable[[], int] | None = None
) -> int:
    """Run until so many targets are over and print how the frames lay against the grid; return the
    error of the whole in nanoseconds. ``over`` counts the targets where some may be skipped."""
    lateness = FrameTiming()
    frames = k = 0
    busy = time.process_time_ns()
    origin = monotonic.now()
    while k < targets:
        work()
        wait()
        frames += 1
        k = frames if over is None else over()
        late = monotonic.now() - origin - k * SECOND // HERTZ
        lateness.record(Nanos(abs(late)), drawn=True)
    took = monotonic.now() - origin
    busy = time.process_time_ns() - busy
    error = took - k * SECOND // HERTZ
    shown = " ".join(f"p{p}={lateness.percentile(p) / 10**6:.3f}" for p in (50, 90, 99, 100))
    print(
        f"{name:17} {frames} frames for {k} targets in {took / SECOND:.6f} s = "
        f"{k * SECOND / took:.3f} a second, off by {error / 10**6:+.3f} ms\n"
        f"{'':17} distance from the grid in ms: {shown}; {busy * 1000 // took} ms of processor a "
        "second",
        flush=True,
    )
    return error


def main() -> int:
    """Measure all four; without pygame the fourth is said to be missing."""
    parser = argparse.ArgumentParser(description="Pacing 60 frames a second, four ways.")
    parser.add_argument("--seconds", type=int, default=10, help="of frames, each way")
    targets = parser.parse_args().seconds * HERTZ

    errors = []
    for name, spin in (("FramePacer", None), ("FramePacer spin=0", Nanos(0))):
        pacer = FramePacer(Rate(HERTZ), spin=spin)
        pacer.wait()

        def over(pacer: FramePacer = pacer) -> int:
            return pacer.report().scheduled

        errors.append(measure(name, pacer.wait, targets, over))
        report = pacer.report()
        print(f"{'':17} on time {report.on_time}, late {report.late}, skipped {report.skipped}")
    measure("sleep(period)", lambda: time.sleep(1 / HERTZ), targets)
    try:
        pygame = importlib.import_module("pygame")
    except ModuleNotFoundError:
        print("Clock.tick(60)    not measured: pip install 'fixedstep[pygame]'")
    else:
        clock = pygame.time.Clock()
        clock.tick(HERTZ)
        measure("Clock.tick(60)", lambda: clock.tick(HERTZ), targets)
    return 0 if max(map(abs, errors)) < SECOND // HERTZ else 1


if __name__ == "__main__":
    sys.exit(main())
