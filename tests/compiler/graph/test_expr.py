"""Nodes: the same operation is the same object, and what cannot be traced says so.

Covers: compiler/graph/trace.py.
"""

import math
import threading

import numpy as np
import pytest

from kinetree import ops
from kinetree.compiler.graph import expr
from kinetree.compiler.graph.expr import Node, constant, make, new_table, symbol
from kinetree.compiler.graph.graph import Graph
from kinetree.compiler.graph.passes.spec import check
from kinetree.compiler.graph.trace import trace


@pytest.fixture(autouse=True)
def table():
    with new_table():
        yield


def test_equal_terms_are_one_node():
    x, y = symbol(0), symbol(1)
    assert x * y is y * x
    assert (x + y) * 2 is (y + x) * 2.0
    assert x - y is not y - x
    assert -(x - y) is y - x
    assert constant(0.0) is constant(-0.0)
    assert constant(math.nan) is constant(math.nan)


def test_zeros_ones_and_signs_vanish():
    x, y = symbol(0), symbol(1)
    assert x * 0 is constant(0) and x * 1 is x and x + 0 is x and 0 - x is -x
    assert (-x) * y is -(x * y) and x + (-y) is x - y and x - (-y) is x + y
    assert 2 * (3 * x) is 6 * x and 2 * x + 3 * x is 5 * x and x - x is constant(0)
    assert ops.where(True, x, y) is x
    assert abs(-x) is abs(x) and x**2 is x * x and +x is x and x**0 is constant(1)


def test_numpy_arrays_of_nodes():
    v = np.array([symbol(0), symbol(1), symbol(2)])
    R = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    turned = R @ v
    assert turned[0] is v[0] and turned[1] is -v[2] and turned[2] is v[1]
    assert (2.0 * v)[0] is v[0] * 2 and (v * np.float64(2.0))[0] is v[0] * 2
    assert (v[0] * np.ones(3))[1] is v[0]
    assert (np.float64(3.0) - v[0]) is 3.0 - v[0] and (1.0 / v[0]).op == "div"


def test_comparisons_and_logic():
    x, y = symbol(0), symbol(1)
    assert (x > y) is (y < x) and (x >= y) is (y <= x)
    assert ~~(x < y) is (x < y) and ((x < y) | False) is (x < y) and ((x < y) & False).op == "false"


@pytest.mark.parametrize("use", [bool, float, int, math.sin, lambda x: 1 if x > 0 else 2, lambda x: x and 1, range])
def test_python_cannot_look_into_a_traced_value(use):
    with pytest.raises(TypeError, match=r"kt\."):
        use(symbol(0))


def test_equality_is_traced():
    x, y = symbol(0), symbol(1)
    assert (x == y) is ops.equal(x, y) and (x == 1) is (x == 1.0) is ops.equal(x, 1.0)
    assert (x != y) is ops.logical_not(x == y)
    for use in (
        lambda: 1 if x == y else 2,
        lambda: x in [y],
        lambda: np.array([x]) == np.array([y]),
        lambda: x != 0 or 1,
    ):
        with pytest.raises(TypeError, match=r"kt\.where"):
            use()
    assert x not in [None, "x"] and x in [x]
    assert {x: 1, y: 2}[y] == 2 and len({x, y, x}) == 2


def test_nodes_are_found_though_hashes_collide():
    x, y = symbol(0), symbol(1)
    nodes = expr._current.nodes

    class Other:
        """A key that has the hash of another; whether it is equal, nobody can say."""

        def __hash__(self):
            return hash(("mul", (x, y), 0))

        def __eq__(self, other):
            return bool(x == y)

    nodes[Other()] = None
    assert x * y is y * x and (x * y).op == "mul"


def test_a_truth_value_is_not_a_number():
    x = symbol(0)
    for use in (
        lambda: (x < 1) * x,
        lambda: 1.0 + (x < 1),
        lambda: -(x < 1),
        lambda: ops.sin(x < 1),
        lambda: (x < 1) < x,
    ):
        with pytest.raises(TypeError, match="a traced comparison is not a number"):
            use()


def test_a_known_truth_value_counts_beside_numbers():
    x = symbol(0)
    assert True * x is x and x * np.False_ is constant(0.0) and x + True is x + 1.0
    assert (np.eye(2, dtype=bool) @ np.array([x, symbol(1)]))[1] is symbol(1)


