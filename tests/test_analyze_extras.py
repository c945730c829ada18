"""What `analyze` does with packages that are not its own: pictures, a terminal's tables, a cluster.

Each test needs one package: matplotlib, rich or dask. Where it is not installed the test is skipped
and says so; with ``FIXEDSTEP_EXTRAS=require``, as the gate sets it, a package that is missing is an
error, so that no part goes untested by accident.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import re
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fixedstep import FrameLoop, FrameTiming, Nanos, StepBudget, Timestamp, Timestep
from fixedstep.captures import Stream, analyze, read
from fixedstep.captures.capture import FrameTimes
from fixedstep.cli import fleet, main
from fixedstep.cli.layout import Page
from fixedstep.cli.picture import figure

if TYPE_CHECKING:
    from types import ModuleType

MADE = Path(__file__).parent / "data" / "captures"
EXAMPLE = Path(__file__).parents[1] / "examples" / "fleet_dask.py"


def needs(name: str) -> ModuleType:
    """A package that is no dependency."""
    required = os.environ.get("FIXEDSTEP_EXTRAS", "")
    if required not in ("", "require"):
        pytest.fail(f"FIXEDSTEP_EXTRAS must be require or not set, not {required!r}")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if required:
            pytest.fail(f"{name} is missing, and FIXEDSTEP_EXTRAS=require: {error}", pytrace=False)
        pytest.skip(f"{name} is not installed; FIXEDSTEP_EXTRAS=require makes this an error")


# Pictures.


def drawn(name: str, out: Path, *options: str) -> bytes:
    needs("matplotlib")
    assert main(["analyze", str(MADE / name), "--plot", str(out), *options]) == 0
    return out.read_bytes()


def test_a_picture_shows_stalls_steps_drops_alpha_and_percentiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words in it, which an SVG keeps if it is told to keep text."""
    needs("matplotlib")
    import matplotlib as mpl

    original: Any = mpl.rc_context

    def with_text(settings: dict[str, Any]) -> Any:
        return original({**settings, "svg.fonttype": "none"})

    monkeypatch.setattr(mpl, "rc_context", with_text)
    text = drawn("presentmon-1.csv", tmp_path / "out.svg").decode()
    shown = re.findall(r">([^<>\n]+)</text>", text)
    for words in (
        "orbit.exe, process 71, swap chain 0x00000000000000A1",
        "3 frames, 22.6 a second",
        "stall, over 50 ms",
        "100 ms at 0.02 s",
        "budget, 83.3 ms",
        "6 steps, 1 dropped",
        "steps run",
        "dropped",
        "longest frame, 100.0 ms",
        "p50 17.00 ms",
        "p99 100.00 ms",
        "p99.9 100.00 ms",
    ):
        assert words in shown, words


def test_the_same_capture_gives_the_same_picture(tmp_path: Path) -> None:
    """No date and no random name is in it, so a picture in a repository changes when it changes."""
    one = drawn("presentmon-1.csv", tmp_path / "one.svg")
    assert drawn("presentmon-1.csv", tmp_path / "two.svg") == one
    assert drawn("presentmon-1.csv", tmp_path / "three.svg", "--budget", "2") != one


def test_a_png_is_one_of_a_size_to_look_at(tmp_path: Path) -> None:
    content = drawn("own.trace", tmp_path / "out.PNG")
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert 800 < width < 1400
    assert 800 < height < 1400
    assert len(content) > 20_000


@pytest.mark.parametrize("text", ["0\n0\n", "16.7\n", "0.000001\n" * 3, "9e6\n1\n"])
def test_a_capture_with_little_in_it_is_drawn_too(text: str, tmp_path: Path) -> None:
    """No time at all, one frame, nanoseconds, and hours in one frame: no division, no warning."""
    needs("matplotlib")
    (tmp_path / "few").write_text(text)
    out = tmp_path / "out.png"
    assert main(["analyze", str(tmp_path / "few"), "--unit", "ms", "--plot", str(out)]) == 0
    assert out.stat().st_size > 10_000


@pytest.mark.parametrize("count", [10**3, 10**5, 10**6])
def test_the_longest_pause_is_drawn_as_long_as_it_is(count: int) -> None:
    """Frames of 16 ms and one of 431.7 ms; and in a second stream frames of 1 ms, of which 17 pass
    without a step. What matplotlib was given is read back."""
    needs("matplotlib")
    pause = 431_700_000
    for other, without in ((16_000_000, pause), (1_000_000, 17_000_000)):
        times = FrameTimes()
        times.extend([other] * (count - 1))
        if without == pause:
            times.append(pause)
        stream = Stream("orbit.exe", "71", "", times)
        drawn = figure(stream, Timestep.HZ_60, StepBudget(5), 50_000_000)
        lengths, steps = drawn.axes[:2]
        (line,) = [line for line in lengths.lines if line.get_label() == "frame time"]
        assert max(line.get_ydata()) == (pause if without == pause else other) / 10**6
        assert line.get_xdata()[-1] == stream.total / 10**9
        (span,) = [patch for patch in steps.patches if "longest without" in patch.get_label()]
        assert span.get_width() == pytest.approx(without / 10**9, abs=1e-6)
        assert f"longest without a step, {without / 10**6:.1f} ms" == span.get_label()
        marked = [text.get_text() for text in lengths.texts]
        assert marked == ["432 ms at " + f"{(stream.total - pause) / 10**9:.2f} s"] * (
            without == pause
        )
        loop = FrameLoop(Timestep.HZ_60, StepBudget(5), start=Timestamp(0))
        plans = loop.begin_frames(stream.timestamps())
        ran, dropped = sum(plans.step_count.tolist()), sum(plans.dropped.tolist())
        assert steps.get_title() == f"{ran} steps, {dropped} dropped"


