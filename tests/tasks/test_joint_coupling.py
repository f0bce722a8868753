"""Joints that move together: Jacobian, drift, and whole-body control without a target."""

import numpy as np
import pytest
from hypothesis import assume, given

import kinetree as kt
from kinetree.control import WholeBody
from kinetree.ik import DifferentialIK
from kinetree.tasks import JointCoupling, Posture
from states import states
from task_checks import check_drift, check_jacobian


@given(states())
def test_jacobian_and_drift_are_derivatives(s):
    robot = s.robot.eager
    single = [joint.name for joint in robot.model.owners if joint.nq == 1]
    assume(single)
    task = JointCoupling({name: float(k + 1) for k, name in enumerate(single)}, offset=0.1)
    check_jacobian(task, robot, s.q, None, s.v)
    np.testing.assert_array_equal(check_drift(task, robot, s.q, None, s.v), 0.0)


def test_it_needs_no_target_in_either():
    robot = kt.load("arm6")
    one, other = robot.joint_names[1:3]
    task = JointCoupling({one: 1.0, other: -2.0}, offset=0.1)
    J = np.array([0, 1.0, -2.0, 0, 0, 0])
    v = DifferentialIK(robot, task, None, damping=1e-9)(np.zeros(6))
    assert J @ v == pytest.approx(10.0 * 0.1)
    step = WholeBody(robot, task, limits=(), regularization=1e-9).step(np.zeros(6), np.zeros(6))
    assert J @ step.a == pytest.approx(100.0 * 0.1)
    moving = JointCoupling({one: 1.0, other: -2.0}, feedforward=True)
    body = WholeBody(robot, [moving, Posture(weight=1e-4)], limits=(), regularization=1e-9)
    given = {"joint_coupling": ([0.2], [3.0]), "posture": np.zeros(6)}
    assert J @ body.step(np.zeros(6), np.zeros(6), given).a == pytest.approx(20.0 * 0.2 + 3.0, rel=1e-4)
    v = kt.ik.velocity(robot, np.zeros(6), [(moving, (None, [0.2]))], damping=1e-9)
    assert J @ v == pytest.approx(0.2)


def test_joints_are_found_or_named():
    with pytest.raises(kt.UnknownNameError, match="joint 'wrist_4'"):
        DifferentialIK(kt.load("arm6"), JointCoupling({"wrist_4": 1}))
    with pytest.raises(kt.ArgumentTypeError, match="terms is"):
        JointCoupling("elbow")
    with pytest.raises(kt.ArgumentError, match="offset"):
        JointCoupling({"elbow": 1}, offset=np.inf)
