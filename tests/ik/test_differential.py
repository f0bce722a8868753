"""Steps of differential inverse kinematics: closed forms, limits, singular poses, priorities, contacts.

Covers: functions/pipeline.py, ik/limits.py, ik/problem.py.
"""

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.ik import CenterOfMass, DifferentialIK, Limits, Orientation, Pose, Position, Posture

pytestmark = pytest.mark.calls

DT = 0.01


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm7")


@pytest.fixture(scope="module")
def humanoid():
    return kt.load("humanoid", base="floating")


def bent(robot):
    """Standing with bent knees and elbows, away from limits and singularities."""
    q = robot.neutral()
    names = {joint.name: joint.iq for joint in robot.model.owners}
    for name, iq in names.items():
        if joint_is(name, "knee"):
            q[iq] = 0.6
        elif joint_is(name, "hip_pitch") or joint_is(name, "ankle_pitch"):
            q[iq] = -0.3
        elif joint_is(name, "elbow"):
            q[iq] = 0.5 * (robot.limits.lower[iq] + robot.limits.upper[iq])
    return np.clip(q, robot.limits.lower + 1e-3, robot.limits.upper - 1e-3)


def joint_is(name, part):
    return part in name


def target_near(robot, frame, q, rng, size=0.05):
    return robot.frame(frame).pose(robot.integrate(q, size * rng.normal(size=robot.nv)))


def test_one_task_is_a_damped_pseudo_inverse(arm):
    rng = np.random.default_rng(0)
    ik = DifferentialIK(arm, Pose("tool0", gain=3.0, weight=(1, 1, 1, 0.5, 0.5, 0.5)), None, damping=0.1)
    W = np.diag([1, 1, 1, 0.25, 0.25, 0.25])
    for _ in range(10):
        q = arm.random(rng)
        T, goal = arm.frame("tool0").pose(q), target_near(arm, "tool0", q, rng)
        J = arm.frame("tool0").jacobian(q)
        error, _ = Pose("tool0").evaluate(arm.eager, q, goal)
        expected = np.linalg.solve(J.T @ W @ J + 0.01 * np.eye(7), J.T @ W @ (3.0 * error))
        np.testing.assert_allclose(ik(q, goal), expected, atol=1e-10)
        assert T.shape == (4, 4)


@pytest.mark.sweep
def test_the_textbook_python_and_batches_agree(arm, monkeypatch):
    rng = np.random.default_rng(1)
    tasks = [[Pose("tool0"), Posture(weight=0.1)], [Pose("tool0"), Posture(priority=1)]]
    for chosen in tasks:
        ik, textbook = DifferentialIK(arm, chosen), DifferentialIK(arm.eager, chosen)
        q, goal = arm.random(rng, 6), arm.frame("tool0").pose(arm.random(rng, 6))
        v = ik.velocity(q, goal, arm.neutral())
        assert v.shape == (6, 7)
        for k in range(6):
            np.testing.assert_array_equal(ik(q[k], goal[k], arm.neutral()), v[k])
            np.testing.assert_allclose(textbook(q[k], goal[k], arm.neutral()), v[k], atol=1e-8)
        again = pickle.loads(pickle.dumps(ik))
        np.testing.assert_array_equal(again(list(q[0]), goal[0], arm.neutral()), v[0])
        out = np.empty(7)
        assert ik.velocity(q[0], goal[0], posture_1=arm.neutral(), out=out) is out
        monkeypatch.setenv("KINETREE_NATIVE", "0")
        python = DifferentialIK(arm, chosen)
        np.testing.assert_array_equal(python(q[1], goal[1], arm.neutral()), v[1])
        monkeypatch.delenv("KINETREE_NATIVE")


def test_feedforward_follows_a_moving_target(arm):
    """With the target's velocity given, a circle is followed without lag; without, it is not."""
    errors = {}
    for feedforward in (True, False):
        ik = DifferentialIK(arm, Position("tool0", feedforward=feedforward), None, dt=DT)
        q = np.array([0.1, 0.7, 0.1, -1.2, 0.1, 0.9, 0.0])
        start = arm.frame("tool0").pose(q)[:3, 3]
        for k in range(200):
            w = 2.0 * np.pi / 2.0
            at = start + 0.1 * np.array([np.sin(w * k * DT), np.cos(w * k * DT) - 1.0, 0.0])
            speed = 0.1 * w * np.array([np.cos(w * k * DT), -np.sin(w * k * DT), 0.0])
            errors[feedforward] = np.linalg.norm(at - arm.frame("tool0").pose(q)[:3, 3])
            v = ik(q, at, speed) if feedforward else ik(q, at)
            q = arm.integrate(q, DT * v)
    assert errors[True] < 1e-3
    assert errors[False] > 1e-2


