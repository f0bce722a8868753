"""A step of whole-body control as machine code: a formula, a solver, and what is read from its solution."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.compiler.runtime.chain import Argument, Buffer, Chain, Numbers, Place, Result, Stage
from kinetree.compiler.runtime.code import Layout
from kinetree.compiler.runtime.jit import lazy_code
from kinetree.control.whole_body.problem import Problem
from kinetree.functions.bound_law import BoundLaw
from kinetree.functions.definition import Definition
from kinetree.functions.identity import identity
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.solvers import levels
from kinetree.solvers.stages import FIT

INFO = 4
"""Numbers that a solver tells of itself."""


class Compiled:
    """The stages of a step; `limit` is how often the active set may change."""

    def __init__(self, problem: Problem, limit: int) -> None:
        self.problem, self.limit = problem, limit

    @property
    def eager(self) -> bool:
        """Whether the formula runs by the textbook, uncompiled."""
        return self.formula.eager

    @lazy
    def state_size(self) -> int:
        """How many bounds and equations a solver says of whether they hold."""
        p = self.problem
        rows = p.dynamics.n + len(p.row_names)
        return rows * len(p.level_sizes) if p.is_strict else rows + len(p.equation_names)

    @lazy
    def arguments(self) -> dict[str, tuple[int, ...]]:
        return {**self.problem.arguments, "state": (self.state_size,)}

    @lazy
    def results(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of τ, a, forces, the next state, and what the solver tells of itself."""
        nv, held = self.problem.dynamics.robot.nv, self.problem.dynamics.held
        return (nv,), (nv,), (held,), (self.state_size,), (INFO,)

    @lazy
    def formula(self) -> BoundLaw:
        """What the solver is given, as a law."""
        problem = self.problem
        method = problem.levels if problem.is_strict else problem.program

        def formula(robot: Robot, *values: Any) -> Any:
            return method(robot, *values)

        formula.__signature__ = problem.signature  # type: ignore[attr-defined]
        formula.__name__ = formula.__qualname__ = "formula"
        shapes = {name: shape for name, shape in problem.arguments.items() if name not in ("q", "v")}
        own = identity("whole-body formula", problem.is_strict, problem)
        return BoundLaw(Definition(formula, shapes, identity=own), {"robot": problem.dynamics.robot}, {})

    @lazy
    def _reading(self) -> BoundLaw:
        """Torques, accelerations and forces from the solution, as a law of all inequalities, of which it reads some."""
        p = self.problem
        n, motors = p.dynamics.n, len(p.dynamics.motors)
        first = 0 if p.is_strict else len(p.equation_names)
        shapes = {"rows": (first + len(p.row_names), n), "x": (n,), "h": (p.dynamics.robot.nv,)}

        def reading(rows: Array, x: Array, h: Array) -> Any:
            return p.results(rows[first : first + motors], x, h)

        return BoundLaw(Definition(reading, shapes, identity=identity("whole-body reading", p)), {}, {})

    @property
    def _names(self) -> tuple[str, ...]:
        """Of what the formula gives."""
        if self.problem.is_strict:
            return ("J", "e", "D", "lower", "upper", "h")
        return ("J", "e", "squares", "slopes", "C", "lower", "upper", "h")

    def _solving(self, places: dict[str, Place], guess: Place) -> list[Stage]:
        """The solver, then what is read from its solution."""
        p, n = self.problem, self.problem.dynamics.n
        x, info = Buffer("x", n), Result(4)
        if p.is_strict:
            damping = Numbers((0.0, *[p.regularization**2] * len(p.priorities)))
            inputs = (places["J"], places["e"], damping, places["D"], places["lower"], places["upper"], guess)
            outputs: tuple[Place, ...] = (x, Result(3), info)
            solver = levels.stage(
                n, p.level_sizes, p.since, inputs, outputs, hard=True, shared=p.dynamics.held, limit=self.limit
            )
        else:
            m = len(p.equation_names) + len(p.row_names)
            rows = sum(task.size(p.dynamics) for task in p.stacked)
            counts = Numbers((float(rows), float(self.limit), float(p.dynamics.held)))
            outputs = (x, Buffer("multipliers", n + m), Result(3), info)
            solver = FIT.stage(n, m, (*(places[name] for name in self._names[:-1]), guess, counts), outputs)
        code = self._reading.traced.kernel.load("single")
        rows_at = places["D" if p.is_strict else "C"]
        read = Stage(code, code.workspace, (rows_at, x, places["h"]), tuple(map(Result, range(3))))
        return [solver, read]

    @lazy_code
    def chain(self) -> Chain:
        """The formula, the solver, and what is read from its solution."""
        arguments = [prod(shape) for shape in self.problem.arguments.values()]
        traced = self.formula.traced
        sizes = [prod(shape) for shape in traced.shapes]
        between = {name: Buffer(name, size) for name, size in zip(self._names, sizes, strict=True)}
        code = traced.kernel.load("single")
        inputs = tuple(Argument(k) for k in range(len(arguments)))
        first = Stage(code, code.workspace, inputs, tuple(between.values()))
        stages = [first, *self._solving(dict(between), Argument(len(arguments)))]
        return Chain(stages, Layout((*arguments, self.state_size), (*map(prod, self.results), 1)))

    def _solver_chain(self, sizes: list[int]) -> Chain:
        """The same for what the formula gave elsewhere."""
        places: dict[str, Place] = {name: Argument(k) for k, name in enumerate(self._names)}
        layout = Layout((*sizes, self.state_size), (*map(prod, self.results), 1))
        return Chain(self._solving(places, Argument(len(sizes))), layout)

    def by_textbook(self, given: list[Array], results: list[Array]) -> float:
        """A step without compiling its formula: how the solver ended."""
        *arguments, state = given
        parts = [np.ascontiguousarray(part, dtype=float).reshape(-1) for part in self.formula.call(*arguments)]
        status = np.empty(1)
        self._solver_chain([len(part) for part in parts]).single([*parts, state], [*results, status])
        return float(status[0])
