"""Each adapter in a window that an X server really shows, with the ball in it.

These tests are left out unless asked for, ``--toolkit=pygame`` (or pyglet, arcade): they need the
toolkit, an X display (``xvfb-run -a`` gives one) and python-xlib, which presses the keys, resizes,
hides and closes from outside as a user and a window manager do, and takes the pictures. What was
asked for and is missing is an error.

The toolkit, its loop and the display are real; the clock is a number that moves when the pacer
sleeps, so a frame is as long as it should be on a machine of any speed, and the test acts between
two frames, in that sleep.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import subprocess
import sys
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import Nanos, Rate, Step, Timestamp
from fixedstep.cli import main
from fixedstep.cli.ball import BALL, CAPTION, HEIGHT, WIDTH, Ball, open_screen
from fixedstep.host import ArcadeWindow, KeyEvent, PygameWindow, PygletWindow, monotonic
from fixedstep.sim import Session

from . import test_matrix as matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

SECOND = 10**9
MS = 10**6

pytestmark = pytest.mark.toolkit

each_toolkit = pytest.mark.parametrize("toolkit", ["pygame", "pyglet", "arcade"])


class Desk:
    """The X display seen from outside the program under test."""

    def __init__(self) -> None:
        self.X = importlib.import_module("Xlib.X")
        self.xtest = importlib.import_module("Xlib.ext.xtest")
        self.event = importlib.import_module("Xlib.protocol.event")
        self.display: Any = importlib.import_module("Xlib.display").Display()
        self.root = self.display.screen().root

    def find(self, title: str = CAPTION) -> Any:
        """The window whose title begins like that, or None."""
        waiting = [self.root]
        while waiting:
            window = waiting.pop()
            try:
                name = window.get_full_text_property(self.display.get_atom("_NET_WM_NAME"))
                if str(name or window.get_wm_name()).startswith(title):
                    return window
                waiting += window.query_tree().children
            except importlib.import_module("Xlib.error").BadWindow:
                continue  # it went meanwhile
        return None

    def press(self, window: Any, key: str) -> None:
        keysym = importlib.import_module("Xlib.XK").string_to_keysym(key)
        code = self.display.keysym_to_keycode(keysym)
        window.set_input_focus(self.X.RevertToParent, self.X.CurrentTime)
        for kind in (self.X.KeyPress, self.X.KeyRelease):
            self.xtest.fake_input(self.display, kind, code)
        self.display.sync()

    def close(self, window: Any) -> None:
        """What a window manager sends when somebody clicks the cross."""
        atom = self.display.get_atom
        message = self.event.ClientMessage(
            window=window,
            client_type=atom("WM_PROTOCOLS"),
            data=(32, [atom("WM_DELETE_WINDOW"), self.X.CurrentTime, 0, 0, 0]),
        )
        window.send_event(message)
        self.display.sync()

    def field(self, window: Any) -> bytes:
        """The picture, four bytes a pixel.

        Taken until two are the same: a toolkit returns from its flip before the server has drawn.
        """
        earlier = b""
        for _ in range(100):
            time.sleep(0.02)
            image = window.get_image(0, 0, WIDTH, HEIGHT, self.X.ZPixmap, 0xFFFFFFFF)
            if image.data == earlier:
                return earlier
            earlier = image.data
        raise AssertionError("the picture does not come to rest")


def ball_in(field: bytes) -> tuple[float, float]:
    """The middle of the ball's colour, from the lower left corner."""
    wanted = bytes(reversed(BALL))  # blue comes first in an X image of 24 bits
    found = [
        (at // 4 % WIDTH, HEIGHT - 1 - at // 4 // WIDTH)
        for at in range(0, len(field), 4)
        if field[at : at + 3] == wanted
    ]
    assert 60 < len(found) < 300, f"{len(found)} pixels of the ball's colour"
    xs, ys = zip(*found, strict=True)
    return sum(xs) / len(xs), sum(ys) / len(ys)


class Play:
    """The ball in a real window, and a script that goes on by one step between two frames."""

    def __init__(
        self, toolkit: str, desk: Desk, script: Callable[[Play], Generator[None, None, None]]
    ) -> None:
        self.at = 7 * SECOND
        self.frames = 0
        self.desk = desk
        self.said: list[str] = []
        self._script = script(self)
        self.finished = False
        self.ball = Ball(
            open_screen(toolkit),
            stall=Nanos(550 * MS),
            say=self.said.append,
            clock=lambda: Timestamp(self.at),
            sleep=self.sleep,
            rate=Rate(20),
        )
        self.ball._sleep = self.stall
        self.window = self.ball.window
        self.game = self.ball.game
        self.ball.play()

    def stall(self, span: Nanos) -> None:
        self.at += span

    def sleep(self, span: Nanos) -> None:
        self.at += span
        self.frames += 1
        assert self.frames < 5_000, "the script does not end"
        try:
            next(self._script)
        except StopIteration:
            self.finished = True
            self.window.close()

    @property
    def alpha(self) -> Any:
        assert self.window.report is not None
        return self.window.report.alpha

    @property
    def x_window(self) -> Any:
        found = self.desk.find()
        assert found is not None, f"no window called {CAPTION!r}"
        return found

    def until(self, condition: Callable[[], bool], frames: int = 400) -> Iterator[None]:
        """Frames until what was sent to the window has arrived."""
        for _ in range(frames):
            if condition():
                return
            time.sleep(0.002)
            yield
        raise AssertionError(f"nothing came of it in {frames} frames")


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    """One for all tests: an X server that loses its last client starts over, and refuses the next
    one meanwhile."""
    desk = Desk()
    yield desk
    desk.display.close()


@pytest.fixture(autouse=True)
def no_window_left() -> Iterator[None]:
    """A window of arcade that is collected closes once more, and then none counts as open: also the
    one that was opened meanwhile. So it is collected before the next is opened."""
    yield
    gc.collect()


def gone(desk: Desk) -> bool:
    """Whether the window goes away, which the server does in its own time."""
    for _ in range(200):
        if desk.find() is None:
            return True
        time.sleep(0.01)
    return False


def played(toolkit: str, desk: Desk, script: Callable[[Play], Generator[None, None, None]]) -> Play:
    play = Play(toolkit, desk, script)
    assert play.finished, "the window closed before the script was over"
    assert play.window.closed
    assert gone(desk), "the window is still there"
    return play


@each_toolkit
def test_three_hundred_frames_a_stall_a_resize_and_a_close(toolkit: str, desk: Desk) -> None:
    seen: dict[str, int] = {}

    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(299):
            yield
        seen["ticks"] = play.game.tick
        seen["early drops"] = play.game.stats.steps_dropped
        seen["frames"] = play.window.timing.count
        seen["drawn"] = play.window.timing.drawn

        play.desk.press(play.x_window, "s")
        yield from play.until(lambda: play.game.stats.steps_dropped > 0)
        seen["dropped"] = play.game.stats.steps_dropped
        seen["largest"] = play.window.timing.max

        play.x_window.configure(width=WIDTH + 100, height=HEIGHT + 60)
        play.desk.display.sync()
        before = play.game.tick
        for _ in range(30):
            yield
        seen["after"] = play.game.tick - before

        play.desk.close(play.x_window)
        yield from play.until(lambda: False)  # no frame comes after it

    play = Play(toolkit, desk, script)
    assert play.window.closed
    assert gone(desk)
    # The first frame is the origin and the last begins at target 299, just short of 5 s.
    assert (seen["ticks"], seen["early drops"]) == (99, 0)
    assert (seen["frames"], seen["drawn"]) == (299, 299)
    assert seen["dropped"] in (6, 7)  # 11 or 12 ticks were due
    assert 550 * MS <= seen["largest"] < 600 * MS
    assert seen["after"] == 10
    assert any("were dropped" in line for line in play.said)
    assert f"dropped {seen['dropped']};" in play.said[-1]


@pytest.mark.parametrize("toolkit", ["pyglet"])
def test_a_closed_window_goes_away_though_events_of_another_wait(toolkit: str, desk: Desk) -> None:
    pyglet = importlib.import_module(toolkit)
    below = pyglet.window.Window(300, 300, caption="below", vsync=False)
    below.set_location(0, 0)
    for _ in range(8):  # in some, the events of the one below come too late to be in the way
        above = pyglet.window.Window(200, 100, caption=CAPTION, vsync=False)
        above.set_location(20, 20)
        window = PygletWindow(lambda: None, window=above, rate=Rate(20))
        for _ in range(3):
            assert window.run_frame()
            below.dispatch_events()
            time.sleep(0.02)
        assert desk.find() is not None
        window.close()
        assert not window.run_frame()
        assert gone(desk), "the window is still there"
    below.close()


@each_toolkit
def test_a_tick_has_many_pictures_with_interpolation_and_one_without(
    toolkit: str, desk: Desk
) -> None:
    """Two frames of the same tick differ in the picture, and the ball is where alpha says."""

    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(60):
            yield
        for interpolated in (True, False):
            shots = []
            for _ in range(7):  # two ticks and a frame: some two frames in a row share a tick
                picture = play.desk.field(play.x_window)
                shots.append((play.game.tick, play.alpha, picture))
                assert ball_in(picture) == pytest.approx(play.ball.at(play.alpha), abs=1.5)
                yield
            pairs = [
                (one[2], other[2])
                for one, other in pairwise(shots)
                if one[0] == other[0] and one[1] != other[1]
            ]
            assert len(pairs) >= 3
            for one, other in pairs:
                assert (one != other) == interpolated
            assert len({picture for _, _, picture in shots}) >= (5 if interpolated else 2)
            if interpolated:
                play.desk.press(play.x_window, "i")
                yield from play.until(lambda: not play.ball.interpolated)
                yield

    played(toolkit, desk, script)


@each_toolkit
def test_the_keys_pause_and_step_a_window(toolkit: str, desk: Desk) -> None:
    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(10):
            yield
        play.desk.press(play.x_window, "p")
        yield from play.until(lambda: play.game.paused)
        yield
        ticks, picture = play.game.tick, play.desk.field(play.x_window)
        for _ in range(30):
            yield
        assert play.game.tick == ticks
        assert play.desk.field(play.x_window) == picture
        play.desk.press(play.x_window, "n")
        yield from play.until(lambda: play.game.tick > ticks)
        for _ in range(30):
            yield
        assert play.game.tick == ticks + 1
        assert play.desk.field(play.x_window) != picture
        play.desk.press(play.x_window, "p")
        yield from play.until(lambda: not play.game.paused)
        for _ in range(31):
            yield
        assert play.game.tick >= ticks + 10
        assert play.game.stats.steps_dropped == 0

    played(toolkit, desk, script)


@each_toolkit
def test_escape_closes_a_window(toolkit: str, desk: Desk) -> None:
    def script(play: Play) -> Generator[None, None, None]:
        yield
        play.desk.press(play.x_window, "Escape")
        yield from play.until(lambda: False)  # no frame comes after it

    assert Play(toolkit, desk, script).window.closed


@each_toolkit
def test_a_hidden_window_excludes_time_and_is_not_drawn_until_it_is_back(
    toolkit: str, desk: Desk
) -> None:
    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(10):
            yield
        window = play.x_window
        window.unmap()
        play.desk.display.sync()
        yield from play.until(lambda: not play.window.visible)
        assert play.game.state == "hidden"
        ticks, drawn, began = play.game.tick, play.window.timing.drawn, play.at
        for _ in range(20):
            yield
        assert play.game.tick == ticks
        assert play.window.timing.drawn == drawn
        assert play.at - began == 20 * 100 * MS
        window.map()
        play.desk.display.sync()
        yield from play.until(lambda: play.window.visible)
        drawn = play.window.timing.drawn
        for _ in range(20):
            yield
        assert play.window.timing.drawn >= drawn + 18
        assert play.game.tick >= ticks + 5
        assert play.game.stats.steps_dropped == 0

    played(toolkit, desk, script)


@each_toolkit
def test_a_repaint_without_a_frame_shows_the_same_picture(toolkit: str, desk: Desk) -> None:
    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(8):
            yield
        before = desk.field(play.x_window)
        play.at += 5 * MS
        for _ in range(3):
            play.window._show(play.alpha)
            assert desk.field(play.x_window) == before
        yield
        assert desk.field(play.x_window) != before

    played(toolkit, desk, script)


@each_toolkit
def test_an_exception_of_a_tick_comes_out_and_the_next_window_works(
    toolkit: str, desk: Desk
) -> None:
    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(5):
            yield

    class Broken(Ball):
        def step(self, step: Step) -> None:
            raise ArithmeticError("of the step")

    with pytest.raises(ArithmeticError, match="of the step"):
        Broken(open_screen(toolkit), stall=Nanos(0), rate=Rate(20)).play()
    if toolkit != "pygame":  # whose window goes with the program
        for window in list(importlib.import_module("pyglet").app.windows):
            window.close()
        del window
        gc.collect()
    assert played(toolkit, desk, script).frames >= 5


@each_toolkit
def test_the_command_opens_and_closes_the_window_on_the_machines_clock(
    toolkit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    began = monotonic.now()
    assert main(["demo", "--window", toolkit, "--seconds", "0.5"]) == 0
    assert monotonic.now() - began >= SECOND // 2
    assert "frames ran" in capsys.readouterr().out


# One window of each toolkit without the ball.


class Game:
    """A window of a toolkit, a session with a key, and a clock that is a number."""

    def __init__(self, toolkit: str, base: Any = None, **options: Any) -> None:
        self.at = SECOND
        self.calls: list[str] = []
        self.acts: dict[int, Callable[[], object]] = {}
        self.frames = 0
        module = importlib.import_module(toolkit)
        if toolkit == "pygame":
            module.display.init()
            module.display.set_mode((64, 64))
            kind: Any = PygameWindow
            self.key = module.K_SPACE
        else:
            make = base or (module.Window if toolkit == "arcade" else module.window.Window)
            self.view = make(64, 64, CAPTION, vsync=False)
            kind = ArcadeWindow if toolkit == "arcade" else PygletWindow
            options["window"] = self.view
            self.key = importlib.import_module("pyglet").window.key.SPACE
        inputs = self.inputs = []  # type: ignore[var-annotated]

        class World:
            def step(self, input: Any, tick: Any) -> None:
                inputs.append(input)

        self.session = Session(World, buttons=["fire"], rate=Rate(20))
        draw = options.pop("draw", lambda alpha: self.calls.append("draw"))
        self.window = kind(
            options.pop("game", self.session),
            draw,
            keys={self.key: "fire"},
            fps=60,
            clock=lambda: Timestamp(self.at),
            sleep=self.sleep,
            **options,
        )

    def sleep(self, span: Nanos) -> None:
        self.at += span
        self.frames += 1
        assert self.frames < 2_000
        self.acts.get(self.frames, lambda: None)()


@each_toolkit
def test_keys_reach_the_session_once_and_a_loss_of_focus_lets_go(toolkit: str, desk: Desk) -> None:
    """Through the X server, with a second press after the focus was lost."""
    game = Game(toolkit)
    if toolkit == "pygame":
        importlib.import_module("pygame").display.set_caption(CAPTION)
    code = desk.display.keysym_to_keycode(0x20)

    def send(kind: int) -> None:
        found = desk.find()
        found.set_input_focus(desk.X.RevertToParent, desk.X.CurrentTime)
        desk.xtest.fake_input(desk.display, kind, code)
        desk.display.sync()
        time.sleep(0.05)

    def blur() -> None:
        desk.root.set_input_focus(desk.X.RevertToPointerRoot, desk.X.CurrentTime)
        desk.display.sync()
        time.sleep(0.05)

    game.acts = {
        20: lambda: send(desk.X.KeyPress),
        40: blur,
        60: lambda: desk.xtest.fake_input(desk.display, desk.X.KeyRelease, code),
        80: lambda: send(desk.X.KeyPress),
        100: lambda: send(desk.X.KeyRelease),
        120: game.window.close,
    }
    game.window.run()
    assert sum(given["fire"].pressed for given in game.inputs) == 2
    assert sum(given["fire"].cancelled for given in game.inputs) >= 1
    assert not game.session.input.held("fire")


@each_toolkit
def test_a_hotkey_that_takes_an_event_keeps_it_from_the_game(toolkit: str, desk: Desk) -> None:
    events: list[Any] = []

    def hotkey(event: Any) -> bool:
        events.append(event)
        return True

    game = Game(toolkit, hotkey=hotkey)
    if toolkit == "pygame":
        pygame = importlib.import_module("pygame")

        def press() -> None:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=game.key))

    else:

        def press() -> None:
            game.view.dispatch_event("on_key_press", game.key, 0)

    game.acts = {10: press, 30: game.window.close}
    game.window.run()
    assert sum(given["fire"].pressed for given in game.inputs) == 0
    assert events
    if toolkit != "pygame":
        assert events == [KeyEvent(game.key, 0, True)]


