"""The bench measures what it says: a contender that does other work is found before it is timed.

No time is asserted anywhere: times are printed and recorded by the bench itself.
"""

from __future__ import annotations

import json
import sys
from array import array
from typing import TYPE_CHECKING

import pytest

from fixedstep.cli.bench import batches, footprint, frames, hashing, latency, measure, workload
from fixedstep.cli.bench.measure import Claim, Effort, Played, Result, Row, Sample, Side
from fixedstep.cli.bench.rows import ROWS
from fixedstep.cli.bench.table import claims
from fixedstep.cli.bench.workload import WrongWorkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.conftest import Core

BRIEF = Effort(processes=1, rounds=1, value=1, paced=20, starts=1)


def test_the_trace_runs_no_one_and_two_steps_and_exceeds_its_budget() -> None:
    trace = workload.trace()
    assert len(trace.nanos) == len(trace.seconds) == len(trace.elapsed) == workload.FRAMES
    assert sum(trace.elapsed) == pytest.approx((trace.nanos[-1] - workload.START) / 10**9)


def test_a_trace_one_nanosecond_late_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    late = array("Q", [now + 1 for now in workload.timestamps(workload.FRAMES)])
    monkeypatch.setattr(workload, "timestamps", lambda count: late)
    with pytest.raises(WrongWorkError, match="not the frozen one"):
        workload.trace()


def test_a_trace_in_which_little_happens_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "_MIX", ((100, 16_666_667),))
    with pytest.raises(WrongWorkError, match="frames run 0 steps"):
        workload.trace()


@pytest.mark.parametrize(
    ("module", "name", "value", "sides"),
    [
        (frames, "DIGEST", 1, frames.bodies),
        (frames, "DROPPED", 1, frames.bodies),
        (frames, "TICKS", 1, frames.planning),
        (hashing, "DIGEST", 1, hashing.plan_digests),
        (batches, "SIZES", (10**3,), None),
    ],
)
def test_a_side_with_another_outcome_is_not_timed(
    native: Core,
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    name: str,
    value: object,
    sides: Callable[[], Iterable[Side | measure.Absent]] | None,
) -> None:
    monkeypatch.setattr(module, name, value)
    if sides is None:  # a batch: its table of outcomes is what is wrong
        monkeypatch.setitem(workload.OUTCOMES, 10**3, (1, 2, 3, 4))
        sides = batches.batches
    with pytest.raises(WrongWorkError, match="other work"):
        measure.interleave(sides(), BRIEF)


def test_hashes_that_disagree_are_not_timed() -> None:
    wrong = hashing.hashes(lambda data, repeats: Played(1, 0))
    with pytest.raises(WrongWorkError, match="other work"):
        measure.interleave(wrong, BRIEF)


def test_an_import_of_an_upper_floor_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footprint, "_UPPER_FLOORS", ("fixedstep.time",))
    with pytest.raises(WrongWorkError, match=r"fixedstep\.time"):
        footprint.starting(BRIEF)


def test_importing_the_library_loads_no_upper_floor() -> None:
    sample = footprint.starting(BRIEF)
    assert {len(values) for values in sample.values.values()} == {1}


def test_loops_that_differ_beside_busy_threads_are_found(
    native: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Idle:
        tick = bank = 0

    monkeypatch.setattr(
        latency, "native_through_cffi", lambda core, start: (Idle, lambda now: None)
    )
    with pytest.raises(WrongWorkError, match="loops differ"):
        latency.latencies(BRIEF)


def test_the_latency_of_the_lib_is_left_out_where_cffi_is_missing(
    native: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert native
    monkeypatch.setitem(sys.modules, "fixedstep._core", None)
    sample = latency.latencies(BRIEF)
    assert set(sample.absent) == {"cffi lib"}
    assert "native, 2 busy, max" in sample.values
    assert not [name for name in sample.values if name.startswith("cffi lib")]


def test_sides_are_played_in_turns_and_the_warm_up_is_dropped() -> None:
    played: list[str] = []

    def side(name: str, nanos: int) -> Side:
        def play() -> Played:
            played.append(name)
            return Played(nanos, None)

        return Side(name, 10, play, lambda found: True)

    effort = BRIEF._replace(rounds=3, value=200)
    sample = measure.interleave([side("a", 100), side("b", 200)], effort)
    assert sample.values == {"a": [10.0] * 3, "b": [20.0] * 3}
    # "a" needs two passes a value: one to calibrate, two to warm up, then three values
    assert "".join(played) == "aaa" + "b" + "baa" + "aab" + "baa"


def test_a_ratio_is_that_of_values_measured_after_each_other() -> None:
    row = Row(
        "row", "Row", "ns", lambda effort: Sample({}, {}), (Claim("a / b", "a", "b", high=2),)
    )
    drifting = Sample({"a": [1.0, 10.0, 100.0], "b": [2.0, 20.0, 200.0]}, {})
    result = Result(row, [drifting, drifting])
    spread = result.claim(row.claims[0])
    assert spread is not None
    assert spread == (0.5, 0.5, 0.5)


def test_a_missed_target_and_an_absent_side_are_said() -> None:
    row = Row(
        "row",
        "Row",
        "ns",
        lambda effort: Sample({}, {}),
        (Claim("a / b", "a", "b", high=0.4), Claim("a / c", "a", "c", high=1)),
    )
    text = claims([Result(row, [Sample({"a": [1.0], "b": [2.0]}, {"c": "not installed"})])])
    assert "MISSED" in text
    assert "not measured, not installed\n  row: c" in text


def test_a_row_that_fails_in_its_process_is_an_error_here() -> None:
    with pytest.raises(WrongWorkError, match="frame: "):
        measure.fresh([sys.executable, "-c", "raise SystemExit('no such thing')"], ROWS[0], BRIEF)


def test_a_row_is_measured_in_a_process_of_its_own() -> None:
    sent = "import json, sys; print(json.dumps([{'native': [float(len(sys.argv))]}, {}]))"
    result = measure.fresh([sys.executable, "-c", sent], ROWS[0], BRIEF._replace(processes=2))
    assert [sample.values for sample in result.samples] == [{"native": [3.0]}] * 2
    assert json.loads(json.dumps(BRIEF)) == list(BRIEF)
