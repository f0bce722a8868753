"""Analytic derivatives of constrained forward dynamics, on the tangent space of q.

At the solution a, f of

    ID(q, v, a) - Jᵀ f = τ             J a + γ = 0

both equations stay true when q, v or τ change (the implicit function theorem), so that for x = q and v

    M ∂a/∂x - Jᵀ ∂f/∂x = -∂ID/∂x       J ∂a/∂x = -∂(J a + γ)/∂x

and with ∂τ on the right of the first for x = τ. ∂ID is that of inverse dynamics with f as wrenches that stay in world
axes at their frames; J a + J̇ v is the classical acceleration of the frames. The matrix is that of the dynamics itself,
and so is the solve (Carpentier, Budhiraja and Mansard 2021).

Where constraints repeat each other, ∂f is one of those that do the same, and ∂a is still unique.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.algorithms.arguments.one_state import Push, of_one_state
from kinetree.algorithms.arguments.wrenches import external_forces
from kinetree.algorithms.constraints import Response
from kinetree.algorithms.derivatives import inverse_dynamics_derivatives, mass_matrix_of
from kinetree.algorithms.joint_forces import passive_forces
from kinetree.algorithms.kinematic_derivatives import FrameDerivatives, View
from kinetree.algorithms.passes.common_frame import columns
from kinetree.algorithms.passes.constraint_kinematics import ConstraintKinematics, upright_kinematics
from kinetree.algorithms.passes.coupling_rows import CouplingRows
from kinetree.algorithms.passes.forward_pass import ForwardPass
from kinetree.algorithms.rnea import bias_forces
from kinetree.model.constraints import Constraint, ConstraintSet, Contact, Coupling, TendonCoupling
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, mirrored, zeros
from kinetree.spatial.exponential import log_rates


@of_one_state
def forward_dynamics_derivatives(
    model: Model, constraints: ConstraintSet, q: Array, v: Array, tau: Array, pushes: Sequence[Push] = ()
) -> tuple[Array, ...]:
    """∂a/∂q, ∂a/∂v, ∂a/∂τ, (nv, nv) each, ∂f/∂q, ∂f/∂v, ∂f/∂τ, (k, nv) each. Wrenches stay what they are in their
    reference."""
    rows = upright_kinematics(model, constraints, q)
    delassus = Response(rows, mass_matrix_of(model, q))
    free = tau - passive_forces(model, q, v) - bias_forces(model, q, v, external_forces(model, q, pushes))
    a, f = delassus.answer(free, rows.stabilized_bias(v))
    dq, dv = inverse_dynamics_derivatives(model, q, v, a, [*pushes, *rows.pushes(f)])
    dq = dq + _moving_moments(rows, f)
    by_q, by_v = _equation_derivatives(rows, v, a)
    right = np.concatenate([-dq, -dv, np.eye(model.nv)], axis=1)
    below = np.concatenate([by_q, by_v, np.zeros((constraints.size, model.nv))], axis=1)
    derivatives, force_derivatives = delassus.answer(right, below)  # all columns at once, which is cheaper
    a_q, a_v, a_tau = np.split(derivatives, 3, axis=1)
    return a_q, a_v, mirrored(a_tau), *np.split(rows.in_world_axes(force_derivatives), 3, axis=1)


def _equation_derivatives(rows: ConstraintKinematics, v: Array, a: Array) -> tuple[Array, Array]:
    """∂/∂q and ∂/∂v of J a + γ with γ = J̇ v + 2 ζ ω J v + ω² r, (k, nv) each."""
    model, q, k = rows.model, rows.q, rows.constraints.size
    moving = ForwardPass(model, q, v, a, gravity=True)  # shared with RNEA; in axes that stay it does not show
    rate_by_q, rate_by_v, by_q, by_v = (zeros((k, model.nv), q, v, a) for _ in range(4))
    for at, constraint in rows.each():
        for frame, sign in rows.ends(constraint) if constraint not in rows.special else ():
            derivatives = _frame_derivatives(moving, frame, q, v, a)
            rate_by_q[at] += sign * derivatives.v_by_q[: constraint.size]
            rate_by_v[at] += sign * derivatives.v_by_v[: constraint.size]
            by_q[at] += sign * derivatives.a_by_q[: constraint.size]
            by_v[at] += sign * derivatives.a_by_v[: constraint.size]
    by_q, by_v, _ = moving.body.chained(by_q, by_v, rate_by_v)
    rate_by_q, rate_by_v, _ = moving.body.chained(rate_by_q, rate_by_v)
    for at, constraint in rows.each():
        if constraint in rows.special:
            by_q[at], by_v[at], rate_by_q[at], rate_by_v[at] = _special_derivatives(rows, constraint, moving, v, a)
        elif isinstance(constraint, Coupling | TendonCoupling):
            by_q[at], by_v[at], rate_by_q[at] = CouplingRows(model, constraint, q).derivatives(v, a)
            rate_by_v[at] = rows.J[at]
    omega, zeta = rows.constraints.frequency, rows.constraints.damping_ratio
    if omega:
        by_q = by_q + (2.0 * zeta * omega) * rate_by_q + omega**2 * _error_derivatives(rows)
        by_v = by_v + (2.0 * zeta * omega) * rate_by_v
    return by_q, by_v


def _special_derivatives(
    rows: ConstraintKinematics, constraint: Constraint, moving: ForwardPass, v: Array, a: Array
) -> tuple[Array, Array, Array, Array]:
    """∂/∂q and ∂/∂v of B (a, α) + Ḃ (v, ω), and of B (v, ω), for a contact with equations of its own, (k, nv) each."""
    special, ((frame, _),) = rows.special[constraint], rows.ends(constraint)
    derivatives = _frame_derivatives(moving, frame, rows.q, v, a)
    v_q, v_v, _ = moving.body.chained(derivatives.v_by_q, derivatives.v_by_v)
    a_q, a_v, _ = moving.body.chained(derivatives.a_by_q, derivatives.a_by_v, derivatives.v_by_v)
    turns = _relative_turns(rows, constraint)
    omega, alpha = moving.V[frame.body].angular, moving.A[frame.body].angular
    drift_q, drift_v = special.drift_derivatives(turns, omega, v_q[3:], v_v[3:])
    by_q, by_v = (special.of(part[:3], part[3:]) for part in (a_q, a_v))
    rate_by_q, rate_by_v = (special.of(part[:3], part[3:]) for part in (v_q, v_v))
    return (
        by_q + special.turned(turns, alpha) + drift_q,
        by_v + drift_v,
        rate_by_q + special.turned(turns, omega),
        rate_by_v,
    )


def _frame_derivatives(moving: ForwardPass, frame: FramePlacement, *like: Array) -> FrameDerivatives:
    """The derivatives of a frame's motion at its origin, in the axes of the common frame."""
    view = View.in_common_axes(moving.common, frame)
    return FrameDerivatives.of(moving, frame, view, "linear-first", *like, kind="classical")


