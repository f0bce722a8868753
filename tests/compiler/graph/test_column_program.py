"""A short function of many operands is one node; what it computes is what scalar nodes compute.

Covers: compiler/codegen/column_loops.py, compiler/codegen/operations.py, compiler/graph/passes/expand.py.
"""

import numpy as np
import pytest

from compiler.codegen.test_elementary import run
from kinetree import ops
from kinetree.compiler import program as program_module
from kinetree.compiler.graph.expr import array_operations_if, new_table
from kinetree.compiler.graph.passes.spec import check
from kinetree.compiler.graph.trace import trace
from kinetree.compiler.program import build
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import host
from kinetree.linalg import pair_products
from kinetree.spatial import Force, Inertia, Motion
from targets import FUSING, RUNNABLE


@pytest.fixture(autouse=True)
def _short_programs_too(monkeypatch):
    monkeypatch.setattr(program_module, "SHORT", 0)


INERTIAS = [Inertia.from_com(1.0 + k, [0.1, 0.2 * k, 0.3], np.diag([1.0, 1.5, 2.0 + 0.1 * k])) for k in range(40)]


def force(own, V, A, scale):
    """Numbers that are known, that differ or not, results that are zero, known or given, and one that is repeated."""
    net = own.net_force(V, A)
    return net, Force(net.force * scale, np.zeros(3)), (own.mass * scale, 2.0, V.angular[0])


def forces_of(count):
    """A function of one vector, and its length: forces on bodies of which some are at rest and move along an axis."""

    def function(x):
        motions = x.reshape(count, 12)
        items = []
        for k in range(count):
            V, A = Motion(motions[k, :3], motions[k, 3:6]), Motion(motions[k, 6:9], motions[k, 9:])
            if k == 3:
                V = Motion(np.zeros(3), np.array([0.0, 0.0, 1.0]) * motions[k, 5])
            if k == 5:
                V, A = Motion.zero(), Motion(np.array([0.0, 0.0, 9.81]), np.zeros(3))  # known
            items.append((INERTIAS[k], V, A, 0.25))
        found = ops.for_each(force, items, x)
        assert all(isinstance(net, Force) for net, _, _ in found)
        return np.concatenate([np.array([*f.vector(), *g.force, *rest]) for f, g, rest in found])

    return function, 12 * count


