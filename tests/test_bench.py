"""The bench measures what it says: a contender that does other work is found before it is timed.

No time is asserted anywhere: times are printed and recorded by the bench itself.
"""

from __future__ import annotations

import importlib
import json
import sys
from array import array
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Core

MODULES = ("batches", "footprint", "frames", "hashing", "latency", "measure", "report", "workload")


@pytest.fixture(scope="module")
def bench(source: Path, native: Core) -> Iterator[Any]:
    """The modules of bench/, beside the C sources in a checkout; --no-source leaves both out."""
    assert native
    sys.path.insert(0, str(source.parent))
    try:
        yield SimpleNamespace(
            **{name: importlib.import_module(f"bench.{name}") for name in MODULES}
        )
    finally:
        sys.path.remove(str(source.parent))


@pytest.fixture(scope="module")
def brief(bench: Any) -> Any:
    """The least effort."""
    return bench.measure.Effort(processes=1, rounds=1, value=1, paced=20, starts=1)


def test_the_trace_runs_no_one_and_two_steps_and_exceeds_its_budget(bench: Any) -> None:
    trace, workload = bench.workload.trace(), bench.workload
    assert len(trace.nanos) == len(trace.seconds) == len(trace.elapsed) == workload.FRAMES
    assert sum(trace.elapsed) == pytest.approx((trace.nanos[-1] - workload.START) / 10**9)


