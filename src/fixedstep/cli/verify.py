"""``fixedstep verify``: plan a trace again, on both cores, and compare with what was recorded.

It shows that this machine, this core and this release give the plans that the recorded run had, and
names the first frame that differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

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


class Verification:
    """A trace, planned by several cores while it is read.

    ``cores`` are modules with a core's types, by the names to report them under.
    """

    def __init__(self, trace: Trace, cores: dict[str, Any]) -> None:
        from .layout import digest

        self.runs: list[_Run] = [_Run(name, core, trace) for name, core in cores.items()]
        self.frames: int = 0
        self.resyncs: int = 0
        self.digests: int = 0
        self.difference: list[str] = []
        for operation in trace:
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
                    self.difference.append(f"  trace      {digest(operation.digest)}")
                self.difference += [
                    f"  {run.name:9}  {digest(run.stats.schedule_hash)}  {plan!r}"
                    for run, plan in zip(self.runs, plans, strict=True)
                ]
            self.frames += 1
        if trace.stats is not None and not self.difference:
            different = [run.name for run in self.runs if run.stats != trace.stats]
            if different:
                self.difference = [
                    f"{' and '.join(different)} ended with other stats than the trace"
                    + (
                        ", though every frame that carries a digest agrees"
                        if self.digests
                        else "; its frames carry no digests, so the first that differs is not known"
                    )
                ]


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "verify",
        allow_abbrev=False,
        help="plan a trace of frames again on both cores and compare",
        description="Plan a trace of frames once more, on each core. Exit code 1 where a plan "
        "differs between the cores, or from what was recorded.",
    )
    parser.add_argument(
        "file",
        metavar="TRACE",
        help="a trace that `fixedstep demo --record` or a Recorder wrote, packed with gzip or not; "
        "- is the standard input",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Plan, compare, print."""
    from .. import reference
    from ..captures.source import opened
    from ..records import Trace
    from .cores import native_core
    from .layout import digest, pairs, printable, schedule, table

    native, why_not = native_core()
    both = {} if native is None else {"native": native}
    with opened(arguments.file) as source:
        trace = Trace(source.binary, source.name)
        done = Verification(trace, both | {"reference": reference})

    arguments.code = 1 if done.difference else 0
    ending = f"cut off: {trace.missing}" if trace.missing else "whole"
    print(
        pairs(
            [
                ("trace", printable(arguments.file)),
                ("ending", ending),
                ("operations", f"{done.frames} frames, {done.resyncs} resyncs"),
                ("schedule", schedule(trace.timestep, trace.budget)),
                ("start", "the first frame" if trace.start is None else f"{trace.start} ns"),
            ]
        )
    )
    rows = [("", "frames", "ticks", "dropped", "schedule digest")]
    stats = {run.name: run.stats for run in done.runs}
    if trace.stats is not None:
        stats = {"trace": trace.stats} | stats
    rows += [
        (name, str(s.frames), str(s.ticks), str(s.steps_dropped), digest(s.schedule_hash))
        for name, s in stats.items()
    ]
    print()
    print(table(rows))
    print()
    if native is None:
        print(f"The native core was not compared: {printable(why_not)}")
    if done.difference:
        print("DIFFERENT:", "\n".join(done.difference))
        return 1
    compared = list(stats)
    if trace.stats is None and done.digests:
        compared.insert(0, f"trace ({done.digests} frames with a digest)")
    if len(compared) == 1:
        print(f"Nothing to compare {compared[0]} with: the trace has no digests.")
    else:
        print("EQUAL:", ", ".join(compared))
    return 0
