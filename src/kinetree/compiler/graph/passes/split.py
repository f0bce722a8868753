"""Cut a long schedule into parts that become functions of their own.

LLVM takes more than linear time for long functions. Values that one part computes and another needs go through a
workspace; a slot of it is used again when its value is no longer needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from kinetree.compiler.graph.expr import Node
from kinetree.compiler.graph.passes.schedule import ANGULAR

PART = 1000
"""Operations in one function, at most; stores of one result in more places than a symmetric matrix has count too."""
VERY_LONG = 20_000
"""Operations from which on functions are shorter: LLVM is done a third sooner, and little is lost."""
SHORT_PART = 200
ANGLES = 200
"""Sines and cosines in one function, at most: all are alive at once, and LLVM takes minutes for thousands."""


@dataclass
class Part:
    """Operations of one function, with the values it takes from the workspace and leaves there, by slot."""

    nodes: list[Node]
    loads: dict[Node, int] = field(default_factory=dict)
    stores: dict[Node, int] = field(default_factory=dict)


def split(order: list[Node], size: int | None = None, outputs: Iterable[Node] = ()) -> tuple[list[Part], int]:
    """The parts and how many slots the workspace needs."""
    usual = PART if len(order) < VERY_LONG else SHORT_PART
    repeated = {node: count - 2 for node, count in Counter(outputs).items() if count > 2}
    parts = [Part(nodes) for nodes in _cut(order, size or usual, repeated)]
    home = {node: k for k, part in enumerate(parts) for node in part.nodes}
    last: dict[Node, int] = {}
    for k, part in enumerate(parts):
        for node in part.nodes:
            for arg in node.args:
                if arg in home and home[arg] < k:
                    last[arg] = k
    free: list[int] = []
    slots = 0
    slot: dict[Node, int] = {}
    for k, part in enumerate(parts):
        for node in part.nodes:
            for arg in node.args:
                if arg in home and home[arg] < k:
                    part.loads[arg] = slot[arg]
        for node in part.nodes:
            if node in last:
                if free:
                    slot[node] = free.pop()
                else:
                    slot[node], slots = slots, slots + 1
                part.stores[node] = slot[node]
        # a slot read in this part may be written only by the next: this part stores as it goes
        free.extend(slot[node] for node in part.loads if last[node] == k)
    return parts, slots


def _cut(order: list[Node], size: int, repeated: dict[Node, int]) -> list[list[Node]]:
    cut: list[list[Node]] = [[]]
    angular = stores = 0
    for node in order:
        angular += node.op in ANGULAR
        stores += repeated.get(node, 0)
        if len(cut[-1]) + stores >= size + repeated.get(node, 0) or angular > ANGLES:
            cut.append([])
            angular, stores = int(node.op in ANGULAR), repeated.get(node, 0)
        cut[-1].append(node)
    return cut
