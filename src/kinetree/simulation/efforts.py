"""What acts on a robot during a rollout: controls or a law, forces, wrenches; read from arguments, traced in a step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_floats, as_real
from kinetree.equations.lagrange import Spring
from kinetree.errors import ArgumentError, ArgumentTypeError, short, unknown
from kinetree.functions.law import Law
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.wrench import Wrench
from kinetree.simulation.dynamics import Dynamics, Shape
from kinetree.simulation.forces import LimitStops, as_forces, efforts_of

OF_STATE = ("q", "v", "t")
PARAMETERS = "parameters"
"""Those of a parametric robot, among the arrays that are given."""


class Given(NamedTuple):
    """An array that comes from outside: of every step where it moves, otherwise the same in all of them."""

    array: Array
    core: Shape
    """Of one state: (steps, *shape) where it moves."""
    moving: bool

    @property
    def shape(self) -> Shape:
        """The shape of one step."""
        return self.core[1:] if self.moving else self.core


class Place(NamedTuple):
    """Where a wrench acts, and the law that gives it, unless an array does."""

    frame: str
    reference: Any
    law: Law | None


@dataclass(frozen=True, eq=False)
class Efforts:
    """All that acts on a robot beside its own dynamics."""

    robot: Robot
    law: Law | None = None
    function: Callable[..., Any] | None = None
    """Called from Python before every step; its efforts are held during the step."""
    forces: tuple[Any, ...] = ()
    places: tuple[Place, ...] = ()
    given: Mapping[str, Given] = field(default_factory=dict)
    """By name: "controls", parameters of the law, and wrenches as "wrench of frame"."""
    memory: Mapping[str, Shape] = field(default_factory=dict)
    """Shapes of what the law carries from step to step, by name: an argument of it, and under this name its next value
    in the dict that it returns."""
    first: Mapping[str, Array] = field(default_factory=dict)
    """Their values at the first step, (…, *shape)."""

    @property
    def laws(self) -> tuple[Law, ...]:
        return tuple(law for law in (self.law, *(place.law for place in self.places)) if law is not None)

    @property
    def knows_time(self) -> bool:
        """Whether they may change at instants that no state tells."""
        timed = any("t" in law.definition.names for law in self.laws)
        return timed or any(not isinstance(force, (Spring, LimitStops)) for force in self.forces)

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal where the same code does, but for the laws."""
        shapes = tuple((name, given.shape, given.moving) for name, given in self.given.items())
        places = tuple((place.frame, place.reference, place.law is None) for place in self.places)
        return (self.law is not None, self.function is not None, self.forces, places, shapes, *self.memory.items())

    def at(self, q: Array, v: Array, t: Any, arrays: Mapping[str, Array]) -> tuple[Any, Mapping[str, Any]]:
        """Efforts on all coordinates, (nv,), and what there is to tell: "tau", those of law or controls alone, and
        whatever else the law returns."""
        robot = self.robot
        told: Mapping[str, Any] = {"tau": arrays.get("controls", np.zeros(robot.nv))}
        if self.law is not None:
            told = _efforts_by_name(self.law, self._applied(self.law, q, v, t, arrays), robot.nv)
            self._check_memory(self.law, told)
        total = told["tau"]
        others = efforts_of(robot, self.forces, q, v, t)
        if others is not None:
            total = total + others
        for place in self.places:
            wrench = arrays.get(_wrench_name(place.frame))
            if place.law is not None:
                wrench = np.asarray(self._applied(place.law, q, v, t, arrays))
                if wrench.shape != (6,):
                    raise ArgumentError(
                        f"{place.law.__name__} returns shape {wrench.shape}; expected a wrench of shape (6,)"
                    )
            total = total + robot.frame(place.frame).jacobian(q, place.reference).T @ wrench
        return total, told

    def _check_memory(self, law: Law, told: Mapping[str, Any]) -> None:
        for name, shape in self.memory.items():
            if name not in told:
                raise ArgumentError(f"{law.__name__} returns no {name!r}; expected the next value of this state")
            if np.shape(told[name]) != shape:
                raise ArgumentError(
                    f"{law.__name__} returns {name!r} of shape {np.shape(told[name])}; expected {shape}"
                )

    def _applied(self, law: Law, q: Array, v: Array, t: Any, arrays: Mapping[str, Array]) -> Any:
        known = {"robot": self.robot, "q": q, "v": v, "t": t, **law.definition.defaults}
        numbers = {name: array[()] if array.ndim == 0 else array for name, array in arrays.items()}
        return law.apply({name: known[name] if name in known else numbers[name] for name in law.definition.names})


