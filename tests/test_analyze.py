"""What a schedule would have made of a capture: the figures, and the command that prints them.

The figures of the small files are worked out by hand; the identities that hold for any file (steps
and drops together are the whole steps in the sum, the remainder is the rest of it) are checked on
files that were mangled at random. Those of the real captures stand in ``test_captures.py``.
"""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import FrameTiming, Nanos, Rate, StepBudget, Timestep
from fixedstep.captures import (
    AnalysisSettings,
    Stream,
    analyze,
    histogram,
    merge_histograms,
)
from fixedstep.captures import capture as capture_module
from fixedstep.captures import read as read_capture
from fixedstep.captures.analysis import report
from fixedstep.captures.capture import FrameTimes
from fixedstep.cli import fleet, main
from fixedstep.cli.layout import Page
from fixedstep.time import scale_and_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Core

MADE = Path(__file__).parent / "data" / "captures"
REFUSED = {"mangohud-sampled.csv", "mangohud-no-columns.csv", "monitoring.csv"}
SECOND = 10**9
FRAME = 16_666_667
MS = 1_000_000


def lines_of(captured: str) -> list[str]:
    return captured.rstrip("\n").split("\n")


def figures_of(deltas: list[int], **settings: Any) -> dict[str, Any]:
    return report(Stream("orbit.exe", "71", "", FrameTimes(deltas)), AnalysisSettings(**settings))


def analyzed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The one file of a call that prints JSON."""
    assert main(["analyze", "--json", *arguments]) == 0
    (found,) = json.loads(capsys.readouterr().out)["files"]
    assert isinstance(found, dict)
    return found


# Figures.


def test_the_figures_of_every_group_are_those_worked_out_by_hand(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """16.0001, 100 and 17 ms: 0, 6 and 1 steps due; the second exceeds a budget of 5."""
    path = str(MADE / "presentmon-1.csv")
    found = analyzed(capsys, path)
    assert {key: value for key, value in found.items() if key != "streams"} == {
        "path": path,
        "format": "PresentMon CSV",
        "rows": 7,
        "warnings": [],
    }
    first, _, single = found["streams"]
    (plan,) = first.pop("schedules")
    digest = plan.pop("schedule_hash")
    assert re.fullmatch("0x[0-9a-f]{16}", digest)
    assert plan == {
        "timestep": FRAME,
        "budget": 5,
        "steps": 0 + 5 + 1,
        "dropped": 1,
        "zero_step_frames": 1,
        "largest_due": 6,
        "remainder": 133_000_100 - 7 * FRAME,
        # 16.0001, 16.000098 and 16.333431 ms of 16.666667
        "alpha_tenths": [0, 0, 0, 0, 0, 0, 0, 0, 0, 3],
    }
    stall = {"frame": 1, "start_ns": 16_000_100, "length_ns": 100_000_000}
    assert first == {
        "application": "orbit.exe",
        "process_id": "71",
        "name": "swap chain 0x00000000000000A1",
        "background": False,
        "gaps": {"count": 0, "sum_ns": 0, "counted": True, "longest": []},
        "frames": 3,
        "sum_ns": 133_000_100,
        "min_ns": 16_000_100,
        "p50_ns": 17_000_000,
        "p90_ns": 100_000_000,
        "p99_ns": 100_000_000,
        "p99.9_ns": 100_000_000,
        "max_ns": 100_000_000,
        "average_fps": 22.5564,
        "low_1_fps": 10.0,
        "low_0.1_fps": 10.0,
        "stalls": {"over_ns": 50 * MS, "count": 1, "sum_ns": 100 * MS, "longest": [stall]},
    }
    assert single["frames"] == 0
    assert single["p50_ns"] is single["low_1_fps"] is single["average_fps"] is None
    assert single["schedules"][0]["steps"] == 0


def test_both_cores_analyze_to_the_same_figures(native: Core, reference: Core) -> None:
    settings = AnalysisSettings((Timestep.HZ_60, Rate(60)), (StepBudget(3),), resync_over=50 * MS)
    for group in read_capture(MADE / "presentmon-1.csv").streams:
        one, two = (report(group, settings, core) for core in (native, reference))
        assert one == two
        if group.frames > 1:
            assert one["schedules"][0]["dropped"] > 0
            assert one["schedules"][0]["resync"]["dropped"] == 0


def test_ninety_nine_even_frames_and_a_long_one() -> None:
    """The long one is the worst one per cent, and no percentile up to 99 may see it. The average
    is frames by time: a mean of rates would be 59.5."""
    found = figures_of([FRAME] * 99 + [100 * MS])
    assert found["p50_ns"] == found["p99_ns"] == FRAME
    assert found["p99.9_ns"] == found["max_ns"] == 100 * MS
    assert found["low_1_fps"] == found["low_0.1_fps"] == 10
    assert found["average_fps"] == 57.1429
    assert figures_of([MS, 4 * MS])["average_fps"] == 400


def test_the_one_per_cent_is_the_next_whole_number_of_frames() -> None:
    """101 frames: two of them."""
    found = figures_of([10 * MS] * 99 + [30 * MS, 70 * MS])
    assert found["low_1_fps"] == 2 * 1000 / (30 + 70)
    assert found["low_0.1_fps"] == round(1000 / 70, 4)


def test_stalls_are_the_frames_over_a_bound_longest_first_and_at_most_ten_by_name() -> None:
    deltas = [10 * MS, 60 * MS, 50 * MS, 70 * MS, *[51 * MS] * 20]
    stalls = figures_of(deltas)["stalls"]
    assert (stalls["count"], stalls["sum_ns"]) == (22, 130 * MS + 20 * 51 * MS)
    named = stalls["longest"]
    assert [stall["length_ns"] // MS for stall in named] == [70, 60, *[51] * 8]
    assert [stall["frame"] for stall in named] == [3, 1, *range(4, 12)]
    for stall in named:
        assert stall["start_ns"] == sum(deltas[: stall["frame"]])
    assert figures_of(deltas, stall_over=65 * MS)["stalls"]["count"] == 1


@given(
    st.lists(st.integers(0, 200 * MS), max_size=50),
    st.integers(0, 150 * MS),
    st.integers(1, 20),
)
def test_a_resync_forgets_the_time_of_its_frame_and_nothing_else(
    deltas: list[int], over: int, block: int
) -> None:
    """The oracle is the arithmetic: what is left of the sum, in whole steps. Blocks of a few
    frames, so that resyncs fall on their ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capture_module, "BLOCK", block)
        found = figures_of(deltas, resync_over=over, budgets=(StepBudget(2),))["schedules"][0]
    resync = found["resync"]
    skipped = [delta for delta in deltas if delta > over]
    assert (resync["frames"], resync["skipped_ns"]) == (len(skipped), sum(skipped))
    left = sum(deltas) - sum(skipped)
    assert resync["steps"] + resync["dropped"] == left // FRAME
    assert resync["remainder"] == left % FRAME
    assert sum(resync["alpha_tenths"]) == len(deltas)
    assert found["steps"] + found["dropped"] == sum(deltas) // FRAME


