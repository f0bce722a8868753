"""Cascaded control of a multicopter, loop in loop: position, velocity, attitude, rates, as autopilots have it."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.control.controller import Controller
from kinetree.control.gains import as_gain, times
from kinetree.flight.fields import positive
from kinetree.flight.flatness import FlatState, attitude
from kinetree.flight.flyers import REFERENCE, STATE, STILL, without_joints
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
        gains = {name: as_gain(name, value, 3) for name, value in given.items()}
        arguments = {**STATE, "integral": (6,), "dt": (), **REFERENCE}
        self._prepare(robot, arguments, STILL, {**gains, "bound": positive("bound", bound)})

    def formula(self, robot: Robot, q: Array, v: Array, integral: Array, dt: Any, *given: Any) -> dict[str, Array]:
        """τ (6,) and the next integrals (6,)."""
        path, (k_p, k_v, k_i, k_a, k_r, k_s, bound) = FlatState(*given[:8]), given[8:]
        R = robot.frame(robot.body_names[0]).pose(q)[:3, :3]
        slow = path.velocity + times(k_p, path.position - robot.center_of_mass(q))
        slow = slow - robot.center_of_mass_velocity(q, v)
        A = path.acceleration - robot.gravity + times(k_v, slow) + times(k_i, integral[:3])
        least = LEAST_LIFT * float(np.linalg.norm(robot.gravity))
        A = np.array([A[0], A[1], ops.maximum(A[2], least)])
        wanted = attitude(A, *path[3:])
        back = R.T @ wanted.rotation
        late = times(k_a, 0.5 * ops.axial(back)) + back @ wanted.rate - v[3:6]
        spin = times(k_r, late) + times(k_s, integral[3:])
        tau = with_thrust(robot, q, v, robot.mass * (A @ R[:, 2]), spin, np.zeros(0))
        return {"tau": tau, "integral": ops.clip(integral + dt * np.concatenate([slow, late]), -bound, bound)}
