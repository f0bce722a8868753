"""Inertias of an arm from a recording in MuJoCo, beside MuJoCo's `mujoco.sysid`: time, and torques of another motion.

Both get the same positions of encoders, velocities from them, and torques with noise. kinetree solves one problem that
is linear in the parameters, with consistent inertias; sysid simulates short windows with pseudo-inertias as unknowns,
and differentiates by differences. It needs `pip install 'mujoco[sysid]'`.
"""

from __future__ import annotations

import logging
import time
from typing import Any

import mujoco
import numpy as np
from measure import save
from mujoco import sysid
from numpy.typing import NDArray
from table import show

import kinetree as kt
from kinetree.identification.differentiation import completed
from kinetree.identification.recording import read_recording

Array = NDArray[np.float64]
DURATION, DT = 4.0, 1e-3
WINDOW, EVERY = 100, 400
"""Steps of a window that sysid simulates from a measured state, and from one window to the next."""
ENCODER, NOISE = 1e-5, 0.02
"""Steps of positions [rad]; noise of torques, relative to those of each joint."""
ITERATIONS = 20
BOUNDS = {
    "mass_bound_mult": np.array([0.6, 1.6]),
    "ipos_bound_off": np.array([-0.05, 0.05]),
    "stretch_bound_mult": np.array([0.6, 1.6]),
    "shear_bound_off": np.array([-0.05, 0.05]),
}
"""Of sysid, which has no prior for what the data do not show: within its own bounds, which are wider, its torques were
wrong by 500 %."""


def perturbed(robot: kt.Robot, rng: np.random.Generator) -> kt.Robot:
    """A parametric robot with inertias that differ by some 15 %, all of them consistent."""
    phi = robot.parameters.reshape(-1, 10).copy()
    for k, own in enumerate(phi):
        L = np.linalg.cholesky(kt.Inertia.from_parameters(own).pseudo_inertia())
        change = np.eye(4) + 0.08 * np.tril(rng.normal(size=(4, 4)))
        phi[k] = kt.Inertia.from_pseudo_inertia(L @ change @ change.T @ L.T).parameters()
    return robot.with_parameters(phi.ravel())