def test_figures_do_not_depend_on_the_size_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    deltas = [rng.choice((3, 16, 17, 90, 400)) * MS + rng.randrange(MS) for _ in range(500)]
    settings = {"resync_over": 80 * MS, "histogram": True, "budgets": (StepBudget(1),)}
    whole = figures_of(deltas, **settings)
    assert whole["schedules"][0]["dropped"] > 100
    assert whole["stalls"]["count"] > 100
    for block in (1, 7, 64, 499, 500):
        monkeypatch.setattr(capture_module, "BLOCK", block)
        monkeypatch.setattr(capture_module, "_MERGED_AT_ONCE", 3)
        assert figures_of(deltas, **settings) == whole


@given(st.lists(st.lists(st.integers(0, 10**12), max_size=20), max_size=6))
def test_merged_histograms_equal_one_that_recorded_every_frame(parts: list[list[int]]) -> None:
    """In any grouping: what a cluster relies on."""
    every = FrameTiming()
    for part in parts:
        for delta in part:
            every.record(Nanos(delta), True)
    histograms = [figures_of(part, histogram=True)["histogram"] for part in parts]
    assert merge_histograms(histograms) == every
    half = len(parts) // 2
    nested = [
        histogram(merge_histograms(histograms[:half])),
        histogram(merge_histograms(histograms[half:])),
    ]
    assert merge_histograms(nested) == every
    assert merge_histograms(json.loads(json.dumps(histograms))) == every


