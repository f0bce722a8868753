"""Tracing: a function over `ops` runs on symbols and builds the graph of its scalar operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.compiler.graph import column_program, expr, requirements, row_program
from kinetree.compiler.graph.expr import Node, as_node, make, symbols
from kinetree.compiler.graph.graph import Graph
from kinetree.compiler.graph.passes import fold  # noqa: F401 - fills the table of folding rules
from kinetree.ops import Array


def _operation(name: str) -> Callable[..., Node]:
    return lambda *operands: make(name, *map(as_node, operands))


_RENAMED = {"divide": "div"}
_OPERATIONS = {name: _operation(_RENAMED.get(name, name)) for name in ops.PRIMITIVES}
_ARRAYS = {**row_program.OPERATIONS, "for_each": column_program.for_each}
ops.register(Node, SimpleNamespace(**_OPERATIONS, **_ARRAYS, require=requirements.require))


def trace(function: Callable[..., Any], shapes: Sequence[tuple[int, ...]]) -> tuple[Graph, list[tuple[int, ...]]]:
    """The graph of `function` on arrays of symbols, and the shapes of the arrays that it returns.

    It must run inside `expr.new_table()`. Inputs are numbered consecutively through all arrays, in C order.
    """
    positions = count()
    arrays = [symbols(shape, positions) for shape in shapes]
    with np.errstate(all="ignore"):  # constants may be infinite or NaN
        result = function(*arrays)
    outputs: list[Node] = []
    output_shapes = []
    for value in result if isinstance(result, tuple) else (result,):
        array = as_array(value)
        outputs += [_real(element) for element in array.ravel()]
        output_shapes.append(array.shape)
    own = {node for array in arrays for node in array.flat}
    graph = Graph(len(own), tuple(outputs))
    if any(node.op == "input" and node not in own for node in graph.nodes()):
        raise TypeError("a traced value is used outside the trace it belongs to: it comes from another trace")
    return graph, output_shapes


def as_array(value: Any) -> Array:
    """A result as an array of scalars; a single node is an array without axes."""
    if isinstance(value, Node):
        array = np.empty((), dtype=object)
        array[()] = value
        return array
    return np.asarray(value)


def _real(element: Any) -> Node:
    """An output as a number: a boolean counts 1 or 0."""
    node = as_node(element)
    if expr.SIGNATURES[node.op][1] == expr.BOOLEAN:
        return make("where", node, as_node(1.0), as_node(0.0))
    return node
