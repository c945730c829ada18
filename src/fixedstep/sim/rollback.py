"""Rollback: a game over the network that shows the next tick before everybody's input is here.

`Rollback` keeps two worlds. The confirmed one runs a tick when the input of every player is known.
The guessed one, which is drawn, runs ahead: it predicts the input that is missing. When a
prediction was wrong, it becomes a copy of the confirmed world and runs to the present again.

The usual way is a ring of snapshots, one for each tick. Copies are what costs, so here one is made
only after a wrong guess. Digests are taken of confirmed ticks alone, and only the requests that
confirmed ticks staged for sound and picture are delivered: a guess never shows in either.

Nothing here reads a clock, opens a socket or starts a thread: the game sends what `packet` returns
and passes on what arrives. A packet may be lost, doubled or late. It holds, in this order (numbers
are little-endian base 128, and signed ones are zigzag)::

    "FSR1", session (8 bytes), number of players
    tick and lead of the sender
    for each player, the first tick whose input the sender does not know
    bit set of the players that left; if any: bit set of the players that agreed on it, and for each
      that left the first tick without its input
    0, or 1 + tick and digest (8 bytes) of the newest confirmed tick that has one
    for each player: number of inputs; if any, the tick of the first, and the inputs
    0, or 1 + number of named digests; then their tick, and name and digest (8 bytes) of each

An input is a number, or a length and bytes. Each field but the lead only ever grows, and the lead
of an old packet is not read, so packets may come in any order.
"""

from __future__ import annotations

import copy as copying
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final, Generic, NamedTuple, NoReturn, SupportsIndex, TypeAlias, TypeVar

from .. import digest
from .._arguments import U64_MAX, count, integer, positive, shown
from ..time import Nanos, Rate, Step
from .digests import Digests, world_digests
from .game_loop import Fault
from .mailbox import Mailbox, Ticket
from .outbox import Outbox, Request
from .tick import PHASES, Tick

W = TypeVar("W")

PlayerInput: TypeAlias = "int | bytes"
"""The input of one player in one tick: an integer in 0 .. 2**64 - 1, or bytes."""

_MAGIC: Final = b"FSR1"
_SECOND: Final = 10**9
#: Players, and ticks of delay and of the window.
_MOST_PLAYERS, _LONGEST_DELAY, _LARGEST_WINDOW = 64, 64, 256
#: Bytes of one input.
_LONGEST_INPUT = 255
#: A packet takes no more inputs from this size on, so that it fits into one datagram.
_FULL_PACKET = 1000
#: Ticks for which inputs and digests are kept after they are confirmed, for peers that are behind.
_KEPT = 1024
_KEPT_DIGESTS = 256
#: Ticks over which the lead is averaged.
_LEADS = 30
_SLOW = Fraction(9, 10)


def last(input: PlayerInput) -> PlayerInput:
    """Predict that a player goes on with the last input that is known.

    >>> last(3)
    3
    """
    return input


class Desync(NamedTuple):
    """A tick whose digest is another one on another machine.

    >>> Desync(120, "anna", ("ball/x",)).paths
    ('ball/x',)
    """

    tick: int
    """The first confirmed tick that was compared and differs."""
    peer: Hashable
    """The peer whose digest differs."""
    paths: tuple[str, ...]
    """The names of the digests that differ, as ``digests()`` nests them; empty until the peer has
    sent its own."""


class RollbackStats(NamedTuple):
    """What the guesses cost.

    >>> RollbackStats(again=6, deepest=3, copies=2, waited=0).deepest
    3
    """

    again: int
    """Ticks of the guess that ran again."""
    deepest: int
    """The most ticks that ran again at once."""
    copies: int
    """Copies made of the confirmed world after a wrong guess."""
    waited: int
    """Calls of ``advance`` that had to wait."""


class _NoMailbox(Mailbox):
    """The mailbox of a tick that must not ask for background work."""

    def reserve(self, target: Hashable, revision: Hashable = None) -> Ticket:
        raise RuntimeError(
            f"the request for {shown(target)} cannot be made within a rollback: its result would "
            "come in another tick on each machine; send the result as input"
        )


