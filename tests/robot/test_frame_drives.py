"""Actuators on sites, cranks, ball and free joints, beside MuJoCo; written, edited, in rollouts.

Covers: algorithms/passes/frame_drives.py, model/loaders/mujoco_drives.py.
"""

import pickle
import re

import mujoco
import numpy as np
import pytest

import kinetree as kt
from peers import close

ROOTS = {"fixed": '<joint name="hip" axis="0 1 0.2"/>', "floating": '<freejoint name="base"/>'}


def text(root="fixed", more=""):
    free = (
        """<general name="free" joint="base" gear="1 -2 0.5 0.3 0.2 -0.7" gainprm="2"/>
  <general name="free_in_parent" jointinparent="base" gear="1 2 0.5 0.3 -0.2 0.7" biastype="affine" biasprm="0 0 -0.4"/>
  """
        if root == "floating"
        else '<motor name="hip" joint="hip" ctrlrange="-0.1 0.1"/>'
    )
    return f"""<mujoco><worldbody>
  <body name="a">{ROOTS[root]}<geom size="0.1" pos="0.2 0 0.03"/><site name="low" pos="0.1 0.2 0.3" euler="20 10 30"/>
  <body name="b" pos="0.4 0 0" euler="10 40 0"><joint name="knee" axis="0.3 1 0" pos="0.1 0 0"/>
    <geom size="0.1" pos="0.2 0.1 0"/><site name="crank" pos="0.05 0.02 0.1"/>
  <body name="c" pos="0.4 0 0" euler="30 0 20"><joint name="last" type="slide" axis="1 0 0"/>
    <joint name="ball" type="ball" pos="0 0.02 0.1"/><geom size="0.1" pos="0 0.1 0.1"/>
    <site name="tip" pos="0.1 0.1 0.2" euler="0 50 20"/></body>
  <body name="d" pos="-0.3 0 0.2"><joint name="slide" type="slide" axis="0 0.2 1"/><geom size="0.06"/>
    <site name="slider" pos="0.02 0 0" euler="5 0 10"/><site name="other" pos="0.2 0 0.1" euler="5 60 10"/></body>
  </body></body></worldbody><actuator>{free}
  <general name="push" site="tip" gear="1 2 -0.5 0.2 0.4 0.1" gainprm="3" biastype="affine" biasprm="0.2 0 -0.5"/>
  <motor name="thrust" site="low" gear="0 0 1 0 0 0.1" ctrlrange="-2 2"/>
  <position name="servo" site="tip" refsite="other" gear="1 -1 0.5 0 0 0" kp="20" kv="3"/>
  <general name="turn" site="tip" refsite="low" gear="0.2 0 0.1 0.3 0.4 -0.6" biastype="affine" biasprm="0 -2 -1"/>
  <position name="same_body" site="other" refsite="slider" gear="1 0 0 0 1 0" kp="2"/>
  <motor name="ball" joint="ball" gear="0.4 0.3 -0.5"/>
  <position name="ball_in_parent" jointinparent="ball" gear="0.4 0.3 -0.5" kp="5" kv="0.3"/>
  <motor name="hinge_in_parent" jointinparent="last" gear="2"/>
  <general name="crank" cranksite="crank" slidersite="slider" cranklength="0.9" gear="1.5" biastype="affine"
    biasprm="1 -2 -0.3"/>
  <general name="short" cranksite="crank" slidersite="slider" cranklength="0.01" biastype="affine" biasprm="1 2 0.3"/>
  {more}</actuator></mujoco>"""


def mujocos(robot, model, q, v, u):
    data = mujoco.MjData(model)
    data.qpos, data.qvel = kt.convert(robot, "q", q, to="mujoco"), kt.convert(robot, "v", v, to="mujoco", q=q)
    data.ctrl = u
    mujoco.mj_forward(model, data)
    return data


