"""A law that is bound to robots and options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, cast, final

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.base.precision import FLOAT64
from kinetree.base.unpickled_once import reduced_once
from kinetree.errors import ArgumentError
from kinetree.functions.bindable import Bindable
from kinetree.functions.binding import native as native_method
from kinetree.functions.compiled_function import CompiledFunction, Key
from kinetree.functions.definition import Declared, Definition
from kinetree.functions.identity import identity
from kinetree.functions.parameters import Parameters
from kinetree.functions.specialization import Specialization
from kinetree.ops import Array


class Inspectable:
    """A law whose code can be looked at; that of a law for several robots is what it was last compiled to."""

    def _inspected(self) -> Specialization:
        raise NotImplementedError

    @property
    def graph(self) -> Any:
        """The graph of its operations: `.operations()`, `.listing()`, `.dot()`, `.svg()`."""
        return self._inspected().graph

    @property
    def llvm(self) -> str:
        """LLVM assembly of the kernel for one state."""
        return self._inspected().llvm

    @property
    def assembly(self) -> str:
        """Machine instructions of the kernel for one state."""
        return self._inspected().assembly


@final
class BoundLaw(Inspectable, CompiledFunction):
    """A law bound to robots and options: a function of arrays."""

    always_reports = True

    def __init__(self, definition: Definition, robots: Mapping[str, Bindable], options: Mapping[str, Any]) -> None:
        super().__init__()
        self.definition = definition
        self.robots = dict(robots)
        self.chosen = dict(options)
        self.name = definition.name
        names = [name for name in definition.names if name not in robots and name not in options]
        self.arrays = {name: definition.shape_of(name, robots) for name in names}
        self.parametric = _parametric(definition, robots)
        if self.parametric is not None:
            robot = robots[self.parametric]
            self.parameters, self.is_symbolic = robot.own_parameters, robot.is_symbolic
            self.arrays["parameters"] = np.shape(self.parameters)
        self.eager = any(robot.is_eager for robot in robots.values())
        self.dtype = _common_dtype(definition.name, robots)
        first = next(iter(robots.values()), None)
        if first is not None and first.model.quaternions:
            positions = filter(definition.is_configuration, names)
            self.quaternions = dict.fromkeys(positions, first.model.quaternions)

    @property
    def configurations(self) -> Mapping[str, Any]:
        first = next(iter(self.robots.values()), None)
        names = filter(self.definition.is_configuration, self.arrays)
        return {} if first is None else dict.fromkeys(names, first.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced_once(self, BoundLaw, self.definition, self.robots, self.chosen)

    def __repr__(self) -> str:
        given = [*(robot.name for robot in self.robots.values()), *(f"{k}={v!r}" for k, v in self.chosen.items())]
        return f"<{self.name}{self.signature} for {', '.join(given)}>"

    def __getattr__(self, name: str) -> Any:
        """The call under the law's name: pickle finds a built-in function as an attribute of its owner."""
        if "definition" in self.__dict__ and name == self._name:
            return self.call
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @native_method
    def call(self, *args: Any, out: Array | None = None, **kwargs: Any) -> Any:
        """The law's result for these arrays; `parameters` of a parametric robot are given by name."""
        parameters = None if "parameters" in self.definition.names else kwargs.pop("parameters", None)
        given = self._reader.bound(args, kwargs)
        return self.evaluate(self.with_parameters(list(given.values()), parameters), out=out)

    def with_presets(self, presets: Mapping[str, Array], spread: tuple[int, int]) -> BoundLaw:
        """The same law with defaults for some arrays, and `spread` as in `CompiledFunction`; machine code is shared."""
        other = BoundLaw(self.definition, self.robots, self.chosen)
        other.presets, other.spread, other._specializations = presets, spread, self._specializations
        return other

    def _twin(self, dtype: np.dtype[Any]) -> CompiledFunction:
        other = cast(BoundLaw, self._copied(dtype))
        other.robots = {name: robot.astype(dtype) for name, robot in self.robots.items()}
        return other

    # -- formula -----------------------------------------------------------------------------------------------

    def formula(self, key: Key) -> Callable[..., Any]:
        return _applied(self.definition, {**self.robots, **self.chosen}, tuple(self.arrays), self.parametric)

    def on_numbers(self, key: Key) -> Callable[..., Any]:
        eager = {name: robot.eager for name, robot in self.robots.items()}
        return _applied(self.definition, {**eager, **self.chosen}, tuple(self.arrays), self.parametric)

    def identity(self, key: Key) -> str | None:
        own = self.definition.identity or identity(self.definition.function)
        parts = (self.robots, self.chosen, dict(self.arrays))
        return None if own is None else identity(own, *(tuple(part.items()) for part in parts))

    def _inspected(self) -> Specialization:
        return self.specialization()

    # -- native ------------------------------------------------------------------------------------------------

    @lazy
    def _parameters(self) -> list[inspect.Parameter]:
        given = self.definition.signature.parameters
        parameters = [parameter for name, parameter in given.items() if name in self.arrays]
        kinds = [max(parameter.kind, parameter.POSITIONAL_OR_KEYWORD) for parameter in parameters]
        return [parameter.replace(kind=kind) for parameter, kind in zip(parameters, kinds, strict=True)]

    @lazy
    def signature(self) -> inspect.Signature:
        return inspect.Signature(self._parameters)

    @lazy
    def _reader(self) -> Parameters:
        return Parameters(self.name, self.signature)

    @lazy
    def _name(self) -> str:
        """The name of the built-in function: the law's, unless this class has another attribute of that name."""
        return "call" if self.name in dir(self) else self.name

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        if any(parameter.kind is not parameter.POSITIONAL_OR_KEYWORD for parameter in self._parameters):
            return None
        named = ["out=None"] if self.parametric is None else ["parameters=None", "out=None"]
        parameters = ", ".join(["$self", *map(_as_text, self._parameters), "*", *named])
        text = f"{self._name}({parameters})\n--\n\n{inspect.getdoc(self.definition.function) or ''}"
        module = getattr(self.definition.function, "__module__", None) or __name__
        return self.native_call(self, self._name, text, method, module)


