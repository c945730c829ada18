"""Captures of other tools: the frame times that come out, and what is refused with which words.

Two sources. Small made-up files in ``data/captures`` show one oddity each and are always read. Real
captures are read where somebody has them: the folder that ``FIXEDSTEP_CAPTURES`` names, or
``shared/captures`` beside the checkout; they are other people's files and no part of the project.

The oracle for reading is arithmetic on paper (the made-up files are short) and, for the real ones,
the files' own time column, which the reader does not use.
"""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
import os
import re
from fractions import Fraction
from itertools import accumulate, pairwise
from itertools import chain as concatenated
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameTiming, Nanos, Rate, StepBudget, Timestamp, Timestep
from fixedstep.captures import Capture, CaptureError, Stream, json_stream, read
from fixedstep.captures import capture as capture_module
from fixedstep.captures.analysis import histogram, merge_histograms
from fixedstep.captures.capture import FrameTimes
from fixedstep.captures.decimal_text import UNITS, nanoseconds
from fixedstep.captures.json_stream import Cursor
from fixedstep.captures.source import Source
from fixedstep.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Core

MADE = Path(__file__).parent / "data" / "captures"
REFUSED = {"mangohud-sampled.csv", "mangohud-no-columns.csv", "monitoring.csv"}
ORBIT = ("orbit.exe", "71", "0xA1")
NAMELESS = ("", "", "")
U64_MAX = 2**64 - 1

COLUMNS = b"Application,ProcessID,SwapChainAddress,MsBetweenPresents,Dropped\n"
ROW = b"orbit.exe,71,0xA1,16.5,0\n"


def group_of(*deltas: int) -> Stream:
    return Stream("orbit.exe", "71", "swap chain 0xA1", FrameTimes(deltas))


@pytest.fixture
def made(tmp_path: Path) -> Callable[[bytes], Capture]:
    """Read a capture with these bytes."""

    def read_bytes(content: bytes) -> Capture:
        path = tmp_path / "made.csv"
        path.write_bytes(content)
        return read(path)

    return read_bytes


def deltas_of(capture: Capture) -> dict[tuple[str, str, str], list[int]]:
    return {
        (g.application, g.process_id, g.name.removeprefix("swap chain ")): list(g.frame_times)
        for g in capture.streams
    }


# What the made-up files give, worked out by hand.


def test_frames_are_grouped_by_application_process_and_swap_chain_in_file_order() -> None:
    """Frame times of interleaved chains are times between different things; the first row of each
    group measures from before the capture. A group of one row stays, with no frame time."""
    capture = read(MADE / "presentmon-1.csv")
    assert capture.rows == 7
    assert deltas_of(capture) == {
        ("orbit.exe", "71", "0x00000000000000A1"): [16_000_100, 100_000_000, 17_000_000],
        ("orbit.exe", "71", "0x00000000000000B2"): [8_300_000],
        ("comet.exe", "72", "0x00000000000000A1"): [],
    }
    assert [g.name[-2:] for g in capture.streams] == ["A1", "B2", "A1"]
    assert capture.warnings == ()


def test_frame_time_is_the_column_where_there_is_no_time_between_presents() -> None:
    """PresentMon 2.1. It looks forward, so that the first row is a whole frame; a frame that was
    not measured is taken from the clock, and the reader says so."""
    capture = read(MADE / "presentmon-2.0.csv")
    assert capture.rows == 5
    assert deltas_of(capture) == {
        ORBIT: [16_600_000, 16_700_100, 16_633_300, 16_000_000, 50_000_000]
    }
    unmeasured, gaps = capture.warnings
    assert "without a frame time (NA): 1, the first in line 6; their time is in the" in unmeasured
    assert "1 gap of 0.016 s together, counted" in gaps
    skipped = read(MADE / "presentmon-2.0.csv", gaps="skip")
    assert deltas_of(skipped) == {ORBIT: [16_600_000, 16_700_100, 16_633_300, 50_000_000]}


def test_the_time_between_presents_is_preferred_to_the_frame_time() -> None:
    capture = read(MADE / "presentmon-2.4.csv")
    assert deltas_of(capture) == {("orbit.exe", "71", "0xA1"): [16_700_100, 16_633_300]}
    assert capture.warnings == ()


def test_semicolons_decimal_commas_a_byte_order_mark_and_crlf_are_read() -> None:
    capture = read(MADE / "european.csv")
    assert (MADE / "european.csv").read_bytes().count(b"\r\n") == 5
    assert deltas_of(capture) == {
        ("Umlaufbahn.exe", "71", "0xA1"): [16_811_000, 16_497_000, 1_000_000]
    }
    assert capture.warnings == ()


def test_comment_lines_before_the_columns_are_passed_over() -> None:
    capture = read(MADE / "comment-lines.csv")
    assert capture.rows == 3
    assert deltas_of(capture) == {("orbit.exe", "71", "0xA1"): [3_429_000, 2_863_000]}


def test_rows_may_be_shorter_than_the_header() -> None:
    """OCAT puts the hardware into the first row alone, with commas inside quotes."""
    capture = read(MADE / "ragged.csv")
    assert deltas_of(capture) == {("orbit.exe", "71", "0xA1"): [12_166_000, 10_201_000]}
    assert capture.warnings == ()


def test_a_last_line_without_its_end_counts_if_its_frame_time_is_whole() -> None:
    capture = read(MADE / "no-time-no-last-line-end.csv")
    assert not (MADE / "no-time-no-last-line-end.csv").read_bytes().endswith(b"\n")
    assert deltas_of(capture) == {("orbit.exe", "71", "0xA1"): [16_497_000, 16_672_000]}
    assert capture.warnings == ()


# Every other format, each from a small file of its own: what it gives, to the nanosecond.
FORMATS: list[tuple[str, str, dict[tuple[str, str, str], list[int]], list[str]]] = [
    ("frameview.csv", "PresentMon CSV", {ORBIT: [16_200_000, 33_300_000]}, []),
    ("utf-16.csv", "PresentMon CSV", {ORBIT: [16_200_000, 33_300_000]}, []),
    ("packed.csv.gz", "PresentMon CSV", {ORBIT: [16_200_000, 33_300_000]}, []),
    (
        "two-recordings.csv",
        "PresentMon CSV",
        {ORBIT: [16_100_000], (*ORBIT[:2], "0xA1, part 2"): [16_200_000]},
        ["line 4 names the columns again"],
    ),
    ("mangohud-1.csv", "MangoHud CSV", {NAMELESS: [16_700_100, 100_000_000, 16_599_900]}, []),
    ("mangohud-2021.csv", "MangoHud CSV", {NAMELESS: [17_000_000, 100_000_000]}, []),
    (
        "capframex.json",
        "CapFrameX JSON",
        {
            ("orbit.exe", "", "run 1"): [16_700_000, 16_700_000, 16_700_000, 100_000_000],
            ("orbit.exe", "", "run 2"): [8_250_000],
        },
        ["without a frame time (NA): 1;", "1 gap of 0.0167 s together, counted"],
    ),
    (
        "chrome-object.json",
        "Chrome trace",
        {
            ("", "7", "Compositor, thread 1"): [16_000_500, 100_000_250],
            ("", "8", "thread 2"): [],
        },
        [],
    ),
    (
        "chrome-array-cut.json",
        "Chrome trace",
        {("", "7", "thread 1"): [20_000_001]},
        ["the list of events has no end"],
    ),
    (
        "own.trace",
        "fixedstep trace",
        {NAMELESS: [16_000_000, 17_000_000, 10_000_000, 0]},
        ["time before 1 resyncs left out", "the clock went back before 1 frames"],
    ),
]


