"""kinetree export: files that other tools and we ourselves read again, and the code of a quantity."""

import json

import numpy as np
import pytest

import kinetree as kt

mujoco = pytest.importorskip("mujoco")
ARM = kt.load("arm6")
Q = ARM.random(0)


def test_model_files(cli, tmp_path):
    for name in ("arm.urdf", "arm.xml"):
        result = cli("export", "arm6", tmp_path / name)
        assert result.stdout == "" and name in result.stderr
        assert np.allclose(kt.load(tmp_path / name).mass_matrix(Q), ARM.mass_matrix(Q), atol=1e-9)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    assert model.nv == 6
    back = cli("export", tmp_path / "arm.xml", "--to", "urdf").stdout
    assert np.allclose(kt.load(back).mass_matrix(Q), ARM.mass_matrix(Q), atol=1e-9)


def test_what_a_format_cannot_say(cli):
    said = cli("export", "puma560", "--to", "urdf", code=1).stderr
    assert said.startswith("error: ") and "; --lossy leaves it out" in said
    assert "<robot" in cli("export", "puma560", "--to", "urdf", "--lossy").stdout


def test_code_of_a_quantity(cli, tmp_path):
    listing = cli("export", "planar2", "--to", "listing", "--quantity", "mass_matrix").stdout
    assert "cos(q[1])" in listing and "return" in listing
    assert cli("export", "planar2", tmp_path / "m.svg", "--quantity", "mass_matrix").stdout == ""
    assert (tmp_path / "m.svg").read_text().startswith("<svg")
    assert "digraph" in cli("export", "planar2", "--to", "dot", "--quantity", "mass_matrix").stdout
    llvm = cli("export", "planar2", "--to", "llvm", "--quantity", "jacobian", "--frame", "tip").stdout
    assert "define" in llvm
    assert "ret" in cli("export", "planar2", "--to", "assembly", "--quantity", "mass_matrix").stdout


def test_code_of_the_dynamics(cli, tmp_path):
    pytest.importorskip("sympy")
    module = {}
    exec(cli("export", "arm6", "--to", "python").stdout, module)
    assert np.allclose(module["gravity_forces"](Q), ARM.gravity_forces(Q))
    assert "void inverse_dynamics(" in cli("export", "planar2", "--to", "c").stdout


def test_json(cli):
    content = json.loads(cli("export", "planar2", "--to", "mjcf", "--json").stdout)
    assert content["form"] == "mjcf" and "<mujoco" in content["text"] and content["file"] is None


def test_wrong_use(cli, tmp_path):
    assert "expected --to FORM" in cli("export", "arm6", code=2).stderr
    assert "expected --to FORM" in cli("export", "arm6", tmp_path / "arm.step", code=2).stderr
    assert "is of one quantity" in cli("export", "arm6", "--to", "svg", code=2).stderr
    assert "is of the whole robot" in cli("export", "arm6", "--to", "urdf", "--quantity", "poses", code=2).stderr
    assert "expected --frame" in cli("export", "arm6", "--to", "dot", "--quantity", "jacobian", code=1).stderr
    assert "did you mean" in cli("export", "arm6", "--to", "dot", "--quantity", "mass", code=1).stderr
