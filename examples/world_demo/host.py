"""Between the world and whoever runs it: the session, the work in the background, and a script.

The host is the only one that acts on what ticks ask for. A request to think is started here, after
its tick has succeeded, and answered into the mailbox. Sounds, effects and the way out are the
caller's: `deliver` hands on what it does not know.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future

from fixedstep.sim.input_bridge import PRESS, RELEASE, ActionState

from fixedstep import Nanos, Rate, StepBudget, Timestamp
from fixedstep.sim.mailbox import Mailbox, Ticket
from fixedstep.sim.outbox import Outbox, Record
from fixedstep.sim.session import Mode, Session

from .level import TICKS_PER_SECOND, YARD, Level
from .world import ACTIONS, World, digests, is_current, run_tick, which_way

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
        self, level: Level = YARD, *, mode: Mode = Mode.PLAYING, workers: Executor | None = None
    ) -> None:
        self.outbox = Outbox(capacity=64, staged_capacity=64)
        self.mailbox = Mailbox(capacity=16)
        self.workers = Inline() if workers is None else workers
        self.session: Session[Level, World] = Session(
            World,
            run_tick,
            level,
            actions=ACTIONS,
            timestep=RATE,
            budget=StepBudget(4),
            max_delta=Nanos(SECOND // 4),
            timers=lambda world: world.timers,
            outbox=self.outbox,
            mailbox=self.mailbox,
            is_current=is_current,
            digests=digests,
            mode=mode,
        )

    def deliver(self) -> list[Record]:
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

    def _think(self, record: Record) -> None:
        question = record.data
        assert isinstance(question, tuple)
        ticket, guard_x, player_x = question
        assert isinstance(ticket, Ticket)
        self.mailbox.attach(ticket, self.workers.submit(which_way, guard_x, player_x))


REST = ActionState()


def scripted(tick: int, axis: int) -> list[tuple[str, ActionState]]:
    """The input of the headless run: a steady stick, and a tap on every thirtieth tick."""
    taps = [("attack", PRESS), ("attack", RELEASE)] if tick % 30 == 0 else [("attack", REST)]
    return [*taps, ("move", ActionState(axis=axis))]


def due_at(ticks: int) -> Timestamp:
    """The first nanosecond at which so many ticks are due: rounded up, or the last would not be."""
    return Timestamp(-(-ticks * SECOND // TICKS_PER_SECOND))


def play(host: Host, ticks: int, axis: int) -> list[Record]:
    """Run so many ticks of the script, one a frame; what was to be seen and heard."""
    session = host.session
    session.frame(Timestamp(0), dict.fromkeys(ACTIONS, REST))
    effects = []
    for tick in range(ticks):
        session.frame(due_at(tick + 1), scripted(tick, axis))
        effects += host.deliver()
    return effects
