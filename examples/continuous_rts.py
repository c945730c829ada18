"""A strategy game without a game: one commander, one army, three game speeds and a pause.

    python examples/continuous_rts.py

It shows how a host drives a simulation in whole minutes from frames of any length. A `Session` with
``rate=Rate(1)`` and a ``tick_length`` of a minute runs a minute per second at 1x; its speeds are
the buttons of the game. The world runs minute by minute and knows nothing of frames; the picture is
drawn at presentation time, which is the minute and what is left over. The script below is played on
four imagined machines, whose frames are fixed lists (`fixedstep.testing.FrameProfile`), so nothing
here sleeps or reads a clock. They draw different numbers of frames, and `assert_fps_invariant`
shows that they play the same game, minute by minute.

The click comes half a minute into the game, between two minutes. It is posted with its time, and is
given to the first minute that is due then or later. Had it taken effect in the frame that polled
it, a player with a faster screen would have an earlier army.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fixedstep import Nanos, Rate, StateHash, Timestamp
from fixedstep.sim import Session, Tick, TickInput, progress
from fixedstep.testing import FrameProfile, assert_fps_invariant

if TYPE_CHECKING:
    from collections.abc import Iterator

MILLISECOND = 10**6
MINUTE = 60 * 10**9
SPEEDS = (0, 1, 5, 20)

MACHINES = tuple(
    FrameProfile([milliseconds * MILLISECOND for milliseconds in pattern])
    for pattern in ((16, 17), (33, 34), (40, 41), (6, 7, 7))
)
MARCH_MINUTES = 1_080
FIRST_NODE, SECOND_NODE = 2, 3


class Phase(NamedTuple):
    """A stretch of the script: a speed, for so much wall time."""

    speed: int
    milliseconds: int
    click_at_end: bool = False


SCRIPT = (
    Phase(1, 500, click_at_end=True),
    Phase(1, 500),
    Phase(5, 53_900),
    Phase(0, 1_000),
    Phase(20, 40_575),
)


class Order(NamedTuple):
    """The commander's wish: be on the way to ``destination`` from minute ``due`` on."""

    due: int
    destination: int


class Event(NamedTuple):
    """Something that happened, for the log."""

    minute: int
    kind: str
    text: str


class World:
    """All that is authoritative. It is given the minute and the orders, and reads nothing else."""

    def __init__(self) -> None:
        self.minute = 0
        self.location = FIRST_NODE
        self.destination = FIRST_NODE
        self.departed = 0
        self.arrives = 0
        self.obeyed: list[Order] = []
        self.events: list[Event] = []

    @property
    def marching(self) -> bool:
        """Whether the army is between two nodes."""
        return self.location != self.destination

    def step(self, input: TickInput, tick: Tick) -> None:
        """Live up to the end of a minute: obey the orders, and arrive if it is time to."""
        self.minute = tick.number + 1
        for message in tick.messages:
            assert isinstance(message, int)
            self.obeyed.append(Order(self.minute, message))
            self.destination = message
            self.departed, self.arrives = self.minute, self.minute + MARCH_MINUTES
            self._log("move_ordered", f"army 1 leaves node {self.location} for {message}")
        if self.marching and self.arrives == self.minute:
            self.location = self.destination
            self._log("army_arrived", f"army 1 is at node {self.location}")
            self._log("knowledge_updated", f"the commander sees node {self.location}")
            self._log("report_dispatched", f"a rider leaves node {self.location}")

    def _log(self, kind: str, text: str) -> None:
        self.events.append(Event(self.minute, kind, text))

    def digest(self) -> int:
        """Everything authoritative, in the order written here."""
        state = StateHash().absorb_u64(self.minute)
        for number in (self.location, self.destination, self.departed, self.arrives):
            state = state.absorb_u64(number)
        state = state.absorb_u64(len(self.obeyed))
        for order in self.obeyed:
            state = state.absorb_u64(order.due).absorb_u64(order.destination)
        state = state.absorb_u64(len(self.events))
        for event in self.events:
            for text in (event.kind.encode(), event.text.encode()):
                state = state.absorb_u64(len(text)).absorb_bytes(text)
            state = state.absorb_u64(event.minute)
        return state.finish()


