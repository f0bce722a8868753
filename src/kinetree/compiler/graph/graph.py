"""The graph of a traced function: its outputs as nodes over numbered inputs, with traversal, counts and text."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.base.lazy import lazy
from kinetree.compiler.graph.expr import NUMERIC, Node, interned, make
from kinetree.compiler.graph.row_program import needed_results

FREE = frozenset(("const", "true", "false", "input", "neg", "rows", "entry"))
"""Operations without cost: the instruction that uses a sign absorbs it. The multiplications of `rows` are counted."""


@dataclass(frozen=True)
class Graph:
    """The outputs of a function of `n_inputs` numbers."""

    n_inputs: int
    outputs: tuple[Node, ...]
    sequence: tuple[Node, ...] = ()
    """The order of the nodes after a rewrite: that of the nodes they replace. Empty: the order of creation."""
    names: tuple[str, ...] = ()
    """The names of the inputs; x0, x1, … without."""
    results: tuple[str, ...] = ()
    """The names of the outputs; result[0], result[1], … without."""

    def __repr__(self) -> str:
        return f"<Graph: {self.operations()} operations, {self.n_inputs} inputs, {len(self.outputs)} outputs>"

    def nodes(self) -> list[Node]:
        """All nodes that the outputs depend on, operands before their users."""
        return self._nodes

    @lazy
    def _nodes(self) -> list[Node]:
        needed = reachable(self.outputs)
        return in_sequence(needed, self.sequence) if self.sequence else needed

    def counts(self) -> Counter[str]:
        """The number of operations of each kind."""
        counted = Counter(node.op for node in self.nodes() if node.op not in FREE)
        for node, results in needed_results(self.nodes()).items():
            counted.update(node.value.counts(results))
        return counted

    def operations(self) -> int:
        """The number of operations."""
        return self.counts().total()

    def name_of(self, position: int) -> str:
        """The name of the input at a position."""
        return self.names[position] if self.names else f"x{position}"

    def result_name(self, position: int) -> str:
        """The name of the output at a position."""
        return self.results[position] if self.results else f"result[{position}]"

    def listing(self, names: Sequence[str] = ()) -> str:
        """The operations as lines of text, with these names for the inputs; the last line lists the outputs."""
        names = names or [self.name_of(k) for k in range(self.n_inputs)]
        called: dict[Node, str] = {}
        lines: list[str] = []
        for node in self.nodes():
            if node.op == "input":
                called[node] = names[int(node.value)]
            elif not node.args:
                called[node] = f"{node.value:.6g}" if node.op == "const" else node.op
            else:
                called[node] = f"t{len(lines) + 1}"
                listed = ", ".join(called[arg] for arg in node.args)
                lines.append(f"{called[node]} = {title(node)}({listed})")
        return "\n".join([*lines, f"return {', '.join(called[node] for node in self.outputs)}"])

    def dot(self) -> str:
        """The graph in the DOT language of Graphviz; constants are written into the operations that use them."""
        from kinetree.compiler.graph import picture  # noqa: PLC0415 - it imports this module

        return picture.dot(self)

    def svg(self) -> str:
        """The graph as an SVG, for a browser or a notebook; up to a few hundred operations."""
        from kinetree.compiler.graph import picture  # noqa: PLC0415

        return picture.svg(self)

    def _repr_svg_(self) -> str | None:
        """The SVG that a notebook shows, or None for a large graph."""
        from kinetree.compiler.graph import picture  # noqa: PLC0415

        return picture.svg(self) if self.operations() <= picture.MAX_OPERATIONS else None

    def evaluate(self, inputs: Iterable[float]) -> list[float]:
        """The outputs for these inputs, computed node by node in Python: slow, for tests."""
        values = list(inputs)
        results: dict[Node, Any] = {}
        for node in self.nodes():
            if node.op == "const":
                results[node] = node.value
            elif node.op == "input":
                results[node] = values[int(node.value)]
            elif node.op in ("true", "false"):
                results[node] = node.op == "true"
            elif node.op == "rows":
                results[node] = node.value.apply([results[arg] for arg in node.args])
            elif node.op == "entry":
                results[node] = results[node.args[0]].flat[node.value]
            else:
                results[node] = NUMERIC[node.op](*(results[arg] for arg in node.args))
        return [results[node] for node in self.outputs]

    def mapped(self, change: Callable[[Node, tuple[Node, ...]], Node]) -> Graph:
        """The graph rebuilt from the inputs up: `change(node, new operands)` returns the replacement of each node."""
        new: dict[Node, Node] = {}
        for node in self.nodes():
            new[node] = change(node, tuple(new[arg] for arg in node.args))
        sequence = tuple(new[node] for node in self.nodes())
        return Graph(self.n_inputs, tuple(new[node] for node in self.outputs), sequence, self.names, self.results)


def reachable(roots: Iterable[Node]) -> list[Node]:
    """The roots and all nodes that they depend on, in the order of creation."""
    found: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.args)
    return sorted(found, key=lambda node: node.order)


def in_sequence(nodes: list[Node], sequence: Iterable[Node]) -> list[Node]:
    """The nodes in the order of the sequence, but each after its operands."""
    missing = dict.fromkeys(nodes)
    ordered: list[Node] = []
    for first in (*sequence, *nodes):
        waiting = [first] if first in missing else []
        while waiting:
            node = waiting[-1]
            before = [arg for arg in node.args if arg in missing]
            if before:
                waiting.extend(before)
                continue
            waiting.pop()
            if node in missing:
                del missing[node]
                ordered.append(node)
    return ordered


def uses(graph: Graph) -> Counter[Node]:
    """The number of uses of each node as an operand or an output."""
    counted = Counter(arg for node in graph.nodes() for arg in node.args)
    counted.update(graph.outputs)
    return counted


def rebuilt(node: Node, args: tuple[Node, ...]) -> Node:
    """The operation of a node on other operands, simplified again."""
    if all(map(operator.is_, args, node.args)):
        return node
    return interned(node.op, args, node.value) if node.op in ("rows", "entry") else make(node.op, *args)


def title(node: Node) -> str:
    """The name of an operation; of an entry with its position."""
    if node.op == "rows":
        return str(node.value.name)
    return f"entry[{node.value}]" if node.op == "entry" else node.op
