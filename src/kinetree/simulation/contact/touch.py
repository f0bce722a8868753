"""What of a robot can touch: small spheres fixed to its frames, of radius zero for points.

The collision shapes of a link become spheres at the places where they would touch something flat: a sphere is one, a
capsule two, a box its eight corners, a cylinder four points of each rim and of each rim the point that is lowest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, final

import numpy as np

from kinetree.arguments import as_constant, as_number
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.model.geometry import Box, Capsule, Cylinder, Geometry, Sphere
from kinetree.model.tree import Model

RIM_POINTS = 4
"""Of each rim of a cylinder, beside the lowest one: they carry it where it stands upright."""


@final
@dataclass(frozen=True)
class Touch:
    """A sphere fixed to a frame; a point if its radius is zero; a circle if it has an axis.

    frame         name of the frame, a link or a site
    at            its centre in the frame, (3,) [m]
    radius        [m]
    axis          of a circle, which touches at the point of it that is deepest, such as a wheel's rim, (3,)
    friction      μ with whatever it meets; the obstacle's, or that of the contact model, if none is given
    restitution   e, likewise
    """

    frame: str
    at: Any = (0.0, 0.0, 0.0)
    radius: float = 0.0
    friction: float | None = None
    restitution: float | None = None
    axis: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.frame, str):
            raise ArgumentTypeError(f"frame of a touch is {short(self.frame)}; expected the name of a frame")
        object.__setattr__(self, "at", as_triple("at", self.at))
        object.__setattr__(self, "radius", as_least("radius", self.radius, 0.0))
        if self.axis is not None:
            object.__setattr__(self, "axis", as_direction("axis", self.axis))
        check_surface(self)


def as_triple(name: str, value: object) -> tuple[float, ...]:
    """Three finite numbers."""
    vector = as_constant(name, value, (3,))
    if not np.isfinite(vector).all():
        raise ArgumentError(f"{name} is {short(value)}; expected three finite numbers")
    return tuple(vector.tolist())


def as_listed(name: str, value: object, one: type | tuple[type, ...], expected: str) -> tuple[Any, ...]:
    """One thing or several, as a tuple."""
    if isinstance(value, one):
        return (value,)
    if isinstance(value, (str, type)) or not isinstance(value, Iterable):
        raise ArgumentTypeError(f"{name} is {short(value)}; expected {expected}")
    return tuple(value)


def as_direction(name: str, value: object) -> tuple[float, ...]:
    """A vector that is not zero, made a unit one."""
    vector = as_constant(name, value, (3,))
    length = float(np.linalg.norm(vector))
    if not 0.0 < length < math.inf:
        raise ArgumentError(f"{name} is {short(value)}; expected a direction")
    return tuple((vector / length).tolist())


def check_surface(surface: Any) -> None:
    """Friction and restitution of a touch or an obstacle as numbers, or None where others decide."""
    if surface.friction is not None:
        object.__setattr__(surface, "friction", as_least("friction", surface.friction, 0.0))
    if surface.restitution is not None:
        object.__setattr__(surface, "restitution", as_share("restitution", surface.restitution))


def as_finite(name: str, value: object) -> float:
    """A finite number."""
    number = as_number(name, value)
    if not math.isfinite(number):
        raise ArgumentError(f"{name} is {number:g}; expected a finite number")
    return number


def as_least(name: str, value: object, least: float) -> float:
    """A finite number that is not below another."""
    number = as_number(name, value)
    if not least <= number < math.inf:
        raise ArgumentError(f"{name} is {number:g}; expected a finite number, not below {least:g}")
    return number


def as_positive(name: str, value: object) -> float:
    """A finite number above zero."""
    number = as_number(name, value)
    if not 0.0 < number < math.inf:
        raise ArgumentError(f"{name} is {number:g}; expected a positive number")
    return number


def as_share(name: str, value: object) -> float:
    """A number from 0 to 1."""
    number = as_number(name, value)
    if not 0.0 <= number <= 1.0:
        raise ArgumentError(f"{name} is {number:g}; expected a number from 0 to 1")
    return number


def touches(model: Model, touching: Iterable[str | Touch]) -> tuple[Touch, ...]:
    """Spheres of all that may touch: of a named link those of its collision shapes, or its origin if it has none."""
    found: list[Touch] = []
    for item in touching:
        if isinstance(item, Touch):
            model.frame(item.frame)
            found.append(item)
        elif isinstance(item, str):
            found += _of_frame(model, item)
        else:
            raise ArgumentTypeError(f"touching has {short(item)}; expected a frame name or a Touch")
    for touch in found:
        if model.frame(touch.frame).body == 0:
            raise ArgumentError(f"no joint moves {touch.frame!r}; expected a frame that can move")
    return tuple(found)


def _of_frame(model: Model, name: str) -> list[Touch]:
    frame = model.frame(name).name
    link = None if model.description is None else model.description.links.get(frame)
    shapes = () if link is None else link.collisions
    return [touch for shape in shapes for touch in of_shape(frame, shape)] if shapes else [Touch(frame)]


def of_shape(frame: str, geometry: Geometry) -> list[Touch]:
    """The spheres of one collision shape of a link."""
    X, radius = geometry.placement, 0.0
    centres: Sequence[tuple[float, ...]]
    rolling: list[Touch] = []
    match geometry.shape:
        case Sphere(radius=radius):
            centres = [(0.0, 0.0, 0.0)]
        case Capsule(radius=radius, length=length):
            centres = [(0.0, 0.0, -0.5 * length), (0.0, 0.0, 0.5 * length)]
        case Box(size=size):
            centres = list(product(*((-0.5 * side, 0.5 * side) for side in size)))
        case Cylinder(radius=rim, length=length):
            turns = [2.0 * math.pi * k / RIM_POINTS for k in range(RIM_POINTS)]
            ends = (-0.5 * length, 0.5 * length)
            centres = [(rim * math.cos(turn), rim * math.sin(turn), end) for end in ends for turn in turns]
            rolling = [Touch(frame, X.p + end * X.R[2], rim, axis=X.R[2]) for end in ends]
        case shape:
            kind = type(shape).__name__
            raise ArgumentError(
                f"link {frame!r} collides as {kind}, which has no corners to touch with; expected a sphere, capsule, "
                "box or cylinder, or a Touch for every point that can touch"
            )
    touch = Touch(frame, radius=radius)
    return [replace(touch, at=X.p + X.R.T @ np.array(centre)) for centre in centres] + rolling
