"""A compiled function as other libraries call it: with their arrays, by position or name, leading axes being batch
axes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinetree.base.arguments import as_flag
from kinetree.base.lazy import lazy
from kinetree.base.precision import FLOAT64
from kinetree.compiler import Shape
from kinetree.errors import ArgumentError, ArgumentTypeError
from kinetree.functions.compiled_function import PLAIN, CompiledFunction, Key
from kinetree.functions.directional import Directional, Mode, directional, shapes_of
from kinetree.functions.displaced import Displaced
from kinetree.functions.parameters import Parameters
from kinetree.functions.pipeline import Pipeline
from kinetree.interop.exported import resolved


class Callee(NamedTuple):
    """A compiled function for fixed options."""

    compiled: CompiledFunction
    key: Key = PLAIN

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of its results for one state."""
        return shapes_of(self.compiled, self.key)

    def derivative(self, mode: Mode, wrt: tuple[str, ...]) -> Callee:
        """Its directional derivative by these arrays."""
        return Callee(directional(self.compiled, self.key, mode, wrt))

    def transposed(self) -> Callee:
        """The vjp of a jvp, and the reverse."""
        assert isinstance(self.compiled, Directional)
        return Callee(self.compiled.transposed())

    def careful(self) -> Callee:
        """The form of it that computes every state, also those where matrices lose rank."""
        return Callee(self.compiled.careful(self.key.options) or self.compiled, self.key)

    def astype(self, dtype: np.dtype[Any]) -> Callee:
        """The same for numbers of this type, if it can be computed in them, else in float64."""
        other = self.compiled.astype(dtype)
        if other is not None and dtype != FLOAT64:
            try:
                other.specialization(self.key)
            except ArgumentError:  # it needs the digits of float64
                other = None
        return Callee(other or self.compiled.astype(FLOAT64) or self.compiled, self.key)


class Foreign:
    """A function of another library's arrays; subclasses run it."""

    def __init__(self, function: Any, tangent: bool) -> None:
        self._given = function, tangent
        compiled, key, self.__name__ = resolved(function)
        if isinstance(compiled, Pipeline):
            raise ArgumentTypeError(
                f"{self.__name__} is a solver, which has no derivatives; expected a formula, such as a quantity, a law "
                "or a controller that is one"
            )
        if as_flag("tangent", tangent) and compiled.configurations:
            compiled, key = Displaced(compiled, key), PLAIN
        self.callee = Callee(compiled, key)
        self.arrays = dict(compiled.arrays)
        if not self.arrays:
            raise ArgumentError(f"{self.__name__} is a constant; expected a function of at least one array")
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        defaults = {name: None if name in compiled.presets else inspect.Parameter.empty for name in self.arrays}
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name, kind, default=default) for name, default in defaults.items()]
        )
        self._parameters = Parameters(self.__name__, self.__signature__)
        self.__doc__ = f"{self.__name__}({', '.join(self.arrays)}) of kinetree; leading axes are batch axes."

    __name__: str

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._given

    def __repr__(self) -> str:
        kind = type(self).__name__.removesuffix("Function")
        return f"<{kind} function {self.__name__}({', '.join(self.arrays)})>"

    @lazy
    def _rebuild(self) -> Any:
        """The structure of the result: an array, a tuple, a dict, …"""
        return self.callee.compiled.specialization(self.callee.key).rebuild

    def batch_of(self, shapes: Mapping[str, Shape]) -> Shape:
        """The common leading axes of arguments of these shapes; raises for a shape that does not fit."""
        leading: dict[str, Shape] = {}
        for name, core in self.arrays.items():
            shape = tuple(shapes[name])
            split = len(shape) - len(core)
            if split < 0 or shape[split:] != core:
                expected = ", ".join(("…", *map(str, core)))
                raise ArgumentError(f"{name} has shape {shape}; expected ({expected})")
            leading[name] = shape[:split]
        batch = [1] * max(map(len, leading.values()))
        for shape in leading.values():  # np.broadcast_shapes does not know the sizes of torch.compile
            for axis, size in enumerate(shape, len(batch) - len(shape)):
                if batch[axis] == 1:
                    batch[axis] = size
                elif size not in (1, batch[axis]):
                    listed = ", ".join(f"{other} {axes}" for other, axes in leading.items())
                    raise ArgumentError(f"the batch axes do not broadcast: {listed}")
        return tuple(batch)