class _Peer:
    """What is known of a peer."""

    __slots__ = ("acks", "lead", "leads", "named", "players", "tick", "told")

    def __init__(self, players: tuple[int, ...], acks: list[int], tick: int) -> None:
        self.players = players
        self.acks = acks  # for each player, the first tick whose input it does not know
        self.tick = tick
        self.lead = 0
        self.leads: deque[int] = deque(maxlen=_LEADS)  # twice the lead over it
        self.told: tuple[int, int] | None = None  # a digest of a tick not confirmed here
        self.named: int | None = None  # the tick whose digests it is to be sent by name


class _Packet(NamedTuple):
    tick: int
    lead: int
    acks: list[int]
    gone: dict[int, int]
    agreed: int
    digest: tuple[int, int] | None
    inputs: list[tuple[int, list[PlayerInput]]]
    named: tuple[int, dict[str, int]] | None


class Rollback(Generic[W]):
    """Runs the ticks of a world that several machines share: see the top of this module.

    >>> class World:
    ...     def __init__(self):
    ...         self.x = [0, 0]
    ...     def step(self, inputs, tick):
    ...         self.x = [x + (move or 0) for x, move in zip(self.x, inputs)]
    >>> anna, ben = Rollback(World, 2, local=0), Rollback(World, 2, local=1)
    >>> anna.add_peer("ben", player=1)
    >>> ben.add_peer("anna", player=0)
    >>> for _ in range(6):  # ben's packets are lost
    ...     _ = anna.advance(3), ben.advance(1)
    ...     ben.receive("anna", anna.packet("ben"))
    >>> anna.world.x, anna.tick, anna.confirmed
    ([12, 0], 6, 0)
    >>> anna.receive("ben", ben.packet("anna"))
    >>> anna.settle()
    >>> anna.world.x, anna.confirmed, anna.stats.again
    ([12, 4], 6, 0)

    ``make_world()`` makes the world, equal on every machine; ``world.step(inputs, tick)`` runs one
    tick. ``inputs`` is a tuple with the input of each player, None where one has left, and ``tick``
    is a `Tick`, as a session's world is given. ``digests()``, ``outbox`` and ``timers`` are those
    of `Session`; without ``digests()`` nothing is compared.

    ``players`` is how many there are, 1 to 64. ``local`` is the player on this machine, a tuple of
    them, or None for a spectator. Input counts ``delay`` ticks after it is given, 0 to 64, and the
    guess runs at most ``window`` ticks ahead of what is known, 0 to 256; 0 is lockstep. One of
    them must be above 0. ``idle`` is the input of the ticks before the first one that counts; all
    inputs have its type: integers in ``0 .. 2**64 - 1``, or bytes, at most 255. ``predict`` is
    called with the last input that is known of a player and returns what it may be in a later
    tick. ``copy`` copies the world. Digests are taken of every ``digest_every``-th tick.

    ``start`` is the number of the first tick, for a spectator who joins late; see `snapshot`.
    ``session`` is a number in ``0 .. 2**64 - 1`` that packets of another game do not have. ``rate``
    is what ``tick.step`` is computed from.

    Raises TypeError, OverflowError and ValueError for bad arguments, and TypeError for a world with
    a `Mailbox`: results of background work would come in another tick on each machine.
    """

    def __init__(
        self,
        make_world: Callable[[], W],
        players: SupportsIndex,
        local: SupportsIndex | tuple[SupportsIndex, ...] | None,
        *,
        delay: SupportsIndex = 2,
        window: SupportsIndex = 8,
        idle: PlayerInput = 0,
        predict: Callable[[Any], PlayerInput] = last,
        copy: Callable[[W], W] = copying.deepcopy,
        digest_every: SupportsIndex = 1,
        start: SupportsIndex = 0,
        session: SupportsIndex = 0,
        rate: Rate = Rate(60),  # noqa: B008 -- a value that cannot change
    ) -> None:
        fix = "a duel has 2"
        self._players = positive(players, "players", "a whole number", fix, high=_MOST_PLAYERS)
        self._local = self._checked_players(local, "local")
        self._delay = count(delay, "delay", high=_LONGEST_DELAY)
        self._window = count(window, "window", high=_LARGEST_WINDOW)
        if not self._delay + self._window:
            raise ValueError(
                "delay and window must not both be 0 ticks, since input would have to arrive "
                "before it is sent; delay=2, window=8 suits most games"
            )
        fix = "1 compares every tick"
        self._digest_every = positive(digest_every, "digest_every", "a whole number of ticks", fix)
        self._tick = self._confirmed = self._start = count(start, "start", high=2**63)
        self._session = count(session, "session")
        if type(idle) is not int and type(idle) is not bytes:
            raise TypeError(
                f"idle must be an int or bytes, not {type(idle).__name__} {shown(idle)}; 0 is the "
                "default"
            )
        self._idle = idle
        self._checked_input(idle, "idle")
        if not isinstance(rate, Rate):
            raise TypeError(
                f"rate must be a Rate, not {type(rate).__name__} {shown(rate)}; Rate(60) is one"
            )
        self._rate = rate
        self._predict, self._copy = predict, copy

        self._world_confirmed: W = make_world()
        check_no_mailbox(self._world_confirmed)
        self._by_digests = hasattr(self._world_confirmed, "digests")
        # One packet can confirm many ticks, and each may stage as many as a tick can.
        self._outbox, self._no_outbox = Outbox(4096), Outbox()
        self._world: W = copy(self._world_confirmed)
        self._broken = False  # the guess has raised; the picture stays until the next copy
        self._torn = False  # Ctrl-C or the like came within the guess
        self._fault: Fault | None = None
        self._news = False  # something was received that may confirm ticks or show a wrong guess

        # Inputs: for each player those of the ticks base .. known - 1, and the newest of all.
        every = range(self._players)
        self._known = [self._start for _ in every]
        self._base = [self._start for _ in every]
        self._inputs: list[deque[PlayerInput]] = [deque() for _ in every]
        self._newest: list[PlayerInput] = [idle for _ in every]
        self._guessed: deque[tuple[PlayerInput | None, ...]] = deque()  # from confirmed on
        for player in self._local:
            for _ in range(self._delay):
                self._append(player, idle)

        self._peers: dict[Hashable, _Peer] = {}
        self._stopped = False  # the others have dropped a player of this machine
        self._gone: dict[int, int] = {}
        self._agreed = 0
        self._ended: dict[int, int] = {}
        self._digests: deque[tuple[int, int, Digests]] = deque(maxlen=_KEPT_DIGESTS)
        self._desync: Desync | None = None
        self._again = self._deepest = self._copies = self._waited = 0
        self._confirm()

    # Arguments.

    def _checked_players(self, given: Any, name: str) -> tuple[int, ...]:
        if given is None:
            return ()
        numbers = tuple(
            integer(
                each, name, "the number of a player", "players count from 0", high=self._players - 1
            )
            for each in (given if isinstance(given, tuple) else (given,))
        )
        if len(set(numbers)) != len(numbers):
            raise ValueError(
                f"{name} must name each player once, not {shown(given)}; leave one out"
            )
        return numbers

    def _checked_input(self, value: Any, name: str) -> Any:
        kind: type[Any] = type(self._idle)
        if type(value) is not kind:
            raise TypeError(
                f"{name} must be {kind.__name__}, as idle is, not {type(value).__name__} "
                f"{shown(value)}; encode what is pressed as a number or as bytes"
            )
        if kind is int:
            return integer(value, name, "an unsigned 64-bit integer", "bytes hold more")
        if len(value) > _LONGEST_INPUT:
            raise ValueError(
                f"{name} must be at most {_LONGEST_INPUT} bytes, not {len(value)}; send what a "
                "player does, not the world"
            )
        return value

    def _checked_inputs(self, given: Any) -> tuple[PlayerInput, ...]:
        local = self._local
        if len(local) == 1:
            if type(given) is tuple and len(given) == 1:
                given = given[0]
            return (self._checked_input(given, "input"),)
        if not local:
            if given is not None:
                raise TypeError(
                    f"input must be None for a spectator, not {type(given).__name__} {shown(given)}"
                )
            return ()
        if type(given) is not tuple or len(given) != len(local):
            raise TypeError(
                f"input must be a tuple of {len(local)}, one for each local player, not "
                f"{type(given).__name__} {shown(given)}; players {local} are local"
            )
        return tuple(self._checked_input(each, "input") for each in given)

    # Ticks.

    def advance(self, input: Any = None, /) -> bool:
        """Run one tick of the guess with the local input; False where it has to wait.

        ``input`` is that of the local player, a tuple of them where there are several, in the order
        of ``local``, or None for a spectator. It counts ``delay`` ticks later. After False nothing
        was consumed: go on sending packets, and pass the input again in a later frame.

        Raises TypeError, OverflowError or ValueError for a bad input; nothing is changed.
        """
        inputs = self._checked_inputs(input)
        self.settle()
        if self.must_wait:
            self._waited += 1
            return False
        if self._tick + self._delay >= U64_MAX:
            raise OverflowError(f"tick {self._tick} is the last there is; start a new game")
        for player, value in zip(self._local, inputs, strict=True):
            self._append(player, value)
        self._tick += 1
        self._guess(self._tick - 1)
        for peer in self._peers.values():
            peer.leads.append(self._tick - peer.tick - peer.lead)
        self._confirm()
        return True

    def settle(self) -> None:
        """Take in what was received: confirm ticks, and run the guess again if it was wrong.

        `advance` does it first. Call it in a frame without a tick, so that what is drawn is the
        newest guess.
        """
        torn = self._torn or len(self._guessed) < self._tick - self._confirmed
        if not (self._news or torn) or self._fault is not None:
            return
        self._news = False
        wrong = torn or self._has_guessed_wrong()
        self._confirm()
        if wrong and self._fault is None:
            self._world = self._copy(self._world_confirmed)
            self._copies += 1
            self._broken = self._torn = False
            self._guessed.clear()
            depth = self._tick - self._confirmed
            for tick in range(self._confirmed, self._tick):
                self._guess(tick)
            self._again += depth
            self._deepest = max(self._deepest, depth)

    def _has_guessed_wrong(self) -> bool:
        for tick, guessed in enumerate(self._guessed, self._confirmed):
            for player, value in enumerate(guessed):
                end = self._ended.get(player, U64_MAX)
                if tick >= end:
                    if value is not None:
                        return True
                elif tick < self._known[player] and value != self._input(player, tick):
                    return True
        return False

    def _input(self, player: int, tick: int) -> PlayerInput:
        return self._inputs[player][tick - self._base[player]]

    def _guess(self, tick: int) -> None:
        try:
            inputs = tuple(self._expected(player, tick) for player in range(self._players))
        except Exception:  # predict raised
            self._broken = True
            inputs = (None,) * self._players
        self._guessed.append(inputs)
        if not self._broken:
            self._broken = self._torn = True
            try:
                run_tick(self._world, inputs, self._step(tick), self._no_outbox, guess=True)
            except Exception:
                self._torn = False
            else:
                self._broken = self._torn = False

    def _expected(self, player: int, tick: int) -> PlayerInput | None:
        if tick >= self._ended.get(player, U64_MAX):
            return None
        if tick < self._known[player]:
            return self._input(player, tick)
        return None if player in self._gone else self._predict(self._newest[player])

    def _confirm(self) -> None:
        end = min(self._known_of_all(), self._tick)
        while self._confirmed < end and self._fault is None:
            tick = self._confirmed
            inputs = tuple(
                None if tick >= self._ended.get(player, U64_MAX) else self._input(player, tick)
                for player in range(self._players)
            )
            try:
                run_tick(self._world_confirmed, inputs, self._step(tick), self._outbox)
                self._take_digest(tick)
            except BaseException as error:
                self._fault = Fault(tick, "", error)
                if not isinstance(error, Exception):
                    raise
                return
            self._confirmed += 1
            if self._guessed:
                self._guessed.popleft()
        self._forget()

    def _step(self, tick: int) -> Step:
        start, end = (
            number * _SECOND * self._rate.denominator // self._rate.numerator
            for number in (tick, tick + 1)
        )
        return Step(tick, Nanos(end - start), Nanos(min(start, U64_MAX)))

    def _take_digest(self, tick: int) -> None:
        if not self._by_digests or tick % self._digest_every:
            return
        named = world_digests(self._world_confirmed)
        self._digests.append((tick, digest(named), named))
        for name, peer in self._peers.items():
            if peer.told is not None and peer.told[0] <= tick:
                told, peer.told = peer.told, None
                self._compare(name, peer, told)

    # Inputs.

    def _append(self, player: int, value: PlayerInput) -> None:
        self._inputs[player].append(value)
        self._newest[player] = value
        self._known[player] += 1

    def _known_of_all(self) -> int:
        """The first tick that cannot be confirmed."""
        known = [
            self._known[player] for player in range(self._players) if player not in self._ended
        ]
        return min(known, default=U64_MAX)

    def _forget(self) -> None:
        """Drop the inputs that neither this machine nor a peer needs any more."""
        oldest = self._confirmed - _KEPT
        for player, inputs in enumerate(self._inputs):
            needed = min((peer.acks[player] for peer in self._peers.values()), default=U64_MAX)
            first = max(min(needed, self._confirmed), oldest)
            while inputs and self._base[player] < first:
                inputs.popleft()
                self._base[player] += 1

    # Peers.

    def add_peer(
        self,
        peer: Hashable,
        player: SupportsIndex | tuple[SupportsIndex, ...] | None = None,
    ) -> None:
        """Exchange packets with another machine. ``peer`` is any name for it, such as its address,
        and ``player`` the player or players on it, None for a spectator.

        Add all of them before the first tick, and a late spectator in the frame of its `snapshot`.
        Raises ValueError for one that is there already, or for a player of this machine.
        """
        if peer in self._peers:
            raise ValueError(f"peer {shown(peer)} was added before; remove_peer comes first")
        players = self._checked_players(player, "player")
        if set(players) & set(self._local):
            raise ValueError(f"player {shown(player)} is on this machine; name those of the peer")
        acks = [min(self._confirmed, known) for known in self._known]
        self._peers[peer] = _Peer(players, acks, self._tick)

    def remove_peer(self, peer: Hashable) -> None:
        """Exchange no more packets with a machine. Its players stay: see `drop`.

        Raises KeyError for an unknown one.
        """
        self._peer(peer)
        del self._peers[peer]

    def _peer(self, peer: Hashable) -> _Peer:
        try:
            return self._peers[peer]
        except KeyError:
            raise KeyError(f"{shown(peer)} is no peer; add_peer comes first") from None

    def drop(self, player: SupportsIndex) -> None:
        """Go on without a player. The machines that stay agree on its last tick, by their packets.
        From then on its input is None, and a machine whose player was dropped stops.

        When a player has left is for the game to decide: after some seconds without a packet.
        Nothing happens if it was dropped before. Raises OverflowError for a number that no player
        has and ValueError for a player of this machine.
        """
        kind, fix = "the number of a player", "players count from 0"
        number = integer(player, "player", kind, fix, high=self._players - 1)
        if number in self._local:
            raise ValueError(
                f"player {number} is on this machine, and only others are dropped; to leave, send "
                "no packets"
            )
        self._drop({number})
        self._settle_leaving()

    def _drop(self, players: set[int]) -> None:
        players = players - self._gone.keys()
        if not players:
            return
        self._news = True
        for player in players:
            # A spectator's knowledge does not count: the players decide.
            self._gone[player] = self._known[player] if self._local else 0
        for peer in self._peers.values():
            if self._has_left(peer):
                peer.told = None
        # Whoever agreed did not know of these: all agree again, and say what they have heard.
        self._agreed = sum(1 << player for player in self._local)

    def _settle_leaving(self) -> None:
        remaining = sum(1 << player for player in range(self._players) if player not in self._gone)
        if self._agreed & remaining == remaining:
            for player, end in self._gone.items():
                if player not in self._ended:
                    # Who joined after that has none of its input.
                    known = self._known[player]
                    self._ended[player] = end if known == self._start else max(end, known)
                    self._news = True

    # Packets.

    def packet(self, peer: Hashable) -> bytes:
        """What to send to a peer in each frame, also while waiting: at most about 1,300 bytes,
        mostly under 100.

        Raises KeyError for an unknown peer.
        """
        to = self._peer(peer)
        out = bytearray(_MAGIC)
        out += self._session.to_bytes(8, "little")
        _put(out, self._players)
        _put(out, self._tick)
        _put_signed(out, self._tick - to.tick)
        for known in self._known:
            _put(out, known)
        _put(out, sum(1 << player for player in self._gone))
        if self._gone:
            _put(out, self._agreed)
            for player in sorted(self._gone):
                _put(out, self._ended.get(player, self._gone[player]))
        if self._digests:
            tick, root, _ = self._digests[-1]
            _put(out, tick + 1)
            out += root.to_bytes(8, "little")
        else:
            _put(out, 0)
        self._put_inputs(out, to)
        self._put_named(out, to)
        return bytes(out)

    def _put_inputs(self, out: bytearray, to: _Peer) -> None:
        room = max(_FULL_PACKET - len(out), 0) // self._players
        for player, inputs in enumerate(self._inputs):
            base = self._base[player]
            first = max(to.acks[player], base)
            run, number = bytearray(), 0
            for tick in range(first, self._known[player]):
                if len(run) > room:
                    break
                value = inputs[tick - base]
                if isinstance(value, int):
                    _put(run, value)
                else:
                    _put(run, len(value))
                    run += value
                number += 1
            _put(out, number)
            if number:
                _put(out, first)
                out += run

    def _put_named(self, out: bytearray, to: _Peer) -> None:
        found = None if to.named is None else self._digests_of(to.named)
        if found is None:
            _put(out, 0)
            return
        tick, _, digests = found
        entries, number = bytearray(), 0
        for path, value in _flat(digests):
            text = path.encode()[:200]
            if len(out) + len(entries) + len(text) > _FULL_PACKET + 300:
                break
            _put(entries, len(text))
            entries += text + value.to_bytes(8, "little")
            number += 1
        _put(out, number + 1)
        _put(out, tick)
        out += entries

    def receive(self, peer: Hashable, packet: bytes) -> None:
        """Take in a packet of a peer. `advance` or `settle` acts on it.

        Raises ValueError for a packet that is malformed or of another session, and KeyError for an
        unknown peer; nothing is changed then.
        """
        sender = self._peer(peer)
        read = self._read(packet)
        sender.acks = [max(pair) for pair in zip(sender.acks, read.acks, strict=True)]
        if read.tick >= sender.tick:
            sender.tick, sender.lead = read.tick, read.lead
        if any(player in read.gone for player in self._local):
            self._stopped = True
        # Who was dropped has no say in what the others agree on.
        if not self._stopped and not self._has_left(sender):
            self._drop(set(read.gone))
            self._take_inputs(sender, read)
            self._take_leaving(read)
            if read.digest is not None:
                self._compare(peer, sender, read.digest)
            if read.named is not None:
                self._compare_named(peer, sender, *read.named)
        self._news = True
        self._forget()

    def _has_left(self, peer: _Peer) -> bool:
        return bool(peer.players) and all(player in self._gone for player in peer.players)

    def _take_inputs(self, sender: _Peer, read: _Packet) -> None:
        # A spectator takes a player's input from other players, where it hears several: who sends
        # it last may leave before anybody else has it, and the game would go on without.
        playing = sum(
            bool(peer.players) and not self._has_left(peer) for peer in self._peers.values()
        )
        own = sender.players if not self._local and playing > 1 else ()
        furthest = self._tick + self._window + self._delay + _LONGEST_DELAY
        for player, (first, values) in enumerate(read.inputs):
            if player in self._local or player in self._ended:
                continue
            if player in self._gone:
                end = max(self._gone[player], read.gone.get(player, 0))
            elif player in own:
                continue
            else:
                end = furthest
            known = self._known[player]
            if first <= known:
                for value in values[known - first : max(end - first, 0)]:
                    self._append(player, value)

    def _take_leaving(self, read: _Packet) -> None:
        if not self._gone:
            return
        if self._local:
            for player in self._gone:
                self._gone[player] = max(self._gone[player], self._known[player])
        # What others agreed on counts once the inputs it covers are here, so that nobody agrees on
        # a tick whose input has left with somebody.
        if read.gone.keys() == self._gone.keys() and all(
            self._known[player] >= end for player, end in read.gone.items()
        ):
            for player, end in read.gone.items():
                self._gone[player] = max(self._gone[player], end)
            self._agreed |= read.agreed
        self._settle_leaving()

    def _read(self, packet: bytes) -> _Packet:
        if not isinstance(packet, (bytes, bytearray, memoryview)):
            raise TypeError(f"packet must be bytes, not {type(packet).__name__} {shown(packet)}")
        reader = _Reader(bytes(packet))
        if reader.take(4) != _MAGIC:
            reader.fail("it does not begin as one")
        session = int.from_bytes(reader.take(8), "little")
        if session != self._session:
            reader.fail(f"it is of session {session}, and this one is {self._session}")
        if reader.number() != self._players:
            reader.fail(f"it is of a game that has not {self._players} players")
        tick, lead = reader.number(), reader.signed()
        acks = [reader.number() for _ in range(self._players)]
        for player in self._local:
            if acks[player] > self._known[player]:
                reader.fail(f"it knows input of player {player} that was never given")
        gone, agreed = self._read_leaving(reader)
        digest_tick = reader.number()
        root = (digest_tick - 1, reader.digest()) if digest_tick else None
        inputs = []
        for player in range(self._players):
            run = self._read_inputs(reader)
            if player in self._local and run[0] + len(run[1]) > self._known[player]:
                reader.fail(f"it has input of player {player}, who is on this machine")
            inputs.append(run)
        number, named = reader.number(), None
        if number:
            named_tick, table = reader.number(), {}
            for _ in range(number - 1):
                path = reader.take(reader.number()).decode("utf-8", "replace")
                table[path] = reader.digest()
            named = (named_tick, table)
        reader.end()
        return _Packet(tick, lead, acks, gone, agreed, root, inputs, named)

    def _read_leaving(self, reader: _Reader) -> tuple[dict[int, int], int]:
        mask, agreed, gone = reader.number(), 0, {}
        if mask:
            agreed = reader.number()
            if (mask | agreed) >> self._players:
                reader.fail("it has players that this game has not")
            for player in range(self._players):
                if mask >> player & 1:
                    gone[player] = reader.number()
        return gone, agreed

    def _read_inputs(self, reader: _Reader) -> tuple[int, list[PlayerInput]]:
        number = reader.number()
        if not number:
            return 0, []
        first = reader.number()
        if type(self._idle) is int:
            return first, [reader.number() for _ in range(number)]
        values: list[PlayerInput] = []
        for _ in range(number):
            length = reader.number()
            if length > _LONGEST_INPUT:
                reader.fail(f"an input has {length} bytes")
            values.append(reader.take(length))
        return first, values

    # Digests.

    def _digests_of(self, tick: int) -> tuple[int, int, Digests] | None:
        if not self._digests:
            return None
        place = (tick - self._digests[0][0]) // self._digest_every
        if not 0 <= place < len(self._digests) or self._digests[place][0] != tick:
            return None
        return self._digests[place]

    def _compare(self, name: Hashable, peer: _Peer, told: tuple[int, int]) -> None:
        tick, root = told
        if tick >= self._confirmed and self._digests_of(tick) is None:
            if peer.told is None:
                peer.told = told
            return
        found = self._digests_of(tick)
        if found is not None and found[1] != root and peer.named is None:
            peer.named = tick
            self._found(Desync(tick, name, ()))

    def _compare_named(
        self, name: Hashable, peer: _Peer, tick: int, theirs: Mapping[str, int]
    ) -> None:
        found = self._digests_of(tick)
        if found is None:
            return
        ours = dict(_flat(found[2]))
        paths = tuple(path for path in ours if path in theirs and theirs[path] != ours[path])
        if paths:
            peer.named = tick
            self._found(Desync(tick, name, paths))

    def _found(self, desync: Desync) -> None:
        before = self._desync
        if (
            before is None
            or (not before.paths and desync.paths)
            or (desync.tick < before.tick and desync.paths)
        ):
            self._desync = desync

    # What there is to read.

    @property
    def world(self) -> W:
        """The guess, to be drawn. A new object after a rollback."""
        return self._world

    @property
    def confirmed_world(self) -> W:
        """The world after the last confirmed tick. Do not change it."""
        return self._world_confirmed

    @property
    def tick(self) -> int:
        """The number of the next tick of the guess."""
        return self._tick

    @property
    def confirmed(self) -> int:
        """The number of the next tick of the confirmed world."""
        return self._confirmed

    @property
    def must_wait(self) -> bool:
        """Whether the next tick cannot run yet: too much input is missing, the game is over for
        this machine because its player was dropped, or ``fault`` is set."""
        if self._stopped or self._fault is not None:
            return True
        return self._tick >= self._known_of_all() + self._window

    @property
    def stopped(self) -> bool:
        """Whether the others have dropped a player of this machine."""
        return self._stopped

    @property
    def fault(self) -> Fault | None:
        """The exception of a confirmed tick, which is the same on every machine; else None. An
        exception of the guess is not kept: the picture stays until the guess is made anew."""
        return self._fault

    @property
    def ahead(self) -> Fraction:
        """How many ticks this machine is ahead of the slowest player, on average over the last 30
        ticks; below 0 if it is behind all of them."""
        means = [
            Fraction(sum(peer.leads), 2 * len(peer.leads))
            for peer in self._peers.values()
            if peer.leads and peer.players and not self._has_left(peer)
        ]
        return max(means, default=Fraction(0))

    @property
    def pace(self) -> Fraction:
        """The speed for `GameLoop.set_speed`: 9/10 while this machine is a tick or more ahead of
        another player, so that nobody has to stall; else 1."""
        return _SLOW if self.ahead >= 1 else Fraction(1)

    @property
    def dropped(self) -> dict[int, int | None]:
        """The players that left: the first tick without their input, None until it is agreed."""
        return {player: self._ended.get(player) for player in sorted(self._gone)}

    @property
    def desync(self) -> Desync | None:
        """The first difference to another machine that was found, or None."""
        return self._desync

    @property
    def stats(self) -> RollbackStats:
        """What the guesses cost so far."""
        return RollbackStats(self._again, self._deepest, self._copies, self._waited)

    def deliver(self) -> tuple[Request, ...]:
        """What confirmed ticks staged for sound and picture, each request once, as
        `Outbox.deliver`. Call it in every frame."""
        outbox = getattr(self._world_confirmed, "outbox", None)
        requests: tuple[Request, ...] = (self._outbox if outbox is None else outbox).deliver()
        return requests

    def snapshot(self) -> tuple[int, W]:
        """The number of the next confirmed tick and a copy of the confirmed world, for a spectator
        who joins late: ``Rollback(lambda: world, players, None, start=tick)``.

        Add the spectator as a peer in the same frame, so that no input is dropped that it needs.
        """
        return self._confirmed, self._copy(self._world_confirmed)

    def __repr__(self) -> str:
        return (
            f"<Rollback: tick {self._tick}, {self._confirmed} confirmed, {self._players} players, "
            f"{len(self._peers)} peers>"
        )