def test_a_name_that_the_font_cannot_draw_is_written_as_an_escape() -> None:
    """Matplotlib warned of every character, and drew boxes."""
    needs("matplotlib")
    stream = Stream("\u8ecc\u9053.exe", "71", "", FrameTimes([16_000_000] * 9))
    drawn = figure(stream, Timestep.HZ_60, StepBudget(5), 50_000_000)
    drawn.savefig(io.BytesIO())
    assert drawn.get_suptitle().startswith(r"\u8ecc\u9053.exe, process 71")


def test_many_frames_share_columns_and_the_picture_says_so(tmp_path: Path) -> None:
    needs("matplotlib")
    (tmp_path / "many").write_text("16.7\n" * 9000 + "250\n" + "16.7\n" * 999)
    out = tmp_path / "out.svg"
    assert main(["analyze", str(tmp_path / "many"), "--unit", "ms", "--plot", str(out)]) == 0
    assert b"each column is 5 frames, from the lowest to the highest" in out.read_bytes()


@pytest.mark.parametrize(
    ("name", "shown"),
    [(r"\ud800", r"\\ud800"), (r"$\\frac{$", r"\$\\frac\{\$"), ("x" * 1000, r"x{117}\.\.\.")],
    ids=["half a character", "half a formula", "long"],
)
def test_a_process_of_any_name_is_drawn(
    name: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matplotlib fails on what no encoding can write, and on what begins like a formula."""
    matplotlib: Any = needs("matplotlib")
    original = matplotlib.rc_context
    monkeypatch.setattr(
        matplotlib, "rc_context", lambda rc: original({**rc, "svg.fonttype": "none"})
    )
    path, out = tmp_path / "made.json", tmp_path / "out.svg"
    run = '{"CaptureData":{"MsBetweenPresents":[1,2,30]}}'
    path.write_text(f'{{"Info":{{"ProcessName":"{name}"}},"Runs":[{run}]}}', encoding="ascii")
    assert main(["analyze", str(path), "--plot", str(out)]) == 0
    assert re.search(shown, out.read_text(encoding="utf-8"))


def test_nothing_to_draw_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    needs("matplotlib")
    row = "a.exe,1,0xA1,16.5,0\n"
    path = tmp_path / "one.csv"
    path.write_text("Application,ProcessID,SwapChainAddress,MsBetweenPresents,Dropped\n" + row)
    assert main(["analyze", str(path), "--plot", str(tmp_path / "x.png")]) == 2
    assert "has no frame times, so there is nothing to draw" in capsys.readouterr().err


# A terminal.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_with_rich_gets_the_same_words_and_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs("rich")
    page = Page()
    page.line("[bold]a name that is no markup[/bold] :smile: 7")
    page.heading("orbit.exe")
    page.warning("left out: 1")
    page.pairs([("steps", "152"), ("1 % low", "12.5134 a second")])
    page.table([["hz", "budget"], ["60", "5"], ["120", "[red]8"]], left=0)
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    page.show()
    found = terminal.getvalue()
    assert "\x1b[" in found
    assert "┃" in found
    words = re.sub(r"\x1b\[[0-9;]*m|[^\x20-\x7e\n]", "", found).split()
    assert words == page.plain().split()


def test_a_terminal_with_rich_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("rich")
    from fixedstep.captures import AnalysisSettings

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    results = fleet.analyze_all([str(MADE / "ragged.csv")] * 3, AnalysisSettings(), 1)
    assert len(results) == 3
    assert "captures" in terminal.getvalue()
    assert "100%" in terminal.getvalue()


# A cluster.


# Warnings of the cluster's own libraries are theirs; where a port is taken they say which is used.
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_merges_a_folder_exactly(source: Path) -> None:
    """Two workers; every frame of every readable file, against one summary that saw them all."""
    needs("dask")
    distributed = needs("distributed")
    spec = importlib.util.spec_from_file_location("fleet_dask", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    sys.modules["fleet_dask"] = example
    try:
        spec.loader.exec_module(example)
        paths = sorted(str(path) for path in MADE.glob("[!.]*"))
        with distributed.Client(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ):
            found = example.analyze_fleet(paths, partitions=5)
    finally:
        del sys.modules["fleet_dask"]
    every = FrameTiming()
    readable = [path for path in paths if "error" not in analyze(path)]
    for path in readable:
        for group in read(path).streams:
            for delta in group.frame_times:
                every.record(Nanos(delta), True)
    assert found.frame_times == every
    assert every.count > 30
    assert found.captures == len(readable) > 10
    assert len(found.refused) == len(paths) - len(readable) == 4
    plans = [g["schedules"][0] for path in readable for g in analyze(path)["streams"]]
    assert found.steps == sum(plan["steps"] for plan in plans) > 20
    assert found.dropped == sum(plan["dropped"] for plan in plans) > 0
