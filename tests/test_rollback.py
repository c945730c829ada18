"""Rollback: every machine comes to the world of a game without a network, whatever the network
does to the packets.

The games are played in memory: a network that delays, loses, doubles and reorders packets, machines
that freeze or vanish, spectators that join late. `FIXEDSTEP_ROLLBACK_GAMES` is how many are played.
"""

from __future__ import annotations

import copy
import os
import pickle
import re
from fractions import Fraction
from functools import cache, partial
from itertools import combinations
from random import Random as Dice
from typing import Any

import pytest

from fixedstep import StateHash
from fixedstep.sim import Desync, Mailbox, Outbox, Random, Rollback, TimerQueue

GAMES = int(os.environ.get("FIXEDSTEP_ROLLBACK_GAMES", "40"))
IDLE = 0


class World:
    """Points that are pushed about, bounce off each other, and draw random numbers."""

    def __init__(self, players: int = 2) -> None:
        self.x = [100 * player for player in range(players)]
        self.speed = [0] * players
        self.random = Random(7)
        self.ticks = 0

    def step(self, inputs: tuple[Any, ...], tick: Any) -> None:
        assert tick.number == self.ticks
        self.ticks += 1
        for player, pressed in enumerate(inputs):
            if pressed is None:
                self.speed[player] = 0
                continue
            self.speed[player] += (pressed & 1) - (pressed >> 1 & 1)
            self.x[player] = (self.x[player] + self.speed[player]) % 1000
            if pressed & 4:
                self.speed[player] += self.random.below(5) - 2
                tick.outbox.stage("bang", anchor=(player, self.x[player]))

    def digests(self) -> dict[str, Any]:
        hash = StateHash()
        return {
            "place": {str(p): hash.absorb_i64(x) for p, x in enumerate(self.x)},
            "speed": hash.absorb(self.speed),
            "random": hash.absorb(self.random),
        }


class Machine:
    """One peer, and what it was seen to do."""

    def __init__(self, rollback: Rollback[Any], name: str) -> None:
        self.rollback = rollback
        self.name = name
        self.peers: list[str] = []
        self.frozen = range(0)
        self.vanishes = 10**9
        self.credit = Fraction(0)
        self.delivered: list[Any] = []
        self.digests: dict[int, Any] = {}
        self.entries = 0
        self.packets: list[int] = []

    def gone(self, frame: int) -> bool:
        return frame >= self.vanishes


