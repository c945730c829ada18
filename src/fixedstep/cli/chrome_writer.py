"""A stream and its schedule as a Chrome trace, to be looked at in Perfetto's viewer or chrome://tracing.

Each stream is a process with a track of frames, coloured by the viewer by their names ("frame",
"stall", "frame with drops"), and counters for steps, drops and alpha below it. Times are the trace
format's microseconds, written with three decimals, so nothing is rounded. The text is written as it
is made: a trace of a million frames is 300 MB, and would be ten times that as objects.

The viewer calls a counter by its name and the key of its number, so the keys read on: "steps a
frame".
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TextIO

from ..captures.chrome_trace import OWN_CATEGORY
from .series import frames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..captures import Stream
    from ..time import Rate, StepBudget, Timestep


def _microseconds(nanos: int) -> str:
    return f"{nanos // 1000}.{nanos % 1000:03d}"


def write(
    file: TextIO,
    streams: Sequence[Stream],
    timestep: Timestep | Rate,
    budget: StepBudget,
    stall_over: int,
) -> int:
    """Write the trace of all streams, and return how many events that were.

    >>> import io
    >>> from fixedstep import StepBudget, Timestep
    >>> from fixedstep.captures import Stream
    >>> file = io.StringIO()
    >>> stream = Stream("game.exe", "42", "", [25_000, 10_000])
    >>> write(file, [stream], Timestep(10_000), StepBudget(5), 50_000_000)
    9
    >>> json.loads(file.getvalue())["traceEvents"][2]["args"]
    {'frame': 0, 'steps': 2, 'dropped': 0}
    """
    count = 0

    def put(event: str) -> None:
        nonlocal count
        file.write(",\n" if count else "")
        file.write(event)
        count += 1

    file.write('{"displayTimeUnit":"ms","traceEvents":[\n')
    for number, stream in enumerate(streams, 1):
        where = f'"pid":{number},"tid":1'
        name = json.dumps(stream.title)
        put(f'{{"name":"process_name","ph":"M",{where},"args":{{"name":{name}}}}}')
        put(f'{{"name":"thread_name","ph":"M",{where},"args":{{"name":"frames"}}}}')
        last = None
        for index, frame in enumerate(frames(stream, timestep, budget)):
            kind = "frame with drops" if frame.dropped else "frame"
            if frame.span > stall_over and not frame.dropped:
                kind = "stall"
            at, took = _microseconds(frame.start), _microseconds(frame.span)
            put(
                f'{{"name":"{kind}","cat":"{OWN_CATEGORY}","ph":"X","ts":{at},"dur":{took},{where},"args":'
                f'{{"frame":{index},"steps":{frame.steps},"dropped":{frame.dropped}}}}}'
            )
            # A plan is made when its frame ends. A counter keeps its value until the next.
            end = _microseconds(frame.start + frame.span)
            for counter, per, value in (
                ("steps", "a frame", frame.steps),
                ("dropped", "a frame", frame.dropped),
                ("alpha", "of a step", int(frame.alpha * 10**6) / 10**6),  # below 1, also cut
            ):
                if counter != "dropped" or value or last != 0:
                    put(
                        f'{{"name":"{counter}","ph":"C","ts":{end},"pid":{number},"args":'
                        f'{{"{per}":{value}}}}}'
                    )
            last = frame.dropped
    file.write("\n]}\n")
    return count
