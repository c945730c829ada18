"""The small world in ``examples/world_demo``: the rules it shows, as rules that hold.

It is what a game built on all the parts looks like, so what is tested here is their working
together: events consumed in their tick, rewards paid once, spawns seen in the next tick, faults
that publish nothing, results of work that come too late, and a recording that plays again. The
program itself runs as a reader would run it. The window is driven with a stand-in for pygame, which
checks that every line of it runs and every key does what it says; what it looks like, no test sees.
"""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import Timestamp
from fixedstep.records import Recorder, Recording, compare, replay
from fixedstep.sim import SHOW_CURRENT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Core

UNIT = 60_000
SECOND = 10**9
MODULES = ("level", "world", "host", "picture")
WINDOW = "world_demo.window"

# The state after 120 ticks of the script at half deflection. It changes when a rule of the world, a
# level or the order of a digest changes, and for no other reason: run the program and write down
# what it prints. A change that was not meant is a fault.
HASH_AFTER_120 = "0xe56ac0547408acd8"


@pytest.fixture(scope="module")
def folder(source: Path) -> Path:
    """The program, beside the C sources in a checkout; --no-source leaves both out."""
    path = source.parent / "examples" / "world_demo"
    assert (path / "__main__.py").is_file(), f"no example at {path}"
    return path


@pytest.fixture(scope="module")
def demo(folder: Path) -> Iterator[Any]:
    """Its modules, imported as the program imports them."""
    sys.path.insert(0, str(folder.parent))
    try:
        modules = {name: importlib.import_module(f"world_demo.{name}") for name in MODULES}
        yield SimpleNamespace(**modules)
    finally:
        sys.path.remove(str(folder.parent))
        for name in [name for name in sys.modules if name.startswith("world_demo")]:
            del sys.modules[name]


def make(demo: Any, *, level: str = "yard", **changes: Any) -> Any:
    """A host, to be stepped; ``changes`` move what the level has elsewhere."""
    made = demo.level.LEVELS[level]._replace(**changes)
    return demo.host.Host(made)


def tick(host: Any, axis: int = 0, *, attack: bool = False) -> bool:
    """Run one tick; whether it ran to its end."""
    controls = host.session.input
    controls.axis("move", axis / 1_000)
    if attack:
        controls.press("attack")
        controls.release("attack")
    return bool(host.session.run_ticks(1).ran)


def step(host: Any, axis: int = 0, *, attack: bool = False) -> list[Any]:
    """One tick, and its effects as (tick, kind)."""
    assert tick(host, axis, attack=attack), host.session.fault
    return [(record.tick, record.kind) for record in host.deliver()]


def near(demo: Any, distance: int) -> Any:
    """A host whose guard stands so far to the right of the player."""
    return make(demo, player=(0, 0), guard=(distance, 0))


# The program.