@pytest.mark.parametrize(
    ("name", "form", "deltas", "warnings"), FORMATS, ids=[case[0] for case in FORMATS]
)
@pytest.mark.parametrize("way", ["path", "standard input", "gzip"])
def test_every_format_is_told_by_its_content_and_read_exactly(
    name: str,
    form: str,
    deltas: dict[tuple[str, str, str], list[int]],
    warnings: list[str],
    way: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From a file under its name, from a pipe, and packed under a name that says nothing."""
    if way == "path":
        capture = read(MADE / name)
    elif way == "gzip":
        packed = gzip.compress((MADE / name).read_bytes())
        (tmp_path / "capture").write_bytes(gzip.decompress(packed) if ".gz" in name else packed)
        capture = read(tmp_path / "capture")
    else:
        with (MADE / name).open("rb") as file:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=file))
            capture = read("-")
    assert capture.format == form
    assert deltas_of(capture) == deltas
    assert len(capture.warnings) == len(warnings)
    for words, warning in zip(warnings, capture.warnings, strict=True):
        assert words in warning


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", ["european.csv", "packed.csv.gz", "utf-16.csv"])
def test_a_pipe_that_gives_a_byte_at_a_time_is_read_like_the_file(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fuzzing found that the marks of UTF-8, UTF-16 and gzip were looked for in the first piece."""

    class Pipe(io.BytesIO):
        pieces = 0

        def read(self, most: int | None = -1, /) -> bytes:
            self.pieces += 1
            return super().read(size if most is None or most < 0 else min(most, size))

    pipe = Pipe((MADE / name).read_bytes())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=pipe))
    found, expected = read("-"), read(MADE / name)
    assert pipe.pieces > 50
    assert deltas_of(found) == deltas_of(expected) != {}
    assert (found.format, found.rows) == (expected.format, expected.rows)


@pytest.mark.parametrize(
    ("unit", "deltas"),
    [
        ("ms", [16_700_000, 8_300_000, 100_000_000]),
        ("us", [16_700, 8_300, 100_000]),
        ("ns", [17, 8, 100]),
        ("s", [16_700_000_000, 8_300_000_500, 100_000_000_000]),
    ],
)
def test_a_plain_column_is_read_in_the_unit_that_is_told(unit: str, deltas: list[int]) -> None:
    """8.3000005 of each. Every number counts: nothing says that the first began before."""
    capture = read(MADE / "column.txt", unit)
    assert set(UNITS) == {"s", "ms", "us", "ns"}
    assert (capture.format, capture.rows) == ("column of numbers", 3)
    assert list(capture.streams[0].frame_times) == deltas


def test_the_numbers_of_a_plain_column_may_stand_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "quoted.txt"
    path.write_bytes(b'"frame time"\n"16.7"\r\n 8.3 \n"100"\n')
    assert list(read(path, "ms").streams[0].frame_times) == [16_700_000, 8_300_000, 100_000_000]


def test_a_first_number_in_quotes_is_no_name(tmp_path: Path) -> None:
    """It was taken for one, and its frame was gone without a word."""
    path = tmp_path / "quoted.txt"
    path.write_bytes(b'"16.7"\n8.3\n')
    assert list(read(path, "ms").streams[0].frame_times) == [16_700_000, 8_300_000]


def test_a_plain_column_without_a_unit_is_refused(made: Callable[[bytes], Capture]) -> None:
    with pytest.raises(CaptureError, match="say which unit they are in"):
        made(b"16.7\n16.6\n")


@pytest.mark.parametrize(
    ("content", "unit", "words"),
    [
        (b"16.7\nfast\n", "ms", "line 2: 'fast' is not a decimal number of milliseconds"),
        (b"16,7\n", "ms", "line 1: '16,7' is not a decimal number"),
        (b"a\nb\n1\n", "ms", "line 2: 'b' is not a decimal number"),
        (b"-1\n", "us", "line 1: '-1' is negative"),
        (b"name\n", "ms", "holds no numbers"),
        (b"1\n", "min", "unit must be one of s, ms, us, ns, not 'min'"),
    ],
)
def test_a_column_that_is_none_is_refused(
    content: bytes, unit: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "column").write_bytes(content)
    with pytest.raises(CaptureError) as caught:
        read(tmp_path / "column", unit)
    assert words in str(caught.value)


def test_a_last_number_that_may_be_cut_is_left_out_and_told(tmp_path: Path) -> None:
    (tmp_path / "column").write_bytes(b"16.7\n16.6")
    capture = read(tmp_path / "column", "ms")
    assert list(capture.streams[0].frame_times) == [16_700_000]
    assert "line 2, the last" in capture.warnings[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mangohud-sampled.csv", "is sampled, not per frame: its frame times add up to 4 % of"),
        ("mangohud-no-columns.csv", "line 3: is a MangoHud log without a line that names its col"),
        ("monitoring.csv", "line 1: is a hardware monitoring log with one sample a second"),
    ],
)
def test_logs_without_a_time_for_each_frame_are_refused_with_the_reason(
    name: str, words: str
) -> None:
    assert name in REFUSED
    with pytest.raises(CaptureError) as caught:
        read(MADE / name)
    assert words in str(caught.value)
    assert "record" in str(caught.value), "what to do instead"


READABLE = [p for p in sorted(MADE.glob("[!.]*")) if p.name not in REFUSED | {"column.txt"}]