class Game:
    """Machines and the network between them."""

    def __init__(self, seed: int, make: Any = World) -> None:
        self.dice = Dice(seed)
        self.make = make
        self.machines: dict[str, Machine] = {}
        self.flying: list[tuple[int, int, str, str, bytes]] = []
        self.frame = 0
        self.latency = self.dice.randint(0, 15)
        self.jitter = self.dice.randint(0, 4)
        self.loss = 0.3
        self.given: dict[int, dict[int, int]] = {}
        self.pressed: dict[int, int] = {}
        self.sent = 0
        self.playing = True

    def add(self, name: str, players: int, local: Any, **options: Any) -> Machine:
        make = options.pop("make", lambda: self.make(players))
        machine = Machine(Rollback(make, players, local, session=5, **options), name)
        self.machines[name] = machine
        return machine

    def join(self, one: str, other: str) -> None:
        for name, peer in ((one, other), (other, one)):
            local = self.machines[peer].rollback._local
            self.machines[name].rollback.add_peer(peer, local or None)
            self.machines[name].peers.append(peer)

    def input(self, player: int) -> int:
        if not self.playing:
            return IDLE
        if self.dice.random() < 0.15:
            self.pressed[player] = self.dice.randrange(8)
        return self.pressed.get(player, 0)

    def send(self, sender: Machine, to: str) -> None:
        packet = sender.rollback.packet(to)
        sender.packets.append(len(packet))
        for _ in range(1 + (self.dice.random() < 0.1)):
            if self.dice.random() < self.loss:
                continue
            arrives = self.frame + 1 + self.latency + self.dice.randint(0, self.jitter)
            self.sent += 1
            self.flying.append((arrives, self.dice.randrange(10**6), sender.name, to, packet))

    def run(self, frames: int) -> None:
        for _ in range(frames):
            self.frame += 1
            arrived = sorted(each for each in self.flying if each[0] <= self.frame)
            self.flying = [each for each in self.flying if each[0] > self.frame]
            for _, _, sender, to, packet in arrived:
                machine = self.machines[to]
                if not machine.gone(self.frame) and self.frame not in machine.frozen:
                    machine.rollback.receive(sender, packet)
            for machine in self.machines.values():
                if not machine.gone(self.frame) and self.frame not in machine.frozen:
                    self.step(machine)

    def step(self, machine: Machine) -> None:
        rollback = machine.rollback
        machine.credit += rollback.pace
        if machine.credit >= 1:
            machine.credit -= 1
            local = rollback._local
            inputs = tuple(self.input(player) for player in local)
            tick = rollback.tick
            given: Any = inputs[0] if len(local) == 1 else (inputs or None)
            if rollback.advance(given):
                for player, value in zip(local, inputs, strict=True):
                    known = self.given.setdefault(player, {})
                    known[tick + rollback._delay] = value
        else:
            rollback.settle()
        for found, root, _ in rollback._digests:
            machine.digests.setdefault(found, root)
        machine.delivered += rollback.deliver()
        for peer in machine.peers:
            self.send(machine, peer)
        machine.entries = max(machine.entries, sum(map(len, rollback._inputs)))

    def plain(self, players: int, ticks: int, ended: dict[int, int]) -> tuple[dict[int, int], Any]:
        """The game without a network, on the same inputs."""
        run = Rollback(lambda: self.make(players), players, tuple(range(players)), delay=0)
        run_for: list[Any] = []
        roots: dict[int, int] = {}
        for player, end in ended.items():
            run._ended[player] = end
        for tick in range(ticks):
            inputs = [self.given.get(p, {}).get(tick, IDLE) for p in range(players)]
            assert run.advance(inputs[0] if players == 1 else tuple(inputs))
            roots[tick] = run._digests[-1][1]
            run_for += run.deliver()
        return roots, run_for

    def check(self, players: int, least: int) -> None:
        """Every confirmed tick is that of the game without a network, and so are the effects."""
        living = [m for m in self.machines.values() if not m.gone(self.frame)]
        ends: list[dict[int, Any]] = [m.rollback.dropped for m in living]
        assert all(end == ends[0] for end in ends)
        longest = max(m.rollback.confirmed for m in self.machines.values())
        roots, effects = self.plain(players, longest, ends[0])
        for machine in self.machines.values():
            rollback = machine.rollback
            assert rollback.fault is None
            if machine in living:
                assert rollback.desync is None
                assert rollback.confirmed >= least
            assert len(machine.digests) == rollback.confirmed - rollback._start
            wrong = {t: d for t, d in machine.digests.items() if roots[t] != d}
            # A machine that vanished may have confirmed ticks that its own last input is in, which
            # nobody else has.
            assert machine not in living or not wrong
            expected = [e for e in effects if rollback._start <= e.tick < rollback.confirmed]
            assert machine not in living or machine.delivered == expected


@cache
def play(seed: int) -> Game:
    """A random game."""
    game = Game(seed)
    dice = game.dice
    players = dice.randint(2, 4)
    star = players > 2 and dice.random() < 0.3
    names = [str(player) for player in range(players)]
    for player, name in enumerate(names):
        delay, window = dice.choice([(2, 8), (0, 12), (4, 6), (1, 30), (3, 0)])
        game.add(name, players, player, delay=delay, window=window)
    for one in range(players):
        for other in range(one + 1, players):
            if not star or one == 0:
                game.join(names[one], names[other])
    spectator = dice.random() < 0.4
    if spectator:
        game.add("spectator", players, None)
        for name in names[:1] if star else names:
            game.join(name, "spectator")
    if dice.random() < 0.4:
        start = dice.randint(20, 150)
        game.machines[dice.choice(names)].frozen = range(start, start + 60)
    vanishing = names[-1] if dice.random() < 0.3 else None
    if vanishing:
        game.machines[vanishing].vanishes = dice.randint(50, 200)
    late = dice.random() < 0.3
    for chunk in range(6):
        game.run(50)
        if late and chunk == 2:
            tick, world = game.machines["0"].rollback.snapshot()
            game.add("late", players, None, start=tick, make=partial(copy.copy, world))
            game.join("0", "late")
        if vanishing and game.frame >= game.machines[vanishing].vanishes + 40:
            for name in names[: 1 if chunk % 2 else -1]:
                game.machines[name].rollback.drop(int(vanishing))
    game.run(200)
    # To the end: nobody presses anything, and the network is well.
    game.playing, game.loss = False, 0.0
    game.run(60)
    game.check(players, 40)
    return game