# -- limits ------------------------------------------------------------------------------------------------------------


def test_a_target_out_of_reach_stops_at_limits(arm):
    """Towards a far target, joints go to their limits and no further, and v is the best that limits allow."""
    rng = np.random.default_rng(2)
    limits = Limits(acceleration=20.0)
    ik = DifferentialIK(arm, Pose("tool0"), limits, dt=DT)
    at_bound = 0
    for _ in range(3):
        q, v = np.clip(arm.random(rng), -1.0, 1.0), np.zeros(7)
        q = np.clip(q, arm.limits.lower + 0.01, arm.limits.upper - 0.01)
        goal = arm.frame("tool0").pose(arm.random(rng))
        goal[:3, 3] += 1.0
        for _ in range(300):
            last, v = v, ik(q, goal, v)
            assert (np.abs(v - last) <= 20.0 * DT + 1e-9).all()
            assert (np.abs(v) <= arm.limits.velocity + 1e-9).all()
            q = arm.integrate(q, DT * v)
            assert (q >= arm.limits.lower - 1e-9).all() and (q <= arm.limits.upper + 1e-9).all()
        at_bound += ((q < arm.limits.lower + 1e-3) | (q > arm.limits.upper - 1e-3)).sum()
    assert at_bound > 0


def test_limits_are_bounds_of_a_quadratic_program(arm):
    """The solution satisfies the conditions of optimality with active limits."""
    rng = np.random.default_rng(3)
    ik = DifferentialIK(arm, Pose("tool0", gain=50.0), dt=DT, damping=0.01)
    active = 0
    for _ in range(20):
        q = arm.random(rng)
        goal = arm.frame("tool0").pose(arm.random(rng))
        step = ik.step(q, goal)
        J = arm.frame("tool0").jacobian(q)
        gradient = J.T @ step.residuals[0] + 1e-4 * step.v
        scale = np.abs(J.T @ J @ step.v).max()
        assert np.abs(gradient[step.at_limit == 0]).max(initial=0.0) < 1e-9 * scale
        assert (gradient * step.at_limit <= 1e-9 * scale).all()  # pushes outwards
        active += np.count_nonzero(step.at_limit)
    assert active > 10


def test_a_joint_beyond_its_limit_comes_back(arm):
    q = arm.neutral()
    q[3] = arm.limits.upper[3] + 0.2
    ik = DifferentialIK(arm, Posture(weight=0.0), dt=DT)
    v = ik(q, q)
    assert v[3] == pytest.approx(-min(0.2 / DT, arm.limits.velocity[3]))
    np.testing.assert_allclose(np.delete(v, 3), 0.0, atol=1e-12)


# -- singular poses ----------------------------------------------------------------------------------------------------


def test_through_a_singularity_velocities_stay_bounded():
    """A target that leaves the workspace and returns, without limits: v is no larger than gain · error / 2λ, as
    σ / (σ² + λ²) ≤ 1 / 2λ. With next to no damping it is much larger."""
    arm = kt.load("planar2")
    largest = {}
    for damping in (1e-6, 0.05):
        ik = DifferentialIK(arm, Position("tip", gain=20.0), None, dt=DT, damping=damping)
        q = np.array([0.3, 0.4])
        start = arm.frame("tip").pose(q)[:3, 3].copy()
        largest[damping] = 0.0
        for k in range(400):
            goal = start * (1.0 + 0.3 * np.sin(k * DT * 2.0))
            error = np.linalg.norm(goal - arm.frame("tip").pose(q)[:3, 3])
            v = ik(q, goal)
            assert np.linalg.norm(v) <= 20.0 * error / (2.0 * damping) + 1e-9
            largest[damping] = max(largest[damping], np.abs(v).max())
            q = arm.integrate(q, DT * v)
    assert largest[1e-6] > 10.0 * largest[0.05]


