"""Files of JSON lines, for traces and recordings: one writer and one reader with bounds.

The writer hands each line to the system as it is written, so a program that dies leaves whole lines
behind, and at most one that is cut. (Lines are not forced onto the disk, which takes longer than a
frame: a loss of power may take the last seconds.) The last line ends with a digest of all that is
before it, so that one changed bit anywhere is noticed.

The reader holds one line at a time. How long a line may be, how deep brackets may be nested and how
long an integer may be is bounded here, whatever the file says. It repairs nothing: damage is an
error with the file, the line and the fix, and only the last line of a file may be cut.
"""

from __future__ import annotations

import json
import os
import re
from codecs import BOM_UTF8
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Final, NoReturn

from .. import StateHash
from .._arguments import U64_MAX, shown
from ..time import Rate, Timestep

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO
    from typing import BinaryIO, TextIO

    from typing_extensions import Self

DEEPEST: Final = 64
"""Brackets within brackets. Python's decoder takes a piece of the stack for each."""
LONGEST_INTEGER: Final = 100
"""Digits of an integer. Those of 64 bits have 20, and the time for longer ones is quadratic."""
LONGEST_TAIL: Final = 64 << 20
"""Bytes behind the last line that a crash may leave: zeros, for the most part."""
RESTORE: Final = "restore the line from a copy, or end the file before it"

_BRACKET = re.compile(r'[][{}"\\]')
_LONG = re.compile(f"[0-9]{{{LONGEST_INTEGER + 1}}}")
_DIGEST = re.compile("0x[0-9a-f]{16}")
_END = re.compile(rb',"digest":"(0x[0-9a-f]{16})"}')


class Closing:
    """What is closed at the end of its ``with``."""

    def close(self) -> None:
        """Close it."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.close()


class LongInteger:
    """An integer of too many digits: it is shown, and is not a number for anybody."""

    def __init__(self, digits: str) -> None:
        self._digits = digits[: LONGEST_INTEGER + 1]

    def __repr__(self) -> str:
        return self._digits


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice in one object")
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _integer(digits: str) -> int | LongInteger:
    return int(digits) if len(digits) <= LONGEST_INTEGER else LongInteger(digits)


def depth(text: str) -> int:
    """How deep brackets are nested, those in strings left out.

    >>> depth('[{"a": "[[["}]')
    2
    """
    deepest = now = 0
    inside = False
    escaped_at = -1
    for mark in _BRACKET.finditer(text):
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


def loads(text: str) -> Any:
    """The value that a line of JSON holds.

    >>> loads('{"tick": 7}')
    {'tick': 7}
    >>> loads("[" * 65 + "]" * 65)
    Traceback (most recent call last):
        ...
    ValueError: it is nested deeper than 64 brackets

    Raises ValueError for text that is not JSON, is nested too deep, or has a key twice.
    """
    # Counting first is cheap; looking at each bracket takes longer than decoding.
    if text.count("[") + text.count("{") > DEEPEST and depth(text) > DEEPEST:
        raise ValueError(f"it is nested deeper than {DEEPEST} brackets")
    hooks: dict[str, Any] = {"parse_constant": _no_constant}
    if _LONG.search(text):  # a call for each integer otherwise, which doubles the time
        hooks["parse_int"] = _integer
    return json.loads(text, object_pairs_hook=_no_duplicates, **hooks)


def dumps(value: object) -> str:
    """The value as JSON in one line of ASCII."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def digest_text(digest: int) -> str:
    """A digest in a file: text, because other readers of JSON round large numbers.

    >>> digest_text(255)
    '0x00000000000000ff'
    """
    return f"0x{digest:016x}"


def timestep_fields(timestep: Timestep | Rate) -> dict[str, Any]:
    """A timestep or a rate in a header; `LineReader.timestep` reads it."""
    if isinstance(timestep, Rate):
        return {"rate": [timestep.numerator, timestep.denominator]}
    return {"timestep": timestep.nanos}


