"""Rules, graph passes, schedule and split.

Covers: compiler/graph/passes/factor.py, compiler/graph/passes/fold.py, compiler/graph/passes/fuse.py,
compiler/graph/passes/rules.py, compiler/graph/passes/schedule.py,
compiler/graph/passes/spec.py, compiler/graph/passes/split.py.
"""

import ast
import gc

import numpy as np
import pytest

from kinetree.compiler.graph import expr
from kinetree.compiler.graph.expr import NUMERIC, REAL, SIGNATURES, Node, make, new_table, symbol
from kinetree.compiler.graph.graph import Graph
from kinetree.compiler.graph.passes import schedule as schedule_pass
from kinetree.compiler.graph.passes.factor import FACTOR, factor
from kinetree.compiler.graph.passes.fold import FOLD
from kinetree.compiler.graph.passes.fuse import FUSE, fuse
from kinetree.compiler.graph.passes.rules import _literal, _operation
from kinetree.compiler.graph.passes.schedule import ANGULAR, angles_first, distant_uses, reloads, schedule
from kinetree.compiler.graph.passes.spec import IllegalGraph, check
from kinetree.compiler.graph.passes.split import PART, PER_OUTPUT, SHORT_PART, split
from kinetree.compiler.graph.trace import trace
from kinetree.compiler.program import Program, build, simplified
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import host

RULES = [*FOLD, *FACTOR, *FUSE]


def evaluate(expression, values):
    """A side of a rule on numbers."""
    if isinstance(expression, ast.Name):
        return values[expression.id]
    literal = _literal(expression)
    if literal is not None:
        return literal
    op, parts = _operation(expression)
    return NUMERIC[op](*(evaluate(part, values) for part in parts))


def as_node(expression, nodes):
    if isinstance(expression, ast.Name):
        return nodes[expression.id]
    literal = _literal(expression)
    if literal is not None:
        return expr.as_node(literal)
    op, parts = _operation(expression)
    return make(op, *(as_node(part, nodes) for part in parts))


def names_in(rule):
    return sorted({node.id for node in ast.walk(rule.left) if isinstance(node, ast.Name)} - set(SIGNATURES))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.text)
