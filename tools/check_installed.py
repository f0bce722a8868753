"""What an installed kinetree does, where there is no repository: `python -I tools/check_installed.py [--cli]`.

Every bundled robot is loaded, and computes; with `--cli` the command `kinetree` runs, else it says what it needs.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import kinetree as kt


def check_library() -> None:
    """Quantities, inverse kinematics, a rollout, and files beside the code."""
    assert "site-packages" in kt.__file__, f"{kt.__file__} is not installed"
    assert importlib.metadata.version("kinetree") == kt.__version__
    assert importlib.metadata.metadata("kinetree")["License-Expression"] == "BSD-3-Clause"
    assert (Path(kt.__file__).parent / "py.typed").exists()
    assert len(kt.bundled_robots()) == 11
    for name in kt.bundled_robots():
        robot = kt.load(name)
        q, v = robot.random(0, 3), np.ones((3, robot.nv))
        tau = robot.inverse_dynamics(q, v, v)
        inertial = np.squeeze(robot.mass_matrix(q) @ v[..., None], -1)
        assert np.allclose(tau, inertial + robot.bias_forces(q, v) + robot.passive_forces(q, v))
        assert np.allclose(robot.inverse_dynamics(q[0], v[0], v[0]), tau[0])
    arm = kt.load("arm6")
    q = np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.0])
    assert arm.ik("tool0", arm.frame("tool0").pose(q)).success
    assert arm.rollout(q, np.zeros(6), None, dt=1e-3, steps=10).q.shape == (11, 6)


def check_command(installed: bool) -> None:
    """The command beside the interpreter."""
    command = Path(sys.executable).with_name("kinetree")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command, *words], capture_output=True, text=True, check=False)

    if not installed:
        assert "pip install 'kinetree[cli]'" in run("info", "arm6").stderr
        return
    for name in kt.bundled_robots():
        assert json.loads(run("info", name, "--json").stdout)["name"] == name
    assert run("--version").stdout == f"kinetree {kt.__version__}\n"
    assert run("dynamics", "planar2", "mass_matrix").returncode == 0
    assert "MB" in run("cache").stdout or "kB" in run("cache").stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KINETREE_CACHE_DIR"] = os.path.join(folder, "cache")
        os.chdir(folder)
        check_library()
        check_command("--cli" in sys.argv)
        os.chdir("/")
    print(f"kinetree {kt.__version__} works in {sys.prefix}")