@pytest.mark.parametrize("path", READABLE, ids=lambda path: path.name)
def test_a_capture_cut_at_any_byte_gives_no_wrong_frame_time(path: Path, tmp_path: Path) -> None:
    """Whatever is left of a file, each group read from it begins the group of the whole file; and a
    frame whose row was begun is either counted, or the loss is told."""
    content = path.read_bytes()
    whole = deltas_of(read(path))
    cut = tmp_path / "cut.csv"
    refused = warned = 0
    for size in range(len(content)):
        cut.write_bytes(content[:size])
        try:
            capture = read(cut)
        except CaptureError:
            refused += 1
            continue
        warned += bool(capture.warnings)
        for key, deltas in deltas_of(capture).items():
            if key in whole:
                assert deltas == whole[key][: len(deltas)], size
            else:  # the row was cut within its swap chain's address; it gives no frame time
                raise AssertionError(f"a group that is not in the file, cut at {size}: {key}")
        if capture.format != "PresentMon CSV" or path.name in ("utf-16.csv", "packed.csv.gz"):
            continue
        begun = content[:size].replace(b"\r\n", b"\n").rstrip(b"\r").split(b"\n")
        begun = [line for line in begun if line.strip() and not line.startswith(b"//")]
        if capture.rows < len(begun) - 1:
            assert capture.warnings, size
    assert refused > 50
    if path.suffix == ".csv":
        assert warned > 10


# What is refused, and what is right all the same.

NOT_READ = [
    ("empty", b"", "holds no rows"),
    ("only blank lines", b"\n \n\n", "holds no rows"),
    ("only comments", b"//GameName=orbit.exe\n", "holds no rows"),
    ("columns alone", COLUMNS, "has columns but no rows"),
    (
        "an image",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        "line 1: this is no capture that is known",
    ),
    ("zero bytes", bytes(100), "line 1: holds a zero byte"),
    ("a program", b"\x7fELF\x02\x01\x01\x00\x00\x00\n", "line 1: holds a zero byte"),
    ("UTF-16 of no rows", COLUMNS.decode().encode("utf-16"), "has columns but no rows"),
    ("one endless line", b"x" * 10**6, "line 1: is longer than 65536 bytes"),
    ("events that are none", b'{"traceEvents":[' + b"1," * 50_000, "event 0 is '1' and no object"),
    ("another tool", b"frame,ms,gpu\n1,16.6,10\n", "found 'frame', 'ms', 'gpu'; where one"),
    (
        "no elapsed",
        b"fps,frametime,cpu_load\n60,16.6,10\n",
        "line 1: the column elapsed is there 0",
    ),
    ("two elapsed", b"fps,frametime,elapsed,elapsed\n60,16.6,1,1\n", "column elapsed is there 2"),
    (
        "one frame",
        b"fps,frametime,elapsed\n60,16.6,100\n",
        "has 1 rows, and a frame time needs two",
    ),
    (
        "elapsed goes back",
        b"fps,frametime,elapsed\n60,1,100\n60,1,1000100\n60,1,100\n",
        "line 4: elapsed goes back",
    ),
    (
        "a unit that none is",
        b"fps,frametime,elapsed\n60,16.6,10\n60,16.6,20\n60,16.6,36\n",
        "so frametime is in no unit that is known here",
    ),
    (
        "a short row of MangoHud",
        b"fps,frametime,elapsed\n60,16.6,10\n60,16.6\n60,1,1\n",
        "line 3: has 2 fields",
    ),
    ("sensors", b'Date,Time,"Framerate [FPS]"\n1,2,3\n', "is a log of sensors"),
    ("ticks", b'{"format":"fixedstep-recording","version":1}\n', "is a recording of ticks"),
    ("JSON of something", b'{"a": [1, {"b": "x"}], "c": 1e9}', "is JSON and no capture"),
    ("both", b'{"traceEvents":[], "Runs":[]}', "found Runs and traceEvents"),
    ("events twice", b'{"traceEvents":[], "traceEvents":[]}', "has traceEvents twice"),
    ("no events", b'{"traceEvents":[]}', "is a trace of 0 events"),
    ("other events", b'[{"name":"x","ts":1}]', "is a trace of 1 events, none of them DrawFrame"),
    ("no runs", b'{"Runs":[]}', "has no frames in its runs"),
    ("a run of nothing", b'{"Runs":[{}]}', "run 1 has 0 arrays CaptureData.MsBetweenPresents"),
    (
        "a run of words",
        b'{"Runs":[{"CaptureData":{"MsBetweenPresents":[1,"16.6"]}}]}',
        "run 1, MsBetweenPresents 1: '16.6' is not a decimal number",
    ),
    (
        "a time stamp that is none",
        b'[{"name":"DrawFrame","ts":"1"}]',
        "event 0, DrawFrame: ts '1' is not a decimal number of microseconds",
    ),
    (
        "a time beyond 64 bits",
        b'[{"name":"DrawFrame","ts":99999999999999999}]',
        "event 0, DrawFrame: ts '99999999999999999' is out of range",
    ),
    ("a cut object", b'{"traceEvents":[{"name":"DrawFrame","ts":1},', "is no whole JSON"),
    ("a cut event", b'[{"name":"DrawFrame","ts":1},{"na', "is no whole JSON"),
    ("more behind it", b'[{"name":"DrawFrame","ts":1}] x', "looked for the end at character 30"),
    ("a comma too many", b'{"Runs":[],}', "looked for a key at character 11, found '}'"),
    ("nesting in what is wanted", b'[{"a":' + b"[" * 100_000, "is nested deeper than any capture"),
    ("nesting in what is not", b'{"a":' + b"[" * 100_000, "is nested deeper than any capture"),
    (
        "nesting among many other brackets",
        b'[{"a":[' + b'{"[":[]},' * 3_000 + b"[" * 65,
        "is nested deeper than any capture",
    ),
    ("a damaged gzip file", b"\x1f\x8b\x08" + bytes(100), "is a damaged gzip file"),
    ("gzip of nothing right", gzip.compress(COLUMNS + ROW)[:-1], "is a gzip file that ends early"),
    (
        "gzip with a wrong sum",
        gzip.compress(COLUMNS + ROW)[:-8] + bytes(8),
        "is a damaged gzip file",
    ),
    ("no frame time", b"Application,ProcessID,SwapChainAddress\na,1,2\n", "MsBetweenPresents"),
    (
        "two frame times",
        b"Application,ProcessID,SwapChainAddress,MsBetweenPresents,msBetweenPresents\n",
        "the column MsBetweenPresents is there 2 times",
    ),
    ("a short row", COLUMNS + ROW + b"orbit.exe,71\n" + ROW, "line 3: has 2 fields"),
    ("words", COLUMNS + ROW + b"orbit.exe,71,0xA1,fast,0\n", "line 3: MsBetweenPresents 'fast' is"),
    (
        "other columns again",
        COLUMNS + ROW + b"A,B,C,MsBetweenPresents,D\n",
        "line 3: MsBetweenPresents 'MsBetweenPresents' is not",
    ),
    (
        "a thousand processes",
        COLUMNS + b"".join(b"orbit.exe,%d,0xA1,16.5,0\n" % n for n in range(1000)),
        "line 258: more than 256 streams of frames",
    ),
    ("an empty value", COLUMNS + b"orbit.exe,71,0xA1,,0\n", "line 2: MsBetweenPresents '' is not"),
    ("not a number", COLUMNS + ROW + b"orbit.exe,71,0xA1,NaN,0\n", "'NaN' is not a decimal"),
    ("infinity", COLUMNS + ROW + b"orbit.exe,71,0xA1,inf,0\n", "'inf' is not a decimal number"),
    ("underscores", COLUMNS + ROW + b"orbit.exe,71,0xA1,1_6,0\n", "'1_6' is not a decimal number"),
    ("negative", COLUMNS + ROW + b"orbit.exe,71,0xA1,-0.1,0\n", "'-0.1' is negative"),
    ("an absurd power", COLUMNS + ROW + b"orbit.exe,71,0xA1,1e400,0\n", "'1e400' is out of range"),
    (
        "a power beyond all",
        COLUMNS + ROW + b"orbit.exe,71,0xA1,1e999999999999999999999,0\n",
        "is out of range",
    ),
    (
        "ten thousand digits",
        COLUMNS + ROW + b"orbit.exe,71,0xA1," + b"9" * 10_000 + b",0\n",
        "line 3: MsBetweenPresents '99999",
    ),
    (
        "two points",
        COLUMNS.replace(b",", b";") + b"orbit.exe;71;0xA1;1.234,5;0\n",
        "'1.234,5' is not a decimal number",
    ),
    (
        "more than 64 bits together",
        COLUMNS + ROW + b"orbit.exe,71,0xA1,18446744073709.551615,0\n" + ROW,
        "line 4: the frame times of 'orbit.exe' add up to more than",
    ),
    ("a zero byte", COLUMNS + ROW + b"orbit.exe,71,0xA1\0,16.5,0\n", "line 3: holds a zero byte"),
    (
        "a quote never closed",
        COLUMNS + ROW + b'"orbit.exe,71,0xA1,16.5,0\n' + ROW,
        "line 3: has 1 fields",
    ),
    (
        "undecodable megabytes in quotes",
        COLUMNS + ROW + b'"' + b"\xff" * 60_000 + b'",71,0xA1,16.5,0\n',
        "line 3: is no line of CSV",
    ),
]


