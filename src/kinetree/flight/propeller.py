"""A propeller by its advance ratio: thrust and torque coefficients as polynomials in J."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import optional
from kinetree.flight.fields import Positive, ReadsFields, Text, Three, Turn, kind_of
from kinetree.flight.motor import DCMotor
from kinetree.flight.part import Airflow, Part
from kinetree.ops import Array
from kinetree.spatial import Force


@final
@dataclass(frozen=True)
class Propeller(ReadsFields, Part):
    """Thrust along x of a frame, by J = V/(n D) with n = Ω/2π revolutions a second and the speed V along x:

        T = ρ n² D⁴ C_T(J),   Q = ρ n² D⁵ C_Q(J),   C(J) = c₀ + c₁ J + c₂ J |J|

    where J² of the usual polynomial is J |J|, so that in a flow from behind the drag of the blades is against it, too.
    Its input is the speed Ω [rad/s]; with a motor, the throttle from 0 to 1, a part of the voltage, and Ω is where the
    torque of the motor equals Q (Beard, McLain 2012, and their supplement).
    """

    frame: Text
    diameter: Positive
    """D [m]"""
    thrust: Three
    """c₀, c₁, c₂ of C_T."""
    torque: Three
    """c₀, c₁, c₂ of C_Q."""
    direction: Turn = 1
    """1 turns counter-clockwise about x, -1 clockwise."""
    motor: Annotated[DCMotor | None, optional(kind_of(DCMotor, "DCMotor(0.07, 0.04)"))] = None
    voltage: Positive = 1.0
    """At full throttle [V]."""

    @property
    def inputs(self) -> tuple[str, ...]:  # type: ignore[override]
        """ "speed", or "throttle" with a motor."""
        return ("speed",) if self.motor is None else ("throttle",)

    def speed(self, flow: Airflow, u: Array) -> Any:
        """Ω [rad/s]."""
        if self.motor is None:
            return u[0]
        k = _by_speed(self.torque, flow.density, self.diameter, flow.velocity[0])
        constant, linear, square = (self.diameter * each for each in k)
        return self.motor.steady_speed(self.voltage * ops.clip(u[0], 0.0, 1.0), square, linear, constant)

    def force(self, flow: Airflow, u: Array) -> Force:
        """T along x, and the torque against its turning."""
        w = self.speed(flow, u)
        t0, t1, t2 = _by_speed(self.thrust, flow.density, self.diameter, flow.velocity[0])
        q0, q1, q2 = _by_speed(self.torque, flow.density, self.diameter, flow.velocity[0])
        T = t0 + (t1 + t2 * w) * w
        Q = self.diameter * (q0 + (q1 + q2 * w) * w)
        return Force(np.array([T, 0.0 * T, 0.0 * T]), np.array([-self.direction * Q, 0.0 * T, 0.0 * T]))


def _by_speed(c: tuple[float, float, float], density: Any, D: float, V: Any) -> tuple[Any, Any, Any]:
    """k₀ + k₁ Ω + k₂ Ω² = ρ n² D⁴ C(J), without a division by Ω."""
    turn = 2.0 * np.pi
    return (
        density * (D * D * c[2]) * (V * ops.absolute(V)),
        density * (D**3 * c[1] / turn) * V,
        density * (D**4 * c[0] / turn**2),
    )