class LineWriter:
    """Writes a header, lines, and an end with a digest over all of it.

    ``file`` is an open text stream, which stays open, or the path of a new file. A file that exists
    is a FileExistsError, unless it ends within its header: nothing is lost with that one. With
    ``overwrite`` a trace or a recording is replaced too; any other file never is. Where the header
    cannot be written, or an exception comes before it is complete, no file is left behind.
    """

    __slots__ = ("_broken", "_digest", "_own", "_process", "_write", "lines")

    def __init__(
        self,
        file: str | os.PathLike[str] | TextIO,
        header: dict[str, Any],
        *,
        overwrite: bool = False,
    ) -> None:
        self._digest = StateHash()
        self._broken = ""
        self.lines: int = 0
        """Lines in the file."""
        self._own: FileIO | None = None
        self._process = os.getpid()
        if not isinstance(file, (str, os.PathLike)):
            self._write: Callable[[str], object] = _flushed(file)
            self.line(dumps(header))
            return
        self._own = own = _new_file(file, overwrite)
        self._write = self._write_own
        try:
            self.line(dumps(header))
        except BaseException:
            own.close()
            os.unlink(file)
            raise

    def _write_own(self, text: str) -> None:
        assert self._own is not None
        if os.getpid() != self._process:
            raise OSError("a forked process does not write to the file of its parent")
        left = memoryview(text.encode("ascii"))
        while left:
            written = self._own.write(left)
            if written is None:
                raise OSError("the file would block")
            left = left[written:]

    def line(self, text: str) -> None:
        """Write one line. After an exception the file takes no more, since a line may be cut."""
        if self._broken:
            raise RuntimeError(f"nothing can be written any more: {self._broken}")
        text += "\n"
        self._broken = "writing the line before failed"
        self._write(text)
        self._digest = self._digest.absorb_bytes(text.encode("ascii"))
        self.lines += 1
        self._broken = ""

    def end(self, fields: dict[str, Any]) -> None:
        """Write the last line, unless a line was cut, and close the file if it was opened here."""
        try:
            if self._broken:
                return
            text = dumps(fields)[:-1]
            digest = self._digest.absorb_bytes(text.encode("ascii")).finish()
            self.line(f'{text},"digest":"{digest_text(digest)}"}}')
        finally:
            self.close()

    def close(self) -> None:
        """Write nothing any more, not even the end."""
        self._broken = self._broken or "it has ended"
        if self._own is not None:
            self._own.close()


def _flushed(file: TextIO) -> Callable[[str], object]:
    def write(text: str) -> None:
        file.write(text)
        file.flush()

    return write


def _new_file(path: str | os.PathLike[str], overwrite: bool) -> FileIO:
    try:
        return open(path, "xb", buffering=0)
    except FileExistsError:
        pass
    file = open(path, "r+b", buffering=0)  # noqa: SIM115 - closed by its writer
    try:
        head = file.read(2**20)
        ours = b'{"format":"fixedstep-'
        in_header = b"\n" not in head and (head.startswith(ours) or ours.startswith(head))
        if in_header or (overwrite and head.startswith(ours)):
            file.seek(0)
            file.truncate()
            return file
    except BaseException:
        file.close()
        raise
    file.close()
    why = (
        "exists and is no trace or recording; choose another name"
        if overwrite
        else "exists; choose another name, or pass overwrite=True to replace a trace or recording"
    )
    raise FileExistsError(17, why, os.fspath(path))


