"""Mutants of C, from its tokens.

A parser of C would be the thorough way and a dependency; the core is plain enough for tokens. What
the tokens get wrong does not compile, and is counted apart. Left out are the texts a compiler here
never sees (NEON, other compilers), directives other than constants, declarations, sizes of arrays,
and the tables of methods but for the fields they name.
"""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from .mutants import Mutant, distinct, mutant

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
    r"|0[xX][0-9a-fA-F]*\.[0-9a-fA-F]+p[-+]?\d+f?|0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*"
    r"|[A-Za-z_]\w*|->|<<=|>>=|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w]"
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_CONSTANT = re.compile(r"^#define \w+ (?=(?:UINT64_C\()?\w+\)?\s*$)")
_CONDITION = re.compile(r"^[ \t]*#\s*(if|ifdef|ifndef|elif|else|endif)\b")
_INTEGER = re.compile(r"(0[xX])?([0-9a-fA-F]+?)([uUlL]*)")
_DECLARATION = re.compile(r"(?:(?:const|static|unsigned|long)\s+)*\w+\s+\**\w+\s*(?:[=;,\[]|$)")
_TABLE = re.compile(r"\w+_(?:methods|members|getset|slots|spec|def)|slots_\d+")
_BRACKETS = re.compile(r"Py_(?:BEGIN|END)_ALLOW_THREADS|FS_(?:UN)?LOCK(?:_TWO)?\([^()]*\);")

