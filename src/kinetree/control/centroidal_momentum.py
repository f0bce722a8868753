"""The momentum of a whole robot as a task: its centre of mass goes where it should, and it does not tumble."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.algorithms.constraints import DelassusOperator
from kinetree.algorithms.passes.regularity import require_regular
from kinetree.control.controller import Controller
from kinetree.control.gains import as_gain, as_posture, spring_and_damper, times
from kinetree.control.support_consistent import as_stance, torques
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained
from kinetree.spatial.packing import pack, unpack


@final
class CentroidalMomentum(Controller):
    """Torques that control the centroidal momentum h = A_G v, while contacts stay:
    `controller(q, v, (position, velocity, acceleration, angular_momentum, angular_momentum_rate))`.

    ḣ = A_G a + Ȧ_G v is, of the centre of mass c and the angular momentum k about it (Orin, Goswami, Lee 2013),

        m (c̈* + k_p (c* - c) + k_d (ċ* - ċ))   and   k̇* + k_k (k* - k)

    Of all accelerations with that ḣ and J_c a + J̇_c v = 0, a is the nearest in kinetic energy to those which lead to
    the posture, and τ the least torques that give it.

    stance             the robot on its contacts: robot.constrained([kt.Contact("left_foot"), …])
    stiffness          k_p [1/s²], damping k_d [1/s] of the centre of mass; damping is 2 √k_p unless given
    angular_gain       k_k [1/s]
    posture            q*, with posture_stiffness [1/s²] and posture_damping [1/s]

    The reference is what a trajectory of points gives; the rest of it is zero unless given.
    """

    def __init__(
        self,
        stance: Constrained,
        stiffness: Any,
        damping: Any = None,
        *,
        angular_gain: Any,
        posture: Any,
        posture_stiffness: Any,
        posture_damping: Any = None,
    ) -> None:
        stance = as_stance(stance)
        robot = stance.robot
        self.equations = stance.equations
        settings = {
            **spring_and_damper(stiffness, damping, 3),
            "angular_gain": as_gain("angular_gain", angular_gain, 3),
            "posture": as_posture(posture, robot.nq),
            **spring_and_damper(posture_stiffness, posture_damping, robot.nv, "posture_"),
        }
        parts = ("position", "velocity", "acceleration", "angular_momentum", "angular_momentum_rate")
        arguments: dict[str, Any] = {"q": ("q",), "v": ("v",), **dict.fromkeys(parts, (3,))}
        arguments |= {name: ("q",) if name == "posture" else value.shape for name, value in settings.items()}
        still = dict.fromkeys(parts[1:], np.zeros(3))
        self._prepare(robot, arguments, still, settings, (self.equations,))

    def formula(
        self, robot: Robot, q: Array, v: Array, position: Array, velocity: Array, acceleration: Array,
        angular_momentum: Array, angular_momentum_rate: Array, *settings: Any,
    ) -> Array:  # fmt: skip
        """τ, (nv,)."""
        k_p, k_d, k_k, posture, k_q, d_q = settings
        stance, order = Constrained(robot, self.equations), robot.model.spatial_order
        error, rate = position - robot.center_of_mass(q), velocity - robot.center_of_mass_velocity(q, v)
        _, spin = unpack(robot.centroidal_momentum(q, v), order)
        linear = robot.mass * (acceleration + times(k_p, error) + times(k_d, rate))
        wanted = pack(linear, angular_momentum_rate + times(k_k, angular_momentum - spin), order)

        rows = np.concatenate([stance.jacobian(q), robot.centroidal_momentum_matrix(q)])
        drift = np.concatenate([stance.bias(q, v), robot.centroidal_momentum_bias(q, v) - wanted])
        a_0 = times(k_q, robot.difference(q, posture)) - times(d_q, v)
        held = self.equations.size
        blocks = (*self.equations.blocks, slice(held, held + 3), slice(held + 3, held + 6))
        felt = DelassusOperator(robot.mass_matrix(q), rows, self.equations.damping, blocks)
        require_regular(robot.model, q, felt.d)
        a = a_0 + felt.answer(np.zeros(robot.nv), drift + rows @ a_0)[0]
        return torques(stance, q, v, a, np.zeros(robot.nv))
