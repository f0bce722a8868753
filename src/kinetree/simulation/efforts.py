"""What acts on a robot during a rollout: controls or a law, forces, wrenches; read from arguments, traced in a step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kinetree.base.arguments import as_floats, as_real
from kinetree.equations.lagrange import Spring
from kinetree.errors import ArgumentError, ArgumentTypeError, short, unknown
from kinetree.functions.law import Law
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.wrench import Wrench
from kinetree.simulation.dynamics import Shape
from kinetree.simulation.forces import LimitStops, as_forces, efforts_of

OF_STATE = ("q", "v", "t")


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
        return (self.law is not None, self.function is not None, self.forces, places, shapes)

    def at(self, q: Array, v: Array, t: Any, arrays: Mapping[str, Array]) -> tuple[Any, Mapping[str, Any]]:
        """Efforts on all coordinates, (nv,), and what there is to tell: "tau", those of law or controls alone, and
        whatever else the law returns."""
        robot = self.robot
        told: Mapping[str, Any] = {"tau": arrays.get("controls", np.zeros(robot.nv))}
        if self.law is not None:
            told = _efforts_by_name(self.law, self._applied(self.law, q, v, t, arrays), robot.nv)
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

    def _applied(self, law: Law, q: Array, v: Array, t: Any, arrays: Mapping[str, Array]) -> Any:
        known = {"robot": self.robot, "q": q, "v": v, "t": t, **law.definition.defaults}
        numbers = {name: array[()] if array.ndim == 0 else array for name, array in arrays.items()}
        return law.apply({name: known[name] if name in known else numbers[name] for name in law.definition.names})


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
    robot: Robot,
    law_or_controls: Any,
    steps: int,
    forces: Any = (),
    wrenches: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Efforts:
    """All that acts on the robot, read and checked before anything is computed."""
    robot.require_float64("a rollout")
    given: dict[str, Given] = {}
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
    efforts = Efforts(robot, law, function, as_forces(robot, forces), tuple(places), given)
    given.update(_parameters(robot, efforts.laws, parameters))
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


def _parameters(robot: Robot, laws: tuple[Law, ...], parameters: Mapping[str, Any] | None) -> dict[str, Given]:
    """Arrays for the arguments of laws beyond robot, q, v and t."""
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ArgumentTypeError(f"parameters is {short(parameters)}; expected a dict from names to arrays")
    given, wanted = dict(parameters or {}), {}
    for law in laws:
        for name in law.definition.names:
            if name in ("robot", *OF_STATE) or name in law.definition.defaults:
                continue
            if name not in given:
                raise ArgumentError(
                    f"{law.__name__} has an argument {name!r}; a law of a rollout takes robot, q, v, t and what "
                    f"parameters={{{name!r}: …}} gives"
                )
            core = law.definition.shape_of(name, {"robot": robot})
            wanted[name] = Given(finite(name, as_floats(name, given[name], core)), core, False)
    for name in given:
        if name not in wanted:
            raise unknown("parameter", name, wanted)
    return wanted


def finite(name: str, array: Array) -> Array:
    """The array, if it has neither NaN nor infinity in it."""
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        where = f"{name}[{', '.join(map(str, index))}]" if index else name
        raise ArgumentError(f"{where} is {array[index]}; expected finite numbers")
    return array
