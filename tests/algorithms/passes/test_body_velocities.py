"""Velocities of free joints in their parent's axes, and in their own."""

import numpy as np
from hypothesis import given

import kinetree as kt
from kinetree.algorithms.passes.body_velocities import BodyVelocities
from peers import close
from states import State, states


@given(states(base_velocity="mixed"))
def test_the_same_motion_by_body_velocities(s: State):
    """Energy, and torques that do the same power, of the robot with its velocities in body axes."""
    body = BodyVelocities.of(s.robot.model, s.q, s.v, s.a)
    twin = kt.Robot(body.model).eager
    v, a = body.v_b, body.a_b
    close(twin.kinetic_energy(s.q, v), s.robot.eager.kinetic_energy(s.q, s.v), 1e-11)
    power = twin.inverse_dynamics(s.q, v, a) @ v
    close(power, s.robot.eager.inverse_dynamics(s.q, s.v, s.a) @ s.v, 1e-10)


@given(states(base_velocity="body"))
def test_nothing_to_do_where_velocities_are_in_body_axes(s: State):
    body = BodyVelocities.of(s.robot.model, s.q, s.v, s.a)
    assert body.model is s.robot.model and body.turns == ()
    assert np.array_equal(body.v_b, s.v) and np.array_equal(body.a_b, s.a)
