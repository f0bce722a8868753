"""One step of a rollout as a kernel: dynamics, efforts and an integrator, traced together.

From turn to turn it carries q, v, how many steps were made and what the dynamics and the law carry. A state whose
numbers are no longer finite, or of which something inside says that it is not to be trusted, stays as it was from then
on; its count c of steps becomes -1 - c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.base.lazy import lazy
from kinetree.compiler import Kernel, LoopCarry, collected_requirements, made_once
from kinetree.errors import ArgumentTypeError, one_of, short
from kinetree.functions.identity import identity, is_own_function
from kinetree.functions.specialization import Specialization
from kinetree.ops import Array
from kinetree.simulation.dynamics import Dynamics, Shape
from kinetree.simulation.efforts import Efforts, at_parameters
from kinetree.simulation.implicit import rosenbrock, variational
from kinetree.simulation.integrators import EXPLICIT, Integrator, Motion

INTEGRATORS: Mapping[str, Integrator] = {**EXPLICIT, "implicit": rosenbrock, "variational": variational}
"""Of fixed steps, by name."""
MOST_STEPS = 10**15
"""They are counted by a float."""
FINITE = 1e100
"""A state with Σ|q| + Σ|v| beyond is said to have diverged."""


@dataclass(frozen=True, eq=False)
class Step:
    """What happens in one step, and what is told of it."""

    efforts: Efforts
    dynamics: Dynamics
    integrator: str
    told: tuple[str, ...] = ()
    """Beside q and v."""

    @lazy
    def sizes(self) -> tuple[int, ...]:
        """Numbers of what is carried: q, v, the count of steps, and what the dynamics and the law carry."""
        robot = self.efforts.robot
        return (robot.nq, robot.nv, 1, *map(prod, self._carried.values()))

    @property
    def _carried(self) -> dict[str, Shape]:
        """Shapes of what the dynamics and the law carry, by name."""
        extras = {name: self.dynamics.extras[name] for name in self.dynamics.carried}
        return {**extras, **self.efforts.memory}

    @lazy
    def carry(self) -> LoopCarry:
        moving = tuple(given.moving for given in self.efforts.given.values())
        return LoopCarry(len(self.sizes), (False, *moving, *(True,) * self._asks))

    @property
    def _asks(self) -> bool:
        """Whether efforts come from a function in Python."""
        return self.efforts.function is not None

    # -- traced ------------------------------------------------------------------------------------------------

    def _step(self, q: Array, v: Array, count: Array, *others: Array) -> tuple[Any, ...]:
        efforts = self.efforts
        carried = dict(zip(self._carried, others, strict=False))
        dt, *rest = others[len(carried) :]
        names = [*efforts.given, *["controls"] * self._asks]
        shapes = [given.shape for given in efforts.given.values()] + [(efforts.robot.nv,)] * self._asks
        arrays = {name: a.reshape(shape) for name, a, shape in zip(names, rest, shapes, strict=True)}
        arrays |= {name: carried[name].reshape(shape) for name, shape in efforts.memory.items()}
        going = ops.less_equal(0.0, count[0])
        t = dt[0] * ops.where(going, count[0], -1.0 - count[0])
        given_efforts, given_dynamics = at_parameters(efforts, self.dynamics, arrays)
        step = replace(self, efforts=given_efforts, dynamics=given_dynamics)
        with collected_requirements() as conditions:
            q_next, v_next, told = step._moved(q, v, t, dt[0], carried, arrays)
        good = ops.logical_and(going, _is_finite(q_next, v_next))
        for condition in conditions:
            good = ops.logical_and(good, condition)
        counted = ops.where(good, count[0] + 1.0, ops.where(going, -1.0 - count[0], count[0]))
        after = [(q_next, q), (v_next, v), *((np.reshape(told[name], -1), carried[name]) for name in carried)]
        kept = [np.array([ops.where(good, x, y) for x, y in zip(*pair, strict=True)]) for pair in after]
        return *kept[:2], np.array([counted]), *kept[2:], *(np.asarray(told[name]) for name in self.told)

    def _moved(
        self, q: Array, v: Array, t: Any, dt: Any, carried: Mapping[str, Array], arrays: Mapping[str, Array]
    ) -> tuple[Array, Array, Mapping[str, Any]]:
        dynamics = self.dynamics
        effort, told = self.efforts.at(q, v, t, arrays)
        if dynamics.step is not None:
            shaped = {name: carried[name].reshape(dynamics.extras[name]) for name in dynamics.carried}
            q_next, v_next, extras = dynamics.step(q, v, effort, dt, **shaped)
            told = {**told, **extras}
        else:
            motion = Motion(
                self.efforts.robot,
                dynamics.acceleration,
                lambda q_at, v_at, later: self.efforts.at(q_at, v_at, t + later, arrays)[0],
                reacts=bool(self.efforts.laws or self.efforts.forces or self.efforts.places),
            )
            q_next, v_next = INTEGRATORS[self.integrator](motion, q, v, dt)
            told = {**told, **motion.told}
        if dynamics.observed is not None and self.told:
            told = {**told, **dynamics.observed(q, v)}
        for name in self.told:
            if np.asarray(told[one_of("record", name, ("q", "v", *told))]).dtype.kind not in "fiubO":
                raise ArgumentTypeError(f"record is {name!r}, which is {short(told[name])}; expected numbers")
        if dynamics.settled is not None:
            q_next, v_next = dynamics.settled(q_next, v_next)
        return q_next, v_next, told

    # -- compiled ----------------------------------------------------------------------------------------------

    def compiled(self) -> tuple[Kernel, tuple[Shape, ...]]:
        """The kernel, and the shapes of what is told; compiled when first asked for."""
        return kept(self.efforts, ("rollout", self.integrator, self.told, self.dynamics.key), self._compiled)

    def _compiled(self) -> tuple[Kernel, tuple[Shape, ...]]:
        arrays = {f"array {k}": (size,) for k, size in enumerate(self._input_sizes)}
        title, run = f"a step of {self.efforts.robot.name!r}", self._without_arrays._step
        made = Specialization(title, arrays, run, self._identity, carry=self.carry)
        return made.kernel, made.shapes[len(self.sizes) :]

    @property
    def _without_arrays(self) -> Step:
        """The same for whoever builds it later, if ever: numbers need not be kept until then."""
        given = {name: each._replace(array=np.empty(0)) for name, each in self.efforts.given.items()}
        efforts = replace(self.efforts, given=given, first={}, function=_itself if self._asks else None)
        return replace(self, efforts=efforts)

    @property
    def _input_sizes(self) -> tuple[int, ...]:
        given = (prod(given.shape) for given in self.efforts.given.values())
        return (*self.sizes, 1, *given, *(self.efforts.robot.nv,) * self._asks)

    @property
    def _identity(self) -> str | None:
        """Its name in every process, unless a law or something else of the user's is part of it."""
        dynamics = self.dynamics
        parts = (dynamics.acceleration, dynamics.settled, dynamics.step, dynamics.observed)
        if self.efforts.laws or not all(part is None or is_own_function(part) for part in parts):
            return None
        return identity("step", self.efforts.robot, self.integrator, self.told, dynamics.key, self.efforts.key)


def _itself(value: Any) -> Any:
    return value


def _is_finite(*arrays: Array) -> Any:
    total: Any = 0.0
    for array in arrays:
        for x in array:
            total = total + ops.absolute(x)
    return ops.less(total, FINITE)


def kept(efforts: Efforts, key: tuple[Any, ...], make: Any) -> Any:
    """What was made for these efforts and this key; it lives as long as the robot and the laws."""
    key = (*key, efforts.key)
    robot, laws = efforts.robot, efforts.laws
    if laws:
        return laws[0].kept(robot, (*key, *(law._key for law in laws[1:])), make)
    return made_once(robot._functions, key, make)