def test_a_trace_one_nanosecond_late_is_refused(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = bench.workload
    late = array("Q", [now + 1 for now in workload.timestamps(workload.FRAMES)])
    monkeypatch.setattr(workload, "timestamps", lambda count: late)
    with pytest.raises(workload.WrongWorkError, match="not the frozen one"):
        workload.trace()


def test_a_trace_in_which_little_happens_is_refused(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.workload, "_MIX", ((100, 16_666_667),))
    with pytest.raises(bench.workload.WrongWorkError, match="frames run 0 steps"):
        bench.workload.trace()


@pytest.mark.parametrize(
    ("name", "sides"), [("DIGEST", "bodies"), ("DROPPED", "bodies"), ("TICKS", "planning")]
)
def test_a_side_with_another_outcome_is_not_timed(
    bench: Any, brief: Any, monkeypatch: pytest.MonkeyPatch, name: str, sides: str
) -> None:
    monkeypatch.setattr(bench.frames, name, 1)
    with pytest.raises(bench.workload.WrongWorkError, match="other work"):
        bench.measure.interleave(getattr(bench.frames, sides)(), brief)


def test_a_batch_with_another_outcome_is_not_timed(
    bench: Any, brief: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.batches, "SIZES", (10**3,))
    monkeypatch.setitem(bench.workload.OUTCOMES, 10**3, (1, 2, 3, 4))
    with pytest.raises(bench.workload.WrongWorkError, match="other work"):
        bench.measure.interleave(bench.batches.batches(), brief)


def test_hashes_that_disagree_are_not_timed(
    bench: Any, brief: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = bench.measure.Played(1, 0)
    monkeypatch.setattr(bench.hashing, "hash_of_bytes", lambda data, repeats: wrong)
    with pytest.raises(bench.workload.WrongWorkError, match="other work"):
        bench.measure.interleave(bench.hashing.hashes(), brief)


def test_an_import_of_an_upper_floor_is_found(
    bench: Any, brief: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.footprint, "_UPPER_FLOORS", ("fixedstep.time",))
    with pytest.raises(bench.workload.WrongWorkError, match=r"fixedstep\.time"):
        bench.footprint.starting(brief)


def test_importing_the_library_loads_no_upper_floor(bench: Any, brief: Any) -> None:
    sample = bench.footprint.starting(brief)
    assert {len(values) for values in sample.values.values()} == {1}


def test_loops_that_differ_beside_busy_threads_are_found(
    bench: Any, brief: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = SimpleNamespace(tick=0, bank=0)
    monkeypatch.setattr(
        bench.latency, "native_through_cffi", lambda core, start: (idle, lambda now: None)
    )
    with pytest.raises(bench.workload.WrongWorkError, match="loops differ"):
        bench.latency.latencies(brief)


def test_the_latency_of_the_lib_is_left_out_where_cffi_is_missing(
    bench: Any, brief: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fixedstep._core", None)
    sample = bench.latency.latencies(brief)
    assert set(sample.absent) == {"cffi lib"}
    assert "native, 2 busy, max" in sample.values
    assert not [name for name in sample.values if name.startswith("cffi lib")]


def test_sides_are_played_in_turns_and_the_warm_up_is_dropped(bench: Any, brief: Any) -> None:
    played: list[str] = []

    def side(name: str, nanos: int) -> Any:
        def play() -> Any:
            played.append(name)
            return bench.measure.Played(nanos, None)

        return bench.measure.Side(name, 10, play, lambda found: True)

    effort = brief._replace(rounds=3, value=200)
    sample = bench.measure.interleave([side("a", 100), side("b", 200)], effort)
    assert sample.values == {"a": [10.0] * 3, "b": [20.0] * 3}
    # "a" needs two passes a value: one to calibrate, two to warm up, then three values
    assert "".join(played) == "aaa" + "b" + "baa" + "aab" + "baa"


def result(bench: Any, samples: list[Any], *claims: Any) -> Any:
    row = bench.measure.Row("row", "Row", "ns", lambda effort: samples[0], claims)
    return bench.measure.Result(row, samples)


def test_a_ratio_is_that_of_values_measured_after_each_other(bench: Any) -> None:
    claim = bench.measure.Claim("a / b", "a", "b", high=2)
    drifting = bench.measure.Sample({"a": [1.0, 10.0, 100.0], "b": [2.0, 20.0, 200.0]}, {})
    assert result(bench, [drifting, drifting], claim).claim(claim) == (0.5, 0.5, 0.5)


def test_a_missed_target_is_said_and_an_absent_side_is_left_out(bench: Any) -> None:
    missed = bench.measure.Claim("a / b", "a", "b", high=0.4)
    absent = bench.measure.Claim("a / c", "a", "c", high=1)
    sample = bench.measure.Sample({"a": [1.0], "b": [2.0]}, {"c": "not installed"})
    *_, row = bench.report.table([result(bench, [sample], missed, absent)]).splitlines()
    assert row == "| a / b | 0.500 | 0.500..0.500 | 1.00, 2.00 ns | <= 0.4, **missed** |"


def test_the_page_has_the_table_of_the_file(
    bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """``python -m bench.report`` writes it; who renews the file and not the page fails here."""
    page = bench.report.PAGE.read_text(encoding="utf-8")
    copy = tmp_path / "bench.md"
    copy.write_text(page.replace("0.0", "0.1"), encoding="utf-8")
    monkeypatch.setattr(bench.report, "PAGE", copy)
    bench.report.write_table()
    assert copy.read_text(encoding="utf-8") == page
    assert page.count("\n| ") > 30


def test_what_is_written_is_read_again(
    bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    results, facts = bench.report.read_json()
    monkeypatch.setattr(bench.report, "JSON", tmp_path / "bench.json")
    bench.report.write_json(results, facts)
    again, known = bench.report.read_json()
    assert (bench.report.table(again), known) == (bench.report.table(results), facts)


def test_a_row_that_fails_in_its_process_is_an_error_here(bench: Any, brief: Any) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such thing')"]
    with pytest.raises(bench.workload.WrongWorkError, match="frame: no such thing"):
        bench.measure.fresh(command, bench.report.ROWS[0], brief)


def test_a_row_is_measured_in_a_process_of_its_own(bench: Any, brief: Any) -> None:
    sent = "import json, sys; print(json.dumps([{'native': [float(len(sys.argv))]}, {}]))"
    command, effort = [sys.executable, "-c", sent], brief._replace(processes=2)
    measured = bench.measure.fresh(command, bench.report.ROWS[0], effort)
    assert [sample.values for sample in measured.samples] == [{"native": [3.0]}] * 2
    assert json.loads(json.dumps(brief)) == list(brief)


def test_a_process_of_the_bench_measures_a_row(bench: Any, brief: Any) -> None:
    command = [sys.executable, "-m", "bench.worker"]
    row = next(row for row in bench.report.ROWS if row.name == "digest")
    assert bench.measure.fresh(command, row, brief).sides == ["digest_frames", "byte by byte"]
