"""Files that were made to do harm: each costs bounded memory and ends in one line that names it.

Every command that reads a file gets every attack, as a program of its own that may take 300 MiB of
address space beyond what its imports took, and not a byte more: an allocation beyond that fails. A
reader that holds a hostile file, or what it unfolds to, does not get through. That the wall stands
where it should is shown by a program that runs into it, and by a reader whose bound was taken away.

Each program is ended after two minutes, since some of these files never end.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import sysconfig
import threading
import zlib
from typing import TYPE_CHECKING, NamedTuple

import pytest

from fixedstep import StateHash, digest
from fixedstep.captures import CaptureError, capture, limits, read, source
from fixedstep.cli import main
from fixedstep.records import Recording, RecordingError
from fixedstep.records import lines as json_line
from fixedstep.records import recording as recordings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Core

#: Bytes of address space beyond what the imports took.
WALL = 300 << 20
#: Walls are made where they stand: elsewhere the errors are tested and the memory is not.
#: Without a GIL, the allocator of the interpreter reserves a gigabyte of addresses ahead.
WALLS = sys.platform == "linux" and not sysconfig.get_config_var("Py_GIL_DISABLED")

COLUMNS = b"Application,ProcessID,SwapChainAddress,MsBetweenPresents,Dropped\n"
ROW = b"orbit.exe,71,0xA1,16.5,0\n"
TRACE = b'{"format":"fixedstep-trace","version":1,"timestep":10,"budget":3,"start":5}\n'
FRAME = b'["frame", 27]\n'
TICKS = (
    b'{"format":"fixedstep-recording","version":1,"library":"0.1.0","rate":[60,1],'
    b'"tick_length":16666666,"first_tick":0,"sim_time":0,"request_base":0,"buttons":["jump"],'
    b'"axes":[],"relative":[],"phases":[],"digests_every":1,"notes":{}}\n'
)
TICK = b'{"tick":0,"input":{},"root":"0x%016x","digests":{"world":"0x0000000000000001"}}\n' % (
    digest({"world": 1})
)


def ended(lines: bytes, ticks: int = 1) -> bytes:
    """A recording of these lines, with the end that belongs to them."""
    end = b'{"end":{"ticks":%d,"reason":"closed"}' % ticks
    return lines + end + b',"digest":"0x%016x"}\n' % StateHash().absorb_bytes(lines + end).finish()


MANGOHUD = b"os,cpu,gpu\nfps,frametime,elapsed\n"
MIB = 1 << 20

_CHILD = """
import sys
import fixedstep.captures.formats, fixedstep.records.trace, fixedstep.records.compare
import fixedstep.cli.fleet, fixedstep.cli.layout, json, csv, decimal, tempfile
from fixedstep import reference
from fixedstep.cli import main

def kib(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name + ":"))

wall = int(sys.argv[1])
if wall:
    import resource
    before = kib("VmRSS")
    resource.setrlimit(resource.RLIMIT_AS, (1024 * kib("VmSize") + wall,) * 2)
exec(sys.argv[2])
code = main(sys.argv[3:])
if wall:
    print(f"grew by {kib('VmHWM') - before} KiB", file=sys.stderr)
sys.exit(code)
"""


class Outcome(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    error: str
    grown: int
    """KiB of memory that it took beyond its imports, at most; 0 where that is not known."""


def run(*command: str, change: str = "", wall: int = WALL) -> Outcome:
    """A command in a program of its own, behind the wall."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONMALLOC",)}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(wall if WALLS else 0), change, *command],
        capture_output=True,
        timeout=120,
        env=environment,
        check=False,
    )
    error = done.stderr.decode("utf-8", "backslashreplace")
    grown = 0
    if WALLS and "grew by " in error:
        error, _, last = error.rpartition("grew by ")
        grown = int(last.split()[0])
    return Outcome(done.returncode, done.stdout.decode("utf-8", "backslashreplace"), error, grown)


def refused(outcome: Outcome, words: str) -> None:
    """One line that says what is wrong with which file, and exit code 2."""
    assert words in outcome.error, outcome
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.error.startswith("fixedstep: ")
    assert outcome.error.count("\n") == 1
    assert len(outcome.error) < 1000
    assert "Traceback" not in outcome.error


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Path]:
    """Where a hostile file goes, and is taken away again: some have a hundred megabytes."""
    path = tmp_path / "hostile"
    yield path
    path.unlink(missing_ok=True)


def commands(name: str, path: Path) -> list[str]:
    """A command by a short name."""
    return {
        "analyze": ["analyze", str(path)],
        "column": ["analyze", "--unit", "ms", str(path)],
        "verify": ["verify", str(path)],
        "diff": ["diff", str(path), str(path)],
    }[name]


# The wall.


