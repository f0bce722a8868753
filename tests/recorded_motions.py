"""Recordings for tests of identification: exact ones by inverse dynamics, and simulated ones by MuJoCo, as logs are:
encoders with steps, torques with noise, friction that MuJoCo has as a constraint."""

from __future__ import annotations

import mujoco
import numpy as np

import kinetree as kt
from kinetree.identification.unknowns import Unknowns


def waves(robot, duration=8.0, rate=200.0, seed=0, amplitude=0.7):
    """Sums of sines within limits: t, q, v, a of a robot with plain coordinates."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, duration, 1.0 / rate)
    q = v = a = 0.0
    for k in (1, 2, 3):
        w = 2.0 * np.pi * k / duration * rng.uniform(1.0, 2.0, robot.nv)
        x, phase = amplitude * rng.uniform(0.3, 1.0, robot.nv) / k, rng.uniform(0.0, 2.0 * np.pi, robot.nv)
        q = q + x * np.sin(np.outer(t, w) + phase)
        v = v + x * w * np.cos(np.outer(t, w) + phase)
        a = a - x * w**2 * np.sin(np.outer(t, w) + phase)
    return t, q, v, a


def exact(robot, noise=0.0, seed=0, **options):
    """A recording with accelerations, and torques by inverse dynamics with white noise."""
    t, q, v, a = waves(robot, seed=seed, **options)
    tau = robot.inverse_dynamics(q, v, a)
    rng = np.random.default_rng(seed + 1)
    return {"t": t, "q": q, "v": v, "a": a, "tau": tau + noise * rng.normal(size=tau.shape)}


def other_than(robot, rng, spread=0.2):
    """The robot with inertias of its own bodies plus some of other ones: consistent, and different everywhere."""
    unknowns = Unknowns.of(robot, None, (), 0.1)
    phi = unknowns.values.reshape(-1, 10).copy()
    for k, own in enumerate(phi):
        J = kt.Inertia.from_parameters(own).pseudo_inertia()
        L = np.linalg.cholesky(J + 1e-9 * np.trace(J) * np.eye(4))
        change = np.eye(4) + spread * np.tril(rng.normal(size=(4, 4))) * 0.5
        phi[k] = kt.Inertia.from_pseudo_inertia(L @ change @ change.T @ L.T).parameters()
    return unknowns.robot_with(phi.ravel())


def in_mujoco(robot, nominal, reference, duration, dt=5e-4, every=2, stiffness=2500.0):
    """t, q, v and tau, at every second step, of a robot in MuJoCo that follows `reference(t)` by computed torque of
    another model of it."""
    model = mujoco.MjModel.from_xml_string(robot.to_mjcf(lossy=True))
    model.opt.timestep = dt
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    data = mujoco.MjData(model)
    t = dt * np.arange(round(duration / dt))
    q_ref, v_ref, a_ref = reference(t)
    data.qpos, data.qvel = q_ref[0], v_ref[0]
    q, v, tau = np.empty_like(q_ref), np.empty_like(v_ref), np.empty_like(v_ref)
    damping = 2.0 * np.sqrt(stiffness)
    for k in range(len(t)):
        q[k], v[k] = data.qpos, data.qvel
        pull = a_ref[k] + stiffness * (q_ref[k] - q[k]) + damping * (v_ref[k] - v[k])
        tau[k] = nominal.inverse_dynamics(q[k], v[k], pull)
        data.qfrc_applied = tau[k]
        mujoco.mj_step(model, data)
    return t[::every], q[::every], v[::every], tau[::every]


def as_logged(t, q, tau, rng, resolution, noise):
    """Positions of encoders with steps, torques with white noise; (nv,) or one number for each."""
    return {"t": t, "q": resolution * np.round(q / resolution), "tau": tau + noise * rng.normal(size=tau.shape)}
