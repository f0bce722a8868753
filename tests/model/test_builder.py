"""Robots built in code, and the identity of models.

Covers: model/assembly.py, model/bounds.py, model/joints/fixed.py, model/random.py, model/tree.py.
"""

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
    assert robot.frame("stand").body is None
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
        ({"axis": "up"}, "axis is 'up'; expected three finite numbers"),
        ({"rotation": np.ones((3, 3))}, "expected a 3×3 rotation matrix"),
        ({"rotation": -np.eye(3)}, "expected a 3×3 rotation matrix"),
        ({"rotation": "none"}, "expected a 3×3 rotation matrix"),
        ({"rotation": np.eye(3), "rpy": (0, 0, 0)}, "both rpy and rotation are given"),
        ({"lower": 1.0, "upper": 0.0}, "lower limit 1 is above upper limit 0"),
        ({"lower": np.nan}, "a limit is NaN"),
        ({"lower": "3"}, "lower is '3'; expected a number"),
        ({"effort": None}, "effort is None; expected a number"),
        ({"lower": np.inf}, "its limits inf to inf leave it no position"),
        ({"upper": -np.inf}, "its limits -inf to -inf leave it no position"),
        ({"mimic": "hinge"}, "mimic is 'hinge'; expected a kinetree.Mimic"),
        ({"axis": ("0", "0", "1")}, "axis is .*; expected three finite numbers"),
        ({"xyz": (True, False, False)}, "xyz is .*; expected three finite numbers"),
        ({"kind": ["revolute"]}, "type is .*; expected one of 'revolute'"),
        ({"lower": "low"}, "lower is 'low'; expected a number"),
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
        assert all("mass" in str(finding) or "motor" in str(finding) for finding in model.findings)
        kinds |= {type(joint).__name__ for joint in model.joints[1:]}
        kinds |= {"Mimic"} if model.has_mimics else set()
        kinds |= {"Fixed"} if model.n_bodies < 12 else set()  # merged
    assert kinds == {kind.capitalize() for kind in EVERY_JOINT}
    with pytest.raises(kt.ArgumentError, match="joints has 'ball'"):
        kt.random_model(0, joints=("ball",))
    one_axis, several = {"revolute", "continuous", "prismatic", "helical"}, {"universal", "spherical", "planar", "free"}
    assert set(EVERY_JOINT) == {*one_axis, *several, "fixed", "mimic"}


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


@pytest.mark.parametrize("name", [None, 3, ["stand"], b"stand"])
def test_names_are_strings(name):
    builder = two_links()
    for call, sentence in [
        (lambda: builder.link(name), "link: name is .*; expected a non-empty string"),
        (lambda: builder.joint(name, "fixed", "rod", "x"), "joint: name is .*; expected a non-empty string"),
        (lambda: builder.joint("j", "fixed", name, "x"), "joint 'j': parent is .*; expected the name of a link"),
        (lambda: builder.joint("j", "fixed", "rod", name), "joint 'j': child is .*; expected the name of a link"),
        (lambda: builder.frame(name, "rod"), "frame: name is .*; expected a non-empty string"),
        (lambda: builder.frame("f", name), "frame 'f': link is .*; expected the name of a link"),
    ]:
        with pytest.raises(kt.ModelError, match=sentence):
            call()


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (("1", np.zeros(3), np.eye(3)), "^mass is '1'; expected a number"),
        ((1.0 + 0j, np.zeros(3), np.eye(3)), r"link 'x': mass is \(1\+0j\); expected a number"),
        ((None, np.zeros(3), np.eye(3)), "^mass is None; expected a number"),
        ((1.0, None, np.eye(3)), r"^h is None; expected an array of shape \(3,\)"),
        ((1.0, "abc", np.eye(3)), "^h is 'abc'; expected an array"),
        ((1.0, np.zeros(2), np.eye(3)), r"^h has shape \(2,\); expected \(3,\)"),
        ((1.0, np.zeros(3), np.eye(3) * 1j), "link 'x': I has elements of type complex128; expected real numbers"),
    ],
)
def test_inertias_made_of_other_things(parts, sentence):
    """Most by the inertia itself; complex numbers are for derivatives, and no link has them."""
    with pytest.raises(kt.KinetreeError, match=sentence):
        two_links().link("x", kt.Inertia(*parts))


def test_an_inertia_of_lists_is_read():
    one, other = two_links(), two_links()
    one.link("x", kt.Inertia(1, [0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    other.link("x", kt.Inertia(1.0, np.zeros(3), np.eye(3)))
    for builder in (one, other):
        builder.joint("j", "revolute", "rod", "x")
    assert one.build() == other.build()


@pytest.mark.parametrize("keep", [None, 3, [["bolt"]], [3]])
def test_fixed_joints_to_keep_are_names(keep):
    with pytest.raises(kt.ArgumentTypeError, match=r"keep_fixed (is|has) .*; expected (names of fixed|the name of a)"):
        bolted_pedestal().build(keep_fixed=keep)


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((-1,), {}, "rng is -1; expected a numpy Generator or a seed"),
        (("x",), {}, "rng is 'x'; expected a numpy Generator or a seed"),
        ((None,), {}, "rng is None; expected a numpy Generator or a seed"),
        ((0, 2.5), {}, r"bodies is 2\.5; expected a count"),
        ((0, "3"), {}, "bodies is '3'; expected a count"),
        ((0, -1), {}, "bodies is -1; expected a count"),
        ((0, 3, ()), {}, "joints is empty; expected one kind of joint or more"),
        ((0, 3, None), {}, "joints has None; expected 'revolute'"),
        ((0, 3, [["free"]]), {}, r"joints has \['free'\]; expected 'revolute'"),
        ((0,), {"branching": "x"}, "branching is 'x'; expected a number"),
        ((0,), {"branching": 2}, "branching is 2; expected a chance between 0 and 1"),
    ],
)
def test_wrong_arguments_of_random_trees(arguments, options, sentence):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=sentence):
        kt.random_model(*arguments, **options)


def test_numbers_that_overflow_when_squared_or_subtracted():
    builder = two_links()
    builder.link("x", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    builder.joint("far", "prismatic", "rod", "x", axis=(1e200, 0, -1e200), lower=-1e308, upper=1e308)
    robot = kt.Robot(builder.build())
    close(robot.model.joints[2].axis, np.array([1, 0, -1]) / np.sqrt(2), 1e-15)
    q = robot.random(0, 100)[:, 1]
    assert np.isfinite(q).all() and q.min() < -5e307 and q.max() > 5e307
    bad_joint(axis=(1.5e308, 1.5e308, 1.5e308))
    two_links().link("heavy", kt.Inertia.from_com(1.0, (0, 0, 0), 1e308 * np.eye(3)))
    with pytest.raises(kt.ModelError, match=r"axis is \(0, 0, 0\); expected a direction"):
        bad_joint(axis=(1e-200, 0, 0))
