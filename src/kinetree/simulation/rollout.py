"""The motion of a robot under given efforts or under a law: one compiled step, looped in machine code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree import ops
from kinetree.arguments import as_count, as_floats, as_number, batch_shape
from kinetree.compiler.call import Kernel
from kinetree.compiler.doubts import collected_doubts
from kinetree.compiler.jit import host, lock
from kinetree.compiler.program import build
from kinetree.compiler.roll import Track, roll
from kinetree.compiler.stored import Stored
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short
from kinetree.law import Law
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.dynamics import Dynamics, Shape, Surroundings, own_dynamics
from kinetree.simulation.integrators import INTEGRATORS


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Times (steps + 1,) [s], positions (…, steps + 1, nq) and velocities (…, steps + 1, nv)."""

    t: Array
    q: Array
    v: Array
    extras: Mapping[str, Array] = field(default_factory=dict)
    """What else was recorded, (…, steps, *shape) by name: entry k is of the step from t[k] to t[k + 1]."""


def rollout(
    robot: Robot,
    q0: ArrayLike,
    v0: ArrayLike,
    law_or_controls: Law | ArrayLike | None,
    dt: float,
    steps: int,
    integrator: str = "semi-implicit-euler",
    *,
    contact: Surroundings | None = None,
    record: Iterable[str] = ("q", "v"),
    dynamics: Dynamics | None = None,
) -> Trajectory:
    """From q0 and v0, `steps` steps of `dt` seconds; the first state is part of the result.

    law_or_controls   efforts for every step, (…, steps, nv), held during it; or a compiled function of (robot, q, v)
                      or (robot, q, v, t) that gives them, asked at every stage; or None, for none
    contact           what the robot meets, if anything
    record            "q" and "v", and names of what else the dynamics tell of every step
    dynamics          other than the robot's own
    """
    count, h = as_count("steps", steps), as_number("dt", dt)
    one_of("integrator", integrator, tuple(INTEGRATORS))
    if not np.isfinite(h) or h == 0.0:
        raise ArgumentError(f"dt is {h:g}; expected a finite time step")
    law = law_or_controls if isinstance(law_or_controls, Law) else None
    if law is None and callable(law_or_controls):
        raise ArgumentTypeError(f"law_or_controls is {short(law_or_controls)}; expected a function made by kt.compile")
    arguments: dict[str, tuple[Array, Shape]] = {
        "q0": (as_floats("q0", q0, (robot.nq,)), (robot.nq,)),
        "v0": (as_floats("v0", v0, (robot.nv,)), (robot.nv,)),
    }
    if law is None and law_or_controls is not None:
        core = (count, robot.nv)
        arguments["controls"] = (as_floats("controls", law_or_controls, core), core)
    batch = batch_shape(arguments)
    q, v = (np.empty((prod(batch), count + 1, n)) for n in (robot.nq, robot.nv))
    q[:, 0] = np.broadcast_to(arguments["q0"][0], (*batch, robot.nq)).reshape(-1, robot.nq)
    v[:, 0] = np.broadcast_to(arguments["v0"][0], (*batch, robot.nv)).reshape(-1, robot.nv)
    t = h * np.arange(count + 1)
    moved_by = own_dynamics(robot) if contact is None else contact.dynamics(robot)
    moved_by = moved_by if dynamics is None else dynamics
    wanted = [one_of("record", name, ("q", "v", *moved_by.extras)) for name in record]
    extras = {name: np.zeros((prod(batch), count + 1, prod(shape))) for name, shape in moved_by.extras.items()}
    if count and len(q):
        _run(robot, moved_by, law, arguments.get("controls"), batch, h, integrator, (t, q, v), extras)
    recorded = {
        name: extras[name][:, 1:].reshape(*batch, count, *moved_by.extras[name]) for name in extras if name in wanted
    }
    return Trajectory(t, q.reshape(*batch, count + 1, robot.nq), v.reshape(*batch, count + 1, robot.nv), recorded)