def moments(robot, model, data, q):
    """R of MuJoCo, for our v."""
    R = np.zeros((model.nu, model.nv))
    mujoco.mju_sparse2dense(
        R, data.actuator_moment.ravel(), data.moment_rownnz, data.moment_rowadr, data.moment_colind.ravel()
    )
    return R @ np.column_stack([kt.convert(robot, "v", unit, to="mujoco", q=q) for unit in np.eye(robot.nv)])


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize(("root", "base"), [("fixed", "fixed"), ("floating", "fixed"), ("floating", "floating")])
def test_efforts_are_mujocos(root, base, base_velocity, recwarn):
    robot, model = kt.load(text(root), base, base_velocity=base_velocity), mujoco.MjModel.from_xml_string(text(root))
    assert not [str(each.message) for each in recwarn if each.category is kt.ModelWarning]
    assert len(robot.actuators) == model.nu and not [each for each in robot.check() if "<actuator>" in str(each)]
    rng = np.random.default_rng(0)
    q, v, u = robot.random(rng, 20), rng.normal(size=(20, robot.nv)), rng.normal(size=(20, model.nu))
    v[0] = 0.0
    tau, lengths, R = robot.actuators.efforts(q, v, u), robot.actuators.lengths(q), robot.actuators.moment_arms(q)
    for k in range(20):
        data = mujocos(robot, model, q[k], v[k], u[k])
        theirs = kt.convert(robot, "tau", data.qfrc_actuator, source="mujoco", q=data.qpos)
        close(tau[k], theirs, 1e-11)
        close(lengths[k], data.actuator_length, 1e-11)
        close(R[k], moments(robot, model, data, q[k]), 1e-11)
        close(robot.actuators.efforts(q[k], v[k], u[k]), tau[k], 1e-13)
    crank, short = (robot.actuators.names.index(name) for name in ("crank", "short"))
    h, e = 1e-6, rng.normal(size=robot.nv)
    for k in (crank, short):  # of these, the moment arms are derivatives
        ahead, behind = (robot.actuators.lengths(robot.integrate(q[3], sign * h * e))[k] for sign in (1.0, -1.0))
        close((ahead - behind) / (2 * h), R[3, k] @ e, 1e-7)


@pytest.mark.parametrize(("root", "base"), [("fixed", "fixed"), ("floating", "fixed"), ("floating", "floating")])
def test_written_and_edited(root, base):
    robot = kt.load(text(root), base)
    rng = np.random.default_rng(1)
    q, v, u = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=len(robot.actuators))
    expected = robot.actuators.efforts(q, v, u)

    def same(other):
        close(other.actuators.efforts(q, v, u), expected, 1e-11)

    written = robot.to_mjcf()
    same(kt.load(written, base))
    model = mujoco.MjModel.from_xml_string(written)
    of_hinge = text(root).replace('jointinparent="last"', 'joint="last"')  # where it means the same
    assert [*model.actuator_trntype] == [*mujoco.MjModel.from_xml_string(of_hinge).actuator_trntype]
    same(pickle.loads(pickle.dumps(robot)))
    same(kt.edit.rename(robot, frames={"tip": "nozzle"}, links={"c": "tube"}))
    same(kt.edit.merge_fixed(robot))
    same(kt.load(text(root), base, parametric=("inertial", "placement")))
    without = kt.edit.remove(robot, "d")
    assert "actuator 'servo': it was left out: frame 'other' is not part of the robot" in "\n".join(
        map(str, without.check())
    )
    assert kt.edit.scale(robot, 2.0).model.actuators[-1].drives[0].rod == 0.02
    assert kt.load("puma560").actuators.names == ()
    both = kt.edit.graft(kt.load("puma560"), kt.load(text()), "link6", prefix="p_")
    assert "p_push" in both.actuators.names and both.model.actuators[1].drives[0].frame == "p_tip"


