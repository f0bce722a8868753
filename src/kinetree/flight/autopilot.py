"""Inner loops of a fixed-wing aircraft: roll and pitch, a yaw damper, airspeed (Beard, McLain 2012, chapter 6)."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.control.controller import Controller
from kinetree.errors import ArgumentError
from kinetree.flight.aerospace import flight_attitude, speed_through_air
from kinetree.flight.fields import finite
from kinetree.flight.flyers import STATE, as_flyer
from kinetree.flight.trim import Trim, required
from kinetree.ops import Array
from kinetree.robot import Robot

GAINS = {
    "roll": 0.3,
    "roll_rate": 0.05,
    "pitch": -1.5,
    "pitch_rate": -0.3,
    "yaw_rate": 0.2,
    "washout": 0.5,
    "speed": 0.08,
    "speed_integral": 0.04,
}
"""Of aileron by bank [1] and its rate [s], elevator by pitch and its rate, rudder by the yaw rate [s] above the washout
[1/s], throttle by airspeed [s/m] and its integral [1/m]."""


@final
class Autopilot(Controller):
    """Elevator, aileron, rudder and throttle: `autopilot(q, v, memory, dt, roll, pitch, airspeed, wind)` as
    {"u": (4,), "memory": (2,)}.

        δa = k (φ* - φ) - k_p p
        δe = δe₀ + k (θ* - θ) - k_q q
        δr = k_r (r - r̄),   r̄ the mean of r over the washout: a steady turn is not opposed
        δt = δt₀ + k (V* - V) + k_i ∫(V* - V) dt

    about the inputs of a trim, with the airspeed V in a `wind` (3,) [m/s] in world axes, zero if it is not given, as
    sensors measure it. `memory` is r̄ and the integral, which a rollout carries; deflections are within
    ±`travel` [rad], throttle from 0 to 1. Signs are those of an aircraft on which a positive elevator pitches down and
    a positive rudder yaws left, as Aerosonde's derivatives have it; other gains are given by name.
    """

    def __init__(self, robot: Robot, about: Trim, travel: float = 0.5, **gains: float) -> None:
        robot = as_flyer(robot, "Autopilot")
        unknown = [name for name in gains if name not in GAINS]
        if unknown:
            raise ArgumentError(f"there is no gain {unknown[0]!r}; expected some of {', '.join(GAINS)}")
        required(about)
        if len(about.u) != 4:
            raise ArgumentError(f"the trim has {len(about.u)} inputs; expected elevator, aileron, rudder and throttle")
        values = np.array([finite(name, gains.get(name, default)) for name, default in GAINS.items()])
        arguments = {**STATE, "memory": (2,), "dt": (), "roll": (), "pitch": (), "airspeed": (), "wind": (3,)}
        still = {"roll": 0.0, "pitch": about.theta, "airspeed": about.airspeed, "wind": np.zeros(3)}
        settings = {"gains": values, "level": about.u, "travel": finite("travel", travel)}
        self._prepare(robot, arguments, still, settings, (about.frame,))

    tuple_after = 4

    def formula(self, robot: Robot, q: Array, v: Array, memory: Array, dt: Any, *given: Any) -> dict[str, Array]:
        """Inputs (4,) and the next memory (2,)."""
        (frame,), (roll, pitch, airspeed, wind, gains, level, travel) = self.structure, given
        phi, theta, _ = flight_attitude(robot, frame, q)
        six = robot.frame(frame).velocity(q, v, "local")
        V = speed_through_air(robot, frame, q, six, wind)
        k_roll, k_p, k_pitch, k_q, k_r, washout, k_speed, k_integral = gains
        slow, integral = memory
        missing = airspeed - V
        aileron = level[1] + k_roll * (roll - phi) - k_p * six[3]
        elevator = level[0] + k_pitch * (pitch - theta) - k_q * six[4]
        rudder = level[2] + k_r * (six[5] - slow)
        throttle = level[3] + k_speed * missing + k_integral * integral
        surfaces = [ops.clip(each, -travel, travel) for each in (elevator, aileron, rudder)]
        wound = ops.clip(integral + dt * missing, -20.0, 20.0)
        filtered = slow + (1.0 - ops.exp(-washout * dt)) * (six[5] - slow)
        u = np.array([*surfaces, ops.clip(throttle, 0.0, 1.0)])
        return {"u": u, "memory": np.array([filtered, wound])}
