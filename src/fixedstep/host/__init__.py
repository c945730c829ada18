"""What may touch the machine: the only folder whose files read a clock or sleep.

Kept apart so that everything else can be tested with numbers, and so that a search for a clock has
one folder to look in. Nothing below imports it. The names that need a toolkit or asyncio are
imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .monotonic import Waiter, now, sleep
from .pacer import FramePacer, PacerReport
from .real_time import RealTimeFactor

if TYPE_CHECKING:
    from .arcade_window import ArcadeWindow
    from .pygame_window import PygameWindow
    from .pyglet_window import KeyEvent, PygletWindow
    from .tick_server import TickServer
    from .toolkits import MissingToolkit, NoDisplay

__all__ = [
    "ArcadeWindow",
    "FramePacer",
    "KeyEvent",
    "MissingToolkit",
    "NoDisplay",
    "PacerReport",
    "PygameWindow",
    "PygletWindow",
    "RealTimeFactor",
    "TickServer",
    "Waiter",
    "now",
    "sleep",
]

_LATER = {
    "ArcadeWindow": "arcade_window",
    "KeyEvent": "pyglet_window",
    "MissingToolkit": "toolkits",
    "NoDisplay": "toolkits",
    "PygameWindow": "pygame_window",
    "PygletWindow": "pyglet_window",
    "TickServer": "tick_server",
}


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