def test_a_frame_that_a_rate_cannot_count_is_an_error_and_no_wrong_sum(tmp_path: Path) -> None:
    """60 times its nanoseconds exceed 64 bits, and a loop would saturate without a word."""
    path = tmp_path / "long"
    path.write_text(f"{2**60}\n")
    fits = analyze(path, AnalysisSettings(unit="ns"))
    assert fits["streams"][0]["schedules"][0]["remainder"] == 2**60 % FRAME
    found = analyze(path, AnalysisSettings(timesteps=(Rate(60),), unit="ns"))
    assert found["error"].startswith(f"{path}: ")
    assert "exceeds 64 bits in the units of Rate(60, 1)" in found["error"]


# Any file: a clear error or a right answer.

SETTINGS = AnalysisSettings(
    timesteps=(Timestep.HZ_60, Timestep(1), Timestep.from_hz(144), Rate(60), Rate(60000, 1001)),
    budgets=(StepBudget(1), StepBudget(5), StepBudget(2**32 - 1)),
    resync_over=50 * MS,
    histogram=True,
)


def mangle(rng: random.Random, content: bytes) -> bytes:
    """Rows cut out, columns exchanged, bytes changed, numbers made absurd; or several of it."""
    for _ in range(rng.randint(1, 3)):
        lines = content.split(b"\n")
        at = rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0:
            del lines[at : at + rng.randint(1, 3)]
        elif kind == 1:
            lines[at:at] = [rng.choice(lines)]
        elif kind == 2:
            a, b = rng.randrange(8), rng.randrange(8)
            for index, line in enumerate(lines):
                fields = line.split(b",")
                if max(a, b) < len(fields):
                    fields[a], fields[b] = fields[b], fields[a]
                    lines[index] = b",".join(fields)
        elif kind == 3:
            changed = bytearray(b"\n".join(lines))
            for _ in range(rng.randint(1, 4)):
                if changed:
                    changed[rng.randrange(len(changed))] = rng.randrange(256)
            lines = [bytes(changed)]
        elif kind == 4:
            number = rng.choice(
                (b"1e300", b"-1", b"99999999999999", b"18446744073709", b"0", b"1e-9", b"1e9")
            )
            lines[at] = re.sub(rb"\d+(\.\d+)?", number, lines[at], count=rng.randint(1, 4))
        else:
            lines = [b"\n".join(lines)[: rng.randrange(len(content) + 1)]]
        content = b"\n".join(lines) or b"\n"
    return content


def sound(found: dict[str, Any], path: Path) -> bool:
    """Whether figures came out. They must be right, and what else came out must be an error."""
    if "error" in found:
        assert set(found) == {"path", "error"}
        assert found["error"].startswith(str(path))
        assert len(found["error"]) < 700
        return False
    frames = 0
    for group in found["streams"]:
        total = group["sum_ns"]
        frames += group["frames"]
        for plan in group["schedules"]:
            step = Rate(*plan["rate"]) if "rate" in plan else Timestep(plan["timestep"])
            scale, unit = scale_and_unit(step)
            assert plan["steps"] + plan["dropped"] == total * scale // unit
            assert plan["remainder"] == total * scale % unit
            assert sum(plan["alpha_tenths"]) == group["frames"] >= plan["zero_step_frames"]
            resync = plan["resync"]
            left = total - resync["skipped_ns"]
            assert resync["steps"] + resync["dropped"] == left * scale // unit
            assert resync["remainder"] == left * scale % unit
        assert group["histogram"]["sum_ns"] == total
        assert sum(count for _, count in group["histogram"]["buckets"]) == group["frames"]
    assert found["rows"] >= frames
    return True


@pytest.mark.parametrize(
    "name", sorted(path.name for path in MADE.glob("[!.]*") if path.suffix != ".gz")
)
def test_a_mangled_file_gives_a_clear_error_or_a_right_answer(name: str, tmp_path: Path) -> None:
    rng = random.Random(name)
    content = (MADE / name).read_bytes()
    unit = "ms" if name == "column.txt" else None
    settings = AnalysisSettings(**{**vars(SETTINGS), "unit": unit})
    path = tmp_path / "mangled"
    outcomes: Counter[bool] = Counter()
    path.write_bytes(content)
    assert sound(analyze(path, settings), path) is (name not in REFUSED)
    for _ in range(100):
        path.write_bytes(mangle(rng, content))
        outcomes[sound(analyze(path, settings), path)] += 1
    assert outcomes[False] > 5, "some were refused"
    if name not in REFUSED:
        assert outcomes[True] > 5, "some were read"


