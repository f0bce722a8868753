"""Volume or area, first and second moments of what triangles enclose, or of the triangles themselves.

Both are sums over simplices. Over one with corners v_k (a tetrahedron from a fixed point to a triangle, or a triangle),
with s = Σ v_k and n corners, and V its volume or area,

    ∫ r dV = V s / n,    ∫ r rᵀ dV = V (s sᵀ + Σ v_k v_kᵀ) / (n (n + 1)).

A tetrahedron counts as negative if its triangle faces the fixed point, which makes the sum exact for any closed
surface (Tonon 2004, "Explicit exact formulas for the 3-D tetrahedron inertia tensor").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats
from kinetree.errors import ArgumentError, short
from kinetree.ops import Array
from kinetree.spatial import Inertia

FLAT = 1e-12
"""A surface of area A and extent L that encloses less than this part of A L is one without inside."""


def enclosed(vertices: ArrayLike, triangles: ArrayLike) -> Inertia:
    """The inertia, at a density of one, of the solid inside a closed surface that is oriented outwards."""
    points, faces = _read(vertices, triangles)
    _check_closed(points, faces)
    corners, centre, extent = _normalized(points, faces)
    volumes = np.linalg.det(corners) / 6
    areas = _areas(corners)
    if abs(volumes.sum()) <= FLAT * areas.sum():
        raise ArgumentError("the mesh is flat: its surface encloses no volume")
    if volumes.sum() < 0:
        raise ArgumentError(
            f"the mesh is inside out: its volume is {volumes.sum() * extent**3:.4g} m³; expected corners that run "
            "counter-clockwise seen from outside (triangles[:, ::-1] turns all of them)"
        )
    inertia = _summed(volumes, np.concatenate([corners, np.zeros((len(corners), 1, 3))], axis=1))
    if not inertia.is_consistent():
        raise ArgumentError("the inertia of the mesh is not that of a body; expected no part of it to be inside out")
    return _scaled(inertia, extent, 3).shifted(centre)


def sheet(vertices: ArrayLike, triangles: ArrayLike) -> Inertia:
    """The inertia, at a density of one, of the triangles as a thin sheet."""
    corners, centre, extent = _normalized(*_read(vertices, triangles))
    areas = _areas(corners)
    if not areas.sum() > FLAT:
        raise ArgumentError("the triangles have no area: their corners lie on a line")
    return _scaled(_summed(areas, corners), extent, 2).shifted(centre)


def _summed(volumes: Array, corners: Array) -> Inertia:
    """The inertia of simplices (m,) with these corners (m, n, 3), at a density of one."""
    n = corners.shape[1]
    sums = corners.sum(axis=1)
    second = np.einsum("t,tki,tkj->ij", volumes, corners, corners) + np.einsum("t,ti,tj->ij", volumes, sums, sums)
    J = np.zeros((4, 4))
    J[:3, :3] = second / (n * (n + 1))
    J[:3, 3] = J[3, :3] = volumes @ sums / n
    J[3, 3] = volumes.sum()
    return Inertia.from_pseudo_inertia(J)


def _scaled(inertia: Inertia, length: float, dimension: int) -> Inertia:
    """The inertia of the body drawn larger by this factor, at the same density per length to the dimension."""
    volume = length**dimension
    return Inertia(inertia.mass * volume, inertia.h * (volume * length), inertia.I * (volume * length**2))


def _normalized(points: Array, faces: Array) -> tuple[Array, Array, float]:
    """The corners (m, 3, 3) about the middle of the mesh and in units of its extent, that middle and that extent.

    A small body far from the origin loses no digits so, and nothing over- or underflows.
    """
    corners = points[faces]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    centre = low / 2 + high / 2
    extent = float((high / 2 - low / 2).max()) * 2
    if not 1e-60 < extent < 1e60:
        raise ArgumentError(f"vertices span {extent:g} m; expected the vertices of a body")
    return (corners - centre) / extent, centre, extent


def _areas(corners: Array) -> Array:
    a, b, c = np.moveaxis(corners, 1, 0)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def _read(vertices: ArrayLike, triangles: ArrayLike) -> tuple[Array, Array]:
    """Points (n, 3) and indices (m, 3), or one sentence."""
    points, rows = as_floats("vertices", vertices, (3,)), as_floats("triangles", triangles, (3,))
    for name, array in (("vertices", points), ("triangles", rows)):
        if array.ndim != 2 or not len(array):
            raise ArgumentError(f"{name} has shape {array.shape}; expected (n, 3) with one row or more")
    if (bad := _first(~np.isfinite(points).all(axis=1))) is not None:
        raise ArgumentError(f"vertices[{bad}] is {short(points[bad].tolist())}; expected three finite numbers")
    n = len(points)
    index = (rows >= 0) & (rows < n) & (rows == np.floor(rows))
    if (bad := _first(~index.all(axis=1))) is not None:
        raise ArgumentError(f"triangles[{bad}] is {_numbers(rows[bad])}; expected indices of vertices, 0 to {n - 1}")
    if (bad := _first((rows == np.roll(rows, 1, axis=1)).any(axis=1))) is not None:
        raise ArgumentError(f"triangles[{bad}] is {_numbers(rows[bad])}; expected three different vertices")
    return points, rows.astype(np.int64)


def _check_closed(points: Array, faces: Array) -> None:
    """Raises unless as many triangles run along every edge in one direction as in the other."""
    _, first, place = np.unique(points + 0.0, axis=0, return_index=True, return_inverse=True)  # + 0.0: no -0.0
    faces = first[place.reshape(-1)][faces]  # the first vertex at each place stands for all
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    low, high = np.minimum(start, end), np.maximum(start, end)
    _, sample, edge = np.unique(low * len(points) + high, return_index=True, return_inverse=True)
    count = np.bincount(edge)
    balance = np.bincount(edge, weights=np.sign(end - start))
    apart = low[sample] != high[sample]  # an edge between two vertices at one place needs no neighbour
    if (bad := _first((count % 2 == 1) & apart)) is not None:
        i, j = int(low[sample[bad]]), int(high[sample[bad]])
        raise ArgumentError(
            f"the mesh is open: {count[bad]} triangle{'s' * bool(count[bad] > 1)} at the edge between vertices {i} and "
            f"{j}; expected a closed surface, with as many triangles on one side of an edge as on the other"
        )
    if (bad := _first(balance != 0)) is not None:
        runs = np.flatnonzero((edge == bad) & (np.sign(end - start) == np.sign(balance[bad])))
        i, j = int(start[runs[0]]), int(end[runs[0]])
        raise ArgumentError(
            f"triangles {runs[0] // 3} and {runs[1] // 3} both run from vertex {i} to vertex {j}; "
            "expected the corners of every triangle counter-clockwise seen from outside"
        )


def _first(wrong: ArrayLike) -> int | None:
    """The index of the first True, if there is one."""
    return int(np.argmax(wrong)) if np.any(wrong) else None


def _numbers(row: Array) -> str:
    return f"({', '.join(f'{x:g}' for x in row)})"
