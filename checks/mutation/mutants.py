"""One mutant: a stretch of a source file and what stands there instead.

Both generators and the hand-written list speak in this type, so that what is built, tested and
shown is the same for a token of C and for a node of Python. A mutant is known by its file, its
function and its line with the change marked in it, so that runs can be compared when lines moved.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """``text[start:end]`` of ``file`` becomes ``new``."""

    file: str
    function: str
    operator: str
    start: int
    end: int
    new: str
    shown: str
    line: int

    def apply(self, text: str) -> str:
        """The source with the change in it."""
        return text[: self.start] + self.new + text[self.end :]


def mutant(
    file: str, text: str, function: str, operator: str, start: int, end: int, new: str
) -> Mutant:
    """A mutant of ``text``, with the line it is shown by."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    marked = f"{text[first:start]}[{text[start:end]} => {new}]{text[end:last]}"
    line = text.count("\n", 0, start) + 1
    return Mutant(file, function, operator, start, end, new, " ".join(marked.split()), line)


def distinct(mutants: list[Mutant]) -> list[Mutant]:
    """Each change once, in the order of the file; what changes nothing is left out."""
    seen: dict[tuple[str, int, int, str], Mutant] = {}
    for one in mutants:
        seen.setdefault((one.file, one.start, one.end, one.new), one)
    return sorted(seen.values(), key=lambda one: (one.file, one.start, one.end))
