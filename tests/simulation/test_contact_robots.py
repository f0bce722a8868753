"""Robots in contact: quadrupeds that stand, stacks, conventions, batches, and MuJoCo beside them."""

from functools import cache

import mujoco
import numpy as np
import pytest

import kinetree as kt
from contact_bodies import ALL, ball, bottom, box, energy, incline, placed, stack
from kinetree.simulation import Block, Ground, RigidContact, Touch
from peers import close, urdf

DT, SETTLED, LONG = 2e-3, 1000, 5000
BENT = {"HFE": 0.7, "KFE": -1.2, "thigh": 0.8, "calf": -1.6, "hfe": 0.6, "kfe": -1.2}


@cache
def quadruped(name):
    """A robot, its feet, a posture with bent knees on the ground, and gains."""
    path, ending, gains = {
        "quadruped": ("quadruped", "_foot", (200.0, 6.0)),
        "ANYmal": (urdf("anymal_b_simple_description/anymal.urdf"), "_FOOT", (200.0, 6.0)),
        "Go1": (urdf("go1.urdf"), "_foot", (60.0, 2.0)),
    }[name]
    robot = kt.load(path, base="floating")
    q = robot.neutral()
    for k, joint in enumerate(robot.joint_names, start=7):
        sign = -1.0 if joint[:2] in ("LH", "RH") else 1.0
        q[k] = sign * sum(angle for part, angle in BENT.items() if part in joint)
    feet = [frame for frame in robot.frame_names if frame.endswith(ending)]
    q[2] -= RigidContact(feet).gaps(robot, q).min()
    return robot, feet, q, gains


def hold(q, gains):
    """PD at the joints."""
    (kp, kd), target = gains, q[7:]

    @kt.compile
    def pd(robot, q, v):
        return np.concatenate([np.zeros(6), kp * (target - q[7:]) - kd * v[6:]])

    return pd


@pytest.mark.parametrize("name", ["quadruped", "ANYmal", "Go1"])
@pytest.mark.sampled(3)
@pytest.mark.sweep
def test_a_quadruped_stands_for_ten_seconds(name):
    """In the last eight its feet move by less than two micrometres, rolling while the trunk still sways."""
    robot, feet, q0, gains = quadruped(name)
    contact = RigidContact(feet)
    path = robot.rollout(q0, np.zeros(robot.nv), hold(q0, gains), DT, LONG, contact=contact, record=("q", "v", *ALL))
    places = np.stack([robot.frame(foot).pose(path.q[[SETTLED, -1]])[:, :3, 3] for foot in feet])
    assert np.abs(np.diff(places, axis=1)).max() < 2e-6
    force = path["contact_forces"][-1].sum(axis=0)
    close(force, np.array([0.0, 0.0, robot.mass * 9.81]), 1e-2)
    assert path["contact_gaps"].min() > -1e-5
    assert path["contact_residual"][-1] < 1e-10
    f = path["contact_forces"]
    assert (np.linalg.norm(f[..., :2], axis=-1) <= 0.7 * f[..., 2] * (1 + 1e-12)).all()


def test_it_lands_and_stands():
    """Dropped from 20 cm it goes down on its knees, and ends as the one that never fell."""
    robot, feet, q0, gains = quadruped("ANYmal")
    high = q0.copy()
    high[2] += 0.2
    law, contact = hold(q0, gains), RigidContact(feet)
    path = robot.rollout(np.stack([q0, high]), np.zeros(robot.nv), law, DT, 2000, contact=contact)
    assert path.q[1, :, 2].min() < q0[2] - 0.02
    assert np.abs(path.q[0, -1, 7:] - path.q[1, -1, 7:]).max() < 5e-3  # friction holds feet where they landed


