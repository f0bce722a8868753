"""Least squares in strict order: each level is met as well as those before it leave room for, within bounds.

level by level, minimise ‖J x - e‖² + λ² ‖x‖²   with   lower ≤ (x, D x) ≤ upper
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from kinetree.arguments import as_constant
from kinetree.compiler.chain import Argument, Chain, Numbers, Place, Result, Stage
from kinetree.compiler.code import Layout
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.solvers import qp
from kinetree.solvers.stages import HIERARCHY


def solve(
    levels: Sequence[tuple[ArrayLike, ArrayLike]],
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    D: ArrayLike | None = None,
    damping: float = 0.0,
) -> Array:
    """x, (n,), for levels of (J, e), the most important first; `damping` is λ. Bounds, of x and then of the rows of D,
    hold at every level. Without bounds and damping, this is the recursive null-space solution of least norm.
    """
    if not levels:
        raise ArgumentError("levels is empty; expected pairs (J, e), the most important first")
    pairs = [(np.atleast_2d(np.asarray(J, dtype=float)), np.atleast_1d(np.asarray(e, dtype=float))) for J, e in levels]
    n = pairs[0][0].shape[1]
    for k, (J, e) in enumerate(pairs):
        if J.shape != (len(e), n):
            raise ArgumentError(
                f"J of level {k} has shape {J.shape}; expected {(len(e), n)}, as its e has {len(e)} entries"
            )
    rows = np.zeros((0, n)) if D is None else as_constant("D", D, (len(np.atleast_1d(D)), n))
    bounds = [
        np.full(n + len(rows), default) if bound is None else as_constant(name, bound, (n + len(rows),))
        for name, bound, default in (("lower", lower, -np.inf), ("upper", upper, np.inf))
    ]
    sizes = tuple(len(e) for _, e in pairs)
    given = [
        np.concatenate([J for J, _ in pairs]),
        np.concatenate([e for _, e in pairs]),
        np.full(len(sizes), damping**2),
    ]
    return run(n, sizes, len(rows), [*given, rows, *bounds])


def run(n: int, sizes: tuple[int, ...], rows: int, given: list[Array]) -> Array:
    """x for J, e, λ² of every level, D, lower and upper; raises where there is no solution."""
    x, info, status = np.empty(n), np.empty(4), np.empty(1)
    _chain(n, sizes, rows).single([np.ascontiguousarray(array).reshape(-1) for array in given], [x, info, status])
    if status[0] != 0.0:
        refuse(int(status[0]), given)
    return x


def refuse(status: int, given: list[Array]) -> None:
    """Raise what a status means, of what `run` is given."""
    J, e, _, D, lower, upper = given
    crossed = np.where(lower > upper, 1.0, 0.0)
    qp.refuse(status, [J, e, D, lower, upper], crossed if crossed.any() else np.ones(len(lower)))


def stage(n: int, sizes: tuple[int, ...], rows: int, inputs: tuple[Place, ...], outputs: tuple[Place, ...]) -> Stage:
    """As a stage of a chain: inputs are those of `run`, outputs x and info."""
    numbers = Numbers((float(len(sizes)), float(rows), *map(float, sizes)))
    return HIERARCHY.stage(n, max(*sizes, n + rows), (numbers, *inputs), outputs)


@cache
def _chain(n: int, sizes: tuple[int, ...], rows: int) -> Chain:
    total = sum(sizes)
    layout = Layout((total * n, total, len(sizes), rows * n, n + rows, n + rows), (n, 4, 1))
    inputs = tuple(Argument(k) for k in range(6))
    return Chain([stage(n, sizes, rows, inputs, (Result(0), Result(1)))], layout)
