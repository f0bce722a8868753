"""kinetree convert: what kt.convert says, there and back."""

import json

import numpy as np

import kinetree as kt

DOG = kt.load("quadruped", "floating")


def converted(cli, *arguments):
    return json.loads(cli("convert", "quadruped", *arguments, "--base", "floating", "--json").stdout)


def test_there_and_back(cli, tmp_path):
    q = DOG.random(3)
    for peer in ("pinocchio", "mujoco", "drake"):
        there = converted(cli, "q", "--value", "random:3", "--to", peer)
        assert there["q"] == kt.convert(DOG, "q", q, to=peer).tolist() and there["to"] == peer
        (tmp_path / "q.json").write_text(json.dumps(there))
        back = converted(cli, "q", "--value", tmp_path / "q.json", "--from", peer)
        assert np.allclose(back["q"], q, atol=1e-12)
    assert converted(cli, "q", "--value", "random:3", "--to", "mujoco")["q"][3] == q[6], "w comes first there"


def test_velocities_and_matrices(cli, tmp_path):
    q, v = DOG.random(3), np.arange(18.0)
    np.savez(tmp_path / "x.npz", q=q, v=v, mass_matrix=DOG.mass_matrix(q))
    file = tmp_path / "x.npz"
    there = converted(cli, "v", "--value", file, "--q", file, "--to", "mujoco")
    assert there["v"] == kt.convert(DOG, "v", v, to="mujoco", q=q).tolist() != v.tolist()
    there = converted(cli, "mass_matrix", "--value", file, "--q", file, "--to", "mujoco")
    assert there["mass_matrix"] == kt.convert(DOG, "mass_matrix", DOG.mass_matrix(q), to="mujoco", q=q).tolist()


def test_the_text_and_wrong_use(cli):
    text = cli("convert", "arm6", "q", "--to", "drake", "--value", "0.125,0,0,0,0,-0.5").stdout
    assert [float(x) for x in text.strip("[]\n").split()] == [0.125, 0, 0, 0, 0, -0.5]
    assert "expected one of them" in cli("convert", "arm6", "q", code=2).stderr
    assert "expected one of them" in cli("convert", "arm6", "q", "--to", "drake", "--from", "drake", code=2).stderr
    assert "it is missing" in cli("convert", "arm6", "q", "--from", "drake", code=2).stderr
    assert "KIND is 'p'" in cli("convert", "arm6", "p", "--to", "drake", code=1).stderr
    assert "to is 'rbdl'" in cli("convert", "arm6", "q", "--to", "rbdl", code=1).stderr
