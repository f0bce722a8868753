"""Every task's Jacobian is minus the derivative of its error, on every kind of joint and in every convention.

Covers: ik/tasks/center_of_mass.py, ik/tasks/coupling.py, ik/tasks/look_at.py, ik/tasks/momentum.py,
ik/tasks/orientation.py, ik/tasks/pose.py, ik/tasks/position.py, ik/tasks/posture.py, ik/tasks/relative.py,
ik/tasks/task.py.
"""

import numpy as np
import pytest
from hypothesis import assume, given

import kinetree as kt
from states import H, linear_first, states


def tasks_of(robot, rng):
    """One of each, with a target that is met, or all but met, at q."""
    frame, other = (str(name) for name in rng.choice(robot.frame_names, 2))
    q = robot.random(rng)
    T, T_B = robot.frame(frame).pose(q), robot.frame(other).pose(q)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    yield kt.ik.Position(frame), q, T[:3, 3]
    yield kt.ik.Orientation(frame), q, T[:3, :3]
    yield kt.ik.Pose(frame), q, T
    yield kt.ik.RelativePose(frame, other), q, np.linalg.inv(T_B) @ T
    if robot.mass > 0.0:
        yield kt.ik.CenterOfMass(), q, robot.center_of_mass(q)
    yield kt.ik.Posture(), q, q
    yield kt.ik.LookAt(frame, tuple(axis)), q, T[:3, 3] + 0.7 * T[:3, :3] @ axis
    single = [joint.name for joint in robot.model.owners if joint.nq == 1]
    if single:
        yield kt.ik.JointCoupling({name: float(k + 1) for k, name in enumerate(single)}, offset=0.1), q, None


@given(states())
def test_momentum_rows_give_the_momentum(s):
    assume(s.robot.mass > 0)
    robot, order = s.robot.eager, s.robot.model.spatial_order
    target = s.rng.normal(size=6)
    error, A = kt.ik.CentroidalMomentum().evaluate(robot, s.q, target)
    np.testing.assert_array_equal(error, linear_first(target, order))
    np.testing.assert_allclose(A @ s.v, linear_first(robot.centroidal_momentum(s.q, s.v), order), atol=1e-9)


def test_a_robot_in_flight_turns_at_the_momentum_it_is_given():
    robot = kt.load("humanoid", base="floating")
    rng = np.random.default_rng(0)
    h = np.array([1.0, 2.0, -3.0, 0.3, -0.2, 0.5])
    wave = kt.ik.Posture(priority=1)
    ik = kt.ik.DifferentialIK(robot, [kt.ik.CentroidalMomentum(), wave], damping=0.0)
    q, posture = robot.neutral(), robot.random(rng)
    v = ik(q, h, posture)
    assert np.abs(v[6:]).max() > 0.1
    np.testing.assert_allclose(robot.centroidal_momentum(q, v), h, atol=1e-9)


@given(states())
def test_jacobians_are_derivatives(s):
    robot = s.robot.eager
    for task, q, target in tasks_of(robot, s.rng):
        error, J = task.evaluate(robot, q, target)
        if not isinstance(task, kt.ik.JointCoupling):
            assert np.abs(error).max(initial=0.0) < 1e-7
        assert J.shape == (task.size(robot), robot.nv) and error.shape == (len(J),)
        v = s.rng.normal(size=robot.nv)
        ahead, behind = (task.evaluate(robot, robot.integrate(q, h * v), target)[0] for h in (H, -H))
        np.testing.assert_allclose(
            (behind - ahead) / (2 * H), J @ v, atol=2e-6 * max(1.0, np.abs(J @ v).max(initial=0.0))
        )


@pytest.mark.parametrize("order", ["linear-first", "angular-first"])
def test_rotations_decay_along_their_own_axis(order):
    """Far from the target, too: with J v = error, the rotation that is left shrinks and does not turn."""
    robot = kt.load("arm6", spatial_order=order).eager
    rng = np.random.default_rng(0)
    q, goal = robot.random(rng), robot.random(rng)
    target = robot.frame("tool0").pose(goal)[:3, :3]
    task = kt.ik.Orientation("tool0")
    error, J = task.evaluate(robot, q, target)
    v = np.linalg.pinv(J) @ error
    later, _ = task.evaluate(robot, robot.integrate(q, 1e-6 * v), target)
    assert np.linalg.norm(error) > 0.5
    np.testing.assert_allclose(later, error * (1 - 1e-6), atol=1e-10)


def test_look_at_turns_the_axis_to_a_point():
    robot = kt.load("arm7")
    rng = np.random.default_rng(1)
    q, point = robot.random(rng), np.array([1.5, 0.5, 1.0])
    ik = kt.ik.DifferentialIK(robot, kt.ik.LookAt("tool0", (0, 0, 1)), None, dt=0.02)
    for _ in range(80):
        q = robot.integrate(q, 0.02 * ik(q, point))
    T = robot.frame("tool0").pose(q)
    ray = point - T[:3, 3]
    np.testing.assert_allclose(T[:3, 2], ray / np.linalg.norm(ray), atol=1e-5)


WRONG = {
    "frame": (
        lambda robot: kt.ik.DifferentialIK(robot, kt.ik.Pose("tool")),
        kt.UnknownNameError,
        "did you mean 'tool0'",
    ),
    "joint": (lambda robot: kt.ik.DifferentialIK(robot, kt.ik.Posture(("elbo",))), kt.UnknownNameError, "joint 'elbo'"),
    "coupled": (
        lambda robot: kt.ik.DifferentialIK(robot, kt.ik.JointCoupling({"wrist_4": 1})),
        kt.UnknownNameError,
        "joint 'wrist_4'",
    ),
    "weights": (
        lambda robot: kt.ik.DifferentialIK(robot, kt.ik.Pose("tool0", weight=(1, 2))),
        kt.ArgumentError,
        "2 numbers",
    ),
    "weight": (lambda _: kt.ik.Position("tool0", weight=-1.0), kt.ArgumentError, "weight is -1"),
    "gain": (lambda _: kt.ik.Position("tool0", gain=np.inf), kt.ArgumentError, "gain is inf"),
    "priority": (lambda _: kt.ik.Position("tool0", priority=0.5), kt.ArgumentTypeError, "priority is 0.5"),
    "axis": (lambda _: kt.ik.LookAt("tool0", (0, 0, 0)), kt.ArgumentError, "axis is"),
    "task": (lambda robot: kt.ik.DifferentialIK(robot, ["tool0"]), kt.ArgumentTypeError, "tasks has 'tool0'"),
    "nothing": (lambda robot: kt.ik.DifferentialIK(robot, []), kt.ArgumentError, "tasks is empty"),
    "robot": (lambda _: kt.ik.DifferentialIK("arm6", kt.ik.Pose("tool0")), kt.ArgumentTypeError, "robot is 'arm6'"),
    "step": (lambda robot: kt.ik.DifferentialIK(robot, kt.ik.Pose("tool0"), dt=0.0), kt.ArgumentError, "dt is 0"),
    "accelerations": (
        lambda robot: kt.ik.DifferentialIK(robot, kt.ik.Pose("tool0"), kt.ik.Limits(acceleration=(1, 2))),
        kt.ArgumentError,
        "acceleration has 2 numbers",
    ),
    "acceleration": (lambda _: kt.ik.Limits(acceleration=-1.0), kt.ArgumentError, "acceleration is -1"),
    "slower": (lambda _: kt.ik.Limits(slower=0.0), kt.ArgumentError, "slower is 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case):
    make, kind, words = WRONG[case]
    with pytest.raises(kind, match=words):
        make(kt.load("arm6"))