@pytest.mark.sweep
def test_a_limp_robot_only_loses_energy():
    """Without torques it folds up on feet, knees and belly; what steps add by their length is a thousandth."""
    robot, feet, q, _ = quadruped("quadruped")
    legs = [foot.removesuffix("_foot") for foot in feet]
    knees = [Touch(f"{leg}_shank_link", radius=0.03) for leg in legs]
    belly = [Touch("base_link", (x, y, -0.07)) for x in (-0.29, 0.29) for y in (-0.09, 0.09)]
    contact = RigidContact([*feet, *knees, *belly], friction=0.6)
    high = q.copy()
    high[2] += 0.1
    path = robot.rollout(high, np.zeros(robot.nv), None, 1e-3, 1500, contact=contact, record=("q", "v", *ALL))
    change = np.diff(energy(robot, path))
    assert change.sum() < -80.0
    assert change[change > 0.0].sum() < 1e-3 * abs(change.sum())
    assert path["contact_gaps"].min() > -2e-3


@pytest.mark.sweep
def test_batches_and_single_states_are_the_same_to_the_last_bit():
    robot, feet, q0, gains = quadruped("quadruped")
    rng = np.random.default_rng(0)
    q = np.stack([robot.integrate(q0, 0.05 * rng.normal(size=robot.nv)) for _ in range(11)])
    q[:, 2] += 0.1
    law, contact = hold(q0, gains), RigidContact(feet)
    many = robot.rollout(q, np.zeros(robot.nv), law, DT, 200, contact=contact, record=("q", "v", *ALL))
    assert (many["contact_forces"][..., 2] > 0.0).any(axis=(1, 2)).all()
    for k in (0, 7, 10):
        one = robot.rollout(q[k], np.zeros(robot.nv), law, DT, 200, contact=contact, record=("q", "v", *ALL))
        for name in ("q", "v", *ALL):
            assert (one[name] == many[name][k]).all()


@pytest.mark.parametrize("options", [{"base_velocity": "mixed"}, {"spatial_order": "angular-first"}])
@pytest.mark.sampled(2)
def test_conventions_do_not_change_the_motion(options):
    usual, other = box(), box(**options)
    q = placed(usual, (0.0, 0.0, 0.3), 0.4, (0.6, 0.8, 0.0))
    v = np.array([0.5, 0.2, 0.0, 1.0, -2.0, 0.5])
    V = kt.Motion.from_vector(v)
    R = usual.frame("body").pose(q)[:3, :3]
    v_other = V.rotated(R).vector() if "base_velocity" in options else V.vector("angular-first")
    paths = [
        robot.rollout(q, start, None, 1e-3, 400, contact=RigidContact(bottom()), record=("q", *ALL))
        for robot, start in ((usual, v), (other, v_other))
    ]
    assert (paths[0]["contact_forces"][..., 2] > 0.0).any()
    tolerance = 1e-9 if "spatial_order" in options else 5e-3  # of mixed velocities ω is kept in other axes
    close(paths[1].q, paths[0].q, tolerance)


@pytest.mark.sweep
def test_a_box_on_a_box_does_not_creep():
    sizes = ((0.5, 0.4, 0.2), (0.4, 0.3, 0.2))
    robot = stack(sizes, (2.0, 3.0))
    touching = [
        Touch(f"box{k}", (x * size[0], y * size[1], -0.5 * size[2]))
        for k, size in enumerate(sizes)
        for x in (-0.5, 0.5)
        for y in (-0.5, 0.5)
    ]
    contact = RigidContact(touching, [Ground(), Block(sizes[0], frame="box0")])
    q = robot.neutral()
    q[[2, 9]] = 0.101, 0.303
    q[7] = 0.03
    path = robot.rollout(q, np.zeros(robot.nv), None, DT, LONG, contact=contact, record=("q", *ALL))
    close(path.q[-1, [2, 9]], np.array([0.1, 0.3]), 1e-9)
    assert np.abs(path.q[-1] - path.q[SETTLED]).max() < 1e-12
    forces = path["contact_forces"][-1][:, 2]
    close(forces.sum(), (5.0 + 3.0) * 9.81, 1e-9)  # the upper one's weight is carried twice


