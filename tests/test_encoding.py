"""What `StateHash.absorb` hashes: any state as deterministic CBOR, the same on both cores.

There are two oracles. The vectors in ``vectors/state-1.jsonl`` are frozen bytes. For everything
else ``oracle`` below encodes with cbor2, which shares no code with this project; it sorts maps by
itself, since cbor2's canonical order is that of an older RFC.
"""

from __future__ import annotations

import array
import collections
import enum
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import cbor2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import _encoding, digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Core

VECTORS = Path(__file__).parent / "vectors" / "state-1.jsonl"
NAN = float("nan")
INF = float("inf")


# The types of the vectors. Their names are part of the bytes.


@dataclass
class Unit:
    x: float
    hp: int
    sprite: object = field(default=None, compare=False)


@dataclass(frozen=True)
class Cell:
    content: Any


class Pair(NamedTuple):
    one: Any
    two: Any


class Color(enum.Enum):
    RED = 7
    GREEN = 8


class Level(enum.IntEnum):
    LOW = 1


class Keys(enum.Flag):
    LEFT = 1
    RIGHT = 2


class Rights(enum.IntFlag):
    READ = 4


class Own:
    def __init__(self, state: Any) -> None:
        self.state = state

    def __digest__(self) -> Any:
        return self.state


class Inherited(Own):
    """Has the ``__digest__`` of its base, and a name of its own."""


NAMES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Unit, Cell, Pair, Color, Level, Keys, Rights, Own, Inherited, Fraction, deque)
} | {"array": array.array, "nan": NAN, "inf": INF, "np": np, "collections": collections}


def vectors() -> list[dict[str, str]]:
    return [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]


def value_of(vector: dict[str, str]) -> Any:
    return eval(vector["python"], dict(NAMES))


# The oracle


def _tag(number: int) -> bytes:
    return bytes(cbor2.dumps(cbor2.CBORTag(number, 0))[:-1])


def _array(items: list[bytes]) -> bytes:
    whole = cbor2.dumps([0] * len(items))
    return bytes(whole[: len(whole) - len(items)]) + b"".join(items)


def _map(pairs: list[tuple[bytes, bytes]]) -> bytes:
    start = _array([b""] * len(pairs))
    return bytes([start[0] + 0x20]) + start[1:] + b"".join(map(b"".join, sorted(pairs)))


def _object(kind: str, *items: bytes) -> bytes:
    return _tag(27) + _array([cbor2.dumps(kind), *items])


def _typed(value: Any) -> bytes:
    if value.dtype.kind == "b":
        elements = _tag(41) + _array([oracle(bool(element)) for element in value.ravel("C")])
    else:
        element = value.dtype.kind + str(value.dtype.itemsize)
        tags = {"u1": 64, "u2": 69, "u4": 70, "u8": 71, "i1": 72, "i2": 77, "i4": 78, "i8": 79}
        tag = (tags | {"f2": 84, "f4": 85, "f8": 86})[element]
        code = {"f2": "e", "f4": "f", "f8": "d"}.get(element)
        numbers = [NAN if number != number else number for number in value.ravel("C").tolist()]
        if code is None:
            code = {"1": "b", "2": "h", "4": "i", "8": "q"}[element[1]]
            code = code.upper() if element[0] == "u" else code
        elements = _tag(tag) + cbor2.dumps(struct.pack(f"<{len(numbers)}{code}", *numbers))
    if value.ndim == 1:
        return elements
    return _tag(40) + _array([_array([cbor2.dumps(n) for n in value.shape]), elements])


