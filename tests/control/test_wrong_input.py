"""What controllers refuse in a sentence, and never take for something else.

Covers: control/robots.py.
"""

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree import control, trajectories
from kinetree.control import (
    Force,
    Momentum,
    MotionLimits,
    PointContact,
    Pose,
    Position,
    Posture,
    SurfaceContact,
    WholeBody,
)

ARM = kt.load("arm6")
Q, V = 0.1 + 0.1 * np.arange(6.0), 0.1 * np.ones(6)
POSE = ARM.frame("tool0").pose(Q)
NO_POSE = {
    "zeros": np.zeros((4, 4)),
    "scaled": np.diag([2.0, 2.0, 2.0, 1.0]),
    "mirrored": np.diag([1.0, 1.0, -1.0, 1.0]),
    "transposed": POSE.T,
}
BAD_LAST_ROW = np.vstack([np.eye(4)[:3], np.ones(4)])

# -- made of the wrong things ------------------------------------------------------------------------------------------

MADE = {
    "no tasks": (lambda: WholeBody(ARM, None), kt.ArgumentTypeError, "tasks has None"),
    "a class": (lambda: WholeBody(ARM, Posture), kt.ArgumentTypeError, "tasks has"),
    "no contacts": (lambda: WholeBody(ARM, Posture(), None), kt.ArgumentTypeError, "contacts has None"),
    "other limits": (lambda: WholeBody(ARM, Posture(), (), kt.ik.Limits()), kt.ArgumentTypeError, "limits has"),
    "motors": (lambda: WholeBody(ARM, Posture(), actuated=5), kt.ArgumentTypeError, "actuated has 5"),
    "a list for a name": (lambda: WholeBody(ARM, Force(["tool0"])), kt.UnknownNameError, "contact"),
    "no weights": (lambda: Posture(weight=[]), kt.ArgumentError, "weight is"),
    "a word for a flag": (lambda: Posture(hard="no"), kt.ArgumentTypeError, "hard is 'no'; expected True"),
    "another": (lambda: Pose("tool0", feedforward="no"), kt.ArgumentTypeError, "feedforward"),
    "of limits": (lambda: MotionLimits(position="no"), kt.ArgumentTypeError, "position is 'no'"),
    "a name for joints": (lambda: Posture(joints="elbow"), kt.ArgumentTypeError, "joints is 'elbow'"),
    "a joint twice": (lambda: Posture(joints=["elbow"] * 2), kt.ArgumentError, "each joint once"),
    "a place": (lambda: PointContact("tool0", at=[0.0, 0.0, np.nan]), kt.ArgumentError, "at of contact"),
    "no pose": (lambda: SurfaceContact("tool0", at=BAD_LAST_ROW), kt.ArgumentError, "no pose"),
    "rows": (lambda: SurfaceContact("tool0", at=[[1.0], [1.0, 2.0]]), kt.ArgumentError, "different lengths"),
    "gains": (lambda: control.ComputedTorque(ARM, [[1.0], [1.0, 2.0]]), kt.ArgumentError, "different lengths"),
    "a posture": (
        lambda: control.OperationalSpace(ARM, "tool0", 1.0, posture=Q * np.nan, posture_stiffness=1.0),
        kt.ArgumentError,
        "posture is",
    ),
    "a change": (lambda: control.ComputedTorque(ARM, 1.0).changed(stifness=2.0), kt.UnknownNameError, "stiffness"),
    "IK": (lambda: kt.ik.DifferentialIK(ARM, None), kt.ArgumentTypeError, "tasks has None"),
    "limits of IK": (
        lambda: kt.ik.DifferentialIK(ARM, kt.ik.Pose("tool0"), "none"),
        kt.ArgumentTypeError,
        "limits is 'none'",
    ),
    "pairs": (lambda: kt.ik.velocity(ARM, Q, [kt.ik.Pose("tool0")]), kt.ArgumentTypeError, "expected pairs"),
    "an option": (
        lambda: kt.ik.velocity(ARM, Q, [(kt.ik.Pose("tool0"), POSE)], damp=1.0),
        kt.UnknownNameError,
        "option 'damp'",
    ),
}


@pytest.mark.parametrize(("made", "error", "word"), MADE.values(), ids=MADE)
def test_refused_when_made(made, error, word):
    with pytest.raises(error, match=word):
        made()


def test_numbers_of_numpy_are_numbers():
    assert Posture(priority=np.int64(2)).priority == 2
    assert PointContact("tool0", edges=np.int64(6)).edges == 6
    assert Posture(hard=np.True_).hard is True