@each_toolkit
def test_a_vsync_that_does_not_block_is_capped(toolkit: str) -> None:
    game = Game(toolkit, **({"vsync": True} if toolkit == "pygame" else {}))
    game.window._fps = None
    if toolkit != "pygame":
        game.view.set_vsync(True)
    game.acts = {200: game.window.close}
    game.window.run()
    assert game.window.timing.min == 2 * MS
    assert game.window.timing.count >= 199


@each_toolkit
def test_a_window_can_be_driven_by_hand(toolkit: str) -> None:
    game = Game(toolkit)
    for _ in range(60):
        game.at += game.window.wait()
        assert game.window.run_frame()
    assert game.calls.count("draw") == 60
    assert game.session.tick == 19
    game.window.close()
    assert not game.window.run_frame()
    assert game.window.closed


@pytest.mark.parametrize("toolkit", ["pyglet", "arcade"])
def test_draw_takes_the_place_of_the_windows_own_on_draw(toolkit: str) -> None:
    """What a game's subclass draws there would be drawn over the picture. Its other handlers are
    called as ever."""
    module = importlib.import_module(toolkit)
    base: Any = module.Window if toolkit == "arcade" else module.window.Window
    calls: list[str] = []
    members = {
        "on_draw": lambda _: calls.append("on_draw"),
        "on_update": lambda _, dt: calls.append("on_update"),
    }
    for draw in (True, False):
        calls.clear()
        options = {"draw": lambda alpha: calls.append("draw")} if draw else {"draw": None}
        game = Game(toolkit, type("Own", (base,), members), **options)
        game.acts = {30: game.window.close}
        game.window.run()
        assert calls.count("draw" if draw else "on_draw") == 30
        assert calls.count("on_draw" if draw else "draw") == 0
        assert calls.count("on_update") == (30 if toolkit == "arcade" else 0)
        game.view = None
        gc.collect()


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("toolkit", ["arcade"])
def test_views_update_and_draw_once_a_frame_and_swap(toolkit: str, given: bool) -> None:
    """``on_draw`` of a View was never called, or the frame was drawn twice."""
    arcade = importlib.import_module(toolkit)
    game = Game(toolkit, **({} if given else {"draw": None}))
    calls = game.calls
    flips: list[int] = []
    flip = game.view.flip

    def flipped() -> None:
        flips.append(1)
        flip()

    game.view.flip = flipped

    def view(name: str) -> Any:
        members = {
            "on_update": lambda _, dt: calls.append(f"{name} update"),
            "on_draw": lambda _: calls.append(f"{name} draw"),
        }
        return type(name, (arcade.View,), members)()

    one, two = view("one"), view("two")
    game.view.show_view(one)
    game.acts = {30: lambda: game.view.show_view(two), 60: game.window.close}
    game.window.run()
    for name in ("one", "two"):
        assert calls.count(f"{name} update") == 30
        assert calls.count(f"{name} draw") == 30
    assert calls.count("draw") == (60 if given else 0)
    assert len(flips) == 60
    if given:
        assert calls.index("draw") < calls.index("one draw"), "a menu is above the game"


