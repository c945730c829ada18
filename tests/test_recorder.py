"""One recorder, for loops and sessions, paths and streams. It never ends or changes a game."""

from __future__ import annotations

import io
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fixedstep import (
    FrameLoop,
    Rate,
    StateHash,
    StepBudget,
    Timestamp,
    Timestep,
    digest,
    reference,
)
from fixedstep.captures import read as read_capture
from fixedstep.cli import main
from fixedstep.records import Recorder, Recording, Trace, replay
from fixedstep.records.lines import LineWriter
from fixedstep.sim import Mailbox, Random, Session

from .interrupts import interrupt

MS = 1_000_000
RECORDS = os.path.join("fixedstep", "records", "")


class World:
    """A world with one number."""

    def __init__(self, level: int = 1) -> None:
        self.x = 0
        self.level = level
        self.fails_at = -1

    def step(self, input: Any, tick: Any) -> None:
        """Count on."""
        self.x += self.level + len(tick.messages)
        if tick.number == self.fails_at:
            raise KeyError("nowhere")

    def digests(self) -> dict[str, Any]:
        """The number, by two names."""
        return {"x": StateHash().absorb_i64(self.x), "level": self.level}


def loop() -> FrameLoop:
    return FrameLoop(Timestep(10 * MS), StepBudget(3), Timestamp(0))


# Loops.