@pytest.mark.parametrize("strict", [False, True])
def test_at_a_singularity_there_is_a_solution(arm, strict):
    q = arm.neutral()  # stretched out
    J = arm.frame("tool0").jacobian(q)
    assert np.linalg.svd(J, compute_uv=False)[-1] < 1e-6
    tasks = [Pose("tool0"), Posture(priority=1)] if strict else [Pose("tool0")]
    goal = arm.frame("tool0").pose(q)
    goal[2, 3] += 0.2
    given = (goal, q) if strict else (goal,)
    for damping in (0.0, 1e-3):
        v = DifferentialIK(arm, tasks, None, damping=damping)(q, *given)
        assert np.isfinite(v).all() and np.abs(v).max() < 1e3


# -- priorities --------------------------------------------------------------------------------------------------------


def residual(task, robot, q, v, target):
    error, J = task.evaluate(robot.eager, q, target)
    return J @ v - task.gain * error


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.sampled(2)
def test_lower_priorities_never_change_higher_residuals(humanoid, limited):
    rng = np.random.default_rng(4)
    hands = [Pose("left_hand", priority=0), Position("right_hand", priority=1)]
    tasks = [*hands, Orientation("head", priority=2), Posture(priority=3)]
    limits = Limits(slower=0.05) if limited else None
    steps = [DifferentialIK(humanoid, tasks[:k], limits, dt=DT, damping=1e-2) for k in (1, 2, 3, 4)]
    q = bent(humanoid)
    changed = 0
    for _ in range(5):
        poses = {task.frame: target_near(humanoid, task.frame, q, rng, 0.3) for task in tasks[:3]}
        targets = [poses["left_hand"], poses["right_hand"][:3, 3], poses["head"][:3, :3], humanoid.neutral()]
        vs = [ik(q, *targets[: len(ik.tasks)]) for ik in steps]
        for k in (1, 2, 3):
            changed += np.abs(vs[k] - vs[k - 1]).max() > 1e-3
            for task, target in zip(tasks[:k], targets[:k], strict=True):
                before, after = (residual(task, humanoid, q, v, target) for v in (vs[k - 1], vs[k]))
                np.testing.assert_allclose(after, before, atol=1e-10)
        if limited:
            assert (np.abs(vs[3]) <= 0.05 * humanoid.limits.velocity + 1e-9).all()
    assert changed >= 12


def test_conflicting_tasks_share_by_weight_or_by_order(arm):
    """Two targets for one frame: weights meet between them, priorities at the first."""
    q = np.array([0.1, 0.7, 0.1, -1.2, 0.1, 0.9, 0.0])
    start = arm.frame("tool0").pose(q)[:3, 3]
    a, b = start + np.array([0.1, 0, 0]), start - np.array([0.1, 0, 0])
    for weights, expected in (((1.0, 1.0), 0.0), ((1.0, 0.5), 0.06), ((3.0, 1.0), 0.08)):
        tasks = [Position("tool0", weight=w) for w in weights]
        v = DifferentialIK(arm, tasks, None, damping=1e-6)(q, a, b)
        J = arm.frame("tool0").jacobian(q)[:3]
        np.testing.assert_allclose(J @ v, [10.0 * expected, 0, 0], atol=1e-6)
    tasks = [Position("tool0", priority=0), Position("tool0", priority=1)]
    v = DifferentialIK(arm, tasks, None, damping=0.0)(q, a, b)
    np.testing.assert_allclose(J @ v, [1.0, 0, 0], atol=1e-9)


