"""A function of configurations as one of displacements too: f(q ⊕ dq, …), whose derivatives by dq are on the tangent
space of the configurations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.algorithms.configuration import integrate
from kinetree.compiler import Shape
from kinetree.functions.compiled_function import CompiledFunction, Key, Options
from kinetree.functions.directional import shapes_of
from kinetree.ops import Array


class Displaced(CompiledFunction):
    """f(q ⊕ dq, …): each configuration q is followed by a displacement dq, (…, nv)."""

    def __init__(self, primal: CompiledFunction, key: Key) -> None:
        super().__init__()
        careful = primal.careful(key.options)
        self.primal, self.key = primal if careful is None else careful, key
        self.name, self.title = primal.name, f"displaced {primal.title or primal.name}"
        self.eager, self.dtype, self.presets = primal.eager, self.primal.dtype, primal.presets
        self.quaternions, self._shapes = primal.quaternions, shapes_of(primal, key)
        self.arrays: dict[str, Shape] = {}
        for name, shape in primal.arrays.items():
            self.arrays[name] = shape
            if name in primal.configurations:
                self.arrays[f"d{name}"] = (primal.configurations[name].nv,)

    def result_shapes(self, options: Options) -> tuple[Shape, ...]:
        return self._shapes

    def identity(self, key: Key) -> str | None:
        own = self.primal.identity(self.key)
        return None if own is None else f"displaced {own}"

    def formula(self, key: Key) -> Callable[..., Any]:
        return self._after(self.primal.formula(self.key))

    def on_numbers(self, key: Key) -> Callable[..., Any]:
        return self._after(self.primal.on_numbers(self.key))

    def _after(self, formula: Callable[..., Any]) -> Callable[..., Any]:
        """The formula of displaced configurations."""
        names, models = list(self.primal.arrays), dict(self.primal.configurations)

        def run(*values: Array) -> Any:
            given = iter(values)
            return formula(*(_moved(models.get(name), next(given), given) for name in names))

        return run

    def _twin(self, dtype: np.dtype[Any]) -> CompiledFunction | None:
        other = self.primal.astype(dtype)
        return None if other is None else Displaced(other, self.key)


def _moved(model: Any, array: Array, following: Any) -> Array:
    return array if model is None else integrate(model, array, next(following))
