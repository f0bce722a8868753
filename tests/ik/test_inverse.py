"""Inverse kinematics to poses: found where there is a solution, explained where there is none.

Covers: ik/coordinates.py, ik/lanes.py, ik/search.py, ik/solution.py, ik/step.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.ik import search
from kinetree.ik.inverse import InverseKinematics
from kinetree.ik.lanes import Lanes

TOOLS = {"arm6": "tool0", "arm7": "tool0", "puma560": "tool", "humanoid": "left_hand"}


@pytest.fixture(scope="module", params=TOOLS)
def arm(request):
    robot = kt.load(request.param)
    tool = TOOLS[request.param]
    return robot, tool if tool in robot.frame_names else robot.frame_names[-1]


def within_limits(robot, q):
    return (q >= robot.limits.lower - 1e-12).all() and (q <= robot.limits.upper + 1e-12).all()


def angle_between(A, B):
    """By the trace and the skew part together, exact for small and large angles."""
    D = np.swapaxes(A, -1, -2) @ B
    sine = np.stack([D[..., 2, 1] - D[..., 1, 2], D[..., 0, 2] - D[..., 2, 0], D[..., 1, 0] - D[..., 0, 1]], -1)
    return np.arctan2(np.linalg.norm(sine, axis=-1), np.trace(D, axis1=-2, axis2=-1) - 1.0)


def check(robot, frame, solution, targets, position=1e-6, rotation=1e-6):
    """That what is said of a solution is true of it."""
    T = robot.frame(frame).pose(solution.q)
    gap = np.linalg.norm(T[..., :3, 3] - targets[..., :3, 3], axis=-1)
    angle = angle_between(T[..., :3, :3], targets[..., :3, :3])
    np.testing.assert_allclose(solution.position_error, gap, atol=1e-9)
    np.testing.assert_allclose(solution.rotation_error, angle, atol=1e-7)
    np.testing.assert_allclose(solution.residual, np.hypot(gap, angle), atol=1e-7)
    assert np.array_equal(solution.success, (gap <= position) & (angle <= rotation + 1e-7))
    assert within_limits(robot, solution.q)


@pytest.mark.sampled(2)
def test_every_reachable_pose_is_reached(arm):
    robot, tool = arm
    targets = robot.frame(tool).pose(robot.random(np.random.default_rng(0), 2000))
    solution = robot.ik(tool, targets)
    assert solution.success.all() and solution.q.shape == (2000, robot.nq)
    check(robot, tool, solution, targets)
    assert (solution.attempts >= 1).all() and (solution.iterations >= 1).all()
    assert all(reason is None for reason in solution.reason)


def test_one_pose(arm):
    robot, tool = arm
    target = robot.frame(tool).pose(robot.random(np.random.default_rng(1)))
    solution = robot.ik(tool, target)
    assert solution.success is True and solution.reason is None
    assert isinstance(solution.residual, float) and isinstance(solution.iterations, int)
    check(robot, tool, solution, target)


def test_tolerances_are_those_asked_for():
    robot = kt.load("arm7")
    targets = robot.frame("tool0").pose(robot.random(np.random.default_rng(2), 300))
    coarse = robot.ik("tool0", targets, position_tolerance=1e-2, rotation_tolerance=1e-1)
    check(robot, "tool0", coarse, targets, 1e-2, 1e-1)
    assert coarse.residual.max() > 1e-3
    fine = robot.ik("tool0", targets, position_tolerance=1e-9, rotation_tolerance=1e-9)
    assert fine.success.all() and fine.residual.max() < 2e-9
    assert fine.iterations.sum() > coarse.iterations.sum()


def test_a_solution_near_the_start_is_preferred():
    robot, rng = kt.load("arm7"), np.random.default_rng(3)
    q = 0.9 * robot.random(rng, 500)
    near = q + rng.uniform(-0.05, 0.05, q.shape)
    targets = robot.frame("tool0").pose(q)
    together = robot.ik("tool0", targets, near)
    far = robot.ik("tool0", targets)
    assert together.success.all()
    distance = np.abs(together.q - near).max(-1)
    assert (distance < 0.5).mean() > 0.98 and np.median(distance) < 0.06
    assert np.median(np.abs(far.q - near).max(-1)) > 1.0  # without a start there is no reason to stay near it
    for k in range(20):
        alone = robot.ik("tool0", targets[k], near[k])  # eight lanes race, and the given start has the last word
        assert np.abs(alone.q - near[k]).max() < 0.5 or distance[k] >= 0.5


def test_a_start_at_the_solution_is_the_solution():
    robot = kt.load("arm6")
    q = 0.9 * robot.random(np.random.default_rng(4))
    solution = robot.ik("tool0", robot.frame("tool0").pose(q), q)
    assert np.array_equal(solution.q, q)


def test_too_far():
    robot = kt.load("arm6")
    reach = np.linalg.norm(robot.frame("tool0").pose(robot.random(0, 20000))[:, :3, 3], axis=-1).max()
    target = robot.frame("tool0").pose(robot.neutral())
    target[:3, 3] = [3.0, 0.0, 0.5]
    solution = robot.ik("tool0", target)
    assert solution.success is False and within_limits(robot, solution.q)
    assert abs(solution.position_error - (np.linalg.norm(target[:3, 3]) - reach)) < 0.6
    assert solution.reason.startswith("'tool0' stays ") and "its position is out of reach by" in solution.reason
    d = float(solution.reason.split("out of reach by at least ")[1].split(" m")[0])
    assert 1.5 < d <= solution.position_error + 0.01

    mixed = np.stack([robot.frame("tool0").pose(robot.random(5)), target])
    both = robot.ik("tool0", mixed)
    assert both.success.tolist() == [True, False]
    assert both.reason[0] is None and "out of reach" in both.reason[1]


def test_the_best_that_can_be_done():
    """A planar arm that is stretched towards a point beyond it is as near as it can be."""
    robot = kt.load("planar2")
    tool = robot.frame_names[-1]
    length = max(np.linalg.norm(robot.frame(tool).pose(robot.random(0, 5000))[:, [0, 2], 3], axis=-1))
    at = robot.frame(tool).pose(robot.neutral())[:3, 3]
    direction = at / np.linalg.norm(at)
    solution = robot.ik(tool, direction * (length + 1.0))
    assert not solution.success and solution.position_error == pytest.approx(1.0, abs=0.05)
    assert "out of reach" in solution.reason and "rad" not in solution.reason


def test_a_position_that_is_in_reach_but_not_with_these_axes():
    robot = kt.load("planar2")
    tool = robot.frame_names[-1]
    target = robot.frame(tool).pose(robot.random(1))
    quarter = kt.rotations.matrix_from_euler([np.pi / 2, 0.0, 0.0], "XYZ")
    target[:3, :3] = quarter @ target[:3, :3]
    solution = robot.ik(tool, target)
    assert not solution.success
    assert "its position can be reached, but not with this orientation" in solution.reason


def test_limits_that_stand_in_the_way_are_named():
    builder = kt.ModelBuilder("slide")
    builder.link("base")
    builder.link("cart", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    builder.joint("rail", "prismatic", "base", "cart", axis=(1, 0, 0), lower=-0.5, upper=0.75)
    robot = kt.Robot(builder.build())
    solution = robot.ik("cart", [1.0, 0.0, 0.0])
    assert not solution.success and solution.q[0] == 0.75 and solution.position_error == pytest.approx(0.25)
    assert solution.reason == "'cart' stays 0.25 m short of its target: out of reach; 'rail' at its upper limit 0.75"
    assert robot.ik("cart", [-0.4, 0.0, 0.0]).q[0] == pytest.approx(-0.4, abs=1e-6)


@pytest.mark.sampled(2)
def test_positions_alone(arm):
    robot, tool = arm
    points = robot.frame(tool).pose(robot.random(np.random.default_rng(6), 200))[:, :3, 3]
    solution = robot.ik(tool, points)
    assert solution.success.all() and (solution.rotation_error == 0.0).all()
    np.testing.assert_allclose(robot.frame(tool).pose(solution.q)[:, :3, 3], points, atol=1.1e-6)


def test_singular_poses():
    """Stretched to the end, and with the wrist's axes in line: reached or said to be missed by little, never NaN."""
    robot = kt.load("arm6")
    q = robot.random(np.random.default_rng(7), 200)
    q[:100, 2] = 0.0
    q[100:, 4] = 0.0
    targets = robot.frame("tool0").pose(q)
    solution = robot.ik("tool0", targets, position_tolerance=1e-5, rotation_tolerance=1e-5)
    assert np.isfinite(solution.q).all() and solution.success.mean() > 0.98
    check(robot, "tool0", solution, targets, 1e-5, 1e-5)


