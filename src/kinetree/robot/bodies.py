"""Every body of a robot in one call: velocities, accelerations, Jacobians, inertias of subtrees, and axes of joints."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinetree.algorithms.references import (
    ACCELERATION_KINDS,
    POINTS,
    REFERENCES,
    AccelerationKind,
    Point,
    Reference,
)
from kinetree.errors import one_of
from kinetree.functions.binding import native
from kinetree.ops import Array
from kinetree.robot.compiled import CompiledQuantities


class BodyQuantities(CompiledQuantities):
    """What a `Robot` knows of all its bodies, in the order of `body_names`."""

    @native
    def poses(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Pose of every body in the world, (…, nbodies, 4, 4), in the order of `body_names`."""
        return self._call("poses", (q,), out)

    @native
    def body_velocities(
        self, q: ArrayLike, v: ArrayLike, reference: Reference = "world-aligned", *, out: Array | None = None
    ) -> Array:
        """Linear and angular velocity of every body, (…, nbodies, 6) [m/s, rad/s], in the order of `body_names`: what
        `frame(body).velocity` gives of one."""
        reference = one_of("reference", reference, REFERENCES)
        return self._call("body_velocities", (q, v), out, options=(reference,))

    @native
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
        reference = one_of("reference", reference, REFERENCES)
        kind = one_of("kind", kind, ACCELERATION_KINDS)
        return self._call("body_accelerations", (q, v, a), out, options=(reference, kind))

    @native
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
        reference = one_of("reference", reference, REFERENCES)
        point = one_of("point", point, POINTS)
        return self._call("body_jacobians", (q,), out, options=(reference, point))

    @native
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
        reference = one_of("reference", reference, REFERENCES)
        point = one_of("point", point, POINTS)
        return self._call("body_jacobian_rates", (q, v), out, options=(reference, point))

    @native
    def joint_axes(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """n_i in the world, (…, nv, 3), unit vectors in the order of v: the axis that each velocity turns its body
        about or, of prismatic joints and other sliding velocities, along which it slides.

        With r_i from `poses`, a revolute joint i moves a point at r by n_i × (r - r_i). A mimic joint turns about an
        axis of its own, which is not listed.
        """
        return self._call("joint_axes", (q,), out)

    @native
    def composite_inertias(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """I_i^c, the inertia of every body with all that hangs on it as one body, in the body's axes at its origin,
        (…, nbodies, 6, 6), in the order of `body_names`."""
        return self._call("composite_inertias", (q,), out)
