"""Ctrl-C at any instruction of a frame, a tick or a single tick leaves a game whose sums agree.

`sys.settrace` raises KeyboardInterrupt at one bytecode after the other. Afterwards the game goes
on, and no nanosecond and no tick may be lost or counted twice. A tick that the interrupt ends may
have run already: the game is faulted then.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import Step, Timestamp
from fixedstep.sim import GameLoop, Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

MS = 10**6
FILES = ("game_loop.py", "session.py", "tick.py")


class World:
    """Counts the ticks that ran to their end, or nearly."""

    def __init__(self) -> None:
        self.ran = 0

    def step(self, input: Any, tick: Any) -> None:
        self.ran += 1


class Plain(GameLoop):
    """A game loop that counts as the world does."""

    def __init__(self) -> None:
        self.world = World()
        super().__init__(self.one)

    def one(self, step: Step) -> None:
        self.world.ran += 1


def session() -> Any:
    return Session(World, buttons=["jump"])


class Forgetful(Plain):
    """The planted fault: an interrupted frame is never settled."""

    def _reconcile(self) -> None:
        pass


def interrupted_at(boundary: int, make: Callable[[], Any]) -> list[str] | None:
    """What does not agree after an interrupt at this bytecode; None if there are not so many."""
    game = make()
    game.frame(Timestamp(0))
    game.frame(Timestamp(20 * MS))
    game.pause(at=60 * MS)
    game.resume(at=70 * MS)
    seen = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal seen
        if not frame.f_code.co_filename.endswith(FILES):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen += 1
            if seen == boundary:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        game.frame(Timestamp(40 * MS))
        game.frame(Timestamp(90 * MS))
        game.run_ticks(1)
        game.frame(Timestamp(100 * MS))
    except KeyboardInterrupt:
        pass
    else:
        return None
    finally:
        sys.settrace(None)
    faulted = game.state == "faulted"
    if faulted:
        game.restore(game.state_dict())
    counted_from = game.tick if faulted else 0
    ahead = game.world.ran - game.tick  # the interrupted tick may have run to its end
    wrong = [] if ahead in ((0, 1) if faulted else (0,)) else [f"the world is {ahead} ahead"]
    for ms in (200, 260, 300, 350):
        game.frame(Timestamp(ms * MS))
    if game.world.ran - game.tick != ahead:
        wrong.append("ticks were lost or doubled later")
    if not game.wall == game.accepted + game.clamped + game.excluded == 350 * MS:
        wrong.append(f"wall time is {game.wall}")
    if game.stats.ticks != game.tick - counted_from:
        wrong.append(f"the statistics have {game.stats.ticks} ticks of {game.tick}")
    return wrong


def sweep(make: Callable[[], Any], stride: int) -> tuple[int, dict[int, list[str]]]:
    """How many boundaries were tried, and what was wrong at which."""
    boundary, tried, wrong = 1, 0, {}
    while (found := interrupted_at(boundary, make)) is not None:
        tried += 1
        if found:
            wrong[boundary] = found
        boundary += stride
    return tried, wrong


@pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer is at work already")
@pytest.mark.parametrize("make", [Plain, session])
def test_an_interrupt_anywhere_leaves_sums_that_agree(make: Callable[[], Any]) -> None:
    tried, wrong = sweep(make, 1)
    assert tried > 1_000
    assert wrong == {}


def test_a_game_that_is_never_settled_is_found() -> None:
    """The control."""
    _, wrong = sweep(Forgetful, 7)
    assert wrong
