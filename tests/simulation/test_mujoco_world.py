"""A robot in MuJoCo with a controller in the loop: the same dynamics, and contact forces that can be trusted.

Covers: simulation/fixtures.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.geometry import Box, Geometry, Mesh
from kinetree.simulation import Block, Fixture, Ground, MujocoWorld, Push


def nothing(now):
    return np.zeros_like(now.v)


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize("name, base", [("arm6", "fixed"), ("quadruped", "floating")])
@pytest.mark.sampled(2)
def test_a_short_flight_is_that_of_the_robot(name, base, base_velocity):
    robot = kt.load(name, base=base, base_velocity=base_velocity)
    rng = np.random.default_rng(2)
    q = robot.neutral()
    if base == "floating":
        q[8::3], q[9::3] = 0.6, -1.2
    q = robot.integrate(q, 0.1 * rng.normal(size=robot.nv))
    v, tau = 0.3 * rng.normal(size=robot.nv), 0.5 * rng.normal(size=robot.nv)
    if base == "floating":
        tau[:6] = 0.0
    world = MujocoWorld(robot, [], period=1e-4, substeps=10)
    recording = world.run(lambda now: tau, q, v, duration=0.021)
    ours = robot.rollout(q, v, np.tile(tau, (2000, 1)), dt=1e-5, steps=2000)
    assert np.abs(robot.difference(ours.q[-1], recording.q[200])).max() < 1e-5
    assert np.abs(ours.v[-1] - recording.v[200]).max() < 1e-3
    assert np.abs(recording.v[200] - v).max() > 0.1


def test_a_push_is_a_wrench_at_the_frame():
    robot = kt.load("arm6")
    q, w = np.full(6, 0.3), np.array([3.0, -2.0, 1.0, 0.1, 0.2, -0.3])
    world = MujocoWorld(robot, [], period=1e-5, substeps=1)
    recording = world.run(nothing, q, duration=4e-5, pushes=Push("tool0", w, 0.0, 2e-5))
    rates = np.diff(recording.v, axis=0) / 1e-5
    rest = np.zeros(6)
    np.testing.assert_allclose(rates[0], robot.forward_dynamics(q, rest, rest, wrenches={"tool0": w}), rtol=1e-6)
    np.testing.assert_allclose(rates[2], robot.forward_dynamics(q, rest, rest), rtol=1e-2, atol=1e-2)


def test_the_floor_carries_the_weight_where_the_feet_are():
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("_foot")]
    q = robot.neutral()
    q[8::3], q[9::3] = 0.6, -1.2
    q[2] = 0.028 - robot.frame(feet[0]).pose(q)[2, 3]
    posture = kt.control.JointImpedance(robot, 200.0, 10.0, gravity=False)

    def stiff(now):
        tau = np.array(posture(now.q, now.v, q))
        tau[:6] = 0.0
        return tau, {"height": now.q[2]}

    recording = MujocoWorld(robot, feel=feet).run(stiff, q, duration=1.5)
    weight = np.array([0.0, 0.0, 9.81 * robot.mass])
    np.testing.assert_allclose(sum(recording.force(foot)[-1, :3] for foot in feet), weight, atol=2.0)
    moments = [
        np.cross(recording.poses(f)[-1, :3, 3], recording.force(f)[-1, :3]) + recording.force(f)[-1, 3:] for f in feet
    ]
    np.testing.assert_allclose(sum(moments), np.cross(recording.center_of_mass[-1], weight), atol=1.0)
    assert recording.elsewhere.max() == 0.0 and recording.reports["height"].shape == recording.t.shape
    pressure = recording.center_of_pressure(feet[0])
    assert np.isfinite(pressure[-1]).all()
    again = MujocoWorld(robot, feel=feet).run(stiff, q, duration=0.1)
    assert np.array_equal(again.q, recording.q[: len(again.q)])


def test_motors_give_what_limits_let_them():
    robot = kt.load("planar2")
    effort = robot.limits.effort
    world = MujocoWorld(robot, [], period=1e-4, substeps=1)
    q = np.array([0.2, 0.3])
    beyond = world.run(lambda now: 10.0 * effort, q, duration=0.01)
    within = world.run(lambda now: effort, q, duration=0.01)
    assert np.array_equal(beyond.q, within.q) and (beyond.tau == 10.0 * effort).all()


def test_actuators_of_the_file_do_not_act():
    """Efforts come from the controller alone; a servo of the file would pull towards zero."""
    text = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body></worldbody>
      <actuator><position joint="j" kp="500"/></actuator></mujoco>"""
    robot = kt.load(text)
    world = MujocoWorld(robot, [], period=1e-4, substeps=1)
    recording = world.run(nothing, [0.5], duration=3e-4)
    rates = np.diff(recording.v, axis=0) / 1e-4
    np.testing.assert_allclose(rates[0], robot.forward_dynamics([0.5], [0.0], [0.0]), rtol=1e-3)


