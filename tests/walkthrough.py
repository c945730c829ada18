"""A page of the documentation, worked through as its reader would: files are saved, edits made and
commands run, and what they print is compared with what the page says.

Shared by the tests of the tutorial and of the how-to pages and by checks/newcomer, each of which
loads it by its path. The first line of a block says what is done with it:

``python``          is a program, and is run
``python FILE``     is saved under that name
``diff FILE``       edits that file: the lines it keeps and takes out must be there, once
``sh``              is run as printed, with exit code 0
``sh exit N``       with another exit code
``text``            is exactly what the last of those printed
``text varies``     is what they printed, but for the numbers

Nothing is skipped: a block of another kind, an edit that does not fit, an output that nothing
printed, each is an error with the line of the page.
"""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?")


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    detail: str
    """What its first line says after the language."""
    text: str
    line: int
    """Where in the page."""


class Output(NamedTuple):
    """What a block of the page printed, and what the page says it prints."""

    block: Block
    printed: str
    said: str
    exactly: bool

    @property
    def agrees(self) -> bool:
        """Whether they are equal, or equal but for the numbers where the page promises no more."""
        if self.exactly:
            return self.printed == self.said
        return shape(self.printed) == shape(self.said)


def shape(text: str) -> str:
    """A text without its numbers, and without how often a line comes in a row: a machine that is
    busy drops steps in more frames than one."""
    lines = (_NUMBER.sub("#", line) for line in text.splitlines())
    return "\n".join(line for line, _ in groupby(lines))


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = iter(enumerate(page.splitlines(), 1))
    for number, line in lines:
        if line.startswith("```"):
            inside = []
            for _, more in lines:
                if more == "```":
                    break
                inside.append(more)
            else:
                raise ValueError(f"line {number}: the block never ends")
            language, _, detail = line[3:].strip().partition(" ")
            yield Block(language, detail, "\n".join(inside) + "\n", number)


def edited(text: str, diff: str) -> str:
    """A file after an edit. Hunks are separated by lines that begin with ``@@``."""
    for hunk in re.split(r"(?m)^@@.*\n", diff):
        # an empty line is one that is kept: editors cut off the space that it would begin with
        lines = [line if line != "\n" else " \n" for line in hunk.splitlines(keepends=True)]
        if wrong := [line for line in lines if line[0] not in "-+ "]:
            raise ValueError(f"an edit keeps ' ', takes out '-' or puts in '+', not {wrong[0]!r}")
        old = "".join(line[1:] for line in lines if line[0] != "+")
        new = "".join(line[1:] for line in lines if line[0] != "-")
        if old == new or text.count(old) != 1:
            raise ValueError(
                f"{text.count(old)} places fit this edit, or it changes nothing:\n{hunk}"
            )
        text = text.replace(old, new)
    return text


class Ran(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


def run(command: list[str], folder: Path, environment: Mapping[str, str]) -> Ran:
    """Run a command to its end."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


class Reader:
    """Works through pages in a folder.

    ``shell`` runs an ``sh`` block: the test of the tutorial closes windows in it.
    """

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        shell: Callable[[list[str], Path, Mapping[str, str]], Ran] = run,
    ) -> None:
        self.folder = folder
        self.environment = environment
        self.outputs: list[Output] = []
        self.commands: list[str] = []
        self._shell = shell
        self._last: tuple[Block, str] | None = None

    def read(self, page: str) -> None:
        """Do what the page says, from its beginning to its end."""
        for block in blocks(page):
            self.follow(block)

    def follow(self, block: Block) -> None:
        """Do what one block says."""
        match (block.language, *block.detail.split()):
            case ("python" | "diff", name):
                self._save(block, name)
            case ("python",):
                program = [sys.executable, "-c", block.text]
                self._done(block, run(program, self.folder, self.environment))
            case ("sh",) | ("sh", "exit", _):
                self.commands += block.text.splitlines()
                command = ["bash", "-euc", block.text]
                self._done(block, self._shell(command, self.folder, self.environment))
            case ("text",) | ("text", "varies"):
                self._compare(block)
            case _:
                self._refuse(block, f"no such block: {block.language!r} {block.detail!r}")

    def _save(self, block: Block, name: str) -> None:
        file = self.folder / name
        text = block.text
        if block.language == "diff":
            try:
                text = edited(file.read_text(encoding="utf-8"), text)
            except (OSError, ValueError) as error:
                self._refuse(block, f"{name}: {error}")
        file.write_text(text, encoding="utf-8")

    def _done(self, block: Block, ran: Ran) -> None:
        expected = int(block.detail.partition(" ")[2] or 0)
        if ran.code != expected:
            self._refuse(block, f"exit code {ran.code} and not {expected}\n{ran.out}{ran.err}")
        if ran.err and block.language == "python":
            self._refuse(block, f"printed to the error output:\n{ran.err}")
        self._last = block, ran.out

    def _compare(self, block: Block) -> None:
        if self._last is None:
            self._refuse(block, "nothing was run that could have printed this")
        source, printed = self._last
        self._last = None
        output = Output(source, printed, block.text, block.detail != "varies")
        self.outputs.append(output)
        if not output.agrees:
            self._refuse(block, f"the page says\n{output.said}\nand this was printed\n{printed}")

    @staticmethod
    def _refuse(block: Block, why: str) -> NoReturn:
        raise AssertionError(f"line {block.line}: {why}")
