"""IK says "out of reach" where that is proven, "not found" where it is not, and survives a trip to another process.

Covers: ik/reach.py, ik/reasons.py.
"""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import kinetree as kt
from kinetree.ik.reach import Reach

TOOLS = {"planar2": "tip", "arm6": "tool0", "arm7": "tool0", "puma560": "tool0", "humanoid": "left_hand"}


# -- proofs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.sampled(4)
def test_no_configuration_contradicts_a_proof(seed):
    """Random trees with every kind of joint: bounds of place and axes hold at thousands of configurations."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "prismatic", "helical", "universal", "planar", "fixed", "mimic"] + ["spherical", "free"] * (
        seed > 8
    )
    robot = kt.Robot(kt.random_model(rng, 5, kinds, branching=0.2)).eager
    q = robot.random(rng, 300)
    for name in robot.frame_names[-2:]:
        reach, poses = Reach(robot, name), np.array([robot.frame(name).pose(each) for each in q])
        distance = np.linalg.norm(poses[:, :3, 3] - reach.center, axis=-1)
        assert distance.max() <= reach.radius * (1.0 + 1e-12) + 1e-12
        for T in poses[:40]:
            assert reach.never_turned_to(T[:3, :3]) == 0.0
            assert all(reach.out_of_reach(T[:3, 3], other[:3, 3]) == 0.0 for other in poses[40:44])
        for target in rng.normal(scale=3.0, size=(5, 3)):
            gaps = np.linalg.norm(poses[:, :3, 3] - target, axis=-1)
            assert reach.out_of_reach(target, poses[gaps.argmin(), :3, 3]) <= gaps.min() + 1e-9


@pytest.mark.parametrize("name", TOOLS)
def test_a_pose_of_a_configuration_is_never_called_impossible(name):
    robot, tool = kt.load(name), TOOLS[name]
    for T in robot.frame(tool).pose(robot.random(0, 200)):
        assert Reach(robot, tool).out_of_reach(T[:3, 3], np.zeros(3)) == 0.0
        assert Reach(robot, tool).never_turned_to(T[:3, :3]) == 0.0


def test_a_target_beyond_all_links_is_out_of_reach():
    robot = kt.load("planar2")  # 1 m and 0.5 m, in the plane of x and z
    assert robot.ik("tip", [3, 0, 4]).reason == "'tip' stays 3.5 m short of its target: out of reach"
    assert robot.ik("tip", [0.5, 0.2, 0.5]).reason == "'tip' stays 0.2 m short of its target: out of reach"
    assert robot.ik("tip", [0.0, 0.0, 0.1]).reason == "'tip' stays 0.4 m short of its target: out of reach"


def test_a_rail_with_one_end_is_out_of_reach_beyond_it():
    builder = kt.ModelBuilder("rail")
    for link in ("base", "cart"):
        builder.link(link, kt.solids.sphere(0.1, mass=1.0))
    builder.joint("rail", "prismatic", "base", "cart", axis=(1, 0, 0), lower=-np.inf, upper=2.0)
    robot = kt.Robot(builder.build())
    sentence = "'cart' stays 5 m short of its target: out of reach"
    assert robot.ik("cart", [7.0, 0.0, 0.0]).reason == f"{sentence}; 'rail' at its upper limit 2"
    assert robot.ik("cart", [-1e4, 3.0, 4.0]).reason == sentence
    assert robot.ik("cart", [-1e4, 0.0, 0.0]).success


def test_an_orientation_that_no_configuration_has_is_said():
    robot = kt.load("planar2")
    target = robot.frame("tip").pose([0.3, 0.4])
    target[:3, :3] = kt.rotations.matrix_from_euler([0.5, 0.0, 0.0], "XYZ") @ target[:3, :3]
    sentence = "its position can be reached, but not with this orientation, by at least 0.5 rad"
    assert sentence in robot.ik("tip", target).reason
    target[:3, 3] = [0.0, 0.0, 9.0]
    assert "its position is out of reach by at least 7.5 m" in robot.ik("tip", target).reason


def test_what_was_not_found_is_not_called_out_of_reach():
    robot = kt.load("arm6")
    target = robot.frame("tool0").pose(robot.random(3))
    missed = robot.ik("tool0", target, attempts=1, position_tolerance=1e-300)
    assert not missed.success and "no solution was found within 1 attempts" in missed.reason
    assert "out of reach" not in missed.reason and "not with this orientation" not in missed.reason
    q = robot.random(3)
    stiff = kt.edit.lock(robot, {robot.joint_names[3]: q[3] + 0.2})  # impossible, but nothing here proves it
    solution = stiff.ik("tool0", target, attempts=20)
    assert not solution.success
    assert solution.reason.startswith("no solution was found within 20 attempts; at the closest, 'tool0' stays ")
    assert "out of reach" not in solution.reason and "its position alone can be reached" in solution.reason
    near = stiff.ik("tool0", target, stiff.neutral(), attempts=20)
    assert "; at the local minimum that q0 leads to, 'tool0' stays " in near.reason


def test_the_frame_that_is_out_of_reach_is_named():
    robot = kt.load("humanoid")
    poses = [robot.frame(name).pose(robot.neutral()) for name in ("left_hand", "right_hand")]
    poses[1][:3, 3] += [9.0, 0.0, 0.0]
    reason = robot.ik(["left_hand", "right_hand"], poses, attempts=4).reason
    assert "that of 'right_hand', whose position is out of reach by at least" in reason


def test_a_left_handed_target_is_called_that():
    mirrored = np.diag([1.0, 1.0, -1.0, 1.0])
    with pytest.raises(kt.ArgumentError, match=r"target\[1\] is not a pose: its axes are left-handed .*determinant"):
        kt.load("arm6").ik("tool0", np.stack([np.eye(4), mirrored]))
    with pytest.raises(kt.ArgumentError, match=r"its axes are not orthonormal \(off by 0.21\)"):
        kt.load("arm6").ik("tool0", np.diag([1.1, 1.0, -1.0, 1.0]))


# -- to another process -----------------------------------------------------------------------------------------------


def solve(targets):
    return kt.load("arm6").ik("tool0", targets)


def step(q):
    robot = kt.load("arm6")
    return kt.ik.DifferentialIK(robot, kt.ik.Pose("tool0")).step(q, robot.frame("tool0").pose(q + 0.1))


def test_solutions_come_back_from_a_pool_of_processes():
    robot = kt.load("arm6")
    q = robot.random(0, 3)
    targets = robot.frame("tool0").pose(q)
    targets[2, :3, 3] = [3.0, 0.0, 0.5]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        many, one, lost, moved = pool.map(
            run, [("solve", targets), ("solve", targets[0]), ("solve", targets[2]), ("step", q[0])]
        )
    here = robot.ik("tool0", targets)
    np.testing.assert_array_equal(many.q, here.q)
    assert many.success.tolist() == [True, True, False] and list(many.reason) == list(here.reason)
    assert one.success is True and one.reason is None
    assert lost.reason == robot.ik("tool0", targets[2]).reason and "out of reach" in lost.reason
    np.testing.assert_array_equal(moved.v, step(q[0]).v)


def run(job):
    return {"solve": solve, "step": step}[job[0]](job[1])


def test_every_result_of_ik_is_pickled():
    robot = kt.load("arm6")
    q = 0.3 * np.ones(6)
    target = robot.frame("tool0").pose(q)
    differential = kt.ik.DifferentialIK(robot, kt.ik.Pose("tool0"))
    differential(q, target)  # compiled, and so are its copies' results
    copy = pickle.loads(pickle.dumps(differential))
    np.testing.assert_array_equal(copy(q, target), differential(q, target))
    puma = kt.load("puma560")
    closed = kt.ik.closed_form(puma, "tool0", puma.frame("tool0").pose(q))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(closed)), closed)
    solved = robot.ik("tool0", target)
    assert len(pickle.dumps(solved)) < 2000  # without the robot
    again = pickle.loads(pickle.dumps(solved))
    assert again.success and again.residual == solved.residual and again.iterations == solved.iterations
