"""Checks for exact numbers that need not be whole: a rate, a speed, a point between two times.

Integers and Fractions are taken. Floats are refused: 0.1 is not exactly a tenth, and the difference
is a different game after an hour. Decimals and strings are refused too; pass a Fraction.
"""

from __future__ import annotations

from fractions import Fraction
from typing import SupportsIndex, TypeAlias

from .._arguments import U64_MAX, integer, shown

Exact: TypeAlias = SupportsIndex | Fraction

_KIND = "a whole number or a Fraction"


def exact(value: object, name: str, fix: str) -> Fraction:
    """The value as a Fraction in ``0 .. 2**64 - 1``, or the exception that says what to pass.

    Its denominator is at most 2**64 - 1 too: a finer one would fit no unit of 64 bits.

    >>> exact(Fraction(1, 2), "speed", "Fraction(1, 2) is half speed")
    Fraction(1, 2)

    Raises TypeError for anything but a Fraction or what has ``__index__``, and OverflowError out of
    range.
    """
    if not isinstance(value, Fraction):
        return Fraction(integer(value, name, _KIND, fix))
    if not 0 <= value <= U64_MAX or value.denominator > U64_MAX:
        raise OverflowError(
            f"{name} must be {_KIND} in 0 .. {U64_MAX}, with a denominator up to {U64_MAX}, not "
            f"{shown(value)}; {fix}"
        )
    return value


def int_if_whole(number: Fraction) -> int | Fraction:
    """A whole number as an ``int``, which prints and formats as people expect (``5``, not ``5/1``).

    >>> int_if_whole(Fraction(5)), int_if_whole(Fraction(1, 2))
    (5, Fraction(1, 2))
    """
    return number.numerator if number.denominator == 1 else number
