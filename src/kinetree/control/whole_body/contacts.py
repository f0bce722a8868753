"""Contacts of a robot with the ground: how they hold a frame, and which forces they can give.

Forces f are those *on the robot*, at the contact, in its axes, of which z points from the ground to the robot. Dry
friction ‖(f_x, f_y)‖ ≤ μ f_z is replaced by a pyramid within that cone, so that what is planned can be had.

Without friction a contact holds nothing that friction would: a point its normal direction, a line also its rotation
about y, a surface those about x and y. With adhesion A all is as if f_z + A were the normal force, so that it pulls.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import as_constant, as_count, as_floats, as_number, if_given
from kinetree.base.lazy import lazy
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array, cross, skew
from kinetree.robot import Robot
from kinetree.spatial.packing import unpack
from kinetree.spatial.rotation import is_rotation_matrix, matrix_from_normal

PRESSING = (2, 3, 4)
"""Directions in which the ground presses: along its normal, and about both axes in it. The others take friction."""
LEAST_FRICTION = 1e-6
"""Friction coefficients below, other than zero, make cones too thin to solve for in double precision."""
FOUR = 4
"""Edges of the pyramids of lines and surfaces."""


@dataclass(frozen=True)
class GroundContact(ABC):
    """A frame fixed to the ground while the contact is active: J a + J̇ v = -damping · J v.

    friction   μ, 1e-6 or more; with zero the frame slides freely, with normal forces only
    at         where the contact is in the frame: a point (3,) [m], or a pose (4, 4) if its axes are not the frame's
    min_force  minimum of the normal force f_z [N], zero or more; with adhesion, zero means no minimum
    max_force  maximum of the normal force [N]
    adhesion   maximum pulling force [N], as of a magnet or a suction cup: f_z + adhesion replaces f_z in the cone.
               `math.inf` is a grip with unbounded forces
    damping    rate at which the velocity of a contact decays [1/s]
    name       in references and results; the frame's if none is given
    """

    frame: str
    friction: float = 0.7
    at: Any = None
    min_force: float = 0.0
    max_force: float = math.inf
    damping: float = 0.0
    name: str | None = None
    adhesion: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.frame, str):
            raise ArgumentTypeError(f"frame of a contact is {short(self.frame)}; expected the name of a frame")
        object.__setattr__(self, "name", self.frame if self.name is None else str(self.name))
        for name in self._lengths:
            number = as_number(name, getattr(self, name))
            object.__setattr__(self, name, number)
            if not number > 0.0 or math.isinf(number):
                raise ArgumentError(f"{name} of contact {self.name!r} is {number:g}; expected a positive number")
        for name in ("friction", "min_force", "max_force", "damping", "adhesion"):
            number = as_number(name, getattr(self, name))
            object.__setattr__(self, name, number)
            if not number >= 0.0 or (name not in ("max_force", "adhesion") and math.isinf(number)):
                raise ArgumentError(f"{name} of contact {self.name!r} is {number:g}; expected zero or more")
        if 0.0 < self.friction < LEAST_FRICTION:
            raise ArgumentError(
                f"friction of contact {self.name!r} is {self.friction:g}; expected 0 for none, or at least "
                f"{LEAST_FRICTION:g}"
            )
        if self.min_force > self.max_force:
            raise ArgumentError(
                f"min_force of contact {self.name!r} is {self.min_force:g}; expected no more than its max_force, "
                f"{self.max_force:g}"
            )
        if self.at is not None:
            array = as_floats("at", self.at, ())
            array = as_constant("at", array, (4, 4) if array.ndim == 2 else (3,))
            if not np.isfinite(array).all():
                raise ArgumentError(f"at of contact {self.name!r} is {short(self.at)}; expected finite numbers")
            if array.ndim == 2 and not (is_rotation_matrix(array[:3, :3]) and (array[3] == (0, 0, 0, 1)).all()):
                raise ArgumentError(f"at of contact {self.name!r} is no pose; expected [[R, p], [0, 1]], R a rotation")
            object.__setattr__(
                self, "at", tuple(map(tuple, array.tolist())) if array.ndim == 2 else tuple(array.tolist())
            )

    _lengths: ClassVar[tuple[str, ...]] = ()

    sticking: ClassVar[tuple[int, ...]]
    """Which of three linear and three angular directions it holds and pushes in, with friction."""

    @abstractmethod
    def sticking_cone(self) -> Array:
        """Rows ≥ 0 of its forces, with friction, (k, size)."""

    @abstractmethod
    def pressing_cone(self) -> Array:
        """The same without: of its normal force, and moments about x and y as far as it has them."""

    @property
    def rows(self) -> tuple[int, ...]:
        """Which of three linear and three angular directions it holds and pushes in."""
        return tuple(row for row in self.sticking if self.friction or row in PRESSING)

    @lazy
    def cone(self) -> Array:
        """Rows of its forces, (k, size), none of them below `cone_least`."""
        if math.isinf(self.adhesion):
            return np.zeros((0, self.size))
        return self.sticking_cone() if self.friction else self.pressing_cone()

    @lazy
    def cone_least(self) -> Array:
        """(k,) [N]."""
        return -self.adhesion * self.cone[:, self.normal_row] if len(self.cone) else np.zeros(0)

    @property
    def normal_row(self) -> int:
        """Which of its forces is normal to the ground."""
        return self.rows.index(2)

    @property
    def size(self) -> int:
        """How many directions."""
        return len(self.rows)

    @property
    def slope(self) -> float:
        """Of a pyramid of four edges within the cone."""
        return self.friction * math.cos(math.pi / FOUR)

    def check(self, robot: Robot) -> None:
        """Raise where it does not fit the robot."""
        if robot.model.frame(self.frame).body not in robot.model.moving:
            raise ArgumentError(f"no joint moves {self.frame!r}; expected a contact at a frame that can move")

    # -- formulas ----------------------------------------------------------------------------------------------

    @lazy
    def place(self) -> tuple[Array, Array]:
        """Rotation from the contact's axes to the frame's, and where its origin is in the frame."""
        at = np.zeros(3) if self.at is None else np.array(self.at)
        return (np.eye(3), at) if at.ndim == 1 else (at[:3, :3], at[:3, 3])

    def axes(self, R: Array) -> Array:
        """From the contact's axes to the world's, for the rotation of the frame."""
        return R @ self.place[0]

    def friction_rows(self, slip: Array) -> Array | None:
        """Equations of its forces that take the place of those of its motion, for its velocity J v: (size, size), zeros
        where it is motion that is held; None if it is everywhere."""
        return None

    def motion(self, robot: Robot, q: Array, v: Array) -> tuple[Array, Array]:
        """J, (size, nv), and the acceleration that is asked for less J̇ v, (size,), in the contact's axes."""
        frame, order = robot.frame(self.frame), robot.model.spatial_order
        R = frame.pose(q)[:3, :3]
        p, to_contact = R @ self.place[1], self.axes(R).T
        linear, angular = unpack(frame.jacobian(q), order)
        drift, turn = unpack(frame.bias_acceleration(q, v), order)
        omega = angular @ v
        J = np.concatenate([to_contact @ (linear - skew(p) @ angular), to_contact @ angular])[list(self.rows)]
        drift = drift + cross(turn, p) + cross(omega, cross(omega, p))
        gamma = np.concatenate([to_contact @ drift, to_contact @ turn])[list(self.rows)]
        if self.damping:
            gamma = gamma + self.damping * (J @ v)
        return J, -gamma

    def wrench(self, robot: Robot, q: Array, f: Array, parameters: Any = None) -> Array:
        """The wrench on the frame, at its origin in world axes, (6,), in the robot's order."""
        R = robot.frame(self.frame).pose(q, **if_given(parameters=parameters))[:3, :3]
        whole = np.zeros(6)
        whole[list(self.rows)] = f
        to_world = self.axes(R)
        force, moment = to_world @ whole[:3], to_world @ whole[3:]
        parts = [force, moment + np.cross(R @ self.place[1], force)]
        return np.concatenate(parts if robot.model.spatial_order == "linear-first" else parts[::-1])


