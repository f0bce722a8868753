"""kinetree demo: runs, its checks hold, the humanoid arrives, and a folder gets what was shown.

Covers: cli/demo/arm.py, cli/demo/reach.py, cli/demo/show.py, cli/demo/speed.py, cli/demo/walk.py, cli/show_demo.py.
"""

import importlib.util
import json
import re

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.demo import run, show
from kinetree.cli.demo.walk import PUSH, SOLES, STRIDE, Walk


@pytest.fixture(autouse=True)
def fewer_states(monkeypatch):
    monkeypatch.setattr(run, "__defaults__", (None, 10_000, True))


def test_the_numbers_are_right(cli):
    text = cli("demo", "--no-walk").stdout
    robot, q = kt.load("arm6"), np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.0])
    with np.printoptions(precision=3, suppress=True, linewidth=110):
        assert str(robot.mass_matrix(q)) in text
    checks = re.findall(r"= ([+-]?\d\.\de[+-]\d+) ?", text)
    assert len(checks) == 4
    assert all(abs(float(number)) < 1e-6 for number in checks)
    rows = re.findall(r"arm6 +6  \w+ +(\d+) µs +(\S+) µs +(\d+) ns +(\S+)\n", text)
    assert len(rows) == 3
    for slow, fast, each, off in rows:
        assert float(slow) > 20 * float(fast) > 0 and float(each) > 0 and float(off) < 1e-11
    assert "in 10,000 random poses" in text
    start, end = map(float, re.search(r"from (\S+) mm to (\S+) mm off its target", text).groups())
    assert start > 500 and end < 1


def test_a_folder_gets_what_was_shown(cli, tmp_path):
    text = cli("demo", "--no-walk", "--folder", tmp_path / "new" / "folder").stdout
    written = (tmp_path / "new" / "folder" / "demo.txt").read_text()
    assert written and text.startswith(written)
    if importlib.util.find_spec("matplotlib") is not None:
        assert (tmp_path / "new" / "folder" / "arm.png").read_bytes()[:4] == b"\x89PNG"
    content = json.loads(cli("demo", "--no-walk", "--folder", tmp_path, "--json").stdout)
    assert content["lines"][0].startswith("arm6: 6 joints") and str(tmp_path / "demo.txt") in content["files"]


def test_a_folder_that_cannot_be_made(cli, tmp_path):
    (tmp_path / "file").write_text("")
    cli("demo", "--folder", tmp_path / "file", code=2)
    assert cli("demo", "--folder", tmp_path / "file" / "below", code=1).stderr.startswith("error: ")


@pytest.mark.sweep
def test_the_humanoid_walks_and_is_shown(tmp_path, capsys):
    pytest.importorskip("mujoco")
    walk = Walk()
    lines = walk.lines()
    soon = [next(lines), next(lines)]
    assert "compiled or loaded in" in soon[1] and not walk.spent, "said before the walk is simulated, not after"
    text = "\n".join([*soon, *lines])
    seen, robot = walk.recording, walk.robot
    assert not seen.elsewhere.any() and "WRONG" not in text
    went = {sole: seen.poses(sole)[-1, :3, 3] - seen.poses(sole)[0, :3, 3] for sole in SOLES}
    assert all(np.allclose(way, [STRIDE, 0, 0], atol=0.003) for way in went.values())
    away = np.linalg.norm(seen.center_of_mass - walk.wanted, axis=1)
    pushed = seen.t > walk.plan.duration + 0.2
    assert away[~pushed].max() < 0.005 < away[pushed].max() < 0.03 and away[-1] < 1e-3
    impulse = np.linalg.norm(PUSH) * 0.2 / robot.mass
    speed = np.abs(np.gradient(seen.center_of_mass[:, 1], seen.t))[pushed].max()
    assert 0.1 * impulse < speed < impulse, "it was pushed, and gave way"
    assert (np.abs(seen.tau) <= robot.limits.effort + 1e-9).all()
    if importlib.util.find_spec("matplotlib"):
        figure = pytest.importorskip("matplotlib.figure").Figure(figsize=(12, 8))
        assert walk.draw(figure, tmp_path).read_bytes()[:4] == b"\x89PNG"
    if importlib.util.find_spec("viser"):
        show._view(walk, tmp_path)  # returns by itself: nobody sits at a terminal here
        said = capsys.readouterr().out
        assert "the viewer: http://127.0.0.1:" in said and "<html" in (tmp_path / "walk.html").read_text().lower()
