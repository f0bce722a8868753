"""One step in time on the manifold of configurations.

q lives on a manifold (quaternions, angles), so it moves by q ⊕ θ with θ in the tangent space. Inside a step, where
q = q_0 ⊕ θ, θ̇ follows from v by each joint's `tangent_rate`: for most joints θ̇ = v, for rotations the series of dexp⁻¹,
cut where it no longer matters for a method of order four (Munthe-Kaas 1998).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kinetree.algorithms.configuration import integrate
from kinetree.model.tree import Model
from kinetree.ops import Array

Acceleration: TypeAlias = Callable[[Array, Array, Any], Array]
"""v̇ from q, v and the time since the step began."""


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: k_i at c_i dt, with the state moved by Σ a_ij k_j; the step is Σ b_i k_i."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]


RK4 = Tableau(a=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), b=(1 / 6, 1 / 3, 1 / 3, 1 / 6), c=(0.0, 0.5, 0.5, 1.0))
"""Of order four, the classical one."""


def semi_implicit_euler(model: Model, q: Array, v: Array, dt: Any, acceleration: Acceleration) -> tuple[Array, Array]:
    """v' = v + dt v̇(q, v), then q' = q ⊕ dt v': of order one, and true to energy over long times."""
    v_next = v + dt * acceleration(q, v, 0.0)
    return integrate(model, q, dt * v_next), v_next


def runge_kutta(
    model: Model, q: Array, v: Array, dt: Any, acceleration: Acceleration, tableau: Tableau = RK4
) -> tuple[Array, Array]:
    """A step of an explicit Runge-Kutta method, in θ and v."""
    rates: list[tuple[Array, Array]] = []
    for row, c in zip(tableau.a, tableau.c, strict=True):
        theta, v_at = _moved(v, dt, row, rates)
        q_at = integrate(model, q, theta) if rates else q
        rates.append((_tangent_rates(model, theta, v_at), acceleration(q_at, v_at, c * dt)))
    theta, v_next = _moved(v, dt, tableau.b, rates)
    return integrate(model, q, theta), v_next


def _moved(v: Array, dt: Any, weights: tuple[float, ...], rates: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    theta, velocity = np.zeros(len(v)), v
    for weight, (theta_rate, v_rate) in zip(weights, rates, strict=True):
        if weight:
            theta, velocity = theta + (weight * dt) * theta_rate, velocity + (weight * dt) * v_rate
    return theta, velocity


def _tangent_rates(model: Model, theta: Array, v: Array) -> Array:
    return np.concatenate([np.zeros(0), *(joint.tangent_rate(theta, v) for joint in model.owners)])


INTEGRATORS: Mapping[str, Callable[..., tuple[Array, Array]]] = {
    "semi-implicit-euler": semi_implicit_euler,
    "rk4": runge_kutta,
}
