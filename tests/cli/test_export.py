"""kinetree export: files that other tools and we ourselves read again, and the code of a quantity."""

import json

import numpy as np
import pytest

import kinetree as kt

mujoco = pytest.importorskip("mujoco")
ARM = kt.load("arm6")
Q = ARM.random(0)


def test_model_files(cli, tmp_path):
    for name in ("arm.urdf", "arm.xml", "arm.sdf"):
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


def test_quantities_in_c(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = cli("export", "arm6", "--to", "c", "--quantity", "inverse_dynamics", "--quantity", "mass_matrix").stderr
    assert "arm6" in said
    assert sorted(path.name for path in (tmp_path / "arm6").iterdir()) == [
        "README.md",
        "arm6.c",
        "arm6.h",
        "arm6_test.c",
    ]
    header = (tmp_path / "arm6" / "arm6.h").read_text()
    assert "int arm6_inverse_dynamics(const double *q, const double *v, const double *a, double *result);" in header
    content = cli(
        "export", "arm6", tmp_path / "here", "--to", "c", "--quantity", "poses", "--quantity", "jacobian", "--frame",
        "tool0", "--json",
    )  # fmt: skip
    assert json.loads(content.stdout)["file"] == str(tmp_path / "here")
    assert "int arm6_tool0_jacobian(" in (tmp_path / "here" / "arm6.h").read_text()


def test_quantities_as_an_object_file(cli, tmp_path):
    cli("export", "planar2", tmp_path / "p.o", "--quantity", "mass_matrix", "--target", "wasm32")
    assert (tmp_path / "p.o").read_bytes()[:4] == b"\0asm" and (tmp_path / "planar2.h").exists()
    said = cli("export", "planar2", tmp_path / "q.o", "--quantity", "poses", "--target", "pdp11", code=1).stderr
    assert "target is 'pdp11', which LLVM does not know" in said and not (tmp_path / "q.o").exists()
    assert "does not depend on a machine" in cli("export", "planar2", "--to", "c", "--target", "wasm32", code=2).stderr
    assert "needs the name of a quantity" in cli("export", "planar2", "--to", "object", code=2).stderr
    wrong = cli("export", "planar2", "--to", "c", "--quantity", "poses", "--frame", "tip", code=1).stderr
    assert "poses is a quantity of the whole robot; expected no --frame" in wrong
    assert "expected --frame" in cli("export", "planar2", "--to", "c", "--quantity", "jacobian", code=1).stderr
    assert "quantity 'posse' does not exist" in cli(
        "export", "planar2", "--to", "c", "--quantity", "posse", code=1
    ).stderr  # fmt: skip


def test_json(cli):
    content = json.loads(cli("export", "planar2", "--to", "mjcf", "--json").stdout)
    assert content["form"] == "mjcf" and "<mujoco" in content["text"] and content["file"] is None


def test_wrong_use(cli, tmp_path):
    assert "expected --to FORM" in cli("export", "arm6", code=2).stderr
    assert "expected --to FORM" in cli("export", "arm6", tmp_path / "arm.step", code=2).stderr
    assert "needs the name of a quantity" in cli("export", "arm6", "--to", "svg", code=2).stderr
    assert "describes the whole robot" in cli("export", "arm6", "--to", "urdf", "--quantity", "poses", code=2).stderr
    assert "expected --frame" in cli("export", "arm6", "--to", "dot", "--quantity", "jacobian", code=1).stderr
    assert "did you mean" in cli("export", "arm6", "--to", "dot", "--quantity", "mass", code=1).stderr
