"""Least squares in strict order: each level is met as well as those before it leave room for, within bounds.

level by level, minimise ‖J x - e‖² + λ² ‖x‖²   with   lower ≤ (x, D x) ≤ upper

Rows of D may also begin at some level: there they are kept as well as its tasks are met, and later levels leave that as
it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant
from kinetree.compiler import Argument, Chain, Layout, Numbers, Operand, Result, Stage, once
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.solvers import qp
from kinetree.solvers.stages import HIERARCHY

Since = tuple[int, ...]
"""For every row of D the level at which it begins; -1 for one that holds throughout."""


def solve(
    levels: Sequence[tuple[ArrayLike, ArrayLike]],
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    D: ArrayLike | None = None,
    damping: float = 0.0,
    since: Sequence[int] | None = None,
) -> Array:
    """x, (n,), for levels of (J, e), the most important first; `damping` is λ. Bounds, of x and then of the rows of D,
    hold at every level. Without bounds and damping, this is the recursive null-space solution of least norm.

    `since` has the level at which each row of D begins, or -1: at that level, how far it is violated is squared and
    added to ‖J x - e‖²; what is violated then stays as it is, and what is not, holds.
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
    begins = (-1,) * len(rows) if since is None else tuple(map(int, since))
    if len(begins) != len(rows) or not all(-1 <= level < len(pairs) for level in begins):
        raise ArgumentError(f"since is {begins}; expected a level, or -1, for each of {len(rows)} rows of D")
    sizes = tuple(len(e) for _, e in pairs)
    given = [
        np.concatenate([J for J, _ in pairs]),
        np.concatenate([e for _, e in pairs]),
        np.full(len(sizes), damping**2),
    ]
    return run(n, sizes, begins, [*given, rows, *bounds])


def run(n: int, sizes: tuple[int, ...], since: Since, given: list[Array]) -> Array:
    """x for J, e, λ² of every level, D, lower and upper; raises where there is no solution."""
    count = len(sizes) * (n + len(since))
    x, active, info, status = np.empty(n), np.empty(count), np.empty(4), np.empty(1)
    arrays = [np.ascontiguousarray(array).reshape(-1) for array in (*given, np.zeros(count))]
    _chain(n, sizes, since).single(arrays, [x, active, info, status])
    if status[0] != 0.0:
        refuse(int(status[0]), given)
    return x


def refuse(status: int, given: list[Array]) -> None:
    """Raise what a status means, of what `run` is given."""
    J, e, _, D, lower, upper = given
    crossed = np.where(lower > upper, 1.0, 0.0)
    qp.refuse(status, [J, e, D, lower, upper], crossed if crossed.any() else np.ones(len(lower)))


def stage(
    n: int, sizes: tuple[int, ...], since: Since, inputs: tuple[Operand, ...], outputs: tuple[Operand, ...], *,
    hard: bool = False, shared: int = 0, limit: int = 0,
) -> Stage:  # fmt: skip
    """The stage of a chain: inputs are J, e, λ², D, lower, upper and a guess of what is active, outputs x, what is
    active and info. With `hard`, the first level is met exactly, but for its first `shared` rows, which are met in the
    sense of least squares where they contradict each other; `limit` is how often the active set of a level may
    change."""
    rows = len(since)
    soft = max((since.count(level) for level in range(len(sizes))), default=0)
    numbers = Numbers(tuple(map(float, (len(sizes), rows, limit, hard, shared, *sizes))))
    *before, lower, upper, guess = inputs
    placed = (numbers, *before, Numbers(tuple(map(float, since))), lower, upper, guess)
    return HIERARCHY.stage(n, max(*sizes, n + rows), placed, outputs, s=soft)


@once
def _chain(n: int, sizes: tuple[int, ...], since: Since) -> Chain:
    total, rows, count = sum(sizes), len(since), len(sizes) * (n + len(since))
    layout = Layout((total * n, total, len(sizes), rows * n, n + rows, n + rows, count), (n, count, 4, 1))
    inputs = tuple(Argument(k) for k in range(7))
    return Chain([stage(n, sizes, since, inputs, (Result(0), Result(1), Result(2)))], layout)
