"""The command line: what a person sees, the exit codes, and that nothing ends in a traceback.

Most commands are called in this process, which is the same ``main``; the ones whose subject is the
process itself (imports, Ctrl-C, a closed pipe) run ``python -m fixedstep``. The demo's loop is
driven by a clock made of integers, so its schedule is known in advance; one short run on the real
clock checks only what must hold at any speed.

``verify`` is tested as an oracle: it must agree with honest recordings, and name the right frame
where a recording or a core was tampered with.
"""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import fixedstep
from fixedstep import Rate, StateHash, StepBudget, Timestamp, Timestep
from fixedstep import reference as reference_core
from fixedstep.cli import _COMMANDS, main
from fixedstep.cli.demo import Demo, World
from fixedstep.cli.layout import decimal, milliseconds, pairs, printable, table
from fixedstep.cli.verify import Verification
from fixedstep.records import Operation, Trace
from fixedstep.records.trace import TraceWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.conftest import Core

MADE = Path(__file__).parent / "data" / "captures"
SECOND = 10**9
FRAME = 16_666_667
POSIX = pytest.mark.skipif(
    sys.platform == "win32", reason="closed streams and pipes that nobody reads are a shell's"
)


def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fixedstep", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
        **options,
    )


def lines_of(captured: str) -> list[str]:
    return captured.rstrip("\n").split("\n")


# The outer edge.


