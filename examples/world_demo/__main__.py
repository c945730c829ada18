"""A small world on a session: a player, a guard, an exit.

    python examples/world_demo                  in a window (needs pygame-ce)
    python examples/world_demo --ticks 120      without one; prints the state hash

The headless run plays a script: a steady stick and a tap on every thirtieth tick. It comes to the
same hash on every machine, every core and at every speed. With ``--record`` it writes what
``fixedstep diff`` compares.
"""

import sys
from pathlib import Path

if not __package__:  # started by its path: PEP 366 has it say which package it is in
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    __package__ = "world_demo"

from .command import main

if __name__ == "__main__":
    sys.exit(main())
