"""How state becomes bytes: any Python value as deterministic CBOR, for `StateHash.absorb`.

The encoding is RFC 8949's core deterministic one (section 4.2.1) with registered tags, so that a
port to another language needs a CBOR library and FNV-1a. It is frozen: what is encoded keeps its
bytes for ever, what is refused may be added. docs/reference/encoding.md is the specification.

`walk` is the reference. The C core has another walker (csrc/python/absorb_value.c) for the
types that are common in game state. It asks this file for the rule of every other type, for the
parts that are rare, and for the text of every error, so these exist once.
"""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from itertools import pairwise
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ._arguments import U64_MAX, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from enum import Enum, Flag

    Emit = Callable[[bytes | bytearray], object]

#: How to get from the whole value to a part: ("i", index), ("a", attribute), ("k", key of a dict,
#: on the way to its value), ("e", element of a set or key of a dict, itself).
Step: TypeAlias = tuple[str, Any]

#: Containers within containers, at most.
DEEPEST = 100

#: Bytes of an array that are encoded at a time.
BLOCK_BYTES = 65536

# What a rule says; csrc/python/absorb_value.c has the same list.
FIELDS, ITEMS, DIGEST, SAME, READY, TYPED, MAPPING, DEQUE = range(8)


class Rule(NamedTuple):
    """How the values of one type are encoded."""

    kind: type
    code: int
    name: bytes
    """The encoded name of the type, for those that are written as a named object, tag 27."""
    names: tuple[str, ...]
    """The attributes of FIELDS and ITEMS."""
    call: Callable[[Any], Any] | None
    """DIGEST: what gives the state. SAME: what gives a plain value instead. READY: what gives the
    encoding. TYPED: what gives head, size of a float or 0, and blocks of bytes; None if refused."""


# ---- numbers and heads ------------------------------------------------------------------------


def head(major: int, number: int) -> bytes:
    """The start of every item: its major type, and a number in as few bytes as hold it."""
    if number < 24:
        return bytes((major << 5 | number,))
    size = 1 if number < 2**8 else 2 if number < 2**16 else 4 if number < 2**32 else 8
    return bytes((major << 5 | 23 + size.bit_length(),)) + number.to_bytes(size, "big")


def integer(number: int) -> bytes:
    """An int: major type 0 or 1 where 64 bits hold it, else tag 2 or 3 over its bytes."""
    major, size = (0, number) if number >= 0 else (1, -1 - number)
    if size <= U64_MAX:
        return head(major, size)
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return head(6, 2 + major) + head(2, len(digits)) + digits


_F64 = Struct(">d")


def real(number: float) -> bytes:
    """A float in the shortest of 16, 32 and 64 bits that is exact; every NaN is f97e00.

    By its bits, since conversions depend on the processor's mode: one library that was linked with
    ``-ffast-math`` makes the whole process take the smallest numbers for 0.
    """
    wide = _F64.pack(number)
    bits = int.from_bytes(wide, "big")
    if bits & 2**63 - 1 > 0x7FF << 52:
        return b"\xf9\x7e\x00"
    for mark, size, digits in ((b"\xf9", 2, 10), (b"\xfa", 4, 23)):
        short = _narrowed(bits, size * 8 - 1 - digits, digits)
        if short is not None:
            return mark + short.to_bytes(size, "big")
    return b"\xfb" + wide


def _narrowed(bits: int, exponent_bits: int, digit_bits: int) -> int | None:
    """The bits of the same number in a smaller format, or None if it would be rounded."""
    sign = bits >> 63 << exponent_bits + digit_bits
    exponent, digits = bits >> 52 & 0x7FF, bits & 2**52 - 1
    top, bias = (1 << exponent_bits) - 1, (1 << exponent_bits - 1) - 1
    if exponent == 0x7FF:  # infinite
        return sign | top << digit_bits
    if exponent == 0:  # zero; or too small for any smaller format
        return None if digits else sign
    power, lost = exponent - 1023 + bias, 52 - digit_bits
    if power >= top:
        return None
    if power <= 0:  # without the leading 1 that is not written
        digits, lost, power = digits | 2**52, lost + 1 - power, 0
    if digits & (1 << lost) - 1:
        return None
    return sign | power << digit_bits | digits >> lost


