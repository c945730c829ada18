"""A trace from a running game, in two lines: what a player can send when the game stuttered.

The file is a trace as `fixedstep.records.trace` describes it, so ``fixedstep replay`` plans it
again and ``fixedstep analyze`` says what another schedule would have done. Lines are held back and
written in blocks of whole lines: a system call for each frame would cost more than its plan.
What a process that is killed loses is less than one block, and never half a line; one that ends in
any other way, an exception that nobody caught included, loses nothing.

A recorder never ends the game it records. A full disk or the bound on the file's size ends the
recording, and the loop goes on; no clock is read and no thread is started.
"""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, cast

import fixedstep

from ..time import Timestamp
from .trace import TraceWriter

if TYPE_CHECKING:
    from types import TracebackType
    from typing import BinaryIO, TextIO

#: Lines in a block: one second of frames. Bigger ones lose more; of smaller ones the calls show.
BLOCK_LINES = 64
#: 64 MiB: more than nine hours at 60 frames a second.
MOST_BYTES = 64 << 20

#: What the footer and a block's digest may take, kept free below the bound.
_RESERVE = 256


class _Lines:
    """An unbuffered file with lines held back. Apart from `Recorder`, so that what is held back can
    be written when the recorder is gone."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._held: list[str] = []
        self._process = os.getpid()
        self.size = 0
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        self._held.append(text)
        self.size += len(text)  # all of it is ASCII
        return len(text)

    def flush(self) -> None:
        """Nothing: `TraceWriter` flushes each line, which is what is avoided here."""

    @property
    def held(self) -> int:
        return len(self._held)

    def put(self) -> None:
        left = memoryview("".join(self._held).encode("ascii"))
        self._held.clear()
        if os.getpid() != self._process:  # a fork has what is held as well, and it is not its own
            return
        try:
            while left and self.error is None:
                left = left[self._file.write(left) :]
        except OSError as error:
            self.error = error

    def close(self) -> None:
        self.put()
        self._file.close()


class Recorder:
    """Records the frames of a loop into a new file.

    >>> import pathlib, tempfile
    >>> from fixedstep import FrameLoop
    >>> from fixedstep.captures import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run.trace")
    ...     recorder = Recorder(path, FrameLoop(start=0))
    ...     for now in (16_000_000, 100_000_000):
    ...         plan = recorder.begin_frame(Timestamp(now))  # instead of the loop's own
    ...     recorder.close()
    ...     list(read(path).groups[0].deltas)
    [16000000, 84000000]

    The loop must be new, and is called through the recorder from then on. ``most_bytes`` bounds the
    file: where it is reached, the recording ends whole and `recording` is False, and frames are
    planned as before. Raises FileExistsError for a file that is there, since it may be the
    recording of the last crash; OSError where it cannot be made; ValueError for a loop that has
    planned before or has no start, because a trace begins with its loop, or a bound too small for
    any frame.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        loop: fixedstep.FrameLoop,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        if loop.last is None:
            raise ValueError(
                "the loop has no start, and a trace begins with one; pass "
                "FrameLoop(timestep, budget, start)"
            )
        if loop.tick or loop.remainder:
            raise ValueError(
                f"the loop has planned {loop.tick} steps and holds a remainder of "
                f"{loop.remainder}; a trace begins with its loop: make the recorder before the "
                "first frame"
            )
        if most_bytes < 4 * _RESERVE:
            raise ValueError(
                f"most_bytes must be at least {4 * _RESERVE} bytes, not {most_bytes}; an hour "
                "at 60 frames a second takes 6 million"
            )
        self._loop = loop
        self._stats = fixedstep.FrameStats()
        self._last: Timestamp = loop.last
        self._most = most_bytes
        self._lines = _Lines(open(path, "xb", buffering=0))  # noqa: SIM115 - closed by close()
        self._finish = weakref.finalize(self, self._lines.close)
        self._writer = TraceWriter(
            cast("TextIO", self._lines), loop.timestep, loop.budget, loop.last
        )
        self._lines.put()

    @property
    def recording(self) -> bool:
        """Whether frames are still written."""
        return self._finish.alive

    @property
    def error(self) -> OSError | None:
        """What ended the recording before its time, such as a full disk."""
        return self._lines.error

    def begin_frame(self, now: Timestamp) -> fixedstep.FramePlan:
        """The loop's ``begin_frame(now)``, recorded. Raises what it raises, and nothing is recorded
        then; ValueError if the loop was used without the recorder."""
        self._check()
        plan = self._loop.begin_frame(now)
        self._last = cast("Timestamp", self._loop.last)
        if self._finish.alive:
            self._stats.absorb(plan)
            ends = self._lines.held + 1 >= BLOCK_LINES
            # A digest at the end of each block is what lets a replay name where it differs.
            self._writer.frame(self._last, self._stats.schedule_hash if ends else None)
            self._after(ends)
        return plan

    def resync(self, now: Timestamp) -> None:
        """The loop's ``resync(now)``, recorded."""
        self._check()
        self._loop.resync(now)
        self._last = cast("Timestamp", self._loop.last)
        if self._finish.alive:
            self._writer.resync(self._last)
            self._after(self._lines.held >= BLOCK_LINES)

    def _check(self) -> None:
        if self._loop.last != self._last and self._finish.alive:
            raise ValueError(
                f"the loop went on to {self._loop.last} ns without the recorder, whose last "
                f"frame was at {self._last} ns; call begin_frame and resync of the recorder"
            )

    def _after(self, ends: bool) -> None:
        if self._lines.size > self._most - _RESERVE:
            self._end()
        elif ends:
            self._lines.put()
        if self._lines.error is not None:
            self._finish()

    def _end(self) -> None:
        self._writer.finish(self._stats)
        self._finish()

    def close(self) -> None:
        """End the recording: the footer and the file. Harmless when it has ended.

        Raises the OSError that ended it before its time, once all else is done.
        """
        if self._finish.alive:
            self._end()
        if self._lines.error is not None:
            raise self._lines.error

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except OSError:
            if error is None:  # else that one is what has to be seen
                raise
