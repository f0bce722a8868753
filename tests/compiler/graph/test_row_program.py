"""Solves and products of large matrices are one node; what it computes is what scalar nodes compute.

Covers: compiler/codegen/row_loops.py.
"""

import numpy as np
import pytest

import kinetree as kt
from compiler.codegen.test_elementary import run
from kinetree import linalg, ops
from kinetree.compiler.graph.expr import array_operations_if, new_table
from kinetree.compiler.graph.graph import Graph
from kinetree.compiler.graph.passes.spec import IllegalGraph, check
from kinetree.compiler.graph.trace import trace
from kinetree.compiler.program import build
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import host
from targets import FUSING, RUNNABLE


def tree_solve(n, columns, seed, identity=False):
    """A function that solves with a matrix that has the zeros of a random tree, and its number of inputs."""
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(max(i - 3, -1), i)) for i in range(n)]
    places = []
    for i in range(n):
        j = parents[i]
        while j >= 0:
            places.append((i, j))
            j = parents[j]
    given = [place for place in np.ndindex(n, columns) if rng.random() < 0.6]
    count = len(places) + n + (0 if identity else len(given))

    def function(x):
        L, b = ops.zeros((n, n), x), ops.zeros((n, columns), x)
        for k, place in enumerate(places):
            L[place] = x[k]
        for k, place in enumerate(given if not identity else ()):
            b[place] = x[len(places) + n + k]
        L[np.diag_indices(n)] = 1.0
        d = x[len(places) : len(places) + n]
        if identity:
            return ops.mirrored(linalg.ltdl_solve(L, d, np.eye(n)))
        return linalg.ltdl_solve(L, d, b)

    return function, count


def minus_product(rows, inner, columns, seed):
    rng = np.random.default_rng(seed)
    zeros = rng.random((rows + inner, columns)) < 0.3

    def function(x):
        A, both = x[: rows * inner].reshape(rows, inner), x[rows * inner :].reshape(-1, columns).copy()
        both[zeros] = 0.0
        return linalg.minus_product(both[:rows], A, both[rows:])

    return function, rows * inner + (rows + inner) * columns


