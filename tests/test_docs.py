"""The pages are true: what they print is printed, where they point something is, and the reference
leaves nothing out.

The tutorial and the how-to pages are worked through by tests of their own, which have windows to
close and servers to stop; here are the others, by the same reader. Docstrings are run by
test_doctests.py and its like. What is left is Sphinx's own business, which takes warnings as
errors.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import re
import shlex
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import fixedstep
import fixedstep.host
from fixedstep import Rate, Timestep, cli
from fixedstep.captures import AnalysisSettings, analyze

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *DOCS.rglob("*.md")))
# Pages whose code another test runs, and which that is.
ELSEWHERE = {
    "docs/tutorial.md": "test_tutorial.py",
    "docs/choosing-a-rate-and-budget.md": "test_captures.py",
    **{page: "test_how_to.py" for page in PAGES if page.startswith("docs/how-to/")},
}
FENCES = ("python", "diff", "sh", "text", "{eval-rst}", "{toctree}", "{help-of}", "{include}")
COMMANDS = {command.__name__.rpartition(".")[2] for command in cli._COMMANDS}
REFERENCE = sorted(str(path.relative_to(ROOT)) for path in DOCS.glob("reference/*.md"))


@pytest.fixture
def root(source: Path) -> Path:
    """The checkout; ``--no-source`` leaves the tests of its pages out."""
    return source.parent


def walkthrough() -> ModuleType:
    """The reader of pages. By its path: the suite is no package."""
    spec = importlib.util.spec_from_file_location(
        "walkthrough", Path(__file__).with_name("walkthrough.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fences(text: str) -> list[tuple[str, str]]:
    """Language and content of each fenced block."""
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def prose(text: str) -> str:
    """What is neither in a fence nor code in a line."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"(?ms)^```.*?^```$", "", text))