def text(value: str) -> bytes:
    """A str as UTF-8; UnicodeEncodeError for a lone surrogate."""
    data = value.encode()
    return head(3, len(data)) + data


def named(name: bytes, count: int) -> bytes:
    """The start of a named object, tag 27: an array of its name and so many values."""
    return head(6, 27) + head(4, count + 1) + name


TUPLE = text("tuple")

# ---- the rule of a type -----------------------------------------------------------------------

_MAPPINGS = (OrderedDict, defaultdict, Counter)
_CONTAINERS = (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, deque)
_SCALARS = {"bool", "bool_", "float16", "float32", "float64"} | {
    f"{sign}{size}"
    for sign in ("", "u")
    for size in ("int8", "int16", "int32", "int64", "intc", "long", "longlong")
}


def rule(kind: type) -> Rule | None:
    """The rule of a type that is none of Python's plain ones, or None if it has no encoding."""
    for base in kind.__mro__:
        if "__digest__" in vars(base):
            call = vars(base)["__digest__"]
            return None if call is None else _named_rule(kind, DIGEST, ("__digest__()",), call)
    if kind in _MAPPINGS:
        return Rule(kind, MAPPING, b"", (), None)
    if kind is deque:
        return Rule(kind, DEQUE, b"", (), None)
    if kind is array:
        return Rule(kind, TYPED, b"", (), _array)
    if kind.__module__ == "numpy":
        if kind.__qualname__ == "ndarray":
            return Rule(kind, TYPED, b"", (), _ndarray)
        return Rule(kind, SAME, b"", (), kind.item) if kind.__name__ in _SCALARS else None  # type: ignore[attr-defined]
    if kind.__module__ == "fractions" and kind.__qualname__ == "Fraction":
        return Rule(kind, READY, b"", (), _fraction)
    from enum import Enum, Flag  # here: it is a tenth of what `import fixedstep` takes

    if issubclass(kind, Enum):
        return _named_rule(kind, READY, (), _flag if issubclass(kind, Flag) else _member)
    fields = vars(kind).get("_fields")
    if kind.__bases__ == (tuple,) and "__dict__" not in vars(kind) and isinstance(fields, tuple):
        return _named_rule(kind, ITEMS, fields, None)
    if "__dataclass_fields__" in vars(kind) and not issubclass(kind, _CONTAINERS):
        from dataclasses import fields as fields_of

        data_class: Any = kind
        compared = [field.name for field in fields_of(data_class) if field.compare]
        return _named_rule(kind, FIELDS, tuple(compared), None)
    return None


def _named_rule(
    kind: type, code: int, names: tuple[str, ...], call: Callable[[Any], Any] | None
) -> Rule | None:
    name = kind.__qualname__
    if name in ("tuple", "deque"):  # it would be taken for Python's own
        return None
    return Rule(kind, code, text(name), names, call)


def _member(member: Enum) -> bytes:
    # by name: the values of auto() change when a member is put in between
    return named(text(type(member).__qualname__), 1) + text(member._name_)


def _flag(flag: Flag) -> bytes:
    # by value: the names of combined flags differ between versions of Python
    return named(text(type(flag).__qualname__), 1) + integer(int(flag._value_))


def _fraction(value: Any) -> bytes:
    return b"".join((head(6, 30), head(4, 2), integer(value.numerator), integer(value.denominator)))


# ---- arrays -----------------------------------------------------------------------------------

