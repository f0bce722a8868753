"""The fluid of a compiled MuJoCo model, and the shapes of bodies that it acts on."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.model.builder import ModelBuilder
from kinetree.model.fluid import SMALLEST, DragBox, DragEllipsoid, DragShape, Fluid
from kinetree.ops import Array
from kinetree.spatial import Inertia, Transform
from kinetree.spatial.rotation import matrix_from_quaternion, normalized

SPHERE, CAPSULE, CYLINDER = 2, 3, 5
"""MuJoCo's numbers of types of geoms."""


def read_fluid(model: Any, builder: ModelBuilder) -> Fluid:
    """The fluid around the bodies."""
    with builder.located("<option>"):
        return Fluid(float(model.opt.density), float(model.opt.viscosity), tuple(map(float, model.opt.wind)))  # type: ignore[arg-type]


def read_drag(model: Any, body: int) -> tuple[DragShape, ...]:
    """The ellipsoids of a body, or if it has none the box of its inertia; nothing of one without mass."""
    mass = float(model.body_mass[body])
    if mass < SMALLEST:
        return ()
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
    ellipsoids = tuple(_ellipsoid(model, i) for i in range(first, first + count) if model.geom_fluid[i][0] > 0.0)
    R = _rotation(model.body_iquat[body])
    principal = Inertia.from_com(mass, np.zeros(3), np.diag(model.body_inertia[body]))
    return ellipsoids or (DragBox(DragBox.of(principal, np.eye(3)).size, Transform(R.T, model.body_ipos[body])),)


def _ellipsoid(model: Any, geom: int) -> DragEllipsoid:
    x, y, z = map(float, model.geom_size[geom])
    kind = int(model.geom_type[geom])
    y, z = {SPHERE: (x, x), CAPSULE: (x, y + x), CYLINDER: (x, y)}.get(kind, (y, z))
    _, blunt, slender, angular, kutta, magnus, *added = map(float, model.geom_fluid[geom])
    placement = Transform(_rotation(model.geom_quat[geom]).T, model.geom_pos[geom])
    mass, inertia = (added[0], added[1], added[2]), (added[3], added[4], added[5])
    return DragEllipsoid((x, y, z), placement, blunt, slender, angular, kutta, magnus, mass, inertia)


def _rotation(wxyz: Array) -> Array:
    return matrix_from_quaternion(normalized(np.roll(np.array(wxyz, dtype=float), -1)))
