"""Functions with loops, compiled, give what Python gives; what is outside their language is refused by name."""

import ctypes
from math import sqrt

import numpy as np
import pytest

from kinetree.compiler.codegen.loops import Matrix, Vector, call_text, loops_assembly
from kinetree.compiler.runtime.jit import LoadedCode, host, optimized_object

LIMIT = 3
HALF = 0.5


def total(x: "Vector", n: "int") -> "float":
    sum_ = 0.0
    for i in range(n):
        sum_ += x[i]
    return sum_


def first_above(x: "Vector", bound: "float", n: "int") -> "int":
    for i in range(n):
        if x[i] > bound:
            return i
    return -1


def everything(A: "Matrix", x: "Vector", y: "Vector", n: "int") -> "None":
    """Every statement and expression of the language."""
    k = 0
    while k < n and not (k == LIMIT or A[k, k] != A[k, k]):
        k += 1
    y[0] = float(k) + HALF
    y[1] = total(A[1], n) + total(A[2, 1:], n - 1) + total(x[2:], n - 2)
    for i in range(n - 1, -1, -1):
        if i % 2 == 0:
            continue
        if i < 2:
            break
        y[2] = y[2] * 3.0 + i
    y[3] = sqrt(abs(x[0])) / 2 - (1.0 if x[1] >= 0.0 else -x[1])
    y[4] = (first_above(x, 0.25, n) + 1) * 7 // 2
    y[5] = int(x[2] * 10.0) - 1
    row = A[0]
    for i in range(1, n):
        row[i] = row[i] - x[i] * row[0]
    if x[0] > 5.0:
        y[6] = 1
    elif x[0] > -5.0 or x[1] <= 0.0:
        y[6] = 2
    else:
        y[6] = 3


def compiled(function, n):
    arguments = {"A": f"%A, {n}", "x": "%x", "y": "%y", "n": str(n)}
    lines = "\n  ".join(call_text(function, arguments))
    text = f"{loops_assembly(function)}\ndefine void @run(ptr %A, ptr %x, ptr %y) {{\n  {lines}\n  ret void\n}}"
    code = LoadedCode(optimized_object(text, host()), host(), library=False)
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(code.address("run"))
    return lambda A, x, y: run(A.ctypes.data, x.ctypes.data, y.ctypes.data) or code


@pytest.mark.parametrize("n", [3, 8, 21])
def test_compiled_loops_do_what_python_does(n):
    run = compiled(everything, n)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A, x = rng.normal(size=(n, n)), rng.normal(size=n)
        A_too, y, y_too = A.copy(), np.zeros(7), np.zeros(7)
        everything(A, x, y, n)
        run(A_too, x, y_too)
        np.testing.assert_allclose(y_too, y, rtol=0, atol=1e-12)
        np.testing.assert_allclose(A_too, A, rtol=0, atol=1e-12)


def with_a_list(x: "Vector", n: "int") -> "float":
    return sum([x[0]])


def with_a_string(x: "Vector", n: "int") -> "float":
    return "a"


def of_two_types(x: "Vector", n: "int") -> "float":
    k = 0
    k = 1.5
    return k


def with_slices(x: "Vector", n: "int") -> "float":
    return total(x[1:3], n)


def without_an_end(x: "Vector", n: "int") -> "float":
    if n > 3:
        return 1.0


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (with_a_list, "List"),
        (with_a_string, "Constant"),
        (of_two_types, "float where int is expected"),
        (with_slices, "a slice other"),
        (without_an_end, "may end without a result"),
    ],
)
def test_what_cannot_be_compiled_is_named(function, what):
    with pytest.raises(TypeError, match=what):
        loops_assembly(function)
