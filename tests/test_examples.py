"""The example programs do what they say, and so do the examples in the docstrings of floor 3 and of
`fixedstep.testing`.

The programs are part of the checkout, not of the package, and are run as a reader would run them:
by their path, in a process of their own, with nothing but the installed library.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from tests.conftest import Core

# How many examples each module shows, at least. Fewer means that a docstring stopped being run.
DOCSTRINGS = {
    "fixedstep.sim.exact": 2,
    "fixedstep.sim.frame_clock": 13,
    "fixedstep.sim.interpolation": 3,
    "fixedstep.sim.game_loop": 15,
    "fixedstep.testing.invariance": 9,
    "fixedstep.testing.profiles": 5,
    "fixedstep.testing.strategies": 8,
}
PUBLIC = ["fixedstep.sim", "fixedstep.testing"]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented_with_an_example(name: str) -> None:
    """Whatever a user calls. Results, enumerations and exceptions are seen in these examples."""
    package = importlib.import_module(name)
    assert len(package.__all__) >= 5
    shown = []
    for public in package.__all__:
        value = getattr(package, public)
        assert isinstance(value, float) or value.__doc__, public
        if callable(value) and not (
            isinstance(value, type) and issubclass(value, (tuple, Enum, Exception))
        ):
            shown.append(public)
            assert ">>> " in (value.__doc__ or ""), public
    assert len(shown) >= 4


@pytest.fixture(scope="module")
def program(source: Path) -> Path:
    """The strategy game, beside the C sources in a checkout; --no-source leaves both out."""
    path = source.parent / "examples" / "continuous_rts.py"
    assert path.is_file(), f"no example at {path}"
    return path


def run(program: Path, folder: Path, core: str) -> str:
    """What the program prints, run from a folder that has nothing of the library in it."""
    found = subprocess.run(
        [sys.executable, str(program)],
        cwd=folder,
        env=os.environ | {"FIXEDSTEP_BACKEND": core, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    return found.stdout


@pytest.fixture(scope="module")
def printed(program: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return run(program, tmp_path_factory.mktemp("elsewhere"), "reference").splitlines()


def the_line(printed: list[str], start: str) -> str:
    [line] = [line for line in printed if line.startswith(start)]
    return line


class Frame(NamedTuple):
    """What a line of the program says about a frame."""

    frame: int
    speed: str
    wall: str
    visual: str
    canonical: str
    army: str


@pytest.mark.parametrize(
    "expected",
    [
        Frame(31, "1x", "0.500", "00:00 + 0.500m", "00:00", "army waits at 2"),
        Frame(
            3329,
            "5x",
            "54.900",
            "04:30 + 0.500m",
            "04:30",
            "progress=25.0% (2 -> 3, authoritative_location=2)",
        ),
        Frame(
            3390,
            "paused",
            "55.900",
            "04:30 + 0.500m",
            "04:30",
            "progress=25.0% (2 -> 3, authoritative_location=2)",
        ),
        Frame(
            5847,
            "20x",
            "96.440",
            "18:01 + 0.300m",
            "18:01",
            "progress=100.0% (2 -> 3, authoritative_location=3)",
        ),
    ],
    ids=lambda frame: str(frame.frame),
)
def test_a_frame_of_the_session_shows_its_three_clocks(printed: list[str], expected: Frame) -> None:
    line = the_line(printed, f"frame={expected.frame:5} ")
    found = re.fullmatch(
        r"frame= *(\d+) speed=(\S+) +wall= *([\d.]+)s visual_time=Day 0, (.*m) "
        r"canonical_time=Day 0, (\d\d:\d\d) (.*)",
        line,
    )
    assert found is not None, line
    number, *rest = found.groups()
    assert Frame(int(number), *rest) == expected


def test_the_click_between_two_minutes_is_due_at_the_second(printed: list[str]) -> None:
    line = the_line(printed, "INPUT: ")
    assert "captured_at=Day 0, 00:00 + 0.500m, quantized_due_at=Day 0, 00:01" in line


def test_the_events_of_the_session_come_in_their_order_and_at_their_minutes(
    printed: list[str],
) -> None:
    events = [line.split(maxsplit=5)[1:6] for line in printed if line.startswith("EVENT: ")]
    assert [(" ".join(event[:3]), event[3]) for event in events] == [
        ("at=Day 0, 00:01", "type=move_ordered"),
        ("at=Day 0, 18:01", "type=army_arrived"),
        ("at=Day 0, 18:01", "type=knowledge_updated"),
        ("at=Day 0, 18:01", "type=report_dispatched"),
    ]


def test_the_last_line_says_that_the_frame_rate_had_no_part_in_it(printed: list[str]) -> None:
    assert re.fullmatch(
        "FPS INVARIANT: 16/17 ms frames=5850, 33/34 ms frames=2881, 40/41 ms frames=2384, "
        "6/7/7 ms frames=14472 -> time=Day 0, 18:02, events=4, commands=1, boundaries=2, "
        "state_hash=0x[0-9a-f]{16}, checkpoint=0x[0-9a-f]{16}",
        printed[-1],
    )


def test_both_cores_print_the_same(
    native: Core, program: Path, printed: list[str], tmp_path: Path
) -> None:
    assert run(program, tmp_path, "native").splitlines() == printed
    assert len(printed) > 10


@pytest.fixture
def example(program: Path) -> ModuleType:
    """The program as a module, for looking at its sessions."""
    spec = importlib.util.spec_from_file_location("continuous_rts", program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_machine_has_the_same_events_orders_world_and_hash(example: ModuleType) -> None:
    """What the program compares minute by minute, compared once more at the end, field by field."""
    hosts = [example.Host(machine, talks=False) for machine in example.MACHINES]
    minutes = [[state["minute"] for state in host.play()] for host in hosts]
    assert minutes == [list(range(1, 1_083))] * 4
    assert [host.frames for host in hosts] == [5_850, 2_881, 2_384, 14_472]
    worlds = [host.world for host in hosts]
    assert len({host.checkpoint() for host in hosts}) == 1
    assert [event.kind for event in worlds[0].events] == [
        "move_ordered",
        "army_arrived",
        "knowledge_updated",
        "report_dispatched",
    ]
    assert worlds[0].obeyed == [example.Order(due=1, destination=3)]
    for world in worlds:
        assert vars(world) == vars(worlds[0])
        assert world.digest() == worlds[0].digest()
        assert (world.location, world.departed, world.arrives) == (3, 1, 1_081)


def test_a_digest_sees_every_part_of_the_world(example: ModuleType) -> None:
    """The control: equal digests would mean little if they left something out."""
    host = example.Host(example.MACHINES[0], talks=False)
    for _ in host.play():
        pass
    before, checkpoint = host.world.digest(), host.checkpoint()
    world = vars(host.world)
    order = example.Order(5, 6)
    changes: dict[str, Any] = {
        "minute": 1,
        "location": 9,
        "destination": 9,
        "departed": 9,
        "arrives": 9,
        "obeyed": [order],
        "events": world["events"][:-1],
    }
    assert changes.keys() == world.keys()
    for name, value in changes.items():
        kept, world[name] = world[name], value
        assert host.world.digest() != before, name
        world[name] = kept
    assert host.world.digest() == before
    host.game.set_speed(5)
    assert host.checkpoint() != checkpoint


def test_the_program_stops_when_an_order_counts_from_the_frame_that_polled_it(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of its last line: the fault that the program is about, planted into it."""

    def click(host: Any, now: int) -> None:
        host.game.post(example.SECOND_NODE, at=host.frames * 10**8)  # later, the more there were

    monkeypatch.setattr(example.Host, "_click", click)
    with pytest.raises(AssertionError, match=r"^tick 3, world: '0x\w+' under 16/17 ms and "):
        example.main()


