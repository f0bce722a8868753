"""Triangles of every shape a link can have. Round ones get enough of them to look round."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, short
from kinetree.model.geometry import Box, Capsule, Color, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere
from kinetree.ops import Array

ROUND = 32
"""Sides of what is round."""
FAR = 5.0
"""Half the side of a plane without end, as it is drawn [m]."""
SMOOTH = np.cos(np.radians(35.0))
"""Faces that meet at less than this angle look like one curved surface."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Vertices (n, 3) [m] and triangles (m, 3), counter-clockwise seen from outside, of one colour if it has its own.

    Vertices along sharp edges are doubled, so that normals that are averaged over the triangles of a vertex look right.
    """

    vertices: Array
    triangles: Array
    color: Color | None = None
    textured: Any = None
    """The same as a mesh of trimesh, where there is a picture on it."""


def surfaces(shape: Shape) -> list[Surface]:
    """The surfaces of a shape, in its own frame; a mesh may have several, of different materials.

    A mesh whose file is missing or cannot be read raises a `KinetreeError` that says so.
    """
    return [creased(surface) for surface in plain_surfaces(shape)]


def plain_surfaces(shape: Shape) -> list[Surface]:
    """The same with no vertex doubled."""
    match shape:
        case Box(size=size):
            return [_box(size)]
        case Sphere(radius=r):
            return [revolved(*_half_circle(r, 0.0))]
        case Ellipsoid(radii=radii):
            ball = revolved(*_half_circle(1.0, 0.0))
            return [replace(ball, vertices=ball.vertices * radii)]
        case Cylinder(radius=r, length=length):
            h = 0.5 * length
            return [revolved(np.array([0.0, r, r, 0.0]), np.array([-h, -h, h, h]))]
        case Capsule(radius=r, length=length):
            return [revolved(*_half_circle(r, 0.5 * length))]
        case Plane(half_size=half):
            return [_rectangle(*(half or (FAR, FAR)))]
        case Mesh():
            return _of_mesh(shape)
    raise KinetreeError(f"a shape is {short(shape)}; expected one of those in kinetree.model.geometry")


def _of_mesh(mesh: Mesh) -> list[Surface]:
    if mesh.vertices is not None and mesh.triangles is not None:
        found = [Surface(np.asarray(mesh.vertices), np.asarray(mesh.triangles))]
    elif mesh.path is None:
        raise KinetreeError(f"mesh {mesh.written!r} was not found")
    else:
        from kinetree.geometry.files import read_mesh  # noqa: PLC0415 - trimesh is an extra

        found = read_mesh(mesh.path)
    return [_stretched(surface, mesh.scale) for surface in found]


def _stretched(surface: Surface, scale: tuple[float, float, float]) -> Surface:
    """Scaled along its axes; a mirror image has its triangles turned."""
    if scale == (1.0, 1.0, 1.0):
        return surface
    triangles = surface.triangles[:, ::-1] if np.prod(scale) < 0 else surface.triangles
    textured = surface.textured
    if textured is not None:
        textured = textured.copy()
        textured.apply_transform(np.diag([*scale, 1.0]))
    return Surface(surface.vertices * scale, triangles, surface.color, textured)


def _box(size: tuple[float, float, float]) -> Surface:
    """Six sides about the origin."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [three for a, b, c, d in quads for three in ((a, b, c), (a, c, d))]
    return Surface(corners * size, np.array(triangles))


def revolved(radii: Array, heights: Array) -> Surface:
    """What a line of radii and heights, from below to above, draws when it turns about z; its ends are on the axis."""
    angles = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    inner = [np.column_stack([r * ring, np.full(ROUND, z)]) for r, z in zip(radii[1:-1], heights[1:-1], strict=True)]
    poles = np.array([[0.0, 0.0, heights[0]], [0.0, 0.0, heights[-1]]])
    here, there = np.arange(ROUND), np.roll(np.arange(ROUND), -1)
    first, last = 2, 2 + ROUND * (len(inner) - 1)
    triangles = [np.column_stack([np.zeros(ROUND, int), first + there, first + here])]
    for low in range(first, last, ROUND):
        high = low + ROUND
        triangles.append(np.column_stack([low + here, low + there, high + there]))
        triangles.append(np.column_stack([low + here, high + there, high + here]))
    triangles.append(np.column_stack([np.ones(ROUND, int), last + here, last + there]))
    return Surface(np.vstack([poles, *inner]), np.vstack(triangles))


def _half_circle(radius: float, stretch: float) -> tuple[Array, Array]:
    """Radii and heights from pole to pole, the halves moved apart by `stretch` each."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, ROUND // 2 + 2)
    return radius * np.cos(angles), radius * np.sin(angles) + np.where(angles > 0.0, stretch, -stretch)


def _rectangle(x: float, y: float) -> Surface:
    corners = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
    return Surface(corners, np.array([[0, 1, 2], [0, 2, 3]]))


def creased(surface: Surface) -> Surface:
    """The surface with vertices doubled along edges sharper than `SMOOTH`."""
    if surface.textured is not None or not len(surface.triangles):
        return surface
    places, index = _distinct(surface.vertices.astype(np.float32) + 0.0)
    faces = index[surface.triangles]
    a, b, c = np.moveaxis(places[faces].astype(float), 1, 0)
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    faces, normals = faces[lengths > 0.0], normals[lengths > 0.0] / lengths[lengths > 0.0, None]
    patch = _patches(faces, normals)
    count = len(faces)
    corners, again = np.unique(faces.reshape(-1) * count + np.repeat(patch, 3), return_inverse=True)
    return Surface(places[corners // count].astype(float), again.reshape(-1, 3), surface.color)


def _distinct(points: Array) -> tuple[Array, Array]:
    """Points (n, 3) without repetition, and which of these each is; by sorting columns, much faster than rows."""
    order = np.lexsort(points.T)
    ordered = points[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    index = np.empty(len(points), dtype=np.int64)
    index[order] = np.cumsum(new) - 1
    return ordered[new], index


def _patches(faces: Array, normals: Array) -> Array:
    """The number of the smooth patch that every face belongs to, (m,)."""
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    owner = np.repeat(np.arange(len(faces)), 3)
    order = np.lexsort((np.maximum(start, end), np.minimum(start, end)))
    low, high = np.minimum(start, end)[order], np.maximum(start, end)[order]
    shared = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    one, other = owner[order][:-1][shared], owner[order][1:][shared]
    smooth = np.einsum("ij,ij->i", normals[one], normals[other]) > SMOOTH
    one, other = one[smooth], other[smooth]
    patch = np.arange(len(faces))
    while True:  # the least number on either side spreads, and so do the numbers of those numbers
        least = np.minimum(patch[one], patch[other])
        spread = patch.copy()
        np.minimum.at(spread, patch[one], least)
        np.minimum.at(spread, patch[other], least)
        spread = spread[spread]
        if np.array_equal(spread, patch):
            return patch
        patch = spread