@dataclass(frozen=True)
class _ContactOfPoint(GroundContact):
    """A point on the ground, whose normal is given in world axes; x and y of the contact lie in the ground."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    sticking = (0, 1, 2)

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = as_constant("normal", self.normal, (3,))
        size = float(np.linalg.norm(normal))
        if not 0.0 < size < math.inf:
            raise ArgumentError(f"normal of contact {self.name!r} is {short(self.normal)}; expected a direction")
        if np.ndim(self.at) == 2:
            raise ArgumentError(f"at of contact {self.name!r} is a pose; expected a point: its axes are the ground's")
        object.__setattr__(self, "normal", tuple((normal / size).tolist()))

    def axes(self, R: Array) -> Array:
        return matrix_from_normal(np.array(self.normal))


@final
@dataclass(frozen=True)
class PointContact(_ContactOfPoint):
    """A point that the ground holds: three forces. The ground's normal is given in world axes; x and y of the contact
    lie in the ground.

    edges   of the pyramid within the friction cone: 4, or more for a tighter fit
    """

    edges: int = FOUR

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "edges", as_count("edges", self.edges))
        if self.edges < FOUR:
            raise ArgumentError(f"edges of contact {self.name!r} is {short(self.edges)}; expected {FOUR} or more")

    def pressing_cone(self) -> Array:
        return np.ones((1, 1))

    def sticking_cone(self) -> Array:
        """μ cos(π/k) f_z ≥ f_x cos θ + f_y sin θ for k angles θ."""
        theta = 2.0 * np.pi * np.arange(self.edges) / self.edges
        slope = np.full(self.edges, self.friction * math.cos(math.pi / self.edges))
        return np.stack([-np.cos(theta), -np.sin(theta), slope], axis=1).round(15)


@final
@dataclass(frozen=True)
class SlidingContact(_ContactOfPoint):
    """A point that slides on the ground, pressed to it: it is held along the normal alone, and kinetic friction acts
    against its velocity u in the ground, (f_x, f_y) = -μ f_z u / √(u² + w²). Tasks determine its motion, and a `Force`
    task of its normal part determines the normal force.

    normal   of the ground, in world axes
    width    w, the speed at which friction has come up to 71 % [m/s]
    """

    width: float = 0.01

    _lengths = ("width",)
    rows = (0, 1, 2)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.adhesion:
            raise ArgumentError(
                f"adhesion of contact {self.name!r} is {self.adhesion:g}; expected none where it slides"
            )

    def sticking_cone(self) -> Array:
        return np.array([[0.0, 0.0, 1.0]])

    pressing_cone = sticking_cone

    def friction_rows(self, slip: Array) -> Array:
        """(f_x, f_y) + μ f_z u / √(u² + w²) = 0."""
        x, y = slip[0], slip[1]
        share = ops.divide(self.friction, ops.sqrt(x * x + y * y + self.width**2))
        rows = ops.zeros((3, 3), slip)
        rows[0, 0] = rows[1, 1] = 1.0
        rows[0, 2], rows[1, 2] = share * x, share * y
        return rows


@final
@dataclass(frozen=True)
class LineContact(GroundContact):
    """A line along the contact's x axis, such as an edge or a toe: three forces, moments about y and z.

    length   of the line [m], half of it on either side of the contact

    Its cone is that of two pyramids at its ends, so that the centre of pressure is between them.
    """

    length: float = 0.1

    _lengths = ("length",)
    sticking = (0, 1, 2, 4, 5)

    def pressing_cone(self) -> Array:
        """X f_z ≥ |m_y|."""
        return np.array([[1.0, s * 2.0 / self.length] for s in (1.0, -1.0)])

    def sticking_cone(self) -> Array:
        """μ f_z ≥ |f_x| and, at both ends x = ± X, μ (X f_z ∓ m_y) ≥ |X f_y ± m_z|."""
        mu, X = self.slope, 0.5 * self.length
        rows = [[s, 0.0, mu, 0.0, 0.0] for s in (1.0, -1.0)]
        for end in (1.0, -1.0):
            rows += [[0.0, s, mu, -end * mu / X, s * end / X] for s in (1.0, -1.0)]
        return np.array(rows)


@final
@dataclass(frozen=True)
class SurfaceContact(GroundContact):
    """A rectangle of the contact's x and y axes, such as a sole: three forces and three moments.

    length   along x [m], half of it on either side of the contact
    width    along y [m]

    Its cone is that of four pyramids at its corners, written without them (Caron, Pham and Nakamura 2015): friction,
    centre of pressure inside the rectangle, and the moment about z that both leave.
    """

    length: float = 0.2
    width: float = 0.1

    _lengths = ("length", "width")
    sticking = (0, 1, 2, 3, 4, 5)

    def pressing_cone(self) -> Array:
        """Y f_z ≥ |m_x| and X f_z ≥ |m_y|."""
        about_x = [[1.0, s * 2.0 / self.width, 0.0] for s in (1.0, -1.0)]
        return np.array(about_x + [[1.0, 0.0, s * 2.0 / self.length] for s in (1.0, -1.0)])

    def sticking_cone(self) -> Array:
        mu, X, Y = self.slope, 0.5 * self.length, 0.5 * self.width
        signs = (1.0, -1.0)
        rows = [[s, 0.0, mu, 0.0, 0.0, 0.0] for s in signs] + [[0.0, s, mu, 0.0, 0.0, 0.0] for s in signs]
        rows += [[0.0, 0.0, 1.0, s / Y, 0.0, 0.0] for s in signs] + [[0.0, 0.0, 1.0, 0.0, s / X, 0.0] for s in signs]
        arm = X + Y
        for z in signs:  # |m_z| between what is left of μ (X + Y) f_z
            for a in signs:
                rows += [[a * Y / arm, b * X / arm, mu, -z * a * mu / arm, -z * b * mu / arm, z / arm] for b in signs]
        return np.array(rows)
