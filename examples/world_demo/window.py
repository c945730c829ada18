"""The demo in a window, through pygame-ce: the only file that knows of it.

    arrows or A and D   move          P   pause and resume
    space               attack        N   one tick, while paused
    escape              leave         R   restart

The interface takes its keys before the game sees any, and pausing, losing the focus or hiding the
window lets go of everything that is held. The picture is drawn in every frame, also while paused;
after a fault it is the last good one, under the words that say what happened.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import pygame
from fixedstep.sim.input_bridge import ActionState

from fixedstep import Rate
from fixedstep.host.pacer import FramePacer
from fixedstep.sim.session import SHOW_CURRENT, Mode

from . import picture
from .host import Host
from .level import UNIT, Level

if TYPE_CHECKING:
    from fixedstep import Timestamp
    from fixedstep.sim.outbox import Record
    from fixedstep.sim.session import FrameReport

WIDTH, HEIGHT, SCALE = 960, 540, 42
FRAMES_PER_SECOND = 120
EFFECT_FRAMES = 24

_COLOURS = {
    "floor": (70, 74, 82),
    "exit": (96, 165, 110),
    "coin": (229, 192, 82),
    "guard": (205, 92, 80),
    "player": (92, 150, 220),
}
_EFFECTS = {
    "swing": (190, 215, 245),
    "hit": (255, 120, 100),
    "death": (255, 160, 90),
    "spawn": (255, 230, 140),
    "coin": (255, 230, 140),
    "exit": (140, 230, 160),
    "fall": (220, 220, 220),
}
_BACKGROUND, _TEXT, _ALARM = (24, 27, 33), (214, 218, 226), (240, 128, 112)


class Effect(NamedTuple):
    """A ring that grows where something happened. It lives in frames, and no rule knows of it."""

    kind: str
    x: float
    y: float
    born: int


class Controls:
    """Held keys and their edges, as the game's actions. Sampled once a frame, after the events."""

    def __init__(self) -> None:
        self.left = self.right = False
        self.attack = False
        self.pressed = self.released = 0

    def key(self, key: int, down: bool) -> None:
        """A key of the game went down or up."""
        if key in (pygame.K_LEFT, pygame.K_a):
            self.left = down
        elif key in (pygame.K_RIGHT, pygame.K_d):
            self.right = down
        elif key == pygame.K_SPACE:
            self.attack = down
            self.pressed += down
            self.released += not down

    def release_all(self) -> None:
        """The focus went, and no key will be reported as released."""
        self.left = self.right = self.attack = False
        self.pressed = self.released = 0

    def sample(self) -> dict[str, ActionState]:
        """What this frame brings: every action, also one at rest."""
        attack = ActionState(self.attack, 0, self.pressed, self.released)
        self.pressed = self.released = 0
        return {
            "attack": attack,
            "move": ActionState(axis=1_000 * (self.right - self.left)),
        }