@given(st.binary(max_size=200), st.sampled_from([None, "ms", "ns"]))
def test_any_bytes_give_a_clear_error_or_a_right_answer(content: bytes, unit: str | None) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "any")
        path.write_bytes(content)
        sound(analyze(path, AnalysisSettings(**{**vars(SETTINGS), "unit": unit})), path)


def test_wrong_sums_would_be_found() -> None:
    """The negative control of the two tests above."""
    found = analyze(MADE / "presentmon-1.csv", SETTINGS)
    assert sound(found, MADE / "presentmon-1.csv")
    found["streams"][0]["schedules"][4]["dropped"] += 1
    with pytest.raises(AssertionError):
        sound(found, MADE / "presentmon-1.csv")


def test_analyze_and_all_it_takes_and_gives_can_be_sent_to_another_process() -> None:
    function, settings = pickle.loads(pickle.dumps((analyze, SETTINGS)))
    assert settings == SETTINGS
    found = function(MADE / "presentmon-1.csv", settings)
    assert pickle.loads(pickle.dumps(found)) == found
    assert found == analyze(str(MADE / "presentmon-1.csv"), SETTINGS)
    json.dumps(found, allow_nan=False)


# The command.


def test_the_budget_and_the_rate_change_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(MADE / "presentmon-1.csv")
    (plan,) = analyzed(capsys, path, "--budget", "9", "--hz", "120")["streams"][0]["schedules"]
    assert (plan["budget"], plan["timestep"]) == (9, 8_333_333)
    assert (plan["largest_due"], plan["steps"], plan["dropped"]) == (12, 1 + 9 + 2, 3)
    assert plan["zero_step_frames"] == 0
    (exact,) = analyzed(capsys, path, "--exact")["streams"][0]["schedules"]
    assert exact["rate"] == [60, 1]
    assert "timestep" not in exact
    assert exact["remainder"] == 133_000_100 * 60 % SECOND


def test_the_text_lines_up(capsys: pytest.CaptureFixture[str]) -> None:
    path = MADE / "presentmon-1.csv"
    assert main(["analyze", str(path), "--resync-over", "99.5"]) == 0
    out = capsys.readouterr().out
    assert lines_of(out)[:2] == [
        f"{path}: PresentMon CSV, 7 rows, 3 streams of frames",
        "schedule: steps of 16.666667 ms, at most 5 a frame",
    ]
    assert (
        """
orbit.exe, process 71, swap chain 0x00000000000000A1
  frames              3 in 0.133 s
  average             22.5564 a second
  1 % low             10.0000 a second
  0.1 % low           10.0000 a second
  frame time p50      17.000000 ms
  frame time p90      100.000000 ms
  frame time p99      100.000000 ms
  frame time p99.9    100.000000 ms
  frame time longest  100.000000 ms
  stalls              1 over 50.000000 ms, 0.100 s together
                      100.000000 ms, from 0.016 s on (frame 1)
  steps               6
  dropped             1
  zero-step frames    1
  largest due         6 in one frame
  remainder           16.333431 ms, 98.0 % of a step
  alpha, by tenths    0 0 0 0 0 0 0 0 0 100 % of the frames
  with resync         1 frames, 0.100 s skipped
                      1 steps, 0 dropped
"""
        in out
    )
    assert out.endswith(
        "\ncomet.exe, process 72, swap chain 0x00000000000000A1\n"
        "  one row only, so there is no frame time\n"
    )
    assert main(["analyze", str(path), "--exact"]) == 0
    assert "schedule: exactly 60 steps a second, at most 5 a frame" in capsys.readouterr().out


