"""Motions with a known end: free fall, a tumbling body, a spinning top; and MuJoCo beside them."""

import mujoco
import numpy as np
import pytest
from scipy.special import ellipj

import kinetree as kt
from peers import close
from peers_mujoco import mujoco_from_tree


def body(inertia, mass=2.0, gravity=(0, 0, -9.81), base_velocity="body"):
    builder = kt.ModelBuilder("body")
    builder.link("body", kt.Inertia.from_com(mass, (0, 0, 0), np.diag(inertia)))
    return kt.Robot(builder.build(base="floating", gravity=gravity, base_velocity=base_velocity))


def test_free_fall():
    """p = p₀ + ẋ₀ t + ½ g t² for a body that does not turn; semi-implicit Euler is off by ½ g t dt, exactly."""
    robot = body([0.1, 0.2, 0.3])
    v0 = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    exact = robot.rollout(robot.neutral(), v0, None, 1e-2, 100, "rk4")
    t = exact.t[:, None]
    fallen = np.array([1.0, 2.0, 3.0]) * t + 0.5 * np.array([0, 0, -9.81]) * t * t
    close(exact.q[:, :3], fallen, 1e-12)
    euler = robot.rollout(robot.neutral(), v0, None, 1e-2, 100)
    close(euler.q[:, :3], fallen + 0.5 * np.array([0, 0, -9.81]) * t * 1e-2, 1e-12)


@pytest.mark.parametrize("integrator", ["rk4", "dormand-prince", "variational"])
def test_a_body_tumbles_as_jacobi_said(integrator):
    """ω of a torque-free body with I₁ < I₂ < I₃ by elliptic functions, for L² > 2 T I₂ (Landau and Lifshitz § 37)."""
    I1, I2, I3 = inertia = np.array([1.0, 2.0, 3.0])
    robot = body(inertia, gravity=(0, 0, 0))
    omega = np.array([0.6, 0.0, 1.5])
    T2, L2 = inertia @ omega**2, (inertia * omega) @ (inertia * omega)
    assert L2 > T2 * I2
    adaptive = integrator == "dormand-prince"
    n, dt, tolerance = (40, 0.1, 1e-11) if adaptive else (4000, 1e-3, None)
    path = robot.rollout(robot.neutral(), np.r_[0, 0, 0, omega], None, dt, n, integrator, tolerance=tolerance)
    tau = path.t * np.sqrt((I3 - I2) * (L2 - T2 * I1) / (I1 * I2 * I3))
    k2 = (I2 - I1) * (T2 * I3 - L2) / ((I3 - I2) * (L2 - T2 * I1))
    sn, cn, dn, _ = ellipj(tau, k2)
    expected = np.stack(
        [
            np.sqrt((T2 * I3 - L2) / (I1 * (I3 - I1))) * cn,
            np.sqrt((T2 * I3 - L2) / (I2 * (I3 - I2))) * sn,
            np.sqrt((L2 - T2 * I1) / (I3 * (I3 - I1))) * dn,
        ],
        axis=1,
    )
    found = path.v[:, 3:]
    found = found * [1.0, np.sign(found[1, 1]) * np.sign(expected[1, 1]), 1.0]
    close(found, expected, 1e-5 if integrator == "variational" else 1e-9)
    close(robot.centroidal_momentum(path.q, path.v)[:, 3:], np.tile(inertia * omega, (n + 1, 1)), 1e-9)


def test_a_top_precesses():
    """A symmetric top that starts with the rate of steady precession keeps its tilt θ: A Ω² cos θ - C ω₃ Ω + m g l = 0,
    A and C its moments of inertia about the tip, across and along, and ω₃ all of its spin about its axis."""
    builder = kt.ModelBuilder("top")
    builder.link("floor")
    m, length, A0, C = 0.5, 0.1, 1e-3, 8e-4
    builder.link("top", kt.Inertia.from_com(m, (0, 0, length), np.diag([A0, A0, C])))
    builder.joint("tip", "spherical", "floor", "top")
    robot = kt.Robot(builder.build())
    A, tilt, spin = A0 + m * length**2, 0.4, 150.0
    weight = m * 9.81 * length
    Omega = (C * spin - np.sqrt((C * spin) ** 2 - 4 * A * np.cos(tilt) * weight)) / (2 * A * np.cos(tilt))
    q0 = np.array([np.sin(tilt / 2), 0, 0, np.cos(tilt / 2)])
    omega = np.array([0.0, Omega * np.sin(tilt), spin])
    path = robot.rollout(q0, omega, None, 1e-4, 20_000, "rk4")
    axis = robot.frame("top").pose(path.q)[:, :3, 2]
    close(axis[:, 2], np.full(len(axis), np.cos(tilt)), 1e-8)
    turned = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    close(turned - turned[0], Omega * path.t, 1e-6)


# -- MuJoCo ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arm6", "quadruped"])
def test_mujoco_comes_to_the_same(name):
    """A second of smooth motion, both in steps of 0.1 ms of order four: states agree to 1e-6."""
    base = "floating" if name == "quadruped" else "fixed"
    robot = kt.load(name, base=base, passive=False)
    assert not robot.model.armature.any()
    model = mujoco_from_tree(robot.model)
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    rng = np.random.default_rng(0)
    q0, v0 = robot.random(rng), 0.5 * rng.normal(size=robot.nv)
    tau = 0.5 * rng.normal(size=robot.nv)
    tau[: robot.nv - len(robot.joint_names)] = 0.0
    path = robot.rollout(q0, v0, np.tile(tau, (10_000, 1)), 1e-4, 10_000, "rk4", every=1000)
    data = mujoco.MjData(model)
    data.qpos[:] = kt.convert(robot, "q", q0, to="mujoco")
    data.qvel[:] = kt.convert(robot, "v", v0, to="mujoco", q=q0)
    data.qfrc_applied[:] = kt.convert(robot, "tau", tau, to="mujoco", q=q0)
    for _ in range(10_000):
        mujoco.mj_step(model, data)
    end = path.q[-1]
    close(kt.convert(robot, "q", end, to="mujoco"), data.qpos, 1e-6)
    close(kt.convert(robot, "v", path.v[-1], to="mujoco", q=end), data.qvel, 1e-5)