def test_importing_the_library_loads_no_command_no_clock_and_no_file_reader() -> None:
    """Floors 4 and 5 are for programs that ask for them; a game that imports the schedule pays for
    the schedule."""
    script = (
        "import sys, fixedstep\n"
        "above = ('cli', 'host', 'captures', 'sim', 'testing')\n"
        "found = [m for m in sys.modules if m.startswith(tuple(f'fixedstep.{a}' for a in above))]\n"
        "print(found, 'fixedstep.time' in sys.modules)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[] True\n"


def test_help_loads_no_file_reader() -> None:
    script = (
        "import sys\n"
        "from fixedstep.cli import main\n"
        "try:\n"
        "    main(['--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "names = ('fixedstep.captures', 'fixedstep.host', 'decimal', 'json', 'csv')\n"
        "print([name for name in names if name in sys.modules])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert lines_of(result.stdout)[-1] == "[]"
    assert "analyze" in result.stdout


def test_the_module_and_the_function_are_the_same_program() -> None:
    result = command("--version")
    assert (result.returncode, result.stdout) == (0, f"fixedstep {fixedstep.__version__}\n")
    result = command("verify", "nowhere.trace")
    assert result.returncode == 2
    assert result.stderr == "fixedstep: nowhere.trace: No such file or directory\n"
    assert result.stdout == ""


USAGE = [
    ([], "the following arguments are required: COMMAND"),
    (["play"], "invalid choice: 'play'"),
    (["verify"], "the following arguments are required: TRACE"),
    (["analyze"], "the following arguments are required: FILE"),
    (["analyze", "x.csv", "--jso"], "unrecognized arguments: --jso"),
    (["demo", "--hz"], "--hz: expected one argument"),
    (["demo", "--hz", "0"], "hz must be a whole number of steps a second, at least 1, not 0"),
    (["demo", "--hz", "-60"], "hz must be a whole number of steps a second in "),
    (["demo", "--hz", "3000000000"], "not 3000000000"),
    (["demo", "--hz", "59.94"], "hz must be a whole number of steps a second, not '59.94'"),
    (["demo", "--hz", "fast"], "not 'fast'"),
    (["demo", "--hz", "9" * 5000], "hz must be a whole number of steps a second, not '9999"),
    (["analyze", "x.csv", "--hz", "0"], "hz must be a whole number of steps a second"),
    (["demo", "--budget", "0"], "budget must be a whole number of steps a frame, at least 1, not"),
    (["demo", "--budget", "-1"], "budget must be a whole number of steps a frame in "),
    (["demo", "--budget", "4294967296"], "not 4294967296"),
    (["demo", "--budget", "five"], "budget must be a whole number of steps a frame, not 'five'"),
    (["demo", "--seconds", "0"], "seconds must be a number above 0 and up to 1000000000, not '0'"),
    (["demo", "--seconds", "-3"], "not '-3'"),
    (["demo", "--seconds", "nan"], "not 'nan'"),
    (["demo", "--seconds", "inf"], "not 'inf'"),
    (["demo", "--seconds", "1e400"], "not '1e400'"),
    (["demo", "--seconds", "1e999999999999999999999"], "seconds must be a number above 0"),
    (["demo", "--seconds", "soon"], "not 'soon'"),
    (["demo", "--stall-ms", "-1"], "stall-ms must be 0 (no stall) to 1000000000000 milliseconds"),
    (["demo", "--stall-ms", "0.5"], "stall-ms must be a whole number of milliseconds, not '0.5'"),
    (["demo", "--stall-ms", "1" * 100], "stall-ms must be 0 (no stall) to"),
]


@pytest.mark.parametrize(("arguments", "words"), USAGE, ids=lambda value: str(value)[:40])
def test_bad_usage_is_one_line_and_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fixedstep: ")
    assert err.endswith("--help` explains\n")
    assert err.count("\n") == 1
    assert words in err
    assert len(err) < 400


@pytest.mark.parametrize("name", ["verify", "analyze"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file or directory"),
        (b"", "line 1|holds no rows"),
        (b"\x7fELF\x02\x00\n" * 100, "line 1"),
        (b"Application,ProcessID\n", "line 1"),
        ("folder", "directory|denied"),
    ],
    ids=["missing", "empty", "binary", "wrong columns", "folder"],
)
def test_a_bad_file_is_one_line_and_code_2(
    name: str,
    content: bytes | str | None,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "bad\nname"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        path.mkdir()
    assert main([name, str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fixedstep: ")
    assert "bad\\nname" in err
    assert err.count("\n") == 1
    assert re.search(words, err)


@pytest.mark.parametrize("error", [ValueError("a fault"), MemoryError(), RecursionError("deep")])
def test_an_error_that_nobody_foresaw_has_a_code_of_its_own(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code 1 would say that the command worked and found a difference."""

    def broken(path: object, unit: object, **others: object) -> None:
        raise error

    monkeypatch.setattr("fixedstep.captures.analysis.read", broken)
    assert main(["analyze", "any.csv"]) == 70
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert type(error).__name__ in told
    assert "--traceback" in told
    assert main(["--traceback", "analyze", "any.csv"]) == 70
    assert "in broken" in capsys.readouterr().err


def test_ctrl_c_outside_the_demo_is_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: object, unit: object, **others: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fixedstep.captures.analysis.read", interrupted)
    assert main(["analyze", "any.csv"]) == 130


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe has no signal of its own there")
def test_a_reader_that_has_seen_enough_causes_no_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "fixedstep", "demo", "--seconds", "2", "--stall-ms", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"core: ")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.fixture
def unread() -> Iterator[int]:
    """A pipe that can be written to and that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


def called(*arguments: str, **streams: Any) -> subprocess.CompletedProcess[bytes]:
    """With outputs that are buffered, so that some of it is written when the interpreter exits."""
    everything = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    line = [sys.executable, "-m", "fixedstep", *arguments]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(line, check=False, timeout=120, env=env, **everything)


@POSIX
def test_a_difference_is_code_1_also_where_nobody_reads_it(recording: Path, unread: int) -> None:
    """A script looks at the code and pipes the text away. The honest recording is the control: a
    reader who is gone is no fault."""
    other = tampered(recording, 80, one_nanosecond_later)
    for path, code in ((recording, 0), (other, 1)):
        result = called("verify", str(path), stdout=unread)
        assert (result.returncode, result.stderr) == (code, b"")
        assert called("verify", str(path), stdout=unread, stderr=unread).returncode == code


@POSIX
@pytest.mark.parametrize("arguments", [["verify", "nowhere.trace"], ["play"], ["analyze", "none"]])
def test_an_error_is_code_2_also_where_nobody_reads_it(arguments: list[str], unread: int) -> None:
    result = called(*arguments, stderr=unread)
    assert (result.returncode, result.stdout) == (2, b"")


@POSIX
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_that_nobody_reads_is_no_error(option: str, unread: int) -> None:
    """It is printed while the arguments are parsed, and flushed when the interpreter exits."""
    result = called(option, stdout=unread)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full here")
def test_an_output_without_room_is_one_line_and_code_2() -> None:
    with open("/dev/full", "wb") as full:
        result = called("info", stdout=full)
        assert (result.returncode, result.stderr.count(b"\n")) == (2, 1)
        assert result.stderr.startswith(b"fixedstep: ")
        assert called("info", stderr=full).returncode == 0


@POSIX
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_was_closed_changes_no_code_and_causes_no_traceback(
    closed: str, recording: Path
) -> None:
    """What was written to a closed error output came out of the standard output."""
    paths = {0: recording, 1: tampered(recording, 80, one_nanosecond_later), 2: "nowhere.trace"}
    for code, path in paths.items():
        line = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "fixedstep"]
        result = subprocess.run(
            [*line, "verify", str(path)], check=False, timeout=120, capture_output=True, text=True
        )
        assert result.returncode == code
        seen = ">&-" not in closed.split() and code != 2
        assert result.stdout.partition(" ")[0] == ("trace" if seen else "")
        told = "2>&-" not in closed and code == 2
        error = "fixedstep: nowhere.trace: No such file or directory\n"
        assert result.stderr == (error if told else "")


def test_streams_of_none_are_none_again_afterwards(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a program without a console, on Windows too."""
    with monkeypatch.context() as patch:
        for name in ("stdin", "stdout", "stderr"):
            patch.setattr(sys, name, None)
        codes = [main(arguments) for arguments in (["info"], ["play"], ["verify", "-"])]
        assert (sys.stdin, sys.stdout, sys.stderr) == (None, None, None)
    assert codes == [0, 2, 2]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("arguments", [["verify", "-"], ["analyze", "-"], ["diff", "-", "-"]])
def test_a_standard_input_that_was_closed_is_one_line_and_code_2(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(arguments) == 2
    words = "standard input is closed; name a file"
    assert capsys.readouterr() == ("", f"fixedstep: -: {words}\n")


def test_a_wrong_backend_is_told_before_any_command_by_the_last_line() -> None:
    """The one error that is no line of its own, as the page of the command line says."""
    result = command("info", env={**os.environ, "FIXEDSTEP_BACKEND": "fast"})
    assert (result.returncode, result.stdout) == (1, "")
    last = lines_of(result.stderr)[-1]
    assert last.startswith("ImportError: FIXEDSTEP_BACKEND must be auto, native or reference, not")


# info


def test_info_names_the_core_the_interpreter_and_the_extension(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    found = dict(re.split(r"  +", line, maxsplit=1) for line in lines_of(out))
    assert found["version"] == fixedstep.__version__
    assert (found["core"], found["reason"]) == fixedstep.backend()
    assert platform.python_version() in found["Python"]
    assert re.fullmatch(r".+, resolution [0-9]{1,4} ns", found["clock"])
    assert len({line.index(line.split("  ")[-1].strip()) for line in lines_of(out)}) == 1


def test_info_describes_the_extension(native: Core, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    found = dict(re.split(r"  +", line, maxsplit=1) for line in lines_of(out))
    assert found["compiler"]
    assert found["abi"]
    assert Path(found["extension"]).is_file()


def test_info_says_why_there_is_no_extension(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hide_native(monkeypatch)
    assert main(["info"]) == 0
    assert "extension  none: " in capsys.readouterr().out


def hide_native(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``from fixedstep import native`` fail, as where it was not installed."""
    monkeypatch.delitem(vars(fixedstep), "native", raising=False)
    monkeypatch.setitem(sys.modules, "fixedstep.native", None)


# demo


class Machine:
    """A clock made of integers. Sleeping moves it on, a little too far, as sleeping does."""

    def __init__(self, late: int = 60_000) -> None:
        self.now = 1_000 * SECOND
        self.late = late
        self.sleeps = 0
        self.said: list[str] = []
        self.at_sleep: dict[int, Callable[[], None]] = {}
        self.at_reading: dict[int, Callable[[], None]] = {}
        self.readings = 0

    def clock(self) -> Timestamp:
        self.readings += 1
        self.at_reading.get(self.readings, lambda: None)()
        return Timestamp(self.now)

    def wait(self, deadline: Timestamp) -> None:
        self.sleeps += 1
        self.at_sleep.get(self.sleeps, lambda: None)()
        self.now = max(self.now, deadline + self.late)

    def demo(self, core: Core, hz: int = 60, budget: int = 5) -> Demo:
        return Demo(
            hz,
            StepBudget(budget),
            core=core,
            clock=self.clock,
            wait=self.wait,
            say=self.said.append,
        )


def test_the_demo_runs_a_frame_sixty_times_a_second_and_drops_what_a_stall_owes(
    core: Core,
) -> None:
    """Three seconds: 90 frames up to the stall, which takes 200 ms, so the next is the 103rd
    sixtieth and owes 13 steps. Every sixtieth since has its frame, up to the 180th."""
    machine = Machine()
    demo = machine.demo(core)
    demo.play(3 * SECOND, 200_000_000)
    assert demo.stats.frames == 90 + 1 + (180 - 103)
    assert demo.stats.steps_dropped == 13 - 5
    assert demo.stats.ticks == 180 - 8
    assert demo.world.ticks == demo.stats.ticks
    assert demo.timing.count == demo.stats.frames
    assert demo.timing.drawn == 3
    assert demo.timing.max == 103 * SECOND // 60 + 1 - 90 * SECOND // 60
    assert not demo.interrupted
    assert [line[:6] for line in machine.said if line.endswith(" up")] == [
        "  1 s ",
        "  2 s ",
        "  3 s ",
    ]
    assert machine.said[2].strip() == "a stall on purpose: 200 ms"


def test_a_demo_without_a_stall_drops_nothing(core: Core) -> None:
    """The negative control of the one before."""
    demo = Machine().demo(core)
    demo.play(3 * SECOND, 0)
    assert (demo.stats.frames, demo.stats.ticks, demo.stats.steps_dropped) == (180, 180, 0)


def test_the_demo_sleeps_once_a_frame_and_once_for_the_stall(core: Core) -> None:
    """Whoever does not sleep spins. Frames missed by the stall are not made up for."""
    for late in (0, 60_000):
        machine = Machine(late)
        machine.demo(core).play(SECOND, 200_000_000)
        assert machine.sleeps == 30 + 1 + 1 + (60 - 43)


def test_worlds_that_ran_the_same_steps_have_the_same_digest_however_frames_fell(
    core: Core,
) -> None:
    """The claim that the summary makes. Frames 9 ms late run the steps in other portions."""
    punctual, late = Machine().demo(core), Machine(9_000_000).demo(core)
    punctual.play(3 * SECOND, 0)
    late.play(3 * SECOND, 0)
    assert punctual.stats.ticks == late.stats.ticks == 180
    assert punctual.stats.schedule_hash != late.stats.schedule_hash
    digests = {demo.world.digest(StateHash()) for demo in (punctual, late)}
    assert len(digests) == 1
    assert digests != {World().digest(StateHash())}


@pytest.mark.parametrize("hz", [1, 60, 1000, 2 * SECOND])
def test_the_world_stays_in_64_bits_at_any_step(hz: int) -> None:
    dt = Timestep.from_hz(hz).nanos
    world = World()
    digests = set()
    for tick in range(5_000):
        world = world.step(fixedstep.Step(tick, dt, fixedstep.Nanos(0)))
        digests.add(world.digest(StateHash()))
        assert 0 <= world.x <= 10 * SECOND
        assert 0 <= world.y < 10_000 * SECOND
    assert len(digests) == 5_000


def loaded(path: Path) -> tuple[Trace, list[Operation]]:
    """A trace, and its operations."""
    trace = Trace(path)
    return trace, list(trace)


def difference(path: Path, cores: dict[str, Any]) -> list[str]:
    """What `verify` finds."""
    return Verification(Trace(path), cores).difference


def record(core: Core, path: Path, machine: Machine | None = None) -> Demo:
    demo = (machine or Machine()).demo(core)
    with path.open("x") as file:
        demo.play(3 * SECOND, 200_000_000, file)
    return demo


def test_a_recording_holds_every_frame_and_the_stats(core: Core, tmp_path: Path) -> None:
    demo = record(core, tmp_path / "run.trace")
    trace, operations = loaded(tmp_path / "run.trace")
    assert len(operations) == demo.stats.frames == 168
    assert trace.start == 1_000 * SECOND
    assert operations[-1].digest == demo.stats.schedule_hash
    assert trace.stats == demo.stats
    assert trace.missing == ""


@pytest.mark.parametrize(
    ("where", "moment", "frames"),
    [("at_sleep", 40, 39), ("at_reading", 81, 40), ("at_reading", 80, 39), ("at_sleep", 1, 0)],
    ids=["while it sleeps", "within a frame", "between frames", "before the first frame"],
)
def test_ctrl_c_ends_the_demo_with_a_whole_recording(
    core: Core, tmp_path: Path, where: str, moment: int, frames: int
) -> None:
    """A frame that was begun is finished and recorded; nothing is half written. Reading 1 is the
    anchor; every frame reads the clock for its deadline and for itself."""
    machine = Machine()
    getattr(machine, where)[moment] = lambda: signal.raise_signal(signal.SIGINT)
    before = signal.getsignal(signal.SIGINT)
    demo = record(core, tmp_path / "run.trace", machine)
    assert signal.getsignal(signal.SIGINT) == before
    assert demo.interrupted
    assert demo.stats.frames == frames
    trace, operations = loaded(tmp_path / "run.trace")
    assert len(operations) == frames
    assert trace.stats == demo.stats
    assert not difference(tmp_path / "run.trace", {"one": core})


def test_the_demo_prints_its_summary_and_its_recording_replays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the real clock. Nothing here depends on how fast the machine is: what is checked is that
    the printed figures are the recording's, and that no time was lost in between."""
    path = tmp_path / "run.trace"
    arguments = ["--seconds", "0.2", "--hz", "200", "--budget", "3", "--stall-ms", "50"]
    assert main(["demo", *arguments, "--record", str(path)]) == 0
    out = capsys.readouterr().out
    found = dict(re.split(r"  +", line, maxsplit=1) for line in lines_of(out) if "  " in line[1:])
    trace, operations = loaded(path)
    assert trace.stats is not None
    assert found["frames"] == str(trace.stats.frames)
    assert found["ticks"].startswith(f"{trace.stats.ticks} (")
    assert found["dropped"].startswith(f"{trace.stats.steps_dropped} (")
    assert found["schedule digest"] == f"0x{trace.stats.schedule_hash:016x}"
    assert found["world digest"].endswith(f" after {trace.stats.ticks} steps")
    assert found["core"] == fixedstep.backend().name
    assert re.fullmatch(r"p50 [\d.]+ ms, p99 [\d.]+ ms, max [\d.]+ ms", found["frame time"])
    assert "a stall on purpose: 50 ms" in out
    assert trace.start is not None
    span = operations[-1].now - trace.start
    assert span >= 200_000_000
    assert trace.stats.steps_dropped >= 50_000_000 // 5_000_000 - 3
    assert trace.stats.ticks + trace.stats.steps_dropped == span // 5_000_000
    assert not difference(path, {"reference": reference_core})


def test_the_demo_records_twice_and_writes_over_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.trace"
    for _ in range(2):
        assert main(["demo", "--seconds", "0.05", "--stall-ms", "0", "--record", str(path)]) == 0
        assert main(["verify", str(path)]) == 0
    path.write_text("precious")
    capsys.readouterr()
    assert main(["demo", "--seconds", "0.1", "--record", str(path)]) == 2
    expected = f"fixedstep: {path}: exists and is no trace or recording; choose another name\n"
    assert capsys.readouterr().err == expected
    assert path.read_text() == "precious"


def test_a_rate_that_the_budget_cannot_reach_is_said_before_it_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["demo", "--seconds", "0.05", "--stall-ms", "0", "--hz"]
    assert main([*arguments, "1000"]) == 0
    assert "--budget 17 would run them all" in capsys.readouterr().out
    assert main([*arguments, "300"]) == 0
    assert "would run them all" not in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="there, Ctrl-C reaches a whole console")
def test_ctrl_c_at_a_running_demo_prints_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    with subprocess.Popen(
        [sys.executable, "-m", "fixedstep", "demo", "--seconds", "100", "--record", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("  1 s"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "ended early by Ctrl-C" in out
    trace, operations = loaded(path)
    assert trace.stats is not None
    assert f"0x{trace.stats.schedule_hash:016x}" in out
    assert trace.stats.frames == len(operations) > 0


# verify


def both(native: Core, reference: Core) -> dict[str, Any]:
    return {"native": native, "reference": reference}


@pytest.fixture
def recording(reference: Core, tmp_path: Path) -> Path:
    """A trace of 168 frames, one of which drops steps."""
    path = tmp_path / "run.trace"
    record(reference, path)
    return path


def sealed(text: str) -> str:
    """The lines, with a digest that is right, as only somebody who means it would change them."""
    head, end = re.fullmatch(r'(.*)(,"digest":"0x[0-9a-f]{16}"}\n)', text, re.DOTALL).groups()  # type: ignore[union-attr]
    digest = fixedstep.StateHash().absorb_bytes(head.encode()).finish()
    assert len(end) == 32
    return f'{head},"digest":"0x{digest:016x}"}}\n'


def tampered(recording: Path, line: int, change: Callable[[str], str]) -> Path:
    """A copy with one line changed; lines are numbered from 1."""
    lines = recording.read_text().splitlines(keepends=True)
    changed = change(lines[line - 1])
    assert changed != lines[line - 1]
    lines[line - 1] = changed
    path = recording.with_suffix(".tampered")
    path.write_text(sealed("".join(lines)))
    return path


def one_nanosecond_later(line: str) -> str:
    return re.sub(r"\d+", lambda match: str(int(match[0]) + 1), line, count=1)


def without_digests(recording: Path) -> Path:
    path = recording.with_suffix(".bare")
    path.write_text(sealed(re.sub(r',"0x[0-9a-f]{16}"\]', "]", recording.read_text())))
    return path


def test_both_cores_replay_a_recording_to_equal_digests(
    native: Core, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stats = loaded(recording)[0].stats
    assert stats is not None
    assert stats.steps_dropped > 0
    assert main(["verify", str(recording)]) == 0
    out = capsys.readouterr().out
    assert out.count(f"0x{stats.schedule_hash:016x}") == 3
    assert lines_of(out)[-1] == "EQUAL: trace, native, reference"
    assert re.search(r"^ending +whole$", out, re.MULTILINE)
    assert re.search(r"^operations +168 frames, 0 resyncs$", out, re.MULTILINE)


def test_a_core_that_cannot_be_had_is_told_and_the_other_replays(
    recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hide_native(monkeypatch)
    assert main(["verify", str(recording)]) == 0
    out = capsys.readouterr().out
    assert "The native core was not compared: " in out
    assert lines_of(out)[-1] == "EQUAL: trace, reference"


@pytest.mark.parametrize("frame", [0, 57, 100, 167])
def test_a_timestamp_that_was_changed_is_found_at_its_frame(
    frame: int, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The negative control of verify: one nanosecond, anywhere, and the frame is named. The header
    is line 1, so frame 0 is in line 2."""
    path = tampered(recording, frame + 2, one_nanosecond_later)
    now = loaded(path)[1][frame].now
    assert main(["verify", str(path)]) == 1
    out = capsys.readouterr().out
    assert f"DIFFERENT: first difference at frame {frame} " in out
    assert f"timestamp {now} ns" in out
    assert "EQUAL" not in out
    assert re.search(r"reference +0x[0-9a-f]{16}  FramePlan\(first_tick=", out)


def test_a_changed_timestamp_is_found_in_a_recording_that_was_cut_off(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the digests on the frames are for."""
    path = tampered(recording, 59, one_nanosecond_later)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:80]) + '["fra')
    assert main(["verify", str(path)]) == 1
    out = capsys.readouterr().out
    assert "first difference at frame 57 " in out
    assert "cut off: line 81 is cut off after 5 bytes" in out


@pytest.mark.parametrize(
    "line", [1, 90, 170], ids=["the start of the header", "a digest", "the digest of the footer"]
)
def test_no_line_of_a_recording_can_change_without_a_difference(
    line: int, recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def change(text: str) -> str:
        if line == 1:
            return text.replace("1000000000000", "1000000000001")
        return re.sub(r"0x(.)", lambda m: "0x1" if m[1] == "0" else "0x0", text)

    assert main(["verify", str(tampered(recording, line, change))]) == 1
    expected = {1: "frame 0 ", 90: "frame 88 ", 170: "every frame that carries a digest agrees"}
    assert expected[line] in capsys.readouterr().out


def test_a_difference_without_digests_is_told_from_the_footer(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = without_digests(recording)
    assert main(["verify", str(bare)]) == 0
    assert "EQUAL: trace, " in capsys.readouterr().out
    assert main(["verify", str(tampered(bare, 59, one_nanosecond_later))]) == 1
    assert "its frames carry no digests" in capsys.readouterr().out


def test_a_cut_recording_without_digests_has_nothing_to_be_compared_with(
    recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One core and no digest: saying "equal" would be a lie."""
    hide_native(monkeypatch)
    bare = without_digests(recording)
    bare.write_text("".join(bare.read_text().splitlines(keepends=True)[:80]))
    assert main(["verify", str(bare)]) == 0
    out = capsys.readouterr().out
    assert "EQUAL" not in out
    assert "Nothing to compare reference with: the trace has no digests." in out


def test_a_recording_cut_at_any_byte_of_its_last_lines_replays_what_is_left(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = recording.read_bytes()
    lines = content.splitlines(keepends=True)
    end = 0
    for size in range(len(content) - sum(map(len, lines[-3:])), len(content)):
        recording.write_bytes(content[:size])
        assert main(["verify", str(recording)]) == 0, size
        out = capsys.readouterr().out
        frames = sum(size >= sum(map(len, lines[: k + 1])) - 1 for k in range(1, 169))
        assert f" {frames} frames, " in out, size
        whole = size == len(content) - 1
        assert ("cut off: line " in out) == (not whole), size
        assert "EQUAL: trace" in out, size
        end = frames
    assert end == 168


class Skewed:
    """A core with a fault: from one timestamp on, its frames begin a nanosecond late."""

    FrameStats = reference_core.FrameStats

    def __init__(self, since: int) -> None:
        self.since = since

    def FrameLoop(self, *arguments: Any) -> Any:
        loop = reference_core.FrameLoop(*arguments)

        def begin_frame(now: int) -> Any:
            return loop.begin_frame(Timestamp(now + (now >= self.since)))

        return SimpleNamespace(begin_frame=begin_frame, resync=loop.resync)


def test_a_core_that_disagrees_is_found_at_its_first_frame(core: Core, recording: Path) -> None:
    """Without any help from the recording, and with both plans in the report."""
    bare = without_digests(recording)
    _, operations = loaded(bare)
    assert not difference(bare, {"one": core, "two": core})
    first = difference(bare, {"one": core, "two": Skewed(operations[91].now)})
    assert first[0].startswith("first difference at frame 91 ")
    assert [line.split()[0] for line in first[1:]] == ["one", "two"]
    assert all("FramePlan(" in line for line in first[1:])
    assert first[1].split("FramePlan")[1] != first[2].split("FramePlan")[1]


class Blind:
    """Stats that see nothing, so that only the plans can tell two cores apart."""

    schedule_hash = 0

    def absorb(self, plan: object) -> None:
        pass


def test_plans_are_compared_themselves_and_not_only_their_digests(
    core: Core, recording: Path
) -> None:
    """A fault of a digest must not hide a fault of a plan."""
    bare = without_digests(recording)
    bare.write_text("".join(bare.read_text().splitlines(keepends=True)[:-1]))
    late = loaded(bare)[1][91].now
    one = SimpleNamespace(FrameLoop=core.FrameLoop, FrameStats=Blind)
    two = SimpleNamespace(FrameLoop=Skewed(late).FrameLoop, FrameStats=Blind)
    assert not difference(bare, {"one": one, "two": one})
    assert "at frame 91 " in difference(bare, {"one": one, "two": two})[0]


def test_resyncs_are_replayed(native: Core, reference: Core, tmp_path: Path) -> None:
    """Leaving them out must show, or the test of a trace with resyncs would prove nothing."""
    path = tmp_path / "resync.trace"
    loop, stats = reference.FrameLoop(Rate(60), start=Timestamp(7)), reference.FrameStats()
    with path.open("x") as file:
        writer = TraceWriter(file, Rate(60), StepBudget.DEFAULT, Timestamp(7))
        for k in range(1, 40):
            now = Timestamp(7 + k * 21_000_000)
            if k % 13 == 0:
                loop.resync(now)
                writer.resync(now)
            else:
                stats.absorb(loop.begin_frame(now))
                writer.frame(now, stats.schedule_hash)
        writer.finish(stats)
    done = Verification(Trace(path), both(native, reference))
    assert (done.frames, done.resyncs, done.digests) == (36, 3, 36)
    assert not done.difference
    path.write_text(sealed(re.sub(r"\[\"resync.*\n", "", path.read_text())))
    found = difference(path, both(native, reference))
    assert found[0].startswith("first difference at frame 12 ")


# layout


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("軌道", "軌道"),
        ("a\nb", "a\\nb"),
        ("\udcff", "\\udcff"),
        ("\x00", "\\x00"),
    ],
)
def test_what_does_not_print_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("numerator", "denominator", "places", "shown"),
    [
        (1, 3, 4, "0.3333"),
        (2, 3, 4, "0.6667"),
        (1, 2, 0, "1"),
        (5, 100, 1, "0.1"),
        (0, 7, 2, "0.00"),
    ],
)
def test_quotients_are_rounded_to_the_nearest(
    numerator: int, denominator: int, places: int, shown: str
) -> None:
    assert decimal(numerator, denominator, places) == shown


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert pairs([("a", "1"), ("long", "22")]) == "a     1\nlong  22"
    rows: Sequence[Sequence[str]] = [("", "n"), ("one", "123"), ("three", "")]
    assert table(rows) == "         n\none    123\nthree"
    assert milliseconds(1) == "0.000001 ms"


@pytest.mark.parametrize("command", [command.__name__.rpartition(".")[2] for command in _COMMANDS])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: fixedstep {command}" in capsys.readouterr().out
