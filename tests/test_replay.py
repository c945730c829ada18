"""Recordings, and the first divergence of two of them.

A recording is trusted after a crash, and a comparison when somebody must decide where to look; so
files are cut at every byte and killed for real, and every kind of difference is planted and must be
named: this tick, this phase, this field. The J cases are faults that people reported, with their
numbers. Playing a recording in a session is tested in ``test_session.py``.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from fixedstep.sim.input_bridge import PRESS, RELEASE, TickInput, Transition
from fixedstep.sim.phases import Phase
from fixedstep.sim.recording import (
    RESERVED,
    Policies,
    RecordedFault,
    RecordedTick,
    Recorder,
    Recording,
    ReplayError,
    plain,
)
from fixedstep.sim.replay import Comparison, Divergence, compare, first_divergence
from hypothesis import given
from hypothesis import strategies as st

import fixedstep
from fixedstep import FrameLoop, Nanos, Rate, StateHash, StepBudget, Timestamp, Timestep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

U64_MAX = 2**64 - 1
NEUTRAL = TickInput.neutral(["jump"])
PRESSED = TickInput({"jump": PRESS})
POLICIES = Policies(Timestep(10), StepBudget(3), None, ("jump",))


def recorded(ticks: Iterable[RecordedTick], policies: Policies = POLICIES) -> str:
    """The file that a recorder makes of these ticks."""
    file = io.StringIO()
    recorder = Recorder(file, policies)
    for tick in ticks:
        recorder.tick(
            tick.tick,
            tick.input,
            tick.digests,
            completions=tick.completions,
            phases=tick.phases,
            refused=tick.refused,
        )
    recorder.finish()
    return file.getvalue()


def read(text: str) -> tuple[list[RecordedTick], Recording]:
    recording = Recording(io.StringIO(text))
    return list(recording), recording


def a_tick(
    number: int,
    digests: Mapping[str, int] | None = None,
    *,
    given_input: TickInput = NEUTRAL,
    completions: tuple[Any, ...] = (),
    phases: dict[Phase, dict[str, int]] | None = None,
    refused: tuple[int, ...] = (),
) -> RecordedTick:
    found = dict(digests or {"world": number + 1})
    return RecordedTick(number, given_input, completions, phases or {}, found, refused)


def fnv(x: int) -> int:
    return StateHash().absorb_u64(x).finish()


# What is written is read.

EVERYTHING = [
    a_tick(7, {"player": 0, "guard": U64_MAX}),
    a_tick(
        8, given_input=PRESSED, completions=((3, "path", (1, (-2, None))), True), refused=(0, 2)
    ),
    a_tick(
        9,
        phases={Phase.BEGIN_TICK: {"player": 1}, Phase.COMMIT: {"player": 2, "guard": 3}},
        given_input=TickInput({"jump": RELEASE}, [Transition("text", 97)]),
    ),
]


@pytest.mark.parametrize("timestep", [Timestep(10), Rate(60_000, 1_001)], ids=repr)
@pytest.mark.parametrize("clamp", [None, 0, 250_000_000])
def test_a_recording_gives_back_what_was_recorded(
    timestep: Timestep | Rate, clamp: int | None
) -> None:
    policies = Policies(
        timestep,
        StepBudget(4),
        None if clamp is None else Nanos(clamp),
        ("jump",),
        {"outbox": 64, "timers": 16},
        7,
        {"seed": 42, "level": "Käfig", "cadence": (4, 1), "hard": True, "rival": None},
    )
    ticks, recording = read(recorded(EVERYTHING, policies))
    assert ticks == EVERYTHING
    assert recording.policies == policies
    assert recording.policies.library == fixedstep.__version__
    assert (recording.ticks, recording.missing, recording.fault) == (3, "", None)


def test_the_bytes_of_a_recording_are_these() -> None:
    """Files outlive releases. A change here needs another version number in the header."""
    policies = Policies(
        Rate(60), StepBudget(4), Nanos(250), ("jump",), {"outbox": 64}, 9, {"seed": 42}, "1.2.3"
    )
    assert recorded(EVERYTHING[2:], policies) == (
        '{"format":"fixedstep-replay","version":1,"library":"1.2.3","rate":[60,1],"clamp":250,'
        '"budget":4,"first_tick":9,"actions":["jump"],"capacities":{"outbox":64},'
        '"notes":{"seed":42}}\n'
        '{"tick":9,"input":{"actions":{"jump":[0,0,0,1,0]},"transitions":[["text",97]]},'
        '"phases":{"BeginTick":{"player":"0x0000000000000001"},'
        '"Commit":{"player":"0x0000000000000002","guard":"0x0000000000000003"}},'
        '"digests":{"world":"0x000000000000000a"}}\n'
        '{"end":{"ticks":1}}\n'
    )


def test_a_recording_is_plain_ascii() -> None:
    """A cut may fall anywhere and never within a character."""
    policies = Policies(Rate(60), StepBudget(4), None, ("größe",), notes={"level": "Käfig 🦄"})
    tick = RecordedTick(0, TickInput({"größe": PRESS}), (("ß",),), {}, {"spieler ä": 1})
    text = recorded([tick], policies)
    assert text.isascii()
    assert read(text)[0] == [tick]


def test_digests_are_taken_finished_or_not() -> None:
    file = io.StringIO()
    digest = StateHash().absorb_u64(7)
    recorder = Recorder(file, POLICIES)
    recorder.tick(0, NEUTRAL, {"one": digest, "two": digest.finish()})
    (tick,), _ = read(file.getvalue())
    assert tick.digests == {"one": digest.finish(), "two": digest.finish()}
    assert recorder.ticks == 1


class Point(NamedTuple):
    """A tuple that would come back as another type."""

    x: int


@pytest.mark.parametrize(
    "value",
    [1.0, [1], {1}, {"a": 1}, object(), b"bytes", Point(3), (1, (2, [3])), NEUTRAL, len],
    ids=lambda value: type(value).__name__,
)
def test_nothing_that_could_hold_an_address_or_come_back_as_something_else_is_recorded(
    value: object,
) -> None:
    file = io.StringIO()
    recorder = Recorder(file, POLICIES)
    before = file.getvalue()
    with pytest.raises(TypeError, match="an entity is its creation sequence"):
        recorder.tick(0, NEUTRAL, {"world": 1}, completions=[(1, value)])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="to be recorded"):
        Recorder(io.StringIO(), POLICIES._replace(notes={"seed": value}))  # type: ignore[dict-item]
    assert file.getvalue() == before
    recorder.tick(0, NEUTRAL, {"world": 1})
    assert read(file.getvalue())[0] == [a_tick(0)]


def test_plain_values_keep_their_type() -> None:
    value = (True, 1, "1", None, (), (False, 0), -(2**63), U64_MAX)
    ((tick,), _) = read(recorded([a_tick(0, completions=(value,))]))
    (again,) = tick.completions
    assert repr(again) == repr(plain(value)) == repr(value)
    for number in (2**64, -(2**63) - 1, 10**5000):
        with pytest.raises(OverflowError, match="an integer of 64 bits"):
            plain(number)


def test_tuples_are_recorded_to_a_stated_depth_and_no_deeper() -> None:
    """Fuzzing found a RecursionError: JSON may be nested deeper than the stack of its reader."""
    deep: tuple[Any, ...] = ()
    for _ in range(63):
        deep = (deep,)
    ((tick,), _) = read(recorded([a_tick(0, completions=(deep,))]))
    assert tick.completions == (deep,)
    with pytest.raises(ValueError, match="no more than 64 tuples within each other"):
        plain((deep,))
    policies = POLICIES._replace(notes={"seed": deep})
    lines = recorded([a_tick(0, completions=(deep,))], policies).splitlines(keepends=True)
    for levels in (1, 600, 930):
        for line in range(2):
            nested = lines.copy()
            nested[line] = nested[line].replace("[]", "[" * levels + "[]" + "]" * levels)
            with pytest.raises(ReplayError, match=f"line {line + 1}: .*(64 tuples|is not JSON)"):
                list(Recording(io.StringIO("".join(nested))))


@pytest.mark.parametrize(
    ("record", "kind", "text"),
    [
        (lambda r: r.tick(1, NEUTRAL, {"x": 1}), ValueError, "tick must be 0, the one after"),
        (lambda r: r.tick(-1, NEUTRAL, {"x": 1}), OverflowError, "tick must be a whole number"),
        (lambda r: r.tick(0, {"jump": PRESS}, {"x": 1}), ValueError, "a TickInput of the actions"),
        (lambda r: r.tick(0, TickInput.neutral(["run"]), {"x": 1}), ValueError, "actions jump"),
        (lambda r: r.tick(0, NEUTRAL, {}), ValueError, "must hold a field"),
        (lambda r: r.tick(0, NEUTRAL, [1]), TypeError, "a mapping from fields to StateHash"),
        (lambda r: r.tick(0, NEUTRAL, {"x": 2**64}), OverflowError, "the digest of 'x'"),
        (lambda r: r.tick(0, NEUTRAL, {"x": 0.5}), TypeError, "the digest of 'x'.*float 0.5"),
        (lambda r: r.tick(0, NEUTRAL, {3: 1}), TypeError, "a field must be a str"),
        (lambda r: r.tick(0, NEUTRAL, {"input": 1}), ValueError, "a name other than input"),
        (lambda r: r.tick(0, NEUTRAL, {"": 1}), ValueError, "a field must have a name"),
        (
            lambda r: r.tick(0, NEUTRAL, {"x": 1}, phases={Phase.MOTION: {}}),
            ValueError,
            "digests after Motion must hold a field",
        ),
        (
            lambda r: r.tick(0, NEUTRAL, {"x": 1}, completions=["a" * 2**20]),
            ValueError,
            "must fit a line of 1048575 characters",
        ),
    ],
)
def test_what_cannot_be_recorded_raises_before_anything_is_written(
    record: Callable[[Any], object], kind: type[Exception], text: str
) -> None:
    file = io.StringIO()
    recorder = Recorder(file, POLICIES)
    before = file.getvalue()
    with pytest.raises(kind, match=text):
        record(recorder)
    assert file.getvalue() == before
    recorder.tick(0, NEUTRAL, {"x": 1})
    assert recorder.ticks == 1


# Crashes.


class Disk(io.StringIO):
    """A file that says what had reached it at each flush, and can be full."""

    def __init__(self, room: int = 10**9) -> None:
        super().__init__()
        self.flushed: list[str] = []
        self.room = room

    def write(self, text: str) -> int:
        room = self.room - len(self.getvalue())
        super().write(text[:room])
        if room < len(text):
            raise OSError(28, "No space left on device")
        return len(text)

    def flush(self) -> None:
        self.flushed.append(self.getvalue())


def test_each_line_is_handed_over_as_it_is_written() -> None:
    file = Disk()
    recorder = Recorder(file, POLICIES)
    for number in range(3):
        recorder.tick(number, NEUTRAL, {"world": number})
    recorder.finish()
    lines = file.getvalue().splitlines(keepends=True)
    assert len(lines) == 5
    assert file.flushed == ["".join(lines[:count]) for count in range(1, 6)]


def test_a_full_disk_ends_the_recording_and_leaves_a_readable_file() -> None:
    """A tick after half a line would make both unreadable."""
    whole = recorded([a_tick(number) for number in range(9)])
    file = Disk(room=len(whole) // 2)
    recorder = Recorder(file, POLICIES)
    while len(file.getvalue()) + len(FIRST) < file.room:
        recorder.tick(recorder.ticks, NEUTRAL, {"world": recorder.ticks + 1})
    written = recorder.ticks
    assert 0 < written < 9
    with pytest.raises(OSError, match="No space left"):
        recorder.tick(written, NEUTRAL, {"world": written + 1})
    file.room = 10**9
    with pytest.raises(RuntimeError, match=f"writing tick {written} failed; start another one"):
        recorder.tick(written, NEUTRAL, {"world": 1})
    ticks, recording = read(file.getvalue())
    assert ticks == [a_tick(number) for number in range(written)]
    assert "is cut off after" in recording.missing


def test_a_finished_recording_takes_no_more_ticks() -> None:
    recorder = Recorder(io.StringIO(), POLICIES)
    recorder.finish()
    with pytest.raises(RuntimeError, match="it is finished"):
        recorder.tick(0, NEUTRAL, {"world": 1})


def test_a_recording_cut_at_any_byte_of_its_last_4_kib_is_read_up_to_its_last_whole_tick() -> None:
    """The oracle counts line ends in the bytes that are left, and knows nothing of JSON."""
    made = [
        a_tick(
            number,
            {"player": fnv(number), "guard": fnv(number * 7)},
            given_input=PRESSED if number % 3 else NEUTRAL,
            completions=((number, "path"),) if number % 5 == 0 else (),
        )
        for number in range(40)
    ]
    whole = recorded(made).encode()
    assert len(whole) > 4096 + 200
    told = set()
    for size in range(len(whole) - 4096, len(whole)):
        left = whole[:size]
        complete = left.count(b"\n") - 1  # the header is a line too
        # A line that lacks nothing but its line end is whole, since an object says where it ends.
        if whole[size : size + 1] == b"\n":
            complete += 1
        ticks, recording = read(left.decode())
        assert ticks == made[: min(complete, 40)], size
        assert recording.ticks == len(ticks)
        ended = complete > 40  # the end line lacks its line end and nothing else
        assert (recording.missing == "") is ended
        if not ended:
            line = left.count(b"\n") + 1 + (whole[size : size + 1] == b"\n")
            assert recording.missing.startswith(f"line {line}"), size
            lost = f"tick {len(ticks)}, or" if "cut off" in recording.missing else "is missing"
            assert lost in recording.missing
            told.add("cut off" in recording.missing)
    assert told == {True, False}, "cuts within a line and between two"
    assert read(whole.decode())[1].missing == ""


_KILLED = """
import os, signal, sys
from fixedstep import Rate, StepBudget
from fixedstep.sim.recording import Policies, Recorder
from fixedstep.sim.tick_input import TickInput

