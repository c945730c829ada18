"""What a type checker says about a user's program, against the package as it is installed.

``Nanos`` and ``Timestamp`` exist for this: at run time both are integers, and a delta handed to
``begin_frame`` gives a simulation that stands still. mypy runs strictly, in a folder of its own,
over the snippets below.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import sysconfig
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fixedstep
import fixedstep.sim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Core

assert fixedstep.__file__ is not None
PACKAGE = Path(fixedstep.__file__).resolve().parent

CLEAN = """
from array import array

from fixedstep import (
    Alpha,
    Backend,
    FrameLoop,
    FramePlan,
    FramePlans,
    FrameStats,
    FrameTiming,
    Nanos,
    Rate,
    StateHash,
    Step,
    StepBudget,
    Steps,
    Timestamp,
    Timestep,
    backend,
    saturating_add,
    saturating_since,
)
from fixedstep.host import now


class World:
    def __init__(self) -> None:
        self.position = 0

    def step(self, step: Step) -> None:
        self.position += step.dt >> 12
        self.position += step.tick + step.sim_time

    def digest(self) -> int:
        return StateHash().absorb_i64(self.position).absorb_f32_bits(0.5).finish()


def draw(world: World, alpha: Alpha) -> float:
    return world.position + alpha


def main() -> None:
    at = now()
    loop, stats, world = FrameLoop(Timestep.HZ_60, StepBudget(5), start=at), FrameStats(), World()
    timing = FrameTiming()
    for _ in range(3):
        before, at = at, now()
        plan: FramePlan = loop.begin_frame(at)
        steps: Steps = plan.steps()
        for step in steps:
            world.step(step)
        draw(world, plan.alpha())
        stats.absorb(plan)
        elapsed: Nanos = saturating_since(at, before)
        timing.record(elapsed, drawn=True)
        loop.resync(saturating_add(at, elapsed))
    plans: FramePlans = FrameLoop(Rate(60)).begin_frames(array("Q", [1, 2]), stats)
    whole: list[int] = [5, 10]
    FrameLoop().digest_frames(range(0, 1_000, 5), stats)
    assert FrameLoop().begin_frames(whole) == FrameLoop().begin_frames(map(int, whole))
    last: FramePlan = plans[-1]
    part: FramePlans = plans[1:]
    columns: list[memoryview] = [part.first_tick, part.step_count, part.dropped, part.remainder]
    timestep: Timestep | Rate = last.timestep
    chosen: Backend = backend()
    print(stats.json(), timing.json(), timing.percentile(99.9), world.digest())
    print(columns, timestep, chosen.name)


main()
"""

HEAD = """
from fixedstep import FrameLoop, FrameTiming, Nanos, Rate, StepBudget, Timestamp, Timestep
from fixedstep import saturating_add, saturating_since

