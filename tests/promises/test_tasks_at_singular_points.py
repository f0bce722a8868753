"""Tasks of differential IK where their errors have no direction: they move, stay, or are refused with a sentence; no
velocity comes of what is not a number."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import MotionLimits, WholeBody
from kinetree.ik import (
    CenterOfMass,
    DifferentialIK,
    JointCoupling,
    Limits,
    LookAt,
    Momentum,
    Orientation,
    Pose,
    Position,
    Posture,
    RelativePose,
)

Q = 0.3 * np.ones(7)


@pytest.fixture(scope="module")
def robot():
    return kt.load("arm7").eager


@pytest.fixture(scope="module")
def here(robot):
    return robot.frame("tool0").pose(Q)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, 1), (0.3, -0.5, 0.2)])
@pytest.mark.parametrize("damping", [1e-3, 0.0])
@pytest.mark.sampled(4)
@pytest.mark.sweep
def test_who_looks_the_other_way_turns_round(robot, here, axis, damping):
    a = here[:3, :3] @ (np.array(axis) / np.linalg.norm(axis))
    target = here[:3, 3] - 2.0 * a
    task = LookAt("tool0", axis)
    error, _ = task.evaluate(robot, Q, target)
    assert np.linalg.norm(error) == pytest.approx(np.pi) and abs(error @ a) < 1e-12
    ik = DifferentialIK(robot, task, damping=damping)
    step, q = ik.step(Q, target), Q
    assert np.linalg.norm(step.v) > 1.0 and np.linalg.norm(step.residuals[0]) > 1.0
    for _ in range(150):
        q = robot.integrate(q, 0.01 * ik(q, target))
    T = robot.frame("tool0").pose(q)
    d = target - T[:3, 3]
    assert d @ T[:3, :3] @ task.axis / np.linalg.norm(d) == pytest.approx(1.0, abs=1e-3)


def test_a_hinge_turns_round_by_the_only_axis_it_has():
    builder = kt.ModelBuilder("hinge")
    for link in ("base", "eye"):
        builder.link(link, kt.solids.sphere(0.1, mass=1.0))
    axis = np.array([0.0, 0.6, 0.8])
    builder.joint("neck", "revolute", "base", "eye", axis=axis)
    hinge = kt.Robot(builder.build()).eager
    v = DifferentialIK(hinge, LookAt("eye"), None)(np.zeros(1), [-1.0, 0.0, 0.0])
    assert abs(v[0]) > 0.7 * 10.0 * np.pi * 0.7


@pytest.mark.parametrize("damping", [1e-3, 0.0])
def test_a_point_at_the_origin_of_a_frame_is_not_looked_at(robot, here, damping):
    ik = DifferentialIK(robot, LookAt("tool0"), damping=damping)
    for target in (here[:3, 3], here[:3, 3] + 1e-11):
        with pytest.raises(kt.ArgumentError, match="target of 'tool0' is at the frame's origin; expected a point"):
            ik(Q, target)
    np.testing.assert_allclose(ik(Q, 1e200 * here[:3, 0]), ik(Q, 1e150 * here[:3, 0]), rtol=1e-6)  # a direction, still


@pytest.mark.parametrize("damping", [1e-3, 0.0])
def test_half_a_turn_is_made_one_way(robot, here, damping):
    axis = np.array([0.6, 0.8, 0.0])
    target = here.copy()
    target[:3, :3] = kt.rotations.matrix_from_rotation_vector(np.pi * axis) @ here[:3, :3]
    for task, goal in ((Pose("tool0"), target), (Orientation("tool0"), target[:3, :3])):
        error, _ = task.evaluate(robot, Q, goal)
        np.testing.assert_allclose(np.abs(error[-3:]), np.pi * axis, atol=1e-6)
        assert np.linalg.norm(DifferentialIK(robot, task, damping=damping)(Q, goal)) > 1.0


@pytest.mark.parametrize("damping", [1e-3, 0.0])
def test_a_frame_seen_from_itself_asks_for_nothing(robot, damping):
    half = np.diag([-1.0, -1.0, 1.0, 1.0])
    step = DifferentialIK(robot, RelativePose("tool0", "tool0"), damping=damping).step(Q, half)
    np.testing.assert_allclose(step.v, 0.0, atol=1e-12)
    assert np.linalg.norm(step.residuals[0]) == pytest.approx(10.0 * np.pi)


TASKS = {
    "pose": (Pose("tool0"), (4, 4)),
    "position": (Position("tool0"), (3,)),
    "orientation": (Orientation("tool0"), (3, 3)),
    "relative": (RelativePose("tool0", "base_link"), (4, 4)),
    "look_at": (LookAt("tool0"), (3,)),
    "center_of_mass": (CenterOfMass(), (3,)),
    "momentum": (Momentum(), (6,)),
    "posture": (Posture(), (7,)),
}


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("damping", [1e-3, 0.0])
@pytest.mark.parametrize("name", TASKS)
def test_what_is_no_number_is_refused_by_its_name(robot, name, damping, number):
    task, shape = TASKS[name]
    target = np.full(shape, number)
    ik = DifferentialIK(robot, task, damping=damping)
    expected = f"{ik.arguments[1]} has (nan|inf) at|target of 'tool0' has columns that are not orthonormal"
    with pytest.raises((kt.NotFiniteError, kt.ArgumentError), match=expected):
        ik(Q, target)
    with pytest.raises(kt.NotFiniteError, match="q has"):
        ik(Q * number, np.eye(4)[:3, :3] if shape == (3, 3) else np.eye(4) if shape == (4, 4) else np.ones(shape))


@pytest.mark.parametrize("damping", [1e-3, 0.0])
def test_a_last_velocity_that_is_no_number_is_refused(robot, here, damping):
    ik = DifferentialIK(robot, Pose("tool0"), Limits(acceleration=1.0), damping=damping)
    with pytest.raises(kt.NotFiniteError, match="v has nan at"):
        ik(Q, here, np.full(7, np.nan))


def test_levels_of_what_is_no_number_are_refused():
    """A level that is not finite is none of rank zero."""
    from kinetree.solvers import hierarchical_qp  # noqa: PLC0415

    for J, e in (([[np.nan, 1.0]], [1.0]), ([[1.0, 1.0]], [np.nan]), ([[np.inf, 1.0]], [1.0]), ([[1e200, 1.0]], [1.0])):
        with pytest.raises(kt.QuadraticProgramError):
            hierarchical_qp.solve([(np.eye(2), np.ones(2)), (J, e)])
    with pytest.raises(kt.QuadraticProgramError):
        hierarchical_qp.solve([(np.eye(2), np.ones(2))], lower=[np.nan, 0.0])


def test_weights_and_gains_of_zero_ask_for_nothing(robot, here):
    far = here.copy()
    far[:3, 3] += 1.0
    for task in (Pose("tool0", weight=0.0), Pose("tool0", gain=0.0)):
        for damping in (1e-3, 0.0):
            np.testing.assert_allclose(DifferentialIK(robot, task, damping=damping)(Q, far), 0.0, atol=1e-12)


def test_a_contact_wins_over_a_task_of_the_same_frame(robot, here):
    far = here.copy()
    far[:3, 3] += [0.1, 0.2, 0.1]
    for damping in (1e-3, 0.0):
        ik = DifferentialIK(robot, Pose("tool0"), None, contacts=kt.Contact("tool0"), damping=damping)
        assert np.abs(robot.frame("tool0").velocity(Q, ik(Q, far))[:3]).max() < 1e-8


def test_a_coupling_of_nothing_is_refused():
    for terms in ({}, (), 3, None, [("a", 1.0, 2.0)]):
        with pytest.raises(kt.ArgumentTypeError, match=r"terms is .*; expected joints and their factors"):
            JointCoupling(terms)
    for given in (({"a": np.nan},), ({"a": 1.0}, np.inf)):
        with pytest.raises(kt.ArgumentError, match=r"of a coupling has (nan|inf); expected a finite number"):
            JointCoupling(*given)


@pytest.mark.parametrize("priority", [0, 1])
def test_whole_body_tasks_at_half_a_turn_and_of_no_numbers(robot, here, priority):
    controller = WholeBody(robot, [Pose("tool0"), Posture(priority=priority)], (), MotionLimits())
    target = here.copy()
    target[:3, :3] = kt.rotations.matrix_from_rotation_vector([0.0, np.pi, 0.0]) @ here[:3, :3]
    step = controller.step(Q, np.zeros(7), {"tool0": target, "posture": Q})
    assert np.isfinite(step.a).all() and np.abs(step.a).max() > 1.0
    with pytest.raises(kt.KinetreeError):
        controller.step(Q, np.zeros(7), {"tool0": target * np.nan, "posture": Q})
    with pytest.raises(kt.KinetreeError):
        controller.step(Q, np.full(7, np.nan), {"tool0": target, "posture": Q})
