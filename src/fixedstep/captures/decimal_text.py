"""From decimal text to whole nanoseconds, exactly: the one way from a number in a file to a time.

Half to even, and never through a float: the same file gives the same integers on every machine, and
a number that lies between two nanoseconds is not decided by the binary number beside it. What is no
decimal number in full is an error. Thousands separators are refused: "1.234" is two numbers
then, and which one was meant cannot be known.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation

from .._arguments import U64_MAX

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
_EXACT = Context(prec=30, rounding=ROUND_HALF_EVEN, traps=[InvalidOperation])
_RANGE = "is out of range: a frame takes at most 2**64 - 1 nanoseconds, which is 584 years"


def is_number(text: str) -> bool:
    """Whether the text is a decimal number in full.

    >>> is_number("16.7"), is_number("1e3"), is_number("fps"), is_number("nan")
    (True, True, False, False)
    """
    return _NUMBER.fullmatch(text) is not None


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
    try:
        value = Decimal(text, _EXACT)
        nanosecond = Decimal((0, (1,), -places))
        rounded = int(value.quantize(nanosecond, context=_EXACT).scaleb(places, context=_EXACT))
    except InvalidOperation:  # an exponent so large that not even its digits could be written out
        raise ValueError(_RANGE) from None
    if value < 0:
        raise ValueError("is negative, and no frame takes less than no time")
    if rounded > U64_MAX:
        raise ValueError(_RANGE)
    return rounded
