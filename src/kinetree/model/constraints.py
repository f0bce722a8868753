"""Constraints: frames that are held to the world or to each other, and joints or tendons held to each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

import numpy as np

from kinetree.base.arguments import as_constant, as_direction, as_floats, as_number
from kinetree.errors import ArgumentError, known, one_of, short
from kinetree.ops import Array
from kinetree.spatial import Transform
from kinetree.spatial.rotation import is_rotation_matrix

if TYPE_CHECKING:
    from kinetree.model.tendons import Tendon
    from kinetree.model.tree import Model

ContactKind: TypeAlias = Literal["point", "surface", "line", "sliding", "rolling"]
LoopKind: TypeAlias = Literal["point", "rigid"]

SIZES: Final[dict[ContactKind, int]] = {"point": 3, "surface": 6, "line": 5, "sliding": 1, "rolling": 3}
"""How many equations a contact of each kind is."""
OPTIONS = {"normal": ("sliding", "rolling"), "axis": ("line", "rolling"), "radius": ("rolling",)}
"""Which kinds have which."""
UP = (0.0, 0.0, 1.0)
AHEAD = (1.0, 0.0, 0.0)


@final
@dataclass(frozen=True)
class Contact:
    """A frame held to the world, in one of these ways:

    "point"     its origin stays where it is, three equations
    "surface"   its origin and its axes do, six
    "line"      its origin does, and an edge through it along `axis`, about which the frame may turn: five
    "sliding"   its origin stays in a plane with `normal`, in which it slides without friction: one. Two of them, with
                different normals, hold it to a straight line
    "rolling"   its origin is the centre of a ball of `radius`, or with an `axis` that of a wheel, which rolls on a
                plane with `normal`: the point that touches does not slip, three. States in which a wheel lies flat,
                its axle along the normal, are refused

    at       where it is held: a pose of the world, (4, 4), of surfaces and lines, otherwise a point, (3,): of a plane,
             any that lies in it. Without it the frame is held wherever it is: its acceleration and velocity are
             constrained, and it has no position error
    normal   of the plane, in world axes; (0, 0, 1) by default
    axis     of an edge, (1, 0, 0) by default, or of a wheel, in the frame's axes
    radius   of a ball or wheel [m]
    """

    frame: str
    kind: ContactKind = "point"
    at: Any = None
    normal: Any = None
    axis: Any = None
    radius: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", one_of("kind", self.kind, tuple(SIZES)))
        if self.at is not None:
            object.__setattr__(self, "at", _place(self.at, self.kind))
        for name, kinds in OPTIONS.items():
            if getattr(self, name) is not None and self.kind not in kinds:
                whose = " and ".join(map(repr, kinds))
                raise ArgumentError(
                    f"{name} is given for a contact of kind {self.kind!r}; expected it with {whose} only"
                )
        if self.kind in ("sliding", "rolling"):
            object.__setattr__(self, "normal", as_direction("normal", UP if self.normal is None else self.normal))
        if self.kind == "line" or self.axis is not None:
            object.__setattr__(self, "axis", as_direction("axis", AHEAD if self.axis is None else self.axis))
        if self.kind == "rolling":
            radius = math.nan if self.radius is None else as_number("radius", self.radius)
            if not 0.0 < radius < math.inf:
                raise ArgumentError(f"radius is {self.radius}; expected that of the ball or wheel, a positive number")
            object.__setattr__(self, "radius", radius)

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    @property
    def size(self) -> int:
        """The number of its equations."""
        return SIZES[self.kind]

    @property
    def has_pose(self) -> bool:
        """Whether `at` is a pose."""
        return self.kind in ("surface", "line")

    @property
    def target(self) -> Transform | None:
        """From world coordinates to those of the place where the frame is held."""
        if self.at is None:
            return None
        at = np.array(self.at)
        return Transform(np.eye(3), at) if at.ndim == 1 else Transform.from_pose(at)


@final
@dataclass(frozen=True)
class Loop:
    """Two frames held together: their origins ('point', three equations), or origins and axes ('rigid', six)."""

    frame_a: str
    frame_b: str
    kind: LoopKind = "point"

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", one_of("kind", self.kind, ("point", "rigid")))

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame_a, self.frame_b)

    @property
    def size(self) -> int:
        """The number of its equations."""
        return 3 if self.kind == "point" else 6


class _Polynomial:
    """What couplings of joints and of tendons have in common: one equation, of joints or tendons and not of frames."""

    coefficients: tuple[float, ...]
    frames: tuple[str, ...] = ()
    size = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", _coefficients(self.coefficients))


@final
@dataclass(frozen=True)
class Coupling(_Polynomial):
    """A joint held at a polynomial of another's position, x = c₀ + c₁ y + c₂ y² + …, or without a leader at c₀: one
    equation. Both have one coordinate. Where the polynomial is a straight line, `kt.Mimic` takes the coordinate away
    instead."""

    joint: str
    leader: str | None = None
    coefficients: tuple[float, ...] = (0.0, 1.0)

    @property
    def held(self) -> str:
        """What the leader leads."""
        return self.joint

    @property
    def joints(self) -> tuple[str, ...]:
        return (self.joint,) if self.leader is None else (self.joint, self.leader)


@final
@dataclass(frozen=True)
class TendonCoupling(_Polynomial):
    """A tendon held at a polynomial of another's length, ℓ = c₀ + c₁ m + c₂ m² + …, or without a leader at c₀: one
    equation. Both are tendons of the robot."""

    tendon: str
    leader: str | None = None
    coefficients: tuple[float, ...] = (0.0, 1.0)

    @property
    def held(self) -> str:
        """What the leader leads."""
        return self.tendon

    @property
    def tendons(self) -> tuple[str, ...]:
        return (self.tendon,) if self.leader is None else (self.tendon, self.leader)

    def prefixed(self, prefix: str) -> TendonCoupling:
        """With names of tendons behind a prefix."""
        leader = None if self.leader is None else prefix + self.leader
        return replace(self, tendon=prefix + self.tendon, leader=leader)


def _coefficients(given: object) -> tuple[float, ...]:
    numbers = as_floats("coefficients", given, ())
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise ArgumentError(f"coefficients is {short(given)}; expected finite numbers, c₀ first")
    return tuple(map(float, numbers))


Constraint: TypeAlias = Contact | Loop | Coupling | TendonCoupling
CONSTRAINTS = (Contact, Loop, Coupling, TendonCoupling)
EXPECTED = "kt.Contact, kt.Loop, kt.Coupling or kt.TendonCoupling"


def misfit(model: Model, constraint: Constraint) -> str | None:
    """Why a robot cannot have this constraint, or None; frames and joints that do not exist raise."""
    if isinstance(constraint, Coupling):
        joints = {joint.name: joint for joint in model.joints}
        for name in constraint.joints:
            known("joint", name, joints)
            if joints[name].nv != 1:
                return f"joint {name!r} has {joints[name].nv} coordinates; expected one"
        return "a joint cannot lead itself" if constraint.joint == constraint.leader else None
    if isinstance(constraint, TendonCoupling):
        tendons = {tendon.name: tendon for tendon in model.tendons}
        for name in constraint.tendons:
            known("tendon", name, tendons)
        moved = [name for name in constraint.tendons if _changes(model, tendons[name])]
        if constraint.tendon == constraint.leader:
            return "a tendon cannot lead itself"
        return None if moved else f"no joint moves {' and '.join(map(repr, constraint.tendons))}"
    bodies = {model.frame(name).body for name in constraint.frames}
    names = " and ".join(map(repr, constraint.frames))
    if not bodies & {*model.moving}:
        return f"no joint moves {names}; expected a frame that can move"
    if isinstance(constraint, Loop) and len(bodies) == 1:
        return f"{names} are fixed to the same body; expected frames that can move against each other"
    return None


def _changes(model: Model, tendon: Tendon) -> bool:
    """Whether a joint moves a tendon."""
    bodies = [model.frame(name).body for name in tendon.frames]
    return bool(tendon.joints) or len({body if body in model.moving else 0 for body in bodies}) > 1


def renamed(constraint: Constraint, frame: Callable[[str], str], joint: Callable[[str], str]) -> Constraint:
    """With other names of frames and joints."""
    match constraint:
        case Contact():
            return replace(constraint, frame=frame(constraint.frame))
        case Loop():
            return replace(constraint, frame_a=frame(constraint.frame_a), frame_b=frame(constraint.frame_b))
        case TendonCoupling():
            return constraint
    leader = None if constraint.leader is None else joint(constraint.leader)
    return replace(constraint, joint=joint(constraint.joint), leader=leader)


def scaled(
    constraint: Constraint, length: float, factors: Mapping[str, float], tendons: Mapping[str, float]
) -> Constraint:
    """With all lengths times a factor; `factors` are those of the positions of joints, `tendons` of their lengths."""
    if isinstance(constraint, Coupling | TendonCoupling):
        own = factors if isinstance(constraint, Coupling) else tendons
        by, of = own.get(constraint.held, 1.0), own.get(str(constraint.leader), 1.0)
        return replace(constraint, coefficients=tuple(by * c / of**k for k, c in enumerate(constraint.coefficients)))
    if isinstance(constraint, Loop) or constraint.at is None:
        return constraint
    at = np.array(constraint.at)
    if at.ndim == 2:
        at[:3, 3] *= length
    return replace(constraint, at=at if at.ndim == 2 else length * at)


@dataclass(frozen=True)
class ConstraintSet:
    """Constraints that hold together, and how their equations are solved."""

    constraints: tuple[Constraint, ...]
    damping: float
    """Of the solve, relative to the inverse inertia that each constraint meets."""
    frequency: float
    """With which errors decay [rad/s]; zero leaves them as they are."""
    damping_ratio: float
    actuated: tuple[int, ...]
    """The entries of v that have a motor."""

    @property
    def size(self) -> int:
        """How many equations they are."""
        return sum(constraint.size for constraint in self.constraints)

    @property
    def blocks(self) -> tuple[slice, ...]:
        """Equations of a kind that belong together: up to three directions of a point, or up to three rotations."""
        return tuple(
            slice(start, min(start + 3, rows.stop)) for rows in self.rows for start in range(rows.start, rows.stop, 3)
        )

    @property
    def rows(self) -> tuple[slice, ...]:
        """Which equations belong to each constraint."""
        rows, end = [], 0
        for constraint in self.constraints:
            rows.append(slice(end, end + constraint.size))
            end += constraint.size
        return tuple(rows)


def _place(at: object, kind: ContactKind) -> tuple[Any, ...]:
    """A point or a pose as tuples of floats, which can be compared and written without loss."""
    if kind not in ("surface", "line"):
        point: Array = as_constant("at", at, (3,))
        return tuple(point.tolist())
    pose: Array = as_constant("at", at, (4, 4))
    if not is_rotation_matrix(pose[:3, :3]) or np.any(pose[3] != (0.0, 0.0, 0.0, 1.0)):
        raise ArgumentError(f"at is {short(pose)}; expected a pose, [[R, p], [0, 1]] with a rotation matrix R")
    return tuple(map(tuple, pose.tolist()))
