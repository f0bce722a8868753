"""What a robot can touch: planes and boxes, in the world or fixed to a frame of the robot.

An obstacle tells for any point its signed distance, negative inside, and the unit normal that leads out. Both are
computed without branches, so that they can be traced.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import as_direction, as_finite, as_triple, read_fields
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array, Scalar
from kinetree.simulation.contact.touch import as_listed, check_surface
from kinetree.spatial.rotation import matrix_from_rpy


class Obstacle(ABC):
    """A body of the environment, given in the coordinates of the world or of `frame`."""

    friction: float | None
    restitution: float | None
    frame: str | None
    only: tuple[str, ...] | None
    has_edges: ClassVar[bool] = True

    @abstractmethod
    def nearest(self, point: Array) -> tuple[Scalar, Array]:
        """Signed distance of a point [m] and the outward normal, (3,)."""


def check_obstacle(obstacle: Any) -> None:
    """Friction, restitution, carrier and what may touch an obstacle."""
    check_surface(obstacle)
    if obstacle.frame is not None and not isinstance(obstacle.frame, str):
        raise ArgumentTypeError(f"frame of an obstacle is {short(obstacle.frame)}; expected the name of a frame")
    if obstacle.only is not None:
        only = as_listed("only", obstacle.only, str, "names of frames")
        for name in only:
            if not isinstance(name, str):
                raise ArgumentTypeError(f"only has {short(name)}; expected the name of a frame")
        object.__setattr__(obstacle, "only", only)


@final
@dataclass(frozen=True)
class Ground(Obstacle):
    """The half-space below a plane: nᵀ x ≤ height.

    normal        n, out of the ground; of any length
    height        of the plane over the origin, along the normal [m]
    friction      μ with whatever touches it; that of the contact model if none is given
    restitution   e, likewise
    frame         a frame of the robot that carries it; the world if none is given
    only          names of what can touch it; all of the contact model if none are given
    """

    has_edges: ClassVar[bool] = False
    normal: Any = (0.0, 0.0, 1.0)
    height: float = 0.0
    friction: float | None = None
    restitution: float | None = None
    frame: str | None = None
    only: Any = None

    def __post_init__(self) -> None:
        read_fields(self, normal=as_direction, height=as_finite)
        check_obstacle(self)

    def nearest(self, point: Array) -> tuple[Scalar, Array]:
        """nᵀ x - height, and n."""
        normal = np.array(self.normal)
        return normal @ point - self.height, normal


@final
@dataclass(frozen=True)
class Block(Obstacle):
    """A box with full side lengths `size`, centred at `position`, turned by roll, pitch and yaw as in URDF.

    size          (3,) [m]
    position      of its centre, (3,) [m]
    rpy           (3,) [rad]
    friction      μ with whatever touches it; that of the contact model if none is given
    restitution   e, likewise
    frame         a frame of the robot that carries it; the world if none is given
    only          names of what can touch it; all of the contact model if none are given
    """

    size: Any
    position: Any = (0.0, 0.0, 0.0)
    rpy: Any = (0.0, 0.0, 0.0)
    friction: float | None = None
    restitution: float | None = None
    frame: str | None = None
    only: Any = None

    def __post_init__(self) -> None:
        read_fields(self, size=as_triple, position=as_triple, rpy=as_triple)
        if not min(self.size) > 0.0:
            raise ArgumentError(f"size is {self.size}; expected three positive lengths")
        check_obstacle(self)

    def nearest(self, point: Array) -> tuple[Scalar, Array]:
        """Outside, the distance to the nearest point of the surface; inside, the face that is nearest counts."""
        R = matrix_from_rpy(self.rpy)
        local = R.T @ (point - np.array(self.position))
        beyond = ops.absolute(local) - 0.5 * np.array(self.size)
        side = ops.where(ops.less(local, 0.0), -1.0, 1.0)
        outside = ops.maximum(beyond, 0.0)
        squared = outside @ outside
        is_outside = ops.less(0.0, squared)
        away = ops.sqrt(ops.where(is_outside, squared, 1.0))
        x, y, z = beyond
        first = ops.logical_and(ops.less_equal(y, x), ops.less_equal(z, x))
        second = ops.logical_and(ops.logical_not(first), ops.less_equal(z, y))
        last = ops.logical_not(ops.logical_or(first, second))
        face = np.array([ops.where(nearest, 1.0, 0.0) for nearest in (first, second, last)])
        depth = ops.maximum(x, ops.maximum(y, z))
        normal = side * ops.where(is_outside, outside * ops.divide(1.0, away), face)
        return ops.where(is_outside, away, depth), R @ normal


@final
@dataclass(frozen=True)
class Terrain(Obstacle):
    """Several obstacles as one: a sphere touches only the nearest of its parts.

    Stairs or rubble of many blocks then cost one contact for each sphere, not one for each pair. Only spheres and
    points feel blocks of it; boxes, capsules and cylinders rest on edges too, which need a contact for each block.
    """

    parts: Any
    friction: float | None = None
    restitution: float | None = None
    frame: str | None = None
    only: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", as_listed("parts", self.parts, (Ground, Block), "Ground or Block"))
        for part in self.parts:
            if not isinstance(part, (Ground, Block)):
                raise ArgumentTypeError(f"parts has {short(part)}; expected Ground or Block")
            if any(x is not None for x in (part.friction, part.restitution, part.frame, part.only)):
                raise ArgumentError(
                    "a part of a terrain has friction, restitution, frame or only; expected these arguments of the "
                    "whole"
                )
        if not self.parts:
            raise ArgumentError("parts is empty; expected at least one Ground or Block")
        check_obstacle(self)

    @property
    def has_edges(self) -> bool:  # type: ignore[override]
        """Whether there is more than planes in it."""
        return any(part.has_edges for part in self.parts)

    def nearest(self, point: Array) -> tuple[Scalar, Array]:
        """The least distance of all parts, and the normal that belongs to it."""
        distance, normal = self.parts[0].nearest(point)
        for part in self.parts[1:]:
            other, its_normal = part.nearest(point)
            nearer = ops.less(other, distance)
            distance, normal = ops.where(nearer, other, distance), ops.where(nearer, its_normal, normal)
        return distance, normal
