"""Between the world and whoever runs it: the session, the work in the background, and a script.

The host is the only one that acts on what ticks ask for. A request to think is started here, after
its tick has succeeded, and answered into the mailbox. Sounds, effects and the way out are the
caller's: `deliver` hands on what it does not know.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future

from fixedstep import Rate, Timestamp
from fixedstep.sim import Mailbox, Outbox, Request, Session, Ticket

from .level import TICKS_PER_SECOND, YARD, Level
from .world import AXES, BUTTONS, World, which_way

RATE = Rate(TICKS_PER_SECOND)
SECOND = 10**9
NOTES = {"cadence": 4, "cooldown": 30}


class Inline(Executor):
    """Does the work at once, on this thread: what a run does that must be repeatable."""

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        """The result of ``fn``, as a future that is done."""
        future: Future[object] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Host:
    """A session of the demo, and the work that its ticks ask for."""

    def __init__(
        self, level: Level = YARD, *, paused: bool = False, workers: Executor | None = None
    ) -> None:
        self.outbox = Outbox(capacity=64, tick_capacity=64)
        self.mailbox = Mailbox(capacity=16)
        self.workers = Inline() if workers is None else workers
        self.session = Session(
            World,
            level,
            buttons=BUTTONS,
            axes=AXES,
            rate=RATE,
            outbox=self.outbox,
            mailbox=self.mailbox,
            paused=paused,
        )

    def deliver(self) -> list[Request]:
        """Act on what ticks asked for, and return what is for the eye and the ear.

        In every frame, also in one that is not drawn.
        """
        effects = []
        for record in self.outbox.deliver():
            if record.kind == "think":
                self._think(record)
            else:
                effects.append(record)
        return effects

    def _think(self, record: Request) -> None:
        question = record.data
        assert isinstance(question, tuple)
        ticket, guard_x, player_x = question
        assert isinstance(ticket, Ticket)
        self.mailbox.attach(ticket, self.workers.submit(which_way, guard_x, player_x))


def due_at(ticks: int) -> Timestamp:
    """The first nanosecond at which so many ticks are due: rounded up, or the last would not be."""
    return Timestamp(-(-ticks * SECOND // TICKS_PER_SECOND))


def play(host: Host, ticks: int, axis: int) -> list[Request]:
    """Run a script of so many ticks, one a frame, and return what was to be seen and heard: a
    steady stick, and a tap on every thirtieth tick."""
    session, controls = host.session, host.session.input
    session.frame(Timestamp(0))
    effects = []
    for tick in range(ticks):
        controls.axis("move", axis / 1_000)
        if tick % 30 == 0:
            controls.press("attack")
            controls.release("attack")
        session.frame(due_at(tick + 1))
        effects += host.deliver()
    return effects
