"""Geoms of a compiled MuJoCo model, as what links look like and collide with."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.model.builder import ModelBuilder
from kinetree.model.geometry import Box, Capsule, Color, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere
from kinetree.spatial import Transform
from kinetree.spatial.rotation import matrix_from_quaternion, normalized

LAST_VISIBLE = 2
"""Groups up to this one are shown by MuJoCo's viewer, the others are hidden until asked for."""
DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)
"""A geom of this colour takes that of its material."""


class GeometryReader:
    """The shapes of each body: those that collide, and those that are seen, which may be the same."""

    def __init__(self, mujoco: Any, model: Any, builder: ModelBuilder) -> None:
        self.mujoco = mujoco
        self.mj = model
        self.builder = builder
        self.meshes: dict[int, Mesh] = {}
        self.paired = {int(geom) for geom in (*model.pair_geom1, *model.pair_geom2)}

    def of_body(self, body: int) -> tuple[list[Geometry], list[Geometry]]:
        """Visuals: visible groups. Collisions: contype or conaffinity, or in a <pair>. Nothing is in neither."""
        mj = self.mj
        visuals, collisions = [], []
        first = int(mj.body_geomadr[body])
        for i in range(first, first + int(mj.body_geomnum[body])):
            name = self.mujoco.mj_id2name(mj, self.mujoco.mjtObj.mjOBJ_GEOM, i) or ""
            shape = self._shape(i)
            if shape is None:
                kind = self.mujoco.mjtGeom(int(mj.geom_type[i])).name.removeprefix("mjGEOM_").lower()
                self.builder.note(f"geom {name or i!r}", f"a shape of type {kind} was ignored")
                continue
            R = matrix_from_quaternion(normalized(np.array(mj.geom_quat[i])[[1, 2, 3, 0]]))
            geometry = Geometry(shape, Transform(R.T, np.array(mj.geom_pos[i])), name, self._color(i))
            collides = bool(mj.geom_contype[i] or mj.geom_conaffinity[i]) or i in self.paired
            if collides:
                collisions.append(geometry)
            if mj.geom_group[i] <= LAST_VISIBLE or not collides:
                visuals.append(geometry)
        return visuals, collisions

    def _shape(self, i: int) -> Shape | None:
        a, b, c = (float(x) for x in self.mj.geom_size[i])
        match self.mujoco.mjtGeom(int(self.mj.geom_type[i])).name:
            case "mjGEOM_PLANE":
                return Plane((a, b) if a > 0.0 and b > 0.0 else None)
            case "mjGEOM_SPHERE":
                return Sphere(a)
            case "mjGEOM_CAPSULE":
                return Capsule(a, 2.0 * b)
            case "mjGEOM_ELLIPSOID":
                return Ellipsoid((a, b, c))
            case "mjGEOM_CYLINDER":
                return Cylinder(a, 2.0 * b)
            case "mjGEOM_BOX":
                return Box((2.0 * a, 2.0 * b, 2.0 * c))
            case "mjGEOM_MESH" | "mjGEOM_SDF":
                return self._mesh(int(self.mj.geom_dataid[i]))
        return None

    def _mesh(self, k: int) -> Mesh:
        """Vertices as MuJoCo has them, about the mesh's own centre of mass: its geoms are placed accordingly."""
        if k not in self.meshes:
            mj = self.mj
            vertices = slice(int(mj.mesh_vertadr[k]), int(mj.mesh_vertadr[k] + mj.mesh_vertnum[k]))
            faces = slice(int(mj.mesh_faceadr[k]), int(mj.mesh_faceadr[k] + mj.mesh_facenum[k]))
            self.meshes[k] = Mesh(
                written=self._file(k),
                vertices=np.array(mj.mesh_vert[vertices], dtype=float),
                triangles=np.array(mj.mesh_face[faces], dtype=int),
            )
        return self.meshes[k]

    def _file(self, k: int) -> str:
        start = int(self.mj.mesh_pathadr[k])
        path = bytes(self.mj.paths[start:]).partition(b"\0")[0] if start >= 0 else b""
        return path.decode("utf-8", "replace")

    def _color(self, i: int) -> Color:
        material, own = int(self.mj.geom_matid[i]), self.mj.geom_rgba[i]
        if material >= 0 and np.allclose(own, DEFAULT_COLOR, atol=1e-6):
            own = self.mj.mat_rgba[material]
        red, green, blue, opacity = (float(part) for part in own)
        return red, green, blue, opacity
