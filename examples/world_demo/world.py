"""A small world: a player, a guard who wants to catch him, and an exit. Its rules, tick by tick.

`World.step` is the whole order of effects, in one place, as ordinary calls. Each system says what
it reads and writes. Everything is an integer, and entities are named by the order they were created
in, never by where they lie in memory; so two runs with the same input are equal to the last bit,
and a recording of one means the same in the next process.

Events are facts of this tick and are consumed in it. What should be created or destroyed is asked
for and happens in Commit, all of it or nothing. What should be heard or seen is staged in the
outbox, with its place copied, since the entity may be gone when the sound is played.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fixedstep import StateHash
from fixedstep.sim import (
    Cadence,
    Deadline,
    History,
    MailboxFull,
    Stale,
    Tick,
    Ticket,
    TickInput,
    TimerQueue,
)

from .level import (
    ATTACK_RADIUS,
    BOUND,
    COIN_HALF,
    COIN_TICKS,
    COOLDOWN_TICKS,
    DECISION_TICKS,
    ENTITIES,
    GUARD_HALF,
    GUARD_REACH,
    PLAYER_HALF,
    UNIT,
    UNIT_PER_SECOND,
    Level,
)

BUTTONS, AXES = ("attack",), ("move",)

Point = tuple[int, int]


class CapacityExceeded(RuntimeError):
    """What should be created does not fit."""


class CollisionEntered(NamedTuple):
    """Two entities touch that did not in the tick before; the lower sequence first."""

    tick: int
    first: int
    second: int


class DamageApplied(NamedTuple):
    """Somebody lost health."""

    tick: int
    target: int
    left: int


class SpawnCommitted(NamedTuple):
    """Something was created. Read by the next tick."""

    tick: int
    sequence: int


Event = CollisionEntered | DamageApplied | SpawnCommitted


class Expire(NamedTuple):
    """A timer's payload: this entity's time is up."""

    target: int


@dataclass
class Body:
    """What has a place. ``sequence`` is the order of creation, and the only name it has."""

    sequence: int
    at: History[Point]
    half: Point
    velocity: Point = (0, 0)
    leaving: bool = False
    """Whether it will be destroyed in this tick's Commit. It takes part in nothing more."""

    @property
    def x(self) -> int:
        """Where it is, left to right."""
        return self.at.current[0]

    @property
    def y(self) -> int:
        """Where it is, bottom to top."""
        return self.at.current[1]

    def absorb_into(self, digest: StateHash) -> StateHash:
        """Sequence, place, velocity, size. Not the previous place, which is only drawn."""
        digest = digest.absorb_u64(self.sequence)
        for number in (*self.at.current, *self.velocity, *self.half):
            digest = digest.absorb_i64(number)
        return digest


@dataclass
class Player:
    """The one with the keyboard."""

    body: Body
    health: int = 3
    cooldown: Deadline = field(default_factory=Deadline)
    wants_attack: bool = False


@dataclass
class Guard:
    """The one without. He decides now and then, and keeps to it in between."""

    body: Body
    thinks: Cadence
    health: int = 2
    cooldown: Deadline = field(default_factory=Deadline)
    direction: int = 0
    revision: int = 0
    """How often he asked which way to go. An answer to an earlier question is no answer."""


@dataclass
class Coin:
    """What a guard leaves behind: worth one, for a while."""

    body: Body


@dataclass
class Exit:
    """The way out. It opens once."""

    body: Body
    used: bool = False


