"""Captures whose frame times and clocks disagree, and the formats whose frames look forward.

Each small file is written here, row by row, from frame times that are known. The oracle is their
sum: frame times together with reported gaps must span what the file's own clock spans.
"""

from __future__ import annotations

import csv
import gzip
import json
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fixedstep.captures import Capture, CaptureError, analyze, capframex, json_stream, read
from fixedstep.captures.decimal_text import (
    UNITS,
    array_nanoseconds,
    decimals,
    many_nanoseconds,
    nanoseconds,
)
from fixedstep.captures.table import Table
from fixedstep.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MS = 1_000_000
TIMES = [16_700, 8_300, 33_400, 16_600, 120_000, 16_700]
"""Microseconds."""


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Capture]:
    """Read a capture with this content."""

    def read_text(content: str | bytes, *, name: str = "made.csv", **options: Any) -> Capture:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path, options.pop("unit", None), **options)

    return read_text


def ms(microseconds: int) -> str:
    return f"{microseconds // 1000}.{microseconds % 1000:03d}"


CLOCKS: dict[str, Callable[[int], str]] = {
    "TimeInSeconds": lambda at: f"{at // 10**6}.{at % 10**6:06d}",
    "TimeInMs": ms,
    "TimeInQPC": lambda at: str(27_282_921_635 + 10 * at),
    "QPCTime": lambda at: str(1_857_900_376_640 + 10 * at),
    "CPUStartTime": ms,
    "CPUStartQPC": lambda at: str(55_436_501_505 + 10 * at),
    "CPUStartQPCTimeInMs": ms,
}
FAMILIES = [
    *(("MsBetweenPresents", clock) for clock in CLOCKS if not clock.startswith("CPU")),
    *((frame, clock) for frame in ("FrameTime", "CPUBusy,CPUWait") for clock in CLOCKS
      if clock.startswith("CPU")),
]  # fmt: skip


def presentmon(
    frame: str,
    clock: str,
    times: Sequence[int],
    left_out: Sequence[int] = (),
    kinds: Sequence[str] = (),
) -> str:
    """A PresentMon file of these microseconds, without the rows of some."""
    forward = frame != "MsBetweenPresents"
    starts = list(accumulate(times, initial=5_000_000))
    lines = [f"Application,ProcessID,SwapChainAddress,FrameType,{clock},{frame}"]
    for index, time in enumerate(times):
        if index in left_out:
            continue
        at = starts[index] if forward else starts[index + 1]
        value = f"{ms(time - 300)},0.300" if "," in frame else ms(time)
        kind = kinds[index] if kinds else "Application"
        lines.append(f"game.exe,42,0x1A,{kind},{CLOCKS[clock](at)},{value}")
    return "\n".join(lines) + "\n"


LONG = [16_000 + 7 * index for index in range(60)]


@pytest.mark.parametrize(("frame", "clock"), FAMILIES)
def test_a_file_without_a_hole_gives_its_frame_times_and_no_gap(
    frame: str, clock: str, made: Callable[..., Capture]
) -> None:
    """The control of the next test."""
    capture = made(presentmon(frame, clock, LONG))
    (stream,) = capture.streams
    forward = frame != "MsBetweenPresents"
    assert list(stream.frame_times) == [time * 1000 for time in LONG[0 if forward else 1 :]]
    assert stream.gaps.count == 0
    assert capture.warnings == ()


@pytest.mark.parametrize("gaps", ["count", "skip"])
@pytest.mark.parametrize(("frame", "clock"), FAMILIES)
def test_frame_times_and_gaps_together_are_the_span_of_the_files_own_clock(
    frame: str, clock: str, gaps: str, made: Callable[..., Capture]
) -> None:
    """Rows 20 to 22 and 40 are missing. By default their time counts, in the frame before or after
    them; skipped, it is reported all the same."""
    left_out = (20, 21, 22, 40)
    capture = made(presentmon(frame, clock, LONG, left_out), gaps=gaps)
    (stream,) = capture.streams
    holes = [1000 * sum(LONG[20:23]), 1000 * LONG[40]]
    assert [gap.length for gap in stream.gaps.longest] == holes
    assert stream.gaps.total == sum(holes)
    assert stream.gaps.counted is (gaps == "count")
    span = 1000 * sum(LONG if frame != "MsBetweenPresents" else LONG[1:])
    assert stream.total + (0 if gaps == "count" else stream.gaps.total) == span
    assert stream.frames == len(LONG) - 4 - (frame == "MsBetweenPresents")
    (warning,) = capture.warnings
    assert "rows are missing: by the file's own clock 2 gaps of" in warning
    assert "line 22, " in warning
    assert ("counted in the frames" if gaps == "count" else "left out") in warning


