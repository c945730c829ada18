"""One line of JSON out of a file that anybody may have written, at a cost that its length bounds.

The standard library's decoder takes a line as it comes: nesting as deep as the stack, and integers
of any length, whose digits take quadratic time where Python does not limit them. Both are bounded
here, once for traces and recordings. A key that an object has twice is refused, as the last would
win without a word.

It refuses to know what a line means: which numbers are in range is its reader's to say.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

#: Brackets inside brackets, at most: the 64 that a recorded value may have, and those around it.
DEEPEST = 80
#: Digits of an integer, at most. One of 64 bits has 20.
LONGEST_INTEGER = 100

_MARK = re.compile(r'[][{}"\\]')
_LONG = re.compile(f"[0-9]{{{LONGEST_INTEGER + 1}}}")


class LongInteger:
    """An integer of more than ``LONGEST_INTEGER`` digits: shown, not computed, and never taken."""

    def __init__(self, digits: str) -> None:
        self._digits = digits[: LONGEST_INTEGER + 1]

    def __repr__(self) -> str:
        return self._digits


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice in one object")
    return found


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"{text[:60]} is no integer")


def _integer(digits: str) -> int | LongInteger:
    return int(digits) if len(digits) <= LONGEST_INTEGER else LongInteger(digits)


_INTEGERS = {"parse_float": _no_float, "parse_constant": _no_float}


def depth(text: str) -> int:
    """How deep brackets stand inside brackets, those in strings left out.

    >>> depth('[{"a": "[[["}]')
    2
    """
    deepest = now = 0
    inside = False
    escaped_at = -1
    for mark in _MARK.finditer(text):
        character, at = mark.group(), mark.start()
        if inside:
            if character == "\\" and escaped_at != at:
                escaped_at = at + 1
            elif character == '"' and escaped_at != at:
                inside = False
        elif character == '"':
            inside = True
        elif character in "[{":
            now += 1
            deepest = max(deepest, now)
        elif character in "]}":
            now -= 1
    return deepest


def loads(text: str, *, floats: bool) -> Any:
    """The value that a line of JSON holds.

    >>> loads('{"tick": 7}', floats=False)
    {'tick': 7}
    >>> loads("[" * 81 + "]" * 81, floats=False)
    Traceback (most recent call last):
        ...
    ValueError: it is nested deeper than 80 brackets

    ``floats`` says whether numbers with a point or an exponent are read as floats or are an error.
    Raises ValueError for text that is not JSON, is nested too deep, or has a key twice.
    """
    # Counted first: to look at each bracket takes longer than to decode.
    if text.count("[") + text.count("{") > DEEPEST and depth(text) > DEEPEST:
        raise ValueError(f"it is nested deeper than {DEEPEST} brackets")
    hooks: dict[str, Any] = {} if floats else dict(_INTEGERS)
    if _LONG.search(text):  # a call for each integer otherwise, which doubles the time
        hooks["parse_int"] = _integer
    return json.loads(text, object_pairs_hook=_no_duplicates, **hooks)
