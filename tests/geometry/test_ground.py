"""Where robots touch the ground, by hand and by their descriptions."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import kinetree as kt
from kinetree.geometry import Ground, convex_hull


def test_hulls_are_those_of_qhull():
    rng = np.random.default_rng(0)
    for n in (3, 5, 50, 400):
        points = rng.normal(size=(n, 2))
        expected = {tuple(p) for p in np.round(points[ConvexHull(points).vertices], 9)}
        hull = convex_hull(points)
        assert {tuple(p) for p in hull} == expected
        x, y = hull.T
        assert np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) > 0, "counter-clockwise"


def test_hulls_of_little():
    assert convex_hull(np.zeros((0, 2))).shape == (0, 2)
    assert len(convex_hull(np.zeros((4, 2)))) == 1
    assert len(convex_hull(np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [2.0, 2.0]]))) == 2, "on a line"


def test_the_humanoid_stands_on_its_soles():
    robot = kt.load("humanoid", base="floating")
    q = robot.neutral()
    assert Ground(robot).height(q) == pytest.approx(-0.97, abs=1e-9), "as its file says"
    polygon = Ground(robot).polygon(q)
    soles = [robot.frame(name).pose(q)[:2, 3] for name in ("left_sole", "right_sole")]
    assert polygon[:, 1].min() < min(s[1] for s in soles) and polygon[:, 1].max() > max(s[1] for s in soles)


def test_the_quadruped_stands_on_the_lowest_points_of_its_feet():
    robot = kt.load("quadruped", base="floating")
    q = robot.random(np.random.default_rng(3))
    q[:7] = [0, 0, 1, 0, 0, 0, 1]
    for k, name in enumerate(robot.joint_names, start=7):
        q[k] = {"haa": 0.1, "hfe": 0.6, "kfe": -1.2}[name[-3:]]
    feet = np.array([robot.frame(name).pose(q)[:3, 3] for name in robot.frame_names if name.endswith("foot")])
    ground = Ground(robot)
    assert ground.height(q) == pytest.approx(feet[:, 2].min() - 0.028, abs=1e-9)
    touching = ground.touching(q)
    for foot in feet[feet[:, 2] < feet[:, 2].min() + 0.01]:
        assert np.abs(touching - (foot - [0, 0, 0.028])).max(axis=1).min() < 1e-9


def test_some_links_only():
    robot = kt.load("humanoid", base="floating")
    foot = next(name for name in robot.frame_names if "left" in name and "foot" in name)
    assert Ground(robot, [foot]).polygon(robot.neutral())[:, 1].min() > 0.0


def test_a_robot_without_shapes_touches_nothing():
    puma = Ground(kt.load("puma560"))
    assert len(puma.touching(puma.robot.neutral())) == 0 and puma.height(puma.robot.neutral()) == np.inf
