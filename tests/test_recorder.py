"""The recorder: what is in the file after a game ended well, badly, or not at all.

A recording is right if the loop it was made with gives the same plans as a loop without a recorder,
and if `replay` and `analyze` read it. Ends that a process does not survive run in one of their own.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from fixedstep.records.trace_recorder import Recorder

from fixedstep import FrameLoop, FrameStats, Rate, StepBudget, Timestamp, Timestep
from fixedstep.captures import analyze_one
from fixedstep.cli import main
from fixedstep.records import trace_recorder as recorder
from fixedstep.records.trace import read

if TYPE_CHECKING:
    from pathlib import Path

FRAMES = [16_000_000 * n + n % 7 * 1_000_000 for n in range(1, 300)] + [6_000_000_000]


def recorded(path: Path, **options: Any) -> tuple[Recorder, FrameLoop]:
    loop = FrameLoop(Timestep.HZ_60, StepBudget(3), Timestamp(500))
    return Recorder(path, loop, **options), loop


def test_a_recorded_loop_plans_as_one_without_a_recorder(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    with recorded(path)[0] as game:
        plain, stats = FrameLoop(Timestep.HZ_60, StepBudget(3), Timestamp(500)), FrameStats()
        for now in FRAMES[:100]:
            plan = plain.begin_frame(Timestamp(now))
            stats.absorb(plan)
            assert game.begin_frame(Timestamp(now)) == plan
        game.resync(Timestamp(5_000_000_000))
        plain.resync(Timestamp(5_000_000_000))
        plan = plain.begin_frame(Timestamp(5_100_000_000))
        stats.absorb(plan)
        assert plan.dropped
        assert game.begin_frame(Timestamp(5_100_000_000)) == plan
        assert game.recording
    assert not game.recording
    trace = read(path)
    assert trace.stats == stats
    assert len(trace) == 102
    assert (trace.timestep, trace.budget, trace.start) == (Timestep.HZ_60, StepBudget(3), 500)
    assert sum(operation.digest is not None for operation in trace.operations()) == 1


def test_replay_and_analyze_read_a_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.trace"
    with Recorder(path, FrameLoop(Rate(60), start=Timestamp(0))) as game:
        for now in FRAMES:
            game.begin_frame(Timestamp(now))
    assert main(["replay", str(path)]) == 0
    assert "EQUAL: recording" in capsys.readouterr().out
    (group,) = analyze_one(path)["groups"]
    assert (group["frames"], group["sum_ns"]) == (300, FRAMES[-1])


def test_lines_are_written_in_whole_blocks_that_end_in_a_digest(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    game, _ = recorded(path)
    lines = 1  # the header at once
    for count, now in enumerate(FRAMES[:200], 1):
        game.begin_frame(Timestamp(now))
        if count % recorder.BLOCK_LINES == 0:
            lines = 1 + count
        content = path.read_bytes()
        assert content.endswith(b"\n")
        assert content.count(b"\n") == lines
    assert len(json.loads(content.splitlines()[-1])) == 3
    game.close()
    assert path.read_bytes().count(b"\n") == 1 + 200 + 1


ENDS = {
    "an exception": ("raise RuntimeError('the game')", True),
    "sys.exit": ("sys.exit(3)", True),
    "forgotten": ("", True),
    "a signal that cannot be caught": ("os.kill(os.getpid(), signal.SIGKILL)", False),
    "os._exit": ("os._exit(3)", False),
}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
@pytest.mark.parametrize("end", ENDS)
def test_a_process_that_ends_without_closing_leaves_whole_lines(end: str, tmp_path: Path) -> None:
    """All of them where Python still runs at the end, all but the last block where it does not."""
    path = tmp_path / "run.trace"
    code, whole = ENDS[end]
    script = (
        "import os, signal, sys\n"
        "from fixedstep import FrameLoop\n"
        "from fixedstep.records.trace_recorder import Recorder\n"
        f"game = Recorder({str(path)!r}, FrameLoop(start=0))\n"
        "for n in range(1, 151): game.begin_frame(n * 16_000_000)\n"
        f"{code}\n"
    )
    subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    trace = read(path)
    assert trace.stats is None
    assert trace.cut_line == len(trace) + 2
    assert len(trace) == (150 if whole else 128)
    assert "the trace is cut off" in analyze_one(path)["warnings"][0]


def test_a_recording_ends_whole_at_its_bound_and_the_game_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    game, loop = recorded(path, most_bytes=2048)
    for now in FRAMES:
        game.begin_frame(Timestamp(now))
    assert not game.recording
    assert game.error is None
    assert loop.last == FRAMES[-1]
    game.close()
    assert 1500 < path.stat().st_size <= 2048
    trace = read(path)
    assert trace.stats is not None
    assert trace.stats.frames == len(trace) < 100


class FullDisk:
    """A file on a disk with so many bytes left, which takes what fits, as disks do."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.content = b""
        self.closed = False

    def write(self, piece: memoryview) -> int:
        taken = min(len(piece), self.left)
        if not taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.content += bytes(piece[:taken])
        self.left -= taken
        return taken

    def close(self) -> None:
        self.closed = True


