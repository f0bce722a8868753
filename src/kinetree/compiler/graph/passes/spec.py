"""The rules of a legal graph, checked between passes, so that a wrong pass is found where it breaks the graph."""

from __future__ import annotations

from kinetree.compiler.graph.expr import REAL, SIGNATURES
from kinetree.compiler.graph.graph import Graph

FUSED = frozenset(("fma", "fms", "fnma", "fnms"))


class IllegalGraph(AssertionError):
    """A graph that no pass may produce."""


def check(graph: Graph, fused: bool) -> Graph:
    """The graph itself if all its nodes are legal, else raises; fused operations are legal with `fused`."""
    for node in graph.nodes():
        if node.op not in SIGNATURES or (node.op in FUSED and not fused):
            raise IllegalGraph(f"{node.op} is not an operation at this stage")
        kinds, _ = SIGNATURES[node.op]
        if node.op == "rows":
            kinds = (REAL,) * (node.value.coefficients + sum(mask.bit_count() for mask in node.value.given))
        if tuple(SIGNATURES[arg.op][1] for arg in node.args) != kinds:
            raise IllegalGraph(f"{node.op} takes {kinds}, not {[arg.op for arg in node.args]}")
        if any(arg.order >= node.order for arg in node.args):
            raise IllegalGraph(f"{node.op} was made before its operands")
        if node.op == "input" and not 0 <= node.value < graph.n_inputs:
            raise IllegalGraph(f"there is no input {node.value}")
        if node.args and all(not arg.args and arg.op != "input" for arg in node.args):
            raise IllegalGraph(f"{node.op} of constants is not folded")
    for node in graph.outputs:
        if SIGNATURES[node.op][1] != REAL:
            raise IllegalGraph(f"the output {node.op} is not a number")
    return graph
