"""What was promised stays: names, digests, and files that earlier releases wrote.

Three kinds of evidence. ``stability/public.txt`` lists every public name, command and format; what
the library has today must be that list. Frozen digests are listed here with their numbers. And
for each version of each format a file lies in ``stability/`` that was written once, by the release
that introduced it, and is never written again: today's code must read it, and write the same where
it writes that version. docs/stability.md says what may change when.
"""

from __future__ import annotations

import importlib.util
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests import test_stored_files

import fixedstep
from fixedstep import FrameTiming, Nanos, Rate, StepBudget, Timestamp, Timestep
from fixedstep.cli import demo
from fixedstep.records import recording, trace
from fixedstep.sim import (
    ActionState,
    Cadence,
    Deadline,
    FrameClock,
    Session,
    TickInput,
)
from fixedstep.testing import FrameProfile

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tests.conftest import Core

TESTS = Path(__file__).parent
STORED = TESTS / "stability"
CAPTURES = TESTS / "data" / "captures"

HOW_TO_CHANGE = """
The public list has changed. What is gone or reads otherwise breaks programs: that needs a release
whose number says so, and a warning in the release before it. What is new needs a line in
CHANGELOG.md. If the change is meant, write the list again, and look at its difference:

    python tests/stability/describe.py > tests/stability/public.txt
"""

HOW_A_DIGEST_CHANGES = """
A frozen digest has changed, and with it every digest that anybody recorded. If that is meant, it
needs a new version of the formats that hold it, a line in bold in CHANGELOG.md, and a new number
here that was computed by something other than this code.
"""


# 1. Names.


@pytest.fixture(scope="module")
def describe() -> ModuleType:
    """The script that makes the list."""
    spec = importlib.util.spec_from_file_location("describe", STORED / "describe.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_public_names_commands_and_formats_are_those_of_the_list(
    describe: ModuleType,
) -> None:
    listed = (STORED / "public.txt").read_text(encoding="utf-8").splitlines()
    found = describe.public()
    gone = [line for line in listed if line not in found]
    new = [line for line in found if line not in listed]
    assert len(listed) > 400
    assert (gone, new) == ([], []), HOW_TO_CHANGE
    assert found == listed, HOW_TO_CHANGE


def test_a_changed_signature_is_seen_in_the_list(describe: ModuleType) -> None:
    """The control: parameters that are renamed, moved, or lose their default."""

    def before(a: int, /, b: int = 1, *, c: str = "x") -> None: ...
    def renamed(a: int, /, z: int = 1, *, c: str = "x") -> None: ...
    def by_place(a: int, b: int = 1, *, c: str = "x") -> None: ...
    def needed(a: int, /, b: int = 1, *, c: str) -> None: ...

    assert describe.signature(before) == "(a, /, b=1, *, c='x')"
    assert len({describe.signature(f) for f in (before, renamed, by_place, needed)}) == 4


@pytest.mark.parametrize("name", fixedstep.reference.__all__)
def test_the_native_types_have_what_the_list_says_of_the_reference(
    native: Core, name: str, describe: ModuleType
) -> None:
    lines = [line for line in describe.public() if line.startswith(f"fixedstep.{name}.")]
    for line in lines:
        member = re.match(rf"fixedstep\.{name}\.(\w+)", line)
        assert member is not None
        assert hasattr(getattr(native, name), member[1]), line


# 2. Digests.


def a_hash(core: Core) -> Any:
    return core.StateHash()


def a_plan(core: Core, timestep: Timestep | Rate) -> Any:
    return core.FramePlan(7, 2, 3, 5, timestep)


def a_run(core: Core, timestep: Timestep | Rate) -> int:
    """Stalls, a clock that goes back, and a resync."""
    loop, stats = core.FrameLoop(timestep, StepBudget(5), start=Timestamp(0)), core.FrameStats()
    for now in (16_666_667, 33_000_000, 33_000_000, 32_000_000, 533_000_000, 550_000_001):
        stats.absorb(loop.begin_frame(Timestamp(now)))
    loop.resync(Timestamp(2**40))
    stats.absorb(loop.begin_frame(Timestamp(2**40 + 17_000_000)))
    assert stats.steps_dropped > 0
    return int(stats.schedule_hash)


