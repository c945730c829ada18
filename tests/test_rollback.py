"""Rollback: every machine comes to the world of a game without a network, whatever the network
does to the packets.

The games are played in memory: a network that delays, loses, doubles and reorders packets, machines
that freeze or vanish, spectators that join late. `FIXEDSTEP_ROLLBACK_GAMES` is how many are played.
"""

from __future__ import annotations

import os
from fractions import Fraction
from random import Random as Dice
from typing import Any

import pytest

from fixedstep import StateHash
from fixedstep.sim import Desync, Random, Rollback

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
            assert rollback.desync is None
            assert rollback.fault is None
            if machine in living:
                assert rollback.confirmed >= least
            assert len(machine.digests) == rollback.confirmed - rollback._start
            wrong = {t: d for t, d in machine.digests.items() if roots[t] != d}
            # A machine that vanished may have confirmed ticks that its own last input is in, which
            # nobody else has.
            assert machine not in living or not wrong
            expected = [e for e in effects if rollback._start <= e.tick < rollback.confirmed]
            assert machine not in living or machine.delivered == expected


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
            game.add("late", players, None, start=tick, make=lambda world=world: world)
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
    assert game.sent > 500


def test_the_games_have_all_that_makes_them_hard() -> None:
    """The control: wrong guesses, waiting, players that leave, late spectators."""
    again = waited = 0
    dropped: set[str] = set()
    names: set[str] = set()
    for seed in range(25):
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
