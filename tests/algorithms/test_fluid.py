"""Drag, lift and added mass in a fluid, beside MuJoCo, by differences and by closed forms; written, edited, rolled out.

Covers: model/fluid.py, model/loaders/mujoco_fluid.py, model/writers/mjcf_drag.py.
"""

import pickle

import mujoco
import numpy as np
import pytest

import kinetree as kt
from mujoco_peer import MujocoPeer
from peers import close
from states import state_of

ROOTS = {"fixed": '<joint name="hip" axis="0 1 0.2"/>', "floating": '<freejoint name="base"/>'}
FLUIDS = {
    "dense": 'density="900"',
    "viscous": 'viscosity="0.7"',
    "wind": 'density="1.3" wind="3 -2 1"',
    "all": 'density="50" viscosity="0.2" wind="-1 2 0.5"',
}
SHAPES = {"box": "", "ellipsoid": 'fluidshape="ellipsoid" fluidcoef="0.4 0.3 1.2 0.9 0.8"'}


def text(fluid="all", shape="box", root="fixed"):
    own = SHAPES[shape]
    return f"""<mujoco><option gravity="1 0.5 -9.81" {FLUIDS.get(fluid, fluid)}/><worldbody>
  <geom type="plane" size="1 1 1" contype="0" conaffinity="0" {own}/>
  <body name="fixed_one" pos="1 0 0"><geom size="0.1" {own}/></body>
  <body name="a">{ROOTS[root]}
    <geom type="box" size="0.1 0.05 0.2" pos="0.2 0 0.03" quat="1 0.2 0.4 0.1" {own}/>
    <geom type="capsule" size="0.03 0.2" pos="0.2 0 0.1" euler="20 40 10"/>
  <body name="b" pos="0.4 0 0">
    <inertial pos="0.1 0.02 0.05" quat="1 0.4 0.2 0.3" mass="2" diaginertia="0.02 0.015 0.01"/>
    <joint name="knee" axis="0.3 1 0"/><geom type="capsule" size="0.04 0.12" pos="0.2 0.1 0" euler="10 0 70" {own}/>
    <geom type="cylinder" size="0.03 0.01" pos="0 0.1 0" {own}/>
  <body name="welded" pos="0.1 0 0.2" euler="0 30 10"><geom size="0.05" pos="0.02 0.1 0"/></body>
  <body name="massless" pos="0.1 0 0.2"><geom type="box" size="0.1 0.1 0.1" mass="0" {own}/></body>
  <body name="c" pos="0.4 0 0"><joint name="ball" type="ball"/>
    <geom type="ellipsoid" size="0.02 0.1 0.06" pos="0 0.1 0.1" {own}/></body>
  <body name="d" pos="-0.4 0 0"><joint name="slide" type="slide" axis="1 0.1 0"/><joint name="turn" pos="0.1 0 0"/>
    <geom size="0.06" {own}/></body>
  </body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("root", [*ROOTS])
@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("fluid", [*FLUIDS])
def test_forces_are_mujocos(fluid, shape, root, recwarn):
    content = text(fluid, shape, root)
    robot, model = kt.load(content), mujoco.MjModel.from_xml_string(content)
    assert not [str(each.message) for each in recwarn if each.category is kt.ModelWarning]
    peer, rng = MujocoPeer(robot, model), np.random.default_rng(0)
    for scale in (0.0, 1e-7, 1e-3, 1.0, 1.0, 1.0, 10.0):
        s = state_of(robot.eager, rng)
        v = scale * s.v
        peer.set(s.q, v, s.a)
        expected = -(peer.T.T @ peer.data.qfrc_fluid)
        for found in (robot.eager.passive_forces(s.q, v), robot.passive_forces(s.q, v)):
            assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max() + 1e-18
        close(robot.inverse_dynamics(s.q, v, s.a), peer.inverse_dynamics(), 1e-10)
    q, v = (np.stack([getattr(s, x), getattr(state_of(robot, rng), x)]) for x in "qv")
    close(robot.passive_forces(q, v), [robot.passive_forces(*each) for each in zip(q, v, strict=True)], 1e-14)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("root", [*ROOTS])
def test_derivatives_are_differences(root, shape, base_velocity):
    robot = kt.load(text("all", shape, root), base=root, base_velocity=base_velocity)
    rng, h = np.random.default_rng(1), 1e-6
    for _ in range(3):
        s = state_of(robot.eager, rng)
        by_q, by_v = robot.inverse_dynamics_derivatives(s.q, s.v, s.a)
        tau = robot.inverse_dynamics
        for k, e in enumerate(h * np.eye(robot.nv)):
            along_q = tau(robot.integrate(s.q, e), s.v, s.a) - tau(robot.integrate(s.q, -e), s.v, s.a)
            along_v = tau(s.q, s.v + e, s.a) - tau(s.q, s.v - e, s.a)
            assert np.abs(along_q / (2 * h) - by_q[:, k]).max() < 1e-6 * np.abs(by_q).max()
            assert np.abs(along_v / (2 * h) - by_v[:, k]).max() < 1e-6 * np.abs(by_v).max()
        close(robot.forward_dynamics(s.q, s.v, tau(s.q, s.v, s.a)), s.a, 1e-9)
    at_rest = robot.inverse_dynamics_derivatives(s.q, 0.0 * s.v, s.a)
    assert np.isfinite(at_rest).all()
    still = kt.load(text('density="2"', shape, root), base=root)
    assert np.isfinite(kt.jacobian(lambda robot, q, v: robot.passive_forces(q, v), "v")(still, s.q, 0.0 * s.v)).all()


@pytest.mark.parametrize("shape", [*SHAPES])
def test_written_and_edited(shape):
    robot = kt.load(text(shape=shape))
    s = state_of(robot.eager, np.random.default_rng(3))

    def same(other, tolerance=1e-12):
        close(other.eager.passive_forces(s.q, s.v), robot.eager.passive_forces(s.q, s.v), tolerance)

    same(kt.load(robot.to_mjcf()), 1e-12 if shape == "box" else 1e-4)  # MuJoCo integrates added masses coarsely
    written = mujoco.MjModel.from_xml_string(robot.to_mjcf())
    peer = MujocoPeer(kt.load(written), written)
    peer.set(s.q, s.v, s.a)
    close(peer.robot.eager.passive_forces(s.q, s.v), -(peer.T.T @ peer.data.qfrc_fluid), 1e-10)
    off = kt.load(kt.load(text(shape=shape), passive=False).to_mjcf())
    assert not off.eager.passive_forces(s.q, s.v).any()
    same(kt.edit.merge_fixed(robot))
    same(kt.edit.rename(robot, links={"a": "first"}))
    same(pickle.loads(pickle.dumps(robot)))
    same(kt.edit.set_mass(robot, "a", 3.0))
    parametric = kt.load(text(shape=shape), parametric=("inertial",))
    same(parametric)
    same(parametric.with_parameters(parametric.parameters * 1.1))
    same(kt.edit.set_fluid(kt.edit.set_fluid(robot, density=1.0, wind=(0, 0, 0)), density=50, wind=(-1, 2, 0.5)))
    heavier = kt.edit.attach(robot, "b", kt.Inertia.from_com(1.0, (0, 0, 0.1), np.diag([0.1, 0.2, 0.15])))
    assert len(heavier.model.drag) == len(robot.model.drag) + 1
    assert robot.model != kt.edit.set_fluid(robot, viscosity=0.3).model
    with pytest.raises(kt.ModelError, match="URDF cannot express the fluid around the robot"):
        kt.edit.remove(robot, "c").to_urdf()
    with pytest.raises(kt.ModelError, match="the fluid around the robot"):
        robot.to_sdf()
    with pytest.raises(kt.ModelError, match="MJCF cannot express the drag of link 'b', which is not that of the box"):
        kt.edit.merge_fixed(robot).to_mjcf()
    with pytest.raises(kt.ArgumentError, match="set_fluid got no number; expected density, viscosity, wind"):
        kt.edit.set_fluid(robot)


def test_scaled_in_water():
    """Without viscosity, forces go with the square of lengths and of speeds; moments with the fifth power."""
    content = text('density="1000"', "ellipsoid", "floating")
    robot = kt.load(content, base="floating")
    s = state_of(robot.eager, np.random.default_rng(4))
    lengths = np.repeat([2.0, 1.0], 3)
    q, v = s.q.copy(), s.v.copy()
    q[:3], v[:3] = 2.0 * q[:3], 2.0 * v[:3]
    slide = robot.joint("slide")
    q[slide.q_slice], v[slide.v_slice] = 2.0 * q[slide.q_slice], 2.0 * v[slide.v_slice]
    larger = kt.edit.scale(robot, 2.0).eager.passive_forces(q, v)
    expected = 2.0**5 * robot.eager.passive_forces(s.q, s.v)
    expected[:6], expected[slide.v_slice] = expected[:6] / lengths, expected[slide.v_slice] / 2.0
    close(larger, expected, 1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("root", [*ROOTS])
def test_rollouts_stay_beside_mujoco(root, shape):
    content = text("all", shape, root).replace("<option", '<option timestep="1e-4" integrator="RK4"')
    robot, model = kt.load(content, base=root), mujoco.MjModel.from_xml_string(content)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    q, v = robot.neutral(), np.zeros(robot.nv)
    motion = robot.rollout(q, v, None, dt=1e-4, steps=1000, integrator="rk4")
    for _ in range(1000):
        mujoco.mj_step(model, data)
    joint = robot.joint("knee")
    assert abs(motion.q[-1][joint.q_slice][0] - data.joint("knee").qpos[0]) < 1e-8
    for integrator in ("implicit", "variational"):
        other = robot.rollout(q, v, None, dt=1e-4, steps=1000, integrator=integrator)
        close(other.q[-1], motion.q[-1], 1e-5)


@pytest.mark.parametrize("shape", [*SHAPES])
def test_lagranges_equations(shape):
    robot = kt.load(text("all", shape))
    s = state_of(robot, np.random.default_rng(5))
    close(kt.Lagrange(robot).inverse_dynamics(s.q, s.v, s.a), robot.inverse_dynamics(s.q, s.v, s.a), 1e-9)


@pytest.mark.parametrize(
    "flags", [("spring", "damper"), ("spring",), ("damper",), ("spring", "damper", "frictionloss")]
)
def test_switched_off_as_in_mujoco(flags):
    off = " ".join(f'{flag}="disable"' for flag in flags)
    content = text().replace("<worldbody>", f"<option><flag {off}/></option><worldbody>", 1)
    robot, model = kt.load(content), mujoco.MjModel.from_xml_string(content)
    s = state_of(robot.eager, np.random.default_rng(6))
    peer = MujocoPeer(robot, model)
    peer.set(s.q, s.v, s.a)
    close(robot.eager.passive_forces(s.q, s.v), peer.passive_forces(), 1e-11)


def test_copies_in_a_scene():
    one = '<body name="{0}" pos="{1} 0 0"><joint name="{0}"/><geom type="box" size="0.1 0.2 0.3" pos="0.2 0 0"/></body>'
    bodies = "".join(one.format(f"b{k}", k) for k in range(120))
    robot = kt.load(f'<mujoco><option density="30" wind="1 2 0"/><worldbody>{bodies}</worldbody></mujoco>')
    assert robot.model.copies
    s = state_of(robot.eager, np.random.default_rng(7))
    close(robot.passive_forces(s.q, s.v), robot.eager.passive_forces(s.q, s.v), 1e-12)


def test_in_code():
    builder = kt.ModelBuilder("ball")
    builder.fluid = kt.Fluid(viscosity=0.1)
    builder.link("world")
    ball = kt.Inertia.from_com(1.0, (0.0, 0.0, 0.0), 0.4 * 0.1**2 * np.eye(3))
    builder.link("ball", ball, drag=[kt.DragEllipsoid((0.1, 0.1, 0.1))])
    builder.joint("slide", "prismatic", "world", "ball", axis=(1, 0, 0))
    robot = kt.Robot(builder.build())
    close(robot.passive_forces([0.0], [2.0]), [6 * np.pi * 0.1 * 0.1 * 2.0], 1e-14)  # Stokes 1851
    sphere = kt.DragEllipsoid((0.1, 0.1, 0.1))
    close(sphere.added_mass, np.full(3, 2 / 3 * np.pi * 0.1**3), 1e-9)  # half of what it displaces
    assert not np.any(sphere.added_inertia)
    thin = kt.DragEllipsoid((1.0, 1e-4, 1e-4))
    close(thin.added_mass[1:], np.full(2, 4 / 3 * np.pi * 1e-8), 1e-5)  # a cylinder across: all that it displaces
    for wrong, match in (
        (lambda: kt.Fluid(density=-1), "density is -1; expected zero or more"),
        (lambda: kt.Fluid(wind=(1, 2)), "wind"),
        (lambda: kt.DragBox((1, -1, 1)), "size is .*; expected three numbers of zero or more"),
        (lambda: kt.DragEllipsoid((1, 1, 1), kutta=np.nan), "kutta is nan; expected a finite number"),
        (lambda: kt.DragBox((1, 1, 1), placement=3), "placement is 3; expected"),
        (lambda: builder.link("odd", drag=["box"]), "drag has 'box'; expected kt.DragBox or kt.DragEllipsoid"),
    ):
        with pytest.raises((kt.KinetreeError, ValueError), match=match):
            wrong()


@pytest.mark.parametrize("shape", [*SHAPES])
def test_equations_in_symbols(shape):
    body = f'<body><joint name="j" axis="0 1 0"/><geom type="box" size=".1 .2 .3" pos=".3 0 0" {SHAPES[shape]}/></body>'
    robot = kt.load(f'<mujoco><option density="2" wind="1 0 0"/><worldbody>{body}</worldbody></mujoco>')
    found = robot.equations()
    q, v = 0.4, -1.3
    values = {symbol: {"q1": q, "v1": v}[str(symbol)] for symbol in found.F.free_symbols}
    close(float(found.F[0].subs(values)), robot.passive_forces([q], [v])[0], 1e-12)