@pytest.mark.parametrize("seed", range(GAMES))
def test_every_machine_comes_to_the_world_of_a_game_without_a_network(seed: int) -> None:
    game = play(seed)
    assert game.sent > 300


def test_the_games_have_all_that_makes_them_hard() -> None:
    """The control: wrong guesses, waiting, players that leave, late spectators."""
    again = waited = 0
    dropped: set[str] = set()
    names: set[str] = set()
    for seed in range(12):
        game = play(seed)
        for name, machine in game.machines.items():
            again += machine.rollback.stats.again
            waited += machine.rollback.stats.waited
            names.add(name)
            dropped.update(map(str, machine.rollback.dropped))
    assert again > 1000
    assert waited > 1000
    assert dropped
    assert {"spectator", "late", "3"} <= names


@pytest.mark.parametrize("seed", range(6))
def test_two_players_leave_within_one_another_s_latency(seed: int) -> None:
    """The others agree on the last ticks of both, whoever heard them last."""
    game = Game(1000 + seed)
    first = game.dice.randint(50, 100)
    for player, name in enumerate("abcd"):
        game.add(name, 4, player, window=12)
    for one, other in combinations("abcd", 2):
        game.join(one, other)
    game.machines["c"].vanishes = first
    game.machines["d"].vanishes = first + game.dice.randint(0, 12)
    game.run(first + 30)
    game.machines["a"].rollback.drop(2)
    game.run(game.dice.randint(0, 10))
    game.machines["b"].rollback.drop(3)
    game.run(200)
    game.playing, game.loss = False, 0.0
    game.run(60)
    game.check(4, 150)
    assert game.machines["a"].rollback.dropped.keys() == {2, 3}


def test_a_planted_draw_of_one_machine_is_found_with_tick_and_path() -> None:
    class Cheat(World):
        def step(self, inputs: tuple[Any, ...], tick: Any) -> None:
            super().step(inputs, tick)
            if tick.number == 77:
                self.random.below(2)

    game = Game(3)
    game.latency, game.jitter, game.loss = 2, 0, 0.0
    game.add("a", 2, 0)
    game.add("b", 2, 1, make=Cheat)
    game.join("a", "b")
    game.run(150)
    for name, peer in (("a", "b"), ("b", "a")):
        found = game.machines[name].rollback.desync
        assert found is not None
        assert found == Desync(77, peer, ("random",))


def duel(**options: Any) -> tuple[Rollback[Any], Rollback[Any]]:
    make = options.pop("make", World)
    one, two = (Rollback(make, 2, player, **options) for player in range(2))
    one.add_peer("two", 1)
    two.add_peer("one", 0)
    return one, two


def everything(rollback: Rollback[Any]) -> bytes:
    """All that a rollback holds, to compare."""
    return (
        pickle.dumps(
            {
                name: value
                for name, value in vars(rollback).items()
                if name not in ("_predict", "_copy", "_mailbox", "_peers")
            }
        )
        + repr(
            {
                name: [getattr(peer, slot) for slot in type(peer).__slots__]
                for name, peer in rollback._peers.items()
            }
        ).encode()
    )


@pytest.mark.parametrize("idle", [0, b""])
def test_a_packet_that_is_refused_changes_nothing(idle: Any) -> None:
    """Cut, lengthened, changed and invented: taken, or a ValueError that leaves all as it was."""
    one, two = duel(session=9, idle=idle, make=partial(Still, 2))
    for tick in range(7):
        two.advance(tick if idle == 0 else bytes([tick]))
        one.advance(idle)
    one.receive("two", two.packet("one"))
    for tick in range(3):
        two.advance(tick if idle == 0 else bytes([tick]))
    good = two.packet("one")
    dice = Dice(1)
    told: list[str] = []
    taken = 0
    before = everything(one)
    for number in range(6_000):
        packet = bytearray(good)
        if number % 4 == 0:
            del packet[dice.randrange(len(packet)) :]
        elif number % 4 == 1:
            packet += dice.randbytes(dice.randint(1, 9))
        elif number % 4 == 2:
            packet[dice.randrange(len(packet))] = dice.randrange(256)
        else:
            packet[13:] = dice.randbytes(dice.randrange(60))
        try:
            one.receive("two", bytes(packet))
        except ValueError as error:
            told.append(str(error))
            assert everything(one) == before
        else:
            taken += 1
            before = everything(one)
    assert len(told) > 2_000
    assert all(re.match(r"the packet of \d+ bytes is not valid: ", text) for text in told)
    assert taken > 100
    one.settle()


