"""kinetree annotate and kinetree montecarlo: what the library computes, what fails, and how to go on.

Covers: cli/annotate.py, cli/montecarlo.py.
"""

import json
import os
import signal
import sys
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.montecarlo import Around
from kinetree.scale import monte_carlo
from logs import read_results, write_logs
from processes import interruptible

ARM = kt.load("arm6")


def test_a_collection(cli, tmp_path):
    given = write_logs(tmp_path / "logs", ARM, [60, 40], group=20)
    quantities = ("-q", "inverse_dynamics", "-q", "pose@tool0")
    arguments = ("annotate", "arm6", tmp_path / "logs", *quantities, "-o", tmp_path / "out")
    content = json.loads(cli(*arguments, "--rows", 20, "--json").stdout)
    assert content["complete"] and content["done"] == 5 and content["rows"] == 100 and content["failed"] == []
    right = ARM.inverse_dynamics(given["q"], given["v"], given["a"])
    np.testing.assert_array_equal(read_results(tmp_path / "out", "inverse_dynamics"), right)
    assert "0 partitions, 0 states" in (told := cli(*arguments).stdout) and "5 were there" in told
    wrong = cli("annotate", "arm6", tmp_path / "logs", "-q", "mass_matrix", "-o", tmp_path / "out", code=1)
    assert "results for another" in wrong.stderr and "overwrite" in wrong.stderr
    assert cli("annotate", "arm6", tmp_path / "logs", "-q", "mass_matrix", "-o", tmp_path / "out", "--overwrite")


def test_what_failed_is_told(cli, tmp_path):
    write_logs(tmp_path / "logs", ARM, [20, 20, 20], "npz")
    (tmp_path / "logs" / "log1.npz").write_bytes(b"nothing")
    arguments = ("annotate", "arm6", tmp_path / "logs", "-q", "gravity_forces", "-o", tmp_path / "out")
    result = cli(*arguments, "--json", code=1)
    content = json.loads(result.stdout)
    assert content["done"] == 2 and not content["complete"] and len(content["failed"]) == 1
    assert "log1.npz" in content["failed"][0]["source"] and "log1.npz is not an NPZ file" in result.stderr
    wrong = cli("annotate", "arm6", tmp_path / "nowhere", "-q", "mass_matrix", "-o", tmp_path / "o", code=1)
    assert "does not exist" in wrong.stderr


def test_random_starts(cli, tmp_path):
    options = ("--samples", 600, "--seconds", 0.1, "--dt", 0.002, "--spread-q", 0.2, "--seed", 3, "--worst", 2)
    content = json.loads(cli("montecarlo", "cartpole", *options, "--hold", "neutral", "--json").stdout)
    pole = kt.load("cartpole")
    around = Around(pole, pole.neutral(), np.zeros(2), 0.2, 0.0)
    assert content["samples"] == 600 and content["diverged"] == 0.0 and len(content["metrics"]) == 4
    free = json.loads(cli("montecarlo", "cartpole", *options, "--json", "--out", tmp_path / "runs").stdout)
    right = monte_carlo(pole, None, around, samples=600, dt=0.002, steps=50, seed=3, worst=2)
    for name, summary in right.summaries.items():
        if name != "diverged":
            told = free["metrics"][name]
            assert told["mean"] == summary.mean and told["max"] == summary.max
            assert told["quantiles"]["0.5"] == summary.quantile(0.5)
            assert [(w["value"], w["sample"]) for w in told["worst"]] == summary.worst
    again = json.loads(cli("montecarlo", "cartpole", *options, "--json", "--out", tmp_path / "runs").stdout)
    assert again["metrics"] == free["metrics"] and again["done"] == 0
    assert "600 samples, 0 % diverged" in cli("montecarlo", "cartpole", *options).stdout


@pytest.mark.parametrize(
    "arguments", [("--seconds", 0), ("--dt", -1), ("--scheduler", "tcp://nowhere"), ("--samples", 0)]
)
def test_wrong_input(cli, arguments):
    code = 2 if arguments[0] in ("--seconds", "--dt") else 1
    result = cli("montecarlo", "cartpole", "--json", *arguments, code=code)
    assert "error" in json.loads(result.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="about SIGINT")
@pytest.mark.parametrize("engine", ["local", "dask", "ray"])
def test_an_interrupt_says_how_to_go_on(engine, tmp_path):
    """It reaches all processes of the terminal, workers too, and only one sentence is told."""
    if engine != "local":
        pytest.importorskip({"dask": "distributed"}.get(engine, engine))
    write_logs(tmp_path / "logs", ARM, [4000] * 12, "npz")
    command = ["annotate", "arm6", str(tmp_path / "logs"), "-q", "inverse_dynamics"]
    command += ["-o", str(tmp_path / "out"), "--rows", "10", "--engine", engine, "--workers", "2"]
    process = interruptible([sys.executable, "-m", "kinetree.cli", *command])
    end = time.monotonic() + 100.0
    while len(list((tmp_path / "out").glob("*.npz"))) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=100)
    assert process.returncode == 130 and "the same command goes on where it was" in told
    assert "Traceback" not in told
    manifest = json.loads((tmp_path / "out" / "_kinetree" / "manifest.json").read_text())
    assert 2 <= manifest["done"] < manifest["partitions"] == 4800  # the third may be without its receipt
    assert not [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
