"""Sums of products as chains: z + (a b - c d) becomes (z + a b) - c d, where both products fuse with a sum.

Only sums that are used once are taken apart, so nothing is computed twice.
"""

from __future__ import annotations

from kinetree.compiler.graph import Graph, uses
from kinetree.compiler.passes.rewrite import rewrite
from kinetree.compiler.passes.rules import compile_rules, parse_rules

CHAIN = parse_rules(
    """
    z + (w + x * y) -> (z + w) + x * y
    z + (w - x * y) -> (z + w) - x * y
    z + (x * y - w) -> (z - w) + x * y
    z - (w + x * y) -> (z - w) - x * y
    z - (w - x * y) -> (z - w) + x * y
    z - (x * y - w) -> (z + w) - x * y
    (w + x * y) - z -> (w - z) + x * y
    (w - x * y) - z -> (w - z) - x * y
    """
)
_chain = compile_rules(CHAIN, once=True)


def chain(graph: Graph) -> Graph:
    """The graph with products moved one sum outwards; several times, for longer sums."""
    shared = {node for node, count in uses(graph).items() if count > 1}
    return rewrite(graph, _chain, shared)
