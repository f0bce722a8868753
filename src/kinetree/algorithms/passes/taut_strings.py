"""The length of a string that is pulled tight between two points, straight or over a sphere or a cylinder.

On a circle of radius R, with t = √(r² - R²) from a point at the distance r to where the string touches, and the angle φ
that it lies on,

    ℓ = t₀ + t₁ + R φ,        ∂ℓ/∂d = (t d - R d⊥) / r²,        ∂²ℓ/∂d² = n nᵀ / t

for each end d, with d⊥ turned by a right angle towards the contact, and n normal to the string. Over a sphere it is in
the plane through both points and the centre. Unrolled, a cylinder is flat: ℓ² = ℓ₂² + (z₀ - z₁)², with ℓ₂ in its plane.
It goes the shorter way, where the straight line would cross the surface; the longer way, if a side is given that is
opposite of both ends, -α d₀ - β d₁ with α, β > 0. MuJoCo decides it so as well.

With a side inside of the surface, the string passes through it: where the straight line would miss it, the string bends
at the point w of the circle with the shortest way, ℓ = |d₀ - w| + |w - d₁|. There both parts have the same angle φ with
the normal: seen from the centre, d₀ and d₁ are asin(R/r₀ sin φ) + asin(R/r₁ sin φ) + γ = 2 φ apart by the angle γ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from kinetree.linalg import norm, outer
from kinetree.ops import (
    Array,
    Scalar,
    absolute,
    array,
    atan2,
    clip,
    cos,
    cross,
    divide,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    sin,
    sqrt,
    where,
)
from kinetree.spatial import Transform

SMALLEST = 1e-15
"""Lengths below are zero, as in MuJoCo."""
STEPS = 16
"""Newton's, for the point that a string through a circle bends at."""


@dataclass(frozen=True)
class TautString:
    """Its length, the derivatives of that by the start and the end, (3,) each, and the second ones, (2, 2, 3, 3)."""

    length: Scalar
    by_start: Array
    by_end: Array
    second: Callable[[], Array]


def straight(a: Array, b: Array) -> TautString:
    """From a to b; where they are the same point, without derivatives."""
    length = norm(b - a)
    inverse = _inverse(length)
    u = (b - a) * inverse
    return TautString(length, -u, u, lambda: _blocks(P := (np.eye(len(u)) - outer(u, u)) * inverse, -P, P))


def wrapped(
    a: Array, b: Array, X: Transform, radius: float, is_sphere: bool, side: Array | None, inside: bool | None = False
) -> TautString:
    """From a to b over a sphere at the origin of a frame, or a cylinder about its z; X leads to that frame. All points
    are in the coordinates that X leads from. `inside` says whether the side is within the radius of the origin; None
    leaves it to the state."""
    p0, p1, s = (None if p is None else X.R @ (p - X.p) for p in (a, b, side))
    assert p0 is not None and p1 is not None
    axes = _plane(p0, p1) if is_sphere else np.eye(3)
    circle = _circle(axes[:2] @ p0, axes[:2] @ p1, None if s is None else axes[:2] @ s, radius, inside, s)
    over = _over_sphere(circle, p0, p1, axes) if is_sphere else _over_cylinder(circle, p0[2] - p1[2])
    past = straight(a, b)

    def second() -> Array:
        turned = np.array([[X.R.T @ block @ X.R for block in row] for row in over.second()])
        return where(circle.touches, turned, past.second())

    return TautString(
        where(circle.touches, over.length, past.length),
        where(circle.touches, X.R.T @ over.by_start, past.by_start),
        where(circle.touches, X.R.T @ over.by_end, past.by_end),
        second,
    )


@dataclass(frozen=True)
class _Circle:
    """A string from d0 to d1 around a circle or through it, in the plane."""

    touches: Any
    length: Scalar
    d: tuple[Array, Array]
    u: tuple[Array, Array]
    """The directions in which its ends make it longer."""
    second: Callable[[], Array]
    """Its second derivatives by both ends, (2, 2, 2, 2)."""


