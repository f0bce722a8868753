"""A rotor by momentum and blade-element theory together: thrust, torque, hub force and flapping from its blades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import as_count, as_flag
from kinetree.flight.fields import Finite, Fraction, Nonnegative, Positive, ReadsFields, Text, Turn
from kinetree.flight.part import Airflow, Part
from kinetree.flight.rotor import ground_effect
from kinetree.ops import Array
from kinetree.spatial import Force

ITERATIONS = 12
LEAST_SPEED = 1e-3
"""Of the tips [m/s], below which a rotor that stands is taken to turn."""


class BladeCoefficients(NamedTuple):
    """Dimensionless coefficients of a rotor: divided by ρ A (ωR)², the torque by ρ A R (ωR)²."""

    inflow: Any
    """λ = (V_z + v_i)/ωR"""
    thrust: Any
    """C_T"""
    torque: Any
    """C_Q"""
    hub_force: Any
    """C_H, against the motion in the plane."""
    tilt: Any
    """a₁, by which blades that flap freely tilt the thrust backwards [rad]."""


@final
@dataclass(frozen=True)
class BladeRotor(ReadsFields, Part):
    """A rotor with blades of constant chord and linear twist, θ = θ₀ + θ_t r/R, under uniform inflow; its input is its
    speed ω ≥ 0 [rad/s]. With σ = N c/πR, μ = V_∥/ωR and λ = (V_z + v_i)/ωR:

        C_T = σa/2 [θ₀ (1/3 + μ²/2) + θ_t (1 + μ²)/4 - λ/2]       blade elements
        C_T = 2 λ_i √(μ² + λ²)                                    momentum, λ = V_z/ωR + λ_i
        C_Q = λ C_T + σ c_d (1 + μ²)/8
        C_H = σ c_d μ/4 + f a₁ C_T,   a₁ = μ (8/3 θ₀ + 2 θ_t - 2 λ)/(1 - μ²/2)

    for V_z above a slow descent (Leishman 2006, chapters 3 and 4). The thrust is along z of the frame.
    """

    frame: Text
    radius: Positive
    """R [m]"""
    chord: Positive
    """c [m]"""
    pitch: Finite
    """θ₀ at the hub, as if the blade went there [rad]."""
    twist: Finite = 0.0
    """θ_t over the blade [rad]; negative where tips are flatter."""
    blades: Annotated[int, as_count] = 2
    """N"""
    lift_slope: Positive = 5.73
    """a of the profile [1/rad]."""
    drag: Nonnegative = 0.011
    """c_d of the profile."""
    flapping: Fraction = 0.0
    """f: how freely blades flap, from 0, stiff, to 1."""
    direction: Turn = 1
    """1 turns counter-clockwise about z, -1 clockwise."""
    ground: Annotated[bool, as_flag] = False
    """Whether the thrust grows near the ground, as that of `Rotor` does."""
    inputs = ("speed",)

    @property
    def solidity(self) -> float:
        """σ = N c/πR: the part of the disc that is blades."""
        return float(self.blades * self.chord / (np.pi * self.radius))

    @property
    def area(self) -> float:
        """π R² [m²]."""
        return float(np.pi * self.radius**2)

    def coefficients(self, advance: Any, climb: Any) -> BladeCoefficients:
        """At an advance ratio μ and a climb V_z/ωR."""
        s, a, mu = self.solidity, self.lift_slope, advance
        lift = self.pitch * (1.0 / 3.0 + 0.5 * mu * mu) + 0.25 * self.twist * (1.0 + mu * mu)
        # hover: C_T = σa/2 (lift - λ/2) = 2 λ², a quadratic equation; and then Newton's method on λ_i
        k = s * a / 8.0
        start = np.sqrt(0.25 * k * k + k * max(self.pitch / 3.0 + 0.25 * self.twist, 1e-6)) - 0.5 * k
        inflow = start / ops.maximum(1.0, 0.5 * mu / start)
        for _ in range(ITERATIONS):
            through = ops.sqrt(mu * mu + (climb + inflow) * (climb + inflow) + 1e-12)
            thrust = 0.5 * s * a * (lift - 0.5 * (climb + inflow))
            slope = 2.0 * through + 2.0 * inflow * (climb + inflow) / through + 0.25 * s * a
            inflow = inflow - (2.0 * inflow * through - thrust) / slope
        through = climb + inflow
        C_T = 0.5 * s * a * (lift - 0.5 * through)
        C_Q = through * C_T + s * self.drag * (1.0 + mu * mu) / 8.0
        tilt = mu * (8.0 / 3.0 * self.pitch + 2.0 * self.twist - 2.0 * through) / (1.0 - 0.5 * mu * mu)
        C_H = 0.25 * s * self.drag * mu + self.flapping * tilt * C_T
        return BladeCoefficients(through, C_T, C_Q, C_H, tilt)

    def force(self, flow: Airflow, u: Array) -> Force:
        """ρ A (ωR)² (C_H, C_T), and the torque against its turning."""
        (w,) = u
        x, y, z = flow.velocity
        tip = ops.maximum(ops.absolute(w) * self.radius, LEAST_SPEED)
        along = ops.sqrt(x * x + y * y + 1e-16)
        found = self.coefficients(ops.minimum(along / tip, 1.0), ops.clip(z / tip, -1.0, 1.0))
        scale = flow.density * self.area * tip * tip * ops.where(ops.less(LEAST_SPEED, tip), 1.0, 0.0)
        H = -scale * found.hub_force / along
        n = -self.direction * scale * self.radius * found.torque
        T = scale * found.thrust * (ground_effect(flow.height, self.radius) if self.ground else 1.0)
        return Force(np.array([H * x, H * y, T]), np.array([0.0 * n, 0.0 * n, n]))
