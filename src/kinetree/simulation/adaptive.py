"""Steps as long as accuracy allows: Dormand and Prince's pair of orders 5 and 4 (1980), for every state by itself.

One attempt is a compiled kernel, for all states at once: the step, its error, and a polynomial of degree four through
it in θ and v (Shampine 1986), which gives states at any time in between and by which events are located.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.compiler import Kernel, collected_requirements
from kinetree.functions.specialization import Specialization
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.dynamics import Dynamics, Shape
from kinetree.simulation.efforts import Efforts, at_parameters
from kinetree.simulation.integrators import Motion, Tableau, moved
from kinetree.simulation.step import FINITE, kept

DORMAND_PRINCE = Tableau(
    a=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    b=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
    c=(0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    order=5,
)
ERROR = (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)
"""Weights of the difference between the two orders."""
BETWEEN = (
    (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)
"""Weights of k_i in the coefficients of s, s², s³ and s⁴, s from 0 to 1 over the step."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """One step of many states: where it leads, how wrong it is, and what is in between."""

    robot: Robot
    q0: Array
    v0: Array
    t0: Array
    h: Array
    q: Array
    v: Array
    error: Array
    """In units of the tolerance, (n,); infinite where it cannot be trusted."""
    theta_terms: Array
    """(n, 4, nv)."""
    v_terms: Array

    def at(self, rows: Array, s: Array) -> tuple[Array, Array]:
        """q and v at parts s of the steps of some states."""
        powers = (s[:, None] ** np.arange(1, 5))[:, :, None] * self.h[rows, None, None]
        theta, dv = (powers * self.theta_terms[rows]).sum(axis=1), (powers * self.v_terms[rows]).sum(axis=1)
        return self.robot.integrate(self.q0[rows], theta), self.v0[rows] + dv


class Attempts:
    """Makes attempts, of any states of a rollout."""

    def __init__(self, efforts: Efforts, dynamics: Dynamics, batch: Shape, tolerance: float) -> None:
        self.efforts, self.dynamics = efforts, dynamics
        self.kernel: Kernel = kept(efforts, ("dormand-prince", dynamics.key), self._compiled)
        self.tolerance = tolerance
        self.given = []
        for given in efforts.given.values():
            spread = np.broadcast_to(given.array, (*batch, *given.core))
            rows = spread.reshape(prod(batch), *given.core) if prod(batch) else spread
            self.given.append((rows, given.moving))

    def _step(self, q: Array, v: Array, t: Array, h: Array, tolerance: Array, *others: Array) -> tuple[Any, ...]:
        efforts, robot = self.efforts, self.efforts.robot
        arrays = {
            name: array.reshape(given.shape) for (name, given), array in zip(efforts.given.items(), others, strict=True)
        }
        efforts, dynamics = at_parameters(efforts, self.dynamics, arrays)
        motion = Motion(
            efforts.robot,
            dynamics.acceleration,
            lambda q_at, v_at, later: efforts.at(q_at, v_at, t[0] + later, arrays)[0],
        )
        with collected_requirements() as conditions:
            rates = DORMAND_PRINCE.stages(motion, q, v, h[0])
            theta, v_next = moved(v, h[0], DORMAND_PRINCE.b, rates)
            q_next = motion.moved(q, theta)
            if dynamics.settled is not None:
                q_next, v_next = dynamics.settled(q_next, v_next)
        wrong_theta, wrong_v = moved(np.zeros(robot.nv), h[0], ERROR, rates)
        size = tolerance[0] * (1.0 + ops.maximum(ops.absolute(v), ops.absolute(v_next)))
        parts = [*(wrong_theta * (1.0 / tolerance[0])), *(wrong_v / size)]
        square = sum(x * x for x in parts) * (1.0 / max(1, len(parts)))
        good: Any = ops.less(sum(ops.absolute(x) for x in (*q_next, *v_next)), FINITE)
        for condition in conditions:
            good = ops.logical_and(good, condition)
        error = ops.where(good, ops.sqrt(square), np.inf)
        terms = [
            np.array([sum(BETWEEN[i][k] * rates[i][part] for i in range(7) if BETWEEN[i][k]) for k in range(4)])
            for part in (0, 1)
        ]
        return q_next, v_next, np.array([error]), terms[0].reshape(-1), terms[1].reshape(-1)

    def _compiled(self) -> Kernel:
        robot = self.efforts.robot
        arrays: dict[str, Shape] = {"q": (robot.nq,), "v": (robot.nv,), "t": (1,), "h": (1,), "tolerance": (1,)}
        arrays |= {f"given {name}": (prod(given.shape),) for name, given in self.efforts.given.items()}
        return Specialization(f"a step of {robot.name!r}", arrays, self._step, None).kernel

    def make(self, states: Mapping[str, Array], rows: Array, h: Array, interval: Array) -> Attempt:
        """A step of length h from where some states are, with given arrays of the interval each is in."""
        q0, v0, t0 = (states[name][rows] for name in "qvt")
        n, nv, column = len(rows), v0.shape[1], np.full((len(rows), 1), self.tolerance)
        inputs = [q0, v0, t0[:, None], h[:, None], column]
        for array, moving in self.given:
            now = array[rows, interval] if moving else array[rows]
            inputs.append(np.ascontiguousarray(now.reshape(n, -1)))
        q, v, error, theta, dv = outputs = [np.empty((n, size)) for size in (q0.shape[1], nv, 1, 4 * nv, 4 * nv)]
        if n == 1:
            self.kernel.single([array[0] for array in inputs], [array[0] for array in outputs])
        else:
            self.kernel.batch(inputs, outputs)
        wrong = np.where(np.isfinite(error[:, 0]), error[:, 0], np.inf)
        robot = self.efforts.robot
        return Attempt(robot, q0, v0, t0, h, q, v, wrong, theta.reshape(n, 4, nv), dv.reshape(n, 4, nv))
