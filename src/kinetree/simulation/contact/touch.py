"""What of a robot can touch: small spheres fixed to its frames, of radius zero for points, and boxes.

The collision shapes of a link become spheres at the places where they would touch something flat: a sphere is one, a
capsule two, a box its eight corners, a cylinder four points of each rim and of each rim the point that is lowest. Such
spheres meet planes, and only those of spheres meet boxes, which have edges; boxes meet boxes as boxes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias, final

import numpy as np

from kinetree.base.arguments import as_direction, as_share, as_triple, number_that, optional, read_fields
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
        read_fields(self, at=as_triple, radius=as_not_negative, axis=optional(as_direction))
        check_surface(self)

    @property
    def spheres(self) -> list[Touch]:
        """What touches something flat: itself."""
        return [self]


@final
@dataclass(frozen=True)
class TouchingBox:
    """A box fixed to a frame, the collision shape of a link.

    frame     name of the link
    size      full side lengths, (3,) [m]
    at        its centre in the frame, (3,) [m]
    axes      its axes in the frame, the columns of a matrix, (3, 3)
    """

    frame: str
    size: tuple[float, ...]
    at: tuple[float, ...]
    axes: tuple[tuple[float, ...], ...]
    friction: None = None
    restitution: None = None

    @property
    def spheres(self) -> list[Touch]:
        """All eight corners."""
        ends = product(*((-0.5 * side, 0.5 * side) for side in self.size))
        return [Touch(self.frame, np.array(self.at) + np.array(self.axes) @ np.array(end)) for end in ends]


@final
@dataclass(frozen=True)
class RoundedShape:
    """A capsule or a cylinder: the spheres that touch something flat, which do not know of edges."""

    frame: str
    kind: str
    spheres: tuple[Touch, ...]


TouchingShape: TypeAlias = Touch | TouchingBox | RoundedShape


def as_listed(name: str, value: object, one: type | tuple[type, ...], expected: str) -> tuple[Any, ...]:
    """One thing or several, as a tuple."""
    if isinstance(value, one):
        return (value,)
    if isinstance(value, (str, type)) or not isinstance(value, Iterable):
        raise ArgumentTypeError(f"{name} is {short(value)}; expected {expected}")
    return tuple(value)


def check_surface(surface: Any) -> None:
    """Friction and restitution of a touch or an obstacle as numbers, or None where others decide."""
    read_fields(surface, friction=optional(as_not_negative), restitution=optional(as_share))


as_not_negative = number_that(lambda x: 0.0 <= x < math.inf, "a finite number, not below 0")


def touching_shapes(model: Model, touching: Iterable[str | Touch]) -> list[TouchingShape]:
    """All that may touch: of a named link its collision shapes, or its origin if it has none."""
    found: list[TouchingShape] = []
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
    return found


def _of_frame(model: Model, name: str) -> list[TouchingShape]:
    frame = model.frame(name).name
    link = None if model.description is None else model.description.links.get(frame)
    shapes = () if link is None else link.collisions
    return [of_shape(frame, shape) for shape in shapes] if shapes else [Touch(frame)]


def of_shape(frame: str, geometry: Geometry) -> TouchingShape:
    """One collision shape of a link."""
    X = geometry.placement
    match geometry.shape:
        case Sphere(radius=radius):
            return Touch(frame, X.p, radius)
        case Capsule(radius=radius, length=length):
            ends = [X.p + end * X.R[2] for end in (-0.5 * length, 0.5 * length)]
            return RoundedShape(frame, "Capsule", tuple(Touch(frame, end, radius) for end in ends))
        case Box(size=size):
            axes = tuple(map(tuple, X.R.T.tolist()))
            return TouchingBox(frame, tuple(map(float, size)), tuple(X.p.tolist()), axes)
        case Cylinder(radius=radius, length=length):
            return RoundedShape(frame, "Cylinder", tuple(_rims(frame, geometry, radius, length)))
        case shape:
            kind = type(shape).__name__
            raise ArgumentError(
                f"link {frame!r} collides as {kind}, which has no corners to touch with; expected a sphere, capsule, "
                "box or cylinder, or a Touch for every point that can touch"
            )


def _rims(frame: str, geometry: Geometry, radius: float, length: float) -> list[Touch]:
    """Points of both rims, and the lowest of each."""
    X, ends = geometry.placement, (-0.5 * length, 0.5 * length)
    turns = [2.0 * math.pi * k / RIM_POINTS for k in range(RIM_POINTS)]
    centres = [(radius * math.cos(turn), radius * math.sin(turn), end) for end in ends for turn in turns]
    standing = [Touch(frame, X.p + X.R.T @ np.array(centre)) for centre in centres]
    return standing + [Touch(frame, X.p + end * X.R[2], radius, axis=X.R[2]) for end in ends]
