"""Graphs by themselves: what they compute, in which order, how much, and as text."""

import pytest

from kinetree import ops
from kinetree.compiler.graph.expr import boolean, constant, new_table, symbol
from kinetree.compiler.graph.graph import Graph, in_sequence, reachable, rebuilt, uses


@pytest.fixture
def graph():
    """(x0 + x1) · sin(x0 + x1), x0 < x1 and 2."""
    with new_table():
        total = symbol(0) + symbol(1)
        symbol(0) * 3.0  # nobody needs it
        yield Graph(2, (total * ops.sin(total), symbol(0) < symbol(1), constant(2.0)))


def test_it_computes_its_outputs(graph):
    for x, y in ((0.5, 1.0), (2.0, 1.0)):
        product, less, two = graph.evaluate([x, y])
        assert product == (x + y) * ops.sin(x + y)
        assert less == (x < y) and two == 2.0
    with new_table():
        assert Graph(0, (boolean(True), boolean(False))).evaluate([]) == [True, False]


def test_only_what_is_needed_counts_once(graph):
    assert graph.counts() == {"add": 1, "sin": 1, "mul": 1, "less": 1}
    assert graph.operations() == 4
    assert repr(graph) == "<Graph: 4 operations, 2 inputs, 3 outputs>"
    total = graph.outputs[0].args[0]
    assert uses(graph)[total] == 2 and uses(graph)[graph.outputs[0]] == 1
    assert graph.nodes() == reachable(graph.outputs)


def test_text(graph):
    lines = graph.listing(["a", "b"]).splitlines()
    assert lines[0] == "t1 = add(a, b)" and lines[1] == "t2 = sin(t1)"
    assert lines[-1] == "return t3, t4, 2"
    assert graph.name_of(1) == "x1" and graph.result_name(0) == "result[0]"
    named = Graph(2, graph.outputs, names=("p", "q"), results=("r", "s", "t"))
    assert named.name_of(1) == "q" and named.result_name(2) == "t"
    assert named.listing().startswith("t1 = add(p, q)")


def test_a_sequence_is_kept_as_far_as_operands_allow(graph):
    nodes = graph.nodes()
    ordered = in_sequence(nodes, reversed(nodes))
    assert ordered[0] is not nodes[0] and set(ordered) == set(nodes)
    place = {node: k for k, node in enumerate(ordered)}
    assert all(place[arg] < place[node] for node in ordered for arg in node.args)
    assert Graph(2, graph.outputs, tuple(ordered)).nodes() == ordered


def test_mapped_puts_other_nodes_in_place(graph):
    swapped = graph.mapped(
        lambda node, args: symbol(1 - int(node.value)) if node.op == "input" else rebuilt(node, args)
    )
    assert swapped.evaluate([0.5, 1.0]) == graph.evaluate([1.0, 0.5])
    assert graph.mapped(rebuilt).outputs == graph.outputs
