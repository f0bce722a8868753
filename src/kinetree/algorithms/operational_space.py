"""The dynamics of a task, seen where it acts: ẋ = J v, and forces F at the task with τ = Jᵀ F (Khatib 1987).

    Λ ẍ + μ + p = F
    Λ = (J M⁻¹ Jᵀ)⁻¹               the inertia felt there
    μ = Λ (J M⁻¹ b - J̇ v)          with b = C v
    p = Λ J M⁻¹ g
    J̄ = M⁻¹ Jᵀ Λ                   the dynamically consistent inverse, J J̄ = 1
    N = 1 - J̄ J                    what N v leaves of a velocity, and Nᵀ τ of torques, does not move the task

The rows of J are those of a task: all six directions of a frame, or some of them. Where J has not full rank Λ is the
pseudo-inverse of A = J M⁻¹ Jᵀ: of all forces with the same effect those of minimum norm, in the sense of least squares.
A controller rather wants torques that stay bounded on the way there: `TaskInertia`.

Beside these are J⁺ and 1 - J⁺ J, which do not know about inertia: of all v with J v = w, J⁺ w has the least ‖v‖.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from kinetree.algorithms.arguments.directions import task_rows
from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.arguments.references import AccelerationKind, Reference
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.jacobian import frame_jacobian
from kinetree.algorithms.kinematics import frame_bias_acceleration
from kinetree.algorithms.passes.regularity import require_regular, some_configurations
from kinetree.algorithms.passes.task_inverse import AnyRank, Delassus, FullRank, generic_rank
from kinetree.algorithms.rnea import bias_forces, gravity_forces
from kinetree.base.precision import tolerance
from kinetree.linalg import RANK_TOLERANCE, RANK_TOLERANCE_FLOAT32, ltdl, ltdl_solve, unit_lower_solve, unit_upper_solve
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, Scalar, divide, less, minimum, where

Task = str | tuple[str, ...]
"""As `directions.task_directions` reads it."""
Inverse = type[AnyRank] | type[FullRank]
LEAST = 1e-3
"""Relative to the regularization, what is added to A when r is looked for. It decides no rank."""


# -- of a frame ------------------------------------------------------------------------------------------------


def _jacobian(
    model: Model, frame: FramePlacement, q: Array, reference: Reference, task: Task
) -> tuple[Array, Array | None]:
    """The rows of J that a task has, and the sums of squares of the columns of all six, if it has not all."""
    J, rows = frame_jacobian(model, frame, q, reference), task_rows(task, model.spatial_order)
    return J[rows], None if len(rows) == len(J) else (J * J).sum(axis=0)


def _task_inverse(
    model: Model, frame: FramePlacement, q: Array, reference: Reference, task: Task, by: Inverse
) -> AnyRank | FullRank:
    """The inverses of J in which inertia weighs the joints."""
    found = by(mass_matrix(model, q), *_jacobian(model, frame, q, reference, task))
    require_regular(model, q, found.d)
    return found


@of_one_state
def inertia(
    model: Model, frame: FramePlacement, q: Array, reference: Reference, task: Task = "pose", by: Inverse = AnyRank
) -> Array:
    """Λ, (k, k)."""
    return _task_inverse(model, frame, q, reference, task, by).inertia()


@of_one_state
def bias(
    model: Model, frame: FramePlacement, q: Array, v: Array, reference: Reference, task: Task = "pose",
    by: Inverse = AnyRank,
) -> Array:  # fmt: skip
    """μ, (k,); J̇ v is of the Jacobian in this reference."""
    inverses = _task_inverse(model, frame, q, reference, task, by)
    kind: AccelerationKind = "classical" if reference == "world-aligned" else "spatial"
    drift = frame_bias_acceleration(model, frame, q, v, reference, kind).vector(model.spatial_order)
    b = bias_forces(model, q, v) - gravity_forces(model, q)
    return inverses.force_of(b, drift[task_rows(task, model.spatial_order)])


@of_one_state
def gravity(
    model: Model, frame: FramePlacement, q: Array, reference: Reference, task: Task = "pose", by: Inverse = AnyRank
) -> Array:
    """p, (k,)."""
    return _task_inverse(model, frame, q, reference, task, by).force_of(gravity_forces(model, q))


@of_one_state
def consistent_inverse(
    model: Model, frame: FramePlacement, q: Array, reference: Reference, task: Task = "pose", by: Inverse = AnyRank
) -> Array:
    """J̄ = M⁻¹ Jᵀ Λ, (nv, k)."""
    return _task_inverse(model, frame, q, reference, task, by).consistent_inverse()


@of_one_state
def null_space(
    model: Model, frame: FramePlacement, q: Array, reference: Reference, task: Task = "pose", metric: str = "kinetic",
    by: Inverse = AnyRank,
) -> Array:  # fmt: skip
    """N = 1 - J̄ J, (nv, nv); by the "euclidean" metric 1 - J⁺ J."""
    if metric == "euclidean":
        return by(np.eye(model.nv), *_jacobian(model, frame, q, reference, task)).null_space()
    return _task_inverse(model, frame, q, reference, task, by).null_space()


# -- of a frame, without inertia -------------------------------------------------------------------------------


@of_one_state
def pseudo_inverse(
    model: Model, frame: FramePlacement, q: Array, reference: Reference, task: Task = "pose", by: Inverse = AnyRank
) -> Array:
    """J⁺, (nv, k)."""
    return by(np.eye(model.nv), *_jacobian(model, frame, q, reference, task)).consistent_inverse()


@lru_cache(maxsize=256)
def lacks_rank(model: Model, frame: str, task: Task) -> bool:
    """Whether J of a task has fewer directions than rows wherever the robot is, as far as a few configurations can
    tell."""
    model = model.representative
    rows = task_rows(task, model.spatial_order)
    placement = model.frame(frame)
    jacobians = [frame_jacobian(model, placement, q, "world-aligned") for q in some_configurations(model)]
    sizes = [float(np.linalg.norm(J)) for J in jacobians]
    return generic_rank([J[rows] for J in jacobians], sizes=sizes) < len(rows)


# -- for controllers -------------------------------------------------------------------------------------------


class TaskInertia(Delassus):
    """Λ of some rows of a task for M and J, bounded where the robot is singular.

    With W, the mean of A over all linear and over all angular directions of the frame, r = 1/tr(A⁻¹ W) says how near to
    singular it is: it lies between λ/k and λ of the least eigenvalue λ of A relative to W. Where r is above the
    regularization ε, Λ = A⁻¹ exactly; below, Λ = (A + ε (1 - r/ε)² W)⁻¹ (Nakamura and Hanafusa 1986): what the robot
    can do badly or not at all is asked for less and less. Torques τ = Jᵀ Λ ẇ then stay bounded, τᵀ M⁻¹ τ ≤
    1.2 ẇᵀ W⁻¹ ẇ / ε.

    The first `linear` of the rows are linear. `whole` has all directions of the frame, (6, nv), linear ones first, of
    which J may be some, or what contacts leave of them; without it W is of J itself.
    """

    def __init__(self, M: Array, J: Array, linear: int, regularization: float, whole: Array | None = None) -> None:
        super().__init__(M, J)
        A = self.A
        if regularization > 0.0:
            if whole is None:
                means = [_mean(A.diagonal()[:linear]), _mean(A.diagonal()[linear:])]
            else:
                means = self._means(whole, linear)
            weights = np.array([means[0]] * linear + [means[1]] * (len(J) - linear))
            A = A + np.diag(weights * _damping(A, weights, regularization))
        self.factors = ltdl(A)

    def _means(self, whole: Array, linear: int) -> list[Scalar]:
        """The mean of A over all linear and over all angular directions, as far as there are such rows."""
        rank = tolerance(RANK_TOLERANCE, RANK_TOLERANCE_FLOAT32)
        threshold = (rank * rank) * ((whole * whole).sum(axis=0) @ self.inverse_d)
        means: list[Scalar] = []
        for part, count in ((whole[:3], linear), (whole[3:], len(self.J) - linear)):
            Y = unit_upper_solve(self.L, part.T) if count else part[:0].T
            means.append(_mean((Y.T @ (Y * self.inverse_d[:, None])).diagonal(), threshold))
        return means

    def force(self, acceleration: Array) -> Array:
        """Λ times an acceleration of the task, or times the columns of a matrix."""
        return ltdl_solve(*self.factors, acceleration)


def _damping(A: Array, weights: Array, regularization: float) -> Scalar:
    """ε (1 - r/ε)² where r is below ε, or 0. r is that of a matrix that can be factored in any case."""
    L, d = ltdl(A + np.diag(weights * (LEAST * regularization)))
    columns = unit_lower_solve(L, np.eye(len(d)))  # A⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ
    trace: Any = 0.0
    for j, pivot in enumerate(d):
        trace = trace + (weights * columns[:, j] * columns[:, j]).sum() * divide(1.0, pivot)
    nearness = minimum(1.0, divide(1.0 / regularization, trace))
    return regularization * (1.0 - nearness) ** 2


def _mean(entries: Array, threshold: Scalar = 0.0) -> Scalar:
    """The mean, or 1 where there is none above the threshold: it is divided by."""
    if not len(entries):
        return 1.0
    mean = entries.sum() * (1.0 / len(entries))
    return where(less(threshold, mean), mean, 1.0)