file = open(sys.argv[1], "x")
recorder = Recorder(file, Policies(Rate(60), StepBudget(4), None, ("jump",)))
for tick in range(300):
    recorder.tick(tick, TickInput.neutral(["jump"]), {"world": tick + 1})
file.write('{"tick":300,"inp')
file.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_program_killed_while_it_records_loses_the_line_it_was_at(tmp_path: Path) -> None:
    path = tmp_path / "killed.replay"
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert ended.returncode == (-signal.SIGKILL if os.name == "posix" else 1)
    with path.open() as file:
        recording = Recording(file)
        assert list(recording) == [a_tick(number) for number in range(300)]
    assert recording.missing == (
        "line 302 is cut off after 16 characters: tick 300, or the end of the recording, is missing"
    )


# Files that are no recordings.

HEADER, FIRST, SECOND, END = recorded([a_tick(0), a_tick(1)]).splitlines(keepends=True)


def edited(line: str, **changes: object) -> str:
    fields = json.loads(line) | changes
    return json.dumps({name: value for name, value in fields.items() if value != "gone"}) + "\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "empty or ends within its header"),
        (HEADER[:-9], 1, "empty or ends within its header"),
        ("hello\n", 1, "is not JSON.*a recording begins with its header"),
        ("\x00\x01\x02\n", 1, "is not JSON"),
        ("[]\n", 1, "looked for a header with the format 'fixedstep-replay', found"),
        ('{"format":"fixedstep-trace"}\n', 1, "a trace of frames is none"),
        (edited(HEADER, version=2), 1, "version must be 1, not 2; read it with the release"),
        (edited(HEADER, version=True), 1, "version must be 1"),
        (edited(HEADER, timestep="gone"), 1, "a header has"),
        (edited(HEADER, rate=[60, 1]), 1, "a header has"),
        (edited(HEADER, timestep="gone", rate=60), 1, "rate must be ticks and seconds"),
        (edited(HEADER, timestep="gone", rate=[60, 0]), 1, "rate must be a whole number in 1"),
        (edited(HEADER, timestep=0), 1, "timestep must be a whole number in 1"),
        (edited(HEADER, budget=2**32), 1, "budget must be"),
        (edited(HEADER, clamp=-1), 1, "clamp must be"),
        (edited(HEADER, clamp=0.5), 1, "0.5 is no integer"),
        (edited(HEADER, extra=1), 1, "a header has"),
        (edited(HEADER, actions="jump"), 1, "actions must be a list"),
        (edited(HEADER, actions=["b", "a"]), 1, "actions must be in name order"),
        (edited(HEADER, actions=[3]), 1, "an action must be a str"),
        (edited(HEADER, library=1), 1, "library a text"),
        (edited(HEADER, notes=[]), 1, "notes must be objects"),
        (edited(HEADER, notes={"input": 1}), 1, "a name other than"),
        (edited(HEADER, notes={"a": {"b": 1}}), 1, "to be recorded, not dict"),
        (edited(HEADER, capacities={"outbox": -1}), 1, "the capacity outbox must be"),
        (HEADER + FIRST[:-9] + "\n" + SECOND, 2, "is not JSON.*restore the line"),
        (HEADER + FIRST[:-9] + "\n", 2, "is not JSON"),
        (HEADER + "\n" + FIRST, 2, "is not JSON"),
        (HEADER + SECOND, 2, "is tick 1, but 0 comes here"),
        (HEADER + FIRST + FIRST, 3, "is tick 0, but 1 comes here"),
        (HEADER + FIRST + END, 3, "ended after 2 ticks, but 1 are here"),
        (HEADER + "[]\n", 2, "a tick has tick, input, digests"),
        (HEADER + edited(FIRST, extra=1), 2, "a tick has tick, input, digests"),
        (HEADER + edited(FIRST, input="gone"), 2, "a tick has tick, input, digests"),
        (HEADER + edited(FIRST, tick="0"), 2, "tick must be a whole number"),
        (HEADER + edited(FIRST, tick=True), 2, "tick must be a whole number"),
        (HEADER + edited(FIRST, input=[]), 2, "an input has actions and transitions"),
        (HEADER + edited(FIRST, input={"actions": {"run": [1] * 5}}), 2, "none of the actions"),
        (HEADER + edited(FIRST, completions={}), 2, "completions and refused must be lists"),
        (HEADER + edited(FIRST, completions=[{}]), 2, "to be recorded, not dict"),
        (HEADER + edited(FIRST, refused=3), 2, "refused must be lists"),
        (HEADER + edited(FIRST, refused=[-1]), 2, "refused must be a whole number"),
        (HEADER + edited(FIRST, phases=[]), 2, "phases must be an object"),
        (HEADER + edited(FIRST, phases={"Lunch": {"a": "0x" + "0" * 16}}), 2, "is no phase"),
        (HEADER + edited(FIRST, phases={"Motion": {}}), 2, "phase Motion must have digests"),
        (HEADER + edited(FIRST, digests={}), 2, "tick 0 must have digests by field"),
        (HEADER + edited(FIRST, digests={"world": 7}), 2, "16 lower-case hexadecimal"),
        (HEADER + edited(FIRST, digests={"world": "0x1"}), 2, "16 lower-case hexadecimal"),
        (HEADER + edited(FIRST, digests={"fault": "0x" + "0" * 16}), 2, "no name of a field"),
        (HEADER + FIRST.replace('"tick":0', '"tick":0,"tick":0'), 2, "a key twice"),
        (HEADER + "x" * 2**20 + "\n", 2, "is longer than 1048576 characters"),
        (HEADER + "[" * 10**5 + "\n", 2, "is not JSON"),
        (HEADER + FIRST + SECOND + '{"end":{}}\n', 4, "the end has ticks"),
        (HEADER + FIRST + SECOND + '{"end":{"ticks":2,"fault":[2]}}\n', 4, "a fault has a tick"),
        (HEADER + FIRST + SECOND + '{"end":{"ticks":2,"input":{}}}\n', 4, "the end has ticks"),
        (
            HEADER + FIRST + SECOND + '{"end":{"ticks":2,"fault":[2,"Motion","E"],"refused":[]}}\n',
            4,
            "the end has ticks",
        ),
        (
            HEADER + FIRST + SECOND + '{"end":{"ticks":2,"fault":[2,"Motion","E"],"input":[]}}\n',
            4,
            "input",
        ),
        (
            HEADER + FIRST + SECOND + '{"end":{"ticks":2,"fault":[9,"Motion","E"]}}\n',
            4,
            "in 2 .. 2",
        ),
        (HEADER + FIRST + SECOND + END + " ", 5, "comes after the end"),
        (HEADER + FIRST + SECOND + END + SECOND, 5, "comes after the end"),
    ],
)
def test_what_is_not_exactly_a_recording_is_refused_with_its_line(
    text: str, line: int, said: str
) -> None:
    with pytest.raises(ReplayError, match=f"^run.replay, line {line}: .*{said}"):
        list(Recording(io.StringIO(text), "run.replay"))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    with path.open(encoding="utf-8") as file, pytest.raises(ReplayError, match="is no text"):
        Recording(file)


