"""The survivors, and why each may live.

An explanation names a file, a function and the changes it speaks for, as the report shows them, or
``ALL`` for every change in a function that only hints or only saves time. One that no survivor
needs is an error in a whole run: it would excuse a mutant that comes back some day.
"""

from __future__ import annotations

from typing import NamedTuple

ALL = ("*",)


class Explanation(NamedTuple):
    """Why these changes of a function change nothing that a test could see."""

    file: str
    function: str
    changes: tuple[str, ...]
    reason: str


EXPLAINED: list[Explanation] = []
