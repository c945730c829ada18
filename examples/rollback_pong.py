"""Pong over UDP with rollback: two processes, and a bad network between them.

    python examples/rollback_pong.py --latency 120 --jitter 60 --loss 20 --seconds 20

Each process sends its packets to the other on this machine, and holds them back, loses some, sends
some twice and out of order. Both must come to the same game. ``--window`` shows what the first
player sees, with pygame, and lets you play with the arrow keys; without it two programs play.
"""

import argparse
import heapq
import json
import random
import socket
import subprocess
import sys
from fractions import Fraction
from typing import Any

from fixedstep import Nanos, Rate, digest
from fixedstep.host import now, sleep
from fixedstep.sim import GameLoop, Random, Rollback, Tick

WIDTH, HEIGHT, PADDLE, BALL = 640_000, 360_000, 60_000, 8_000  # thousandths of a pixel
UP, DOWN = 1, 2
MS = 10**6


class Pong:
    """Integers only, so that it is the same on every machine."""

    def __init__(self) -> None:
        self.paddles = [HEIGHT // 2, HEIGHT // 2]
        self.score = [0, 0]
        self.random = Random(1)
        self.serve(1)

    def serve(self, side: int) -> None:
        """Put the ball into the middle."""
        self.x, self.y = WIDTH // 2, HEIGHT // 2
        self.vx, self.vy = 4_000 * side, self.random.below(6_001) - 3_000

    def step(self, inputs: tuple[int | None, ...], tick: Tick) -> None:
        """One tick."""
        for player, pressed in enumerate(inputs):
            move = 5_000 * (bool((pressed or 0) & DOWN) - bool((pressed or 0) & UP))
            self.paddles[player] = min(max(self.paddles[player] + move, 0), HEIGHT)
        self.x += self.vx
        self.y += self.vy
        if not BALL <= self.y <= HEIGHT - BALL:
            self.vy = -self.vy
            self.y = min(max(self.y, BALL), HEIGHT - BALL)
        side = 0 if self.x < 20_000 else 1 if self.x > WIDTH - 20_000 else None
        if side is not None and (self.vx < 0) == (side == 0):
            offset = self.y - self.paddles[side]
            if abs(offset) <= PADDLE // 2 + BALL:
                self.vx = -self.vx
                self.vy = offset // 8 + self.random.below(1_001) - 500
                tick.outbox.stage("bounce", anchor=(self.x, self.y))
            else:
                self.score[1 - side] += 1
                tick.outbox.stage("point", data=1 - side)
                self.serve(1 if side else -1)

    def digests(self) -> dict[str, int]:
        """By parts, so that a desync has a name."""
        return {
            "ball": digest((self.x, self.y, self.vx, self.vy)),
            "paddles": digest(self.paddles),
            "score": digest(self.score),
            "random": digest(self.random),
        }


class BadNetwork:
    """A socket whose packets are late, lost, doubled and out of order."""

    def __init__(self, latency: int, jitter: int, loss: int, seed: int) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]
        self.peer = ("127.0.0.1", 0)
        self.latency, self.jitter, self.loss = latency, jitter, loss
        self.dice = random.Random(seed)
        self.waiting: list[tuple[int, int, bytes]] = []
        self.sent = self.lost = self.bytes = 0

    def send(self, packet: bytes) -> None:
        """Send it some time later, or twice, or not at all."""
        for _ in range(2 if self.dice.random() < 0.05 else 1):
            self.sent += 1
            if self.dice.random() * 100 < self.loss:
                self.lost += 1
                continue
            due = now() + (self.latency * MS + self.dice.randint(0, self.jitter * MS))
            heapq.heappush(self.waiting, (due, self.sent, packet))
            self.bytes += len(packet)

    def receive(self) -> list[bytes]:
        """What has come. Packets of this machine that are due are sent now."""
        while self.waiting and self.waiting[0][0] <= now():
            self.socket.sendto(heapq.heappop(self.waiting)[2], self.peer)
        packets = []
        while True:
            try:
                packets.append(self.socket.recv(2048))
            except BlockingIOError:
                return packets
            except ConnectionError:
                continue  # the other process has ended


