"""Mutants of Python, from its syntax tree.

The tree says what there is to change, the text is changed in place: unparsing the tree would give a
file without its comments, and a mutant nobody could read. Left out are annotations, imports,
decorators, docstrings, ``__slots__``, ``__all__`` and what is there for type checkers.
"""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

from .mutants import Mutant, distinct, mutant

_COMPARED: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_BINARY: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("-",),
    ast.Sub: ("+",),
    ast.Mult: ("+",),
    ast.Div: ("//",),
    ast.FloorDiv: ("*", "%"),
    ast.Mod: ("//",),
    ast.LShift: (">>",),
    ast.RShift: ("<<",),
    ast.BitAnd: ("|",),
    ast.BitOr: ("&", "^"),
    ast.BitXor: ("|", "&"),
}
_FIELDS = (
    ("FrameLoop", ("_scale", "_unit", "_budget", "_last", "_bank", "_tick")),
    (
        "FramePlan",
        ("_first_tick", "_step_count", "_dropped", "_remainder", "_scale", "_unit"),
    ),
    ("Steps", ("_tick", "_count", "_scale", "_unit")),
    ("FrameStats", ("_frames", "_ticks", "_steps_dropped", "_schedule_hash")),
)
_OWNERS = {"plan": "FramePlan", "stats": "FrameStats", "loop": "FrameLoop", "steps": "Steps"}
_UNTOUCHED = ("__slots__", "__all__")


