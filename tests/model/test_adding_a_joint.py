"""A new kind of joint takes a class, one line that registers it and a test: all other parts of the library ask it.

Two kinds are defined here. A cylindrical joint has two coordinates, is a series of joints that files know, and has a
rule for MuJoCo. A crank turns about an axis beside the joint's origin; neither files nor other libraries know it.

Covers: model/joints/kinds.py.
"""

import io
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from rich.console import Console

import kinetree as kt
from kinetree.base.originals import replaced
from kinetree.cli.facts import facts_of
from kinetree.cli.info import show
from kinetree.equations.derive import parallel
from kinetree.functions.identity import identity
from kinetree.model.joints import JOINTS, AxisJoint, Revolute, register, unregister
from kinetree.model.joints.coordinates import Coordinates
from kinetree.model.joints.joint import ANGLE, Parameter
from kinetree.model.joints.vector import VectorJoint
from kinetree.model.writers.mjcf import mjcf
from kinetree.model.writers.urdf import urdf
from kinetree.spatial import Motion, Transform
from kinetree.spatial.rotation import matrix_about_axis, normalized
from kinetree.viewer.readout import Readout
from kinetree.viewer.stage import State
from peers import close
from peers_mujoco import mass_matrix
from states import rate_along, state_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Cylindrical(VectorJoint):
    """q = [angle, slide] [rad, m]: turned about `axis` and moved along it, S = ((0, axis), (axis, 0))."""

    axis: np.ndarray

    kind = "cylindrical"
    nq = nv = 2
    q_labels = ((".angle", "rad"), (".slide", "m"))
    peers = {"mujoco": Coordinates}  # noqa: RUF012
    color = 7

    @property
    def series(self):
        return ("revolute", self.axis), ("prismatic", self.axis)

    def transform(self, q):
        angle, slide = q[self.q_slice]
        return Transform.unchecked(matrix_about_axis(self.axis, angle).T, self.axis * slide)

    def motion_subspace(self, q):
        return Motion(np.zeros(3), self.axis), Motion(self.axis, np.zeros(3))


@dataclass(frozen=True, eq=False, kw_only=True)
class Crank(AxisJoint):
    """Turned by q about the axis through c = radius · arm: its origin is at c - R c, and S = (-axis × c, axis)."""

    arm: np.ndarray
    radius: float

    kind = "crank"
    q_labels = ANGLE
    parameters = (Parameter("arm", "it leads to the axis", is_direction=True), Parameter("radius", "of the crank", "m"))

    @classmethod
    def random_geometry(cls, rng):
        return super().random_geometry(rng) | {"arm": normalized(rng.normal(size=3)), "radius": rng.uniform(0.1, 0.5)}

    @property
    def turns(self):
        return ((self.axis, self.iq),)

    def transform(self, q):
        R, c = matrix_about_axis(self.axis, self.position(q)), self.arm * self.radius
        return Transform.unchecked(R.T, c - R @ c)

    def motion_subspace(self, q):
        about = -np.cross(self.axis, self.arm * self.radius)
        return (Motion(about * self.ratio, self.axis * self.ratio),)


NEW = ("cylindrical", "crank", "mimic", "revolute")
BODY = kt.Inertia.from_com(2.0, (0.1, -0.2, 0.3), np.diag([0.3, 0.4, 0.5]))
TILTED = np.array([0.6, 0.0, 0.8])


@pytest.fixture(autouse=True, scope="module")
def registered():
    before = replaced(), dict(JOINTS)
    register(Cylindrical)
    register(Crank)
    yield
    unregister(Crank)
    unregister(Cylindrical)
    assert (replaced(), dict(JOINTS)) == before


def machine(**options):
    """A hinge, a cylindrical joint with all that joints can have, and with `crank` one of these at the end."""
    builder = kt.ModelBuilder("machine")
    builder.link("frame", BODY)
    for name in ("drum", "spindle", "tool"):
        builder.link(name, BODY)
    dynamics = kt.JointDynamics(armature=(0.1, 0.2), damping=(0.3, 0.4))
    limits = {"lower": (-1.0, -0.1), "upper": (2.0, 0.3), "velocity": (3.0, 0.5), "effort": (40.0, 500.0)}
    builder.joint("hinge", "revolute", "frame", "drum", axis=TILTED, lower=-1.0, upper=1.0)
    place = {"xyz": (0.1, 0.2, 0.3), "rpy": (0.3, -0.2, 0.1)}
    builder.joint("feed", "cylindrical", "drum", "spindle", axis=TILTED, **place, **limits, dynamics=dynamics)
    if options.pop("crank", False):
        builder.joint("crank", "crank", "spindle", "tool", axis=(0, 1, 0), arm=(1, 0, 0), radius=0.25, **place)
    else:
        builder.joint("grip", "prismatic", "spindle", "tool", axis=(0, 1, 0), **place)
    return kt.Robot(builder.build(**options))