def oracle(value: Any) -> bytes:
    """The encoding, from cbor2 and the table of docs/reference/encoding.md."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes, bytearray):
        return bytes(cbor2.dumps(bytes(value) if kind is bytearray else value, canonical=True))
    if kind is list:
        return _array([oracle(item) for item in value])
    if kind is tuple:
        return _object("tuple", *map(oracle, value))
    if kind is deque:
        return _object("deque", oracle(value.maxlen), *map(oracle, value))
    if isinstance(value, dict):
        return _map([(oracle(key), oracle(part)) for key, part in value.items()])
    if kind in (set, frozenset):
        return _tag(258) + _array(sorted(map(oracle, value)))
    if isinstance(value, enum.Flag):
        return _object(kind.__qualname__, oracle(int(value.value)))
    if isinstance(value, enum.Enum):
        return _object(kind.__qualname__, oracle(value.name))
    if kind is Fraction:
        return _tag(30) + _array([oracle(value.numerator), oracle(value.denominator)])
    if isinstance(value, Own):
        return _object(kind.__qualname__, oracle(value.state))
    if kind is Unit:
        return _object("Unit", oracle(value.x), oracle(value.hp))
    if kind is Cell:
        return _object("Cell", oracle(value.content))
    if kind is Pair:
        return _object("Pair", oracle(value.one), oracle(value.two))
    if kind is array.array:
        return _typed(np.array(value))
    if kind is np.ndarray:
        return _typed(value)
    assert isinstance(value, np.generic)
    return oracle(value.item())


def fnv_1a(data: bytes, state: int = 0xCBF29CE484222325) -> int:
    for byte in data:
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return state


# Vectors


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: vector["python"][:40])
def test_a_vector_has_its_bytes_and_its_digest(core: Core, vector: dict[str, str]) -> None:
    value, encoded = value_of(vector), bytes.fromhex(vector["hex"])
    assert oracle(value) == encoded
    assert _encoding.encode(value) == encoded
    assert hex(core.StateHash().absorb(value).finish()) == vector["digest"] == hex(fnv_1a(encoded))
    assert core.digest(value) == fnv_1a(encoded)


def test_the_vectors_hold_what_is_easily_got_wrong() -> None:
    written = {vector["python"] for vector in vectors()}
    assert {"{24, -1}", "2**64", "-2**64 - 1", "-0.0", "nan", "-nan", "Keys.LEFT | Keys.RIGHT"} <= (
        written
    )
    assert len(written) == len(vectors()) > 100


def test_the_page_shows_the_vectors_as_they_are(source: Path) -> None:
    page = (source.parent / "docs" / "reference" / "encoding.md").read_text("utf-8")
    rows = re.findall(r"(?m)^\| `(.*)` \| `([0-9a-f]+)` \| `(0x[0-9a-f]+)` \|$", page)
    written = {vector["python"]: (vector["hex"], vector["digest"]) for vector in vectors()}
    assert len(rows) >= 25
    assert {python: (encoded, value) for python, encoded, value in rows}.items() <= written.items()
    assert f"has {len(written)} values" in page


def test_a_map_is_sorted_by_bytes_and_not_by_length() -> None:
    """The control of the oracle: cbor2's own canonical order is another one."""
    assert _encoding.encode({24: 0, -1: 0}) == bytes.fromhex("a2 1818 00 20 00")
    assert cbor2.dumps({24: 0, -1: 0}, canonical=True) == bytes.fromhex("a2 20 00 1818 00")


_UNDER_A_SEED = """
import runpy, sys
tests = runpy.run_path(sys.argv[1])
values = [tests["value_of"](vector) for vector in tests["vectors"]()]
values.append([{str(k) for k in range(99)}, {(str(k), k): k for k in range(99)}])
print(list({str(k) for k in range(9)}))
for name in sys.argv[2:]:
    core = __import__(f"fixedstep.{name}", fromlist=["x"])
    print([core.digest(value) for value in values])
"""


def test_the_seed_of_hashes_changes_no_digest(native: Core) -> None:
    orders, digests = set(), set()
    for seed in range(8):
        run = subprocess.run(
            [sys.executable, "-c", _UNDER_A_SEED, __file__, "native", "reference"],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        )
        order, *both = run.stdout.splitlines()
        orders.add(order)
        digests |= set(both)
    assert len(orders) > 1, "the seed changes the order of a set"
    assert len(digests) == 1


# Random values

integers = st.integers(-(2**70), 2**70) | st.sampled_from(
    [
        sign * (2**bits + by)
        for bits in (0, 4, 8, 16, 32, 63, 64)
        for by in (-1, 0, 1)
        for sign in (1, -1)
    ]
)
floats = st.floats() | st.floats(width=32) | st.floats(width=16)
scalars = (
    st.none()
    | st.booleans()
    | integers
    | floats
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
    | st.sampled_from([*Color, *Level, Keys(0), *Keys, Keys(3), Rights.READ])
    | st.fractions()
)
hashables = st.recursive(
    scalars.filter(lambda value: value == value),
    lambda inner: st.tuples(inner) | st.frozensets(inner, max_size=4) | st.builds(Cell, inner),
    max_leaves=4,
)