def spec_of(robot: kt.Robot) -> mujoco.MjSpec:
    """The robot in MuJoCo, with a motor and sensors at every joint, and without contacts and limits."""
    spec = mujoco.MjSpec.from_string(robot.to_mjcf(lossy=True))
    spec.option.timestep = DT
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for name in robot.joint_names:
        motor = spec.add_actuator(name=f"motor_{name}", target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
        for kind, word in ((mujoco.mjtSensor.mjSENS_JOINTPOS, "pos"), (mujoco.mjtSensor.mjSENS_JOINTVEL, "vel")):
            spec.add_sensor(name=f"{name}_{word}", type=kind, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=name)
    return spec


def motion(robot: kt.Robot, seed: int) -> tuple[Array, Array, Array]:
    """Sums of sines: q, v, a."""
    rng, t = np.random.default_rng(seed), DT * np.arange(round(DURATION / DT))
    q, v, a = (np.zeros((len(t), robot.nv)) for _ in range(3))
    for k in (1, 2, 3):
        w = 2.0 * np.pi * k / DURATION * rng.uniform(1.0, 2.0, robot.nv)
        x, phase = rng.uniform(0.3, 0.7, robot.nv) / k, rng.uniform(0.0, 2.0 * np.pi, robot.nv)
        q += x * np.sin(np.outer(t, w) + phase)
        v += x * w * np.cos(np.outer(t, w) + phase)
        a -= x * w**2 * np.sin(np.outer(t, w) + phase)
    return q, v, a


def recorded(truth: kt.Robot, nominal: kt.Robot, rng: np.random.Generator) -> dict[str, Array]:
    """t, q, tau of the true robot in MuJoCo, that follows a motion by computed torque of the nominal one."""
    model = spec_of(truth).compile()
    data = mujoco.MjData(model)
    q_ref, v_ref, a_ref = motion(nominal, 1)
    data.qpos, data.qvel = q_ref[0], v_ref[0]
    q, tau = np.empty_like(q_ref), np.empty_like(q_ref)
    for k in range(len(q)):
        q[k] = data.qpos
        pull = a_ref[k] + 400.0 * (q_ref[k] - data.qpos) + 40.0 * (v_ref[k] - data.qvel)
        tau[k] = data.ctrl = nominal.inverse_dynamics(data.qpos, data.qvel, pull)
        mujoco.mj_step(model, data)
    tau += NOISE * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return {"t": DT * np.arange(len(q)), "q": ENCODER * np.round(q / ENCODER), "tau": tau}


def by_sysid(nominal: kt.Robot, log: dict[str, Array]) -> mujoco.MjModel:
    """The model that mujoco.sysid finds."""
    spec = sysid.remove_visuals(spec_of(nominal))
    model = spec.compile()
    (measured,) = read_recording(nominal, log)
    whole, _ = completed(nominal, measured)
    q, v, tau = whole.q, whole.v, whole.tau
    assert v is not None
    parameters = sysid.ParameterDict()
    for name in nominal.body_names:

        def give(spec: mujoco.MjSpec, parameter: Any, name: str = name) -> None:
            """As sysid's own modifier, which compiles the whole model for every body, and leaves NaN in iquat."""
            m, *moments = sysid.model_modifier.pi_from_theta(parameter.value)
            c, inertia = np.array(moments[:3]) / m, np.reshape(moments[3:], (3, 3))
            I_c = inertia - m * (c @ c * np.eye(3) - np.outer(c, c))
            body = spec.body(name)
            body.mass, body.ipos, body.iquat, body.inertia = m, c, (1.0, 0.0, 0.0, 0.0), np.zeros(3)
            body.fullinertia = I_c[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]

        kind = sysid.InertiaType.Pseudo
        parameters.add(sysid.body_inertia_param(spec, model, name, inertia_type=kind, modifier=give, **BOUNDS))
    windows = [slice(k, k + WINDOW) for k in range(0, len(v) - WINDOW, EVERY)]
    readings = np.stack([q, v], axis=2).reshape(len(v), -1)
    sequences = sysid.ModelSequences(
        "arm",
        spec,
        [f"window {k}" for k in range(len(windows))],
        [sysid.create_initial_state(model, q[w.start], v[w.start], np.zeros(0)) for w in windows],
        [sysid.TimeSeries(DT * np.arange(WINDOW), tau[w]) for w in windows],
        [sysid.TimeSeries.from_names(DT * np.arange(1, WINDOW), readings[w][1:], model) for w in windows],
    )
    residual = sysid.build_residual_fn(models_sequences=[sequences])
    found, _ = sysid.optimize(parameters, residual, optimizer="mujoco", verbose=False, max_iters=ITERATIONS)
    return sysid.apply_param_modifiers(found, spec)


def torques(model: mujoco.MjModel, q: Array, v: Array, a: Array) -> Array:
    """Inverse dynamics by MuJoCo."""
    data, tau = mujoco.MjData(model), np.empty_like(q)
    for k in range(len(q)):
        data.qpos, data.qvel, data.qacc = q[k], v[k], a[k]
        mujoco.mj_inverse(model, data)
        tau[k] = data.qfrc_inverse
    return tau


def main() -> None:
    """Measure, print, save."""
    logging.disable()
    rng = np.random.default_rng(0)
    nominal = kt.load("arm6", parametric=("inertial",))
    truth = perturbed(nominal, rng)
    log = recorded(truth, nominal, rng)
    other = motion(nominal, 2)
    wanted = truth.inverse_dynamics(*other)

    def error(tau: Array) -> float:
        return float(np.sqrt(np.mean((tau - wanted) ** 2) / np.mean(wanted**2)))

    rows: list[dict[str, Any]] = [
        {"method": "nominal robot", "seconds": None, "error of torques": error(nominal.inverse_dynamics(*other))}
    ]
    kt.identification.identify(nominal.baked, log, friction=False)  # compiles
    start = time.perf_counter()
    result = kt.identification.identify(nominal.baked, log, friction=False)
    seconds = time.perf_counter() - start
    found = error(result.robot.inverse_dynamics(*other))
    rows.append({"method": "kinetree", "seconds": seconds, "error of torques": found})
    start = time.perf_counter()
    model = by_sysid(nominal.baked, log)
    seconds = time.perf_counter() - start
    rows.append({"method": "mujoco.sysid", "seconds": seconds, "error of torques": error(torques(model, *other))})
    show("Inertias from four seconds of motion, beside MuJoCo's identification", rows)
    print("saved", save("sysid", {"samples": len(log["t"]), "iterations": ITERATIONS, "rows": rows}))


if __name__ == "__main__":
    main()
