"""Factoring: a common factor of two products is multiplied once."""

from __future__ import annotations

from kinetree.compiler.graph.graph import Graph, uses
from kinetree.compiler.graph.passes.rules import compile_rules, parse_rules, rewrite

FACTOR = parse_rules(
    """
    x * y + x * z -> x * (y + z)
    x * y - x * z -> x * (y - z)
    x / z + y / z -> (x + y) / z
    x / z - y / z -> (x - y) / z
    """
)
_factor = compile_rules(FACTOR, once=True)


def factor(graph: Graph) -> Graph:
    """The graph with common factors taken out of products that are used only once."""
    shared = {node for node, count in uses(graph).items() if count > 1}
    return rewrite(graph, _factor, shared)