class Still:
    """A world without digests."""

    def __init__(self, players: int) -> None:
        self.seen: list[Any] = [None] * players

    def step(self, inputs: Any, tick: Any) -> None:
        self.seen = list(inputs)


def test_packets_of_another_game_are_refused() -> None:
    one, _ = duel(session=9)
    _, other = duel(session=10)
    with pytest.raises(ValueError, match="it is of session 10, and this one is 9; ignore it"):
        one.receive("two", other.packet("one"))
    three = Rollback(partial(World, 3), 3, 1, session=9)
    three.add_peer("one", 0)
    with pytest.raises(ValueError, match="it is of a game that has not 2 players"):
        one.receive("two", three.packet("one"))
    echo = Rollback(World, 2, 0, session=9)
    echo.add_peer("one", 1)
    for _ in range(5):
        echo.advance(1)
    with pytest.raises(ValueError, match="it knows input of player 0 that was never given"):
        one.receive("two", echo.packet("one"))


def test_memory_is_bounded_by_the_window_against_a_hostile_peer() -> None:
    """It sends input far ahead of the game and acknowledges nothing."""
    one, two = duel(make=partial(Still, 2))
    two._window = 10**9
    for _ in range(30_000):
        assert two.advance(3)
    for _ in range(300):
        one.receive("two", two.packet("one"))
        one.advance(1)
        two._peers["one"].acks[1] = one._known[1]
    assert one.tick == 300
    assert max(map(len, one._inputs)) <= 8 + 2 + 64 + 300
    for _ in range(5_000):  # now it takes nothing, but its input comes
        two._peers["one"].acks[1] = one._known[1]
        one.receive("two", two.packet("one"))
        one.advance(1)
    assert one.tick == 5_300
    assert max(map(len, one._inputs)) <= 1024 + 8 + 2 + 64
    assert len(one._guessed) <= 8


@pytest.mark.parametrize("ticks", [int(os.environ.get("FIXEDSTEP_ROLLBACK_TICKS", "2000"))])
def test_memory_is_bounded_by_the_window_in_a_long_game(ticks: int) -> None:
    game = Game(11, make=World)
    game.latency, game.jitter = 5, 3
    game.add("a", 2, 0)
    game.add("b", 2, 1)
    game.join("a", "b")
    game.run(ticks)
    for machine in game.machines.values():
        assert machine.rollback.confirmed > ticks * 0.7
        assert machine.entries <= 150
    assert max(game.machines["a"].packets) < 300


def test_several_players_on_one_machine() -> None:
    game = Game(5)
    game.add("sofa", 3, (0, 2))
    game.add("b", 3, 1)
    game.join("sofa", "b")
    game.run(200)
    game.playing, game.loss = False, 0.0
    game.run(60)
    game.check(3, 100)


def test_the_pace_keeps_machines_together() -> None:
    """One starts twelve ticks late. With the pace they meet; by stalls alone they would not."""
    spreads = []
    for paced in (True, False):
        game = Game(2)
        game.latency, game.jitter, game.loss = 2, 0, 0.0
        for player, name in enumerate("ab"):
            game.add(name, 2, player, window=20)
        game.join("a", "b")
        game.machines["b"].frozen = range(12)
        if not paced:
            for machine in game.machines.values():
                machine.credit = Fraction(10**6)
        game.run(400)
        one, two = (game.machines[name].rollback.tick for name in "ab")
        spreads.append(abs(one - two))
    assert spreads[0] <= 3
    assert spreads[1] >= 8


def test_lockstep_never_guesses() -> None:
    game = Game(4)
    game.latency, game.jitter, game.loss = 2, 0, 0.0
    for player, name in enumerate("ab"):
        game.add(name, 2, player, window=0, delay=4)
    game.join("a", "b")
    game.run(200)
    game.check(2, 100)
    assert game.machines["a"].rollback.stats.again == 0


