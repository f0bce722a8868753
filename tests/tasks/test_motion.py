"""Tasks of motion in differential IK and in whole-body control: gains, rows, drift, and tasks of one's own."""

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import WholeBody
from kinetree.ik import DifferentialIK
from kinetree.tasks import LookAt, MotionTask, Pose, Position, Posture, RelativePose
from task_checks import check_drift

Q = np.array([0.1, 0.7, 0.1, -1.2, 0.1, 0.9, 0.0])


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm7")


@dataclass(frozen=True)
class Distance(MotionTask):
    """The distance between the origins of two frames, (1,) [m]: a task that the library does not have."""

    first: str
    second: str

    def size(self, robot):
        return 1

    def target_shape(self, robot):
        return (1,)

    def evaluate(self, robot, q, target):
        ray = robot.frame(self.first).pose(q)[:3, 3] - robot.frame(self.second).pose(q)[:3, 3]
        length = kt.sqrt(ray @ ray)
        rows = [Position(name).evaluate(robot, q, np.zeros(3))[1] for name in (self.first, self.second)]
        return target - length, (ray / length @ (rows[0] - rows[1]))[None]


# -- gains -------------------------------------------------------------------------------------------------------------


def test_stiffness_and_damping_follow_the_gain(arm):
    """All of them are numbers, or one for every row."""
    target, v = Pose("tool0").evaluate(arm.eager, Q, np.eye(4))[0], np.linspace(-1.0, 1.0, 7)
    error, J = target, arm.frame("tool0").jacobian(Q)
    drift = arm.frame("tool0").bias_acceleration(Q, v)
    gains = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    cases = (
        ({}, 10.0, 100.0, 20.0),
        ({"gain": 7.0}, 7.0, 49.0, 14.0),
        ({"gain": tuple(gains)}, gains, gains**2, 2.0 * gains),
        ({"stiffness": 60.0}, 10.0, 60.0, 2.0 * np.sqrt(60.0)),
        ({"stiffness": tuple(gains), "damping": 3.0}, 10.0, gains, 3.0),
        ({"gain": 2.0, "damping": tuple(gains)}, 2.0, 4.0, gains),
    )
    for given, gain, stiffness, damping in cases:
        task = Pose("tool0", **given)
        J_v, rate, left = task.velocity_rows(arm.eager, Q, [np.eye(4)])
        np.testing.assert_array_equal(left, error)
        np.testing.assert_array_equal(rate, gain * error)
        J_a, wanted = task.acceleration_rows(arm.eager, Q, v, [np.eye(4)])
        np.testing.assert_array_equal(J_v, J_a)
        np.testing.assert_allclose(wanted, stiffness * error - damping * (J @ v) - drift, atol=1e-12)


def test_a_changed_gain_changes_what_follows_from_it(arm):
    slow = replace(Position("tool0"), gain=1.0)
    _, wanted = slow.acceleration_rows(arm.eager, Q, np.zeros(7), [np.ones(3)])
    np.testing.assert_array_equal(wanted, slow.evaluate(arm.eager, Q, np.ones(3))[0])


def test_one_object_gives_both_the_same_time_constant(arm):
    """The error decays by gain in IK; in whole-body control like that of a critically damped spring."""
    task = Position("tool0", gain=(4.0, 8.0, 0.0))
    target = arm.frame("tool0").pose(Q)[:3, 3] + [0.01, 0.02, 0.03]
    velocity = DifferentialIK(arm, task, None, damping=1e-9)(Q, target)
    J = arm.frame("tool0").jacobian(Q)[:3]
    np.testing.assert_allclose(J @ velocity, [0.04, 0.16, 0.0], atol=1e-9)
    step = WholeBody(arm, task, regularization=1e-9).step(Q, np.zeros(7), {"tool0": target})
    np.testing.assert_allclose(J @ step.a, [0.16, 1.28, 0.0], atol=1e-9)


def test_feedforward_is_added_in_both(arm):
    task = Position("tool0", feedforward=True)
    at, speed, more = arm.frame("tool0").pose(Q)[:3, 3], np.array([0.1, 0.2, 0.3]), np.array([1.0, -1.0, 0.5])
    v = DifferentialIK(arm, task, None, damping=1e-9)(Q, at, speed)
    np.testing.assert_allclose(arm.frame("tool0").jacobian(Q)[:3] @ v, speed, atol=1e-9)
    assert task.references(arm) == {"target": (3,), "velocity": (3,), "acceleration": (3,)}
    step = WholeBody(arm, task, regularization=1e-9).step(Q, v, {"tool0": (at, speed, more)})
    np.testing.assert_allclose(arm.frame("tool0").acceleration(Q, v, step.a)[:3], more, atol=1e-8)


