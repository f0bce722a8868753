"""Processes of a pool: results of a run in one process, workers that die, and what cannot be sent.

Covers: scale/engines/task.py.
"""

import subprocess
import sys

import pytest

import kinetree as kt
from killed import has_the_same_bits, lists_what_kills, survives_a_kill
from kinetree.scale import annotate
from logs import write_logs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="about SIGKILL")


@pytest.mark.sweep
def test_a_worker_that_is_killed(tmp_path):
    survives_a_kill(tmp_path, workers=2)


@pytest.mark.sweep
def test_a_partition_that_kills_its_workers(tmp_path):
    lists_what_kills(tmp_path, workers=2)


def test_the_same_bits():
    pytest.importorskip("cloudpickle")
    has_the_same_bits(workers=2)


def test_a_script_without_a_guard(tmp_path):
    """Its workers would run it again, and theirs: it ends with a sentence."""
    write_logs(tmp_path / "logs", kt.load("planar2"), [10, 10])
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, kinetree as kt\nfrom kinetree.scale import annotate\n"
        "annotate(sys.argv[1] + '/logs', kt.load('planar2'), 'gravity_forces', sys.argv[1] + '/out', workers=2)\n"
    )
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    last = done.stderr.splitlines()
    assert any("worker processes end as soon as they start; expected the calls of a script" in line for line in last)
    assert "a worker that starts reads this script again and came here" in done.stderr
    assert not list((tmp_path / "out").glob("*.npz"))


def test_what_cannot_be_sent(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    robot = kt.load("arm6")
    write_logs(tmp_path / "logs", robot, [10])
    with pytest.raises(kt.ArgumentError, match=r"cannot be sent to other processes: .*cloudpickle"):
        annotate(tmp_path / "logs", robot, {"x": lambda q: q}, tmp_path / "out", workers=2)


def test_an_engine_that_is_not_installed(tmp_path, monkeypatch):
    robot = kt.load("arm6")
    write_logs(tmp_path / "logs", robot, [10])
    for engine, package in (("dask", "distributed"), ("ray", "ray")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(kt.KinetreeError, match=rf"engine='{engine}' needs .* pip install 'kinetree\[{engine}\]'"):
            annotate(tmp_path / "logs", robot, "gravity_forces", tmp_path / "out", engine)
