"""The window of ``fixedstep demo --window``: a ball that moves in ticks, drawn in every frame.

At 20 ticks a second the ball moves 45 pixels a tick. Drawn at alpha between its last two places it
moves in every frame instead. Both places are drawn as dots: with interpolation the ball is between
them, without it sits on one. ``examples/ball`` has readable programs for each toolkit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..host import monotonic
from ..host.toolkits import load, no_display
from ..sim.game_loop import GameLoop
from ..sim.history import History
from ..time import Nanos

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import Alpha, Step
    from ..host._window import Window
    from ..sim.game_loop import FrameReport

WIDTH, HEIGHT, RADIUS = 640, 360, 7
CAPTION = "fixedstep demo"
BACKGROUND, DOT, BALL = (36, 41, 50), (92, 105, 125), (242, 178, 72)
KEYS = "I interpolation, P pause, N one tick, S stall, Esc close"
_SECOND, _PIXEL = 10**9, 1_000
_NO_DISPLAY = {
    "NoSuchDisplayException",
    "NoSuchConfigException",
    "NoOpenGLException",
    "ImportError",
}


class Screen(NamedTuple):
    """What differs between the toolkits. Places are pixels from the lower left corner."""

    kind: str
    options: dict[str, Any]
    fill: Callable[[], object]
    disc: Callable[[float, float, int, tuple[int, int, int]], object]
    key: Callable[[Any], str]
    title: Callable[[str], object]
    leave: Callable[[], object]


class Ball:
    """The program but for the toolkit: the model, the keys, the picture and the words."""

    def __init__(
        self,
        screen: Screen,
        *,
        stall: Nanos,
        limit: Nanos | None = None,
        say: Callable[[str], object] = print,
        sleep: Callable[[Nanos], object] = monotonic.sleep,
        clock: Callable[[], Any] = monotonic.now,
        **schedule: Any,
    ) -> None:
        from .. import host

        self.place: History[tuple[int, int]] = History((100 * _PIXEL, 180 * _PIXEL))
        self.speed: tuple[int, int] = (900 * _PIXEL, 410 * _PIXEL)
        self.interpolated: bool = True
        self._screen, self._stall, self._limit = screen, stall, limit
        self._say, self._sleep = say, sleep
        self._titled = -1
        # Every stalled tick is due, so that those beyond the budget are seen to be dropped.
        self.game: GameLoop = GameLoop(self.step, max_delta=None, **schedule)
        kind = getattr(host, screen.kind)
        self.window: Window = kind(
            self.game,
            self.draw,
            hotkey=lambda event: self.key(screen.key(event)),
            fps=60,
            on_drop=self.dropped,
            clock=clock,
            sleep=sleep,
            **screen.options,
        )

    def step(self, step: Step) -> None:
        """One tick."""
        self.place.capture()
        moved = [
            _bounced(at + speed * step.dt // _SECOND, speed, end * _PIXEL)
            for at, speed, end in zip(self.place.current, self.speed, (WIDTH, HEIGHT), strict=True)
        ]
        self.place.set((moved[0][0], moved[1][0]))
        self.speed = moved[0][1], moved[1][1]

    def key(self, name: str) -> bool:
        """A key went down; whether it has a use."""
        if name == "i":
            self.interpolated = not self.interpolated
        elif name == "p":
            self.game.toggle_pause()
        elif name == "n":
            self.game.pause()
            self.game.run_ticks(1)
        elif name == "s":
            self._say(f"a stall of {self._stall // 10**6} ms on purpose")
            self._sleep(self._stall)
        elif name == "escape":
            self.window.close()
        return name in ("i", "p", "n", "s", "escape")

    def at(self, alpha: Alpha) -> tuple[float, float]:
        """Where the ball is drawn."""
        x, y = self.place.at(alpha) if self.interpolated else self.place.current
        return x / _PIXEL, y / _PIXEL

    def draw(self, alpha: Alpha) -> None:
        """Draw the picture, and four times a second the title."""
        self._screen.fill()
        for x, y in (self.place.previous, self.place.current):
            self._screen.disc(x / _PIXEL, y / _PIXEL, 3, DOT)
        self._screen.disc(*self.at(alpha), RADIUS, BALL)
        elapsed = self.window.timing.sum
        if self._limit is not None and elapsed >= self._limit:
            self.window.close()
        if elapsed * 4 // _SECOND != self._titled:
            self._titled = elapsed * 4 // _SECOND
            stats = self.game.stats
            self._screen.title(
                f"{CAPTION}: {stats.ticks} ticks, {stats.steps_dropped} dropped, interpolation "
                f"{'on' if self.interpolated else 'off'}, {self.game.state}"
            )

    def dropped(self, report: FrameReport) -> None:
        """Say what a long frame cost."""
        self._say(
            f"{report.ran + report.dropped} ticks were due in one frame: {report.ran} ran, "
            f"{report.dropped} were dropped, so the ball is {report.dropped} ticks behind the clock"
            + (f"; {report.clamped // 10**6} ms more were clamped" if report.clamped else "")
        )

    def play(self) -> None:
        """Run until the window is closed, and sum up."""
        self._say(f"{self.game.rate.numerator} ticks a second, 60 frames. Keys: {KEYS}.")
        try:
            self.window.run()
        finally:
            self._screen.leave()
        stats, timing = self.game.stats, self.window.timing
        self._say(
            f"{timing.count} frames ran {stats.ticks} ticks and dropped {stats.steps_dropped}; the "
            f"longest frame took {timing.max / 10**6:.1f} ms"
        )


def open_screen(toolkit: str) -> Screen:
    """Open a window of a toolkit. Raises MissingToolkit and NoDisplay.

    pyglet and arcade have three exceptions for a missing display, so they are told by name.
    """
    try:
        return {"pygame": _pygame, "pyglet": _pyglet, "arcade": _arcade}[toolkit]()
    except Exception as error:
        if type(error).__name__ in _NO_DISPLAY or type(error).__module__ == "pygame":
            raise no_display(toolkit, error) from None
        raise


def _pygame() -> Screen:
    pygame = load("pygame")
    pygame.display.init()  # and no more: to start sound where there is none takes long
    if pygame.display.get_driver() == "offscreen":  # what SDL takes where there is no display
        raise no_display("pygame", "SDL has its offscreen driver alone")
    surface = pygame.display.set_mode((WIDTH, HEIGHT))
    return Screen(
        "PygameWindow",
        {},
        lambda: surface.fill(BACKGROUND),
        lambda x, y, radius, colour: pygame.draw.circle(surface, colour, (x, HEIGHT - y), radius),
        lambda event: pygame.key.name(event.key) if event.type == pygame.KEYDOWN else "",
        pygame.display.set_caption,
        pygame.quit,
    )


def _pyglet() -> Screen:
    pyglet = load("pyglet")
    window = pyglet.window.Window(WIDTH, HEIGHT, vsync=False)
    pyglet.gl.glClearColor(*(part / 255 for part in BACKGROUND), 1.0)
    return _of_pyglet(
        "PygletWindow",
        window,
        window.clear,
        lambda x, y, radius, colour: pyglet.shapes.Circle(x, y, radius, color=colour).draw(),
    )


def _arcade() -> Screen:
    arcade = load("arcade")
    window = arcade.Window(WIDTH, HEIGHT)
    return _of_pyglet(
        "ArcadeWindow",
        window,
        lambda: window.clear(color=BACKGROUND),
        lambda x, y, radius, colour: arcade.draw_circle_filled(x, y, radius, colour),
    )


def _of_pyglet(kind: str, window: Any, fill: Callable[[], Any], disc: Callable[..., Any]) -> Screen:
    key = load("pyglet").window.key
    return Screen(
        kind,
        {"window": window},
        fill,
        disc,
        lambda event: key.symbol_string(event.symbol).lower() if event.pressed else "",
        window.set_caption,
        lambda: None,
    )


def _bounced(at: int, speed: int, end: int) -> tuple[int, int]:
    """The place and speed after as many reflections as it takes: a tick may be a second long."""
    low, high = RADIUS * _PIXEL, end - RADIUS * _PIXEL
    while not low <= at <= high:
        at, speed = (2 * low if at < low else 2 * high) - at, -speed
    return at, speed
