"""Shapes as MJCF has them, such that MuJoCo takes them.

A size of zero becomes the smallest that MuJoCo takes. A mesh file that it does not read is converted into numbers that
stand in the document. A mesh that collides spans a body, one that is only seen at least a plane.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np

from kinetree.model.description import LinkDescription
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere
from kinetree.model.loaders.xml import Element, numbers
from kinetree.model.writers.mesh_points import dimension, points_of
from kinetree.ops import Array
from kinetree.spatial import Transform
from kinetree.spatial.rotation import quaternion_from_matrix

SEEN = {"group": "2", "contype": "0", "conaffinity": "0"}
FELT = {"group": "3"}
SEEN_AND_FELT = {"group": "0"}
LINES_ON_PLANE = 1.0
"""The distance of the lines MuJoCo draws on a plane [m]."""
LEAST_SIZE = 1e-15
"""MuJoCo takes no size of zero [m]."""
Convert: TypeAlias = Callable[[str], Mesh | None]
"""Reads the file of this path, if it can."""


class GeometryWriter:
    """Writes geoms, and collects the meshes they need."""

    def __init__(self, folder: Path | None, convert: Convert | None = None) -> None:
        self.folder = folder
        self.convert = convert
        self.assets: list[Element] = []
        self.lost: list[str] = []
        self._meshes: dict[object, tuple[str, int]] = {}
        self.names: set[str] = set()

    def geoms(self, link: str, described: LinkDescription, moves: bool) -> Iterator[Element]:
        """A shape that is both seen and felt is one geom; the others have a group of their own."""
        seen, felt = ({id(geometry) for geometry in side} for side in (described.visuals, described.collisions))
        each = {id(geometry): geometry for geometry in (*described.visuals, *described.collisions)}
        for key, geometry in each.items():
            role = FELT if key not in seen else SEEN if key not in felt else SEEN_AND_FELT
            name, spans = self._mesh(geometry.shape) if isinstance(geometry.shape, Mesh) else ("", 3)
            if spans == 2 and role != SEEN:
                self.lost.append(f"the contacts of the flat mesh{_file_of(geometry.shape)} of link {link!r}")
                role = SEEN
            shape = self._shape(geometry.shape, name if spans >= 2 else None, moves)
            if shape is None:
                what = type(geometry.shape).__name__.lower()
                self.lost.append(f"the {what}{_file_of(geometry.shape)} of link {link!r}")
            else:
                yield Element("geom", self._name(geometry) | shape | pose(geometry.placement) | role | _color(geometry))
            if geometry.texture is not None:
                self.lost.append(f"the texture {geometry.texture!r} of link {link!r}")

    def _name(self, geometry: Geometry) -> dict[str, str]:
        """Two geoms of one name are an error in MuJoCo; here names of shapes are for people."""
        if not geometry.name or geometry.name in self.names:
            return {}
        self.names.add(geometry.name)
        return {"name": geometry.name}

    def _shape(self, shape: Shape, mesh: str | None, moves: bool) -> dict[str, str] | None:
        match shape:
            case Box(size=size):
                return {"type": "box", "size": _sizes(np.array(size) / 2)}
            case Sphere(radius=radius):
                return {"type": "sphere", "size": _sizes([radius])}
            case Ellipsoid(radii=radii):
                return {"type": "ellipsoid", "size": _sizes(radii)}
            case Cylinder(radius=radius, length=length):
                return {"type": "cylinder", "size": _sizes([radius, length / 2])}
            case Capsule(radius=radius, length=length):
                return {"type": "capsule", "size": _sizes([radius, length / 2])}
            case Plane(half_size=half) if not moves:
                return {"type": "plane", "size": numbers([*(half or (0.0, 0.0)), LINES_ON_PLANE])}
            case Mesh() if mesh is not None:
                return {"type": "mesh", "mesh": mesh}
        return None

    def _mesh(self, mesh: Mesh) -> tuple[str, int]:
        """The name of the asset, and the dimension of what its points span; without an asset the latter is zero."""
        key: object = (mesh.path, tuple(mesh.scale)) if mesh.vertices is None else id(mesh)
        if key not in self._meshes:
            points, source = self._source(mesh)
            spans = dimension(points * np.array(mesh.scale)) if len(points) >= 4 else 0
            name = f"mesh{len(self._meshes)}"
            self._meshes[key] = name, spans
            if spans >= 2:
                scale = {} if tuple(mesh.scale) == (1.0, 1.0, 1.0) else {"scale": numbers(mesh.scale)}
                self.assets.append(Element("mesh", {"name": name, "inertia": "shell", **source, **scale}))
        return self._meshes[key]

    def _source(self, mesh: Mesh) -> tuple[Array, dict[str, str]]:
        """The points of a mesh, none if it cannot be read, and where MuJoCo finds them."""
        path = mesh.path
        if mesh.vertices is None and path is not None:
            points = points_of(Path(path))
            if points is not None:
                found = os.path.abspath(path)
                return points, {"file": found if self.folder is None else os.path.relpath(found, self.folder)}
            mesh = (self.convert(path) if self.convert is not None else None) or mesh
        if mesh.vertices is None:
            return np.zeros((0, 3)), {}
        attributes = {"vertex": _coordinates(mesh.vertices)}
        if mesh.triangles is not None:
            attributes["face"] = " ".join(map(str, np.ravel(mesh.triangles).tolist()))
        return mesh.vertices, attributes


def pose(X: Transform) -> dict[str, str]:
    """Where the frame that X leads to sits in the one it comes from."""
    attributes = {"pos": numbers(X.p)} if X.p.any() else {}
    return attributes if np.array_equal(X.R, np.eye(3)) else attributes | {"quat": quaternion(X.R.T)}


def quaternion(R: Array) -> str:
    """In MuJoCo's order, w first."""
    return numbers(np.roll(quaternion_from_matrix(R), 1))


def _coordinates(vertices: Array) -> str:
    """In single precision, as MuJoCo keeps them."""
    return " ".join(str(value).removesuffix(".0") for value in np.ravel(vertices).astype(np.float32))


def _sizes(values: Iterable[float]) -> str:
    return numbers(max(float(value), LEAST_SIZE) for value in values)


def _file_of(shape: Shape) -> str:
    file = (shape.written or shape.path) if isinstance(shape, Mesh) else None
    return f" {file!r}" if file else ""


def _color(geometry: Geometry) -> dict[str, str]:
    return {} if geometry.color is None else {"rgba": numbers(geometry.color)}
