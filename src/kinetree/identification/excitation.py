"""Motions that show a robot's parameters: Fourier series within limits, with a well-conditioned base regressor.

With the rows of the base regressor at all samples in one matrix W, rows scaled by the efforts of their joints and
columns by their size at random states, and G = WᵀW, the condition number in the Frobenius norm is smooth:

    log κ = ½ log tr G + ½ log tr G⁻¹        ∂ log κ / ∂W = W (1 / tr G - G⁻² / tr G⁻¹)

Its gradient in q, v and a is that of ⟨E, Y(q, v, a)⟩ with E = ∂ log κ / ∂Y held, by reverse differentiation of the
regressor in machine code. Limits enter as penalties; at the end the motion shrinks about its centre until all of them
hold at a dense grid of times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_count, as_generator, number_that
from kinetree.base.lazy import lazy
from kinetree.base.lazy_imports import extra
from kinetree.errors import ArgumentError
from kinetree.functions.derivatives import gradient
from kinetree.identification.friction import as_terms, term_slopes
from kinetree.identification.unknowns import Unknowns
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot
from kinetree.trajectories import Fourier

UNLIMITED_SPEED = 1.0
"""For joints without a velocity limit [rad/s or m/s]."""
UNLIMITED_RANGE = np.pi
"""For joints without position limits, to both sides [rad or m]."""
PENALTY = 1e3
DENSE = 100
"""Times per period of the highest harmonic at which limits hold."""


def excitation(
    robot: Robot,
    duration: float = 10.0,
    *,
    harmonics: int = 5,
    margin: float = 0.1,
    friction: bool | str | Iterable[str] = True,
    armature: bool = False,
    bodies: Iterable[str] | None = None,
    starts: int = 3,
    iterations: int = 150,
    rng: np.random.Generator | int = 0,
) -> Excitation:
    """A periodic motion that begins and ends at rest, stays within limits, and excites the parameters of a robot.

    duration     of one period [s]
    harmonics    sines and cosines at this many multiples of 1 / duration
    margin       part of the position ranges (at each end), velocity and effort limits that is kept free
    friction, armature, bodies   what is to be identified, as `identify` takes it
    starts, iterations, rng      of the search: random starts, steps of L-BFGS from each (SciPy), their generator

    Links may collide: look at it before a robot makes it, by `robot.view((t, motion(t).position))`.
    """
    robot = as_robot(robot).astype("float64")
    if robot.nq != robot.nv or len(robot.model.actuated) != robot.nv:
        raise ArgumentError(f"robot is {robot!r}; expected one whose joints all have a motor and plain coordinates")
    share = number_that(lambda x: 0.0 <= x < 0.5, "a number from 0 to below 0.5")("margin", margin)
    seconds = number_that(lambda x: 0.0 < x < np.inf, "a time above zero")("duration", duration)
    unknowns = Unknowns.of(robot, bodies, as_terms(friction, armature, False), 0.1)
    search = _Search(unknowns, seconds, as_count("harmonics", harmonics, 2), share)
    generator = as_generator("rng", rng)
    best = min(
        (search.run(generator, iterations) for _ in range(max(1, as_count("starts", starts)))), key=search.log_condition
    )
    return Excitation(unknowns, search.motion(best), search.condition(best))


@final
@dataclass(frozen=True, eq=False)
class Excitation:
    """A motion for identification; `excitation(t)` gives position, velocity and acceleration."""

    unknowns: Unknowns
    motion: Fourier
    condition: float
    """Of the base regressor along the motion with columns of length one, as `Identification.condition`."""

    @property
    def robot(self) -> Robot:
        """The robot that it is for."""
        return self.unknowns.robot

    @property
    def duration(self) -> float:
        """The duration of one period [s]."""
        return self.motion.duration

    def __call__(self, t: Any) -> Any:
        """position, velocity and acceleration at times (…) [s], (…, nv) each, in one period after the other."""
        return self.motion.at(np.mod(np.asarray(t, dtype=float), self.duration))


class _Search:
    """The minimisation, in coefficients z: of each joint its centre, and sines and cosines with rest at both ends."""

    def __init__(self, unknowns: Unknowns, duration: float, harmonics: int, margin: float) -> None:
        robot = unknowns.robot
        self.unknowns, self.robot, self.duration, self.harmonics = unknowns, robot, duration, harmonics
        lower, upper = _ranges(robot)
        self.middle, self.half = 0.5 * (lower + upper), (0.5 - margin) * (upper - lower)
        speed, effort = robot.limits.velocity, robot.limits.effort
        self.speed = (1.0 - margin) * np.where(np.isfinite(speed) & (speed > 0.0), speed, UNLIMITED_SPEED)
        self.effort = (1.0 - margin) * np.where(effort > 0.0, effort, np.inf)
        count = max(20 * harmonics, -(-2 * len(unknowns.base) // robot.nv))
        self.bases = self._bases(np.linspace(0.0, duration, count, endpoint=False))
        self.dense = self._bases(np.linspace(0.0, duration, DENSE * harmonics, endpoint=False))
        self.scale_rows, self.scale_columns = self._scales()

    def _bases(self, t: Array) -> tuple[Array, Array, Array]:
        """Φ with q = Φ z for one joint, and its derivatives, (times, 2 harmonics - 1): a constant first, then
        combinations of sines and of cosines whose rates, and whose second derivatives, vanish at t = 0."""
        k = np.arange(1, self.harmonics + 1)
        w = 2.0 * np.pi * k / self.duration
        sines = np.stack([np.sin(np.outer(t, w)) / w, np.cos(np.outer(t, w)), -w * np.sin(np.outer(t, w))])
        cosines = np.stack([np.cos(np.outer(t, w)) / w, -np.sin(np.outer(t, w)), -w * np.cos(np.outer(t, w))])
        at_rest = [sines @ _orthogonal_to(np.ones(len(k))), cosines @ _orthogonal_to(w)]
        constant = np.zeros((3, len(t), 1))
        constant[0] = 1.0
        return tuple(np.concatenate([constant, *at_rest], axis=2))

    def _scales(self) -> tuple[Array, Array]:
        """Typical efforts of joints, and sizes of columns of the base regressor, at random states."""
        rng = np.random.default_rng(0)
        q = self.middle + self.half * rng.uniform(-1.0, 1.0, size=(200, self.robot.nv))
        v = self.speed * rng.uniform(-1.0, 1.0, size=q.shape)
        w = 2.0 * np.pi / self.duration
        a = w * self.speed * rng.uniform(-1.0, 1.0, size=q.shape)
        tau = np.sqrt(np.mean(self.robot.inverse_dynamics(q, v, a) ** 2, axis=0))
        rows = 1.0 / np.maximum(tau, 1e-3 * max(float(tau.max()), 1e-9))
        Y = self.unknowns.base.columns(self.unknowns.whole(q, v, a)) * rows[:, None]
        sizes = np.sqrt(np.mean(Y**2, axis=(0, 1)))
        return rows, 1.0 / np.where(sizes > 0.0, sizes, 1.0)

    # -- value and gradient ------------------------------------------------------------------------------------

    @lazy
    def _inertial(self) -> Any:
        """∂/∂q, ∂/∂v and ∂/∂a of ⟨E, Y⟩."""
        shape = (self.robot.nv, len(self.robot.parameters))

        def product(robot: Robot, q: Any, v: Any, a: Any, E: Any) -> Any:
            return (E * robot.regressor(q, v, a)).sum()

        return gradient(product, ("q", "v", "a"), shapes={"E": shape})

    @lazy
    def _efforts(self) -> Any:
        def power(robot: Robot, q: Any, v: Any, a: Any, u: Any) -> Any:
            return u @ robot.inverse_dynamics(q, v, a)

        return gradient(power, ("q", "v", "a"), shapes={"u": (self.robot.nv,)})

    def states(self, z: Array, bases: tuple[Array, Array, Array]) -> list[Array]:
        """q, v and a at the times of the bases, (times, nv) each."""
        return [base @ z for base in bases]

    def value_and_gradient(self, flat: Array) -> tuple[float, Array]:
        """log κ and penalties of what is beyond limits, and the gradient."""
        z = flat.reshape(-1, self.robot.nv)
        q, v, a = self.states(z, self.bases)
        value, slopes = self._log_condition(q, v, a)
        tau = self.robot.inverse_dynamics(q, v, a)
        for k, (x, center, limit) in enumerate(((q, self.middle, self.half), (v, 0.0, self.speed))):
            over = _beyond((x - center) / limit)
            value += PENALTY * float(np.mean(over**2))
            slopes[k] += 2.0 * PENALTY * over / limit / over.size
        over = _beyond(tau / self.effort)
        value += PENALTY * float(np.mean(over**2))
        if over.any():
            weights = 2.0 * PENALTY * over / self.effort / over.size
            for slope, more in zip(slopes, self._efforts(self.robot, q, v, a, weights), strict=True):
                slope += more
        return value, np.sum([base.T @ slope for base, slope in zip(self.bases, slopes, strict=True)], axis=0).ravel()

    def _log_condition(self, q: Array, v: Array, a: Array) -> tuple[float, list[Array]]:
        whole = self.unknowns.whole(q, v, a)
        scale = self.scale_rows[:, None] * self.scale_columns
        W = self.unknowns.base.columns(whole) * scale
        flat = W.reshape(-1, W.shape[-1])
        G = flat.T @ flat
        G = G + 1e-12 * np.trace(G) * np.eye(len(G))
        inverse = np.linalg.inv(G)
        value = 0.5 * np.log(np.trace(G)) + 0.5 * np.log(np.trace(inverse))
        D = np.eye(len(G)) / np.trace(G) - inverse @ inverse / np.trace(inverse)
        E = np.zeros_like(whole)
        E[..., self.unknowns.base.independent] = (W @ D) * scale
        return float(value), self._slopes(E, q, v, a)

    def _slopes(self, E: Array, q: Array, v: Array, a: Array) -> list[Array]:
        """∂/∂q, ∂/∂v and ∂/∂a of ⟨E, Y⟩ over all samples, (times, nv) each."""
        unknowns = self.unknowns
        own = np.zeros((*E.shape[:2], len(self.robot.parameters)))
        own[..., unknowns.inertial_columns] = E[..., : unknowns.n_inertial]
        slopes = [np.array(each) for each in self._inertial(self.robot, q, v, a, own)]
        for t, term in enumerate(unknowns.terms):
            start = unknowns.n_inertial + t * self.robot.nv
            e = np.einsum("njj->nj", E[..., start : start + self.robot.nv])
            by_v, by_a = term_slopes(term, v, self.robot.model.friction_width, unknowns.stribeck_speed)
            slopes[1] += e * by_v
            slopes[2] += e * by_a
        return slopes

    # -- the search --------------------------------------------------------------------------------------------

    def run(self, rng: np.random.Generator, iterations: int) -> Array:
        """Coefficients at a minimum near a random start, within limits."""
        with extra("identification", "exciting motions are found by the package scipy"):
            from scipy.optimize import minimize  # noqa: PLC0415 - an extra
        z = rng.normal(size=(2 * self.harmonics - 1, self.robot.nv))
        z[0] = self.middle + 0.2 * self.half * rng.uniform(-1.0, 1.0, self.robot.nv)
        limited = zip(self.bases, (self.half, self.speed), strict=False)
        extent = np.max([np.abs(base[:, 1:] @ z[1:]).max(axis=0) / limit for base, limit in limited], axis=0)
        z[1:] *= 0.5 / np.maximum(extent, 1e-9)
        options = {"maxiter": as_count("iterations", iterations)}
        found = minimize(self.value_and_gradient, z.ravel(), jac=True, method="L-BFGS-B", options=options)
        return self.within_limits(found.x.reshape(z.shape))

    def within_limits(self, z: Array) -> Array:
        """The motion, smaller about its centre, and nearer to the middle of the ranges, until all limits hold."""
        z = z.copy()
        z[0] = np.clip(z[0], self.middle - 0.95 * self.half, self.middle + 0.95 * self.half)
        for _ in range(200):
            over = self._excess(z)
            if over <= 1.0:
                return z
            z[1:] *= max(0.8, min(0.99, 1.0 / over))
            z[0] += 0.05 * (self.middle - z[0])
        raise ArgumentError("effort limits do not even hold the robot at rest in the middle of its ranges")

    def _excess(self, z: Array) -> float:
        """The largest share of a limit.

        Positions and velocities are sums of sines up to the frequency ω of the last harmonic, so |f''| ≤ ω² max |f|
        (Bernstein): between samples they are larger by ½ (ω Δt / 2)² max |f| at most.
        """
        q, v, a = self.states(z, self.dense)
        tau = self.robot.inverse_dynamics(q, v, a)
        shares = ((q - self.middle) / self.half, v / self.speed, tau / self.effort)
        return max(float(np.abs(share).max()) for share in shares) / (1.0 - 0.5 * (np.pi / DENSE) ** 2)

    def log_condition(self, z: Array) -> float:
        """log κ of a motion."""
        return self._log_condition(*self.states(z, self.bases))[0]

    def condition(self, z: Array) -> float:
        """In the spectral norm, columns of length one, rows as they are."""
        W = self.unknowns.base.columns(self.unknowns.whole(*self.states(z, self.dense)))
        flat = W.reshape(-1, W.shape[-1])
        return float(np.linalg.cond(flat / np.maximum(np.linalg.norm(flat, axis=0), 1e-300)))

    def motion(self, z: Array) -> Fourier:
        """The series with these coefficients."""
        n = self.harmonics - 1
        k = np.arange(1, self.harmonics + 1)
        w = 2.0 * np.pi * k / self.duration
        sine = _orthogonal_to(np.ones(len(k))) @ z[1 : 1 + n] / w[:, None]
        cosine = _orthogonal_to(w) @ z[1 + n :] / w[:, None]
        return Fourier(z[0], sine, cosine, self.duration)


def _ranges(robot: Robot) -> tuple[Array, Array]:
    lower, upper = robot.limits.lower, robot.limits.upper
    low = np.where(
        np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * UNLIMITED_RANGE, -UNLIMITED_RANGE)
    )
    high = np.where(np.isfinite(upper), upper, low + 2 * UNLIMITED_RANGE)
    tight = high - low <= 0.0
    if tight.any():
        name = robot.joint_names[int(np.argmax(tight))]
        raise ArgumentError(f"joint {name!r} has no range to move in; lock it with kt.edit.lock")
    return low, high


def _orthogonal_to(direction: Array) -> Array:
    """An orthonormal basis of all that is orthogonal to a vector, (n, n - 1)."""
    return np.linalg.svd(direction[None])[2][1:].T


def _beyond(x: Array) -> Array:
    """What of x is beyond ±1, with its sign."""
    return np.sign(x) * np.maximum(np.abs(x) - 1.0, 0.0)