class Host:
    """The game on one machine: the session, the count of frames, and what is told of them."""

    def __init__(self, machine: FrameProfile, *, talks: bool) -> None:
        self.machine = machine
        self.talks = talks
        self.game = Session(World, rate=Rate(1), tick_length=MINUTE, speeds=SPEEDS)
        self.frames = 0
        self.drawn = 0.0

    @property
    def world(self) -> World:
        """The world that the session runs."""
        return self.game.world

    def play(self) -> Iterator[dict[str, object]]:
        """Play the script; yields the state after every minute."""
        now = Timestamp(0)
        self.game.frame(now)
        for phase in SCRIPT:
            self.game.set_speed(phase.speed)
            duration = Nanos(phase.milliseconds * MILLISECOND)
            frames = self.machine.timestamps(duration, now)
            for now in frames:
                yield from self._frame(now)
            self._tell(self._frame_line())
            if phase.click_at_end:
                self._click(now)

    def _frame(self, now: Timestamp) -> Iterator[dict[str, object]]:
        heard = len(self.world.events)
        ran = self.game.frame(now).ran
        assert ran <= 1, "the states of minutes in between would not be compared"
        if ran:
            yield {"minute": self.world.minute, "world": f"0x{self.world.digest():016x}"}
        self.frames += 1
        self._draw()
        for event in self.world.events[heard:]:
            self._tell(f"EVENT: at={day(event.minute)} type={event.kind} {event.text}")

    def _draw(self) -> None:
        """What a renderer does with presentation time. Nothing of it goes back into the world."""
        before = self.drawn
        self.drawn = progress(
            self.game.presentation_time,
            self.world.departed * MINUTE,
            self.world.arrives * MINUTE,
        )
        if before < 1 and self.drawn == 1 and self.world.arrives:
            self._tell(self._frame_line())

    def _click(self, now: Timestamp) -> None:
        self.game.post(SECOND_NODE, at=now)
        due = -(-self.game.presentation_time // MINUTE)
        self._tell(
            f"INPUT: move to node {SECOND_NODE}, captured_at={self._visual()}, "
            f"quantized_due_at={day(due)}"
        )

    def checkpoint(self) -> int:
        """One number for all that a saved game holds: the world, and the loop with its speed."""
        return StateHash().absorb(self.game.state_dict()).absorb_u64(self.world.digest()).finish()

    def _visual(self) -> str:
        minute, rest = divmod(self.game.presentation_time, MINUTE)
        return f"{day(minute)} + {thousandths(rest * 1_000 // MINUTE)}m"

    def _frame_line(self) -> str:
        speed = "paused" if self.game.paused else f"{self.game.speed}x"
        if self.world.arrives:
            army = (
                f"progress={self.drawn:.1%} ({FIRST_NODE} -> {SECOND_NODE}, "
                f"authoritative_location={self.world.location})"
            )
        else:
            army = f"army waits at {self.world.location}"
        return (
            f"frame={self.frames:5} speed={speed:6} "
            f"wall={thousandths(self.game.wall // MILLISECOND):>7}s "
            f"visual_time={self._visual()} canonical_time={day(self.world.minute)} {army}"
        )

    def _tell(self, line: str) -> None:
        if self.talks:
            print(line)


def day(minute: int) -> str:
    """A minute as a date."""
    return f"Day {minute // 1_440}, {minute // 60 % 24:02}:{minute % 60:02}"


def thousandths(number: int) -> str:
    """A number of thousandths as a decimal."""
    return f"{number // 1_000}.{number % 1_000:03}"


def outcome(host: Host) -> dict[str, object]:
    """What must not depend on the machine."""
    world = host.world
    return {
        "time": day(world.minute),
        "events": len(world.events),
        "commands": len(world.obeyed),
        "boundaries": len({event.minute for event in world.events}),
        "state_hash": f"0x{world.digest():016x}",
        "checkpoint": f"0x{host.checkpoint():016x}",
    }


def main() -> None:
    """Play the script on every machine, and stop with an error if two of them disagree."""
    hosts: dict[str, Host] = {}

    def run(machine: FrameProfile) -> Iterator[dict[str, object]]:
        host = hosts[machine.name] = Host(machine, talks=not hosts)
        return host.play()

    print("One second of wall time is a simulated minute at 1x.")
    print(f"\n{MACHINES[0].name} a frame:")
    assert_fps_invariant(run, MACHINES)

    results = [outcome(host) for host in hosts.values()]
    if any(result != results[0] for result in results):
        raise AssertionError(f"equal minute by minute, and yet: {results}")
    frames = ", ".join(f"{name} frames={host.frames}" for name, host in hosts.items())
    result = ", ".join(f"{name}={value}" for name, value in results[0].items())
    print(f"\nFPS INVARIANT: {frames} -> {result}")


if __name__ == "__main__":
    main()
