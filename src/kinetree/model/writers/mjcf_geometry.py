"""Shapes as MJCF has them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kinetree.model.description import LinkDescription
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere
from kinetree.model.loaders.xml import Element, numbers
from kinetree.ops import Array
from kinetree.spatial import Transform
from kinetree.spatial.rotation import quaternion_from_matrix

SEEN = {"group": "2", "contype": "0", "conaffinity": "0"}
FELT = {"group": "3"}
SEEN_AND_FELT = {"group": "0"}
LINES_ON_PLANE = 1.0
"""The distance of the lines MuJoCo draws on a plane [m]."""


class GeometryWriter:
    """Writes geoms, and collects the meshes they need."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.assets: list[Element] = []
        self.lost: list[str] = []
        self._meshes: dict[object, str] = {}
        self._names: set[str] = set()

    def geoms(self, link: str, described: LinkDescription, moves: bool) -> Iterator[Element]:
        """A shape that is both seen and felt is one geom; the others have a group of their own."""
        seen, felt = ({id(geometry) for geometry in side} for side in (described.visuals, described.collisions))
        each = {id(geometry): geometry for geometry in (*described.visuals, *described.collisions)}
        for key, geometry in each.items():
            role = FELT if key not in seen else SEEN if key not in felt else SEEN_AND_FELT
            shape = self._shape(link, geometry.shape, moves)
            if shape is not None:
                yield Element("geom", self._name(geometry) | shape | pose(geometry.placement) | role | _color(geometry))
            if geometry.texture is not None:
                self.lost.append(f"the texture {geometry.texture!r} of link {link!r}")

    def _name(self, geometry: Geometry) -> dict[str, str]:
        """Two geoms of one name are an error in MuJoCo; here names of shapes are for people."""
        if not geometry.name or geometry.name in self._names:
            return {}
        self._names.add(geometry.name)
        return {"name": geometry.name}

    def _shape(self, link: str, shape: Shape, moves: bool) -> dict[str, str] | None:
        match shape:
            case Box(size=size):
                return {"type": "box", "size": numbers(np.array(size) / 2)}
            case Sphere(radius=radius):
                return {"type": "sphere", "size": numbers([radius])}
            case Ellipsoid(radii=radii):
                return {"type": "ellipsoid", "size": numbers(radii)}
            case Cylinder(radius=radius, length=length):
                return {"type": "cylinder", "size": numbers([radius, length / 2])}
            case Capsule(radius=radius, length=length):
                return {"type": "capsule", "size": numbers([radius, length / 2])}
            case Plane(half_size=half) if not moves:
                return {"type": "plane", "size": numbers([*(half or (0.0, 0.0)), LINES_ON_PLANE])}
            case Mesh() if (name := self._mesh(shape)) is not None:
                return {"type": "mesh", "mesh": name}
        file = f" {shape.written or shape.path!r}" if isinstance(shape, Mesh) else ""
        self.lost.append(f"the {type(shape).__name__.lower()}{file} of link {link!r}")
        return None

    def _mesh(self, mesh: Mesh) -> str | None:
        """The name of the asset; None if it is not a mesh that MuJoCo can read."""
        key: object = (mesh.path, tuple(mesh.scale)) if mesh.vertices is None else id(mesh)
        if key in self._meshes:
            return self._meshes[key]
        source = _inline(mesh) if mesh.vertices is not None else self._file(mesh.path)
        if source is None:
            return None
        name = self._meshes[key] = f"mesh{len(self._meshes)}"
        scale = {} if tuple(mesh.scale) == (1.0, 1.0, 1.0) else {"scale": numbers(mesh.scale)}
        self.assets.append(Element("mesh", {"name": name, "inertia": "shell", **source, **scale}))
        return name

    def _file(self, path: str | None) -> dict[str, str] | None:
        if path is None or not _is_readable(Path(path)):
            return None
        found = os.path.abspath(path)
        return {"file": found if self.folder is None else os.path.relpath(found, self.folder)}


def pose(X: Transform) -> dict[str, str]:
    """Where the frame that X leads to sits in the one it comes from."""
    attributes = {"pos": numbers(X.p)} if X.p.any() else {}
    return attributes if np.array_equal(X.R, np.eye(3)) else attributes | {"quat": quaternion(X.R.T)}


def quaternion(R: Array) -> str:
    """In MuJoCo's order, w first."""
    return numbers(np.roll(quaternion_from_matrix(R), 1))


def _inline(mesh: Mesh) -> dict[str, str] | None:
    if mesh.vertices is None or len(mesh.vertices) < 4:
        return None
    attributes = {"vertex": numbers(np.ravel(mesh.vertices))}
    if mesh.triangles is not None:
        attributes["face"] = " ".join(str(int(corner)) for corner in np.ravel(mesh.triangles))
    return attributes


def _color(geometry: Geometry) -> dict[str, str]:
    return {} if geometry.color is None else {"rgba": numbers(geometry.color)}


def _is_readable(path: Path) -> bool:
    """Whether MuJoCo reads such a file: OBJ, or STL in binary."""
    try:
        if path.suffix.lower() != ".stl":
            return path.suffix.lower() == ".obj" and path.is_file()
        with path.open("rb") as file:
            header = file.read(84)
        return len(header) == 84 and 84 + 50 * int.from_bytes(header[80:], "little") == path.stat().st_size
    except OSError:
        return False