def an_input(core: Core) -> int:
    given = TickInput(
        {"fire": ActionState(True, -250, 2, 1, False), "jump": ActionState(cancelled=True)},
    )
    return given.absorb_into(core.StateHash()).finish()


def a_world(core: Core) -> int:
    world = demo.World()
    for step in core.FramePlan(0, 120, 0, 0, Timestep.HZ_60).steps():
        world = world.step(step)
    return world.digest(core.StateHash())


def a_session(core: Core) -> int:
    class World:
        x = 42

        def step(self, given: Any, tick: Any) -> None:
            self.x = (self.x * 6364136223846793005 + 1442695040888963407) % 2**64

    game: Session[World] = Session(World)
    game.run_ticks(8)
    return core.StateHash().absorb_u64(game.world.x).finish()


FROZEN: dict[str, tuple[Callable[[Core], int], int]] = {
    "absorb_bytes": (
        lambda core: a_hash(core).absorb_bytes(b"foobar").finish(),
        0x85944171F73967E8,
    ),
    "absorb_u64": (
        lambda core: a_hash(core).absorb_u64(0x0102030405060708).finish(),
        0x0C6D4496E17859D5,
    ),
    "absorb_u32": (lambda core: a_hash(core).absorb_u32(0x01020304).finish(), 0xB345225E3644EDB5),
    "absorb_i64": (lambda core: a_hash(core).absorb_i64(-2).finish(), 0xFC1A35225397861C),
    "absorb_f32_bits": (
        lambda core: a_hash(core).absorb_f32_bits(-0.1).finish(),
        0x8489E9DCE23F36D7,
    ),
    "absorb_f64_bits": (
        lambda core: a_hash(core).absorb_f64_bits(-0.1).finish(),
        0x4FA11CC0EEC3EA44,
    ),
    "absorb_plan": (
        lambda core: a_hash(core).absorb_plan(a_plan(core, Timestep(10))).finish(),
        0xFC2D3F8C194D4A0C,
    ),
    "absorb_plan of a Rate": (
        lambda core: a_hash(core).absorb_plan(a_plan(core, Rate(60_000, 1001))).finish(),
        0x25FA5C4731D4F4E8,
    ),
    "FrameStats of a Timestep": (lambda core: a_run(core, Timestep.HZ_60), 0xA7137737E8B2A17B),
    "FrameStats of a Rate": (lambda core: a_run(core, Rate(60)), 0x6B58A4F9A6A9CF86),
    "TickInput.absorb_into": (an_input, 0x388D74B6F3EB3E95),
    "the world of the demo": (a_world, 0xEC5A5B81D4411171),
    "a session's last tick": (a_session, 0xA587602EC3EF7748),
}


@pytest.mark.parametrize("name", FROZEN)
def test_a_frozen_digest_is_what_it_was(core: Core, name: str) -> None:
    compute, number = FROZEN[name]
    assert f"0x{compute(core):016x}" == f"0x{number:016x}", HOW_A_DIGEST_CHANGES


def test_no_two_frozen_digests_are_equal_and_each_absorption_has_one(core: Core) -> None:
    """The control: a digest of nothing would be the basis, again and again."""
    numbers = [number for _, number in FROZEN.values()]
    assert len(set(numbers) | {core.StateHash().finish()}) == len(FROZEN) + 1
    for name in dir(core.StateHash):
        if name.startswith("absorb_"):
            assert name in FROZEN


def test_the_strategy_example_ends_in_its_frozen_state(source: Path) -> None:
    example = source.parent / "examples" / "continuous_rts.py"
    ended = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    assert ended.stdout.endswith(
        "state_hash=0x453e542bc6a2277d, checkpoint=0x4c75d8f1010e409b\n"
    ), HOW_A_DIGEST_CHANGES


# 3. Files.