@pytest.mark.parametrize("where", ["tick", "wait"])
@pytest.mark.parametrize("toolkit", ["pyglet", "arcade"])
def test_a_game_that_closes_the_window_itself_ends_the_loop(toolkit: str, where: str) -> None:
    ticks: list[int] = []
    draws: list[int] = []

    def step(step: Step) -> None:
        ticks.append(step.tick)
        if where == "tick" and step.tick == 4:
            view.close()

    module = importlib.import_module(toolkit)
    view: Any = (module.Window if toolkit == "arcade" else module.window.Window)(64, 64)
    at = 0

    def sleep(span: Nanos) -> None:
        nonlocal at
        at += span
        if where == "wait" and len(ticks) == 5 and view.context is not None:
            view.close()

    adapter = ArcadeWindow if toolkit == "arcade" else PygletWindow
    window = adapter(
        step,
        lambda alpha: draws.append(len(ticks)),
        window=view,
        clock=lambda: Timestamp(at),
        sleep=sleep,
        rate=Rate(20),
        fps=60,
    )
    window.run()
    assert window.closed
    assert len(ticks) == 5
    assert draws.count(5) == (1 if where == "wait" else 0)


@pytest.mark.parametrize("toolkit", ["pyglet", "arcade"])
def test_a_handler_can_keep_the_window_open_and_scheduled_functions_run(toolkit: str) -> None:
    game = Game(toolkit)
    scheduled: list[float] = []
    asked: list[int] = []
    pyglet = importlib.import_module("pyglet")
    pyglet.clock.schedule(scheduled.append)

    def on_close() -> bool:
        asked.append(game.frames)
        return len(asked) < 2

    game.view.push_handlers(on_close=on_close)
    game.acts = {n: lambda: game.view.dispatch_event("on_close") for n in (20, 40)}
    game.window._open()
    game.view.push_handlers(on_close=on_close)
    game.window.run()
    pyglet.clock.unschedule(scheduled.append)
    assert asked[0] == 20
    assert game.frames == 40
    assert len(scheduled) == 40