_NO_MAILBOX = _NoMailbox()


def run_tick(
    world: Any,
    inputs: tuple[PlayerInput | None, ...],
    step: Step,
    outbox: Outbox,
    *,
    guess: bool = False,
) -> None:
    """Run one tick of a world. What a guess stages is discarded."""
    own = getattr(world, "outbox", None)
    if own is not None:
        outbox = own
    given: Any = inputs
    tick = Tick(step.tick, step, given, (), outbox, _NO_MAILBOX, PHASES)
    outbox.begin_tick(step.tick)
    try:
        # How full it is depends on when frames deliver; the tick must not see that.
        outbox._restore_room(None)
        timers = getattr(world, "timers", None)
        if timers is not None:
            tick.due = timers.begin_tick(step.tick)
        world.step(inputs, tick)
        if not guess:
            outbox.publish()
    finally:
        tick._over = True
        outbox.discard()


def check_no_mailbox(world: object) -> None:
    """Raise TypeError for a world with a Mailbox."""
    names = [*getattr(world, "__dict__", ())]
    for kind in type(world).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    for name in names:
        if isinstance(getattr(world, name, None), Mailbox):
            raise TypeError(
                f"the world must not have a Mailbox, and its {name} is one: results of background "
                "work come in another tick on each machine; send the result as input"
            )


