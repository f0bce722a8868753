"""Quantities of all bodies in one call: poses, velocities, accelerations, Jacobians, composite inertias, joint axes."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from kinetree.algorithms import crba, kinematics
from kinetree.algorithms import jacobian as jacobians
from kinetree.algorithms.arguments.references import AccelerationKind, Point, Reference
from kinetree.ops import Array
from kinetree.robot import shapes, trees
from kinetree.robot.quantity import HasQuantities, NamedOut, quantity


class BodyQuantities(HasQuantities):
    """Quantities of all bodies of a `Robot`, in the order of `body_names`."""

    @quantity(kinematics.poses, shapes.body_poses, by_trees=trees.put_poses)
    def poses(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The pose of every body in the world, (…, nbodies, 4, 4), in the order of `body_names`."""

    @quantity(kinematics.body_velocities, shapes.body_sixes)
    def body_velocities(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", **named: Unpack[NamedOut]
    ) -> Array:
        """The linear and angular velocity of every body, (…, nbodies, 6) [m/s, rad/s], in the order of `body_names`,
        each as `frame(body).velocity`."""

    @quantity(kinematics.body_accelerations, shapes.body_sixes)
    def body_accelerations(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        reference: Reference = "world-aligned",
        kind: AccelerationKind = "classical",
        **named: Unpack[NamedOut],
    ) -> Array:
        """The linear and angular acceleration of every body, without gravity, (…, nbodies, 6) [m/s², rad/s²], in the
        order of `body_names`, each as `frame(body).acceleration`."""

    @quantity(jacobians.body_jacobians, shapes.body_rows, is_large=True)
    def body_jacobians(
        self, q: ArrayLike, reference: Reference = "world-aligned", point: Point = "origin", **named: Unpack[NamedOut]
    ) -> Array:
        """The Jacobian J_i of every body, velocity = J_i v, (…, nbodies, 6, nv), in the order of `body_names`.

        point   "origin" of the body, at its joint, or "center-of-mass" for [J_S, J_R] of the projected Newton-Euler
                equations; it has no effect with reference="world"
        """

    @quantity(jacobians.body_jacobian_rates, shapes.body_rows, is_large=True)
    def body_jacobian_rates(
        self,
        q: ArrayLike,
        v: ArrayLike,
        reference: Reference = "world-aligned",
        point: Point = "origin",
        **named: Unpack[NamedOut],
    ) -> Array:
        """The time derivative J̇_i of every `body_jacobians` along v, (…, nbodies, 6, nv)."""

    @quantity(kinematics.joint_axes, shapes.axes, any_frames=True)
    def joint_axes(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The joint axes n_i, unit vectors in world axes, (…, nv, 3), in the order of v: the axis of rotation of each
        velocity, or the direction of translation for prismatic joints and other linear velocities.

        With r_i from `poses`, a revolute joint i moves a point at r with n_i × (r - r_i). The axis of a mimic joint is
        not listed.
        """

    @quantity(crba.composite_inertias, shapes.body_inertias, is_large=True)
    def composite_inertias(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """The composite inertia I_i^c of every body with its subtree, in the body's axes at its origin,
        (…, nbodies, 6, 6), in the order of `body_names`."""