@pytest.mark.parametrize("toolkit", ["pygame"])
def test_an_event_that_the_game_takes_goes_no_further(toolkit: str) -> None:
    """So a game can keep its window open."""
    pygame = importlib.import_module(toolkit)
    quits: list[bool] = []

    def hotkey(event: Any) -> bool:
        if event.type != pygame.QUIT:
            return False
        quits.append(game.window.closed)
        return len(quits) < 5

    game = Game(toolkit, hotkey=hotkey)
    post = pygame.event.post
    game.acts = {n: lambda: post(pygame.event.Event(pygame.QUIT)) for n in range(1, 99)}
    game.window.run()
    assert quits == [False] * 5
    assert game.window.closed
    assert pygame.display.get_surface() is None  # the window is gone


@pytest.mark.parametrize(
    ("away", "back"),
    [
        ("WINDOWHIDDEN", "WINDOWSHOWN"),
        ("WINDOWMINIMIZED", "WINDOWRESTORED"),
        ("WINDOWMINIMIZED", "WINDOWMAXIMIZED"),
    ],
)
@pytest.mark.parametrize("toolkit", ["pygame"])
def test_each_event_that_hides_a_window_and_shows_it_again_counts(
    toolkit: str, away: str, back: str
) -> None:
    """A window manager sends other ones than an X server without one."""
    pygame = importlib.import_module(toolkit)
    game = Game(toolkit)
    hidden: list[int] = []
    kinds = {20: [away], 30: [back], 40: [away, back], 50: ["QUIT"]}

    def act() -> None:
        if not game.window.visible:
            hidden.append(game.frames)
        for kind in kinds.get(game.frames, ()):
            pygame.event.post(pygame.event.Event(getattr(pygame, kind)))

    game.acts = dict.fromkeys(range(1, 99), act)
    game.window.run()
    assert hidden == list(range(21, 31))


