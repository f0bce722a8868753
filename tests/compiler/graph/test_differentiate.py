"""Partial derivatives against finite differences, both modes against each other, sparsity, guarded branches."""

import numpy as np
import pytest

from kinetree import ops
from kinetree.compiler.graph.differentiate import PARTIALS, coloring, forward, jacobian, reverse, sparsity
from kinetree.compiler.graph.expr import NUMERIC, SIGNATURES, new_table, symbol
from kinetree.compiler.graph.graph import Graph
from kinetree.compiler.graph.trace import trace

SAFE = {"log": (0.3, 2.0), "sqrt": (0.3, 2.0)}


def test_every_real_operation_has_partials():
    real = {op for op, (kinds, result) in SIGNATURES.items() if kinds and result == "real" and "boolean" not in kinds}
    assert real - set(PARTIALS) == {"tan", "fma", "fms", "fnma", "fnms", "entry"}  # never differentiated


@pytest.mark.parametrize("op", sorted(PARTIALS))
def test_partials(op):
    rng = np.random.default_rng(len(op))
    n = len(SIGNATURES[op][0])
    name = {"div": "divide"}.get(op, op)
    functions = {"neg": lambda a: -a, "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b}
    function = functions.get(op) or getattr(ops, name)
    with new_table():
        graph, _ = trace(lambda x: function(*x), [(n,)])
        inputs = [symbol(k) for k in range(n)]
        by_forward = forward(graph.outputs, [{node: 1.0} for node in inputs])[0]
        by_reverse = reverse(graph.outputs[0], inputs)
        both = Graph(n, (*(by_forward[k] for k in range(n)), *by_reverse))
        for _ in range(20):
            x = rng.uniform(*SAFE.get(op, (-2.0, 2.0)), size=n)
            h = 1e-6
            slopes = []
            for k in range(n):
                step = h * np.eye(n)[k]
                slopes.append((NUMERIC[op](*(x + step)) - NUMERIC[op](*(x - step))) / (2 * h))
            np.testing.assert_allclose(both.evaluate(x), [*slopes, *slopes], rtol=1e-6, atol=1e-8)


def rosenbrock_like(x):
    """Neighbours only, so that the Jacobian is a band."""
    return np.array([x[k] * x[k] - ops.sin(x[k + 1]) for k in range(len(x) - 1)])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_sparse_jacobian(mode):
    n = 12
    with new_table():
        graph, _ = trace(rosenbrock_like, [(n,)])
        columns = [{symbol(k): 1.0} for k in range(n)]
        pattern = sparsity(graph.outputs, columns)
        assert pattern == [{k, k + 1} for k in range(n - 1)]
        assert max(coloring(pattern, n)) == 1  # two directions instead of twelve
        rows = jacobian(graph.outputs, columns, mode)
        assert [set(row) for row in rows] == pattern
        values = Graph(n, tuple(rate for row in rows for rate in row.values())).evaluate(np.arange(n) / 5)
    x = np.arange(n) / 5
    np.testing.assert_allclose(values, np.ravel([(2 * x[k], -np.cos(x[k + 1])) for k in range(n - 1)]), rtol=1e-14)


def test_colors_differ_where_rows_meet():
    rng = np.random.default_rng(1)
    for _ in range(50):
        n = int(rng.integers(1, 12))
        pattern = [set(map(int, rng.choice(n, size=int(rng.integers(0, n + 1)), replace=False))) for _ in range(8)]
        colors = coloring(pattern, n)
        assert all(len({colors[k] for k in row}) == len(row) for row in pattern)
        assert max(colors) < n


def sinc(x):
    """sin x / x with its limit; the unused branch divides by zero at zero."""
    small = ops.less(x[0] * x[0], 1e-8)
    return np.array([ops.where(small, 1.0 - x[0] * x[0] / 6.0, ops.divide(ops.sin(x[0]), x[0]))])


def guarded_root(x):
    """Nested conditions, with branches whose derivatives are infinite where they are not used."""
    inner = ops.where(ops.less(0.0, x[1]), ops.sqrt(x[1]), 0.0)
    return np.array([ops.where(ops.less(0.0, x[0]), ops.sqrt(x[0]) * inner, x[1] * 2.0) + inner])


@pytest.mark.parametrize("function", [sinc, guarded_root])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_branches_not_taken_do_not_spoil_derivatives(function, mode):
    with new_table():
        graph, _ = trace(function, [(2,)])
        columns = [{symbol(k): 1.0} for k in range(2)]
        row = jacobian(graph.outputs, columns, mode)[0]
        derivative = Graph(2, tuple(row.get(k, symbol(0) * 0.0) for k in range(2)))
        for x in ([0.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [1.0, 0.0], [0.7, 0.3], [-0.7, 0.3]):
            with np.errstate(all="ignore"):
                values = derivative.evaluate(np.array(x))
            assert np.all(np.isfinite(values)), x
            if 0.0 not in x:
                h = 1e-6
                with np.errstate(all="ignore"):
                    slopes = [(function(x + h * e)[0] - function(x - h * e)[0]) / (2 * h) for e in np.eye(2)]
                np.testing.assert_allclose(values, slopes, rtol=1e-6, atol=1e-8)