def _circle(d0: Array, d1: Array, side: Array | None, radius: float, inside: bool | None, s: Array | None) -> _Circle:
    """Around, if the side s is outside; d0, d1 and `side` are in the plane."""
    if inside is not None or s is None:
        return _through(d0, d1, radius) if inside else _around(d0, d1, side, radius)
    around, through, is_in = _around(d0, d1, side, radius), _through(d0, d1, radius), less(norm(s), radius)
    return _Circle(
        logical_or(logical_and(is_in, through.touches), logical_and(logical_not(is_in), around.touches)),
        where(is_in, through.length, around.length),
        (d0, d1),
        (where(is_in, through.u[0], around.u[0]), where(is_in, through.u[1], around.u[1])),
        lambda: where(is_in, through.second(), around.second()),
    )


def _ends(d0: Array, d1: Array, square: float) -> tuple[Any, Any, Scalar, Scalar]:
    """Whether both ends are outside of the circle, whether the straight line crosses it, and the squares of their
    distances, which are those of other points where they are not outside."""
    s0, s1 = d0 @ d0, d1 @ d1
    is_out = logical_and(less_equal(square, s0), less_equal(square, s1))
    across = d1 - d0
    share = clip(divide(-(across @ d0), where(less(0.0, across @ across), across @ across, 1.0)), 0.0, 1.0)
    nearest = d0 + share * across
    return (
        is_out,
        less_equal(nearest @ nearest, square),
        where(is_out, s0, 2.0 * square),
        where(is_out, s1, 2.0 * square),
    )


def _around(d0: Array, d1: Array, side: Array | None, radius: float) -> _Circle:
    square = radius**2
    is_out, touches, s0, s1 = _ends(d0, d1, square)
    t0, t1 = (sqrt(where(less(square, s), s - square, 0.0)) for s in (s0, s1))
    turn = where(less(_cross(d0, d1), 0.0), 1.0, -1.0)  # 1 if it runs clockwise
    angle = atan2(absolute(_cross(d0, d1)), d0 @ d1)
    if side is not None:
        is_opposite = logical_and(less(0.0, turn * _cross(d0, side)), less(0.0, turn * _cross(side, d1)))
        touches, turn = logical_or(touches, is_opposite), where(is_opposite, -turn, turn)
        angle = where(is_opposite, 2.0 * pi - angle, angle)
    u0, u1 = (d0 * t0 - turn * radius * _right(d0)) / s0, (d1 * t1 + turn * radius * _right(d1)) / s1
    length = t0 + t1 + radius * (angle - atan2(t0, radius) - atan2(t1, radius))

    def second() -> Array:
        first, last = (outer(_right(u), _right(u)) * _inverse(t) for u, t in ((u0, t0), (u1, t1)))
        return _blocks(first, 0.0 * first, last)

    return _Circle(logical_and(is_out, touches), length, (d0, d1), (u0, u1), second)


def _through(d0: Array, d1: Array, radius: float) -> _Circle:
    is_out, crosses, s0, s1 = _ends(d0, d1, radius**2)
    r0, r1 = sqrt(s0), sqrt(s1)
    A, B = divide(radius, r0), divide(radius, r1)
    apart = atan2(absolute(_cross(d0, d1)), d0 @ d1)
    angle: Scalar = 0.5 * pi
    for _ in range(STEPS):  # from above: what is to be zero is concave and falls
        sine, cosine = _sine_cosine(angle)
        (a, by_a), (b, by_b) = (_arcsine(A * sine, A * cosine), _arcsine(B * sine, B * cosine))
        angle = angle - divide(a + b - 2.0 * angle + apart, by_a + by_b - 2.0)
    sine, cosine = _sine_cosine(angle)
    turned = (angle - _arcsine(A * sine, A * cosine)[0]) * where(less(_cross(d0, d1), 0.0), -1.0, 1.0)
    sine, cosine = _sine_cosine(turned)
    w = (d0 * cosine - _right(d0) * sine) * A
    parts = [straight(w, d) for d in (d0, d1)]
    u = [part.by_end for part in parts]

    def second() -> Array:
        along = _right(w)
        P = [(np.eye(2) - outer(each, each)) * _inverse(part.length) for each, part in zip(u, parts, strict=True)]
        columns = [each @ along for each in P]
        stiff = _inverse(along @ (columns[0] + columns[1]) + (u[0] + u[1]) @ w)
        first, last = (each - outer(column, column) * stiff for each, column in zip(P, columns, strict=True))
        return _blocks(first, -outer(columns[0], columns[1]) * stiff, last)

    touches = logical_and(is_out, logical_not(crosses))
    return _Circle(touches, parts[0].length + parts[1].length, (d0, d1), (u[0], u[1]), second)


