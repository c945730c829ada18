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
import subprocess
import sys
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import FrameLoop, Nanos, Rate, Step, Timestamp, Timestep
from fixedstep.cli import main
from fixedstep.host import monotonic
from fixedstep.host.arcade_window import ArcadeWindow
from fixedstep.host.ball.model import BALL, CAPTION, HEIGHT, STRIP, WIDTH, Ball
from fixedstep.host.pygame_window import PygameWindow
from fixedstep.host.pyglet_window import PygletWindow

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
        """The window of that title, or None."""
        waiting = [self.root]
        while waiting:
            window = waiting.pop()
            try:
                name = window.get_full_text_property(self.display.get_atom("_NET_WM_NAME"))
                if (name or window.get_wm_name()) == title:
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
        """The picture of the field without the text above it, four bytes a pixel.

        Taken until two are the same: a toolkit returns from its flip before the server has drawn.
        """
        earlier = b""
        for _ in range(100):
            time.sleep(0.02)
            image = window.get_image(0, STRIP, WIDTH, HEIGHT, self.X.ZPixmap, 0xFFFFFFFF)
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
        self.ball = Ball(stall=Nanos(550 * MS), sleep=self.stall)
        self._script = script(self)
        self.finished = False
        importlib.import_module(f"fixedstep.host.ball.in_{toolkit}").play(
            self.ball, timestep=Rate(20), clock=self.clock, sleep=self.sleep
        )

    def clock(self) -> Timestamp:
        return Timestamp(self.at)

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
            self.binding.request_close()

    @property
    def window(self) -> Any:
        assert self.ball._window is not None
        return self.ball._window

    @property
    def binding(self) -> Any:
        return self.window.binding

    @property
    def ticks(self) -> int:
        return int(self.binding.stats.ticks)

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


def played(toolkit: str, desk: Desk, script: Callable[[Play], Generator[None, None, None]]) -> Play:
    play = Play(toolkit, desk, script)
    assert play.finished, "the window closed before the script was over"
    assert play.binding.closed
    assert play.desk.find() is None, "the window is still there"
    return play


@each_toolkit
def test_three_hundred_frames_a_stall_a_resize_and_a_close(toolkit: str, desk: Desk) -> None:
    seen: dict[str, int] = {}

    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(299):
            yield
        seen["ticks"] = play.ticks
        seen["early drops"] = play.binding.stats.steps_dropped
        seen["frames"] = play.window.timing.count
        seen["drawn"] = play.window.timing.drawn

        play.desk.press(play.x_window, "s")
        yield from play.until(lambda: play.binding.stats.steps_dropped > 0)
        seen["dropped"] = play.binding.stats.steps_dropped
        seen["largest"] = play.window.timing.max

        play.x_window.configure(width=WIDTH + 100, height=HEIGHT + STRIP + 60)
        play.desk.display.sync()
        size = {"pygame": pygame_size, "pyglet": pyglet_size, "arcade": pyglet_size}[toolkit]
        yield from play.until(lambda: size() == (WIDTH + 100, HEIGHT + STRIP + 60))
        before = play.ticks
        for _ in range(30):
            yield
        seen["after"] = play.ticks - before

        play.desk.close(play.x_window)
        yield from play.until(lambda: False)  # no frame comes after it

    play = Play(toolkit, desk, script)
    assert play.binding.closed
    assert desk.find() is None
    # The first frame is the origin and the last begins at target 299, just short of 5 s.
    assert (seen["ticks"], seen["early drops"]) == (99, 0)
    assert (seen["frames"], seen["drawn"]) == (299, 299)
    assert seen["dropped"] in (6, 7)  # 11 or 12 ticks were due
    assert 550 * MS < seen["largest"] < 600 * MS
    assert seen["after"] == 10
    assert play.binding.stats.steps_dropped == seen["dropped"]
    report = play.window.pacer.report()
    assert (report.late, report.resets) == (1, 0)


def pygame_size() -> tuple[int, int]:
    width, height = importlib.import_module("pygame").display.get_window_size()
    return width, height


def pyglet_size() -> tuple[int, int]:
    (window,) = importlib.import_module("pyglet").app.windows
    return window.get_size()  # type: ignore[no-any-return]


