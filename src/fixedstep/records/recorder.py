"""The recorder: writes the trace of a frame loop, or the recording of a session, while it runs.

A recorder never ends or changes the game that it records. What goes wrong while it writes (a full
disk, a digest that fails) ends the recording; the game goes on, `Recorder.error` has the exception,
and the logger ``fixedstep`` one warning.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TextIO

import fixedstep

from .. import reference
from .._arguments import positive, shown
from ..sim.digests import world_digests
from ..sim.session import Session
from ..sim.tick import describe_error
from .lines import Closing
from .recording import RecordingHeader, RecordingWriter
from .trace import TraceWriter

if TYPE_CHECKING:
    from .. import FrameLoop, FramePlan, Timestamp
    from ..sim.game_loop import Fault
    from ..sim.tick import RecordedTick

_LOG = logging.getLogger("fixedstep")


class Recorder(Closing):
    """Records a `Session`, or a `FrameLoop`, into a new file.

    A session is recorded from its next tick on; go on using it as before. `Recording` reads the
    file, and ``fixedstep replay`` runs it again. The world must have ``digests()``:

    >>> import io
    >>> from fixedstep import StateHash
    >>> class World:
    ...     x = 0
    ...     def step(self, input, tick):
    ...         self.x += 3
    ...     def digests(self):
    ...         return {"x": StateHash().absorb_u64(self.x)}
    >>> file, session = io.StringIO(), Session(World)
    >>> with Recorder(file, session, notes={"seed": 42}):
    ...     _ = session.run_ticks(10)
    >>> len(file.getvalue().splitlines())
    12

    A `FrameLoop` must be new, and its frames are planned with the recorder's ``begin_frame`` and
    ``resync``, not the loop's. `Trace` reads the file, and ``fixedstep verify`` plans it again:

    >>> from fixedstep import FrameLoop, Rate
    >>> with Recorder(io.StringIO(), FrameLoop(Rate(60))) as recorder:
    ...     for now in (0, 100_000_000):
    ...         plan = recorder.begin_frame(now)  # instead of the loop's own
    >>> plan.step_count
    5

    ``file`` is a path or an open text stream, which stays open. Each line is handed to the system
    as it is written, so a program that dies leaves a file that can be read up to there. A path must
    be new: a file that is there is a FileExistsError, unless it ends within its header.
    ``overwrite=True`` replaces a trace or a recording, and never another file.

    ``notes`` are what the game adds to the header of a recording, by name: its level, its seed.
    ``phases`` records digests after each phase too. ``digests_every`` is in ticks: digests by name
    are written every so many ticks, and in the others one digest of all of them, which makes long
    recordings smaller. A recording also ends when the world is replaced or a tick raises.

    Raises TypeError for another kind of game, a world without ``digests()`` or a note that a
    recording cannot hold; ValueError for a loop that has planned before; OSError where the file
    cannot be made. Nothing is recorded then.
    """

    __slots__ = ("_error", "_last", "_loop", "_observer", "_path", "_stats", "_trace")

    def __init__(
        self,
        file: str | os.PathLike[str] | TextIO,
        game: FrameLoop | Session[Any],
        *,
        notes: Mapping[str, Any] | None = None,
        phases: bool = False,
        digests_every: SupportsIndex = 1,
        overwrite: bool = False,
    ) -> None:
        self._path = os.fspath(file) if isinstance(file, (str, os.PathLike)) else None
        self._error: BaseException | None = None
        self._observer: _SessionObserver | None = None
        self._trace: TraceWriter | None = None
        self._loop: FrameLoop | None = None
        every = positive(digests_every, "digests_every", "a whole number of ticks", "60 is one")
        if isinstance(game, Session):
            if game._in_frame:
                raise game._not_now("Recorder")
            header = session_header(game, notes or {}, phases, every)
            self._observer = _SessionObserver(self, game, file, header, overwrite)
            game._observe(self._observer)
        elif isinstance(game, (fixedstep.FrameLoop, reference.FrameLoop)):
            if notes or phases or every != 1:
                raise TypeError(
                    "notes, phases and digests_every are for sessions; a trace holds timestamps "
                    "alone: leave them out"
                )
            if game.tick or game.remainder:
                raise ValueError(
                    f"the loop has planned {game.tick} steps and holds a remainder of "
                    f"{game.remainder}, and a trace begins with its loop; make the recorder before "
                    "the first frame"
                )
            self._loop = game
            self._last = game.last
            core = reference if isinstance(game, reference.FrameLoop) else fixedstep
            self._stats = core.FrameStats()
            self._trace = TraceWriter(
                file, game.timestep, game.budget, game.last, overwrite=overwrite
            )
        else:
            raise TypeError(
                f"game must be a Session or a FrameLoop, not {type(game).__name__} {shown(game)}; "
                "to record a step function, make it a world: Session(World)"
            )

    def begin_frame(self, now: Timestamp, /) -> FramePlan:
        """The loop's ``begin_frame(now)``, recorded.

        Raises what that raises, and nothing is recorded then; TypeError for a session, which is
        recorded by itself. If the loop was used without the recorder, the trace ends.
        """
        loop = self._frame_loop("begin_frame")
        plan = loop.begin_frame(now)
        last, writer = loop.last, self._trace
        if writer is not None and last is not None:
            try:
                self._stats.absorb(plan)
                writer.frame(last, self._stats.schedule_hash)
                self._last = last  # last of all: an interrupt before it is seen in the next frame
            except BaseException as error:
                self._broken(error)
        return plan

    def resync(self, now: Timestamp, /) -> None:
        """The loop's ``resync(now)``, recorded. Raises as ``begin_frame``."""
        loop = self._frame_loop("resync")
        loop.resync(now)
        last, writer = loop.last, self._trace
        if writer is not None and last is not None:
            try:
                writer.resync(last)
                self._last = last
            except BaseException as error:
                self._broken(error)

    def _frame_loop(self, name: str) -> FrameLoop:
        loop = self._loop
        if loop is None:
            raise TypeError(
                f"{name} is for a FrameLoop; a session is recorded by itself: call session.frame"
            )
        if loop.last != self._last and self._trace is not None:
            self._broken(
                ValueError(
                    f"the loop went on to {loop.last} ns without the recorder, whose last frame "
                    f"was at {self._last} ns; call begin_frame and resync of the recorder"
                )
            )
        return loop

    def _broken(self, error: BaseException) -> None:
        """The operation may not be in the file, so the trace cannot have an end."""
        writer, self._trace = self._trace, None
        if writer is not None:
            writer.close()
        self._failed(error)
        if not isinstance(error, Exception):
            raise error

    def _failed(self, error: BaseException) -> None:
        if self._error is not None:
            return
        self._error = error
        if isinstance(error, Exception):
            where = "" if self._path is None else f" {self._path}"
            _LOG.warning("the recording%s ended early: %s", where, describe_error(error)[:400])

    def close(self) -> None:
        """End the recording: write its end, and close the file if it was given as a path.

        Raises nothing: look at ``error`` for what went wrong. Harmless when it has ended.
        """
        if self._observer is not None:
            self._observer.close("closed")
        writer, self._trace = self._trace, None
        if writer is not None:
            try:
                writer.finish(self._stats)
            except Exception as error:
                self._failed(error)
            finally:
                writer.close()

    @property
    def recording(self) -> bool:
        """Whether frames or ticks are still written."""
        if self._observer is not None:
            return self._observer.writer is not None
        return self._trace is not None

    @property
    def error(self) -> BaseException | None:
        """What ended the recording early, such as the OSError of a full disk; else None."""
        return self._error

    @property
    def path(self) -> str | None:
        """Where it writes; None for a stream."""
        return self._path

    def __repr__(self) -> str:
        where = "a stream" if self._path is None else shown(self._path)
        return f"<Recorder into {where}: {'recording' if self.recording else 'ended'}>"