@pytest.mark.parametrize(
    ("content", "words"), [case[1:] for case in NOT_READ], ids=[case[0] for case in NOT_READ]
)
def test_what_cannot_be_read_exactly_is_refused_with_the_file_and_the_reason(
    content: bytes, words: str, made: Callable[[bytes], Capture]
) -> None:
    with pytest.raises(CaptureError) as caught:
        made(content)
    assert words in str(caught.value)
    assert "made.csv" in str(caught.value)
    assert len(str(caught.value)) < 600, "a message is for reading"


def test_the_largest_frame_time_of_64_bits_is_read(made: Callable[[bytes], Capture]) -> None:
    """The neighbour of a refused case: without it the range check could refuse everything."""
    capture = made(COLUMNS + ROW + b"orbit.exe,71,0xA1,18446744073709.551615,0\n")
    assert list(capture.streams[0].frame_times) == [U64_MAX]


def test_a_missing_file_and_a_folder_are_the_systems_own_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere.csv")
    with pytest.raises((IsADirectoryError, PermissionError)):
        read(tmp_path)


def test_a_name_in_an_old_code_page_is_shown_and_does_not_stop_the_reading(
    made: Callable[[bytes], Capture],
) -> None:
    row = b"K\xfcche.exe,71,0xA1,16.5,0\n"
    capture = made(COLUMNS + row + row + row.replace(b"\xfc", b"\xe4"))
    assert [g.application for g in capture.streams] == ["K\\xfcche.exe", "K\\xe4che.exe"]


def test_the_tail_of_zero_bytes_that_a_crash_leaves_is_told(
    made: Callable[[bytes], Capture],
) -> None:
    capture = made(COLUMNS + ROW + ROW + b"orbit.exe,71,0xA1,17.5,0" + bytes(900))
    assert list(capture.streams[0].frame_times) == [16_500_000, 17_500_000]
    assert "line 4, the last, ends in zero bytes" in capture.warnings[0]


def test_a_last_frame_time_that_may_be_cut_is_left_out_and_told(
    made: Callable[[bytes], Capture],
) -> None:
    columns = COLUMNS.replace(b",Dropped", b"")
    row = ROW.replace(b",0\n", b"\n")
    assert list(made(columns + row + row).streams[0].frame_times) == [16_500_000]
    capture = made(columns + row + row + row[:-2])
    assert list(capture.streams[0].frame_times) == [16_500_000]
    assert "line 4, the last, has no line end" in capture.warnings[0]


def test_a_cut_row_whose_frame_time_is_whole_is_counted_and_told(
    made: Callable[[bytes], Capture],
) -> None:
    columns, row = COLUMNS[:-1] + b",Mode\n", ROW[:-1] + b",Flip\n"
    capture = made(columns + row + row + row[: -len(b",Flip\n")])
    assert list(capture.streams[0].frame_times) == [16_500_000, 16_500_000]
    assert "line 4 is cut off after 5 of 6 fields" in capture.warnings[0]


# What a hostile or an endless file may cost.


def peak(work: Callable[[], object]) -> int:
    """The most memory that Python objects took at once meanwhile, in bytes."""
    import tracemalloc  # PyPy has none

    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("begin", "end", "words"),
    [
        (b"x", b"", "line 1: is longer than 65536 bytes"),
        (COLUMNS + ROW, b"", "line 3: is longer than 65536 bytes"),
        (b'{"a": "', b'"}', "is JSON and no capture"),
        (b'{"a": [', b"]}", "is JSON and no capture"),
        (b'{"a": ', b"}", "looked for a value of at most 1048576 characters"),
        (b'{"traceEvents": [{"a":"', b'"}]}', "is a trace of 1 events, none of them DrawFrame"),
        (
            b'{"traceEvents": [{"name":"',
            b'"}]}',
            "looked for a value of at most 1048576 characters",
        ),
    ],
    ids=["a line", "a row", "a text", "an array", "a number", "an event", "a name"],
)
def test_a_hundred_million_bytes_on_one_line_are_refused_in_little_memory(
    begin: bytes, end: bytes, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.write(begin)
        for _ in range(100):
            file.write(b"1" * 10**6)
        file.write(end)

    def refused() -> None:
        with pytest.raises(CaptureError) as caught:
            read(path)
        assert words in str(caught.value)

    assert peak(refused) < (16 << 20 if "characters" in words or "event" in words else 2 << 20)


def test_a_gzip_file_that_unfolds_a_thousandfold_is_refused_in_little_memory(
    tmp_path: Path,
) -> None:
    """Rows, so that no other bound stops it. A file of the same rows that unfolds to less is read:
    the neighbour without which everything could be refused."""
    rows = COLUMNS + ROW.replace(b"16.5", b"16.5" + b"0" * 5000) * 4
    block = gzip.compress(rows[len(COLUMNS) :] * 150)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(COLUMNS) + block)
    assert read(path).rows == 600
    path.write_bytes(gzip.compress(COLUMNS) + block * 12)

    def refused() -> None:
        with pytest.raises(CaptureError, match="unpacks to more than 32 times its size"):
            read(path)

    assert path.stat().st_size * 32 < 12 * 150 * len(rows)
    assert peak(refused) < 4 << 20


