"""A server of twenty ticks a second under a thousand messages a second, one of which blocks it.

    python examples/tick_server.py
    python examples/tick_server.py --seconds 10 --clients 100 --block-ms 0

The clients are in the same process and talk to the server over TCP on the loopback. Each sends
twenty lines a second; half way, one line makes the tick that takes it block for 300 ms, as a slow
query would. Time beyond 250 ms of a frame does not count, and ticks beyond the budget are dropped;
both are reported, no message is lost, and the ticks go on at their rate.
"""

from __future__ import annotations

import argparse
import asyncio
import time

from fixedstep import Nanos, Rate
from fixedstep.host import TickServer, now
from fixedstep.sim import Session, Tick, TickInput

TICKS_PER_SECOND = 20
LINES_PER_SECOND = 20


class World:
    """What the ticks change: a count of the lines, in the order they came."""

    def __init__(self, block_ms: int) -> None:
        self.block = block_ms / 1000
        self.handled = 0
        self.most = 0

    def step(self, input: TickInput, tick: Tick) -> None:
        """One tick: everything that came since the last one."""
        self.handled += len(tick.messages)
        self.most = max(self.most, len(tick.messages))
        if "block" in tick.messages:
            time.sleep(self.block)


async def send(port: int, seconds: int, number: int, block: bool) -> int:
    """One client; how many lines it sent."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = seconds * LINES_PER_SECOND
    for line in range(lines):
        writer.write(b"block\n" if block and line == lines // 2 else b"%d %d\n" % (number, line))
        await writer.drain()
        await asyncio.sleep(1 / LINES_PER_SECOND)
    writer.close()
    await writer.wait_closed()
    return lines


async def serve(clients: int, seconds: int, block_ms: int) -> bool:
    """Run it and report; whether every line that was sent was handled."""
    game = Session(World, block_ms, rate=Rate(TICKS_PER_SECOND))
    server = TickServer(game)
    received = 0

    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        while line := await reader.readline():
            received += 1
            server.post(line.decode().strip())
        writer.close()

    listener = await asyncio.start_server(read, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    ticking = asyncio.create_task(server.run())
    began = now()
    sent = sum(
        await asyncio.gather(
            *(send(port, seconds, n, block=n == 0 and block_ms > 0) for n in range(clients))
        )
    )
    while received < sent or game.world.handled < received:  # a tick takes what is left
        await asyncio.sleep(1 / TICKS_PER_SECOND)
    took = Nanos(now() - began)
    server.stop()
    await ticking
    listener.close()

    print(f"{clients} clients, {sent} lines in {took / 10**9:.2f} s")
    print(f"ticks     {game.stats.ticks}, and {game.stats.steps_dropped} dropped")
    print(f"frames    {game.stats.frames}")
    print(f"clamped   {game.clamped / 10**6:.1f} ms")
    print(f"lines     {game.world.handled} handled, {sent - game.world.handled} lost")
    print(f"queue     {game.world.most} at most in one tick")
    return game.world.handled == sent


def main() -> int:
    """0 if nothing was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50, metavar="N")
    parser.add_argument("--seconds", type=int, default=3, metavar="S")
    parser.add_argument("--block-ms", type=int, default=300, metavar="MS")
    options = parser.parse_args()
    return 0 if asyncio.run(serve(options.clients, options.seconds, options.block_ms)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