class World:
    """All that is authoritative, and the queues of the tick under way."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.tick = 0
        self.random = level.seed
        self.score = 0
        self.falls = 0
        self.next_level = ""
        self.timers = TimerQueue[Expire](capacity=ENTITIES)
        self.created = 0
        self.player = Player(self.new_body(level.player, PLAYER_HALF))
        guard = self.new_body(level.guard, GUARD_HALF)
        self.guards = {guard.sequence: Guard(guard, Cadence.spread(DECISION_TICKS, guard.sequence))}
        door = level.exit
        self.exit = Exit(self.new_body((door.x, door.y), (door.half_x, door.half_y)))
        self.coins: dict[int, Coin] = {}
        self.touching: set[Point] = set()
        """Pairs of sequences, the lower first, that touch."""
        # The queues of one tick.
        self.events: list[Event] = []
        self.outcomes: list[SpawnCommitted] = []
        self.to_create: list[Point] = []

    def step(self, input: TickInput, tick: Tick) -> None:
        """One tick, in its order."""
        begin(self, tick)
        tick.enter("Intent")
        player_intent(self, input)
        guard_intents(self, tick)
        tick.enter("Motion")
        move(self)
        find_contacts(self, tick)
        tick.enter("Gameplay")
        player_attack(self, tick)
        guard_attacks(self, tick)
        triggers(self, tick)
        expire(self, tick)
        tick.enter("Commit")
        commit(self, tick)
        tick.enter("EndTick")
        check(self)
        self.tick += 1

    def is_current(self, ticket: Ticket) -> bool | Stale:
        """Whether an answer is still wanted: the guard lives, and has asked nothing since."""
        guard = next((g for g in self.guards.values() if g.body.sequence == ticket.target), None)
        if guard is None:
            return Stale.TARGET
        return True if guard.revision == ticket.revision else Stale.REVISION

    def digests(self) -> dict[str, StateHash]:
        """Everything authoritative, by name, in a fixed order; not what is drawn or queued."""
        rules = StateHash()
        for number in (
            self.tick,
            self.level.seed,
            self.random,
            self.created,
            self.score,
            self.falls,
        ):
            rules = rules.absorb_u64(number)
        text = self.next_level.encode()
        rules = rules.absorb_u64(len(text)).absorb_bytes(text)
        for first, second in sorted(self.touching):
            rules = rules.absorb_u64(first).absorb_u64(second)

        player = self.player.body.absorb_into(StateHash()).absorb_u64(self.player.health)
        player = _absorb_deadline(player, self.player.cooldown)

        guards = StateHash()
        for guard in self.guards.values():
            guards = guard.body.absorb_into(guards).absorb_u64(guard.health)
            guards = _absorb_deadline(guards, guard.cooldown)
            guards = guards.absorb_i64(guard.direction).absorb_u64(guard.revision)

        return {
            "rules": rules,
            "player": player,
            "guards": guards,
            "exit": self.exit.body.absorb_into(StateHash()).absorb_u64(self.exit.used),
            "coins": _absorb_bodies(coin.body for coin in self.coins.values()),
            "timers": _absorb_timers(self.timers),
        }

    def new_body(self, at: Point, half: Point) -> Body:
        """A body with the next sequence, whose history is equal: it comes from nowhere."""
        body = Body(self.created, History(at), half)
        self.created += 1
        return body

    def bodies(self) -> Iterator[Body]:
        """All of them, by creation sequence."""
        found = [self.player.body, self.exit.body]
        found += [guard.body for guard in self.guards.values()]
        found += [coin.body for coin in self.coins.values()]
        return iter(sorted(found, key=lambda body: body.sequence))

    def draw_random(self, below: int) -> int:
        """The next number of the world's own sequence. Who draws when is part of the rules."""
        self.random = (self.random * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (self.random >> 33) % below


def begin(world: World, tick: Tick) -> None:
    """Clear the queues, take results and outcomes in, and capture where everything was.

    Reads completions and the outcomes of the last Commit. Writes directions and timers.
    """
    world.events.clear()
    world.to_create.clear()
    for ticket, result, error in tick.completions:
        guard = next(g for g in world.guards.values() if g.body.sequence == ticket.target)
        if error is None:
            guard.direction = result
    for outcome in world.outcomes:
        world.timers.schedule(tick.number, COIN_TICKS, Expire(outcome.sequence))
    world.outcomes.clear()
    for body in world.bodies():
        body.at.capture()


def player_intent(world: World, tick_input: TickInput) -> None:
    """Reads input. Writes the player's velocity and his wish to attack."""
    player = world.player
    speed = 4 * UNIT_PER_SECOND * tick_input["move"].axis // 1_000
    player.body.velocity = speed, player.body.velocity[1]
    player.wants_attack = tick_input["attack"].pressed > 0


def guard_intents(world: World, tick: Tick) -> None:
    """Each guard asks the way in his own ticks, and walks as he last decided in the others.

    Reads places. Writes velocities and revisions; requests work and stages its start.
    """
    for guard in world.guards.values():
        if guard.thinks.due(tick.number):
            try:
                ticket = tick.reserve(guard.body.sequence, guard.revision + 1)
            except MailboxFull:
                pass  # he keeps to what he decided last
            else:
                guard.revision += 1
                question = (ticket, guard.body.x, world.player.body.x)
                tick.outbox.stage("think", guard.body.at.current, question, required=True)
        speed = 2 * UNIT_PER_SECOND * guard.direction
        guard.body.velocity = speed, guard.body.velocity[1]


def move(world: World) -> None:
    """Reads velocities and the level. Writes places."""
    floor, gravity = world.level.floor, world.level.gravity
    for body in (world.player.body, *(guard.body for guard in world.guards.values())):
        vx, vy = body.velocity
        vy -= gravity
        x = max(-BOUND, min(BOUND, body.x + vx))
        y = body.y + vy
        lowest = floor.top + body.half[1]
        if y <= lowest and abs(x - floor.x) <= floor.half_x:
            y, vy = lowest, 0
        body.velocity = vx, vy
        body.at.set((x, y))


def find_contacts(world: World, tick: Tick) -> None:
    """Reads places. Writes which pairs touch, and an event for each that began to.

    Pairs are ordered, the lower sequence first, and so are the events.
    """
    bodies = list(world.bodies())
    now = {
        (one.sequence, other.sequence)
        for index, one in enumerate(bodies)
        for other in bodies[index + 1 :]
        if abs(one.x - other.x) < one.half[0] + other.half[0]
        and abs(one.y - other.y) < one.half[1] + other.half[1]
    }
    for first, second in sorted(now - world.touching):
        world.events.append(CollisionEntered(tick.number, first, second))
    world.touching = now


def player_attack(world: World, tick: Tick) -> None:
    """An attack in tick N makes the next one possible in tick N + 30.

    Reads the wish, places, health. Writes health, the cooldown, who leaves, and requests.
    """
    player = world.player
    ready = not player.cooldown.armed or player.cooldown.due(tick.number)
    if not player.wants_attack or not ready:
        return
    player.cooldown.arm(tick.number, COOLDOWN_TICKS)
    tick.outbox.stage("swing", player.body.at.current)
    for guard in world.guards.values():
        if distance_squared(player.body, guard.body) < ATTACK_RADIUS**2:
            hurt(world, tick, guard.body, guard)
            if guard.health == 0:
                guard.body.leaving = True
                tick.outbox.stage("death", guard.body.at.current)
                offset = (world.draw_random(3) - 1) * UNIT
                world.to_create.append((guard.body.x + offset, guard.body.y))


def guard_attacks(world: World, tick: Tick) -> None:
    """Guards strike whom they reach, in the order they were created. Who is leaving does not.

    Reads places and cooldowns. Writes health, and where the player is if that was too much.
    """
    player = world.player
    for guard in world.guards.values():
        ready = not guard.cooldown.armed or guard.cooldown.due(tick.number)
        near = distance_squared(player.body, guard.body) < GUARD_REACH**2
        if guard.body.leaving or not ready or not near:
            continue
        guard.cooldown.arm(tick.number, COOLDOWN_TICKS)
        hurt(world, tick, player.body, player)
        if player.health == 0:
            player.health = 3
            world.falls += 1
            tick.outbox.stage("fall", player.body.at.current)
            player.body.at.teleport(world.level.player)


def hurt(world: World, tick: Tick, body: Body, who: Player | Guard) -> None:
    """One point of damage: an event for the rules, a request for the eye."""
    who.health -= 1
    world.events.append(DamageApplied(tick.number, body.sequence, who.health))
    tick.outbox.stage("hit", body.at.current, who.health)


def triggers(world: World, tick: Tick) -> None:
    """Coins and the exit, on the player's entering them and never on his staying.

    Reads this tick's collisions. Writes the score, who leaves, and the level to come.
    """
    player, door = world.player.body, world.exit
    for event in world.events:
        if not isinstance(event, CollisionEntered) or player.sequence not in event[1:]:
            continue
        other = event.first + event.second - player.sequence
        coin = world.coins.get(other)
        if coin is not None and not coin.body.leaving:
            coin.body.leaving = True
            world.score += 1
            tick.outbox.stage("coin", coin.body.at.current, world.score)
        if other == door.body.sequence and not door.used:
            door.used = True
            world.next_level = world.level.name
            tick.outbox.stage("exit", door.body.at.current, world.next_level, required=True)


def expire(world: World, tick: Tick) -> None:
    """Coins whose time is up leave, unless they were taken: the target is asked for again.

    Reads due timers. Writes who leaves.
    """
    for timer in tick.due:
        coin = world.coins.get(timer.payload.target)
        if coin is not None and not coin.body.leaving:
            coin.body.leaving = True


def commit(world: World, tick: Tick) -> None:
    """Create what was asked for and destroy what leaves. Checked first, so it is all or nothing.

    What leaves in this tick does not make room in it. Writes pools, contacts and outcomes.
    """
    count = sum(1 for _ in world.bodies())
    if count + len(world.to_create) > ENTITIES:
        raise CapacityExceeded(
            f"{len(world.to_create)} more entities do not fit beside {count} of {ENTITIES}"
        )
    gone = {body.sequence for body in world.bodies() if body.leaving}
    world.guards = {s: guard for s, guard in world.guards.items() if s not in gone}
    world.coins = {s: coin for s, coin in world.coins.items() if s not in gone}
    world.touching = {pair for pair in world.touching if gone.isdisjoint(pair)}
    for at in world.to_create:
        coin = Coin(world.new_body(at, COIN_HALF))
        world.coins[coin.body.sequence] = coin
        committed = SpawnCommitted(tick.number, coin.body.sequence)
        world.events.append(committed)
        world.outcomes.append(committed)
        tick.outbox.stage("spawn", at, coin.body.sequence)


def check(world: World) -> None:
    """What must hold after every tick."""
    if not all(abs(body.x) <= BOUND + UNIT for body in world.bodies()):
        raise AssertionError("somebody left the world")


def distance_squared(one: Body, other: Body) -> int:
    """Squared, because the root is no integer."""
    return (one.x - other.x) ** 2 + (one.y - other.y) ** 2


def which_way(guard_x: int, player_x: int) -> int:
    """The work that is done in the background: from owned numbers, to an owned number."""
    return (player_x > guard_x) - (player_x < guard_x)


def state_hash(world: World) -> int:
    """One number for the whole of it."""
    state = StateHash()
    for digest in world.digests().values():
        state = state.absorb_u64(digest.finish())
    return state.finish()


def _absorb_deadline(digest: StateHash, deadline: Deadline) -> StateHash:
    at = deadline.at
    return digest.absorb_u64(at is not None).absorb_u64(at or 0)


def _absorb_bodies(bodies: Iterable[Body]) -> StateHash:
    digest = StateHash()
    for body in bodies:
        digest = body.absorb_into(digest)
    return digest


def _absorb_timers(timers: TimerQueue[Expire]) -> StateHash:
    digest = StateHash()
    for timer in timers:
        digest = digest.absorb_u64(timer.due_tick).absorb_u64(timer.payload.target)
    return digest
