"""Dynamics under constraints: contacts with the world and closed loops.

A constraint r(q) = 0 has ṙ = J v and r̈ = J a + J̇ v; f is the force that keeps it, acting *on the robot*:

    M a + b = τ + Jᵀ f
    J a + γ = 0           with γ = J̇ v + 2 ζ ω J v + ω² r, where ω = 0 unless errors are to decay (Baumgarte 1972)

Taken together they give f and, with it, a:

    A = J M⁻¹ Jᵀ          what a unit force accelerates where it acts; Λ = A⁻¹ is the inertia felt there
    f = -Λ (J M⁻¹ (τ - b) + γ)

With M = Lᵀ D L and Y = L⁻ᵀ Jᵀ, A = Yᵀ D⁻¹ Y; L and Y have zeros wherever a joint does not move a frame.

Constraints may repeat each other (four feet flat on the ground), and then A has no inverse, while a is still unique. So
A x = c is solved with a little damping that proximal iterations take out again (Carpentier, Budhiraja, Mansard 2021):

    δ_0 = (A + ε W)⁻¹ c,     δ_{j+1} = (A + ε W)⁻¹ ε W δ_j,     x = Σ_{j<m} (δ_j - δ_m)

In the direction of an eigenvalue λ, δ_j = c/(λ + ε) (ε/(λ + ε))^j. Where λ is larger than ε these sum up to c/λ, to the
m-th power of ε/λ; where it is zero they are all the same, and nothing of c gets into x: neither forces that the robot
does not feel, nor what no force can do, as at velocities which the constraints do not allow. W has one weight for the
three directions of a point and one for three rotations, the mean of A over them, so that neither units nor axes matter:
of all forces that do the same, f is the one with the least fᵀ W f.

Inside this file rows are in the axes of the common frame, linear above angular, at the origin of the constrained frame;
of a loop, those of frame a less those of frame b. Results are in world axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinetree.algorithms.common_frame import CommonFrame
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.joint_forces import passive_forces
from kinetree.algorithms.kinematics import accelerations, velocities, world_transforms
from kinetree.algorithms.rnea import NO_FORCES, bias_forces
from kinetree.algorithms.rnea import inverse_dynamics as unconstrained_inverse_dynamics
from kinetree.linalg import ltdl, ltdl_solve, unit_lower_solve, unit_upper_solve
from kinetree.model.constraints import Constraint, ConstraintSet, Contact
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, Scalar, cross, divide, mirrored, zeros
from kinetree.spatial import Force, Motion
from kinetree.spatial.exponential import log_quaternion
from kinetree.spatial.rotation import quaternion_from_matrix

ITERATIONS = 4
"""Of the proximal solve: m."""
FLOOR = 1e-9
"""The least weight of a constraint, relative to the mean inverse inertia of the joints: some cannot move at all."""


# -- what is constrained ---------------------------------------------------------------------------------------


def jacobian(model: Model, constraints: ConstraintSet, q: Array) -> Array:
    """J with ṙ = J v, (k, nv)."""
    rows = _Rows(model, constraints, q)
    return rows.in_world_axes(rows.J)


def bias(model: Model, constraints: ConstraintSet, q: Array, v: Array) -> Array:
    """J̇ v, (k,): r̈ at a = 0."""
    rows = _Rows(model, constraints, q)
    return rows.in_world_axes(rows.bias(v))


def position_error(model: Model, constraints: ConstraintSet, q: Array) -> Array:
    """r, (k,) [m, rad]: how far origins are apart, and the rotation vector from the axes of one to the other's; zero
    for contacts that are held wherever they are."""
    rows = _Rows(model, constraints, q)
    return rows.in_world_axes(rows.error())


@dataclass(frozen=True)
class _Rows:
    """The equations of all constraints at one configuration."""

    model: Model
    constraints: ConstraintSet
    q: Array

    @cached_property
    def common(self) -> CommonFrame:
        return CommonFrame.of(self.model, self.q)

    @cached_property
    def J(self) -> Array:
        """(k, nv)."""
        model, S = self.model, self.common.S
        J = zeros((self.constraints.size, model.nv), self.q)
        for rows, constraint in self._each():
            ends = [(frame, frame.X * self.common.X[frame.body]) for frame, _ in self._ends(constraint)]
            supports = [model.support(frame.body) for frame, _ in ends]
            shared = set.intersection(*map(set, supports)) if len(ends) == 2 else set()
            for (_, X), support, sign in zip(ends, supports, (1.0, -1.0), strict=False):
                for i in support:
                    for k, s in enumerate(S[i], start=model.joints[i].iv):
                        if i not in shared:
                            J[rows, k] += sign * s.moved(X.p).vector()[: constraint.size]
            for i in shared:  # of what moves both frames, only their distance shows
                for k, s in enumerate(S[i], start=model.joints[i].iv):
                    J[rows, k][:3] += cross(s.angular, ends[0][1].p - ends[1][1].p)
        return J

    def bias(self, v: Array) -> Array:
        """J̇ v, (k,): the acceleration of points and axes at a = 0."""
        model, q, common = self.model, self.q, self.common
        V = velocities(model, q, v)
        A = accelerations(model, q, v, np.zeros(model.nv), Motion(-model.gravity, np.zeros(3)))  # shared with RNEA
        gamma = zeros(self.constraints.size, q, v)
        for rows, constraint in self._each():
            held = 0.0
            for frame, sign in self._ends(constraint):
                if frame.body:
                    local = (frame.X * A[frame.body]).classical(frame.X * V[frame.body])
                    aligned = local.rotated((frame.X * common.X[frame.body]).R.T)
                    gamma[rows] += sign * aligned.vector()[: constraint.size]
                    held += sign
            if held:
                gamma[rows][:3] += held * common.gravity
        return gamma

    def error(self) -> Array:
        """r, (k,)."""
        X, R = world_transforms(self.model, self.q), self.common.R
        error = zeros(self.constraints.size, self.q)
        for rows, constraint in self._each():
            frames = [frame.X * X[frame.body] for frame, _ in self._ends(constraint)]
            if isinstance(constraint, Contact):
                frames += [] if constraint.target is None else [constraint.target]
            if len(frames) == 2:
                a, b = frames
                error[rows][:3] = R @ (a.p - b.p)
                if constraint.size == 6:
                    error[rows][3:] = R @ log_quaternion(quaternion_from_matrix(a.R.T @ b.R))
        return error

    def stabilized_bias(self, v: Array) -> Array:
        """γ = J̇ v + 2 ζ ω J v + ω² r, (k,)."""
        gamma, omega, zeta = self.bias(v), self.constraints.frequency, self.constraints.damping_ratio
        if omega:
            gamma = gamma + (2.0 * zeta * omega) * (self.J @ v) + omega**2 * self.error()
        return gamma

    def in_world_axes(self, rows: Array) -> Array:
        """Vectors or matrices with a row for every equation, turned, and in the user's order."""
        turned = rows.copy()
        for at, constraint in self._each():
            blocks = [self.common.R.T @ block for block in rows[at].reshape(-1, 3, *rows.shape[1:])]
            if self.model.spatial_order == "angular-first":
                blocks.reverse()
            turned[at] = np.concatenate(blocks).reshape(constraint.size, *rows.shape[1:])
        return turned

    def _each(self) -> list[tuple[slice, Constraint]]:
        return list(zip(self.constraints.rows, self.constraints.constraints, strict=True))

    def _ends(self, constraint: Constraint) -> list[tuple[FramePlacement, float]]:
        """The frames, and whether their motion counts as it is or against the other's."""
        frames = [self.model.frame(name) for name in constraint.frames]
        return list(zip(frames, (1.0, -1.0), strict=False))


