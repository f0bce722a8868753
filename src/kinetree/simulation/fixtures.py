"""What stands around a robot, and what pushes it, in a closed loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_constant, as_number, as_positive, number_that, read_fields
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from kinetree.ops import Array
from kinetree.simulation.contact.obstacles import Block, Ground
from kinetree.spatial.rotation import is_rotation_matrix, matrix_from_normal, matrix_from_rpy

SHAPES = (Plane, Box, Sphere, Ellipsoid, Cylinder, Capsule)


@final
@dataclass(frozen=True, eq=False)
class Fixture:
    """A fixed obstacle that a robot can touch; by default the floor.

    shape      of `kinetree.model.geometry`, all but meshes
    pose       of the shape in the world, (4, 4)
    friction   μ of the round cone
    settling   time constant of contacts [s]: the smaller, the stiffer, and the more often they open for an instant
    hardness   MuJoCo's impedance of contacts, between 0 and 1: the smaller, the further things sink in. Its contacts
               lift a little what slides on them, so that something hard that slides fast may chatter
    """

    shape: Shape = field(default_factory=Plane)
    pose: Any = None
    friction: float = 0.8
    settling: float = 0.01
    hardness: float = 0.9

    def __post_init__(self) -> None:
        if not isinstance(self.shape, SHAPES):
            raise ArgumentTypeError(f"shape is {short(self.shape)}; expected a shape without a mesh, such as Plane()")
        pose = np.eye(4) if self.pose is None else as_constant("pose", self.pose, (4, 4))
        if not is_rotation_matrix(pose[:3, :3]):
            raise ArgumentError("pose has no rotation in its upper left; expected a homogeneous matrix")
        object.__setattr__(self, "pose", pose)
        between = number_that(lambda x: 0.0 < x < 1.0, "a number between 0 and 1")
        read_fields(self, friction=as_positive, settling=as_positive, hardness=between)


def as_fixture(value: Any) -> Fixture:
    """A fixture, or a `Ground` or `Block` of the world as one; what these leave open is as of a fixture."""
    if isinstance(value, Fixture):
        return value
    if not isinstance(value, (Ground, Block)):
        raise ArgumentTypeError(f"fixtures has {short(value)}; expected such as Fixture(), the floor")
    if value.frame is not None or value.restitution is not None:
        raise ArgumentError("fixtures has an obstacle with a frame or restitution; expected one of the world, without")
    pose = np.eye(4)
    if isinstance(value, Block):
        pose[:3, :3], pose[:3, 3] = matrix_from_rpy(value.rpy), value.position
        shape: Shape = Box(value.size)
    else:
        normal = np.array(value.normal)
        pose[:3, :3], pose[:3, 3] = matrix_from_normal(normal), value.height * normal
        shape = Plane()
    return Fixture(shape, pose) if value.friction is None else Fixture(shape, pose, value.friction)


@final
@dataclass(frozen=True, eq=False)
class Push:
    """A force or wrench on a frame, from one time to another.

    frame        of the robot; the wrench acts at its origin, wherever that goes
    wrench       (3,) [N], or (6,) with a moment [N m], force first, in world axes
    start, end   [s]
    """

    frame: str
    wrench: Any
    start: float
    end: float

    def __post_init__(self) -> None:
        six = np.zeros(6)
        given = as_constant("wrench", self.wrench, (6,) if np.size(self.wrench) == 6 else (3,))
        six[: len(given)] = given
        object.__setattr__(self, "wrench", six)
        read_fields(self, start=as_number, end=as_number)
        if not (self.start < self.end and np.isfinite(six).all()):
            raise ArgumentError(f"push on {self.frame!r} lasts from {self.start:g} to {self.end:g} s; expected a while")

    def at(self, t: float) -> Array | None:
        """The wrench, (6,), while it lasts."""
        wrench: Array = self.wrench
        return wrench if self.start <= t < self.end else None
