"""Traces and recordings that a release wrote are read by every later one, and written the same.

For each version of each format files lie in ``stability/`` that were written once, by the release
that introduced it, and are never written again. docs/stability.md says what may change when.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fixedstep
from fixedstep import Rate, StateHash, StepBudget, Timestamp, Timestep
from fixedstep.cli import main
from fixedstep.records import Recorder, Recording, RecordingError, Trace, TraceError, replay
from fixedstep.records.trace import TraceWriter
from fixedstep.sim import ActionState, Mailbox, MailboxFull, Outbox, Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Core

STORED = Path(__file__).parent / "stability"


def a_trace(core: Core) -> str:
    """Frames with their digest and without, and a resync."""
    file = io.StringIO()
    timestep, budget, start = Timestep(16_666_667), StepBudget(3), Timestamp(1_000)
    loop, stats = core.FrameLoop(timestep, budget, start), core.FrameStats()
    writer = TraceWriter(file, timestep, budget, start)
    for number, now in enumerate((16_667_700, 33_000_000, 33_000_000, 433_000_000, 450_000_000)):
        stats.absorb(loop.begin_frame(Timestamp(now)))
        writer.frame(Timestamp(now), stats.schedule_hash if number % 2 else None)
        if number == 2:
            loop.resync(Timestamp(90_000_000))
            writer.resync(Timestamp(90_000_000))
    writer.finish(stats)
    return file.getvalue()


def a_trace_of_a_rate(core: Core) -> str:
    """Without a start, and without its end, as a crash leaves one."""
    file = io.StringIO()
    writer = TraceWriter(file, Rate(60_000, 1001), StepBudget(5), None)
    writer.frame(Timestamp(50_000_000))
    return file.getvalue() + '["frame",6'


class World:
    """Uses everything that a tick can be given."""

    def __init__(self, crash_at: int) -> None:
        self.crash_at = crash_at
        self.x = 42
        self.seen: list[Any] = []
        self.tickets: list[Any] = []

    def step(self, input: Any, tick: Any) -> None:
        """One tick."""
        self.x = (self.x * 6364136223846793005 + 1442695040888963407) % 2**64
        self.seen += [
            (done.ticket.target, done.result, str(done.error)) for done in tick.completions
        ]
        self.seen += tick.messages
        tick.enter("Motion")
        if tick.number == self.crash_at:
            raise KeyError("nowhere")
        if tick.number % 2:
            try:
                self.tickets.append(tick.reserve(("guard", tick.number), 1.5))
            except MailboxFull:
                self.seen.append("full")
        if tick.outbox.room_for_required() < 64:
            tick.outbox.stage("little room")

    def digests(self) -> dict[str, Any]:
        """Nested."""
        seen = StateHash().absorb_bytes(repr(self.seen).encode())
        return {"x": StateHash().absorb_u64(self.x), "seen": {"all": seen, 3: 7}}


def session(crash_at: int = 9) -> Session[World]:
    return Session(
        World,
        crash_at,
        buttons=["jump", "fire"],
        axes=["aim"],
        relative=["wheel"],
        mailbox=Mailbox(1),
        outbox=Outbox(8),
        rate=Rate(60),
        rates=[Rate(24_000, 1001)],
    )


def a_recording(core: Core) -> str:
    """Everything that a recording can hold, to a crash."""
    file, game = io.StringIO(), session()
    notes = {"seed": 42, "level": "K\u00e4fig", "parts": [1, (2.5, None), {"a": b"x", "b": True}]}
    game.run_ticks(1)
    with Recorder(file, game, notes=notes, phases=True, digests_every=3):
        game.input.press("jump")
        game.input.axis("aim", -0.25)
        game.input.move("wheel", 7)
        game.post(("text", 97))
        game.run_ticks(2)
        game.mailbox.submit(game.world.tickets[0], [(1, float("inf")), {"cost": float("nan")}])
        game.set_rate(Rate(24_000, 1001))
        game.run_ticks(4)
        game.input.cancel()
        game.mailbox.submit_error(game.world.tickets[1], TimeoutError("slow"))
        game.post(-0.0)
        game.run_ticks(3)
    assert game.fault is not None
    return file.getvalue().replace(f'"library":"{fixedstep.__version__}"', '"library":"0.1.0"', 1)


#: What is written byte for byte as it was by the first release with that version.
WRITTEN: dict[str, Callable[[Core], str]] = {
    "trace-1.jsonl": a_trace,
    "trace-1-rate-cut.jsonl": a_trace_of_a_rate,
    "recording-1.jsonl": a_recording,
}
#: What is only read.
READ = ("demo-1.jsonl",)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_is_written_as_it_was(core: Core, name: str) -> None:
    assert WRITTEN[name](core) == (STORED / name).read_text(encoding="ascii"), (
        f"{name} would be written otherwise now. A format whose bytes change needs a new version, "
        "and a new file beside this one, which stays and must be read; docs/stability.md says more."
    )


def test_a_stored_trace_is_read() -> None:
    trace = Trace(STORED / "trace-1.jsonl")
    operations = list(trace)
    assert (trace.timestep, trace.budget, trace.start) == (Timestep.HZ_60, StepBudget(3), 1_000)
    assert [operation.kind for operation in operations].count("resync") == 1
    assert [operation.digest is None for operation in operations] == [1, 0, 1, 1, 0, 1]
    assert trace.stats is not None
    cut = Trace(STORED / "trace-1-rate-cut.jsonl")
    assert (cut.timestep, cut.start, len(list(cut))) == (Rate(60_000, 1001), None, 1)
    assert cut.missing.startswith("line 3 is cut off")


@pytest.mark.parametrize("name", ["trace-1.jsonl", "demo-1.jsonl"])
def test_a_stored_trace_plans_as_it_did(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one digit of a time changed it does not, or the digest of the file tells."""
    path = STORED / name
    assert main(["verify", str(path)]) == 0
    assert "EQUAL: trace" in capsys.readouterr().out
    lines = path.read_text(encoding="ascii").splitlines(keepends=True)
    last = max(index for index, line in enumerate(lines) if line.startswith('["frame"'))
    changed = tmp_path / "changed"
    found = 0
    for index in range(1, last + 1):
        flipped = re.sub(r"(?<=,)\d", lambda d: "1234567898"[int(d[0])], lines[index], count=1)
        assert flipped != lines[index]
        changed.write_text("".join((*lines[:index], flipped, *lines[index + 1 :])), "ascii")
        found += main(["verify", str(changed)]) == 2
    assert found == last


