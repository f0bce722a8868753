"""Rewriting of a whole graph by a table of rules."""

from __future__ import annotations

from collections.abc import Set

from kinetree.compiler.graph.expr import Node, Rules
from kinetree.compiler.graph.graph import Graph, rebuilt


def rewrite(graph: Graph, rules: Rules, intact: Set[Node]) -> Graph:
    """The graph with each node replaced by the first rule that fits; rules do not take nodes in `intact` apart."""
    shared: set[Node] = set()

    def change(node: Node, args: tuple[Node, ...]) -> Node:
        rule = rules.get(node.op)
        new = rule(shared, *args) if rule is not None else None
        if new is None:
            new = rebuilt(node, args)
        if node in intact:
            shared.add(new)
        return new

    return graph.mapped(change)
