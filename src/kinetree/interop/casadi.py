"""Functions for CasADi: the graph of a function, operation by operation, as expressions of type SX.

CasADi has matrices only: a vector is a column, and an array of several matrices, such as the poses of all bodies, has
them below each other. States are not checked: a refused one has the numbers that the formula gives.

The only file that knows CasADi.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from math import prod
from typing import Any

import casadi
import numpy as np

from kinetree.base.arguments import as_flag
from kinetree.compiler import Node, Shape
from kinetree.functions.compiled_function import PLAIN
from kinetree.functions.displaced import Displaced
from kinetree.interop.exported import ExportedFunction, common_operations, exported, resolved, traced

OPERATIONS: dict[str, Callable[..., Any]] = {
    **common_operations(casadi),
    "absolute": casadi.fabs,
    "minimum": casadi.fmin,
    "maximum": casadi.fmax,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "logical_and": casadi.logic_and,
    "logical_or": casadi.logic_or,
    "logical_not": casadi.logic_not,
    "where": casadi.if_else,
    "true": lambda: casadi.SX(1),
    "false": lambda: casadi.SX(0),
}
"""The operations of graphs in CasADi."""


def function(compiled: Any, tangent: bool) -> Any:
    """The casadi.Function of anything compiled."""
    if not as_flag("tangent", tangent):
        return _printed(exported(compiled))
    own, key, name = resolved(compiled)
    if not own.configurations:
        return _printed(exported(compiled))
    return _printed(traced(Displaced(own, key), PLAIN, name, fused=False, arrays=False))


def _printed(source: ExportedFunction) -> Any:
    symbols = {name: casadi.SX.sym(name, *_as_matrix(shape)) for name, shape in source.arguments.items()}
    inputs = [_entry(symbols[name], shape, k) for name, shape in source.arguments.items() for k in range(prod(shape))]
    made: dict[Node, Any] = {}
    for node in source.graph.nodes():
        if node.op == "input":
            made[node] = inputs[int(node.value)]
        elif node.op == "const":
            made[node] = casadi.SX(float(node.value))
        else:
            made[node] = OPERATIONS[node.op](*(made[arg] for arg in node.args))
    outputs = iter(source.graph.outputs)
    results = []
    for shape in source.results.values():
        rows, columns = _as_matrix(shape)
        entries = [made[next(outputs)] for _ in range(rows * columns)]
        results.append(casadi.reshape(casadi.vertcat(casadi.SX(0, 1), *entries), columns, rows).T)
    (name,), words = _words([source.name]), _words([*symbols, *source.results])
    return casadi.Function(name, list(symbols.values()), results, words[: len(symbols)], words[len(symbols) :])


def _words(names: Iterable[str]) -> list[str]:
    """Names that CasADi takes: letters and digits of ASCII, with single underscores between them."""
    found: list[str] = []
    for name in names:
        word = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        word = word if word[:1].isalpha() else f"x{word}"
        while word in found:
            word += "x"
        found.append(word)
    return found


def _as_matrix(shape: Shape) -> tuple[int, int]:
    """The rows and columns of an array; of several matrices, those of all below each other."""
    if len(shape) < 2:
        return prod(shape), 1
    return prod(shape[:-1]), shape[-1]


def _entry(matrix: Any, shape: Shape, k: int) -> Any:
    """The k-th number of an array in C order."""
    row, column = np.unravel_index(k, _as_matrix(shape))
    return matrix[int(row), int(column)]