@pytest.mark.parametrize("form", ["PresentMon", "Chrome", "CapFrameX", "column"])
def test_a_file_of_four_times_the_length_takes_no_more_memory(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With blocks of two thousand frames instead of sixty thousand, to be quick."""
    monkeypatch.setattr(capture_module, "BLOCK", 2_000)
    monkeypatch.setattr(capture_module, "_MERGED_AT_ONCE", 10)
    path = tmp_path / "long"

    def measured(rows: int) -> int:
        with path.open("wb") as file:
            if form == "PresentMon":
                file.write(COLUMNS + ROW * (rows + 1))
            elif form == "column":
                file.write(b"                16.5\n" * rows)
            elif form == "CapFrameX":
                file.write(b'{"Runs":[{"CaptureData":{"MsBetweenPresents":[16.5')
                file.write(b",               16.5" * rows + b"]}}]}")
            else:
                file.write(b'{"traceEvents":[')
                for n in range(rows + 1):
                    file.write(b'{"name":"DrawFrame","ts":%d}%c' % (n * 16500, 44))
                file.write(b"{}]}")

        def reading() -> None:
            capture = read(path, "ms" if form == "column" else None)
            assert capture.streams[0].frames == rows
            assert capture.streams[0].percentile(50) == 16_500_000

        return peak(reading)

    measured(4_000)  # what is made once, is
    short, long = measured(10_000), measured(40_000)
    # A merged run has a generator and a small buffer; a frame time kept would have 8 bytes.
    assert long - short < 3 * (40_000 - 10_000)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=20,
)


@given(JSON, st.integers(1, 9), st.sampled_from([None, 1]), st.booleans())
def test_json_in_pieces_of_any_size_is_the_json_that_the_library_reads(
    document: Any, piece: int, indent: int | None, plain: bool
) -> None:
    """Taken as a value, walked member by member, and passed over: each to the very end. Pieces of a
    few bytes, so that every token is cut somewhere."""
    text = json.dumps([document, document], indent=indent, ensure_ascii=plain)
    expected = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)

    def cursor() -> Cursor:
        return Cursor(Source("made", io.BytesIO(text.encode("utf-8", "backslashreplace"))))

    def walked(at: Cursor) -> Any:
        if at.next() == "[":
            return [walked(at) for _ in at.elements()]
        if at.next() == "{":
            return {key: walked(at) for key in at.members()}
        return at.value()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_PIECE", piece)
        for way in (Cursor.value, walked):
            at = cursor()
            assert way(at) == expected
            at.end()
        at = cursor()
        at.skip()
        at.end()
        for _ in (at := cursor()).elements():
            at.skip()
        at.end()
        short = Cursor(Source("made", io.BytesIO(text[:-1].encode("utf-8", "backslashreplace"))))
        with pytest.raises(CaptureError, match="is no whole JSON"):
            short.skip()


# How many examples each module shows, at least. Fewer means that a docstring stopped being run.
DOCSTRINGS = {
    "analysis": 8,
    "capture": 10,
    "formats": 3,
    "collector": 1,
    "decimal_text": 6,
}


# Decimal text to nanoseconds.


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("16.811", 16_811_000),
        ("16.60830000000000", 16_608_300),
        ("0", 0),
        ("-0.0", 0),
        ("+1", 1_000_000),
        (".5", 500_000),
        ("5.", 5_000_000),
        ("5e-05", 50),
        ("1E3", 1_000_000_000),
        ("0.0000005", 0),
        ("0.0000015", 2),
        ("0.0000025", 2),
        ("0.00000250000000000000000000000000000000000001", 3),
        ("0." + "0" * 5000 + "1", 0),
        ("1e-400", 0),
        ("1e-" + "9" * 18, 0),
        ("0e" + "9" * 18, 0),
        ("1e" + "0" * 5000 + "1", 10_000_000),
        ("9" * 5000 + "e-4999", 10_000_000),
        ("0.0000025" + "0" * 5000, 2),
        ("18446744073709.5516154", U64_MAX),
    ],
)
def test_decimal_text_rounds_half_to_even(text: str, whole: int) -> None:
    assert nanoseconds(text) == whole


@given(
    st.integers(0, 10**14),
    st.one_of(st.just(5), st.integers(0, 10**12)),
    st.integers(6, 12),
)
def test_decimal_text_equals_exact_fractions(whole: int, part: int, places: int) -> None:
    """The oracle is the standard library's rational, whose round() is half to even."""
    text = f"{whole}.{part % 10**places:0{places}d}"
    exact = round(Fraction(text) * 10**6)
    if exact > U64_MAX:
        with pytest.raises(ValueError, match="out of range"):
            nanoseconds(text)
    else:
        assert nanoseconds(text) == exact


@pytest.mark.parametrize("unit", UNITS)
def test_nanoseconds_beyond_64_bits_are_refused_however_short_the_text(unit: str) -> None:
    """Fuzzing found 4444444444444.0 seconds, which took the short way and came out as 73 bits."""
    largest = Fraction(U64_MAX, 10 ** UNITS[unit])
    whole = largest.numerator // largest.denominator
    assert nanoseconds(str(whole), unit) <= U64_MAX
    for text in (f"{whole + 1}", f"{whole + 1}.0", f"{whole + 1}."):
        with pytest.raises(ValueError, match="is out of range: a frame takes at most"):
            nanoseconds(text, unit)


def test_a_float_on_the_way_would_give_other_nanoseconds() -> None:
    """The negative control: the detour that the reader does without is a real fault."""
    text = "16.4212905"
    assert nanoseconds(text) == 16_421_290
    assert round(float(text) * 10**6) == 16_421_291


# Figures over a group.


def test_percentiles_are_nearest_rank_over_frame_times() -> None:
    """Ninety-nine even frames and a long one: p99 must not see it, and p99.9 must."""
    group = group_of(100_000_000, *[16_666_667] * 99)
    assert group.percentile(50) == group.percentile(99) == 16_666_667
    assert group.percentile(99.9) == group.percentile("99.9") == group.percentile(100) == 10**8


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.integers(0, 1000))
def test_a_percentile_is_the_least_frame_time_that_enough_frames_do_not_exceed(
    deltas: list[int], permille: int
) -> None:
    enough = [d for d in deltas if sum(x <= d for x in deltas) * 1000 >= permille * len(deltas)]
    assert group_of(*deltas).percentile(Fraction(permille, 10)) == min(enough)