# -- what constraints do ---------------------------------------------------------------------------------------


def forward_dynamics(
    model: Model, constraints: ConstraintSet, q: Array, v: Array, tau: Array, f_ext: Mapping[int, Force] = NO_FORCES
) -> tuple[tuple[Array, Array], Array]:
    """a, (nv,), and the forces on the robot, (k,) [N, N m]; beside them the pivots of M."""
    rows = _Rows(model, constraints, q)
    feel = Response.of(rows)
    free = unit_upper_solve(feel.L, tau - passive_forces(model, q, v) - bias_forces(model, q, v, f_ext))
    f = -feel.solve(rows.stabilized_bias(v) + feel.W.T @ free)  # J M⁻¹ (τ - b) + γ
    a = feel.back(free + feel.Y @ f)
    return (a, rows.in_world_axes(f)), feel.d


def impact(
    model: Model, constraints: ConstraintSet, q: Array, v: Array, restitution: Array
) -> tuple[tuple[Array, Array], Array]:
    """v⁺ with J v⁺ = -e J v, and the impulses p, (k,) [N s, N m s], in M (v⁺ - v) = Jᵀ p; beside them the pivots."""
    rows = _Rows(model, constraints, q)
    feel = Response.of(rows)
    p = -feel.solve((1.0 + restitution[0]) * (rows.J @ v))
    return (v + feel.back(feel.Y @ p), rows.in_world_axes(p)), feel.d


def projector(model: Model, constraints: ConstraintSet, q: Array) -> tuple[Array, Array]:
    """N = 1 - M⁻¹ Jᵀ Λ J, (nv, nv): of any v, N v is the part that the constraints allow, and M (v - N v) is normal to
    it. Beside it the pivots of M."""
    rows = _Rows(model, constraints, q)
    feel = Response.of(rows)
    return np.eye(model.nv) - feel.back(feel.Y @ feel.solve(rows.J)), feel.d