def _run(
    robot: Robot,
    dynamics: Dynamics,
    law: Law | None,
    controls: tuple[Array, Shape] | None,
    batch: Shape,
    dt: float,
    integrator: str,
    times_and_states: tuple[Array, Array, Array],
    extras: Mapping[str, Array],
) -> None:
    t, q, v = times_and_states
    states, steps = len(q), len(t) - 1
    kernel = _kernel(robot, dynamics, law, controls is not None, integrator)
    flags = np.zeros((states, steps, 1))
    inputs = [_along(q[:, :-1]), _along(v[:, :-1])]
    inputs += [_along(np.broadcast_to(t[:-1, None], (states, steps, 1))), _still(np.full((states, 1), dt))]
    if controls is not None:
        array, core = controls
        inputs.append(_along(np.ascontiguousarray(np.broadcast_to(array, batch + core)).reshape(states, *core)))
    inputs += [_along(extras[name][:, :-1]) for name in dynamics.carried]
    told = [_along(array[:, 1:]) for array in extras.values()]
    roll(kernel, inputs, [_along(q[:, 1:]), _along(v[:, 1:]), _along(flags), *told], steps)
    if flags.any():
        state, step = (int(k) for k in np.argwhere(flags[..., 0])[0])
        dynamics.acceleration(q[state, step], v[state, step], np.zeros(robot.nv))  # says what is wrong with the state


def _along(array: Array) -> Track:
    """An array (states, steps, n) of which each turn takes the next step."""
    return Track(array, array[:, 0], array.strides[1])


def _still(array: Array) -> Track:
    return Track(array, array, 0)


def _kernel(robot: Robot, dynamics: Dynamics, law: Law | None, has_controls: bool, integrator: str) -> Kernel:
    key = ("rollout", has_controls, integrator, *dynamics.key)
    if law is not None:
        of_law: Kernel = law.kept(robot, key, lambda: _compiled(robot, dynamics, law, has_controls, integrator))
        return of_law
    kernel: Kernel | None = robot._laws.get(key)
    if kernel is None:
        with lock:
            kernel = robot._laws.get(key)
            if kernel is None:
                kernel = robot._laws[key] = _compiled(robot, dynamics, None, has_controls, integrator)
    return kernel


def _compiled(robot: Robot, dynamics: Dynamics, law: Law | None, has_controls: bool, integrator: str) -> Kernel:
    nq, nv = robot.nq, robot.nv

    def step(q: Array, v: Array, t: Array, dt: Array, *others: Array) -> tuple[Any, ...]:
        before = dict(zip(dynamics.carried, others[has_controls:], strict=True))

        def effort(q_at: Array, v_at: Array, later: Any) -> Any:
            if law is not None:
                return _effort(robot, law, q_at, v_at, t[0] + later)
            return others[0] if has_controls else np.zeros(nv)

        def acceleration(q_at: Array, v_at: Array, later: Any) -> Array:
            return dynamics.acceleration(q_at, v_at, effort(q_at, v_at, later))

        told: Mapping[str, Array] = {}
        with collected_doubts() as doubts:
            if dynamics.step is not None:
                shaped = {name: array.reshape(dynamics.extras[name]) for name, array in before.items()}
                q_next, v_next, told = dynamics.step(q, v, effort(q, v, 0.0), dt[0], **shaped)
            else:
                q_next, v_next = INTEGRATORS[integrator](robot.model, q, v, dt[0], acceleration)
            if dynamics.settled is not None:
                q_next, v_next = dynamics.settled(q_next, v_next)
        status: Any = False
        for condition in doubts:
            status = ops.logical_or(status, condition)
        return q_next, v_next, status, *(np.reshape(told[name], -1) for name in dynamics.extras)

    shapes = [(nq,), (nv,), (1,), (1,), *[(nv,)] * has_controls]
    shapes += [(prod(dynamics.extras[name]),) for name in dynamics.carried]
    program = build(step, shapes, host(), f"a step of {robot.name!r}")
    return Kernel(Stored(program.digest, program.layout, host(), lambda: program))


def _effort(robot: Robot, law: Law, q: Array, v: Array, t: Any) -> Any:
    names = [name for name in law.signature.parameters if name not in ("robot", "q", "v", "t")]
    if names:
        raise ArgumentError(f"{law.__name__} has an argument {names[0]!r}; a law of a rollout takes robot, q, v and t")
    given = {"robot": robot, "q": q, "v": v, "t": t}
    tau = law.apply({name: given[name] for name in law.signature.parameters})
    if np.shape(tau) != (robot.nv,):
        raise ArgumentError(f"{law.__name__} returns shape {np.shape(tau)}; expected efforts of shape ({robot.nv},)")
    return tau