def test_null_space_motion_is_n_times_the_wish(arm):
    """A posture behind a pose moves with N q̇₀, N = 1 - J⁺ J."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, wish = arm.random(rng), arm.random(rng)
        goal = target_near(arm, "tool0", q, rng)
        v = DifferentialIK(arm, [Pose("tool0"), Posture(priority=1, gain=2.0)], None, damping=0.0)(q, goal, wish)
        J = arm.frame("tool0").jacobian(q)
        error, _ = Pose("tool0").evaluate(arm.eager, q, goal)
        N = np.eye(7) - np.linalg.pinv(J) @ J
        expected = np.linalg.pinv(J) @ (10.0 * error) + N @ (2.0 * (wish - q))
        np.testing.assert_allclose(v, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))


# -- contacts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.sampled(2)
@pytest.mark.sweep
def test_feet_stay_where_they_are_while_the_body_moves(humanoid, strict):
    q = bent(humanoid)
    feet = ("left_foot_link", "right_foot_link")
    places = {foot: humanoid.frame(foot).pose(q) for foot in feet}
    contacts = [kt.Contact(foot, "surface", at=place) for foot, place in places.items()]
    tasks = [CenterOfMass(), Posture(weight=0.02, priority=int(strict))]
    ik = DifferentialIK(humanoid, tasks, dt=DT, contacts=contacts)
    com, posture = humanoid.center_of_mass(q), q.copy()
    goal = com + np.array([0.02, 0.03, -0.04])
    for _ in range(100):
        v = ik(q, goal, posture)
        for foot in feet:
            J = humanoid.frame(foot).jacobian(q)
            error, _ = Pose(foot).evaluate(humanoid.eager, q, places[foot])
            np.testing.assert_allclose(J @ v, 10.0 * error, atol=1e-9)
        q = humanoid.integrate(q, DT * v)
    for foot in feet:
        np.testing.assert_allclose(humanoid.frame(foot).pose(q), places[foot], atol=1e-5)
    tolerance = 1e-4 if strict else 5e-3  # the posture pulls with its weight
    np.testing.assert_allclose(humanoid.center_of_mass(q), goal, atol=tolerance)


def test_a_contact_that_limits_do_not_allow_is_named():
    robot = kt.load("arm6")
    contact = kt.Contact("tool0", "point", at=(3.0, 0.0, 0.0))
    ik = DifferentialIK(robot, Posture(), dt=DT, contacts=contact, contact_gain=100.0)
    with pytest.raises(kt.InfeasibleError, match="contact of 'tool0'"):
        ik(np.full(6, 0.3), np.zeros(6))


# -- calls -------------------------------------------------------------------------------------------------------------


def test_wrong_calls(arm, humanoid):
    ik = DifferentialIK(arm, Pose("tool0"))
    assert ik.arguments == ("q", "pose_0")
    with pytest.raises(kt.ArgumentTypeError, match="missing a required argument: 'pose_0'"):
        ik(np.zeros(7))
    with pytest.raises(kt.ArgumentError, match="q has shape"):
        ik(np.zeros(6), np.eye(4))
    with pytest.raises(kt.NotFiniteError):
        ik(np.full(7, np.nan), np.eye(4))
    walker = DifferentialIK(humanoid, CenterOfMass())
    with pytest.raises(kt.ArgumentError, match="quaternion"):
        walker(np.zeros(humanoid.nq), np.zeros(3))


def test_one_call_for_everything(arm):
    rng = np.random.default_rng(6)
    q = arm.random(rng)
    goal = target_near(arm, "tool0", q, rng)
    v = kt.ik.velocity(arm, q, [(Pose("tool0"), goal), (Posture(priority=1), q)], dt=DT)
    ik = DifferentialIK(arm, [Pose("tool0"), Posture(priority=1)], dt=DT)
    np.testing.assert_array_equal(v, ik(q, goal, q))
    moving = Pose("tool0", feedforward=True)
    np.testing.assert_allclose(
        kt.ik.velocity(arm, q, [(moving, (arm.frame("tool0").pose(q), np.zeros(6)))]), 0.0, atol=1e-9
    )


WRONG = {
    "weights": (lambda arm: DifferentialIK(arm, Pose("tool0", weight=(1, 2))), kt.ArgumentError, "2 numbers"),
    "hard": (
        lambda arm: DifferentialIK(arm, Pose("tool0", hard=True)),
        kt.ArgumentError,
        "'tool0' is hard; differential IK has no hard tasks: give it a smaller priority=",
    ),
    "task": (lambda arm: DifferentialIK(arm, ["tool0"]), kt.ArgumentTypeError, "tasks has 'tool0'"),
    "nothing": (lambda arm: DifferentialIK(arm, []), kt.ArgumentError, "tasks is empty"),
    "robot": (lambda _: DifferentialIK("arm7", Pose("tool0")), kt.ArgumentTypeError, "robot is 'arm7'"),
    "step": (lambda arm: DifferentialIK(arm, Pose("tool0"), dt=0.0), kt.ArgumentError, "dt is 0"),
    "accelerations": (
        lambda arm: DifferentialIK(arm, Pose("tool0"), Limits(acceleration=(1, 2))),
        kt.ArgumentError,
        "acceleration has 2 numbers",
    ),
    "acceleration": (lambda _: Limits(acceleration=-1.0), kt.ArgumentError, "acceleration is -1"),
    "slower": (lambda _: Limits(slower=0.0), kt.ArgumentError, "slower is 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(arm, case):
    make, kind, words = WRONG[case]
    with pytest.raises(kind, match=words):
        make(arm)
