"""JSON read piece by piece, so that a trace of any size takes the memory of one event.

`Cursor` stands at a place in a text and moves forward: over the members of an object, over the
elements of an array, past a value that nobody asked for. What is asked for is decoded by the
standard library's decoder, with numbers kept as the text they are: a float would round a time
before anybody could object. Loading the whole document instead takes twenty times the file's size.

It refuses what could only be a trap: values above a size, and nesting beyond what a capture has.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from .collector import quoted
from .limits import DEEPEST, LARGEST_VALUE

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from .source import Source

_PIECE = 1 << 16

_SPACE = re.compile(r"[ \t\r\n]*")
#: What changes the depth, or hides such a character.
_MARK = re.compile(r'["{}\[\]]')
#: Strings as wholes, and what changes the depth outside of them.
_NESTING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\]]', re.DOTALL)
#: So many brackets are decoded without counting their depth. The decoder's recursion ends the
#: interpreter of a browser at some 5,000.
_UNCOUNTED = 2_000
_NUMBER_TAIL = re.compile(r"[0-9eE.+-]*")
_STRING_MARK = re.compile(r'["\\]')
#: What begins a value that is no number, or is in its name: null, true, false, NaN, Infinity.
_NO_NUMBER = ('"', "{", "[", "n", "r", "s", "N")
_TOO_LARGE = object()


class Number(str):
    """A number, as its text."""

    __slots__ = ()


class Object(dict[str, Any]):
    """An object."""

    twice = ""
    """A key that is there more than once; empty if there is none."""


def _object(pairs: list[tuple[str, Any]]) -> Object:
    found = Object(pairs)
    if len(found) < len(pairs):
        once: set[str] = set()
        for key, _ in pairs:
            if key in once:
                found.twice = key
                break
            once.add(key)
    return found


class Cursor:
    """A place in a JSON text, which moves forward only."""

    def __init__(self, source: Source) -> None:
        self._refuse = source.refuse
        self._file = source.binary
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._text = ""
        self._at = 0
        self._ended = False
        self._passed = 0
        self._brackets = 0
        self._decoder = json.JSONDecoder(
            parse_float=Number,
            parse_int=Number,
            parse_constant=Number,
            object_pairs_hook=_object,
        )

    def _more(self) -> bool:
        """Read on; False at the end."""
        if self._ended:
            return False
        held = len(self._text) - self._at
        # Doubles while one value is not whole, and ends at what a value may have.
        size = max(_PIECE, min(held, LARGEST_VALUE - held))
        piece = self._file.read(size)
        self._ended = not piece
        self._passed += self._at
        self._text = self._text[self._at :] + self._decode(piece, not piece)
        self._at = 0
        if "\0" in self._text:
            self._refuse("holds a zero byte, so this is no text; export the capture again")
        self._brackets = -1
        return True

    def damaged(self, looked_for: str) -> NoReturn:
        """Refuse the text for what stands here."""
        found = self._text[self._at : self._at + 60]
        what = f"found {quoted(found)}" if found else "the text ends"
        self._refuse(
            f"is no whole JSON: looked for {looked_for} at character {self._passed + self._at}, "
            f"{what}; export the capture again"
        )

    def next(self) -> str:
        """The character that begins what comes next, blanks passed over; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _take(self, character: str) -> None:
        if self.next() != character:
            self.damaged(repr(character))
        self._at += 1

    def value(self) -> Any:
        """The value that stands here, whole; numbers are `Number`."""
        value = self._value()
        if value is _TOO_LARGE:
            self._too_large()
        return value

    def _too_large(self) -> NoReturn:
        self.damaged(f"a value of at most {LARGEST_VALUE} characters")

    def fields(self, names: Container[str]) -> Any:
        """As `value`, but an object has only what stands under these names if it is so large that
        nobody would want it whole, such as an event with a picture in it."""
        value = self._value()
        if value is not _TOO_LARGE:
            return value
        if self.next() != "{":
            self._too_large()
        found = Object()
        for key in self.members():
            if key not in names:
                self.skip()
                continue
            if key in found:
                found.twice = key
            found[key] = self.value()
        return found

    def _value(self) -> Any:
        """The value that stands here, and then the place behind it; or else `_TOO_LARGE`, and the
        place as it was."""
        self.next()
        while True:
            if self._brackets < 0:
                self._brackets = self._text.count("[") + self._text.count("{")
            if self._brackets > _UNCOUNTED:
                self._bound_depth()
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except RecursionError:
                self._too_deep()
            except ValueError:
                if len(self._text) - self._at > LARGEST_VALUE:
                    return _TOO_LARGE
                if not self._more():
                    self.damaged("a value")
                continue
            # A number may go on in the next piece: "16." and "1e" begin longer ones, and are read
            # as 16 and 1.
            if not self._ended and _NUMBER_TAIL.fullmatch(self._text, end):
                if len(self._text) - self._at > LARGEST_VALUE:
                    return _TOO_LARGE
                self._more()
                continue
            self._at = end
            return value

    def _bound_depth(self) -> None:
        """Refuse what stands here before the decoder recurses into it, if it is nested too deep."""
        depth = 0
        for match in _NESTING.finditer(self._text, self._at):
            mark = match.group()
            if mark in "{[":
                depth += 1
                if depth > DEEPEST:
                    self._too_deep()
            elif mark in "}]":
                depth -= 1
            if depth <= 0:
                return

    def _too_deep(self) -> NoReturn:
        self._refuse("is nested deeper than any capture; this is no capture")

    def elements(self) -> Iterator[None]:
        """Stand at each element of the array here. Each must be taken or skipped."""
        self._take("[")
        if self.next() == "]":
            self._at += 1
            return
        while True:
            yield
            if self.next() == "]":
                self._at += 1
                return
            self._take(",")

    def numbers(self) -> Iterator[str | tuple[Any]]:
        """The elements of the array here: as far as it was read and holds numbers alone, their
        text with the commas between them; and each other element by itself, as `value` gives it."""
        self._take("[")
        if self.next() == "]":
            self._at += 1
            return
        while True:
            self.next()
            end = self._text.find("]", self._at)
            ended = end >= 0
            if not ended:
                end = self._text.rfind(",", self._at)
            piece = self._text[self._at : max(end, self._at)]
            if piece and not any(mark in piece for mark in _NO_NUMBER):
                self._at = end + 1
                yield piece
                if ended:
                    return
                continue
            yield (self.value(),)
            if self.next() == "]":
                self._at += 1
                return
            self._take(",")

    def members(self) -> Iterator[str]:
        """Each key of the object here, standing at its value, which must be taken or skipped."""
        self._take("{")
        if self.next() == "}":
            self._at += 1
            return
        while True:
            if self.next() != '"':
                self.damaged("a key")
            key = self.value()
            self._take(":")
            yield key
            if self.next() == "}":
                self._at += 1
                return
            self._take(",")

    def _skip_string(self) -> None:
        """Stand behind the string whose beginning was passed; it may be of any length."""
        while True:
            match = _STRING_MARK.search(self._text, self._at)
            if match is None:
                self._at = len(self._text)
            elif match.group() == '"':
                self._at = match.end()
                return
            elif match.end() < len(self._text):
                self._at = match.end() + 1
                continue
            else:  # a backslash, and what it marks is not there yet
                self._at = match.start()
            if not self._more():
                self.damaged("the end of a string")

    def _skip_numbers(self) -> bool:
        """Pass over an array without strings and brackets, many times as fast as over others; False
        where it has some, at the bracket of the array or of a rest of it."""
        at = self._at + 1
        while True:
            end = self._text.find("]", at)
            stop = end if end >= 0 else len(self._text)
            if any(self._text.find(mark, at, stop) >= 0 for mark in '"[{}'):
                # What was passed is forgotten; the bracket stands for the array's beginning.
                self._text = "[" + self._text[at:]
                self._passed += at - 1
                self._at = 0
                return False
            self._at = at = stop
            if end >= 0:
                self._at += 1
                return True
            if not self._more():
                self.damaged("the end of a value")
            at = self._at

    def skip(self) -> None:
        """Pass over the value that stands here, however large; of its inside only brackets and
        strings are looked at."""
        first = self.next()
        if first not in '{["':
            self.value()
            return
        if first == '"':
            self._at += 1
            self._skip_string()
            return
        if first == "[" and self._skip_numbers():
            return
        depth = 0
        while True:
            match = _MARK.search(self._text, self._at)
            if match is None:
                self._at = len(self._text)
                if not self._more():
                    self.damaged("the end of a value")
                continue
            self._at = match.end()
            mark = match.group()
            if mark == '"':
                self._skip_string()
            elif mark in "{[":
                depth += 1
                if depth > DEEPEST:
                    self._too_deep()
            else:
                depth -= 1
                if not depth:
                    return

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self.next():
            self.damaged("the end")
