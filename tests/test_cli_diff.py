"""``fixedstep diff``: its exit codes, what it prints, and files that are no recordings."""

from __future__ import annotations

import gzip
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fixedstep import FrameLoop, Rate, StateHash
from fixedstep.cli import main
from fixedstep.records import Recorder
from fixedstep.sim import Session


class World:
    """One number, and one that is always the same."""

    def __init__(self, step: int) -> None:
        self.x, self.by = 0, step
        self.fails_at = -1

    def step(self, input: Any, tick: Any) -> None:
        """Count on."""
        tick.enter("Motion")
        self.x += self.by + input["jump"].pressed
        if tick.number == self.fails_at:
            raise KeyError(object())
        tick.enter("Gameplay")

    def digests(self) -> dict[str, Any]:
        """The numbers."""
        return {"world": {"x": StateHash().absorb_u64(self.x)}, "same": 7}


def written(
    path: Path,
    ticks: int = 9,
    *,
    step: int = 3,
    other_from: int = -1,
    start: int = 0,
    phases: bool = False,
    press_at: int = -1,
    fails_at: int = -1,
    seed: int = 42,
    rate: int = 60,
    whole: bool = True,
) -> str:
    """A recording of a world with one number, as a file."""
    session = Session(World, step, buttons=["jump"], rate=Rate(rate))
    session.world.fails_at = fails_at
    session.run_ticks(start)
    with Recorder(path, session, notes={"seed": seed}, phases=phases):
        for number in range(start, start + ticks):
            if number == press_at:
                session.input.press("jump")
            if number == other_from:
                session.world.by += 1
            if session.fault is None:
                session.run_ticks(1)
    if not whole:
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "one.rec", tmp_path / "other.rec"


def test_equal_recordings_are_equal(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = map(written, files)
    assert main(["diff", one, other]) == 0
    out = capsys.readouterr().out
    assert "EQUAL: 9 ticks compared" in out
    assert "9 ticks, from tick 0" in out
    packed = files[0].with_suffix(".gz")
    packed.write_bytes(gzip.compress(files[0].read_bytes()))
    assert main(["diff", str(packed), other]) == 0


def test_the_code_is_the_same_where_nobody_reads_the_text(files: tuple[Path, Path]) -> None:
    one, other = written(files[0]), written(files[1], other_from=2)
    reader, writer = os.pipe()
    os.close(reader)
    program = [sys.executable, "-m", "fixedstep", "diff", one, other]
    with os.fdopen(writer, "wb") as nowhere:
        assert subprocess.run(program, stdout=nowhere, check=False).returncode == 1


@pytest.mark.parametrize(("phases", "phase"), [(False, ""), (True, "  phase +Motion\n")])
def test_a_divergence_is_named_with_exit_code_1(
    phases: bool, phase: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    one = written(files[0], phases=phases)
    assert main(["diff", one, written(files[1], other_from=4, phases=phases)]) == 1
    out = capsys.readouterr().out
    assert "DIFFERENT: first divergence at tick 4\n" in out
    assert re.search(
        rf"at tick 4\n{phase}  field +world/x\n +A +0x\w{{16}}\n +B +0x\w{{16}}\n", out
    )


def test_another_input_is_named_as_such(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", written(files[0]), written(files[1], press_at=3)]) == 1
    out = capsys.readouterr().out
    assert "first divergence at tick 3\n" in out
    assert re.search(r"field +input\n +A +\{\}\n +B +\{'jump': \[1, 0, 1, 0, 0\]\}\n", out)


def test_recordings_of_other_lengths_are_equal_as_far_as_both_go(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", written(files[0], 9), written(files[1], 4, whole=False)]) == 0
    out = capsys.readouterr().out
    assert "EQUAL: 4 ticks compared; only in A: 5, only in B: 0" in out
    assert "not whole: line 6 is missing: tick 4, or the end of the recording" in out


def test_a_fault_that_only_one_run_had_is_a_divergence(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", written(files[0]), written(files[1], fails_at=5)]) == 1
    out = capsys.readouterr().out
    assert "first divergence at tick 5\n" in out
    assert re.search(r"phase +Motion\n +field +fault\n +A +no fault\n +B +KeyError in Motion", out)
    assert main(["diff", written(files[0].with_suffix(".b"), fails_at=5), str(files[1])]) == 0
    assert "a fault ended it in tick 5, Motion: KeyError" in capsys.readouterr().out


def test_other_headers_are_said_and_are_no_divergence(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", written(files[0]), written(files[1], seed=7, rate=50)]) == 0
    out = capsys.readouterr().out
    assert "different headers: rate: Rate(60, 1) and Rate(50, 1)\n" in out
    assert "different headers: notes: {'seed': 42} and {'seed': 7}\n" in out


def test_recordings_without_a_common_tick_are_no_success(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", written(files[0], 3), written(files[1], 3, start=5)]) == 2
    assert "nothing was compared" in capsys.readouterr().err


def test_a_trace_is_told_where_to_go(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """`diff` used to refuse what `demo --record` wrote without a word about what takes it."""
    with Recorder(files[1], FrameLoop(Rate(60))) as recorder:
        recorder.begin_frame(0)  # type: ignore[arg-type]
    assert main(["diff", written(files[0]), str(files[1])]) == 2
    assert "traces go to `fixedstep verify`" in capsys.readouterr().err
    assert main(["verify", str(files[0])]) == 2
    assert "recordings go to `fixedstep replay`" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "hello\n", "\0\1\2\n", "[1]\n", "\ufeff{}\n"])
def test_a_file_that_is_no_recording_is_one_line_and_exit_code_2(
    content: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    files[1].write_text(content, encoding="utf-8")
    assert main(["diff", written(files[0]), str(files[1])]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"fixedstep: {files[1]}, line 1: ")
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err


def test_damage_in_the_middle_is_exit_code_2(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = map(written, files)
    text = files[1].read_text().replace('"tick":5', '"tick":6')
    files[1].write_text(text)
    assert main(["diff", one, other]) == 2
    assert f"{other}, line 7: is tick 6, but 5 comes here" in capsys.readouterr().err


def test_a_missing_file_is_exit_code_2(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", written(files[0]), str(files[1])]) == 2
    assert f"fixedstep: {files[1]}: No such file" in capsys.readouterr().err


def test_a_recording_comes_from_standard_input(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = map(written, files)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(files[1].read_bytes())))
    assert main(["diff", one, "-"]) == 0
