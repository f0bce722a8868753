"""To and from Drake: against the package where it is installed, and against numbers it gave where it is not."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given

import kinetree as kt
from one_of_each import builder, state
from peers import close, readable_urdfs, urdf_files
from states import State, states

RECORD = Path(__file__).with_name("drake.json")
CONVENTIONS = [
    {"base_velocity": velocity, "spatial_order": order}
    for velocity in ("body", "mixed")
    for order in ("linear-first", "angular-first")
]


def in_drake(plant, robot, q_drake, v_drake, a_drake):
    """What Drake computes at a state: torques, mass matrix, poses of all bodies, Jacobian of the last."""
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces  # noqa: PLC0415

    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q_drake)
    plant.SetVelocities(context, v_drake)
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    bodies = [plant.GetBodyByName(name) for name in robot.body_names]
    world, zero = plant.world_frame(), np.zeros(3)
    return {
        "tau": plant.CalcInverseDynamics(context, a_drake, forces),
        "mass_matrix": plant.CalcMassMatrix(context),
        "poses": np.array([plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4() for body in bodies]),
        "jacobian": plant.CalcJacobianSpatialVelocity(
            context, JacobianWrtVariable.kV, bodies[-1].body_frame(), zero, world, world
        ),
    }


def converted(robot, q, v, a, **options):
    q_drake = kt.convert(robot, "q", q, to="drake", **options)
    v_drake = kt.convert(robot, "v", v, to="drake", q=q, **options)
    return q_drake, v_drake, kt.convert(robot, "a", a, to="drake", q=q, v=v, **options)


def check(robot, q, v, a, theirs, q_drake, v_drake, a_drake, tolerance=1e-9, **options):
    there = {"source": "drake", "q": q_drake, "v": v_drake} | options
    close(robot.poses(q), theirs["poses"], tolerance)
    close(robot.poses(kt.convert(robot, "q", q_drake, **there)), theirs["poses"], tolerance)
    close(kt.convert(robot, "v", v_drake, **there), v, 1e-11)
    close(kt.convert(robot, "a", a_drake, **there), a, 1e-10)
    close(kt.convert(robot, "tau", theirs["tau"], **there), robot.inverse_dynamics(q, v, a), tolerance)
    close(kt.convert(robot, "mass_matrix", theirs["mass_matrix"], **there), robot.mass_matrix(q), tolerance)
    J = robot.frame(robot.body_names[-1]).jacobian(q)
    close(kt.convert(robot, "jacobian", theirs["jacobian"], **there), J, tolerance)
    if not robot.model.has_mimics:
        here = {"to": "drake", "q": q, "v": v} | options
        close(kt.convert(robot, "jacobian", J, **here), theirs["jacobian"], tolerance)
        close(kt.convert(robot, "mass_matrix", robot.mass_matrix(q), **here), theirs["mass_matrix"], tolerance)
        close(kt.convert(robot, "tau", robot.inverse_dynamics(q, v, a), **here), theirs["tau"], tolerance)


# -- without the package -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", CONVENTIONS, ids=str)
def test_one_joint_of_each_kind_as_recorded(options):
    record = {name: np.array(value) for name, value in json.loads(RECORD.read_text()).items()}
    robot = kt.Robot(builder().build("floating", **options)).eager
    here = kt.Robot(builder().build("floating")).eager  # the state was recorded in these conventions
    q, v, a = state(here)
    state_drake = converted(here, q, v, a)
    for name, value in zip("qva", state_drake, strict=True):
        close(value, record[name], 1e-12)
    q_drake, v_drake, a_drake = state_drake
    there = {"source": "drake", "q": q_drake, "v": v_drake}
    v, a = (kt.convert(robot, kind, value, **there) for kind, value in (("v", v_drake), ("a", a_drake)))
    check(robot, q, v, a, record, q_drake, v_drake, a_drake)


def test_a_ball_by_roll_pitch_and_yaw():
    chain = kt.ModelBuilder("ball")
    chain.link("socket")
    chain.link("ball", kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3)))
    chain.joint("ball", "spherical", "socket", "ball")
    robot = kt.Robot(chain.build())
    rpy = np.random.default_rng(0).uniform(-1.5, 1.5, size=(20, 3))
    q = kt.convert(robot, "q", rpy, source="drake")
    close(kt.convert(robot, "q", q, to="drake"), rpy, 1e-12)
    upright = np.array([[0.7, np.pi / 2, 0.2], [0.7, -np.pi / 2, 0.2], [np.pi, 0.0, 0.0], [0.0, 0.0, -np.pi]])
    q = kt.convert(robot, "q", upright, source="drake")  # the angles are not unique there, the rotation is
    again = kt.convert(robot, "q", kt.convert(robot, "q", q, to="drake"), source="drake")
    close(robot.poses(again), robot.poses(q), 1e-8)
    quarter = np.sqrt(0.5) * np.array([0.0, 0.0, 1.0, 1.0])
    close(kt.convert(robot, "v", [1.0, 0.0, 0.0], to="drake", q=quarter), [0.0, 1.0, 0.0], 1e-15)
    close(kt.convert(robot, "q", quarter, to="drake"), [0.0, 0.0, np.pi / 2], 1e-15)
    with pytest.raises(kt.ArgumentError, match="q is needed: the velocity of 'ball'"):
        kt.convert(robot, "v", [1.0, 0.0, 0.0], to="drake")


def test_six_vectors_are_angular_first():
    arm = kt.load("arm6", "floating")
    close(kt.convert(arm, "wrench", np.arange(6.0), to="drake"), [3.0, 4.0, 5.0, 0.0, 1.0, 2.0], 0.0)
    q = arm.neutral()
    q[:7] = 1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8
    close(kt.convert(arm, "q", q, to="drake")[:7], [0.8, 0.0, 0.6, 0.0, 1.0, 2.0, 3.0], 0.0)
    with pytest.raises(kt.ArgumentError, match=r"a quaternion \(entries 0 to 3, wxyz\) of norm"):
        kt.convert(arm, "q", q, source="drake")


# -- against the package -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def from_tree():
    pytest.importorskip("pydrake")
    from peers_drake import drake_from_tree  # noqa: PLC0415

    return drake_from_tree


def perpendicular(robot):
    """The same robot with universal joints of the kind Drake has."""
    model = robot.model
    chain = kt.ModelBuilder.of(model.description)
    for name, joint in list(chain.joints.items()):
        if joint.axis2 is not None:
            second = joint.axis2 - joint.axis * (joint.axis @ joint.axis2)
            axes = {"axis2": second / np.linalg.norm(second)}
            chain.joints[name] = type(joint)(**{**joint.__dict__, **axes})
    options = model.options
    return kt.Robot(
        chain.build(options.base, spatial_order=options.spatial_order, base_velocity=options.base_velocity)
    ).eager


@pytest.mark.drake
@given(states())
def test_random_trees(from_tree, s: State):
    assume(s.robot.nv)
    robot, q, v, a = perpendicular(s.robot), s.q, s.v, s.a
    plant = from_tree(robot.model)
    state_drake = converted(robot, q, v, a)
    assert len(state_drake[0]) == plant.num_positions()
    check(robot, q, v, a, in_drake(plant, robot, *state_drake), *state_drake)


@pytest.mark.drake
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", readable_urdfs() if find_spec("pydrake") else [])
def test_joint_order_of_real_robots(name, base):
    from pydrake.multibody.parsing import Parser  # noqa: PLC0415
    from pydrake.multibody.plant import MultibodyPlant  # noqa: PLC0415

    robot = kt.load(urdf_files()[name], base).eager
    plant = MultibodyPlant(0.0)
    text = bare_urdf(urdf_files()[name])
    try:
        (instance,) = Parser(plant).AddModelsFromString(text, "urdf")
    except RuntimeError as problem:
        pytest.skip(f"Drake cannot read it: {problem}")
    root = robot.model.frames[0].name
    if base == "floating" and root == "world":
        pytest.skip("a link called world is the world there")
    if base == "fixed" and root != "world":
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root, instance))
    plant.Finalize()
    q, zero = robot.random(np.random.default_rng(0)), np.zeros(robot.nv)
    state_drake = converted(robot, q, zero, zero)
    assert len(state_drake[0]) == plant.num_positions()
    if robot.nv == 0:
        pytest.skip("nothing moves")
    theirs = in_drake(plant, robot, *state_drake)
    close(robot.poses(q), theirs["poses"])
    if name == "bolt_description/bolt.urdf":
        return  # two of its inertias no body can have, and Drake makes up others
    weight = kt.convert(robot, "tau", theirs["tau"], source="drake", q=state_drake[0])
    close(weight, robot.gravity_forces(q))  # no more than the weight: Drake corrects small faults of inertias, too


def bare_urdf(path):
    """Only what moves and weighs: Drake would look for meshes, and counts damping among the forces."""
    from xml.etree import ElementTree  # noqa: PLC0415

    robot = ElementTree.parse(path).getroot()
    for element in list(robot):
        if element.tag not in ("link", "joint"):
            robot.remove(element)
        for tag in ("visual", "collision", "dynamics"):
            for child in element.findall(tag):
                element.remove(child)
    return ElementTree.tostring(robot, encoding="unicode")


def recorded():
    """What Drake says about one joint of each kind: run this file as a script to record it anew."""
    from peers_drake import drake_from_tree  # noqa: PLC0415

    robot = kt.Robot(builder().build("floating"))
    plant = drake_from_tree(robot.model)
    state_drake = converted(robot, *state(robot))
    theirs = in_drake(plant, robot, *state_drake) | dict(zip("qva", state_drake, strict=True))
    return {name: np.round(value, 14).tolist() for name, value in theirs.items()}


if __name__ == "__main__":
    RECORD.write_text(json.dumps(recorded()) + "\n")
