"""Trace files: what is written comes back, also from a file that a crash cut off anywhere.

The oracle is the list of operations that was written. Damage is made on purpose, byte by byte, and
each kind must be told with its line: a trace that is read "more or less" proves nothing when it is
planned again.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameStats, Rate, StateHash, StepBudget, Timestamp, Timestep
from fixedstep.records import Operation, Trace, TraceError
from fixedstep.records.lines import LONGEST_TAIL
from fixedstep.records.trace import TraceWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.conftest import Core

U64_MAX = 2**64 - 1
HEADER = '{"format":"fixedstep-trace","version":1,"timestep":10,"budget":3,"start":5}\n'
DIGEST = "0xaf63dc4c8601ec8c"
STATS = '"stats":{"frames":2,"ticks":3,"steps_dropped":1,"schedule_hash":"0xaf63dc4c8601ec8c"}'
BODY = HEADER + '["frame",27]\n["resync",90]\n' + f'["frame",130,"{DIGEST}"]\n'
FOOTER = "{" + STATS + ',"digest":"0x0123456789abcdef"}\n'


def ended(text: str) -> str:
    """The lines with an end whose digest is right."""
    end = "{" + STATS
    return f'{text}{end},"digest":"0x{StateHash().absorb_bytes((text + end).encode()).finish():016x}"}}\n'


WHOLE = ended(BODY)
OPERATIONS = [
    Operation("frame", Timestamp(27), None),
    Operation("resync", Timestamp(90), None),
    Operation("frame", Timestamp(130), int(DIGEST, 16)),
]


class Loaded(Trace):
    """A trace that was read to its end."""

    operations: list[Operation]


def loaded(path: Path) -> Loaded:
    trace = Loaded(path)
    trace.operations = list(trace)
    return trace


@pytest.fixture
def trace_of(tmp_path: Path) -> Callable[[str | bytes], Loaded]:
    """Read a trace with this content, to its end."""

    def read_content(content: str | bytes) -> Loaded:
        path = tmp_path / "made.trace"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return loaded(path)

    return read_content


def record(
    core: Core,
    file: Any,
    operations: Sequence[tuple[str, int]],
) -> FrameStats:
    """Plan the operations and record them, as an application would."""
    timestep, budget, start = Timestep(10), StepBudget(3), Timestamp(5)
    loop, stats = core.FrameLoop(timestep, budget, start), core.FrameStats()
    writer = TraceWriter(file, timestep, budget, start)
    for kind, now in operations:
        if kind == "resync":
            loop.resync(Timestamp(now))
            writer.resync(Timestamp(now))
        else:
            stats.absorb(loop.begin_frame(Timestamp(now)))
            writer.frame(Timestamp(now), stats.schedule_hash)
    writer.finish(stats)
    return stats


# What is written comes back.


def test_the_lines_of_a_trace_are_these() -> None:
    """Other programs read them: the text is part of the contract."""
    file = io.StringIO()
    writer = TraceWriter(file, Timestep(10), StepBudget(3), Timestamp(5))
    writer.frame(Timestamp(27))
    writer.resync(Timestamp(90))
    writer.frame(Timestamp(130), int(DIGEST, 16))
    writer.finish(FrameStats(2, 3, 1, int(DIGEST, 16)))
    assert file.getvalue() == WHOLE


def test_a_whole_trace_is_read(trace_of: Callable[[str | bytes], Loaded]) -> None:
    trace = trace_of(WHOLE)
    assert (trace.timestep, trace.budget, trace.start) == (Timestep(10), StepBudget(3), 5)
    assert trace.operations == OPERATIONS
    assert trace.stats == FrameStats(2, 3, 1, int(DIGEST, 16))
    assert trace.missing == ""


_times = st.one_of(st.sampled_from([0, 1, 2**32, 2**63, U64_MAX]), st.integers(0, U64_MAX))
_steps = st.one_of(
    st.builds(Timestep, st.one_of(st.sampled_from([1, U64_MAX]), st.integers(1, U64_MAX))),
    st.builds(Rate, st.integers(1, U64_MAX), st.integers(1, U64_MAX // 10**9)),
)


@given(
    timestep=_steps,
    budget=st.integers(1, 2**32 - 1),
    start=_times,
    operations=st.lists(
        st.builds(
            Operation,
            st.just("frame"),
            _times,
            st.one_of(st.none(), _times),
        )
        | st.builds(Operation, st.just("resync"), _times, st.none()),
        max_size=20,
    ),
    stats=st.builds(FrameStats, _times, _times, _times, _times),
)
def test_any_trace_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    timestep: Timestep | Rate,
    budget: int,
    start: int,
    operations: list[Operation],
    stats: FrameStats,
) -> None:
    path = tmp_path_factory.mktemp("trace") / "any.trace"
    with path.open("x") as file:
        writer = TraceWriter(file, timestep, StepBudget(budget), Timestamp(start))
        for operation in operations:
            if operation.kind == "resync":
                writer.resync(operation.now)
            else:
                writer.frame(operation.now, operation.digest)
        writer.finish(stats)
    trace = loaded(path)
    assert (trace.timestep, trace.budget, trace.start) == (timestep, StepBudget(budget), start)
    assert trace.operations == operations
    assert (trace.stats, trace.missing) == (stats, "")


def test_the_footer_is_the_stats_own_json(core: Core) -> None:
    file = io.StringIO()
    stats = record(core, file, [("frame", 27), ("resync", 90), ("frame", 190)])
    assert (stats.frames, stats.ticks, stats.steps_dropped) == (2, 5, 7)
    footer = file.getvalue().splitlines()[-1]
    assert footer.startswith(f'{{"stats":{stats.json()},"digest":"0x')
    assert json.loads(footer)["stats"]["frames"] == 2


def test_every_line_is_in_the_file_before_the_next_operation(tmp_path: Path) -> None:
    """What a program that dies leaves behind: nothing waits in a buffer of its own."""
    path = tmp_path / "live.trace"
    with path.open("x") as file:
        writer = TraceWriter(file, Timestep(10), StepBudget(3), Timestamp(5))
        assert path.read_text() == HEADER
        writer.frame(Timestamp(27))
        assert loaded(path).operations == OPERATIONS[:1]
        writer.resync(Timestamp(90))
        trace = loaded(path)
        assert trace.operations == OPERATIONS[:2]
        assert (trace.stats, trace.missing) == (None, "line 4 is missing; all before it is there")


@pytest.mark.parametrize(
    ("bad", "error"),
    [(-1, OverflowError), (U64_MAX + 1, OverflowError), (1.5, TypeError), ("27", TypeError)],
)
def test_bad_input_writes_nothing(bad: Any, error: type[Exception]) -> None:
    file = io.StringIO()
    with pytest.raises(error, match="start must be a whole number of nanoseconds"):
        TraceWriter(file, Timestep(10), StepBudget(3), bad)
    assert file.getvalue() == ""
    writer = TraceWriter(file, Timestep(10), StepBudget(3), Timestamp(5))
    for write in (writer.frame, writer.resync):
        with pytest.raises(error, match="now must be a whole number of nanoseconds"):
            write(bad)
    with pytest.raises(error, match="digest must be a whole number"):
        writer.frame(Timestamp(27), bad)
    assert file.getvalue() == HEADER


# A file that was cut off.


def test_a_trace_cut_at_any_byte_keeps_every_whole_line(
    trace_of: Callable[[str | bytes], Loaded],
) -> None:
    """All whole lines are kept, nothing is made up from a broken one, and the line is told. A line
    that lacks nothing but its line end is whole: JSON says itself where it ends."""
    starts = [0]
    for line in WHOLE.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    seen = set()
    for size in range(len(WHOLE) + 1):
        lines = sum(size >= end - 1 for end in starts[1:])
        if lines == 0:
            with pytest.raises(TraceError, match="line 1: the file is empty or ends within its"):
                trace_of(WHOLE[:size])
            continue
        trace = trace_of(WHOLE[:size])
        assert trace.operations == OPERATIONS[: lines - 1], size
        assert trace.missing.startswith("" if lines == 5 else f"line {lines + 1} is "), size
        assert bool(trace.missing) == (lines < 5), size
        assert (trace.stats is None) == (lines < 5), size
        seen.add(lines)
    assert seen == {1, 2, 3, 4, 5}


def test_the_zero_bytes_that_a_crash_leaves_are_a_cut_line(
    trace_of: Callable[[str | bytes], Loaded],
) -> None:
    """Also where there are more of them than any line has bytes."""
    for count in (1, 10_000):
        trace = trace_of(HEADER.encode() + b'["frame",27]\n' + bytes(count))
        assert trace.operations == OPERATIONS[:1]
        assert trace.missing == f"line 3 is cut off after {count} bytes; all before it is there"


def test_line_ends_of_windows_and_a_byte_order_mark_are_read(
    trace_of: Callable[[str | bytes], Loaded],
) -> None:
    trace = trace_of(b"\xef\xbb\xbf" + WHOLE.replace("\n", "\r\n").encode())
    assert trace.operations == OPERATIONS
    assert trace.missing == ""


# Damage.

NO_OPERATION = [
    ("words", "hello", "'hello' is not JSON"),
    ("a blank line", "", "'' is not JSON"),
    ("half a line", '["frame",2', "is not JSON"),
    ("two on one line", '["frame",27]["frame",28]', "is not JSON"),
    ("bytes", "\udcff\udcfe", "is not JSON"),
    ("nesting", "[" * 2000, "nested deeper than 64 brackets"),
    ("an endless line", '["frame",' + "1" * 10_000 + "]", "is longer than 4096 bytes"),
    ("an endless number", '["frame",' + "1" * 4050 + "]", "frame must be a whole number"),
    ("a number", "27", "27 is no line of a trace"),
    ("null", "null", "None is no line of a trace"),
    ("nothing", "[]", "are the operations, not []"),
    ("another word", '["pause",27]', "are the operations, not ['pause', 27]"),
    ("a word that is none", "[[], 27]", "are the operations, not [[], 27]"),
    ("no time", '["frame"]', "are the operations, not ['frame']"),
    ("too much", f'["frame",27,"{DIGEST}",1]', "are the operations, not ['frame', 27"),
    ("a resync with a digest", f'["resync",27,"{DIGEST}"]', "are the operations"),
    ("a fraction", '["frame",27.5]', "frame must be a whole number of nanoseconds in 0 .. "),
    ("a whole fraction", '["frame",27.0]', "frame must be a whole number of nanoseconds in 0"),
    ("a power", '["frame",1e3]', "not 1000.0"),
    ("negative", '["frame",-1]', "not -1"),
    ("65 bits", '["resync",18446744073709551616]', "resync must be a whole number of nanosec"),
    ("true", '["frame",true]', "not True"),
    ("text", '["frame","27"]', "not '27'"),
    ("no number", '["frame",NaN]', "NaN is no number of JSON"),
    ("a list", '["frame",[27]]', "not [27]"),
    ("a digest that is a number", '["frame",27,5]', "digest must be a string of 0x and 16"),
    ("a short digest", '["frame",27,"0x12"]', "digest must be a string of 0x and 16"),
    ("a digest in capitals", f'["frame",27,"{DIGEST.upper()}"]', "digest must be a string"),
    ("no footer", "{}", "the end has digest, stats, not []"),
    ("another key", '{"totals":{}}', "the end has digest, stats"),
    ("stats that are none", '{"stats":[],"digest":"0x0"}', "stats has frames, "),
    ("a negative count", FOOTER.strip().replace("2", "-2", 1), "frames must be a whole number"),
    ("a count that is none", FOOTER.strip().replace("3", "null", 1), "ticks must be a whole"),
    ("a number for a digest", FOOTER.strip().replace(f'"{DIGEST}"', "5"), "schedule_hash must"),
    ("a footer twice over", FOOTER.strip().replace('"ticks"', '"frames"'), "a key twice"),
]


@pytest.mark.parametrize(
    ("line", "words"), [case[1:] for case in NO_OPERATION], ids=[case[0] for case in NO_OPERATION]
)
def test_a_damaged_line_is_an_error_with_its_number(
    line: str, words: str, trace_of: Callable[[str | bytes], Loaded]
) -> None:
    """In the middle of the file. Each case stands in line 3, between two good ones."""
    content = HEADER + '["frame",27]\n' + line + '\n["frame",28]\n' + FOOTER
    with pytest.raises(TraceError) as caught:
        trace_of(content.encode("utf-8", "surrogateescape"))
    assert "made.trace, line 3: " in str(caught.value)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_what_follows_the_footer_is_an_error(trace_of: Callable[[str | bytes], Loaded]) -> None:
    with pytest.raises(TraceError, match="line 6: comes after the end"):
        trace_of(WHOLE + '["frame",131]\n')


NO_HEADER = [
    ("empty", "", "the file is empty or ends within its header"),
    ("an operation", '["frame",27]\n', "looked for a header with the format 'fixedstep-trace'"),
    ("a capture", "Application,ProcessID\n", "'Application,ProcessID' is not JSON"),
    ("another format", '{"format":"other"}\n', "found {'format': 'other'}"),
    ("another version", HEADER.replace("1", "2", 1), "version must be 1, not 2"),
    ("a version that is none", HEADER.replace("1", "true", 1), "version must be 1, not True"),
    ("no step", HEADER.replace('"timestep":10,', ""), "a header has budget, format, start, time"),
    ("two steps", HEADER.replace('"budget"', '"rate":[60,1],"budget"'), "a header has budget"),
    ("a key too many", HEADER.replace('"budget"', '"speed":2,"budget"'), "a header has budget"),
    ("a key twice", HEADER.replace('"budget"', '"budget":5,"budget"'), "a key twice"),
    ("a step of zero", HEADER.replace("10", "0"), "timestep must be a whole number of nanosec"),
    ("a step that is none", HEADER.replace("10", "1.0"), "timestep must be a whole number"),
    ("no budget", HEADER.replace(":3", ":0"), "budget must be a whole number of steps in 1 .. 4"),
    ("a budget of 33 bits", HEADER.replace(":3", ":4294967296"), "budget must be a whole number"),
    ("a start before zero", HEADER.replace(":5", ":-5"), "start must be a whole number of nanos"),
    (
        "half a rate",
        HEADER.replace('"timestep":10', '"rate":[60]'),
        "rate must be ticks and seconds, [60, 1] for 60 Hz, not [60]",
    ),
    (
        "a rate of no seconds",
        HEADER.replace('"timestep":10', '"rate":[60,0]'),
        "rate must be a whole number of seconds in 1 ..",
    ),
    (
        "a rate of no ticks",
        HEADER.replace('"timestep":10', '"rate":[0,1]'),
        "rate must be a whole number of ticks in 1 ..",
    ),
]


@pytest.mark.parametrize(
    ("header", "words"), [case[1:] for case in NO_HEADER], ids=[case[0] for case in NO_HEADER]
)
def test_a_damaged_header_is_an_error_that_names_the_value(
    header: str, words: str, trace_of: Callable[[str | bytes], Loaded]
) -> None:
    with pytest.raises(TraceError) as caught:
        trace_of(header + '["frame",27]\n' if header else header)
    assert "made.trace, line 1: " in str(caught.value)
    assert words in str(caught.value)


def test_a_rate_in_the_header_is_read(trace_of: Callable[[str | bytes], Loaded]) -> None:
    trace = trace_of(HEADER.replace('"timestep":10', '"rate":[60000,1001]'))
    assert trace.timestep == Rate(60_000, 1_001)


def test_a_missing_file_is_the_systems_own_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Trace(tmp_path / "nowhere.trace")


def test_one_changed_bit_anywhere_in_a_trace_is_noticed(tmp_path: Path) -> None:
    data, noticed = WHOLE.encode(), 0
    for place in range(8 * len(data)):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        trace = None
        try:
            trace = Trace(io.BytesIO(bytes(changed)))
            assert list(trace) == OPERATIONS
        except (TraceError, AssertionError):
            noticed += 1
        else:
            noticed += bool(trace.missing)
    assert noticed == 8 * len(data) > 1000


def test_a_trace_of_a_loop_that_begins_with_its_first_frame_has_no_start(
    trace_of: Callable[[str | bytes], Loaded],
) -> None:
    trace = trace_of(ended(HEADER.replace('"start":5', '"start":null') + '["frame",27]\n'))
    assert (trace.start, trace.operations) == (None, OPERATIONS[:1])


def test_bytes_without_end_behind_a_cut_line_are_refused() -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            buffer[:] = bytes(len(buffer))  # not what the memory held before
            return len(buffer)

    file = io.BufferedReader(Endless(), 2**20)
    with pytest.raises(TraceError, match=f"no end within {LONGEST_TAIL >> 20} MiB"):
        Trace(file)
