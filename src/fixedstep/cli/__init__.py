"""The command line: one file a command, and here what all of them share at the outer edge.

Whatever goes wrong with an argument or a file is one line on the error output and exit code 2,
never a traceback: the person reading it may not be the one who wrote the program. Exit code 1 means
that a command worked and found a difference. Exit code 70 means a bug in fixedstep, reported
in one line; ``fixedstep --traceback COMMAND`` shows where. The code holds also where nobody reads
the output any more: a command puts what it found into ``arguments.code`` before it prints it. A
command imports what it needs when it runs, so that asking for help costs no more than importing the
library.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import fixedstep

from . import analyze, bench, demo, diff, info, replay, verify
from .layout import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COMMANDS = (info, demo, verify, replay, diff, analyze, bench)


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
    parser.add_argument(
        "--traceback", action="store_true", help="show where fixedstep itself failed (exit code 70)"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add(commands)
    return parser


def _parse(argv: Sequence[str] | None, arguments: argparse.Namespace) -> None:
    """Parse into ``arguments``, which keeps what was found where parsing ends in an exception."""
    parser = _parser()
    _, left = parser.parse_known_args(argv, arguments)
    # argparse takes files only up to the next option. Those behind it are left over, and so are
    # options that nobody knows: those stay an error.
    end = left.index("--") if "--" in left else len(left)
    unknown = any(word.startswith("-") and word != "-" for word in left[:end])
    if left and (unknown or not hasattr(arguments, "files")):
        parser.error(f"unrecognized arguments: {' '.join(left)}")
    if left:
        arguments.files += left[:end] + left[end + 1 :]


def _file_errors() -> tuple[type[Exception], ...]:
    """What a file that cannot be read raises, or a game that cannot replay it."""
    from ..captures import CaptureError
    from ..records import RecordingError, ReplayMismatch, TraceError

    return CaptureError, RecordingError, ReplayMismatch, TraceError, replay.GameError


@contextmanager
def _standard_streams() -> Iterator[None]:
    """Standard streams to be used without a look at each, whatever became of them.

    The interpreter has None for one that was closed, and ``print`` takes a file of None for the
    standard output, which is no place for errors. What nobody reads goes where the interpreter can
    flush it once more when it exits, as the documentation of SIGPIPE has it.
    """
    before = sys.stdout, sys.stderr
    with ExitStack() as files:
        if sys.stdout is None:
            sys.stdout = files.enter_context(open(os.devnull, "w", encoding="utf-8"))
        if sys.stderr is None:
            sys.stderr = files.enter_context(open(os.devnull, "w", encoding="utf-8"))
        for stream in (sys.stdout, sys.stderr):
            if reconfigure := getattr(stream, "reconfigure", None):
                reconfigure(errors="backslashreplace")  # names in captures come from any language
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except OSError:
                    nowhere = os.open(os.devnull, os.O_WRONLY)
                    os.dup2(nowhere, stream.fileno())
                    os.close(nowhere)
            sys.stdout, sys.stderr = before


def _unforeseen(error: Exception, *, traceback: bool) -> int:
    """Tell of a fault of fixedstep itself, which is no answer of the command: exit code 70."""
    from ..sim.tick import describe_error

    if traceback:
        import traceback as tracebacks

        with suppress(OSError):
            tracebacks.print_exception(error)
    _failed(
        f"failed in a way nobody foresaw ({describe_error(error)[:200]}); please report it, with "
        "what `fixedstep --traceback ...` prints"
    )
    return 70


def _failed(message: str) -> int:
    with suppress(OSError):  # nobody reads it; the code still tells
        print(f"fixedstep: {printable(message)}", file=sys.stderr)
    return 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; ``argv`` without the program's name, the process's own by default.

    Returns the exit code: 0, 1 for a divergence, 2 for bad usage or a bad file, 70 for an error
    that fixedstep did not foresee, out of memory included, and 130 for Ctrl-C, which a running
    ``demo`` takes for its end: it sums up and returns 0. A reader of the output who has seen enough
    changes no code. ``--help`` and ``--version`` print and raise SystemExit.
    """
    with _standard_streams():
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    arguments = argparse.Namespace(code=0)
    try:
        _parse(argv, arguments)
        arguments.code = arguments.run(arguments)
        sys.stdout.flush()
    except _UsageError as error:
        return _failed(str(error))
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        pass
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        return _failed(f"{where}{error.strerror or error}")
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, _file_errors()):
            return _failed(str(error))
        return _unforeseen(error, traceback=getattr(arguments, "traceback", False))
    code: int = arguments.code
    return code
