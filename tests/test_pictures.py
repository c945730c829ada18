"""Frames one by one, for pictures and traces: what the Chrome trace holds, to the nanosecond.

What needs other packages (the drawing itself) stands in ``test_analyze_extras.py``.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixedstep import Rate, StepBudget, Timestep
from fixedstep.captures import AnalysisSettings, Stream, analyze, read
from fixedstep.captures import capture as capture_module
from fixedstep.captures.capture import FrameTimes
from fixedstep.captures.decimal_text import nanoseconds
from fixedstep.cli import main
from fixedstep.cli.series import Frame, binned, frames

if TYPE_CHECKING:
    from tests.conftest import Core

MADE = Path(__file__).parent / "data" / "captures"
MS = 1_000_000


def traced(path: Path, out: Path, *options: str) -> list[dict[str, Any]]:
    assert main(["analyze", str(path), "--trace", str(out), *options]) == 0
    whole = json.loads(out.read_text(), parse_float=str, parse_int=str)
    assert set(whole) == {"displayTimeUnit", "traceEvents"}
    assert whole["displayTimeUnit"] == "ms"
    events = whole["traceEvents"]
    assert isinstance(events, list)
    return events


#: The trace format's own words: which keys an event of each phase has. Times are microseconds.
SCHEMA = {
    "M": {"name", "ph", "pid", "tid", "args"},
    "X": {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"},
    "C": {"name", "ph", "ts", "pid", "args"},
}


def conforms(events: list[dict[str, Any]]) -> None:
    last: dict[str, int] = {}
    for event in events:
        assert set(event) == SCHEMA[event["ph"]]
        assert event["pid"].isdigit()
        assert event["args"]
        if event["ph"] == "C":
            (value,) = event["args"].values()
            assert float(value) >= 0
        if event["ph"] == "X":
            # Slices of one track follow each other and do not overlap.
            start = nanoseconds(event["ts"], "us")
            assert start == last.get(event["pid"], 0)
            last[event["pid"]] = start + nanoseconds(event["dur"], "us")
    assert {event["ph"] for event in events} == set(SCHEMA)


@pytest.mark.parametrize("name", ["presentmon-1.csv", "own.trace", "capframex.json"])
def test_a_trace_conforms_and_says_what_the_analysis_counts(name: str, tmp_path: Path) -> None:
    events = traced(MADE / name, tmp_path / "out.json")
    conforms(events)
    (settings, capture) = AnalysisSettings(), read(MADE / name)
    for number, figures in enumerate(analyze(MADE / name, settings)["streams"], 1):
        mine = [event for event in events if event["pid"] == str(number)]
        slices = [event for event in mine if event["ph"] == "X"]
        (plan,) = figures["schedules"]
        spans = [nanoseconds(event["dur"], "us") for event in slices]
        assert spans == list(capture.streams[number - 1].frame_times)
        for key in ("steps", "dropped"):
            assert sum(int(event["args"][key]) for event in slices) == plan[key]
        counters = Counter(event["name"] for event in mine if event["ph"] == "C")
        assert counters["steps"] == counters["alpha"] == figures["frames"]
        named = [event["args"]["name"] for event in mine if event["ph"] == "M"]
        assert named == [capture.streams[number - 1].title, "frames"]


def test_the_check_would_find_a_slice_that_begins_early(tmp_path: Path) -> None:
    """The negative control of the schema."""
    events = traced(MADE / "presentmon-1.csv", tmp_path / "out.json")
    conforms(events)
    late = next(event for event in reversed(events) if event["ph"] == "X")
    late["ts"] = "1.0"
    with pytest.raises(AssertionError):
        conforms(events)


def test_slices_are_named_by_what_went_wrong_with_them(tmp_path: Path) -> None:
    """16.0001, 100 and 17 ms with budgets of 5 and 9: one drops, with the larger it only stalls."""
    path = MADE / "presentmon-1.csv"
    names = ["frame", "frame with drops", "frame"]
    for budget, expected in (("5", names), ("9", ["frame", "stall", "frame"])):
        events = traced(path, tmp_path / f"{budget}.json", "--budget", budget)
        slices = [e["name"] for e in events if e["ph"] == "X" and e["pid"] == "1"]
        assert slices == expected


def test_the_drops_go_back_to_zero_after_the_frame_that_dropped(tmp_path: Path) -> None:
    """A counter keeps its value, so what is left out may only be a zero after a zero."""
    events = traced(MADE / "presentmon-1.csv", tmp_path / "out.json")
    drops = [e for e in events if e["name"] == "dropped" and e["pid"] == "1"]
    assert [(e["ts"], e["args"]["a frame"]) for e in drops] == [
        ("16000.100", "0"),
        ("116000.100", "1"),
        ("133000.100", "0"),
    ]


def test_a_name_in_a_trace_is_a_json_string_whatever_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    odd = 'or"\\bit\x1b.exe'
    text = (MADE / "ragged.csv").read_text().replace("orbit.exe", odd.replace('"', ""))
    path.write_text(text)
    events = traced(path, tmp_path / "out.json")
    assert "or\\bit\x1b.exe" in events[0]["args"]["name"]


@given(st.lists(st.integers(0, 300 * MS), max_size=40), st.integers(1, 9))
def test_frames_one_by_one_are_those_of_the_loop(deltas: list[int], block: int) -> None:
    import fixedstep

    loop = fixedstep.FrameLoop(Rate(60), StepBudget(3), start=fixedstep.Timestamp(0))
    now = 0
    expected = []
    for delta in deltas:
        plan = loop.begin_frame(fixedstep.Timestamp(now + delta))
        expected.append(Frame(now, delta, plan.step_count, plan.dropped, plan.alpha()))
        now += delta
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capture_module, "BLOCK", block)
        found = list(frames(Stream("", "", "", FrameTimes(deltas)), Rate(60), StepBudget(3)))
    assert found == expected


@given(st.lists(st.integers(0, 300), min_size=1, max_size=200), st.integers(1, 30))
def test_bins_keep_every_sum_and_every_extreme(spans: list[int], most: int) -> None:
    """No long frame, no step and no drop vanishes, and none appears."""
    starts = list(accumulate(spans, initial=0))
    every = [
        Frame(start, span, min(span // 50, 4), max(span // 50 - 4, 0), 0.0)
        for start, span in zip(starts, spans, strict=False)
    ]
    bins = binned(every, len(every), most)
    assert 0 < len(bins) <= most
    assert sum(bin.frames for bin in bins) == len(every)
    assert [bin.end for bin in bins[:-1]] == [bin.start for bin in bins[1:]]
    assert (bins[0].start, bins[-1].end) == (0, starts[-1])
    assert min(bin.shortest for bin in bins) == min(spans)
    assert max(bin.longest for bin in bins) == max(spans)
    assert sum(bin.steps for bin in bins) == sum(frame.steps for frame in every)
    assert sum(bin.dropped for bin in bins) == sum(frame.dropped for frame in every)
    assert max(bin.most_steps for bin in bins) == max(frame.steps for frame in every)
    assert min(bin.fewest_steps for bin in bins) == min(frame.steps for frame in every)
    assert max(bin.most_due for bin in bins) == max(f.steps + f.dropped for f in every)
    if len(every) <= most:
        assert [(bin.start, bin.longest, bin.shortest) for bin in bins] == [
            (frame.start, frame.span, frame.span) for frame in every
        ]


REFUSED = [
    (["--plot", "x.gif"], "--plot writes png, svg, pdf, by the file's name, not 'x.gif'"),
    (["--plot", "x.png", "--sweep", "hz=30,60"], "need one FILE and one schedule"),
    (["--trace", "x.json", "--sweep", "budget=1,2"], "need one FILE and one schedule"),
    (["second", "--plot", "x.png"], "need one FILE and one schedule"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=lambda value: str(value)[:30])
def test_what_cannot_be_drawn_is_refused_before_anything_is_read(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", "nowhere.csv", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


def test_standard_input_cannot_be_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "-", "--trace", "x.json"]) == 2
    assert "cannot be standard input" in capsys.readouterr().err


def test_a_picture_without_matplotlib_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["analyze", "nowhere.csv", "--plot", "x.png"]) == 2
    assert "pip install 'fixedstep[plot]'" in capsys.readouterr().err


def test_both_cores_are_drawn_alike(native: Core, reference: Core, tmp_path: Path) -> None:
    """The trace of one core is the trace of the other, byte for byte."""
    group = read(MADE / "presentmon-1.csv").streams[0]
    found = []
    for core in (native, reference):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("fixedstep.cli.series.core", core)
            found.append(list(frames(group, Timestep.HZ_60, StepBudget(5))))
    assert found[0] == found[1]
    assert sum(frame.dropped for frame in found[0]) == 1