WRONG = {
    "gain": (lambda _: Position("tool0", gain=np.inf), kt.ArgumentError, "gain is inf"),
    "stiffness": (lambda _: Position("tool0", stiffness=-1.0), kt.ArgumentError, "stiffness is -1"),
    "damping": (lambda _: Position("tool0", damping="some"), kt.ArgumentTypeError, "damping is 'some'"),
    "feedforward": (lambda _: Position("tool0", feedforward=1), kt.ArgumentTypeError, "feedforward is 1"),
    "ik": (lambda arm: DifferentialIK(arm, Pose("tool0", gain=(1, 2))), kt.ArgumentError, "gain of task 'tool0' has 2"),
    "body": (
        lambda arm: WholeBody(arm, Posture(damping=(1, 2))),
        kt.ArgumentError,
        "damping of task 'posture' has 2 numbers; expected one, or 7 for its rows",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case, arm):
    make, kind, words = WRONG[case]
    with pytest.raises(kind, match=words):
        make(arm)


# -- drift, and tasks of one's own -------------------------------------------------------------------------------------


def test_a_task_of_your_own_in_both(arm):
    """Its J̇ v is found by differentiating, on symbols and on numbers, and its distance goes where it should."""
    task = Distance("tool0", "shoulder_link", weight=2.0)
    rng = np.random.default_rng(0)
    v = rng.normal(size=7)
    target = np.array([0.4])
    assert task.name == "distance"
    check_drift(task, arm.eager, Q, target, v)
    ik = DifferentialIK(arm, task, dt=0.02)
    assert ik.arguments == ("q", "distance_0")
    q = Q
    for _ in range(60):
        q = arm.integrate(q, 0.02 * ik(q, target))
    np.testing.assert_allclose(task.evaluate(arm.eager, q, target)[0], 0.0, atol=1e-5)
    body = WholeBody(arm, [task, Posture(weight=1e-3)], limits=())
    a = body.step(Q, v, {"distance": target, "posture": Q}).a
    error, J = task.evaluate(arm.eager, Q, target)
    wanted = 100.0 * error - 20.0 * (J @ v) - task.drift(arm.eager, Q, v, target)
    np.testing.assert_allclose(J @ a, wanted, rtol=1e-3)
    again = pickle.loads(pickle.dumps(replace(task, gain=2.0)))
    assert again.gain == 2.0 and again.first == task.first


def test_drift_of_symbols_is_that_of_numbers(arm):
    """Inside a compiled function the derivative is part of its graph; on numbers the graph is evaluated."""
    tasks = ((LookAt("tool0"), np.array([1.0, 0.5, 1.0])), (RelativePose("tool0", arm.frame_names[3]), np.eye(4)))
    v = np.linspace(-1.0, 1.0, 7)
    for task, target in tasks:

        @kt.compile(shapes={"target": target.shape})
        def drift(robot, q, v, target):
            return task.drift(robot, q, v, target)  # noqa: B023 - it is traced right away

        np.testing.assert_allclose(drift(arm, Q, v, target), task.drift(arm.eager, Q, v, target), atol=1e-11)


def test_tasks_without_a_closed_form_do_what_they_say_in_whole_body_control(arm):
    """Two hundred steps at 100 Hz: an axis turns to a point, and a frame goes where another one sees it."""
    other = arm.frame_names[3]
    seen = np.linalg.inv(arm.frame(other).pose(Q + 0.1)) @ arm.frame("tool0").pose(Q + 0.1)
    for task, target in ((LookAt("tool0", (0, 0, 1)), np.array([1.5, 0.5, 1.0])), (RelativePose("tool0", other), seen)):
        body = WholeBody(arm, [task, Posture(weight=1e-3)], limits=())
        q, v = Q, np.zeros(7)
        for _ in range(200):
            a = body.step(q, v, {task.name: target, "posture": Q}).a
            q, v = arm.integrate(q, 0.01 * v + 0.5e-4 * a), v + 0.01 * a
        assert np.abs(task.evaluate(arm.eager, q, target)[0]).max() < 5e-3
