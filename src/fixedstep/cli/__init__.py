"""The command line: one file a command, and here what all of them share at the outer edge.

Whatever goes wrong with an argument or a file is one line on the error output and exit code 2,
never a traceback: the person reading it may not be the one who wrote the program. Exit code 1 means
that a command worked and found a difference. A command imports what it needs when it runs, so that
asking for help costs no more than importing the library.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import fixedstep

from . import analyze, bench, demo, diff, info, replay
from .layout import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = (info, demo, replay, diff, analyze, bench)


class _UsageError(Exception):
    """A command line that cannot be carried out."""


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line and leave the exit to ``main``."""

    def error(self, message: str) -> NoReturn:
        raise _UsageError(f"{message}; `{self.prog} --help` explains")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="fixedstep",
        allow_abbrev=False,
        description="Fixed simulation steps from timestamps, in integers, equal on every machine.",
    )
    parser.add_argument("--version", action="version", version=f"fixedstep {fixedstep.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add(commands)
    return parser


def _file_errors() -> tuple[type[Exception], ...]:
    """What a file that cannot be read raises."""
    from ..captures import CaptureError
    from ..captures.trace import TraceError
    from ..sim.recording import ReplayError

    return CaptureError, ReplayError, TraceError


def _failed(message: str) -> int:
    print(f"fixedstep: {printable(message)}", file=sys.stderr)
    return 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; ``argv`` without the program's name, the process's own by default.

    Returns the exit code: 0, 1 for a divergence, 2 for bad usage or a bad file, 130 for Ctrl-C.
    ``--help`` and ``--version`` print and raise SystemExit.
    """
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")  # names in captures come from any language
    try:
        arguments = _parser().parse_args(argv)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except _UsageError as error:
        return _failed(str(error))
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        # As the documentation of SIGPIPE has it: the interpreter flushes once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        return _failed(f"{where}{error.strerror or error}")
    except ValueError as error:
        if not isinstance(error, _file_errors()):
            raise
        return _failed(str(error))
    except KeyboardInterrupt:
        return 130
    return code
