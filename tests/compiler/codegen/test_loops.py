"""Functions with loops, compiled, give what Python gives; what is outside their language is refused by name.

Covers: compiler/codegen/loop_body.py, compiler/codegen/loop_types.py.
"""

import ctypes
from ctypes import addressof
from math import sqrt
from typing import cast

import numpy as np
import pytest

from kinetree.compiler.codegen.loop_types import Address, Addresses, Integers, Matrix, Vector, pointer
from kinetree.compiler.codegen.loops import call_text, exported, loops_assembly
from kinetree.compiler.runtime.jit import LoadedCode, host, optimized_object, simplified_object

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


def trace(A: "Matrix", n: "int") -> "float":
    sum_ = 0.0
    for i in range(n):
        sum_ += A[i, i]
    return sum_


def everything(A: "Matrix", x: "Vector", y: "Vector", n: "int") -> "None":
    """Every statement and expression of the language."""
    k = 0
    while k < n and not (k == LIMIT or A[k, k] != A[k, k]):
        k += 1
    y[0] = float(k) + HALF
    y[1] = total(A[1], n) + total(A[2, 1:], n - 1) + total(x[2:], n - 2) + trace(A[1:], n - 1)
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
    lines = call_text(function, arguments)
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


class Head(ctypes.Structure):
    _fields_ = (("small", ctypes.c_uint8), ("count", ctypes.c_int32))


class Node(Head):
    pass


Node._fields_ = (
    ("next", ctypes.POINTER(Node)),
    ("weight", ctypes.c_float),
    ("numbers", ctypes.c_double * 3),
    ("function", ctypes.c_void_p),
)


class Result(ctypes.Structure):
    _fields_ = (("total", ctypes.c_double), ("nodes", ctypes.c_int64), ("last", ctypes.c_void_p))


def weigh(head: "Head", found: "Result") -> "None":
    node = cast(Node, head)
    found.total += node.weight * node.count + node.small
    if node.function is not None:
        node.function(addressof(node.numbers[1]), node.count)
    for k in range(3):
        found.total += node.numbers[k]


def walk(first: "Node | None", found: "Result", most: "int") -> "Address | None":
    """Everything about addresses and structures."""
    own = Result()
    own.total = 0.0
    seen = Addresses(4)
    counts = Integers(4)
    node = first
    k = 0
    while node is not None and k < most:
        seen[k] = node
        counts[k] = node.count & 7 | 16 >> 1
        weigh(node, own)
        node = node.next
        k += 1
    found.total = own.total
    found.nodes = k
    found.last = seen[k - 1] if k > 0 else None
    if k > 0:
        last: Node = found.last
        last.numbers[0] = counts[k - 1] + (1 if first is last else 0) + (first[0].count if first is not None else 0)
    second = first.next if first is not None else pointer(1)
    return second if k > 1 and first < pointer(-1) and second is not None else cast(Address, second) + 16


def as_c(function, build, apart):
    """A function of the language behind a pointer of ctypes."""
    text = f"{loops_assembly(function, apart=apart)}\n{exported('run', function)}"
    code = LoadedCode(build(text, host()), host(), library=False)
    signature = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    return code, signature(code.address("run"))


@pytest.mark.parametrize(
    ("build", "apart"), [(optimized_object, None), (simplified_object, (walk,)), (simplified_object, (walk, weigh))]
)
def test_structures_and_addresses_are_those_of_c(build, apart):
    code, run = as_c(walk, build, apart)
    calls = []
    double = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_double), ctypes.c_int64)(
        lambda at, count: calls.append((at[0], count))
    )
    nodes = [Node(200 + k, -5 - k, None, 0.5 + k, (1.0, 2.0, 4.0 * k)) for k in range(3)]
    nodes[0].next, nodes[1].next = ctypes.pointer(nodes[1]), ctypes.pointer(nodes[2])
    nodes[1].function = ctypes.cast(double, ctypes.c_void_p)
    expected = [n.weight * n.count + n.small + sum(n.numbers) for n in nodes]
    for most in (3, 1):
        found = Result()
        second = run(addressof(nodes[0]), addressof(found), most)
        assert second == addressof(nodes[1]) + (16 if most == 1 else 0)
        assert (found.total, found.nodes) == (sum(expected[:most]), most)
        assert found.last == addressof(nodes[most - 1])
        assert calls == [(2.0, -6)]
        assert nodes[most - 1].numbers[0] == (nodes[most - 1].count & 7 | 8) + (most == 1) - 5
    found = Result()
    assert run(None, addressof(found), 3) == 1 + 16
    assert (found.total, found.nodes, found.last) == (0.0, 0, None)
    del code


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


def with_a_column(A: "Matrix", n: "int") -> "float":
    return total(A[1:, 0], n)


def without_an_end(x: "Vector", n: "int") -> "float":
    if n > 3:
        return 1.0


def of_another_structure(found: "Result") -> "Node":
    return found


def of_a_missing_field(x: "Vector", n: "int") -> "float":
    return x.size


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (of_another_structure, "LP_Result where LP_Node is expected"),
        (of_a_missing_field, "'size' of Vector"),
        (with_a_list, "List"),
        (with_a_string, "Constant"),
        (of_two_types, "float where int is expected"),
        (with_slices, "a slice other"),
        (with_a_column, "a slice other"),
        (without_an_end, "may end without a result"),
    ],
)
def test_what_cannot_be_compiled_is_named(function, what):
    with pytest.raises(TypeError, match=what):
        loops_assembly(function)