def test_a_leg_that_cannot_leave_its_plane():
    """Where a robot has no freedom across, contact needs none: a pendulum's tip against a wall."""
    builder = kt.ModelBuilder("pendulum")
    builder.link("base")
    builder.link("rod", kt.Inertia.from_com(1.0, (0.0, 0.0, -0.5), 0.02 * np.eye(3)))
    builder.joint("hinge", "revolute", "base", "rod", axis=(0.0, 1.0, 0.0))
    robot = kt.Robot(builder.build())
    wall = Ground((1.0, 0.0, 0.0), -0.2)
    contact = RigidContact(Touch("rod", (0.0, 0.0, -1.0)), wall, restitution=0.5)
    path = robot.rollout([-0.5], [0.0], None, 1e-3, 10_000, contact=contact, record=("q", "v", *ALL))
    assert path["contact_gaps"].min() > -1e-9
    assert np.isfinite(path.q).all()
    assert (path["contact_forces"][..., 0] > 0.0).sum() > 2
    assert np.abs(path.q[-2000:]).max() < 0.5 * 0.5


# -- beside MuJoCo -----------------------------------------------------------------------------------------------

WORLD = """
<mujoco><option timestep="0.001" gravity="{gravity}"/>
  <worldbody>
    <geom type="plane" size="0 0 1" friction="{mu} 0 0"/>
    <body pos="0 0 {height}"><freejoint/><geom type="{shape}" size="{size}" mass="2" friction="{mu} 0 0"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("degrees", [20.0, 40.0])
def test_a_block_slides_as_in_mujoco(degrees):
    """Gravity is tilted instead of the ground; MuJoCo's soft contact creeps where ours sticks."""
    angle, mu = np.radians(degrees), np.tan(np.radians(30.0))
    gravity = " ".join(map(str, 9.81 * np.array([np.sin(angle), 0.0, -np.cos(angle)])))
    text = WORLD.format(gravity=gravity, mu=mu, height=0.1, shape="box", size="0.2 0.15 0.1")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(500):
        mujoco.mj_step(model, data)
    robot = box()
    contact = RigidContact(bottom(), Ground(incline(angle)), friction=mu)
    q = placed(robot, 0.1 * np.array(incline(angle)), angle)
    path = robot.rollout(q, np.zeros(6), None, 1e-3, 500, contact=contact)
    close(path.v[-1, 0], data.qvel[0], 3e-2)
    if degrees > 30.0:
        assert path.v[-1, 0] > 0.9 and abs(path.v[-1, 0] / data.qvel[0] - 1.0) < 0.02


def test_a_ball_rests_where_mujoco_has_it():
    text = WORLD.format(gravity="0 0 -9.81", mu=0.7, height=0.3, shape="sphere", size="0.1")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(2000):
        mujoco.mj_step(model, data)
    robot = ball(mass=2.0)
    path = robot.rollout(placed(robot, (0.0, 0.0, 0.3)), np.zeros(6), None, 1e-3, 2000, contact=RigidContact("body"))
    close(path.q[-1, 2], data.qpos[2], 2e-3)


@pytest.mark.sweep
def test_at_rest_forces_balance_weight_and_torques():
    """Jᵀ f + τ = G, with Jacobians of the feet's lowest points from those of their frames."""
    robot, feet, q0, gains = quadruped("ANYmal")
    law = hold(q0, gains)
    touching = RigidContact(feet)
    path = robot.rollout(q0, np.zeros(robot.nv), law, DT, LONG, contact=touching, record=("q", "v", *ALL))
    q, f = path.q[-1], path["contact_forces"][-1]
    radius = touching.pairs(robot)[0].touch.radius
    torque = law(robot, q, path.v[-1])
    J = np.vstack([_contact_jacobian(robot, touching, q, foot, radius) for foot in feet])
    close(J.T @ f.ravel() + torque, robot.gravity_forces(q), 1e-3)


def _contact_jacobian(robot, contact, q, foot, radius):
    """Of the lowest point of a foot, by the frame's own Jacobian."""
    pair = next(pair for pair in contact.pairs(robot) if pair.touch.frame == foot)
    pose, J = robot.frame(foot).pose(q), robot.frame(foot).jacobian(q)
    lever = pose[:3, :3] @ np.array(pair.touch.at) - [0.0, 0.0, radius]
    return J[:3] - kt.skew(lever) @ J[3:]
