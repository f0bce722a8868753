"""Directional derivatives of compiled functions, also compiled: J ẋ by forward mode and Jᵀ ȳ by reverse mode.

Automatic differentiation of other libraries asks for these two products. Every argument counts as plain numbers there:
unlike in `kt.jacobian`, a configuration is differentiated by its nq numbers. A derivative is a compiled function
itself, so it has derivatives in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.compiler import Node, Shape, array_operations_if, as_node, differentiate
from kinetree.errors import unknown
from kinetree.functions.compiled_function import PLAIN, CompiledFunction, Key, Options
from kinetree.functions.result_tree import flatten
from kinetree.functions.specialization import is_result
from kinetree.ops import Array

Mode = Literal["jvp", "vjp"]


class Directional(CompiledFunction):
    """A directional derivative of a function with respect to some of its arrays, `wrt`.

    jvp    J ẋ: takes the arrays and the rates ẋ of those of `wrt`; returns the rates of all results
    vjp    Jᵀ ȳ: takes the arrays and the weights ȳ of all results; returns the derivatives of Σ ȳ·y by those of `wrt`

    The results are a tuple.
    """

    def __init__(self, primal: CompiledFunction, key: Key, mode: Mode, wrt: tuple[str, ...]) -> None:
        super().__init__()
        careful = primal.careful(key.options)
        self.primal, self.key, self.mode, self.wrt = primal if careful is None else careful, key, mode, wrt
        self.name = f"{primal.name}_{mode}"
        self.title = f"{mode} of {primal.title or primal.name}"
        self.eager, self.dtype, self.quaternions = primal.eager, self.primal.dtype, primal.quaternions
        shapes = [primal.arrays[name] for name in wrt]
        if mode == "jvp":
            added, self._shapes = {f"d{name}": primal.arrays[name] for name in wrt}, shapes_of(primal, key)
        else:
            added = {f"weights{k}": shape for k, shape in enumerate(shapes_of(primal, key))}
            self._shapes = tuple(shapes)
        arrays = dict(primal.arrays)
        for name, shape in added.items():
            while name in arrays:  # a derivative of a derivative has them already
                name += "_"
            arrays[name] = shape
        self.arrays = arrays

    def transposed(self) -> Directional:
        """The vjp of a jvp, and the reverse, with respect to the same arrays."""
        return directional(self.primal, self.key, "vjp" if self.mode == "jvp" else "jvp", self.wrt)

    def result_shapes(self, options: Options) -> tuple[Shape, ...]:
        return self._shapes

    def identity(self, key: Key) -> str | None:
        own = self.primal.identity(self.key)
        return None if own is None else f"{self.mode} by {self.wrt} of {own}"

    def formula(self, key: Key) -> Callable[..., Any]:
        formula, mode = self.primal.formula(self.key), self.mode
        names = list(self.primal.arrays)
        places = [names.index(name) for name in self.wrt]

        def run(*values: Array) -> tuple[Array, ...]:
            arrays, linear = values[: len(names)], values[len(names) :]
            with array_operations_if(False):  # only scalar nodes have derivatives
                leaves, _ = flatten(formula(*(array.copy() for array in arrays)), is_result)
            results = [np.asarray(leaf, dtype=object) for leaf in leaves]
            chosen = [arrays[place] for place in places]
            return _forward(results, chosen, linear) if mode == "jvp" else _reverse(results, chosen, linear)

        return run

    def on_numbers(self, key: Key) -> Callable[..., Any]:
        """The graph, evaluated node by node, for a state that the function does not refuse."""

        def run(*values: Array) -> tuple[Array, ...]:
            self.primal.on_numbers(self.key)(*values[: len(self.primal.arrays)])  # raises for a refused state
            numbers = iter(self._graph.evaluate([x for array in values for x in np.ravel(array)]))
            return tuple(np.array([next(numbers) for _ in range(prod(shape))]).reshape(shape) for shape in self._shapes)

        return run

    @lazy
    def _graph(self) -> Any:
        return self.specialization().graph

    def _twin(self, dtype: np.dtype[Any]) -> CompiledFunction | None:
        other = self.primal.astype(dtype)
        return None if other is None else directional(other, self.key, self.mode, self.wrt)


def directional(primal: CompiledFunction, key: Key, mode: Mode, wrt: Sequence[str]) -> Directional:
    """The directional derivative of a function, cached in the function."""
    for name in wrt:
        if name not in primal.arrays:
            raise unknown(f"argument of {primal.name}", name, primal.arrays)
    which = (key, mode, tuple(wrt))
    found: Directional | None = primal._directional.get(which)
    if found is None:
        found = primal._directional.setdefault(which, Directional(primal, key, mode, tuple(wrt)))
    return found


def shapes_of(function: CompiledFunction, key: Key = PLAIN) -> tuple[Shape, ...]:
    """The shapes of the results for one state."""
    known = function.result_shapes(key.options)
    return function.specialization(key).shapes if known is None else known


def _forward(results: list[Array], chosen: list[Array], rates: Sequence[Array]) -> tuple[Array, ...]:
    """The rates of all results."""
    direction = dict(zip(_nodes(chosen), _nodes(rates), strict=True))
    found = iter(differentiate.forward(_nodes(results), [direction]))
    return tuple(_filled((next(found).get(0) for _ in range(array.size)), array.shape) for array in results)


def _reverse(results: list[Array], chosen: list[Array], weights: Sequence[Array]) -> tuple[Array, ...]:
    """The derivatives of the weighted sum of all results."""
    total = as_node(0.0)
    for result, weight in zip(_nodes(results), _nodes(weights), strict=True):
        total = total + result * weight
    found = iter(differentiate.reverse(total, _nodes(chosen)))
    return tuple(_filled((next(found) for _ in range(array.size)), array.shape) for array in chosen)


def _nodes(arrays: Sequence[Array]) -> list[Node]:
    return [as_node(value) for array in arrays for value in array.ravel()]


def _filled(values: Any, shape: Shape) -> Array:
    """An array of nodes, zero where there is none."""
    array = np.empty(prod(shape), dtype=object)
    array[:] = [as_node(0.0) if value is None else value for value in values]
    return array.reshape(shape)