def test_both_sides_of_a_rule_are_equal(rule):
    rng = np.random.default_rng(0)
    for _ in range(50):
        values = {name: bool(rng.random() < 0.5) if name == "b" else rng.normal() for name in names_in(rule)}
        np.testing.assert_allclose(evaluate(rule.left, values), evaluate(rule.right, values), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("rule", FOLD, ids=lambda rule: rule.text)
def test_a_folding_rule_fires(rule):
    """The node made from the left side is the one made from the right side."""
    with new_table():
        nodes: dict[str, Node] = {}
        for k, name in enumerate(names_in(rule)):
            if name == "b":
                nodes[name] = symbol(10) < symbol(11)
            else:
                nodes[name] = expr.constant(1.5 + k) if name.startswith("c") else symbol(k)
        assert as_node(rule.left, nodes) is as_node(rule.right, nodes)


def random_graph(rng, n_inputs=6, operations=200):
    """A graph of arithmetic with much sharing; call inside a table."""
    values = [symbol(k) for k in range(n_inputs)] + [expr.constant(c) for c in (0.0, 1.0, -1.0, 0.5, 3.0)]
    for _ in range(operations):
        op = rng.choice(
            ["add", "sub", "mul", "neg", "sin", "where", "maximum", "cos"],
            p=[0.25, 0.2, 0.3, 0.05, 0.05, 0.05, 0.05, 0.05],
        )
        a, b, c, d = rng.choice(len(values), size=4)
        a, b, c, d = (values[max(0, k - rng.integers(5))] for k in (a, b, c, d))
        if op == "where":
            values.append(make("where", make("less", a, b), c, d))
        elif op in ("neg", "sin", "cos"):
            values.append(make(op, a))
        else:
            values.append(make(op, a, b) * 0.5)
    return Graph(n_inputs, tuple(values[-8:]))


@pytest.mark.parametrize("seed", range(12))
def test_passes_keep_the_meaning_and_do_not_cost(seed):
    rng = np.random.default_rng(seed)
    with new_table():
        graph = random_graph(rng)
        x = rng.uniform(-1, 1, size=6)
        before = graph.evaluate(x)
        for change, fused in ((factor, False), (fuse, True), (lambda g: fuse(factor(g)), True)):
            after = check(change(graph), fused=fused)
            np.testing.assert_allclose(after.evaluate(x), before, rtol=1e-11, atol=1e-11)
        assert fuse(graph).operations() <= graph.operations()
        assert simplified(graph, fuses=True).operations() <= fuse(graph).operations()


def test_fusion_leaves_a_product_that_is_needed_anyway():
    with new_table():
        x, y, z = map(symbol, range(3))
        product = x * y
        kept = fuse(Graph(3, (product + z, product)))
        assert kept.counts() == {"mul": 1, "add": 1}
        assert fuse(Graph(3, (product + z, product - z))).counts() == {"fma": 1, "fms": 1}
        assert fuse(Graph(3, (z - product,))).counts() == {"fnma": 1}


def test_factoring():
    with new_table():
        x, y, z = map(symbol, range(3))
        assert factor(Graph(3, (x * y + z * x,))).counts() == {"add": 1, "mul": 1}
        assert factor(Graph(3, (x * y + z * x, x * y))).counts() == {"add": 1, "mul": 2}


def test_illegal_graphs_are_caught():
    with new_table():
        x = symbol(0)
        legal = Graph(1, (x * x + 1,))
        assert check(legal, fused=False) is legal
        for node in (
            Node("add", (x,), 0, 99),
            Node("twist", (x,), 0, 99),
            Node("where", (x, x, x), 0, 99),
            Node("mul", (x, x), 0, 0),
            Node("input", (), 7, 99),
            Node("add", (expr.constant(1), expr.constant(2)), 0, 99),
            x < 1,
        ):
            with pytest.raises(IllegalGraph):
                check(Graph(1, (node,)), fused=False)
        with pytest.raises(IllegalGraph, match="fma is not an operation at this stage"):
            check(fuse(legal), fused=False)


@pytest.mark.parametrize("seed", range(6))
def test_a_schedule_is_complete_and_in_order(seed):
    with new_table():
        graph = random_graph(np.random.default_rng(seed))
        order = schedule(graph)
        assert sorted(node.order for node in order) == [node.order for node in graph.nodes() if node.args]
        place = {node: k for k, node in enumerate(order)}
        assert all(place[arg] < place[node] for node in order for arg in node.args if arg.args)


def test_sines_come_together_level_by_level():
    with new_table():
        x = [symbol(k) for k in range(4)]
        shifted = x[3] * 2
        one = [make("sin", x[0]), x[0] * x[1], make("cos", x[1]), x[2] + x[1], make("sin", shifted)]
        two = make("sin", one[0] * one[2])
        order = angles_first(
            [one[0], one[1], one[2], shifted, one[3], one[4], one[0] * one[2], two, two * one[1] * one[3]]
        )
        ops_in_order = [node.op for node in order]
        assert ops_in_order[:4] == ["mul", "sin", "cos", "sin"]
        assert ops_in_order[4:6] == ["mul", "sin"]
        assert {"sin", "cos"} == set(ANGULAR)


def test_reloads_counts_what_does_not_fit():
    with new_table():
        values = [make("sqrt", symbol(k)) for k in range(5)]
        total = values[0]
        sums = []
        for value in values[1:]:
            total = total + value
            sums.append(total)
        order = values + sums
        assert reloads(order, registers=5) == 0
        assert reloads(order, registers=3) == 2


def test_of_a_very_long_graph_the_order_with_fewer_distant_uses_is_taken(monkeypatch):
    with new_table():
        values = [make("sqrt", symbol(k)) for k in range(100)]
        exponentials = [make("exp", value) for value in values]
        graph = Graph(100, tuple(a + b for a, b in zip(values, exponentials, strict=True)))
        traced = [node for node in graph.nodes() if node.args]
        assert distant_uses(traced) == 300 and distant_uses(traced, registers=100) == 0
        monkeypatch.setattr(schedule_pass, "MANY", 10)
        monkeypatch.setattr(schedule_pass, "reloads", None)
        assert distant_uses(schedule(graph)) == 0


@pytest.mark.parametrize("size", [1, 3, 10, 50, 100])
def test_parts_pass_values_through_the_workspace(size):
    """Cut anywhere, the kernels compute the same bits, truth values included."""
    rng = np.random.default_rng(size)
    target = host()
    with new_table():
        graph = simplified(random_graph(rng), target.fuses)
        order = schedule(graph)
        shapes = ((6,),), ((8,),)
        whole = Program(target, *_parts(order, 10**6), graph.outputs, *_slots(order, 10**6), *shapes, graph.counts())
        cut = Program(target, *_parts(order, size), graph.outputs, *_slots(order, size), *shapes, graph.counts())
    assert len(whole.parts) == 1 and len(cut.parts) == -(-len(order) // size)
    assert cut.slots < len(order)
    x = rng.uniform(-1, 1, size=(19, 6))
    results = []
    for program in (whole, cut):
        kernel, out = Kernel(program), np.empty((19, 8))
        kernel.batch([x], [out])
        results.append(out)
        for k in range(19):
            single = np.empty((1, 8))
            kernel.single([x[k]], [single])
            results.append(np.where(np.arange(19)[:, None] == k, single, out))
    for result in results:
        assert np.array_equal(result, results[0])
    np.testing.assert_allclose(results[0][3], graph.evaluate(x[3]), rtol=1e-12, atol=1e-13)


def _parts(order, size):
    return (tuple(split(order, size)[0]),)


def _slots(order, size):
    return (split(order, size)[1],)


def test_many_results_make_parts_shorter():
    """Results that are stored once count; those of symmetric matrices, which are stored twice, do not."""

    def powers(x):
        rows = [x]
        for k in range(60):
            rows.append(rows[-1] * x + float(k))
        return np.concatenate(rows[1:])

    with new_table():
        graph, _ = trace(powers, [(10,)])
        order = schedule(graph)
        assert PART < len(order) < PER_OUTPUT * len(graph.outputs)
        assert len(split(order, outputs=graph.outputs)[0]) == -(-len(order) // SHORT_PART)
        for few in (graph.outputs[:10], graph.outputs * 2):
            assert len(split(order, outputs=few)[0]) == -(-len(order) // PART)


def test_results_that_stand_in_many_places_make_parts_shorter():
    """LLVM takes more than linear time for many stores, too."""

    def repeated(x):
        y = x
        for k in range(50):
            y = y * x + float(k)
        return np.concatenate([y] * 40)

    with new_table():
        graph, _ = trace(repeated, [(10,)])
        order = schedule(graph)
        few, _ = split(order, 400)
        many, _ = split(order, 400, graph.outputs)
        twice, _ = split(order, 400, [node for node in graph.outputs[:10] for _ in range(2)])
    assert [node for part in many for node in part.nodes] == order
    assert len(many) > len(few) == len(twice)


def test_a_loop_of_rotations_folds_to_nothing():
    """R(θ) R(θ)ᵀ is not known to be 1, but a rotation by zero is."""

    def function(x):
        return np.eye(3) @ np.diag([1.0, 1.0, 1.0]) @ x

    with new_table():
        graph, _ = trace(function, [(3,)])
    assert graph.operations() == 0
    assert build(function, [(3,)], host()).operations == 0
    assert SIGNATURES["add"][1] == REAL


@pytest.mark.parametrize("on", [True, False])
def test_garbage_collection_is_left_as_it_was(on):
    before = gc.isenabled()
    try:
        gc.enable() if on else gc.disable()
        build(lambda x: x * x, [(3,)], host())
        assert gc.isenabled() is on
        with pytest.raises(ZeroDivisionError):
            build(lambda x: 1 / 0, [(3,)], host())
        assert gc.isenabled() is on
    finally:
        gc.enable() if before else gc.disable()