CASES = {
    "tree": lambda seed: tree_solve(17 + 5 * seed, 13 + 4 * seed, seed),
    "inverse": lambda seed: tree_solve(18 + 7 * seed, 18 + 7 * seed, seed, identity=True),
    "one more column than a vector": lambda seed: tree_solve(20, 9 + 8 * seed, seed),
    "product": lambda seed: minus_product(12 + seed, 7, 17 + 3 * seed, seed),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(6)
def test_loops_compute_what_scalar_nodes_compute(case, seed):
    """One state and lanes of states agree to the bit, and so do CPUs with fused multiply-add."""
    function, n = CASES[case](seed)
    x = np.random.default_rng(seed).normal(size=(19, n)) * 0.2 + 0.4
    expected = np.array([np.asarray(function(row), dtype=float).ravel() for row in x])
    size = np.abs(expected).max()
    got = {}
    for target in RUNNABLE:
        program = build(function, [(n,)], host(target))
        assert any(node.op == "rows" for part in program.parts for node in part.nodes)
        got[target] = run(Kernel(program), x)
        assert np.allclose(got[target], expected, rtol=0.0, atol=1e-12 * size)
        assert np.allclose(program.graph.evaluate(x[0]), expected[0], rtol=0.0, atol=1e-12 * size)
    assert all(np.array_equal(got[""], got[target]) for target in FUSING)
    scalar = build(lambda y: in_scalars(function, y), [(n,)], host())
    assert not any(node.op == "rows" for part in scalar.parts for node in part.nodes)
    assert np.allclose(run(Kernel(scalar), x), got[""], rtol=0.0, atol=1e-12 * size)


def in_scalars(function, y):
    with array_operations_if(False):
        return function(y)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(3)
def test_loops_of_float32(case):
    function, n = CASES[case](1)
    x = (np.random.default_rng(1).normal(size=(37, n)) * 0.2 + 0.4).astype(np.float32)
    compiled = Kernel(build(function, [(n,)], host().computing_in(np.dtype(np.float32))))
    assert any(node.op == "rows" for part in compiled.source.parts for node in part.nodes)
    out = np.empty((len(x), compiled.source.layout.outputs[0]), dtype=np.float32)
    compiled.batch([x], [out])
    one = np.empty((1, out.shape[1]), dtype=np.float32)
    for k in range(len(x)):
        compiled.single([x[k]], [one])
        assert np.array_equal(one[0], out[k])
    expected = np.array([np.asarray(function(row.astype(float)), dtype=float).ravel() for row in x])
    assert np.abs(out - expected).max() < 1e-3 * np.abs(expected).max()


def test_only_needed_entries_are_computed():
    function, n = tree_solve(30, 30, 1, identity=True)
    corner = build(lambda x: function(x)[:2, :2], [(n,)], host())
    whole = build(function, [(n,)], host())
    assert 0 < corner.operations < whole.operations / 20


def test_small_ones_stay_scalar():
    function, n = tree_solve(6, 6, 0)
    program = build(function, [(n,)], host())
    assert not any(node.op == "rows" for part in program.parts for node in part.nodes)


def test_entries_that_are_zero_by_structure_are_zero():
    def function(x):
        L = ops.zeros((40, 40), x)
        L[np.diag_indices(40)] = 1.0
        L[np.arange(20, 40), np.arange(20)] = x[:20]
        return linalg.ltdl_solve(L, x[20:60], np.eye(40))

    x = np.linspace(1.0, 2.0, 60)
    got = run(Kernel(build(function, [(60,)], host())), np.tile(x, (9, 1)))[0].reshape(40, 40)
    assert np.allclose(got, function(x), rtol=1e-14)
    assert np.array_equal(got == 0.0, function(x) == 0.0)


def test_one_row_program_feeds_another_and_functions_of_entries():
    function, n = tree_solve(24, 24, 2, identity=True)

    def twice(x):
        inverse = function(x)
        product = linalg.minus_product(inverse, inverse, inverse)
        return np.array(
            [ops.sin(product[0, 0]), product[3, 4] * inverse[2, 2], ops.where(product[1, 1] < 0.0, x[0], 7.0)]
        )

    x = np.random.default_rng(0).normal(size=(11, n)) * 0.1 + 1.0
    program = build(twice, [(n,)], host())
    assert sum(node.op == "rows" for part in program.parts for node in part.nodes) == 2
    assert np.allclose(run(Kernel(program), x), [np.array(twice(row), dtype=float) for row in x], rtol=1e-9)


def test_derivatives_of_what_contains_them():
    """Derivatives are taken of scalar nodes: central differences of the compiled function agree."""
    robot = kt.load("quadruped", base="floating")

    @kt.compile
    def entries(robot, q):
        return robot.inverse_mass_matrix(q)[0, 6:10]

    q = robot.neutral() + 0.0
    J = kt.jacobian(entries, wrt="q")(robot, q)
    h = 1e-6
    for k, unit in enumerate(np.eye(robot.nv)):
        ahead, back = (entries(robot, robot.integrate(q, s * h * unit)) for s in (1.0, -1.0))
        assert np.allclose(J[:, k], (ahead - back) / (2 * h), rtol=1e-5, atol=1e-6 * np.abs(J).max())


def test_text_and_pictures_name_them():
    function, n = tree_solve(20, 20, 3)
    with new_table(), array_operations_if(True):
        graph, _ = trace(function, [(n,)])
        assert "= ltdl_solve(" in graph.listing() and "= entry[0](" in graph.listing()
        assert "ltdl_solve" in graph.dot()
        check(graph, fused=False)
        rows = next(node for node in graph.nodes() if node.op == "rows")
        rows.args = rows.args[1:]
        with pytest.raises(IllegalGraph, match="rows takes"):
            check(Graph(n, graph.outputs), fused=False)
