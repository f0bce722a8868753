"""Many rotations: drawn at random, and their mean."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats, as_generator, as_shape, check_quaternions
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.spatial.rotation import random_quaternions

AMBIGUOUS = 1e-9
"""Two directions whose weights in a mean differ by less than this part of all weights are not told apart."""


def random(rng: np.random.Generator | int, size: int | tuple[int, ...] = ()) -> Array:
    """Unit quaternions (xyzw) drawn uniformly over all rotations, (*size, 4)."""
    shape = as_shape("size", size)
    return random_quaternions(as_generator("rng", rng), math.prod(shape)).reshape((*shape, 4))


def average(quaternions: ArrayLike, weights: ArrayLike | None = None) -> Array:
    """The mean of the rotations along the last but one axis, (…, n, 4) to (…, 4), with w ≥ 0.

    It is the quaternion with the largest Σ w_i (q · q_i)²: the signs of quaternions do not count (Markley et al. 2007).
    Weights, (…, n), must not be negative. Rotations that have no single mean are refused.
    """
    q = as_floats("quaternions", quaternions, (4,))
    if q.ndim < 2 or q.shape[-2] == 0:
        raise ArgumentError(f"quaternions has shape {q.shape}; expected (…, n, 4) with one or more to average")
    check_quaternions("quaternions", q, [slice(0, 4)])
    weighted, total = q, np.array(float(q.shape[-2]))
    if weights is not None:
        w = as_floats("weights", weights, q.shape[-2:-1])
        weighted, total = q * w[..., None], w.sum(axis=-1)
        if np.any(w < 0.0) or np.any(total <= 0.0):
            raise ArgumentError("weights has a negative entry, or nothing but zeros; expected weights of zero or more")
    M = np.swapaxes(weighted, -1, -2) @ q / total[..., None, None]
    if not np.all(np.isfinite(M)):
        raise ArgumentError("quaternions or weights are not all finite; expected numbers to average")
    values, vectors = np.linalg.eigh(M)
    close = np.argwhere(values[..., 3] - values[..., 2] < AMBIGUOUS)
    if len(close):
        index = tuple(map(int, close[0]))
        where = f"quaternions[{', '.join(map(str, index))}]" if index else "quaternions"
        raise ArgumentError(f"{where} has no single mean: its rotations are spread too evenly; expected others")
    mean: Array = vectors[..., 3]
    return np.where(mean[..., 3:] < 0.0, -mean, mean)
