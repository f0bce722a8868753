"""Bias forces of a UR5 with inertial parameters as inputs, for every state of a batch, beside peers on JAX.

MJX and jaxsim keep the numbers of a robot in arrays, which `jax.vmap` takes as arguments; adam has those of the file in
its code. They need packages of their own: `pip install mujoco-mjx jaxsim 'adam-robotics[jax]'`, and jaxsim the program
gz of Gazebo. All run on the CPU, in float64, on as many threads as they like; kinetree on one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from measure import best_times, save
from mujoco import mjx
from robots import ROBOTS, find
from table import show

import kinetree as kt

jax.config.update("jax_enable_x64", True)
STATES = 4096


def of_mjx(robot: kt.Robot, q: Any, v: Any, factors: Any) -> Callable[[], Any]:
    """C v + G of robots whose masses and inertias are scaled."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ur5.xml"
        robot.to_mjcf(path, lossy=True)
        model = mjx.put_model(mujoco.MjModel.from_xml_path(str(path)))

    def bias(factor: Any, q: Any, v: Any) -> Any:
        own = model.replace(body_mass=model.body_mass * factor, body_inertia=model.body_inertia * factor)
        data = mjx.make_data(own).replace(qpos=q, qvel=v)
        for part in (mjx.kinematics, mjx.com_pos, mjx.com_vel, mjx.rne):
            data = part(own, data)
        return data.qfrc_bias

    compiled = jax.jit(jax.vmap(bias))
    arguments = [jnp.asarray(x) for x in (factors, q, v)]
    return lambda: compiled(*arguments).block_until_ready()


def of_jaxsim(robot: kt.Robot, q: Any, v: Any, factors: Any) -> Callable[[], Any]:
    """The same by jaxsim."""
    import jaxsim.api as js  # noqa: PLC0415 - a package of its own

    model = js.model.JaxSimModel.build_from_model_description(robot.to_urdf(lossy=True))
    order = [robot.joint(name).q_slice.start for name in model.joint_names()]

    def bias(factor: Any, q: Any, v: Any) -> Any:
        links = model.kin_dyn_parameters.link_parameters
        scaled = links.replace(mass=links.mass * factor, inertia_elements=links.inertia_elements * factor)
        with model.editable(validate=False) as own:
            own.kin_dyn_parameters.link_parameters = scaled
        data = js.data.JaxSimModelData.build(model=own, joint_positions=q, joint_velocities=v)
        return js.model.free_floating_bias_forces(own, data)[6:]

    compiled = jax.jit(jax.vmap(bias))
    arguments = [jnp.asarray(x) for x in (factors, q[:, order], v[:, order])]
    inverse = np.argsort(order)
    return lambda: compiled(*arguments).block_until_ready()[:, inverse]


def of_adam(robot: kt.Robot, q: Any, v: Any, factors: Any) -> Callable[[], Any]:
    """The same by adam, of the robot of the file."""
    from adam.jax import KinDynComputations  # noqa: PLC0415 - a package of its own

    model = KinDynComputations(
        str(find(ROBOTS["UR5"][0])), list(robot.joint_names), gravity=jnp.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0])
    )

    def bias(q: Any, v: Any) -> Any:
        return model.bias_force(jnp.eye(4), q, jnp.zeros(6), v)[6:]

    compiled = jax.jit(jax.vmap(bias))
    arguments = [jnp.asarray(x) for x in (q, v)]
    return lambda: compiled(*arguments).block_until_ready()


def main() -> None:
    """Measure, print, save."""
    kt.set_num_threads(1)
    ending, base, _ = ROBOTS["UR5"]
    robot = kt.load(find(ending), base, parametric=("inertial",))
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, STATES), rng.normal(size=(STATES, robot.nv))
    factors = rng.uniform(0.9, 1.1, STATES)
    given = robot.parameters * factors[:, None]
    calls = {"kinetree": lambda: robot.bias_forces(q, v, parameters=given)}
    for name, make in (("MJX", of_mjx), ("jaxsim", of_jaxsim), ("adam, numbers of the file", of_adam)):
        try:
            call = make(robot, q, v, factors)
            own = np.ones((STATES, 1)) * robot.parameters if "file" in name else given
            error = np.abs(np.asarray(call()) - robot.bias_forces(q, v, parameters=own)).max()
            assert error < 1e-6, f"{name} disagrees by {error:g}"
            calls[name] = call
        except Exception as problem:  # a peer that does not run is left out
            print(f"{name} is left out: {type(problem).__name__}: {str(problem)[:300]}")
    times = best_times(calls, repeats=5)
    rows = [
        {"library": name, "ns per state": 1e9 * seconds / STATES, "ratio": seconds / times["kinetree"]}
        for name, seconds in times.items()
    ]
    show(f"Bias forces of {STATES} robots, each with its own inertias", rows)
    print("saved", save("parametric_peers", {"states": STATES, "rows": rows}))


if __name__ == "__main__":
    main()