def test_motors_may_come_one_by_one():
    names = (name for name in ARM.joint_names[:4])
    controller = WholeBody(ARM, Posture(), actuated=names)
    assert controller.problem.dynamics.motors == (0, 1, 2, 3)
    assert pickle.loads(pickle.dumps(controller)).problem.dynamics.motors == (0, 1, 2, 3)


# -- references that are none ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def body():
    tasks = [Pose("tool0"), Position("forearm_link", name="elbow", feedforward=True), Posture(weight=0.1)]
    return WholeBody(ARM, tasks, PointContact("wrist_1_link", name="touch"))


def wished(**others):
    return {"tool0": POSE, "elbow": ARM.frame("forearm_link").pose(Q)[:3, 3], "posture": Q} | others


@pytest.mark.parametrize("pose", NO_POSE.values(), ids=NO_POSE)
def test_targets_that_are_no_poses(body, pose):
    """Each was taken for some rotation before: now it is refused, by the compiled function and by the textbook."""
    for controller in (body, WholeBody(ARM.eager, body.tasks, body.contacts)):
        with pytest.raises(kt.ArgumentError, match="target of 'tool0'"):
            controller.step(Q, V, wished(tool0=pose))
    with pytest.raises(kt.ArgumentError, match="target of 'tool0'"):
        control.OperationalSpace(ARM, "tool0", 100.0)(Q, V, pose)
    with pytest.raises(kt.ArgumentError, match="target of 'tool0'"):
        kt.ik.DifferentialIK(ARM, kt.ik.Pose("tool0"))(Q, pose)
    admittance = control.Admittance(1.0, 1.0, 1.0, 1e-3)
    with pytest.raises(kt.ArgumentError, match="pose"):
        admittance(admittance.start, np.zeros(6), pose)


def test_rotations_that_are_none():
    with pytest.raises(kt.ArgumentError, match="rotation"):
        control.OperationalSpace(ARM, "tool0", 100.0, task="orientation")(Q, V, np.zeros((3, 3)))


def test_targets_need_not_be_exact(body):
    """A rotation of single precision is one."""
    step = body.step(Q, V, wished(tool0=POSE.astype(np.float32)))
    np.testing.assert_allclose(step.tau, body.step(Q, V, wished()).tau, atol=1e-3)


def test_parts_of_references_are_not_batches(body):
    p = np.zeros(3)
    with pytest.raises(kt.ArgumentError, match="has no feedforward"):
        body(Q, V, wished(posture=(Q, V, V)))
    with pytest.raises(kt.ArgumentError, match="has 0 parts"):
        body(Q, V, wished(elbow=()))
    np.testing.assert_array_equal(body(Q, V, wished(elbow=(p,))), body(Q, V, wished(elbow=p)))


def test_what_is_on_is_said_plainly(body):
    for off in ("off", None, np.nan, [False]):
        with pytest.raises(kt.KinetreeError, match="contact"):
            body.step(Q, V, wished(), contacts={"touch": off})
    for contacts in ([np.nan], np.ones((3, 1))):
        with pytest.raises(kt.ArgumentError, match="contacts has"):
            body.step(Q, V, wished(), contacts=contacts)
    with pytest.raises(kt.ArgumentError, match="weights has"):
        body.step(Q, V, wished(), weights={"tool0": np.inf})
    assert not body.step(Q, V, wished(), contacts={"touch": np.False_}).forces.any()


def test_forces_of_another_size(body):
    step = body.step(Q, V, wished())
    for forces in (step.forces[:-1], {}, None):
        with pytest.raises(kt.KinetreeError, match="forces"):
            body.wrenches(Q, forces)
    with pytest.raises(kt.ArgumentError, match="q has shape"):
        body.wrenches(np.array([Q, Q]), step.forces)
    with pytest.raises(kt.UnknownNameError, match="contact"):
        step.force(["touch"])


def test_the_state_of_a_batch_that_is_refused(body):
    states = np.array([Q, Q, Q])
    states[2, 1] = np.inf
    with pytest.raises(kt.NotFiniteError, match=r"q has inf at \[1\].*in state \[2\] of the batch"):
        body(states, V, wished())


def test_a_fallback_for_what_is_no_configuration():
    """A quaternion that is not of unit length, as an estimator may give, is no reason to stop."""
    dog = kt.load("quadruped", "floating")
    q, v = dog.neutral(), 0.1 * np.ones(18)
    q[3:7] *= 1.1
    for fallback in ("damping", "gravity-compensation"):
        careful = WholeBody(dog, Posture(), fallback=fallback, fallback_damping=2.0)
        step = careful.step(q, v, {"posture": q})
        np.testing.assert_allclose(step.tau, -0.2 * (np.arange(18) > 5))
        assert isinstance(step.error, kt.ArgumentError) and "quaternion" in str(step.error)
        np.testing.assert_array_equal(careful(q, v, {"posture": q}), step.tau)


