"""One step in time on the manifold of configurations.

q lives on a manifold (quaternions, angles), so it moves by q ⊕ θ with θ in the tangent space. Inside a step, where
q = q_0 ⊕ θ, θ̇ follows from v by each joint's `tangent_rate`: for most joints θ̇ = v, for rotations the series of dexp⁻¹,
cut where it no longer matters for a method of order five (Munthe-Kaas 1998).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from kinetree.algorithms.configuration import integrate, tangent_rates
from kinetree.ops import Array
from kinetree.robot import Robot


@dataclass(frozen=True, eq=False)
class Motion:
    """What an integrator knows: whose motion it is, and what moves it."""

    robot: Robot
    by_efforts: Callable[[Any, Any, Any], Array]
    """v̇ from q, v and efforts."""
    efforts: Callable[[Any, Any, Any], Array]
    """τ from q, v and the time since the step began."""
    reacts: bool = False
    """Whether efforts change with q or v."""
    told: dict[str, Any] = field(default_factory=dict)
    """Where an integrator says what else there is to record."""

    def acceleration(self, q: Array, v: Array, later: Any) -> Array:
        """v̇ at a time since the step began."""
        return self.by_efforts(q, v, self.efforts(q, v, later))

    def moved(self, q: Array, theta: Array) -> Array:
        """q ⊕ θ."""
        return integrate(self.robot.model, q, theta)

    def rates(self, theta: Array, v: Array) -> Array:
        """θ̇ where q = q_0 ⊕ θ."""
        return tangent_rates(self.robot.model, theta, v)


Integrator: TypeAlias = Callable[[Motion, Array, Array, Any], tuple[Array, Array]]
"""q and v after a step, from those before it and its length."""
Rates: TypeAlias = Sequence[tuple[Array, Array]]
"""θ̇ and v̇ at the stages of a step."""


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: k_i at c_i dt, with the state moved by Σ a_ij k_j; the step is Σ b_i k_i."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    order: int

    def stages(self, motion: Motion, q: Array, v: Array, dt: Any) -> list[tuple[Array, Array]]:
        """θ̇ and v̇ at every stage."""
        rates: list[tuple[Array, Array]] = []
        for row, c in zip(self.a, self.c, strict=True):
            theta, v_at = moved(v, dt, row, rates)
            q_at = motion.moved(q, theta) if rates else q
            rates.append((motion.rates(theta, v_at), motion.acceleration(q_at, v_at, c * dt)))
        return rates

    def __call__(self, motion: Motion, q: Array, v: Array, dt: Any) -> tuple[Array, Array]:
        theta, v_next = moved(v, dt, self.b, self.stages(motion, q, v, dt))
        return motion.moved(q, theta), v_next


def moved(v: Array, dt: Any, weights: Sequence[float], rates: Rates) -> tuple[Array, Array]:
    """θ and v after Σ w_i k_i."""
    theta, velocity = np.zeros(len(v)), v
    for weight, (theta_rate, v_rate) in zip(weights, rates, strict=True):
        if weight:
            theta, velocity = theta + (weight * dt) * theta_rate, velocity + (weight * dt) * v_rate
    return theta, velocity


MIDPOINT = Tableau(a=((), (0.5,)), b=(0.0, 1.0), c=(0.0, 0.5), order=2)
"""RK2: the derivative in the middle of the step."""
HEUN = Tableau(a=((), (1.0,)), b=(0.5, 0.5), c=(0.0, 1.0), order=2)
"""RK2: the mean of the derivatives at both ends."""
RK4 = Tableau(
    a=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), b=(1 / 6, 1 / 3, 1 / 3, 1 / 6), c=(0.0, 0.5, 0.5, 1.0), order=4
)
"""The classical one."""


def semi_implicit_euler(motion: Motion, q: Array, v: Array, dt: Any) -> tuple[Array, Array]:
    """v' = v + dt v̇(q, v), then q' = q ⊕ dt v': of order one; where M is constant it is symplectic."""
    v_next = v + dt * motion.acceleration(q, v, 0.0)
    return motion.moved(q, dt * v_next), v_next


EXPLICIT: Mapping[str, Integrator] = {
    "semi-implicit-euler": semi_implicit_euler,
    "midpoint": MIDPOINT,
    "heun": HEUN,
    "rk4": RK4,
}
"""By name."""