@each_toolkit
def test_a_tick_has_many_pictures_with_interpolation_and_one_without(
    toolkit: str, desk: Desk
) -> None:
    """Two frames of the same tick differ in the picture, and the ball is where alpha says."""

    def script(play: Play) -> Generator[None, None, None]:
        for interpolated in (True, False):
            shots = []
            for _ in range(7):  # two ticks and a frame: some two frames in a row share a tick
                shown = play.ball.at(play.binding.alpha)
                picture = play.desk.field(play.x_window)
                shots.append((play.ticks, play.binding.alpha, picture))
                x, y = ball_in(picture)
                assert (x, y) == pytest.approx(shown, abs=1.5)
                yield
            pairs = [
                (one[2], other[2])
                for one, other in pairwise(shots)
                if one[0] == other[0] and one[1] != other[1]
            ]
            assert len(pairs) >= 3
            for one, other in pairs:
                assert (one != other) == interpolated
            assert len({ticks for ticks, _, _ in shots}) >= 2
            assert len({picture for _, _, picture in shots}) >= (5 if interpolated else 2)
            if interpolated:
                play.desk.press(play.x_window, "i")
                yield from play.until(lambda: not play.ball.interpolated)

    def warmed(play: Play) -> Generator[None, None, None]:
        for _ in range(60):
            yield
        yield from script(play)

    played(toolkit, desk, warmed)


@each_toolkit
def test_the_keys_pause_and_step_a_window(toolkit: str, desk: Desk) -> None:
    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(10):
            yield
        play.desk.press(play.x_window, "p")
        yield from play.until(lambda: play.binding.paused)
        yield
        ticks, picture = play.ticks, play.desk.field(play.x_window)
        for _ in range(30):
            yield
        assert play.ticks == ticks
        assert play.desk.field(play.x_window) == picture
        play.desk.press(play.x_window, "n")
        yield from play.until(lambda: play.ticks > ticks)
        for _ in range(30):
            yield
        assert play.ticks == ticks + 1
        assert play.desk.field(play.x_window) != picture
        play.desk.press(play.x_window, "p")
        yield from play.until(lambda: not play.binding.paused)
        for _ in range(31):
            yield
        assert play.ticks >= ticks + 10
        assert play.binding.stats.steps_dropped == 0

    played(toolkit, desk, script)


@each_toolkit
def test_escape_closes_a_window(toolkit: str, desk: Desk) -> None:
    def script(play: Play) -> Generator[None, None, None]:
        yield
        play.desk.press(play.x_window, "Escape")
        yield from play.until(lambda: False)  # no frame comes after it

    assert Play(toolkit, desk, script).binding.closed


@each_toolkit
def test_a_window_that_is_hidden_steps_on_and_is_not_drawn_until_it_is_back(
    toolkit: str, desk: Desk
) -> None:
    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(10):
            yield
        window = play.x_window
        window.unmap()
        play.desk.display.sync()
        yield from play.until(lambda: play.binding.dormant)
        assert play.window.pacer.rate == Rate(20)
        ticks, drawn = play.ticks, play.window.timing.drawn
        for _ in range(20):
            yield
        assert play.ticks in range(ticks + 19, ticks + 22)
        assert play.window.timing.drawn == drawn
        assert play.window.timing.skipped >= 19
        window.map()
        play.desk.display.sync()
        yield from play.until(lambda: not play.binding.dormant)
        assert play.window.pacer.rate == Rate(60)
        drawn = play.window.timing.drawn
        for _ in range(20):
            yield
        assert play.window.timing.drawn >= drawn + 18
        assert play.binding.stats.steps_dropped == 0

    played(toolkit, desk, script)


@each_toolkit
def test_a_repaint_that_the_system_asks_for_shows_the_same_picture(
    toolkit: str, desk: Desk
) -> None:
    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(8):
            yield
        before = desk.field(play.x_window)
        play.at += 21 * MS
        for _ in range(3):
            play.window._draw_and_flip()
            assert desk.field(play.x_window) == before
        yield
        assert desk.field(play.x_window) != before

    played(toolkit, desk, script)


@each_toolkit
def test_an_exception_of_a_step_comes_out_of_the_toolkits_loop(toolkit: str, desk: Desk) -> None:
    """And the next window of the same process opens and closes."""

    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(5):
            yield

    class Broken(Ball):
        def step(self, step: Step) -> None:
            raise ArithmeticError("of the step")

    program = importlib.import_module(f"fixedstep.host.ball.in_{toolkit}")
    with pytest.raises(ArithmeticError, match="of the step"):
        program.play(Broken(), timestep=Rate(20))
    if toolkit != "pygame":  # whose window goes with the loop
        for window in list(importlib.import_module("pyglet").app.windows):
            window.close()
        del window
        gc.collect()
    assert played(toolkit, desk, script).frames >= 5


@each_toolkit
def test_the_command_opens_and_closes_the_window_on_the_machines_clock(toolkit: str) -> None:
    began = monotonic.now()
    assert main(["demo", "--window", toolkit, "--seconds", "0.5"]) == 0
    assert monotonic.now() - began >= SECOND // 2