def run(folder: Path, core: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(folder), *arguments],
        env=os.environ | {"FIXEDSTEP_BACKEND": core, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("core", ["native", "reference"])
def test_a_headless_run_prints_the_state_hash(folder: Path, core: str) -> None:
    ended = run(folder, core, "--ticks", "120")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith(f"state hash after 120 ticks: {HASH_AFTER_120}\n")
    assert "hit" in ended.stdout
    other = run(folder, core, "--ticks", "120", "--axis", "499")
    assert HASH_AFTER_120 not in other.stdout, "the control: another input is another world"


def test_two_cores_record_the_same_and_diff_says_so(
    folder: Path, tmp_path: Path, native: Core
) -> None:
    paths = [tmp_path / core for core in ("native", "reference")]
    for path in paths:
        arguments = ("--ticks", "400", "--axis", "700", "--record", str(path))
        assert run(folder, path.name, *arguments).returncode == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()
    other = tmp_path / "other"
    run(folder, "native", "--ticks", "400", "--axis", "701", "--record", str(other))
    for second, code, said in (
        (paths[1], 0, "EQUAL: 400 ticks compared"),
        (other, 1, "first divergence at tick 0"),
    ):
        ended = subprocess.run(
            [sys.executable, "-m", "fixedstep", "diff", str(paths[0]), str(second)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == code
        assert said in ended.stdout


def test_bad_arguments_are_told(folder: Path) -> None:
    for arguments in (["--ticks", "-1"], ["--ticks", "9", "--axis", "1001"], ["--level", "moon"]):
        assert run(folder, "reference", *arguments).returncode == 2


def test_without_pygame_the_window_says_what_to_install(folder: Path) -> None:
    script = (
        "import runpy, sys\n"
        "sys.modules['pygame'] = None\n"
        "sys.argv, sys.dont_write_bytecode = ['world_demo'], True\n"
        f"runpy.run_path({str(folder)!r}, run_name='__main__')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "pip install pygame-ce" in ended.stderr
    assert "--ticks 120" in ended.stderr
    assert "Traceback" not in ended.stderr


# Equal runs.


@pytest.mark.parametrize("axis", [1_000, -1_000])
def test_two_worlds_with_one_input_are_equal_after_every_tick(demo: Any, axis: int) -> None:
    hosts = [make(demo) for _ in range(2)]
    seen = []
    for tick in range(120):
        for host in hosts:
            step(host, axis, attack=tick % 30 == 0)
        one, other = (demo.world.state_hash(host.session.world) for host in hosts)
        assert one == other
        seen.append(one)
    assert len(set(seen)) == 120
    world = hosts[1].session.world
    half_x, half_y = world.exit.body.half
    world.exit.body.half = (half_x + 1, half_y)
    assert demo.world.state_hash(world) != seen[-1]
    world.exit.body.half = (half_x, half_y)
    assert demo.world.state_hash(world) == seen[-1]
    world.player.body.at.teleport(world.player.body.at.current)
    assert demo.world.state_hash(world) == seen[-1], "where he was a tick ago is only drawn"


def test_a_restarted_level_has_the_first_hash_again(demo: Any) -> None:
    host = make(demo)
    first = demo.world.state_hash(host.session.world)
    hashes = []
    for _ in range(2):
        for tick in range(60):
            step(host, 900, attack=tick == 40)
        hashes.append(demo.world.state_hash(host.session.world))
        host.session.restart()
        assert demo.world.state_hash(host.session.world) == first
        host.session.input.axis("move", 0)  # held over a restart, it would not count
    assert hashes[0] == hashes[1] != first


def test_drawing_between_two_ticks_changes_nothing(demo: Any) -> None:
    host = make(demo)
    for _ in range(5):
        step(host, 1_000)
    world = host.session.world
    before = demo.world.state_hash(world)
    halfway, exactly = (demo.picture.take(world, alpha) for alpha in (0.5, SHOW_CURRENT))
    assert demo.world.state_hash(world) == before
    player = [picture.draws[-1] for picture in (halfway, exactly)]
    assert [draw.kind for draw in player] == ["player", "player"]
    assert player[1].x - player[0].x == pytest.approx(4 / 60 / 2)
    assert player[1].x * UNIT == pytest.approx(world.player.body.x)


def test_the_same_game_is_played_at_every_frame_rate_with_a_tick_a_frame_at_most(
    demo: Any,
) -> None:
    """With several ticks a frame, answers to the guard come later, which is an input like any
    other: the recordings then part in what was accepted, and nowhere before."""
    recordings = {}
    for fps in (60, 90, 240, 20):
        host = demo.host.Host()
        with Recorder(file := io.StringIO(), host.session):
            host.session.input.axis("move", 0.8)
            for frame in range(4 * fps + 1):
                host.session.frame(Timestamp(-(-frame * SECOND // fps)))
                host.deliver()
        assert host.session.tick == 240
        recordings[fps] = list(Recording(io.StringIO(file.getvalue())))
    assert len({(tick.digests or {})["guards"] for tick in recordings[60]}) > 200
    for fps in (90, 240):
        assert compare(recordings[60], recordings[fps]) == (None, 240, 0, 0)
    divergence = compare(recordings[60], recordings[20]).divergence
    assert divergence is not None
    assert divergence.what == "completions"


def test_a_recorded_game_plays_again_without_anybody_thinking(demo: Any) -> None:
    host = demo.host.Host()
    with Recorder(file := io.StringIO(), host.session, phases=True):
        demo.host.play(host, 600, 700)
    ticks = list(Recording(io.StringIO(file.getvalue())))
    assert sum(len(tick.given.completions) for tick in ticks) > 20
    assert host.session.world.score + host.session.world.falls > 0

    again = make(demo)
    again.workers = None  # would fail if a replay asked for it
    assert replay(Recording(io.StringIO(file.getvalue())), again.session) == (None, 600, 0, 0)
    assert demo.world.state_hash(again.session.world) == demo.world.state_hash(host.session.world)


def test_a_changed_rule_is_named_by_tick_phase_and_field(
    demo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = demo.host.Host()
    with Recorder(file := io.StringIO(), host.session, phases=True):
        demo.host.play(host, 200, 700)
    again = make(demo)
    original = demo.world.guard_attacks

    def stronger(world: Any, tick: Any) -> None:
        before = world.player.health
        original(world, tick)
        if world.player.health == before - 1:
            world.player.health -= 1

    def player(tick: Any, phase: str) -> Any:
        return tick.phases[phase]["player"]

    strikes = [
        tick.tick
        for tick in list(Recording(io.StringIO(file.getvalue())))
        if player(tick, "Motion") != player(tick, "Gameplay") and tick.tick % 30
    ]
    monkeypatch.setattr(demo.world, "guard_attacks", stronger)
    divergence = replay(Recording(io.StringIO(file.getvalue())), again.session).divergence
    assert divergence is not None
    assert (divergence.phase, divergence.path) == ("Gameplay", "player")
    assert divergence.tick == strikes[0]


# The rules.


def test_a_falling_player_comes_to_rest_on_the_floor(demo: Any) -> None:
    host = make(demo, level="pit")
    for _ in range(100):
        step(host)
    body = host.session.world.player.body
    assert body.at.current == (-6 * UNIT, -31 * UNIT // 10)
    assert body.velocity == (0, 0)
    standing = make(demo)
    step(standing)
    assert standing.session.world.player.body.y == 0, "the control: the yard has no gravity"


def test_the_player_moves_by_a_fifteenth_of_a_unit_a_tick(demo: Any) -> None:
    host = make(demo)
    for _ in range(15):
        step(host, 1_000)
    assert host.session.world.player.body.x == -5 * UNIT
    for _ in range(1_000):
        step(host, -1_000)
    assert host.session.world.player.body.x == -10 * UNIT, "and not out of the world"


def test_the_exit_opens_once_on_entering_and_never_on_staying(demo: Any) -> None:
    host = make(demo, player=(7 * UNIT, 0), guard=(-9 * UNIT, 0))
    effects = []
    for axis in (1_000, 1_000, 0, 0, *[-1_000] * 20, *[1_000] * 20):
        effects += step(host, axis)
    assert [kind for _, kind in effects] == ["exit"]
    assert host.session.world.next_level == "yard"


def test_an_attack_in_a_tick_makes_the_next_possible_thirty_ticks_later(demo: Any) -> None:
    host = make(demo)
    swings = []
    for _ in range(95):
        swings += [tick for tick, kind in step(host, attack=True) if kind == "swing"]
    assert swings == [0, 30, 60, 90]


@pytest.mark.parametrize(
    ("distance", "hits"), [(2 * UNIT - 1, 1), (2 * UNIT, 0), (2 * UNIT + 1, 0)]
)
def test_an_attack_reaches_less_than_two_units(demo: Any, distance: int, hits: int) -> None:
    host = near(demo, distance)
    assert [kind for _, kind in step(host, attack=True)].count("hit") == hits


@pytest.mark.parametrize(("distance", "hits"), [(9 * UNIT // 10 - 1, 1), (9 * UNIT // 10, 0)])
def test_a_guard_reaches_less_than_nine_tenths(demo: Any, distance: int, hits: int) -> None:
    host = near(demo, distance)
    step(host)
    assert host.session.world.player.health == 3 - hits


def killed(demo: Any) -> tuple[Any, int]:
    """A host in the tick after its guard died, and the tick in which he did."""
    host = near(demo, UNIT * 3 // 2)
    world = host.session.world
    while world.guards:
        tick = world.tick
        step(host, attack=tick % 30 == 0)
        assert tick < 100
    return host, tick


def test_what_dies_leaves_a_coin_which_is_there_from_the_next_tick_on(demo: Any) -> None:
    host, tick = killed(demo)
    world = host.session.world
    (coin,) = world.coins.values()
    created = [event for event in world.events if isinstance(event, demo.world.SpawnCommitted)]
    assert created == world.outcomes == [demo.world.SpawnCommitted(tick, coin.body.sequence)]
    assert all(coin.body.sequence not in pair for pair in world.touching), "not in its own tick"
    assert coin.body.at.previous == coin.body.at.current, "it comes from nowhere"
    assert (len(world.timers), world.score) == (0, 0)
    step(host)
    assert world.outcomes == []
    assert [timer.due_tick for timer in world.timers] == [tick + 1 + 300]


def test_a_coin_is_paid_once(demo: Any) -> None:
    host, _ = killed(demo)
    world = host.session.world
    (coin,) = world.coins.values()
    world.player.body.at.teleport((coin.body.x, 0))
    effects = []
    for _ in range(400):
        effects += step(host)
    assert [kind for _, kind in effects].count("coin") == 1
    assert (world.score, world.coins) == (1, {})
    assert len(world.timers) == 0, "its timer came, and found nobody"


def test_a_coin_that_nobody_takes_expires_after_three_hundred_ticks(demo: Any) -> None:
    host, tick = killed(demo)
    world = host.session.world
    (coin,) = world.coins.values()
    world.player.body.at.teleport((-9 * UNIT, 0))
    while world.coins:
        step(host)
        assert world.tick < 1_000
    assert world.tick - 1 == tick + 1 + 300
    assert world.score == 0
    assert coin.body.leaving


def test_a_coin_that_is_taken_in_the_tick_it_expires_is_paid_once(demo: Any) -> None:
    host, tick = killed(demo)
    world = host.session.world
    (coin,) = world.coins.values()
    world.player.body.at.teleport((-9 * UNIT, 0))
    while world.tick < tick + 301:
        step(host)
    world.player.body.at.teleport((coin.body.x, 0))
    assert world.coins
    step(host)
    assert (world.coins, world.score) == ({}, 1)


def test_who_is_about_to_leave_strikes_nobody(demo: Any) -> None:
    """He is within reach and would strike in the very tick in which he falls."""
    hosts = [near(demo, UNIT // 2) for _ in range(2)]
    for host, attack in zip(hosts, (True, False), strict=True):
        host.session.world.guards[1].health = 1
        step(host, attack=attack)
    attacked, left_alone = (host.session.world for host in hosts)
    assert attacked.guards == {}
    assert attacked.player.health == 3
    assert left_alone.player.health == 2, "the control: he would have"


def test_events_are_consumed_in_their_tick(demo: Any) -> None:
    host = near(demo, UNIT // 2)
    world = host.session.world
    step(host)
    kinds = {type(event).__name__ for event in world.events}
    assert kinds == {"CollisionEntered", "DamageApplied"}
    assert {event.tick for event in world.events} == {0}
    step(host)
    assert world.events == [], "they touch, but they did before"
    assert world.touching == {(0, 1)}


def test_who_is_struck_down_begins_anew_without_a_way_there(demo: Any) -> None:
    """Teleport: drawn half way through the tick, he is where he begins and not in between."""
    host = near(demo, UNIT // 2)
    world = host.session.world
    kinds: list[str] = []
    while "fall" not in kinds:
        kinds = [kind for _, kind in step(host, 100)]
        assert world.tick < 200
    body = world.player.body
    assert body.at.current == body.at.previous == body.at.at(0.5) == (0, 0)
    assert (world.player.health, world.falls) == (3, 1)


def test_guards_think_in_their_own_ticks(demo: Any) -> None:
    host = make(demo)
    guard = host.session.world.guards[1]
    asked = []
    for tick in range(20):
        before = guard.revision
        step(host)
        if guard.revision != before:
            asked.append(tick)
    assert asked == [1, 5, 9, 13, 17]
    assert guard.direction == -1


def test_an_answer_for_a_guard_who_has_died_is_counted_and_not_applied(demo: Any) -> None:
    host = near(demo, UNIT)
    world = host.session.world
    world.guards[1].health = 1
    tick(host)
    assert tick(host, attack=True)  # he asks in tick 1, and falls in it
    assert world.guards == {}
    host.deliver()
    step(host)
    counters = host.mailbox.counters
    assert (counters.target, counters.applied, counters.outstanding) == (1, 0, 0)


def test_an_answer_to_an_earlier_question_is_not_applied(demo: Any) -> None:
    """Four ticks pass before the first answer is in, and he has asked again."""
    host = make(demo)
    for _ in range(6):
        tick(host)
    assert host.session.world.guards[1].revision == 2
    host.deliver()
    step(host)
    counters = host.mailbox.counters
    assert (counters.superseded, counters.applied) == (1, 1)


def test_an_answer_for_an_earlier_world_is_not_applied(demo: Any) -> None:
    host = make(demo)
    for _ in range(2):
        tick(host)
    records = host.outbox.deliver()
    assert [record.kind for record in records] == ["think"]
    host.session.restart()
    host._think(records[0])
    step(host)
    assert host.session.world.guards[1].direction == 0
    assert host.mailbox.counters.world == 1


# Faults.


def test_what_does_not_fit_faults_in_commit_with_nothing_created(demo: Any) -> None:
    host = near(demo, UNIT)
    world = host.session.world
    room = demo.level.ENTITIES - world.created
    for index in range(room):
        body = world.new_body((-9 * UNIT + index, 9 * UNIT), (1, 1))
        world.coins[body.sequence] = demo.world.Coin(body)
    world.guards[1].health = 1
    before = set(world.coins)
    assert not tick(host, attack=True)
    assert host.session.state == "faulted"
    fault = host.session.fault
    assert (fault.phase, type(fault.error)) == ("Commit", demo.world.CapacityExceeded)
    assert set(world.coins) == before, "checked before anything is done"
    assert world.guards, "he was to leave in the commit that did not happen"
    assert host.deliver() == [], "the swing and the hit were not heard"
    assert host.session.tick == world.tick == 0


SYSTEMS = {
    "begin": "BeginTick",
    "player_intent": "Intent",
    "move": "Motion",
    "triggers": "Gameplay",
    "commit": "Commit",
    "check": "EndTick",
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_fault_in_any_system_is_named_and_silences_its_tick(
    demo: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Tick 30 swings and hits before it fails; the swing and the hit of tick 0 are heard."""
    host = near(demo, 3 * UNIT // 2)
    session = host.session
    tick(host, attack=True)
    for _ in range(29):
        tick(host)
    original = getattr(demo.world, name)

    def failing(*arguments: Any) -> None:
        original(*arguments)
        raise ZeroDivisionError(name)

    monkeypatch.setattr(demo.world, name, failing)
    tick(host, attack=True)
    assert session.state == "faulted"
    assert (session.fault.tick, session.fault.phase) == (30, SYSTEMS[name])
    heard = [(record.tick, record.kind) for record in host.deliver()]
    assert [kind for tick, kind in heard if tick == 0] == ["swing", "hit"]
    assert all(tick < 30 for tick, _ in heard)
    monkeypatch.setattr(demo.world, name, original)
    session.restart()
    tick(host, attack=True)
    assert (session.state, session.tick) == ("playing", 1)
    assert [record.kind for record in host.deliver()] == ["swing", "hit"]


# The window.

KEYS = ("ESCAPE", "LEFT", "RIGHT", "SPACE", "a", "d", "n", "p", "r", "x")
EVENTS = ("QUIT", "KEYDOWN", "KEYUP", "WINDOWFOCUSLOST", "WINDOWFOCUSGAINED", "MOUSEMOTION")
MORE_EVENTS = (
    "WINDOWMINIMIZED",
    "WINDOWHIDDEN",
    "WINDOWRESTORED",
    "WINDOWMAXIMIZED",
    "WINDOWSHOWN",
)


class Surface:
    """Takes what is drawn, and remembers the text."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.shapes = 0

    def fill(self, colour: object) -> None:
        self.lines, self.shapes = [], 0

    def blit(self, text: str, at: object) -> None:
        self.lines.append(text)


def stand_in() -> Any:
    """As much of pygame as the window and its adapter need."""
    pygame: Any = ModuleType("pygame")
    for number, name in enumerate((*[f"K_{key}" for key in KEYS], *EVENTS, *MORE_EVENTS), 1):
        setattr(pygame, name, number)

    def shape(surface: Surface, *arguments: object, **options: object) -> None:
        surface.shapes += 1

    pygame.queue, pygame.held, pygame.titles = [], set(), []

    def get() -> list[Any]:
        events: list[Any] = pygame.queue
        pygame.queue = []
        return events

    class Pressed:
        def __getitem__(self, key: int) -> bool:
            return key in pygame.held

    pygame.event = SimpleNamespace(get=get)
    pygame.key = SimpleNamespace(get_pressed=Pressed)
    pygame.display = SimpleNamespace(
        get_surface=lambda: True,
        get_current_refresh_rate=lambda: 60,
        set_caption=pygame.titles.append,
        flip=lambda: None,
        quit=lambda: None,
    )
    pygame.draw = SimpleNamespace(rect=shape, circle=shape)
    pygame.Rect = lambda *numbers: numbers
    pygame.Surface = Surface
    font = SimpleNamespace(render=lambda text, smooth, colour: text)
    pygame.font = SimpleNamespace(Font=lambda name, size: font)
    return pygame


class Player:
    """Somebody at the window, on a clock that is a number."""

    def __init__(self, demo: Any, window: Any) -> None:
        self.pygame = window.pygame
        self.surface = Surface()
        self.now = SECOND
        self.play = window.Play(
            demo.level.YARD,
            self.surface,
            demo.host.Inline(),
            fps=None,
            clock=lambda: Timestamp(self.now),
        )
        self.window, self.session = self.play.window, self.play.session

    def event(self, name: str, **fields: Any) -> None:
        self.pygame.queue.append(SimpleNamespace(type=getattr(self.pygame, name), **fields))

    def key(self, name: str, *, down: bool = True) -> None:
        key = getattr(self.pygame, f"K_{name}")
        (self.pygame.held.add if down else self.pygame.held.discard)(key)
        self.event("KEYDOWN" if down else "KEYUP", key=key)

    def frames(self, count: int = 1) -> Any:
        for _ in range(count):
            self.now += self.window.wait()
            self.window.run_frame()
        return self.window.report


@pytest.fixture
def player(demo: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Player]:
    monkeypatch.setitem(sys.modules, "pygame", stand_in())
    sys.modules.pop(WINDOW, None)
    somebody = Player(demo, importlib.import_module(WINDOW))
    somebody.frames(2)
    yield somebody
    del sys.modules[WINDOW]


def test_the_window_draws_a_world_that_moves(player: Player) -> None:
    before = player.session.world.player.body.x
    player.key("RIGHT")
    report = player.frames(3)
    assert (report.state, report.ran) == ("playing", 1)
    assert player.session.world.player.body.x > before
    assert player.surface.shapes >= 4
    assert player.surface.lines[0].startswith("playing   tick 4   health 3   coins 0")
    player.key("RIGHT", down=False)
    player.key("a")
    player.frames(3)
    assert player.session.world.player.body.x == before


def test_p_pauses_and_resumes_and_n_is_one_tick(player: Player) -> None:
    player.key("n")
    player.frames()
    assert player.session.tick == 2, "no single tick while playing"
    player.key("p")
    report = player.frames(5)
    assert (report.state, report.tick) == ("paused", 2)
    player.key("n")
    assert player.frames().tick == 3
    player.key("p")
    player.frames(30)
    assert player.session.state == "playing"
    assert player.session.tick > 10


def test_r_restarts(player: Player) -> None:
    player.frames(5)
    world = player.session.world
    player.key("r")
    player.frames()
    assert player.session.world is not world
    assert player.session.tick == 0


def test_a_tap_between_two_frames_is_one_attack(player: Player) -> None:
    player.key("SPACE")
    player.key("SPACE", down=False)
    player.frames(2)
    assert [effect.kind for effect in player.play.effects] == ["swing"]
    player.frames(30)
    assert player.play.effects == []


def test_a_key_held_while_the_focus_goes_is_let_go(player: Player) -> None:
    player.key("RIGHT")
    player.frames(3)
    player.event("WINDOWFOCUSLOST")
    player.pygame.held.clear()  # as SDL does
    player.frames()
    at = player.session.world.player.body.x
    player.frames(3)
    assert player.session.world.player.body.x == at


def test_a_window_out_of_sight_excludes_time(player: Player) -> None:
    for gone, back in (("WINDOWMINIMIZED", "WINDOWRESTORED"), ("WINDOWHIDDEN", "WINDOWSHOWN")):
        tick = player.session.tick
        player.event(gone)
        assert player.frames(10).tick == tick
        player.event(back)
        assert player.frames(2).tick == tick + 1


def test_a_fault_keeps_the_last_good_picture_and_is_in_the_title(
    player: Player, demo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    player.key("RIGHT")
    player.frames(3)
    good = list(player.surface.lines)

    def failing(world: Any) -> None:
        world.player.body.at.teleport((0, 0))
        raise ZeroDivisionError("planted")

    with monkeypatch.context() as patch:
        patch.setattr(demo.world, "move", failing)
        report = player.frames(3)
    assert report.state == "faulted"
    assert player.surface.lines == good
    title = "tick 4 failed in Motion: ZeroDivisionError('planted'); R restarts"
    assert player.pygame.titles[-1] == title
    player.key("p")
    player.key("n")
    assert player.frames().state == "faulted"
    player.key("p")
    player.key("r")
    assert player.frames(2).state == "playing"


def test_the_exit_leads_to_a_new_world(player: Player) -> None:
    world = player.session.world
    world.player.body.at.teleport((7 * UNIT, 0))
    player.key("d")
    player.frames(20)
    assert player.session.world is not world
    assert player.session.world_id == 2


@pytest.mark.parametrize("way", ["ESCAPE", "QUIT"])
def test_escape_and_the_close_button_end_it(player: Player, way: str) -> None:
    player.event("MOUSEMOTION")
    player.key("x")
    assert player.frames()
    assert not player.window.closed
    if way == "QUIT":
        player.event("QUIT")
    else:
        player.key("ESCAPE")
    player.frames(2)
    assert player.window.closed