def test_what_is_no_text_behind_the_end_is_refused() -> None:
    """Fuzzing found a UnicodeDecodeError, where a piece of the file ended with the recording."""
    file = io.TextIOWrapper(io.BytesIO((HEADER + FIRST + SECOND + END).encode() + b"\xff"), "utf-8")
    file._CHUNK_SIZE = 1  # type: ignore[attr-defined]
    with pytest.raises(ReplayError, match="line 5: comes after the end"):
        list(Recording(file))


def test_a_recording_is_read_once() -> None:
    _, recording = read(HEADER + FIRST)
    with pytest.raises(RuntimeError, match="was read already"):
        iter(recording)


def test_a_recording_knows_nothing_of_its_end_before_it_was_read() -> None:
    recording = Recording(io.StringIO(HEADER + FIRST + SECOND + END))
    assert recording.missing
    list(recording)
    assert not recording.missing


def test_an_empty_recording_says_that_it_lacks_its_end() -> None:
    ticks, recording = read(HEADER)
    assert ticks == []
    assert "line 2, the end of the recording, is missing" in recording.missing


def test_a_long_recording_is_read_a_line_at_a_time() -> None:
    """A day has five million ticks; nothing of them is kept."""

    class Endless(io.StringIO):
        lines = 0

        def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
            self.lines += 1
            if self.lines == 1:
                return HEADER
            number = self.lines - 2
            return FIRST.replace('"tick":0', f'"tick":{number}')

    file = Endless()
    recording = Recording(file)
    for tick in recording:
        assert file.lines == tick.tick + 2
        if tick.tick == 1000:
            break
    assert recording.ticks == 1001


