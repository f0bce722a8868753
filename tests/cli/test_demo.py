"""kinetree demo: runs, and its checks hold."""

import importlib.util
import re

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli import demo


@pytest.fixture(autouse=True)
def fewer_states(monkeypatch):
    monkeypatch.setattr(demo.run, "__defaults__", (None, 10_000))


def test_the_numbers_are_right(cli):
    text = cli("demo").stdout
    robot, q = kt.load("arm6"), np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.0])
    with np.printoptions(precision=3, suppress=True, linewidth=110):
        assert str(robot.mass_matrix(q)) in text
    checks = re.findall(r"= ([+-]?\d\.\de[+-]\d+) ?", text)
    assert len(checks) == 4
    assert all(abs(float(number)) < 1e-6 for number in checks)
    assert [float(off) < 1e-11 for off in re.findall(r"difference (\S+)", text)] == [True] * 3
    assert "in 10,000 random poses" in text
    start, end = map(float, re.search(r"from (\S+) mm to (\S+) mm off its target", text).groups())
    assert start > 500 and end < 1


def test_a_folder_gets_what_was_shown(cli, tmp_path):
    text = cli("demo", "--folder", tmp_path / "new" / "folder").stdout
    written = (tmp_path / "new" / "folder" / "demo.txt").read_text()
    assert written and text.startswith(written)
    if importlib.util.find_spec("matplotlib") is not None:
        assert (tmp_path / "new" / "folder" / "demo.png").read_bytes()[:4] == b"\x89PNG"
    else:
        assert "no plots: they need matplotlib" in text


def test_a_folder_that_cannot_be_made(cli, tmp_path):
    (tmp_path / "file").write_text("")
    cli("demo", "--folder", tmp_path / "file", code=2)
    assert cli("demo", "--folder", tmp_path / "file" / "below", code=1).stderr.startswith("error: ")