@pytest.mark.parametrize("count", [9, 10, 17, 24, 30])
def test_one_function_computes_what_scalar_nodes_compute(count):
    """One state and lanes of states agree to the bit, and so do CPUs with fused multiply-add."""
    function, n = forces_of(count)
    x = np.random.default_rng(count).normal(size=(19, n))
    expected = np.array([function(row) for row in x])
    got = {}
    for target in RUNNABLE:
        program = build(function, [(n,)], host(target))
        assert sum(node.op == "rows" for part in program.parts for node in part.nodes) == 1
        got[target] = run(Kernel(program), x)
        assert np.allclose(got[target], expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
        assert np.allclose(program.graph.evaluate(x[0]), expected[0], rtol=0.0, atol=1e-12 * np.abs(expected).max())
    assert all(np.array_equal(got[""], got[target]) for target in FUSING)
    with new_table(), array_operations_if(True):
        check(trace(function, [(n,)])[0], fused=False)


@pytest.mark.parametrize("count", [9, 21, 35])
def test_float32(count):
    function, n = forces_of(count)
    x = np.random.default_rng(1).normal(size=(37, n)).astype(np.float32)
    compiled = Kernel(build(function, [(n,)], host().computing_in(np.dtype(np.float32))))
    out = np.empty((len(x), compiled.source.layout.outputs[0]), dtype=np.float32)
    compiled.batch([x], [out])
    one = np.empty((1, out.shape[1]), dtype=np.float32)
    for k in range(len(x)):
        compiled.single([x[k]], [one])
        assert np.array_equal(one[0], out[k])
    expected = np.array([function(row.astype(float)) for row in x])
    assert np.abs(out - expected).max() < 1e-4 * np.abs(expected).max()


def test_what_several_functions_pass_on_and_what_nothing_needs():
    """Results of one are operands of the next; those that are not used are not computed."""

    def function(x):
        items = [(row[:3], row[3:]) for row in x.reshape(-1, 6)]
        first = ops.for_each(lambda a, b: (np.cross(a, b), a * b), items, x)
        second = ops.for_each(
            lambda c, b: c @ b, [(c, d) for (c, _), (_, d) in zip(first, items[::-1], strict=True)], x
        )
        return np.array(second)

    x = np.random.default_rng(0).normal(size=(11, 12 * 6))
    program = build(function, [(72,)], host())
    assert np.allclose(run(Kernel(program), x), [function(row) for row in x], rtol=0.0, atol=1e-12)
    assert sum(node.op == "rows" for part in program.parts for node in part.nodes) == 2
    assert program.operations == 12 * (6 + 3)


@pytest.mark.parametrize(
    "items, function", [(7, lambda a, b: a * b), (12, lambda a, b: ops.sin(a) + b)], ids=["few", "not arithmetic"]
)
def test_few_items_and_other_functions_are_scalar_nodes(items, function):
    def formula(x):
        return np.array(ops.for_each(function, list(x.reshape(items, 2)), x))

    program = build(formula, [(2 * items,)], host())
    assert not any(node.op == "rows" for part in program.parts for node in part.nodes)
    x = np.random.default_rng(0).normal(size=(3, 2 * items))
    assert np.allclose(run(Kernel(program), x), [formula(row) for row in x], rtol=0.0, atol=1e-14)


def test_blocks_of_states_have_scalar_nodes_and_the_same_bits():
    """Zeros and ones among the operands are left out there, and constants of float32 are not combined before."""

    def function(x):
        items = [
            (x[k], x[k + 1] if k % 3 else 0.0, 1.0 if k % 2 else 0.1 * k, 0.0 if k % 5 else -x[k]) for k in range(12)
        ]
        found = ops.for_each(lambda a, b, c, d: (a * b + d, c * 0.3 - d, a - c * b, -(a * c) - d), items, x)
        rows = np.concatenate([np.array(found)] * 3, axis=1)
        pairs = [(i, j) for i, j in np.ndindex(12, 12) if i != j]
        table = pair_products(rows, rows[::-1] * np.where(np.eye(12), 0.0, 1.0), pairs)
        return np.concatenate([rows.ravel(), [table[pair] for pair in pairs]])

    x = np.random.default_rng(2).normal(size=(21, 13))
    expected = np.array([function(row) for row in x])
    for target in RUNNABLE:
        program = build(function, [(13,)], host(target))
        assert not any(node.op == "rows" for part in program.of_blocks.parts for node in part.nodes)
        assert np.allclose(run(Kernel(program), x), expected, rtol=0.0, atol=1e-13)
    single = Kernel(build(function, [(13,)], host().computing_in(np.dtype(np.float32))))
    out = np.empty((len(x), expected.shape[1]), dtype=np.float32)
    single.batch([x.astype(np.float32)], [out])
    one = np.empty((1, out.shape[1]), dtype=np.float32)
    for k, row in enumerate(x.astype(np.float32)):
        single.single([row], [one])
        assert np.array_equal(one[0], out[k])


def test_short_programs_are_scalar(monkeypatch):
    """Their code for one state is that of blocks of states."""
    monkeypatch.setattr(program_module, "SHORT", 10_000)
    function, n = forces_of(9)
    program = build(function, [(n,)], host())
    assert not any(node.op == "rows" for part in program.parts for node in part.nodes)
    assert program.of_blocks is program
    x = np.random.default_rng(0).normal(size=(3, n))
    assert np.allclose(run(Kernel(program), x), [function(row) for row in x], rtol=1e-12, atol=1e-12)
