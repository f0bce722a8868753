"""The coordinates that another library gives to one of our joints.

    q_peer = positions(q)          v_peer = T(q) v          a_peer = T a + Ṫ v

All arrays may have batch axes in front: q and v are those of the joint alone, (…, nq) and (…, nv) of ours. Every class
of joints says in `peers` which of these forms each library uses; a form of its own stands in the joint's file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from kinetree.base.arguments import check_circles, check_quaternions
from kinetree.ops import Array
from kinetree.spatial.rotation import matrix_from_quaternion

if TYPE_CHECKING:
    from kinetree.model.joints.axis import AxisJoint
    from kinetree.model.joints.joint import Joint

QuaternionOrder: TypeAlias = Literal["xyzw", "wxyz"]


class Coordinates:
    """The same numbers on both sides, T = 1; subclasses say what is different there."""

    sizes: ClassVar[tuple[int, int] | None] = None
    """How many positions and velocities the peer has, if not as many as the joint."""
    turns = False
    """Whether T depends on q."""
    drifts = False
    """Whether Ṫ v is not zero."""
    redundant = False
    """Whether the peer has coordinates that follow from others, so that they can contradict them."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.nq, self.nv = self.sizes or (joint.nq, joint.nv)

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


Peers: TypeAlias = Mapping[str, Callable[[Any], Coordinates]]
"""The coordinates that libraries give to joints of one kind, by the library's name."""


def everywhere(form: Callable[[Any], Coordinates]) -> dict[str, Callable[[Any], Coordinates]]:
    """The same form in Pinocchio, MuJoCo and Drake."""
    return dict.fromkeys(("pinocchio", "mujoco", "drake"), form)


class OnLine(Coordinates):
    """The position of a joint with one coordinate; a mimic joint has coordinates of its own there."""

    joint: AxisJoint

    def __init__(self, joint: AxisJoint) -> None:
        super().__init__(joint)
        self.redundant = self.redundant or not joint.owns_coordinates

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

    sizes = (2, 1)

    def positions(self, q: Array) -> Array:
        return np.concatenate([np.cos(self.angle(q)), np.sin(self.angle(q))], axis=-1)

    def own_positions(self, theirs: Array) -> Array:
        return np.arctan2(theirs[..., 1:], theirs[..., :1])

    def check(self, name: str, q: Array, start: int) -> None:
        check_circles(name, q, [slice(start, start + 2)])

    def off(self, theirs: Array, q: Array) -> Array:
        """The angle between a point on the circle and where q puts it."""
        c, s, angle = theirs[..., :1], theirs[..., 1:], self.angle(q)
        return np.abs(np.arctan2(s * np.cos(angle) - c * np.sin(angle), c * np.cos(angle) + s * np.sin(angle)))


class Quaternion(Coordinates):
    """A unit quaternion in the peer's order; our velocity of a spherical joint is in the child's axes, as theirs."""

    def __init__(self, joint: Joint, order: QuaternionOrder = "xyzw") -> None:
        super().__init__(joint)
        self.order = order

    def positions(self, q: Array) -> Array:
        return ordered(q, self.order)

    def own_positions(self, theirs: Array) -> Array:
        return as_xyzw(theirs, self.order)

    def check(self, name: str, q: Array, start: int) -> None:
        check_quaternions(name, q, [slice(start, start + 4)], self.order)


def ordered(xyzw: Array, order: QuaternionOrder) -> Array:
    """Quaternions (…, 4) in another order."""
    return xyzw if order == "xyzw" else np.roll(xyzw, 1, axis=-1)


def as_xyzw(quaternion: Array, order: QuaternionOrder) -> Array:
    """Quaternions (…, 4) from another order."""
    return quaternion if order == "xyzw" else np.roll(quaternion, -1, axis=-1)


def matrices(xyzw: Array) -> Array:
    """Rotation matrices of quaternions (…, 4)."""
    R = matrix_from_quaternion(np.moveaxis(xyzw, -1, 0))
    return np.moveaxis(R, (0, 1), (-2, -1))
