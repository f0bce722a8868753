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

    δ = (A + ε W)⁻¹ c,     G = (A + ε W)⁻¹ ε W,     x = Σ_{j<m} (j + 1) G^j (1 - G) δ

In the direction of an eigenvalue λ of W⁻¹ A, G = g = ε/(λ + ε). Where λ is larger than ε, the terms sum up to c/λ, to
the m-th power of g, as Σ (j + 1) g^j = 1/(1 - g)²; where it is zero, 1 - g is, and nothing of c gets into x: neither
forces that the robot does not feel, nor what no force can do, as at velocities which the constraints do not allow. That
is without rounding, which makes 1 - g there about 1e-16/ε instead of zero, so that of δ = c/ε about c is left. So
where constraints repeat each other everywhere, one more factor is applied, which leaves 1e-8 c:

    x = Σ_{j<m} ½ (j + 1) (j + 2) G^j (1 - G)² δ

W has one weight for the
three directions of a point and one for three rotations, the mean of A over them, so that neither units nor axes matter:
of all forces that do the same, f is the one with the least fᵀ W f. No rank is decided here. What is below √ε of J, 1e-4
by default, fades out; matrices of the constraints, N and Λ, are exact down to `linalg.RANK_TOLERANCE`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.algorithms.configuration import integrate
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.joint_forces import passive_forces
from kinetree.algorithms.passes.constraint_kinematics import ConstraintKinematics, upright_kinematics
from kinetree.algorithms.passes.regularity import is_singular_everywhere, require_regular, some_configurations
from kinetree.algorithms.passes.task_inverse import AnyRank, Delassus, FullRank, generic_rank
from kinetree.algorithms.rnea import bias_forces
from kinetree.base.lazy import lazy
from kinetree.linalg import ltdl, ltdl_solve, minus_product, plus_product, unit_lower_solve, unit_upper_solve
from kinetree.model.constraints import ConstraintSet
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, mirrored, zeros

Inverse = type[AnyRank] | type[FullRank]
WEIGHTS = {1: (1.0, 2.0, 3.0, 4.0), 2: (1.0, 3.0, 6.0, 10.0)}
"""Weights of the m terms of the proximal solve, with one factor 1 - G and with two."""
FLOOR = 1e-9
"""The least weight of a constraint, relative to the mean inverse inertia of the joints: some cannot move at all. It
decides no rank: it keeps the damping of such rows above zero."""


# -- what is constrained ---------------------------------------------------------------------------------------


@of_one_state
def jacobian(model: Model, constraints: ConstraintSet, q: Array) -> Array:
    """J with ṙ = J v, (k, nv)."""
    rows = upright_kinematics(model, constraints, q)
    return rows.in_world_axes(rows.J)


@of_one_state
def bias(model: Model, constraints: ConstraintSet, q: Array, v: Array) -> Array:
    """J̇ v, (k,): r̈ at a = 0."""
    rows = upright_kinematics(model, constraints, q)
    return rows.in_world_axes(rows.bias(v))


@of_one_state
def position_error(model: Model, constraints: ConstraintSet, q: Array) -> Array:
    """r, (k,) [m, rad]: how far origins are apart, and the rotation vector from the axes of one to the other's; zero
    for contacts that are held wherever they are."""
    rows = upright_kinematics(model, constraints, q)
    return rows.in_world_axes(rows.error())


# -- what constraints do ---------------------------------------------------------------------------------------


@of_one_state
def forward_dynamics(
    model: Model, constraints: ConstraintSet, q: Array, v: Array, tau: Array, f_ext: ExternalForces = NO_FORCES
) -> tuple[Array, Array]:
    """a, (nv,), and the forces on the robot, (k,) [N, N m]."""
    rows = upright_kinematics(model, constraints, q)
    delassus = Response(rows)
    free = tau - passive_forces(model, q, v) - bias_forces(model, q, v, f_ext)
    a, f = delassus.answer(free, rows.stabilized_bias(v))
    return a, rows.in_world_axes(f)


