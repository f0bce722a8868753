"""Why a step of whole-body control has no solution, with names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.control.whole_body.problem import Problem
from kinetree.errors import InfeasibleError, IterationLimitError, NotFiniteError, QuadraticProgramError
from kinetree.ops import Array
from kinetree.solvers import active_set, qp


def why(
    problem: Problem, status: int, given: Mapping[str, Array], results: list[Array], limit: int
) -> QuadraticProgramError:
    """What a status means: `given` are the arguments of the step, `results` those of its formula."""
    unreadable = _not_finite(problem, given)
    if unreadable is not None:
        return unreadable
    if status == active_set.ENDLESS:
        return IterationLimitError(
            f"whole-body control found no solution within {limit} changes of what holds; its next step may start from "
            "the state of the last"
        )
    conflicting = conflict(problem, results)
    if conflicting:
        error = InfeasibleError(
            f"no accelerations and forces do what must be done: {', '.join(conflicting)} contradict each other"
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
