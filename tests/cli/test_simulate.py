"""kinetree simulate: the motion that the library computes, held, pulled and pushed; saved and drawn.

Covers: cli/motion.py.
"""

import csv
import importlib.util
import json
from typing import get_args

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.numbers import configuration
from kinetree.cli.simulate import Integrator
from kinetree.simulation.rollout import ADAPTIVE
from kinetree.simulation.step import INTEGRATORS

CARTPOLE = kt.load("cartpole")


def simulated(cli, *arguments, code=0):
    return json.loads(cli("simulate", *arguments, "--json", code=code).stdout)


def test_a_fall(cli, tmp_path):
    out = tmp_path / "m.npz"
    content = simulated(
        cli, "cartpole", "--q", "pivot=0.1", "-s", 1, "--dt", 0.002, "--integrator", "rk4", "--out", out
    )
    expected = CARTPOLE.rollout([0.0, 0.1], np.zeros(2), None, 0.002, 500, "rk4")
    with np.load(out) as arrays:
        assert np.array_equal(arrays["t"], expected.t)
    assert np.array_equal(configuration(CARTPOLE, str(out), "--q"), expected.q), "and can be read again as states"
    assert content["q"] == expected.q[::5].tolist() and len(content["t"]) == 101
    assert content["energy"]["start"] == pytest.approx(content["energy"]["end"], abs=1e-8)
    assert (content["steps"], content["lost"], content["outside"]) == (500, None, [])


def test_efforts_that_are_held(cli):
    content = simulated(cli, "cartpole", "--tau", "slide=0.3", "-s", 0.5)
    expected = CARTPOLE.rollout(np.zeros(2), np.zeros(2), np.tile([0.3, 0.0], (500, 1)), 1e-3, 500)
    assert np.allclose(content["q"][-1], expected.q[-1], atol=1e-12)
    assert content["q"][-1][0] > 0.01


def test_a_push_for_a_while(cli):
    """At rest on a vertical pole nothing happens before the push, and momentum is its impulse."""
    floating = ["--base", "floating", "--gravity", "0,0,0", "-s", 1]
    robot = kt.load("arm6", "floating", gravity=(0, 0, 0))
    content = simulated(cli, "arm6", *floating, "--push", "tool0=0,5,0@0.25:0.5")
    q, v, t = (np.array(content[key]) for key in "qvt")
    assert not v[t <= 0.25].any() and v[t > 0.26].any()
    momentum = robot.centroidal_momentum(q[-1], v[-1])[:3]
    assert np.allclose(momentum, [0, 5 * 0.25, 0], atol=0.02)
    turned = simulated(cli, "arm6", *floating, "--push", "base_link=0,0,0,0,0,0.1@:0.5")
    spin = robot.centroidal_momentum(np.array(turned["q"][-1]), np.array(turned["v"][-1]))
    assert np.allclose(spin[:3], 0, atol=1e-3) and spin[5] == pytest.approx(0.05, abs=0.001)


def test_a_posture_is_held_against_gravity(cli):
    content = simulated(cli, "arm6", "--hold", "elbow=1,shoulder_lift=0.5", "-s", 3)
    assert np.allclose(content["q"][-1], [0, 0.5, 1, 0, 0, 0], atol=1e-3)
    dog = simulated(cli, "quadruped", "--base", "floating", "--hold", "neutral", "-s", 0.5)
    assert dog["q"][-1][2] == pytest.approx(-0.5 * 9.81 * 0.25, rel=0.01), "nothing holds its base"


@pytest.mark.sweep
def test_a_floor(cli):
    """Legs that are limp give way, and the feet stay on the floor."""
    feet = [f"{side}_foot" for side in ("front_left", "front_right", "hind_left", "hind_right")]
    options = [option for frame in feet for option in ("--touch", frame)]
    legs = [f"{foot.removesuffix('_foot')}_{joint}" for foot in feet for joint in ("hfe=0.6", "kfe=-1.2")]
    options += ["--base", "floating", "-s", 0.5, "--q", ",".join(legs), "--json"]
    result = cli("simulate", "quadruped", *options)
    dog, q = kt.load("quadruped", "floating"), np.array(json.loads(result.stdout)["q"])
    assert result.stderr.startswith("note: the base starts")
    heights = np.array([dog.frame(foot).pose(q)[:, 2, 3] for foot in feet])
    assert heights.min() > -0.01 and q[-1, 2] < 0.9 * q[0, 2]
    stops = cli("simulate", "cartpole", "--v", "slide=3", "-s", 1, "--stops", "--json").stdout
    assert np.abs(np.array(json.loads(stops)["q"])[:, 0]).max() < 1.15, "the bumper at 1.1 m"
    held = cli("simulate", "quadruped", *options, "--hold", ",".join(legs), "--frequency", 60)
    assert np.array(json.loads(held.stdout)["q"])[-1, 2] > 0.8 * q[0, 2], "legs that are held carry it"


def test_files_to_look_at(cli, tmp_path):
    table, picture = tmp_path / "m.csv", tmp_path / "m.png"
    options = ["--plot", picture] if importlib.util.find_spec("matplotlib") else []
    cli("simulate", "cartpole", "-s", 0.1, "--q", "pivot=0.2", "--out", table, *options)
    with table.open() as file:
        titles, *rows = csv.reader(file)
    assert titles == ["t", "q:slide", "q:pivot", "v:slide", "v:pivot"] and len(rows) == 101
    assert float(rows[0][2]) == 0.2
    if options:
        assert picture.read_bytes()[:4] == b"\x89PNG"
    wrong = " ".join(cli("simulate", "cartpole", "--out", tmp_path / "m.mat", code=2).stderr.split())
    assert "--out: 'm.mat'; expected a name that ends with" in wrong


def test_every_integrator_of_rollouts(cli):
    assert list(get_args(Integrator)) == [*INTEGRATORS, ADAPTIVE]
    fall = ["planar2", "--q", "0.3,0.2", "--tau", "0.1,0", "-s", 0.2]
    ends = {word: simulated(cli, *fall, "--integrator", word)["q"][-1] for word in ("rk4", *get_args(Integrator)[4:])}
    for word, q in ends.items():
        assert np.allclose(q, ends["rk4"], atol=1e-5), word


def test_the_text(cli):
    text = cli("simulate", "cartpole", "--q", "pivot=0.1", "-s", 0.2, "--v", "slide=10").stdout
    assert "0.2 s in 200 steps" in text and "slide goes beyond its limits" in text


def test_a_motion_that_explodes(cli):
    result = cli("simulate", "arm6", "--hold", "elbow=1", "--frequency", 1e5, "--dt", 0.01, "-s", 5, code=1)
    assert "the motion diverges after" in result.stderr


def test_wrong_use(cli):
    assert "tool0=0,0,-20@0.5:0.7" in " ".join(cli("simulate", "arm6", "--push", "tool0=1", code=2).stderr.split())
    assert "did you mean 'tool0'?" in cli("simulate", "arm6", "--push", "tool=0,0,1", code=1).stderr
    assert "expected a positive number" in cli("simulate", "arm6", "--dt", 0, code=2).stderr