@of_one_state
def impact(model: Model, constraints: ConstraintSet, q: Array, v: Array, restitution: Array) -> tuple[Array, Array]:
    """v⁺ with J v⁺ = -e J v, and the impulses p, (k,) [N s, N m s], in M (v⁺ - v) = Jᵀ p."""
    rows = upright_kinematics(model, constraints, q)
    delassus = Response(rows)
    jump, p = delassus.answer(np.zeros(model.nv), (1.0 + restitution[0]) * (rows.J @ v))
    return v + jump, rows.in_world_axes(p)


@of_one_state
def projector(model: Model, constraints: ConstraintSet, q: Array, by: Inverse = AnyRank) -> Array:
    """N = 1 - M⁻¹ Jᵀ Λ J, (nv, nv): of any v, N v is the part that the constraints allow, and M (v - N v) is normal to
    it."""
    return _task_inverse(upright_kinematics(model, constraints, q), by).null_space()


@of_one_state
def projected(model: Model, constraints: ConstraintSet, q: Array, v: Array) -> tuple[Array, Array]:
    """q ⊕ dq with r + J dq = 0, and N v; of all such dq that with the least dqᵀ M dq."""
    rows = upright_kinematics(model, constraints, q)
    delassus = Response(rows)
    still = np.zeros(model.nv)
    dq, _ = delassus.answer(still, rows.error())
    removed, _ = delassus.answer(still, rows.J @ v)
    return integrate(model, q, dq), v + removed