def constraint_inertia(model: Model, constraints: ConstraintSet, q: Array) -> tuple[Array, Array]:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, (k, k), and the pivots of M; where constraints repeat each other, some Λ with A Λ A = A."""
    rows = _Rows(model, constraints, q)
    feel = Response.of(rows)
    half = rows.in_world_axes(feel.solve(np.eye(constraints.size)))
    return mirrored(rows.in_world_axes(half.T)), feel.d


def inverse_dynamics(
    model: Model, constraints: ConstraintSet, q: Array, v: Array, a: Array, f_ext: Mapping[int, Force] = NO_FORCES
) -> tuple[Array, Array]:
    """τ, (nv,), and forces f, (k,), in M a + b = τ + Jᵀ f, with the least ‖τ‖ of those that need no motor where there
    is none.

    With w = M a + b, and U the entries without a motor: minimise ‖w - Jᵀ f‖ with J_Uᵀ f = w_U. So
    f = G⁻¹ (J w - J_U λ) with G = J Jᵀ, and λ such that J_Uᵀ f = w_U. What the constraints cannot carry is left in τ_U.
    """
    return nearest_torques(model, constraints, q, v, a, np.zeros(model.nv), f_ext)


def nearest_torques(
    model: Model,
    constraints: ConstraintSet,
    q: Array,
    v: Array,
    a: Array,
    tau: Array,
    f_ext: Mapping[int, Force] = NO_FORCES,
) -> tuple[Array, Array]:
    """The same with the least ‖τ - τ₀‖, for given torques τ₀, of which those without a motor do not count.

    (N_cᵀ Sᵀ)⁺ N_cᵀ (M a + b) + (1 - (N_cᵀ Sᵀ)⁺ N_cᵀ Sᵀ) τ₀ of the lecture notes: with w = M a + b - Sᵀ τ₀ as above,
    and then τ₀ added again.
    """
    rows = _Rows(model, constraints, q)
    J, damping = rows.J, constraints.damping
    wanted = zeros(model.nv, tau)
    for k in constraints.actuated:
        wanted[k] = tau[k]
    w = unconstrained_inverse_dynamics(model, q, v, a, f_ext) - wanted
    G = _Proximal(mirrored(J @ J.T), damping, 1.0)
    f = G.solve(J @ w)
    idle = np.setdiff1d(np.arange(model.nv), constraints.actuated)
    if len(idle):
        J_U = J[:, idle]
        B = G.solve(J_U)
        f = f - B @ _Proximal(mirrored(J_U.T @ B), damping, 1.0, blocks=False).solve(J_U.T @ f - w[idle])
    return w - J.T @ f + wanted, rows.in_world_axes(f)


class Response:
    """How the robot answers to forces in directions that are rows of J: A = J M⁻¹ Jᵀ = Yᵀ D⁻¹ Y."""

    def __init__(self, model: Model, q: Array, J: Array, damping: float) -> None:
        self.L, self.d = ltdl(mass_matrix(model, q))
        self.inverse_d = divide(1.0, self.d)
        self.Y = unit_upper_solve(self.L, J.T)
        self.W = self.Y * self.inverse_d[:, None]
        floor = self.inverse_d.sum() / max(1, len(self.d))
        self.solve = _Proximal(mirrored(self.Y.T @ self.W), damping, floor).solve

    @staticmethod
    def of(rows: _Rows) -> Response:
        """To forces in the constraints."""
        return Response(rows.model, rows.q, rows.J, rows.constraints.damping)

    def acceleration(self, tau: Array) -> Array:
        """J M⁻¹ τ: in these directions, due to torques."""
        return self.W.T @ unit_upper_solve(self.L, tau)

    def back(self, y: Array) -> Array:
        """M⁻¹ b of y = L⁻ᵀ b."""
        inverse_d = self.inverse_d if y.ndim == 1 else self.inverse_d[:, None]
        return unit_lower_solve(self.L, y * inverse_d)


class _Proximal:
    """Solves A x = c for a symmetric A that may be singular; what of c is not in its range is left out."""

    def __init__(self, A: Array, damping: float, floor: Scalar, blocks: bool = True) -> None:
        weights = zeros(len(A), A)
        for k in range(len(A)):
            block = A.diagonal()[k - k % 3 : k - k % 3 + 3]
            weights[k] = block.sum() * (1.0 / 3.0) + FLOOR * floor if blocks else floor
        self.damping = damping * weights
        self.L, self.d = ltdl(A + np.diag(self.damping))

    def solve(self, c: Array) -> Array:
        """x; c is a vector or the columns of a matrix."""
        damping = self.damping if c.ndim == 1 else self.damping[:, None]
        deltas = [ltdl_solve(self.L, self.d, c)]
        for _ in range(ITERATIONS):
            deltas.append(ltdl_solve(self.L, self.d, damping * deltas[-1]))
        return sum(deltas[:-1], start=-ITERATIONS * deltas[-1])
