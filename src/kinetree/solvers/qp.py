"""Convex quadratic programs, small and dense: one call, whatever solves them.

minimise ½ xᵀ H x + gᵀ x   with   A x = b,   lower ≤ C x ≤ upper,   x_lower ≤ x ≤ x_upper
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant
from kinetree.compiler import Numbers, Operand, Result, Stage, once
from kinetree.errors import (
    ArgumentError,
    InfeasibleError,
    IterationLimitError,
    NotConvexError,
    NotFiniteError,
    QuadraticProgramError,
    UnboundedError,
)
from kinetree.functions.binding import native as native_method
from kinetree.functions.binding import text_of
from kinetree.functions.pipeline import Pipeline
from kinetree.linalg import RANK_TOLERANCE
from kinetree.ops import Array
from kinetree.solvers import active_set
from kinetree.solvers.stages import PROGRAM


@dataclass(frozen=True, eq=False)
class Solution:
    """The minimum x, (n,), and multipliers with H x + g + x_multipliers + Aᵀ A_multipliers + Cᵀ C_multipliers = 0.

    Multipliers are positive at upper bounds, negative at lower ones, and zero between. `active` says which bounds of x,
    A and C hold: -1 for lower, 1 for upper, 2 for an equation, 0 for none; the next solve may start from it.
    """

    x: Array
    x_multipliers: Array
    A_multipliers: Array
    C_multipliers: Array
    active: Array
    iterations: int


def solve(
    H: ArrayLike,
    g: ArrayLike,
    A: ArrayLike | None = None,
    b: ArrayLike | None = None,
    C: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    x_lower: ArrayLike | None = None,
    x_upper: ArrayLike | None = None,
    warm_start: Solution | ArrayLike | None = None,
) -> Solution:
    """The minimum of ½ xᵀ H x + gᵀ x with A x = b, lower ≤ C x ≤ upper and x_lower ≤ x ≤ x_upper.

    H is symmetric and positive semidefinite, of which the upper triangle is read; bounds may be infinite. `warm_start`
    is the solution of a program of the same sizes, or its `active`: it changes the time and not the result. Raises
    InfeasibleError, NotConvexError, UnboundedError or NotFiniteError.
    """
    g = _read("g", g, None)
    n = len(g)
    H = _read("H", H, (n, n))
    A, b = _rows("A", A, n), _read("b", b, None) if b is not None else np.zeros(0)
    C = _rows("C", C, n)
    if len(b) != len(A):
        raise ArgumentError(f"b has {len(b)} entries; expected {len(A)}, one for every row of A")
    k = len(C)
    bounds = [
        np.concatenate([_bound(x_name, x_bound, n, default), b, _bound(name, bound, k, default)])
        for x_name, x_bound, name, bound, default in (
            ("x_lower", x_lower, "lower", lower, -np.inf),
            ("x_upper", x_upper, "upper", upper, np.inf),
        )
    ]
    guess = warm_start.active if isinstance(warm_start, Solution) else warm_start
    guess = np.zeros(n + len(b) + k) if guess is None else _read("warm_start", guess, (n + len(b) + k,))
    rows = np.concatenate([A, C])
    x, z, active, info = program(n, len(rows)).run(H, g, rows, bounds[0], bounds[1], guess)
    of_x, of_A, of_C = np.split(z, [n, n + len(b)])
    return Solution(x, of_x, of_A, of_C, active, int(info[active_set.ITERATIONS]))


def _read(name: str, value: ArrayLike, shape: tuple[int, ...] | None) -> Array:
    array = np.ascontiguousarray(as_constant(name, value, np.shape(value) if shape is None else shape))
    if shape is None and array.ndim != 1:
        raise ArgumentError(f"{name} has shape {array.shape}; expected a vector")
    return array


def _rows(name: str, value: ArrayLike | None, n: int) -> Array:
    return np.zeros((0, n)) if value is None else _read(name, value, (len(np.atleast_1d(value)), n))


def _bound(name: str, value: ArrayLike | None, count: int, default: float) -> Array:
    return np.full(count, default) if value is None else _read(name, value, (count,))


@final
class Program(Pipeline):
    """Programs of n variables and m rows, as the solver takes them: lower ≤ (x, C x) ≤ upper."""

    def __init__(self, n: int, m: int) -> None:
        self.n, self.m = n, m
        arrays = {"H": (n, n), "g": (n,), "C": (m, n)} | dict.fromkeys(("lower", "upper", "guess"), (n + m,))
        super().__init__("run", arrays, {"x": (n,), "multipliers": (n + m,), "active": (n + m,), "info": (4,)})

    @native_method
    def run(
        self, H: Array, g: Array, C: Array, lower: Array, upper: Array, guess: Array
    ) -> tuple[Array, Array, Array, Array]:
        """x, multipliers, what is active, and `info` of `active_set`; raises where there is no solution."""
        solved: tuple[Array, Array, Array, Array] = self.evaluate((H, g, C, lower, upper, guess))
        return solved

    def stages(self, operands: Mapping[str, Operand]) -> list[Stage]:
        inputs = (*(operands[name] for name in self.arrays), Numbers((0.0,)))
        return [PROGRAM.stage(self.n, self.m, inputs, tuple(map(Result, range(4))))]

    def refuse(self, status: int, given: list[Array], results: list[Array]) -> NoReturn:
        refuse(status, given, results[1])

    def _native_call(self, method: FunctionType) -> Callable[..., Any] | None:
        return self.native_call(self, "run", text_of(method), method, __name__)


@once
def program(n: int, m: int) -> Program:
    """The solver for these sizes, made once."""
    return Program(n, m)


def conflict(C: Array, right: Array, shared: int, lower: Array, upper: Array) -> tuple[int, ...]:
    """Rows of (x, C) that contradict each other, if some do: equations C x = right, of which the first `shared` are
    met in the sense of least squares, or C with bounds behind those of x."""
    n = C.shape[1]
    J = C[:shared]
    best = J @ np.linalg.lstsq(J, right[:shared], rcond=RANK_TOLERANCE)[0]
    equations = np.concatenate([best, right[shared:]])
    bounds = [np.concatenate([bound[:n], equations, bound[n:]]) for bound in (lower, upper)]
    try:
        program(n, len(C)).run(np.eye(n), np.zeros(n), C, bounds[0], bounds[1], np.zeros(len(bounds[0])))
    except InfeasibleError as error:
        return error.rows
    except QuadraticProgramError:
        pass
    return ()


def refuse(status: int, given: list[Array], multipliers: Array) -> NoReturn:
    """Raise what a status means; `given` are H, g, C, the lower and the upper bounds."""
    names = ("H", "g", "C")
    for name, array in zip(names, given, strict=False):
        if not np.isfinite(array).all():
            raise NotFiniteError(f"{name} of the quadratic program has {_first(array)}; expected finite numbers")
    for name, array in zip(("lower", "upper"), given[3:], strict=False):
        if np.isnan(array).any():
            raise NotFiniteError(f"the {name} bounds of the quadratic program have {_first(array)}")
    if status == active_set.INFEASIBLE:
        rows = tuple(int(k) for k in np.flatnonzero(np.abs(multipliers) > 1e-9 * np.abs(multipliers).max()))
        listed = ", ".join(map(str, rows[:6])) + (", …" if len(rows) > 6 else "")
        error = InfeasibleError(
            f"no point satisfies the quadratic program: rows {listed} of (x, A, C) contradict each other"
        )
        error.rows = rows
        raise error
    if status == active_set.NOT_CONVEX:
        raise NotConvexError("H of the quadratic program is not positive semidefinite, so that it has no minimum")
    if status == active_set.UNBOUNDED:
        raise UnboundedError("the quadratic program falls without end in a direction that H and its bounds leave free")
    if status == active_set.ENDLESS:
        raise IterationLimitError("the quadratic program was not solved within the changes of its active set allowed")
    raise QuadraticProgramError("the quadratic program was not solved: its numbers are too far apart in size")


def _first(array: Array) -> str:
    index = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
    return f"{array[index]} at {list(index)}"