@pytest.mark.parametrize("toolkit", ["pygame"])
def test_a_window_that_was_not_opened_is_asked_for(toolkit: str) -> None:
    pygame = importlib.import_module(toolkit)
    pygame.display.quit()
    with pytest.raises(RuntimeError, match=r"no pygame window is open; call pygame\.display"):
        PygameWindow(lambda _: None, lambda _: None).run()


@each_toolkit
def test_the_example_shows_the_ball_until_it_is_closed(
    toolkit: str, desk: Desk, source: Path
) -> None:
    """A process of its own, on the machine's clock."""
    path = source.parent / "examples" / "ball" / f"in_{toolkit}.py"
    with subprocess.Popen([sys.executable, path], stderr=subprocess.PIPE, text=True) as process:
        try:
            pictures = set()
            for _ in range(600):
                time.sleep(0.05)
                window = desk.find("ball")
                if window is None or window.get_attributes().map_state != desk.X.IsViewable:
                    continue
                image = window.get_image(0, 0, WIDTH, HEIGHT, desk.X.ZPixmap, 0xFFFFFFFF)
                if bytes((0, 165, 255)) in image.data:  # orange
                    pictures.add(image.data)
                if len(pictures) > 4:
                    break
            assert len(pictures) > 4
            desk.close(window)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()


