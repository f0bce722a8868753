"""kinetree identify: from a table on disk to parameters, a model and a picture."""

import json

import numpy as np
import pytest

import kinetree as kt
from recorded_motions import exact

ARM = kt.load("planar2")


@pytest.fixture
def log(tmp_path):
    recording = exact(kt.edit.scale(ARM, 1.0, 1.2), noise=0.01)
    columns = {"t": recording["t"]}
    for name in ("q", "v", "a", "tau"):
        columns |= {f"{name}.{joint}": recording[name][:, k] for k, joint in enumerate(ARM.joint_names)}
    path = tmp_path / "log.csv"
    np.savetxt(path, np.column_stack(list(columns.values())), delimiter=",", header=",".join(columns), comments="")
    return path


def test_a_report_a_model_and_a_picture(cli, log, tmp_path):
    out, picture = tmp_path / "found.urdf", tmp_path / "found.png"
    options = ["--friction", "none", "--out", out]
    options += ["--plot", picture] if pytest.importorskip("matplotlib") else []
    text = cli("identify", "planar2", log, *options).stdout
    assert "6 of 6 base parameters are identifiable" in text and "forearm_link.Iyy" in text
    found = kt.load(out)
    base = kt.identification.base_parameters(ARM)
    assert np.allclose(base.of(found.parameters), 1.2 * base.of(ARM.parameters), rtol=0.02, atol=1e-3)
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_json(cli, log):
    content = json.loads(cli("identify", "planar2", log, "--json", "--method", "huber").stdout)
    assert content["findings"] == [] and len(content["base_parameters"]) == 10
    assert content["base_parameters"][0]["seen"] and content["parameters"]["forearm_link.mass"] > 0


def test_a_payload(cli, log):
    content = json.loads(cli("identify", "planar2", log, "--payload", "tip", "--json").stdout)
    assert content["parameters"]["payload.mass"] > 0.01 and len(content["base_parameters"]) == 4, "in a plane"


def test_what_is_wrong(cli, log, tmp_path):
    log.write_text(log.read_text().replace("tau.", "current.", 1))
    assert "column 'tau." in cli("identify", "planar2", log, code=1).stderr
    assert "there is no such file" in cli("identify", "planar2", tmp_path / "no.csv", code=1).stderr
    wrong = " ".join(cli("identify", "planar2", log, "--out", tmp_path / "m.mat", code=2).stderr.split())
    assert "expected a name that ends with .urdf, .xml" in wrong
    assert "friction is 'dry'" in cli("identify", "planar2", log, "--friction", "dry", code=1).stderr


def test_what_the_data_do_not_show(cli, log):
    """A joint that stands still: the report says so, and the exit code."""
    rows = np.loadtxt(log, delimiter=",", skiprows=1)
    titles = log.read_text().splitlines()[0]
    for title in (f"{name}.{ARM.joint_names[1]}" for name in ("q", "v", "a")):
        rows[:, titles.split(",").index(title)] = 0.0
    np.savetxt(log, rows, delimiter=",", header=titles, comments="")
    text = cli("identify", "planar2", log, code=1).stdout
    assert f"{ARM.joint_names[1]} does not move" in text and "the data cannot see" in text
