"""A long schedule is cut into parts, each of which becomes a function. A row program is a part of its own.

LLVM takes more than linear time for long functions. Values that one part computes and another needs go through a
workspace, whose slots are used again when their values are no longer needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kinetree.compiler.graph.expr import Node
from kinetree.compiler.graph.passes.schedule import ANGULAR

PART = 1000
"""The maximum number of operations in one function; stores of one result count from the third on (a symmetric matrix
has two)."""
LONG = 8_000
"""The number of nodes from which on functions are shorter: LLVM takes a third less time, and little is lost."""
SHORT_PART = 200
PER_OUTPUT = 40
"""The number of nodes for each output up to which functions are shorter too: such code is also faster. Entries of row
programs and of symmetric matrices do not count; for mass matrices longer functions are faster."""
ANGLES = 200
"""The maximum number of sines and cosines in one function: all are alive at once, and LLVM takes minutes for
thousands."""


@dataclass
class Part:
    """The operations of one function, and the slots of the values that it loads from and stores in the workspace."""

    nodes: list[Node]
    loads: dict[Node, int] = field(default_factory=dict)
    stores: dict[Node, int] = field(default_factory=dict)


def split(order: list[Node], size: int | None = None, outputs: Iterable[Node] = ()) -> tuple[list[Part], int]:
    """The parts and the number of slots of the workspace."""
    counted = Counter(outputs)
    stored = sum(count == 1 and bool(node.args) and node.op != "entry" for node, count in counted.items())
    longest = PART if len(order) <= PART or PER_OUTPUT * stored < len(order) < LONG else SHORT_PART
    repeated = {node: count - 2 for node, count in counted.items() if count > 2}
    parts = [Part(nodes) for nodes in _cut(order, size or longest, repeated)]
    part_of = {node: k for k, part in enumerate(parts) for node in part.nodes if node.op != "rows"}
    needed = [  # of earlier parts
        [arg for node in _computed(part) for arg in node.args if part_of.get(arg, k) < k]
        for k, part in enumerate(parts)
    ]
    last_use = {arg: k for k, args in enumerate(needed) for arg in args}
    free: list[int] = []
    slots = 0
    slot: dict[Node, int] = {}
    for k, part in enumerate(parts):
        part.loads = {arg: slot[arg] for arg in needed[k]}
        for node in _computed(part):
            if node in last_use:
                if free:
                    slot[node] = free.pop()
                else:
                    slot[node], slots = slots, slots + 1
                part.stores[node] = slot[node]
        # a slot that this part reads is free from the next part on: stores and loads of one part interleave
        free.extend(slot[node] for node in part.loads if last_use[node] == k)
    return parts, slots


def _computed(part: Part) -> list[Node]:
    """The nodes of a part, without row programs: their operands and results have places of their own."""
    return [node for node in part.nodes if node.op != "rows"]


def _cut(order: list[Node], size: int, repeated: dict[Node, int]) -> list[list[Node]]:
    cut: list[list[Node]] = [[]]
    angular = stores = 0
    for node in order:
        if node.op == "entry":
            continue
        if node.op == "rows":
            cut += [[node], []]
            angular = stores = 0
            continue
        angular += node.op in ANGULAR
        stores += repeated.get(node, 0)
        if len(cut[-1]) + stores >= size + repeated.get(node, 0) or angular > ANGLES:
            cut.append([])
            angular, stores = int(node.op in ANGULAR), repeated.get(node, 0)
        cut[-1].append(node)
    return [nodes for nodes in cut if nodes] or [[]]
