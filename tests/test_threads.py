"""Threads, interpreters and forks around a loop: what holds, and what happens against the rule.

One loop belongs to one thread. Who shares one all the same gets plans in an order nobody chose, but
no dead process, and from the C core no tick twice and none lost, because each of its methods is one
step for every other thread: under the GIL by nature, without one by a lock on each object. The
scripts that could take the process down with them run in a process of their own.
"""

from __future__ import annotations

import copy
import itertools
import os
import subprocess
import sys
import sysconfig
import threading
from array import array
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Core

THREADS = 8
FRAMES = 40_000


@pytest.fixture
def _impatient() -> Iterator[None]:
    """Threads take turns as often as the interpreter can make them."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


_MEANWHILE = """
import sys, threading
from array import array
from fixedstep import native, Timestep, Timestamp

sys.setswitchinterval(3600)  # a thread that wants to run does so only where it is let
data, times = bytes(32 * 2**20), array("Q", range(0, 2**22, 2))
stats = native.FrameStats()
loop = native.FrameLoop(Timestep(10), start=Timestamp(0))
work = {
    "hash": lambda: native.StateHash().absorb_bytes(data),
    "begin_frames": lambda: loop.begin_frames(times),
    "digest_frames": lambda: loop.digest_frames(times, stats),
}[sys.argv[1]]
gate, ran = threading.Lock(), []
gate.acquire()
thread = threading.Thread(target=lambda: (gate.acquire(), ran.append(1)))
thread.start()
gate.release()  # from here on the thread waits for the GIL, and for nothing else
before = len(ran)
for _ in range(200):
    work()
    if ran:
        break
print(before, len(ran))
"""


@pytest.mark.parametrize("work", ["hash", "begin_frames", "digest_frames"])
def test_other_threads_run_while_much_is_hashed_or_planned(native: Core, work: str) -> None:
    """32 MiB, or two million timestamps; the other thread is let run, or never."""
    run = subprocess.run(
        [sys.executable, "-c", _MEANWHILE, work], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.split()[1] == "1", "it ran before the work was over"


def together(work: Callable[[], None]) -> None:
    """Run `work` in all threads at once; the first error of any is raised."""
    start = threading.Barrier(THREADS)
    errors: list[BaseException] = []

    def run() -> None:
        start.wait()
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def planned_ranges(loop: Any, frames: int) -> list[tuple[int, int]]:
    """(first_tick, step_count) of each frame that ran steps, planned by all threads on one loop."""
    clock = itertools.count(1)
    ranges: list[tuple[int, int]] = []

    def plan_frames() -> None:
        for _ in range(frames):
            plan = loop.begin_frame(Timestamp(next(clock) * 13))
            if plan.step_count:
                ranges.append((plan.first_tick, plan.step_count))

    together(plan_frames)
    return sorted(ranges)


def gaps(ranges: list[tuple[int, int]]) -> int:
    """How often the ticks of one frame do not begin where those of the one before end."""
    ends = [0] + [first + count for first, count in ranges]
    return sum(end != first for end, (first, _) in zip(ends, ranges, strict=False))


@pytest.mark.usefixtures("_impatient")
def test_a_loop_that_eight_threads_share_gives_every_tick_once(native: Core) -> None:
    loop = native.FrameLoop(Timestep(10), StepBudget(7), start=Timestamp(0))
    ranges = planned_ranges(loop, FRAMES)
    assert loop.tick > FRAMES
    assert sum(count for _, count in ranges) == loop.tick
    assert gaps(ranges) == 0


@pytest.mark.usefixtures("_impatient")
def test_a_loop_that_loses_ticks_between_threads_would_be_seen() -> None:
    """The control: the same frames on an object that reads, lets the others run, and writes."""

    class Plan:
        def __init__(self, first_tick: int) -> None:
            self.first_tick, self.step_count = first_tick, 1

    all_have_read = threading.Barrier(THREADS)

    class Careless:
        tick = 0

        def begin_frame(self, _: Timestamp) -> Plan:
            before = self.tick
            all_have_read.wait()
            self.tick = before + 1
            return Plan(before)

    loop = Careless()
    ranges = planned_ranges(loop, 500)
    assert sum(count for _, count in ranges) == THREADS * 500
    assert loop.tick < THREADS * 500
    assert gaps(ranges) > 0


@pytest.mark.usefixtures("_impatient")
def test_an_iterator_that_eight_threads_share_gives_every_step_once(native: Core) -> None:
    plan = native.FrameLoop(Timestep(10), StepBudget(40_000), start=Timestamp(0)).begin_frame(
        Timestamp(10**6)
    )
    steps = plan.steps()
    taken: list[tuple[int, ...]] = []

    def drain() -> None:
        for step in steps:
            taken.append(tuple(step))

    together(drain)
    assert len(taken) == plan.step_count == 40_000
    assert sorted(taken) == [(tick, 10, 10 * tick) for tick in range(40_000)]
    assert len(steps) == 0


@pytest.mark.usefixtures("_impatient")
def test_a_tally_that_eight_threads_share_counts_every_frame(native: Core) -> None:
    plan = native.FrameLoop(Timestep(10), StepBudget(3), start=Timestamp(0)).begin_frame(
        Timestamp(95)
    )
    stats = native.FrameStats()

    def absorb() -> None:
        for _ in range(FRAMES):
            stats.absorb(plan)

    together(absorb)
    assert (plan.step_count, plan.dropped) == (3, 6)
    assert stats.frames == THREADS * FRAMES
    assert stats.ticks == 3 * THREADS * FRAMES
    assert stats.steps_dropped == 6 * THREADS * FRAMES


@pytest.mark.usefixtures("_impatient")
def test_a_loop_shared_by_threads_against_the_rules_crashes_nothing(core: Core) -> None:
    loop, stats = core.FrameLoop(Timestep(10), start=Timestamp(0)), core.FrameStats()
    seeds = itertools.count()
    refused: list[RuntimeError] = []

    def hammer() -> None:
        seed = next(seeds)
        for k in range(300):
            plan = loop.begin_frame(Timestamp(k * 7 + seed))
            for _ in plan.steps():
                plan.alpha()
            stats.absorb(plan)
            loop.resync(Timestamp(k))
            if k % 50 == 0:
                copy.copy(loop)
                try:
                    loop.begin_frames(array("Q", [k, k + 1]), stats)
                except RuntimeError as error:
                    refused.append(error)

    together(hammer)
    assert 0 <= loop.remainder < 10
    assert stats.frames > 0
    assert all("One loop belongs to one thread" in str(error) for error in refused)


def run_script(script: str, *arguments: str) -> str:
    """What `script` printed, in a process of its own that ended well."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


