"""Inertias on parents: the same robot in joint space, at frames and in the world, with fewer parameters."""

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.aligned import shorter
from kinetree.model.regrouped import regrouped
from kinetree.robot import Robot
from kinetree.robot.quantity import program_of
from peers import urdf
from same_robots import agree


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled(3)
def test_every_quantity_stays_the_same_on_trees_of_every_joint(base, seed):
    model = kt.random_model(seed, 7, base=base)
    axes = {i: np.eye(3)[k % 3] * (-1) ** k for k, i in enumerate(range(1, len(model.joints)))}
    joints = [replace(joint, axis=axes[i]) if hasattr(joint, "axis") else joint for i, joint in enumerate(model.joints)]
    model = replace(model, joints=tuple(joints))
    found = regrouped(model)
    assert any(a.mass != b.mass for a, b in zip(found.inertias, model.inertias, strict=True))
    agree(Robot(model).eager, Robot(found).eager, np.random.default_rng(seed))


def test_two_links_have_the_augmented_bodies_of_the_textbook():
    l1, c1, c2, m1, m2, J1, J2 = 0.7, 0.3, 0.25, 1.5, 0.8, 0.04, 0.02
    builder = kt.ModelBuilder("planar")
    for name, m, c, J in (("upper", m1, c1, J1), ("lower", m2, c2, J2)):
        builder.link(name, kt.Inertia.from_com(m, (c, 0.0, 0.0), np.diag([0.01, J, J])))
    builder.link("base")
    builder.joint("shoulder", "revolute", "base", "upper", axis=(0, 0, 1))
    builder.joint("elbow", "revolute", "upper", "lower", axis=(0, 0, 1), xyz=(l1, 0, 0))
    upper, lower = regrouped(builder.build()).inertias[1:]
    assert upper.mass == m1 + m2 and lower.mass == 0.0
    np.testing.assert_allclose(upper.h, [m1 * c1 + m2 * l1, 0, 0], atol=1e-16)
    np.testing.assert_allclose(lower.h, [m2 * c2, 0, 0], atol=1e-16)
    np.testing.assert_allclose([upper.I[2, 2], lower.I[2, 2]], [J1 + m1 * c1**2 + m2 * l1**2, J2 + m2 * c2**2])
    assert lower.I[0, 0] == 0.0 or lower.I[1, 1] == 0.0


def test_sums_over_bodies_stay_and_bodies_on_the_world_keep_theirs():
    robot = kt.load("arm6")
    found = regrouped(robot.model)
    assert sum(inertia.mass for inertia in found.inertias[1:]) == pytest.approx(robot.mass, rel=1e-15)
    assert found.inertias[1].mass == pytest.approx(robot.mass, rel=1e-15)
    assert [inertia.mass for inertia in found.inertias[2:]] == [0.0] * 5
    assert found.joints is robot.model.joints and found.placements is robot.model.placements


def test_inputs_are_left_as_they_are():
    for given in ("inertial", "placement"):
        model = kt.load("arm6", parametric=(given,)).model
        assert regrouped(model).inertias == model.inertias
    model = kt.load("arm6", parametric={"inertial": ["forearm_link"]}).model
    (k,) = model.parametric.inertial
    found = regrouped(model)
    for i, inertia in enumerate(found.inertias):
        touched = i in (k, k + 1, model.parents[k])
        assert touched or i < 2 or inertia.mass == 0.0
        assert not touched or i != k or inertia == model.inertias[i]


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics", "coriolis_matrix", "forward_dynamics"])
def test_code_is_shorter(name):
    model = kt.load("arm6").model
    given = replace(model)
    given.__dict__["shortened"] = model
    assert program_of(Robot(model), name).operations < 0.95 * program_of(Robot(given), name).operations


def test_an_arm_of_cylinders_needs_half_of_the_operations():
    model = kt.load(urdf("ur5_robot.urdf")).model
    given = replace(model)
    given.__dict__["shortened"] = shorter(model) or model
    counts = [program_of(Robot(each), "coriolis_matrix").operations for each in (model, given)]
    assert counts == [344, 687]