@each_toolkit
def test_the_example_shows_the_ball_until_it_is_closed(
    toolkit: str, desk: Desk, source: Path
) -> None:
    """A process of its own, on the machine's clock."""
    path = source.parent / "examples" / f"ball_{toolkit}.py"
    with subprocess.Popen([sys.executable, path], stderr=subprocess.PIPE, text=True) as process:
        try:
            pictures = set()
            for _ in range(600):
                time.sleep(0.05)
                window = desk.find()
                if window is None or window.get_attributes().map_state != desk.X.IsViewable:
                    continue
                image = window.get_image(0, STRIP, WIDTH, HEIGHT, desk.X.ZPixmap, 0xFFFFFFFF)
                if bytes(reversed(BALL)) in image.data:
                    pictures.add(image.data)
                if len(pictures) > 4:
                    break
            assert len(pictures) > 4
            desk.close(window)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("toolkit", ["pygame"])
def test_f03_pygame_frames_of_16_4_ms_lose_nothing_below_a_millisecond(toolkit: str) -> None:
    """With pygame's own loop and events; its clock, the control, has whole milliseconds."""
    pygame = importlib.import_module(toolkit)
    pygame.display.init()
    pygame.display.set_mode((64, 64))
    at = 0
    steps: list[int] = []

    def render(alpha: float) -> None:
        nonlocal at
        at += 16_400_000

    window = PygameWindow(
        lambda step: steps.append(step.tick),
        render,
        timestep=Timestep(16_666_667),
        frames=None,
        clock=lambda: Timestamp(at),
    )
    frames = 0

    def event(_: Any) -> None:
        nonlocal frames
        frames += 1
        if window.binding.stats.frames == 1_001:
            window.binding.request_close()
        pygame.event.post(pygame.event.Event(pygame.USEREVENT))

    pygame.event.post(pygame.event.Event(pygame.USEREVENT))
    window.run(event)
    assert frames > 1_000
    assert window.binding.stats.frames == 1_001
    assert len(steps) == 983
    assert window.binding.alpha == pytest.approx(16_666_339 / 16_666_667)

    clock = pygame.time.Clock()
    assert isinstance(clock.tick(), int)
    truncated = FrameLoop(Timestep(16_666_667), start=Timestamp(0))
    for k in range(1, 1_001):
        truncated.begin_frame(Timestamp(k * 16 * MS))
    assert truncated.tick == 959


@pytest.mark.parametrize("toolkit", ["pyglet", "arcade"])
def test_render_takes_the_place_of_the_windows_own_on_draw(toolkit: str) -> None:
    """What a game's subclass draws there would be drawn over the picture. Its other handlers are
    called as ever."""
    module = importlib.import_module(toolkit)
    base: Any = module.Window if toolkit == "arcade" else module.window.Window
    calls: list[str] = []

    def on_draw(_: Any) -> None:
        calls.append("on_draw")

    def on_update(_: Any, delta_time: float) -> None:
        calls.append("on_update")

    own = type("Own", (base,), {"on_draw": on_draw, "on_update": on_update})(64, 64)
    at = 0

    def sleep(span: Nanos) -> None:
        nonlocal at
        at += span
        if calls.count("render") > 10:
            window.binding.request_close()

    adapter = ArcadeWindow if toolkit == "arcade" else PygletWindow
    window = adapter(
        lambda _: None,
        lambda _: calls.append("render"),
        clock=lambda: Timestamp(at),
        sleep=sleep,
    )
    window.run(own)
    assert "on_draw" not in calls
    assert calls.count("render") > 10
    assert ("on_update" in calls) == (toolkit == "arcade")
    if toolkit == "arcade":  # so that its own interval is not what paces
        assert own._update_rate == own._draw_rate == 1 / 10_000


@pytest.mark.parametrize("where", ["step", "wait"])
@pytest.mark.parametrize("toolkit", ["pyglet", "arcade"])
def test_a_game_that_closes_the_window_itself_ends_the_loop(toolkit: str, where: str) -> None:
    module = importlib.import_module(toolkit)
    view: Any = (module.Window if toolkit == "arcade" else module.window.Window)(64, 64)
    at = 0
    calls: list[str] = []

    def call(what: str) -> None:
        calls.append(what)
        if what == where and calls.count(what) == 5:
            view.close()

    def sleep(span: Nanos) -> None:
        nonlocal at
        at += span
        call("wait")

    adapter = ArcadeWindow if toolkit == "arcade" else PygletWindow
    window = adapter(
        lambda _: call("step"),
        lambda _: call("render"),
        clock=lambda: Timestamp(at),
        sleep=sleep,
    )
    window.run(view)
    assert calls.count(where) == 5
    assert "render" in calls
    assert "render" not in calls[[n for n, c in enumerate(calls) if c == where][4] :]


