"""Total-energy control: throttle for the sum of kinetic and potential energy, pitch for their difference (Lambregts
1983)."""

from __future__ import annotations

from typing import Any, NamedTuple, final

import numpy as np

from kinetree import ops
from kinetree.control.controller import Controller
from kinetree.flight.aerospace import speed_through_air
from kinetree.flight.atmosphere import GRAVITY
from kinetree.flight.fields import positive
from kinetree.flight.flyers import STATE, as_flyer
from kinetree.flight.trim import Trim, required
from kinetree.ops import Array
from kinetree.robot import Robot


class EnergyRates(NamedTuple):
    """Energy rates divided by weight and speed, dimensionless like angles of climb."""

    total: Any
    """Ė/(m g V) = V̇/g + ḣ/V"""
    balance: Any
    """(ḣ/V - V̇/g)"""


def energy_rates(climb_rate: Any, acceleration: Any, speed: Any) -> EnergyRates:
    """Of an aircraft that climbs at ḣ [m/s] and accelerates by V̇ [m/s²] at V [m/s]."""
    up, ahead = climb_rate / speed, acceleration * (1.0 / GRAVITY)
    return EnergyRates(up + ahead, up - ahead)


@final
class TotalEnergyControl(Controller):
    """Pitch and throttle to fly at a height and an airspeed: `tecs(q, v, memory, dt, height, airspeed, wind)` as
    {"pitch": θ*, "throttle": δt, "memory": (2,)}.

        γ* = k_h (h* - h)/V,   V̇*/g = k_V (V* - V)/g                       commands, bounded
        δt = δt₀ + k_t [(γ* + V̇*/g) - (ḣ/V + V̇/g)] + ∫                     energy
        θ* = θ₀ + k_b [(γ* - V̇*/g) - (ḣ/V - V̇/g)] + ∫                      its distribution

    V is the airspeed in a `wind` (3,) [m/s] in world axes, zero if it is not given. V̇ is taken as zero where it is not
    measured: the integrals then do its work. `memory` is the two integrals, which a rollout carries. Climbs are bounded
    to `steepest` [rad].
    """

    def __init__(
        self,
        robot: Robot,
        about: Trim,
        height_gain: float = 0.25,
        speed_gain: float = 0.4,
        throttle_gain: float = 1.5,
        throttle_integral: float = 0.4,
        pitch_gain: float = 0.5,
        pitch_integral: float = 0.3,
        steepest: float = 0.2,
    ) -> None:
        robot = as_flyer(robot, "TotalEnergyControl")
        required(about)
        names = ("height_gain", "speed_gain", "throttle_gain", "throttle_integral", "pitch_gain", "pitch_integral")
        values = (height_gain, speed_gain, throttle_gain, throttle_integral, pitch_gain, pitch_integral)
        gains = np.array([positive(name, value) for name, value in zip(names, values, strict=True)])
        arguments = {**STATE, "memory": (2,), "dt": (), "height": (), "airspeed": (), "wind": (3,)}
        level = np.array([about.theta, about.u[-1]])
        settings = {"gains": gains, "level": level, "steepest": positive("steepest", steepest)}
        self._prepare(robot, arguments, {"airspeed": about.airspeed, "wind": np.zeros(3)}, settings, (about.frame,))

    tuple_after = 4

    def formula(
        self, robot: Robot, q: Array, v: Array, memory: Array, dt: Any, height: Any, airspeed: Any, *given: Any
    ) -> dict[str, Any]:
        """θ*, δt and the next integrals."""
        wind, gains, level, steepest = given
        frame = robot.frame(self.structure[0])
        six, pose = frame.velocity(q, v, "local"), frame.pose(q)
        V = ops.maximum(speed_through_air(robot, self.structure[0], q, six, wind), 1.0)
        climbing = pose[2, :3] @ six[:3]
        k_h, k_V, k_t, i_t, k_b, i_b = gains
        up = ops.clip(k_h * (height - pose[2, 3]) / V, -steepest, steepest)
        ahead = ops.clip(k_V * (airspeed - V) * (1.0 / GRAVITY), -steepest, steepest)
        now = energy_rates(climbing, 0.0, V)
        total, balance = up + ahead - now.total, up - ahead - now.balance
        throttle = ops.clip(level[1] + k_t * total + memory[0], 0.0, 1.0)
        pitch = ops.clip(level[0] + k_b * balance + memory[1], level[0] - 2.0 * steepest, level[0] + 2.0 * steepest)
        wound = np.array([memory[0] + dt * i_t * total, memory[1] + dt * i_b * balance])
        return {"pitch": pitch, "throttle": throttle, "memory": ops.clip(wound, -0.6, 0.6)}