def _moving_moments(rows: ConstraintKinematics, f: Array) -> Array | float:
    """-J_ωᵀ ∂m/∂q, (nv, nv), for moments m of contacts that depend on how their frame is turned, as those of wheels,
    and the like for couplings whose ratio changes."""
    total: Array | float = 0.0
    for at, constraint in rows.each():
        if isinstance(constraint, Coupling | TendonCoupling):
            changing = CouplingRows(rows.model, constraint, rows.q).force_derivative(f[at.start])
            if changing is not None:
                total = total + changing
        if constraint in rows.special:
            turns = _relative_turns(rows, constraint)
            derivatives = rows.special[constraint].moment_derivatives(turns, f[at])
            if derivatives is not None:
                total = total - turns.T @ derivatives
    return total


def _error_derivatives(rows: ConstraintKinematics) -> Array:
    """∂r/∂q, (k, nv): J, but for rotations which are not small."""
    derivatives, error = rows.J.copy(), rows.error()
    for at, constraint in rows.each():
        if isinstance(constraint, Contact) and constraint.target is None:
            derivatives[at] = 0.0
        elif isinstance(constraint, Contact) and constraint.target is not None and constraint in rows.special:
            axes, turns = rows.common.R @ constraint.target.R.T, _relative_turns(rows, constraint)
            derivatives[at] = rows.special[constraint].error_derivatives(derivatives[at], turns, axes)
        elif constraint.size == 6:
            derivatives[at][3:] = log_rates(error[at][3:]).T @ _relative_turns(rows, constraint)
    return derivatives


def _relative_turns(rows: ConstraintKinematics, constraint: Constraint) -> Array:
    """ω_a - R ω_b of unit velocities, (3, nv), with R the rotation from frame b to frame a: how R turns."""
    turns = zeros((3, rows.model.nv), rows.q)
    (a, _), *others = rows.ends(constraint)
    R_a = (a.X * rows.common.X[a.body]).R.T
    for frame, R in [(a, np.eye(3)), *((b, -R_a @ (b.X * rows.common.X[b.body]).R) for b, _ in others)]:
        for k, s in columns(rows.model, rows.common.S, frame.body):
            turns[:, k] += R @ s.angular
    return turns