@pytest.mark.skipif(not WALLS, reason="no such wall on this system")
def test_the_wall_stops_a_program_that_holds_its_file(hostile: Path) -> None:
    """The negative control: what every other test relies on."""
    with hostile.open("wb") as file:
        file.truncate(100 * MIB)
    holding = f"held = [open({str(hostile)!r}, 'rb').read() for _ in range(%d)]"
    assert "MemoryError" in run("info", change=holding % 4).error
    outcome = run("info", change=holding % 1)
    assert (outcome.code, outcome.error) == (0, "")
    assert 100 << 10 <= outcome.grown < 150 << 10


@pytest.mark.skipif(not WALLS, reason="no such wall on this system")
@pytest.mark.parametrize(
    ("command", "begin", "change"),
    [
        (
            "analyze",
            COLUMNS + ROW,
            "import fixedstep.captures.source as m; m.LONGEST_LINE = 1 << 40",
        ),
        ("analyze", b"[", "import fixedstep.captures.json_stream as m; m.LARGEST_VALUE = 1 << 40"),
        ("diff", b"", "import fixedstep.records.recording as m; m.LONGEST_LINE = 1 << 40"),
    ],
)
def test_a_reader_without_its_bound_runs_into_the_wall(
    command: str, begin: bytes, change: str, hostile: Path
) -> None:
    """The other negative control: these bounds are what keeps the memory, and not some other."""
    long_line(hostile, begin + b"1")
    wall = 64 * MIB  # less than the file
    assert "MemoryError" in run(*commands(command, hostile), change=change, wall=wall).error
    refused(run(*commands(command, hostile), wall=wall), "hostile")


# A hundred million bytes on one line.