def objects(core: Core) -> list[Any]:
    """One of each type that has a pickle, with something in it."""
    loop = core.FrameLoop(Rate(60_000, 1001), StepBudget(3), Timestamp(5))
    plan = loop.begin_frame(Timestamp(400_000_000))
    steps = plan.steps()
    next(steps)
    stats = core.FrameStats()
    stats.absorb(plan)
    timing = FrameTiming()
    timing.record(Nanos(16_000_000), True)
    return [
        loop,
        core.FrameLoop(Timestep(10), StepBudget(5), Timestamp(7)),
        plan,
        steps,
        core.Step(1, Nanos(10), Nanos(10)),
        core.StateHash().absorb_u64(7),
        stats,
        core.FrameLoop(Timestep(10), start=Timestamp(0)).begin_frames(map(Timestamp, (5, 31, 90))),
        timing,
        FrameClock(),
        TickInput({"jump": ActionState(True, 0, 1, 0, False)}),
        Timestep.HZ_60,
        Rate(60),
        StepBudget(4),
        Deadline(5),
        Cadence(4, 3),
        FrameProfile([1, 2], "two"),
    ]


def analysis(form: str) -> Callable[[Core], bytes]:
    def printed(core: Core) -> bytes:
        """In the folder of the captures, so that no other path is in it."""
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "fixedstep", "analyze", "--resync-over", "50", form),
                *("presentmon-1.csv", "own.trace", "missing.csv"),
            ],
            capture_output=True,
            cwd=CAPTURES,
            check=False,
        )
        assert ended.returncode == 2
        return ended.stdout

    return printed


def stats_json(core: Core) -> bytes:
    return str(objects(core)[6].json()).encode()


def timing_json(core: Core) -> bytes:
    timing = FrameTiming()
    for number in range(1, 101):
        timing.record(Nanos(number * 200_000), number % 3 > 0)
    return timing.json().encode()


#: What is written byte for byte as it was by the first release with that version.
WRITTEN: dict[str, Callable[[Core], bytes]] = {
    "frame-stats.json": stats_json,
    "frame-timing.json": timing_json,
    "analysis-1.json": analysis("--json"),
    "analysis.csv": analysis("--csv"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_is_written_as_it_was(
    core: Core, backend_setting: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIXEDSTEP_BACKEND", backend_setting)
    assert WRITTEN[name](core).decode() == (STORED / name).read_text(encoding="utf-8"), (
        f"{name} would be written otherwise now. A format whose bytes change needs a new version, "
        "and a new file beside this one, which stays and must be read; docs/stability.md says more."
    )


def test_every_stored_file_is_asked_for() -> None:
    """A file that no test reads proves nothing, and one of each format's versions is here."""
    read = {*test_stored_files.WRITTEN, *test_stored_files.READ}
    read |= {"objects-native.pickle", "objects-reference.pickle"}
    made = {"describe.py", "public.txt"}
    there = {path.name for path in STORED.iterdir() if path.is_file()}
    assert there == set(WRITTEN) | read | made
    assert sum(path.stat().st_size for path in STORED.iterdir() if path.is_file()) < 100_000
    for form, version, name in (
        (trace.FORMAT, trace.VERSION, "trace"),
        (recording.FORMAT, recording.VERSION, "recording"),
        ("fixedstep-analysis", 1, "analysis"),
    ):
        versions = range(1, version + 1)
        for each in versions:
            (path,) = STORED.glob(f"{name}-{each}.json*")
            assert re.search(rf'"format": ?"{form}",\s*"version": ?{each}\b', path.read_text())


@pytest.mark.parametrize("maker", ["native", "reference"])
def test_a_stored_pickle_loads(core: Core, maker: str) -> None:
    """Made by either core. What is loaded is of the core that runs, and equal to what was saved."""
    with (STORED / f"objects-{maker}.pickle").open("rb") as file:
        found = pickle.load(file)
    expected = objects(core)
    assert [repr(one) for one in found] == [repr(one) for one in expected]
    assert found == expected
    assert found[0] != objects(core)[1]


# What another release wrote.


def test_a_pickle_of_another_release_is_refused_with_what_to_do(core: Core) -> None:
    restore, (kind, *state) = core.FrameLoop(start=Timestamp(0)).__reduce__()
    with pytest.raises(TypeError, match=r"has 6 or 8 values, not 7; .* another release saved it"):
        restore(kind, *state, 0)
    with pytest.raises(ValueError, match="what another release saved loads in that release"):
        restore("FrameLoop2", *state, 0)