def anchors(text: str) -> set[str]:
    """What a heading can be linked by, on a code host and on the site."""
    found: set[str] = set()
    seen: Counter[str] = Counter()
    for heading in re.findall(r"(?m)^#+ +(.*?) *$", re.sub(r"(?ms)^```.*?^```$", "", text)):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def broken_links(text: str, folder: Path) -> Iterator[str]:
    """Relative links of a page in ``folder`` that lead nowhere."""
    for link in re.findall(r"\]\(<?([^)\s>]+)>?\)", prose(text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (folder / path) if path else None
        if target is not None and not target.exists():
            yield link
        elif anchor:
            there = text if target is None else target.read_text(encoding="utf-8")
            if anchor not in anchors(there):
                yield link


def commands(text: str) -> Iterator[str]:
    """What a reader could type and that calls fixedstep: in fences, indented by four, in a line."""
    lines = [
        line for info, code in fences(text) if info.startswith("sh") for line in code.split("\n")
    ]
    lines += re.findall(r"(?m)^ {4}(\S.*)$", text) + re.findall(r"`([^`\n]+)`", text)
    for line in lines:
        command = re.sub(r"^\S*python3? -m fixedstep(?= )", "fixedstep", line)
        if re.match(r"fixedstep [a-z]+( |$)", command):
            yield re.split(r" +[|>&#]", command)[0].strip()


def fits(command: str) -> bool:
    """Whether the command line takes it; no file is looked at. A name alone may be a mention."""
    words = shlex.split(command)[1:]
    try:
        cli._parser().parse_args(words)
    except cli._UsageError:
        return len(words) == 1 and words[0] in COMMANDS
    return True


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_somewhere(root: Path, page: str) -> None:
    path = root / page
    assert [*broken_links(path.read_text(encoding="utf-8"), path.parent)] == []


def test_the_links_of_the_readme_lead_to_pages_of_one_site(root: Path) -> None:
    """They are absolute, since a package index shows the README too, and one address is theirs."""
    [site] = re.findall('Documentation = "(.+)"', (root / "pyproject.toml").read_text("utf-8"))
    readme = (root / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", readme) if "gafferongames" not in link]
    assert len(links) > 5
    for link in links:
        assert link.startswith(site), link
        path = link.removeprefix(site).partition("#")[0]
        page = DOCS / path.replace("_images/", "").replace(".html", ".md")
        assert page.is_file(), link
    assert site in (root / "CITATION.cff").read_text(encoding="utf-8")


def test_readme_and_start_page_begin_alike(root: Path) -> None:
    """The same sentences and the same first program; the picture is the same one elsewhere."""
    beginnings = []
    for page in ("README.md", "docs/index.md"):
        beginning, output, _ = (root / page).read_text("utf-8").partition("```text varies\n")
        assert output
        beginnings.append(re.sub(r"\(\S*ball\.gif\)", "(ball.gif)", beginning))
    assert beginnings[0] == beginnings[1]


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    """The control, for each way to lead nowhere; and code is no link."""
    (tmp_path / "there.md").write_text("# Two words, and `code`\n\n# Twice\n\n# Twice\n")
    good = "[a](there.md) [b](there.md#two-words-and-code) [c](there.md#twice-1) [d](https://x.y)"
    bad = "[a](gone.md) [b](there.md#three-words) [c](#here)"
    assert [*broken_links(f"{good}\n`[e](gone.md)`\n```text\n[f](gone.md)\n```\n", tmp_path)] == []
    assert [*broken_links(bad, tmp_path)] == ["gone.md", "there.md#three-words", "#here"]


def test_links_are_looked_for_where_there_are_many(root: Path) -> None:
    links = [re.findall(r"\]\([^)]+\)", prose((root / page).read_text("utf-8"))) for page in PAGES]
    assert sum(map(len, links)) > 50


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(root: Path, page: str) -> None:
    """A block without a language is one that no test runs and no reader knows what to do with."""
    text = (root / page).read_text(encoding="utf-8")
    assert text.count("```") == 2 * len(fences(text))
    for language, _ in fences(text):
        assert language.split()[0] in FENCES


@pytest.mark.parametrize("core", ["native", "reference"])
@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_the_code_of_a_page_prints_what_the_page_says(
    root: Path, page: str, core: str, tmp_path: Path
) -> None:
    """Each block of Python is a program of its own, and the text after it is all that it prints."""
    text = (root / page).read_text(encoding="utf-8")
    reader = walkthrough().Reader(tmp_path, {**os.environ, "FIXEDSTEP_BACKEND": core})
    ran = 0
    for block in walkthrough().blocks(text):
        if block.language == "python" or (block.language == "text" and reader._last is not None):
            reader.follow(block)
            ran += block.language == "python"
        else:
            reader._last = None
    assert ran == sum(info.startswith("python") for info, _ in fences(text))


def test_the_other_pages_are_run_by_the_tests_that_are_named(root: Path) -> None:
    assert set(ELSEWHERE) <= set(PAGES)
    for page, test in ELSEWHERE.items():
        code = (root / "tests" / test).read_text(encoding="utf-8")
        assert Path(page).name in code or f'"{Path(page).parent.name}"' in code, page


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_is_one(root: Path, page: str) -> None:
    for command in commands((root / page).read_text(encoding="utf-8")):
        assert fits(command), command


def test_commands_are_found_and_wrong_ones_are_refused(root: Path) -> None:
    """The control: an option that was renamed is noticed, and the pages do show commands."""
    shown = [c for page in PAGES for c in commands((root / page).read_text(encoding="utf-8"))]
    assert len(shown) >= 12
    assert [*commands("    fixedstep analyze a.csv --sweep hz=30 > b.csv")] == [
        "fixedstep analyze a.csv --sweep hz=30"
    ]
    assert fits("fixedstep analyze a.csv --sweep hz=30")
    for wrong in ("fixedstep analyse a.csv", "fixedstep demo --tape x", "fixedstep record"):
        assert [*commands(f"```sh\n{wrong}\n```\n")] == [*commands(f"So `{wrong}`.")] == [wrong]
        assert not fits(wrong)


@pytest.mark.parametrize(
    "package", ["fixedstep", "fixedstep.sim", "fixedstep.captures", "fixedstep.testing"]
)
def test_the_reference_has_every_public_name(root: Path, package: str) -> None:
    """Named one by one, so that a page has an order; hence none may be forgotten."""
    pages = "".join((root / page).read_text(encoding="utf-8") for page in REFERENCE)
    module = importlib.import_module(package)
    _, *parts = pages.split(f".. currentmodule:: {package}\n")
    listed = set(re.findall(r"(?m)^\.\. auto\w+:: (?:fixedstep\S*\.)?(\w+)$", "".join(parts)))
    assert len(module.__all__) > 5
    assert set(module.__all__) <= listed


def test_the_reference_has_every_command(root: Path) -> None:
    page = (root / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert set(re.findall(r"(?m)^```\{help-of\} (\w+)$", page)) == COMMANDS
    assert len(COMMANDS) >= 6


def test_the_version_is_the_same_everywhere(root: Path) -> None:
    """The site has it from the package, the package index from pyproject.toml."""
    assert importlib.metadata.version("fixedstep") == fixedstep.__version__
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^version: (\S+)", citation) == [fixedstep.__version__]
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^## (\S+)", changes)[0] == fixedstep.__version__


def test_the_reference_names_every_key_of_an_analysis(root: Path, tmp_path: Path) -> None:
    """Each key once, in the table of what it belongs to, and no key that is not there."""
    times = tmp_path / "times"
    times.write_text("16.7\n100\n16.7\n", encoding="ascii")
    settings = AnalysisSettings(
        (Timestep.HZ_60, Rate(60)), resync_over=1, unit="ms", histogram=True
    )
    found = analyze(times, settings)
    page = (root / "docs/reference/captures.md").read_text(encoding="utf-8")
    _, groups, schedules = page.split("| of a ")
    [group] = found["streams"]
    gaps = group["gaps"] | dict.fromkeys(("line", "start_ns", "length_ns"))
    for table, parts in (
        (groups, [group, group["stalls"], group["stalls"]["longest"][0], group["histogram"], gaps]),
        (schedules, [*group["schedules"], group["schedules"][0]["resync"]]),
    ):
        keys = {key for part in parts for key in part}
        rows = re.findall(r"(?m)^\| (.*?) \|$", table.partition("\n\n")[0])
        named = re.findall(r"`([^`]+)`", " ".join(rows))
        assert keys <= set(named)
        assert set(named) - keys <= {"FrameTiming", "timestep", "rate"}


def test_the_animated_picture_is_frames_of_the_product(root: Path) -> None:
    """With interpolation nearly every frame is another, a stall drops ticks and says so, and the
    file is small enough for a page."""
    spec = importlib.util.spec_from_file_location("ball_picture", DOCS / "ball_picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    frames = [*module.frames()]
    ticks = len({frame.at_tick for frame in frames})
    assert ticks * 2 < len({frame.between for frame in frames})
    assert "8 ticks were due: 3 run, 5 dropped" in {frame.words for frame in frames}
    assert "3 run and 5 are dropped" in (root / "README.md").read_text(encoding="utf-8")
    assert 10_000 < (DOCS / "ball.gif").stat().st_size < 400_000
