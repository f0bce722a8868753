"""A rotor by lumped coefficients: thrust and drag torque by the square of its speed, and what flight adds to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import number_that
from kinetree.flight.atmosphere import SEA_LEVEL_DENSITY
from kinetree.flight.fields import Finite, Nonnegative, Positive, ReadsFields, Text, Turn
from kinetree.flight.part import Airflow, Part
from kinetree.ops import Array
from kinetree.spatial import Force


@final
@dataclass(frozen=True)
class Rotor(ReadsFields, Part):
    """A rotor at a frame's origin with thrust along z of the frame; its input is its speed ω ≥ 0 [rad/s].

        T = k_T ω² g - k_z ω V_z + k_h (V_x² + V_y²)        thrust along z: inflow and translational lift
        H = -k_H ω (V_x, V_y)                               hub force in the plane of the rotor
        n = -s k_Q ω² z - k_f ω (V × z)                     drag torque against its turning, and flapping

    with the velocity V of the hub through the air and the sense of rotation s. All of it is proportional to the density
    of the air. Near the ground, g = 1/(1 - (R/4h)²) is the ground effect of Cheeseman and Bennett, for h ≥ R/2.
    (Mahony, Kumar, Corke 2012; Svacha 2017.)
    """

    frame: Text
    thrust: Positive
    """k_T [N s²/rad²]"""
    torque: Nonnegative
    """k_Q [N m s²/rad²]"""
    direction: Turn = 1
    """s: 1 turns counter-clockwise about z, -1 clockwise."""
    hub_force: Nonnegative = 0.0
    """k_H [N s²/(rad m)]"""
    inflow: Nonnegative = 0.0
    """k_z [N s²/(rad m)]"""
    translational_lift: Finite = 0.0
    """k_h [N s²/m²]"""
    flapping: Finite = 0.0
    """k_f [N s²/rad]"""
    max_speed: Annotated[float, number_that(lambda x: x > 0.0, "a positive number")] = np.inf
    """[rad/s], of which `Allocation` knows."""
    ground_radius: Nonnegative = 0.0
    """R [m] of the ground effect; 0 is for none."""
    density: Positive = SEA_LEVEL_DENSITY
    """ρ [kg/m³] at which the coefficients were found."""
    inputs = ("speed",)

    def force(self, flow: Airflow, u: Array) -> Force:
        """(H, T) and n."""
        (w,) = u
        x, y, z = flow.velocity
        near = ground_effect(flow.height, self.ground_radius) if self.ground_radius else 1.0
        T = self.thrust * w * w * near - self.inflow * w * z + self.translational_lift * (x * x + y * y)
        H = -self.hub_force * w
        f = -self.flapping * w
        n = -self.direction * self.torque * w * w
        return Force(np.array([H * x, H * y, T]), np.array([f * y, -f * x, n])) * (flow.density / self.density)


def ground_effect(height: Any, radius: float) -> Any:
    """T/T∞ = 1/(1 - (R/4h)²) at the same power (Cheeseman, Bennett 1955), of rotors at a height [m]; it is that of half
    a radius below."""
    x = radius / (4.0 * ops.maximum(height, 0.5 * radius))
    return 1.0 / (1.0 - x * x)