# The first divergence.


def run_of(
    steps: Sequence[int], start: int = 1, field: str = "x", **more: Any
) -> list[RecordedTick]:
    """A world with one number, which each tick adds to."""
    x, ticks = 0, []
    for number, step in enumerate(steps, start):
        x += step
        ticks.append(a_tick(number, {field: fnv(x)}, **more))
    return ticks


def test_a_recording_by_tick_is_the_same_under_other_frames() -> None:
    """J05: one keyed by frame time did not replay where frames came at other times."""
    runs = []
    for frames in ([30_000_000, 60_000_000], [10_000_000 * k for k in range(1, 7)]):
        loop, x, ticks = FrameLoop(Timestep(10_000_000), StepBudget(5), start=Timestamp(0)), 0, []
        for now in frames:
            for step in loop.begin_frame(Timestamp(now)).steps():
                x += 3
                ticks.append(a_tick(step.tick, {"x": fnv(x)}))
        assert (len(ticks), x) == (6, 18)
        runs.append(read(recorded(ticks))[0])
    assert [f"{tick.digests['x']:016x}" for tick in runs[0]] == [
        "c7c2bf3b330983e6",
        "6ad26a20123ba583",
        "81a3697174a540ac",
        "24b3145653d76249",
        "43addb5f5ec6ac6a",
        "d669f6d4eced7017",
    ]
    assert compare(*runs) == Comparison(None, 6, 0, 0)