@pytest.mark.toolkit
@pytest.mark.parametrize("toolkit", ["pygame"])
def test_the_window_of_fewer_than_sixty_lines_records_what_its_player_did(
    program: Path, tmp_path: Path, toolkit: str
) -> None:
    path = program.parent / "keyboard_and_mouse.py"
    assert len(path.read_text().splitlines()) < 60
    script = f"""
import runpy, sys, {toolkit}
import fixedstep.host.pygame_window as adapter
sys.argv = ["", "game.jsonl"]
frames, show = 0, adapter.PygameWindow._show
def shown(window, alpha):
    global frames
    frames += 1
    post = lambda kind, **fields: pygame.event.post(pygame.event.Event(kind, **fields))
    if frames == 5:
        post(pygame.KEYDOWN, key=pygame.K_d)
        post(pygame.MOUSEMOTION, rel=(7, 0))
    if frames == 15:
        post(pygame.MOUSEBUTTONDOWN, button=1)
        post(pygame.MOUSEBUTTONUP, button=1)
    if frames == 30:
        post(pygame.QUIT)
    show(window, alpha)
adapter.PygameWindow._show = shown
world = runpy.run_path({str(path)!r})["session"].world
print(world.x.current > 320_000, world.aim, world.shots)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "True 7 1"
    ticks = list(importlib.import_module("fixedstep.records").Recording(tmp_path / "game.jsonl"))
    assert len(ticks) >= 15
    assert sum(tick.given.input["fire"].pressed for tick in ticks) == 1
    assert sum(tick.given.input["aim"].axis for tick in ticks) == 7
