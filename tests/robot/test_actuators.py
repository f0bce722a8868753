"""From controls to efforts, beside MuJoCo; and back.

Covers: model/actuators.py, model/muscles.py, model/loaders/mujoco_actuators.py, model/writers/mjcf_actuators.py.
"""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from peers import close

BODIES = """<body name="a"><joint name="hip" axis="0 1 0" range="-2 2" actuatorfrcrange="-40 40"/>
  <geom size="0.1" pos="0.2 0 0"/><body name="b" pos="0.4 0 0"><joint name="knee" axis="0 1 0" ref="0.3"/>
  <geom size="0.1" pos="0.2 0 0"/><body name="c" pos="0.4 0 0"><joint name="slide" type="slide" axis="1 0 0"/>
  <geom size="0.1"/></body></body></body>
  <body name="d" pos="0 1 0"><joint name="ball" type="ball"/><geom size="0.1" pos="0.1 0 0"/></body>"""
TENDON = '<fixed name="rope"><joint joint="hip" coef="0.5"/><joint joint="slide" coef="-2"/></fixed>'
ACTUATORS = """
  <motor name="m" joint="hip" gear="3" ctrlrange="-1 1"/>
  <position name="p" joint="knee" kp="20" kv="2" forcerange="-8 8"/>
  <velocity name="v" joint="slide" kv="4"/>
  <general name="g" joint="hip" gear="2" gaintype="affine" gainprm="1 0.3 0.2" biastype="affine" biasprm="0.5 -1 -0.2"/>
  <general name="rope" tendon="rope" gear="1.5" gainprm="2"/>
  <intvelocity name="i" joint="knee" kp="5" actrange="-0.5 0.5"/>
  <cylinder name="c" joint="slide" timeconst="0.2" area="3" bias="1 -2 -0.5"/>
  <damper name="damper" joint="hip" kv="3" ctrlrange="0 2"/>"""
TEXT = f"""<mujoco><compiler angle="radian"/><worldbody>{BODIES}</worldbody><tendon>{TENDON}</tendon>
  <actuator>{ACTUATORS}</actuator></mujoco>"""
NAMES = ("m", "p", "v", "g", "rope", "i", "c", "damper")


def mujocos(model, robot, q, v, u, w):
    data = mujoco.MjData(model)
    data.qpos, data.qvel = kt.convert(robot, "q", q, to="mujoco"), kt.convert(robot, "v", v, to="mujoco", q=q)
    data.ctrl = u
    data.act = [w[NAMES.index("i")], w[NAMES.index("c")]]
    mujoco.mj_forward(model, data)
    rates = np.zeros(len(NAMES))
    rates[[NAMES.index("i"), NAMES.index("c")]] = data.act_dot
    return kt.convert(robot, "tau", data.qfrc_actuator, source="mujoco", q=data.qpos), rates


def test_efforts_are_mujocos():
    robot, model = kt.load(TEXT), mujoco.MjModel.from_xml_string(TEXT)
    actuators = robot.actuators
    assert actuators.names == NAMES and len(actuators) == model.nu
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, 40), rng.normal(size=(40, robot.nv))
    u, w = 2.0 * rng.normal(size=(2, 40, len(NAMES)))
    w[:, NAMES.index("i")] = np.clip(w[:, NAMES.index("i")], -0.5, 0.5)  # MuJoCo keeps it so
    tau, rates = actuators.efforts(q, v, u, w), actuators.activation_rates(u, w)
    for k in range(40):
        theirs = mujocos(model, robot, q[k], v[k], u[k], w[k])
        close(tau[k], theirs[0], 1e-12)
        close(rates[k], theirs[1], 1e-12)
    close(actuators.efforts(q[3], v[3], u[3], w[3]), tau[3], 0.0)
    assert (actuators.lower[0], actuators.upper[0], actuators.upper[1]) == (-1.0, 1.0, np.inf)
    close(actuators.gears[4], [0.75, 0.0, -3.0, 0.0, 0.0, 0.0], 1e-15)


def test_what_is_written_reads_the_same():
    robot = kt.load(TEXT)
    again = kt.load(robot.to_mjcf())
    assert again.actuators.names == NAMES
    rng = np.random.default_rng(1)
    q, v = robot.random(rng, 5), rng.normal(size=(5, robot.nv))
    u, w = rng.normal(size=(2, 5, len(NAMES)))
    close(again.actuators.efforts(q, v, u, w), robot.actuators.efforts(q, v, u, w), 1e-12)


SERVOS = TEXT.replace(
    ACTUATORS, '<motor joint="hip" gear="3"/><position joint="knee" kp="20" kv="2"/><motor joint="slide"/>'
)