def test_the_first_divergence_is_where_it_began_and_not_where_it_was_noticed() -> None:
    """J06: reported at frame 308, begun at 305. Here tick 4 adds 4 instead of 3."""
    one, other = run_of([3] * 6), run_of([3, 3, 3, 4, 3, 3])
    assert [a.digests == b.digests for a, b in zip(one, other, strict=True)] == [True] * 3 + [
        False
    ] * 3
    assert first_divergence(one, other) == Divergence(
        4, None, "x", 0x24B3145653D76249, 0x05B84D4D48E81828
    )


@pytest.mark.parametrize(("long", "short"), [(6, 4), (6, 1), (2, 0)])
def test_runs_of_other_lengths_that_agree_do_not_diverge(long: int, short: int) -> None:
    """J06, second half: how far each goes on alone is said, and whether anything was compared."""
    one, other = run_of([3] * long), run_of([3] * short)
    assert compare(one, other) == Comparison(None, short, long - short, 0)
    assert compare(other, one) == Comparison(None, short, 0, long - short)
    assert first_divergence(one, other) is None


def test_a_divergence_in_the_last_common_tick_of_unequal_runs_is_found() -> None:
    one, other = run_of([3] * 6), run_of([3, 3, 5])
    found = compare(one, other)
    assert found.divergence is not None
    assert (found.divergence.tick, found.compared, found.only_first) == (3, 3, 0)


