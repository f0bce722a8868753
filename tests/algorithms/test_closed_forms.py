"""Robots whose equations stand in every textbook."""

import numpy as np
import pytest

import kinetree as kt
from peers import close

G = 9.81


def rod_inertia(mass, com, moment):
    return kt.Inertia.from_com(mass, com, np.diag([moment, moment, moment]))


def planar_2r(m1=1.3, m2=0.7, l1=0.9, c1=0.4, c2=0.5, i1=0.05, i2=0.03):
    """Two links in the vertical x-z plane, both joints about y, q = 0 stretched along x."""
    builder = kt.ModelBuilder("2R")
    builder.link("base")
    builder.link("one", rod_inertia(m1, (c1, 0, 0), i1))
    builder.link("two", rod_inertia(m2, (c2, 0, 0), i2))
    builder.joint("q1", "revolute", "base", "one", axis=(0, -1, 0))
    builder.joint("q2", "revolute", "one", "two", axis=(0, -1, 0), xyz=(l1, 0, 0))
    return kt.Robot(builder.build())


def test_planar_two_link_arm():
    """M, C v and G as printed in Siciliano et al. 2009, section 7.3.2 (without motors)."""
    m1, m2, l1, c1, c2, i1, i2 = 1.3, 0.7, 0.9, 0.4, 0.5, 0.05, 0.03
    robot = planar_2r()
    q, v = np.array([0.4, -1.1]), np.array([1.7, -0.6])
    k = m2 * l1 * c2
    m12 = i2 + m2 * c2**2 + k * np.cos(q[1])
    m11 = i1 + i2 + m1 * c1**2 + m2 * (l1**2 + c2**2) + 2 * k * np.cos(q[1])
    close(robot.mass_matrix(q), [[m11, m12], [m12, i2 + m2 * c2**2]], 1e-13)
    h = -k * np.sin(q[1])
    g1 = (m1 * c1 + m2 * l1) * G * np.cos(q[0]) + m2 * c2 * G * np.cos(q.sum())
    gravity = np.array([g1, m2 * c2 * G * np.cos(q.sum())])
    close(robot.gravity_forces(q), gravity, 1e-13)
    coriolis = np.array([2 * h * v[0] * v[1] + h * v[1] ** 2, -h * v[0] ** 2])
    close(robot.bias_forces(q, v), coriolis + gravity, 1e-13)


def test_cart_pole():
    """M = [[mc + mp, mp l cos θ], [., mp l²]], bias = [-mp l θ̇² sin θ, -mp g l sin θ], θ = 0 upright."""
    mc, mp, length = 2.0, 0.3, 0.6
    builder = kt.ModelBuilder("cart-pole")
    builder.link("rail")
    builder.link("cart", kt.Inertia.from_com(mc, (0, 0, 0), np.zeros((3, 3))))
    builder.link("pole", kt.Inertia.from_com(mp, (0, 0, length), np.zeros((3, 3))))
    builder.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0))
    builder.joint("pivot", "continuous", "cart", "pole", axis=(0, 1, 0))
    robot = kt.Robot(builder.build())
    theta, speed = 0.7, 1.9
    q, v = np.array([0.2, theta]), np.array([0.5, speed])
    off = mp * length * np.cos(theta)
    close(robot.mass_matrix(q), [[mc + mp, off], [off, mp * length**2]], 1e-13)
    bias = [-mp * length * speed**2 * np.sin(theta), -mp * G * length * np.sin(theta)]
    close(robot.bias_forces(q, v), bias, 1e-13)
    close(robot.kinetic_energy(q, v), 0.5 * v @ robot.mass_matrix(q) @ v, 1e-13)
    close(robot.potential_energy(q), mp * G * length * np.cos(theta), 1e-13)


def test_a_free_body_falls_and_tumbles_as_euler_says():
    """v̇ + ω × v = Rᵀ g, I ω̇ + ω × I ω = 0 for a body whose frame is at its centre of mass."""
    moments = np.array([0.1, 0.2, 0.25])
    builder = kt.ModelBuilder("box")
    builder.link("box", kt.Inertia.from_com(2.0, (0, 0, 0), np.diag(moments)))
    robot = kt.Robot(builder.build("floating"))
    q = robot.random(np.random.default_rng(3))
    velocity, omega = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, -0.5])
    R = robot.poses(q)[0, :3, :3]
    a = robot.forward_dynamics(q, np.concatenate([velocity, omega]), np.zeros(6))
    close(a[:3], R.T @ [0, 0, -G] - np.cross(omega, velocity), 1e-13)
    close(a[3:], -np.cross(omega, moments * omega) / moments, 1e-13)


def test_a_body_pressed_on_the_ground_by_its_weight_needs_no_effort():
    robot = kt.load("arm6", base="floating")
    q = robot.random(np.random.default_rng(0))
    at_com = robot.center_of_mass(q) - robot.frame("base_link").pose(q)[:3, 3]
    weight = np.array([0, 0, robot.mass * G])
    support = {"base_link": np.concatenate([weight, np.cross(at_com, weight)])}
    tau = robot.inverse_dynamics(q, np.zeros(robot.nv), np.zeros(robot.nv), support)
    close(tau[:6], np.zeros(6), 1e-10)


@pytest.mark.parametrize("ratio", [-1.5, 0.5])
def test_a_mimic_joint_follows_its_leader_in_every_quantity(ratio):
    """A gear pair: two wheels on parallel axes, the second turned by the first; the leader comes second in the tree."""
    builder = kt.ModelBuilder("gears")
    builder.link("frame")
    for name in ("follower", "leader"):
        builder.link(name, kt.Inertia.from_com(1.0, (0.1, 0, 0), np.diag([0.0, 0.0, 0.02])))
    mimic = kt.Mimic("turn", multiplier=ratio, offset=0.3)
    builder.joint("turned", "revolute", "frame", "follower", axis=(0, 0, 1), mimic=mimic)
    builder.joint("turn", "revolute", "frame", "leader", axis=(0, 0, 1), xyz=(0.5, 0, 0))
    robot = kt.Robot(builder.build(gravity=(0.0, -G, 0.0)))
    assert robot.joint_names == ("turn",)
    assert robot.body_names == ("follower", "leader")
    q, v = np.array([0.7]), np.array([2.0])
    about_axis = 0.02 + 0.1**2
    close(robot.mass_matrix(q), [[about_axis * (1 + ratio**2)]], 1e-13)
    angle = ratio * q[0] + 0.3
    close(robot.frame("follower").velocity(q, v), [0, 0, 0, 0, 0, ratio * v[0]], 1e-13)
    close(robot.frame("follower").jacobian(q)[5], [ratio], 1e-13)
    close(robot.poses(q)[0, 0], [np.cos(angle), -np.sin(angle), 0, 0], 1e-13)
    lever = 0.1 * G * (np.cos(q[0]) + ratio * np.cos(angle))
    close(robot.gravity_forces(q), [lever], 1e-13)
    close(robot.forward_dynamics(q, v, [lever + 1.0]), [1.0 / (about_axis * (1 + ratio**2))], 1e-12)
