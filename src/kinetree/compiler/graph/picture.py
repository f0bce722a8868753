"""Pictures of a graph: DOT text for Graphviz, and an SVG with its own layered layout, which needs no other program.

There is one row for each depth, inputs above their uses and results at the bottom. A constant is written into the
operation that uses it. Edges that pass a row get a place in it, shared by all edges of one box, so that none crosses a
box. Rows are sorted by the positions of their neighbours (Sugiyama, Tagawa, Toda 1981), and boxes are moved as close to
these as their order allows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from kinetree.compiler.graph.expr import COMMUTATIVE, Node
from kinetree.compiler.graph.graph import Graph, title
from kinetree.errors import ArgumentError

MAX_OPERATIONS = 400
"""The number of operations above which a picture is unreadable."""
SWEEPS = 24
HEIGHT, GAP, ROW, MARGIN, LETTER, SMALL_LETTER, LEGEND_HEIGHT = 34.0, 16.0, 66.0, 14.0, 7.6, 5.8, 26.0

FILL = {"input": "#cfe3f7", "result": "#d5ecd0", "sum": "#f2f2f2", "function": "#fdebc0", "choice": "#e9dcf3"}
CHOICES = frozenset(
    ("where", "less", "less_equal", "equal", "logical_and", "logical_or", "logical_not", "minimum", "maximum")
)
FUSED = {"fma": "x·y + z", "fms": "x·y - z", "fnma": "z - x·y", "fnms": "-x·y - z"}
"""The formulas of fused operations on operands x, y, z, for the legend."""
FUNCTIONS = frozenset(("sin", "cos", "tan", "atan2", "sqrt", "exp", "log", "tanh", "absolute", "div"))


@dataclass(eq=False)
class Box:
    """A drawn node, or a place where an edge passes a row."""

    label: str = ""
    small: str = ""
    kind: str = ""
    title: str = ""
    row: int = 0
    x: float = 0.0
    above: list[Box] = field(default_factory=list)
    """The boxes of the operands, in their order."""
    below: list[Box] = field(default_factory=list)

    @property
    def width(self) -> float:
        wide = max(LETTER * len(self.label), SMALL_LETTER * len(self.small)) + 14.0
        return max(wide, 36.0) if self.label else 10.0


def dot(graph: Graph) -> str:
    """The graph in the DOT language of Graphviz."""
    boxes = _boxes(graph)
    number = {box: k for k, box in enumerate(boxes)}
    lines = ["digraph {", '  node [shape=box, style="rounded,filled", fontname="Helvetica"];']
    for box, k in number.items():
        text = "\\n".join(part.replace('"', '\\"') for part in (box.label, box.small) if part)
        lines.append(f'  n{k} [label="{text}", fillcolor="{FILL[box.kind]}"];')
    lines += [f"  n{number[operand]} -> n{number[box]};" for box in boxes for operand in box.above]
    if _legend(graph):
        lines.append(f'  label="{_legend(graph)}"; fontname="Helvetica";')
    return "\n".join([*lines, "}"])


def svg(graph: Graph) -> str:
    """The graph as an SVG."""
    if graph.operations() > MAX_OPERATIONS:
        raise ArgumentError(
            f"the graph has {graph.operations()} operations, and a picture shows up to {MAX_OPERATIONS}: read "
            ".listing(), give .dot() to Graphviz, or compile a smaller part of the function"
        )
    boxes = _boxes(graph)
    _choose_rows(boxes)
    rows, paths = _rows(boxes)
    for row in rows:
        _move(row, [float(k) for k in range(len(row))])
    _untangle(rows)
    _straighten(rows)
    left = min((box.x - box.width / 2 for row in rows for box in row), default=0.0) - MARGIN
    right = max((box.x + box.width / 2 for row in rows for box in row), default=0.0) + MARGIN
    legend, bottom = _legend(graph), max(0.0, ROW * (len(rows) - 1) + HEIGHT)
    right = max(right, left + 2 * MARGIN + SMALL_LETTER * len(legend))
    size = f"{right - left:.0f}", f"{bottom + (LEGEND_HEIGHT if legend else 0.0) + 2 * MARGIN:.0f}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
            f'viewBox="{left:.1f} {-MARGIN} {size[0]} {size[1]}" font-family="Helvetica, Arial, sans-serif">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
            '<path d="M0 0.8 L8 4 L0 7.2 z" fill="#777"/></marker></defs>',
            f'<rect x="{left:.1f}" y="{-MARGIN}" width="{size[0]}" height="{size[1]}" fill="white"/>',
            '<g fill="none" stroke="#8a8a8a" stroke-width="1.1">',
            *(_edge(path, position) for path, position in paths),
            "</g>",
            '<g stroke="#555" text-anchor="middle">',
            *(_drawn(box) for box in boxes),
            "</g>",
            *([_written(legend, left + MARGIN, bottom + LEGEND_HEIGHT)] if legend else []),
            "</svg>",
        ]
    )


def _legend(graph: Graph) -> str:
    """The formulas of the fused operations in the graph."""
    used = graph.counts()
    return ",  ".join(f"{op} = {meaning}" for op, meaning in FUSED.items() if used[op])


# -- boxes -------------------------------------------------------------------------------------------------------------


def _boxes(graph: Graph) -> list[Box]:
    """Boxes of used inputs, operations and results; a constant has a box only if it is a result."""
    boxes: dict[Node, Box] = {}
    count = itertools.count(1)
    called: dict[Node, str] = {}
    for node in graph.nodes():
        if node.op == "input":
            called[node] = graph.name_of(int(node.value))
            boxes[node] = Box(called[node], kind="input", title=called[node])
        elif node.args:
            called[node] = f"t{next(count)}"
            text = f"{called[node]} = {title(node)}({', '.join(called[arg] for arg in node.args)})"
            kind = "function" if node.op in FUNCTIONS else "choice" if node.op in CHOICES else "sum"
            boxes[node] = Box(title(node), _constants(node), kind, text)
            boxes[node].above = [boxes[arg] for arg in node.args if arg in boxes]
        else:
            called[node] = _number(node)
    results = []
    for k, node in enumerate(graph.outputs):
        name = graph.result_name(k)
        result = Box(name, "" if node in boxes else f"= {called[node]}", "result", f"{name} = {called[node]}")
        result.above = [boxes[node]] if node in boxes else []
        results.append(result)
    everything = [*boxes.values(), *results]
    for box in everything:
        for operand in box.above:
            operand.below.append(box)
    return everything


def _constants(node: Node) -> str:
    """The constants among the operands, with dots for other operands if their order matters."""
    constants = [_number(arg) for arg in node.args if _is_constant(arg)] if node.op != "rows" else []
    if not constants or node.op in COMMUTATIVE:
        return ", ".join(constants)
    return ", ".join(_number(arg) if _is_constant(arg) else "·" for arg in node.args)


def _is_constant(node: Node) -> bool:
    return not node.args and node.op != "input"


def _number(node: Node) -> str:
    return f"{node.value:.4g}" if node.op == "const" else node.op


# -- layout ------------------------------------------------------------------------------------------------------------


def _choose_rows(boxes: Sequence[Box]) -> None:
    """Set the rows: operations below their operands, results last, and boxes with less than two operands just above
    their first use."""
    for box in boxes:
        box.row = 1 + max((operand.row for operand in box.above), default=-1)
    last = max((box.row for box in boxes), default=0)
    for box in reversed(boxes):
        if box.kind == "result":
            box.row = last
        elif len(set(box.above)) < 2:
            box.row = min((user.row for user in box.below), default=last) - 1


def _rows(boxes: Sequence[Box]) -> tuple[list[list[Box]], list[tuple[list[Box], int]]]:
    """The boxes by row, with places for passing edges; and the edges, each as the boxes it runs through and the index
    of its operand."""
    rows: list[list[Box]] = [[] for _ in range(1 + max((box.row for box in boxes), default=-1))]
    paths = []
    passing: dict[tuple[Box, int], Box] = {}
    for box in boxes:
        rows[box.row].append(box)
        box.below = []
    for box in boxes:
        operands, box.above = box.above, []
        for position, operand in enumerate(operands):
            path = [operand]
            for row in range(operand.row + 1, box.row):
                if (operand, row) not in passing:
                    passing[operand, row] = passed = Box(row=row, above=[path[-1]])
                    path[-1].below.append(passed)
                    rows[row].append(passed)
                path.append(passing[operand, row])
            path[-1].below.append(box)
            box.above.append(path[-1])
            paths.append(([*path, box], position))
    return rows, paths


def _untangle(rows: list[list[Box]]) -> None:
    """Sort every row by the positions of its neighbours, alternately downwards and upwards; keep the order with the
    fewest crossings."""
    best, fewest = [list(row) for row in rows], _crossings(rows)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            sides = [(box.above, box.below) if sweep % 2 == 0 else (box.below, box.above) for box in row]
            target = {box: _mean(first or other, box.x) for box, (first, other) in zip(row, sides, strict=True)}
            row.sort(key=target.__getitem__)
            _move(row, [float(k) for k in range(len(row))])
        crossings = _crossings(rows)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    for row, ordered in zip(rows, best, strict=True):
        row[:] = ordered


def _crossings(rows: Sequence[Sequence[Box]]) -> int:
    count = 0
    for row in rows:
        rank = {box: k for k, box in enumerate(row)}
        following = rows[row[0].row + 1] if row and row[0].row + 1 < len(rows) else ()
        ends = [rank[upper] for lower in following for upper in sorted(lower.above, key=rank.__getitem__)]
        count += sum(1 for k, end in enumerate(ends) for other in ends[k + 1 :] if other < end)
    return count


def _straighten(rows: list[list[Box]]) -> None:
    """Move boxes towards the mean of their neighbours without changing their order."""
    for row in rows:
        _move(row, _spread(row, [0.0] * len(row)))
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            _move(row, _spread(row, [_mean(box.above + box.below, box.x) for box in row]))


def _spread(row: Sequence[Box], wanted: Sequence[float]) -> list[float]:
    """Positions nearest to those wanted, in least squares, with gaps between the boxes (pool adjacent violators)."""
    offsets = [0.0]
    for left, right in itertools.pairwise(row):
        offsets.append(offsets[-1] + (left.width + right.width) / 2 + GAP)
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for box, want, offset in zip(row, wanted, offsets, strict=True):
        pool = (want - offset, 4.0 if not box.label else 1.0, 1)
        while pools and pools[-1][0] >= pool[0]:
            mean, weight, count = pools.pop()
            total = weight + pool[1]
            pool = ((mean * weight + pool[0] * pool[1]) / total, total, count + pool[2])
        pools.append(pool)
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _move(row: Sequence[Box], positions: Sequence[float]) -> None:
    for box, position in zip(row, positions, strict=True):
        box.x = position


def _mean(boxes: Iterable[Box], otherwise: float) -> float:
    positions = [box.x for box in boxes]
    return sum(positions) / len(positions) if positions else otherwise


# -- drawing -----------------------------------------------------------------------------------------------------------


def _edge(path: Sequence[Box], position: int) -> str:
    """A smooth curve, straight within its gap where it passes a row, which ends at the position of its operand."""
    last = path[-1]
    arrival = last.x + last.width * 0.7 * ((position + 0.5) / len(last.above) - 0.5)
    x, y, slope = path[0].x, path[0].row * ROW + HEIGHT, 0.0
    text = f"M{x:.1f} {y:.1f}"
    for before, box, after in zip(path[:-1], path[1:], [*(box.x for box in path[2:]), None], strict=True):
        new = 0.0 if after is None else _slope(box.x - before.x, after - box.x)
        end, top = (arrival, last.row * ROW - 1.0) if after is None else (box.x - new * HEIGHT / 2, box.row * ROW)
        reach = (top - y) / 2
        text += (
            f" C{x + reach * slope:.1f} {y + reach:.1f} {end - reach * new:.1f} {top - reach:.1f} {end:.1f} {top:.1f}"
        )
        if after is not None:
            x, y, slope = box.x + new * HEIGHT / 2, top + HEIGHT, new
            text += f" L{x:.1f} {y:.1f}"
    return f'<path class="edge" d="{text}" marker-end="url(#tip)"/>'


def _slope(before: float, after: float) -> float:
    """The slope of an edge where it passes a row, from the steps before and after; zero where it turns back."""
    if before * after <= 0.0:
        return 0.0
    slope = 2.0 * before * after / (before + after) / ROW
    limit = GAP / HEIGHT
    return max(-limit, min(limit, slope))


def _written(text: str, x: float, y: float) -> str:
    return f'<text class="legend" x="{x:.1f}" y="{y:.1f}" font-size="11" fill="#555">{escape(text)}</text>'


def _drawn(box: Box) -> str:
    x, y = box.x, box.row * ROW
    baseline = y + (HEIGHT / 2 + 4.5 if not box.small else HEIGHT / 2 - 1.0)
    small = f'<text x="{x:.1f}" y="{y + HEIGHT - 6:.1f}" font-size="9.5" stroke="none" fill="#555">{escape(box.small)}'
    small = f"{small}</text>" if box.small else ""
    return (
        f'<g class="{box.kind}"><title>{escape(box.title)}</title>'
        f'<rect x="{x - box.width / 2:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{HEIGHT}" '
        f'rx="{HEIGHT / 2 if box.kind == "input" else 6}" fill="{FILL[box.kind]}"/>'
        f'<text x="{x:.1f}" y="{baseline:.1f}" font-size="13" stroke="none">{escape(box.label)}</text>{small}</g>'
    )
