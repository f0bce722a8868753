"""The inertia of homogeneous solids, by mass [kg] or by density [kg/m³].

A solid has its centre of mass at the origin and its axis, where it has one, along z; a mesh is where its vertices are.
`Inertia.rotated` and `.shifted` put it elsewhere, `+` joins two and `-` cuts one out of another::

    tube = solids.cylinder(0.05, 0.4, density=2700) - solids.cylinder(0.04, 0.4, density=2700)

Each solid is written as its volume V and the means of x², y², z² over it, from which
I = m diag(⟨y²⟩ + ⟨z²⟩, ⟨z²⟩ + ⟨x²⟩, ⟨x²⟩ + ⟨y²⟩).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_number
from kinetree.errors import ArgumentError, short
from kinetree.model.triangles import enclosed, sheet
from kinetree.ops import Array
from kinetree.spatial import Inertia

__all__ = ["box", "capsule", "cone", "cylinder", "ellipsoid", "mesh", "shell", "sphere"]


def box(size: ArrayLike, *, mass: float | None = None, density: float | None = None) -> Inertia:
    """A box with edges `size` = (a, b, c) along x, y, z [m]: Izz = m (a² + b²)/12."""
    edges = _lengths("size", size)
    return _weighed(_unit(math.prod(edges), edges * edges / 12), mass, density)


def cylinder(radius: float, length: float, *, mass: float | None = None, density: float | None = None) -> Inertia:
    """A cylinder along z [m]: Izz = m r²/2, Ixx = Iyy = m (3 r² + l²)/12."""
    r, l = _length("radius", radius), _length("length", length)  # noqa: E741
    return _weighed(_unit(math.pi * r * r * l, [r * r / 4, r * r / 4, l * l / 12]), mass, density)


def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Inertia:
    """A ball [m]: Ixx = Iyy = Izz = 2/5 m r²."""
    r = _length("radius", radius)
    return _weighed(_unit(4 / 3 * math.pi * r * r * r, [r * r / 5] * 3), mass, density)


def ellipsoid(radii: ArrayLike, *, mass: float | None = None, density: float | None = None) -> Inertia:
    """An ellipsoid with semi-axes `radii` = (a, b, c) along x, y, z [m]: Izz = m (a² + b²)/5."""
    r = _lengths("radii", radii)
    return _weighed(_unit(4 / 3 * math.pi * math.prod(r), r * r / 5), mass, density)


def capsule(radius: float, length: float, *, mass: float | None = None, density: float | None = None) -> Inertia:
    """A cylinder along z of this `length` with a half ball on each end: `length` + 2 `radius` from end to end [m].

    The centre of mass of a half ball is 3/8 r beyond the cylinder, so that ⟨z²⟩ over both is r²/5 + 3/8 l r + l²/4.
    """
    r, l = _length("radius", radius), _length("length", length)  # noqa: E741
    volume = math.pi * r * r * (l + 4 / 3 * r)
    straight = l / (l + 4 / 3 * r)  # the cylinder's part of the volume
    across = r * r * (straight / 4 + (1 - straight) / 5)
    along = straight * l * l / 12 + (1 - straight) * (r * r / 5 + 3 / 8 * l * r + l * l / 4)
    return _weighed(_unit(volume, [across, across, along]), mass, density)


def cone(radius: float, height: float, *, mass: float | None = None, density: float | None = None) -> Inertia:
    """A cone along z, its base at z = -h/4 and its tip at 3/4 h [m]: Izz = 3/10 m r², Ixx = Iyy = 3/80 m (4 r² + h²).

    ``cone(r, h, …).shifted((0, 0, h / 4))`` stands on the origin.
    """
    r, h = _length("radius", radius), _length("height", height)
    volume = math.pi / 3 * r * r * h
    return _weighed(_unit(volume, [3 / 20 * r * r, 3 / 20 * r * r, 3 / 80 * h * h]), mass, density)


def mesh(
    vertices: ArrayLike, triangles: ArrayLike, *, mass: float | None = None, density: float | None = None
) -> Inertia:
    """The solid inside a closed surface of triangles, exact: `vertices` (n, 3) [m], `triangles` (m, 3) their indices.

    The corners of a triangle run counter-clockwise seen from outside; a cavity is a surface of its own, the other way
    round. Vertices at the same place count as one. A surface that is open, inside out or not oriented is refused; one
    that cuts through itself is not noticed.
    """
    return _weighed(enclosed(vertices, triangles), mass, density)


def shell(
    vertices: ArrayLike, triangles: ArrayLike, *, mass: float | None = None, density: float | None = None
) -> Inertia:
    """A thin sheet of triangles, open or closed, oriented or not, as in `mesh`; its density is per area [kg/m²]."""
    return _weighed(sheet(vertices, triangles), mass, density)


def _unit(volume: float, squares: ArrayLike) -> Inertia:
    """The inertia at a density of one, from the means of x², y², z²."""
    with np.errstate(all="ignore"):  # what is not finite is refused when it is weighed
        squares = np.asarray(squares)
        return Inertia(volume, np.zeros(3), volume * np.diag(squares.sum() - squares))


def _weighed(unit: Inertia, mass: float | None, density: float | None) -> Inertia:
    """The inertia with this mass or density, from that at a density of one."""
    if mass is None and density is None:
        raise ArgumentError("neither mass nor density is given; expected one of them")
    if mass is not None and density is not None:
        raise ArgumentError("both mass and density are given; expected one of them")
    with np.errstate(all="ignore"):
        if mass is None:
            rho = _positive("density", density, "a density")
        else:
            rho = np.float64(_positive("mass", mass, "a mass")) / unit.mass
        scaled = unit.parameters() * rho
    if not np.isfinite(scaled).all() or not scaled[0] > 0:
        raise ArgumentError(f"the solid has a mass of {scaled[0]:g} kg or an inertia that no float can hold")
    return Inertia.from_parameters(scaled)


def _lengths(name: str, value: ArrayLike) -> Array:
    lengths = as_constant(name, value, (3,))
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ArgumentError(f"{name} is {short(value)}; expected three lengths above zero")
    return lengths


def _length(name: str, value: float) -> float:
    return _positive(name, value, "a length")


def _positive(name: str, value: object, what: str) -> float:
    number = as_number(name, value)
    if not (math.isfinite(number) and number > 0):
        raise ArgumentError(f"{name} is {short(value)}; expected {what} above zero")
    return number
