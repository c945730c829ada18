"""Ctrl-C at a chosen bytecode, for the tests that try all of them."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class Boundary:
    """What became of one try."""

    def __init__(self) -> None:
        self.seen = 0
        """Bytecodes that ran in the files that are looked at."""
        self.hit = False
        """Whether the interrupt came."""


@contextmanager
def interrupt(stop: int, *files: str) -> Iterator[Boundary]:
    """Raise KeyboardInterrupt before the bytecode of number ``stop``, counted from 1, of functions
    in these files, or folders. It ends with the block."""
    boundary = Boundary()

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if not any(file in frame.f_code.co_filename for file in files):
            return None
        frame.f_trace_opcodes = True
        return count

    def count(frame: FrameType, event: str, argument: object) -> Any:
        # Python 3.13 leaves opcodes out where this is not said again: a fifth of all
        frame.f_trace_opcodes = True
        if event == "opcode":
            boundary.seen += 1
            if boundary.seen == stop:
                boundary.hit = True
                raise KeyboardInterrupt
        return count

    before = sys.gettrace()
    # Python 3.12 sends no opcodes at all unless a frame has asked for them before the trace begins
    sys._getframe().f_trace_opcodes = True
    sys.settrace(trace)
    try:
        yield boundary
    except KeyboardInterrupt:
        if not boundary.hit:
            raise
    finally:
        sys.settrace(before)
