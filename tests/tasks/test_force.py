"""The force of a contact as a task: of whole-body control, and refused elsewhere."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import PointContact, WholeBody
from kinetree.ik import DifferentialIK
from kinetree.tasks import Force, Posture

Q = np.array([0.1, 0.7, 0.1, -1.2, 0.1, 0.9, 0.0])


@pytest.mark.parametrize(("part", "target"), [("all", [1.0, 2.0, 10.0]), ("normal", [10.0])])
def test_a_contact_pushes_as_given(part, target):
    robot = kt.load("arm7")
    wall = PointContact("tool0", normal=(-1, 0, 0), friction=0.9)
    body = WholeBody(robot, [Force("tool0", part, weight=10.0), Posture(weight=0.1)], wall)
    step = body.step(Q, np.zeros(7), {"force of tool0": target, "posture": Q})
    np.testing.assert_allclose(step.force("tool0")[-len(target) :], target, atol=1e-3)


def test_velocities_have_no_forces():
    robot = kt.load("arm7")
    with pytest.raises(
        kt.ArgumentTypeError, match=r"'force of tool0' is a task of forces or torques, for kt.control.WholeBody"
    ):
        DifferentialIK(robot, [Posture(), Force("tool0")])
    with pytest.raises(kt.UnknownNameError, match="did you mean 'tool0'"):
        WholeBody(robot, Force("tool"), PointContact("tool0"))
    with pytest.raises(kt.ArgumentError, match="part is 'half'"):
        Force("tool0", "half")