def test_a_dropped_machine_stops() -> None:
    one, two = duel()
    one.drop(1)
    two.receive("one", one.packet("two"))
    assert two.stopped
    assert two.must_wait
    assert not two.advance(1)
    assert one.dropped == {1: 0}
    for _ in range(20):
        assert one.advance(1)
    assert one.confirmed == 20


def test_effects_are_delivered_once_from_a_world_with_an_outbox_and_timers() -> None:
    class Timed(World):
        def __init__(self) -> None:
            super().__init__()
            self.outbox = Outbox()
            self.timers: TimerQueue[int] = TimerQueue(64)

        def step(self, inputs: Any, tick: Any) -> None:
            super().step(inputs, tick)
            for timer in tick.due:
                self.outbox.stage("ring", data=timer.payload)
            if inputs[1]:
                self.timers.schedule(tick.number, 3, inputs[1])

    one, two = duel(make=Timed)
    heard: list[Any] = []
    for tick in range(60):
        two.advance(tick % 7)
        one.advance(0)
        two.receive("one", one.packet("two"))
        if tick % 5 == 4:
            one.receive("two", two.packet("one"))
        heard += one.deliver()
    assert one.stats.copies > 5
    assert len(set(heard)) == len(heard)
    rings = [each.tick for each in heard if each.kind == "ring"]
    assert rings == sorted(rings)
    assert len(rings) > 30


def test_an_exception_of_the_guess_waits_for_the_truth() -> None:
    class Strict(World):
        def step(self, inputs: Any, tick: Any) -> None:
            if inputs[1] == 9:
                raise LookupError("nine")
            super().step(inputs, tick)

    guesses = iter([9])
    one, two = duel(make=Strict, predict=lambda input: next(guesses, 9))
    for _ in range(6):
        assert one.advance(1)
        assert two.advance(0)
    two.receive("one", one.packet("two"))
    assert one.fault is None
    assert one.world.ticks < 6
    one.receive("two", two.packet("one"))
    one.settle()
    assert one.confirmed == 6
    assert one.fault is None
    two.advance(9)
    two.advance(9)
    for _ in range(3):
        one.advance(1)
    for _ in range(3):
        one.receive("two", two.packet("one"))
        one.settle()
    assert one.fault is not None
    assert type(one.fault.error) is LookupError
    assert one.must_wait


def test_a_world_with_a_mailbox_is_refused() -> None:
    class Busy(World):
        def __init__(self) -> None:
            super().__init__()
            self.mail = Mailbox()

    with pytest.raises(TypeError, match="the world must not have a Mailbox, and its mail is one"):
        Rollback(Busy, 2, 0)

    class Asking(World):
        def step(self, inputs: Any, tick: Any) -> None:
            tick.reserve("path")

    alone = Rollback(Asking, 1, 0)
    assert alone.advance(0)
    assert alone.fault is not None
    assert "send the result as input" in str(alone.fault.error)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"players": 0}, ValueError),
        ({"players": 65}, OverflowError),
        ({"local": 2}, OverflowError),
        ({"local": (0, 0)}, ValueError),
        ({"delay": 0, "window": 0}, ValueError),
        ({"delay": 65}, OverflowError),
        ({"window": 257}, OverflowError),
        ({"idle": None}, TypeError),
        ({"idle": -1}, OverflowError),
        ({"idle": bytes(256)}, ValueError),
        ({"digest_every": 0}, ValueError),
        ({"rate": 60}, TypeError),
        ({"session": 2**64}, OverflowError),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    given: dict[str, Any] = {"players": 2, "local": 0, **arguments}
    with pytest.raises(error):
        Rollback(World, given.pop("players"), given.pop("local"), **given)


def test_bad_input_and_unknown_peers_change_nothing() -> None:
    one, _ = duel()
    before = everything(one)
    for bad, error in ((None, TypeError), (-1, OverflowError), (True, TypeError), (b"", TypeError)):
        with pytest.raises(error):
            one.advance(bad)
    with pytest.raises(KeyError):
        one.receive("three", b"")
    with pytest.raises(KeyError):
        one.packet("three")
    with pytest.raises(
        ValueError, match="player 0 is on this machine, and only others are dropped"
    ):
        one.drop(0)
    with pytest.raises(TypeError, match="player must be the number of a player"):
        one.drop((1, 1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="was added before"):
        one.add_peer("two", 1)
    with pytest.raises(ValueError, match="is on this machine"):
        one.add_peer("four", 0)
    assert everything(one) == before
