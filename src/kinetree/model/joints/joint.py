"""What every joint knows: where its coordinates are, how it moves its body, how its coordinates move.

A joint reads its own entries out of the whole configuration q and velocity v. Its transform is ^i X_J, from the joint's
frame on the parent to the body's frame; its motion subspace S is given by columns, in body coordinates:

    v_J = S q̇          a_J = S q̈ + S° q̇          τ = Sᵀ f

S° is the rate of S seen from the body; it is zero unless S depends on q.

A class of joints also says how its kind is called, named, measured, drawn, written to files and converted: all that
other parts of the library know of a kind, they ask its class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from kinetree.model.joints.coordinates import Peers
from kinetree.model.joints.dynamics import NONE, JointDynamics
from kinetree.ops import Array
from kinetree.spatial import Force, Motion, Transform
from kinetree.spatial.rotation import normalized

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Of the coordinates of a joint: what their names end in, and their units."""
ANGLE: Labels = (("", "rad"),)
LENGTH: Labels = (("", "m"),)
QUATERNION: Labels = tuple((f".q{axis}", "1") for axis in "xyzw")
TURNING: Labels = tuple((f".w{axis}", "rad/s") for axis in "xyz")
EFFORTS = {"rad/s": "N m", "m/s": "N"}
"""Units of efforts, by those of the velocities they act along."""


