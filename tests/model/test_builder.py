"""Robots built in code, and the identity of models."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.random import EVERY_JOINT
from peers import close


def two_links():
    builder = kt.ModelBuilder("two")
    builder.link("stand")
    builder.link("rod", kt.Inertia.from_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.0])))
    builder.joint("hinge", "revolute", "stand", "rod", axis=(0, 1, 0), xyz=(0, 0, 1))
    return builder


def test_a_pendulum():
    robot = kt.Robot(two_links().build())
    close(robot.mass_matrix([0.2]), [[0.1 + 0.25]], 1e-15)
    close(robot.gravity_forces([0.2]), [9.81 * 0.5 * np.sin(0.2)], 1e-15)
    assert robot.limits.upper == [np.inf]


def test_one_builder_makes_several_models():
    builder = two_links()
    builder.joint("lamp", "fixed", "rod", "bulb", mimic=kt.Mimic("hinge"))
    builder.link("bulb")
    fixed, floating = builder.build(), builder.build("floating", gravity=(0, 0, 0))
    assert (fixed.nv, floating.nv) == (1, 7)
    assert len(builder.build().findings) == len(fixed.findings) == 1
    assert fixed == builder.build() and fixed != floating


def test_sites_are_frames():
    builder = two_links()
    builder.frame("end", "rod", xyz=(0, 0, -1), rpy=(0, 0, np.pi / 2))
    robot = kt.Robot(builder.build())
    assert robot.frame_names == ("stand", "rod", "end")
    assert robot.frame("end").body == "rod"
    assert robot.frame("stand").body == "world"
    close(robot.frame("end").pose([0.0]), [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], 1e-15)


def test_merged_links_weigh_what_they_weigh_together():
    builder = two_links()
    builder.link("weight", kt.Inertia.from_com(2.0, (0, 0, 0), np.zeros((3, 3))))
    builder.joint("bolt", "fixed", "rod", "weight", xyz=(0, 0, -2), rpy=(0.3, 0.2, 0.1))
    robot = kt.Robot(builder.build())
    assert robot.mass == 3.0
    close(robot.mass_matrix([0.2]), [[0.35 + 2 * 4]], 1e-14)


def bad_joint(**options):
    builder = two_links()
    builder.link("other")
    builder.joint("extra", options.pop("kind", "revolute"), "rod", "other", **options)
    builder.build()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "ball"}, "model 'two': joint 'extra': type is 'ball'; expected one of 'revolute'"),
        ({"axis": (0, 0)}, "axis is .*; expected three finite numbers"),
        ({"axis": "up"}, "axis is 'up'; expected three numbers"),
        ({"rotation": np.ones((3, 3))}, "expected a 3×3 rotation matrix"),
        ({"rotation": -np.eye(3)}, "expected a 3×3 rotation matrix"),
        ({"rotation": "none"}, "expected a 3×3 rotation matrix"),
        ({"rotation": np.eye(3), "rpy": (0, 0, 0)}, "both rpy and rotation are given"),
        ({"lower": 1.0, "upper": 0.0}, "lower limit 1 is above upper limit 0"),
        ({"lower": np.nan}, "a limit is NaN"),
        ({"lower": "low"}, "a limit is not a number"),
    ],
)
def test_wrong_joints(options, sentence):
    with pytest.raises(kt.ModelError, match=sentence):
        bad_joint(**options)


def test_wrong_links_and_frames():
    builder = two_links()
    with pytest.raises(kt.ModelError, match="link 'x': mass is -1 kg"):
        builder.link("x", kt.Inertia(-1.0, np.zeros(3), np.eye(3)))
    with pytest.raises(kt.ModelError, match="link 'x': mass nan or inertia is not finite"):
        builder.link("x", kt.Inertia(np.nan, np.zeros(3), np.eye(3)))
    with pytest.raises(kt.ModelError, match="link 'x': the rotational inertia is not symmetric"):
        builder.link("x", kt.Inertia(1.0, np.zeros(3), np.triu(np.ones((3, 3)))))
    with pytest.raises(kt.ModelError, match="link: name is ''; expected a non-empty string"):
        builder.link("")
    with pytest.raises(kt.ModelError, match=r"link 'x': inertia is 3; expected a kinetree\.Inertia"):
        builder.link("x", 3)
    assert builder.build() == two_links().build()  # what failed left nothing behind
    builder.frame("end", "rood")
    with pytest.raises(kt.ModelError, match="frame 'end': link 'rood' does not exist; did you mean 'rod'"):
        builder.build()


def test_models_are_immutable_hashable_and_survive_pickling():
    model = two_links().build("floating")
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model and hash(copy) == hash(model) and len({copy, model}) == 1
    for one in (model, copy):
        with pytest.raises(ValueError, match="read-only"):
            one.gravity[2] = 0.0
        with pytest.raises(ValueError, match="read-only"):
            one.inertias[1].h[0] = 1.0
    with pytest.raises(AttributeError):
        model.name = "other"
    robot = pickle.loads(pickle.dumps(kt.Robot(model)))
    assert robot == kt.Robot(model)
    assert pickle.loads(pickle.dumps(robot.frame("rod"))).pose(robot.neutral()).shape == (4, 4)


def test_every_difference_changes_the_digest():
    one = two_links()
    digests = {one.build().digest, one.build("floating").digest, one.build(gravity=(0, 0, -9.8)).digest}
    digests |= {one.build("floating", base_velocity="mixed").digest, one.build(spatial_order="angular-first").digest}
    other = kt.ModelBuilder("two")
    other.link("stand")
    other.link("rod", kt.Inertia.from_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 1e-9])))
    other.joint("hinge", "revolute", "stand", "rod", axis=(0, 1, 0), xyz=(0, 0, 1))
    assert len(digests | {other.build().digest}) == 6


def test_random_trees_hold_every_joint_and_are_reproducible():
    assert kt.random_model(3) == kt.random_model(np.random.default_rng(3))
    assert kt.random_model(3) != kt.random_model(4)
    kinds = set()
    for seed in range(20):
        model = kt.random_model(seed, bodies=12)
        assert model.findings == () or all("mass" in str(f) for f in model.findings)
        kinds |= {type(joint).__name__ for joint in model.joints[1:]}
        kinds |= {"Mimic"} if model.has_mimics else set()
        kinds |= {"Fixed"} if model.n_bodies < 12 else set()  # merged
    assert kinds == {"Revolute", "Continuous", "Prismatic", "Free", "Mimic", "Fixed"}
    with pytest.raises(kt.ArgumentError, match="joints has 'ball'"):
        kt.random_model(0, joints=("ball",))
    assert set(EVERY_JOINT) == {"revolute", "continuous", "prismatic", "fixed", "free", "mimic"}


def test_a_joint_may_be_called_like_the_floating_base():
    builder = two_links()
    builder.link("third", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    builder.joint("floating_base", "revolute", "rod", "third")
    robot = kt.Robot(builder.build("floating"))
    assert robot.joint_names == ("hinge", "floating_base")
    assert kt.convert(robot, "q", robot.random(0), to="pinocchio").shape == (9,)
    assert kt.Robot(builder.build()).joint_names == ("hinge", "floating_base")


def bolted_pedestal():
    builder = kt.ModelBuilder("pedestal")
    builder.link("base")
    builder.link("pedestal", kt.Inertia.from_com(50.0, (0.3, 0, 0.5), np.eye(3)))
    builder.link("plate")
    builder.link("arm", kt.Inertia.from_com(2.0, (0, 0, 0.4), np.eye(3) * 0.1))
    builder.joint("bolt", "fixed", "base", "pedestal")
    builder.joint("weld", "fixed", "base", "plate", xyz=(1, 0, 0))
    builder.joint("hinge", "revolute", "pedestal", "arm", axis=(0, 1, 0), xyz=(0, 0, 1))
    return builder


def test_a_kept_joint_on_the_world_moves_nothing():
    merged = kt.Robot(bolted_pedestal().build())
    kept = kt.Robot(bolted_pedestal().build(keep_fixed=["bolt", "weld"]))
    assert kept.body_names == ("pedestal", "arm", "plate")
    assert [kept.model.names[i] for i in kept.model.moving] == ["arm"]
    assert kept.mass == merged.mass == 2.0
    q, v, a = [0.3], [1.2], [-0.7]
    for quantity in ("center_of_mass", "center_of_mass_jacobian", "potential_energy"):
        close(getattr(kept, quantity)(q), getattr(merged, quantity)(q), 1e-14)
    close(kept.center_of_mass_velocity(q, v), merged.center_of_mass_velocity(q, v), 1e-14)
    close(kept.center_of_mass_acceleration(q, v, a), merged.center_of_mass_acceleration(q, v, a), 1e-14)
    assert kept.check() == ()


def test_models_do_not_depend_on_the_type_of_a_number():
    def pair(one):
        builder = two_links()
        builder.link("tip", kt.Inertia(one, np.zeros(3), np.eye(3) * one))
        builder.joint("turn", "revolute", "rod", "tip", mimic=kt.Mimic("hinge", one, one), lower=-one, upper=one)
        return builder.build(gravity=(0, 0, -one))

    models = [pair(one) for one in (1, 1.0, np.float64(1), np.float32(1), np.int64(1))]
    assert len(set(models)) == 1
    by_hand = replace(models[0], inertias=(*models[0].inertias[:-1], kt.Inertia(1, np.zeros(3), np.eye(3))))
    assert by_hand == models[0]
    assert len({one.digest for one in models}) == 1


@pytest.mark.parametrize("arguments", [("k", "2"), ("k", 1.0, None), ("k", True), (["k"],), (3,)])
def test_a_mimic_of_what_is_no_joint_or_number(arguments):
    with pytest.raises(kt.ArgumentTypeError, match=r"expected (a number|its name)"):
        kt.Mimic(*arguments)