def test_controls_give_back_the_efforts():
    robot = kt.load(SERVOS)
    rng = np.random.default_rng(2)
    q, v, tau = robot.random(rng, 30), rng.normal(size=(30, robot.nv)), 5.0 * rng.normal(size=(30, robot.nv))
    u = robot.actuators.controls(q, v, tau)
    close(robot.actuators.efforts(q, v, u)[:, :3], tau[:, :3], 1e-12)
    assert not robot.actuators.efforts(q, v, u)[:, 3:].any()  # nothing moves the ball
    with_range = kt.load(SERVOS.replace('gear="3"', 'gear="3" ctrlrange="-0.1 0.1"'))
    assert np.abs(with_range.actuators.controls(q, v, tau)[:, 0]).max() == 0.1


def test_redundant_actuators_share():
    text = TEXT.replace(ACTUATORS, '<motor joint="hip" gear="3"/><motor joint="hip" gear="1"/>')
    robot = kt.load(text)
    u = robot.actuators.controls(robot.neutral(), np.zeros(robot.nv), np.eye(robot.nv)[0])
    close(u, [0.3, 0.1], 1e-15)


def test_they_work_in_laws_and_rollouts():
    """A position servo holds its target."""
    robot = kt.load(SERVOS, gravity=(0, 0, 0))

    @kt.compile(shapes={"target": ()})
    def law(robot, q, v, target):
        return robot.actuators.efforts(q, v, np.array([0.0 * target, target, 0.0 * target]))

    q0, v0 = robot.neutral(), np.zeros(robot.nv)
    target = 0.2
    motion = robot.rollout(q0, v0, law, 1e-3, 60, parameters={"target": target})
    step = robot.rollout(q0, v0, robot.actuators.efforts(q0, v0, [0.0, target, 0.0]), 1e-3, 1)
    close(motion.v[1], step.v[1], 1e-12)
    assert motion.q[-1, 1] > 0.01


def test_others_are_listed():
    text = TEXT.replace("</tendon>", '<spatial name="s"><site site="x"/><site site="y"/></spatial></tendon>')
    text = text.replace("<geom size", '<site name="x"/><geom size', 1).replace(
        "</worldbody>", '<site name="y"/></worldbody>'
    )
    others = '<motor name="pull" site="x" refsite="y"/>'
    curves = 'gaintype="muscle" gainprm="0.75 1.05 9 9 0.5 1.6 1.5 1.3 1.2" lengthrange="-1 1"'
    others += f'<general name="half" joint="hip" {curves}/>'
    text = text.replace("</actuator>", others + '<motor name="taut" tendon="s"/></actuator>')
    robot = kt.load(text)
    assert robot.actuators.names == (*NAMES, "pull", "taut")
    found = "\n".join(map(str, robot.check()))
    assert "1 of them (half) were left out of robot.actuators: their gain is of the kind 'muscle'" in found


SPATIAL = TEXT.replace(
    "</tendon>", """<spatial name="s"><site site="x"/><geom geom="wheel"/><site site="y"/></spatial></tendon>"""
).replace(
    '<body name="b" pos="0.4 0 0">',
    '<site name="x" pos="0.1 0 0.15"/><body name="b" pos="0.4 0 0"><site name="y" pos="0.3 0.02 0.1"/>'
    '<geom name="wheel" type="cylinder" size="0.08 0.1" euler="1.57 0 0"/>',
)
MUSCLES = """
  <muscle name="mus" tendon="s" force="300" lengthrange="0.3 0.55"/>
  <muscle name="scaled" tendon="s" gear="1.3" range="0.5 1.3" lmin="0.4" lmax="1.7" vmax="2" fpmax="1.1" fvmax="1.4"
          lengthrange="0.3 0.9" tausmooth="0.3" timeconst="0.02 0.07"/>
  <muscle name="at a joint" joint="hip" force="50" lengthrange="-1 1" ctrlrange="0 0.9" ctrllimited="true"/>
  <motor name="pull" tendon="s" gear="2"/><position name="servo" tendon="s" kp="30"/>"""


