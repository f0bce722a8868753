"""Anything compiled as a graph with names: its numbers are those of the call, its refusals those of `require`."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import ComputedTorque, WholeBody
from kinetree.errors import ArgumentError, ArgumentTypeError, ModelError
from kinetree.interop.exported import exported
from kinetree.tasks import Posture


@kt.compile(shapes={"gain": ()})
def law(robot, q, v, gain, word="plain"):
    """A dict of a vector, a number and a tuple."""
    return {"tau": gain * robot.gravity_forces(q), "energies": (robot.kinetic_energy(q, v), robot.potential_energy(q))}


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


def values(f, *arrays):
    """The results of the graph for these arrays, node by node, and what it says of refusals."""
    numbers = f.graph.evaluate(np.concatenate([np.ravel(x) for x in arrays]))
    found, start = [], 0
    for shape in f.results.values():
        size = int(np.prod(shape))
        found.append(np.reshape(numbers[start : start + size], shape))
        start += size
    return f.rebuild(found), numbers[start:]


@pytest.mark.parametrize("options", [{}, {"fused": True}, {"fused": True, "arrays": True}], ids=str)
def test_a_quantity_is_the_graph_of_its_call(arm, options):
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    f = exported(arm.inverse_dynamics, **options)
    assert (f.name, f.arguments, f.results) == ("inverse_dynamics", {"q": (6,), "v": (6,), "a": (6,)}, {"result": (6,)})
    assert f.graph.names[:2] == ("q[0]", "q[1]") and f.graph.result_name(5) == "result[5]"
    np.testing.assert_allclose(values(f, q, v, a)[0], arm.inverse_dynamics(q, v, a), rtol=1e-12, atol=1e-12)
    assert any(node.op == "fma" for node in f.graph.nodes()) == bool(options)


def test_rows_are_there_only_if_asked_for():
    robot = kt.load("humanoid", base="floating")
    for arrays in (False, True):
        graph = exported(robot.inverse_mass_matrix, arrays=arrays).graph
        assert any(node.op == "rows" for node in graph.nodes()) == arrays


def test_names_of_frames_constraints_derivatives_and_laws(arm):
    tool = exported(arm.frame("tool0").jacobian)
    assert tool.name == "tool0_jacobian" and tool.results == {"result": (6, 6)}
    held = exported(arm.constrained([kt.Contact("tool0", "point")]).jacobian)
    assert held.results["result"] == (3, 6)
    two = exported(arm.inverse_dynamics_derivatives)
    assert list(two.results) == ["result_0", "result_1"]
    assert exported(kt.jacobian(arm.gravity_forces)).name == "jacobian_of_gravity_forces"
    bound = exported(law.bind(arm))
    assert bound.results == {"tau": (6,), "energies_0": (), "energies_1": ()}
    q, v = np.random.default_rng(1).normal(size=(2, 6))
    found, _ = values(bound, q, v, 2.0)
    expected = law(arm, q, v, 2.0)
    np.testing.assert_allclose(found["tau"], expected["tau"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found["energies"], expected["energies"], rtol=1e-12)
    assert exported(law.bind(arm), "mine").name == "mine"


def test_a_law_without_a_robot():
    square = kt.compile(lambda x: x * x, shapes={"x": (2,)})
    assert values(exported(square), [2.0, 3.0])[0].tolist() == [4.0, 9.0]


def test_a_controller_has_defaults(arm):
    controller = ComputedTorque(arm, stiffness=100.0)
    f = exported(controller)
    assert f.name == "computed_torque" and list(f.arguments)[:3] == ["q", "v", "q_des"]
    assert set(f.defaults) == {"v_des", "a_des", "stiffness", "damping"}
    q, v, goal = np.random.default_rng(2).normal(size=(3, 6))
    given = [{"q": q, "v": v, "q_des": goal}.get(name, f.defaults.get(name)) for name in f.arguments]
    np.testing.assert_allclose(values(f, *given)[0], controller(q, v, goal), rtol=1e-11)
    assert exported(controller.step).name == f.name


def test_a_result_of_the_name_of_an_argument_gets_another():
    same = kt.compile(lambda state: {"state": 2.0 * state}, shapes={"state": (2,)})
    assert list(exported(same).results) == ["state_result"]


def test_every_reason_to_refuse_has_an_output():
    robot = kt.load("quadruped", base="floating")
    f = exported(robot.forward_dynamics)
    assert [text.split(" at ")[0] for text in f.refusals] == [
        "the mass matrix is singular",
        "q has a quaternion that is not of unit length",
    ]
    q, v, tau = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    assert values(f, q, v, tau)[1] == [0.0, 0.0]
    q[3:7] *= 1.01
    assert values(f, q, v, tau)[1] == [0.0, 1.0]


def test_derivatives_keep_the_reasons():
    robot = kt.load("quadruped", base="floating")
    assert "q has a quaternion that is not of unit length" in exported(kt.jacobian(robot.gravity_forces)).refusals


def test_float32_graphs_have_its_tolerances(arm):
    f = exported(arm.forward_dynamics, dtype="float32")
    assert f.dtype == np.float32 and exported(arm.astype("float32").forward_dynamics).dtype == np.float32
    constants = {node.value for node in f.graph.nodes() if node.op == "const"}
    assert constants != {node.value for node in exported(arm.forward_dynamics).graph.nodes() if node.op == "const"}


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (law, ArgumentError, r"law is not bound to a robot; expected law\.bind\(robot\)"),
        (lambda q: q, ArgumentTypeError, "is not compiled; expected a quantity such as"),
        (3, ArgumentTypeError, "3 is not compiled"),
        (kt.load("planar2"), ArgumentTypeError, "is not compiled"),
        (kt.load("planar2").ik, ArgumentTypeError, "is not compiled"),
        (WholeBody(kt.load("planar2"), Posture()), ArgumentTypeError, "whole_body is a solver"),
        (
            WholeBody(kt.load("planar2"), Posture(), fallback="damping"),
            ArgumentError,
            "has the fallback 'damping', which runs as Python",
        ),
    ],
)
def test_what_is_no_graph_is_refused(function, error, words):
    with pytest.raises(error, match=words):
        exported(function)


def test_what_a_robot_does_not_have_is_refused():
    with pytest.raises((ArgumentError, ModelError), match="fixed base"):
        exported(kt.load("planar2").centroidal_coordinates)
