"""Array operations of a graph: one short function of many operands, such as what is computed for every body of a tree.

The function is traced once. A column program is one node: its operands are rows, with one column for each call, and
each step makes one more row, element by element. Code for it is one function that computes as many columns at a time as
a vector holds; for a block of states it is called for column after column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from kinetree.compiler.graph.expr import (
    NUMERIC,
    Node,
    array_operations,
    array_operations_if,
    as_node,
    constant,
    interned,
    make,
    new_table,
    symbol,
)
from kinetree.compiler.graph.graph import Graph
from kinetree.ops import Array

MIN_COLUMNS = 8
"""Calls from which on a function is a column program: those of a vector."""
ARITHMETIC = frozenset(("add", "sub", "mul", "div", "neg", "sqrt"))
"""What such a function may consist of."""
Step = tuple[str, tuple[int, ...], float]
"""An operation, the rows it takes, and the value of a constant."""


@dataclass(frozen=True)
class ColumnProgram:
    """Steps on rows with as many columns. Rows are numbered: the operands, the known ones, then those of the steps."""

    name: str
    columns: int
    operands: int
    known: tuple[tuple[float, ...], ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    coefficients = 0

    @property
    def first_step(self) -> int:
        return self.operands + len(self.known)

    @property
    def given(self) -> tuple[int, ...]:
        """The entries of each operand row, all, as bits."""
        return ((1 << self.columns) - 1,) * self.operands

    def positions(self) -> Iterator[tuple[int, int]]:
        """Row and column of every operand."""
        yield from np.ndindex(self.operands, self.columns)

    def needed(self, results: Sequence[int]) -> list[tuple[int, Step]]:
        """The steps that some entries of the results depend on, with their rows."""
        rows = {row for row, mask in zip(self.results, results, strict=True) if mask}
        found = []
        for row, step in reversed(list(enumerate(self.steps, self.first_step))):
            if row in rows:
                rows.update(step[1])
                found.append((row, step))
        return found[::-1]

    def counts(self, results: Sequence[int]) -> Counter[str]:
        """The number of operations of each kind that these entries of the results take."""
        kinds = Counter(op for _, (op, _, _) in self.needed(results) if op not in ("const", "neg"))
        return Counter({op: count * self.columns for op, count in kinds.items()})

    def apply(self, operands: Sequence[Any]) -> Array:
        """The results on numbers, (rows, columns)."""
        given = np.array(operands, dtype=float).reshape(self.operands, self.columns)
        found = np.empty((len(self.results), self.columns))
        for column in range(self.columns):
            values = [*given[:, column], *(row[column] for row in self.known)]
            for op, args, value in self.steps:
                values.append(value if op == "const" else NUMERIC[op](*(values[k] for k in args)))
            found[:, column] = [values[row] for row in self.results]
        return found

    def graph(self) -> Graph:
        """The steps as a graph of one column in the table of this trace, whose inputs are the operand rows and the
        known ones."""
        nodes = [symbol(k) for k in range(self.first_step)]
        for op, args, value in self.steps:
            nodes.append(constant(value) if op == "const" else make(op, *(nodes[k] for k in args)))
        return Graph(self.first_step, tuple(nodes[row] for row in self.results))

    def changed(self, change: Callable[[Graph], Graph], order: Callable[[Graph], list[Node]]) -> ColumnProgram:
        """The program with its graph changed, in a new order."""
        with new_table():
            graph = change(self.graph())
            steps, rows = _listed(graph, order(graph), range(self.first_step))
            return replace(self, steps=steps, results=tuple(rows[node] for node in graph.outputs))


def _listed(graph: Graph, order: Iterable[Node], inputs: Sequence[int]) -> tuple[tuple[Step, ...], dict[Node, int]]:
    """The operations of a graph as steps, with these of its inputs as the first rows, and the row of every node."""
    rows = {node: inputs.index(int(node.value)) for node in graph.nodes() if node.op == "input"}
    steps: list[Step] = []
    for node in (*(node for node in graph.nodes() if node.op == "const"), *order):
        rows[node] = len(inputs) + len(steps)
        steps.append((node.op, tuple(rows[arg] for arg in node.args), float(node.value)))
    return tuple(steps), rows


# -- made while tracing ------------------------------------------------------------------------------------------------


def for_each(function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> list[Any] | None:
    """The results of a function for each of the items, tuples of the same structure, as a column program; None if they
    are few."""
    if not array_operations():
        return None
    leaves = [list(map(as_node, _leaves(item))) for item in items]
    is_known = [all(leaf.op == "const" for leaf in each) for each in leaves]
    if any(is_known):
        others = [item for item, known in zip(items, is_known, strict=True) if not known]
        found = for_each(function, others)
        rest = iter([function(*item) for item in others] if found is None else found)
        return [function(*item) if known else next(rest) for item, known in zip(items, is_known, strict=True)]
    if len(items) < MIN_COLUMNS:
        return None
    rows = [*zip(*leaves, strict=True)]
    with new_table(), array_operations_if(False):
        symbols: dict[tuple[int, ...], Node] = {}
        for k, row in enumerate(rows):
            same = all(node is row[0] and node.op == "const" for node in row)
            symbols.setdefault(tuple(map(id, row)), constant(row[0].value) if same else symbol(k))
        result = function(*_rebuilt(items[0], iter([symbols[tuple(map(id, row))] for row in rows])))
        made = [as_node(leaf) for leaf in _leaves(result)]
        outputs = dict.fromkeys(node for node in made if node.args)
        graph = Graph(len(rows), tuple(outputs))
        if any(node.args and node.op not in ARITHMETIC for node in graph.nodes()):
            return None
        used = [int(node.value) for node in graph.nodes() if node.op == "input"]
        known = [k for k in used if all(node.op == "const" for node in rows[k])]
        operands = [k for k in used if k not in known]
        steps, row_of = _listed(graph, [node for node in graph.nodes() if node.args], [*operands, *known])
    numbers = tuple(tuple(float(node.value) for node in rows[k]) for k in known)
    name = getattr(function, "__name__", "function").strip("_")
    results = tuple(row_of[node] for node in outputs)
    program = ColumnProgram(name, len(items), len(operands), numbers, steps, results)
    columns = interned("rows", tuple(node for k in operands for node in rows[k]), program)
    place = {node: k * len(items) for k, node in enumerate(outputs)}

    def leaf(node: Node, column: int) -> Node:
        if node in place:
            return interned("entry", (columns,), place[node] + column)
        return constant(node.value) if node.op == "const" else rows[int(node.value)][column]

    return [_rebuilt(result, iter([leaf(node, column) for node in made])) for column in range(len(items))]


def _leaves(value: Any) -> Iterator[Any]:
    """The numbers of a tree of arrays, sequences and dataclasses; anything else is the same in all trees."""
    if isinstance(value, np.ndarray):
        yield from value.flat
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _leaves(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _leaves(getattr(value, field.name))
    elif isinstance(value, (Node, Real)):
        yield value


def _rebuilt(value: Any, leaves: Iterator[Any]) -> Any:
    """A tree of the same structure with other numbers."""
    if isinstance(value, np.ndarray):
        array = np.empty(value.shape, dtype=object)
        for index in np.ndindex(*value.shape):
            array[index] = next(leaves)
        return array
    if isinstance(value, (tuple, list)):
        new = [_rebuilt(each, leaves) for each in value]
        return type(value)(*new) if hasattr(value, "_fields") else type(value)(new)
    if is_dataclass(value):
        return type(value)(*(_rebuilt(getattr(value, field.name), leaves) for field in fields(value)))  # type: ignore[misc]
    return next(leaves) if isinstance(value, (Node, Real)) else value
