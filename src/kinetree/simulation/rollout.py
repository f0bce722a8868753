"""The motion of a robot under given efforts or under a law: one compiled step, looped in machine code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_count, as_floats, batch_shape, check_quaternions, number_that, positive
from kinetree.base.progress import Progress
from kinetree.compiler import StepLoop, StridedView, empty
from kinetree.errors import ArgumentError, ArgumentTypeError, DivergenceError, one_of, short
from kinetree.functions.law import Law
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.adaptive_rollout import Adaptive, check_adaptive, warn_of
from kinetree.simulation.by_trees import moves_apart, rolled_by_trees
from kinetree.simulation.dynamics import ContactEnvironment, Dynamics, own_dynamics
from kinetree.simulation.efforts import as_efforts, at_parameters, finite
from kinetree.simulation.events import as_events
from kinetree.simulation.labels import names_and_units
from kinetree.simulation.step import INTEGRATORS, MOST_STEPS, Step
from kinetree.simulation.trajectory import Trajectory
from kinetree.simulation.warm_rollout import again, keep

ADAPTIVE = "dormand-prince"


def rollout(
    robot: Robot,
    q0: ArrayLike,
    v0: ArrayLike,
    law_or_controls: Law | ArrayLike | None,
    dt: float,
    steps: int,
    integrator: str = "semi-implicit-euler",
    *,
    contact: ContactEnvironment | None = None,
    forces: Any = (),
    wrenches: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | ArrayLike | None = None,
    states: Mapping[str, Any] | None = None,
    record: Iterable[str] = ("q", "v"),
    every: int = 1,
    tolerance: float | None = None,
    events: Any = (),
    dynamics: Callable[[Robot], Dynamics] | None = None,
) -> Trajectory:
    """As `Robot.rollout` says; `dynamics` makes others than the robot's own."""
    unusual = (contact, wrenches, parameters, states, tolerance, dynamics)
    is_plain = all(each is None for each in unusual) and all(type(x) is tuple and not x for x in (forces, events))
    known = again(robot, q0, v0, law_or_controls, dt, steps, integrator, record, every) if is_plain else None
    if known is not None:
        return known
    count, h = as_count("steps", steps), positive("a finite number of seconds above zero")("dt", dt)
    if count > MOST_STEPS:
        raise ArgumentError(f"steps is {short(steps)}; expected at most {MOST_STEPS:.0e}")
    one_of("integrator", integrator, (*INTEGRATORS, ADAPTIVE))
    between_0_and_1 = number_that(lambda x: 0.0 < x < 1.0, "a number between zero and one")
    looked_for, accuracy = as_events(events), between_0_and_1("tolerance", 1e-8 if tolerance is None else tolerance)
    if tolerance is not None and integrator != ADAPTIVE:
        raise ArgumentError(f"tolerance is only for integrator={ADAPTIVE!r}; {integrator!r} has constant steps of dt")
    if looked_for and integrator != ADAPTIVE:
        raise ArgumentError(f"events are looked for by integrator={ADAPTIVE!r}, not by {integrator!r}")
    between = as_count("every", every)
    if not between or count % between:
        raise ArgumentError(f"every is {every}; expected a divisor of the number of steps, {count}")
    efforts = as_efforts(robot, law_or_controls, count, forces, wrenches, parameters, states)
    arguments = {
        "q0": (finite("q0", as_floats("q0", q0, (robot.nq,))), (robot.nq,)),
        "v0": (finite("v0", as_floats("v0", v0, (robot.nv,))), (robot.nv,)),
        **{name: (given.array, given.core) for name, given in efforts.given.items()},
        **{name: (efforts.first[name], shape) for name, shape in efforts.memory.items()},
    }
    check_quaternions("q0", arguments["q0"][0], robot.model.quaternions)
    batch = batch_shape(arguments)
    wanted = _names(record)
    if contact is None and dynamics is None and not looked_for and moves_apart(efforts, wanted):
        start = {name: _spread(arguments[f"{name}0"][0], (*batch, arguments[f"{name}0"][1][0])) for name in "qv"}
        options = {"dt": h, "integrator": integrator, "every": between, "tolerance": tolerance}
        return rolled_by_trees(rollout, efforts, start, count, wanted, options)
    moved_by = _dynamics(robot, contact, dynamics, integrator)
    sizes = {"q": robot.nq, "v": robot.nv}
    start = {name: _spread(arguments[f"{name}0"][0], (*batch, n)) for name, n in sizes.items()}
    start |= {name: _spread(efforts.first[name], (*batch, *shape)) for name, shape in efforts.memory.items()}
    if integrator == ADAPTIVE:
        check_adaptive(efforts, moved_by, wanted)
        return Adaptive(efforts, moved_by, batch, (h, count, between), accuracy, looked_for).run(start)
    told = tuple(name for name in wanted if name not in ("q", "v"))
    step = Step(efforts, moved_by, integrator, told)
    made = _Run(step, batch, h, count, between, wanted).run(start)
    if is_plain and batch == () and count:
        keep(step, record, wanted)
    return made