def at_parameters(efforts: Efforts, dynamics: Dynamics, arrays: Mapping[str, Array]) -> tuple[Efforts, Dynamics]:
    """What acts and how the robot moves, for a parametric robot with the parameters among the arrays."""
    if efforts.robot.model.parametric is None or dynamics.of is None:
        return efforts, dynamics
    robot = efforts.robot.at_parameters(arrays[PARAMETERS])
    return replace(efforts, robot=robot), replace(dynamics.of(robot), of=dynamics.of)


def _wrench_name(frame: str) -> str:
    return f"wrench of {frame}"


def _efforts_by_name(law: Law, result: Any, nv: int) -> Mapping[str, Any]:
    """A law returns efforts, or a dict that has them as "tau"."""
    told = result if isinstance(result, Mapping) else {"tau": result}
    if told.get("tau", 0.0) is None:
        raise ArgumentTypeError(f"{law.__name__} returns None; expected efforts of shape ({nv},)")
    if "tau" not in told:
        raise ArgumentError(f"{law.__name__} returns a dict without 'tau'; expected the efforts under this name")
    if np.shape(told["tau"]) != (nv,):
        raise ArgumentError(f"{law.__name__} returns shape {np.shape(told['tau'])}; expected efforts of shape ({nv},)")
    return told


# -- from arguments ----------------------------------------------------------------------------------------------------


def as_efforts(
    robot: Robot, law_or_controls: Any, steps: int, forces: Any = (), wrenches: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | ArrayLike | None = None, states: Mapping[str, Any] | None = None,
) -> Efforts:  # fmt: skip
    """All that acts on the robot, read and checked before anything is computed."""
    robot.require_float64("a rollout")
    given: dict[str, Given] = {}
    if robot.model.parametric is not None:
        named = parameters if isinstance(parameters, Mapping) else {PARAMETERS: parameters}
        own, core = named.get(PARAMETERS), (robot.model.parametric.size,)
        numbers = robot.own_parameters if own is None else finite(PARAMETERS, as_floats(PARAMETERS, own, core))
        given[PARAMETERS] = Given(numbers, core, False)
        parameters = {name: value for name, value in named.items() if name != PARAMETERS}
    law = law_or_controls if isinstance(law_or_controls, Law) else None
    function = _plain(law_or_controls) if law is None and callable(law_or_controls) else None
    if law is None and function is None and law_or_controls is not None:
        given["controls"] = _over_time("controls", law_or_controls, steps, robot.nv)
    places = []
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ArgumentTypeError(f"wrenches is {short(wrenches)}; expected a dict from frame names to arrays or laws")
    for frame, wrench in (wrenches or {}).items():
        name = robot.frame(frame).name
        reference = wrench.reference if isinstance(wrench, Wrench) else "world-aligned"
        value = wrench.value if isinstance(wrench, Wrench) else wrench
        places.append(Place(name, reference, value if isinstance(value, Law) else None))
        if not isinstance(value, Law):
            given[_wrench_name(name)] = _over_time(f"wrenches[{frame!r}]", value, steps, 6)
    first = _states(robot, law, states)
    memory = {name: law.definition.shape_of(name, {"robot": robot}) for name in first} if law is not None else {}
    efforts = Efforts(robot, law, function, as_forces(robot, forces), tuple(places), given, memory, first)
    given.update(_parameters(robot, efforts.laws, parameters, memory))
    return efforts


