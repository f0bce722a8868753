"""Derivatives of a frame's velocity and acceleration by q, v and a, on the tangent space of q.

Seen from the frame F itself, with Ψ̇, Ψ̈ and Ṡ of `moving_columns`, for every joint j on the way to it:

    ∂V/∂q_j = Ψ̇_j                     ∂V/∂v_j = S_j
    ∂A/∂q_j = Ψ̈_j - V × Ψ̇_j           ∂A/∂v_j = Ψ̇_j + Ṡ_j - V × S_j           ∂A/∂a_j = S_j

(Carpentier and Mansard 2018; Singh, Russell and Wensing 2022). When q_j moves, F moves along S_j with all that is fixed
in it: seen from the world, V and A change by S_j × V and S_j × A besides; at the origin of F in axes that stay, only
the turn of S_j shows, ω_j × V. The linear part of a classical acceleration has δω × v + ω × δv on top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.arguments.references import AccelerationKind, Reference
from kinetree.algorithms.passes.common_frame import CommonFrame
from kinetree.algorithms.passes.forward_pass import ForwardPass
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, cross, zeros
from kinetree.spatial import Motion, SpatialOrder


@of_one_state
def frame_velocity_derivatives(
    model: Model, frame: FramePlacement, q: Array, v: Array, reference: Reference
) -> tuple[Array, Array]:
    """∂V/∂q and ∂V/∂v of a frame's velocity, (6, nv) each; the second is the Jacobian."""
    moving = ForwardPass(model, q, v)
    view = View.of(moving.common, frame, reference)
    derivatives = FrameDerivatives.of(moving, frame, view, model.spatial_order, q, v)
    by_q, by_v, _ = moving.body.chained(derivatives.v_by_q, derivatives.v_by_v)
    return by_q, by_v


@of_one_state
def frame_acceleration_derivatives(
    model: Model, frame: FramePlacement, q: Array, v: Array, a: Array, reference: Reference, kind: AccelerationKind
) -> tuple[Array, Array, Array]:
    """∂A/∂q, ∂A/∂v and ∂A/∂a of a frame's acceleration, (6, nv) each; the third is the Jacobian."""
    moving = ForwardPass(model, q, v, a)
    view = View.of(moving.common, frame, reference)
    derivatives = FrameDerivatives.of(moving, frame, view, model.spatial_order, q, v, a, kind=kind)
    return moving.body.chained(derivatives.a_by_q, derivatives.a_by_v, derivatives.v_by_v)


@dataclass(frozen=True)
class View:
    """The reference that motions of a frame are seen from: at its origin, p in common coordinates, or at that of the
    world; in axes to which R leads from the common ones."""

    reference: Reference
    R: Array
    p: Array

    @staticmethod
    def of(common: CommonFrame, frame: FramePlacement, reference: Reference) -> View:
        X = frame.X * common.X[frame.body]
        if reference == "local":
            return View(reference, X.R, X.p)
        at = X.p if reference == "world-aligned" else -(common.R @ common.p)
        return View(reference, common.R.T, at)

    @staticmethod
    def in_common_axes(common: CommonFrame, frame: FramePlacement) -> View:
        """At the frame's origin; like world-aligned, in other axes that stay."""
        return View("world-aligned", np.eye(3), (frame.X * common.X[frame.body]).p)

    def motion(self, m: Motion) -> Motion:
        """A motion in common coordinates, as it is seen."""
        return m.moved(self.p).rotated(self.R)

    def moved(self, change: Motion, s: Motion, m: Motion) -> Motion:
        """The change of a motion m when its frame moves along s, given the change seen from the frame."""
        if self.reference == "local":
            return self.motion(change)
        if self.reference == "world":
            return self.motion(change + s.cross(m))
        m = m.moved(self.p)
        turned = Motion(cross(s.angular, m.linear), cross(s.angular, m.angular))
        return (change.moved(self.p) + turned).rotated(self.R)


@dataclass(frozen=True)
class FrameDerivatives:
    """Derivatives of the velocity and the acceleration of a frame by q, v and a, (6, nv) each, velocities of free
    joints being those in their own axes; ∂A/∂a = ∂V/∂v."""

    v_by_q: Array
    v_by_v: Array
    a_by_q: Array
    a_by_v: Array

    @staticmethod
    def of(
        moving: ForwardPass,
        frame: FramePlacement,
        view: View,
        order: SpatialOrder,
        *like: Array,
        kind: AccelerationKind = "spatial",
    ) -> FrameDerivatives:
        derivatives = FrameDerivatives(*(zeros((6, moving.model.nv), *like) for _ in range(4)))
        V, A = moving.V[frame.body], moving.A[frame.body]
        seen = view.motion(V)

        def total(change: Motion, velocity: Motion) -> Array:
            if kind == "classical":
                turn = cross(velocity.angular, seen.linear) + cross(seen.angular, velocity.linear)
                change = Motion(change.linear + turn, change.angular)
            return change.vector(order)

        for step in moving.way(frame.body):
            columns = zip(step.S, step.psi1, step.psi2, step.rate, strict=True)
            for k, (s, psi1, psi2, rate) in enumerate(columns, start=step.at.start):
                v_by_q, v_by_v = view.moved(psi1, s, V), view.motion(s)
                derivatives.v_by_q[:, k] += v_by_q.vector(order)
                derivatives.v_by_v[:, k] += v_by_v.vector(order)
                derivatives.a_by_q[:, k] += total(view.moved(psi2 - V.cross(psi1), s, A), v_by_q)
                derivatives.a_by_v[:, k] += total(view.motion(psi1 + rate - V.cross(s)), v_by_v)
        return derivatives