def _is_one_to_one(values: Any) -> bool:
    """Whether no two keys have one encoding, as 1/1 of two kinds have not."""
    encoded = [oracle(value) for value in values]
    return len(set(encoded)) == len(encoded)


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["?", "i1", "u2", ">i4", "<u8", "f2", ">f4", "<f8", ">f8"]))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    bits = draw(st.binary(min_size=8 * 64, max_size=8 * 64))
    flat = np.frombuffer(bits, np.uint8)
    if kind == "?":
        found = (flat[: math.prod(shape)] & 1).astype(bool)
    else:
        found = flat.view(kind)[: math.prod(shape)]
    found = found.reshape(shape)
    if draw(st.booleans()):
        found = np.asfortranarray(found)
    return found[::2] if found.ndim and draw(st.booleans()) else found


typed = arrays() | st.builds(array.array, st.just("d"), st.lists(floats, max_size=4))
bytearrays = st.builds(bytearray, st.binary())
values: st.SearchStrategy[Any] = st.recursive(
    scalars | typed | bytearrays,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text(max_size=3, alphabet="abé\u4e2d\U0001f600"), inner)
        | st.dictionaries(hashables, inner, max_size=5).filter(_is_one_to_one)
        | st.sets(hashables, max_size=5).filter(_is_one_to_one)
        | st.builds(deque, st.lists(inner), st.none() | st.just(9))
        | st.builds(Unit, inner, inner)
        | st.builds(Pair, inner, inner)
        | st.builds(Own, inner)
        | st.builds(OrderedDict, st.dictionaries(st.integers(), inner))
    ),
    max_leaves=20,
)


@given(value=values)
def test_any_value_has_the_encoding_that_cbor2_gives(core: Core, value: Any) -> None:
    encoded = oracle(value)
    assert _encoding.encode(value) == encoded
    assert core.StateHash(5).absorb(value).finish() == fnv_1a(encoded, 5)


@given(value=floats | integers | st.floats(width=32).map(lambda x: math.nextafter(x, 0)))
def test_any_number_has_the_encoding_that_cbor2_gives(core: Core, value: Any) -> None:
    assert core.digest(value) == fnv_1a(oracle(value))
    assert _encoding.encode(value) == oracle(value)