class LineReader:
    """Reads the lines of one file, once: one at a path, which is opened here, or an open stream.

    ``name`` is what errors call it, and ``what`` is what it should be.
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | BinaryIO | TextIO,
        name: str | None,
        what: str,
        error: type[ValueError],
        longest: int,
    ) -> None:
        self._own = None
        if isinstance(file, (str, os.PathLike)):
            name = name or os.fspath(file)
            file = self._own = open(file, "rb")  # noqa: SIM115 - closed by close()
        self._file = file
        self._name = name or f"the {what}"
        self._what = what
        self._error = error
        self._longest = longest
        self._digest = StateHash()
        self._content = b""
        self.line: int = 0
        """The number of the line that was read last, from 1."""

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._own is not None:
            self._own.close()

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for the line that was read last."""
        raise self._error(f"{self._name}, line {self.line}: {what}")

    def next(self) -> tuple[Any, int]:
        """The value of the next line; or None, and how many bytes of a cut line are there.

        The last line may lack its end: what it holds is used if it is complete, since an array or
        an object shows where it ends.
        """
        if self.line:
            self._digest = self._digest.absorb_bytes(self._content + b"\n")
        self.line += 1
        raw = self._read()
        whole = raw.endswith(b"\n")
        tail = len(raw)
        ended = whole or len(raw) < self._longest
        while not ended and (more := self._read()):
            ended = more.endswith(b"\n")
            tail += len(more)
            if ended:
                self.refuse(
                    f"is longer than {self._longest} bytes, so this is no line of a {self._what}; "
                    f"{RESTORE}"
                )
            if tail > LONGEST_TAIL:
                self.refuse(
                    f"has no end within {LONGEST_TAIL >> 20} MiB, so this is no {self._what}, nor "
                    "what a crash leaves of one"
                )
        if self.line == 1:
            raw = raw.removeprefix(BOM_UTF8)
        if not raw:
            return None, 0
        self._content = raw.removesuffix(b"\n").removesuffix(b"\r")
        try:
            value = loads(self._content.decode("utf-8"))
        except ValueError as error:  # a UnicodeDecodeError is one too
            if not whole:
                return None, tail
            found = shown(self._content.decode("utf-8", "backslashreplace"))
            self.refuse(
                f"{found} is not JSON ({getattr(error, 'msg', error)}); "
                + (f"a {self._what} begins with its header" if self.line == 1 else RESTORE)
            )
        if not isinstance(value, (dict, list)):  # of a number, more digits may have been cut off
            if not whole:
                return None, tail
            self.refuse(f"{shown(value)} is no line of a {self._what}; {RESTORE}")
        return value, 0

    def _read(self) -> bytes:
        try:
            raw: bytes | str = self._file.readline(self._longest)
        except UnicodeDecodeError as error:
            self.refuse(f"is no text ({error.reason}), so this is no {self._what}")
        return raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw

    def header(self, form: str, version: int, hint: str) -> dict[str, Any]:
        """The first line, of this format and version."""
        header, _ = self.next()
        if header is None:
            self.refuse(
                f"the file is empty or ends within its header, so there is nothing in it; {hint}"
            )
        if not isinstance(header, dict) or header.get("format") != form:
            self.refuse(
                f"looked for a header with the format {form!r}, found {shown(header)}; {hint}"
            )
        found = header.get("version")
        if type(found) is not int or found != version:
            self.refuse(
                f"version must be {version}, not {shown(found)}; "
                "read it with the release that wrote it"
            )
        return header

    def fields(self, value: object, what: str, names: set[str], also: set[str]) -> dict[str, Any]:
        """An object with all of ``names``, maybe some of ``also``, and nothing else."""
        if (
            not isinstance(value, dict)
            or not names <= value.keys()
            or not all(name in also or name in names for name in value)
        ):
            some = ", ".join(sorted(also) if len(also) < 10 else map(shown, nsmallest(9, also)))
            maybe = f", and maybe {some}{', ...' * (len(also) > 9)}" if also else ""
            self.refuse(
                f"{what} has {', '.join(sorted(names))}{maybe}, not "
                f"{shown(list(value) if isinstance(value, dict) else value)}; {RESTORE}"
            )
        return value

    def number(
        self,
        value: object,
        name: str,
        unit: str = "a whole number",
        low: int = 0,
        high: int = U64_MAX,
    ) -> int:
        """A whole number in a range. JSON has some that are none: 1.0, 1e3, true."""
        if type(value) is not int or not low <= value <= high:
            self.refuse(f"{name} must be {unit} in {low} .. {high}, not {shown(value)}; {RESTORE}")
        return value

    def digest(self, value: object, name: str) -> int:
        """A digest from its text."""
        if not isinstance(value, str) or not _DIGEST.fullmatch(value):
            self.refuse(
                f"{name} must be a string of 0x and 16 lower-case hexadecimal digits, not "
                f"{shown(value)}; {RESTORE}"
            )
        return int(value, 16)

    def rate(self, value: object) -> Rate:
        """A rate from its list."""
        if not isinstance(value, list) or len(value) != 2:
            self.refuse(
                f"rate must be ticks and seconds, [60, 1] for 60 Hz, not {shown(value)}; {RESTORE}"
            )
        return Rate(
            self.number(value[0], "rate", "a whole number of ticks", 1),
            self.number(value[1], "rate", "a whole number of seconds", 1, U64_MAX // 10**9),
        )

    def timestep(self, header: dict[str, Any]) -> Timestep | Rate:
        """What `timestep_fields` wrote."""
        if "rate" in header:
            return self.rate(header["rate"])
        return Timestep(
            self.number(header["timestep"], "timestep", "a whole number of nanoseconds", 1)
        )

    def end(self) -> None:
        """Check that the line that was read last is a good end, and that nothing follows."""
        found = _END.search(self._content, len(self._content) - 31)
        if found is None or found.end() != len(self._content):
            self.refuse(f"must end with a digest over the whole {self._what}; {RESTORE}")
        digest = self._digest.absorb_bytes(self._content[: found.start()]).finish()
        if found[1].decode() != digest_text(digest):
            self.refuse(
                f"says {found[1].decode()} is the digest of the {self._what}, which is "
                f"{digest_text(digest)}: the file was changed; restore it from a copy"
            )
        self.line += 1
        if self._read():
            self.refuse(f"comes after the end of the {self._what}; remove it")