def _common_dtype(name: str, robots: Mapping[str, Bindable]) -> np.dtype[Any]:
    """The type of the numbers of all robots; float64 without any."""
    found = {robot.dtype for robot in robots.values()}
    if len(found) > 1:
        raise ArgumentError(f"{name} got robots of dtype float64 and float32; expected robots of one dtype")
    return found.pop() if found else FLOAT64


def _parametric(definition: Definition, robots: Mapping[str, Bindable]) -> str | None:
    """The name of the argument that is a parametric robot, if there is one."""
    found = [name for name, robot in robots.items() if robot.model.parametric is not None]
    if len(found) > 1:
        raise ArgumentError(
            f"{definition.name} got two parametric robots, {found[0]!r} and {found[1]!r}; expected one, as robot.baked "
            "makes of others"
        )
    if found and "parameters" in definition.names:
        raise ArgumentError(
            f"{definition.name} has an argument 'parameters', which a parametric robot adds; expected another name"
        )
    return found[0] if found else None


def law_of_method(
    name: str, method: Callable[..., Any], arrays: Mapping[str, Declared], robot: Bindable | None, own: str | None
) -> BoundLaw:
    """method(robot, …) of arrays with these names and shapes as a law of this name. Its robot is None where there is
    none; `own` is its identity, as in `Definition`."""
    robots = {} if robot is None else {"robot": robot}
    missing = (None,) * (robot is None)

    def formula(*values: Any) -> Any:
        return method(*missing, *values)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(parameter, kind) for parameter in (*robots, *arrays)]
    formula.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    formula.__name__ = formula.__qualname__ = name
    shapes = {array: shape for array, shape in arrays.items() if array not in ("q", "v")}
    return BoundLaw(Definition(formula, shapes, identity=own), robots, {})


def _applied(
    definition: Definition, chosen: Mapping[str, Any], names: tuple[str, ...], parametric: str | None
) -> Callable[..., Any]:
    """The law as a function of its arrays only, the last of which are parameters of a parametric robot."""

    def run(*arrays: Array) -> Any:
        named = {name: _unpacked(np.array(array)) for name, array in zip(names, arrays, strict=True)}
        if parametric is not None:
            named[parametric] = chosen[parametric].at_parameters(named.pop("parameters"))
        return definition.apply({**chosen, **named})

    return run


def _as_text(parameter: inspect.Parameter) -> str:
    """A parameter in the signature of a built-in function, which can show only plain numbers as defaults."""
    if parameter.default is parameter.empty:
        return parameter.name
    return (
        f"{parameter.name}={parameter.default!r}"
        if type(parameter.default) in (int, float)
        else f"{parameter.name}=..."
    )


def _unpacked(array: Array) -> Any:
    """The array, or its number if it has no axes."""
    return array if array.shape else array[()]
