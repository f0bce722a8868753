"""Shapes that a fluid acts on, as MJCF has them: the box of the inertia of a body, or geoms that are ellipsoids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kinetree.model.fluid import DragBox, DragEllipsoid, DragShape
from kinetree.model.loaders.xml import Element, numbers
from kinetree.model.writers.mjcf_geometry import pose
from kinetree.model.writers.mjcf_inertia import Principal
from kinetree.spatial import Inertia

UNSEEN = {"contype": "0", "conaffinity": "0", "rgba": "0 0 0 0", "mass": "0"}
NOTHING = DragEllipsoid((1e-15, 1e-15, 1e-15), blunt=0.0, slender=0.0, angular=0.0, kutta=0.0, magnus=0.0)
"""In place of the box of a body that has no shape."""


def drag_elements(shapes: Sequence[DragShape], inertia: Principal) -> tuple[list[Element], Principal] | None:
    """The geoms that say so, and the inertia along the axes of its box; None if MJCF cannot say it."""
    ellipsoids = [shape for shape in shapes if isinstance(shape, DragEllipsoid)]
    if len(ellipsoids) == len(shapes) and all(shape.is_potential_flow for shape in ellipsoids):
        return list(_geoms(ellipsoids or [NOTHING])), inertia
    about_com = inertia.axes @ np.diag(inertia.moments) @ inertia.axes.T
    whole = Inertia.from_com(inertia.mass, inertia.com, about_com)
    match shapes:
        case [DragBox(placement=X) as box] if box.fits(whole):
            return [], Principal(inertia.mass, inertia.com, np.diag(X.R @ about_com @ X.R.T), X.R.T)
    return None


def _geoms(ellipsoids: Sequence[DragEllipsoid]) -> Iterator[Element]:
    for shape in ellipsoids:
        coefficients = (shape.blunt, shape.slender, shape.angular, shape.kutta, shape.magnus)
        own = {"type": "ellipsoid", "size": numbers(shape.semiaxes)} | pose(shape.placement)
        fluid = {"fluidshape": "ellipsoid", "fluidcoef": numbers(coefficients)}
        yield Element("geom", own | fluid | UNSEEN)