# -- the builder and the equations of motion ---------------------------------------------------------------------------


def test_the_builder_knows_it_and_its_parameters():
    robot = machine(crank=True)
    assert (robot.nq, robot.nv) == (4, 4)
    q = np.array([0.2, 0.7, 0.1, -0.4])
    in_drum = np.linalg.solve(robot.poses(q)[0], robot.poses(q)[1]) @ [0.0, 0.0, 0.0, 1.0]
    still = np.linalg.solve(robot.poses(0 * q)[0], robot.poses(0 * q)[1])
    close(in_drum[:3], still[:3, 3] + still[:3, :3] @ (0.1 * TILTED), 1e-15)
    assert robot.limits.lower.tolist() == [-1.0, -1.0, -0.1, -np.inf]
    assert robot.limits.effort.tolist() == [np.inf, 40.0, 500.0, np.inf]
    builder = kt.ModelBuilder()
    for own, sentence in (
        ({}, "joint 'j': arm is missing; it leads to the axis"),
        ({"arm": (0, 0, 2), "radius": 1.0}, "axis and arm are parallel"),
        ({"arm": (1, 0, 0), "radius": np.inf}, r"radius is inf; expected a finite number \[m\]"),
        ({"arm": (1, 0, 0), "radius": 1.0, "pitch": 2.0}, "pitch is given; a crank joint has none"),
    ):
        with pytest.raises(kt.ModelError, match=sentence):
            builder.joint("j", "crank", "a", "b", **own)
    with pytest.raises(kt.ModelError, match="lower has 3 numbers; expected one, or 2 for a cylindrical joint"):
        builder.joint("j", "cylindrical", "a", "b", lower=(0.0, 0.0, 0.0))
    with pytest.raises(kt.ModelError, match=r"expected one of 'revolute', .*, 'cylindrical', 'crank'"):
        builder.joint("j", "conical", "a", "b")


@pytest.mark.parametrize("seed", range(6))
def test_its_dynamics_keep_energy_and_agree_with_differences(seed):
    robot = kt.Robot(kt.random_model(seed, 5, NEW, base=("fixed", "floating")[seed % 2])).eager
    s = state_of(robot, np.random.default_rng(seed))
    q, v, a, tau = s.q, s.v, s.a, robot.inverse_dynamics(s.q, s.v, s.a)
    close(robot.forward_dynamics(q, v, tau), a, 1e-9)
    close(robot.kinetic_energy(q, v), 0.5 * v @ robot.mass_matrix(q) @ v, 1e-12)
    energy = rate_along(s, lambda q, v: robot.kinetic_energy(q, v) + robot.potential_energy(q))
    close(energy, tau @ v, 1e-6)
    for k in range(robot.nv):
        along = 1e-6 * np.eye(robot.nv)[k]
        ahead, behind = (robot.inverse_dynamics(robot.integrate(q, sign * along), v, a) for sign in (1, -1))
        close(robot.inverse_dynamics_derivatives(q, v, a)[0][:, k], (ahead - behind) / 2e-6, 1e-6)


