"""Derivatives of a traced function: a table of partial derivatives, and forward and reverse mode over the graph.

Forward mode computes, for every node, its derivatives in a few directions; structural zeros are skipped, and columns
that no output depends on together share one direction (graph coloring). Reverse mode computes, for one output, its
derivative with respect to every node. Both stay finite where `where` guards a branch: forward mode selects between the
derivatives of the branches; reverse mode stores the condition under which a branch counts, and selects after the
multiplications.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinetree.compiler.graph.expr import Node, as_node, make
from kinetree.compiler.graph.graph import reachable

Partials = Callable[..., tuple[Any, ...]]


def _of(op: str, *args: Any) -> Node:
    return make(op, *map(as_node, args))


def _first_if(condition: Node) -> tuple[Node, Node]:
    return _of("where", condition, 1.0, 0.0), _of("where", condition, 0.0, 1.0)


PARTIALS: dict[str, Partials] = {
    "neg": lambda y, a: (-1.0,),
    "add": lambda y, a, b: (1.0, 1.0),
    "sub": lambda y, a, b: (1.0, -1.0),
    "mul": lambda y, a, b: (b, a),
    "div": lambda y, a, b: (1.0 / b, -(y / b)),
    "sqrt": lambda y, a: (0.5 / y,),
    "sin": lambda y, a: (_of("cos", a),),
    "cos": lambda y, a: (-_of("sin", a),),
    "exp": lambda y, a: (y,),
    "log": lambda y, a: (1.0 / a,),
    "tanh": lambda y, a: (1.0 - y * y,),
    "absolute": lambda y, a: (_of("where", a < 0.0, -1.0, 1.0),),
    "atan2": lambda y, a, b: (b / (a * a + b * b), -a / (a * a + b * b)),
    "minimum": lambda y, a, b: _first_if(a <= b),
    "maximum": lambda y, a, b: _first_if(b <= a),
}
"""∂y/∂a and ∂y/∂b of each operation y = f(a, b). `where` is treated separately; comparisons have no derivative."""

Direction = Mapping[Node, Any]
"""A direction: the rates of some inputs."""


def forward(outputs: Sequence[Node], directions: Sequence[Direction]) -> list[dict[int, Node]]:
    """The non-zero rates of every output along the directions, by the index of the direction."""
    rates: dict[Node, dict[int, Any]] = {}
    for k, direction in enumerate(directions):
        for node, rate in direction.items():
            rates.setdefault(node, {})[k] = rate
    for node in reachable(outputs):
        if node in rates or not node.args:
            continue
        total: dict[int, Any] = {}
        if node.op == "where":
            condition, a, b = node.args
            of_a, of_b = rates.get(a, {}), rates.get(b, {})
            for k in of_a.keys() | of_b.keys():
                total[k] = _of("where", condition, of_a.get(k, 0.0), of_b.get(k, 0.0))
        elif node.op in PARTIALS and any(rates.get(arg) for arg in node.args):
            for arg, partial in zip(node.args, PARTIALS[node.op](node, *node.args), strict=True):
                for k, rate in rates.get(arg, {}).items():
                    term = rate * partial
                    total[k] = total[k] + term if k in total else term
        if total:
            rates[node] = total
    return [{k: as_node(rate) for k, rate in rates.get(node, {}).items()} for node in outputs]


def reverse(output: Node, inputs: Sequence[Node]) -> list[Node | None]:
    """∂output/∂input for every input; None where there is no dependence."""
    weights: dict[Node, dict[Node | None, Any]] = {output: {None: 1.0}}  # by condition; None: unconditional
    for node in reversed(reachable([output])):
        terms = weights.get(node)
        if not terms or not node.args:
            continue
        if len(terms) > 1:  # terms under different conditions become one unconditional sum
            terms = {None: _sum(terms)}
        ((condition, weight),) = terms.items()
        if node.op == "where":
            test, a, b = node.args
            _add(weights, a, _both(condition, test), weight)
            _add(weights, b, _both(condition, _of("logical_not", test)), weight)
        elif node.op in PARTIALS:
            for arg, partial in zip(node.args, PARTIALS[node.op](node, *node.args), strict=True):
                _add(weights, arg, condition, weight * partial)
    return [as_node(_sum(weights[node])) if node in weights else None for node in inputs]


def _add(weights: dict[Node, dict[Node | None, Any]], node: Node, condition: Node | None, weight: Any) -> None:
    terms = weights.setdefault(node, {})
    terms[condition] = terms[condition] + weight if condition in terms else weight


def _both(a: Node | None, b: Node) -> Node:
    return b if a is None else _of("logical_and", a, b)


def _sum(terms: Mapping[Node | None, Any]) -> Any:
    total: Any = 0.0
    for condition, weight in terms.items():
        total = weight + total if condition is None else _of("where", condition, weight, 0.0) + total
    return total


# -- Jacobians ---------------------------------------------------------------------------------------------------------


def jacobian(outputs: Sequence[Node], columns: Sequence[Direction], mode: str) -> list[dict[int, Node]]:
    """The non-zero rates of every output, by column; `mode` is "forward" or "reverse"."""
    if mode == "reverse":
        return [_row(output, columns) for output in outputs]
    pattern = sparsity(outputs, columns)
    colors = coloring(pattern, len(columns))
    directions: list[dict[Node, Any]] = [{} for _ in range(max(colors, default=-1) + 1)]
    for column, color in zip(columns, colors, strict=True):
        for node, rate in column.items():
            direction = directions[color]
            direction[node] = direction[node] + rate if node in direction else rate
    rates = forward(outputs, directions)
    return [
        {k: rate[colors[k]] for k in sorted(needed) if colors[k] in rate}
        for needed, rate in zip(pattern, rates, strict=True)
    ]


def _row(output: Node, columns: Sequence[Direction]) -> dict[int, Node]:
    inputs = list(dict.fromkeys(node for column in columns for node in column))
    weights = dict(zip(inputs, reverse(output, inputs), strict=True))
    row: dict[int, Node] = {}
    for k, column in enumerate(columns):
        terms = [weight * rate for node, rate in column.items() if (weight := weights[node]) is not None]
        if terms:
            row[k] = as_node(sum(terms[1:], terms[0]))
    return row


def sparsity(outputs: Sequence[Node], columns: Sequence[Direction]) -> list[set[int]]:
    """The columns that every output depends on."""
    masks: dict[Node, int] = {}  # sets of columns as bits
    for k, column in enumerate(columns):
        for node in column:
            masks[node] = masks.get(node, 0) | 1 << k
    for node in reachable(outputs):
        for arg in node.args[1:] if node.op == "where" else node.args:
            masks[node] = masks.get(node, 0) | masks.get(arg, 0)
    return [{k for k in range(len(columns)) if masks.get(node, 0) >> k & 1} for node in outputs]


def coloring(pattern: Sequence[set[int]], columns: int) -> list[int]:
    """A color for every column, different for two columns that one output depends on; greedy, in order."""
    conflicts: list[set[int]] = [set() for _ in range(columns)]
    for row in pattern:
        for k in row:
            conflicts[k] |= row
    colors: list[int] = []
    for k in range(columns):
        taken = {colors[other] for other in conflicts[k] if other < k}
        colors.append(next(color for color in range(k + 1) if color not in taken))
    return colors