_SWITCHED = {
    "<": ("<=", ">"),
    "<=": ("<", ">"),
    ">": (">=", "<"),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "++": ("--",),
    "--": ("++",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*=": ("+=",),
    "<<=": (">>=",),
    ">>=": ("<<=",),
    "|=": ("&=", "^="),
}
_BINARY = {
    "+": ("-",),
    "-": ("+",),
    "*": ("/", "+"),
    "/": ("*",),
    "%": ("/",),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|",),
    "|": ("&", "^"),
    "^": ("|", "&"),
}
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")

_NAMES = {
    "UINT64_MAX": ("bound", "(UINT64_MAX - 1)"),
    "UINT32_MAX": ("bound", "(UINT32_MAX - 1)"),
    "true": ("constant", "false"),
    "false": ("constant", "true"),
    "READONLY": ("constant", "0"),
    "METH_CLASS": ("constant", "0"),
    "Py_EQ": ("comparison", "Py_NE"),
    "Py_NE": ("comparison", "Py_EQ"),
    "fs_and": ("arithmetic", "fs_or"),
    "fs_or": ("arithmetic", "fs_and"),
    "fs_xor": ("arithmetic", "fs_or"),
    "fs_plus": ("arithmetic", "fs_minus"),
    "fs_minus": ("arithmetic", "fs_plus"),
    "fs_zip_low": ("order", "fs_zip_high"),
    "fs_zip_high": ("order", "fs_zip_low"),
    "fs_hash_u64": ("digest width", "fs_hash_u32"),
    "fs_hash_u32": ("digest width", "fs_hash_u64"),
    "T_ULONGLONG": ("constant", "T_UINT"),
}
# in any order the same
_COMMUTING = ("fs_add", "fs_mul", "fs_and", "fs_or", "fs_xor", "fs_plus", "fs_times")
_WRAPPING = {"fs_add": "+", "fs_since": "-", "fs_mul": "*"}

_LOOP = ("scale", "unit", "last", "bank", "tick", "budget")
_PLAN = ("first_tick", "step_count", "dropped", "remainder", "scale", "unit")
_STATS = ("frames", "ticks", "steps_dropped", "schedule_hash")
_STEPS = ("tick", "count", "scale", "unit")
_FIELDS = {
    "loop": _LOOP,
    "at": _LOOP,
    "plan": _PLAN,
    "stats": _STATS,
    "tally": _STATS,
    "columns": ("count", "capacity"),
    "powers": ("chunk", "block"),
    "same_loop": _LOOP,
    "fs_same_stats": _STATS,
    "plan_richcompare": _PLAN,
    "stats_richcompare": _STATS,
    "steps_richcompare": _STEPS,
    "steps.c": _STEPS,
}


class Token(NamedTuple):
    """A token, where it stands, and the function or table it stands in."""

    text: str
    start: int
    end: int
    function: str


def unseen(text: str, folder: Path, compiler: list[str]) -> list[tuple[int, int]]:
    """The stretches that the preprocessor takes out: asked of it, with a mark in each."""
    lines = text.splitlines(keepends=True)
    marked, bounds, at = [], [0], 0
    for line in lines:
        at += len(line)
        marked.append(line)
        if _CONDITION.match(line):
            marked.append(f"fs_mark_{len(bounds)}\n")
            bounds.append(at)
    run = subprocess.run(
        [*compiler, "-E", f"-I{folder}", "-x", "c", "-"],
        input="".join(marked),
        capture_output=True,
        text=True,
        check=True,
    )
    seen = {int(number) for number in re.findall(r"\bfs_mark_(\d+)\b", run.stdout)}
    regions = list(pairwise([*bounds, len(text)]))
    return [region for number, region in enumerate(regions) if number and number not in seen]


def _blanked(text: str, gone: list[tuple[int, int]]) -> str:
    """The code alone, every character where it was."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    def directive(match: re.Match[str]) -> str:
        constant = _CONSTANT.match(match[0])
        kept = match[0][constant.end() :] if constant else ""
        return re.sub(r"[^\n]", " ", match[0][: len(match[0]) - len(kept)]) + kept

    for start, end in gone:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    text = _DIRECTIVE.sub(directive, _COMMENT.sub(blank, text))
    return _BRACKETS.sub(blank, text)


def tokens_of(code: str) -> list[Token]:
    """The tokens of blanked code, each with the function that it stands in."""
    found: list[Token] = []
    depth = 0
    name = ""
    matches = list(_TOKEN.finditer(code))
    for index, match in enumerate(matches):
        text = match[0]
        following = matches[index + 1][0] if index + 1 < len(matches) else ""
        if depth == 0 and not name and text != "UINT64_C" and following in ("(", "[", "="):
            name = text if re.match(r"[A-Za-z_]", text) else ""
        if text == "{":
            depth += 1
        elif text == "}":
            depth -= 1
        found.append(Token(text, match.start(), match.end(), name))
        if depth == 0 and text in (";", "}") and following not in (";", "="):
            name = ""
    return found


class _Generator:
    def __init__(self, file: str, text: str, code: str) -> None:
        self.file, self.text, self.code = file, text, code
        self.tokens = tokens_of(code)
        self.found: list[Mutant] = []

    def add(self, operator: str, start: int, end: int, new: str) -> None:
        function = next((t.function for t in self.tokens if t.start >= start), "")
        self.found.append(
            mutant(self.file, self.text, function or "(constant)", operator, start, end, new)
        )

    def at(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def spaced(self, token: Token) -> bool:
        before, after = self.code[token.start - 1], self.code[token.end : token.end + 1]
        return before.isspace() and after.isspace()

    def operand(self, index: int) -> bool:
        """Whether the token before this one ends an operand, so that this one is binary."""
        before = self.at(index - 1)
        return bool(re.match(r"[\w)\]]", before)) and before not in ("return", "case")

    def in_table(self, token: Token) -> bool:
        return _TABLE.fullmatch(token.function) is not None

    def all(self) -> list[Mutant]:
        for index, token in enumerate(self.tokens):
            if self.in_table(token):
                self.field(index, token)
                self.name(token)
                continue
            self.operator(index, token)
            self.number(index, token)
            self.name(token)
            self.field(index, token)
            self.wrapping(index, token)
        self.groups()
        self.statements()
        return distinct(self.found)

    def operator(self, index: int, token: Token) -> None:
        kinds = {"&&": "condition", "||": "condition"}
        if token.text in _SWITCHED:
            kind = "comparison" if token.text in _COMPARED else kinds.get(token.text, "arithmetic")
            for new in _SWITCHED[token.text]:
                self.add(kind, token.start, token.end, new)
        elif token.text in _BINARY and self.operand(index) and self.spaced(token):
            for new in _BINARY[token.text]:
                self.add("arithmetic", token.start, token.end, new)
        elif token.text == "!":
            self.add("condition", token.start, token.end, "")

    def number(self, index: int, token: Token) -> None:
        match = _INTEGER.fullmatch(token.text)
        if match is None or not token.text[0].isdigit():
            return
        size = self.at(index - 1) == "[" and self.at(index + 1) == "]"
        if size and _DECLARATION.match(self.code[self.statement_start(index) : token.start]):
            return
        base = 16 if match[1] else 10
        value = int(match[2], base)
        for new in (value + 1, value - 1):
            if new >= 0:
                digits = f"0x{new:x}" if base == 16 else str(new)
                self.add("constant", token.start, token.end, digits + match[3])

    def statement_start(self, index: int) -> int:
        while index > 0 and self.at(index - 1) not in (";", "{", "}"):
            index -= 1
        return self.tokens[index].start

    def name(self, token: Token) -> None:
        if token.text in _NAMES:
            operator, new = _NAMES[token.text]
            self.add(operator, token.start, token.end, new)

    def field(self, index: int, token: Token) -> None:
        if self.at(index - 1) not in (".", "->") or self.at(index - 2) in ("{", ","):
            return
        owner = self.at(index - 2)
        steps = Path(self.file).name if owner == "self" else ""
        table = token.function if owner in ("a", "b") else owner
        fields = _FIELDS.get(table) or _FIELDS.get(steps) or ()
        if token.text in fields:
            new = fields[(fields.index(token.text) + 1) % len(fields)]
            self.add("field", token.start, token.end, new)

    def wrapping(self, index: int, token: Token) -> None:
        """A saturating operation at the place of its call, without saturation."""
        if token.text not in _WRAPPING or self.at(index + 1) != "(":
            return
        close = self.matching(index + 1)
        parts = self.parts(index + 1, close)
        texts = [self.code[start:end] for start, end in parts]
        if len(texts) == 2 and not any(map(_DECLARATION.match, texts)):
            one, other = texts
            new = f"(({one}) {_WRAPPING[token.text]} ({other}))"
            self.add("saturation", token.start, self.tokens[close].end, new)

    def matching(self, index: int) -> int:
        depth = 0
        for at in range(index, len(self.tokens)):
            depth += (self.at(at) in "([{") - (self.at(at) in ")]}")
            if depth == 0:
                return at
        return len(self.tokens) - 1

    def parts(self, opening: int, closing: int) -> list[tuple[int, int]]:
        """The stretches between the commas of a group."""
        if closing <= opening + 1:
            return []
        found, depth, start = [], 0, self.tokens[opening + 1].start
        for at in range(opening + 1, closing):
            depth += (self.at(at) in "([{") - (self.at(at) in ")]}")
            if self.at(at) == "," and depth == 0 and at + 1 < closing:
                found.append((start, self.tokens[at - 1].end))
                start = self.tokens[at + 1].start
        last = closing - 1 if self.at(closing - 1) != "," else closing - 2
        return [*found, (start, self.tokens[last].end)]

    def groups(self) -> None:
        for index, token in enumerate(self.tokens):
            if token.text not in ("(", "{") or not token.function or self.in_table(token):
                continue
            close = self.matching(index)
            if token.text == "(":
                if self.at(index - 1) in ("if", "while"):
                    self.condition(index, close)
                self.operands(index, close)
                if re.match(r"\w", self.at(index - 1)) and self.at(index - 1) != "for":
                    self.swaps(index, close)
            elif self.at(index - 1) in ("=", ")", ","):
                body = self.at(index - 1) == ")" and self.at(close - 1) in (";", "}")
                if not body:
                    self.swaps(index, close)
                    self.drops(index, close)

    def condition(self, opening: int, closing: int) -> None:
        inside = [self.at(at) for at in range(opening + 1, closing)]
        if sum(text in _COMPARED for text in inside) == 1 and not {"&&", "||"} & set(inside):
            return  # its comparison is switched already
        start, end = self.tokens[opening].end, self.tokens[closing].start
        self.add("condition", start, end, f"!({self.code[start:end]})")

    def swaps(self, opening: int, closing: int) -> None:
        if self.at(opening - 1) in _COMMUTING:
            return
        parts = self.parts(opening, closing)
        for (start, middle), (again, end) in pairwise(parts):
            one, other = self.code[start:middle], self.code[again:end]
            odd = re.search(r'"|;|state\b|type\b|\bop\b|\bNULL\b', one + " " + other)
            declared = _DECLARATION.match(one) or _DECLARATION.match(other)
            if one != other and not odd and not declared and not one.startswith("."):
                self.add("order", start, end, f"{other}{self.code[middle:again]}{one}")

    def drops(self, opening: int, closing: int) -> None:
        for start, end in self.parts(opening, closing):
            if self.code[start:end].startswith("."):
                comma = self.code.index(",", end) + 1
                self.add("field dropped", start, comma, "")

    def operands(self, opening: int, closing: int) -> None:
        self.choices(opening + 1, closing)

    def choices(self, first: int, stop: int) -> None:
        """Within tokens first .. stop at one depth: each operand of && and || dropped, and each
        choice ``c ? a : b`` without its other side."""
        level: list[int] = []
        at = first
        while at < stop:
            if self.at(at) in "([{":
                at = self.matching(at)
            elif self.at(at) in ("&&", "||", "?", ":", ",", ";", "=", "return"):
                level.append(at)
            at += 1
        edges = [first - 1, *level, stop]
        for before, here, after in zip(edges, edges[1:], edges[2:], strict=False):
            if self.at(here) in ("&&", "||") and before + 1 < here < after - 1:
                left = self.tokens[before + 1].start, self.tokens[here + 1].start
                right = self.tokens[here - 1].end, self.tokens[after - 1].end
                self.add("condition dropped", *left, "")
                self.add("condition dropped", *right, "")
            if self.at(here) == "?" and self.at(after) == ":":
                end = next(edge for edge in edges if edge > after)
                start = self.tokens[before + 1].start
                stop_at = self.tokens[end - 1].end
                one = self.code[self.tokens[here + 1].start : self.tokens[after - 1].end]
                other = self.code[self.tokens[after + 1].start : stop_at]
                kind = "saturation" if "MAX" in one + other else "choice"
                self.add(kind, start, stop_at, one)
                self.add(kind, start, stop_at, other)

    def statements(self) -> None:
        depth = 0
        begin = 0
        for index, token in enumerate(self.tokens):
            if token.text in "([":
                depth += 1
            elif token.text in ")]":
                depth -= 1
                if depth == 0 and token.text == ")" and self.headed(index):
                    begin = index + 1
            elif token.text in ("{", "}") and depth == 0:
                if not self.valued(index):
                    begin = index + 1
            elif token.text == "else":
                begin = index + 1
            elif token.text == ";" and depth == 0:
                self.statement(begin, index)
                begin = index + 1

    def headed(self, close: int) -> bool:
        """Whether this parenthesis closes the head of an if, a for or a while."""
        level = 0
        for at in range(close, -1, -1):
            level += (self.at(at) == ")") - (self.at(at) == "(")
            if level == 0:
                return self.at(at - 1) in ("if", "for", "while")
        return False

    def valued(self, index: int) -> bool:
        """Whether this brace belongs to a value in the middle of a statement."""
        before = self.at(index - 1)
        if self.at(index) == "{":
            return before in ("=", ",") or (
                before == ")"
                and self.at(index + 1) != "}"
                and self.at(self.matching(index) - 1) not in (";", "}")
            )
        return self.at(index + 1) in (";", ",", ")")

    def statement(self, begin: int, end: int) -> None:
        if begin >= end or not self.tokens[begin].function or self.in_table(self.tokens[begin]):
            return
        start, stop = self.tokens[begin].start, self.tokens[end].end
        code = self.code[start:stop]
        self.choices(begin, end)
        first = self.at(begin)
        kept = ("return", "typedef", "static", "extern", "enum", "struct", "case", "for")
        if first in kept or _DECLARATION.match(code) or "#" in code:
            return
        if re.match(r"[\w*(+-]", first):
            self.add("statement", start, stop, ";")


def c_mutants(file: str, root: Path, compiler: list[str]) -> list[Mutant]:
    """Every mutant of one C file of the project."""
    path = root / file
    text = path.read_text(encoding="utf-8")
    code = _blanked(text, unseen(text, path.parent, compiler))
    return _Generator(file, text, code).all()