def test_a_sweep_is_a_table_of_rates_and_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    """Also with the file behind it, where the option takes it in."""
    path = str(MADE / "presentmon-1.csv")
    sweep = ["--sweep", "hz=30,60", "budget=1..3,7"]
    assert main(["analyze", path, *sweep]) == 0
    out = capsys.readouterr().out
    assert main(["analyze", *sweep, path]) == 0
    assert capsys.readouterr().out == out
    table = """
hz  budget  steps  dropped  dropped %  zero-step  largest due
30       1      1        2      66.67          2            3
30       2      2        1      33.33          2            3
30       3      3        0       0.00          2            3
30       7      3        0       0.00          2            3
60       1      2        5      71.43          1            6
60       2      3        4      57.14          1            6
60       3      4        3      42.86          1            6
60       7      7        0       0.00          1            6
"""
    assert table in out
    assert main(["analyze", *sweep, path, "--resync-over", "50", "--exact"]) == 0
    assert (
        "60       1      2        5      71.43          1            6        1             0"
        in (capsys.readouterr().out)
    )
    plans = analyzed(capsys, path, *sweep)["streams"][0]["schedules"]
    assert [(p["timestep"], p["budget"]) for p in plans[3:5]] == [(33_333_333, 7), (FRAME, 1)]


def test_csv_has_a_line_for_each_stream_and_schedule_and_for_what_was_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = [str(MADE / name) for name in ("presentmon-1.csv", "monitoring.csv", "own.trace")]
    options = ["--csv", "--sweep", "budget=1,5", "--resync-over", "50"]
    assert main(["analyze", *options, *paths]) == 2
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["path"] for row in rows] == [paths[0]] * 6 + paths[1:2] + paths[2:] * 2
    assert all(None not in row and None not in row.values() for row in rows)
    first = rows[1]
    assert (first["stream"], first["budget"]) == ("swap chain 0x00000000000000A1", "5")
    assert (first["steps"], first["dropped"], first["resync_dropped"]) == ("6", "1", "0")
    assert (first["stalls"], first["p99_ns"], first["error"]) == ("1", "100000000", "")
    assert rows[4]["p99_ns"] == ""
    assert "one sample a second" in rows[6]["error"]
    assert "one sample a second" in err


def test_one_bad_file_does_not_stop_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder, a missing file and one file, in this order, and the errors apart from the text."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".hidden").write_text("")
    for name, place in (("own.trace", "deep/er/a"), ("monitoring.csv", "b"), ("ragged.csv", "c")):
        (tmp_path / place).write_bytes((MADE / name).read_bytes())
    last = str(MADE / "frameview.csv")
    assert main(["analyze", "--details", str(tmp_path), str(tmp_path / "none"), last]) == 2
    out, err = capsys.readouterr()
    heads = [line for line in lines_of(out) if " of frames" in line and "rows" in line]
    assert [re.sub(r":.*", "", line) for line in heads] == [
        str(tmp_path / "c"),
        str(tmp_path / "deep" / "er" / "a"),
        last,
    ]
    assert len(lines_of(err)) == 2
    assert "b, line 1: is a hardware monitoring log" in err
    assert "none: No such file or directory" in err
    assert main(["analyze", "--json", str(tmp_path), str(tmp_path / "none"), last]) == 2
    files = json.loads(capsys.readouterr().out)["files"]
    assert ["error" in found for found in files] == [True, False, False, True, False]


def test_a_pool_of_processes_gives_what_one_process_gives(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["analyze", "--csv", str(MADE), "--jobs", "1"]) == 2
    one = capsys.readouterr()
    assert main(["analyze", "--csv", str(MADE), "--jobs", "2"]) == 2
    assert capsys.readouterr() == one
    assert len(lines_of(one.out)) > 20
    errors = [line for line in lines_of(one.err) if not line.startswith("fixedstep: warning: ")]
    assert len(errors) == 4
    assert len(lines_of(one.err)) > 8


def forked(
    monkeypatch: pytest.MonkeyPatch, stand_in: Callable[[str, AnalysisSettings], dict[str, Any]]
) -> None:
    """Make a pool fork its processes, so that they know the stand-in for `analyze`. All else is
    the same."""
    import multiprocessing

    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("a process cannot be forked here, so none can be given the stand-in")
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr("multiprocessing.get_context", lambda _: fork)
    monkeypatch.setattr("fixedstep.captures.analyze", stand_in)


def _die(path: str, settings: AnalysisSettings) -> dict[str, Any]:
    """Stands in for `analyze` in the processes of a pool."""
    if path.endswith("deadly"):
        os._exit(9)
    return {"path": path, "streams": []}


