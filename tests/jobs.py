"""What a program may do with the library, on any thread and in any order: each job is a call, or a few, of one robot.

A job takes a robot and a State, and returns arrays. With `robot.eager` it gives what the textbook gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import kinetree as kt
from kinetree import control
from kinetree.compiler.runtime.memory import LARGE
from kinetree.solvers import qp


@dataclass(frozen=True)
class State:
    """Arguments of all jobs: of one state, and of a batch."""

    frame: str
    q: Any
    v: Any
    pose: Any
    many: Any
    rates: Any


def state_of(robot: kt.Robot, seed: int, count: int = 37) -> State:
    """Random numbers, of a robot without quaternions; a pose that can be reached. Nothing is compiled for them."""
    rng = np.random.default_rng(seed)
    many = np.clip(robot.eager.random(rng, count), -2.0, 2.0)
    rates = rng.normal(size=(count, robot.nv))
    frame = robot.frame_names[-1]
    return State(frame, many[0], rates[0], robot.eager.frame(frame).pose(many[1]), many, rates)


def _formula(robot: Any, q: Any, v: Any, target: Any) -> Any:
    tool = robot.frame(robot.frame_names[-1])
    return robot.bias_forces(q, v) + tool.jacobian(q)[:3].T @ (target - tool.pose(q)[:3, 3])


def strided(array: Any) -> Any:
    """The same numbers, apart in memory."""
    wide = np.empty((*array.shape, 3))
    wide[..., 1] = array
    return wide[..., 1]


def law(robot: kt.Robot, s: State) -> list[Any]:
    """A law of its own, for one state and a batch, and its derivative."""
    own = kt.compile(_formula, shapes={"target": (3,)})
    target = s.pose[:3, 3]
    slope = kt.jacobian(own, wrt="q")
    return [own(robot, s.q, s.v, target), own(robot, s.many, s.rates, target), slope(robot, s.q, s.v, target)]


shared_law = kt.compile(_formula, shapes={"target": (3,)})


def common_law(robot: kt.Robot, s: State) -> list[Any]:
    """One law for all threads."""
    return [shared_law(robot, s.q, s.v, s.pose[:3, 3].copy()), shared_law(robot, s.many, s.rates, s.pose[:3, 3])]


def quantities(robot: kt.Robot, s: State) -> list[Any]:
    """Single, strided and batched calls of the robot and a frame."""
    tool, a = robot.frame(s.frame), s.v[::-1].copy()
    columns = np.asfortranarray(s.many)
    return [
        robot.mass_matrix(s.q),
        robot.mass_matrix(strided(s.q)),
        robot.mass_matrix(columns),
        robot.inverse_dynamics(s.q, s.v, a),
        robot.inverse_dynamics(s.many[::-2], s.rates[::-2], a),
        robot.forward_dynamics(s.many.reshape(1, -1, robot.nq), s.rates, s.v),
        robot.bias_forces(s.q, s.v, {s.frame: np.arange(6.0)}),
        tool.pose(s.many[3::5]),
        tool.jacobian(s.q, "local"),
        robot.center_of_mass(s.many),
    ]


def large_batch(robot: kt.Robot, s: State) -> list[Any]:
    """One that is spread over threads, and whose result is large enough to be kept."""
    times = 1 if robot.textbook else 1 + 2 * LARGE // (8 * robot.nv**2 * len(s.many))
    result = robot.mass_matrix(np.tile(s.many, (times, 1)))
    assert np.array_equal(result[: len(s.many)], result[-len(s.many) :])
    return [result[: len(s.many)].copy()]


def inverse_kinematics(robot: kt.Robot, s: State) -> list[Any]:
    """The pose that is reached, if it can be."""
    found = robot.ik(s.frame, s.pose[:3, 3], q0=s.q)
    return [robot.eager.frame(s.frame).pose(found.q)[:3, 3] if found.success else s.pose[:3, 3]]


def differential_ik(robot: kt.Robot, s: State) -> list[Any]:
    solver = kt.ik.DifferentialIK(robot, kt.ik.Pose(s.frame), None, damping=0.1)
    return [solver(s.q, s.pose), solver(s.many, s.pose)]


def controllers(robot: kt.Robot, s: State) -> list[Any]:
    torque = control.ComputedTorque(robot, 50.0)
    space = control.OperationalSpace(robot, s.frame, 100.0)
    return [torque(s.q, s.v, s.many[2]), torque(s.many, s.rates, s.q), space(s.q, s.v, s.pose)]


def whole_body(robot: kt.Robot, s: State) -> list[Any]:
    body = control.WholeBody(robot, control.Posture())
    return [body(s.q, s.v, {"posture": s.many[2]})]


def rollout(robot: kt.Robot, s: State) -> list[Any]:
    """The compiled loop, of one state and of many; by the textbook, a loop in Python."""
    dt, steps, tau, q, v = 1e-3, 5, 0.1 * s.v, s.q, s.v
    if robot.textbook:
        for _ in range(steps):
            v = v + dt * robot.forward_dynamics(q, v, tau)
            q = robot.integrate(q, dt * v)
        return [q, v]
    along = robot.rollout(q, v, tau, dt, steps, integrator="semi-implicit-euler")
    many = robot.rollout(s.many[:11], s.rates[:11], tau, dt, steps, integrator="semi-implicit-euler")
    assert np.array_equal(many.q[0], along.q)
    return [along.q[-1], along.v[-1]]


def quadratic_program(robot: kt.Robot, s: State) -> list[Any]:
    n = 2 + robot.nv % 5
    return [qp.solve(np.eye(n), -np.arange(float(n)), x_upper=np.ones(n)).x]


JOBS: dict[str, Callable[[kt.Robot, State], list[Any]]] = {
    job.__name__: job
    for job in (
        law,
        common_law,
        quantities,
        large_batch,
        inverse_kinematics,
        differential_ik,
        controllers,
        whole_body,
        rollout,
        quadratic_program,
    )
}


def agree(results: list[Any], expected: list[Any], tolerance: float = 1e-7) -> bool:
    """Whether all arrays have the same shapes and, to rounding, the same numbers."""
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(results, expected, strict=True)]
    return all(
        a.shape == b.shape and np.abs(a - b).max(initial=0.0) <= tolerance * max(1.0, np.abs(b).max(initial=0.0))
        for a, b in pairs
    )