def test_ticks_are_compared_by_number_and_never_by_place() -> None:
    """J07: the state of tick n was compared with the recorded state of tick m."""
    one = run_of([3] * 6)
    late = one[1:]
    assert [tick.tick for tick in late] == [2, 3, 4, 5, 6]
    assert compare(one, late) == Comparison(None, 5, 1, 0)
    assert compare(late, one) == Comparison(None, 5, 0, 1)
    by_place = [a.digests == b.digests for a, b in zip(one, late, strict=False)]
    assert not any(by_place), "the control: by place, already the first would differ"
    late[3] = a_tick(5, {"x": 1})
    divergence = first_divergence(one, late)
    assert divergence is not None
    assert divergence.tick == 5


def test_runs_without_a_common_tick_were_not_compared() -> None:
    assert compare(run_of([3], start=1), run_of([3], start=9)) == Comparison(None, 0, 1, 1)


def test_of_several_fields_the_first_in_their_order_is_named() -> None:
    one = [a_tick(0, {"player": 1, "guard": 2, "exit": 3})]
    other = [a_tick(0, {"player": 1, "guard": 7, "exit": 8})]
    assert first_divergence(one, other) == Divergence(0, None, "guard", 2, 7)


def test_a_field_that_one_run_lacks_is_a_divergence() -> None:
    one, other = [a_tick(0, {"player": 1})], [a_tick(0, {"player": 1, "guard": 0})]
    assert first_divergence(one, other) == Divergence(0, None, "guard", None, 0)
    assert first_divergence(other, one) == Divergence(0, None, "guard", 0, None)


