"""The demo in a window, through pygame-ce: the only file that knows of it.

    arrows or A and D   move          P   pause and resume
    space               attack        N   one tick, while paused
    escape              leave         R   restart

The interface takes its keys before the game sees any. The picture is drawn in every frame, also
while paused; after a fault the last good one stays, and the title says what happened.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import pygame

from fixedstep.host import PygameWindow

from . import picture
from .host import Host
from .level import UNIT, Level

if TYPE_CHECKING:
    from fixedstep import Alpha
    from fixedstep.sim import Input, Request

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
_BACKGROUND, _TEXT = (24, 27, 33), (214, 218, 226)
_MOVE = ((pygame.K_LEFT, pygame.K_a), (pygame.K_RIGHT, pygame.K_d))


class Effect(NamedTuple):
    """A ring that grows where something happened. It lives in frames, and no rule knows of it."""

    kind: str
    x: float
    y: float
    born: int


class Play:
    """What the window calls: for the interface, the devices and the picture."""

    def __init__(
        self, level: Level, surface: pygame.Surface, pool: ThreadPoolExecutor, **options: Any
    ) -> None:
        self.surface = surface
        self.host = Host(level, workers=pool)
        self.session = self.host.session
        self.font = pygame.font.Font(None, 24)
        self.effects: list[Effect] = []
        self.frames = 0
        self.window = PygameWindow(
            self.session,
            self.draw,
            self.sample,
            keys={pygame.K_SPACE: "attack"},
            hotkey=self.hotkey,
            **{"fps": FRAMES_PER_SECOND, **options},
        )

    def hotkey(self, event: pygame.event.Event) -> bool:
        """The interface takes its keys first; whether it took this event."""
        if event.type != pygame.KEYDOWN:
            return False
        if event.key == pygame.K_ESCAPE:
            self.window.close()
        elif event.key == pygame.K_r:
            self.session.restart()
            self.effects.clear()
        elif event.key == pygame.K_p:
            self.session.toggle_pause()
        elif event.key == pygame.K_n and self.session.state == "paused":
            self.session.run_ticks(1)
        else:
            return False
        return True

    def sample(self, input: Input) -> None:
        """In every frame, drawn or not: read the keys that are held, do what ticks asked for."""
        down = pygame.key.get_pressed()
        left, right = ((down[a] or down[b]) for a, b in _MOVE)
        input.axis("move", bool(right) - bool(left))
        self.frames += 1
        for record in self.host.deliver():
            self.effect(record)
        fault, title = self.session.fault, f"fixedstep: {self.session.level.name}"
        if fault is not None:
            title = f"tick {fault.tick} failed in {fault.phase}: {fault.error!r}; R restarts"
        pygame.display.set_caption(title)

    def effect(self, record: Request) -> None:
        """A request that is for the eye, or that only the host can fulfil."""
        assert isinstance(record.anchor, tuple)
        x, y = record.anchor
        self.effects.append(Effect(str(record.kind), x / UNIT, y / UNIT, self.frames))
        if record.kind == "exit":
            self.session.activate(self.session.level)

    def draw(self, alpha: Alpha) -> None:
        """Draw the world between two ticks, the effects, and the line of text."""
        shown = picture.take(self.session.world, alpha)
        self.surface.fill(_BACKGROUND)
        for draw in shown.draws:
            pygame.draw.rect(self.surface, _COLOURS[draw.kind], self.rect(draw), border_radius=4)
        self.effects = [e for e in self.effects if self.frames - e.born < EFFECT_FRAMES]
        for effect in self.effects:
            age = self.frames - effect.born
            centre = self.at(effect.x, effect.y)
            colour = _EFFECTS.get(effect.kind, _TEXT)
            pygame.draw.circle(self.surface, colour, centre, 8 + 2 * age, width=2)
        session = self.session
        line = (
            f"{session.state}   tick {session.tick}   health {shown.health}   "
            f"coins {shown.score}   falls {shown.falls}   dropped {session.stats.steps_dropped}"
        )
        self.write(line, 14)
        self.write("arrows move   space attack   P pause   N step   R restart", HEIGHT - 30)

    def at(self, x: float, y: float) -> tuple[int, int]:
        """World units to pixels."""
        return round(WIDTH / 2 + x * SCALE), round(HEIGHT / 2 - 40 - y * SCALE)

    def rect(self, draw: picture.Draw) -> pygame.Rect:
        """Where something is on the screen."""
        left, top = self.at(draw.x - draw.half_x, draw.y + draw.half_y)
        right, bottom = self.at(draw.x + draw.half_x, draw.y - draw.half_y)
        return pygame.Rect(left, top, right - left, bottom - top)

    def write(self, text: str, y: int) -> None:
        """A line of text."""
        self.surface.blit(self.font.render(text, True, _TEXT), (16, y))


def run(level: Level) -> None:
    """Open the window and play until it is closed."""
    pygame.display.init()  # and no more: to start sound where there is none takes long
    pygame.font.init()
    try:
        surface = pygame.display.set_mode((WIDTH, HEIGHT))
        with ThreadPoolExecutor(1) as pool:
            play = Play(level, surface, pool)
            play.window.run()
            play.host.mailbox.shutdown()
    finally:
        pygame.quit()
