"""Array operations of single columns as scalar nodes, for blocks of states: there every number is a vector already, and
values that stay in registers are faster than rows in memory.

The nodes compute the same numbers to the bit as the code of one state. What is left out is exact: products by zero and
one, and sums with zero. Constants are not combined; LLVM does that in the type of the kernel's numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kinetree.compiler.graph.column_program import ColumnProgram
from kinetree.compiler.graph.expr import Node, constant, interned
from kinetree.compiler.graph.graph import Graph
from kinetree.compiler.graph.passes.schedule import distant_uses
from kinetree.compiler.graph.row_program import PAIR_PRODUCTS, RowProgram


def is_expandable(node: Node) -> bool:
    """Whether a node is a column program or products of pairs."""
    return node.op == "rows" and (isinstance(node.value, ColumnProgram) or node.value.name == PAIR_PRODUCTS)


def expand(graph: Graph, fuses: bool) -> Graph:
    """The graph without column programs and products of pairs, in a new table: whole columns where the first of their
    entries was, or each entry where it is used, whichever needs fewer reloads."""
    made: dict[tuple[Node, int], list[Node]] = {}
    given: dict[Node, dict[tuple[int, int], Node]] = {}

    def change(node: Node, args: tuple[Node, ...]) -> Node:
        if node.op == "const":
            return constant(node.value)
        if node.op != "entry" or not is_expandable(node.args[0]):
            return interned(node.op, args, node.value)
        (rows,) = args
        program = rows.value
        result, column = divmod(int(node.value), program.columns)
        if isinstance(program, RowProgram):
            if rows not in given:
                given[rows] = dict(zip(program.positions(), rows.args[program.coefficients :], strict=True))
            return _entry(program, rows.args, given[rows], result, column, fuses)
        if (rows, column) not in made:
            made[rows, column] = _column(program, rows, column)
        return made[rows, column][program.results[result]]

    new = graph.mapped(change)
    by_use = tuple(node for old, node in zip(graph.nodes(), new.sequence, strict=True) if old.op != "entry")
    orders = replace(new, sequence=()), replace(new, sequence=by_use)
    return min(orders, key=lambda graph: distant_uses([node for node in graph.nodes() if node.args]))


def _column(program: ColumnProgram, rows: Node, column: int) -> list[Node]:
    """All rows of one column of a column program."""
    values = [rows.args[k * program.columns + column] for k in range(program.operands)]
    values += [constant(row[column]) for row in program.known]
    for op, args, value in program.steps:
        values.append(constant(value) if op == "const" else _made(op, *(values[k] for k in args)))
    return values


def _entry(
    program: RowProgram, coefficients: Sequence[Node], given: Mapping[tuple[int, int], Node], result: int, column: int,
    fuses: bool,
) -> Node:  # fmt: skip
    """One entry of products of pairs, whose rows begin with zero."""
    total = constant(0.0)
    for coefficient, row in program.steps[program.results[result] - len(program.given)].terms:
        if (row, column) in given:
            x, y = coefficients[coefficient], given[row, column]
            total = _made("fma", x, y, total) if fuses else _made("add", total, _made("mul", x, y))
    return total


def _made(op: str, *args: Node) -> Node:
    """An operation without what zeros and ones leave as it is."""
    if op == "neg":
        (x,) = args
        return constant(-x.value) if x.op == "const" else x.args[0] if x.op == "neg" else interned("neg", args, 0)
    if op == "mul":
        x, y = args
        if _is(x, 0.0) or _is(y, 0.0):
            return constant(0.0)
        return y if _is(x, 1.0) else x if _is(y, 1.0) else interned("mul", args, 0)
    if op in ("add", "sub"):
        x, y = args
        if _is(y, 0.0):
            return x
        if _is(x, 0.0):
            return y if op == "add" else _made("neg", y)
    if op in ("fma", "fms", "fnma", "fnms"):
        x, y, z = args
        if _is(z, 0.0):
            product = _made("mul", x, y)
            return product if op in ("fma", "fms") else _made("neg", product)
        if _is(x, 0.0) or _is(y, 0.0):
            return z if op in ("fma", "fnma") else _made("neg", z)
    return interned(op, args, 0)


def _is(node: Node, value: float) -> bool:
    return node.op == "const" and node.value == value