def test_another_input_is_named_before_what_follows_from_it() -> None:
    one, other = [a_tick(0, {"x": 1})], [a_tick(0, {"x": 2}, given_input=PRESSED)]
    found = first_divergence(one, other)
    assert found == Divergence(0, Phase.BEGIN_TICK, "input", NEUTRAL, PRESSED)
    assert "pressed=1" in str(found)


def test_another_result_of_background_work_is_named_before_what_follows_from_it() -> None:
    one = [a_tick(0, {"x": 1}, completions=((1, 5), (2, 6)))]
    other = [a_tick(0, {"x": 2}, completions=((2, 6), (1, 5)))]
    assert first_divergence(one, other) == Divergence(
        0, Phase.BEGIN_TICK, "completions", ((1, 5), (2, 6)), ((2, 6), (1, 5))
    )


def test_a_request_that_found_no_room_in_one_run_is_named() -> None:
    """How full a mailbox is depends on threads; what follows from it is no fault of the ticks."""
    one, other = [a_tick(0, {"x": 1}, refused=(2,))], [a_tick(0, {"x": 2})]
    assert first_divergence(one, other) == Divergence(0, None, "refused", (2,), ())


MOTION, GAMEPLAY = Phase.MOTION, Phase.GAMEPLAY


def test_the_first_phase_that_differs_is_named_where_phases_were_digested() -> None:
    one = [a_tick(0, {"x": 3}, phases={MOTION: {"x": 1}, GAMEPLAY: {"x": 2}})]
    other = [a_tick(0, {"x": 9}, phases={MOTION: {"x": 1}, GAMEPLAY: {"x": 8}})]
    assert first_divergence(one, other) == Divergence(0, GAMEPLAY, "x", 2, 8)
    assert str(first_divergence(one, other)).startswith("tick 0, phase Gameplay, x: 0x")
    late = [a_tick(0, {"x": 9}, phases=dict(one[0].phases))]
    assert first_divergence(one, late) == Divergence(0, Phase.END_TICK, "x", 3, 9)


def test_phases_that_only_one_run_digested_are_not_compared() -> None:
    """A debug build records more than a release; that is no difference of the simulation."""
    one, other = run_of([3, 3], phases={MOTION: {"x": 1}}), run_of([3, 3])
    assert compare(one, other) == Comparison(None, 2, 0, 0)
    changed = run_of([3, 4])
    assert first_divergence(one, changed) == Divergence(2, None, "x", fnv(6), fnv(7))


def test_a_phase_that_only_one_run_entered_is_a_divergence() -> None:
    one = [a_tick(0, {"x": 3}, phases={MOTION: {"x": 1}})]
    other = [a_tick(0, {"x": 3}, phases={MOTION: {"x": 1}, GAMEPLAY: {"x": 1}})]
    assert first_divergence(one, other) == Divergence(0, GAMEPLAY, "phase", None, "Gameplay")


class Ended(list[RecordedTick]):
    """A run, and the fault that ended it."""

    def __init__(self, ticks: Iterable[RecordedTick], *fault: Any) -> None:
        super().__init__(ticks)
        self.fault = RecordedFault(*fault) if fault else None


KEY, VALUE = "KeyError", "ValueError"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Ended(run_of([3] * 3), 4, MOTION, KEY), Ended(run_of([3] * 3), 4, MOTION, KEY), None),
        (
            Ended(run_of([3] * 3), 4, MOTION, KEY),
            Ended(run_of([3] * 4)),
            Divergence(4, MOTION, "fault", "KeyError in Motion", None),
        ),
        (
            Ended(run_of([3] * 6)),
            Ended(run_of([3] * 3), 4, MOTION, KEY),
            Divergence(4, MOTION, "fault", None, "KeyError in Motion"),
        ),
        (Ended(run_of([3] * 3), 4, MOTION, KEY), Ended(run_of([3] * 3)), None),
        (Ended(run_of([3] * 3), 4, MOTION, KEY), Ended(run_of([3] * 2)), None),
        (
            Ended(run_of([3] * 3), 4, GAMEPLAY, KEY),
            Ended(run_of([3] * 3), 4, MOTION, VALUE),
            Divergence(4, MOTION, "fault", "KeyError in Gameplay", "ValueError in Motion"),
        ),
        (
            Ended(run_of([3] * 3), 4, MOTION, KEY),
            Ended(run_of([3] * 5), 6, MOTION, KEY),
            Divergence(4, MOTION, "fault", "KeyError in Motion", None),
        ),
        (
            Ended([], 0, MOTION, KEY),
            Ended(run_of([3], start=0)),
            Divergence(0, MOTION, "fault", "KeyError in Motion", None),
        ),
        (Ended([], 0, MOTION, KEY), Ended([]), None),
        (
            Ended(run_of([3, 4, 3]), 4, MOTION, KEY),
            Ended(run_of([3, 3, 3, 3])),
            Divergence(2, None, "x", fnv(7), fnv(6)),
        ),
    ],
)
def test_a_fault_parts_a_run_from_one_that_got_through(
    one: Ended, other: Ended, expected: Divergence | None
) -> None:
    """A run that ended before that tick says nothing of it, and is no divergence."""
    assert first_divergence(one, other) == expected


