"""``fixedstep replay``: a recording against the game that a command line names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fixedstep.cli import main
from fixedstep.records import Recorder
from fixedstep.sim import Session

GAME = """
from fixedstep import StateHash
from fixedstep.sim import Session


class World:
    def __init__(self, speed):
        self.x, self.speed = 0, speed

    def step(self, input, tick):
        self.x += self.speed + 5 * input["jump"].pressed
        if self.x > 1000:
            raise KeyError("too far")

    def digests(self):
        return {"player": {"x": StateHash().absorb_u64(self.x)}}


def make_session(header):
    return Session(World, header.notes["speed"], buttons=["jump"])


def another():
    return Session(World, 4, buttons=["jump"])


def faulty():
    return Session(World, 10**6, buttons=["jump"])


class Games:
    @staticmethod
    def more():
        return Session(World, 3, buttons=["duck", "jump"])


def fewer():
    return Session(World, 3)


def broken():
    raise OSError("no display")


def wrong():
    return World(3)


number = 5
"""


@pytest.fixture
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A recording in a folder that holds the game too."""
    (tmp_path / "mygame.py").write_text(GAME)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mygame", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    import mygame  # type: ignore[import-not-found]

    session: Session[object] = Session(mygame.World, 3, buttons=["jump"])
    with Recorder("run.rec", session, notes={"speed": 3}):
        session.run_ticks(5)
        session.input.press("jump")
        session.run_ticks(5)
    return "run.rec"


@pytest.mark.parametrize("name", ["make_session", "Games.more"])
def test_the_game_that_was_recorded_is_equal(
    name: str, game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", game, f"mygame:{name}"]) == 0
    assert "EQUAL: 10 ticks compared" in capsys.readouterr().out


def test_the_first_divergence_is_named_with_its_sides(
    game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", game, "mygame:another"]) == 1
    out = capsys.readouterr().out
    assert "DIFFERENT: first divergence at tick 0\n" in out
    assert "field      player/x\n" in out
    assert "recording  0x" in out
    assert "replay     0x" in out


def test_an_exception_of_the_game_is_a_divergence_and_is_shown(
    game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", game, "mygame:faulty"]) == 1
    out = capsys.readouterr().out
    assert "field      fault\n" in out
    assert "recording  no fault\n" in out
    assert "the replay raised KeyError: 'too far'" in out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mygame", "is no module:function; mygame.main:make_session is one"),
        ("nowhere:make", "ModuleNotFoundError: No module named 'nowhere'"),
        ("mygame:missing", "has no attribute 'missing'"),
        ("mygame:number", "is no function, but a int"),
        ("mygame:broken", "cannot be used: OSError: no display"),
        ("mygame:wrong", "must return a Session, not a World"),
        ("mygame:fewer", "has the action 'jump', and this session does not"),
    ],
)
def test_a_game_that_cannot_be_used_is_one_line_and_exit_code_2(
    name: str, words: str, game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", game, name]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.err.count("\n") == 1


def test_a_damaged_or_empty_recording_is_exit_code_2(
    game: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path(game).read_text()
    Path("damaged.rec").write_text(text.replace("closed", "closer"))
    assert main(["replay", "damaged.rec", "mygame:make_session"]) == 2
    assert "damaged.rec, line 12: says 0x" in capsys.readouterr().err
    Path("empty.rec").write_text(text.splitlines(keepends=True)[0])
    assert main(["replay", "empty.rec", "mygame:make_session"]) == 2
    assert "nothing was compared" in capsys.readouterr().err
    assert main(["replay", "missing.rec", "mygame:make_session"]) == 2


def test_the_command_finds_a_game_in_the_current_folder(game: str) -> None:
    program = [sys.executable, "-P"] if sys.version_info >= (3, 11) else [sys.executable]
    done = subprocess.run(
        [*program, "-m", "fixedstep", "replay", game, "mygame:make_session"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "EQUAL: 10 ticks compared" in done.stdout
