"""``fixedstep demo --headless``: one line that every process and both cores print alike.

The numbers are those of the original Rust crate's sample, which was run once and is quoted here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep.cli import headless, main

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Core

LINE = (
    "renew-frame sample=hello_triangle seed=0 frames=600 ticks=600 dropped=0 "
    "schedule_hash=0x55ce27c8dcb97c4d state_hash=0x5d3ec02c32278af9\n"
)


def run(*arguments: str, backend: str = "auto") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fixedstep", "demo", "--headless", *arguments],
        env=dict(os.environ, FIXEDSTEP_BACKEND=backend),
        capture_output=True,
        text=True,
        check=False,
    )


def test_three_processes_and_both_cores_print_the_line_of_the_original(
    backend_setting: str,
) -> None:
    for _ in range(3):
        ended = run("--frames", "600", backend=backend_setting)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, LINE, "")


@pytest.mark.parametrize("other", [("--frames", "601"), ("--frames", "600", "--seed", "1")])
def test_another_run_prints_another_line(
    other: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--headless", *other]) == 0
    line = capsys.readouterr().out
    assert line.startswith("renew-frame sample=hello_triangle seed=")
    assert line.partition("state_hash=")[2] != LINE.partition("state_hash=")[2]


def test_seeds_of_one_remainder_give_one_state(capsys: pytest.CaptureFixture[str]) -> None:
    lines = []
    for seed in ("3", "10"):
        assert main(["demo", "--headless", "--frames", "60", "--seed", seed]) == 0
        lines.append(capsys.readouterr().out.split(" ", 3))
    assert [line[2] for line in lines] == ["seed=3", "seed=10"]
    assert lines[0][3] == lines[1][3]


def test_the_json_keeps_what_must_agree_apart_from_what_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "stats.json"
    found: list[Any] = []
    for _ in range(2):  # the second time over the first
        arguments = ["--frames", "600", "--json", "--dump-stats", str(file)]
        assert main(["demo", "--headless", *arguments]) == 0
        printed = capsys.readouterr().out
        assert file.read_text(encoding="ascii") == printed
        found.append(json.loads(printed))
    assert [path.name for path in tmp_path.iterdir()] == ["stats.json"]
    assert (
        found[0]["gated"]
        == found[1]["gated"]
        == {
            "seed": 0,
            "frames": 600,
            "ticks": 600,
            "steps_dropped": 0,
            "schedule_hash": "0x55ce27c8dcb97c4d",
            "state_hash": "0x5d3ec02c32278af9",
        }
    )
    assert set(found[0]) == {"gated", "measured"}
    measured = found[0]["measured"]
    assert measured["count"] == 600
    assert 0 < measured["min_ns"] <= measured["p50_ns"] <= measured["max_ns"] <= measured["sum_ns"]


def test_the_dump_is_written_beside_the_line(tmp_path: Path) -> None:
    ended = run("--frames", "600", "--dump-stats", str(tmp_path / "stats"))
    assert (ended.returncode, ended.stdout) == (0, LINE)
    assert json.loads((tmp_path / "stats").read_text())["gated"]["frames"] == 600


def test_cores_that_differ_are_exit_code_1(
    native: Core, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play = headless.play

    def planted(core: Any, seed: int, *others: Any) -> Any:
        """The reference counts by another number."""
        return play(core, seed + core.__name__.endswith("reference"), *others)

    monkeypatch.setattr(headless, "play", planted)
    assert main(["demo", "--headless", "--frames", "5"]) == 1
    assert "fixedstep.reference" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--headless"], "--headless needs --frames"),
        (["--frames", "5"], "--frames is for a demo with --headless"),
        (["--seed", "0"], "--seed is for a demo with --headless"),
        (["--json"], "--json is for a demo with --headless"),
        (["--dump-stats", "x"], "--dump-stats is for a demo with --headless"),
        (["--headless", "--frames", "0"], "frames must be 1 .. 1000000000, not 0"),
        (["--headless", "--frames", "1.5"], "frames must be a whole number"),
        (["--headless", "--frames", "5", "--seed", "-1"], "seed must be 0 .. "),
        (["--headless", "--frames", "5", "--seed", str(2**64)], "seed must be 0 .. "),
        (["--headless", "--frames", "5", "--hz", "60"], "--hz is for a demo without --headless"),
        (["--headless", "--frames", "5", "--budget", "5"], "--budget is for a demo without"),
        (["--headless", "--frames", "5", "--seconds", "1"], "--seconds is for a demo without"),
        (["--headless", "--frames", "5", "--record", "x"], "--record is for a demo without"),
    ],
)
def test_what_cannot_be_run_is_exit_code_2_and_one_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


def test_a_dump_that_cannot_be_written_is_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--headless", "--frames", "5", "--dump-stats", str(tmp_path / "a/b")]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "No such file" in err