def test_a_fault_is_recorded_by_its_type_and_without_its_text() -> None:
    """The text of an exception may hold an address, and then no two runs would agree."""
    file = io.StringIO()
    recorder = Recorder(file, POLICIES)
    recorder.tick(0, NEUTRAL, {"world": 1})
    recorder.finish(RecordedFault(1, GAMEPLAY, "KeyError"))
    assert file.getvalue().endswith('{"end":{"ticks":1,"fault":[1,"Gameplay","KeyError"]}}\n')
    _, recording = read(file.getvalue())
    assert recording.fault == RecordedFault(1, GAMEPLAY, "KeyError")
    assert recording.missing == ""


def test_two_files_are_compared_a_line_at_a_time() -> None:
    one = Recording(io.StringIO(recorded(run_of([3] * 6, start=0))))
    other = Recording(io.StringIO(recorded(run_of([3, 3, 4, 3], start=0))))
    divergence = first_divergence(one, other)
    assert divergence is not None
    assert (divergence.tick, one.ticks, other.ticks) == (2, 3, 3), "and no further than needed"


FIELDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True)


@given(st.data())
def test_one_changed_field_in_one_tick_is_named_exactly(data: st.DataObject) -> None:
    fields = data.draw(FIELDS)
    length = data.draw(st.integers(1, 12))
    with_phases = data.draw(st.booleans())
    ticks = [
        a_tick(
            number,
            {field: fnv(100 * number + i) for i, field in enumerate(fields)},
            phases={
                phase: {field: fnv(number + i) for i, field in enumerate(fields)} for phase in Phase
            }
            if with_phases
            else {},
        )
        for number in range(length)
    ]
    at = data.draw(st.integers(0, length - 1))
    field = data.draw(st.sampled_from(fields))
    phase = data.draw(st.sampled_from(Phase)) if with_phases else None
    text = recorded(ticks)
    lines = text.splitlines(keepends=True)
    line = json.loads(lines[1 + at])
    where = line["digests"] if phase is None else line["phases"][phase.value]
    before = int(where[field], 16)
    where[field] = f"0x{before ^ 1:016x}"
    lines[1 + at] = json.dumps(line) + "\n"
    changed = Recording(io.StringIO("".join(lines)))
    assert first_divergence(ticks, changed) == Divergence(at, phase, field, before, before ^ 1)
    assert first_divergence(ticks, read(text)[0]) is None, "the control"


def test_the_names_a_divergence_uses_itself_cannot_be_fields() -> None:
    assert {"input", "completions", "refused", "outbox room", "phase", "fault"} == set(RESERVED)
    for name in RESERVED:
        with pytest.raises(ValueError, match="a name other than"):
            Recorder(io.StringIO(), POLICIES).tick(0, NEUTRAL, {name: 1})


@pytest.mark.parametrize("at", [0, 50, 500_000, 999_999])
def test_of_a_long_input_is_shown_what_is_around_the_difference(at: int) -> None:
    one = "x" * 1_000_000
    other = one[:at] + "?" + one[at + 1 :]
    line = str(Divergence(3, Phase.BEGIN_TICK, "input", one, other))
    first, second = re.findall(r"characters (\d+) to (\d+) of 1000000: (\S{400})", line)
    assert first[:2] == second[:2]
    start, end = map(int, first[:2])
    assert start <= at < end == start + 400
    assert second[2].index("?") == at - start
    assert "?" not in first[2]
    assert len(line) < 1_000


def test_an_input_that_goes_on_is_shown_from_before_its_end() -> None:
    line = str(Divergence(3, None, "input", "x" * 1_000, "x" * 1_000 + "yz"))
    assert "characters 600 to 1000 of 1000: " in line
    assert "characters 602 to 1002 of 1002: " in line
    assert line.endswith("xyz")
