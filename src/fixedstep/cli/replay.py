"""``fixedstep replay``: plan a recorded trace again, on both cores, and compare to the last bit.

The proof that a recording needs: that this machine, this core and this release give the plans that
the recording run had. It stops at nothing it can still compare, and names the first frame that
differs, since every later one differs as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from ..records.trace import Operation, Trace
    from ..reference import FramePlan


class _Run:
    """One core going through the trace."""

    def __init__(self, name: str, core: Any, trace: Trace) -> None:
        self.name = name
        self.loop = core.FrameLoop(trace.timestep, trace.budget, trace.start)
        self.stats = core.FrameStats()

    def frame(self, operation: Operation) -> FramePlan:
        plan: FramePlan = self.loop.begin_frame(operation.now)
        self.stats.absorb(plan)
        return plan


class Replay:
    """A trace planned by several cores at once.

    ``cores`` are modules with a core's types, by the names to report them under. ``operations`` are
    those of a trace that is planned while it is read, and so takes no memory; its own otherwise.
    """

    def __init__(
        self,
        trace: Trace,
        cores: dict[str, Any],
        operations: Iterable[Operation] | None = None,
    ) -> None:
        from .layout import digest

        self.runs = [_Run(name, core, trace) for name, core in cores.items()]
        self.frames = self.resyncs = self.digests = 0
        self.difference: list[str] = []
        for operation in trace.operations() if operations is None else operations:
            if operation.kind == "resync":
                self.resyncs += 1
                for run in self.runs:
                    run.loop.resync(operation.now)
                continue
            plans = [run.frame(operation) for run in self.runs]
            hashes = {run.stats.schedule_hash for run in self.runs}
            if operation.digest is not None:
                self.digests += 1
                hashes.add(operation.digest)
            if not self.difference and (len(hashes) > 1 or any(p != plans[0] for p in plans)):
                self.difference = [
                    f"first difference at frame {self.frames} (frame 0 is the first), timestamp "
                    f"{operation.now} ns"
                ]
                if operation.digest is not None:
                    self.difference.append(f"  recording  {digest(operation.digest)}")
                self.difference += [
                    f"  {run.name:9}  {digest(run.stats.schedule_hash)}  {plan!r}"
                    for run, plan in zip(self.runs, plans, strict=True)
                ]
            self.frames += 1
        if trace.stats is not None and not self.difference:
            different = [run.name for run in self.runs if run.stats != trace.stats]
            if different:
                self.difference = [
                    f"{' and '.join(different)} ended with other stats than the recording; which "
                    "frame differs first cannot be told, since its frames carry no digests"
                    if not self.digests
                    else f"{' and '.join(different)} ended with other stats than the recording, "
                    "though every frame that carries a digest agrees: its footer or lines without "
                    "a digest were changed"
                ]


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "replay",
        allow_abbrev=False,
        help="plan a recorded trace again on both cores and compare",
        description="Plans a recorded trace once more, on each core. Exit code 1 where a plan "
        "differs between the cores, or from what was recorded.",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a trace that `fixedstep demo --record` or a Recorder wrote, packed with gzip or not; "
        "- is the standard input",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Plan, compare, print."""
    from .. import reference
    from ..captures.source import opened
    from ..records.trace import Reader
    from .cores import native_core
    from .layout import digest, pairs, printable, schedule, table

    native, why_not = native_core()
    both = {} if native is None else {"native": native}
    with opened(arguments.file) as source:
        reader = Reader(source.name, source.binary)
        trace = reader.header()
        replay = Replay(trace, both | {"reference": reference}, reader.operations(trace))

    arguments.code = 1 if replay.difference else 0
    ending = (
        "whole"
        if trace.cut_line is None
        else f"cut off: line {trace.cut_line} is broken or missing; all lines before it were read"
    )
    print(
        pairs(
            [
                ("trace", printable(arguments.file)),
                ("recording", ending),
                ("operations", f"{replay.frames} frames, {replay.resyncs} resyncs"),
                ("schedule", schedule(trace.timestep, trace.budget)),
                ("start", f"{trace.start} ns"),
            ]
        )
    )
    rows = [("", "frames", "ticks", "dropped", "schedule digest")]
    stats = {run.name: run.stats for run in replay.runs}
    if trace.stats is not None:
        stats = {"recording": trace.stats} | stats
    rows += [
        (name, str(s.frames), str(s.ticks), str(s.steps_dropped), digest(s.schedule_hash))
        for name, s in stats.items()
    ]
    print()
    print(table(rows))
    print()
    if native is None:
        print(f"The native core was not compared: {printable(why_not)}")
    if replay.difference:
        print("DIFFERENT:", "\n".join(replay.difference))
        return 1
    compared = list(stats)
    if trace.stats is None and replay.digests:
        compared.insert(0, f"recording ({replay.digests} frames with a digest)")
    if len(compared) == 1:
        print(f"Nothing to compare {compared[0]} with: the recording has no digests.")
    else:
        print("EQUAL:", ", ".join(compared))
    return 0