def test_what_mjcf_does_not_have():
    builder = kt.ModelBuilder.of(kt.load(text()).model.description)
    builder.actuator(kt.Actuator("odd", drives=kt.FrameDrive("tip", (1, 0, 0), axes="reference")))
    builder.actuator(kt.Actuator("two", (("last", 1.0),), drives=(kt.FrameDrive("tip", (1, 0, 0)),)))
    robot = kt.Robot(builder.build())
    with pytest.raises(kt.ModelError, match=r"MJCF cannot express the actuator 'odd', .* \(and 1 more\)"):
        robot.to_mjcf()
    assert len(kt.load(robot.to_mjcf(lossy=True)).actuators) == len(robot.actuators) - 2
    q, v = robot.neutral(), np.zeros(robot.nv)
    u = np.zeros(len(robot.actuators))
    u[-2] = 3.0
    rest = robot.actuators.efforts(q, v, 0.0 * u)
    wrench = robot.frame("tip").jacobian(q, "world-aligned").T @ [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    close(robot.actuators.efforts(q, v, u) - rest, wrench, 1e-12)
    with pytest.raises(kt.ArgumentError, match="'push' acts on frames, so that its gears depend on q"):
        _ = robot.actuators.gears


def test_adhesion_is_left_out():
    robot = kt.load(text(more='<adhesion name="glue" body="c" ctrlrange="0 1" gain="5"/>'))
    (finding,) = [each for each in robot.check() if "<actuator>" in str(each)]
    assert "1 of them (glue) were left out of robot.actuators: their transmission is of the kind 'body'" in str(finding)
    assert finding.severity == "warning" and "acts where bodies touch" in str(finding)


def test_a_reference_on_the_world_that_is_left_out():
    content = text("floating").replace("<worldbody>", '<worldbody><site name="home"/>')
    content = content.replace('refsite="low"', 'refsite="home"')
    assert "turn" in kt.load(content, "fixed").actuators.names
    robot = kt.load(content, "floating")
    assert "turn" not in robot.actuators.names
    assert any(
        "(turn) were left out of robot.actuators: what they act on was left out" in str(f) for f in robot.check()
    )


def test_limits_of_joints_that_sites_load():
    """The motor alone gives the hip 0.1 N m; a thruster gives it more, and MuJoCo lets it."""
    assert kt.load(text()).limits.effort[0] == np.inf
    alone = re.sub(r"<general name=\"push\".*(?=</actuator>)", "", text(), flags=re.DOTALL)
    assert kt.load(alone).limits.effort[0] == 0.1


def test_servos_of_rotations_take_the_shorter_way():
    """Beyond half a turn MuJoCo's servo does as well; without activation and with it."""
    servos = ("<position {} kp='3' kv='0.2'/>", "<position {} kp='3' timeconst='0.1'/>")
    places = (
        "joint='ball' gear='0 0 2'",
        "site='tip' refsite='low' gear='0 0 0 0.3 0.1 0'",
        "site='tip' gear='1 0 0 1 0 0'",
    )
    content = text()
    content = content[: content.index("<actuator>")] + "<actuator>{}</actuator></mujoco>".format(
        "".join(servo.format(place) for place in places for servo in servos)
    )
    robot, model = kt.load(content), mujoco.MjModel.from_xml_string(content)
    rng = np.random.default_rng(3)
    for _ in range(30):
        q, v, u = robot.random(rng), rng.normal(size=robot.nv), 9.0 * rng.normal(size=model.nu)
        data = mujoco.MjData(model)
        data.act = u[1::2]
        data.qpos, data.qvel = kt.convert(robot, "q", q, to="mujoco"), kt.convert(robot, "v", v, to="mujoco", q=q)
        data.ctrl = u
        mujoco.mj_forward(model, data)
        close(robot.actuators.efforts(q, v, u), kt.convert(robot, "tau", data.qfrc_actuator, source="mujoco"), 1e-11)
        close(kt.load(robot.to_mjcf()).actuators.efforts(q, v, u), robot.actuators.efforts(q, v, u), 1e-11)
    controls = robot.actuators.controls(q, v, 100.0 * rng.normal(size=robot.nv))
    lengths = robot.actuators.lengths(q)
    assert np.all(np.abs(controls - lengths)[:2] <= 2.0 * np.pi + 1e-12)


def test_controls_give_back_the_efforts():
    content = text("floating")
    content = (
        content[: content.index("<actuator>")]
        + "<actuator>"
        + "".join(
            f'<motor name="t{k}" site="low" gear="{" ".join("1" if i == k else "0" for i in range(6))}"/>'
            for k in range(6)
        )
        + "</actuator></mujoco>"
    )
    robot = kt.load(content, "floating")
    rng = np.random.default_rng(2)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    tau = robot.frame("low").jacobian(q).T @ rng.normal(size=6)
    close(robot.actuators.efforts(q, v, robot.actuators.controls(q, v, tau)), tau, 1e-9)


def test_a_rollout_beside_mujoco():
    content = text("floating").replace("<worldbody>", '<option timestep="1e-4" integrator="RK4"/><worldbody>', 1)
    robot, model = kt.load(content, "floating"), mujoco.MjModel.from_xml_string(content)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    u = np.linspace(-0.5, 0.5, model.nu)
    data = mujoco.MjData(model)
    data.ctrl = u
    for _ in range(500):
        mujoco.mj_step(model, data)

    @kt.compile(shapes={"u": (model.nu,)})
    def law(robot, q, v, u):
        return robot.actuators.efforts(q, v, u)

    motion = robot.rollout(
        robot.neutral(), np.zeros(robot.nv), law, dt=1e-4, steps=500, integrator="rk4", parameters={"u": u}
    )
    there = kt.convert(robot, "q", data.qpos, source="mujoco")
    assert np.abs(robot.difference(motion.q[-1], there)).max() < 1e-8


def test_in_code():
    for wrong, match in (
        (lambda: kt.FrameDrive("a", axes="odd"), "axes is 'odd'; expected"),
        (lambda: kt.FrameDrive("a", force=(1, 2)), "force"),
        (lambda: kt.SliderCrank("a", "b", -1.0), "rod is -1; expected a length above zero"),
        (lambda: kt.Actuator("a"), "is empty, and so are tendons and drives; expected one of them"),
        (
            lambda: kt.Actuator("a", drives=("x",)),
            "drives has 'x'; expected for example kt.FrameDrive or kt.SliderCrank",
        ),
    ):
        with pytest.raises(kt.KinetreeError, match=match):
            wrong()
