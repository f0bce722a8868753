"""Array operations of a graph: rows of a matrix as sums of multiples of other rows.

Matrix products and triangular solves of large matrices would be tens of thousands of scalar nodes. A row program is one
node: its operands are coefficients and the entries of given rows, and each step makes one more row,

    row = scale · start ± Σ coefficient · earlier row.

Code for it is a loop over tables instead of one instruction per multiplication. Entries that are zero by structure are
neither operands nor results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.base.lazy import lazy
from kinetree.compiler.graph.expr import Node, array_operations, as_node, constant, interned
from kinetree.ops import Array

LARGE = 1000
"""Multiplications from which on a product or a solve is a row program; smaller ones are faster as scalar nodes."""
MIN_COLUMNS = 8
"""Columns from which on it is one: those of a vector."""


@dataclass(frozen=True)
class Step:
    """One row: a multiple of a start row, and the coefficients and rows of the terms."""

    start: int
    """The row that the sum starts from."""
    scale: int | None
    """The coefficient that multiplies the start; None: one."""
    terms: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RowProgram:
    """Steps over rows with as many columns. Rows are numbered: the given ones, then those of the steps."""

    name: str
    columns: int
    coefficients: int
    given: tuple[int, ...]
    """The entries of each given row that are not zero by structure, as bits."""
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    subtracts: bool

    @lazy
    def nonzero(self) -> tuple[int, ...]:
        """The entries of every row that are not zero by structure, as bits."""
        masks = list(self.given)
        for step in self.steps:
            mask = masks[step.start]
            for _, row in step.terms:
                mask |= masks[row]
            masks.append(mask)
        return tuple(masks)

    def needed(self, results: Sequence[int]) -> list[int]:
        """The entries of every row that some entries of the results depend on, as bits."""
        masks = [0] * len(self.nonzero)
        for row, mask in zip(self.results, results, strict=True):
            masks[row] |= mask & self.nonzero[row]
        for k in reversed(range(len(self.steps))):
            step, mask = self.steps[k], masks[len(self.given) + k]
            for row in (step.start, *(row for _, row in step.terms)):
                masks[row] |= mask & self.nonzero[row]
        return masks

    def counts(self, results: Sequence[int]) -> Counter[str]:
        """The number of operations of each kind that these entries of the results take."""
        masks, scalings, sums = self.needed(results), 0, 0
        for step, mask in zip(self.steps, masks[len(self.given) :], strict=True):
            if step.scale is not None:
                scalings += (mask & self.nonzero[step.start]).bit_count()
            sums += sum((mask & self.nonzero[row]).bit_count() for _, row in step.terms)
        return Counter({"mul": scalings, "fnma" if self.subtracts else "fma": sums})

    def positions(self) -> Iterator[tuple[int, int]]:
        """Row and column of every operand after the coefficients."""
        for row, mask in enumerate(self.given):
            yield from ((row, column) for column in range(self.columns) if mask >> column & 1)

    def entry(self, result: int, column: int) -> bool:
        """Whether an entry of a result is not zero by structure."""
        return bool(self.nonzero[self.results[result]] >> column & 1)

    def apply(self, operands: Sequence[Any]) -> Array:
        """The results on numbers, (rows, columns)."""
        coefficients = operands[: self.coefficients]
        rows = list(np.zeros((len(self.given), self.columns)))
        for (row, column), value in zip(self.positions(), operands[self.coefficients :], strict=True):
            rows[row][column] = value
        for step in self.steps:
            total = rows[step.start]
            if step.scale is not None:
                total = total * coefficients[step.scale]
            for coefficient, row in step.terms:
                term = coefficients[coefficient] * rows[row]
                total = total - term if self.subtracts else total + term
            rows.append(total)
        return np.array([rows[row] for row in self.results]).reshape(-1, self.columns)


def needed_results(nodes: Iterable[Node]) -> dict[Node, list[int]]:
    """For every row program among the nodes, the entries of its results that other nodes use, as bits."""
    masks: dict[Node, list[int]] = {}
    for node in nodes:
        if node.op == "rows":
            masks.setdefault(node, [0] * len(node.value.results))
        elif node.op == "entry":
            (rows,) = node.args
            result, column = divmod(int(node.value), rows.value.columns)
            masks.setdefault(rows, [0] * len(rows.value.results))[result] |= 1 << column
    return masks


# -- made while tracing ------------------------------------------------------------------------------------------------


def ltdl_solve(L: Array, d: Array, b: Array) -> Array | None:
    """x with Lᵀ D L x = b as a row program; None if it is too small."""
    return _solve("ltdl_solve", L, b, scale=ops.divide(1.0, d))


def unit_upper_solve(L: Array, b: Array) -> Array | None:
    """y with Lᵀ y = b as a row program; None if it is too small."""
    return _solve("unit_upper_solve", L, b, downward=False)


def unit_lower_solve(L: Array, b: Array, scale: Array | None) -> Array | None:
    """x with L x = diag(scale) b as a row program; None if it is too small."""
    return _solve("unit_lower_solve", L, b, upward=False, scale=scale)


def _solve(
    name: str, L: Array, b: Array, upward: bool = True, downward: bool = True, scale: Array | None = None
) -> Array | None:
    """The upward solve Lᵀ y = b, from the last row to the first, and then the downward solve L x = diag(scale) y."""
    L, b, n = np.asarray(L), np.asarray(b), len(L)
    if not array_operations() or b.ndim != 2 or b.shape[1] < MIN_COLUMNS:
        return None
    below = [(i, j) for i in range(n) for j in range(i) if not _is_zero(L[i, j])]
    index = {place: k for k, place in enumerate(below)}
    if (upward + downward) * len(index) * b.shape[1] < LARGE:
        return None
    coefficients = [L[place] for place in index] + list(scale if scale is not None else ())
    steps: list[Step] = []
    rows = list(range(n))  # of b, then of y
    if upward:
        y = {i: 2 * n - 1 - i for i in rows}
        for i in reversed(range(n)):
            steps.append(
                Step(i, None, tuple((index[k, i], y[k]) for k in reversed(range(i + 1, n)) if (k, i) in index))
            )
        rows = [y[i] for i in range(n)]
    if downward:
        x = [n + len(steps) + i for i in range(n)]
        for i in range(n):
            factor = None if scale is None else len(index) + i
            steps.append(Step(rows[i], factor, tuple((index[i, j], x[j]) for j in range(i) if (i, j) in index)))
        rows = x
    return _made(name, coefficients, b, tuple(steps), rows, subtracts=True)


def plus_product(C: Array, A: Array, B: Array) -> Array | None:
    """C + A B as a row program; None if it is too small."""
    return _with_product("plus_product", C, A, B, subtracts=False)


def minus_product(C: Array, A: Array, B: Array) -> Array | None:
    """C - A B as a row program; None if it is too small."""
    return _with_product("minus_product", C, A, B, subtracts=True)


PAIR_PRODUCTS = "pair_products"


def pair_products(A: Array, B: Array) -> Array | None:
    """A Bᵀ as a row program, of which some entries are used; None if it is too small."""
    A, B = np.asarray(A), np.asarray(B)
    return _with_product(PAIR_PRODUCTS, np.zeros((len(A), len(B))), A, B.T, subtracts=False)


def _with_product(name: str, C: Array, A: Array, B: Array, subtracts: bool) -> Array | None:
    A, B = np.asarray(A), np.asarray(B)
    if not array_operations() or B.ndim != 2 or B.shape[1] < MIN_COLUMNS:
        return None
    places = [(i, k) for k, i in np.ndindex(*A.T.shape) if not _is_zero(A[i, k])]  # column by column, as most come
    per_row = [sum(not _is_zero(x) for x in row) for row in B]
    if sum(per_row[k] for _, k in places) < LARGE:
        return None
    index = {place: number for number, place in enumerate(places)}
    rows, inner = A.shape
    steps = tuple(
        Step(inner + i, None, tuple((index[i, k], k) for k in range(inner) if (i, k) in index)) for i in range(rows)
    )
    results = range(inner + rows, inner + 2 * rows)
    coefficients = [A[place] for place in places]
    return _made(name, coefficients, np.concatenate([B, C]), steps, results, subtracts)


def _made(
    name: str, coefficients: list[Any], B: Array, steps: tuple[Step, ...], results: Iterable[int], subtracts: bool
) -> Array:
    """The results of a row program as an array of nodes."""
    columns = B.shape[1]
    given = tuple(sum(1 << column for column, x in enumerate(row) if not _is_zero(x)) for row in B)
    program = RowProgram(name, columns, len(coefficients), given, steps, tuple(results), subtracts)
    operands = (*coefficients, *(B[place] for place in program.positions()))
    rows = interned("rows", tuple(map(as_node, operands)), program)
    found = np.empty((len(program.results), columns), dtype=object)
    zero = constant(0.0)
    for i, j in np.ndindex(*found.shape):
        found[i, j] = interned("entry", (rows,), i * columns + j) if program.entry(i, j) else zero
    return found


def _is_zero(x: Any) -> bool:
    return x.op == "const" and x.value == 0.0 if isinstance(x, Node) else x == 0.0


OPERATIONS = {
    operation.__name__: operation
    for operation in (ltdl_solve, unit_upper_solve, unit_lower_solve, plus_product, minus_product, pair_products)
}
"""The operations of `linalg` that are row programs if they are large."""