def _sine_cosine(angle: Scalar) -> tuple[Scalar, Scalar]:
    return sin(angle), cos(angle)


def _arcsine(x: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
    """asin x, for |x| < 1, and its rate if that of x is given."""
    root = sqrt(where(less(x * x, 1.0), 1.0 - x * x, 0.0))
    return atan2(x, root), rate * _inverse(root)


def _over_sphere(circle: _Circle, p0: Array, p1: Array, axes: Array) -> TautString:
    """Out of the plane, the angle φ of both points has ∂²φ/∂n₀² = cot φ / r₀² and ∂²φ/∂n₀∂n₁ = -1 / (r₀ r₁ sin φ), and
    their distances r from the centre ∂²r/∂n² = 1 / r."""

    def second() -> Array:
        n, (r0, r1), (d0, d1), (u0, u1) = axes[2], (norm(p0), norm(p1)), circle.d, circle.u
        cosine, sine = divide(p0 @ p1, r0 * r1), divide(norm(cross(p0, p1)), r0 * r1)
        by_angle, out = _cross(d1, u1) * _inverse(sine), outer(n, n)
        flat = circle.second()
        (first, between), (_, last) = ([axes[:2].T @ block @ axes[:2] for block in row] for row in flat)
        first = first + out * divide(u0 @ d0 + by_angle * cosine, r0 * r0)
        last = last + out * divide(u1 @ d1 + by_angle * cosine, r1 * r1)
        return _blocks(first, between - out * divide(by_angle, r0 * r1), last)

    return TautString(circle.length, axes[:2].T @ circle.u[0], axes[:2].T @ circle.u[1], second)


def _over_cylinder(circle: _Circle, height: Scalar) -> TautString:
    flat, (u0, u1) = circle.length, circle.u
    length = norm(array([flat, height]))
    inverse = _inverse(length)
    g0, g1 = (array([*(u * flat), z * height]) * inverse for u, z in ((u0, 1.0), (u1, -1.0)))

    def second() -> Array:
        G = [array([*u0, 0.0 * height]), array([*u1, 0.0 * height])]
        Z, g = [np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -1.0])], [g0, g1]
        rows, curvatures = [], circle.second()
        for i in range(2):
            row = [outer(G[i], G[j]) + outer(Z[i], Z[j]) - outer(g[i], g[j]) for j in range(2)]
            for j, block in enumerate(row):
                block[:2, :2] += curvatures[i, j] * flat
            rows.append([block * inverse for block in row])
        return np.array(rows)

    return TautString(length, g0, g1, second)


def _plane(p0: Array, p1: Array) -> Array:
    """Rows: along p0, towards p1, and their normal; if both are on a line through the centre, one of all planes."""
    x = p0 * _inverse(norm(p0))
    y_is_largest = logical_and(less(absolute(x[0]), absolute(x[1])), less(absolute(x[2]), absolute(x[1])))
    z_is_largest = logical_and(less(absolute(x[0]), absolute(x[2])), less(absolute(x[1]), absolute(x[2])))
    is_other = where(y_is_largest, 1.0, 0.0), where(z_is_largest, 1.0, 0.0)
    any_other = array([is_other[0] + is_other[1], 1.0 - is_other[0], 1.0 - is_other[1]])
    normal = cross(p0, p1)
    normal = where(less(norm(normal), SMALLEST), cross(x, any_other), normal)
    z = normal * _inverse(norm(normal))
    return np.array([x, cross(z, x), z])


def _cross(a: Array, b: Array) -> Scalar:
    return a[0] * b[1] - a[1] * b[0]


def _right(d: Array) -> Array:
    """Turned clockwise by a right angle."""
    return array([d[1], -d[0]])


def _inverse(x: Scalar) -> Scalar:
    """1 / x; zero of what is too small."""
    is_small = less(x, SMALLEST)
    return where(is_small, 0.0, divide(1.0, where(is_small, 1.0, x)))


def _blocks(first: Array, between: Array, last: Array) -> Array:
    return np.array([[first, between], [between.T, last]])
