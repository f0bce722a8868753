"""The model in other body frames: equal to the given one in all but the coordinates of bodies, and shorter in code."""

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.aligned import FARTHEST, aligned, cost, shorter
from kinetree.model.joints import AxisJoint
from kinetree.model.regrouped import regrouped
from kinetree.robot import Robot
from kinetree.robot.frame import Frame
from kinetree.robot.quantity import program_of, quantities_of
from kinetree.spatial import Transform
from same_robots import agree, same, state

OF_ROBOT, OF_FRAME = quantities_of(Robot), quantities_of(Frame)
BODIES = {"poses", "body_velocities", "body_accelerations", "body_jacobians", "body_jacobian_rates"}
BODIES |= {"composite_inertias", "joint_reactions", "static_reactions"}
BODIES |= {"regressor", "kinetic_energy_regressor", "potential_energy_regressor"}


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled(3)
def test_every_quantity_stays_the_same_on_trees_of_every_joint(base, seed):
    model = kt.random_model(seed, 9, base=base, joint_dynamics=True, base_velocity=("body", "mixed")[seed % 2])
    model = replace(model, passive=True)
    agree(Robot(model).eager, Robot(aligned(model)).eager, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "helical", "mimic", "spherical", "planar"])
@pytest.mark.sampled(3)
def test_every_kind_of_joint_alone(kind):
    for seed in range(3):
        model = kt.random_model(seed, 6, ["revolute", kind], branching=0.3)
        agree(Robot(model).eager, Robot(aligned(model)).eager, np.random.default_rng(seed), large=False)


def chain(*lines, kinds=("revolute",)):
    """A chain of links with these positions and directions of axes in the frame of the parent, each turned a bit."""
    rng = np.random.default_rng(7)
    builder = kt.ModelBuilder("chain")
    builder.link("link0")
    for k, (xyz, axis) in enumerate(lines, start=1):
        inertia = kt.Inertia.from_com(1.0 + k, rng.normal(size=3) * 0.1, np.diag([0.02, 0.03, 0.04]))
        builder.link(f"link{k}", inertia)
        axis = np.asarray(axis) / np.linalg.norm(axis)
        builder.joint(f"joint{k}", kinds[k % len(kinds)], f"link{k - 1}", f"link{k}", axis=axis, xyz=xyz)
    return builder.build()


X, Y, SKEW = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.48, 0.6, 0.64)
DEGENERATE = {
    "parallel": [((0.1, 0.2, 0.3), SKEW)] * 4,
    "coincident": [((0.1, 0.2, 0.3), SKEW), (0.5 * np.array(SKEW), SKEW), ((0.0, 0.0, 0.0), SKEW)],
    "intersecting": [((0.1, 0.2, 0.3), SKEW), ((0.0, 0.0, 0.0), X), (0.2 * np.array(X), (0.6, 0.0, 0.8))],
    "opposite": [((0.1, 0.2, 0.3), SKEW), ((0.3, 0.0, 0.1), tuple(-np.array(SKEW)))],
    "at one point": [((0.0, 0.0, 0.0), SKEW), ((0.0, 0.0, 0.0), X), ((0.0, 0.0, 0.0), Y)],
}
NEAR = [1e-2, 1e-4, 1e-6, 1e-8, 1e-12, 1e-15]


@pytest.mark.parametrize("kinds", [("revolute",), ("revolute", "prismatic")])
@pytest.mark.parametrize("case", DEGENERATE)
def test_axes_without_a_common_normal(case, kinds):
    model = chain(*DEGENERATE[case], kinds=kinds)
    agree(Robot(model).eager, Robot(aligned(model)).eager, np.random.default_rng(0), tolerance=1e-11)


@pytest.mark.parametrize("angle", NEAR)
def test_almost_parallel_axes_move_no_origin_far_away(angle):
    tilted = np.array(SKEW) + angle * np.array([0.64, 0.0, -0.48])
    model = chain(((0.1, 0.2, 0.3), SKEW), ((0.3, -0.2, 0.1), tilted), ((0.1, 0.4, 0.2), SKEW))
    found = aligned(model)
    agree(Robot(model).eager, Robot(found).eager, np.random.default_rng(0), tolerance=1e-11)
    longest = max(np.linalg.norm(X.p) for X in model.placements)
    assert all(np.linalg.norm(X.p) <= (1 + 2 * FARTHEST) * longest for X in found.placements)


def test_frames_are_those_of_denavit_and_hartenberg():
    model = kt.random_model(3, 7, ["revolute", "continuous"], branching=0.0)
    found = aligned(model)
    for i, p in found.root_to_tips():
        X = found.placements[i]
        assert np.array_equal(found.joints[i].axis, [0.0, 0.0, 1.0])
        if p:
            assert np.array_equal(X.R[0], [1.0, 0.0, 0.0]) and np.array_equal(X.R[:, 0], [1.0, 0.0, 0.0])  # Rx(α)
            assert np.count_nonzero(X.p) <= 2  # (a, 0, d), or where that is too far away (a, d, 0)
    assert cost(found) < 0.7 * cost(model)
    assert [frame.name for frame in found.frames] == [frame.name for frame in model.frames]


