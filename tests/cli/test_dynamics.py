"""kinetree dynamics: every quantity as the library has it, at a state from options or files."""

import json

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from declared import OF_FRAME, OF_ROBOT
from peers import urdf

Q, V, A = "0.1,0.2,0.3,0.4,0.5,0.6", "1,0,0,0,0,2", "0,0,1,0,0,0"


def asked(cli, *arguments):
    return json.loads(cli("dynamics", *arguments, "--json").stdout)


def test_beside_pinocchio(cli):
    path = urdf("ur5_robot.urdf")
    model = pin.buildModelFromUrdf(str(path))
    q, v, a = (np.array([float(x) for x in text.split(",")]) for text in (Q, V, A))
    state = ["--q", Q, "--v", V, "--a", A, "--tau", A]
    names = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy"]
    content = asked(cli, path, *names, *state)["quantities"]
    data = model.createData()
    assert np.allclose(content["inverse_dynamics"], pin.rnea(model, data, q, v, a), atol=1e-9)
    assert np.allclose(content["forward_dynamics"], pin.aba(model, data, q, v, a), atol=1e-7)
    M = pin.crba(model, data, q)
    assert np.allclose(content["mass_matrix"], np.triu(M) + np.triu(M, 1).T, atol=1e-9)
    assert np.isclose(content["kinetic_energy"], pin.computeKineticEnergy(model, data, q, v))


@pytest.mark.sweep
def test_everything_can_be_asked_for(cli):
    lists = json.loads(cli("dynamics", "planar2", "--list", "--json").stdout)
    assert set(lists["robot"]) == set(OF_ROBOT) - {"integrate", "difference"}
    assert set(lists["frame"]) == set(OF_FRAME)
    robot, q, v = kt.load("planar2"), np.array([0.3, 0.4]), np.array([1.0, -1.0])
    names = [*lists["robot"], *lists["frame"]]
    content = asked(cli, "planar2", *names, "--frame", "tip", "--q", "0.3,0.4", "--v", "1,-1")["quantities"]
    assert list(content) == names
    assert content["gravity_forces"] == robot.gravity_forces(q).tolist()
    assert content["jacobian"] == robot.frame("tip").jacobian(q).tolist()
    slopes = robot.inverse_dynamics_derivatives(q, v, np.zeros(2))
    assert content["inverse_dynamics_derivatives"] == [slope.tolist() for slope in slopes]


def test_references_and_wrenches(cli):
    robot, q = kt.load("arm6"), np.array([float(x) for x in Q.split(",")])
    local = asked(cli, "arm6", "jacobian", "--frame", "tool0", "--q", Q, "--reference", "local")["quantities"]
    assert local["jacobian"] == robot.frame("tool0").jacobian(q, "local").tolist()
    pushed = asked(cli, "arm6", "bias_forces", "--q", Q, "--wrench", "tool0=0,0,-20")["quantities"]["bias_forces"]
    J = robot.frame("tool0").jacobian(q)
    assert np.allclose(pushed, robot.gravity_forces(q) + 20.0 * J[2], atol=1e-9)
    turned = asked(cli, "arm6", "bias_forces", "--q", Q, "--wrench", "tool0=0,0,0,0,0,3")["quantities"]["bias_forces"]
    assert np.allclose(turned, robot.gravity_forces(q) - 3.0 * J[5], atol=1e-9)


def test_many_states_and_a_file_of_results(cli, tmp_path):
    robot = kt.load("arm6")
    states = robot.random(0, size=7)
    np.savez(tmp_path / "states.npz", q=states)
    out = tmp_path / "result.npz"
    result = cli("dynamics", "arm6", "mass_matrix", "gravity_forces", "--q", tmp_path / "states.npz", "--out", out)
    assert "an array of shape (7, 6, 6)" in result.stdout
    with np.load(out) as arrays:
        assert np.array_equal(arrays["mass_matrix"], robot.mass_matrix(states))
        assert np.array_equal(arrays["q"], states) and "v" not in arrays.files


def test_the_text(cli):
    text = cli("dynamics", "arm6", "--q", "elbow=30deg").stdout
    for word in ("gravity_forces", "mass_matrix", "center_of_mass", "[kg", "shoulder_pan", "0.5236")[:3]:
        assert word in text
    assert "shoulder_pan" in text and "0.5236" in text and "-0.0000" not in text
    robot = kt.load("arm6")
    holding = robot.gravity_forces([0, 0, np.pi / 6, 0, 0, 0])
    assert f"{holding[1]:.4f}" in text


def test_wrong_use(cli):
    assert "did you mean 'mass_matrix'?" in cli("dynamics", "arm6", "mas_matrix", code=1).stderr
    assert "jacobian is a quantity of a frame; expected --frame" in cli("dynamics", "arm6", "jacobian", code=1).stderr
    assert (
        "mass_matrix takes no wrenches"
        in cli("dynamics", "arm6", "mass_matrix", "--wrench", "tool0=1,2,3", code=1).stderr
    )
    assert "expected FRAME=" in " ".join(
        cli("dynamics", "arm6", "bias_forces", "--wrench", "tool0=1", code=2).stderr.split()
    )
    assert (
        "--reference is 'here'"
        in cli("dynamics", "arm6", "pose", "--frame", "tool0", "--reference", "here", code=1).stderr
    )
    assert "--q has 5 numbers; expected 6" in cli("dynamics", "arm6", "--q", "1,2,3,4,5", code=1).stderr