@of_one_state
def constraint_inertia(model: Model, constraints: ConstraintSet, q: Array, by: Inverse = AnyRank) -> Array:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, (k, k); the pseudo-inverse where constraints repeat each other. With M + Jᵀ ρ J instead of M it
    is larger by ρ in the directions that the constraints have."""
    rows = upright_kinematics(model, constraints, q)
    inverses = _task_inverse(rows, by)
    Lambda = inverses.inertia() - held_inertia(model) * inverses.directions()
    return mirrored(rows.in_world_axes(rows.in_world_axes(Lambda).T))


def _task_inverse(rows: ConstraintKinematics, by: Inverse) -> AnyRank | FullRank:
    """The inverses of J in which inertia weighs the joints."""
    found = by(inertia(rows.model, rows.constraints, rows.q), rows.J, rows.columns)
    require_regular_inertia(rows, found.d)
    return found


@lru_cache(maxsize=64)
def lacks_rank(model: Model, constraints: ConstraintSet) -> bool:
    """Whether constraints repeat each other wherever the robot is, as far as a few configurations can tell."""
    model = model.representative
    jacobians, sizes = some_jacobians(model, constraints)
    return generic_rank(jacobians, sizes=sizes) < constraints.size


def some_jacobians(model: Model, constraints: ConstraintSet) -> tuple[list[Array], list[float]]:
    """J in a few configurations and the size of all rows of its frames, those left out in which a wheel lies flat."""
    found = [ConstraintKinematics(model, constraints, q) for q in some_configurations(model)]
    found = [rows for rows in found if not any(rows.flat_wheels().values())]
    return [rows.J for rows in found], [float(rows.size) ** 0.5 for rows in found]


@of_one_state
def inertia(model: Model, constraints: ConstraintSet, q: Array) -> Array:
    """The matrix that is divided by, (nv, nv): the mass matrix, with Jᵀ ρ J where it is singular everywhere."""
    M, rho = mass_matrix(model, q), held_inertia(model)
    if rho:
        J = ConstraintKinematics(model, constraints, q).J
        M = M + mirrored(rho * (J.T @ J))
    return M


@dataclass(frozen=True)
class HeldInertia:
    """`inertia` of these constraints."""

    constraints: ConstraintSet

    def __call__(self, model: Model, q: Array) -> Array:
        return inertia(model, self.constraints, q)


def require_regular_inertia(rows: ConstraintKinematics, pivots: Array) -> None:
    """Refuse a state in which what is divided by, factored into these pivots, is singular."""
    if held_inertia(rows.model):
        why = ", and the constraints do not determine how"
        require_regular(rows.model, rows.q, pivots, HeldInertia(rows.constraints), why)
    else:
        require_regular(rows.model, rows.q, pivots)


def held_inertia(model: Model) -> float:
    """ρ: nothing for most robots; where joints move no mass, about as much as the robot has [kg, kg m²]."""
    return (model.mass or 1.0) if is_singular_everywhere(model) else 0.0


class DelassusOperator(Delassus):
    """The Delassus operator A = J M⁻¹ Jᵀ, which is solved with damping where directions repeat each other."""

    redundant = False
    """Whether directions repeat each other wherever the robot is."""

    def __init__(self, M: Array, J: Array, damping: float, blocks: tuple[slice, ...] | None = None) -> None:
        super().__init__(M, J)
        self.damping, self.blocks = damping, in_threes(len(J)) if blocks is None else blocks

    @lazy
    def _proximal(self) -> Proximal:
        floor = self.inverse_d.sum() / max(1, len(self.d))
        return Proximal(self.A, self.damping, floor, self.blocks, self.redundant)

    def solve(self, c: Array) -> Array:
        """x with A x = c, where there is one."""
        return self._proximal.solve(c)

    def answer(self, u: Array, gamma: Array) -> tuple[Array, Array]:
        """a and f with M a = u + Jᵀ f and J a + γ = 0; vectors, or the columns of matrices."""
        free = unit_upper_solve(self.L, u)
        minus_f = self.solve(plus_product(gamma, self.W.T, free))  # J M⁻¹ u + γ
        return unit_lower_solve(self.L, minus_product(free, self.Y, minus_f), self.inverse_d), -minus_f


class Response(DelassusOperator):
    """The Delassus operator of constraints.

    If joints move no mass, M has no inverse, but constraints may determine what it does not. With any ρ > 0

        (M + Jᵀ ρ J) a + b = τ - Jᵀ ρ γ + Jᵀ f

    has the same a and f, since J a + γ = 0, and a matrix that is regular wherever a is unique.
    """

    def __init__(self, rows: ConstraintKinematics, M: Array | None = None) -> None:
        self.rho = held_inertia(rows.model)
        if M is None or self.rho:
            M = inertia(rows.model, rows.constraints, rows.q)
        super().__init__(M, rows.J, rows.constraints.damping, rows.constraints.blocks)
        require_regular_inertia(rows, self.d)
        self.redundant = lacks_rank(rows.model, rows.constraints)

    def answer(self, u: Array, gamma: Array) -> tuple[Array, Array]:
        """a and f with M a = u + Jᵀ f and J a + γ = 0, by M + Jᵀ ρ J."""
        return super().answer(u - self.rho * (self.J.T @ gamma) if self.rho else u, gamma)


def in_threes(size: int) -> tuple[slice, ...]:
    """Slices of `size` rows, three by three."""
    return tuple(slice(start, min(start + 3, size)) for start in range(0, size, 3))


class Proximal:
    """Solves A x = c for a symmetric A that may be singular; what of c is not in its range is left out."""

    def __init__(
        self, A: Array, damping: float, floor: Scalar, blocks: tuple[slice, ...] = (), redundant: bool = False
    ) -> None:
        self.factors = 2 if redundant else 1
        weights = zeros(len(A), A) + floor
        for block in blocks:  # of one kind: their mean, whatever the axes
            weights[block] = A.diagonal()[block].sum() * (1.0 / (block.stop - block.start)) + FLOOR * floor
        self.damping = damping * weights
        self.L, self.d = ltdl(A + np.diag(self.damping))

    def solve(self, c: Array) -> Array:
        """x; c is a vector or the columns of a matrix."""
        first = ltdl_solve(self.L, self.d, c)
        if c.ndim == 2 and c.shape[1] > len(c):
            return plus_product(zeros(first.shape, first), self._without_damping, first)
        damping = self.damping if c.ndim == 1 else self.damping[:, None]
        for _ in range(self.factors):
            first = first - ltdl_solve(self.L, self.d, damping * first)
        term = x = first
        for weight in WEIGHTS[self.factors][1:]:
            term = ltdl_solve(self.L, self.d, damping * term)
            x = x + weight * term
        return x

    @lazy
    def _without_damping(self) -> Array:
        """H with x = H δ, (k, k), which saves work if there are many columns."""
        G = ltdl_solve(self.L, self.d, np.diag(self.damping))
        rest = np.eye(len(G)) - G
        term = H = rest @ rest if self.factors == 2 else rest
        for weight in WEIGHTS[self.factors][1:]:
            term = G @ term
            H = H + weight * term
        return H
