"""Where two boxes touch: one normal and up to four points, by separating axes and clipping, without branches.

Of two convex bodies that touch, a plane between them exists. For boxes its normal is one of 15: three faces of each, or
the product of an edge of one and an edge of the other (Gottschalk, Lin, Manocha 1996). Of all these the one along which
the boxes are furthest apart, or overlap least, is taken, and faces come before edges where they are nearly equal:

    face   the face of the other box that looks most against it is clipped to it. Of the corners of what both share,
           four are taken: the deepest, the one furthest from it, and the furthest on both sides of the line through
           these (as Bullet does)
    edges  the point of one edge that is nearest to the other edge

All points of a pair have the same normal, also those where corners meet corners: a box on an equal one, however exactly
it is aligned, is carried by the faces between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree import ops
from kinetree.ops import Array, Scalar

POINTS = 4
"""Of a pair of boxes."""
PARALLEL = 1e-6
"""The squared sine of the angle below which edges count as parallel; faces then tell where boxes touch."""
PREFERENCE = 1e-4
"""By how much another face or an edge has to be further apart to be taken, relative to the shortest side."""
SLACK = 1e-9
"""By how much faces are widened when they clip each other, relative to their size: corners on corners are inside."""
THIN = 1e-3
"""The width below which what two faces share is no contact, relative to the shortest side: a box that slides from one
onto the next of equal height does not run against the side of that, by the 1e-12 m that it may be lower."""
LEVEL = 1e-12
"""Of an edge, the slope against a side of a face below which it counts as parallel to it."""
FAR = 1e100
"""Further than anything is [m]."""
DEEPEST = 1e-3
"""Tilt below which corners count as equally deep, so that the same comes first from step to step."""


class Manifold(NamedTuple):
    """Contacts of box A with box B, in the axes of B, from its centre."""

    normal: Array
    """Out of B, (3,)."""
    gaps: list[Scalar]
    """[m]; of points that are not there, more than both boxes measure together."""
    points: list[Array]
    """(3,) [m] each."""


class _Point(NamedTuple):
    """A candidate in the plane of a face, and its height over it."""

    u: Scalar
    v: Scalar
    z: Scalar
    there: Any


def manifold(R: Array, t: Array, a: Sequence[float], b: Sequence[float]) -> Manifold:
    """The contacts of box A with box B: half sides a and b, centre t and axes (columns of R) of A in the axes of B."""
    shortest, far = min(*a, *b), 2.0 * float(np.linalg.norm(a) + np.linalg.norm(b))
    face, edge = _faces(R, t, a, b, PREFERENCE * shortest), _edges(R, t, a, b)
    by_edge = ops.less(face.separation + PREFERENCE * shortest, edge.separation)
    corners, to_b = _clipped(face, R, t, a, b, THIN * shortest)
    meeting, meets = _crossing(edge, R, t, a, b)
    normal = ops.where(by_edge, edge.normal, face.normal)
    apart = far + ops.maximum(ops.maximum(face.separation, edge.separation), 0.0)
    gaps, points = [], []
    for k, corner in enumerate(corners):
        place = to_b(corner)
        there, gap = corner.there, corner.z
        if k == 0:
            place, gap = ops.where(by_edge, meeting, place), ops.where(by_edge, edge.separation, gap)
            there = ops.logical_or(ops.logical_and(by_edge, meets), ops.logical_and(ops.logical_not(by_edge), there))
        else:
            there = ops.logical_and(there, ops.logical_not(by_edge))
        gaps.append(ops.where(there, gap, apart))
        points.append(place)
    return Manifold(normal, gaps, points)


# -- the separating axis -----------------------------------------------------------------------------------------


class _Face(NamedTuple):
    """The face that separates best: whose it is, and which of three axes it stands on."""

    separation: Scalar
    normal: Array
    of_a: Any
    axis: list[Any]
    """Whether it is the first, second, third."""


def _faces(R: Array, t: Array, a: Sequence[float], b: Sequence[float], preference: float) -> _Face:
    across, t_a = ops.absolute(R), R.T @ t
    of_b = [ops.absolute(t[i]) - (b[i] + across[i] @ np.array(a)) for i in range(3)]
    of_a = [ops.absolute(t_a[j]) - (a[j] + across[:, j] @ np.array(b)) for j in range(3)]
    best_b, axis_b = _largest(of_b, SLACK * preference)
    best_a, axis_a = _largest(of_a, SLACK * preference)
    is_a = ops.less(best_b + preference, best_a)
    axis = [ops.where(is_a, x, y) for x, y in zip(axis_a, axis_b, strict=True)]
    out_b = np.array([_signed(t[i], axis_b[i]) for i in range(3)])
    out_a = R @ np.array([_signed(t_a[j], axis_a[j]) for j in range(3)])
    return _Face(ops.where(is_a, best_a, best_b), ops.where(is_a, out_a, out_b), is_a, axis)


def _largest(numbers: Sequence[Scalar], preference: float) -> tuple[Scalar, list[Any]]:
    """The largest of three, and which it is; earlier ones come first where they are nearly equal."""
    x, y, z = numbers
    second = ops.less(x + preference, y)
    best = ops.where(second, y, x)
    third = ops.less(best + preference, z)
    return ops.where(third, z, best), [
        ops.logical_not(ops.logical_or(second, third)),
        ops.logical_and(second, ops.logical_not(third)),
        third,
    ]


def _signed(x: Scalar, chosen: Any) -> Scalar:
    """±1 with the sign of x if it is chosen, zero if not."""
    return ops.where(chosen, _side(x), 0.0)


def _side(x: Scalar) -> Scalar:
    return ops.where(ops.less(x, 0.0), -1.0, 1.0)


class _Edge(NamedTuple):
    """The pair of edges that separates best: their directions, and the normal between them."""

    separation: Scalar
    normal: Array
    along_b: Array
    along_a: Array
    cosine: Scalar


def _edges(R: Array, t: Array, a: Sequence[float], b: Sequence[float]) -> _Edge:
    across, axes = ops.absolute(R), np.eye(3)
    never = -4.0 * float(np.linalg.norm(a) + np.linalg.norm(b))
    best = _Edge(never, axes[2], axes[0], R[:, 0], 0.0)
    for i in range(3):
        for j in range(3):
            i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
            L = ops.cross(axes[i], R[:, j])
            distance = L @ t
            reach = b[i1] * across[i2, j] + b[i2] * across[i1, j] + a[j1] * across[i, j2] + a[j2] * across[i, j1]
            squared = 1.0 - R[i, j] * R[i, j]
            crossed = ops.less(PARALLEL, squared)
            scale = ops.divide(1.0, ops.sqrt(ops.where(crossed, squared, 1.0)))
            separation = ops.where(crossed, (ops.absolute(distance) - reach) * scale, never)
            better = ops.less(best.separation, separation)
            found = _Edge(separation, L * (_side(distance) * scale), axes[i], R[:, j], R[i, j])
            best = _Edge(*(ops.where(better, new, old) for new, old in zip(found, best, strict=True)))
    return best


def _crossing(edge: _Edge, R: Array, t: Array, a: Sequence[float], b: Sequence[float]) -> tuple[Array, Any]:
    """The point on an edge of A nearest to the edge of B, and whether both edges reach as far as that."""
    n, e, f = edge.normal, edge.along_b, edge.along_a
    corner_b = np.array([_side(n[i]) * b[i] for i in range(3)])
    corner_a = t - R @ np.array([_side(n @ R[:, j]) * a[j] for j in range(3)])
    d = corner_a - corner_b
    per_sine = ops.divide(1.0, ops.maximum(1.0 - edge.cosine * edge.cosine, PARALLEL))
    along_b = (d @ e - edge.cosine * (d @ f)) * per_sine
    along_a = (edge.cosine * (d @ e) - d @ f) * per_sine
    point = corner_a + along_a * f
    reach_b, reach_a = ops.absolute(e) @ np.array(b), ops.absolute(R.T @ f) @ np.array(a)
    on_b = ops.less_equal(ops.absolute((corner_b + along_b * e) @ e), (1.0 + PREFERENCE) * reach_b)
    on_a = ops.less_equal(ops.absolute((point - t) @ f), (1.0 + PREFERENCE) * reach_a)
    return point, ops.logical_or(ops.logical_and(on_a, on_b), ops.less(edge.separation, 0.0))


# -- what two faces share ----------------------------------------------------------------------------------------


def _clipped(
    face: _Face, R: Array, t: Array, a: Sequence[float], b: Sequence[float], thin: float
) -> tuple[list[_Point], Any]:
    """Four points of the face of one box that lie over the face of the other, and how they get into the axes of B.

    The box whose face was chosen is the reference, with axes (u, v, w), w its outward normal; the other box is in them
    at c with axes the columns of Q, half sides k."""
    Q = ops.where(face.of_a, R.T, R)
    c = ops.where(face.of_a, -(R.T @ t), t)
    h = ops.where(face.of_a, np.array(a), np.array(b))
    k = ops.where(face.of_a, np.array(b), np.array(a))
    outward = _side(_turned(c, face.axis)[2])
    u, v, w = _turned(Q, face.axis)
    hu, hv, hw = _turned(h, face.axis)
    cu, cv, cw = _turned(c, face.axis)
    Q, c = np.array([u, v, outward * w]), np.array([cu, cv, outward * cw - hw])
    against = ops.absolute(Q[2])
    _, incident = _largest(list(against), PREFERENCE)
    P, S, N = _turned(Q.T, incident)
    kp, ks, kn = _turned(k, incident)
    centre = c - (_side(N[2]) * kn) * N
    candidates = _edge_points(centre, kp * P, ks * S, hu, hv) + _corner_points(centre, P, S, kp, ks, hu, hv)
    four = _spread(candidates, thin)

    def to_b(point: _Point) -> Array:
        local = [point.u, point.v, outward * (point.z + hw)]
        first, second, _ = face.axis
        turned = np.array(
            [  # rows (u, v, w) are axes (1, 2, 0), (2, 0, 1), (0, 1, 2)
                ops.where(first, local[2], ops.where(second, local[1], local[0])),
                ops.where(first, local[0], ops.where(second, local[2], local[1])),
                ops.where(first, local[1], ops.where(second, local[0], local[2])),
            ]
        )
        return ops.where(face.of_a, t + R @ turned, turned)

    return four, to_b


def _turned(rows: Array, axis: Sequence[Any]) -> list[Any]:
    """Three rows or numbers in cyclic order, such that the chosen one is last."""
    first, second, _ = axis
    return [ops.where(first, rows[(m + 1) % 3], ops.where(second, rows[(m + 2) % 3], rows[m])) for m in range(3)]


def _edge_points(centre: Array, p: Array, s: Array, hu: Scalar, hv: Scalar) -> list[_Point]:
    """The two ends of what lies over the rectangle, of each of the four edges of a parallelogram centre ± p ± s."""
    points = []
    for begin, along in ((-p - s, 2.0 * p), (p - s, 2.0 * s), (p + s, -2.0 * p), (s - p, -2.0 * s)):
        enter, leave, begin = 0.0, 1.0, centre + begin
        for x, dx, half in ((begin[0], along[0], hu), (begin[1], along[1], hv)):
            flat, wide = LEVEL * half, (1.0 + SLACK) * half
            per = ops.divide(1.0, ops.where(ops.less(ops.absolute(dx), flat), flat, dx))
            one, two = (-wide - x) * per, (wide - x) * per
            enter, leave = ops.maximum(ops.minimum(one, two), enter), ops.minimum(ops.maximum(one, two), leave)
        there = ops.less_equal(enter, leave)
        for at in (enter, leave):
            u, v, z = begin + at * along
            points.append(_Point(u, v, z, there))
    return points


def _corner_points(centre: Array, P: Array, S: Array, kp: Scalar, ks: Scalar, hu: Scalar, hv: Scalar) -> list[_Point]:
    """The corners of the rectangle that lie over the parallelogram centre ± kp P ± ks S."""
    points = []
    per_area = ops.divide(1.0, P[0] * S[1] - P[1] * S[0])
    for side_u, side_v in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)):
        u, v = side_u * hu, side_v * hv
        x, y = u - centre[0], v - centre[1]
        p, s = (x * S[1] - y * S[0]) * per_area, (y * P[0] - x * P[1]) * per_area
        there = ops.logical_and(
            ops.less_equal(ops.absolute(p), (1.0 + SLACK) * kp), ops.less_equal(ops.absolute(s), (1.0 + SLACK) * ks)
        )
        points.append(_Point(u, v, centre[2] + p * P[2] + s * S[2], there))
    return points


def _spread(candidates: Sequence[_Point], thin: float) -> list[_Point]:
    """Four of all corners of a convex polygon: the deepest, the furthest from it, and the furthest on either side."""
    wide: Any = True
    for axis in (0, 1):
        lower, upper = FAR, -FAR
        for point in candidates:
            lower = ops.minimum(ops.where(point.there, point[axis], FAR), lower)
            upper = ops.maximum(ops.where(point.there, point[axis], -FAR), upper)
        wide = ops.logical_and(wide, ops.less(thin, upper - lower))
    first = _best(candidates, [DEEPEST * (0.6 * point.u + 0.8 * point.v) - point.z for point in candidates], -FAR)
    du, dv = zip(*((point.u - first.u, point.v - first.v) for point in candidates), strict=True)
    second = _best(candidates, [x * x + y * y for x, y in zip(du, dv, strict=True)], thin * thin)
    eu, ev = second.u - first.u, second.v - first.v
    left = [eu * y - ev * x for x, y in zip(du, dv, strict=True)]
    threshold = SLACK * (eu * eu + ev * ev)
    third = _best(candidates, left, threshold)
    fourth = _best(candidates, [-x for x in left], threshold)
    return [point._replace(there=ops.logical_and(point.there, wide)) for point in (first, second, third, fourth)]


def _best(candidates: Sequence[_Point], merits: Sequence[Scalar], threshold: Scalar) -> _Point:
    """The candidate with the largest merit, if any lies above the threshold."""
    (u, v, z), merit, found = (0.0, 0.0, 0.0), threshold, False
    for point, own in zip(candidates, merits, strict=True):
        better = ops.logical_and(point.there, ops.less(merit, own))
        merit, found = ops.where(better, own, merit), ops.logical_or(found, better)
        u, v, z = (ops.where(better, new, old) for new, old in zip(point[:3], (u, v, z), strict=True))
    return _Point(u, v, z, found)