def test_a_number_counts_as_true_if_it_is_not_zero():
    def function(x):
        one, other = ops.less(x[0], 0.5), ops.less(x[1], 0.5)
        return np.array(
            [
                ops.logical_and(x[0], x[1]),
                ops.logical_and(x[0], x[0]),
                ops.logical_or(x[0], x[1]),
                ops.logical_not(x[0]),
                ops.where(x[0], 3.0, 4.0),
                ops.where(one, other, True),
                ops.where(one, other, 7.0),
                ops.where(x[0], one, other),
            ]
        )

    graph, _ = trace(function, [(2,)])
    check(graph, fused=False)
    for x in ([0.0, 0.0], [0.3, 0.0], [0.0, 0.7], [2.0, 0.7], [math.nan, 0.0]):
        assert graph.evaluate(x) == [float(y) for y in function(np.array(x))]


@pytest.mark.parametrize("use", [lambda x: ~x, lambda x: x & x, lambda x: x | True, lambda x: (x < 1) & x])
def test_bits_are_of_comparisons(use):
    with pytest.raises(TypeError, match=r"kt\.logical_and"):
        use(symbol(0))
    assert (True & (symbol(0) < 1)) is (symbol(0) < 1) and (False | (symbol(0) < 1)) is (symbol(0) < 1)


def test_a_long_expression_is_shown_in_short():
    x = symbol(0)
    for _ in range(200):
        x = x * x + 1
    assert len(repr(x)) < 100


def test_powers_that_are_not_whole():
    for exponent in (0.3, math.inf, symbol(1)):
        with pytest.raises(TypeError, match="whole or half number"):
            symbol(0) ** exponent


def test_a_node_outside_its_trace_is_refused():
    x = symbol(0)
    with new_table():
        y = symbol(0)
    assert y is not x
    assert x + 1 is x + 1


def test_no_trace_at_all():
    found = []

    def elsewhere():
        try:
            constant(1.0)
        except RuntimeError as error:
            found.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == ["a traced value is used outside the trace it belongs to"]


def test_trace_numbers_inputs_and_keeps_shapes():
    def function(a, b):
        return a @ b, a[0, 0] < b[0], 3.0

    graph, shapes = trace(function, [(2, 3), (3,)])
    assert graph.n_inputs == 9 and shapes == [(2,), (), ()]
    x = np.arange(9.0)
    expected = [*(x[:6].reshape(2, 3) @ x[6:]), 1.0, 3.0]
    assert graph.evaluate(x) == expected


def test_constants_may_be_infinite():
    def function(x):
        pivots = ops.zeros(2, x)
        return ops.divide(x[0], pivots[0]) + ops.divide(1.0, pivots[1]), ops.divide(pivots[0], pivots[1])

    graph, _ = trace(function, [(1,)])
    assert graph.evaluate([2.0])[0] == math.inf and math.isnan(graph.evaluate([2.0])[1])


def test_every_primitive_traces():
    real = {"sin", "cos", "tan", "sqrt", "exp", "log", "tanh", "absolute"}

    def function(x):
        singles = [getattr(ops, name)(x[0]) for name in sorted(real)]
        pairs = [ops.atan2(x[0], x[1]), ops.minimum(x[0], x[1]), ops.maximum(x[0], x[1])]
        tests = [ops.less(x[0], x[1]), ops.less_equal(x[0], x[1]), ops.equal(x[0], x[1])]
        both = ops.logical_and(tests[0], ops.logical_not(tests[2]))
        either = ops.logical_or(tests[1], tests[2])
        return np.array([*singles, *pairs, ops.where(both, 1.0, x[0]), ops.where(either, x[1], 2.0)])

    graph, _ = trace(function, [(2,)])
    used = {node.op for node in graph.nodes()}
    assert used >= (set(ops.PRIMITIVES) - {"tan", "divide"}) | {"div"}
    for x in ([0.3, 0.7], [0.7, 0.3], [0.5, 0.5]):
        np.testing.assert_allclose(graph.evaluate(x), function(np.array(x)), rtol=1e-15)


def test_a_graph_counts_what_costs():
    x, y = symbol(0), symbol(1)
    graph = Graph(2, (-(x * y) + 3, make("sqrt", x)))
    assert graph.counts() == {"sub": 1, "mul": 1, "sqrt": 1}
    assert isinstance(graph.outputs[0], Node)
