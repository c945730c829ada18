"""The tutorial is true: every file, edit and command on the page is carried out as printed, in an
empty folder, and prints what the page says.

Twice. Once in real time, as a reader has it: what is printed then agrees but for the numbers. And
once on a clock that nothing disturbs: then every number agrees, down to the digest. A player that
Python loads at its start presses the keys and closes the window; the game is the page's.

What is not done here is to make a virtual environment and install from the network: the packages
that run are those that the suite runs with. checks/newcomer does that as well.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from tests.walkthrough import Ran, Reader

pytestmark = pytest.mark.toolkit

# A sitecustomize, which Python imports when it starts. In the frames that the script says, keys go
# down (+) and up (-) and the window is closed. On "still", the clock moves by sleeping alone. How
# many different places the ball was drawn at goes to the error output.
PLAYER = """
import atexit, json, os, sys

def play(script, still):
    import pygame, time

    frame, clock, down, places = 0, 10**9, set(), set()

    def sleep(seconds):
        nonlocal clock
        clock += round(seconds * 10**9)

    def get():
        nonlocal frame
        pygame.event.pump()
        frame += 1
        events = []
        for key in script.get(str(frame), []):
            if key == "close":
                events.append(pygame.event.Event(pygame.QUIT))
                continue
            code = pygame.key.key_code(key[1:])
            (down.add if key[0] == "+" else down.remove)(code)
            kind = pygame.KEYDOWN if key[0] == "+" else pygame.KEYUP
            events.append(pygame.event.Event(kind, key=code))
        return events

    class Pressed:
        def __getitem__(self, key):
            return key in down

    def circle(*arguments):
        places.add(arguments[2])
        drawn(*arguments)

    if still:
        time.perf_counter_ns, time.sleep = lambda: clock, sleep
    drawn = pygame.draw.circle
    pygame.event.get, pygame.key.get_pressed, pygame.draw.circle = get, Pressed, circle
    atexit.register(lambda: print(len(places), file=sys.stderr))

if sys.orig_argv[1:] == ["squash.py"]:
    play(json.loads(os.environ["PLAYER_SCRIPT"]), os.environ["PLAYER_CLOCK"] == "still")
"""

# What the player does each time the page has the game run.
Play: TypeAlias = "dict[int, list[str]]"
MOVES: Play = {10: ["+right"], 100: ["-right"]}
# On the still clock ten seconds are over at once.
PLAYS: list[Play] = [
    {180: ["close"]},
    {180: ["close"]},
    MOVES | {200: ["+p"], 201: ["-p"], 230: ["+p"], 231: ["-p"], 250: ["+s"], 400: ["close"]},
]
OUTPUTS = 4
# In real time they are not.
SHORT_PLAYS: list[Play] = [
    {40: ["close"]},
    {40: ["close"]},
    {10: ["+right"], 20: ["-right"], 40: ["close"]},
]


def walkthrough() -> ModuleType:
    """The file beside this one. It is no test, and the suite's tests are no package."""
    path = Path(__file__).with_name("walkthrough.py")
    spec = importlib.util.spec_from_file_location("walkthrough", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Walk:
    """The page in a folder of its own."""

    def __init__(
        self,
        page: str,
        folder: Path,
        plays: list[Play],
        clock: str,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._module: Any = walkthrough()
        self._plays = plays
        self.places: list[int] = []
        self.logged: list[str] = []
        player = folder / "player"
        player.mkdir()
        (player / "sitecustomize.py").write_text(PLAYER, encoding="utf-8")
        environment = {
            **environment,
            "SDL_VIDEODRIVER": "dummy",
            "PYGAME_HIDE_SUPPORT_PROMPT": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(player),
            "PLAYER_CLOCK": clock,
        }
        self.reader: Reader = self._module.Reader(folder / "squash", environment, self.shell)
        self.reader.read(page)

    def install(self, commands: str, folder: Path, environment: Mapping[str, str]) -> Ran:
        """Set up, without the network: the folder, with the suite's own packages in place of a new
        environment. checks/newcomer has another way, which is the page's."""
        (folder / "squash").mkdir()
        (folder / "squash" / ".venv").symlink_to(sys.prefix, target_is_directory=True)
        *_, last = commands.splitlines()
        assert last == ".venv/bin/python -m fixedstep info"
        return self.run(last, folder / "squash", environment)

    def run(self, commands: str, folder: Path, environment: Mapping[str, str]) -> Ran:
        """Run commands to their end."""
        ran: Ran = self._module.run(["bash", "-euc", commands], folder, environment)
        return ran

    def shell(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> Ran:
        """What the reader calls for a block of commands."""
        commands = command[-1]
        if "-m venv .venv" in commands:
            return self.install(commands, folder.parent, environment)
        if "squash.py" not in commands:
            return self.run(commands, folder, environment)
        assert commands == ".venv/bin/python squash.py\n"
        script = json.dumps(self._plays[len(self.places)])
        played = self.run(commands, folder, {**environment, "PLAYER_SCRIPT": script})
        assert played.code == 0, played.err
        *logged, places = played.err.splitlines()
        self.logged += logged
        self.places.append(int(places))
        return played


@pytest.fixture(scope="module", params=["pygame"])
def toolkit(request: pytest.FixtureRequest) -> str:
    """What --toolkit has to ask for."""
    return str(request.param)


@pytest.fixture(scope="module")
def page(source: Path, toolkit: str) -> str:
    """The page, beside the C sources in a checkout; --no-source leaves both out."""
    return (source.parent / "docs" / "tutorial.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def still(page: str, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    return Walk(page, tmp_path_factory.mktemp("still"), PLAYS, "still")


def test_the_tutorial_is_true_in_real_time(page: str, tmp_path: Path) -> None:
    """A window that cannot be opened, an edit that does not fit, a program that fails or prints
    something else than the page says: each is an error with its line."""
    walk = Walk(page, tmp_path, SHORT_PLAYS, "real")
    assert len(walk.places) == len(SHORT_PLAYS)
    assert len(walk.reader.outputs) == OUTPUTS


def test_every_number_on_the_page_is_what_a_player_of_these_keys_gets(still: Walk) -> None:
    assert len(still.places) == len(PLAYS)
    assert len(still.reader.outputs) == OUTPUTS
    for output in still.reader.outputs:
        assert output.printed == output.said, f"line {output.block.line}"


def test_the_stall_is_logged_as_the_page_says(still: Walk, page: str) -> None:
    (logged,) = still.logged
    assert f"`{logged}`" in " ".join(page.split())


def test_a_replay_ends_as_the_game_did(still: Walk) -> None:
    """What the page is for, asserted apart from how it is worded."""
    game, replay = (output.printed.splitlines() for output in still.reader.outputs[-2:])
    hits, misses, ticks = (int(word) for word in game[0].split() if word.isdigit())
    assert hits > 0
    assert misses > 0
    assert replay == [f"EQUAL: {ticks} ticks compared"]


def test_alpha_draws_the_ball_between_its_ticks(still: Walk) -> None:
    """180 frames and 60 ticks: without alpha the ball is drawn at the places of its ticks and
    nowhere else, with it in nearly every frame at another."""
    without, between, *_ = still.places
    assert without == 61
    assert between > 170
