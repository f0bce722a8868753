"""Points of meshes: whether they span a body, and files of those that are in memory only."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinetree.base.files import replaced
from kinetree.model.geometry import Mesh
from kinetree.ops import Array

FLAT = 1e-6
"""Points whose extents differ by more than this factor lie in a plane or on a line."""
LEAST_EXTENT = 1e-7
"""Of a mesh that MuJoCo finds an area in [m]."""
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
"""Of a binary STL file."""
STL_HEADER = 84
MOST_IN_STL = 200_000
"""Triangles that MuJoCo reads from an STL file."""


def dimension(points: Array) -> int:
    """Of the space that the points span: 0 if they are one point, 1 on a line, 2 in a plane, 3 for a body."""
    if len(points) < 3 or not np.isfinite(points).all():
        return 0
    about = points - points.mean(axis=0)
    extents = np.sqrt(np.maximum(np.linalg.eigvalsh(about.T @ about / len(points)), 0.0))
    return int((extents > max(FLAT * extents[-1], LEAST_EXTENT)).sum())


def points_of(path: Path) -> Array | None:
    """The vertices of an OBJ file or a binary STL file as MuJoCo reads them, (n, 3); None if it would not read it."""
    try:
        if path.suffix.lower() == ".obj":
            with path.open(encoding="utf-8", errors="replace") as file:
                rows = [line.split()[1:4] for line in file if line.startswith("v ")]
            return np.array(rows, dtype=float).reshape(-1, 3)
        if path.suffix.lower() != ".stl":
            return None
        content = path.read_bytes()
        count = int.from_bytes(content[STL_HEADER - 4 : STL_HEADER], "little")
        if len(content) != STL_HEADER + count * TRIANGLE.itemsize or not 0 < count <= MOST_IN_STL:
            return None
        corners = np.frombuffer(content, TRIANGLE, count, STL_HEADER)["corners"]
        return corners.reshape(-1, 3).astype(float)
    except (OSError, ValueError):
        return None


class MeshFiles:
    """Names of STL files for meshes that are in memory only, in a folder beside a document."""

    def __init__(self, document: Path) -> None:
        self.folder = document.parent / f"{document.stem}_meshes"
        self.meshes: dict[int, tuple[str, Mesh]] = {}

    def name(self, mesh: Mesh) -> str:
        """How the document refers to it."""
        stem = Path(mesh.written.replace("\\", "/")).stem or "mesh"
        number = len(self.meshes)
        return self.meshes.setdefault(id(mesh), (f"{self.folder.name}/{number}_{stem}.stl", mesh))[0]

    def write(self) -> None:
        """All of them, each whole or not at all."""
        if self.meshes:
            self.folder.mkdir(exist_ok=True)
        for name, mesh in self.meshes.values():
            with replaced(self.folder.parent / name) as file:
                file.write_bytes(_stl(mesh))


def mesh_name(mesh: Mesh, files: MeshFiles | None) -> str:
    """How a document refers to a mesh: by the file that it is from, or one of `files`; empty if it has none."""
    if mesh.vertices is None:
        return mesh.written or mesh.path or ""
    name = "" if files is None or mesh.triangles is None else files.name(mesh)  # MuJoCo has moved and turned them
    return name or mesh.path or ""


def _stl(mesh: Mesh) -> bytes:
    assert mesh.vertices is not None and mesh.triangles is not None
    triangles = np.zeros(len(mesh.triangles), TRIANGLE)
    triangles["corners"] = mesh.vertices[mesh.triangles]
    return bytes(STL_HEADER - 4) + len(triangles).to_bytes(4, "little") + triangles.tobytes()
