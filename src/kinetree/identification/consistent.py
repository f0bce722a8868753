"""Estimates that a body can have: pseudo-inertias J_i ≻ 0, rotors and friction that are not negative.

J = [[Σ, h], [hᵀ, m]] is linear in the ten parameters of a body, and positive semidefinite for those that some body has,
and for no others (Wensing, Kim and Slotine 2018). The data leave some combinations open; a prior decides there, by a
distance that does not depend on units or frames. With the information G and the estimate β of least squares in base
parameters B θ, in units of the noise,

    min  ½ (B θ - β)ᵀ G (B θ - β) + Σ_i d(J_i(θ), J_i⁰) / s²        J_i(θ) ⪰ 0

    entropic   d = tr(J⁰⁻¹ J) - log det(J⁰⁻¹ J) - 4             the Bregman divergence of -log det
    pullback   d = ½ tr(J⁰⁻¹ ΔJ J⁰⁻¹ ΔJ), ΔJ = J - J⁰           its second-order form at the prior

s is the spread: with s = 1 parameters are expected to differ from the prior by their own size. The entropic distance
keeps J definite by itself, and the minimum is found by Newton's method along a falling weight. The other needs a
semidefinite program (`semidefinite.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.errors import KinetreeError
from kinetree.identification.unknowns import Unknowns
from kinetree.ops import Array
from kinetree.spatial import Inertia

BASIS = np.array([Inertia.from_parameters(unit).pseudo_inertia() for unit in np.eye(10)])
"""E_k with J = Σ φ_k E_k, (10, 4, 4)."""
SIZE = 0.05
"""Radius of gyration [m] of what is added to priors that no body has, such as point masses."""
LEAST = 1e-3
"""What is added, relative to the mass of the body, or to the mean mass of all bodies."""
WALL = 1e-3
"""Weight of x/x⁰ - log x of friction and rotors that the model has no value of, beside those it has one of."""
SMALL = 1e-2
"""x⁰ of these, relative to what the data say of their sums."""
MOST_STEPS = 200
NEAR = 30.0
"""The largest decrement at the start of a weight, in its units."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What is minimised, in θ.

    It is solved in z = (b, θ_d), base parameters b = B θ and those entries of θ that are not the first of a base
    parameter: there the data's part is a block of its own, however much larger than the prior's it is.
    """

    B: Array
    """(base parameters, n)."""
    independent: Array
    """The entry of θ that each base parameter has with factor one."""
    G: Array
    """Information of the data in base parameters."""
    beta: Array
    """Base parameters by least squares."""
    J0: Array
    """Pseudo-inertias of the prior, (bodies, 4, 4), positive definite."""
    prior: Array
    """θ of the prior, (n,)."""
    signs: Array
    """Which entries may not be negative, (n,) of bool."""
    spread: float

    @staticmethod
    def of(unknowns: Unknowns, G: Array, beta: Array, prior: Array, spread: float) -> Problem:
        """The problem of an estimate in base parameters."""
        J0 = definite_priors(prior[: unknowns.n_inertial].reshape(-1, 10))
        start = prior.copy()
        start[: unknowns.n_inertial] = parameters_of(J0).ravel()
        base = unknowns.base
        return Problem(base.matrix, base.independent, G, beta, J0, start, unknowns.signs, spread)

    @property
    def n_bodies(self) -> int:
        return len(self.J0)

    @lazy
    def T(self) -> Array:
        """θ = T z: b = θ_i + K θ_d for the independent entries θ_i."""
        n, size = len(self.prior), len(self.B)
        others = np.setdiff1d(np.arange(n), self.independent)
        T = np.zeros((n, n))
        T[self.independent, np.arange(size)] = 1.0
        T[np.ix_(self.independent, np.arange(size, n))] = -self.B[:, others]
        T[others, np.arange(size, n)] = 1.0
        return T

    def reduced(self, theta: Array) -> Array:
        """z of θ."""
        return np.concatenate([self.B @ theta, np.delete(theta, self.independent)])

    @lazy
    def sizes(self) -> Array:
        """Of friction and rotors: the larger of the prior and of what the data say of their sums, (n,). Files have
        placeholders for them, orders of magnitude too small or too large."""
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = np.abs(self.beta[:, None] / self.B)
        sizes[~np.isfinite(sizes) | (np.diag(self.G) <= 0.0)[:, None]] = 0.0
        return np.maximum(sizes.max(axis=0, initial=0.0), np.maximum(self.prior, 1e-6))

    def metric(self) -> Array:
        """The second derivative of d at the prior, (n, n): that of free entries without a prior is zero."""
        M = np.zeros((len(self.prior), len(self.prior)))
        for i, J in enumerate(self.J0):
            W = np.linalg.solve(J, BASIS)
            M[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = np.einsum("kab,lba->kl", W, W)
        for k in np.flatnonzero(self.signs & (self.prior > 0.0)):
            M[k, k] = 1.0 / self.sizes[k] ** 2
        return M


def pseudo_inertias(phi: Array) -> Array:
    """J of the parameters of bodies (n, 10), (n, 4, 4)."""
    return np.einsum("nk,kab->nab", phi, BASIS)


def parameters_of(J: Array) -> Array:
    """The parameters (n, 10) of pseudo-inertias (n, 4, 4)."""
    return np.array([Inertia.from_pseudo_inertia(each).parameters() for each in J]).reshape(-1, 10)


def definite_priors(phi: Array) -> Array:
    """Pseudo-inertias of the prior, made definite where they are not: point masses, rods, massless links."""
    if not len(phi):
        return np.zeros((0, 4, 4))
    J = pseudo_inertias(phi)
    mean = max(float(np.mean(np.abs(phi[:, 0]))), 1e-3)
    unit = np.diag([SIZE**2, SIZE**2, SIZE**2, 1.0])
    found = []
    for each in J:
        mass = max(abs(float(each[3, 3])), LEAST * mean)
        floor = LEAST * mass * unit
        root = np.sqrt(np.diag(floor))
        values, vectors = np.linalg.eigh(each / np.outer(root, root))
        lifted = vectors * np.maximum(values, 1.0) @ vectors.T
        found.append(each if values[0] >= 1.0 else lifted * np.outer(root, root))
    return np.array(found)


def entropic(problem: Problem) -> Array:
    """θ at the minimum with the entropic distance, (n,)."""
    theta = problem.prior.copy()
    theta[problem.signs] = np.maximum(theta[problem.signs], SMALL * problem.sizes[problem.signs])
    z = problem.reduced(theta)
    target = 1.0 / problem.spread**2
    away = problem.B @ theta - problem.beta
    weight = max(target, 1e-2 * float(away @ problem.G @ away))
    while True:
        z = _minimum(problem, z, weight)
        if weight <= target:
            return problem.T @ z
        weight = max(target, _next(problem, z, weight))


def _next(problem: Problem, z: Array, weight: float) -> float:
    """The next lower weight: as low as leaves the minimum within reach of a few steps."""
    for factor in (0.1, 0.25, 0.5, 0.75):
        lower = factor * weight
        gradient, H = _derivatives(problem, z, lower)
        if -float(gradient @ _newton(gradient, H)) < NEAR * lower:
            return lower
    return 0.9 * weight


def _newton(gradient: Array, H: Array) -> Array:
    """The step to the minimum of a quadratic function."""
    size = 1.0 / np.sqrt(np.diag(H))
    return -size * np.linalg.solve(H * np.outer(size, size) + 1e-14 * np.eye(len(H)), size * gradient)


def _minimum(problem: Problem, z: Array, weight: float) -> Array:
    """Newton's method with steps cut back until all pseudo-inertias are definite and the value falls.

    The value divided by its least weight is self-concordant: whole steps are right where the decrement is small, and
    values need not be compared there, where they differ by rounding.
    """
    value = _value(problem, z, weight)
    for _ in range(MOST_STEPS):
        gradient, H = _derivatives(problem, z, weight)
        step = _newton(gradient, H)
        decrement = -float(gradient @ step)
        length = _reach(problem, problem.T @ z, problem.T @ step)
        new = _value(problem, z + length * step, weight)
        while not (np.isfinite(new) if decrement < 0.05 * WALL * weight else new <= value - 0.1 * length * decrement):
            length *= 0.5
            new = _value(problem, z + length * step, weight)
            if length < 1e-9:
                break  # nothing is gained beyond rounding
        if length >= 1e-9:
            z, value = z + length * step, new
        if decrement < 1e-9 * weight or length < 1e-9:
            break
    accuracy = 1e-3 if length >= 1e-9 else 0.1  # steps end at rounding where a payload has hardly any mass
    if decrement > accuracy * max(1.0, weight):
        raise KinetreeError(
            "no consistent estimate was found near the unconstrained one, which consistent=False returns"
        )
    return z


def _reach(problem: Problem, theta: Array, step: Array) -> float:
    """The part of a step, at most 1, that leaves a quarter of every pseudo-inertia and positive entry: nearer to the
    wall, the next steps would be short."""
    n = 10 * problem.n_bodies
    L = np.linalg.inv(np.linalg.cholesky(pseudo_inertias(theta[:n].reshape(-1, 10))))
    change = L @ pseudo_inertias(step[:n].reshape(-1, 10)) @ np.swapaxes(L, 1, 2)
    least = [*np.linalg.eigvalsh(change).ravel(), *(step[problem.signs] / theta[problem.signs])]
    return 0.75 / max(0.75, -min(least, default=0.0))


def _value(problem: Problem, z: Array, weight: float) -> float:
    theta, away = problem.T @ z, z[: len(problem.beta)] - problem.beta
    scalars = theta[problem.signs]
    if (scalars <= 0.0).any():
        return np.inf
    total = 0.5 * away @ problem.G @ away
    J = pseudo_inertias(theta[: 10 * problem.n_bodies].reshape(-1, 10))
    try:
        factors = np.linalg.cholesky(J)
    except np.linalg.LinAlgError:
        return np.inf
    diagonals = np.diagonal(factors, axis1=1, axis2=2)
    total += weight * float(np.einsum("nab,nba->", np.linalg.inv(problem.J0), J) - 2.0 * np.log(diagonals).sum())
    slope, wall = _walls(problem, weight)
    return float(total + slope @ scalars - wall @ np.log(scalars))


def _walls(problem: Problem, weight: float) -> tuple[Array, Array]:
    """Of friction and rotors: the factors of x and of -log x."""
    known, sizes = problem.prior[problem.signs] > 0.0, problem.sizes[problem.signs]
    wall = np.where(known, weight, WALL * weight)
    return wall / np.where(known, sizes, SMALL * sizes), wall


def _derivatives(problem: Problem, z: Array, weight: float) -> tuple[Array, Array]:
    theta, size = problem.T @ z, len(problem.beta)
    slopes, H = np.zeros(len(z)), np.zeros((len(z), len(z)))
    for i, J in enumerate(pseudo_inertias(theta[: 10 * problem.n_bodies].reshape(-1, 10))):
        part = slice(10 * i, 10 * i + 10)
        W = np.linalg.solve(J, BASIS)
        prior = np.linalg.solve(problem.J0[i], BASIS)
        slopes[part] += weight * (np.trace(prior, axis1=1, axis2=2) - np.trace(W, axis1=1, axis2=2))
        H[part, part] += weight * np.einsum("kab,lba->kl", W, W)
    slope, wall = _walls(problem, weight)
    places, x = np.flatnonzero(problem.signs), theta[problem.signs]
    slopes[places] += slope - wall / x
    H[places, places] += wall / x**2
    gradient, H = problem.T.T @ slopes, problem.T.T @ H @ problem.T
    gradient[:size] += problem.G @ (z[:size] - problem.beta)
    H[:size, :size] += problem.G
    return gradient, H
