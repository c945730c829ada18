"""From decimal text to whole nanoseconds, exactly: the one way from a number in a file to a time.

Half to even: the same file gives the same integers on every machine, and a number that lies between
two nanoseconds is not decided by the binary number beside it. A float is used in one place, for
many numbers at once, and only where its error cannot change the result. What is no
decimal number in full is an error. Thousands separators are refused: "1.234" is two numbers then,
and which one was meant cannot be known.
"""

from __future__ import annotations

import json
import re
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import repeat
from operator import mul, sub
from typing import TYPE_CHECKING

from .._arguments import U64_MAX

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The units that text may be in, and how many decimal places lie between each and a nanosecond.
UNITS = {"s": 9, "ms": 6, "us": 3, "ns": 0}

_NAMES = {
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}
# One way to match each text: with "[0-9]+\.?[0-9]*", a long row of digits with a letter behind it
# takes quadratic time.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ZERO_IN_FRONT = re.compile(r"(?<![0-9.])0[0-9]")
_WIDE = Context(prec=80)
#: Digits as zeros: what is left of a number is its shape.
_SHAPED = bytes.maketrans(b"123456789", b"000000000")
_PLAIN_SHAPE = re.compile(rb"[ \t\r\n]*(0+)(?:\.(0+))?[ \t\r\n]*")
_RANGE = "is out of range: a frame takes at most 2**64 - 1 nanoseconds, which is 584 years"


def is_number(text: str) -> bool:
    """Whether the text is a decimal number in full.

    >>> is_number("16.7"), is_number("1e3"), is_number("fps"), is_number("nan")
    (True, True, False, False)
    """
    return _NUMBER.fullmatch(text) is not None


def is_json_number(text: str) -> bool:
    """Whether the text is a number as JSON writes it.

    >>> is_json_number("16.7"), is_json_number(".7"), is_json_number("016.7")
    (True, False, False)
    """
    return _JSON_NUMBER.fullmatch(text) is not None


def fraction(text: str) -> Fraction | None:
    """Decimal text as an exact fraction; None for what is no number, and for one that no capture
    holds: of 40 characters and more, or with an exponent of more than two digits, whose power of
    ten would take minutes to write out.

    >>> fraction("16.7"), fraction("1e-3"), fraction("1e999999999"), fraction("fps")
    (Fraction(167, 10), Fraction(1, 1000), None, None)
    """
    exponent = text.lower().partition("e")[2].lstrip("+-")
    if len(text) >= 40 or len(exponent) > 2 or not is_number(text):
        return None
    return Fraction(text)


def nanoseconds(text: str, unit: str = "ms") -> int:
    """Decimal text as whole nanoseconds, rounded half to even.

    >>> nanoseconds("16.811")
    16811000
    >>> nanoseconds("0.0000005"), nanoseconds("0.0000015"), nanoseconds("2", "us")
    (0, 2, 2000)

    ``unit`` is a key of `UNITS`. Raises ValueError for what is no decimal number, is negative, or
    exceeds 2**64 - 1 ns.
    """
    places = UNITS[unit]
    whole, _, part = text.partition(".")
    if len(part) <= places and len(whole) + places <= 19 and text.isascii() and whole.isdigit():
        # Nearly every number of a capture: nothing to round and no 20th digit, which could exceed
        # 64 bits, so no Decimal, which takes three times as long as the rest of a row.
        if part.isdigit():
            return int(whole + part.ljust(places, "0"))
        if not part:
            return int(whole + "0" * places)
    if not is_number(text):
        raise ValueError(f"is not a decimal number of {_NAMES[unit]}")
    # On text, since int() takes 4,300 digits at most, and PyPy's Decimal calls it
    number, _, exponent = text.lower().partition("e")
    whole, _, part = number.lstrip("+-").partition(".")
    digits = (whole + part).lstrip("0")
    shift = exponent.lstrip("+-").lstrip("0")
    if len(shift) > 18:  # in no capture, not even on a 0; int() would end at 4,300 digits
        raise ValueError(_RANGE)
    if not digits:
        return 0
    if text[0] == "-":
        raise ValueError("is negative, and no frame takes less than no time")
    power = int(shift or "0")
    # how many of the digits stand before the point, in nanoseconds
    size = len(digits) - len(part) + places + (-power if exponent[:1] == "-" else power)
    if size > 20:
        raise ValueError(_RANGE)
    if size < 0:
        return 0
    rounded = int(digits[:size].ljust(size, "0") or "0")
    rest = digits[size:].rstrip("0")
    if rest > "5" or (rest == "5" and rounded % 2):
        rounded += 1
    if rounded > U64_MAX:
        raise ValueError(_RANGE)
    return rounded


def sum_nanoseconds(texts: Sequence[str], unit: str) -> int:
    """Several decimal texts added up exactly, and then rounded as `nanoseconds` does.

    >>> sum_nanoseconds(["0.0000004", "0.0000004"], "ms")
    1
    """
    if len(texts) == 1 or max(map(len, texts)) > 40:
        return sum(nanoseconds(text, unit) for text in texts)
    for text in texts:
        nanoseconds(text, unit)
    total = Decimal(0)
    for text in texts:
        total = _WIDE.add(total, Decimal(text))
    return nanoseconds(str(total), unit)


def decimals(text: str) -> int:
    """How many digits stand behind the decimal point.

    >>> decimals("16.811"), decimals("17"), decimals("5e-05")
    (3, 0, 5)
    """
    number, _, exponent = text.lower().partition("e")
    shift = int(exponent) if len(exponent) < 5 and exponent.lstrip("+-").isdigit() else 0
    return max(len(number.partition(".")[2]) - shift, 0)


