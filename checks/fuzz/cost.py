"""What a file may cost: a search for input that takes a reader more time than its size allows.

    python checks/fuzz/cost.py --seconds 60        # for each reader

An input is a small file of the reader's format and a few ways to let it grow: a part repeated,
numbered, nested, a number with more digits or a huge exponent, and gzip around all of it. So one
input has any size. The search measures the processor time of many at two small sizes, estimates
that of a megabyte from the growth between them, and changes what promises most. The best are then
measured at a megabyte.

What is allowed is stated in `allowed`: so many microseconds for each byte, and for each byte that
gzip may give where it is packed. The reader runs in a process whose processor time is limited
before each input, so one that takes an hour is found after seconds. The faults that the search must
find are planted by run.py.

Exit code 3 for a reader that takes more; its input is kept, and named.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import math
import multiprocessing
import random
import re
import resource
import signal
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from fixedstep import FrameLoop, StepBudget, Timestamp, Timestep, captures, reference, restore
from fixedstep.captures import CaptureError, limits
from fixedstep.cli.verify import Verification
from fixedstep.records import (
    Recorder,
    Recording,
    RecordingError,
    ReplayMismatch,
    Trace,
    TraceError,
    compare,
    replay,
)
from fixedstep.sim import History, Input, Rollback, Session, TimerQueue, rollback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "captures"
FULL = 1_000_000
SMALL = 24_000


#: Seconds for any file, and microseconds for each byte of it once it is unpacked. A row that is
#: read by itself takes 5 microseconds a byte on a slow machine.
LEAST, MICROS = 1.0, 10.0


def allowed(data: bytes) -> float:
    """Seconds of the processor for a file."""
    size = len(data)
    if data.startswith(b"\x1f\x8b"):
        size = max(limits.MAX_INFLATED_UNCHECKED, limits.MAX_INFLATE_RATIO * size)
    return LEAST + MICROS * size / 1e6


# The readers. Each takes bytes and raises only what is none of its documented errors.


def read_capture(data: bytes, unit: str | None = None) -> None:
    """A capture in any format."""
    sys.stdin = SimpleNamespace(buffer=io.BytesIO(data))
    with contextlib.suppress(CaptureError):
        captures.read("-", unit)


def read_column(data: bytes) -> None:
    """A plain column of numbers."""
    read_capture(data, "ms")


def read_trace(data: bytes) -> None:
    """A trace, verified."""
    with contextlib.suppress(TraceError):
        Verification(Trace(io.BytesIO(data)), {"reference": reference})


class World:
    """Counts its ticks."""

    x = 0

    def step(self, given: Any, tick: Any) -> None:
        """One tick."""
        self.x += 1

    def digests(self) -> dict[str, int]:
        """One number."""
        return {"x": self.x}


def read_recording(data: bytes) -> None:
    """A recording, compared with itself and replayed."""
    try:
        compare(Recording(io.BytesIO(data)), Recording(io.BytesIO(data)))
        recording = Recording(io.BytesIO(data))
        head = recording.header
        session = Session(
            World,
            buttons=head.buttons,
            axes=head.axes,
            relative=head.relative,
            rate=head.rate,
            phases=head.phases or ("Motion",),
        )
        replay(recording, session)
    except (RecordingError, ReplayMismatch, ValueError, OverflowError):
        pass


def read_state(data: bytes) -> None:
    """What a pickle of the library calls, with arguments that JSON can hold."""
    with contextlib.suppress(
        ValueError, TypeError, OverflowError, RecursionError, KeyError, AttributeError
    ):
        kind, *state = json.loads(data)
        repr(restore(kind, *state))


class RollbackWorld:
    """Takes two inputs a tick."""

    x = 0

    def step(self, inputs: Any, tick: Any) -> None:
        """One tick."""
        self.x += 1

    def digests(self) -> dict[str, Any]:
        """One number."""
        return {"x": self.x}


def _rollback(local: int, idle: Any) -> Rollback[RollbackWorld]:
    made = Rollback(RollbackWorld, 2, local, idle=idle, session=5)
    made.add_peer("peer", 1 - local)
    return made


def _packets(idle: Any) -> list[bytes]:
    one, other = _rollback(0, idle), _rollback(1, idle)
    packets = []
    for _ in range(12):
        one.advance(idle)
        other.advance(idle)
        packets.append(one.packet("peer"))
        other.receive("peer", packets[-1])
        one.receive("peer", other.packet("peer"))
    # a million inputs, as far as the packet goes
    long = bytearray(rollback._MAGIC + (5).to_bytes(8, "little"))
    for number in (2, 0, 0, 0, 0, 0, 0, 10**6, 0, 0, 0):
        rollback._put(long, number)
    return [*packets[::4], bytes(long)]


def read_packet(data: bytes) -> None:
    """A packet of either kind of input, and the ticks that it allows."""
    for idle in (0, b""):
        game = _rollback(1, idle)
        try:
            game.receive("peer", data)
        except ValueError:
            continue
        game.advance(idle)
        game.settle()


def _recordings() -> list[bytes]:
    found = []
    for phases in (False, True):
        file = io.StringIO()
        session = Session(World, buttons=["a", "b"], axes=["c"], relative=["d"], phases=["Motion"])
        with Recorder(file, session, phases=phases, notes={"n": [1, (2.5, b"x")]}):
            session.post({"k": [1, 2.0]})
            session.input.press("a")
            session.run_ticks(1)
            session.run_ticks(3)
        found.append(file.getvalue().encode())
    return found


def _traces() -> list[bytes]:
    file = io.StringIO()
    with Recorder(file, FrameLoop(Timestep(10), StepBudget(3), Timestamp(5))) as recorder:
        for at in (27, 55, 90):
            recorder.begin_frame(Timestamp(at))
        recorder.resync(Timestamp(99))
    return [file.getvalue().encode()]


def _states() -> list[bytes]:
    timers = TimerQueue[str](capacity=10**6)
    timers.schedule(0, 5, "a")
    timers.schedule(0, 7, "b", period=3)
    pressed = Input(["a", "b"], ["c"], ["d"])
    pressed.press("a")
    pressed.axis("c", 0.5)
    made = (timers, pressed, FrameLoop(), reference.FrameTiming(), History(1), Timestep(5))
    return [json.dumps(one.__reduce__()[1]).encode() for one in made]


def _files(*names: str) -> list[bytes]:
    return [(DATA / name).read_bytes() for name in names]


DRAW = b'{"name":"DrawFrame","ph":"X","ts":%d,"dur":5,"pid":1,"tid":%d,"args":{"a":[1,null,"x"]}}'
META = b'{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"CrRendererMain"}}'
EXTRA = (
    b'{"Info":{"ProcessName":"a","b":[1]},"c":["x"],"d":[1,2],"Runs":[{"e":{"f":1},"CaptureData":'
    b'{"TimeInSeconds":[0.0,null,0.3],"MsBetweenPresents":[9.0,null,1.5e1],"g":["h",{}]}}]}'
)
FRAMESTATS = (
    b"** Graphics info for pid 5 [a.b] **\nWindow: w\n---PROFILEDATA---\nFlags,Vsync,x\n"
    b"0,1000,1\n0,17000,1\n0,33000,1\n---PROFILEDATA---\n"
)


class Reader(NamedTuple):
    """What is measured, and what grows."""

    read: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    packed: bool = True
    """Whether gzip is unpacked."""


READERS = {
    "PresentMon": Reader(
        read_capture,
        lambda: _files(
            "presentmon-1.csv", "presentmon-2.4.csv", "european.csv", "two-recordings.csv"
        ),
    ),
    "CapFrameX": Reader(read_capture, lambda: [*_files("capframex.json"), EXTRA]),
    "MangoHud": Reader(read_capture, lambda: _files("mangohud-1.csv")),
    "FRAPS": Reader(read_capture, lambda: [b"Frame, Time (ms)\n1,0.0\n2,16.5\n3,33.0\n"]),
    "Unreal": Reader(
        read_capture,
        lambda: [b"Events,FrameTime,GameThreadTime\n,16.5,1\n,16.7,2\n,16.1,3,4\n"],
    ),
    "framestats": Reader(read_capture, lambda: [FRAMESTATS]),
    "Chrome": Reader(
        read_capture,
        lambda: [
            b'{"traceEvents":[%s,%s,%s]}' % (DRAW % (1, 1), META, DRAW % (17000, 2)),
            b"[%s,\n%s" % (DRAW % (1, 1), DRAW % (17000, 1)),
        ],
    ),
    "column": Reader(read_column, lambda: [b"16.5\n16.7\n", b'time\n"16.5"\n1e1\n']),
    "UTF-16": Reader(read_capture, lambda: _files("utf-16.csv")),
    "own trace": Reader(read_capture, _traces),
    "trace": Reader(read_trace, _traces, packed=False),
    "recording": Reader(read_recording, _recordings, packed=False),
    "state": Reader(read_state, _states, packed=False),
    "packet": Reader(read_packet, lambda: [*_packets(0), *_packets(b"")], packed=False),
}


# Inputs that grow.

TOKEN = re.compile(
    rb'[^\n]*\n|"[^"\n]*"\s*:\s*(?:[^][{},"]+|"[^"]*"|\[[^][]*\]|\{[^{}]*\})|"[^"]*"|\[[^][]*\]'
    rb"|\{[^{}]*\}|-?[0-9]+(?:\.[0-9]+)?|[^,;\t\n]+"
)
NUMBER = re.compile(rb"[0-9]+")
WORD = re.compile(rb'"[^"\n]*"|[0-9.]+')
JOINS = (b"", b",", b"\n", b";", b" ", b"\t", b'"')
KINDS = ("repeat", "numbered", "counted", "nest", "digits", "exponent", "filler")
FILLERS = (
    b"[",
    b"{",
    b'"',
    b"\\",
    b" ",
    b"\n",
    b"\r\n",
    b",",
    b"0",
    b"null,",
    b"\0",
    b"\xff",
    b"/",
)


class Growth(NamedTuple):
    """One part of a file that grows."""

    start: int
    end: int
    kind: str
    join: bytes
    choice: int
    share: float

    def text(self, seed: bytes, size: int) -> bytes:
        """The part, with about ``size`` bytes."""
        part = seed[self.start : self.end]
        count = max(size // max(len(part) + len(self.join), 1), 1)
        if self.kind == "repeat":
            return self.join.join([part] * count)
        if self.kind in ("numbered", "counted"):
            return self._numbered(part, count)
        if self.kind == "nest":
            opened, closed = ((b"[", b"]"), (b'{"a":', b"}"), (b'["list",', b"]"))[self.choice % 3]
            deep = max(size // (len(opened) + len(closed)), 1)
            return opened * deep + part + closed * deep
        if self.kind == "digits":
            tail = (b"", b"x", b".", b"e5", b"\n")[self.choice % 5]
            return (
                (b"", b"0.", b"-")[self.choice % 3] + b"1907"[self.choice % 4 :][:1] * size + tail
            )
        if self.kind == "exponent":
            return part + (b"e999999999", b"e-999999999", b"e18", b"e-18")[self.choice % 4]
        filler = FILLERS[self.choice % len(FILLERS)]
        return part + filler * max(size // len(filler), 1)

    def _numbered(self, part: bytes, count: int) -> bytes:
        numbers = list(NUMBER.finditer(part))
        quote = part.find(b'"', 1) if b'"' in part[1:] else len(part)
        if self.kind == "counted" and numbers:
            at = numbers[self.choice % len(numbers)]
            before, after, first = part[: at.start()], part[at.end() :], int(at.group()[:15])
        else:
            before, after, first = part[:quote], part[quote:], 0
        numbered: Iterable[bytes]
        if self.kind == "counted":
            numbered = (b"%b%d%b" % (before, first + i, after) for i in range(count))
        else:  # in name order, behind the part itself, which may be named elsewhere
            more = (b"%b%07d%b" % (before, i, after) for i in range(count))
            numbered = chain((part,), more)
        return self.join.join(numbered)


class Candidate(NamedTuple):
    """A file of any size."""

    seed: bytes
    growths: tuple[Growth, ...]
    packed: bool

    def build(self, size: int) -> bytes:
        """Its bytes: about ``size`` of them before gzip."""
        out, last = [], 0
        for growth in sorted(self.growths):
            out += [
                self.seed[last : growth.start],
                growth.text(self.seed, int(size * growth.share)),
            ]
            last = growth.end
        data = b"".join([*out, self.seed[last:]])
        return gzip.compress(data, 6, mtime=0) if self.packed else data


def grown(dice: random.Random, seed: bytes) -> tuple[Growth, ...]:
    """Up to three places that grow."""
    tokens = [match.span() for match in TOKEN.finditer(seed)]
    count = dice.choice((1, 1, 2, 2, 3))
    found: list[Growth] = []
    for _ in range(count):
        start, end = dice.choice(tokens) if tokens and dice.random() < 0.8 else (0, 0)
        if dice.random() < 0.5 and end > start:  # a smaller token within it
            inner = [match.span() for match in TOKEN.finditer(seed[start + 1 : end - 1])]
            if inner:
                offset, (first, last) = start + 1, dice.choice(inner)
                start, end = offset + first, offset + last
        if end == start:
            start = dice.randrange(len(seed))
            end = min(start + dice.randrange(1, 9), len(seed))
        if any(start < one.end and one.start < end for one in found):
            continue
        kind, join = dice.choice(KINDS), dice.choice(JOINS)
        found.append(Growth(start, end, kind, join, dice.randrange(64), 1 / count))
    return tuple(found)


def orderly(seed: bytes) -> list[tuple[Growth, ...]]:
    """The growths that make sense: each part repeated, numbered, nested; and each of them beside
    lines that count, such as many names in a header above many ticks."""
    singles, lines = [], []
    for match in TOKEN.finditer(seed):
        inner = [(match.start(), match.end())]
        if match.group().endswith(b"\n"):
            lines += [Growth(*match.span(), "counted", b"", at, 0.5) for at in (0, 1)]
            start = match.start()
            for one in TOKEN.finditer(match.group()[:-1]):
                inner.append((start + one.start(), start + one.end()))
            inner += [(start + one.start(), start + one.end()) for one in WORD.finditer(match[0])]
        for start, end in inner:
            join = b"" if seed[start:end].endswith(b"\n") else b","
            singles += [
                Growth(start, end, kind, join, choice, 1)
                for choice, kind in enumerate(("numbered", "repeat", "nest", "filler"))
            ]
            if NUMBER.search(seed[start:end]):
                singles += [
                    Growth(start, end, kind, join, choice, 1)
                    for kind, choice in (("digits", 1), ("digits", 6), ("exponent", 0))
                ]
    pairs = [
        (one._replace(share=0.5), line)
        for one in singles
        for line in lines
        if one.kind == "numbered" and not (one.start < line.end and line.start < one.end)
    ]
    return [*((one,) for one in singles), *((line._replace(share=1),) for line in lines), *pairs]


def mutated(dice: random.Random, seed: bytes) -> bytes:
    """A seed with a small part changed."""
    start = dice.randrange(len(seed))
    end = min(start + dice.choice((0, 1, 2, 5, 20)), len(seed))
    other = dice.randrange(len(seed))
    put = dice.choice((b"", bytes([dice.randrange(256)]), seed[other : other + 9], *FILLERS))
    return seed[:start] + put + seed[end:]


def changed(dice: random.Random, candidate: Candidate) -> Candidate:
    """A candidate beside this one."""
    if dice.random() < 0.2:
        return candidate._replace(seed=mutated(dice, candidate.seed))
    growths = list(candidate.growths)
    if not growths or dice.random() < 0.3:
        return candidate._replace(growths=grown(dice, candidate.seed))
    at = dice.randrange(len(growths))
    change = dice.choice(
        (
            {"kind": dice.choice(KINDS)},
            {"join": dice.choice(JOINS)},
            {"choice": dice.randrange(64)},
            {"share": dice.choice((0.1, 0.5, 0.9))},
        )
    )
    growths[at] = growths[at]._replace(**change)
    return candidate._replace(growths=tuple(growths))


# The search.


class Worst(NamedTuple):
    """The most that a reader was found to take."""

    data: bytes
    seconds: float

    @property
    def share(self) -> float:
        """Of what is allowed."""
        return self.seconds / allowed(self.data)


class Search:
    """One reader, in a process of its own. ``put`` is told what is run, and what it took."""

    def __init__(self, name: str, put: Callable[[Any], object], kept: Path) -> None:
        self._reader = READERS[name]
        self._put = put
        self._kept = kept
        self._dice = random.Random(name)

    def spent(self, data: bytes) -> float:
        """Seconds of the processor that reading takes."""
        self._kept.write_bytes(data)
        limit = math.ceil(time.process_time() + 1.2 * allowed(data)) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        start = time.process_time()
        self._reader.read(data)
        return time.process_time() - start

    def promise(self, candidate: Candidate) -> float:
        """The seconds to expect of a full file, from the growth between two small ones."""
        sizes = (SMALL, 2 * SMALL)
        data = [candidate.build(size) for size in sizes]
        one, two = (self.spent(piece) for piece in data)
        if two < 0.004:  # too short to say anything about growth
            return two * FULL / sizes[1]
        power = min(max(math.log2(two / max(one, 1e-4)), 1), 3)
        return float(two * (FULL / sizes[1]) ** power)

    def run(self, seconds: float) -> None:
        """Look for the worst file within so many seconds of the processor."""
        seeds = self._reader.seeds()
        plain = [Candidate(seed, growths, False) for seed in seeds for growths in orderly(seed)]
        self._dice.shuffle(plain)
        pool: list[tuple[float, Candidate]] = []
        tried = 0
        end = time.process_time() + seconds / 2
        while time.process_time() < end:
            if plain and self._dice.random() < 0.7:
                candidate = plain.pop()
            elif pool:
                candidate = changed(self._dice, self._dice.choice(pool)[1])
            else:
                seed = self._dice.choice(seeds)
                candidate = Candidate(seed, grown(self._dice, seed), False)
            tried += 1
            promise = self.promise(candidate)
            if promise > 2 * (LEAST + MICROS) and self.full(tried, candidate, FULL):
                return
            pool.append((promise, candidate))
            pool = sorted(pool, key=lambda one: -one[0])[:24]
        end = time.process_time() + seconds / 2
        for _, candidate in pool:
            if self.full(tried, candidate, FULL):
                return
            if self._reader.packed:
                packed = candidate._replace(packed=True)
                if self.full(tried, packed, limits.MAX_INFLATED_UNCHECKED):
                    return
            if time.process_time() > end:
                break

    def full(self, tried: int, candidate: Candidate, size: int) -> bool:
        """Measure a candidate; whether it takes more than is allowed."""
        data = candidate.build(size)
        worst = Worst(data, self.spent(data))
        self._put((tried, worst))
        return worst.share > 1


def _child(name: str, seconds: float, kept: Path, pipe: Any) -> None:
    Search(name, pipe.send, kept).run(seconds)
    pipe.send(None)


def kept_in(folder: Path, name: str) -> Path:
    """Where the worst input of a reader is kept."""
    return folder / f"{name.replace(' ', '-')}.worst"


def search(name: str, seconds: float, folder: Path) -> tuple[int, Worst]:
    """How many inputs were tried, and the worst: one that was ended by the limit, if any was."""
    kept = kept_in(folder, name)
    receive, send = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.Process(target=_child, args=(name, seconds, kept, send))
    child.start()
    send.close()
    tried, worst = 0, Worst(b"", 0)
    whole = False
    try:
        while (found := receive.recv()) is not None:
            tried = found[0]
            worst = max(worst, found[1], key=lambda one: one.share)
        whole = True
    except EOFError:
        pass
    child.join()
    if not whole and child.exitcode == -signal.SIGXCPU:  # ended by the limit: it takes more yet
        data = kept.read_bytes()
        worst = Worst(data, 1.2 * allowed(data))
    elif not whole:
        sys.exit(f"{name}: raised on {kept}")
    kept.write_bytes(worst.data)
    return tried, worst


def main(argv: list[str] | None = None) -> int:
    """Search, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="of processor, for each reader")
    parser.add_argument("--only", nargs="+", choices=READERS, default=list(READERS))
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="keep the worst inputs there")
    options = parser.parse_args(argv)
    folder = options.corpus or Path(tempfile.gettempdir(), "fixedstep-cost")
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    print(f"{'reader':12} {'tried':>6} {'bytes':>9} {'seconds':>8} {'us a byte':>10}  of allowed")
    for name in options.only:
        tried, worst = search(name, options.seconds, folder)
        too_much = worst.share > 1
        failed |= too_much
        size = len(worst.data)
        print(
            f"{name:12} {tried:6} {size:9} {worst.seconds:8.2f} "
            f"{1e6 * worst.seconds / max(size, 1):10.2f} {worst.share:11.0%}"
            + (f"  TOO MUCH: {kept_in(folder, name)}" if too_much else ""),
            flush=True,
        )
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
