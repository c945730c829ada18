"""What reading costs grows as the file does: each reader on the files that once took it too long.

Each file is read at a quarter of a megabyte and at a whole one, in the same run, and the processor
may take at most nine times as long for four times the bytes; quadratic work takes sixteen times as
long. `checks/fuzz/cost.py` looks for files that belong here.
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


def spent(what: Callable[[], object]) -> float:
    """Seconds of the processor, the least of two tries: what else the machine does only adds."""
    found = []
    for _ in range(2):
        start = time.process_time()
        with contextlib.suppress(CaptureError, RecordingError, TraceError, ValueError):
            what()
        found.append(time.process_time() - start)
    return min(found)


def read_file(name: str, data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.startswith("recording"):
        compare(Recording(io.BytesIO(data)), Recording(io.BytesIO(data)))
    elif name.startswith("trace"):
        list(Trace(io.BytesIO(data)))
    else:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        read("-", "ms" if name[0].islower() else None)


def assert_linear(what: Callable[[int], Callable[[], object]]) -> None:
    """Refuse work that grows faster than its input."""
    small, large = (spent(what(size)) for size in (250_000, 1_000_000))
    assert large < max(9 * small, 0.02), f"{small:.3f} s, and {large:.3f} s for four times as much"


@pytest.mark.parametrize("name", FILES)
def test_four_times_the_bytes_take_no_more_than_nine_times_as_long(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reading(size: int) -> Callable[[], object]:
        data = FILES[name](size)
        assert 0.5 * size < len(data) < 1.6 * size
        return lambda: read_file(name, data, monkeypatch)

    assert_linear(reading)


def test_a_saved_input_costs_what_it_holds() -> None:
    """Each axis in use was looked for in the list of what is blocked."""

    def loading(size: int) -> Callable[[], object]:
        axes = [f"a{number}" for number in range(size // 40)]
        blocked = [f"b{number}" for number in range(size // 40)]
        pending = {name: [0, 5, 0, 0, 0] for name in axes}
        state = {"down": [], "blocked": blocked, "pending": pending, "stopped": False}
        zones = dict.fromkeys([*axes, *blocked], 100)
        restore("sim.Input", [], [*axes, *blocked], [], zones, state)
        return lambda: restore("sim.Input", [], [*axes, *blocked], [], zones, state)

    assert_linear(loading)


def test_a_packet_costs_what_it_holds() -> None:
    class World:
        def step(self, inputs: object, tick: object) -> None:
            pass

    def receiving(size: int) -> Callable[[], object]:
        packet = bytearray(_MAGIC + bytes(8))
        for number in (2, 0, 0, 0, 0, 0, 0, size, 0):
            _put(packet, number)
        packet += bytes(size) + bytes(2)
        game = Rollback(World, 2, 1)
        game.add_peer("peer", 0)
        game.receive("peer", bytes(packet))
        return lambda: game.receive("peer", bytes(packet))

    assert_linear(receiving)


def test_quadratic_work_is_refused() -> None:
    """The control."""

    def quadratic(size: int) -> Callable[[], object]:
        keys = [str(number) for number in range(size // 250)]
        return lambda: [keys.count(key) for key in keys]

    with pytest.raises(AssertionError, match="for four times as much"):
        assert_linear(quadratic)


def test_an_error_does_not_list_all_names_of_the_header() -> None:
    """A line with another phase listed every phase that the header has."""
    text = HEADER % (b"", names(500_000)) + ticks(200, b',"phases":{"other":1}')
    with pytest.raises(RecordingError, match="phases has ") as error:
        list(Recording(io.BytesIO(text)))
    assert len(str(error.value)) < 500
