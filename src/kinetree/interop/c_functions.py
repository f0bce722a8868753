"""One exported function in C: a formula, or a formula and solvers one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.compiler import Argument, Buffer, CUnit, Numbers, Operand, Shape
from kinetree.functions.bound_law import BoundLaw
from kinetree.functions.compiled_function import PLAIN, CompiledFunction, Key
from kinetree.functions.pipeline import Pipeline
from kinetree.interop import c_names
from kinetree.interop.exported import ExportedFunction, traced
from kinetree.ops import Array
from kinetree.solvers import active_set
from kinetree.solvers.stages import Solver

STATUSES = {
    active_set.INFEASIBLE: "infeasible: what must hold contradicts itself",
    active_set.NOT_CONVEX: "not convex: the quadratic program has no minimum",
    active_set.ENDLESS: "iteration limit: the active set changed as often as it may",
    active_set.UNBOUNDED: "unbounded: the quadratic program falls without end",
    active_set.NOT_FINITE: "not finite: a number of the quadratic program is infinite or NaN",
    active_set.REDUNDANT: "redundant: equations depend on each other",
}
"""Why a solver ends without a solution."""


BY_THE_WAY = frozenset(("state", "info", "active", "multipliers"))
"""Results of solvers that depend on the way to the solution: rounding may change them where several ways lead there."""


@dataclass(frozen=True, eq=False)
class CFunction:
    """A function of C, with the names of its parameters."""

    name: str
    title: str
    """The name of the function in Python."""
    arguments: Mapping[str, tuple[str, Shape]]
    """By the name of the parameter: the name in Python, and the shape."""
    results: Mapping[str, tuple[str, Shape]]
    defaults: Mapping[str, Array]
    """By the name of the parameter."""
    body: Sequence[str]
    reasons: Sequence[str]
    memory: int
    """Bytes of the workspace."""
    compiled: CompiledFunction
    key: Key
    is_exact: bool
    """Whether its numbers are those of a formula, not of a solver."""


def formula(unit: CUnit, name: str, f: ExportedFunction, codes: Codes) -> CFunction:
    """A graph as a function of C."""
    arguments, results = _parameters(f.arguments, f.results)
    lines, memory = _call(unit, f"{name}_all", f, list(arguments), list(results), codes)
    defaults = {parameter: f.defaults[own] for parameter, (own, _) in arguments.items() if own in f.defaults}
    return CFunction(
        name, f.name, arguments, results, defaults, lines, f.refusals, memory, f.compiled, f.key, is_exact=True
    )


class Codes:
    """Numbers of all reasons for which functions of one file refuse a state."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix.upper()
        self.names: dict[str, str] = {}

    def __call__(self, reason: str) -> str:
        """The name of the code of a reason."""
        if reason not in self.names:
            (*_, name) = c_names.unique([*self.names.values(), f"{self.prefix}_{c_names.code_name(reason)}"])
            self.names[reason] = name
        return self.names[reason]


def _parameters(
    arguments: Mapping[str, Shape], results: Mapping[str, Shape]
) -> tuple[dict[str, tuple[str, Shape]], dict[str, tuple[str, Shape]]]:
    names = c_names.parameters([*arguments, *results])
    given = dict(zip(names, arguments.items(), strict=False))
    return given, dict(zip(names[len(arguments) :], results.items(), strict=True))


def _call(
    unit: CUnit, name: str, f: ExportedFunction, inputs: list[str], outputs: list[str], codes: Codes
) -> tuple[list[str], int]:
    """Statements that run a graph and return if it refuses the state, and the bytes of its workspace."""
    arguments, results = _parameters(f.arguments, f.results)
    refused = [f"refused_{k}" for k in range(len(f.refusals))]
    kernel = unit.kernel(name, f.program, list(arguments), [*results, *refused])
    real, lines = unit.real.name, []
    for flag in refused:
        lines.append(f"{real} {flag};")
    if kernel.slots:
        lines.append(f"{unit.prefix.upper()}_WORKSPACE {real} w[{kernel.slots}];")
    given = [*inputs, *outputs, *(f"&{flag}" for flag in refused), *["w"] * bool(kernel.slots)]
    lines.append(f"{name}({', '.join(given)});")
    for flag, reason in zip(refused, f.refusals, strict=True):
        lines += [f"if ({flag} != 0)", f"    return {codes(reason)};"]
    return lines, kernel.slots * unit.real.bits // 8


# -- solvers -----------------------------------------------------------------------------------------------------------


