"""The bytes of a capture as text: plain or gzip, from a file or standard input, UTF-8 or UTF-16.

Everything that reads a capture reads it through here, once and from front to back, and holds at
most one line or one piece of it, within the bounds of ``limits``. A file that grows while it is
read is read as far as it went when it was opened: else a writer that is faster than its reader
would never let it end. No file is repaired: bytes that are not UTF-8 are shown as escapes, since
program names come in any old code page, and nothing else is let through.
"""

from __future__ import annotations

import codecs
import csv
import errno
import gzip
import io
import os
import stat
import sys
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .collector import Refusals, quoted
from .limits import (
    HEAD,
    LONGEST_LINE,
    LONGEST_TAIL,
    MAX_INFLATE_RATIO,
    MAX_INFLATED_UNCHECKED,
    MAX_INPUT_WITHOUT_OUTPUT,
    MOST_BLANK_LINES,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from typing_extensions import Buffer

    #: Called with the bytes read so far, and how many there are if that is known.
    Progress = Callable[[int, int | None], object]

#: The path that means standard input.
STANDARD_INPUT = "-"

_GZIP = b"\x1f\x8b"
_PACKED = {b"PK\x03\x04": "zip", b"\xfd7zXZ": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class Line(NamedTuple):
    """One line of text, without its end."""

    number: int
    text: str
    whole: bool
    """Whether the line end is there: without it, the last value may be cut."""


class _Counted(io.RawIOBase):
    """A file that tells how much was read, also where it cannot tell its position, and that gives
    as much as is asked for, where a pipe gives what is there: a single byte maybe, and the marks
    that the formats are told by have up to three."""

    def __init__(
        self, file: BinaryIO, most: int | None = None, progress: Progress | None = None
    ) -> None:
        self._file = file
        self._most = most
        self._progress = progress
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        if self._most is not None:
            view = view[: self._most - self.count]
        count = 0
        while count < len(view):
            piece = self._file.read(len(view) - count)
            if piece is None:
                why = "is non-blocking and has nothing to read yet; write it to a file first"
                raise BlockingIOError(errno.EAGAIN, why, "standard input")
            if piece == b"":
                break
            view[count : count + len(piece)] = piece
            count += len(piece)
        self.count += count
        if self._progress is not None:
            self._progress(self.count, self._most)
        return count


class _Packed(_Counted):
    """The packed bytes of a gzip file, of which a piece takes only so many."""

    def __init__(self, file: BinaryIO, refuse: Refusals) -> None:
        super().__init__(file)
        self._refuse = refuse
        self.before = 0
        """What had been read when the last piece was asked for."""

    def readinto(self, buffer: Buffer) -> int:
        if self.count - self.before > MAX_INPUT_WITHOUT_OUTPUT:
            self._refuse(
                f"is a gzip file with {MAX_INPUT_WITHOUT_OUTPUT} bytes in a row that hold nothing, "
                "so it is no packed capture; unpack it with gzip and see what it is"
            )
        return super().readinto(buffer)


class _Inflated(io.RawIOBase):
    """What a gzip file holds, up to where it can only be a trap."""

    def __init__(self, file: BinaryIO, refuse: Refusals) -> None:
        self._packed = _Packed(file, refuse)
        self._gzip = gzip.GzipFile(fileobj=io.BufferedReader(self._packed), mode="rb")
        self._refuse = refuse
        self._inflated = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        self._packed.before = self._packed.count
        try:
            count = self._gzip.readinto(buffer)
        except EOFError:
            self._refuse("is a gzip file that ends early; copy it again, or unpack what there is")
        except (gzip.BadGzipFile, zlib.error) as error:
            self._refuse(f"is a damaged gzip file ({error}); copy it again")
        self._inflated += count
        if self._inflated > max(MAX_INFLATED_UNCHECKED, MAX_INFLATE_RATIO * self._packed.count):
            self._refuse(
                f"unpacks to more than {MAX_INFLATE_RATIO} times its size, as no capture does; "
                "unpack it with gzip and see what it is"
            )
        return count


class _FromUtf16(io.RawIOBase):
    """UTF-16 as UTF-8."""

    def __init__(self, file: io.BufferedIOBase, encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        while not self._left:
            piece = self._file.read(HEAD)
            self._left = self._decoder.decode(piece, not piece).encode("utf-8", "surrogatepass")
            if not piece:
                break
        count = min(len(view), len(self._left))
        view[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


class Source:
    """One capture, open for reading."""

    def __init__(
        self,
        name: str,
        file: BinaryIO,
        most: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """``most`` bytes of the file are read, or all there are."""
        self.name = name
        self.refuse: Refusals = Refusals(name)
        reader: io.BufferedReader[Any] = io.BufferedReader(_Counted(file, most, progress), HEAD)
        for begin, packer in _PACKED.items():
            if reader.peek(5).startswith(begin):
                self.refuse(f"is packed with {packer}, and only gzip is unpacked here; unpack it")
        if reader.peek(2)[:2] == _GZIP:
            reader = io.BufferedReader(_Inflated(reader, self.refuse), HEAD)
        mark = reader.peek(2)[:2]
        if mark in _UTF_16:
            reader.read(2)
            reader = io.BufferedReader(_FromUtf16(reader, _UTF_16[mark]), HEAD)
        if reader.peek(3)[:3] == codecs.BOM_UTF8:
            reader.read(3)
        # What was looked at is put back in front: standard input cannot be read twice.
        self._head = reader.read(HEAD)
        self._reader = io.BufferedReader(_Joined(self._head, reader), HEAD)
        self._number = self._blank = 0

    @property
    def head(self) -> str:
        """The beginning of the text, to tell the format by."""
        return self._head.decode("utf-8", "backslashreplace")

    @property
    def binary(self) -> BinaryIO:
        """The bytes, as UTF-8, for a reader that has its own idea of a line."""
        return self._reader

    def lines(self, looked_for: str, warnings: list[str]) -> Iterator[Line]:
        """The text by lines. ``looked_for`` ends the refusal of what has none."""
        while raw := self._reader.readline(LONGEST_LINE + 1):
            self._number += 1
            if b"\0" in raw:
                raw = self._without_zeros(raw, warnings)
            if len(raw) > LONGEST_LINE:
                start = quoted(raw[:60].decode("utf-8", "backslashreplace"))
                self.refuse(
                    f"is longer than {LONGEST_LINE} bytes and begins {start}, so this is no list "
                    f"of frames; looked for {looked_for}",
                    self._number,
                )
            yield self._line(raw)

    def _line(self, raw: bytes) -> Line:
        self._blank = self._blank + 1 if raw.isspace() else 0
        if self._blank > MOST_BLANK_LINES:
            self.refuse(
                f"is blank, like the {MOST_BLANK_LINES} before it, so this is no list of "
                "frames; export the capture again",
                self._number,
            )
        text = raw.decode("utf-8", "backslashreplace").rstrip("\r\n")
        return Line(self._number, text, raw.endswith(b"\n"))

    def _without_zeros(self, raw: bytes, warnings: list[str]) -> bytes:
        """The last line without the zero bytes that a crash leaves behind it."""
        number = self._number
        if number > 1 and raw.endswith(b"\0"):
            raw = raw.rstrip(b"\0")
            warnings.append(
                f"line {number}, the last, ends in zero bytes, as a crash leaves them; "
                "frames after it may be missing"
            )
            tail = 0
            while piece := self._reader.read(HEAD):
                tail += len(piece)
                if piece.strip(b"\0") or tail > LONGEST_TAIL:
                    self.refuse(
                        "holds zero bytes, and more than a crash leaves, so this is no "
                        "text; export the capture again",
                        number,
                    )
        if b"\0" in raw:
            self.refuse("holds a zero byte, so this is no text; export the capture again", number)
        return raw

    def block(self) -> tuple[int, bytes] | None:
        """Whole lines that are read already, at most `HEAD` bytes, with the number of the first;
        None where the next line has to be looked at by itself. `split` gives them by lines."""
        ready = self._reader.peek()
        end = ready.rfind(b"\n") + 1
        if not end or b"\0" in ready or ready.startswith((b"\n", b"\r")):
            return None
        first = self._number + 1
        self._number += ready.count(b"\n")
        return first, self._reader.read(end)

    def split(self, block: tuple[int, bytes]) -> Iterator[Line]:
        """The lines of a `block`."""
        self._number, raw = block[0] - 1, block[1]
        for line in raw.split(b"\n")[:-1]:
            self._number += 1
            yield self._line(line + b"\n")

    def fields(self, line: Line, separator: str) -> list[str]:
        """A line of CSV as its values. Each line is parsed alone: a quote that is never closed
        would otherwise take in the rest of the file."""
        if '"' not in line.text:  # the same, five times as fast
            return line.text.split(separator)
        if separator == "\n":  # one column; csv takes no newline from 3.13 on
            value = line.text.strip()
            return [value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value]
        try:
            return next(csv.reader((line.text,), delimiter=separator), [])
        except csv.Error as error:
            self.refuse(f"is no line of CSV ({error}); repair or remove it", line.number)


class _Joined(io.RawIOBase):
    """The bytes that were looked at, and then the rest."""

    def __init__(self, head: bytes, rest: io.BufferedReader[Any]) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        piece = self._head[: len(view)]
        self._head = self._head[len(piece) :]
        piece = piece or self._rest.read1(len(view))
        view[: len(piece)] = piece
        return len(piece)


@contextmanager
def opened(path: str | os.PathLike[str], progress: Progress | None = None) -> Iterator[Source]:
    """The capture at a path, or on standard input for ``-``. OSError where that was closed."""
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed; name a file", name)
        yield Source("standard input", sys.stdin.buffer)
        return
    with open(path, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        # Files that a system makes up, as in /proc, have no size and still something in them.
        most = status.st_size if stat.S_ISREG(status.st_mode) and status.st_size else None
        yield Source(name, file, most, progress)