@pytest.mark.parametrize("toolkit", ["pyglet"])
def test_pyglet_intervals_that_were_missed_are_ticks_that_are_accounted_for(
    toolkit: str, desk: Desk
) -> None:
    """The control is pyglet's own interval: what it missed is one call, and nothing says so."""
    stalls = {20: 120 * MS, 40: 300 * MS, 60: 75 * MS, 80: 2 * SECOND}
    pyglet = importlib.import_module(toolkit)
    now = 0.0
    told: list[float] = []
    clock = pyglet.clock.Clock(lambda: now)
    clock.schedule_interval(told.append, 1 / 20)
    for frame in range(100):
        now += 1 / 60 + stalls.get(frame, 0) / SECOND
        clock.tick()
    assert len(told) < now * 20 - 40

    def script(play: Play) -> Generator[None, None, None]:
        origin = play.at - SECOND // 60
        for frame in range(100):
            play.at += stalls.get(frame, 0)
            yield
        stats = play.binding.stats
        # Of the 2 s and the 300 ms, what is beyond the budget; and no tick is missing.
        assert stats.steps_dropped in range(36, 40)
        elapsed = play.at - SECOND // 60 - origin
        assert stats.ticks + stats.steps_dropped in (
            elapsed * 20 // SECOND - 1,
            elapsed * 20 // SECOND,
        )

    played(toolkit, desk, script)


@pytest.mark.parametrize("toolkit", ["arcade"])
def test_arcade_runs_no_more_steps_than_the_budget_and_plays_no_stall_back(
    toolkit: str, desk: Desk
) -> None:
    """The control is arcade's own cap, which lets one more through and keeps what it refused."""
    arcade = importlib.import_module(toolkit)
    window = arcade.Window(64, 64, fixed_rate=1 / 20, fixed_frame_cap=5)
    fixed: list[float] = []
    window.push_handlers(on_fixed_update=fixed.append)
    counts = []
    for span in (2.0, 0.001, 0.001):
        before = len(fixed)
        window._dispatch_updates(span)
        counts.append(len(fixed) - before)
    importlib.import_module("pyglet").clock.unschedule(window._dispatch_frame)
    window.close()
    assert counts == [6, 6, 6]

    def script(play: Play) -> Generator[None, None, None]:
        for _ in range(5):
            yield
        play.at += 2 * SECOND
        counts = []
        for _ in range(7):
            before = play.ticks
            yield
            counts.append(play.ticks - before)
        assert counts[0] == 5
        assert sum(counts[1:]) == 2
        assert play.binding.stats.steps_dropped in (35, 36)

    played(toolkit, desk, script)


@pytest.mark.parametrize("toolkit", ["pygame"])
def test_an_event_that_the_game_takes_goes_no_further(toolkit: str) -> None:
    """So a game can refuse to close."""
    pygame = importlib.import_module(toolkit)
    pygame.display.init()
    pygame.display.set_mode((64, 64))
    at = 0
    quits: list[bool] = []

    def sleep(span: Nanos) -> None:
        nonlocal at
        at += span
        pygame.event.post(pygame.event.Event(pygame.QUIT))

    def event(what: Any) -> bool:
        if what.type != pygame.QUIT:
            return False
        quits.append(window.binding.closed)
        return len(quits) < 5

    window = PygameWindow(lambda _: None, lambda _: None, clock=lambda: Timestamp(at), sleep=sleep)
    window.run(event)
    assert quits == [False] * 5
    assert window.binding.closed
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
    pygame.display.init()
    pygame.display.set_mode((64, 64))
    at = 0
    dormant: list[bool] = []
    kinds = {20: [away], 30: [back], 40: [away, back], 50: ["QUIT"]}

    def sleep(span: Nanos) -> None:
        nonlocal at
        at += span
        dormant.append(window.binding.dormant)
        for kind in kinds.get(len(dormant), ()):
            pygame.event.post(pygame.event.Event(getattr(pygame, kind)))

    window = PygameWindow(lambda _: None, lambda _: None, clock=lambda: Timestamp(at), sleep=sleep)
    window.run()
    # No sleep comes between a change of visibility and the frame after it: that is a new origin.
    assert [n for n, hidden in enumerate(dormant) if hidden] == list(range(20, 30))


@pytest.mark.parametrize("toolkit", ["pygame"])
def test_a_window_that_was_not_opened_is_asked_for(toolkit: str) -> None:
    pygame = importlib.import_module(toolkit)
    pygame.display.quit()
    with pytest.raises(RuntimeError, match=r"no pygame window is open; call pygame\.display"):
        PygameWindow(lambda _: None, lambda _: None).run()