#: The tags of RFC 8746 for little-endian elements, by numpy's name of the element.
_TAGS = {"u1": 64, "u2": 69, "u4": 70, "u8": 71, "i1": 72, "i2": 77, "i4": 78, "i8": 79}
_TAGS |= {"f2": 84, "f4": 85, "f8": 86}
#: The typecodes of array.array that have the same size everywhere.
_CODES = {"b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "q": "i8", "Q": "u8"}
_CODES |= {"f": "f4", "d": "f8"}
_BIG_ENDIAN = array("H", [1]).tobytes()[0] == 0
_TRUTHS = b"\xf4" + b"\xf5" * 255


def _typed_head(element: str, count: int) -> bytes:
    return head(6, _TAGS[element]) + head(2, count * int(element[1]))


def _array(value: Any) -> tuple[bytes, int, Iterator[bytes]] | None:
    element = _CODES.get(value.typecode)
    if element is None or value.itemsize != int(element[1]):
        return None
    size = value.itemsize if element[0] == "f" else 0
    return _typed_head(element, len(value)), size, _array_blocks(value, len(value))


def _array_blocks(value: Any, count: int) -> Iterator[bytes]:
    step = BLOCK_BYTES // value.itemsize
    for start in range(0, count, step):
        block = value[start : min(start + step, count)]
        if _BIG_ENDIAN:
            block.byteswap()
        yield block.tobytes()
    if len(value) != count:
        raise changed([], value)


def _ndarray(value: Any) -> tuple[bytes, int, Iterator[bytes]] | None:
    kind, element = value.dtype.kind, value.dtype.kind + str(value.dtype.itemsize)
    if kind == "b":
        start = head(6, 41) + head(4, value.size)
    elif element in _TAGS and value.dtype.char != "g":  # long double: as wide as the platform's
        start = _typed_head(element, value.size)
    else:
        return None
    if value.ndim != 1:
        shape = b"".join(integer(length) for length in value.shape)
        start = head(6, 40) + head(4, 2) + head(4, value.ndim) + shape + start
    size = value.dtype.itemsize if kind == "f" else 0
    return start, size, _ndarray_blocks(value, element)


def _ndarray_blocks(value: Any, element: str) -> Iterator[bytes]:
    """The elements in C order, little-endian."""
    flat = value.reshape(-1) if value.flags.c_contiguous else value.flat
    step = BLOCK_BYTES // value.dtype.itemsize
    for start in range(0, value.size, step):
        block = flat[start : start + step]
        if element == "b1":
            yield block.tobytes().translate(_TRUTHS)
        else:
            yield block.astype(f"<{element}", copy=False).tobytes()


def _with_one_nan(block: bytes, size: int) -> bytes:
    """Little-endian floats of ``size`` bytes, every NaN among them the positive quiet one."""
    code, infinite, nan = {
        2: ("H", 0x7C00, 0x7E00),
        4: ("I", 0x7F80_0000, 0x7FC0_0000),
        8: ("Q", 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000),
    }[size]
    elements = Struct(f"<{len(block) // size}{code}")
    size_mask = (1 << size * 8 - 1) - 1
    return elements.pack(
        *(nan if bits & size_mask > infinite else bits for bits in elements.unpack(block))
    )


# ---- the walk ---------------------------------------------------------------------------------


def encode(value: object) -> bytes:
    """The encoding of a value."""
    out = bytearray()
    walk(value, out.extend)
    return bytes(out)


def walk(value: object, emit: Emit) -> None:
    """Pass the encoding of ``value`` to ``emit``, piece by piece."""
    _Walk().value(value, emit)


class _Walk:
    """One walk over a value: where it is, for errors, and the rules it has met."""

    __slots__ = ("held", "rules", "steps")

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.held: list[object] = []
        self.rules: dict[int, tuple[type, Rule | None]] = {}

    def value(self, value: Any, emit: Emit) -> None:
        kind = type(value)
        if value is None:
            emit(b"\xf6")
        elif kind is bool:  # before int
            emit(b"\xf5" if value else b"\xf4")
        elif kind is int:
            emit(integer(value))
        elif kind is float:
            emit(real(value))
        elif kind is str:
            emit(self.text(value))
        elif kind is bytes or kind is bytearray:
            emit(head(2, len(value)))
            emit(value)
        elif kind is list:
            self.sequence(value, emit)
        elif kind is tuple:
            emit(named(TUPLE, len(value)))
            self.items(value, value, emit)
        elif kind is dict:
            self.mapping(value, emit)
        elif kind is set or kind is frozenset:
            self.elements(value, emit)
        else:
            self.by_rule(value, emit)

    def by_rule(self, value: Any, emit: Emit) -> None:
        found = self.rule(type(value))
        if found is None:
            raise refused(self.steps, value)
        _, code, name, names, call = found
        if code == FIELDS:
            emit(named(name, len(names)))
            self.fields(value, names, emit)
        elif code == ITEMS:
            items = list(tuple.__iter__(value))  # its class may iterate in an order of its own
            emit(named(name, len(items)))
            self.items(value, items, emit, names)
        elif code == MAPPING:
            self.mapping(value, emit)
        elif code == DEQUE:
            items = list(value)
            emit(named(text("deque"), len(items) + 1))
            emit(b"\xf6" if value.maxlen is None else integer(value.maxlen))
            self.items(value, items, emit)
        else:
            assert call is not None
            if code == DIGEST:
                emit(named(name, 1))
                self.enter(value)
                self.part(("a", names[0]), call(value), emit)
                self.leave()
            elif code == SAME:
                self.value(call(value), emit)
            elif code == READY:
                emit(call(value))
            else:
                self.typed(value, call(value), emit)

    def rule(self, kind: type) -> Rule | None:
        if id(kind) not in self.rules:
            self.rules[id(kind)] = kind, rule(kind)
        return self.rules[id(kind)][1]

    def text(self, value: str) -> bytes:
        try:
            return text(value)
        except UnicodeEncodeError:
            raise surrogate(self.steps, value) from None

    def typed(
        self, value: object, parts: tuple[bytes, int, Iterator[bytes]] | None, emit: Emit
    ) -> None:
        if parts is None:
            raise refused(self.steps, value)
        start, size, blocks = parts
        emit(start)
        for block in blocks:
            emit(_with_one_nan(block, size) if size else block)

    # containers

    def enter(self, value: object) -> None:
        if len(self.steps) == DEEPEST:
            raise too_deep(self.steps, [*self.held, value])
        self.held.append(value)
        self.steps.append(("a", ""))

    def leave(self) -> None:
        self.held.pop()
        self.steps.pop()

    def part(self, step: Step, value: object, emit: Emit) -> None:
        self.steps[-1] = step
        self.value(value, emit)

    def sequence(self, value: list[Any], emit: Emit) -> None:
        self.enter(value)
        count = len(value)
        emit(head(4, count))
        for index in range(count):
            if index >= len(value):
                break
            self.part(("i", index), value[index], emit)
        self.leave()
        if len(value) != count:
            raise changed(self.steps, value)

    def items(
        self, value: object, items: Iterable[Any], emit: Emit, names: tuple[str, ...] = ()
    ) -> None:
        self.enter(value)
        for index, item in enumerate(items):
            step = ("a", names[index]) if index < len(names) else ("i", index)
            self.part(step, item, emit)
        self.leave()

    def fields(self, value: object, names: tuple[str, ...], emit: Emit) -> None:
        self.enter(value)
        for name in names:
            self.part(("a", name), getattr(value, name), emit)
        self.leave()

    def mapping(self, value: dict[Any, Any], emit: Emit) -> None:
        self.enter(value)
        pairs = self.sorted_by_encoding(list(dict.items(value)))
        emit(head(5, len(pairs)))
        for encoded, key, part in pairs:
            emit(encoded)
            self.part(("k", key), part, emit)
        self.leave()

    def elements(self, value: set[Any] | frozenset[Any], emit: Emit) -> None:
        self.enter(value)
        elements = self.sorted_by_encoding([(element, None) for element in value])
        emit(head(6, 258) + head(4, len(elements)))
        for encoded, _, _ in elements:
            emit(encoded)
        self.leave()

    def sorted_by_encoding(self, pairs: list[tuple[Any, Any]]) -> list[tuple[bytes, Any, Any]]:
        found = []
        for key, value in pairs:
            out = bytearray()
            self.part(("e", key), key, out.extend)
            found.append((bytes(out), key, value))
        found.sort(key=lambda entry: entry[0])
        for (one, _, _), (two, key, _) in pairwise(found):
            if one == two:
                self.steps[-1] = "e", key
                raise twice(self.steps, key)
        return found


# ---- errors -----------------------------------------------------------------------------------

_WAYS_OUT = {
    "memoryview": "pass bytes(value)",
    "complex": "pass [value.real, value.imag]",
    "range": "pass [value.start, value.stop, value.step]",
    "Decimal": "pass str(value) or Fraction(value)",
    "datetime": "pass value.isoformat() or a number of ticks",
    "date": "pass value.isoformat()",
    "time": "pass value.isoformat()",
    "timedelta": "pass a whole number of ticks",
    "datetime64": "pass value.astype('i8')",
    "timedelta64": "pass value.astype('i8')",
    "UUID": "pass value.bytes",
    "PosixPath": "pass value.as_posix()",
    "WindowsPath": "pass value.as_posix()",
    "PurePosixPath": "pass value.as_posix()",
    "PureWindowsPath": "pass value.as_posix()",
    "mappingproxy": "pass dict(value)",
}
_OF = ("builtins", "datetime", "decimal", "numpy", "pathlib", "uuid")
_CLASS_WAY_OUT = (
    "define __digest__(self) to return its state as plain values, make its class a dataclass, "
    "or leave it out with field(compare=False)"
)


def path(steps: Iterable[Step]) -> str:
    """The way to a part as a reader writes it: ``units[3].target``. At most 120 characters."""
    words = []
    for kind, part in steps:
        if kind == "i":
            words.append(f"[{part}]")
        elif kind == "a" or (kind == "k" and type(part) is str and part.isidentifier()):
            words.append(f".{part}")
        else:
            words.append(f"[{shown(part)}]" if kind == "k" else f"{{{shown(part)}}}")
    whole = "".join(words).removeprefix(".").replace("\n", " ")
    return whole if len(whole) <= 120 else f"{whole[:40]}...{whole[-77:]}"


def _at(steps: Iterable[Step], report: str) -> str:
    where = path(steps)
    return f"{where}: {report}" if where else report


def refused(steps: list[Step], value: Any) -> TypeError:
    """The error for a value that has no encoding."""
    kind = type(value)
    name = kind.__qualname__
    if kind is array:
        report = f"array of typecode {value.typecode!r} has no encoding, as its size depends on "
        return TypeError(_at(steps, report + "the platform; use 'q', 'Q' or 'd'"))
    if kind.__module__ == "numpy" and name == "ndarray":
        report = f"ndarray of dtype {shown(value.dtype.str)} has no encoding; pass bool, integer "
        return TypeError(_at(steps, report + "or float elements of at most 64 bits"))
    if name in ("tuple", "deque"):
        report = f"class {kind.__module__}.{name} has the name of Python's own {name}; rename it"
        return TypeError(_at(steps, report))
    way_out = _CLASS_WAY_OUT if kind.__flags__ & _HEAP_TYPE else "pass plain values instead"
    if kind.__module__.partition(".")[0] in _OF:
        way_out = _WAYS_OUT.get(name, way_out)
    return TypeError(_at(steps, f"{_name_of(value)} has no __digest__; {way_out}"))


#: Py_TPFLAGS_HEAPTYPE: the type was made by a class statement, or as one would.
_HEAP_TYPE = 1 << 9


def _name_of(value: object) -> str:
    name = type(value).__qualname__
    return name if len(name) <= 60 else name[:57] + "..."


def too_deep(steps: list[Step], held: list[object]) -> ValueError:
    """The error for containers nested too deep; ``held`` are all of them, from the outside in."""
    seen: set[int] = set()
    for depth, container in enumerate(held):
        if id(container) in seen:
            name = _name_of(container)
            return ValueError(
                _at(
                    steps[:depth],
                    f"a cycle, this {name} is a part of itself; leave out the way "
                    "back, with field(compare=False) or in __digest__",
                )
            )
        seen.add(id(container))
    return ValueError(_at(steps, f"nested more than {DEEPEST} deep; keep long chains in a list"))


def surrogate(steps: list[Step], value: str) -> ValueError:
    """The error for a str that UTF-8 cannot hold."""
    return ValueError(
        _at(
            steps,
            f"str {shown(value)} has a lone surrogate, which UTF-8 cannot hold; pass "
            "value.encode('utf-8', 'surrogatepass')",
        )
    )


def twice(steps: list[Step], key: object) -> ValueError:
    """The error for two keys of a dict or elements of a set that have one encoding."""
    name = _name_of(key)
    return ValueError(
        _at(
            steps,
            f"another key or element has the same encoding as this {name}; make equal what "
            "is the same, or let __digest__ or the fields tell them apart",
        )
    )


def changed(steps: list[Step], value: object) -> RuntimeError:
    """The error for a container that has another size than when its head was written."""
    name = _name_of(value)
    return RuntimeError(
        _at(
            steps,
            f"this {name} changed its size while it was digested; __digest__ must not "
            "change state, and other threads must wait",
        )
    )