def test_what_falls_is_felt_elsewhere():
    robot = kt.load("quadruped", base="floating")
    q = robot.neutral()
    q[2], q[3:7] = 0.2, [1.0, 0.0, 0.0, 0.0]  # on its back
    world = MujocoWorld(robot, feel=[name for name in robot.frame_names if name.endswith("_foot")])
    recording = world.run(nothing, q, duration=0.5)
    assert recording.elsewhere.max() > 100.0


def test_grounds_and_blocks_are_fixtures():
    """A box lies on a slope by friction, and on a block; where they are is where it lies."""
    builder = kt.ModelBuilder("crate")
    shape = Geometry(Box((0.2, 0.2, 0.2)))
    builder.link("crate", kt.solids.box((0.2, 0.2, 0.2), mass=1.0), collisions=[shape])
    crate = kt.Robot(builder.build("floating"))
    angle = 0.2
    normal = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    q = crate.neutral()
    q[:3], q[3:7] = 0.6 * normal, [0.0, -np.sin(angle / 2), 0.0, np.cos(angle / 2)]
    slope = Ground(normal=normal, height=0.5, friction=0.4)
    recording = MujocoWorld(crate, [slope], feel=["crate"]).run(nothing, q, duration=0.5)
    assert np.abs(recording.q[-1, :3] - 0.6 * normal).max() < 2e-3
    np.testing.assert_allclose(recording.force("crate")[-1, :3], [0.0, 0.0, 9.81], atol=0.05)
    block = Block((0.5, 0.4, 0.3), position=(1.0, 2.0, 0.3), rpy=(0.0, 0.0, 0.3))
    q[:3], q[3:7] = [1.0, 2.0, 0.55], [0.0, 0.0, 0.0, 1.0]
    recording = MujocoWorld(crate, [block], feel=["crate"]).run(nothing, q, duration=0.5)
    assert np.abs(recording.q[-1, :3] - q[:3]).max() < 2e-3
    with pytest.raises(kt.ArgumentError, match="expected one of the world, without"):
        MujocoWorld(crate, [Ground(restitution=0.5)])


def test_mistakes_are_named():
    robot = kt.load("arm6")
    with pytest.raises(kt.ArgumentTypeError, match="fixtures has 'floor'; expected such as Fixture"):
        MujocoWorld(robot, ["floor"])
    with pytest.raises(kt.UnknownNameError, match="did you mean 'tool0'"):
        MujocoWorld(robot, feel=["tool"])
    with pytest.raises(kt.ArgumentError, match="period is 0 s in 2 steps"):
        MujocoWorld(robot, period=0.0)
    with pytest.raises(kt.ArgumentTypeError, match="robot is 'arm6'"):
        MujocoWorld("arm6")
    with pytest.raises(kt.ArgumentTypeError, match="expected a shape without a mesh"):
        Fixture(Mesh())
    with pytest.raises(kt.ArgumentError, match="hardness is 2; expected a number between 0 and 1"):
        Fixture(Box((1.0, 1.0, 1.0)), hardness=2.0)
    with pytest.raises(kt.ArgumentError, match="pose has no rotation"):
        Fixture(pose=np.zeros((4, 4)))
    with pytest.raises(kt.ArgumentError, match="lasts from 1 to 1 s"):
        Push("tool0", [1.0, 0.0, 0.0], 1.0, 1.0)
    world = MujocoWorld(robot, [])
    with pytest.raises(kt.ArgumentError, match="tau has shape"):
        world.run(lambda now: np.zeros(3), np.zeros(6), duration=0.1)
    with pytest.raises(kt.ArgumentError, match="expected finite torques"):
        world.run(lambda now: np.full(6, np.nan), np.zeros(6), duration=0.1)
    with pytest.raises(kt.UnknownNameError, match="frame that feels"):
        world.run(nothing, np.zeros(6), duration=0.01).force("tool0")
    floating = kt.load("quadruped", base="floating")
    with pytest.raises(kt.ArgumentError, match="which has no motor"):
        MujocoWorld(floating).run(lambda now: np.ones(18), floating.neutral(), duration=0.1)