def last_digit(unit: str, part: int) -> int:
    """Nanoseconds in the last digit of a number with ``part`` decimals, at least 1.

    >>> last_digit("ms", 3), last_digit("s", 14)
    (1000, 1)
    """
    return int(10 ** max(UNITS[unit] - part, 0))


@lru_cache(maxsize=64)
def _uniform(places: int, part: int) -> re.Pattern[str]:
    """Numbers that all have ``part`` decimals, with commas between them, and not one that could
    exceed 64 bits."""
    number = rf" *[0-9]{{1,{18 - places}}}" + (rf"\.[0-9]{{{part}}}" if part else "")
    return re.compile(rf"{number}(?:,{number})*")


def _plain(texts: Sequence[str], joined: str) -> bool:
    """Whether all texts are digits, with at most one point between them."""
    if max(map(len, texts)) > 40 or not joined.isascii():
        return False
    shape = joined.encode().translate(None, b"0123456789")
    if not {b"", b"."}.issuperset(shape.split(b",")):
        return False
    framed = f",{joined},"
    return not any(wrong in framed for wrong in (",,", ",.", ".,"))


def many_nanoseconds(columns: Sequence[Sequence[str]], unit: str) -> tuple[list[int], int] | None:
    """Many decimal texts at once: the nanoseconds that `nanoseconds` gives for each, and how many
    decimals the longest has. Of several columns the sum of each row is taken, and then rounded.
    None where there is any text that has to be looked at by itself.

    >>> many_nanoseconds([["16.811", "0.500"]], "ms")
    ([16811000, 500000], 3)
    >>> many_nanoseconds([["16.811", "fast"]], "ms") is None
    True
    """
    places = UNITS[unit]
    part = len(columns[0][0].partition(".")[2])
    pattern = _uniform(places, part) if part <= 24 else None
    found: list[list[int]] = []
    for texts in columns:
        joined = ",".join(texts)
        if pattern is None or not pattern.fullmatch(joined):
            break
        found.append(list(map(int, joined.replace(".", "").split(","))))
    else:
        values = found[0] if len(found) == 1 else list(map(sum, zip(*found, strict=True)))
        if part <= places:
            scale = 10 ** (places - part)
            return (values if scale == 1 else [value * scale for value in values]), part
        scale = 10 ** (part - places)
        if not any(map(int.__mod__, values, repeat(scale))):
            return [value // scale for value in values], part
        return [round(Decimal(value).scaleb(places - part, _WIDE)) for value in values], part
    if len(columns) > 1 or not _plain(texts, joined):
        return None
    most = decimals(max(texts, key=len))
    if joined.count(".") == len(texts) and most <= places:
        # As digits alone, and as many zeros behind them as are missing.
        scales = [10 ** (places - part) for part in range(places + 1)]
        digits = map(int, joined.replace(".", "").split(","))
        try:
            parts = [scales[len(text) - text.find(".") - 1] for text in texts]
        except IndexError:
            return None
        values = list(map(mul, digits, parts))
        return (values, most) if max(values) <= U64_MAX else None
    scaled = map(_WIDE.multiply, map(Decimal, texts), repeat(Decimal((0, (1,), places))))
    rounded = list(map(round, scaled))
    return (rounded, most) if max(rounded) <= U64_MAX else None


class _Shapes(dict[bytes, int]):
    """How many decimals a shape has; ValueError for that of anything but a number of at most 19
    digits, with a point between two of them at most. A file has a few."""

    def __missing__(self, shape: bytes) -> int:
        match = _PLAIN_SHAPE.fullmatch(shape)
        whole, part = match.groups(b"") if match else (b"", b"")
        if not 0 < len(whole + part) < 20:
            raise ValueError("no plain number")
        if len(self) == 1024:  # of numbers with blanks around them
            self.clear()
        if len(shape) < 64:
            self[shape] = len(part)
        return len(part)


_DECIMALS = _Shapes()


def array_nanoseconds(text: str, unit: str) -> tuple[list[int], int] | None:
    """What `many_nanoseconds` gives, in less time, for the numbers of a JSON array with commas
    between them. None for more kinds of text, such as exponents, signs and what is no JSON.

    >>> array_nanoseconds("16.811, 0.5, 17", "ms")
    ([16811000, 500000, 17000000], 3)
    >>> array_nanoseconds("16.811, 1e1", "ms") is None
    True
    """
    places = UNITS[unit]
    shapes = text.encode().translate(_SHAPED).split(b",")
    try:
        parts = list(map(_DECIMALS.__getitem__, shapes))
    except ValueError:
        return None
    digits = text.replace(".", "")
    try:
        # Half the time of int(), but without its point 0.5 has a zero in front.
        numbers = json.loads(f"[{digits}]")
    except ValueError:
        if _ZERO_IN_FRONT.search(text):
            return None
        numbers = list(map(int, digits.split(",")))
    most = max(parts)
    if most <= places:
        scales = [10 ** (places - part) for part in range(most + 1)]
        values = list(map(mul, numbers, map(scales.__getitem__, parts)))
        return (values, most) if max(values) <= U64_MAX else None
    # More decimals than nanoseconds have, as from a binary float. As floats they are rounded three
    # times by 2**-53 at most, so what is farther than that from a tie is rounded as the text is.
    factors = [float(f"1e{places - part}") for part in range(most + 1)]
    floats = list(map(mul, numbers, map(factors.__getitem__, parts)))
    largest = max(floats)
    if largest > 2**48:
        return None
    values = list(map(round, floats))
    off = list(map(sub, floats, values))
    near = 0.5 - largest * 2**-51
    if max(off) >= near or min(off) <= -near:
        texts = text.split(",")
        for index, distance in enumerate(off):
            if abs(distance) >= near:
                values[index] = nanoseconds(texts[index].strip(), unit)
    return values, most
