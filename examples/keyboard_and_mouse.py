"""Keyboard, mouse, a window, a session and a recording: move with A and D, aim, click to shoot.

    python examples/keyboard_and_mouse.py        then: fixedstep diff first.jsonl second.jsonl
"""

import sys

import pygame

from fixedstep import Rate, StateHash
from fixedstep.host import PygameWindow
from fixedstep.records import Recorder
from fixedstep.sim import History, Session

SIZE = WIDTH, HEIGHT = 640, 360


class World:
    def __init__(self):
        self.x, self.aim, self.shots = History(WIDTH * 500), 0, []

    def step(self, input, tick):
        self.x.capture()
        run = input["right"].held - input["left"].held
        self.x.set(min(max(self.x.current + 4_000 * run, 0), WIDTH * 1_000))
        self.aim += input["aim"].axis  # the counts that the mouse moved since the last tick
        self.shots = [(x, y - 6) for x, y in self.shots if y > 0]
        self.shots += [(self.x.current // 1_000 + self.aim, HEIGHT)] * input["fire"].pressed

    def digests(self):
        return {"world": StateHash().absorb([self.x.current, self.aim, self.shots])}


session = Session(World, buttons=["left", "right", "fire"], relative=["aim"], rate=Rate(60))


def hotkey(event):  # sees events first, in every state of the game
    if event.type == pygame.KEYDOWN and event.key == pygame.K_p:
        session.toggle_pause()
    elif event.type == pygame.MOUSEMOTION:
        session.input.move("aim", event.rel[0])
    elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
        session.input.press("fire")
    elif event.type == pygame.MOUSEBUTTONUP and event.button == 1:
        session.input.release("fire")


def draw(alpha):
    surface, world = pygame.display.get_surface(), session.world
    surface.fill("black")
    pygame.draw.circle(surface, "orange", (world.x.at(alpha) / 1_000 + world.aim, HEIGHT), 12)
    for shot in world.shots:
        pygame.draw.circle(surface, "white", shot, 3)


pygame.init()
pygame.display.set_mode(SIZE)
with Recorder(sys.argv[1] if len(sys.argv) > 1 else "first.jsonl", session):
    PygameWindow(session, draw, keys={pygame.K_a: "left", pygame.K_d: "right"}, hotkey=hotkey).run()