class Window:
    """The window, the session behind it, and what was drawn last."""

    def __init__(self, level: Level, surface: pygame.Surface, pool: ThreadPoolExecutor) -> None:
        self.surface = surface
        self.host = Host(level, workers=pool)
        self.session = self.host.session
        self.controls = Controls()
        self.font = pygame.font.Font(None, 24)
        self.effects: list[Effect] = []
        self.frames = 0
        self.open = True
        self.picture = picture.take(self.session.world, SHOW_CURRENT)

    def event(self, event: pygame.event.Event) -> None:
        """The interface first; what it does not take is the game's."""
        if event.type == pygame.QUIT:
            self.open = False
        elif event.type == pygame.WINDOWFOCUSLOST:
            self.controls.release_all()
            self.session.input.cancel()
        elif event.type in (pygame.WINDOWMINIMIZED, pygame.WINDOWHIDDEN):
            self.session.hide()
        elif event.type in (pygame.WINDOWRESTORED, pygame.WINDOWSHOWN):
            self.session.show()
        elif event.type == pygame.KEYDOWN and not self.command(event.key):
            self.controls.key(event.key, True)
        elif event.type == pygame.KEYUP:
            self.controls.key(event.key, False)

    def command(self, key: int) -> bool:
        """Whether a key was the interface's, and what it does."""
        mode = self.session.mode
        if key == pygame.K_ESCAPE:
            self.open = False
        elif key == pygame.K_r:
            self.session.restart()
            self.effects.clear()
        elif key == pygame.K_p and mode is Mode.PLAYING:
            self.session.pause()
        elif key == pygame.K_p and mode is Mode.PAUSED:
            self.session.resume()
        elif key == pygame.K_n and mode is Mode.PAUSED:
            self.session.step()
        else:
            return key in (pygame.K_p, pygame.K_n)
        return True

    def frame(self, now: Timestamp) -> FrameReport:
        """One frame: ticks, requests, picture."""
        report = self.session.frame(now, self.controls.sample())
        self.frames += 1
        for record in self.host.deliver():
            self.effect(record)
        if report.mode is not Mode.FAULTED:
            self.picture = picture.take(self.session.world, report.alpha)
        self.draw(report)
        return report

    def effect(self, record: Record) -> None:
        """A request that is for the eye, or that only the host can fulfil."""
        assert isinstance(record.anchor, tuple)
        x, y = record.anchor
        self.effects.append(Effect(str(record.kind), x / UNIT, y / UNIT, self.frames))
        if record.kind == "exit":
            self.session.activate(self.session.level)

    def draw(self, report: FrameReport) -> None:
        """Draw the picture that was taken last, the effects, and the line of text."""
        self.surface.fill(_BACKGROUND)
        for draw in self.picture.draws:
            pygame.draw.rect(self.surface, _COLOURS[draw.kind], self.rect(draw), border_radius=4)
        self.effects = [e for e in self.effects if self.frames - e.born < EFFECT_FRAMES]
        for effect in self.effects:
            age = self.frames - effect.born
            centre = self.at(effect.x, effect.y)
            colour = _EFFECTS.get(effect.kind, _TEXT)
            pygame.draw.circle(self.surface, colour, centre, 8 + 2 * age, width=2)
        shown = self.picture
        line = (
            f"{report.mode.value}   tick {report.tick}   health {shown.health}   "
            f"coins {shown.score}   falls {shown.falls}   dropped {report.dropped}"
        )
        self.write(line, 14, _TEXT)
        self.write("arrows move   space attack   P pause   N step   R restart", HEIGHT - 30, _TEXT)
        if (fault := self.session.fault) is not None:
            told = f"{type(fault.error).__name__}: {fault.error}"
            self.write(f"tick {fault.tick} failed in {fault.phase.value}: {told}", 46, _ALARM)
            self.write(
                "The world is as it failed, the picture the last good one. R restarts.", 72, _ALARM
            )

    def at(self, x: float, y: float) -> tuple[int, int]:
        """World units to pixels."""
        return round(WIDTH / 2 + x * SCALE), round(HEIGHT / 2 - 40 - y * SCALE)

    def rect(self, draw: picture.Draw) -> pygame.Rect:
        """Where something is on the screen."""
        left, top = self.at(draw.x - draw.half_x, draw.y + draw.half_y)
        right, bottom = self.at(draw.x + draw.half_x, draw.y - draw.half_y)
        return pygame.Rect(left, top, right - left, bottom - top)

    def write(self, text: str, y: int, colour: tuple[int, int, int]) -> None:
        """A line of text."""
        self.surface.blit(self.font.render(text, True, colour), (16, y))


def run(level: Level) -> None:
    """Open the window and play until it is closed."""
    pygame.display.init()  # and no more: to start sound where there is none takes long
    pygame.font.init()
    try:
        surface = pygame.display.set_mode((WIDTH, HEIGHT))
        pygame.display.set_caption(f"fixedstep: {level.name}")
        pacer = FramePacer(Rate(FRAMES_PER_SECOND))
        with ThreadPoolExecutor(1) as pool:
            window = Window(level, surface, pool)
            while window.open:
                now = pacer.wait()
                for event in pygame.event.get():
                    window.event(event)
                window.frame(now)
                pygame.display.flip()
            window.host.mailbox.shutdown()
    finally:
        pygame.quit()