def test_muscles_and_motors_on_paths_are_mujocos():
    text = SPATIAL.replace(ACTUATORS, MUSCLES)
    robot, model = kt.load(text), mujoco.MjModel.from_xml_string(text)
    names = ("mus", "scaled", "at a joint", "pull", "servo")
    assert robot.actuators.names == names
    again = kt.load(robot.to_mjcf())
    rng, data = np.random.default_rng(5), mujoco.MjData(model)
    q, v = robot.random(rng, 60), 2.0 * rng.normal(size=(60, robot.nv))
    u, w = rng.uniform(-0.3, 1.3, size=(2, 60, 5))
    lengths, arms = robot.actuators.lengths(q), robot.actuators.moment_arms(q)
    tau, rates = robot.actuators.efforts(q, v, u, w), robot.actuators.activation_rates(u, w)
    close(again.actuators.efforts(q, v, u, w), tau, 1e-11)
    close(again.actuators.activation_rates(u, w), rates, 1e-12)
    seen = set()
    for k in range(60):
        data.qpos = kt.convert(robot, "q", q[k], to="mujoco")
        data.qvel = kt.convert(robot, "v", v[k], to="mujoco", q=q[k])
        data.ctrl, data.act = u[k], w[k, :3]
        mujoco.mj_forward(model, data)
        close(lengths[k], data.actuator_length, 1e-10)
        close(arms[k] @ v[k], data.actuator_velocity, 1e-9)
        close(tau[k], kt.convert(robot, "tau", data.qfrc_actuator, source="mujoco", q=data.qpos), 1e-9)
        close(rates[k, :3], data.act_dot, 1e-9)
        close(robot.eager.forward_dynamics(q[k], v[k], tau[k])[:3], data.qacc_smooth[:3], 1e-8)
        seen.add(tuple(np.sign(data.actuator_force[:3])))
    assert len(seen) > 2
    with pytest.raises(
        kt.ArgumentError, match="'mus' pulls on a path, so that its gears depend on q; expected moment_arms"
    ):
        print(robot.actuators.gears)
    u = robot.actuators.controls(q, v, np.zeros_like(v))
    assert np.isfinite(u).all() and u.shape == (60, 5)


def test_controls_on_a_path_give_back_the_efforts():
    robot = kt.load(SPATIAL.replace(ACTUATORS, '<motor name="pull" tendon="s" gear="2"/>'))
    q, v = robot.random(np.random.default_rng(6)), np.zeros(robot.nv)
    tau = robot.actuators.efforts(q, v, [3.0])
    close(robot.actuators.controls(q, v, tau), [3.0], 1e-12)


def test_what_no_muscle_is():
    with pytest.raises(kt.ArgumentError, match=r"length_range is 1\.0; expected two numbers"):
        kt.Muscle(100.0, 1.0)
    with pytest.raises(kt.ArgumentError, match="force is nan; expected finite numbers"):
        kt.Muscle(np.nan, (0, 1))
    with pytest.raises(kt.ArgumentError, match="activation is 'muscle' and muscle None; expected both or none"):
        kt.Actuator("m", (("j", 1.0),), activation="muscle")


def test_editing_keeps_them():
    robot = kt.load(SERVOS)
    renamed = kt.edit.rename(robot, joints={"hip": "h"})
    assert renamed.actuators.listed[0].joints == (("h", 3.0),)
    locked = kt.edit.lock(robot, ["hip"])
    assert len(locked.actuators) == 2
    assert "joint 'hip' does not move with one coordinate" in "\n".join(map(str, locked.check()))
    two = kt.edit.graft(robot, robot, "c", prefix="x_")
    assert two.actuators.names[3:] == tuple(f"x_{name}" for name in robot.actuators.names)


def test_in_code():
    builder = kt.ModelBuilder("one")
    builder.link("a")
    builder.link("b", kt.solids.box((1, 1, 1), mass=1.0))
    builder.joint("j", "revolute", "a", "b", effort=5.0)
    builder.actuator(kt.Actuator("servo", (("j", 2.0),), gain=(10, 0, 0), bias=(0, -10, -1)))
    robot = kt.Robot(builder.build())
    close(robot.actuators.efforts([0.1], [0.2], [0.3]), [2.0 * (10 * 0.3 - 10 * 0.2 - 0.4)], 1e-15)
    close(robot.actuators.efforts([0.1], [0.2], [9.0]), [5.0], 0.0)
    assert kt.Robot(builder.build()) == robot
    bare = kt.ModelBuilder.of(robot.model.description)
    bare.actuators.clear()
    assert kt.Robot(bare.build()) != robot


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (dict(joints=()), "joints of actuator 'm' is empty"),
        (dict(joints="j"), "joints is 'j'; expected pairs of a name and a gear"),
        (dict(gain=(1, 2)), r"gain is \(1, 2\); expected 3 numbers"),
        (dict(control_range=(2, 1)), "control_range is 2 to 1; expected the lower bound first"),
        (dict(activation="slow"), "activation is 'slow'; expected"),
        (dict(activation="filter"), "time_constant is 0; expected a time above zero"),
    ],
)
def test_what_no_actuator_has(options, sentence):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=sentence):
        kt.Actuator("m", **({"joints": (("j", 1.0),)} | options))


def test_robots_without_actuators():
    arm = kt.load("arm6")
    assert len(arm.actuators) == 0
    with pytest.raises(kt.ArgumentError, match="'arm6' has no actuators"):
        arm.actuators.efforts(arm.neutral(), np.zeros(6), [])
