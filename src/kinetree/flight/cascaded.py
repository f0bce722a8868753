"""Cascaded control of a multicopter, loop in loop: position, velocity, attitude, rates, as autopilots have it."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.control.controller import Controller
from kinetree.control.gains import as_gain
from kinetree.flight.fields import positive
from kinetree.flight.flatness import attitude
from kinetree.flight.flyers import REFERENCE, STILL, without_joints
from kinetree.flight.geometric import with_thrust
from kinetree.ops import Array
from kinetree.robot import Robot

LEAST_LIFT = 0.2
"""Of the weight, below which the commanded acceleration upwards does not go: an inverted thrust has no attitude."""


@final
class CascadedControl(Controller):
    """τ = (0, 0, f, m) by four loops, `controller(q, v, integral, dt, path(t))`, as {"tau": …, "integral": …}:

        v* = ẋ* + k_p (x* - x)                                     position, P
        A  = a* - g + k_v (v* - ẋ) + k_i ∫(v* - ẋ) dt              velocity, PI
        R* from A and ψ*,   ω* = k_a e_R + R-turned ω of the path  attitude, P
        ω̇  = k_r (ω* - ω) + k_s ∫(ω* - ω) dt                       rates, PI

    `integral` (6,) is carried by the rollout, `states={"integral": np.zeros(6)}`; it is bounded, so that it does not
    wind up. The derivative of a PID is the loop inside of it here.
    """

    tuple_after = 4

    def __init__(
        self,
        robot: Robot,
        position: Any = 1.5,
        velocity: Any = 4.0,
        velocity_integral: Any = 1.0,
        attitude: Any = 10.0,
        rate: Any = 25.0,
        rate_integral: Any = 20.0,
        bound: float = 2.0,
    ) -> None:
        robot = without_joints(robot, "CascadedControl")
        given = {
            "position_gain": position,
            "velocity_gain": velocity,
            "velocity_integral": velocity_integral,
            "attitude_gain": attitude,
            "rate_gain": rate,
            "rate_integral": rate_integral,
        }
        settings = {name: as_gain(name, value, 3) for name, value in given.items()}
        settings["bound"] = np.array(positive("bound", bound))
        arguments: dict[str, Any] = {"q": ("q",), "v": ("v",), "integral": (6,), "dt": (), **REFERENCE}
        arguments |= {name: gain.shape for name, gain in settings.items()}
        self._prepare(robot, arguments, STILL, settings)

    def formula(
        self,
        robot: Robot,
        q: Array,
        v: Array,
        integral: Array,
        dt: Any,
        position: Array,
        velocity: Array,
        acceleration: Array,
        jerk: Array,
        snap: Array,
        yaw: Any,
        yaw_rate: Any,
        yaw_acceleration: Any,
        position_gain: Any,
        velocity_gain: Any,
        velocity_integral: Any,
        attitude_gain: Any,
        rate_gain: Any,
        rate_integral: Any,
        bound: Any,
    ) -> dict[str, Array]:
        """τ (6,) and the next integrals (6,)."""
        R = robot.frame(robot.body_names[0]).pose(q)[:3, :3]
        slow = velocity + position_gain * (position - robot.center_of_mass(q))
        slow = slow - robot.center_of_mass_velocity(q, v)
        A = acceleration - robot.gravity + velocity_gain * slow + velocity_integral * integral[:3]
        least = LEAST_LIFT * float(np.linalg.norm(robot.gravity))
        A = np.array([A[0], A[1], ops.maximum(A[2], least)])
        wanted = attitude(A, jerk, snap, yaw, yaw_rate, yaw_acceleration)
        back = R.T @ wanted.rotation
        late = attitude_gain * (0.5 * ops.axial(back)) + back @ wanted.rate - v[3:6]
        spin = rate_gain * late + rate_integral * integral[3:]
        tau = with_thrust(robot, q, v, robot.mass * (A @ R[:, 2]), spin, np.zeros(0))
        return {"tau": tau, "integral": ops.clip(integral + dt * np.concatenate([slow, late]), -bound, bound)}