@pytest.mark.sweep
def test_several_frames_of_a_humanoid():
    robot = kt.load("humanoid", base="floating")
    frames = ["left_sole", "right_sole", "left_hand", "right_hand"]
    q = robot.random(np.random.default_rng(8), 30)
    q[:, :7] = robot.neutral()[:7]
    targets = np.stack([robot.frame(name).pose(q) for name in frames], axis=1)
    solution = robot.ik(frames, targets, robot.neutral())
    assert solution.success.mean() > 0.9
    for k, name in enumerate(frames):
        T = robot.frame(name).pose(solution.q[solution.success])
        np.testing.assert_allclose(T, targets[solution.success, k], atol=5e-6)
    assert np.allclose(np.linalg.norm(solution.q[:, 3:7], axis=-1), 1.0, atol=1e-9)
    neck = robot.model.joint("neck").iq if hasattr(robot.model, "joint") else None
    assert neck is None or np.array_equal(solution.q[:, neck], np.full(30, robot.neutral()[neck]))


def test_joints_that_do_not_matter_stay_where_they_are():
    robot = kt.load("humanoid")
    q0 = robot.random(np.random.default_rng(9))
    target = robot.frame("left_hand").pose(robot.random(np.random.default_rng(10)))
    solution = robot.ik("left_hand", target, q0)
    moves = np.abs(robot.frame("left_hand").jacobian(q0)).max(0) > 0
    assert solution.success and np.array_equal(solution.q[~moves], q0[~moves]) and moves.sum() < robot.nv


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(4)
def test_trees_with_every_joint(seed):
    robot = kt.Robot(kt.random_model(seed, 9, branching=0.1))
    frame = max(
        robot.frame_names, key=lambda name: np.abs(robot.frame(name).jacobian(robot.neutral())).max(0).nonzero()[0].size
    )
    targets = robot.frame(frame).pose(robot.random(np.random.default_rng(seed + 100), 40))
    solution = robot.ik(frame, targets, attempts=300)
    assert solution.success.mean() > 0.9
    T = robot.frame(frame).pose(solution.q[solution.success])
    np.testing.assert_allclose(T, targets[solution.success], atol=5e-6)
    robot.difference(solution.q, solution.q)  # quaternions are of unit length