class _Generator(ast.NodeVisitor):
    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.lines = [0]
        for line in text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.names: list[str] = []
        self.parameters: list[str] = []
        self.found: list[Mutant] = []

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Where a node stands. The file is ASCII, so columns are characters."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.lines[node.lineno - 1] + node.col_offset
        return start, self.lines[node.end_lineno - 1] + node.end_col_offset

    def source(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def add(self, operator: str, start: int, end: int, new: str) -> None:
        where = ".".join(self.names) or "(module)"
        self.found.append(mutant(self.file, self.text, where, operator, start, end, new))

    def replace(self, operator: str, node: ast.expr | ast.stmt, new: str) -> None:
        self.add(operator, *self.span(node), new)

    # where in the file

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.append(node.name)
        self.body(node.body)
        self.names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self.parameters
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self.parameters = [a.arg for a in arguments if a.arg not in ("self", "cls")]
        self.names.append(node.name)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self.body(node.body)
        self.names.pop()
        self.parameters = outer

    def visit_Module(self, node: ast.Module) -> None:
        self.body(node.body)

    def body(self, statements: list[ast.stmt]) -> None:
        for index, statement in enumerate(statements):
            docstring = (
                index == 0
                and isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
            )
            if not docstring:
                self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return
        if isinstance(node, ast.Assign) and self.source(node.targets[0]) in _UNTOUCHED:
            return
        if isinstance(node, ast.If) and self.source(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.visit(node.value)
            return
        self.removed(node)
        self.visit(node)

    def removed(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Return):
            if node.value is not None and self.source(node) != "return None":
                self.replace("statement", node, "return None")
        elif isinstance(node, (ast.Expr, ast.AugAssign, ast.Raise)) or (
            isinstance(node, ast.Assign) and self.names  # a constant of the module is changed
        ):
            self.replace("statement", node, "pass")

    def visit_If(self, node: ast.If) -> None:
        self.negated(node.test)
        self.visit(node.test)
        self.body_of(node.body)
        self.body_of(node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.negated(node.test)
        self.visit(node.test)
        self.body_of(node.body)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self.body_of(node.body)

    def visit_Try(self, node: ast.Try) -> None:
        self.body_of(node.body)
        for handler in node.handlers:
            self.body_of(handler.body)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self.visit(item.context_expr)
        self.body_of(node.body)

    def body_of(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    # what is changed

    def negated(self, test: ast.expr) -> None:
        single = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not single:  # the comparison is switched already
            self.replace("condition", test, f"not ({self.source(test)})")

    def visit_IfExp(self, node: ast.IfExp) -> None:
        kind = "saturation" if "MAX" in self.source(node) else "choice"
        self.replace(kind, node, self.source(node.body))
        self.replace(kind, node, self.source(node.orelse))
        self.generic_visit(node)

    def between(self, one: ast.expr, other: ast.expr, symbol: str) -> tuple[int, int]:
        """Where the operator stands between two operands."""
        start = self.text.index(symbol, self.span(one)[1], self.span(other)[0])
        return start, start + len(symbol)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for (one, other), op in zip(pairwise(operands), node.ops, strict=True):
            start, end = self.span(one)[1], self.span(other)[0]
            for new in _COMPARED[type(op)]:
                self.add("comparison", start, end, f" {new} ")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        symbol, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for one, other in pairwise(node.values):
            self.add("condition", *self.between(one, other, symbol), new)
        for value in node.values:
            others = [self.source(other) for other in node.values if other is not value]
            self.replace("condition dropped", node, f" {symbol} ".join(others))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.replace("condition", node, self.source(node.operand))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        start, end = self.span(node.left)[1], self.span(node.right)[0]
        for new in _BINARY.get(type(node.op), ()):
            kept = self.text[start:end]
            symbol = kept.strip().strip("()").strip() or kept.strip()
            self.add("arithmetic", start, end, kept.replace(symbol, new))
        self.replace("operand dropped", node, self.source(node.left))
        self.replace("operand dropped", node, self.source(node.right))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        start, end = self.span(node.target)[1], self.span(node.value)[0]
        for new in _BINARY.get(type(node.op), ()):
            self.add("arithmetic", start, end, f" {new}= ")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.replace("constant", node, str(not value))
        elif isinstance(value, int):
            for new in {value + 1, max(value - 1, 0)} - {value}:
                text = self.source(node)
                self.replace("constant", node, f"0x{new:X}" if text.startswith("0x") else str(new))
        elif isinstance(value, str) and value[:1] == "<":
            self.replace("constant", node, repr(">" + value[1:]))
        elif isinstance(value, bytes) and value:
            self.replace("constant", node, repr(bytes([value[0] ^ 1]) + value[1:]))
        elif isinstance(value, str):
            self.replace("constant", node, repr(value + "x"))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A message: its text is asked for by the tests of errors, as a whole."""
        self.replace("constant", node, "''")

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            return
        if node.id in self.parameters and len(self.parameters) > 1:
            index = self.parameters.index(node.id) + 1
            self.replace("field", node, self.parameters[index % len(self.parameters)])
        if node.id == "U64_MAX":
            self.replace("bound", node, "(U64_MAX - 1)")
            self.replace("bound", node, "(U64_MAX + 1)")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        kind = self.names[0] if owner == "self" and self.names else _OWNERS.get(owner, "")
        for name, fields in _FIELDS:
            if name == kind and node.attr in fields:
                new = fields[(fields.index(node.attr) + 1) % len(fields)]
                self.replace("field", node, f"{owner}.{new}")
        self.visit(node.value)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        if isinstance(node.ctx, ast.Load):
            self.sequence(node.elts)
            if len(node.elts) > 1:
                for element in node.elts:
                    rest = [self.source(other) for other in node.elts if other is not element]
                    self.replace("field dropped", node, f"({', '.join(rest)},)")
        self.generic_visit(node)

    def sequence(self, nodes: list[ast.expr]) -> None:
        for one, other in pairwise(nodes):
            start, middle = self.span(one)
            again, end = self.span(other)
            swapped = f"{self.source(other)}{self.text[middle:again]}{self.source(one)}"
            if self.source(one) != self.source(other):
                self.add("order", start, end, swapped)

    def visit_Call(self, node: ast.Call) -> None:
        name = self.source(node.func)
        if name in ("min", "max"):
            self.replace("saturation", node.func, {"min": "max", "max": "min"}[name])
            for argument in node.args:
                self.replace("saturation", node, self.source(argument))
        else:
            self.sequence(node.args)
        self.visit(node.func)
        for argument in node.args:
            self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword.value)


def python_mutants(file: str, root: Path) -> list[Mutant]:
    """Every mutant of one Python file of the project."""
    text = (root / file).read_text(encoding="utf-8")
    if not text.isascii():
        raise ValueError(f"{file} must be ASCII, so that columns are characters")
    generator = _Generator(file, text)
    generator.visit(ast.parse(text))
    return distinct([one for one in generator.found if _compiles(one.apply(text), file)])


def _compiles(text: str, file: str) -> bool:
    try:
        compile(text, file, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True
