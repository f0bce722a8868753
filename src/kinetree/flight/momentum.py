"""Momentum theory of a rotor as a disc that pushes air: induced velocity and power in hover, climb, descent and forward
flight (Leishman 2006, chapter 2).

T is the thrust [N], ρ the density [kg/m³], A the area of the disc [m²]; v_h = √(T/2ρA) is the induced velocity in
hover.
"""

from __future__ import annotations

from typing import Any

from kinetree import ops

VORTEX_RING = (1.0, -1.125, -1.372, -1.718, -0.655)
"""v_i/v_h = Σ k_n (V/v_h)^n between V = -2 v_h and 0, where no tube of air goes through the disc: a fit to what was
measured, with the 1 of an ideal hover, so that it meets climb at V = 0; it meets the windmill to 3 %."""
ITERATIONS = 30
LEAST = 1e-12
"""[m/s], below which v_h is no divisor: without thrust there is no induced velocity."""


def hover_velocity(thrust: Any, density: Any, area: Any) -> Any:
    """v_h = √(T/2ρA) [m/s]."""
    return ops.sqrt(thrust / (2.0 * density * area))


def hover_power(thrust: Any, density: Any, area: Any) -> Any:
    """P = T v_h = T^1.5/√(2ρA) [W], the minimum power of hovering."""
    return thrust * hover_velocity(thrust, density, area)


def axial_velocity(climb: Any, hover: Any) -> Any:
    """v_i [m/s] in vertical flight at a climb speed V [m/s]:

    V ≥ 0            v_i = -V/2 + √(V²/4 + v_h²)
    V ≤ -2 v_h       v_i = -V/2 - √(V²/4 - v_h²)             windmill
    between          the fit `VORTEX_RING`
    """
    x = climb / ops.maximum(hover, LEAST)
    up = -0.5 * x + ops.sqrt(0.25 * x * x + 1.0)
    mill = -0.5 * x - ops.sqrt(ops.maximum(0.25 * x * x - 1.0, 0.0))
    ring: Any = 0.0
    for k in reversed(VORTEX_RING):
        ring = ring * x + k
    return hover * ops.where(ops.less_equal(0.0, x), up, ops.where(ops.less_equal(x, -2.0), mill, ring))


def forward_velocity(along: Any, climb: Any, hover: Any) -> Any:
    """v_i [m/s] in forward flight at V_∥ in the plane of the disc and V_z along its axis (Glauert):

        v_i √(V_∥² + (V_z + v_i)²) = v_h²,

    for V_z > -v_h or V_∥ > v_h, where a tube of air goes through the disc. Newton's method on v = v_i/v_h.
    """
    least = ops.maximum(hover, LEAST)
    mu, x = along / least, climb / least
    v = ops.minimum(1.0, 1.0 / ops.maximum(mu, 1e-3))
    for _ in range(ITERATIONS):
        through = ops.sqrt(mu * mu + (x + v) * (x + v))
        slope = through + v * (x + v) / through
        v = ops.maximum(v - (v * through - 1.0) / slope, 0.02)
    return hover * v


def figure_of_merit(thrust: Any, torque: Any, speed: Any, density: Any, area: Any) -> Any:
    """P_ideal/P in hover: T v_h over the power Q ω of the shaft."""
    return hover_power(thrust, density, area) / (torque * speed)