def test_compiled_and_batched_calls_give_the_same_numbers():
    robot = machine(crank=True)
    rng = np.random.default_rng(3)
    q, v, a = robot.random(rng, 5), *rng.normal(size=(2, 5, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    for k in range(5):
        assert np.array_equal(robot.inverse_dynamics(q[k], v[k], a[k]), tau[k])
        close(tau[k], robot.eager.inverse_dynamics(q[k], v[k], a[k]), 1e-12)
    again = pickle.loads(pickle.dumps(robot))
    assert again == robot and np.array_equal(again.inverse_dynamics(q, v, a), tau)


def test_configurations_are_drawn_within_its_limits():
    robot = machine()
    q = robot.random(np.random.default_rng(0), 200)
    assert (q >= robot.limits.lower)[:, :3].all() and (q <= robot.limits.upper)[:, :3].all()
    assert np.ptp(q[:, 1]) > 2.5 and np.ptp(q[:, 2]) > 0.35
    q0, q1 = q[:2]
    close(robot.integrate(q0, robot.difference(q0, q1)), q1, 1e-15)


def test_positions_are_found_and_parallel_axes_recognised():
    robot = machine()
    q = np.array([0.3, 0.5, 0.1, 0.2])
    assert robot.ik("tool", robot.frame("tool").pose(q)[:3, 3], q0=0.5 * q).success
    assert parallel(kt.edit.lock(machine(crank=True), ["hinge"]).model) == [0, 1, 2]
    with pytest.raises(kt.ArgumentError, match="'feed'"):
        kt.ik.ClosedForm(robot, "tool")


# -- names and units ---------------------------------------------------------------------------------------------------


def test_tables_say_its_kind_and_units():
    facts = facts_of(machine())
    feed = facts.joints[1]
    assert (feed.type, feed.unit, feed.q_size) == ("cylindrical", "rad, m", 2)
    assert np.allclose(feed.axis, TILTED) and feed.upper == [2.0, 0.3]
    text = io.StringIO()
    show(facts, Console(file=text, width=160))
    assert "cylindrical (0.6, 0, 0.8)" in text.getvalue()


def test_trajectories_have_its_names_and_units():
    robot = machine()
    trajectory = robot.rollout(robot.neutral(), np.zeros(4), np.zeros(4), 0.01, 2)
    assert trajectory.names["q"] == ("hinge", "feed.angle", "feed.slide", "grip")
    assert trajectory.units["q"] == ("rad", "rad", "m", "m")
    assert trajectory.units["v"][1:3] == ("rad/s", "m/s")


def test_plots_have_its_name_units_and_colour():
    pytest.importorskip("matplotlib")
    robot = machine()
    axes = kt.plot.torques(robot, [0.0, 0.1], np.ones((2, 4)), joints=["feed"]).axes[0]
    assert axes.get_ylabel() == "effort [N m or N]"
    legend = kt.plot.tree(machine(crank=True)).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["revolute", "cylindrical", "crank"]


def test_the_viewer_has_sliders_and_efforts_of_it():
    pytest.importorskip("viser")
    robot = machine()
    readout = Readout(robot, ())
    assert "N m or N<" in readout.efforts(readout.numbers(State(robot.neutral(), np.zeros(4)), "tool"))
    with robot.view() as viewer:
        angle, slide = viewer.panels[0].sliders[1:3]
        assert (angle.handle.label, slide.handle.label) == ("feed angle", "feed slide")
        assert (slide.handle.min, slide.handle.max, slide.handle.hint) == (-0.1, 0.3, "feed slide: -0.1 to 0.3 m")
        slide.move(0.2)
        assert viewer.q[2] == 0.2


# -- files and other libraries -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [lambda model: urdf(model, lossy=True), mjcf], ids=["urdf", "mjcf"])
def test_files_have_the_series_it_is(write):
    robot = machine(passive=False)
    again = kt.load(write(robot.model), passive=False)
    assert again.nv == 4 and [type(joint).__name__ for joint in again.model.owners[1:3]] == ["Revolute", "Prismatic"]
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, v, a = robot.random(rng), *rng.normal(size=(2, 4))
        ours = robot.inverse_dynamics(q, v, a) - robot.model.armature * a  # which URDF cannot express
        close(again.inverse_dynamics(q, v, a) - again.model.armature * a, ours, 1e-12)
    assert np.array_equal(again.limits.upper, robot.limits.upper)


@pytest.mark.parametrize("write", [urdf, mjcf], ids=["URDF", "MJCF"])
def test_files_that_cannot_have_it_are_refused(write, request):
    name = request.node.callspec.id
    with pytest.raises(kt.ModelError, match=f"joint 'crank' is crank, which {name} cannot express"):
        write(kt.edit.lock(machine(crank=True), ["feed"]).model)


def test_it_is_converted_by_its_rule_or_refused():
    mujoco = pytest.importorskip("mujoco")
    robot = machine()
    q = np.array([0.3, 0.5, 0.1, 0.2])
    model = mujoco.MjModel.from_xml_string(mjcf(robot.model))
    data = mujoco.MjData(model)
    data.qpos = kt.convert(robot, "q", q, to="mujoco")
    mujoco.mj_forward(model, data)
    M = kt.convert(robot, "mass_matrix", mass_matrix(model, data), source="mujoco")
    close(M, robot.mass_matrix(q), 1e-12)
    for peer in ("pinocchio", "drake"):
        with pytest.raises(kt.ArgumentError, match=f"joint 'feed' is cylindrical, and {peer} has no coordinates"):
            kt.convert(robot, "q", q, to=peer)
    with pytest.raises(kt.ArgumentError, match="joint 'crank' is crank, and mujoco has no coordinates for that"):
        kt.convert(machine(crank=True), "q", q, to="mujoco")
    floating = machine(crank=True, base="floating")
    q, v = floating.random(1), np.arange(10.0)
    close(kt.convert(floating, "v", v, to="mixed", q=q)[6:], v[6:], 0.0)


# -- edits -------------------------------------------------------------------------------------------------------------


def test_it_can_be_edited():
    robot = machine(crank=True)
    q = np.array([0.2, 0.7, 0.1, -0.4])
    locked = kt.edit.lock(robot, {"feed": (0.7, 0.1)})
    close(locked.frame("tool").pose(q[[0, 3]]), robot.frame("tool").pose(q), 1e-15)
    twice = kt.edit.scale(robot, 2.0)
    close(twice.frame("tool").pose(q * [1, 1, 2, 1])[:3, 3], 2.0 * robot.frame("tool").pose(q)[:3, 3], 1e-15)
    close(twice.limits.upper[1:3], [2.0, 0.6], 0.0)
    turned = kt.edit.change_base(locked, "tool")
    seen = np.linalg.inv(locked.frame("tool").pose(q[[0, 3]])) @ locked.frame("frame").pose(q[[0, 3]])
    close(turned.frame("frame").pose(q[[3, 0]]), seen, 1e-15)
    turned = kt.edit.change_base(robot, "tool")  # past its series of a turn and a slide
    seen = np.linalg.inv(robot.frame("tool").pose(q)) @ robot.frame("frame").pose(q)
    close(turned.frame("frame").pose(q[::-1]), seen, 1e-15)


def test_followers_of_it_and_those_it_follows():
    builder = kt.ModelBuilder()
    for name in "abc":
        builder.link(name, BODY)
    builder.joint("one", "crank", "a", "b", arm=(1, 0, 0), radius=0.25)
    builder.joint("two", "revolute", "b", "c", mimic=kt.Mimic("one", -2.0, 0.5))
    assert kt.Robot(builder.build()).nv == 1
    builder.joints.clear()
    builder.joint("one", "cylindrical", "a", "b")
    builder.joint("two", "revolute", "b", "c", mimic=kt.Mimic("one"))
    with pytest.raises(kt.ModelError, match="it mimics 'one', a cylindrical joint; expected one coordinate"):
        builder.build()


# -- the register ------------------------------------------------------------------------------------------------------


def test_what_cannot_be_registered():
    class Twin(Revolute):
        pass

    class Unlabelled(Cylindrical):
        kind = "unlabelled"
        q_labels = ANGLE

    class Nameless(Cylindrical):
        kind = ""

    with pytest.raises(kt.ArgumentError, match="kind of Twin is 'revolute', which is taken by Revolute"):
        register(Twin)
    with pytest.raises(kt.ArgumentError, match="q_labels of Unlabelled has 1 entries; expected 2"):
        register(Unlabelled)
    with pytest.raises(kt.ArgumentTypeError, match="kind of Nameless is ''; expected a name"):
        register(Nameless)
    with pytest.raises(kt.ArgumentTypeError, match="expected a class derived from Joint"):
        register(3)
    with pytest.raises(kt.ArgumentError, match="Twin is not registered"):
        unregister(Twin)


def test_code_of_it_is_not_found_by_its_name():
    """Its class is not one of the library's: another program may have another one of this name."""
    assert identity(kt.load("planar2")) is not None
    assert identity(machine()) is None


def test_columns_that_change_with_q_are_refused_unless_they_are_a_series():
    class Swinging(Crank):
        kind = "swinging"

        def motion_subspace_rate(self, q, v):
            return (Motion.zero(),)

    with pytest.raises(kt.ArgumentError, match="Swinging depends on q; derivatives know this only of a series"):
        register(Swinging)
    assert "swinging" not in JOINTS
