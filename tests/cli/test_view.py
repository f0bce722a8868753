"""kinetree view: a page at the address it prints, until it should end."""

import json
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

import kinetree as kt
from processes import interruptible

pytest.importorskip("viser")
COMMAND = [sys.executable, "-m", "kinetree.cli", "view"]


def test_a_page_at_the_address_that_is_printed_until_interrupted():
    run = interruptible([*COMMAND, "arm6"])
    try:
        words = run.stdout.readline().split()
        assert words[:2] == ["arm6", "at"] and words[2].startswith("http://127.0.0.1:")
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(words[2], timeout=20) as page:
            assert b"<html" in page.read().lower()
        assert run.poll() is None, "it goes on though nobody sits at a terminal"
        run.send_signal(signal.SIGINT)
        said = run.communicate(timeout=30)
    finally:
        run.kill()
    assert run.returncode == 0 and said == ("", "")


def test_json_and_an_end(cli):
    content = json.loads(cli("view", "arm6", "planar2", "--seconds", 0.1, "--json").stdout)
    assert content["robots"] == ["arm6", "planar2"] and content["url"].startswith("http://127.0.0.1:")


def test_a_page_without_a_server(cli, tmp_path):
    path = kt.load("cartpole").rollout([0.0, 0.1], np.zeros(2), None, 0.01, 50)
    path.save(tmp_path / "m.npz")
    result = cli("view", "cartpole", "--motion", tmp_path / "m.npz", "--html", tmp_path / "m.html")
    assert result.stdout == "" and "m.html" in result.stderr
    moving = (tmp_path / "m.html").read_text()
    assert "<html" in moving.lower()
    cli("view", "cartpole", "--q", "pivot=0.1", "--html", tmp_path / "still.html")
    assert len(moving) > (tmp_path / "still.html").stat().st_size, "it has the motion, too"


@pytest.mark.sweep
def test_motions_side_by_side(cli, tmp_path):
    robot = kt.load("cartpole")
    for name, steps in (("short", 20), ("long", 40)):
        robot.rollout([0.0, 0.1], np.zeros(2), None, 0.01, steps).save(tmp_path / f"{name}.npz")
    both = ("--motion", tmp_path / "short.npz", "--motion", tmp_path / "long.npz")
    shown = json.loads(cli("view", "cartpole", *both, "--html", tmp_path / "both.html", "--json").stdout)
    assert shown["robots"] == ["short", "long"]
    shown = json.loads(cli("view", "cartpole", "cartpole", *both, "--seconds", 0, "--json").stdout)
    assert shown["robots"] == ["cartpole", "cartpole 2"]
    same = ("--motion", tmp_path / "short.npz", "--motion", tmp_path / "short.npz")
    assert json.loads(cli("view", "cartpole", *same, "--seconds", 0, "--json").stdout)["robots"] == [
        "1: short",
        "2: short",
    ]
    cli("view", "cartpole", "cartpole", *both[:2], "--seconds", 0)
    assert "there are 2 for 3 robots" in cli("view", *["cartpole"] * 3, *both, code=2).stderr


def test_wrong_use(cli, tmp_path):
    assert "port is 70000" in cli("view", "arm6", "--port", 70000, code=1).stderr
    assert "it is of one robot" in cli("view", "arm6", "arm7", "--q", "neutral", code=2).stderr
    assert "did you mean 'tool0'?" in cli("view", "arm6", "--follow", "tool", code=1).stderr
    assert "layer 'visuals'" in cli("view", "arm6", "--show", "visuals", code=1).stderr
    np.savez(tmp_path / "m.npz", q=np.zeros((3, 6)))
    assert "the key 't' does not exist" in cli("view", "arm6", "--motion", tmp_path / "m.npz", code=1).stderr


def test_without_viser():
    code = "import sys; sys.modules['viser'] = None; from kinetree.cli.main import main; main()"
    run = subprocess.run([sys.executable, "-c", code, "view", "arm6"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == "error: robots are shown by the package viser: pip install 'kinetree[viewer]'\n"