def test_threads_do_not_change_results():
    robot = kt.load("arm6")
    targets = robot.frame("tool0").pose(robot.random(np.random.default_rng(11), 3000))
    count = kt.get_num_threads()
    try:
        kt.set_num_threads(1)
        one = robot.ik("tool0", targets)
        kt.set_num_threads(3)
        three = robot.ik("tool0", targets)
    finally:
        kt.set_num_threads(count)
    assert np.array_equal(one.q, three.q) and np.array_equal(one.iterations, three.iterations)


def test_batch_axes():
    robot = kt.load("arm6")
    q = robot.random(np.random.default_rng(12), (3, 4))
    targets = robot.frame("tool0").pose(q)
    solution = robot.ik("tool0", targets, 0.9 * robot.neutral())
    assert solution.q.shape == (3, 4, 6) and solution.success.shape == (3, 4) and solution.reason.shape == (3, 4)
    starts = robot.random(np.random.default_rng(13), (5, 1))
    assert robot.ik("tool0", targets[0], starts).q.shape == (5, 4, 6)
    assert robot.ik("tool0", targets[:0]).q.shape == (0, 4, 6)
    assert robot.ik("tool0", targets.tolist()).success.all()


def test_the_loop_by_python_finds_the_same():
    """What looks after the lanes is Python that is also compiled; by itself it comes to the same solution."""
    robot = kt.load("planar2")
    tool = robot.frame_names[-1]
    solver = InverseKinematics(robot, (tool,), turns=False)
    target = robot.frame(tool).pose(robot.random(3))[:3, 3]
    machine = solver.solve(target, None, 1e-6, 1e-6, 20)
    seeds = robot.random(np.random.default_rng(0), 1024)
    lanes, nq, nt = solver._lanes.kernel.source.target.lanes, 2, 3
    settings = np.array([1e-12, 1e-12, 20.0, 40.0, 0.0, 0.0, 0.0, 0.0])
    Q, N, E, T = np.zeros((lanes, nq)), np.zeros((lanes, nq)), np.zeros((lanes, 2)), np.zeros((lanes, nt))
    L = np.full((lanes, search.LANE), -1.0)
    report, found = np.zeros((1, search.REPORT)), np.zeros((1, nq))
    report[0, search.BEST] = np.inf
    start = solver._middle[None]

    def tend():
        given = (settings, np.ones(nq), Q, N, E, L, T, target[None], start, seeds, report, found)
        return search.tend(lanes, 1, nq, nt, len(seeds), *given)

    turns = 0
    while tend():
        for lane in range(lanes):
            N[lane], E[lane] = solver.step(robot.eager, Q[lane], T[lane])
        turns += 1
    assert report[0, search.STATUS] == search.SOLVED and turns < 40
    np.testing.assert_allclose(found[0], machine.q, atol=1e-9)
    assert report[0, search.ITERATIONS] == machine.iterations and report[0, search.STARTED] == machine.attempts