def test_a_stored_recording_is_read_and_replays() -> None:
    path = STORED / "recording-1.jsonl"
    recording = Recording(path)
    records = list(recording)
    assert recording.header.library == "0.1.0"
    assert recording.header.notes["parts"] == [1, (2.5, None), {"a": b"x", "b": True}]
    assert [record.tick for record in records] == list(range(1, 9))
    assert records[0].given.input["aim"] == ActionState(False, -250)
    assert records[0].given.messages == (("text", 97),)
    assert [record.digests is None for record in records] == [0, 1, 1, 0, 1, 1, 0, 1]
    assert records[2].given.rate == Rate(24_000, 1001)
    requests = [number for record in records for number in record.given.requests]
    assert None in requests
    assert 1 in requests
    assert sum(len(record.given.completions) for record in records) == 2
    assert any(record.given.outbox_room is not None for record in records)
    assert recording.fault is not None
    assert recording.fault[:3] == (9, "Motion", "KeyError")
    game = session()
    game.run_ticks(1)
    game.outbox.deliver()
    assert replay(Recording(path), game).divergence is None
    assert isinstance(game.fault and game.fault.error, KeyError)


@pytest.mark.parametrize("version", ["2", "0", "1.0", '"1"', "null", "true"])
@pytest.mark.parametrize("name", ["trace-1.jsonl", "recording-1.jsonl"])
def test_a_file_of_another_version_is_refused_with_what_to_do(name: str, version: str) -> None:
    text = (STORED / name).read_text().replace('"version":1', f'"version":{version}', 1)
    words = r"line 1: version must be 1, not .*; read it with the release that wrote it"
    with pytest.raises((TraceError, RecordingError), match=words):
        (Trace if name.startswith("trace") else Recording)(io.StringIO(text))