def chain(unit: CUnit, name: str, title: str, pipeline: Pipeline, codes: Codes) -> CFunction:
    """A formula and solvers, one after the other, as one function of C."""
    shapes = dict(zip(pipeline.result_names, pipeline.result_shapes(()), strict=True))
    results = {f"{own}_result" if own in pipeline.arrays else own: shape for own, shape in shapes.items()}
    arguments, outputs = _parameters(pipeline.arrays, results)
    places = _Places(unit, list(arguments), list(outputs))
    reasons: dict[str, None] = {}
    body: list[str] = []
    for s, stage in enumerate(pipeline.specialization().kernel.stages):
        is_formula = isinstance(stage.source, BoundLaw)
        inputs = [places(operand) for operand in stage.inputs[not is_formula :]]  # the first of a solver are its sizes
        written = [places(operand) for operand in stage.outputs]
        if is_formula:
            f = traced(stage.source, PLAIN, f"{title} {s}")
            lines, memory = _call(unit, f"{name}_formula{s}", f, inputs, written, codes)
            places.memory += memory
            reasons |= dict.fromkeys(f.refusals)
        else:
            lines = _solver(unit, stage.source, inputs, written, codes, places)
            reasons |= dict.fromkeys(STATUSES.values())
        body += ["{", *(f"    {line}" for line in lines), "}"]
    return CFunction(
        name, title, arguments, outputs, {}, [*places.lines, *body], tuple(reasons), places.memory, pipeline, PLAIN,
        is_exact=False,
    )  # fmt: skip


class _Places:
    """What operands of stages are called in C, and the memory between stages."""

    def __init__(self, unit: CUnit, arguments: list[str], results: list[str]) -> None:
        self._unit, self._arguments, self._results = unit, arguments, results
        self._known: dict[Operand, str] = {}
        self.lines: list[str] = []
        self.memory = 0

    def __call__(self, operand: Operand) -> str:
        if isinstance(operand, Argument):
            return self._arguments[operand.position]
        if operand not in self._known:
            if isinstance(operand, Buffer):
                self._known[operand] = self.buffer(f"between_{c_names.word(operand.name)}", operand.size)
            elif isinstance(operand, Numbers):
                name = self._known[operand] = f"numbers_{len(self._known)}"
                listed = ", ".join(map(self._unit.literal, operand.values)) or self._unit.literal(0.0)
                self.lines.append(f"static const double {name}[] = {{{listed}}};")
            else:
                return self._results[operand.position]
        return self._known[operand]

    def buffer(self, name: str, size: int) -> str:
        """Memory for this many numbers."""
        start = "" if size else " = {0}"
        self.lines.append(f"{self._unit.prefix.upper()}_WORKSPACE double {name}[{max(1, size)}]{start};")
        self.memory += 8 * max(1, size)
        return name


def _solver(
    unit: CUnit, solver: Solver, inputs: list[str], outputs: list[str], codes: Codes, places: _Places
) -> list[str]:
    """Statements that run a solver and return if it finds no solution."""
    method, n, m, s = solver
    symbol, _ = unit.loops(method.function)
    given = dict(zip((*method.inputs, *method.outputs), (*inputs, *outputs), strict=True)) | {"n": str(n), "m": str(m)}
    for name, (rows, stride) in method.workspace(n, m, s).items():
        given[name] = places.buffer(f"scratch_{name}", rows * stride)
    strides = method.strides(n, m, s)
    order = [name for name in method.function.__annotations__ if name != "return"]
    listed = [f"{given[name]}, {strides[name]}" if name in strides else given[name] for name in order]
    status = f"{outputs[-1]}[{active_set.STATUS}]"
    lines = [f"{symbol}({', '.join(listed)});", f"switch ((int){status}) {{"]
    for number, reason in STATUSES.items():
        lines += [f"case {number}:", f"    return {codes(reason)};"]
    return [*lines, "default:", "    break;", "}"]


# -- numbers for tests -------------------------------------------------------------------------------------------------


_SOLVER_STARTS = {"state": 0.0, "guess": 0.0, "lower": -1.0, "upper": 1.0}
"""Arguments of solvers, by name."""


def sample(compiled: CompiledFunction, defaults: Mapping[str, Array], rng: np.random.Generator) -> list[Array]:
    """Arguments of one state, such as a function may be called with: unit quaternions, poses, all switched on."""
    parts = compiled.parts if isinstance(compiled, Pipeline) else {}
    given = []
    for name, shape in compiled.arrays.items():
        if name in defaults:
            array = np.array(defaults[name])
        elif name in parts:
            array = np.zeros(shape)
            for at, inner in parts[name].values():
                array[at] = np.ravel(_some(inner, rng)) if name != "switches" else 1.0
        elif isinstance(compiled, Pipeline) and name in _SOLVER_STARTS:
            array = np.full(shape, _SOLVER_STARTS[name])
        else:
            array = _some(shape, rng)
            for part in _quaternions(compiled, name):
                array[part] /= np.linalg.norm(array[part])
        given.append(array)
    return given


def _quaternions(compiled: CompiledFunction, name: str) -> Sequence[slice]:
    first = compiled.first if isinstance(compiled, Pipeline) else compiled
    return () if first is None else first.quaternions.get(name, ())


def _some(shape: Shape, rng: np.random.Generator) -> Array:
    if len(shape) == 2 and shape[0] == shape[1]:
        return np.eye(shape[0])  # a pose or a matrix of gains
    return rng.uniform(-0.5, 0.5, shape)
