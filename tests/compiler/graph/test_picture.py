"""Pictures of graphs: every operation and every edge is there, boxes lie beside each other, and large graphs say so."""

import itertools
import re
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.graph.graph import Graph

SVG = "{http://www.w3.org/2000/svg}"


def graph_of(function, robot="planar2", shapes=None):
    law = kt.compile(function, shapes=shapes)
    law.bind(kt.load(robot))
    return law.graph


GRAPHS = {
    "gravity": lambda: graph_of(lambda robot, q: robot.gravity_forces(q)),
    "inverse dynamics": lambda: graph_of(lambda robot, q, v, a: robot.inverse_dynamics(q, v, a)),
    "an arm's Jacobian": lambda: graph_of(lambda robot, q: robot.frame("tool0").jacobian(q), "arm6"),
    "constants": lambda: graph_of(lambda robot, q: np.array([q[0], 3.0, q[0], 1.0 - q[1]])),
    "choices": lambda: graph_of(lambda robot, q: kt.where(kt.less(q, 0.5), kt.sqrt(q), q / (1.0 + q * q))),
    "nothing": lambda: graph_of(lambda robot, q: ()),
}


@pytest.fixture(params=GRAPHS.values(), ids=GRAPHS)
def graph(request):
    return request.param()


def edges(graph):
    """Operands that are not constants, and results that are computed or given."""
    operands = sum(1 for node in graph.nodes() for arg in node.args if arg.args or arg.op == "input")
    return operands + sum(1 for node in graph.outputs if node.args or node.op == "input")


def drawn(root, kind):
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == kind]


def labels(groups):
    return Counter(group.find(f"{SVG}text").text for group in groups)


def test_svg_has_everything(graph):
    root = ET.fromstring(graph.svg())
    operations = [group for kind in ("sum", "function", "choice") for group in drawn(root, kind)]
    assert labels(operations) == Counter(node.op for node in graph.nodes() if node.args)
    inputs = {graph.names[int(node.value)] for node in graph.nodes() if node.op == "input"}
    assert labels(drawn(root, "input")) == Counter(inputs)
    assert len(drawn(root, "result")) == len(graph.outputs)
    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "edge"]) == edges(graph)
    listing = graph.listing().splitlines()[:-1]
    titles = {group.find(f"{SVG}title").text for group in operations}
    assert {line.split("(")[0] for line in listing} == {title.split("(")[0] for title in titles}


def test_results_are_called_by_their_place():
    def called(function):
        graph = graph_of(function)
        return [graph.result_name(k) for k in range(len(graph.outputs))]

    assert called(lambda robot, q: q[0]) == ["result"]
    assert called(lambda robot, q: np.outer(q, q)) == ["result[0, 0]", "result[0, 1]", "result[1, 0]", "result[1, 1]"]
    assert called(lambda robot, q: (q, {"a": [q[0]]})) == ["result[0][0]", "result[0][1]", "result[1]['a'][0]"]
    root = ET.fromstring(graph_of(lambda robot, q: {"M": robot.mass_matrix(q)}).svg())
    assert labels(drawn(root, "result"))["result['M'][1, 0]"] == 1


def test_fused_operations_are_explained():
    for graph in (graph_of(lambda robot, q, v: q * v + 1.0), graph_of(lambda robot, q, v: q + v)):
        texts = [text for text in ET.fromstring(graph.svg()).iter(f"{SVG}text") if text.get("class") == "legend"]
        expected = "fma = x·y + z" if graph.counts()["fma"] else ""  # an old processor has none
        assert "".join(text.text for text in texts) == expected
        assert ('label="fma = x·y + z"' in graph.dot()) == bool(expected)


def test_a_graph_is_shown_in_short():
    assert repr(graph_of(lambda robot, q, v: q + v)) == "<Graph: 2 operations, 4 inputs, 2 outputs>"


def test_boxes_lie_beside_each_other_inside_the_picture(graph):
    root = ET.fromstring(graph.svg())
    left, top, width, height = map(float, root.get("viewBox").split())
    spans = {}
    for kind in ("sum", "function", "choice", "input", "result"):
        for group in drawn(root, kind):
            x, y, w, h = (float(group.find(f"{SVG}rect").get(name)) for name in ("x", "y", "width", "height"))
            assert left < x and x + w < left + width and top < y and y + h < top + height
            spans.setdefault(y, []).append((x, x + w))
    for row in spans.values():
        row.sort()
        assert all(end < start for (_, end), (start, _) in itertools.pairwise(row))


def test_edges_lead_downwards(graph):
    for path in ET.fromstring(graph.svg()).iter(f"{SVG}path"):
        if path.get("class") == "edge":
            numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", path.get("d"))]
            assert numbers[1::2] == sorted(numbers[1::2])


def test_dot_has_everything(graph):
    text = graph.dot()
    boxes = re.findall(r"^  (n\d+) \[label=\"(\w+)", text, flags=re.MULTILINE)
    arrows = re.findall(r"^  (n\d+) -> (n\d+);", text, flags=re.MULTILINE)
    assert len(arrows) == edges(graph)
    assert {name for arrow in arrows for name in arrow} <= {name for name, _ in boxes}
    used = [node for node in graph.nodes() if node.args or node.op == "input"]
    assert len(boxes) == len(used) + len(graph.outputs)
    assert text.startswith("digraph {") and text.endswith("}")


def test_constants_stand_where_they_belong():
    graph = graph_of(
        lambda robot, q, x: np.array([2.0 * q[0], 1.0 - q[1], q[0] / 3.0, kt.atan2(0.5, x)]), shapes={"x": ()}
    )
    small = [text.text for text in ET.fromstring(graph.svg()).iter(f"{SVG}text") if text.get("font-size") == "9.5"]
    assert sorted(small) == sorted(["2", "1, ·", "0.3333", "0.5, ·"]) or "·, 3" in small
    assert set(graph.names) == {"q[0]", "q[1]", "x"}
    assert "atan2(0.5, x)" in graph.listing()


def test_large_graphs_are_refused_with_a_way_out():
    graph = graph_of(lambda robot, q, v, a: robot.inverse_dynamics(q, v, a), "humanoid")
    count = graph.operations()
    assert count > 400
    with pytest.raises(
        kt.ArgumentError, match=rf"has {count} operations, and a picture shows up to 400: read \.listing"
    ):
        graph.svg()
    assert graph.dot().count("->") == edges(graph)
    assert graph._repr_svg_() is None
    assert GRAPHS["gravity"]()._repr_svg_().startswith("<svg")


def test_names_are_escaped():
    graph = GRAPHS["gravity"]()
    odd = Graph(graph.n_inputs, graph.outputs, graph.sequence, ('<a & "b">', "c"))
    assert labels(drawn(ET.fromstring(odd.svg()), "input")) == Counter(['<a & "b">', "c"])
    assert '\\"b\\"' in odd.dot()


def test_graphs_without_names():
    graph = GRAPHS["gravity"]()
    plain = Graph(graph.n_inputs, graph.outputs)
    assert "cos(x0)" in plain.listing() and "cos(a)" in plain.listing(["a", "b"])
    assert "cos(q[0])" in graph.listing()
