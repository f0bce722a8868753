"""The momentum of the whole robot: rows, drift, parts, and what it gives in flight."""

import numpy as np
import pytest
from hypothesis import assume, given

import kinetree as kt
from kinetree.control import WholeBody
from kinetree.ik import DifferentialIK
from kinetree.tasks import Momentum, Posture
from states import linear_first, states
from task_checks import check_drift


@given(states())
def test_rows_give_the_momentum_and_their_drift_is_a_derivative(s):
    robot, order = s.robot.eager, s.robot.model.spatial_order
    assume(robot.mass > 0.0)
    target, h = s.rng.normal(size=6), linear_first(robot.centroidal_momentum(s.q, s.v), order)
    error, A = Momentum().evaluate(robot, s.q, target)
    np.testing.assert_array_equal(error, linear_first(target, order))
    np.testing.assert_allclose(A @ s.v, h, atol=1e-9)
    check_drift(Momentum(), robot, s.q, target, s.v)
    for part, rows in (("linear", slice(0, 3)), ("angular", slice(3, 6))):
        error, J = Momentum(part).evaluate(robot, s.q, target[:3])
        np.testing.assert_array_equal(J, A[rows])
        np.testing.assert_array_equal(error, target[:3])


def test_a_robot_in_flight_turns_at_the_momentum_it_is_given():
    robot = kt.load("humanoid", base="floating")
    rng = np.random.default_rng(0)
    h = np.array([1.0, 2.0, -3.0, 0.3, -0.2, 0.5])
    ik = DifferentialIK(robot, [Momentum(), Posture(priority=1)], damping=0.0)
    q, posture = robot.neutral(), robot.random(rng)
    v = ik(q, h, posture)
    assert np.abs(v[6:]).max() > 0.1
    np.testing.assert_allclose(robot.centroidal_momentum(q, v), h, atol=1e-9)


def test_one_object_in_both_with_its_rate_where_there_are_accelerations():
    """In flight the rate of momentum is the weight; so only the angular part can be had, (3,) and (3,)."""
    robot, rng = kt.load("quadruped", base="floating"), np.random.default_rng(1)
    task = Momentum("angular", feedforward=True, gain=(3.0, 4.0, 5.0))
    assert task.references(robot) == {"target": (3,), "rate": (3,)}
    q, v, wish = robot.neutral(), 0.1 * rng.normal(size=robot.nv), np.array([0.1, 0.2, 0.3])
    ik = DifferentialIK(robot, [task, Posture(weight=1e-4)], None, damping=1e-6)
    assert ik.arguments == ("q", "momentum_0", "posture_1")
    np.testing.assert_allclose(robot.centroidal_momentum(q, ik(q, wish, q))[3:], wish, rtol=1e-4)
    J, rate = task.acceleration_rows(robot.eager, q, v, [wish, 2.0 * wish])
    h, bias = robot.centroidal_momentum(q, v)[3:], robot.centroidal_momentum_bias(q, v)[3:]
    expected = 2.0 * wish + np.array([3.0, 4.0, 5.0]) * (wish - h) - bias
    np.testing.assert_allclose(rate * robot.mass, expected, atol=1e-12)
    np.testing.assert_allclose(J * robot.mass, robot.centroidal_momentum_matrix(q)[3:], atol=1e-12)
    WholeBody(robot, [task, Posture()])


def test_what_a_momentum_does_not_have_is_refused():
    for setting in ("stiffness", "damping"):
        with pytest.raises(
            kt.ArgumentError, match=f"{setting} of task 'momentum' is given; a momentum has only a gain"
        ):
            Momentum(**{setting: 1.0})
    with pytest.raises(kt.ArgumentError, match="part is 'whole'"):
        Momentum("whole")
