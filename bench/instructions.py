"""``python -m bench.instructions``: instructions a frame, by function, counted by callgrind.

Times on a shared machine differ by some percent from run to run; instructions do not, so a change
of ten in a thousand shows here and nowhere else. Each loop of the bench is run twice, with few
passes and with more, and what is printed is the difference: starting Python and making the trace
cancel out. Needs valgrind. Instructions are not time: a division counts as one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from fixedstep import native

from . import frames, measure, workload

PLAYS = {
    "begin_frame": frames.plan_only,
    "body": frames.body,
    "body of ticks": frames.body_of_ticks,
    "no-op C method": frames.no_op,
}
_FEW, _MORE = 1, 5
#: Functions below this many instructions a frame are summed up.
_LEAST = 0.5

_NAMED = re.compile(r"(c?fn)=\((\d+)\)(?: (.*))?")


def self_costs(profile: str) -> Counter[str]:
    """Instructions by function, calls not included, of a file in callgrind's format.

    >>> self_costs("fn=(1) f\\n5 7\\ncfn=(2) g\\ncalls=1 9\\n5 40\\n+1 2\\nfn=(2)\\n9 40\\n")
    Counter({'g': 40, 'f': 9})
    """
    names: dict[str, str] = {}
    costs: Counter[str] = Counter()
    function, called = "", False
    for line in profile.splitlines():
        if named := _NAMED.fullmatch(line):
            kind, number, name = named.groups()
            names[number] = name or names[number]
            if kind == "fn":
                function = names[number]
        elif line.startswith("calls="):
            called = True  # the next line has the cost of the call, which its function has too
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            _, _, cost = line.partition(" ")
            if not called:
                costs[function] += int(cost or 0)  # a cost of zero is left out
            called = False
    return costs


def _counted(play: str, passes: int) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        subprocess.run(
            [*tool, sys.executable, "-m", "bench.instructions", play, str(passes)],
            cwd=measure.ROOT,
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        return self_costs(out.read_text())


def main() -> None:
    """Count and print."""
    for play in PLAYS:
        few, more = _counted(play, _FEW), _counted(play, _MORE)
        count = workload.FRAMES * (_MORE - _FEW)
        a_frame = {name: (cost - few[name]) / count for name, cost in more.items()}
        print(f"{play}: {sum(a_frame.values()):.1f} instructions a frame")
        ordered = sorted(a_frame.items(), key=lambda item: -item[1])
        for name, cost in ordered:
            if cost >= _LEAST:
                print(f"  {cost:8.1f}  {name}")
        print(f"  {sum(cost for _, cost in ordered if cost < _LEAST):8.1f}  others\n", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        instants = workload.trace()
        for _ in range(int(sys.argv[2])):
            PLAYS[sys.argv[1]](native, instants)
