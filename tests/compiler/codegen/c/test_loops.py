"""Loops in C give what Python gives, statement by statement; what has no C is refused by name.

Covers: compiler/codegen/c/unit.py.
"""

import ctypes
from math import sqrt

import numpy as np
import pytest

from c_libraries import STRICT, needs_gcc, run
from kinetree.compiler import CUnit
from kinetree.compiler.codegen.c.loops import definition, needed, written
from kinetree.compiler.codegen.loop_types import Matrix, Vector
from kinetree.solvers import active_set, hierarchical_qp_kernel, least_squares

HALF, LAST = 0.5, -1


def halve(x: "Vector", n: "int") -> "None":
    for i in range(n):
        x[i] = x[i] * HALF


def total(x: "Vector", n: "int") -> "float":
    sum_ = 0.0
    for i in range(n):
        sum_ += x[i]
    return sum_


def everything(A: "Matrix", x: "Vector", y: "Vector", limit: "float", n: "int") -> "int":
    """Every statement and expression of the language."""
    if n == 0:
        return LAST
    halve(A[n - 1], n)
    halve(y[1:], n - 1)
    A[0, 0] = sqrt(abs(total(A[0, 1:], n - 1))) + float(n // 2) - -1.0
    count = 0
    stop = n
    for i in range(1, stop):
        stop = 0
        if x[i] > limit and not (x[i] == 2.0 or x[i] != x[i]):
            continue
        elif x[i] < -limit:
            break
        else:
            pass
        y[i] = y[i] - x[i] / 3.0
        count += 1
    k = 0
    while k < n and k < n % 3 + 2:
        k += 1
        y[0] = y[0] + (x[k - 1] if x[k - 1] > 0.0 else 0.0)
    corner(A[1:], 1.5, n - 1)
    is_large = y[0] >= limit
    if is_large and count <= n:
        count += int(limit)
    return count * 2 + k


def corner(A: "Matrix", a: "float", n: "int") -> "None":
    if n > 0:
        A[n - 1, 0] = a


def dictionary(x: "Vector") -> "None":
    x[0] = {}[0]


@needs_gcc
def test_every_statement_does_what_python_does(tmp_path):
    unit = CUnit("p")
    symbol, changed = unit.loops(everything)
    assert changed == {"A", "y"}
    call = (
        f"int call(double *A, double *x, double *y, double limit, int n) {{ return {symbol}(A, n, x, y, limit, n); }}"
    )
    (tmp_path / "p.c").write_text(f"{unit.text()}\n{call}\n")
    run("gcc", *STRICT, "-O2", "-shared", "-fPIC", "p.c", "-o", "p.so", "-lm", folder=tmp_path)
    compiled = ctypes.CDLL(str(tmp_path / "p.so")).call
    pointer = np.ctypeslib.ndpointer(np.float64)
    compiled.argtypes = [pointer, pointer, pointer, ctypes.c_double, ctypes.c_int]
    rng = np.random.default_rng(0)
    for n in range(7):
        for _ in range(20):
            A, x, y = rng.normal(size=(n, n)), np.round(2 * rng.normal(size=n)), rng.normal(size=n)
            limit, ours, theirs = float(rng.uniform(0, 3)), (A.copy(), x.copy(), y.copy()), (A, x, y)
            assert compiled(*ours, limit, n) == everything(*theirs, limit, n)
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-14)


def test_functions_come_before_those_that_call_them():
    order = needed(everything)
    assert order[-1] is everything and set(order) == {halve, total, corner, everything}


@pytest.mark.parametrize("solver", [least_squares.fit, hierarchical_qp_kernel.descend, active_set.minimise])
def test_solvers_have_no_input_that_they_change(solver):
    results = {
        "x",
        "multipliers",
        "active",
        "info",
        "H",
        "g",
        "Z",
        "B",
        "G",
        "C",
        "T",
        "bounds",
        "U",
        "Q",
        "K",
        "S",
        "Y",
        "R",
    }
    assert written(solver) - {"C"} <= results


def test_what_has_no_c_is_refused_by_name():
    with pytest.raises(TypeError, match="has no C"):
        definition("p", dictionary)