def _dynamics(
    robot: Robot, contact: ContactEnvironment | None, dynamics: Callable[[Robot], Dynamics] | None, integrator: str
) -> Dynamics:
    """How the robot moves, if the integrator can follow it."""
    if contact is not None and (isinstance(contact, type) or not isinstance(contact, ContactEnvironment)):
        raise ArgumentTypeError(
            f"contact is {short(contact)}; expected a contact model such as kt.simulation.RigidContact(['foot'])"
        )
    if contact is not None and dynamics is not None:
        raise ArgumentError(
            "contact is given to a robot under constraints; expected RigidContact(…, held=…) in robot.rollout"
        )
    make = dynamics or (own_dynamics if contact is None else contact.dynamics)
    moved_by = replace(make(robot), of=make)
    if integrator == "variational" and (contact is not None or dynamics is not None or robot.loops):
        raise ArgumentError(
            "integrator is 'variational', which knows a robot by its energies: without contact and constraints"
        )
    if moved_by.step is not None and integrator != "semi-implicit-euler":
        raise ArgumentError(f"integrator is {integrator!r}; rigid contact makes its own steps, of semi-implicit Euler")
    return moved_by


def _names(record: Any) -> tuple[str, ...]:
    """What is to be recorded, each once."""
    listed = (record,) if isinstance(record, str) or not isinstance(record, Iterable) else tuple(record)
    for name in listed:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"record has {short(name)}; expected names such as 'q', 'v' and 'tau'")
    return tuple(dict.fromkeys(listed))


