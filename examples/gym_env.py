"""A training environment for gymnasium, with frame skip or the frame lengths of real machines.

    pip install gymnasium fixedstep
    python examples/gym_env.py [CAPTURE]

A basket catches what falls. The world runs in ticks, 60 a second, and the agent decides once a
frame. Usually a frame is ``frame_skip`` ticks. On a player's machine it is not: frames have none,
one or three ticks, as the time goes. With ``frame_lengths``, nanoseconds from a capture of
PresentMon, MangoHud or others, each episode plays a stretch of them, so that the agent learns on
what it will meet. All else is equal: the same seed gives the same episode on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from fixedstep import FrameLoop, Rate, StepBudget, digest
from fixedstep.captures import read
from fixedstep.sim import Random
from fixedstep.time import ORIGIN

RATE = Rate(60)
WIDTH, HEIGHT, REACH = 1_000, 1_000, 80
STALLED = 4  # more ticks than that are dropped from a frame, as a game would do
LEFT, STAY, RIGHT = range(3)

Observation = npt.NDArray[np.float32]


class World:
    """Integers only."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.basket = WIDTH // 2
        self.throw()

    def throw(self) -> None:
        """Let the next one fall."""
        self.x, self.y = self.random.below(WIDTH), HEIGHT
        self.drift = self.random.below(9) - 4

    def tick(self, action: int) -> int:
        """One tick: 1 for one that was caught, -1 for one that was not, else 0."""
        self.basket = min(max(self.basket + 15 * (action - STAY), 0), WIDTH - 1)
        self.x = min(max(self.x + self.drift, 0), WIDTH - 1)
        self.y -= 10
        if self.y > 0:
            return 0
        caught = abs(self.x - self.basket) <= REACH
        self.throw()
        return 1 if caught else -1


class Catch(gymnasium.Env[Observation, np.int64]):
    """See the top of this file.

    ``frames`` is the length of an episode in frames. ``frame_lengths`` are nanoseconds.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 60}  # noqa: RUF012 -- as gymnasium has it

    def __init__(
        self,
        frame_skip: int = 2,
        frame_lengths: Sequence[int] | None = None,
        frames: int = 300,
        render_mode: str | None = None,
    ) -> None:
        self.frames = frames
        self.frame_skip = frame_skip
        self.lengths = None if frame_lengths is None else np.array(frame_lengths, dtype=np.uint64)
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(3)
        self.observation_space = gymnasium.spaces.Box(-1, 1, (4,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: all its frames are planned at once."""
        super().reset(seed=seed)
        self.world = World(int(self.np_random.integers(2**63)))
        self.frame = 0
        if self.lengths is None:
            self.ticks = np.full(self.frames, self.frame_skip)
        else:
            begin = int(self.np_random.integers(len(self.lengths)))
            stretch = np.take(self.lengths, np.arange(begin, begin + self.frames), mode="wrap")
            loop = FrameLoop(RATE, StepBudget(STALLED), start=ORIGIN)
            plans = loop.begin_frames(np.cumsum(stretch, dtype=np.uint64))
            self.ticks = np.asarray(plans.step_count)
        return self.observation(), {"ticks": 0}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One frame: its ticks, with one action."""
        ticks = int(self.ticks[self.frame])
        reward = sum(self.world.tick(int(action)) for _ in range(ticks))
        self.frame += 1
        over = self.frame == self.frames  # of the episode, not of the game: it is truncated
        return self.observation(), float(reward), False, over, {"ticks": ticks}

    def observation(self) -> Observation:
        """What the agent sees."""
        world = self.world
        places = np.array([world.basket, world.x, world.y]) / 500 - 1
        return np.array([*places, world.drift / 4], dtype=np.float32)

    def render(self) -> str | None:
        """A line of text."""
        if self.render_mode != "ansi":
            return None
        line = ["."] * 50
        line[self.world.x // 20] = "o"
        line[self.world.basket // 20] = "U"
        return f"{''.join(line)} {self.world.y:4}"


def play(env: Catch, episodes: int) -> str:
    """Follow what falls, and say how that went."""
    caught, ticks, worlds = 0.0, [], []
    for seed in range(episodes):
        seen, _ = env.reset(seed=seed)
        over = False
        while not over:
            action = STAY + int(np.sign(round(float(seen[1] - seen[0]), 1)))
            seen, reward, _, over, info = env.step(np.int64(action))
            caught += reward
            ticks.append(info["ticks"])
        worlds.append((env.world.random, env.world.basket, env.world.x, env.world.y))
    counts = np.bincount(ticks).tolist()
    return f"reward {caught:.0f}, frames by ticks {counts}, worlds 0x{digest(worlds):016x}"


def main(arguments: list[str]) -> None:
    """Check the environment, and play it with frame skip and with frame lengths."""
    from gymnasium.utils.env_checker import check_env

    if arguments:
        lengths = list(read(arguments[0]).streams[0].frame_times)
    else:  # a machine that stutters, where no capture is at hand
        dice = Random(1)
        lengths = [10**6 * dice.choice((6, 7, 16, 17, 17, 34, 120)) for _ in range(1_000)]
    for name, env in (("frame skip", Catch()), ("a capture", Catch(frame_lengths=lengths))):
        check_env(env, skip_render_check=True)
        print(f"{name}: {play(env, 20)}")


if __name__ == "__main__":
    main(sys.argv[1:])