# -- 6-vectors ---------------------------------------------------------------------------------------------------------


def test_references_have_the_order_of_the_robot():
    """What `frame.velocity` and `robot.centroidal_momentum` give is what references take."""
    turned = np.array([3, 4, 5, 0, 1, 2])
    other = kt.load("arm6", spatial_order="angular-first")
    rates, h = np.arange(1.0, 7.0), np.arange(6.0)
    tasks = [Pose("tool0", feedforward=True), Momentum(feedforward=True, weight=0.3)]
    results = [
        WholeBody(robot, tasks).step(
            Q, V, {"tool0": (POSE, rates[order], 2.0 * rates[order]), "momentum": (h[order], -h[order])}
        )
        for robot, order in ((ARM, np.arange(6)), (other, turned))
    ]
    np.testing.assert_allclose(results[1].tau, results[0].tau, rtol=1e-9, atol=1e-9)
    moving = [kt.ik.Pose("tool0", feedforward=True), kt.ik.Momentum(weight=0.1)]
    velocities = [
        kt.ik.DifferentialIK(robot, moving)(Q, POSE, rates[order], h[order])
        for robot, order in ((ARM, np.arange(6)), (other, turned))
    ]
    np.testing.assert_allclose(velocities[1], velocities[0], rtol=1e-9, atol=1e-9)


def test_a_posture_says_nothing_of_the_base():
    dog = kt.load("quadruped", "floating")
    q = dog.random(np.random.default_rng(0))
    goal = dog.neutral()
    error, _ = kt.ik.Posture().evaluate(dog.eager, q, goal)
    np.testing.assert_allclose(error, goal[7:] - q[7:], atol=1e-15)
    goal[:7] = np.nan
    np.testing.assert_array_equal(kt.ik.Posture().evaluate(dog.eager, q, goal)[0], error)


# -- controllers of one formula ----------------------------------------------------------------------------------------


def test_a_reference_never_reaches_the_gains():
    """A state of a trajectory has an acceleration too, which an impedance once took for its stiffness."""
    move = trajectories.JointMove(ARM, Q, Q + 0.5, duration=2.0)
    soft = control.JointImpedance(ARM, 10.0, 1.0)
    for _ in range(2):  # the second call is native
        with pytest.raises(kt.ArgumentError, match="3 parts; expected q_des, v_des"):
            soft(Q, V, move(0.7))
        tau = soft(Q, V, move(0.7)[:2])
    np.testing.assert_array_equal(tau, soft(Q, V, *move(0.7)[:2]))
    with pytest.raises(kt.ArgumentError, match="expected none"):
        control.GravityCompensation(ARM)(Q, V, (Q,))
    np.testing.assert_array_equal(
        control.ComputedTorque(ARM, 100.0)(Q, V, tuple(move(0.7))), control.ComputedTorque(ARM, 100.0)(Q, V, *move(0.7))
    )


def test_a_tuple_among_others_is_no_batch():
    with pytest.raises(kt.ArgumentTypeError, match="a tuple of arrays among others"):
        control.ComputedTorque(ARM, 100.0)(Q, V, (Q, V), V)


def test_controllers_do_not_change():
    controller = control.ComputedTorque(ARM, 100.0)
    before = controller(Q, V, Q)
    with pytest.raises(AttributeError, match="cannot be changed"):
        controller.robot = None
    with pytest.raises(ValueError, match="read-only"):
        controller.presets["stiffness"][0] = 0.0
    np.testing.assert_array_equal(controller(Q, V, Q), before)


# -- differential IK ---------------------------------------------------------------------------------------------------


def test_velocities_go_where_they_fit_and_say_what_is_wrong():
    ik = kt.ik.DifferentialIK(ARM, kt.ik.Pose("tool0"))
    out = np.zeros(6)
    assert ik.velocity(Q, POSE, out=out) is out
    for wrong in (np.zeros(3), np.zeros(6, dtype=int), [0.0] * 6):
        with pytest.raises(kt.KinetreeError, match="out"):
            ik.velocity(list(Q), POSE, out=wrong)
    with pytest.raises(kt.ArgumentError, match="step takes one state"):
        ik.step(np.array([Q, Q]), POSE)
    with pytest.raises(kt.NotFiniteError, match=r"pose_0 has nan at \[0, 3\]"):
        ik(Q, POSE + np.where(np.arange(16).reshape(4, 4) == 3, np.nan, 0.0))


def test_batches_of_references(body):
    goals = np.array([wished()["elbow"]] * 4) + 0.01 * np.arange(4)[:, None]
    taus = body(Q, V, wished(elbow=goals))
    for k in range(4):
        np.testing.assert_array_equal(taus[k], body(Q, V, wished(elbow=goals[k])))