def test_a_capture_without_its_dropped_frames_says_that_it_was_filtered(
    made: Callable[..., Capture],
) -> None:
    """Every second row, as --exclude_dropped leaves them: half of the time."""
    capture = made(presentmon("MsBetweenPresents", "TimeInSeconds", LONG, range(1, 60, 2)))
    (stream,) = capture.streams
    assert "rows are missing all over, as a filter such as --exclude_dropped" in capture.warnings[0]
    assert stream.total == 1000 * sum(LONG[1:59])
    assert stream.gaps.count == 29


def test_a_clock_of_other_ticks_is_measured(made: Callable[..., Capture]) -> None:
    """Of 3,579,545 Hz, as old machines had. What is found is within a thousandth."""
    text = presentmon("MsBetweenPresents", "QPCTime", LONG, (20, 21, 22))
    lines = [line.split(",") for line in text.splitlines()]
    for fields in lines[1:]:
        at = (int(fields[4]) - 1_857_900_376_640) // 10
        fields[4] = str(10**9 + at * 3_579_545 // 10**6)
    (stream,) = made("\n".join(map(",".join, lines)) + "\n").streams
    assert stream.gaps.count == 1
    assert abs(stream.gaps.total - 1000 * sum(LONG[20:23])) < 100_000


def test_a_clock_with_an_absurd_power_costs_no_time(made: Callable[..., Capture]) -> None:
    """Ten digits of exponent are a power of ten that would take hours to write out."""
    text = presentmon("MsBetweenPresents", "QPCTime", LONG)
    lines = [line.split(",") for line in text.splitlines()]
    lines[2][4] = "1e9999999999"
    (stream,) = made("\n".join(map(",".join, lines)) + "\n").streams
    assert len(stream.frame_times) == len(LONG) - 1


def test_frame_times_that_are_longer_than_the_clock_says_are_told(
    made: Callable[..., Capture],
) -> None:
    text = presentmon("MsBetweenPresents", "TimeInSeconds", LONG).replace("16.210", "96.210")
    capture = made(text)
    assert capture.streams[0].gaps.count == 0
    assert "the frame times are 0.08 s longer than the file's own clock says" in capture.warnings[0]


@pytest.mark.parametrize(
    "kind", ["AMD_AFMF", "AMD AFMF", "Intel XeSS-FG", "Intel_XEFG", "Repeated"]
)
@pytest.mark.parametrize(("frame", "clock"), [FAMILIES[0], FAMILIES[2], FAMILIES[5]])
def test_generated_frames_are_left_out_and_counted(
    kind: str, frame: str, clock: str, made: Callable[..., Capture]
) -> None:
    """Their FrameTime is 0, and their MsBetweenPresents that of the row after them."""
    plain = presentmon(frame, clock, TIMES).splitlines()
    lines = plain[:1]
    for line in plain[1:]:
        generated = line.replace(",Application,", f",{kind},")
        if frame == "FrameTime":
            generated = generated.rpartition(",")[0] + ",0.0000"
        lines += [generated, line] if frame == "MsBetweenPresents" else [line, generated]
    capture = made("\n".join(lines) + "\n")
    expected = made("\n".join(plain) + "\n")
    assert list(capture.streams[0].frame_times) == list(expected.streams[0].frame_times)
    assert f"generated frames ({kind}) left out: 6" in capture.warnings[0]
    assert (capture.rows, len(capture.warnings)) == (12, 1)
    for drawn in ("NotSet", "Unspecified"):
        same = made("\n".join(plain).replace(",Application,", f",{drawn},") + "\n")
        assert list(same.streams[0].frame_times) == list(expected.streams[0].frame_times)
        assert same.warnings == ()


def test_a_mangohud_log_and_a_capframex_run_are_compared_with_their_clocks(
    made: Callable[..., Capture],
) -> None:
    starts = list(accumulate(LONG[1:], initial=10**6))
    lines = ["fps,frametime,cpu_load,elapsed"]
    for time, at in zip(LONG, starts, strict=True):
        lines.append(f"60,{ms(time)},5,{at * 1000 + (20_000_000 if at > 1_500_000 else 0)}")
    (stream,) = made("\n".join(lines) + "\n").streams
    assert (stream.gaps.count, stream.gaps.total) == (1, 20_000_000)
    assert stream.total == 1000 * sum(LONG[1:]) + 20_000_000

    data = {
        "MsBetweenPresents": [time / 1000 for time in LONG],
        "TimeInSeconds": [(at + 2_000_000 * (at > 1_500_000)) / 10**6 for at in starts],
    }
    text = json.dumps({"Runs": [{"CaptureData": data}]})
    (stream,) = made(text).streams
    assert (stream.gaps.count, stream.gaps.total) == (1, 2 * 10**9)
    assert stream.total == 1000 * sum(LONG[1:]) + 2 * 10**9
    nan = text.replace("16.07", '"NaN"', 1)
    assert nan != text
    assert made(nan).streams[0].total == stream.total


def test_fraps_has_a_running_clock(made: Callable[..., Capture]) -> None:
    rows = "".join(
        f"{n:5d}, {ms(at):>10}\n" for n, at in enumerate(accumulate(TIMES, initial=0), 1)
    )
    capture = made("Frame, Time (ms)\n" + rows)
    assert (capture.format, capture.rows) == ("FRAPS CSV", 7)
    assert list(capture.streams[0].frame_times) == [time * 1000 for time in TIMES]
    with pytest.raises(CaptureError, match="line 9: the time goes back"):
        made("Frame, Time (ms)\n" + rows + "    8,      1.000\n")


def test_unreal_csv_with_and_without_its_header_at_the_end(made: Callable[..., Capture]) -> None:
    rows = "".join(f",{ms(time)},3.1\n" for time in TIMES[:3])
    rows += "".join(f",{ms(time)},3.1,7\n" for time in TIMES[3:])
    header = "EVENTS,FrameTime,GameThreadTime"
    capture = made(f"{header}\n{rows}{header},GPUTime\n[HasHeaderRowAtEnd],1,[config],Test\n")
    assert (capture.format, capture.rows) == ("Unreal CSV", 6)
    assert list(capture.streams[0].frame_times) == [time * 1000 for time in TIMES]
    assert made(f"{header}\n{rows}").streams[0].total == sum(TIMES) * 1000
    with pytest.raises(CaptureError, match="FrameTime 'fast'"):
        made(f"{header}\n{rows},fast,3\n")


def test_android_framestats_are_a_stream_for_each_window(made: Callable[..., Capture]) -> None:
    def table(origin: int) -> str:
        rows = "".join(
            f"0,{origin + at * 1000},{origin + at * 1000},9223372036854775807,0,\n"
            for at in accumulate(TIMES, initial=0)
        )
        names = "Flags,IntendedVsync,Vsync,OldestInputEvent,NewestInputEvent,"
        return f"---PROFILEDATA---\n{names}\n{rows}---PROFILEDATA---\n"

    dump = (
        "Applications Graphics Acceleration Info:\nUptime: 5 Realtime: 5\n\n"
        "** Graphics info for pid 4711 [org.orbit.game] **\n\nWindow: org.orbit/Main\n"
        f"Total frames rendered: 7\n{table(594399833469194)}\nView hierarchy:\n"
        f"Window: popup\n{table(10**12)}"
    )
    capture = made(dump)
    assert capture.format == "Android framestats"
    assert [(s.application, s.process_id, s.name) for s in capture.streams] == [
        ("org.orbit.game", "4711", "org.orbit/Main, table 1"),
        ("org.orbit.game", "4711", "popup, table 2"),
    ]
    for stream in capture.streams:
        assert list(stream.frame_times) == [time * 1000 for time in TIMES]
    with pytest.raises(CaptureError, match="without rows of frames; use the command"):
        made(dump.partition("---PROFILE")[0])


@pytest.mark.parametrize(
    ("separator", "first"), [(",", ""), (",", "sep=,\n"), (";", "sep=;\n"), ("\t", "")]
)
def test_tables_without_a_process_and_with_any_separator_are_read(
    separator: str, first: str, made: Callable[..., Capture]
) -> None:
    rows = "".join(f"{separator.join([str(n), ms(time)])}\n" for n, time in enumerate(TIMES))
    for column, skipped in (("MsBetweenPresents", 1), ("FrameTime", 0)):
        capture = made(f"{first}Index{separator}{column}\n{rows}")
        assert capture.streams[0].title == "all frames"
        assert list(capture.streams[0].frame_times) == [t * 1000 for t in TIMES[skipped:]]


def test_any_column_of_any_table_can_be_named(made: Callable[..., Capture]) -> None:
    stamps = list(accumulate(TIMES, initial=0))
    table = "n,took,at\n" + "".join(
        f"{n},{time},{at}\n" for n, (time, at) in enumerate(zip(TIMES, stamps, strict=False))
    )
    took = made(table, unit="us", column="Took").streams[0]
    at = made(table, unit="us", column="at", stamps=True).streams[0]
    assert list(took.frame_times) == [time * 1000 for time in TIMES]
    assert list(at.frame_times) == list(took.frame_times)[:-1]
    plain = made("".join(f"{at}\n" for at in stamps), unit="us", stamps=True)
    assert list(plain.streams[0].frame_times) == list(took.frame_times)
    with pytest.raises(CaptureError, match=r"no column 'x'; its columns are 'n', 'took', 'at'"):
        made(table, unit="us", column="x")
    with pytest.raises(CaptureError, match=r"found 'n', 'took', 'at'; where one of the columns"):
        made(table)
    with pytest.raises(ValueError, match="unit must be given with column or stamps"):
        made(table, column="took")


def test_a_file_has_one_decimal_mark(made: Callable[..., Capture]) -> None:
    header = "Application;ProcessID;SwapChainAddress;MsBetweenPresents\n"
    rows = "game.exe;42;1;16,811\n" * 3
    assert made(header + rows).streams[0].total == 2 * 16_811_000
    with pytest.raises(CaptureError, match=r"^[^:]*, line 5: '1\.016' has another decimal mark"):
        made(header + rows + "game.exe;42;1;1.016\n")


def test_a_thousands_separator_is_no_second_stream(made: Callable[..., Capture]) -> None:
    """Beside a swap chain in decimal, the pieces would fit a name with a comma in it."""
    header = "Application,ProcessID,SwapChainAddress,MsBetweenPresents\n"
    rows = "game.exe,42,123,16.5\n" * 3
    with pytest.raises(CaptureError, match="line 5: has 5 fields, and its header names 4"):
        made(header + rows + "game.exe,42,123,1,234.5\n")
    assert len(made(header + rows + "a, b.exe,42,123,16.5\n").streams) == 2


@pytest.mark.parametrize(
    ("begin", "packer"),
    [
        (b"PK\x03\x04", "zip"),
        (b"\xfd7zXZ\0", "xz"),
        (b"BZh9", "bzip2"),
        (b"\x28\xb5\x2f\xfd", "zs"),
    ],
)
def test_other_packed_files_are_to_be_unpacked(
    begin: bytes, packer: str, made: Callable[..., Capture]
) -> None:
    with pytest.raises(CaptureError, match=rf"is packed with {packer}.*; unpack it"):
        made(begin + bytes(100))


def test_a_frame_with_a_key_twice_is_refused(made: Callable[..., Capture]) -> None:
    event = '{"name":"DrawFrame","ts":%d,"pid":1,"tid":1%s}'
    good = ",".join(event % (n * 16_000, "") for n in range(3))
    assert made(f"[{good}]").streams[0].frames == 2
    twice = event % (48_000, ',"ts":1')
    with pytest.raises(CaptureError, match="event 3, a frame, has 'ts' twice"):
        made(f"[{good},{twice}]")
    other = '{"name":"x","a":1,"a":2}'
    assert made(f"[{good},{other}]").streams[0].frames == 2


def test_threads_of_a_browser_are_streams_with_renderers_first(
    made: Callable[..., Capture],
) -> None:
    """The browser's own window draws more than the page; pictures show the page."""

    def frames(pid: int, tid: int, count: int) -> list[dict[str, Any]]:
        names = {"name": "DrawFrame", "ph": "i", "pid": pid, "tid": tid}
        return [{**names, "ts": 16_000 * n} for n in range(count)]

    def name(kind: str, pid: int, tid: int, what: str) -> dict[str, Any]:
        return {"name": kind, "ph": "M", "pid": pid, "tid": tid, "args": {"name": what}}

    events = [
        *frames(1, 11, 9),
        *frames(2, 22, 4),
        *frames(3, 33, 3),
        name("process_name", 1, 0, "Browser"),
        name("process_name", 2, 0, "Renderer"),
        name("thread_name", 2, 22, "Compositor"),
        {"name": "TracingStartedInBrowser", "args": {"data": {"frames": [{"processId": 3}]}}},
    ]
    capture = made(json.dumps({"traceEvents": events}))
    assert [(stream.title, stream.frames, stream.background) for stream in capture.streams] == [
        ("process 3, thread 33", 2, False),
        ("Renderer, process 2, Compositor, thread 22", 3, False),
        ("Browser, process 1, thread 11", 8, True),
    ]


def test_a_summary_beside_a_capture_is_skipped_in_a_folder_and_no_capture_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.csv").write_text(presentmon("FrameTime", "CPUStartTime", TIMES))
    (tmp_path / "run_summary.csv").write_text("0.1% Min FPS,Average FPS\n41.2,60\n")
    (tmp_path / "FrameView_Summary.csv").write_text("TimeStamp,GPU,Application,Avg FPS\n1,2,3,4\n")
    (tmp_path / "pmcap-stats.csv").write_text("Duration,Total Frames\n1,60\n")
    assert main(["analyze", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "total of 1" not in out, "one capture has a page of its own"
    assert err.count("fixedstep: skipped: ") == 3
    assert main(["analyze", str(tmp_path / "run_summary.csv")]) == 2
    assert "is a summary that a tool writes beside its captures" in capsys.readouterr().err


def test_a_trace_that_analyze_wrote_is_read_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "run.csv", tmp_path / "out.json"
    path.write_text(presentmon("FrameTime", "CPUStartTime", TIMES))
    assert main(["analyze", str(path), "--trace", str(out)]) == 0
    (stream,) = read(out).streams
    assert list(stream.frame_times) == [time * 1000 for time in TIMES]
    assert stream.application == "game.exe, process 42, swap chain 0x1A"


TEXTS = st.from_regex(r"[0-9]{1,5}(\.[0-9]{1,14})?", fullmatch=True)


@given(
    st.lists(TEXTS | st.sampled_from(["NA", "1e3", " 7.5", "-1", "0"]), min_size=1),
    st.sampled_from(list(UNITS)),
)
def test_many_numbers_at_once_are_those_one_by_one(texts: list[str], unit: str) -> None:
    found = many_nanoseconds([texts], unit)
    if found is not None:
        assert found[0] == [nanoseconds(text.strip(), unit) for text in texts]
    else:
        assert len({len(text.partition(".")[2]) for text in texts}) > 1 or not all(
            text.replace(".", "").isdigit() for text in texts
        )


PLAIN = st.from_regex(r"(0|[1-9][0-9]{0,9})(\.[0-9]{1,16})?", fullmatch=True)
#: Ties and what lies beside them, with more digits than a float has.
NEAR_TIES = st.builds(
    lambda whole, digits, tail: f"{whole}.{digits:09d}{tail}",
    st.integers(0, 200_000),
    st.integers(0, 10**9 - 1),
    st.sampled_from(["5", "50", "4", "49", "499", "501", "5001", "4999", "6", "000", "500"]),
)
#: Texts between commas that are no plain numbers, some of them no JSON.
ODD = st.sampled_from(
    [
        *("1e3", "1E-2", "1.5e+1", "-1", "-0", "+1", "1.", ".5", "007", "00.5", "1 2", "1_0", ""),
        *("0x10", "1.2.3", "٣", "\v1", "18446744073709.551615", "18446744073709.551616", "9" * 19),
        *("9" * 20, "0." + "1" * 30, "1e400", "1e-400", "0." + "0" * 5000 + "1"),
    ]
)
BLANKS = st.sampled_from(["", "", "", " ", "\n  ", "\t", " " * 70])
NUMBERS = st.builds(
    lambda before, text, after: before + text + after, BLANKS, PLAIN | NEAR_TIES, BLANKS
)


@given(
    st.lists(NUMBERS, min_size=1) | st.lists(NUMBERS | ODD, min_size=1), st.sampled_from([*UNITS])
)
def test_an_array_at_once_gives_the_numbers_one_by_one(texts: list[str], unit: str) -> None:
    found = array_nanoseconds(",".join(texts), unit)
    if found is not None:
        numbers = [text.strip(" \t\r\n") for text in texts]
        assert found[0] == [nanoseconds(text, unit) for text in numbers]
        assert found[1] == max(map(decimals, numbers))


@given(st.lists(PLAIN, min_size=1), st.sampled_from([*UNITS]))
def test_arrays_of_plain_numbers_are_read_at_once(texts: list[str], unit: str) -> None:
    """Without this the test above could pass with nothing compared."""
    values = [nanoseconds(text, unit) for text in texts if len(text.partition(".")[0]) < 6]
    plain = [text for text in texts if len(text.partition(".")[0]) < 6]
    if plain and all(len(text) < 20 for text in plain):
        found = array_nanoseconds(", ".join(plain), unit)
        assert found is not None
        assert found[0] == values


@given(
    st.lists(
        st.builds(
            lambda nanos, tail: f"{nanos // 10**9}.{nanos % 10**9:09d}{tail}",
            st.integers(0, 2 * 10**14) | st.integers(2 * 10**14 - 10**6, 2 * 10**14),
            st.sampled_from(["4999", "499", "5", "500", "501", "5001"]),
        ),
        min_size=1,
    )
)
def test_what_a_float_takes_for_a_tie_is_rounded_as_the_text_is(texts: list[str]) -> None:
    """Seconds of two days, of which a float holds a thirtieth of a nanosecond."""
    found = array_nanoseconds(",".join(texts), "s")
    assert found is not None
    assert found[0] == [nanoseconds(text, "s") for text in texts]


def test_an_array_beyond_64_bits_is_left_to_the_other_way() -> None:
    assert array_nanoseconds("1.5,18446744073709.551615", "ms") is None, "more than 19 digits"
    assert array_nanoseconds("1.5,18446744073709.55161", "ms") == ([1_500_000, 2**64 - 6], 5)
    assert array_nanoseconds("1.5,18446744073709.55162", "ms") is None


def _runs_read(text: str) -> list[Any]:
    """All that a CapFrameX file gives, or its error."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made.json")
        path.write_bytes(text.encode())
        try:
            capture = read(path)
        except CaptureError as error:
            return [str(error).replace(folder, "")]
        streams = [(s.title, list(s.frame_times), s.gaps) for s in capture.streams]
        return [*streams, capture.rows, *capture.warnings]


VALUES = (
    st.sampled_from(["16.7", "16.6667", "9", "100.25"] * 4 + ["null", '"NaN"', "NaN", "1.67e1"])
    | NUMBERS
    | ODD
    | st.sampled_from(["[16.7]", "{}", '"16.7"', "true", "-1", "Infinity", '"]"', "[[", "1e9999"])
)


@given(
    st.lists(VALUES, min_size=1, max_size=30),
    st.lists(NUMBERS | ODD | st.sampled_from(["null", '"NaN"', "1e1", "-1", "[1]"]), max_size=30),
    st.booleans(),
    st.integers(1, 64),
)
@example(["16.7", "16.7"], ["0", ".0 0.0167"], False, 3)
@example(["007", "16.7"], [], False, 3)
def test_capframex_arrays_give_what_their_values_give_one_by_one(
    times: list[str], clock: list[str], running: bool, piece: int
) -> None:
    """The other way looks at each value by itself. Pieces of a few bytes, so that every token is
    cut somewhere; what is not JSON is an error, whatever the pieces."""
    if running:
        clock = [f"{0.0167 * index}" for index in range(len(times))]
    text = (
        f'{{"Runs": [{{"CaptureData": {{"TimeInSeconds": [{",".join(clock)}], '
        f'"MsBetweenPresents": [{",".join(times)}]}}}}]}}'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_PIECE", piece)
        found = _runs_read(text)
        patch.setattr(capframex, "array_nanoseconds", lambda text, unit: None)
        assert found == _runs_read(text)
    whole = _runs_read(text)
    try:
        json.loads(text)
    except ValueError:
        assert all(isinstance(error, str) for (error,) in (found, whole))
    else:
        assert found == whole


def test_a_nanosecond_that_one_way_loses_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above finds a planted fault: decimals that are cut and not rounded."""
    text = '{"Runs":[{"CaptureData":{"MsBetweenPresents":[16.7,16.0000006,16.1234567]}}]}'
    expected = [("run 1", [16_000_001, 16_123_457])]

    def cut(text: str, unit: str) -> tuple[list[int], int]:
        return [int(float(number) * 10 ** UNITS[unit]) for number in text.split(",")], 7

    assert [stream[:2] for stream in _runs_read(text)[:1]] == expected
    monkeypatch.setattr(capframex, "array_nanoseconds", cut)
    assert [stream[:2] for stream in _runs_read(text)[:1]] != expected


def _row(kind: str, index: int) -> str:
    chain, time = "0x1A" if index % 3 else "0x2B", ms(15_000 + 10 * index)
    at = f"{index}.{index:06d}"
    return {
        "plain": f"game.exe,42,{chain},Application,{at},{time}",
        "quoted": f'"game.exe",42,{chain},Application,{at},{time}',
        "unmeasured": f"game.exe,42,{chain},Application,{at},NA",
        "generated": f"game.exe,42,{chain},AMD AFMF,{at},0",
        "comma": f"a, game.exe,42,{chain},Application,{at},{time}",
        "blank": "",
        "short": f"game.exe,42,{chain}",
        "exponent": f"game.exe,42,{chain},Application,{at},1.5e1",
        "damaged": f"game.exe,42,{chain},Application,{at},fast",
    }[kind]


ROWS = st.lists(
    st.sampled_from(
        ["plain"] * 8 + ["quoted", "unmeasured", "generated", "comma", "blank", "exponent"]
    )
    | st.sampled_from(["plain"] * 20 + ["short", "damaged"]),
    min_size=1,
    max_size=60,
)


@given(ROWS, st.sampled_from(["\n", "\r\n"]))
def test_blocks_of_rows_give_what_the_rows_give_one_by_one(kinds: list[str], end: str) -> None:
    """Streams, gaps, warnings and errors alike. The other way is a reader that takes no block."""
    import tempfile

    header = "Application,ProcessID,SwapChainAddress,FrameType,TimeInSeconds,MsBetweenPresents"
    lines = [header, *(_row(kind, index) for index, kind in enumerate(kinds))]
    found: list[list[Any]] = []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder, "made.csv")
        path.write_bytes("".join(line + end for line in lines).encode())
        for _ in range(2):
            try:
                capture = read(path)
            except CaptureError as error:
                found.append([str(error)])
            else:
                streams = [(s.title, list(s.frame_times), s.gaps) for s in capture.streams]
                found.append([*streams, capture.rows, *capture.warnings])
            patch.setattr(Table, "_block", lambda self, number, raw: False)
    assert found[0] == found[1]


# The command.


def test_a_formula_in_a_name_is_text_in_csv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.csv"
    text = presentmon("FrameTime", "CPUStartTime", TIMES)
    path.write_text(text.replace("game.exe", "=cmd|'/c calc'!A1"))
    assert main(["analyze", "--csv", str(path)]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert row["application"] == "'=cmd|'/c calc'!A1"


def test_warnings_are_in_csv_and_on_the_error_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "holes.csv"
    path.write_text(presentmon("FrameTime", "CPUStartTime", LONG, (20,)))
    assert main(["analyze", "--csv", str(path)]) == 0
    out, err = capsys.readouterr()
    (row,) = csv.DictReader(out.splitlines())
    assert "rows are missing" in row["warnings"]
    assert (row["gaps"], row["gaps_ns"]) == ("1", str(1000 * LONG[20]))
    assert err.startswith("fixedstep: warning: ")
    assert main(["analyze", str(path), "--gaps=skip"]) == 0
    assert "gaps                1, 0.016 s together, left out" in capsys.readouterr().out


def test_a_folder_is_a_line_a_capture_and_a_total(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(5):
        path = tmp_path / f"run{number}.csv"
        path.write_text(presentmon("FrameTime", "CPUStartTime", TIMES))
    assert main(["analyze", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 3 + 1 + 5 + 1
    total = out.splitlines()[-1].split()
    assert total[:5] == ["total", "of", "5", "5", "30"]
    figures = [plan for f in analyze(path)["streams"] for plan in f["schedules"]]
    assert total[-2:] == [str(5 * sum(p[name] for p in figures)) for name in ("steps", "dropped")]
    assert main(["analyze", "--details", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("6 rows, one stream of frames") == 5


def test_a_process_and_a_stream_can_be_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two.csv"
    one = presentmon("FrameTime", "CPUStartTime", TIMES)
    other = one.partition("\n")[2].replace("game.exe,42,0x1A", "dwm.exe,7,0x2B")
    path.write_text(one + other)

    def applications(*options: str) -> list[str]:
        assert main(["analyze", "--json", str(path), *options]) == 0
        (found,) = json.loads(capsys.readouterr().out)["files"]
        return [stream["application"] for stream in found["streams"]]

    assert applications() == ["game.exe", "dwm.exe"]
    assert applications("--process", "GAME") == applications("--process", "42") == ["game.exe"]
    assert applications("--stream", "2b") == ["dwm.exe"]
    assert main(["analyze", str(path), "--process", "comet"]) == 2
    err = capsys.readouterr().err
    assert "has no such stream; its streams are: game.exe, process 42" in err


def test_an_output_replaces_its_file_whole_or_not_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = tmp_path / "run.csv", tmp_path / "out.json"
    path.write_text(presentmon("FrameTime", "CPUStartTime", TIMES))
    out.write_text("before")

    def full(file: Any, *_: Any) -> None:
        file.write("half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("fixedstep.cli.chrome_writer.write", full)
        assert main(["analyze", str(path), "--trace", str(out)]) == 2
    assert capsys.readouterr().err == f"fixedstep: {out}: No space left on device\n"
    assert out.read_text() == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.json", "run.csv"]
    missing = tmp_path / "nowhere" / "out.json"
    assert main(["analyze", str(path), "--trace", str(missing)]) == 2
    assert f"{missing}: No such file or directory" in capsys.readouterr().err
    same = ["--trace", str(out), "--plot", str(tmp_path / "." / "out.json")]
    assert main(["analyze", str(path), *same]) == 2
    assert "would both write" in capsys.readouterr().err
    assert main(["analyze", str(path), "--trace", str(out)]) == 0
    assert json.loads(out.read_text())["traceEvents"]


def test_a_folder_that_cannot_be_listed_costs_itself_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    (tmp_path / "run.csv").write_text(presentmon("FrameTime", "CPUStartTime", TIMES))
    (tmp_path / "shut").mkdir()
    listed = os.listdir

    def denied(path: str) -> Any:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr("os.listdir", denied)
    assert main(["analyze", "--json", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert [("error" in found) for found in json.loads(out)["files"]] == [False, True]
    assert err == f"fixedstep: {tmp_path / 'shut'}: Permission denied\n"


def test_a_small_packed_file_is_refused_before_it_costs_much(
    made: Callable[..., Capture],
) -> None:
    """Nothing but rows: 16 MiB of them in some 20 KB."""
    header = b"Application,ProcessID,SwapChainAddress,MsBetweenPresents\n"
    packed = gzip.compress(header + b"a,1,1,1\n" * (2 << 20))
    assert len(packed) < 50_000
    with pytest.raises(CaptureError, match="unpacks to more than 32 times its size"):
        made(packed)