def test_a_recorded_loop_plans_as_one_without_a_recorder(tmp_path: Path) -> None:
    plain, path = loop(), tmp_path / "run.trace"
    with Recorder(path, loop()) as recorder:
        for now in (25 * MS, 95 * MS, 90 * MS, 200 * MS):
            assert recorder.begin_frame(Timestamp(now)) == plain.begin_frame(Timestamp(now))
        recorder.resync(Timestamp(900 * MS))
        plain.resync(Timestamp(900 * MS))
        assert recorder.begin_frame(Timestamp(910 * MS)) == plain.begin_frame(Timestamp(910 * MS))
        assert recorder.recording
    assert (recorder.recording, recorder.error, recorder.path) == (False, None, str(path))
    with Trace(path) as trace:
        assert [operation.now // MS for operation in trace] == [25, 95, 90, 200, 900, 910]
    assert trace.stats is not None
    assert trace.stats.ticks > 0


@pytest.mark.parametrize("timestep", [Timestep(10 * MS), Rate(60_000, 1001)])
@pytest.mark.parametrize("start", [None, 7])
def test_verify_and_analyze_read_a_trace(
    timestep: Any, start: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.trace"
    with Recorder(path, FrameLoop(timestep, 3, start)) as recorder:
        for now in range(16 * MS, 320 * MS, 16 * MS):
            recorder.begin_frame(Timestamp(now))
    assert main(["verify", str(path)]) == 0
    assert "EQUAL: trace" in capsys.readouterr().out
    deltas = list(read_capture(path).streams[0].frame_times)
    assert deltas == [16 * MS - (16 * MS if start is None else 7), *[16 * MS] * 18]


def test_the_reference_loop_is_recorded_too(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.trace", reference.FrameLoop(Rate(60))) as recorder:
        recorder.begin_frame(Timestamp(0))
    assert recorder.error is None


def test_a_bad_timestamp_is_the_loops_own_error_and_is_not_recorded() -> None:
    file = io.StringIO()
    with Recorder(file, loop()) as recorder:
        before = file.getvalue()
        for bad in (-1, 2**64, 1.5):
            with pytest.raises((TypeError, OverflowError), match="now must be"):
                recorder.begin_frame(bad)  # type: ignore[arg-type]
        assert file.getvalue() == before
        recorder.begin_frame(Timestamp(5))
    assert recorder.error is None


def test_a_loop_that_was_used_without_the_recorder_ends_the_trace_and_not_the_game() -> None:
    file, driven = io.StringIO(), loop()
    recorder = Recorder(file, driven)
    recorder.begin_frame(Timestamp(10 * MS))
    driven.begin_frame(Timestamp(20 * MS))
    assert recorder.begin_frame(Timestamp(30 * MS)).step_count == 1
    assert isinstance(recorder.error, ValueError)
    assert not recorder.recording
    recorder.close()
    trace = Trace(io.StringIO(file.getvalue()))
    assert len(list(trace)) == 1
    assert trace.missing


def test_what_cannot_be_recorded_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    path, used = tmp_path / "none", loop()
    used.begin_frame(Timestamp(10 * MS))

    class NoDigests:
        def step(self, input: Any, tick: Any) -> None: ...

    class NoDigest(World):
        def digests(self) -> dict[str, Any]:
            return {}

    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (used, {}, ValueError, "planned 1 steps"),
        (loop(), {"notes": {"seed": 1}}, TypeError, "are for sessions"),
        (print, {}, TypeError, "must be a Session or a FrameLoop"),
        (Session(NoDigests), {}, TypeError, "has no digests"),
        (Session(NoDigest), {}, ValueError, "at least one digest"),
        (Session(World), {"notes": {"": 1}}, TypeError, "a note must have a name"),
        (Session(World), {"notes": {"level": object()}}, TypeError, "the note 'level' must be"),
        (Session(World), {"notes": {"big": "x" * 2**20}}, ValueError, "fewer than 1048576"),
        (Session(World), {"digests_every": 0}, ValueError, "at least 1"),
    ]
    for game, options, error, words in cases:
        with pytest.raises(error, match=words):
            Recorder(path, game, **options)
        assert not path.exists()


@pytest.mark.parametrize("state", [[(1.0, 2.0)], -1.5, Random(7), "level"], ids=repr)
def test_a_state_in_place_of_a_digest_is_refused_with_the_call_that_makes_one(state: Any) -> None:
    """For each kind of state what the error says is true."""

    class Digests(World):
        made: Any = state

        def digests(self) -> dict[str, Any]:
            return {"state": self.made}

    session = Session(Digests)
    with pytest.raises(TypeError, match=r"'state' must .* fixedstep\.digest\(value\) makes one"):
        Recorder(io.StringIO(), session)
    session.world.made = digest(state)
    Recorder(io.StringIO(), session).close()


# Files.


def test_a_file_that_is_there_is_only_replaced_on_request_and_only_one_of_ours(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.rec"
    Recorder(path, Session(World)).close()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        Recorder(path, Session(World))
    with Recorder(path, session := Session(World), overwrite=True):
        session.run_ticks(3)
    assert len(list(Recording(path))) == 3
    other = tmp_path / "diary.txt"
    other.write_text("dear diary")
    for overwrite in (False, True):
        with pytest.raises(FileExistsError):
            Recorder(other, Session(World), overwrite=overwrite)
    assert other.read_text() == "dear diary"


@pytest.mark.parametrize("left", ["", '{"form', '{"format":"fixedstep-recording","version":1'])
def test_a_file_that_ends_within_its_header_does_not_block_the_next_run(
    left: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.rec"
    path.write_text(left)
    Recorder(path, Session(World)).close()
    assert list(Recording(path)) == []


def test_an_interrupt_before_the_header_is_complete_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: LineWriter, text: str) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "run.rec"
    with monkeypatch.context() as patch:
        patch.setattr(LineWriter, "line", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Recorder(path, session := Session(World))
    assert not path.exists()
    assert not session.recording


@pytest.mark.parametrize("end", ["sys.exit()", "raise KeyError", "os._exit(1)", "kill"])
def test_a_process_that_ends_without_closing_leaves_whole_lines(end: str, tmp_path: Path) -> None:
    path = tmp_path / "run.rec"
    program = (
        "import os, signal, sys\nfrom tests.test_recorder import Session, World, Recorder\n"
        f"session = Session(World)\nrecorder = Recorder({str(path)!r}, session)\n"
        "session.run_ticks(7)\n"
        + ("os.kill(os.getpid(), signal.SIGKILL)" if end == "kill" else end)
    )
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=Path(__file__).parents[1],
        check=False,
        capture_output=True,
    )
    recording = Recording(path)
    assert [record.tick for record in recording] == list(range(7))
    assert recording.missing.startswith("line 9 is missing")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX systems fork")
def test_a_forked_process_does_not_write_to_the_file_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "run.rec"
    recorder = Recorder(path, session := Session(World))
    session.run_ticks(1)
    child = os.fork()
    if not child:
        session.run_ticks(1)
        recorder.close()
        os._exit(0 if isinstance(recorder.error, OSError) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    session.run_ticks(1)
    recorder.close()
    assert [record.tick for record in Recording(path)] == [0, 1]


class FullDisk(io.StringIO):
    """A stream with room for so many lines."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self.left = lines

    def write(self, text: str) -> int:
        """Take a line, or half of one and then nothing."""
        self.left -= 1
        if self.left < 0:
            super().write(text[: len(text) // 2])
            raise OSError(28, "No space left on device")
        return super().write(text)


def test_a_full_disk_ends_the_recording_and_not_the_game(caplog: pytest.LogCaptureFixture) -> None:
    file, session = FullDisk(4), Session(World)
    with caplog.at_level(logging.WARNING, "fixedstep"), Recorder(file, session) as recorder:
        session.run_ticks(10)
    assert (session.fault, session.tick, session.world.x) == (None, 10, 10)
    assert isinstance(recorder.error, OSError)
    assert not session.recording
    assert len(caplog.records) == 1, "one line, and not one for each tick"
    recording = Recording(io.StringIO(file.getvalue()))
    assert [record.tick for record in recording] == [0, 1, 2]
    assert recording.missing.startswith("line 5 is cut off after")

    frames, game = FullDisk(3), loop()
    with Recorder(frames, game) as traced:
        for now in range(10 * MS, 100 * MS, 10 * MS):
            assert traced.begin_frame(Timestamp(now)).step_count == 1
    assert isinstance(traced.error, OSError)
    assert len(list(Trace(io.StringIO(frames.getvalue())))) == 2


# Sessions.


def test_a_digest_that_fails_ends_the_recording_and_not_the_game() -> None:
    class Failing(World):
        def digests(self) -> dict[str, Any]:
            if self.x == 3:
                raise ZeroDivisionError("by three")
            return super().digests()

    file, session = io.StringIO(), Session(Failing)
    with Recorder(file, session) as recorder:
        session.run_ticks(5)
    assert (session.fault, session.tick) == (None, 5)
    assert isinstance(recorder.error, ZeroDivisionError)
    recording = Recording(io.StringIO(file.getvalue()))
    assert len(list(recording)) == 2
    assert recording.missing == ""
    assert recording.reason.startswith("ZeroDivisionError")


@pytest.mark.parametrize("how", ["restart", "activate", "restore", "restore with a world"])
def test_a_new_world_ends_the_recording_with_a_reason(how: str) -> None:
    file, session = io.StringIO(), Session(World)
    recorder = Recorder(file, session)
    session.run_ticks(2)
    saved = session.state_dict()
    if how == "restart":
        session.restart()
    elif how == "activate":
        session.activate(5)
    else:
        session.restore(saved, World() if how.endswith("world") else None)
    session.run_ticks(4)
    assert not recorder.recording
    recording = Recording(io.StringIO(file.getvalue()))
    assert len(list(recording)) == 2
    assert (recording.reason, recording.missing) == ("the world was replaced", "")
    recorder.close()
    assert recorder.error is None


def test_a_second_recorder_ends_the_first() -> None:
    first, second, session = io.StringIO(), io.StringIO(), Session(World)
    one = Recorder(first, session)
    session.run_ticks(2)
    with Recorder(second, session):
        session.run_ticks(3)
    one.close()
    assert [len(list(Recording(io.StringIO(file.getvalue())))) for file in (first, second)] == [
        2,
        3,
    ]
    with pytest.raises(FileExistsError):
        Recorder(__file__, session)


def test_what_a_tick_was_given_is_recorded_as_it_was_before_the_tick() -> None:
    class Sorting(World):
        def step(self, input: Any, tick: Any) -> None:
            for message in tick.messages:
                self.x = 10 * self.x + message[0]
                message.clear()

    file, session = io.StringIO(), Session(Sorting)
    with Recorder(file, session):
        session.post([7, 2])
        session.run_ticks(1)
    assert next(iter(Recording(io.StringIO(file.getvalue())))).given.messages == ([7, 2],)
    assert replay(Recording(io.StringIO(file.getvalue())), Session(Sorting)).divergence is None


def test_any_name_is_a_name_of_a_field_or_a_note() -> None:
    """ "input", "phase" and others were refused, so that recording ended a game."""
    names = ["input", "phase", "fault", "completions", "requests", "outbox room", "end", "tick"]

    class Named(World):
        def digests(self) -> dict[str, Any]:
            return {**super().digests(), **dict.fromkeys(names, self.x)}

    file, session = io.StringIO(), Session(Named)
    with Recorder(file, session, notes={name: name for name in names}):
        session.run_ticks(2)
    recording = Recording(io.StringIO(file.getvalue()))
    assert set(recording.header.notes) == set(names)
    assert replay(recording, Session(Named)).divergence is None


def test_a_fault_is_recorded_with_what_its_tick_was_given() -> None:
    file, session = io.StringIO(), Session(World)
    session.world.fails_at = 2
    with Recorder(file, session):
        session.run_ticks(2)
        session.post("boo")
        session.run_ticks(1)
    recording = Recording(io.StringIO(file.getvalue()))
    assert len(list(recording)) == 2
    assert recording.fault is not None
    assert recording.fault[:3] == (2, "BeginTick", "KeyError")
    assert recording.fault.given is not None
    assert recording.fault.given.messages == ("boo",)
    assert recording.reason == "a tick raised"
    again = Session(World)
    again.world.fails_at = 2
    assert replay(Recording(io.StringIO(file.getvalue())), again).divergence is None
    assert isinstance(again.fault and again.fault.error, KeyError)
    found = replay(Recording(io.StringIO(file.getvalue())), Session(World)).divergence
    assert found is not None
    assert (found.what, found.first, found.second) == ("fault", "KeyError in BeginTick", "no fault")


def test_ctrl_c_in_a_tick_leaves_a_recording_that_is_read() -> None:
    class Interrupted(World):
        def step(self, input: Any, tick: Any) -> None:
            if tick.number == 2:
                signal.raise_signal(signal.SIGINT)
            super().step(input, tick)

    file, session = io.StringIO(), Session(Interrupted)
    with pytest.raises(KeyboardInterrupt), Recorder(file, session):
        session.run_ticks(5)
    recording = Recording(io.StringIO(file.getvalue()))
    assert len(list(recording)) == 2
    assert recording.fault is not None
    assert recording.fault.given is None


def test_an_interrupt_anywhere_in_a_recorded_tick_leaves_a_recording_that_is_read() -> None:
    """At each line and call of the recorder's files, one after the other."""
    boundaries, cut = 0, 0
    for stop in range(1, 10_000):
        file, session = io.StringIO(), Session(World)
        recorder = Recorder(file, session)
        session.run_ticks(1)
        with interrupt(stop, RECORDS) as boundary:
            session.run_ticks(1)
        recorder.close()
        recording = Recording(io.StringIO(file.getvalue()))
        ticks = [record.tick for record in recording]
        assert ticks in ([0], [0, 1]), stop
        if not boundary.hit:
            break
        boundaries += 1
        cut += ticks == [0]
    assert boundaries > 300
    assert 0 < cut < boundaries


def test_an_interrupt_anywhere_in_a_recorded_frame_leaves_a_trace_that_agrees_with_itself() -> None:
    """The footer counted a frame that was not in the file, so that `verify` found a difference."""
    from fixedstep.cli.verify import Verification

    boundaries = 0
    for stop in range(1, 10_000):
        file = io.StringIO()
        recorder = Recorder(file, loop())
        recorder.begin_frame(Timestamp(10 * MS))
        with interrupt(stop, RECORDS) as boundary:
            recorder.begin_frame(Timestamp(20 * MS))
            recorder.resync(Timestamp(25 * MS))
        recorder.begin_frame(Timestamp(30 * MS))
        recorder.close()
        read = Trace(io.StringIO(file.getvalue()))
        assert 1 <= len(list(read)) <= 4
        again = Verification(Trace(io.StringIO(file.getvalue())), {"reference": reference})
        assert not again.difference, stop
        if not boundary.hit:
            assert not read.missing
            break
        boundaries += 1
    assert boundaries > 80


def test_what_is_written_is_what_is_read() -> None:
    """A fault of tick 99 and a max_delta of -5 used to be written, and were refused when read."""
    file, session = io.StringIO(), Session(World)
    with Recorder(file, session) as recorder:
        session.run_ticks(1)
        from fixedstep.sim import Fault

        observer = session._observer
        assert observer is not None
        observer.fault(session.world, None, Fault(99, "BeginTick", KeyError()))
    recording = Recording(io.StringIO(file.getvalue()))
    assert len(list(recording)) == 1
    assert (recording.fault, recording.missing, recorder.error) == (None, "", None)


def test_a_recorder_cannot_be_made_within_a_tick() -> None:
    class Eager(World):
        def step(self, input: Any, tick: Any) -> None:
            Recorder(io.StringIO(), session)

    session: Session[Any] = Session(Eager)
    session.run_ticks(1)
    assert session.fault is not None
    assert isinstance(session.fault.error, RuntimeError)


def test_a_long_recording_holds_digests_by_name_only_so_often() -> None:
    every, seldom = io.StringIO(), io.StringIO()
    for file, number in ((every, 1), (seldom, 10)):
        session = Session(World)
        with Recorder(file, session, digests_every=number):
            session.run_ticks(25)
    assert len(seldom.getvalue()) < 0.8 * len(every.getvalue())
    records = list(Recording(io.StringIO(seldom.getvalue())))
    assert [record.tick for record in records if record.digests is not None] == [0, 10, 20]
    assert replay(Recording(io.StringIO(seldom.getvalue())), Session(World)).divergence is None
    found = replay(Recording(io.StringIO(seldom.getvalue())), Session(World, 2)).divergence
    assert found is not None
    assert found.tick == 0


def test_recording_never_changes_what_background_work_may_be() -> None:
    """Refused with and without a recording: a result that none could hold."""
    mailbox = Mailbox()
    ticket = mailbox.reserve(("guard", 3))
    with pytest.raises(TypeError, match="result must be None"):
        mailbox.submit(ticket, object())
    assert mailbox.submit(ticket, [(1, 2), {"a": float("nan")}])
    with pytest.raises(TypeError, match="target must be"):
        mailbox.reserve(frozenset({1}))