def test_it_never_reads_what_does_not_fit():
    robot = kt.load("arm6")
    solver = InverseKinematics(robot, ("tool0",), turns=True)
    assert isinstance(solver._lanes, Lanes)
    for targets, starts in (
        (np.zeros((2, 11)), np.zeros((2, 6))),
        (np.zeros((2, 12)), np.zeros((3, 6))),
        (np.zeros((2, 12), dtype=np.float32), np.zeros((2, 6))),
        (np.zeros((2, 24))[:, ::2], np.zeros((2, 6))),
    ):
        with pytest.raises(RuntimeError, match="do not fit"):
            solver._lanes.run(targets, starts, (1.0, 1.0, 1.0, 1.0, 0.0))


POSE = np.eye(4)


def bad(**changes):
    T = POSE.copy()
    for key, value in changes.items():
        T[int(key[1]), int(key[2])] = value
    return T


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("tool", POSE), kt.UnknownNameError, r"frame 'tool' does not exist; did you mean 'tool0'\?"),
        (("tool0", bad(t00=np.nan)), kt.ArgumentError, "target has entries that are not finite"),
        (
            ("tool0", np.stack([POSE, bad(t13=np.inf)])),
            kt.ArgumentError,
            r"target\[1\] has entries that are not finite",
        ),
        (("tool0", bad(t00=1.1)), kt.ArgumentError, "target is not a pose: its axes are not orthonormal .*off by 0.21"),
        (("tool0", bad(t22=-1.0)), kt.ArgumentError, "right-handed"),
        (("tool0", np.stack([POSE, bad(t30=0.5)])), kt.ArgumentError, r"target\[1\] does not end in a row 0, 0, 0, 1"),
        (("tool0", np.eye(3)), kt.ArgumentError, r"target is a rotation matrix \(3, 3\); expected a pose"),
        (("tool0", np.eye(3)[0:2, 0:2]), kt.ArgumentError, r"target has shape \(2, 2\); expected poses \(…, 4, 4\)"),
        (("tool0", "home"), kt.ArgumentTypeError, "target is 'home'; expected a pose"),
        (("tool0", POSE, np.zeros(5)), kt.ArgumentError, r"q0 has shape \(5,\); expected \(…, 6\)"),
        (("tool0", POSE, [0, 0, 0, 0, 0, np.nan]), kt.ArgumentError, "q0 has entries that are not finite"),
        (("tool0", np.stack([POSE] * 3), np.zeros((2, 6))), kt.ArgumentError, "batch axes|broadcast|do not fit"),
        ((["tool0", "tool0"], np.stack([POSE] * 2)), kt.ArgumentError, "twice"),
        (([], POSE), kt.ArgumentTypeError, r"frame is \[\]; expected a frame's name, or a list of names"),
        ((["tool0", "wrist"], POSE), (kt.ArgumentError, kt.UnknownNameError), "wrist|shape"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        kt.load("arm6").ik(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position_tolerance": 0.0}, "position_tolerance is 0; expected a positive number"),
        ({"rotation_tolerance": -1}, "rotation_tolerance is -1; expected a positive number"),
        ({"attempts": 0}, "attempts is 0; expected 1 or more"),
        ({"attempts": -3}, "attempts is -3; expected a count"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(kt.ArgumentError, match=message):
        kt.load("arm6").ik("tool0", POSE, **options)


def test_a_quaternion_that_is_none():
    robot = kt.load("quadruped", base="floating")
    q0 = robot.neutral()
    q0[3:7] = [0.0, 0.0, 0.0, 0.9]
    with pytest.raises(kt.ArgumentError, match="quaternion"):
        robot.ik(robot.frame_names[-1], POSE, q0)


@pytest.mark.long
@pytest.mark.parametrize("name", ["arm6", "arm7", "puma560"])
def test_a_hundred_thousand_targets(name):
    robot = kt.load(name)
    tool = TOOLS[name] if TOOLS[name] in robot.frame_names else robot.frame_names[-1]
    targets = robot.frame(tool).pose(robot.random(np.random.default_rng(20), 100_000))
    solution = robot.ik(tool, targets, position_tolerance=1e-4, rotation_tolerance=1e-3)
    assert solution.success.mean() >= 0.999
    check(robot, tool, solution, targets, 1e-4, 1e-3)