class Player:
    """One process: the rollback, the loop and the network."""

    def __init__(self, number: int, options: argparse.Namespace) -> None:
        self.number = number
        self.ticks = options.seconds * 60
        self.network = BadNetwork(options.latency, options.jitter, options.loss, number)
        self.rollback = Rollback(Pong, 2, number, delay=3, window=12)
        self.rollback.add_peer("other", 1 - number)
        self.loop = GameLoop(self.step, Rate(60), speeds=(1, Fraction(9, 10)))
        self.dice = random.Random(number + 10)
        self.pressed = 0
        self.keys: int | None = None
        self.effects = self.refused = self.spent = self.late = 0

    def step(self, _: object) -> None:
        """One tick of the loop: one of the game, unless it has to wait for the other."""
        if self.rollback.tick < self.ticks:
            self.settle()
            self.rollback.advance(self.input())

    def input(self) -> int:
        """The keys, or a program that follows the ball, not always well."""
        if self.keys is not None:
            return self.keys
        if self.dice.random() < 0.3:
            away = self.rollback.world.y - self.rollback.world.paddles[self.number]
            self.pressed = DOWN if away > 12_000 else UP if away < -12_000 else 0
        return self.pressed

    def settle(self) -> None:
        """Take in what has come, and measure what it costs to run ticks again."""
        before, began = self.rollback.stats.again, now()
        self.rollback.settle()
        if self.rollback.stats.again > before:
            self.spent += now() - began

    def frame(self) -> None:
        """One frame."""
        for packet in self.network.receive():
            try:
                self.rollback.receive("other", packet)
            except ValueError:
                self.refused += 1
        self.loop.set_speed(self.rollback.pace)
        self.loop.frame(now())
        self.settle()
        self.effects += len(self.rollback.deliver())
        self.network.send(self.rollback.packet("other"))

    def play(self, picture: "Picture | None") -> dict[str, Any]:
        """All ticks, until they are confirmed here and there."""
        began = now()
        limit = began + (3 * self.ticks // 60 + 10) * 10**9
        confirmed = 0
        while now() < limit:
            self.frame()
            if picture is not None:
                self.keys = picture.draw(self.rollback.world)
            if self.rollback.confirmed >= self.ticks:
                confirmed = confirmed or now()
                if now() - confirmed > 10**9 + 10 * self.network.latency * MS:
                    break  # the other has had time to hear the last input
            sleep(Nanos(8 * MS))
        rollback, again = self.rollback, self.rollback.stats.again
        return {
            "ticks": rollback.confirmed,
            "digest": f"0x{digest(rollback.confirmed_world.digests()):016x}",
            "effects": self.effects,
            "score": rollback.confirmed_world.score,
            "desync": rollback.desync,
            **rollback.stats._asdict(),
            "microseconds": round(self.spent / max(again, 1) / 1000, 1),
            "sent": self.network.sent,
            "lost": self.network.lost,
            "packet_bytes": self.network.bytes // max(self.network.sent - self.network.lost, 1),
            "refused": self.refused,
        }


class Picture:
    """A window of pygame for the guessed world."""

    def __init__(self) -> None:
        import pygame

        self.pygame = pygame
        pygame.init()
        self.screen = pygame.display.set_mode((WIDTH // 1000, HEIGHT // 1000))

    def draw(self, world: Pong) -> int:
        """Draw it, and return what is pressed."""
        pygame = self.pygame
        pygame.event.pump()
        self.screen.fill("black")
        for player, y in enumerate(world.paddles):
            x = (WIDTH - 20_000) // 1000 if player else 10
            top = (y - PADDLE // 2) // 1000
            pygame.draw.rect(self.screen, "white", (x, top, 10, PADDLE // 1000))
        pygame.draw.circle(self.screen, "white", (world.x // 1000, world.y // 1000), BALL // 1000)
        pygame.display.flip()
        keys = pygame.key.get_pressed()
        return UP * bool(keys[pygame.K_UP]) | DOWN * bool(keys[pygame.K_DOWN])


def one_player(options: argparse.Namespace) -> None:
    """A process: says its port, hears that of the other, and plays."""
    player = Player(options.player, options)
    print(player.network.port, flush=True)
    player.network.peer = ("127.0.0.1", int(sys.stdin.readline()))
    picture = Picture() if options.window and options.player == 0 else None
    print(json.dumps(player.play(picture)), flush=True)


def both_players(arguments: list[str]) -> bool:
    """Start both processes and compare what they came to."""
    command = [sys.executable, __file__, *arguments, "--player"]
    processes = [
        subprocess.Popen(
            [*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for number in range(2)
    ]
    try:
        streams = [(each.stdin, each.stdout) for each in processes]
        ports = [out.readline() for _, out in streams if out is not None]
        for (into, _), port in zip(streams, reversed(ports), strict=True):
            if into is not None:
                into.write(port)
                into.flush()
        found = [json.loads(out.readline()) for _, out in streams if out is not None]
    finally:
        for process in processes:
            process.communicate()
    for number, each in enumerate(found):
        print(
            f"player {number}: {each['ticks']} ticks, digest {each['digest']}, "
            f"{each['effects']} effects, score {each['score'][0]}:{each['score'][1]}\n"
            f"  {each['sent']} packets of {each['packet_bytes']} bytes, {each['lost']} lost; "
            f"{each['waited']} times waited\n"
            f"  {each['again']} ticks ran again after {each['copies']} wrong guesses, at most "
            f"{each['deepest']} at once; {each['microseconds']} us each"
        )
    same = [(each["ticks"], each["digest"], each["effects"]) for each in found]
    equal = same[0] == same[1] and not any(each["desync"] for each in found)
    print("EQUAL" if equal else f"DIFFERENT {[each['desync'] for each in found]}")
    return equal


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Pong over UDP with rollback")
    parser.add_argument("--latency", type=int, default=120, metavar="MS", help="one way")
    parser.add_argument("--jitter", type=int, default=60, metavar="MS", help="at most, on top")
    parser.add_argument("--loss", type=int, default=20, metavar="PERCENT")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--window", action="store_true", help="show the first player's game")
    parser.add_argument("--player", type=int, choices=(0, 1), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.player is not None:
        one_player(options)
        return 0
    return 0 if both_players(arguments) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