def test_a_file_that_ends_its_process_costs_its_own_figures_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As memory that runs out would."""
    forked(monkeypatch, _die)
    files = [f"file {n}" for n in range(5)] + ["deadly"] + [f"file {n}" for n in range(5, 9)]
    results = fleet.analyze_all(files, AnalysisSettings(), 2)
    assert [result["path"] for result in results] == files
    assert ["error" in result for result in results] == [name == "deadly" for name in files]
    assert "the process that read it ended" in results[5]["error"]


def _die_once(path: str, settings: AnalysisSettings) -> dict[str, Any]:
    """As where two files together take the memory that each alone has."""
    if os.path.exists(path):
        os.remove(path)
        os._exit(9)
    return {"path": path, "streams": []}


def test_a_file_whose_process_was_ended_is_read_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forked(monkeypatch, _die_once)
    (tmp_path / "large").write_text("")
    files = ["file 0", str(tmp_path / "large"), "file 1"]
    results = fleet.analyze_all(files, AnalysisSettings(), 2)
    assert results == [{"path": path, "streams": []} for path in files]
    assert not (tmp_path / "large").exists(), "a process was ended"


def _fail(path: str, settings: AnalysisSettings) -> dict[str, Any]:
    raise ValueError("a fault of the program")


def test_a_fault_of_the_program_in_another_process_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forked(monkeypatch, _fail)
    with pytest.raises(RuntimeError, match=r"(?s)one: .*in _fail.*a fault of the program"):
        fleet.analyze_all(["one", "one"], AnalysisSettings(), 2)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no names for open files there")
def test_what_only_this_process_can_open_is_read_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard input, a pipe as the shell's <(...) makes one, and an open file by its number, among
    files for the pool. Another process has none of them."""
    good = str(MADE / "presentmon-1.csv")
    content = Path(good).read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    read, write = os.pipe()
    os.write(write, content)
    os.close(write)
    number = os.open(good, os.O_RDONLY)
    files = ["-", good, f"/dev/fd/{read}", good, f"/dev/fd/{number}"]
    try:
        assert main(["analyze", "--json", "--jobs", "2", *files]) == 0
    finally:
        os.close(read)
        os.close(number)
    found = json.loads(capsys.readouterr().out)["files"]
    assert [figures.pop("path") for figures in found] == files
    assert all(figures == found[1] for figures in found)


WAITING = """
import os, signal, sys, time
import fixedstep.captures
from fixedstep.cli import main

def wait(path="", settings=None):
    os.write(1, b"waiting\\n")
    time.sleep(3600)

fixedstep.captures.analyze = wait
"""
AT_WORK = """
if __name__ == "__main__":
    # as at a terminal, also where the suite runs behind nohup or &, which have Ctrl-C ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(["analyze", "--jobs", "2", *"abcdefgh"]))
"""
STARTING = """
if __name__ == "__mp_main__":
    wait()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there, Ctrl-C reaches a whole console")
@pytest.mark.parametrize("kind", ["at work", "starting"])
@pytest.mark.parametrize("everybody", [True, False], ids=["all processes", "the first alone"])
def test_ctrl_c_ends_a_pool_at_once_and_without_a_word(
    kind: str, everybody: bool, tmp_path: Path
) -> None:
    """Each process of the pool imports this program too, and so gets its stand-in for the reader.
    The outputs end when the last process that has them does. A terminal sends Ctrl-C to all."""
    script = tmp_path / "waiting.py"
    script.write_text(WAITING + STARTING * (kind == "starting") + AT_WORK)
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert [process.stdout.readline() for _ in range(2)] == ["waiting\n"] * 2
            (os.killpg if everybody else os.kill)(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe without a reader is an error there")
def test_a_bad_file_is_code_2_also_where_nobody_reads_the_figures() -> None:
    """And its error is told to whoever reads errors."""
    good, bad = str(MADE / "presentmon-1.csv"), str(MADE / "monitoring.csv")
    read, write = os.pipe()
    os.close(read)
    for form in (["--json"], ["--csv"], []):
        line = [sys.executable, "-m", "fixedstep", "analyze", *form, good]
        assert subprocess.run(line, check=False, stdout=write).returncode == 0
        line.append(bad)
        result = subprocess.run(line, check=False, stdout=write, stderr=subprocess.PIPE)
        assert result.returncode == 2
        assert b"is a hardware monitoring log" in result.stderr
        assert result.stderr.count(b"\n") == 1
        assert subprocess.run(line, check=False, stdout=write, stderr=write).returncode == 2
    os.close(write)


@pytest.mark.parametrize("option", ["--trace", "--plot"])
@pytest.mark.parametrize("link", [None, os.link], ids=["its name", "another name"])
def test_a_capture_is_never_written_over(
    option: str, link: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By whichever name it is given, which is a picture's here, as --plot wants it."""
    capture, out = tmp_path / "capture.svg", tmp_path / "capture.svg"
    capture.write_bytes((MADE / "presentmon-1.csv").read_bytes())
    if link is not None:
        out = tmp_path / "out.svg"
        link(capture, out)
    assert main(["analyze", str(capture), option, str(out)]) == 2
    assert f"{option} {out} is the capture itself" in capsys.readouterr().err
    assert capture.read_bytes() == (MADE / "presentmon-1.csv").read_bytes()


