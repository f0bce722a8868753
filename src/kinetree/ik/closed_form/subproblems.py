"""Rotations about one axis that bring a vector somewhere: the canonical subproblems of Paden and Kahan.

Every function takes numbers or traced values. What has no solution gives the nearest angle there is; whether a branch
is one is judged in the end, by where it leads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.ops import Array, atan2, cross, maximum, sqrt, where
from kinetree.spatial.euler import wrapped

TINY = 1e-11
"""Vectors this short [m, or 1 for directions] have no direction."""


def root(x: Any) -> Any:
    """√x, and 0 below zero."""
    return sqrt(maximum(x, 0.0))


def angle_of(y: Any, x: Any, free: float = 0.0, threshold: Any = TINY * TINY) -> Any:
    """atan2, and `free` where x² + y² is less than `threshold`, so that any angle will do."""
    nowhere = ops.less(x * x + y * y, threshold)
    return where(nowhere, free, atan2(where(nowhere, 0.0, y), where(nowhere, 1.0, x)))


def turned(h: Array, angle: Any, v: Array) -> Array:
    """R(h, θ) v."""
    return turned_by(h, ops.cos(angle), ops.sin(angle), v)


def turned_by(h: Array, c: Any, s: Any, v: Array) -> Array:
    """R(h, θ) v, of cos θ and sin θ."""
    along = h * (h @ v)
    return along + (v - along) * c + cross(h, v) * s


def angle_between(h: Array, a: Array, b: Array, free: float = 0.0) -> Any:
    """Subproblem 1: the θ for which R(h, θ) a is b, or beside it in the half plane of b that the axis bounds; `free`
    if one of them is on the axis."""
    a, b = a - h * (h @ a), b - h * (h @ b)
    return angle_of(h @ cross(a, b), a @ b, free, TINY * TINY * maximum(a @ a, b @ b))


def on_circle(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Subproblems 3 and 4: both θ with a cos θ + b sin θ = c, or twice the one that comes nearest."""
    size = sqrt(a * a + b * b)
    middle, aside = angle_of(b, a, threshold=1e-300), atan2(root((size - c) * (size + c)), c)
    return wrapped(middle + aside), wrapped(middle - aside)


def at_angle(h: Array, axis: Array, v: Array, a: Array, b: Array) -> tuple[Any, Any]:
    """Both θ for which R(axis, θ) v is at the same angle γ from h as a is from b; all are unit vectors.

    The spherical triangle of h, axis and v by half angles, sin² ½δ = (sin² ½γ - sin² ½(α-β)) / (sin α sin β), keeps all
    digits also where v comes near h or opposite to it; h, axis and v are constants.
    """
    alpha, beta = _angle(axis, h), _angle(axis, v)
    near, far = (a - b) @ (a - b) * 0.25, (a + b) @ (a + b) * 0.25  # sin² ½γ and cos² ½γ
    sine2 = near - math.sin(0.5 * (alpha - beta)) ** 2
    cosine2 = far - math.cos(0.5 * (alpha + beta)) ** 2
    aside = 2.0 * atan2(root(_exact(sine2)), root(_exact(cosine2)))
    middle = angle_between(axis, v, h)
    return wrapped(middle + aside), wrapped(middle - aside)


def _exact(square: Any) -> Any:
    """A square that is zero but for rounding, as zero."""
    return where(ops.less(square, TINY * TINY), 0.0, square)


def _angle(a: Array, b: Array) -> float:
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))