class Runner:
    """A world that counts where its keys fell, for one digest at every frame rate."""

    def __init__(self) -> None:
        self.x = self.presses = 0

    def step(self, input: Any, tick: Any) -> None:
        self.presses += input["jump"].pressed
        self.x = (self.x * 31 + tick.number * input["jump"].held + self.presses) % 2**63

    def digests(self) -> dict[str, int]:
        return {"x": self.x, "presses": self.presses}


def drive(toolkit: str, session: Session[Any], fps: int, end: int) -> None:
    """Run a session in a toolkit's window up to a time, with stalls that drop nothing."""
    screen = open_screen(toolkit)
    at = session.last or 0
    frames = 0

    def clock() -> Timestamp:
        return Timestamp(at)

    def sleep(span: Nanos) -> None:
        nonlocal at, frames
        frames += 1
        at += span + (300 * MS if frames in (fps // 3, fps) else 0)
        if at >= end - SECOND:
            window.close()

    window = getattr(importlib.import_module("fixedstep.host"), screen.kind)(
        session, lambda alpha: None, fps=fps, clock=clock, sleep=sleep, **screen.options
    )
    window.run()
    screen.leave()
    assert frames > fps
    session.frame(Timestamp(end))


def run_with_keys(toolkit: str, fps: int, shift: int = 0) -> tuple[int, int, int, int]:
    """Three seconds in a window with keys at given times."""
    start = 7 * SECOND
    session = Session(Runner, buttons=["jump"], budget=100, max_delta=None)
    for ms in (110 + shift, 400, 433, 1_010, 1_777):
        session.input.press("jump", at=start + ms * MS)
        session.input.release("jump", at=start + (ms + 21) * MS)
    session.frame(Timestamp(start))
    drive(toolkit, session, fps, 10 * SECOND)
    world = session.world
    return session.tick, world.presses, world.x, session.stats.steps_dropped


@each_toolkit
def test_the_same_key_times_give_one_run_at_every_frame_rate(toolkit: str, desk: Desk) -> None:
    runs = {run_with_keys(toolkit, fps) for fps in (30, 60, 144)}
    [(ticks, presses, _, dropped)] = runs
    assert (ticks, presses, dropped) == (180, 5, 0)
    assert run_with_keys(toolkit, 60, shift=20) not in runs, "the control: a tick later"


@each_toolkit
def test_the_strategy_game_is_one_run_in_every_window(
    toolkit: str, desk: Desk, source: Path
) -> None:
    """Speeds 1, 5 and 20, a pause and an order, each at its time."""
    path = source.parent / "examples" / "continuous_rts.py"
    spec = importlib.util.spec_from_file_location("continuous_rts", path)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    runs = set()
    for fps in (30, 60, 144):
        session = Session(
            example.World,
            rate=Rate(1),
            tick_length=example.MINUTE,
            speeds=(0, 1, 5, 20),
            max_delta=None,
        )
        session.post(3, at=500 * MS)
        for ms, speed in ((1_000, 5), (3_100, 0), (4_000, 20)):
            session.set_speed(speed, at=ms * MS)
        session.frame(Timestamp(0))
        drive(toolkit, session, fps, 9 * SECOND)
        runs.add((session.tick, session.world.digest(), session.remainder))
    [(minutes, _, _)] = runs
    assert minutes == 1 + 10 + 100  # and half a minute: 1 s, 2.1 s at speed 5, 5 s at speed 20
    assert session.world.obeyed == [example.Order(1, 3)]


@each_toolkit
@pytest.mark.parametrize(
    ("game", "policy", "action"),
    [
        pytest.param(game, policy, action, id=f"{game}-{policy}-{action.__name__}")
        for game in matrix.GAMES
        for policy in ("keep", "forget")
        for action in matrix.ACTIONS
        if (game, action) not in matrix.WITHOUT_MEANING
    ],
)
def test_a_cell_of_the_matrix_holds_in_a_real_window(
    toolkit: str, game: str, policy: str, action: Any, desk: Desk, monkeypatch: Any
) -> None:
    opened: list[Any] = []

    def window_of(cell: matrix.Cell) -> Any:
        screen = open_screen(toolkit)
        window = getattr(importlib.import_module("fixedstep.host"), screen.kind)(
            cell.game,
            lambda alpha: None,
            clock=lambda: Timestamp(cell.at),
            sleep=lambda span: None,
            **screen.options,
        )
        opened.append(window)
        return window

    monkeypatch.setattr(matrix, "window_of", window_of)
    matrix.test_a_cell_keeps_its_account(game, "window", policy, action)
    for window in opened:
        window.close()
        window.run_frame()
