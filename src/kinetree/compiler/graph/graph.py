"""A traced function: its outputs as nodes over numbered inputs, and ways to walk and count them."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kinetree.base.lazy import lazy
from kinetree.compiler.graph.expr import NUMERIC, Node, make

FREE = frozenset(("const", "true", "false", "input", "neg"))
"""Operations that cost nothing: a sign is absorbed by the instruction that uses it."""


@dataclass(frozen=True)
class Graph:
    """Outputs, in order, of a function of `n_inputs` numbers."""

    n_inputs: int
    outputs: tuple[Node, ...]
    sequence: tuple[Node, ...] = ()
    """An order to keep to, where rewriting has made nodes anew: that of the nodes they stand for."""
    names: tuple[str, ...] = ()
    """What the inputs are called, if they have names: x0, x1, … otherwise."""
    results: tuple[str, ...] = ()
    """What the outputs are called, if they have names: result[0], result[1], … otherwise."""

    def __repr__(self) -> str:
        return f"<Graph: {self.operations()} operations, {self.n_inputs} inputs, {len(self.outputs)} outputs>"

    def nodes(self) -> list[Node]:
        """All nodes that the outputs need, operands before what uses them."""
        return self._nodes

    @lazy
    def _nodes(self) -> list[Node]:
        needed = reachable(self.outputs)
        return in_sequence(needed, self.sequence) if self.sequence else needed

    def counts(self) -> Counter[str]:
        """How many operations of each kind it takes."""
        return Counter(node.op for node in self.nodes() if node.op not in FREE)

    def operations(self) -> int:
        """How many operations it takes."""
        return self.counts().total()

    def name_of(self, position: int) -> str:
        """What the input at a position is called."""
        return self.names[position] if self.names else f"x{position}"

    def result_name(self, position: int) -> str:
        """What the output at a position is called."""
        return self.results[position] if self.results else f"result[{position}]"

    def listing(self, names: Sequence[str] = ()) -> str:
        """The operations as lines of text, inputs called by the given names; the last line lists the outputs."""
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
                lines.append(f"{called[node]} = {node.op}({', '.join(called[arg] for arg in node.args)})")
        return "\n".join([*lines, f"return {', '.join(called[node] for node in self.outputs)}"])

    def dot(self) -> str:
        """The graph in the language of Graphviz, constants written into the operations that use them."""
        from kinetree.compiler.graph import picture  # noqa: PLC0415 - it draws graphs

        return picture.dot(self)

    def svg(self) -> str:
        """The graph as a drawing, for a browser or a notebook; a few hundred operations at most."""
        from kinetree.compiler.graph import picture  # noqa: PLC0415

        return picture.svg(self)

    def _repr_svg_(self) -> str | None:
        """What a notebook shows."""
        from kinetree.compiler.graph import picture  # noqa: PLC0415

        return picture.svg(self) if self.operations() <= picture.MOST else None

    def evaluate(self, inputs: Iterable[float]) -> list[float]:
        """The outputs for given inputs, node by node in Python: slow, for tests."""
        values = list(inputs)
        results: dict[Node, float] = {}
        for node in self.nodes():
            if node.op == "const":
                results[node] = node.value
            elif node.op == "input":
                results[node] = values[int(node.value)]
            elif node.op in ("true", "false"):
                results[node] = node.op == "true"
            else:
                results[node] = NUMERIC[node.op](*(results[arg] for arg in node.args))
        return [results[node] for node in self.outputs]

    def mapped(self, change: Callable[[Node, tuple[Node, ...]], Node]) -> Graph:
        """The graph rebuilt from the inputs up: `change(node, new operands)` gives each node's replacement."""
        new: dict[Node, Node] = {}
        for node in self.nodes():
            new[node] = change(node, tuple(new[arg] for arg in node.args))
        sequence = tuple(new[node] for node in self.nodes())
        return Graph(self.n_inputs, tuple(new[node] for node in self.outputs), sequence, self.names, self.results)


def reachable(roots: Iterable[Node]) -> list[Node]:
    """The nodes that the roots depend on, themselves included, in the order they were made."""
    found: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(node.args)
    return sorted(found, key=lambda node: node.order)


def in_sequence(nodes: list[Node], sequence: Iterable[Node]) -> list[Node]:
    """The nodes as the sequence has them, but each after its operands."""
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
    """How often each node is an operand or an output."""
    counted = Counter(arg for node in graph.nodes() for arg in node.args)
    counted.update(graph.outputs)
    return counted


def rebuilt(node: Node, args: tuple[Node, ...]) -> Node:
    """The same operation on other operands, simplified again."""
    if all(map(operator.is_, args, node.args)):
        return node
    return make(node.op, *args)
