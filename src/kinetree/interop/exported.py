"""Anything compiled as a graph with names and shapes: what every exporter prints.

f = exported(robot.frame("tool0").jacobian)
f.arguments, f.results, f.refusals       {"q": (6,)}, {"result": (6, 6)}, ()
for node in f.graph.nodes(): ...         operands first; f.graph.outputs are the results, flat, then the refusals
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.base.precision import FLOAT64, as_dtype, computing_in
from kinetree.compiler import Graph, Shape, any_broken, array_operations_if, build, collected_requirements, host, lock
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.bound_law import BoundLaw
from kinetree.functions.compiled_function import PLAIN, CompiledFunction, Key
from kinetree.functions.law import Law
from kinetree.functions.pipeline import Pipeline
from kinetree.functions.result_tree import Rebuild, flatten, paths
from kinetree.functions.specialization import index_text, is_result
from kinetree.ops import Array
from kinetree.robot.quantity import HasQuantities, prepared, quantities_of


@dataclass(frozen=True, eq=False)
class ExportedFunction:
    """A function of arrays for one state, as a graph."""

    name: str
    arguments: Mapping[str, Shape]
    results: Mapping[str, Shape]
    program: Any
    """The graph in an order, cut into parts: `compiler.program.Program`."""
    refusals: tuple[str, ...]
    """Why a state may be refused. The graph has an output for each behind the results: not zero for a refused state."""
    defaults: Mapping[str, Array]
    """Values of arguments that a call may leave out, such as gains."""
    rebuild: Rebuild
    """The structure of the result (array, tuple, dict, …) from the list of its arrays."""
    compiled: CompiledFunction
    key: Key
    """What calls of Python run: `compiled.specialization(key)`, `compiled.formula(key)`."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float64 or float32."""
        return self.program.target.dtype

    @lazy
    def graph(self) -> Graph:
        """The graph, with names of its inputs and outputs."""
        names = [f"{name}{index_text(i)}" for name, core in self.arguments.items() for i in np.ndindex(*core)]
        results = [f"{name}{index_text(i)}" for name, core in self.results.items() for i in np.ndindex(*core)]
        results += [f"refused[{k}]" for k in range(len(self.refusals))]
        return replace(self.program.graph, names=tuple(names), results=tuple(results))


def exported(
    function: Any, name: str | None = None, *, dtype: Any = None, fused: bool = False, arrays: bool = False
) -> ExportedFunction:
    """The graph of anything compiled: a quantity of a robot, a frame or constraints, a law bound to its robots, a
    controller, a derivative of any of them.

    It is for numbers of this dtype, by default the function's. With `fused`, products and sums are one operation where
    that is possible (`fma`); with `arrays`, large solves and products of matrices are one node each (`rows`).
    """
    compiled, key, called = formula_of(function)
    return traced(compiled, key, name or called, dtype, fused, arrays)


def formula_of(function: Any) -> tuple[CompiledFunction, Key, str]:
    """What `resolved` gives, if it is a formula and no solver."""
    compiled, key, called = resolved(function)
    if isinstance(compiled, Pipeline):
        raise ArgumentTypeError(
            f"{called} is a solver, whose loops are no graph; expected a formula (kt.to_c takes solvers)"
        )
    return compiled, key, called


def traced(
    compiled: CompiledFunction, key: Key, name: str, dtype: Any = None, fused: bool = True, arrays: bool = True,
    lanes: int = 8,
) -> ExportedFunction:  # fmt: skip
    """The graph of a compiled function for this key; its program is for registers of this many numbers."""
    kind = compiled.dtype if dtype is None else as_dtype(dtype)
    careful = compiled.careful(key.options) if kind == FLOAT64 else None
    formula = (compiled if careful is None else careful).formula(key)
    found = _Traced(formula, kind, arrays)
    target = replace(host().computing_in(kind), lanes=lanes, fuses=fused)
    with lock:
        program = build(found.run, list(compiled.arrays.values()), target, name)
    names = result_names(found.paths, compiled.arrays)
    results = dict(zip(names, program.output_shapes, strict=False))
    return ExportedFunction(
        name, dict(compiled.arrays), results, program, found.refusals, compiled.presets, found.rebuild, compiled, key
    )


class _Traced:
    """A formula that tells, as it is traced, the structure of its result and the reasons for which it refuses."""

    rebuild: Rebuild
    paths: list[str]
    refusals: tuple[str, ...]

    def __init__(self, formula: Callable[..., Any], dtype: np.dtype[Any], arrays: bool) -> None:
        self._formula, self._dtype, self._arrays = formula, dtype, arrays

    def run(self, *given: Array) -> tuple[Any, ...]:
        """The results, and for each reason whether the state is refused."""
        with collected_requirements() as conditions, computing_in(self._dtype), array_operations_if(self._arrays):
            result = self._formula(*given)
        leaves, self.rebuild = flatten(result, is_result)
        self.paths = paths(result, is_result)
        broken = {reason: any_broken(group) for reason, group in conditions.by_sentence().items()}
        self.refusals = tuple(broken)
        return (*leaves, *broken.values())


def resolved(function: Any) -> tuple[CompiledFunction, Key, str]:
    """The compiled function behind a callable or a controller, the key of its calls, and its name."""
    owner, method = getattr(function, "__self__", None), getattr(function, "__name__", "")
    for found in (function, owner):
        behind = getattr(found, "_compiled_function", None)
        if isinstance(behind, CompiledFunction):
            return behind, PLAIN, _snake(type(found).__name__)
        if isinstance(found, BoundLaw | Pipeline):
            return found, PLAIN, _snake(found.name)
    if isinstance(owner, HasQuantities) and method in quantities_of(type(owner)):
        ((quantity, key),) = prepared(owner, [method])
        prefix = f"{quantity.subject}_" if isinstance(quantity.subject, str) else ""
        return quantity, key, f"{prefix}{quantity.name}"
    if isinstance(function, Law):
        return _without_robots(function), PLAIN, _snake(function.__name__)
    raise ArgumentTypeError(
        f"{short(function)} is not compiled; expected a quantity such as robot.inverse_dynamics, law.bind(robot), a "
        "controller, or kt.jacobian of one of them"
    )


def _without_robots(law: Law) -> BoundLaw:
    definition = law.definition
    for name in definition.names:
        if name not in definition.defaults and definition._declared(name) is None:
            raise ArgumentError(
                f"{law.__name__} is not bound to a robot; expected {law.__name__}.bind(robot), or the shape of {name!r}"
            )
    return BoundLaw(definition, {}, definition.defaults)


def common_operations(library: Any) -> dict[str, Callable[..., Any]]:
    """Operations of graphs that are operators of Python, and those that a library calls as graphs do."""
    signs = {"neg": operator.neg, "add": operator.add, "sub": operator.sub, "mul": operator.mul}
    names = ("sqrt", "sin", "cos", "tan", "exp", "log", "tanh", "atan2")
    return {**signs, "div": operator.truediv, **{name: getattr(library, name) for name in names}}


def result_names(paths: Iterable[str], arguments: Mapping[str, Any]) -> list[str]:
    """The names of results at these paths, none of which is that of an argument."""
    found: list[str] = []
    for path in paths:  # such as result[0] or result['tau']
        inner = re.sub(r"\W+", "_", path.removeprefix("result")).strip("_")
        name = inner if inner[:1].isalpha() else f"result_{inner}".strip("_")
        while name in arguments or name in found:
            name += "_result" if name in arguments else "_"
        found.append(name)
    return found


def _snake(name: str) -> str:
    """computed_torque of ComputedTorque."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() if name[:1].isupper() else name
