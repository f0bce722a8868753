"""Random Python objects as arguments, in a process of its own whose exit status is checked."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinetree.compiler.runtime import native

TESTS = Path(__file__).parents[1]


def fuzz(count, seed):
    """How many calls had which outcome."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-X",
        "faulthandler",
        str(TESTS / "fuzz_native.py"),
        str(count),
        str(seed),
    ]
    paths = os.pathsep.join(filter(None, [str(TESTS), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, timeout=3600, check=False
    )
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-3000:]}"
    outcomes = ast.literal_eval(done.stdout)
    assert sum(outcomes.values()) == count
    for outcome in ("python", "ArgumentError", "ArgumentTypeError", "UnknownNameError", "HostileError"):
        assert outcomes[outcome] > count / 1000, outcomes
    assert (outcomes.get("native", 0) > count / 5) == native.available(), outcomes


@pytest.mark.sweep
def test_random_arguments():
    fuzz(20_000, 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_very_many_random_arguments(seed):
    fuzz(500_000, seed)
