"""A fast small ball in arcade, to see what interpolation does.

    pip install 'fixedstep[arcade]'
    python examples/ball_arcade.py

Twenty ticks a second, sixty frames. I turns interpolation off, and the ball jumps from ring to
ring; P pauses, N runs one tick, S blocks the program for 300 ms, which costs the steps beyond the
budget and nothing else. `fixedstep.host.ball.in_arcade` is how it is drawn, and shows in fifty
lines how a game uses `ArcadeWindow`.
"""

from fixedstep.host.ball import in_arcade
from fixedstep.host.ball.model import Ball

from fixedstep import Rate, StepBudget

if __name__ == "__main__":
    in_arcade.play(Ball(), timestep=Rate(20), budget=StepBudget(5), frames=Rate(60))
