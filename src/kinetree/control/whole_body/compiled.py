"""A step of whole-body control as machine code: a formula, a solver, and what is read from its solution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.compiler import Buffer, Numbers, Operand, Result, Stage
from kinetree.control.whole_body.fallback import Safe
from kinetree.control.whole_body.problem import Problem
from kinetree.errors import InfeasibleError, IterationLimitError, KinetreeError, NotFiniteError, QuadraticProgramError
from kinetree.functions.bound_law import BoundLaw, law_of_method
from kinetree.functions.definition import Definition
from kinetree.functions.identity import identity
from kinetree.functions.pipeline import Pipeline
from kinetree.ops import Array
from kinetree.solvers import active_set, hierarchical_qp, qp
from kinetree.solvers.stages import FIT

INFO = 4
"""Numbers that a solver tells of itself."""


class Compiled(Pipeline):
    """The stages of a step; `limit` is how often the active set may change, `safe` what a step without a solution
    gives, None for an error."""

    def __init__(self, problem: Problem, limit: int, safe: Safe | None) -> None:
        self.problem, self.limit, self.safe = problem, limit, safe
        nv, held, size = problem.dynamics.robot.nv, problem.dynamics.held, self.state_size
        results = {"tau": (nv,), "a": (nv,), "forces": (held,), "state": (size,), "info": (INFO,)}
        super().__init__("solve", {**problem.arguments, "state": (size,)}, results, problem.dynamics.robot)
        of_rows = ("J", "e", "D") if problem.is_strict else ("J", "e", "squares", "slopes", "C")
        self.between = (*of_rows, "lower", "upper", "h", "m")

    @lazy
    def state_size(self) -> int:
        """How many bounds and equations a solver says of whether they hold."""
        p = self.problem
        rows = p.dynamics.n + len(p.row_names)
        return rows * len(p.level_sizes) if p.is_strict else rows + len(p.equation_names)

    @lazy
    def parts(self) -> dict[str, dict[str, tuple[slice, tuple[int, ...]]]]:  # type: ignore[override]
        """Of references, switches and forces."""
        p, nv = self.problem, self.problem.dynamics.robot.nv
        names = [*(contact.name for contact in p.dynamics.contacts), *(task.name for task in p.tasks)]
        forces = {name: slice(at.start - nv, at.stop - nv) for name, at in p.dynamics.forces.items()}
        return {
            "reference": {f"{task} {name}": at for task, own in p.references.items() for name, at in own.items()},
            "switches": {str(name): (slice(k, k + 1), ()) for k, name in enumerate(names)},
            "forces": {name: (at, (at.stop - at.start,)) for name, at in forces.items()},
        }

    @lazy
    def first(self) -> BoundLaw:
        """What the solver is given, as a law."""
        problem = self.problem
        method = problem.levels if problem.is_strict else problem.program
        own = identity("whole-body formula", problem.is_strict, problem)
        return law_of_method("formula", method, problem.arguments, problem.dynamics.robot, own)

    @lazy
    def _reading(self) -> BoundLaw:
        """Torques, accelerations and forces from the solution, as a law of all inequalities, of which it reads some."""
        p = self.problem
        n, motors = p.dynamics.n, len(p.dynamics.motors)
        first = 0 if p.is_strict else len(p.equation_names)
        shapes = {"rows": (first + len(p.row_names), n), "x": (n,), "h": (p.dynamics.robot.nv,), "m": (1,)}

        def reading(rows: Array, x: Array, h: Array, m: Array) -> Any:
            return p.results(rows[first : first + motors], x, h, m[0])

        return BoundLaw(Definition(reading, shapes, identity=identity("whole-body reading", p)), {}, {})

    def stages(self, operands: Mapping[str, Operand]) -> list[Stage]:
        """The solver, then what is read from its solution."""
        p, n = self.problem, self.problem.dynamics.n
        x, info = Buffer("x", n), Result(4)
        if p.is_strict:
            damping = Numbers((0.0, *[p.regularization**2] * len(p.priorities)))
            J, e, D, lower, upper, state = (operands[name] for name in ("J", "e", "D", "lower", "upper", "state"))
            outputs: tuple[Operand, ...] = (x, Result(3), info)
            solver = hierarchical_qp.stage(
                n, p.level_sizes, p.since, (J, e, damping, D, lower, upper, state), outputs, hard=True,
                shared=p.dynamics.held, limit=self.limit,
            )  # fmt: skip
        else:
            m = len(p.equation_names) + len(p.row_names)
            rows = sum(task.size for task in p.stacked)
            counts = Numbers((float(rows), float(self.limit), float(p.dynamics.held)))
            outputs = (x, Buffer("multipliers", n + m), Result(3), info)
            inputs = (*(operands[name] for name in self.between[:-2]), operands["state"], counts)
            solver = FIT.stage(n, m, inputs, outputs)
        code = self._reading.specialization().kernel.load("single")
        solved = (operands["D" if p.is_strict else "C"], x, operands["h"], operands["m"])
        read = Stage(code, code.workspace, solved, tuple(map(Result, range(3))), self._reading)
        return [solver, read]

    # -- without a solution ------------------------------------------------------------------------------------

    def refuse(self, status: int, given: list[Array], results: list[Array]) -> None:
        """Raise, or write what the fallback gives."""
        if self.safe is None:
            raise self.why(status, given)
        q, v, _, switches, _, *parameters = given
        tau, a, forces, state, info = results
        tau[...] = self.safe.torques(q, v, switches, *parameters)
        a[...] = forces[...] = np.nan
        state[...] = 0.0
        info[...] = (float(status), 0.0, 0.0, 0.0)

    def why(self, status: int, given: list[Array]) -> KinetreeError:
        """The error of a step that ended with this status."""
        try:
            with np.errstate(all="ignore"):
                results = [np.asarray(part, dtype=float) for part in self.formula_at(given)]
        except KinetreeError as error:  # q is no configuration, or a target no pose
            return error
        return why(self.problem, status, dict(zip(self.arrays, given, strict=True)), results, self.limit)


def why(
    problem: Problem, status: int, given: Mapping[str, Array], results: list[Array], limit: int
) -> QuadraticProgramError:
    """What a status means: `given` are the arguments of the step, `results` those of its formula."""
    unreadable = _not_finite(problem, given)
    if unreadable is not None:
        return unreadable
    if status == active_set.ENDLESS:
        return IterationLimitError(
            f"whole-body control found no solution within {limit} changes of the active set; its next step may start "
            "from the state of the last"
        )
    conflicting = conflict(problem, results)
    if conflicting:
        error = InfeasibleError(
            f"no accelerations and forces satisfy all hard constraints: {', '.join(conflicting)} contradict each other"
        )
        error.conflicting = conflicting
        return error
    return QuadraticProgramError(
        f"whole-body control found no solution: its numbers are too far apart in size (status {status})"
    )


def conflict(problem: Problem, results: list[Array]) -> tuple[str, ...]:
    """Names of equations and hard bounds that contradict each other, if some do."""
    n, count = problem.dynamics.n, len(problem.equation_names)
    names = [*problem.variable_names, *problem.equation_names, *problem.row_names]
    if problem.is_strict:
        J, e, D, lower, upper = results[:5]
        hard = np.concatenate([np.full(n, True), np.array(problem.since) < 0])
        C, right = np.concatenate([J[:count], D]), e[:count]
        lower, upper = np.where(hard, lower, -np.inf), np.where(hard, upper, np.inf)
    else:
        C, lower, upper = results[4:7]
        right = lower[n : n + count]
        lower, upper = (np.delete(bound, slice(n, n + count)) for bound in (lower, upper))
    if not np.isfinite(C).all() or not np.isfinite(right).all():
        return ()
    rows = qp.conflict(C, right, problem.dynamics.held, lower, upper)
    return tuple(dict.fromkeys(names[row] for row in rows))


def _not_finite(problem: Problem, given: Mapping[str, Array]) -> NotFiniteError | None:
    for name, array in given.items():
        wrong = np.flatnonzero(~np.isfinite(array))
        if not len(wrong):
            continue
        k = int(wrong[0])
        if name == "reference":
            for task, own in problem.references.items():
                for part, (at, _) in own.items():
                    if at.start <= k < at.stop:
                        return NotFiniteError(f"{part} of task {task!r} has {array[k]}; expected finite numbers")
        return NotFiniteError(f"{name} has {array[k]} at [{k}]; expected finite numbers")
    return None