PLAY = """
import fixedstep
def play(core, frames):
    loop = core.FrameLoop(fixedstep.Rate(60_000, 1_001), fixedstep.StepBudget(3), start=0)
    stats = core.FrameStats()
    for k in range(frames):
        plan = loop.begin_frame(fixedstep.Timestamp(k * 9_000_000 + k % 7 * 11_000_000))
        for step in plan.steps():
            pass
        stats.absorb(plan)
    return stats.json()
"""

INTERPRETERS = (
    f"PLAY = {PLAY!r}\n{PLAY}"
    """
import importlib, sys, threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def new(own):
    if sys.version_info >= (3, 13):
        return interpreters.create("isolated" if own else "legacy")
    return interpreters.create(isolated=own)

def run(one, script):
    if sys.version_info >= (3, 13):
        failed = interpreters.exec(one, script)
        assert failed is None, failed
    else:
        interpreters.run_string(one, script)

own, count = sys.argv[1] == "own", int(sys.argv[2])
name = f"fixedstep.{sys.argv[3]}"
core = importlib.import_module(name)
expected = play(core, 3_000)
script = f'''
import sys
sys.path[:] = {sys.path!r}
{PLAY}
import importlib
core = importlib.import_module({name!r})
assert play(core, 3_000) == {expected!r}
kept = core.FrameLoop(start=0).begin_frame(10**9), core.FrameLoop(start=0)
'''
ended = []
def work():
    one = new(own)
    run(one, script)
    run(one, script)
    interpreters.destroy(one)
    ended.append(one)

threads = [threading.Thread(target=work) for _ in range(count)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert play(core, 3_000) == expected
print(len(ended), expected)
"""
)


@pytest.mark.parametrize("gil", ["own", "shared"])
@pytest.mark.parametrize("count", [1, 4])
def test_other_interpreters_run_the_same_core_with_the_same_digest(
    core: Core, gil: str, count: int
) -> None:
    """Types of their own in each; with a GIL of their own, from 3.12 on, they run side by side."""
    printed = run_script(INTERPRETERS, gil, str(count), core.__name__.rpartition(".")[2])
    assert printed.startswith(f'{count} {{"frames":3000,')


FORK = (
    PLAY
    + """
import importlib, os, sys, threading
core = importlib.import_module(f"fixedstep.{sys.argv[1]}")
loop = core.FrameLoop(fixedstep.Timestep(10), start=0)
loop.begin_frame(fixedstep.Timestamp(12_345))
done = threading.Event()
hashed = []
def hash_all_the_time():
    data = bytes(2**18)
    while not done.is_set():
        hashed.append(core.StateHash().absorb_bytes(data).finish())
busy = threading.Thread(target=hash_all_the_time)
busy.start()
while not hashed:
    pass
for _ in range(20):
    read, write = os.pipe()
    child = os.fork()
    plan = loop.begin_frame(fixedstep.Timestamp(loop.last + 33))
    text = repr((plan, loop, play(core, 50)))
    if child == 0:
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        assert pipe.read().decode() == text
    assert os.waitpid(child, 0)[1] == 0
done.set()
busy.join()
assert len(set(hashed)) == 1
print("forks agree", loop.tick)
"""
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process cannot be forked on this system")
def test_a_fork_goes_on_where_its_parent_stood(core: Core) -> None:
    """Twenty times, with another thread in the middle of a hash: no lock of ours can be held."""
    script = "import warnings; warnings.simplefilter('ignore')\n" + FORK
    assert run_script(script, core.__name__.rpartition(".")[2]).startswith("forks agree ")


def test_a_free_threaded_interpreter_stays_without_its_gil(native: Core) -> None:
    """Importing the C core does not bring the GIL back; where there always is one, it stays."""
    enabled = run_script(
        "import sys; import fixedstep.native\n"
        "print(getattr(sys, '_is_gil_enabled', lambda: True)())"
    )
    assert enabled.strip() == str(not sysconfig.get_config_var("Py_GIL_DISABLED"))
