"""Model files of packages that others publish, wherever they are installed: what loads agrees with MuJoCo or Pinocchio,
or a warning says what is not read; and what is written, MuJoCo and urdfdom read.

docs/model_files.md has a table of what was found.
"""

import warnings
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from mujoco_peer import MujocoPeer
from peers import pin_from_urdf

PACKAGES = (
    "dm_control", "dm_robotics", "gymnasium", "gymnasium_robotics", "metaworld", "robosuite", "robosuite_models",
    "brax", "mujoco_playground", "mujoco_warp", "myosuite", "safety_gymnasium", "pybullet_data",
)  # fmt: skip
LARGEST = 80
"""Velocities of what is compared: the textbook's path takes long."""
TOLERANCE = 1e-8
REFUSED = ("not well-formed XML", "it has no links", "type is 'spherical'")
"""What three files of pybullet's are refused for."""


def files(package, suffix, word):
    spec = find_spec(package)
    if spec is None:
        pytest.skip(f"{package} is not installed")
    folder = Path(spec.submodule_search_locations[0])
    found = [path for path in sorted(folder.rglob(f"*{suffix}")) if word in path.read_text(errors="replace")]
    if not found:
        pytest.skip(f"{package} has no such files")
    return found


def is_near(ours, theirs):
    return np.abs(ours - theirs).max(initial=0.0) <= TOLERANCE * max(1.0, np.abs(theirs).max(initial=0.0))


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_mjcf(package):
    wrong = []
    for path in files(package, ".xml", "<mujoco"):
        try:
            model = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:  # a part of another file, or one for another version
            continue
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", kt.ModelWarning)
            try:
                robot = kt.load(path)
            except kt.ModelError as problem:
                if "memory" not in str(problem) and "soft body" not in str(problem):
                    wrong.append((path, str(problem)))
                continue
            said = [each for each in said if issubclass(each.category, kt.ModelWarning)]
            if 0 < robot.nv <= LARGEST:
                peer, rng = MujocoPeer(robot, model), np.random.default_rng(0)
                q, v, a = robot.random(rng), *rng.normal(size=(2, robot.nv))
                peer.set(q, v, a)
                if not is_near(robot.eager.inverse_dynamics(q, v, a), peer.inverse_dynamics()) and not said:
                    wrong.append((path, "other efforts, without a word"))
            mujoco.MjModel.from_xml_string(robot.to_mjcf(lossy=True))
            if all(joint.joint_class.urdf or joint.series() for joint in robot.model.description.joints.values()):
                pin.buildModelFromXML(robot.to_urdf(lossy=True))
    assert not wrong


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_urdf(package):
    wrong = []
    for path in files(package, ".urdf", "<robot"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.ModelWarning)
            try:
                robot = kt.load(path)
            except kt.ModelError as problem:
                try:
                    repaired = kt.load(path, repair=True)
                    assert any(finding.severity == "error" for finding in repaired.check())
                except kt.ModelError:
                    if not any(reason in str(problem) for reason in REFUSED):
                        wrong.append((path, str(problem)))
                continue
            if not 0 < robot.nv <= LARGEST or any(joint.nv > 1 for joint in robot.model.joints):
                continue
            try:
                peer = pin_from_urdf(robot, path, floating=False)
            except (ValueError, KeyError, SyntaxError):  # one of the two readers in the peer does not take it
                continue
            rng = np.random.default_rng(0)
            q, v, a = robot.random(rng), *rng.normal(size=(2, robot.nv))
            theirs = peer.G.T @ pin.rnea(peer.model, peer.data(), peer.q(q), peer.G @ v, peer.G @ a)
            if not is_near(robot.eager.inverse_dynamics(q, v, a), theirs):
                wrong.append((path, "other efforts"))
    assert not wrong
