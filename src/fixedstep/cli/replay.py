"""``fixedstep replay``: run a recording again in a game, and name the first tick that differs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from ..records import RecordingHeader
    from ..sim import Session


class GameError(ValueError):
    """The game of a command line cannot be imported or made."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "replay",
        allow_abbrev=False,
        help="run a recording of ticks again in your game, and name the first divergence",
        description="Run a recording again in your game, tick by tick, and name the first tick, "
        "phase and digest that differ. Exit code 0 if all ticks are equal, 1 for a divergence, 2 "
        "for a recording or a game that cannot be used.",
    )
    parser.add_argument(
        "file",
        metavar="RECORDING",
        help="a recording that a Recorder wrote, packed with gzip or not; - is the standard input",
    )
    parser.add_argument(
        "game",
        metavar="MODULE:FUNCTION",
        help="what makes the Session, such as mygame.main:make_session; it is looked for in the "
        "current folder first, and given the header of the recording if it takes an argument",
    )
    parser.set_defaults(run=run)


def make_session(game: str, header: RecordingHeader) -> Session[Any]:
    """The session that the function at ``module:function`` makes."""
    from importlib import import_module
    from inspect import signature

    from ..sim import Session

    module_name, colon, name = game.partition(":")
    if not (module_name and colon and name):
        raise GameError(f"{game!r} is no module:function; mygame.main:make_session is one")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        function: Any = import_module(module_name)
        for part in name.split("."):
            function = getattr(function, part)
        if not callable(function):
            raise GameError(f"{game} is no function, but a {type(function).__name__}")
        session = function(header) if signature(function).parameters else function()
    except GameError:
        raise
    except Exception as error:
        raise GameError(f"{game} cannot be used: {type(error).__name__}: {error}") from error
    if not isinstance(session, Session):
        raise GameError(f"{game} must return a Session, not a {type(session).__name__}")
    return session


def run(arguments: argparse.Namespace) -> int:
    """Replay, print."""
    from ..captures.source import opened
    from ..records import Recording, replay
    from .diff import described, different
    from .layout import pairs, printable

    with opened(arguments.file) as source:
        recording = Recording(source.binary, source.name)
        session = make_session(arguments.game, recording.header)
        found = replay(recording, session)
    divergence = found.divergence
    if divergence is not None:
        arguments.code = 1
    elif not found.compared:
        arguments.code = 2
    print(pairs([("recording", printable(arguments.file)), ("game", printable(arguments.game))]))
    print()
    if divergence is not None:
        print(different(divergence, divergence.sides))
        if session.fault is not None:
            error = session.fault.error
            text = printable(f"{type(error).__name__}: {error}")
            print(f"  the replay raised {text[:400]}")
        return 1
    print(pairs([("recorded", described(recording))]))
    print()
    if not found.compared:
        print("fixedstep: the recording has no tick, so nothing was compared", file=sys.stderr)
        return 2
    print(f"EQUAL: {found.compared} ticks compared")
    return 0