@dataclass(frozen=True)
class Parameter:
    """A field of one kind of joints: a finite number, or a direction that is not parallel to the joint's axis."""

    name: str
    purpose: str
    """What it is for, told where it is missing."""
    unit: str = ""
    """Of a number; one that begins with m is that of a length."""
    is_direction: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Joint(ABC):
    """A joint between a parent and the body it moves."""

    name: str
    iq: int = 0
    """Index of its first entry in q."""
    iv: int = 0
    """Index of its first entry in v."""
    dynamics: JointDynamics = NONE

    kind: ClassVar[str]
    """What `ModelBuilder.joint` and all tables call it."""
    nq: ClassVar[int]
    nv: ClassVar[int]
    q_labels: ClassVar[Labels]
    """Of its positions."""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    """Its fields that `ModelBuilder.joint` takes besides an axis."""
    has_limits: ClassVar[bool] = False
    """Whether the positions of such joints usually have limits."""
    is_series: ClassVar[bool] = False
    """Whether it is a series of joints with one coordinate each, in the order of its columns. The columns of others are
    constant in the axes of the body."""
    has_motor: ClassVar[bool] = True
    """Whether motors move its coordinates, unless a controller is told otherwise."""
    quaternion_start: ClassVar[int | None] = None
    """Which of its positions is the first of a unit quaternion, if it has one."""
    urdf: ClassVar[str | None] = None
    """Its type in URDF; without one it is written as a series of others, or refused."""
    mjcf: ClassVar[str | None] = None
    """Its type in MJCF; without one it is written as a series of others, or refused."""
    peers: ClassVar[Peers] = {}
    """Its coordinates in other libraries; where one is missing, nothing is converted to it."""
    color: ClassVar[int | None] = None
    """Which of the ten colours of plots it has in diagrams; without one it is dark."""

    @classmethod
    def has_axis(cls) -> bool:
        """Whether it has a direction `axis`."""
        return "axis" in cls.__dataclass_fields__

    @classmethod
    def has_urdf_range(cls) -> bool:
        """Whether URDF has limits of its position."""
        return cls.urdf is not None and cls.has_limits and cls.nq == 1

    @classmethod
    def random_geometry(cls, rng: np.random.Generator) -> dict[str, Any]:
        """Its axis and parameters in general position, as `ModelBuilder.joint` takes them."""
        return {"axis": normalized(rng.normal(size=3))}

    @property
    def v_labels(self) -> Labels:
        """Of its velocities."""
        return tuple((ending, f"{unit}/s") for ending, unit in self.q_labels)

    @property
    def tau_labels(self) -> Labels:
        """Of its efforts."""
        return tuple((ending, EFFORTS[unit]) for ending, unit in self.v_labels)

    @property
    def series(self) -> tuple[tuple[str, Array], ...]:
        """Kinds and axes of the revolute and prismatic joints that it is a series of, in the order of q; none if it is
        no such series."""
        return ()

    @property
    def turns(self) -> tuple[tuple[Array, int], ...] | None:
        """Axes of the rotations it is a series of, with the place of each angle in q: the first axis in the joint's
        frame, the last in the body's. None if it turns in another way."""
        parts = enumerate(self.series, self.iq)
        return tuple((axis, k) for k, (kind, axis) in parts if kind == "revolute") if self.series else None

    @property
    def follows(self) -> str | None:
        """The joint it mimics, if it does."""
        return None

    @property
    def owns_coordinates(self) -> bool:
        """Whether its entries of q and v are its own (a mimic joint reads those of its leader)."""
        return self.nv > 0

    @property
    def lever(self) -> float:
        """Its own speed per speed of the coordinates it moves with: the ratio of a mimic joint, otherwise 1."""
        return 1.0

    @property
    def q_slice(self) -> slice:
        return slice(self.iq, self.iq + self.nq)

    @property
    def v_slice(self) -> slice:
        return slice(self.iv, self.iv + self.nv)

    @property
    def quaternion(self) -> slice | None:
        """Where in q it has a unit quaternion, if it has one."""
        start = self.quaternion_start
        return None if start is None else slice(self.iq + start, self.iq + start + 4)

    @property
    def rated(self) -> tuple[tuple[int, int], ...]:
        """Entries of q, each with the entry of v that is its rate: none where a velocity is in other axes, or is that
        of a quaternion."""
        return ()

    @abstractmethod
    def transform(self, q: Array) -> Transform:
        """^i X_J(q)."""

    @abstractmethod
    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        """The columns of S(q)."""

    def motion_subspace_rate(self, q: Array, v: Array) -> tuple[Motion, ...]:
        """The columns of S°."""
        return tuple(Motion.zero() for _ in range(self.nv))

    def velocity(self, q: Array, v: Array) -> Motion:
        """v_J = S q̇, eq (4)."""
        return combination(self.motion_subspace(q), v[self.v_slice])

    def acceleration(self, q: Array, v: Array, a: Array) -> Motion:
        """a_J = S q̈, eq (5), and S° q̇ where S changes."""
        return combination(self.motion_subspace(q), a[self.v_slice]) + self.bias(q, v)

    def bias(self, q: Array, v: Array) -> Motion:
        """S° q̇."""
        return combination(self.motion_subspace_rate(q, v), v[self.v_slice])

    def generalized_force(self, q: Array, f: Force) -> Array:
        """τ = Sᵀ f, eq (10)."""
        return np.array([s.dot(f) for s in self.motion_subspace(q)])

    @abstractmethod
    def neutral(self) -> Array:
        """Its coordinates at rest, (nq,)."""

    @abstractmethod
    def displacement(self, q: Array) -> Array:
        """How far it is from where its spring is slack: from neutral, unless `dynamics.rest` says otherwise, (nv,)
        [rad or m]."""

    def displacement_rates(self, q: Array) -> Array:
        """D with d/dt displacement = D v, (nv, nv)."""
        return np.eye(self.nv)

    def spring_slope(self, q: Array) -> Array:
        """∂/∂q of its spring's effort Dᵀ stiffness · (x - rest), (nv, nv)."""
        return np.diag(np.broadcast_to(self.dynamics.stiffness, self.nv))

    def rotor_coriolis(self, v: Array, armature: Array) -> Array | None:
        """C(v) with armature · a + C v the effort of rotors with this armature, (nv, nv); None where it is zero."""
        return None

    @abstractmethod
    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        """Coordinates drawn between its limits, (count, nq)."""

    @abstractmethod
    def position_rates(self, q: Array) -> Array:
        """N with q̇ = N v for its part of q, (nq, nv): the derivative of q ⊕ dv at dv = 0."""

    @abstractmethod
    def integrate(self, q: Array, dv: Array) -> Array:
        """Its part of q ⊕ dv, (nq,)."""

    def tangent_rate(self, theta: Array, v: Array) -> Array:
        """Its part of θ̇ for q = q_0 ⊕ θ moving with v, (nv,), up to terms of fifth order in θ."""
        return v[self.v_slice]

    @abstractmethod
    def difference(self, q0: Array, q1: Array) -> Array:
        """Its part of q1 ⊖ q0, (nv,)."""


def drawn_between(rng: np.random.Generator, lower: Array, upper: Array, unlimited_range: Array, count: int) -> Array:
    """Coordinates drawn uniformly between their limits, (count, n); a coordinate without a limit is drawn within its
    unlimited range about zero, or from twice that next to the one limit it has."""
    whole = 2 * unlimited_range
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - whole, -unlimited_range))
    high = np.where(np.isfinite(upper), upper, low + whole)
    half = high / 2 - low / 2  # the whole range may be more than a float holds
    step = rng.random((count, len(low))) * half
    return np.clip(low + step + step, low, high)


def combination(columns: tuple[Motion, ...], coefficients: Any) -> Motion:
    """Σ S_k x_k."""
    total = Motion.zero()
    for column, x in zip(columns, coefficients, strict=True):
        total = total + column * x
    return total