def long_line(path: Path, begin: bytes, filler: bytes = b"1", end: bytes = b"\n") -> None:
    """A file of 10**8 bytes and a little more, whose last line does not end until then."""
    piece = filler * (MIB // len(filler))
    with path.open("wb") as file:
        file.write(begin)
        for _ in range(10**8 // len(piece) + 1):
            file.write(piece)
        file.write(end)


LONG_LINES = [
    ("analyze", b"", b"x", "line 1: is longer than 65536 bytes"),
    ("analyze", COLUMNS + ROW, b"1", "line 3: is longer than 65536 bytes"),
    ("analyze", COLUMNS[:-1], b",", "line 1: is longer than 65536 bytes"),
    ("analyze", MANGOHUD + b"60,16.5,", b"0", "line 3: is longer than 65536 bytes"),
    ("analyze", b'{"a":"', b"x", "looked for the end of a string at character 1006"),
    ("analyze", b'{"traceEvents":[{"name":"', b"x", "looked for a value of at most 1048576 char"),
    ("analyze", b'{"traceEvents":[{"ts":', b"1", "looked for a value of at most 1048576 char"),
    ("analyze", b'[{"name":"DrawFrame","ts":1,"args":[', b"1,", "looked for the end of a value at"),
    ("analyze", b'[{"a":', b'{"b":1},', "looked for a key at character 14, found '{"),
    ("analyze", b"[", b"[],", "event 0 is [] and no object, so this is no trace"),
    ("analyze", b"[[", b"[],", "looked for a value of at most 1048576 characters"),
    ("analyze", b'{"Runs":[{"CaptureData":{"MsBetweenPresents":[', b"1", "a value of at most 1048"),
    ("analyze", b'{"Info":{"ProcessName":"', b"x", "looked for a value of at most 1048576 char"),
    ("analyze", b"{", b" ", "looked for a key at character 1006"),
    ("analyze", TRACE + b'["frame", ', b"1", "line 2: has no end within 64 MiB"),
    ("column", b"", b"1", "line 1: is longer than 65536 bytes"),
    ("column", b"16\n", b"1", "line 2: is longer than 65536 bytes"),
    ("verify", b"", b"x", "line 1: has no end within 64 MiB, so this is no trace"),
    ("verify", TRACE + FRAME, b"1", "line 3: has no end within 64 MiB, so this is no trace"),
    ("diff", b"", b"x", "line 1: has no end within 64 MiB, so this is no recording"),
    ("diff", TICKS + TICK, b"1", "line 3: has no end within 64 MiB, so this is no recording"),
]


@pytest.mark.parametrize(("command", "begin", "filler", "words"), LONG_LINES)
def test_a_hundred_million_bytes_on_one_line_are_refused(
    command: str, begin: bytes, filler: bytes, words: str, hostile: Path
) -> None:
    long_line(hostile, begin, filler)
    refused(run(*commands(command, hostile)), words)


def test_a_long_line_of_a_trace_is_refused_where_it_ends(hostile: Path) -> None:
    """A cut last line is no damage, however long: so the line has to end before it can be judged,
    and the reader holds a piece of it."""
    hostile.write_bytes(TRACE + b'["frame", ' + b"1" * 40 * MIB + b"]\n" + FRAME)
    refused(run("verify", str(hostile)), "line 2: is longer than 4096 bytes, so this is no line of")


# Nesting.

DEEP = 10**6
DEEP_FILES = [
    ("analyze", b"[" * DEEP, "event 0 is nested deeper than any capture"),
    ("analyze", b'{"a":' * DEEP, "is nested deeper than any capture; this is no capture"),
    ("analyze", b'{"a":' + b"[" * DEEP, "is nested deeper than any capture; this is no capture"),
    ("analyze", b'[{"name":"DrawFrame","ts":' + b"[" * DEEP, "is nested deeper than any capture"),
    ("analyze", TRACE + b"[" * DEEP + b"\n", "line 2: is longer than 4096 bytes"),
    ("column", b"[" * DEEP, "line 1: is longer than 65536 bytes"),
    ("verify", TRACE + b"[" * 4000 + b"\n", "is not JSON (it is nested deeper than 64 brackets)"),
    ("verify", b'{"format":' * 400 + b"\n", "is not JSON (it is nested deeper than 64 brackets)"),
    ("diff", TICKS + b"[" * DEEP + b"\n", "is not JSON (it is nested deeper than 64 brackets)"),
    ("diff", b'{"format":' * 10**5 + b"\n", "is not JSON (it is nested deeper than 64 brackets)"),
]


@pytest.mark.parametrize(("command", "content", "words"), DEEP_FILES)
def test_a_million_brackets_are_refused(
    command: str, content: bytes, words: str, hostile: Path
) -> None:
    hostile.write_bytes(content)
    refused(run(*commands(command, hostile)), words.replace("event 0 ", ""))


@pytest.mark.parametrize("where", ["an event", "a time", "a frame time", "a note", "a result"])
def test_nesting_of_any_depth_is_an_error_of_the_file(where: str, hostile: Path) -> None:
    """Each depth on its own: one that the decoder still takes may be too deep for a message."""
    for depth in (*range(1, 100), *range(880, 1010), 5_000, 100_000):
        nest = b"[" * depth + b"]" * depth
        lists = b'["list",' * depth + b"1" + b"]" * depth
        hostile.write_bytes(
            {
                "an event": b"[" + nest + b"]",
                "a time": b'[{"name":"DrawFrame","ts":' + nest + b"}]",
                "a frame time": b'{"Runs":[{"CaptureData":{"MsBetweenPresents":[' + nest + b"]}}]}",
                "a note": ended(
                    TICKS.replace(b'"notes":{}', b'"notes":{"a":' + lists + b"}") + TICK
                ),
                "a result": ended(
                    TICKS + TICK.replace(b'{},"root', b'{},"messages":[' + lists + b'],"root')
                ),
            }[where]
        )
        if where in ("a note", "a result"):
            with hostile.open(encoding="ascii") as file:
                if depth <= 32:
                    assert len(list(Recording(file))) == 1
                else:
                    with pytest.raises(RecordingError, match="deep"):
                        list(Recording(file))
        else:
            with pytest.raises(CaptureError, match=r"hostile: (event 0|run 1|is nested)"):
                read(hostile)


def test_brackets_in_a_text_are_no_nesting() -> None:
    text = json.dumps({"a": "[{" * 1000 + '\\"' * 9, "b": [[1]], "c": '"[\\'})
    assert json_line.depth(text) == 3
    assert json_line.loads(text)["a"].startswith("[{[{")


def test_nesting_is_counted_as_the_decoder_nests() -> None:
    for depth in (63, 64, 65):
        for text in ("[" * depth + "]" * depth, '{"a":' * (depth - 1) + "[]" + "}" * (depth - 1)):
            assert json_line.depth(text) == depth
            if depth <= json_line.DEEPEST:
                assert json_line.loads(text) == json.loads(text)
            else:
                with pytest.raises(ValueError, match="deeper than 64 brackets"):
                    json_line.loads(text)


# Numbers and texts without end.

DIGITS = b"7" * 10**7
NUMBERS = [
    ("analyze", b'[{"name":"DrawFrame","ts":' + DIGITS + b"}]", "a value of at most 1048576 chara"),
    ("analyze", b'[{"name":"DrawFrame","ts":' + DIGITS[: MIB // 2] + b"}]", "ts '77777777"),
    ("analyze", b'[{"name":"DrawFrame","ts":1e' + DIGITS[: MIB // 2] + b"}]", "is out of range"),
    ("analyze", b'[{"name":"DrawFrame","ts":1,"pid":' + DIGITS[:9999] + b"}]", "pid must be a num"),
    ("analyze", b'{"a":' + DIGITS + b"}", "a value of at most 1048576 characters"),
    (
        "analyze",
        b'{"Runs":[{"CaptureData":{"MsBetweenPresents":[0.' + DIGITS[:MIB] + b"x]}}]}",
        "looked for ',' at character",
    ),
    ("analyze", COLUMNS + ROW + ROW.replace(b"16.5", DIGITS[:65000]), "line 3: MsBetweenPresents"),
    ("analyze", TRACE + b'["frame", ' + DIGITS[:4000] + b"]\n", "frame must be a whole number of"),
    ("column", DIGITS[:65000] + b"\n", "is out of range: a frame takes at most"),
    ("column", b"1\n" + DIGITS[:65000] + b"x\n", "is not a decimal number of milliseconds"),
    ("column", b"1e" + DIGITS[:65000] + b"\n", "is out of range: a frame takes at most"),
    ("column", b"1e-" + DIGITS[:65000] + b"\n", "is out of range: a frame takes at most"),
    ("verify", TRACE.replace(b":5}", b":" + DIGITS[:4000] + b"}"), "start must be a whole number"),
    ("verify", TRACE + b'["frame", 1e' + DIGITS[:4000] + b"]\n", "nanoseconds in 0 .. 1844674407"),
    (
        "diff",
        TICKS.replace(b":16666666,", b":" + DIGITS[:MIB] + b","),
        "is longer than 1048576 bytes",
    ),
    (
        "diff",
        TICKS.replace(b":16666666,", b":" + DIGITS[: 10**6] + b","),
        "tick_length must be a whole",
    ),
    (
        "diff",
        TICKS.replace(b":16666666,", b":" + DIGITS[:101] + b","),
        "tick_length must be a whole",
    ),
    (
        "diff",
        TICKS.replace(b":16666666,", b":1." + DIGITS[: 10**6] + b","),
        "tick_length must be a whole",
    ),
]


@pytest.mark.parametrize(("command", "content", "words"), NUMBERS, ids=range(len(NUMBERS)))
def test_a_number_of_many_digits_is_refused(
    command: str, content: bytes, words: str, hostile: Path
) -> None:
    """Where Python bounds the digits of an int, and where it was told not to."""
    hostile.write_bytes(content)
    unbounded = "getattr(sys, 'set_int_max_str_digits', id)(0)"
    refused(run(*commands(command, hostile), change=unbounded), words)


def test_digits_with_a_letter_behind_them_are_no_number_at_once(hostile: Path) -> None:
    """Thirty lines of 65,000 digits: a pattern that can match them in as many ways takes half a
    minute of the processor, one that cannot a tenth of a second; the program has ten seconds.
    (What is refused is the header, which the log lacks.)"""
    hostile.write_bytes(b"v1\n" + (b"7" * 65000 + b"x,1\n") * 30)
    bound = "resource.setrlimit(resource.RLIMIT_CPU, (10, 10))" if WALLS else ""
    words = "is a MangoHud log without a line that names its columns"
    refused(run("analyze", str(hostile), change=bound), words)


def test_an_event_of_many_megabytes_is_read_over_and_the_frame_in_it_counts(hostile: Path) -> None:
    """Browsers put pictures and whole scripts into events."""
    picture = b'"args":{"snapshot":"' + b"x" * 20 * MIB + b'"}'
    events = [b'{"name":"DrawFrame",%s,"ts":%d,"pid":1}' % (picture, at) for at in (1000, 18500)]
    events.insert(1, b'{"name":"Screenshot","ts":9,%s}' % picture)
    hostile.write_bytes(b'{"traceEvents":[' + b",".join(events) + b"]}")
    outcome = run("analyze", "--json", str(hostile))
    (found,) = json.loads(outcome.out)["files"]
    assert (outcome.code, outcome.error) == (0, "")
    assert [(group["frames"], group["sum_ns"]) for group in found["streams"]] == [(1, 17_500_000)]


@pytest.mark.parametrize("filler", [b"{},", b"[],", b"1,", b'"a",', b"[[1]],", b"1.5e3,", b"null,"])
def test_a_value_of_the_largest_size_fits_in_memory_whatever_it_is_made_of(
    filler: bytes, hostile: Path
) -> None:
    """As objects, JSON takes up to forty times its own size."""
    inside = filler * (limits.LARGEST_VALUE // len(filler) - 10)
    hostile.write_bytes(b'[{"name":"other","args":[' + inside + b"0]}]")
    outcome = run("analyze", str(hostile))
    refused(outcome, "is a trace of 1 events, none of them DrawFrame")
    assert outcome.grown < 100 << 10


@pytest.mark.parametrize(
    "filler", [b'["list"],', b"1,", b'"a",', b'["list",["list",1]],', b"null,"]
)
def test_a_line_of_the_largest_size_fits_in_memory_whatever_it_is_made_of(
    filler: bytes, hostile: Path
) -> None:
    """Twice: both recordings of a comparison are open."""
    begin, end = TICK.split(b"{}", 1)
    inside = filler * ((recordings.LONGEST_LINE - 200) // len(filler)) + b"0"
    line = begin + b'{},"messages":[' + inside + b"]" + end
    hostile.write_bytes(ended(TICKS + line))
    outcome = run(*commands("diff", hostile))
    assert (outcome.code, outcome.error) == (0, "")
    assert "EQUAL: 1 ticks compared" in outcome.out
    assert outcome.grown < 200 << 10


# gzip.


def bomb(path: Path, begin: bytes, block: bytes, times: int) -> int:
    """A file of many packed members that unfolds to ``times`` blocks; how many bytes that is."""
    packed = gzip.compress(block, 9)
    with path.open("wb") as file:
        file.write(gzip.compress(begin))
        for _ in range(times):
            file.write(packed)
    unfolded = len(begin) + times * len(block)
    assert unfolded > 4 << 30
    assert path.stat().st_size < 32 * MIB
    return unfolded


ZEROS_IN_A_NUMBER = ROW.replace(b"16.5", b"16.5" + b"0" * 4000)
BOMBS = [
    ("analyze", b"", b"x" * 8 * MIB, "line 1: is longer than 65536 bytes"),
    ("analyze", COLUMNS, ZEROS_IN_A_NUMBER * 2000, "unpacks to more than 32 times its size"),
    ("analyze", b'{"a":"', b"x" * 8 * MIB, "unpacks to more than 32 times its size"),
    ("analyze", b'{"a":', b" " * 8 * MIB, "unpacks to more than 32 times its size"),
    ("analyze", b"", b"\n" * 8 * MIB, "line 1048577: is blank, like the 1048576 before it"),
    ("column", b"", (b"16." + b"0" * 4000 + b"\n") * 2000, "unpacks to more than 32 times its si"),
    ("verify", TRACE, b'["frame", 27' + b" " * 4000 + b"]\n", "unpacks to more than 32 times its"),
    ("verify", TRACE, b"x" * 8 * MIB, "unpacks to more than 32 times its size"),
    ("diff", b"", b"x" * 8 * MIB, "unpacks to more than 32 times its size"),
]


@pytest.mark.parametrize(("command", "begin", "block", "words"), BOMBS, ids=range(len(BOMBS)))
def test_a_small_gzip_file_that_unfolds_to_gigabytes_is_refused(
    command: str, begin: bytes, block: bytes, words: str, hostile: Path
) -> None:
    """One line, blank space, and rows that are good as far as they are read. Where it unfolds to
    4 MiB and 32 times its size, it ends: before that, at one line's end, and with Ctrl-C."""
    block *= max(8 * MIB // len(block), 1)
    bomb(hostile, begin, block, (4 << 30) // len(block) + 1)
    refused(run(*commands(command, hostile)), words)


def test_a_gzip_file_within_the_bounds_is_read_however_much_it_unfolds_to(hostile: Path) -> None:
    """The neighbour without which everything could be refused: 4 MiB from 8 KiB."""
    rows = ZEROS_IN_A_NUMBER * 125
    hostile.write_bytes(gzip.compress(COLUMNS) + gzip.compress(rows, 9) * 8)
    outcome = run("analyze", str(hostile))
    assert (outcome.code, outcome.error) == (0, "")
    assert "PresentMon CSV, 1000 rows" in outcome.out
    assert outcome.grown < 20 << 10


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("cut short", "is a gzip file that ends early; copy it again, or unpack what there is"),
        ("a bad checksum", "is a damaged gzip file (CRC check failed"),
        ("a bad length", "is a damaged gzip file (Incorrect length of data produced)"),
        ("a flipped bit", "is a damaged gzip file ("),
        ("rubbish behind it", "is a damaged gzip file (Not a gzipped file"),
        ("a name without end", "is a gzip file with 1048576 bytes in a row that hold nothing"),
        ("empty members", "is a gzip file with 1048576 bytes in a row that hold nothing"),
    ],
)
def test_a_damaged_gzip_file_is_refused(damage: str, words: str, hostile: Path) -> None:
    """By each command in turn, since all of them open files in the same way."""
    contents = {
        "analyze": COLUMNS + ROW * 999,
        "column": b"16.5\n" * 999,
        "verify": TRACE + FRAME * 999,
        "diff": ended(TICKS + TICK),
    }
    turn = len(damage) % 4
    command, content = list(contents.items())[turn]
    packed = bytearray(gzip.compress(content))
    if damage == "cut short":
        del packed[-9:]
    elif damage == "a bad checksum":
        packed[-5] ^= 1
    elif damage == "a bad length":
        packed[-1] ^= 1
    elif damage == "a flipped bit":
        packed[10] ^= 6  # the kind of the first block: one that there is not
    elif damage == "rubbish behind it":
        packed += b"rubbish"
    elif damage == "a name without end":
        packed[3] |= 8
        packed[10:] = b"x" * 10**7
    else:
        packed = bytearray(gzip.compress(b"") * 500_000)
    hostile.write_bytes(packed)
    refused(run(*commands(command, hostile)), words)


def test_a_stored_gzip_file_is_no_bomb(hostile: Path) -> None:
    """The neighbour of the last case above: a packed file that is larger than what it holds."""
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    rows = COLUMNS + ROW * 100_000
    body = packer.compress(rows) + packer.flush()
    frame = struct.pack("<II", zlib.crc32(rows), len(rows))
    hostile.write_bytes(b"\x1f\x8b\x08" + bytes(7) + body + frame)
    assert hostile.stat().st_size > len(rows) > 2 * limits.MAX_INPUT_WITHOUT_OUTPUT
    assert read(hostile).rows == 100_000


# Bytes that are no text.


@pytest.mark.parametrize(
    ("command", "content", "words"),
    [
        ("analyze", b"\0" * 100, "line 1: holds a zero byte, so this is no text"),
        ("analyze", COLUMNS + ROW.replace(b"1", b"\0"), "line 2: holds a zero byte, so this is no"),
        ("analyze", b'{"a":"\0"}', "holds a zero byte, so this is no text"),
        ("analyze", TRACE + b'["frame", \0]\n', "is not JSON"),
        ("column", b"16.5\n16\0.5\n", "line 2: holds a zero byte, so this is no text"),
        ("verify", b"\0" * 9999, "the file is empty or ends within its header"),
        ("diff", b"\0" * 9999, "the file is empty or ends within its header"),
        ("diff", TICKS + b"\0" * 2 * MIB + b"\n", "line 2: is longer than 1048576 bytes"),
        ("analyze", b"\xff" * 9999, r"found '\\xff\\xff"),
        ("analyze", b"[" + b"\xff" * 9999, r"found '\\xff\\xff"),
        ("column", b"\xff\n" * 2, r"line 2: '\\xff' is not a decimal number"),
        ("verify", b"\xff" * 99 + b"\n", r"line 1: '\\xff\\xff"),
        ("diff", b"\xff" * 99 + b"\n", r"line 1: '\\xff\\xff"),
        ("analyze", b"\xff\xfe" + b"\0\xd8" * 9999, "looked for the column"),
        ("column", b"\xff\xfe\0\xd81\0\n\0" * 2, "is not a decimal number"),
        ("verify", b'"\xed\xa0\x80"\n', "line 1"),
        ("verify", b'{"format":"\\ud800"}\n', r"found {'format': '\ud800'}"),
        ("diff", b'{"format":"\\ud800"}\n', r"found {'format': '\ud800'}"),
    ],
)
def test_what_is_no_text_is_refused_and_shown_as_escapes(
    command: str, content: bytes, words: str, hostile: Path
) -> None:
    hostile.write_bytes(content)
    refused(run(*commands(command, hostile)), words)


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",), ("--trace", "out.json")])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_half_a_character_in_a_name_is_shown_as_an_escape(
    form: tuple[str, ...], encoding: str, hostile: Path
) -> None:
    """JSON can name a process by half of a pair of surrogates, which no encoding can write."""
    run_ = b'{"CaptureData":{"MsBetweenPresents":[1,2]}}'
    hostile.write_bytes(b'{"Info":{"ProcessName":"\\ud800"},"Runs":[' + run_ + b"]}")
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [sys.executable, "-m", "fixedstep", "analyze", str(hostile), *form],
        capture_output=True,
        cwd=hostile.parent,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\ud800" in done.stdout
    if "--trace" in form:
        assert "\\ud800" in (hostile.parent / "out.json").read_text("ascii")


# Too many of what there are few of.


@pytest.mark.parametrize(
    ("command", "begin", "row", "count", "words"),
    [
        ("analyze", COLUMNS[:-1] + b",", b"column,", 10**6, "line 1: is longer than 65536 bytes"),
        ("analyze", b"v1\n", b"column,", 10**6, "line 2: is longer than 65536 bytes"),
        (
            "analyze",
            COLUMNS,
            COLUMNS,
            10**6,
            "line 257: names the columns again, as more than 256 recordings in one file would",
        ),
        ("analyze", COLUMNS, COLUMNS + ROW, 10**6, "names the columns again, as more than 256"),
        ("analyze", MANGOHUD, MANGOHUD, 10**6, "line 3: elapsed 'gpu' is not a decimal number"),
        ("analyze", COLUMNS, b"a,%d,0,1,0\n", 10**6, "line 258: more than 256 streams of frames"),
        ("analyze", COLUMNS, b"a,1,%d,1,0\n", 10**6, "line 258: more than 256 streams of frames"),
        ("analyze", COLUMNS, b"%d,1,0,1,0\n", 10**6, "line 258: more than 256 streams of frames"),
        (
            "analyze",
            b"[",
            b'{"name":"DrawFrame","ts":1,"tid":%d},',
            10**6,
            "more than 256 threads draw frames; the trace is damaged",
        ),
        (
            "analyze",
            b'{"Runs":[',
            b'{"CaptureData":{"MsBetweenPresents":[%d]}},',
            10**6,
            "more than 256 streams of frames",
        ),
        ("analyze", b"{", b'"traceEvents":[],', 10**6, "has traceEvents twice"),
        ("analyze", b"{", b'"%d":1,', 10**5, "looked for a key at character"),
        ("verify", TRACE, TRACE, 10**6, "line 2: the end has digest, stats, not"),
        ("verify", b'{"a":1', b',"%d":1', 300, "looked for a header with the format"),
        ("diff", TICKS, TICKS, 10**6, "line 2: a tick has digests, input"),
        ("diff", b'{"a":1', b',"%d":1', 90_000, "looked for a header with the format"),
        ("diff", TICKS[:-2], b',"%d":1', 70_000, "a header has axes, button"),
    ],
)
def test_a_million_of_what_there_are_few_of_is_refused(
    command: str, begin: bytes, row: bytes, count: int, words: str, hostile: Path
) -> None:
    with hostile.open("wb") as file:
        file.write(begin)
        if b"%d" in row:
            file.writelines(row % number for number in range(count))
        else:
            for _ in range(count // 1000 or 1):
                file.write(row * 1000)
        file.write(b"}\n" * (b',"%d"' in row))
    refused(run(*commands(command, hostile)), words)


def test_as_many_streams_as_there_may_be_are_read_and_their_memory_is_stated(
    hostile: Path,
) -> None:
    """256 streams, each with a block of frame times in memory: 128 MiB, as the bound says."""
    rows = b"".join(b"a,%d,0,1,0\n" % number for number in range(256))
    hostile.write_bytes(COLUMNS + rows * 40)
    outcome = run("analyze", "--csv", str(hostile))
    assert (outcome.code, outcome.error) == (0, "")
    assert outcome.out.count("\n") == 257
    assert limits.MAX_STREAMS * capture.BLOCK * 8 == 128 * MIB < WALL


def test_more_frames_than_may_be_are_refused(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a bound of 100, since the real one takes eight gigabytes to reach."""
    from fixedstep.captures import chrome_trace, collector

    for module in (collector, chrome_trace):
        monkeypatch.setattr(module, "MOST_FRAMES", 100)
    for begin, row, end in (
        (COLUMNS + ROW, ROW, b""),
        (b"[", b'{"name":"DrawFrame","ts":1},', b"{}]"),
        (b'{"Runs":[{"CaptureData":{"MsBetweenPresents":[0', b",1", b"]}}]}"),
        (TRACE, FRAME, b""),
    ):
        hostile.write_bytes(begin + row * 100 + end)
        assert read(hostile).streams[0].frames in (99, 100)
        hostile.write_bytes(begin + row * 101 + end)
        with pytest.raises(CaptureError, match="more than 100 frames"):
            read(hostile)


@pytest.mark.parametrize("command", ["verify", "diff"])
def test_twice_the_lines_take_no_more_memory(
    command: str, hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import tracemalloc

    def peak(lines: int) -> int:
        with hostile.open("wb") as file:
            file.write(TRACE if command == "verify" else TICKS)
            for number in range(lines):
                file.write(FRAME if command == "verify" else TICK.replace(b"0", b"%d" % number, 1))
        tracemalloc.start()
        try:
            assert main(commands(command, hostile)) == 0
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    lines = 10_000 if command == "verify" else 2_500  # more than the reader looks at at once
    peak(lines)
    short, long = peak(lines), peak(2 * lines)
    assert f"{2 * lines} " in capsys.readouterr().out
    assert long - short < 8 * lines  # an operation kept would have 17 bytes, a tick 500


# Paths that are no files.


@pytest.mark.parametrize("command", ["analyze", "column", "verify", "diff"])
def test_a_folder_a_device_and_nothing_are_told(command: str, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    found = {
        "folder": run(*commands(command, tmp_path / "in")),
        "missing": run(*commands(command, tmp_path / "missing")),
        "empty": run(*commands(command, tmp_path / "empty")),
    }
    (tmp_path / "in").mkdir()
    found["folder"] = run(*commands(command, tmp_path / "in"))
    words = "is a directory without files" if command in ("analyze", "column") else "Is a directory"
    refused(found["folder"], words)
    refused(found["missing"], "missing: No such file or directory")
    refused(found["empty"], "empty")
    if os.path.exists("/dev/zero"):
        for device in ("/dev/null", "/dev/zero", "/dev/urandom"):
            # No randomness makes a header: all but one in 2**500 begin otherwise.
            refused(run(*commands(command, device)), device)  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_named_pipe_is_read_and_one_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def feed() -> None:
        with pipe.open("wb") as file:
            file.write(COLUMNS + ROW * 3)

    writer = threading.Thread(target=feed)
    writer.start()
    outcome = run("analyze", str(pipe))
    writer.join()
    assert (outcome.code, outcome.error) == (0, "")
    assert "3 rows" in outcome.out
    refused(run("analyze", str(tmp_path)), "is a directory without files")
    (tmp_path / "good.csv").write_bytes(COLUMNS + ROW * 4)
    os.symlink(tmp_path / "nowhere", tmp_path / "link")
    outcome = run("analyze", "--csv", str(tmp_path))
    assert outcome.out.count("good.csv") == 1
    assert str(pipe) not in outcome.out + outcome.error
    assert "link: No such file" in outcome.error
    for option in ("--trace", "--plot"):
        refused(
            run("analyze", option, str(tmp_path / "out.png"), str(pipe)),
            "read the file again, so it cannot be standard input or a pipe",
        )


@pytest.mark.skipif(os.name != "posix", reason="names of files are text elsewhere")
def test_a_name_of_a_file_that_is_no_text_is_shown_as_an_escape(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\n.csv"
    with open(name, "wb") as file:
        file.write(b"rubbish")
    done = subprocess.run(
        [sys.executable, "-m", "fixedstep", "analyze", name], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert rb"\udcff\n.csv, line 1: this is no capture" in done.stderr


# Files that do not end.


def test_a_file_that_grows_is_read_as_far_as_it_went(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer is faster: each piece that is read makes the file two pieces longer."""
    hostile.write_bytes(COLUMNS + ROW * 10_000)

    class Growing(io.FileIO):
        pieces = 0

        def read(self, size: int | None = -1, /) -> bytes:
            assert Growing.pieces < 100, "read on and on"
            Growing.pieces += 1
            with hostile.open("ab") as file:
                file.write(ROW * 10_000)
            found = super().read(size)
            assert found is not None
            return found

    monkeypatch.setattr(source, "open", lambda path, *_, **__: Growing(path), raising=False)
    assert read(hostile).rows == 10_000
    assert Growing.pieces >= 4
    assert hostile.stat().st_size > 4 * (len(COLUMNS) + 10_000 * len(ROW))
    monkeypatch.setattr(source, "stat", NoFile)
    with pytest.raises(AssertionError, match="read on and on"):
        read(hostile)


class NoFile:
    """`stat`, if no file were one: then the bound of the reading is not there."""

    @staticmethod
    def S_ISREG(mode: int) -> bool:
        return False


@pytest.mark.parametrize(
    ("command", "begin", "piece", "words"),
    [
        ("analyze", COLUMNS + ROW, bytes(MIB), "line 3: holds zero bytes, and more than a crash"),
        ("column", b"16\n", bytes(MIB), "line 2: holds zero bytes, and more than a crash leaves"),
        ("analyze", TRACE + FRAME, bytes(MIB), "line 3: has no end within 64 MiB"),
        ("analyze", b'{"a":"', b"x" * MIB, "looked for the end of a string"),
        ("verify", TRACE + FRAME, bytes(MIB), "line 3: has no end within 64 MiB"),
    ],
)
def test_a_stream_of_zeros_ends(command: str, begin: bytes, piece: bytes, words: str) -> None:
    """From standard input, where nothing says how much will come: the reader stops and the writer
    is told, or what it writes ends."""
    argv = [sys.executable, "-c", _CHILD, str(WALL if WALLS else 0), ""]
    argv += [arg.replace("hostile", "-") for arg in commands(command, "hostile")]  # type: ignore[arg-type]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        try:
            child.stdin.write(begin)
            for _ in range(200):
                child.stdin.write(piece)
            child.stdin.close()
        except BrokenPipeError:
            pass
        error = child.stderr.read().decode()
        assert child.wait(120) == 2
    assert words in error
    assert "Traceback" not in error


@pytest.mark.skipif(not WALLS, reason="no such wall on this system")
def test_a_full_disk_for_temporary_files_is_told(hostile: Path) -> None:
    hostile.write_bytes(b"1\n" * 200_000)
    full = "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    outcome = run("analyze", "--unit", "ms", str(hostile), change=full)
    refused(outcome, "File too large; if that is of the folder for temporary files, ")


def test_a_pickle_cannot_write_into_an_object_of_the_native_core(native: Core) -> None:
    """Pickle has an opcode that sets attributes, and a loop whose unit is 0 would divide by it."""

    class Forged:
        def __init__(self, kind: type, state: object) -> None:
            self._reduced = (kind, (), state)

        def __reduce__(self) -> tuple[object, ...]:
            return self._reduced

    for kind in (native.FrameLoop, native.FrameStats, native.StateHash):
        assert pickle.loads(pickle.dumps(Forged(kind, None))) == kind()
        for state in ({"_unit": 0}, (None, {"_unit": 0}), (None, {"tick": 0, "last": 0})):
            with pytest.raises(AttributeError):
                pickle.loads(pickle.dumps(Forged(kind, state)))


# The bounds themselves.


def test_the_bounds_are_these() -> None:
    """Each is told in the page on hostile files, and is nobody's to raise by accident."""
    stated = {name: value for name, value in vars(limits).items() if name.isupper()}
    assert stated == {
        "LONGEST_LINE": 65536,
        "LONGEST_TAIL": 64 * MIB,
        "HEAD": 65536,
        "MOST_BLANK_LINES": MIB,
        "MAX_STREAMS": 256,
        "MOST_FRAMES": 2**30,
        "LARGEST_VALUE": MIB,
        "LONGEST_NAME": 1024,
        "DEEPEST": 64,
        "MAX_INFLATED_UNCHECKED": 4 * MIB,
        "MAX_INFLATE_RATIO": 32,
        "MAX_INPUT_WITHOUT_OUTPUT": MIB,
    }
    assert recordings.LONGEST_LINE == MIB
    assert (json_line.DEEPEST, json_line.LONGEST_INTEGER) == (64, 100)


def test_longest_integers_are_shown_and_not_computed() -> None:
    text = f'{{"a": {"7" * 100}, "b": -{"7" * 200}}}'
    found = json_line.loads(text)
    assert found["a"] == int("7" * 100)
    assert repr(found["b"]) == "-" + "7" * 100