def test_a_full_disk_ends_the_recording_and_not_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(1000)
    monkeypatch.setattr(recorder, "open", lambda *_, **__: disk, raising=False)
    game, loop = recorded(tmp_path / "run.trace")
    for now in FRAMES:
        game.begin_frame(Timestamp(now))
    assert disk.closed
    assert loop.last == FRAMES[-1]
    assert not game.recording
    assert game.error is not None
    with pytest.raises(OSError, match="No space left"):
        game.close()
    with pytest.raises(KeyError), game:
        raise KeyError
    with pytest.raises(OSError, match="No space left"), game:
        pass
    (tmp_path / "left").write_bytes(disk.content)
    assert 10 < len(read(tmp_path / "left")) < 64


def test_a_bad_timestamp_is_the_loops_own_error_and_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    game, loop = recorded(path)
    game.begin_frame(Timestamp(1000))
    before = loop.__copy__()
    for bad in (1.5, -1, None):
        with pytest.raises((TypeError, OverflowError)):
            game.begin_frame(bad)  # type: ignore[arg-type]
        with pytest.raises((TypeError, OverflowError)):
            game.resync(bad)  # type: ignore[arg-type]
    assert loop == before
    game.close()
    assert len(read(path)) == 1


def test_a_loop_that_was_used_without_the_recorder_is_an_error(tmp_path: Path) -> None:
    """The recording would be of another loop."""
    game, loop = recorded(tmp_path / "run.trace")
    game.begin_frame(Timestamp(1000))
    loop.begin_frame(Timestamp(2000))
    for call in (game.begin_frame, game.resync):
        with pytest.raises(ValueError, match="went on to 2000 ns without the recorder, whose last"):
            call(Timestamp(3000))
    game.close()


def test_what_cannot_be_recorded_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    used = FrameLoop(start=Timestamp(0))
    used.begin_frame(Timestamp(20_000_000))
    with pytest.raises(ValueError, match="the loop has planned 1 steps and holds a remainder of"):
        Recorder(path, used)
    with pytest.raises(ValueError, match="most_bytes must be at least 1024 bytes, not 10"):
        Recorder(path, FrameLoop(start=Timestamp(0)), most_bytes=10)
    assert not path.exists()
    path.write_text("the last crash")
    with pytest.raises(FileExistsError):
        Recorder(path, FrameLoop(start=Timestamp(0)))
    assert path.read_text() == "the last crash"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_does_not_write_what_its_parent_holds(tmp_path: Path) -> None:
    """It ends, with a copy of the lines that are held; the file used to have them twice."""
    path = tmp_path / "run.trace"
    game, _ = recorded(path)
    for frame in range(20):
        now = Timestamp(16_000_000 * (frame + 1))
        game.begin_frame(now)
        if frame == 9:
            child = os.fork()
            if child == 0:
                game.begin_frame(Timestamp(now + 5))
                game.close()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    game.close()
    assert len(read(path)) == 20
    assert main(["replay", str(path)]) == 0
