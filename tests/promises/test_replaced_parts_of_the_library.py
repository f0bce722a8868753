"""A program that replaces part of the library runs what it has put there, and leaves nothing of it to others.

Covers: base/originals.py.
"""

import os
import subprocess
import sys

import pytest

CLEAN = """
import numpy as np
import kinetree as kt
from kinetree import control

robot = kt.load("planar2")
q, v, a = np.array([0.3, -0.7]), np.array([0.5, 0.2]), np.array([1.0, -2.0])

def numbers():
    torque = control.ComputedTorque(robot, 100.0)
    law = kt.compile(lambda robot, q, v: robot.bias_forces(q, v))
    along = robot.rollout(q, v, a, 0.01, 3)
    found = [
        robot.inverse_dynamics(q, v, a), robot.inverse_dynamics(np.array([q, v]), v, a), torque(q, v, a),
        law(robot, q, v), robot.ik("tip", [0.7, 0.0, 0.9]).q, along.q,
    ]
    return " ".join(np.asarray(each).tobytes().hex() for each in found)
"""

PATCHES = {
    "a method": "kt.Inertia.net_force = lambda self, V, A, old=kt.Inertia.net_force: old(self, V, A) * 2.0",
    "a mock": """
from unittest import mock
old = kt.Inertia.net_force
mock.patch.object(kt.Inertia, "net_force", autospec=True, side_effect=lambda *given: old(*given) * 2.0).start()
""",
    "code of a function": """
def scaled(self, V, A):
    return (self * A + V.cross(self * V)) * 2.0
kt.Inertia.net_force.__code__ = scaled.__code__
""",
    "a function of ops": """
import kinetree.ops as ops
old = ops.sin
ops.sin = lambda x: 2.0 * old(x)
""",
    "a constant": """
import kinetree.algorithms.passes.regularity as regularity
regularity.SUSPICIOUS_PIVOT = 1e-3
import kinetree.simulation.step as step
step.FINITE = 1e50
""",
    "a method of a joint": """
from kinetree.model.joints.revolute import Continuous
old = Continuous.velocity
Continuous.velocity = lambda self, q, v: old(self, q, v) * 3.0
""",
}


def run(code, cache):
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "KINETREE_CACHE_DIR": str(cache), "KINETREE_CACHE": "1"},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def kept(cache):
    return {path.name: path.read_bytes() for path in cache.iterdir()}


@pytest.mark.sweep
def test_what_is_replaced_is_run_and_not_kept(tmp_path):
    """Before others have kept anything, and after."""
    clean = f"{CLEAN}\nprint(numbers())"
    patched = {name: f"{CLEAN}\n{patch}\nprint(numbers())" for name, patch in PATCHES.items()}
    alone = {name: run(code, tmp_path / "patched") for name, code in patched.items()}
    right = run(clean, tmp_path / "clean")
    assert run(clean, tmp_path / "patched") == right
    for name in ("a method", "code of a function", "a mock", "a method of a joint"):
        assert alone[name] != right, name
    entries = kept(tmp_path / "clean")
    assert run(patched["a method"], tmp_path / "clean") == alone["a method"]
    assert entries.items() <= kept(tmp_path / "clean").items()


@pytest.mark.sweep
def test_what_was_put_back_is_not_trusted_either(tmp_path):
    """What was traced meanwhile is compiled for batches later."""
    once = f"""{CLEAN}
old = kt.Inertia.net_force
kt.Inertia.net_force = lambda self, V, A: old(self, V, A) * 2.0
robot.inverse_dynamics(q, v, a)
kt.Inertia.net_force = old
robot.inverse_dynamics(np.array([q, q]), v, a)
kt.load("planar2").inverse_dynamics(q, v, a)
"""
    run(once, tmp_path / "once")
    right = run(f"{CLEAN}\nprint(numbers())", tmp_path / "clean")
    assert run(f"{CLEAN}\nprint(numbers())", tmp_path / "once") == right


@pytest.mark.sweep
def test_joints_of_your_own_class_are_known_by_what_they_do(tmp_path):
    """Its name and its fields are those of a joint of the library."""
    code = """
import sys
from dataclasses import replace
import numpy as np
import kinetree as kt
from kinetree.model.joints.revolute import Continuous as Original

class Continuous(Original):
    def velocity(self, q, v):
        return super().velocity(q, v) * float({factor})

robot = kt.load("planar2")
joints = tuple(Continuous(**vars(joint)) if type(joint) is Original else joint for joint in robot.model.joints)
own = kt.Robot(replace(robot.model, joints=joints))
q = np.array([0.3, -0.7])
assert np.allclose(own.bias_forces(q, q), own.eager.bias_forces(q, q))
assert np.allclose(robot.bias_forces(q, q), robot.eager.bias_forces(q, q))
print(own.bias_forces(q, q).tobytes().hex())
"""
    first = run(code.format(factor=2.0), tmp_path)
    assert run(code.format(factor=3.0), tmp_path) != first
    assert run(code.format(factor=2.0), tmp_path) == first


@pytest.mark.sweep
def test_names_hold_whatever_the_library_does(tmp_path):
    """Nothing that it does by itself counts as a change, and all its modules are looked at."""
    code = f"""{CLEAN}
import pkgutil, importlib
from kinetree.base import originals
for each in pkgutil.walk_packages(kt.__path__, "kinetree."):
    if "viewer" not in each.name and "cli" not in each.name and "__main__" not in each.name:
        try:
            importlib.import_module(each.name)
        except ImportError:
            pass
numbers()
robot.forward_dynamics_derivatives(q, v, a)
kt.jacobian(robot.mass_matrix, wrt="q")
control.WholeBody(robot, control.Posture())(q, v, {{"posture": q}})
assert not originals.replaced(), originals.replaced()
from kinetree.simulation import step
step.FINITE = 1e99
assert originals.replaced() == {{"kinetree.simulation.step.FINITE"}}
import kinetree.control.whole_body.limits as limits
limits.range = lambda *given: []
assert "kinetree.control.whole_body.limits.range" in originals.replaced()
"""
    run(code, tmp_path)
