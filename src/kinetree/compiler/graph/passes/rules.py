"""Rewriting rules as text, compiled to Python functions.

    x + 0 -> x              a literal matches that constant
    x * (c * y) -> (x * c) * y     names that start with c match any constant, other names anything
    x - x -> 0              a name that stands twice must match the same node
    x * y + z -> fma(x, y, z)      functions are operations by name

Commutative operations are tried in both orders. The functions take the operands of an operation and return the node
that replaces it, or None; rules are tried in the order in which they are written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set
from dataclasses import dataclass
from itertools import count, product
from typing import Any

from kinetree.compiler.graph.expr import COMMUTATIVE, Node, Rules, boolean, constant, make
from kinetree.compiler.graph.graph import Graph, rebuilt

_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.USub: "neg"}


@dataclass(frozen=True)
class Rule:
    """Both sides as Python expressions, and the outermost operation of the left side."""

    text: str
    left: ast.expr
    right: ast.expr
    op: str


def parse_rules(text: str) -> tuple[Rule, ...]:
    """The rules of a table, one per line; # begins a comment."""
    found = []
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line:
            left, right = (ast.parse(side.strip(), mode="eval").body for side in line.split("->"))
            found.append(Rule(line, left, right, _operation(left)[0]))
    return tuple(found)


def compile_rules(rules: Iterable[Rule], once: bool = False) -> Rules:
    """One function for each operation, which tries all its rules.

    With `once`, a rule applies only if the inner operations that it takes apart are used once; the functions then take
    the set of nodes that are used more than once as their first argument.
    """
    by_op: dict[str, list[Rule]] = {}
    for rule in rules:
        by_op.setdefault(rule.op, []).append(rule)
    names: dict[str, Any] = {"Node": Node, "make": make, "constant": constant, "boolean": boolean}
    compiled = {}
    for op, group in by_op.items():
        arity = len(_operation(group[0].left)[1])
        arguments = [f"a{k}" for k in range(arity)]
        head = ", ".join(["shared", *arguments] if once else arguments)
        lines = [f"def {op}({head}):"]
        for rule in group:
            lines.append(f"    # {rule.text}")
            lines += _matchers(rule, arguments, once)
        lines.append("    return None")
        exec(compile("\n".join(lines), f"<rules of {op}>", "exec"), names)
        compiled[op] = names[op]
    return compiled


def rewrite(graph: Graph, rules: Rules, intact: Set[Node]) -> Graph:
    """The graph with each node replaced by the first rule that fits; rules do not take nodes in `intact` apart."""
    shared: set[Node] = set()

    def change(node: Node, args: tuple[Node, ...]) -> Node:
        rule = rules.get(node.op)
        new = rule(shared, *args) if rule is not None else None
        if new is None:
            new = rebuilt(node, args)
        if node in intact:
            shared.add(new)
        return new

    return graph.mapped(change)


def _operation(expression: ast.expr) -> tuple[str, list[ast.expr]]:
    if isinstance(expression, ast.BinOp):
        return _OPERATORS[type(expression.op)], [expression.left, expression.right]
    if isinstance(expression, ast.UnaryOp):
        return _OPERATORS[type(expression.op)], [expression.operand]
    assert isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name)
    return expression.func.id, list(expression.args)


def _matchers(rule: Rule, arguments: list[str], once: bool) -> list[str]:
    """`if` statements for one rule, one for each order of operands of its commutative operations."""
    inner = [node for node in ast.walk(rule.left) if isinstance(node, (ast.BinOp, ast.Call))]
    swaps = sum(_operation(node)[0] in COMMUTATIVE for node in inner)
    lines: list[str] = []
    seen = set()
    for order in product((False, True), repeat=swaps):
        conditions: list[str] = []
        bound: dict[str, str] = {}
        _match(rule.left, None, arguments, iter(order), conditions, bound, count(), once)
        built = _build(rule.right, bound)
        body = [f"    if {' and '.join(conditions) or 'True'}:", f"        return {built}"]
        if tuple(body) not in seen:
            seen.add(tuple(body))
            lines += body
    return lines


def _match(
    pattern: ast.expr, node: str | None, operands: list[str], swaps: Any, conditions: list[str],
    bound: dict[str, str], fresh: Any, once: bool,
) -> None:  # fmt: skip
    """Append the conditions under which `node`, an expression (None: the operation itself, with these operands),
    matches the pattern."""
    if isinstance(pattern, ast.Name):
        _match_name(pattern.id, node or "", conditions, bound)
        return
    value = _literal(pattern)
    if value is not None:
        if isinstance(value, bool):
            conditions.append(f"{node}.op == {'true' if value else 'false'!r}")
        else:
            conditions.append(f"{node}.op == 'const' and {node}.value == {value!r}")
        return
    op, parts = _operation(pattern)
    if node is not None:
        conditions.append(f"{node}.op == {op!r}")
        if once:
            conditions.append(f"{node} not in shared")
        operands = []
        for k in range(len(parts)):
            name = f"b{next(fresh)}"
            conditions.append(f"({name} := {node}.args[{k}]) is not None")
            operands.append(name)
    if op in COMMUTATIVE and next(swaps):
        operands = operands[::-1]
    for part, operand in zip(parts, operands, strict=True):
        _match(part, operand, [], swaps, conditions, bound, fresh, once)


def _match_name(name: str, node: str, conditions: list[str], bound: dict[str, str]) -> None:
    if name in bound:
        conditions.append(f"{node} is {bound[name]}")
        return
    bound[name] = node
    if name.startswith("c"):
        conditions.append(f"{node}.op == 'const'")


def _literal(expression: ast.expr) -> float | bool | None:
    if isinstance(expression, ast.Constant) and isinstance(expression.value, (bool, int, float)):
        return expression.value if isinstance(expression.value, bool) else float(expression.value)
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.operand, ast.Constant):
        return -float(expression.operand.value)  # type: ignore[arg-type]
    return None


def _build(expression: ast.expr, bound: dict[str, str]) -> str:
    if isinstance(expression, ast.Name):
        return bound[expression.id]
    value = _literal(expression)
    if value is not None:
        return f"boolean({value})" if isinstance(value, bool) else f"constant({value!r})"
    op, parts = _operation(expression)
    return f"make({op!r}, {', '.join(_build(part, bound) for part in parts)})"
