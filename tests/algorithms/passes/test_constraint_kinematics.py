"""The equations of constraints: beside Jacobians and accelerations of frames, and as rates of the position error."""

import numpy as np
import pinocchio as pin
from hypothesis import given

import kinetree as kt
from constraint_cases import movable_frames, some_constraints
from peers import close
from states import State, linear_first, rate_along, states


@given(states())
def test_rows_are_those_of_the_frames(s: State):
    """In every convention, beside the Jacobians and accelerations of the frames."""
    system = s.robot.constrained(some_constraints(s))
    J, bias, order = system.jacobian(s.q), system.bias(s.q, s.v), s.robot.model.spatial_order
    for rows, constraint in zip(system.rows, system.constraints, strict=True):
        frames = [s.robot.frame(name) for name in constraint.frames]
        expected = [frame.jacobian(s.q) for frame in frames]
        drift = [frame.bias_acceleration(s.q, s.v) for frame in frames]
        if len(frames) == 2:
            expected, drift = [expected[0] - expected[1]], [drift[0] - drift[1]]
        which = slice(None) if constraint.size == 6 else slice(3, 6) if order == "angular-first" else slice(0, 3)
        close(J[rows], expected[0][which])
        close(bias[rows], drift[0][which])
    close(system.bias(s.q, s.v) + J @ s.a, rate_along(s, lambda q, v: system.jacobian(q) @ v), 1e-6)


@given(states())
def test_position_error_moves_as_the_jacobian_says(s: State):
    """Of contacts and loops that are closed: dr/dt = J v where r = 0."""
    system = s.robot.constrained(kt.Contact(movable_frames(s)[-1], "surface")).pinned(s.q)
    close(system.position_error(s.q), np.zeros(6))
    close(rate_along(s, lambda q, v: system.position_error(q)), system.jacobian(s.q) @ s.v, 1e-7)
    away = s.robot.integrate(s.q, 0.3 * s.v)
    frame = s.robot.frame(movable_frames(s)[-1])
    here, there = frame.pose(s.q), frame.pose(away)
    error = linear_first(system.position_error(away), s.robot.model.spatial_order)
    close(error[:3], there[:3, 3] - here[:3, 3])
    close(pin.exp3(error[3:]), there[:3, :3] @ here[:3, :3].T)