def _flat(digests: Digests, above: str = "") -> Iterator[tuple[str, int]]:
    for name, value in digests.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}/")
        else:
            yield above + name, value


def _put(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def _put_signed(out: bytearray, number: int) -> None:
    _put(out, number * 2 if number >= 0 else -number * 2 - 1)


class _Reader:
    """Reads a packet and fails at its end."""

    def __init__(self, packet: bytes) -> None:
        self._packet = packet
        self._place = 0

    def fail(self, what: str) -> NoReturn:
        raise ValueError(f"the packet of {len(self._packet)} bytes is not valid: {what}; ignore it")

    def take(self, number: int) -> bytes:
        end = self._place + number
        if end > len(self._packet):
            self.fail("it ends too early")
        taken = self._packet[self._place : end]
        self._place = end
        return taken

    def number(self) -> int:
        value = shift = 0
        while True:
            if self._place >= len(self._packet):
                self.fail("it ends too early")
            byte = self._packet[self._place]
            self._place += 1
            value |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
            if shift > 63:
                self.fail("a number is too long")
        if value > U64_MAX:
            self.fail("a number is too large")
        return value

    def signed(self) -> int:
        number = self.number()
        return -(number + 1) // 2 if number & 1 else number // 2

    def digest(self) -> int:
        return int.from_bytes(self.take(8), "little")

    def end(self) -> None:
        if self._place != len(self._packet):
            self.fail("it is too long")