def session_header(
    session: Session[Any], notes: Mapping[str, Any], phases: bool, digests_every: int
) -> RecordingHeader:
    """The header of a recording that begins with the session's next tick."""
    if not isinstance(notes, Mapping):
        raise TypeError(f"notes must be a mapping, not {shown(notes)}; {{'seed': 42}} is one")
    if not callable(getattr(session.world, "digests", None)):
        raise TypeError(
            f"the world, a {type(session.world).__name__}, has no digests(), and without digests a "
            "recording shows no difference; return {'player': StateHash()...} from it"
        )
    session._reconcile()
    world_digests(session.world)
    return RecordingHeader(
        rate=session.rate,
        tick_length=session.tick_length,
        first_tick=session.tick,
        sim_time=session.sim_time,
        request_base=session.mailbox._request,
        buttons=session.input.buttons,
        axes=session.input.axes,
        relative=session.input.relative,
        phases=session.phases if phases else (),
        digests_every=digests_every,
        notes=dict(notes),
    )


class _SessionObserver:
    """Writes the ticks of a session. After an exception it writes no more, and says so once."""

    def __init__(
        self,
        recorder: Recorder,
        session: Session[Any],
        file: str | os.PathLike[str] | TextIO,
        header: RecordingHeader,
        overwrite: bool,
    ) -> None:
        self._recorder = recorder
        self._session = session
        self.writer: RecordingWriter | None = RecordingWriter(file, header, overwrite=overwrite)

    def _ended_by(self, error: BaseException) -> None:
        """End the recording with what is written so far. Ctrl-C goes on."""
        self._recorder._failed(error)
        self._finish(describe_error(error)[:400])
        if not isinstance(error, Exception):
            raise error

    def _finish(
        self, reason: str, fault: Fault | None = None, given: RecordedTick | None = None
    ) -> None:
        writer, self.writer = self.writer, None
        if self._session._observer is self:
            self._session._observer = None
        if writer is not None:
            try:
                writer.finish(reason, fault, given)
            except Exception as error:
                self._recorder._failed(error)
            finally:
                writer.close()

    def begin(self, world: Any, given: RecordedTick) -> None:
        """A tick is about to run."""
        if self.writer is not None:
            try:
                self.writer.begin(given)
            except BaseException as error:
                self._ended_by(error)

    def phase_ended(self, world: Any, phase: str) -> None:
        """A phase is over."""
        if self.writer is not None:
            try:
                self.writer._phase(world, phase)
            except BaseException as error:
                self._ended_by(error)

    def end(self, world: Any, given: RecordedTick) -> None:
        """The tick has run to its end."""
        if self.writer is not None:
            try:
                self.writer.end(world, given)
            except BaseException as error:
                self._ended_by(error)

    def fault(self, world: Any, given: RecordedTick | None, fault: Fault) -> None:
        """The tick raised."""
        self._finish("a tick raised", fault, given)

    def close(self, reason: str) -> None:
        """The recording is over."""
        self._finish(reason)
