"""The definition of a law: a function, the shapes of its arrays and its options, without any compiled code."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import Enum
from functools import update_wrapper
from operator import attrgetter
from types import FunctionType
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_shape
from kinetree.base.lazy import lazy
from kinetree.base.unpickled_once import reduced_once
from kinetree.compiler import Shape, explained, tracing
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short
from kinetree.functions.bindable import Bindable
from kinetree.functions.parameters import Parameters

POSITIONS, VELOCITIES = ("q", "q0", "q1"), ("v", "a", "tau", "dv")
"""Arguments that take their shapes from the robot."""

Declared = tuple[int | str, ...]
"""A shape in which the name of an argument stands for its size."""
MAIN = "__main__"
"""The module of a program, which other processes may not have."""
_PATH = ".definition._by_path"
Origin = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and arguments that create an equal definition in another process."""


@final
class Definition:
    """A function with the declarations of its arguments.

    The code that a robot caches for a law refers to the definition, not to the law, so that a law without other
    references can be deallocated, and its code with it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        shapes: Mapping[str, Any],
        origin: Origin | None = None,
        identity: str | None = None,
    ) -> None:
        """`identity` names a function of the library with all that it captures, as `functions.identity` does: equal
        names mean equal functions, in every process."""
        if not callable(function):
            raise ArgumentTypeError(f"kt.compile got {short(function)}; expected a function")
        self.function = function
        self.signature = inspect.signature(function)
        self.origin, self.identity = origin, identity
        self.name: str = getattr(function, "__name__", type(function).__name__)  # a partial function has no name
        self.names = tuple(self.signature.parameters)
        self._refuse(self.signature.parameters.values())
        self._parameters = Parameters(self.name, self.signature)
        misnamed = [name for name in shapes if name not in self.names]
        if misnamed:
            raise ArgumentError(f"shapes names {misnamed[0]!r}, which is not an argument of {self.name}")
        self.shapes = {name: _as_declared(f"shapes[{name!r}]", shape) for name, shape in shapes.items()}
        self.defaults = {  # defaults of options
            parameter.name: parameter.default
            for parameter in self.signature.parameters.values()
            if is_choice(parameter.default) and self._declared(parameter.name) is None
        }
        self.law: Callable[[], Any] = lambda: None
        """Returns the law of this definition while it exists."""

    def _refuse(self, parameters: Iterable[inspect.Parameter]) -> None:
        """Raise for a function that cannot be compiled."""
        if next(iter(self.names), None) == "self":
            raise ArgumentError(
                f"{self.name} is a method, and self is not an array: write kt.compile(self.{self.name}) in "
                "__init__; values that it reads from self are constants after the first call"
            )
        for parameter in parameters:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise ArgumentError(f"{self.name} takes {parameter}; a compiled function names all its arguments")
        if "out" in self.names:
            raise ArgumentError(
                f"{self.name} has an argument 'out'; compiled functions take one already, for the result"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is not None:
            return self.origin
        found = found_by_name(self.function)
        is_law = getattr(found, "definition", None) is self
        if is_law and self.function.__module__ != MAIN:
            return attrgetter("definition"), (found,)
        return reduced_once(self, _again, self._by_path if is_law else self.function, self.shapes)

    @lazy
    def _by_path(self) -> Callable[..., Any]:
        """The function of a law of `__main__`, under a name by which pickle finds it there although the law has taken
        its own. Workers of Dask and Ray have another `__main__`: cloudpickle, which they use, sends the code."""
        given = self.function
        function = FunctionType(given.__code__, given.__globals__, given.__name__, None, given.__closure__)
        update_wrapper(function, given)
        function.__defaults__, function.__kwdefaults__ = given.__defaults__, given.__kwdefaults__
        function.__qualname__ = f"{given.__qualname__}{_PATH}"
        del function.__dict__["__wrapped__"]
        return function

    def __deepcopy__(self, memo: Any) -> Definition:
        return self

    # -- arguments ---------------------------------------------------------------------------------------------

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by name, defaults included."""
        return self._parameters.bound(args, kwargs)

    def sorted(self, given: Mapping[str, Any]) -> tuple[dict[str, Bindable], dict[str, Any], dict[str, Any]]:
        """Robots, options and arrays among the arguments."""
        robots = {name: value for name, value in given.items() if isinstance(value, Bindable)}
        options = {name: value for name, value in given.items() if name in self.defaults}
        for name, value in options.items():
            if not is_choice(value):
                raise ArgumentTypeError(
                    f"{name} is {short(value)}; expected a string, True, False or None, as its default says, or the "
                    f"shape of an array in kt.compile(shapes={{{name!r}: (…)}})"
                )
            if isinstance(value, np.bool_):
                options[name] = bool(value)
        for name in robots:
            if name in self.shapes:
                raise ArgumentTypeError(f"{name} is a robot; expected an array of shape {self.shapes[name]}")
        values = {name: value for name, value in given.items() if name not in robots and name not in options}
        for name, value in values.items():
            if is_choice(value) and self._declared(name) is None:
                hint = "a robot, such as kt.load returns" if name == "robot" else "a robot or an array"
                raise ArgumentTypeError(
                    f"{name} is {short(value)}; expected {hint}; an option needs a default value in {self.name}"
                )
        return robots, options, values

    def shape_of(self, name: str, robots: Mapping[str, Bindable]) -> Shape:
        """The shape of an argument for one state."""
        declared = self._declared(name)
        robot = next(iter(robots.values()), None)
        if declared is None or (robot is None and any(isinstance(n, str) for n in declared)):
            if name == "robot":
                raise ArgumentTypeError(f"{self.name} takes a robot, for example from kt.load; bind takes it by name")
            known = f"only {', '.join((*POSITIONS, *VELOCITIES))} take theirs from a robot"
            raise ArgumentError(
                f"{self.name} has an argument {name!r} of unknown shape; give it as "
                f"kt.compile(shapes={{{name!r}: (…)}}), () for a number: {known}"
            )
        return tuple(n if isinstance(n, int) else robot.nq if n in POSITIONS else robot.nv for n in declared)  # type: ignore[union-attr]

    def is_configuration(self, name: str) -> bool:
        """Whether an argument is a configuration: named q, q0 or q1 without another shape, or declared like one."""
        return self._declared(name) in [(position,) for position in POSITIONS]

    def _declared(self, name: str) -> Declared | None:
        return self.shapes.get(name, (name,) if name in (*POSITIONS, *VELOCITIES) else None)

    def apply(self, named: Mapping[str, Any]) -> Any:
        """The result of the function for arguments by name; NumPy's errors about traced values are reworded."""
        given = inspect.BoundArguments(self.signature, dict(named))
        try:
            return self.function(*given.args, **given.kwargs)
        except (TypeError, AttributeError) as error:
            reason = explained(error) if tracing() else None
            if reason is None:
                raise
            raise TypeError(reason).with_traceback(error.__traceback__) from None


def _again(function: Callable[..., Any], shapes: Mapping[str, Any]) -> Definition:
    """From a pickle: the definition that has this function, if it is known in this process, or a new one."""
    if getattr(function, "__qualname__", "").endswith(_PATH):
        found = attrgetter(function.__qualname__.removesuffix("._by_path"))
        with suppress(AttributeError):
            definition: Definition = found(sys.modules[function.__module__])
            if definition._by_path is function:
                return definition
    return Definition(function, shapes)


def is_choice(value: object) -> bool:
    """Whether a value can be that of an option."""
    return value is None or isinstance(value, (str, bool, np.bool_, Enum))


def found_by_name(function: Any) -> Any:
    """The object that the function's module has under its qualified name, or None."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "<no name>").split("."):
        found = getattr(found, part, None)
    return found


def _as_declared(name: str, shape: Any) -> Declared:
    declared = (shape,) if isinstance(shape, str) or not isinstance(shape, Iterable) else tuple(shape)
    for size in declared:
        if isinstance(size, str):
            one_of(name, size, (*POSITIONS, *VELOCITIES))
    sizes = iter(as_shape(name, [size for size in declared if not isinstance(size, str)]))
    return tuple(size if isinstance(size, str) else next(sizes) for size in declared)