def test_right_angles_are_part_of_the_placement():
    model = chain(((0.0, 0.0, 0.3), SKEW), ((0.3, 0.0, 0.0), X), ((0.3, 0.0, 0.0), X), ((0.1, 0.0, 0.0), Y))
    joints = [joint for joint in aligned(model).joints if isinstance(joint, AxisJoint)]
    assert sum(joint.offset == 0.0 for joint in joints) >= 2
    assert all(abs(joint.offset) <= np.pi / 2 + 1e-12 for joint in joints)  # the nearer direction of a normal


def test_prismatic_joints_slide_from_the_origin_of_their_parent():
    model = kt.random_model(1, 5, ["prismatic"], branching=0.3)
    found = aligned(model)
    for i, _ in found.root_to_tips():
        assert not found.placements[i].p.any()
        assert found.joints[i].offset == 0.0


def test_massless_and_other_bodies_keep_what_they_have():
    model = kt.random_model(2, 5, ["spherical", "free", "planar", "universal", "fixed"])
    found = aligned(model)
    for i, _ in found.root_to_tips():
        assert found.joints[i] is model.joints[i]
        assert np.array_equal(found.placements[i].R, model.placements[i].R)
        assert np.array_equal(found.inertias[i].I, model.inertias[i].I)


def test_models_without_dense_constants_stay_as_they_are():
    arm = chain(((0.0, 0.0, 0.0), X), ((0.0, 0.0, 0.0), Y))
    one = kt.ModelBuilder("one")
    one.link("a")
    assert shorter(arm) is None and shorter(one.build()) is None


def test_models_stay_as_they_are_where_inertias_become_denser():
    """A link whose centre of mass is at its origin: sliding that away along the axis takes it out of the placement."""
    builder = kt.ModelBuilder("arm")
    builder.link("link0")
    for k in (1, 2, 3):
        builder.link(f"link{k}", kt.Inertia.from_com(1.0, (0.0, 0.0, 0.0), np.diag([0.02, 0.03, 0.04])))
        builder.joint(f"joint{k}", "revolute", f"link{k - 1}", f"link{k}", axis=(X, Y)[k % 2], xyz=(0.1, 0.2, 0.0))
    model = builder.build()
    assert cost(aligned(model)) < 0.98 * cost(model) and shorter(model) is None


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.sweep
def test_code_in_other_frames_computes_the_same(base):
    """Compiled code, which may be that of the aligned model, against the textbook on the given one."""
    model = kt.random_model(0, 5, ["revolute", "helical", "prismatic", "mimic", "revolute"], base=base)
    assert shorter(model) is not None
    agree(Robot(model).eager, Robot(model), np.random.default_rng(0), large=base == "fixed")


@pytest.mark.sweep
def test_what_is_in_the_coordinates_of_bodies_is_that_of_the_given_ones():
    robot, rng = Robot(kt.random_model(0, 6, ["revolute", "prismatic"])), np.random.default_rng(0)
    assert shorter(robot.model) is not None
    assert not any(OF_ROBOT[name].any_frames for name in BODIES)
    for name in BODIES:
        same(robot.eager, robot, name, state(robot, OF_ROBOT[name].inputs, rng), 1e-12)


def test_constraints_and_their_forces_are_the_same():
    model = kt.random_model(4, 7, ["revolute"], base="floating")
    robot, rng = Robot(model), np.random.default_rng(4)
    tip, other = robot.frame_names[-1], robot.frame_names[4]
    q, v, tau = state(robot, ("q", "v", "tau"), rng)
    assert shorter(model) is not None
    held, exact = (each.constrained([kt.Contact(tip, "surface"), kt.Contact(other)]) for each in (robot, robot.eager))
    for x, y in zip(held.forward_dynamics(q, v, tau), exact.forward_dynamics(q, v, tau), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-9 * np.abs(y).max())
    np.testing.assert_allclose(held.jacobian(q), exact.jacobian(q), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics", "forward_dynamics", "center_of_mass_jacobian"])
def test_dense_axes_need_fewer_operations(name):
    model = kt.random_model(5, 8, ["revolute"], base="floating")
    given = replace(model)
    given.__dict__["shortened"] = regrouped(model)
    assert program_of(Robot(model), name).operations < 0.9 * program_of(Robot(given), name).operations


def test_a_class_derived_from_a_joint_keeps_its_frame():
    class Own(kt.model.joints.Revolute):
        pass

    model = kt.random_model(6, 4, ["revolute"])
    joint = model.joints[2]
    own = Own(name=joint.name, iq=joint.iq, iv=joint.iv, axis=joint.axis)
    mixed = replace(model, joints=(*model.joints[:2], own, *model.joints[3:]))
    assert aligned(mixed).joints[2] is own
    agree(Robot(mixed).eager, Robot(aligned(mixed)).eager, np.random.default_rng(0), large=False)


def test_frames_move_with_their_bodies():
    model = kt.random_model(8, 6, ["revolute"])
    found, q = aligned(model), Robot(model).random(0)
    for one, other in zip(model.frames, found.frames, strict=True):
        a, b = Robot(model).eager.frame(one.name).pose(q), Robot(found).eager.frame(other.name).pose(q)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)
        assert isinstance(other.X, Transform) and one.body == other.body
