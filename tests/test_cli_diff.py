"""``fixedstep diff``: its exit codes, what it prints, and files that are no recordings."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fixedstep import Nanos, Rate, StateHash, StepBudget, Timestep
from fixedstep.cli import main
from fixedstep.sim.input_bridge import PRESS, TickInput
from fixedstep.sim.phases import Phase
from fixedstep.sim.recording import Policies, RecordedFault, Recorder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

POLICIES = Policies(Rate(60), StepBudget(4), Nanos(250_000_000), ("jump",), notes={"seed": 42})
NEUTRAL = TickInput.neutral(["jump"])


def written(
    path: Path,
    steps: Sequence[int],
    *,
    policies: Policies = POLICIES,
    start: int = 0,
    phases: bool = False,
    press_at: int = -1,
    fault: RecordedFault | None = None,
    whole: bool = True,
) -> str:
    """A recording of a world with one number, as a file."""
    file = io.StringIO()
    recorder = Recorder(file, policies._replace(first_tick=start))
    x = 0
    for number, step in enumerate(steps, start):
        x += step
        digest = StateHash().absorb_u64(x)
        recorder.tick(
            number,
            TickInput({"jump": PRESS}) if number == press_at else NEUTRAL,
            {"world": digest, "same": 7},
            phases={Phase.MOTION: {"world": digest}} if phases else None,
        )
    if whole:
        recorder.finish(fault)
    path.write_text(file.getvalue(), encoding="ascii")
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "one.replay", tmp_path / "other.replay"


def test_equal_recordings_are_equal(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    names = [written(path, [3] * 6) for path in files]
    assert main(["diff", *names]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("6 ticks, from tick 0") == 2
    assert out.endswith("EQUAL: 6 ticks compared\n")
    assert "configured" not in out


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe without a reader is an error there")
def test_the_code_is_the_same_where_nobody_reads_the_text(files: tuple[Path, Path]) -> None:
    one = written(files[0], [3] * 6)
    read, write = os.pipe()
    os.close(read)
    found = []
    for steps, start in (([3] * 6, 0), ([3, 3, 4], 0), ([3], 50)):
        names = [one, written(files[1], steps, start=start)]
        line = [sys.executable, "-m", "fixedstep", "diff", *names]
        found.append(subprocess.run(line, check=False, stdout=write, stderr=write).returncode)
    os.close(write)
    assert found == [0, 1, 2]


def test_a_divergence_is_named_with_exit_code_1(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Case J06, with the numbers of its report."""
    one, other = written(files[0], [3] * 6), written(files[1], [3, 3, 3, 4, 3, 3])
    assert main(["diff", one, other]) == 1
    out = capsys.readouterr().out
    assert "DIFFERENT: first divergence at tick 3\n" in out
    assert re.search(r"phase +not recorded\n +field +world\n", out)
    assert re.search(r"A +0x24b3145653d76249\n +B +0x05b84d4d48e81828\n", out)
    assert "EQUAL" not in out


def test_the_phase_is_named_where_it_was_recorded(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (
        written(path, steps, phases=True)
        for path, steps in zip(files, ([3, 3], [3, 4]), strict=True)
    )
    assert main(["diff", one, other]) == 1
    assert re.search(r"tick 1\n +phase +Motion\n", capsys.readouterr().out)


def test_another_input_is_named_as_such(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", written(files[0], [3] * 4), written(files[1], [3] * 4, press_at=2)]) == 1
    out = capsys.readouterr().out
    assert re.search(r"tick 2\n +phase +BeginTick\n +field +input\n", out)
    assert "pressed=1" in out


def test_recordings_of_other_lengths_are_equal_as_far_as_both_go(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = written(files[0], [3] * 6), written(files[1], [3] * 4, whole=False)
    assert main(["diff", one, other]) == 0
    out = capsys.readouterr().out
    assert out.endswith("EQUAL: 4 ticks compared; only in A: 2, only in B: 0\n")
    assert "4 ticks, from tick 0; not whole: line 6, the end of the recording, is missing" in out


def test_a_fault_that_only_one_run_had_is_a_divergence(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    fault = RecordedFault(3, Phase.GAMEPLAY, "KeyError")
    one, other = written(files[0], [3] * 6), written(files[1], [3] * 3, fault=fault)
    assert main(["diff", one, other]) == 1
    assert "KeyError in Gameplay" in capsys.readouterr().out
    assert main(["diff", other, other]) == 0
    out = capsys.readouterr().out
    assert out.count("a fault ended it in tick 3, Gameplay: KeyError") == 2


def test_other_policies_are_said_and_are_no_divergence(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    changed = POLICIES._replace(timestep=Timestep(10), capacities={"a": 1}, notes={"seed": 43})
    names = written(files[0], [3] * 2), written(files[1], [3] * 2, policies=changed)
    assert main(["diff", *names]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if "configured" in line]
    assert said == [
        "configured differently: timestep: Rate(60, 1) and Timestep(10)",
        "configured differently: capacities: {} and {'a': 1}",
        "configured differently: notes: {'seed': 42} and {'seed': 43}",
    ]


def test_recordings_without_a_common_tick_are_no_success(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Equal after comparing nothing would be the most expensive kind of green."""
    one, other = written(files[0], [3] * 2), written(files[1], [3] * 2, start=7)
    assert main(["diff", one, other]) == 2
    out, err = capsys.readouterr()
    assert err == "fixedstep: no tick is in both files, so nothing was compared\n"
    assert "EQUAL" not in out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "line 1: the file is empty"),
        (b'{"format":"fixedstep-trace","version":1}\n', "line 1: .*a trace of frames is none"),
        (b"\x89PNG\r\n\x1a\n\xff", "line 1: .*is not JSON"),
        (b"\xff\xfe{\x00", "line 1: the file is empty or ends within its header"),
    ],
)
def test_a_file_that_is_no_recording_is_one_line_and_exit_code_2(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], content: bytes, said: str
) -> None:
    files[1].write_bytes(content)
    one, other = written(files[0], [3] * 2), str(files[1])
    for names in ((one, other), (other, one)):
        assert main(["diff", *names]) == 2
        err = capsys.readouterr().err
        assert re.fullmatch(rf"fixedstep: .*other\.replay, {said}.*\n", err)


def test_damage_in_the_middle_is_exit_code_2(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = written(files[0], [3] * 6), written(files[1], [3] * 6)
    lines = files[1].read_text("ascii").splitlines(keepends=True)
    files[1].write_text("".join([*lines[:3], lines[3][:-9] + "\n", *lines[4:]]), "ascii")
    assert main(["diff", one, other]) == 2
    assert "other.replay, line 4: " in capsys.readouterr().err


def test_a_missing_file_is_exit_code_2(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", written(files[0], [3]), str(files[1])]) == 2
    assert "other.replay: No such file" in capsys.readouterr().err
    assert main(["diff", written(files[0], [3])]) == 2
    assert "required" in capsys.readouterr().err


def test_the_command_runs_as_a_program(files: tuple[Path, Path]) -> None:
    one, other = written(files[0], [3] * 6), written(files[1], [3, 3, 4])
    for names, code in (((one, one), 0), ((one, other), 1), ((one, one + "x"), 2)):
        ended = subprocess.run(
            [sys.executable, "-m", "fixedstep", "diff", *names], capture_output=True, check=False
        )
        assert ended.returncode == code
        assert b"Traceback" not in ended.stderr
