"""Solvers written in loops as stages of a chain: machine code for given sizes, or one code for all.

A stage reads its sizes, n, m and s, its inputs, writes its outputs and a status, and works in scratch matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kinetree.compiler import (
    ONE,
    SINGLE,
    Lines,
    Loaded,
    Numbers,
    Operand,
    Stage,
    call_text,
    loop_stage,
    loops_module,
    once,
)
from kinetree.solvers import active_set, hierarchical_qp_kernel, least_squares, level_bounds, shared_equations

FEW = 12
"""Variables up to which code of its own pays for a solver that is called often: loops of a few turns are unrolled."""


@dataclass(frozen=True, eq=False)
class Method:
    """A solver: what it reads and writes, in this order, and the matrices it works in.

    Matrices have a distance of rows, scratch also a number of rows: a number or one of the names in `_sizes`.
    """

    function: Callable[..., Any]
    inputs: Mapping[str, str | None]
    outputs: tuple[str, ...]
    """The first entry of the last one is the status."""
    scratch: Mapping[str, tuple[int | str, str]]

    def workspace(self, n: int, m: int, s: int = 0) -> dict[str, tuple[int, int]]:
        """Rows of every scratch matrix and their distance."""
        sizes = _sizes(n, m, s)
        return {
            name: (rows if isinstance(rows, int) else sizes[rows], sizes[stride])
            for name, (rows, stride) in self.scratch.items()
        }

    def stage(
        self, n: int, m: int, inputs: tuple[Operand, ...], outputs: tuple[Operand, ...], own: bool = False, s: int = 0
    ) -> Stage:
        """For these sizes; with code of its `own`, faster for a few variables, or with that for all sizes."""
        size = 8 * sum(rows * stride for rows, stride in self.workspace(n, m, s).values())
        code = _code(self, n, m) if own and n <= FEW and not s else _code(self, 0, 0)
        return Stage(code, size, (Numbers((float(n), float(m), float(s))), *inputs), outputs, Solver(self, n, m, s))

    def strides(self, n: int, m: int, s: int = 0) -> dict[str, int]:
        """The distance of rows of every matrix among the inputs and in the workspace."""
        sizes = _sizes(n, m, s)
        given = {name: sizes[stride] for name, stride in self.inputs.items() if stride is not None}
        return given | {name: stride for name, (_, stride) in self.workspace(n, m, s).items()}


class Solver(NamedTuple):
    """A method for given sizes."""

    method: Method
    n: int
    m: int
    s: int


_ACTIVE_SET: dict[str, tuple[int | str, str]] = {
    "U": ("n + s", "along"),
    "Q": ("n + s + 1", "along"),
    "K": ("n + s + 1", "across"),
    "S": (active_set.SET_ROWS, "across"),
}

PROGRAM = Method(
    active_set.minimise,
    {"H": "n", "g": None, "C": "n", "lower": None, "upper": None, "guess": None, "limit": None},
    ("x", "multipliers", "active", "info"),
    {**_ACTIVE_SET, "Z": (active_set.POINT_ROWS, "along")},
)
"""A quadratic program of n variables and m rows."""

_SHARED: dict[str, tuple[int | str, str]] = {
    **_ACTIVE_SET,
    "Z": (active_set.POINT_ROWS, "along"),
    "B": ("m", "along"),
    "R": (shared_equations.SHARED_ROWS, "wide"),
}

SHARED_PROGRAM = Method(
    shared_equations.minimise_shared,
    {"H": "n", "g": None, "C": "n", "lower": None, "upper": None, "guess": None, "counts": None},
    ("x", "multipliers", "active", "info"),
    _SHARED,
)
"""A quadratic program of n variables and m rows, of which the first are equations that may contradict each other."""

FIT = Method(
    least_squares.fit,
    {
        "J": "n", "e": None, "squares": None, "linear": None, "C": "n", "lower": None, "upper": None, "guess": None,
        "counts": None,
    },
    ("x", "multipliers", "active", "info"),
    {"H": ("n", "along"), "g": (1, "along"), **_SHARED},
)  # fmt: skip
"""Least squares of n variables within bounds of them and of m rows."""

HIERARCHY = Method(
    hierarchical_qp_kernel.descend,
    {
        "levels": None, "J": "n", "e": None, "damping": None, "D": "n", "since": None, "lower": None, "upper": None,
        "guess": None,
    },
    ("x", "active", "info"),
    {
        "Z": ("n", "along"),
        "B": ("m", "along"),
        "G": ("n + s", "along"),
        "C": ("m", "along"),
        "T": (5, "wide"),
        "bounds": (level_bounds.BOUND_ROWS, "wide"),
        **_ACTIVE_SET,
        "Y": (active_set.POINT_ROWS, "along"),
    },
)  # fmt: skip
"""Levels of tasks with n variables; m is the most rows that a level has, and no less than those with bounds; s is the
most that begin at one level."""


def _up(size: int) -> int:
    """The size rounded up to full lines of the cache."""
    return -(-size // 8) * 8


def _sizes(n: int, m: int, s: int) -> dict[str, int]:
    return {
        "n": n, "m": m, "n + s": n + s, "n + s + 1": n + s + 1, "along": _up(n + s), "across": _up(n + s + 1),
        "wide": _up(n + m + s),
    }  # fmt: skip


@once
def _code(method: Method, n: int, m: int) -> Loaded:
    """Machine code for these sizes; for (0, 0) it reads them."""
    name = f"{method.function.__qualname__} {n} {m}"
    return loop_stage(name, lambda: stage_assembly(method, n, m), 40 * max(n, 20) ** 2)


def stage_assembly(method: Method, n: int = 0, m: int = 0) -> str:
    """The module of a method, for these sizes or for all."""
    b = Lines(ONE)
    place = {name: b.word("%in", k, "ptr") for k, name in enumerate(("sizes", *method.inputs))}
    place |= {name: b.word("%out", k, "ptr") for k, name in enumerate((*method.outputs, "status"))}
    size_of = {name: str(size) for name, size in _sizes(n, m, 0).items()} if n else _read_sizes(b, place["sizes"])
    strides = {name: stride for name, stride in method.inputs.items() if stride is not None}
    start = "%work"
    for name, (rows, stride) in method.scratch.items():
        place[name], strides[name] = start, stride
        count = rows if isinstance(rows, int) else size_of[rows]
        start = b.at(start, b.i64("mul", count, size_of[stride]), "double")
    matrices = {name: f"{place[name]}, {size_of[stride]}" for name, stride in strides.items()}
    b.add(call_text(method.function, {**place, **matrices, "n": size_of["n"], "m": size_of["m"]}))
    b.store("double", b.load("double", place[method.outputs[-1]]), place["status"])
    return loops_module(method.function, b.function(SINGLE, "ptr %in, ptr %out, ptr %work"))


def _read_sizes(b: Lines, numbers: str) -> dict[str, str]:
    """`_sizes` of the numbers that a stage is given."""
    n, m, s = (b.let(f"fptosi double {b.word(numbers, k, 'double')} to i64") for k in range(3))
    both = b.i64("add", n, s)
    more = b.i64("add", both, 1)
    sizes = {"n": n, "m": m, "n + s": both, "n + s + 1": more}
    for name, size in (("along", both), ("across", more), ("wide", b.i64("add", both, m))):
        sizes[name] = b.i64("and", b.i64("add", size, 7), -8)
    return sizes