def test_every_float_of_16_bits_is_written_as_it_is(core: Core) -> None:
    for bits in range(2**16):
        data = bits.to_bytes(2, "big")
        (number,) = struct.unpack(">e", data)
        expected = b"\xf9" + (b"\x7e\x00" if number != number else data)
        assert _encoding.encode(number) == expected
        if bits % 16 == 1 or core.__name__.endswith("native"):
            assert core.digest(number) == fnv_1a(expected)


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 200_000])
def test_large_parts_have_the_digest_of_their_bytes(core: Core, size: int) -> None:
    """Around the size from which the GIL is given up, and of more than one block of an array."""
    data = random.Random(size).randbytes(size)
    doubles = np.frombuffer(data[: size // 8 * 8], "<f8")
    grid = np.frombuffer(data[: size // 4 * 4], ">u2").reshape(2, -1).T
    truths = np.frombuffer(data, np.uint8) > 100
    parts = [data, bytearray(data), data.hex(), doubles, array.array("d", doubles), grid, truths]
    for part in parts:
        assert core.digest(part) == fnv_1a(oracle(part))


def test_what_is_the_same_state_has_one_encoding(core: Core) -> None:
    grid = np.arange(6.0).reshape(2, 3)
    same: list[list[Any]] = [
        [{"a": 1, "b": 2}, {"b": 2, "a": 1}, OrderedDict(b=2, a=1), Counter(b=2, a=1)],
        [{"a": [1]}, defaultdict(list, {"a": [1]})],
        [{1, 2, 3}, {3, 2, 1}, frozenset([2, 1, 3])],
        [grid, np.asfortranarray(grid), grid.astype(">f8"), grid.repeat(2, 0)[::2]],
        [array.array("d", [1.5, NAN]), np.array([1.5, -NAN]), np.array([1.5, NAN], ">f8")],
        [b"abc", bytearray(b"abc")],
        [1.5, np.float64(1.5), np.float32(1.5), np.float16(1.5)],
        [7, np.int8(7), np.uint64(7), np.longlong(7)],
        [True, np.bool_(True)],
        [NAN, -NAN, INF - INF, np.float32(NAN)],
        [Unit(1.0, 2), Unit(1.0, 2, sprite=object())],
    ]
    for equal in same:
        assert len({core.digest(value) for value in equal}) == 1, equal


def test_a_sequence_of_values_is_the_bytes_one_after_the_other(core: Core) -> None:
    one, two = {"a": 1}, [2.5, "x"]
    both = core.StateHash().absorb(one).absorb(two)
    assert both.finish() == fnv_1a(oracle(one) + oracle(two))
    assert both == core.StateHash().absorb_bytes(oracle(one), oracle(two))


def test_the_digest_of_the_package_is_that_of_its_core() -> None:
    assert digest([1, "a"]) == fnv_1a(oracle([1, "a"]))


# Values that are easily confused


def confusing() -> list[Any]:
    """Values of which no two are the same state, made from those that are easily confused."""
    atoms: list[Any] = [
        *(0, 1, -1, True, False, None, 1.0, -1.0, 0.0, -0.0, NAN, INF, 2**64, 2.0**64),
        *("", "1", b"", b"1", "\x00", b"\x00", "tuple", "deque", "Pair", "RED", (), frozenset()),
        *(Fraction(1), Color.RED, Level.LOW, Keys.LEFT, Keys.LEFT | Keys.RIGHT, Rights(1)),
    ]
    unhashable: list[Any] = [[], {}, deque(), deque(maxlen=0), array.array("b"), array.array("B")]
    unhashable += [np.zeros((0, 1)), np.zeros((1, 0)), np.array(1), np.array([1]), np.array([True])]
    wraps: list[Callable[[Any], Any]] = [
        *(lambda x: [x], lambda x: [[], x], lambda x: ["tuple", x], lambda x: [x, "end"]),
        *(lambda x: {1: x}, lambda x: {"1": x}, lambda x: {1.0: x}, lambda x: {(1,): x}),
        *(lambda x: deque([x]), lambda x: deque([x], 2), lambda x: Unit(x, 1), lambda x: Own(x)),
        lambda x: Inherited(x),
    ]
    hashable: list[Callable[[Any], Any]] = [
        *(lambda x: (x,), lambda x: (x, "end"), lambda x: (("end",), x), lambda x: frozenset([x])),
        *(lambda x: Pair(x, "end"), lambda x: Pair(("end",), x), lambda x: Cell(x)),
    ]
    first = [wrap(atom) for wrap in hashable for atom in atoms]
    everything = [*atoms, *first, *(wrap(value) for wrap in hashable for value in first)]
    everything += [*unhashable, *(wrap(value) for wrap in hashable[:3] for value in unhashable)]
    keys = [{value: "of a key"} for value in [*atoms, *first]]
    return [*everything, *keys, *(wrap(value) for wrap in wraps for value in everything)]


def test_no_two_of_values_built_to_confuse_collide(core: Core) -> None:
    found = confusing()
    if core.__name__.endswith("reference"):
        found = found[::3]
    assert len(found) ** 2 // 2 > 10**6
    assert len({core.digest(value) for value in found}) == len(found)
    assert len({_encoding.encode(value) for value in found}) == len(found)


# What has no encoding


class Sprite:
    """Has neither ``__digest__`` nor a rule."""


class Score(int):
    """A subclass could have a state that nobody sees."""


class Many(Unit):
    """A subclass of a dataclass that is none."""


class Point(Pair):
    """A subclass of a named tuple."""


class Switched(Own):
    """Says that it has no digest."""

    __digest__ = None  # type: ignore[assignment]


@dataclass
class Listed(list):  # type: ignore[type-arg]
    """A dataclass whose items no field shows."""

    hp: int = 1


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def looped() -> list[Any]:
    units: list[Any] = [1, {"squad": (2, [])}]
    units[1]["squad"][1].append(units)
    return units


OWN = "define __digest__(self) to return its state as plain values, make its class a dataclass, "
OWN += "or leave it out with field(compare=False)"
TWICE = "make equal what is the same, or let __digest__ or the fields tell them apart"

REFUSED: list[tuple[Any, type[Exception], str]] = [
    (Sprite(), TypeError, f"Sprite has no __digest__; {OWN}"),
    ({"units": [0, 1, 2, Unit(1.0, Sprite())]}, TypeError, f"units[3].hp: Sprite has no "  # type: ignore[arg-type]
     f"__digest__; {OWN}"),
    ({"a b": {7: (Sprite(),)}}, TypeError, f"['a b'][7][0]: Sprite has no __digest__; {OWN}"),
    ({"k": {Sprite: 1}}, TypeError, "k{<class 'tests.test_encoding.Sprite'>}: type "
     "has no __digest__; pass plain values instead"),
    ({"a": {(1, print)}}, TypeError, "a{(1, <built-in function print>)}[1]: "
     "builtin_function_or_method has no __digest__; pass plain values instead"),
    (Own([1, Sprite()]), TypeError, f"__digest__()[1]: Sprite has no __digest__; {OWN}"),
    (Pair(1, [Sprite()]), TypeError, f"two[0]: Sprite has no __digest__; {OWN}"),
    (deque([1, Sprite()]), TypeError, f"[1]: Sprite has no __digest__; {OWN}"),
    (Score(3), TypeError, f"Score has no __digest__; {OWN}"),
    (Many(1.0, 2), TypeError, f"Many has no __digest__; {OWN}"),
    (Point(1, 2), TypeError, f"Point has no __digest__; {OWN}"),
    (Listed(), TypeError, f"Listed has no __digest__; {OWN}"),
    (Switched(1), TypeError, f"Switched has no __digest__; {OWN}"),
    (type("tuple", (Own,), {})(1), TypeError, "class tests.test_encoding.tuple has the name of "
     "Python's own tuple; rename it"),
    (memoryview(b"a"), TypeError, "memoryview has no __digest__; pass bytes(value)"),
    (1j, TypeError, "complex has no __digest__; pass [value.real, value.imag]"),
    ({"a": range(3)}, TypeError, "a: range has no __digest__; pass [value.start, value.stop, "
     "value.step]"),
    (Decimal(1), TypeError, "Decimal has no __digest__; pass str(value) or Fraction(value)"),
    (datetime(2020, 1, 1), TypeError, "datetime has no __digest__; pass value.isoformat() or a "
     "number of ticks"),
    (date(2020, 1, 1), TypeError, "date has no __digest__; pass value.isoformat()"),
    (timedelta(1), TypeError, "timedelta has no __digest__; pass a whole number of ticks"),
    (UUID(int=1), TypeError, "UUID has no __digest__; pass value.bytes"),
    (PurePosixPath("a"), TypeError, "PurePosixPath has no __digest__; pass value.as_posix()"),
    (lambda: 1, TypeError, "function has no __digest__; pass plain values instead"),
    (array.array("l", [1]), TypeError, "array of typecode 'l' has no encoding, as its size depends "
     "on the platform; use 'q', 'Q' or 'd'"),
    ([np.array([1j])], TypeError, "[0]: ndarray of dtype '<c16' has no encoding; pass bool, "
     "integer or float elements of at most 64 bits"),
    (np.array(["a"]), TypeError, "ndarray of dtype '<U1' has no encoding; pass"),
    (np.array([None]), TypeError, "ndarray of dtype '|O' has no encoding; pass"),
    (np.zeros(2, np.longdouble), TypeError, "ndarray of dtype '<f16' has no encoding; pass"),
    (np.longdouble(1), TypeError, "longdouble has no __digest__; pass plain values instead"),
    (np.datetime64(1, "s"), TypeError, "datetime64 has no __digest__; pass value.astype('i8')"),
    (np.timedelta64(1, "s"), TypeError, "timedelta64 has no __digest__; pass value.astype('i8')"),
    (np.ma.masked_array([1]), TypeError, "MaskedArray has no __digest__; "),
    (["a\ud800"], ValueError, "[0]: str 'a\\ud800' has a lone surrogate, which UTF-8 cannot hold; "
     "pass value.encode('utf-8', 'surrogatepass')"),
    ({"k": {"\udfff": 1}}, ValueError, "k{'\\udfff'}: str '\\udfff' has a lone surrogate, "),
    ({"a": {Cell(1): 1, type("Cell", (Own,), {})(1): 2}}, ValueError,
     f"another key or element has the same encoding as this Cell; {TWICE}"),
    ({NAN, -NAN}, ValueError, "{nan}: another key or element has the same encoding as this float; "
     f"{TWICE}"),
    (nested(101), ValueError, "[0][0][0][0][0][0][0][0][0][0][0][0][0][...0]"),
    (nested(101), ValueError, "nested more than 100 deep; keep long chains in a list"),
    ([looped()], ValueError, "[0][1].squad[1][0]: a cycle, this list is a part of itself; leave "
     "out the way back, with field(compare=False) or in __digest__"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "error", "report"), REFUSED)
def test_what_has_no_encoding_is_named_with_its_place(
    core: Core, native: Core, value: Any, error: type[Exception], report: str
) -> None:
    start = core.StateHash(7)
    with pytest.raises(error, match=re.escape(report)) as raised:
        start.absorb(value)
    assert type(raised.value) is error
    text = str(raised.value)
    assert "\n" not in text
    assert len(text) < 400
    with pytest.raises(error) as other:
        native.StateHash().absorb(value)
    assert text == str(other.value)
    assert start == core.StateHash(7)


def test_a_hundred_containers_within_each_other_are_enough(core: Core) -> None:
    assert core.digest(nested(100)) == fnv_1a(oracle(nested(100)))
    key: Any = 1
    for _ in range(98):
        key = (key,)
    assert core.digest([{key: 1}]) == fnv_1a(oracle([{key: 1}]))
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        core.digest([{(key,): 1}])


def test_the_same_container_twice_is_no_cycle(core: Core) -> None:
    shared = [1]
    assert core.digest([shared, (shared, shared)]) == fnv_1a(oracle([shared, (shared, shared)]))


def test_an_object_that_digests_as_itself_is_a_cycle(core: Core) -> None:
    own = Own(None)
    own.state = own
    with pytest.raises(ValueError, match="a cycle, this Own is a part of itself"):
        core.digest(own)


# Code that runs within a digest


class Meddler:
    """Whoever looks at its state changes something."""

    def __init__(self, change: Callable[[], object]) -> None:
        self.change = change

    def __digest__(self) -> int:
        self.change()
        return 1


def test_a_list_that_shrinks_or_grows_under_the_digest_is_an_error(core: Core) -> None:
    for change in (list.clear, list.pop, lambda x: x.append(1), lambda x: x.extend(x)):
        victim: list[Any] = [1, 2]
        victim.insert(1, Meddler(lambda victim=victim, change=change: change(victim)))  # type: ignore[misc]
        with pytest.raises(RuntimeError, match=r"^\[0\]: this list changed its size while it was"):
            core.digest([victim])


def test_dicts_sets_and_deques_are_digested_as_they_were(core: Core) -> None:
    """Their parts are collected before the first is looked at."""
    kinds: list[type[dict[str, Any]]] = [dict, OrderedDict]
    for kind in kinds:
        victim = kind()
        victim |= {"a": Meddler(victim.clear), "b": [2, [3]]}
        assert core.digest(victim) == fnv_1a(oracle({"a": Own2(1), "b": [2, [3]]}))
        assert victim == {}
    many: deque[Any] = deque()
    many += [Meddler(many.clear), [2]]
    assert core.digest(many) == fnv_1a(oracle(deque([Own2(1), [2]])))


class Own2(Own):
    """Encoded as a Meddler."""


Own2.__qualname__ = "Meddler"


def test_what_digest_raises_comes_out_as_it_is(core: Core) -> None:
    def fail() -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        core.digest([{"a": Meddler(fail)}])


def test_a_digest_may_digest(core: Core) -> None:
    state = Own([1, 2])
    outer = Meddler(lambda: core.digest([state, {"a": state}]))
    assert core.digest([outer, 5]) == fnv_1a(oracle([Own2(1), 5]))

    endless = Meddler(lambda: core.digest([endless]))
    with pytest.raises(RecursionError):
        core.digest(endless)


def test_a_field_that_is_not_set_is_an_error(core: Core) -> None:
    unit = Unit(1.0, 2)
    del unit.hp
    with pytest.raises(AttributeError, match="'Unit' object has no attribute 'hp'"):
        core.digest(unit)


def test_many_types_in_turn_have_their_own_rules(core: Core) -> None:
    """More than the C core remembers at a time."""
    kinds = [type(f"Kind{n}", (Own,), {}) for n in range(300)]
    state = [kind(n) for n, kind in enumerate(kinds)] * 2
    assert core.digest(state) == fnv_1a(oracle(state))


def test_a_named_tuple_is_digested_by_its_items_whatever_its_methods_say(core: Core) -> None:
    class Pair(NamedTuple):
        one: int
        two: int

        def __iter__(self) -> Any:
            return iter(())

        def __len__(self) -> int:
            return 0

    kind: Any = Pair
    kind.__qualname__ = "Pair"
    assert core.digest(kind(1, 2)) == core.digest(NAMES["Pair"](1, 2))