loop = FrameLoop()
at, span = Timestamp(5), Nanos(5)
"""

WRONG = [
    ("loop.begin_frame(span)", 'has incompatible type "Nanos"; expected "Timestamp"'),
    (
        "for step in loop.begin_frame(at).steps(): loop.begin_frame(step.sim_time)",
        'has incompatible type "Nanos"; expected "Timestamp"',
    ),
    ("loop.resync(span)", 'has incompatible type "Nanos"; expected "Timestamp"'),
    ("FrameLoop(start=span)", 'has incompatible type "Nanos"; expected "Timestamp | None"'),
    ("saturating_since(at, span)", 'has incompatible type "Nanos"; expected "Timestamp"'),
    ("saturating_add(at, at)", 'has incompatible type "Timestamp"; expected "Nanos"'),
    ("FrameTiming().record(at, True)", 'has incompatible type "Timestamp"; expected "Nanos"'),
    ("at = saturating_since(at, at)", "Incompatible types in assignment"),
    ("span = saturating_add(at, span)", "Incompatible types in assignment"),
    ("span = loop.last", "Incompatible types in assignment"),
    ("at = loop.simulated", "Incompatible types in assignment"),
    ("loop.begin_frame(5)", 'has incompatible type "int"; expected "Timestamp"'),
    ("loop.begin_frame(5.0)", 'has incompatible type "float"; expected "Timestamp"'),
    ("loop.begin_frames([0.5])", "has incompatible type"),
    ("FrameLoop(16_666_667)", 'has incompatible type "int"; expected "Timestep | Rate"'),
    ("FrameLoop(Timestep(5), 5.0)", 'has incompatible type "float"; expected "StepBudget |'),
    ("Timestep(0.5)", 'has incompatible type "float"'),
    ("Rate('60')", 'has incompatible type "str"'),
    ("loop.tick = 5", "read-only"),
    ("loop.begin_frame(at).dropped = 5", "read-only"),
    ("class Mine(FrameLoop): ...", "final"),
    ("class Mine(Timestep): ...", "final"),
    ("class Mine(Rate): ...", "final"),
    ("class Mine(StepBudget): ...", "final"),
    ("Rate(0.5)", 'has incompatible type "float"'),
]


def mypy(folder: Path, sources: Sequence[str]) -> list[str]:
    """What mypy says of each source, in one run; a run costs seconds."""
    names = []
    for k, source in enumerate(sources):
        names.append(f"snippet_{k}.py")
        (folder / names[-1]).write_text(source, encoding="utf-8")
    (folder / "mypy.ini").write_text("[mypy]\nstrict = true\n")
    environment = dict(os.environ)
    environment.pop("MYPYPATH", None)
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}
    if PACKAGE.parent not in installed:  # the suite was told --allow-src
        environment["MYPYPATH"] = str(PACKAGE.parent)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "--no-error-summary", *names],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    lines = run.stdout.splitlines()
    strays = [line for line in lines if not line.startswith("snippet_")]
    assert strays == [], "the package itself must be clean"
    return ["\n".join(li for li in lines if li.startswith(f"{name}:")) for name in names]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    sources = {"clean": CLEAN, "head": HEAD} | {line: f"{HEAD}{line}\n" for line, _ in WRONG}
    folder = tmp_path_factory.mktemp("mypy")
    return dict(zip(sources, mypy(folder, list(sources.values())), strict=True))


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()
    assert (PACKAGE / "native.pyi").is_file()


@pytest.mark.parametrize("name", ["clean", "head"])
def test_a_correct_program_is_clean(answers: dict[str, str], name: str) -> None:
    assert answers[name] == ""


@pytest.mark.parametrize(("line", "says"), WRONG, ids=[line for line, _ in WRONG])
def test_a_mix_up_is_an_error(answers: dict[str, str], line: str, says: str) -> None:
    last = len(HEAD.splitlines()) + 1
    errors = [row for row in answers[line].splitlines() if ": error: " in row]
    assert len(errors) == 1
    assert f".py:{last}: error: " in errors[0]
    assert says in errors[0]


def public_members() -> list[Any]:
    """Each public class and function of the schedule and the simulation, and what is public in
    each class."""
    found: list[Any] = []
    values = [getattr(fixedstep.reference, n, getattr(fixedstep, n)) for n in fixedstep.__all__]
    values += [value for name, value in vars(fixedstep.sim).items() if not name.startswith("_")]
    for value in values:
        found.append(value)
        for member, inside in vars(value).items() if inspect.isclass(value) else ():
            if not member.startswith("_") or member in ("__new__", "__init__", "__getitem__"):
                call = getattr(inside, "fget", getattr(inside, "__func__", inside))
                found += [call] if inspect.isfunction(call) else []
    return [
        member
        for member in found
        if (inspect.isclass(member) or inspect.isfunction(member))
        and member.__module__.startswith("fixedstep")
        and "ArrayHistory." not in member.__qualname__  # numpy's types, imported when it is made
    ]


def test_the_type_hints_of_every_public_member_can_be_read_when_a_program_runs() -> None:
    """Tools read them (dependency injection, command lines), and 12 of these raised NameError."""
    members = public_members()
    assert len(members) > 200
    for member in members:
        hints = typing.get_type_hints(member)
        assert inspect.isclass(member) or hints, member


def test_the_stub_of_the_native_core_agrees_with_it(native: Core) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", native.__name__],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.splitlines()[-1]) == (
        0,
        "Success: no issues found in 1 module",
    )


def test_the_program_that_is_clean_also_runs() -> None:
    """Types that only a checker believes in would be no use."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", CLEAN], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert '"schedule_hash":"0x' in run.stdout
