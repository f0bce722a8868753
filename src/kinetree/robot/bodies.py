"""Every body of a robot in one call: velocities, accelerations, Jacobians, inertias of subtrees, and axes of joints."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinetree.algorithms import crba, kinematics
from kinetree.algorithms import jacobian as jacobians
from kinetree.algorithms.arguments.references import (
    AccelerationKind,
    Point,
    Reference,
)
from kinetree.ops import Array
from kinetree.robot import shapes
from kinetree.robot.quantity import HasQuantities, quantity


class BodyQuantities(HasQuantities):
    """What a `Robot` knows of all its bodies, in the order of `body_names`."""

    @quantity(kinematics.poses, shapes.body_poses)
    def poses(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Pose of every body in the world, (…, nbodies, 4, 4), in the order of `body_names`."""

    @quantity(kinematics.body_velocities, shapes.body_sixes)
    def body_velocities(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None
    ) -> Array:
        """Linear and angular velocity of every body, (…, nbodies, 6) [m/s, rad/s], in the order of `body_names`: what
        `frame(body).velocity` gives of one."""

    @quantity(kinematics.body_accelerations, shapes.body_sixes)
    def body_accelerations(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        *,
        out: Array | None = None,
    ) -> Array:
        """Linear and angular acceleration of every body, gravity not included, (…, nbodies, 6) [m/s², rad/s²], in the
        order of `body_names`: what `frame(body).acceleration` gives of one."""

    @quantity(jacobians.body_jacobians, shapes.body_rows, is_large=True)
    def body_jacobians(
        self,
        q: ArrayLike,
        reference: Reference = "world-aligned",
        point: Point = "origin",
        *,
        out: Array | None = None,
    ) -> Array:
        """J_i of every body with velocity = J_i v, (…, nbodies, 6, nv), in the order of `body_names`.

        point   "origin" of the body, on its joint, or "center-of-mass" for [J_S, J_R] of the lecture on projected
                Newton-Euler equations; with reference="world" it makes no difference
        """

    @quantity(jacobians.body_jacobian_rates, shapes.body_rows, is_large=True)
    def body_jacobian_rates(
        self,
        q: ArrayLike,
        v: ArrayLike,
        reference: Reference = "world-aligned",
        point: Point = "origin",
        *,
        out: Array | None = None,
    ) -> Array:
        """J̇_i along v of every body, (…, nbodies, 6, nv), as `body_jacobians`."""

    @quantity(kinematics.joint_axes, shapes.axes)
    def joint_axes(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """n_i in the world, (…, nv, 3), unit vectors in the order of v: the axis that each velocity turns its body
        about or, of prismatic joints and other sliding velocities, along which it slides.

        With r_i from `poses`, a revolute joint i moves a point at r by n_i × (r - r_i). A mimic joint turns about an
        axis of its own, which is not listed.
        """

    @quantity(crba.composite_inertias, shapes.body_inertias, is_large=True)
    def composite_inertias(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """I_i^c, the inertia of every body with all that hangs on it as one body, in the body's axes at its origin,
        (…, nbodies, 6, 6), in the order of `body_names`."""
