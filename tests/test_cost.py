"""What reading costs is bounded by the bytes that were sent: each reader on files that once took it
minutes.

Each file has half a megabyte and may take 10 us of the processor a byte. That is twenty times what
any of them takes, so the load of the machine decides nothing, and quadratic work is far beyond it.
`checks/fuzz/cost.py` looks for files that belong here.
"""

from __future__ import annotations

import contextlib
import io
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from fixedstep import digest, restore
from fixedstep.captures import CaptureError, read
from fixedstep.records import Recording, RecordingError, Trace, TraceError, compare
from fixedstep.sim import Rollback
from fixedstep.sim.rollback import _MAGIC, _put

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 500_000
HEADER = (
    b'{"format":"fixedstep-recording","version":1,"library":"0.1.0","rate":[60,1],'
    b'"tick_length":16666666,"first_tick":0,"sim_time":0,"request_base":0,"buttons":[%s],'
    b'"axes":[],"relative":[],"phases":[%s],"digests_every":1000000,"notes":{}}\n'
)
FIRST = b'"digests":{"x":"0x0000000000000001"},"root":"0x%016x"' % digest({"x": 1})


def names(size: int) -> bytes:
    return b",".join(b'"p%06d"' % number for number in range(size // 10))


def ticks(size: int, more: bytes = b"") -> bytes:
    line = b'{"tick":%d,"input":{},"root":"0x0000000000000001"%b}\n'
    first = b'{"tick":0,"input":{},%b%b}\n' % (FIRST, more)
    return first + b"".join(line % (number, more) for number in range(1, size // 60))


def runs(numbers: bytes, before: bytes = b"") -> bytes:
    return b'{%b"Runs":[{"CaptureData":{"MsBetweenPresents":[%b]}}]}' % (before, numbers)


def rows(head: bytes, row: bytes, size: int) -> bytes:
    return head + row * (size // len(row))


PRESENTMON = b"Application,ProcessID,SwapChainAddress,MsBetweenPresents,Dropped\n"
FILES: dict[str, Callable[[int], bytes]] = {
    "recording: many names above many ticks": lambda size: (
        HEADER % (names(size // 2), b"") + ticks(size // 2)
    ),
    "recording: many phases above many ticks": lambda size: (
        HEADER % (b"", names(size // 2)) + ticks(size // 2, b',"phases":{}')
    ),
    "trace: many frames": lambda size: (
        b'{"format":"fixedstep-trace","version":1,"timestep":10,"budget":3,"start":5}\n'
        + b"".join(b'["frame",%d]\n' % number for number in range(5, size // 16))
    ),
    "Chrome: many keys, the last of them twice": lambda size: (
        b'[{"name":"DrawFrame","ts":1,%b:1,"z":1,"z":2},'
        b'{"name":"DrawFrame","ts":2}]' % names(2 * size // 3).replace(b",", b":1,")
    ),
    "CapFrameX: a long key, and small arrays behind it": lambda size: runs(
        b"1", b'"%b":1,%b:["x"],' % (b"x" * (size // 2), names(size // 3).replace(b",", b':["x"],'))
    ),
    "CapFrameX: deep brackets": lambda size: b'{"a":' + b"[" * size,
    "PresentMon: an exponent of ten digits": lambda size: rows(
        PRESENTMON.replace(b"Dropped", b"TimeInQPC"), b"a,7,0xA1,16.5,1e9999999999\n", size
    ),
    "PresentMon: many names of programs": lambda size: (
        PRESENTMON
        + b"".join(b"a%d,%d,0xA1,16.5,0\n" % (n % 250, n % 250) for n in range(size // 20))
    ),
    "MangoHud: long frame times": lambda size: rows(
        b"os,cpu,gpu\nfps,frametime,elapsed\n", b"60,%b,1\n" % (b"1" * 60_000), size
    ),
    "a row of digits with a letter behind it": lambda size: rows(
        b"16\n", b"1" * min(size // 16, 60_000) + b"x\n", size
    ),
}


def assert_cheap(what: Callable[[], object], size: int = SIZE) -> None:
    """Fail if the processor takes more than 10 us a byte."""
    start = time.process_time()
    with contextlib.suppress(CaptureError, RecordingError, TraceError, ValueError):
        what()
    spent = time.process_time() - start
    assert spent < 10e-6 * size, f"{spent:.3f} s for {size} bytes"


def read_file(name: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.startswith("recording"):
        compare(Recording(io.BytesIO(data)), Recording(io.BytesIO(data)))
    elif name.startswith("trace"):
        list(Trace(io.BytesIO(data)))
    else:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        read("-", "ms" if name[0].islower() else None)


@pytest.mark.parametrize("name", FILES)
def test_reading_takes_no_more_than_its_bytes_allow(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = FILES[name](SIZE)
    assert 0.5 * SIZE < len(data) < 1.6 * SIZE
    assert_cheap(lambda: read_file(name, data, monkeypatch))


def test_a_saved_input_costs_what_it_holds() -> None:
    """Each axis in use was looked for in the list of what is blocked."""
    axes = [f"a{number}" for number in range(SIZE // 16)]
    blocked = [f"b{number}" for number in range(SIZE // 16)]
    pending = {name: [0, 5, 0, 0, 0] for name in axes}
    state = {"down": [], "blocked": blocked, "pending": pending, "stopped": False}
    zones = dict.fromkeys([*axes, *blocked], 100)
    loaded: list[object] = []
    assert_cheap(
        lambda: loaded.append(
            restore("sim.Input", [], [*axes, *blocked], [], zones, state),
        )
    )
    assert loaded


def test_a_packet_costs_what_it_holds() -> None:
    class World:
        def step(self, inputs: object, tick: object) -> None:
            pass

    packet = bytearray(_MAGIC + bytes(8))
    for number in (2, 0, 0, 0, 0, 0, 0, SIZE, 0):
        _put(packet, number)
    packet += bytes(SIZE) + bytes(2)
    game = Rollback(World, 2, 1)
    game.add_peer("peer", 0)
    assert_cheap(lambda: game.receive("peer", bytes(packet)))


def test_twice_the_cost_would_be_seen() -> None:
    """The control: 20 us a byte and more."""
    with pytest.raises(AssertionError, match="s for 20000 bytes"):
        assert_cheap(lambda: sum(range(20_000 * 2_000)), 20_000)


def test_an_error_does_not_list_all_names_of_the_header() -> None:
    """A line with another phase listed every phase that the header has."""
    text = HEADER % (b"", names(500_000)) + ticks(200, b',"phases":{"other":1}')
    with pytest.raises(RecordingError, match="phases has ") as error:
        list(Recording(io.BytesIO(text)))
    assert len(str(error.value)) < 500