@given(st.lists(st.integers(0, U64_MAX), max_size=60), st.integers(1, 7), st.integers(1, 5))
def test_numbers_in_many_blocks_are_read_back_in_order_and_sorted(
    numbers: list[int], block: int, at_once: int
) -> None:
    """The file that frame times beyond a block go to, with blocks small enough to be crossed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capture_module, "BLOCK", block * at_once)
        patch.setattr(capture_module, "_MERGED_AT_ONCE", at_once)
        spans = FrameTimes(numbers)
        blocks = [list(part) for part in spans.blocks()]
        assert list(concatenated.from_iterable(blocks)) == numbers
        assert all(len(part) <= block * at_once for part in blocks)
        assert list(spans.ordered()) == sorted(numbers)
        assert (len(spans), spans.total) == (len(numbers), sum(numbers))
        group = Stream("", "", "", FrameTimes(number // 64 for number in numbers))
        shorter = [number // 64 for number in numbers]
        assert list(group.timestamps()) == list(accumulate(shorter))
        assert list(group.frame_times) == shorter


@given(st.lists(st.integers(0, 50), min_size=1, max_size=400), st.integers(1, 999))
def test_the_worst_frames_are_the_longest_and_at_least_one(
    deltas: list[int], permille: int
) -> None:
    (found,) = group_of(*deltas)._ranked((), (Fraction(permille, 10),))[1]
    count = max(-(-len(deltas) * permille // 1000), 1)
    assert found == (count, sum(sorted(deltas)[-count:]))


@pytest.mark.parametrize("p", [-1, 100.1, "nan", "fast", "1e999999999", "1E-123456"])
def test_a_percentile_that_is_none_is_refused(p: float | str) -> None:
    """Also one whose power of ten would fill the memory, for a `FrameTiming` as for a group."""
    error = ValueError if isinstance(p, (int, float)) else TypeError
    for measured in (group_of(1, 2), FrameTiming()):
        with pytest.raises(error, match=r"percentile must be (0 \.\. 100 percent|a number)"):
            measured.percentile(p)


def test_a_group_without_frame_times_has_no_percentile_but_has_figures() -> None:
    group = group_of()
    assert (group.frames, group.total, list(group.timestamps())) == (0, 0, [])
    with pytest.raises(ValueError, match="check frames first"):
        group.percentile(50)


def test_frame_times_cannot_be_written_to() -> None:
    deltas = read(MADE / "presentmon-1.csv").streams[0].frame_times
    with pytest.raises(TypeError):
        deltas[0] = 1
    assert deltas[0] == 16_000_100


# Real captures.


class Real(NamedTuple):
    """A group of a real capture and everything that must come out of it."""

    file: str
    swap_chain: str
    frames: int
    sum_ns: int
    percentiles: tuple[int, int, int, int, int]
    hz_60: tuple[int, int, int, int, int]
    exact: tuple[int, int, int]
    budget_3: tuple[int, int]
    fps: str


# min p50 p99 p99.9 max; steps dropped zero-step largest-due remainder; the first three at exactly
# 60 Hz; steps and dropped with a budget of 3; frames a second over the whole.
REAL = [
    Real(
        "presentmon-1.x-gold1-two-swapchains.csv",
        "0B7CA0",
        25,
        1_217_021_700,
        (12_592_800, 17_993_500, 233_391_700, 233_391_700, 233_391_700),
        (52, 21, 0, 14, 355_009),
        (52, 21, 0),
        (40, 33),
        "20.5420",
    ),
    Real(
        "presentmon-1.x-gold4-stall420ms.csv",
        "8B1ED0",
        115,
        3_370_193_200,
        (12_854_500, 16_708_400, 300_857_300, 420_329_000, 420_329_000),
        (152, 50, 1, 25, 3_526_466),
        (152, 50, 1),
        (141, 61),
        "34.1227",
    ),
    *(
        Real(
            name,
            "8B1ED0",
            114,
            3_286_813_300,
            (12_892_100, 16_684_800, 300_802_900, 420_563_600, 420_563_600),
            (149, 48, 1, 25, 3_479_901),
            (149, 48, 1),
            (140, 57),
            "34.6841",
        )
        for name in (
            "presentmon-2.0-gold4-stall420ms.csv",
            "presentmon-2.0.0-gold4-no-frametime.csv",
        )
    ),
    Real(
        "chrome-trace-browser-busier-than-page-trimmed.json",
        "thread 31747",
        12,
        3_283_079_000,
        (1_734_000, 18_860_000, 2_995_192_000, 2_995_192_000, 2_995_192_000),
        (22, 174, 5, 179, 16_412_268),
        (22, 174, 5),
        (16, 180),
        "3.6551",
    ),
    Real(
        "chrome-trace-browser-busier-than-page-trimmed.json",
        "thread 259",
        200,
        5_085_788_000,
        (1_498_000, 24_728_000, 41_584_000, 369_596_000, 369_596_000),
        (282, 23, 3, 22, 2_454_565),
        (282, 23, 3),
        (278, 27),
        "39.3253",
    ),
    Real(
        "presentmon-1.5.2-two-processes-with-holes.csv",
        "CE1060",
        1938,
        25_253_940_000,
        (646_000, 8_509_000, 42_315_000, 300_545_000, 401_921_000),
        (1428, 87, 727, 24, 3_939_495),
        (1428, 87, 727),
        (1404, 111),
        "76.7405",
    ),
    Real(
        "presentmon-2.4-gold4-stall420ms.csv",
        "8B1ED0",
        113,
        3_236_343_300,
        (12_854_500, 16_703_500, 300_857_300, 420_329_000, 420_329_000),
        (146, 48, 1, 25, 3_009_902),
        (146, 48, 1),
        (137, 57),
        "34.9159",
    ),
    Real(
        "ocat-metroexodus-ragged-first-row.csv",
        "5D7910",
        2501,
        25_376_752_000,
        (6_840_000, 10_201_000, 12_654_000, 14_632_000, 17_945_000),
        (1522, 0, 979, 1, 10_084_826),
        (1522, 0, 979),
        (1522, 0),
        "98.5548",
    ),
    Real(
        "presentmon-1.3-farcry-simple.csv",
        "E0BCF0",
        1170,
        15_239_188_000,
        (7_854_000, 12_544_000, 16_829_000, 79_734_000, 80_095_000),
        (914, 0, 274, 5, 5_854_362),
        (914, 0, 274),
        (909, 5),
        "76.7757",
    ),
    Real(
        "presentmon-no-time-column-farcry-head.csv",
        "E0BCF0",
        300,
        4_363_001_000,
        (9_216_000, 12_774_000, 36_381_000, 80_095_000, 80_095_000),
        (261, 0, 57, 5, 13_000_913),
        (261, 0, 57),
        (256, 5),
        "68.7600",
    ),
    Real(
        "capframex-csv-comment-header-re2-head.csv",
        "F3DB00",
        1999,
        6_986_695_000,
        (2_863_000, 3_429_000, 3_841_000, 4_408_000, 4_453_000),
        (419, 0, 1580, 1, 3_361_527),
        (419, 0, 1580),
        (419, 0),
        "286.1153",
    ),
    Real(
        "presentmon-1.3-apex-11rows.csv",
        "B55E20",
        10,
        196_149_000,
        (17_091_000, 18_990_000, 23_388_000, 23_388_000, 23_388_000),
        (11, 0, 0, 2, 12_815_663),
        (11, 0, 0),
        (11, 0),
        "50.9817",
    ),
    Real(
        "chrome-trace-animation-120hz-trimmed.json",
        "thread 19203",
        280,
        2_324_467_000,
        (3_579_000, 8_314_000, 10_860_000, 11_169_000, 11_169_000),
        (139, 0, 141, 1, 7_800_287),
        (139, 0, 141),
        (139, 0),
        "120.4577",
    ),
]


@pytest.fixture(scope="session")
def captures() -> Path:
    """The folder of real captures. Skips where there is none, unless it was named on purpose."""
    named = os.environ.get("FIXEDSTEP_CAPTURES")
    folder = Path(named or Path(__file__).resolve().parents[2] / "shared" / "captures")
    if not folder.is_dir():
        if named is not None:
            pytest.fail(f"FIXEDSTEP_CAPTURES names {named!r}, which is no folder", pytrace=False)
        pytest.skip("no real captures here; FIXEDSTEP_CAPTURES names the folder that has them")
    return folder


def chain(capture: Capture, swap_chain: str) -> Stream:
    (group,) = (g for g in capture.streams if g.name.endswith(swap_chain))
    return group


def schedule(
    core: Core, group: Stream, timestep: Timestep | Rate, budget: int
) -> tuple[int, int, int, int, int]:
    """Steps, dropped, frames without a step, largest due, remainder."""
    loop = core.FrameLoop(timestep, StepBudget(budget), start=Timestamp(0))
    plans = list(loop.begin_frames(group.timestamps()))
    return (
        sum(plan.step_count for plan in plans),
        sum(plan.dropped for plan in plans),
        sum(plan.step_count == 0 for plan in plans),
        max(plan.step_count + plan.dropped for plan in plans),
        plans[-1].remainder,
    )


@pytest.mark.parametrize("real", REAL, ids=lambda real: real.file)
def test_a_real_capture_gives_its_frame_times(real: Real, captures: Path) -> None:
    group = chain(read(captures / real.file, gaps="skip"), real.swap_chain)
    assert (group.frames, group.total) == (real.frames, real.sum_ns)
    found = [group.percentile(p) for p in (0, 50, 99, "99.9", 100)]
    assert tuple(found) == real.percentiles
    assert f"{group.frames * 10**9 / group.total:.4f}" == real.fps


@pytest.mark.parametrize("real", REAL, ids=lambda real: real.file)
def test_a_real_capture_gives_its_schedule(real: Real, captures: Path, core: Core) -> None:
    group = chain(read(captures / real.file, gaps="skip"), real.swap_chain)
    hz_60 = schedule(core, group, Timestep.HZ_60, 5)
    assert hz_60 == real.hz_60
    assert hz_60[0] + hz_60[1] == real.sum_ns // 16_666_667
    assert hz_60[4] == real.sum_ns % 16_666_667
    assert schedule(core, group, Rate(60), 5)[:3] == real.exact
    assert schedule(core, group, Timestep.HZ_60, 3)[:2] == real.budget_3


@pytest.mark.parametrize("real", REAL, ids=lambda real: real.file)
def test_the_command_prints_the_figures_of_a_real_capture(
    real: Real, captures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def figures(*options: str) -> dict[str, Any]:
        assert main(["analyze", str(captures / real.file), "--json", "--gaps=skip", *options]) == 0
        (file,) = json.loads(capsys.readouterr().out)["files"]
        (found,) = (g for g in file["streams"] if g["name"].endswith(real.swap_chain))
        (plan,) = found.pop("schedules")
        return {**found, **plan}

    found = figures()
    assert (found["frames"], found["sum_ns"]) == (real.frames, real.sum_ns)
    spans = ("min_ns", "p50_ns", "p99_ns", "p99.9_ns", "max_ns")
    assert tuple(found[name] for name in spans) == real.percentiles
    names = ("steps", "dropped", "zero_step_frames", "largest_due", "remainder")
    assert tuple(found[name] for name in names) == real.hz_60
    assert f"{found['average_fps']:.4f}" == real.fps
    stalls = [stall["length_ns"] for stall in found["stalls"]["longest"]]
    assert stalls[:1] == [real.percentiles[4]] * (real.percentiles[4] > 50_000_000)
    exact = figures("--exact")
    assert tuple(exact[name] for name in names[:3]) == real.exact
    narrow = figures("--budget", "3")
    assert (narrow["steps"], narrow["dropped"]) == real.budget_3


def test_one_nanosecond_less_in_a_real_capture_shows(captures: Path, core: Core) -> None:
    """The negative control of the table: it would not agree with other frame times."""
    real = REAL[1]
    deltas = list(chain(read(captures / real.file), real.swap_chain).frame_times)
    deltas[0] -= 1
    assert schedule(core, group_of(*deltas), Timestep.HZ_60, 5) == (152, 50, 1, 25, 3_526_465)


def test_semicolons_and_decimal_commas_of_a_converted_capture(captures: Path, core: Core) -> None:
    name = "DERIVED-presentmon-farcry-semicolon-decimalcomma-bom-crlf.csv"
    (group,) = read(captures / name).streams
    assert (group.frames, group.total) == (119, 2_105_059_000)
    assert schedule(core, group, Timestep.HZ_60, 5)[:4] == (126, 0, 11, 5)
    original = read(captures / "presentmon-1.3-farcry-simple.csv").streams[0]
    assert list(group.frame_times) == list(original.frame_times[:119])


MADE_FOR_FORMATS = [
    "afterburner-one-sample-a-second.csv",
    "capframex-two-runs.json",
    "frameview-odd-columns.csv",
    "mangohud-2021-frametime-microseconds.csv",
    "mangohud-old-no-column-header.csv",
    "mangohud-sampled-100ms.csv",
    "mangohud-v1-perframe.csv",
]


def test_the_made_captures_are_the_ones_that_are_expected(captures: Path) -> None:
    expected = json.loads((captures / "made" / "expected.json").read_text())
    assert sorted(expected) == MADE_FOR_FORMATS


@pytest.mark.parametrize("name", MADE_FOR_FORMATS)
def test_a_made_capture_gives_what_is_expected_of_it(name: str, captures: Path, core: Core) -> None:
    expected = json.loads((captures / "made" / "expected.json").read_text())[name]
    if "error" in expected:
        with pytest.raises(CaptureError) as caught:
            read(captures / "made" / name)
        word = "one sample a second" if "second" in name else "sample"
        assert word in str(caught.value)
        assert word.split()[0] in expected["error"]
        return
    groups = read(captures / "made" / name).streams
    runs = expected.get("runs", [expected])
    assert len(groups) == len(runs)
    for group, run in zip(groups, runs, strict=True):
        assert (group.frames, group.total) == (run["deltas"], run["sum_ns"])
        steps, dropped, zero_steps, _, remainder = schedule(core, group, Timestep.HZ_60, 5)
        assert steps == run["steps"]
        assert dropped == run["dropped"]
        assert zero_steps == run["zero_step_frames"]
        assert remainder == run["remainder"]


@pytest.mark.parametrize(
    "name", ["presentmon-1.x-gold1-two-swapchains.csv", "presentmon-1.x-gold4-stall420ms.csv"]
)
def test_frame_times_add_up_to_the_time_column_in_every_group(name: str, captures: Path) -> None:
    """The time since the start, which the reader does not use, says the same to the nanosecond, in
    every group; in file order it goes back, where chains interleave."""
    with (captures / name).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    at: dict[tuple[str, str, str], list[int]] = {}
    for row in rows:
        key = row["Application"], row["ProcessID"], row["SwapChainAddress"]
        at.setdefault(key, []).append(int(Fraction(row["TimeInSeconds"]) * 10**9))
    in_file_order = [Fraction(row["TimeInSeconds"]) for row in rows]
    assert any(b < a for a, b in pairwise(in_file_order))
    found = deltas_of(read(captures / name))
    assert set(found) == set(at)
    assert len(found) >= 5
    for key, times in at.items():
        assert [times[0], *accumulate(found[key], initial=times[0])][1:] == times


# The page that walks through one of them.

PAGE = Path(__file__).parents[1] / "docs" / "choosing-a-rate-and-budget.md"


@pytest.fixture
def page(source: Path) -> str:
    return PAGE.read_text(encoding="utf-8")


def test_the_figures_of_the_page_are_those_of_the_capture(
    page: str, captures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its tables, line by line, from the command that it shows."""
    capture = str(captures / "presentmon-1.3-farcry-simple.csv")
    sweep = re.search(r"fixedstep analyze capture\.csv (--sweep .*)", page)
    assert sweep is not None
    assert main(["analyze", capture, *sweep[1].split()]) == 0
    printed = {" ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    quoted = [" ".join(line.split()) for line in page.splitlines() if line.startswith("    ")]
    quoted = [line for line in quoted if not line.startswith("fixedstep ")]
    assert len(quoted) > 30
    assert set(quoted) <= printed


def test_the_pictures_of_the_page_are_there_and_small(page: str) -> None:
    names = re.findall(r"\]\(([^)]+\.png)\)", page)
    assert len(names) == 2
    for name in names:
        assert 10_000 < (PAGE.parent / name).stat().st_size < 100 << 10


def test_the_lines_for_a_game_on_the_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert read(tmp_path / "stutter.trace").streams[0].total == 16_000_000


def test_a_comma_in_the_name_of_a_program_moves_no_column(made: Callable[[bytes], Capture]) -> None:
    """PresentMon writes the name without quotes. Every column used to be one further on, so that
    another one was read as the frame time, without a word."""
    rows = b"".join(b"Papers, Please.exe,42,0x1A,%d.5,0\n" % ms for ms in (16, 17, 18))
    capture = made(COLUMNS + rows)
    assert capture.streams[0].application == "Papers, Please.exe"
    assert (capture.streams[0].process_id, capture.rows) == ("42", 3)
    assert list(capture.streams[0].frame_times) == [17_500_000, 18_500_000]


@pytest.mark.parametrize(
    "row",
    [b"game.exe,42,0x1A,16,811,0\n", b"a,b,c,x,0x1A,16.8,0\n", b"game.exe,42,0x1A,16.8,0,9\n"],
)
def test_a_row_with_more_fields_than_columns_is_refused(
    row: bytes, made: Callable[[bytes], Capture]
) -> None:
    """A decimal comma among commas, above all: 16 ms and 811 of something."""
    with pytest.raises(CaptureError, match="and its header names 5: a comma in a name or in a num"):
        made(COLUMNS + b"game.exe,42,0x1A,16.8,0\n" + row)
    assert made(COLUMNS + b"game.exe,42,0x1A,16.8,0,,\n" * 2).rows == 2  # nothing in them


@pytest.mark.parametrize(
    "first",
    [
        *(b"16.6 ms", b"1_0", b"1O.5", b"0x10", b"NaN", b"-inf", b".x"),
        *(b'"16.7', b'"', b"'16.7'", b'" 16.7', b'"NaN"'),
    ],
)
def test_a_damaged_number_is_no_name_of_a_column(
    first: bytes, made: Callable[..., Capture], tmp_path: Path
) -> None:
    """As the first line it used to be taken for one, and its frame was gone without a word."""
    path = tmp_path / "column"
    path.write_bytes(first + b"\n2\n")
    with pytest.raises(CaptureError, match="line 1"):
        read(path, "ms")
    path.write_bytes(b"frame time in ms\n2\n")
    assert read(path, "ms").rows == 1


def test_frames_that_were_not_drawn_are_in_a_histogram_too() -> None:
    timing = FrameTiming()
    for span in (5, 6, 7):
        timing.record(Nanos(span), drawn=False)
    only_skipped = copy.copy(timing)
    timing.record(Nanos(9), drawn=True)
    for one in (timing, only_skipped):
        again = merge_histograms([histogram(one)])
        assert again == one
        assert (again.count, again.sum, again.skipped) == (one.count, one.sum, 3)
    both = merge_histograms([histogram(timing), histogram(only_skipped)])
    assert (both.count, both.drawn, both.skipped, both.sum) == (7, 1, 6, 45)


def test_a_standard_input_that_was_closed_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(OSError, match="standard input is closed; name a file"):
        read("-")
