"""The coordinates that another library gives to one of our joints.

    q_peer = positions(q)          v_peer = T(q) v          a_peer = T a + Ṫ v

All arrays may have batch axes in front: q and v are those of the joint alone, (…, nq) and (…, nv) of ours.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass

import numpy as np

from kinetree.base.arguments import check_circles, check_quaternions
from kinetree.model.joints import AxisJoint, Joint
from kinetree.ops import Array
from kinetree.spatial.rotation import matrix_from_quaternion


@dataclass(frozen=True, eq=False)
class Coordinates(ABC):
    """What a peer's coordinates of a joint are; those of the subclasses that say nothing else have T = 1."""

    joint: Joint

    @property
    def nq(self) -> int:
        """How many positions the peer has."""
        return self.joint.nq

    @property
    def nv(self) -> int:
        """How many velocities the peer has."""
        return self.joint.nv

    @property
    def redundant(self) -> bool:
        """Whether the peer has coordinates that follow from others, so that they can contradict them."""
        return False

    @property
    def turns(self) -> bool:
        """Whether T depends on q."""
        return False

    @property
    def drifts(self) -> bool:
        """Whether Ṫ v is not zero."""
        return False

    def positions(self, q: Array) -> Array:
        """The peer's positions, (…, self.nq)."""
        return q

    def own_positions(self, theirs: Array) -> Array:
        """Ours, from the peer's."""
        return theirs

    def check(self, name: str, q: Array, start: int) -> None:
        """Raises if the peer's positions of this joint, from `start` on in q, are none."""
        return None

    def off(self, theirs: Array, q: Array) -> Array:
        """How far the peer's positions are from where q puts them, (…, k)."""
        return np.abs(theirs - self.positions(q))

    def T(self, q: Array) -> Array:
        """(…, self.nv, joint.nv); constant where it does not turn, whatever q."""
        return np.eye(self.nv)

    def T_inverse(self, q: Array) -> Array:
        """B with B T = 1, (…, joint.nv, self.nv)."""
        return np.swapaxes(self.T(q), -1, -2)  # orthogonal, unless a subclass knows better

    def drift(self, q: Array, v: Array) -> Array:
        """Ṫ v, (…, self.nv)."""
        return np.zeros((*v.shape[:-1], self.nv))


class Same(Coordinates):
    """The same numbers on both sides."""


@dataclass(frozen=True, eq=False)
class OnLine(Coordinates):
    """The position of a joint with one coordinate; a mimic joint has coordinates of its own there."""

    joint: AxisJoint

    @property
    def redundant(self) -> bool:
        return not self.joint.owns_coordinates

    def angle(self, q: Array) -> Array:
        """Where the joint is, (…, 1) [rad or m]."""
        if self.joint.ratio == 0.0:  # it follows nothing
            return np.full((*q.shape[:-1], 1), self.joint.offset)
        return self.joint.ratio * q + self.joint.offset

    def positions(self, q: Array) -> Array:
        return self.angle(q)

    def T(self, q: Array) -> Array:
        return np.array([[self.joint.ratio]])

    def T_inverse(self, q: Array) -> Array:
        return np.array([[1.0 if self.joint.owns_coordinates else 0.0]])


class OnCircle(OnLine):
    """cos and sin of an angle."""

    @property
    def nq(self) -> int:
        return 2

    def positions(self, q: Array) -> Array:
        return np.concatenate([np.cos(self.angle(q)), np.sin(self.angle(q))], axis=-1)

    def own_positions(self, theirs: Array) -> Array:
        return np.arctan2(theirs[..., 1:], theirs[..., :1])

    def check(self, name: str, q: Array, start: int) -> None:
        check_circles(name, q, [slice(start, start + 2)])

    def off(self, theirs: Array, q: Array) -> Array:
        return on_circle_off(theirs, self.angle(q))


@dataclass(frozen=True, eq=False)
class Quaternion(Coordinates):
    """A unit quaternion in the peer's order; our velocity of a spherical joint is in the child's axes, as theirs."""

    order: str = "xyzw"

    def positions(self, q: Array) -> Array:
        return ordered(q, self.order)

    def own_positions(self, theirs: Array) -> Array:
        return as_xyzw(theirs, self.order)

    def check(self, name: str, q: Array, start: int) -> None:
        check_quaternions(name, q, [slice(start, start + 4)], self.order)


def ordered(xyzw: Array, order: str) -> Array:
    """Quaternions (…, 4) in another order."""
    return xyzw if order == "xyzw" else np.roll(xyzw, 1, axis=-1)


def as_xyzw(quaternion: Array, order: str) -> Array:
    """Quaternions (…, 4) from another order."""
    return quaternion if order == "xyzw" else np.roll(quaternion, -1, axis=-1)


def matrices(xyzw: Array) -> Array:
    """Rotation matrices of quaternions (…, 4)."""
    R = matrix_from_quaternion(np.moveaxis(xyzw, -1, 0))
    return np.moveaxis(R, (0, 1), (-2, -1))


def on_circle_off(given: Array, angle: Array) -> Array:
    """The angle between a point on the circle, (…, 2), and where an angle puts it, (…, k)."""
    c, s = given[..., :1], given[..., 1:]
    return np.abs(np.arctan2(s * np.cos(angle) - c * np.sin(angle), c * np.cos(angle) + s * np.sin(angle)))
