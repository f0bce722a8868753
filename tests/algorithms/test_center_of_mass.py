"""The centre of mass, its velocity, acceleration and Jacobian."""

import pinocchio as pin
import pytest
from hypothesis import assume, given

import kinetree as kt
from peers import close
from states import State, rate_along, states


def test_real_robots(case):
    robot, peer, q, v, a = case.robot, case.peer, case.q, case.v, case.a
    data, G = peer.data(), peer.G
    if robot.mass == 0.0:
        with pytest.raises(kt.ArgumentError, match="no moving mass"):
            robot.center_of_mass(q)
        return
    pin.centerOfMass(peer.model, data, peer.q(q), G @ v, G @ a)
    close(robot.center_of_mass(q), data.com[0])
    close(robot.center_of_mass_velocity(q, v), data.vcom[0])
    close(robot.center_of_mass_acceleration(q, v, a), data.acom[0])
    close(robot.center_of_mass_jacobian(q), pin.jacobianCenterOfMass(peer.model, data, peer.q(q)) @ G)


@given(states())
def test_each_is_the_derivative_of_the_one_before(s: State):
    assume(s.robot.mass > 0)
    robot, q, v, a = s.robot, s.q, s.v, s.a
    close(robot.center_of_mass_velocity(q, v), rate_along(s, lambda q, v: robot.center_of_mass(q)), 1e-7)
    close(robot.center_of_mass_jacobian(q) @ v, robot.center_of_mass_velocity(q, v), 1e-11)
    close(robot.center_of_mass_acceleration(q, v, a), rate_along(s, robot.center_of_mass_velocity), 1e-6)
