"""How contacts that repeat each other share their load.

Four corners of a box carry it where three would do: of the normal impulses p that have the same effect, J_nᵀ p, there
are many, and each gives other limits to friction. Of all these the one with the least Σ p² is taken, as if what touches
were a little elastic, and equally so everywhere. With the projector N on the impulses that do nothing, W_nn N = 0,

    p ← p - θ N p,    N p = lim ε (W_nn + ε)⁻¹ p,    θ ≤ 1 as large as it can be with all p ≥ 0

It depends on where contacts are, and not on the order in which they are solved. Which contacts may repeat each other
follows from the robot, before anything is compiled: those of which the normals, if they are parallel, depend on each
other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree import ops
from kinetree.algorithms.configuration import random
from kinetree.algorithms.constraints import DelassusOperator
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, zeros
from kinetree.simulation.contact.coupling import Place
from kinetree.simulation.contact.meeting import Meetings, Pair
from kinetree.simulation.contact.obstacles import Ground
from kinetree.simulation.contact.touch import Touch

EPSILON = 1e-6
"""ε, relative to the mean of the diagonal of W_nn."""
CLOSED = 1e-6
"""The speed of separation below which a contact that carries nothing counts as closed [m/s]."""
ROUNDING = 1e-9
"""Of the load of all, what a contact may lack."""
LEAST = 1e-300
"""Stands in for zero below a fraction line."""
SEED = 5


def repeated(model: Model, pairs: Sequence[Pair]) -> list[tuple[int, ...]]:
    """Groups of pairs with friction of which the normal forces may balance each other without any effect."""
    rng, groups = np.random.default_rng(SEED), []
    q = random(model, rng, 1)[0]  # no special one
    for carrier in sorted({_carrier(model, pair) for pair in pairs}):
        own = [k for k, pair in enumerate(pairs) if _carrier(model, pair) == carrier]
        ground = Ground(rng.normal(size=3))
        flat = [_flat(pairs[k], ground, rng) for k in own]
        rows = Meetings(model, tuple(flat), q).J[2::3]
        U, s, _ = np.linalg.svd(rows, full_matrices=True)
        rank = int(np.sum(s > 1e-9 * max(s[0], 1e-9)))
        nothing = U[:, rank:]
        linked = np.abs(nothing @ nothing.T) > 1e-9
        groups += [tuple(own[k] for k in group) for group in _connected(linked)]
    return [group for group in groups if any(pairs[k].friction for k in group)]


def _carrier(model: Model, pair: Pair) -> int:
    return 0 if pair.obstacle.frame is None else model.frame(pair.obstacle.frame).body


def _flat(pair: Pair, ground: Ground, rng: np.random.Generator) -> Pair:
    """The same pair on a plane."""
    touch = pair.touch
    if not isinstance(touch, Touch):
        touch = Touch(touch.frame, rng.normal(size=3))
    return Pair(touch, Ground(ground.normal, frame=pair.obstacle.frame), 0.0, 0.0)


def _connected(linked: Array) -> list[list[int]]:
    """Sets of two and more that are linked with each other, if by way of others."""
    left, found = set(range(len(linked))), []
    while left:
        group, waiting = set(), [min(left)]
        while waiting:
            k = waiting.pop()
            if k not in group:
                group.add(k)
                waiting += [int(other) for other in np.flatnonzero(linked[k]) if other not in group]
        left -= group
        if len(group) > 1:
            found.append(sorted(group))
    return found


def shared(
    delassus: DelassusOperator, places: Sequence[Place], p: Sequence[Scalar], separating: Sequence[Scalar]
) -> list[Scalar]:
    """Normal impulses with the same effect as p, spread over all contacts of a group that are closed.

    places       of the normals, one row each
    separating   the speed at which contacts would open without impulses
    """
    columns = np.array(sorted({int(column) for at in places for column in at.columns}))
    rows = [at.rows.start for at in places]
    W = delassus.Y[np.ix_(columns, rows)].T @ delassus.W[np.ix_(columns, rows)]
    closed = [ops.logical_or(ops.less(0.0, x), ops.less(u, CLOSED)) for x, u in zip(p, separating, strict=True)]
    mean = W.diagonal().sum() * (1.0 / len(rows)) + LEAST
    epsilon = EPSILON * mean
    A, load = zeros(W.shape, W), zeros(len(rows), W)
    for i in range(len(rows)):
        for j in range(i):
            A[i, j] = A[j, i] = ops.where(ops.logical_and(closed[i], closed[j]), W[i, j], 0.0)
        A[i, i] = ops.where(closed[i], W[i, i] + epsilon, mean)
        load[i] = ops.where(closed[i], p[i], 0.0)
    L, d = ltdl(A)
    idle = epsilon * ltdl_solve(L, d, epsilon * ltdl_solve(L, d, load))
    spare, theta = ROUNDING * load.sum() + LEAST, np.float64(1.0)
    for x, y in zip(load, idle, strict=True):
        falls = ops.less(0.0, y)
        theta = ops.minimum(theta, ops.where(falls, (x + spare) * ops.divide(1.0, ops.where(falls, y, 1.0)), 1.0))
    return [ops.maximum(x - theta * y, 0.0) for x, y in zip(p, idle, strict=True)]