def test_files_stand_on_both_sides_of_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Behind -- also one whose name begins like an option."""
    monkeypatch.chdir(tmp_path)
    content = (MADE / "presentmon-1.csv").read_bytes()
    for name in ("a", "b", "c", "-odd"):
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    line = ["a", "--hz", "30", "b", "-", "--json", "c", "--", "-odd"]
    assert main(["analyze", *line]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [found["path"] for found in files] == ["a", "b", "-", "c", "-odd"]
    assert {found["streams"][0]["schedules"][0]["timestep"] for found in files} == {33_333_333}
    for wrong in (["a", "--json", "b", "--hzz", "30"], ["a", "--json", "-odd"]):
        assert main(["analyze", *wrong]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert f"unrecognized arguments: {' '.join(wrong[2:])}" in err


def test_a_folder_without_files_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"fixedstep: {tmp_path}: is a directory without files\n"


@pytest.mark.skipif(sys.platform != "linux", reason="paths of 2,200 characters are too long there")
def test_folders_may_be_deeper_than_the_interpreter_may_recurse(tmp_path: Path) -> None:
    folders = [str(tmp_path)]
    for _ in range(sys.getrecursionlimit() + 100):
        folders.append(folders[-1] + "/d")
        os.mkdir(folders[-1])
    file = Path(folders[-1], "a")
    file.touch()
    try:
        assert fleet.files_in([str(tmp_path)]) == ([str(file)], [])
    finally:  # level by level: shutil calls itself too
        file.unlink()
        for folder in reversed(folders[1:]):
            os.rmdir(folder)


def test_standard_input_is_a_file_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = io.BytesIO((MADE / "column.txt").read_bytes())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=content))
    found = analyzed(capsys, "-", "--unit", "ms")
    assert (found["path"], found["streams"][0]["sum_ns"]) == ("-", 125_000_000)


USAGE = [
    (["--sweep", "hz=60"], "the following arguments are required: FILE"),
    (["--sweep", "x.csv"], "what to sweep is missing: hz=30,60,120 or budget=1..8 or both"),
    (["x.csv", "--sweep", "hz=60", "hz=30"], "hz is there twice; give its numbers as hz=1,2,3"),
    (["x.csv", "--sweep", "hz=fast"], "'fast' is neither a whole number nor a range such as 1..8"),
    (["x.csv", "--sweep", "hz=8..1"], "'8..1' is empty or longer than 1000"),
    (["x.csv", "--sweep", "hz=1..9999999"], "'1..9999999' is empty or longer than 1000"),
    (["x.csv", "--sweep", "hz=1..100", "budget=1..100"], "10000 schedules are more than 1000"),
    (["x.csv", "--sweep", "hz=0"], "hz must be a whole number of steps a second, at least 1"),
    (["x.csv", "--sweep", "budget=0"], "budget must be a whole number of steps a frame, at least"),
    (["x.csv", "--resync-over", "-1"], "'-1' is negative"),
    (["x.csv", "--stall-over", "long"], "'long' is not a decimal number of milliseconds"),
    (["x.csv", "--unit", "min"], "invalid choice: 'min'"),
    (["x.csv", "--jobs", "0"], "jobs must be 1 .. 64 processes, not 0"),
    (["x.csv", "--json", "--csv"], "not allowed with argument --json"),
]


@pytest.mark.parametrize(("arguments", "words"), USAGE, ids=lambda value: str(value)[:40])
def test_bad_usage_is_one_line_and_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fixedstep: ")
    assert err.endswith("--help` explains\n")
    assert err.count("\n") == 1
    assert words in err


def test_the_help_defines_the_one_per_cent_low(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["analyze", "--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert "1 % low frames a second of the longest 1 % of the frames, together" in out


def test_a_warning_of_the_reader_is_printed_in_both_forms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = str(MADE / "presentmon-2.0.csv")
    assert main(["analyze", path]) == 0
    assert ": rows without a frame time (NA): 1" in capsys.readouterr().out
    assert "rows without a frame time" in analyzed(capsys, path)["warnings"][0]


@pytest.mark.parametrize("form", [[], ["--csv"], ["--json"]])
def test_a_name_from_a_capture_cannot_move_the_cursor(
    form: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.csv"
    text = (MADE / "ragged.csv").read_text().replace("orbit.exe", "\x1b[2Jorbit.exe")
    path.write_text(text)
    assert main(["analyze", str(path), *form]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert re.search(r"\\(x1b|u001b)\[2Jorbit.exe", out)


def test_a_name_that_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    text = (MADE / "ragged.csv").read_text().replace("orbit.exe", "軌道.exe")
    path.write_text(text, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "fixedstep", "analyze", str(path)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "\\u8ecc\\u9053.exe, process 71" in result.stdout


def test_frames_of_no_time_have_no_average(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "still"
    path.write_text("0\n0.0\n")
    found = analyzed(capsys, str(path), "--unit", "ms")["streams"][0]
    assert found["average_fps"] is found["low_1_fps"] is None
    assert main(["analyze", str(path), "--unit", "ms"]) == 0
    assert "average             none: the frames took no time\n" in capsys.readouterr().out


# How it looks.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_page_without_rich_is_plain_text_on_a_terminal_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = Page()
    page.line("first\x07")
    page.heading("then")
    page.warning("odd")
    page.pairs([("a", "1"), ("long", "2")])
    page.table([["name", "n"], ["x", "10"]])
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    page.show()
    assert terminal.getvalue() == (
        "first\\x07\n\nthen\nwarning: odd\n  a     1\n  long  2\nname   n\nx     10\n"
    )


def test_progress_is_told_where_somebody_looks_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(MADE / "ragged.csv")] * 3
    fleet.analyze_all(files, AnalysisSettings(), 1)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "rich.console", None)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    fleet.analyze_all(files, AnalysisSettings(), 1)
    assert terminal.getvalue() == "\r1 of 3 captures\r2 of 3 captures\r3 of 3 captures\n"
    terminal.seek(0)
    terminal.truncate()
    fleet.analyze_all(files[:1], AnalysisSettings(), 1)
    assert terminal.getvalue() == "", "nothing to wait for"


def test_settings_that_are_none_are_refused_when_they_are_made() -> None:
    """And not file by file; a float of nanoseconds was a ``resync_over`` until it was compared."""
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"timesteps": Rate(60)}, TypeError, r"timesteps must be a tuple, not Rate Rate\(60, 1\)"),
        ({"timesteps": (60,)}, TypeError, "timestep must be a Timestep or a Rate, not int 60"),
        ({"timesteps": ()}, ValueError, "timesteps must not be empty"),
        ({"budgets": (5,)}, TypeError, "budget must be a StepBudget, not int 5"),
        ({"budgets": StepBudget(5)}, TypeError, "budgets must be a tuple, not StepBudget"),
        ({"resync_over": 200.0 * 10**6}, TypeError, "resync_over must be a whole number of nano"),
        ({"stall_over": -1}, OverflowError, "stall_over must be a whole number of nanoseconds"),
    ]
    for options, error, text in wrong:
        with pytest.raises(error, match=text):
            AnalysisSettings(**options)


def test_a_table_that_is_no_column_is_told_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The advice used to be to remove the line, line after line."""
    file = tmp_path / "log.csv"
    file.write_text("frame,frame_time_ms\n0,16.7\n", encoding="ascii")
    assert main(["analyze", "--unit", "ms", str(file)]) == 2
    assert "here are 2 fields, so name the column" in capsys.readouterr().err
    file.write_text("frame_time_ms\n16.7\n", encoding="ascii")
    assert main(["analyze", str(file)]) == 2
    assert "a plain column of numbers needs its unit alone (--unit ms)" in (capsys.readouterr().err)
    assert main(["analyze", "--unit", "ms", str(file)]) == 0


def test_a_word_of_a_sweep_that_is_neither_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "x.csv", "--sweep", "rate=60"]) == 2
    assert "('rate=60' is neither)" in capsys.readouterr().err