class _Run:
    """One rollout: where its states begin, what it records, and how it ends."""

    def __init__(
        self, step: Step, batch: tuple[int, ...], dt: float, steps: int, every: int, wanted: tuple[str, ...]
    ) -> None:
        self.step, self.batch, self.dt, self.steps, self.every, self.wanted = step, batch, dt, steps, every, wanted
        self.count, self.records = prod(batch), steps // every

    def run(self, start: Mapping[str, Array]) -> Trajectory:
        """All steps of all states."""
        kernel, shapes = self.step.compiled()
        told = dict(zip(self.step.told, shapes, strict=True))
        states = np.zeros((self.count, sum(self.step.sizes)))
        end = states.shape[1]
        for name, core in reversed(tuple(self.step.efforts.memory.items())):
            states[:, end - prod(core) : end] = start[name].reshape(self.count, prod(core))
            end -= prod(core)
        series = {}
        for name, end in zip("qv", accumulate(self.step.sizes[:2]), strict=True):
            n = start[name].shape[-1]
            states[:, end - n : end] = first = start[name].reshape(self.count, n)
            if name in self.wanted:
                series[name] = empty((self.count, self.records + 1, n))
                series[name][:, 0] = first
        series |= {name: empty((self.count, self.records, prod(shape))) for name, shape in told.items()}
        if self.count and self.steps:
            tracks = [_along(series[name][:, name in "qv" :]) if name in series else None for name in "qv"]
            tracks += [None] * (len(self.step.sizes) - 2) + [_along(series[name]) for name in told]
            roll = StepLoop(kernel, self.step.carry, states, self._inputs(), tracks, self.steps, self.every)
            self._advance(roll)
            counts = roll.column(sum(self.step.sizes[:2]))
        else:
            counts = np.zeros(self.count)
        diverged = counts < 0.0
        if diverged.any():
            self._look(diverged, counts, states)
            counts = np.where(diverged, -1.0 - counts, counts)
        shaped = {
            name: series[name].reshape(*self.batch, series[name].shape[1], *told.get(name, series[name].shape[2:]))
            for name in self.wanted
        }
        names, units = names_and_units(self.step.efforts.robot, shaped, self.step.dynamics.labels)
        return Trajectory(
            self.dt * self.every * np.arange(self.records + 1),
            shaped,
            diverged=diverged.reshape(self.batch),
            steps=counts.astype(np.int64).reshape(self.batch),
            names=names,
            units=units,
        )

    def _inputs(self) -> list[StridedView]:
        """Of all steps and states, in the order in which the kernel takes them."""
        dt = np.full((self.count, 1), self.dt)
        tracks = [StridedView(dt, dt, 0)]
        for given in self.step.efforts.given.values():
            tracks.append(_given(given.array, given.core, self.batch, given.moving))
        if self.step.efforts.function is not None:
            asked = np.zeros((self.count, self.step.efforts.robot.nv))
            tracks.append(StridedView(asked, asked, 0))
            self._asked = asked.reshape(*self.batch, -1)
        return tracks

    def _advance(self, roll: StepLoop) -> None:
        with Progress(self.count * self.steps, "rollout") as progress:
            if self.step.efforts.function is None:
                roll.advance(self.steps, progress.tell)
                return
            for k in range(self.steps):
                self._ask(roll.states, k * self.dt)
                roll.advance(1, progress.tell)

    def _ask(self, states: Array, t: float) -> None:
        """Efforts of the step that begins, from the user's function."""
        function: Any = self.step.efforts.function
        nq, nv = self.step.sizes[:2]
        # copies: what the function keeps stays what it was, and what it writes does not move the robot
        q, v = states[:, :nq].copy().reshape(*self.batch, nq), states[:, nq : nq + nv].copy().reshape(*self.batch, nv)
        tau = as_floats(f"the result of {getattr(function, '__name__', 'the function')}", function(q, v, t), (nv,))
        try:
            self._asked[...] = tau
        except ValueError:
            raise ArgumentError(
                f"the function of efforts gives shape {tau.shape}; expected {(*self.batch, nv)}, as q and v have"
            ) from None

    def _look(self, stopped: Array, counts: Array, states: Array) -> None:
        """Raises if no state made a step; warns if some did not make them all."""
        nq, nv = self.step.sizes[:2]
        if (counts == -1.0).all():
            q, v = states[0, :nq], states[0, nq : nq + nv]
            arrays = {name: given.array.reshape(-1, *given.core)[0] for name, given in self.step.efforts.given.items()}
            _, dynamics = at_parameters(self.step.efforts, self.step.dynamics, arrays)
            dynamics.acceleration(q, v, np.zeros(nv))  # says what is wrong with the state, if it is that
            cause = "efforts are not finite, or accelerations are too large for it"
            raise DivergenceError(f"the motion is not finite after the first step of {self.dt:g} s; {cause}")
        remedy = "a shorter dt may help"
        if self.step.dynamics.step is None and self.step.integrator != "implicit":
            remedy += ", or integrator='implicit' where gains are stiff"
        warn_of(stopped, -1.0 - counts, self.steps, self.batch, remedy)


def _spread(array: Array, shape: tuple[int, ...]) -> Array:
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _along(array: Array) -> StridedView:
    """An array (states, turns, n) of which each turn takes the next row."""
    return StridedView(array, array[:, 0], array.strides[1])


def _given(array: Array, core: tuple[int, ...], batch: tuple[int, ...], moving: bool) -> StridedView:
    """An array (…, *core) for all states of a batch, without a copy where it is the same in all of them."""
    leading = array.shape[: array.ndim - len(core)]
    rows = core[0] if moving else 1
    flat = np.ascontiguousarray(array).reshape(*leading, rows, -1)
    spread = np.broadcast_to(flat, (*batch, *flat.shape[-2:]))
    if prod(leading) == 1:
        spread = np.broadcast_to(flat.reshape(1, *flat.shape[-2:]), (prod(batch), *flat.shape[-2:]))
    else:
        spread = spread.reshape(prod(batch), *flat.shape[-2:])
    return StridedView(spread, spread[:, 0], spread.strides[1] if moving else 0)
