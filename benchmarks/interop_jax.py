"""kinetree in JAX, beside adam and frax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from adam import Representations
from adam.jax import KinDynComputations
from frax.core.robot import Robot
from interop_cells import GRAVITY, ROBOTS, STATES, Calls, agree, floating, merged, path_of, row
from measure import best_times
from robots import Contender, load
from table import show

import kinetree as kt

LOOPS = 1000


def rows() -> list[dict[str, Any]]:
    """All cells."""
    jax.config.update("jax_enable_x64", True)
    return [found for name in ROBOTS for found in _cells(load(name))]


def calls() -> list[dict[str, Any]]:
    """Nanoseconds of one state inside a compiled loop, without those of the loop, beside a native call from Python."""
    jax.config.update("jax_enable_x64", True)
    found = []
    for name in ROBOTS:
        contender = load(name)
        robot = contender.robot
        q, v, a = (x[0] for x in contender.states(1))
        f = kt.to_jax(robot.inverse_dynamics)
        times = best_times(
            {
                "loop": _looped(lambda x: x, a),
                "jax": _looped(lambda x, f=f, q=q, v=v: f(q, v, x), a),
                "python": lambda robot=robot, q=q, v=v, a=a: robot.inverse_dynamics(q, v, a),
            }
        )
        inside = (times["jax"] - times["loop"]) / LOOPS
        found.append({"robot": name, "inside jit [ns]": 1e9 * inside, "from Python [ns]": 1e9 * times["python"]})
    show("One state of inverse dynamics", found)
    return found


def _looped(step: Callable[[Any], Any], start: np.ndarray) -> Callable[[], Any]:
    """x = start + small step(x), many times in one program."""
    run = jax.jit(lambda x: jax.lax.fori_loop(0, LOOPS, lambda _, x: start + 1e-9 * step(x), x))
    return lambda: jax.block_until_ready(run(start))


def _cells(contender: Contender) -> list[dict[str, Any]]:
    robot, H, state = floating(contender)
    q, v = state["q"], state["v"]
    v[:, :6] = 0.0  # frax has the base's velocity in other axes: the same bias forces only at rest
    gravity = np.array(GRAVITY)
    adam = KinDynComputations(merged(contender, robot), list(robot.joint_names), gravity=gravity)
    adam.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    M, h = kt.to_jax(robot.mass_matrix), kt.to_jax(robot.bias_forces)
    calls = {
        "mass matrix": {
            "kinetree": (lambda q, v: M(q), (q, v)),
            "adam": (lambda s, H, v: adam.mass_matrix(H, s), (q[:, 7:], H, v)),
        },
        "bias forces": {
            "kinetree": (h, (q, v)),
            "adam": (lambda s, H, v: adam.bias_force(H, s, v[:6], v[6:]), (q[:, 7:], H, v)),
        },
    }
    frax = Robot(str(path_of(contender)), joint_ordering=list(robot.joint_names), floating_base="quaternion")
    theirs = np.concatenate([q[:, :3], q[:, [6, 3, 4, 5]], q[:, 7:]], axis=1)  # wxyz
    calls["mass matrix"]["frax"] = (lambda q, v: frax.crba(q), (theirs, v))
    calls["bias forces"]["frax"] = (frax.nonlinear_bias, (theirs, v))
    rows = []
    for quantity, contenders in calls.items():
        for gradient in (False, True):
            ready: Calls = {peer: _jitted(*pair, gradient) for peer, pair in contenders.items()}
            if not gradient:  # axes of the base differ; what belongs to the joints does not
                joints = slice(-(robot.nv - 6), None)
                part = (..., joints, joints) if quantity == "mass matrix" else (..., joints)
                agree(*(np.asarray(call())[part] for call in ready.values()), tolerance=1e-7)
            title = f"{quantity}, gradient" if gradient else quantity
            rows.append(row(contender.name, title, ready, STATES, 10))
    return rows


def _jitted(function: Callable[..., Any], given: tuple[Any, ...], gradient: bool) -> Callable[[], Any]:
    """The function for all states, or the gradient of its sum of squares by its first argument, compiled."""
    one = jax.grad(lambda *x: (function(*x) ** 2).sum()) if gradient else function
    arrays = [jax.numpy.asarray(x) for x in given]
    run = jax.jit(jax.vmap(one)).lower(*arrays).compile()
    return lambda: jax.block_until_ready(run(*arrays))
