"""A small world on a session: a player, a guard, an exit.

    python examples/world_demo                  in a window (needs pygame-ce)
    python examples/world_demo --ticks 120      without one; prints the state hash

The headless run plays a script: a steady stick and a tap on every thirtieth tick. It comes to the
same hash on every machine, every core and at every speed. With ``--record`` it writes what
``fixedstep diff`` compares.
"""

import runpy
import sys
from pathlib import Path

if __package__:
    from .command import main

    sys.exit(main())

# Started by its path, it is in no package yet; so it is started once more, by name.
sys.path[0] = str(Path(__file__).resolve().parent.parent)
runpy.run_module("world_demo", run_name="__main__", alter_sys=True)
