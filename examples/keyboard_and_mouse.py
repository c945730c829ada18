"""Keyboard, mouse, window, session and recording: A and D move, the mouse aims and shoots."""

import sys
from typing import Any

import pygame

from fixedstep import Alpha, Rate
from fixedstep.host import PygameWindow
from fixedstep.records import Recorder
from fixedstep.sim import History, Session, Tick, TickInput


class World:
    """All of the game. Places are in thousandths of a pixel."""

    def __init__(self) -> None:
        self.x, self.aim, self.shots = History(320_000), 0, 0

    def step(self, input: TickInput, tick: Tick) -> None:
        """One tick, given what the player did since the last one."""
        self.x.capture()
        run = input["right"].held - input["left"].held
        self.x.set(min(max(self.x.current + 4_000 * run, 0), 640_000))
        self.aim += input["aim"].axis
        self.shots += input["fire"].pressed

    def digests(self) -> dict[str, Any]:
        """What a recording compares."""
        return {"x": self.x.current, "aim": self.aim % 2**64, "shots": self.shots}


session = Session(World, buttons=["left", "right", "fire"], relative=["aim"], rate=Rate(60))


def hotkey(event: Any) -> None:
    """See each event first, in every state of the game."""
    if event.type == pygame.KEYDOWN and event.key == pygame.K_p:
        session.toggle_pause()
    elif event.type == pygame.MOUSEMOTION:
        session.input.move("aim", event.rel[0])
    elif event.type in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP):
        session.input.button("fire", event.type == pygame.MOUSEBUTTONDOWN)


def draw(alpha: Alpha) -> None:
    """Draw between the last two ticks, with a line to where the mouse aims."""
    x = session.world.x.at(alpha) / 1_000
    surface.fill("red" if session.world.shots % 2 else "black")
    pygame.draw.line(surface, "white", (x, 350), (x + session.world.aim, 0))
    pygame.draw.circle(surface, "orange", (x, 350), 12)


pygame.init()
surface = pygame.display.set_mode((640, 360))
with Recorder(sys.argv[1] if len(sys.argv) > 1 else "game.jsonl", session):
    PygameWindow(session, draw, keys={pygame.K_a: "left", pygame.K_d: "right"}, hotkey=hotkey).run()
