"""A free joint on the side of a peer: in which order its pose and velocity stand, and in which axes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kinetree.base.arguments import check_quaternions
from kinetree.model.joints.coordinates import Coordinates, Peers, QuaternionOrder, as_xyzw, matrices, ordered
from kinetree.ops import Array
from kinetree.spatial.last_axes import times
from kinetree.spatial.packing import SpatialOrder, reordered

if TYPE_CHECKING:
    from kinetree.model.joints.free import Free


class FreeBody(Coordinates):
    """The pose of a body, and its velocity: linear and angular, each in the body's axes or in those of the parent."""

    joint: Free

    def __init__(
        self,
        joint: Free,
        *,
        quaternion: QuaternionOrder = "xyzw",
        position_first: bool = True,
        linear_in_parent: bool = False,
        angular_in_parent: bool = False,
        order: SpatialOrder | None = None,
    ) -> None:
        self.quaternion: QuaternionOrder = quaternion
        self.position_first = position_first
        self.linear_in_parent, self.angular_in_parent = linear_in_parent, angular_in_parent
        self.order: SpatialOrder = joint.order if order is None else order
        self.ours_in_parent = joint.frame == "mixed"
        super().__init__(joint)
        self.drifts = self.ours_in_parent != linear_in_parent
        self.turns = self.drifts or self.ours_in_parent != angular_in_parent

    def positions(self, q: Array) -> Array:
        parts = [q[..., :3], ordered(q[..., 3:], self.quaternion)]
        return np.concatenate(parts if self.position_first else parts[::-1], axis=-1)

    def own_positions(self, theirs: Array) -> Array:
        p, quaternion = (
            (theirs[..., :3], theirs[..., 3:]) if self.position_first else (theirs[..., 4:], theirs[..., :4])
        )
        return np.concatenate([p, as_xyzw(quaternion, self.quaternion)], axis=-1)

    def check(self, name: str, q: Array, start: int) -> None:
        start += 3 if self.position_first else 0
        check_quaternions(name, q, [slice(start, start + 4)], self.quaternion)

    def T(self, q: Array) -> Array:
        """Ours with the linear part first; then each part in the peer's axes; then in the peer's order."""
        ours = reordered(np.eye(6), -2, self.joint.order, "linear-first")
        theirs = reordered(np.eye(6), -2, "linear-first", self.order)
        if not self.turns:
            return theirs @ ours
        R = matrices(q[..., 3:])
        axes = np.zeros((*R.shape[:-2], 6, 6))
        axes[..., :3, :3] = self._between(R, self.linear_in_parent)
        axes[..., 3:, 3:] = self._between(R, self.angular_in_parent)
        return theirs @ axes @ ours

    def _between(self, R: Array, in_parent: bool) -> Array:
        """From our axes to the parent's or the body's, R those of the body in the parent."""
        if in_parent == self.ours_in_parent:
            return np.broadcast_to(np.eye(3), R.shape)
        return R if in_parent else np.swapaxes(R, -1, -2)

    def drift(self, q: Array, v: Array) -> Array:
        """Only of the linear part: d/dt (R v) = R (a + ω × v), d/dt (Rᵀ ẋ) = Rᵀ ẍ - ω × Rᵀ ẋ; ω × ω is zero."""
        six = reordered(v, -1, self.joint.order, "linear-first")
        drift = np.zeros(np.broadcast_shapes(six.shape, (*q.shape[:-1], 6)))
        if self.drifts:
            R, linear, omega = matrices(q[..., 3:]), six[..., :3], six[..., 3:]
            if self.linear_in_parent:
                drift[..., :3] = times(R, np.cross(omega, linear))
            else:
                drift[..., :3] = -times(np.swapaxes(R, -1, -2), np.cross(omega, linear))
        return reordered(drift, -1, "linear-first", self.order)


_in_parent = partial(FreeBody, linear_in_parent=True, angular_in_parent=True)
FREE_BODIES: Peers = {
    "pinocchio": partial(FreeBody, order="linear-first"),
    "mujoco": partial(FreeBody, quaternion="wxyz", linear_in_parent=True, order="linear-first"),
    "drake": partial(_in_parent, quaternion="wxyz", position_first=False, order="angular-first"),
    "body": FreeBody,
    "mixed": _in_parent,
}
