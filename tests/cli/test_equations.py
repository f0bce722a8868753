"""kinetree equations: what SymPy writes, in every form."""

import json

import numpy as np
import pytest

import kinetree as kt

pytest.importorskip("sympy")
ROBOT = kt.load("planar2")


def test_forms(cli):
    equations = ROBOT.equations()
    assert cli("equations", "planar2").stdout == f"{equations}\n"
    for form in ("pretty", "latex", "python", "c"):
        assert cli("equations", "planar2", "--form", form).stdout.rstrip("\n") == getattr(equations, form)().rstrip(
            "\n"
        )


def test_symbols_and_short_forms(cli):
    assert cli("equations", "planar2", "--symbolic", "all", "--short").stdout == f"{ROBOT.equations(True).short()}\n"
    assert "m2" in cli("equations", "planar2", "--symbolic", "mass").stdout
    assert cli("equations", "planar2", "--factored").stdout == f"{ROBOT.equations(factored=True)}\n"
    assert "'weight'" in cli("equations", "planar2", "--symbolic", "weight", code=1).stderr


def test_a_file_says_by_its_suffix_what_it_wants(cli, tmp_path):
    result = cli("equations", "planar2", "--out", tmp_path / "planar.py")
    assert result.stdout == "" and "planar.py" in result.stderr
    module = {}
    exec((tmp_path / "planar.py").read_text(), module)
    q, v, a = np.array([0.3, 0.4]), np.array([1.0, 2.0]), np.array([0.5, 0.6])
    assert np.allclose(module["inverse_dynamics"](q, v, a), ROBOT.inverse_dynamics(q, v, a))


def test_json(cli, tmp_path):
    content = json.loads(cli("equations", "planar2", "--symbolic", "mass", "-f", "latex", "--json").stdout)
    assert content["coordinates"] == {"q1": ROBOT.joint_names[0], "q2": ROBOT.joint_names[1]}
    assert content["parameters"]["m1"] == 2.0 and content["form"] == "latex"
    assert content["text"].startswith(r"\begin{aligned}")