def _over_time(name: str, value: Any, steps: int, size: int) -> Given:
    """An array of what acts: by its number of axes, and whatever the batch, (size,) is held in all steps and in
    (…, steps, size) the last axis but one is that of steps, where a single row is held in all of them too."""
    words = f"(…, {steps}, {size}), a row for every step, or ({size},) or (…, 1, {size}), which is held in all of them"
    array = as_real(name, value, f"an array of shape {words}")
    rows = array.shape[-2] if array.ndim > 1 else 1
    if array.shape[-1:] != (size,) or rows not in (1, steps):
        raise ArgumentError(f"{name} has shape {array.shape}; expected {words}")
    finite(name, array)
    if array.ndim > 1 and rows == steps:
        return Given(array, (steps, size), True)
    return Given(array if array.ndim == 1 else array[..., 0, :], (size,), False)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, if it can be asked with (q, v, t); a law that was not compiled would take q for the robot."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have none
        return function
    name = getattr(function, "__name__", type(function).__name__)
    if next(iter(signature.parameters), None) == "robot":
        raise ArgumentError(f"{name}{signature} is not compiled; expected kt.compile of it, or a function of (q, v, t)")
    try:
        signature.bind(*OF_STATE)
    except TypeError:
        raise ArgumentError(f"{name} takes {signature}; expected a function of (q, v, t)") from None
    return function


def _states(robot: Robot, law: Law | None, states: Mapping[str, Any] | None) -> dict[str, Array]:
    """First values (…, *shape) of what a law carries from step to step, by name."""
    if states is not None and not isinstance(states, Mapping):
        raise ArgumentTypeError(f"states is {short(states)}; expected a dict from names to arrays")
    first = {}
    for name, value in (states or {}).items():
        if law is None:
            raise ArgumentError(f"states has {name!r}; expected it with a compiled function that carries it")
        if name not in law.definition.names or name in ("robot", *OF_STATE):
            raise unknown(f"state of {law.__name__}", name, law.definition.names)
        first[name] = finite(name, as_floats(name, value, law.definition.shape_of(name, {"robot": robot})))
    return first


def _parameters(robot: Robot, laws: tuple[Law, ...], parameters: Any, memory: Mapping[str, Shape]) -> dict[str, Given]:
    """Arrays for the arguments of laws beyond robot, q, v, t and what they carry."""
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ArgumentTypeError(
            f"parameters is {short(parameters)}; expected a dict from names to arrays, or for a parametric robot its "
            "parameters"
        )
    given, wanted = dict(parameters or {}), {}
    for law in laws:
        for name in law.definition.names:
            if name in ("robot", *OF_STATE, *memory) or name in law.definition.defaults:
                continue
            if name == PARAMETERS and robot.model.parametric is not None:
                raise ArgumentError(
                    f"{law.__name__} has an argument 'parameters', which a parametric robot adds; expected another name"
                )
            if name not in given:
                raise ArgumentError(
                    f"{law.__name__} has an argument {name!r}; a law of a rollout takes robot, q, v, t and what "
                    f"parameters={{{name!r}: …}} gives"
                )
            core = law.definition.shape_of(name, {"robot": robot})
            wanted[name] = Given(finite(name, as_floats(name, given[name], core)), core, False)
    for name in given:
        if name not in wanted:
            raise unknown("parameter", name, (*wanted, *(() if robot.model.parametric is None else (PARAMETERS,))))
    return wanted


def finite(name: str, array: Array) -> Array:
    """The array, if it has neither NaN nor infinity in it."""
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        where = f"{name}[{', '.join(map(str, index))}]" if index else name
        raise ArgumentError(f"{where} is {array[index]}; expected finite numbers")
    return array
