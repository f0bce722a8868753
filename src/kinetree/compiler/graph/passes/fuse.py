"""Multiply-add fusion: one instruction with one rounding for a product and a sum.

A product is fused only if all its uses are sums, so that it need not be computed separately as well.
"""

from __future__ import annotations

from kinetree.compiler.graph.graph import Graph, uses
from kinetree.compiler.graph.passes.rules import compile_rules, parse_rules, rewrite

FUSE = parse_rules(
    """
    x * y + z -> fma(x, y, z)
    x * y - z -> fms(x, y, z)
    z - x * y -> fnma(x, y, z)
    -fma(x, y, z) -> fnms(x, y, z)
    -fms(x, y, z) -> fnma(x, y, z)
    -fnma(x, y, z) -> fms(x, y, z)
    """
)
_fuse = compile_rules(FUSE, once=True)


def fuse(graph: Graph) -> Graph:
    """The graph with sums of products as fused operations."""
    counted = uses(graph)
    separate = set(graph.outputs)  # nodes with a use that cannot absorb them: they are computed anyway
    for node in graph.nodes():
        for arg in node.args:
            if node.op not in ("add", "sub") if arg.op == "mul" else counted[arg] > 1:
                separate.add(arg)
    return rewrite(graph, _fuse, separate)
