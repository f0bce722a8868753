"""Maps of velocities, accelerations, forces and Jacobians, there and back."""

import numpy as np
from hypothesis import given

from peers import close
from states import State, rate_along, states


@given(states(base="floating"))
def test_there_and_back(s: State):
    robot, q, v, a = s.robot.eager, s.q, s.v, s.a
    tau = s.rng.normal(size=robot.nv)
    J = robot.frame("tool").jacobian(q)
    for x in (robot.centroidal_coordinates(q, v), robot.diagonalized_coordinates(q, v)):
        close(x.robot_velocity(x.velocity(a)), a, 1e-10)
        close(x.robot_acceleration(x.acceleration(a)), a, 1e-9)
        close(x.robot_force(x.force(tau)), tau, 1e-10)
        close(x.robot_jacobian(x.jacobian(J)), J, 1e-10)
        close(x.velocity(a) @ x.force(tau), a @ tau, 1e-9)  # power
        close(x.jacobian(J) @ x.nu, J @ v, 1e-9)  # velocity of a frame
        close(x.nu @ x.M @ x.nu / 2.0, robot.kinetic_energy(q, v), 1e-9)
        tau = np.concatenate([np.zeros(6), tau[6:]])
        close(x.force(tau), tau, 0.0)


@given(states(base="floating"))
def test_rates(s: State):
    """ν̇ and J̇_ν are slopes of ν and J_ν."""
    robot, q, v, a = s.robot.eager, s.q, s.v, s.a
    tool = robot.frame("tool")
    J, J_rate = tool.jacobian(q), tool.jacobian_rate(q, v)
    for kind in ("centroidal_coordinates", "diagonalized_coordinates"):
        x = getattr(robot, kind)(q, v)

        def of(q, v, kind=kind):
            return getattr(robot, kind)(q, v)

        close(x.acceleration(a), rate_along(s, lambda q, v, of=of: of(q, v).nu), 1e-6)
        slope = rate_along(s, lambda q, v, of=of: of(q, v).jacobian(tool.jacobian(q)))
        close(x.jacobian_rate(J, J_rate), slope, 1e-6)
