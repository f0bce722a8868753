"""An order of the operations that keeps few values alive at a time, because registers are few.

Sines and cosines come first, as soon as their angles are known, so that a kernel for one state computes many at a time.
"""

from __future__ import annotations

import heapq

from kinetree.compiler.graph.expr import Node
from kinetree.compiler.graph.graph import Graph, reachable

REGISTERS = 28
MANY = 10_000
"""Operations from which on reloads are estimated, because counting them takes long."""
ANGULAR = frozenset(("sin", "cos"))


def schedule(graph: Graph) -> list[Node]:
    """The nodes to compute, in traced or in depth-first order from the outputs, whichever needs fewer reloads."""
    traced = [node for node in graph.nodes() if node.args]
    depth_first = _depth_first(graph.outputs)
    return angles_first(min((traced, depth_first), key=reloads if len(traced) < MANY else distant_uses))


def _depth_first(roots: tuple[Node, ...]) -> list[Node]:
    """The nodes in depth-first order, each after its operands."""
    order: list[Node] = []
    seen: set[Node] = set()
    waiting = [(root, False) for root in reversed(roots)]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            order.append(node)
        elif node not in seen and node.args:
            seen.add(node)
            waiting.append((node, True))
            waiting.extend((arg, False) for arg in reversed(node.args))
    return order


def reloads(order: list[Node], registers: int = REGISTERS) -> int:
    """The number of reloads from memory if the value with the latest next use is always evicted (Belady 1966)."""
    times: dict[Node, list[int]] = {}
    for time in range(len(order) - 1, -1, -1):  # the next use is last in each list
        for arg in order[time].args:
            if arg.args:
                times.setdefault(arg, []).append(time)
    in_registers: dict[Node, int] = {}
    by_next_use: list[tuple[int, int, Node]] = []
    count = 0
    for time, node in enumerate(order):
        for arg in node.args:
            if arg.args and arg not in in_registers:
                count += 1
        for value in {*node.args, node}:
            uses = times.get(value, [])
            while uses and uses[-1] <= time:
                uses.pop()
            if uses:
                in_registers[value] = uses[-1]
                heapq.heappush(by_next_use, (-uses[-1], value.order, value))
            else:
                in_registers.pop(value, None)
        while len(in_registers) > registers:
            next_use, _, value = heapq.heappop(by_next_use)
            if in_registers.get(value) == -next_use:
                del in_registers[value]
    return count


def distant_uses(order: list[Node], registers: int = REGISTERS) -> int:
    """The number of operands that were made, or used last, more than twice as many operations ago as there are
    registers: an estimate of `reloads`."""
    seen: dict[Node, int] = {}
    count = 0
    for time, node in enumerate(order):
        for arg in node.args:
            if arg.args and time - seen.get(arg, time) > 2 * registers:
                count += 1
            seen[arg] = time
        seen[node] = time
    return count


def angles_first(order: list[Node]) -> list[Node]:
    """The same operations with sines and cosines moved to the front, level by level if angles depend on others."""
    level: dict[Node, int] = {}
    for node in order:
        below = max((level.get(arg, 0) for arg in node.args), default=0)
        level[node] = below + (node.op in ANGULAR)
    by_level: dict[int, list[Node]] = {}
    for node in order:
        if node.op in ANGULAR:
            by_level.setdefault(level[node], []).append(node)
    hoisted: list[Node] = []
    done: set[Node] = set()
    for _, angular in sorted(by_level.items()):
        needed = set(reachable(arg for node in angular for arg in node.args)) - done
        found = [node for node in order if node in needed] + angular
        hoisted += found
        done.update(found)
    return hoisted + [node for node in order if node not in done]
