"""Every other controller around MuJoCo: in joints, against a wall, and on four feet."""

import numpy as np
import pytest

import kinetree as kt
from closed_loops import scene, share_of_limits
from kinetree.control import (
    Admittance,
    CentroidalMomentum,
    ComputedTorque,
    GravityCompensation,
    JointImpedance,
    OperationalSpace,
    SupportConsistent,
)
from kinetree.simulation import MujocoWorld, Push
from kinetree.trajectories import JointMove, Line

Q0 = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1])


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm7")


@pytest.fixture(scope="module")
def free(arm):
    return MujocoWorld(arm, [])


def test_computed_torque_tracks_a_move(arm, free):
    move = JointMove(arm, Q0, Q0 + 0.6 * np.array([1, -1, 1, -1, 1, -1, 1]), duration=0.8)
    controller = ComputedTorque(arm, stiffness=400.0)
    wanted = move(1e-3 * np.arange(1000))
    recording = free.run(
        lambda now: controller(now.q, now.v, tuple(part[round(1e3 * now.t)] for part in wanted)), Q0, duration=1.0
    )
    assert np.abs(recording.q - wanted.position).max() < 1e-3
    assert np.abs(recording.q[-1] - wanted.position[-1]).max() < 5e-5
    assert np.abs(recording.v).max() > 1.0 and share_of_limits(recording) < 1.0


def test_joint_impedance_gives_way_as_its_springs_say(arm, free):
    stiffness = np.array([300.0, 300.0, 150.0, 150.0, 20.0, 20.0, 5.0])
    controller = JointImpedance(arm, stiffness, np.array([20.0, 20.0, 10.0, 10.0, 0.6, 0.6, 0.03]))
    force = np.array([0.0, 5.0, -8.0, 0.0, 0.0, 0.0])
    recording = free.run(
        lambda now: controller(now.q, now.v, Q0), Q0, duration=2.0, pushes=Push("tool0", force, 0.2, 9.0)
    )
    q = recording.q[-1]
    np.testing.assert_allclose(q - Q0, arm.frame("tool0").jacobian(q).T @ force / stiffness, atol=1e-3)
    assert np.abs(q - Q0).max() > 0.01 and np.abs(recording.q[199] - Q0).max() < 1e-6


def test_an_arm_without_weight_stays_where_it_is_led(arm, free):
    controller = GravityCompensation(arm, viscous=0.0)
    push = Push("tool0", [0.0, 0.0, 4.0], 0.3, 0.4)
    recording = free.run(lambda now: controller(now.q, now.v), Q0, duration=0.8, pushes=push)
    before, after = recording.t < 0.3, recording.t > 0.4
    assert np.abs(recording.q[before] - Q0).max() < 1e-6
    energy = arm.kinetic_energy(recording.q, recording.v)[after]
    assert energy[0] > 1e-3 and np.ptp(energy) < 0.1 * energy[0]  # nothing slows it, nothing drives it


def test_admittance_presses_as_hard_as_its_spring_is_bent():
    """The target is 2 cm below the table; a spring of 400 N/m makes at most 8 N of that, less what the tool gives way
    under the controller that follows."""
    example = scene("23_mujoco_wiping")
    robot, start, normal = example.robot, example.start, example.normal
    depth, stiffness = 0.02, 400.0
    target = start.copy()
    target[:3, 3] -= (depth + 0.005) * normal  # the table begins 5 mm below the sponge
    admittance = Admittance([4.0] * 3 + [0.5] * 3, [160.0] * 3 + [20.0] * 3, [stiffness] * 3 + [50.0] * 3, dt=1e-3)
    follow = OperationalSpace(robot, "sponge", 2500.0, posture=example.Q0, posture_stiffness=20.0)
    way = Line(start[:3, 3], target[:3, 3], 1.0)(1e-3 * np.arange(2500))
    state = admittance.start

    def law(now):
        nonlocal state
        pose = start.copy()
        pose[:3, 3] = way.position[round(1e3 * now.t)]
        state, *reference = admittance(state, now.forces["sponge"], pose)
        return follow(now.q, now.v, *reference), {"given_way": (reference[0][:3, 3] - pose[:3, 3]) @ normal}

    recording = MujocoWorld(robot, [example.board], feel=["sponge"]).run(law, example.Q0, duration=2.5)
    force = recording.force("sponge")[:, :3] @ normal
    late = recording.t > 2.2
    np.testing.assert_allclose(force[late], stiffness * recording.reports["given_way"][late], rtol=0.01)
    off = (recording.poses("sponge")[late, :3, 3] - target[:3, 3]) @ normal
    J = normal @ robot.frame("sponge").jacobian(recording.q[-1])[:3]
    felt = np.linalg.inv(robot.frame("sponge").operational_space_inertia(recording.q[-1]))[:3, :3]
    np.testing.assert_allclose(off, force[late] * (1 / stiffness + normal @ felt @ normal / 2500.0), rtol=0.05)
    assert 5.0 < force[late].min() < stiffness * depth
    assert J @ recording.v[-1] < 1e-4
    assert force.max() < 12.0


@pytest.fixture(scope="module")
def dog():
    example = scene("25_mujoco_quadruped")
    stance = example.robot.constrained([kt.Contact(foot) for foot in example.feet])
    return example, stance, MujocoWorld(example.robot, feel=example.feet)


def test_support_consistent_torques_hold_a_quadruped(dog):
    example, stance, world = dog
    controller = SupportConsistent(stance, stiffness=100.0)
    push = Push("base_link", [0.0, 30.0, 0.0], 0.3, 0.5)
    recording = world.run(lambda now: controller(now.q, now.v, example.stand), example.stand, duration=1.5, pushes=push)
    moved = np.linalg.norm(recording.q[:, :3] - example.stand[:3], axis=1)
    assert moved.max() > 0.003 and moved[-1] < 0.002
    assert (recording.elsewhere == 0).all() and share_of_limits(recording) < 0.5
    lifted = sum(recording.force(foot)[-1, 2] for foot in example.feet)
    assert abs(lifted - 9.81 * example.robot.mass) < 1.0


@pytest.mark.sweep
def test_centroidal_momentum_takes_the_centre_of_mass_along(dog):
    example, stance, world = dog
    controller = CentroidalMomentum(stance, 100.0, angular_gain=10.0, posture=example.stand, posture_stiffness=50.0)
    goal = example.middle + np.array([0.02, -0.03, -0.03])
    way = Line(example.middle, goal, 0.8)(1e-3 * np.arange(1500))
    law = lambda now: controller(now.q, now.v, *(part[round(1e3 * now.t)] for part in way))  # noqa: E731
    recording = world.run(law, example.stand, duration=1.5)
    assert np.linalg.norm(recording.center_of_mass - way.position, axis=1).max() < 0.004
    assert np.linalg.norm(recording.center_of_mass[-1] - goal) < 0.002
    assert np.abs(example.robot.centroidal_momentum(recording.q, recording.v)[:, 3:]).max() < 0.2
    assert (recording.elsewhere == 0).all() and share_of_limits(recording) < 0.5
