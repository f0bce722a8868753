"""kinetree ik: the frame is where it should be, and a sentence where it cannot."""

import json

import numpy as np

import kinetree as kt

ARM = kt.load("arm6")
TOOL = ARM.frame("tool0")


def found(cli, *arguments, code=0):
    return json.loads(cli("ik", "arm6", "tool0", *arguments, "--json", code=code).stdout)


def test_a_position(cli):
    content = found(cli, "--position", "0.4,0.2,0.5")
    assert content["success"] is True and content["reason"] is None
    assert np.allclose(TOOL.pose(content["q"])[:3, 3], [0.4, 0.2, 0.5], atol=2e-6)
    assert (np.array(content["q"]) >= ARM.limits.lower).all() and (np.array(content["q"]) <= ARM.limits.upper).all()


def test_a_pose_by_angles_and_by_a_quaternion(cli):
    R = kt.rotations.matrix_from_rotation_vector([np.pi, 0.0, 0.0])
    for axes in (["--rpy", "180deg,0,0"], ["--quaternion", "1,0,0,0"]):
        T = TOOL.pose(found(cli, "-p", "0.3,0.2,0.4", *axes)["q"])
        assert np.allclose(T[:3, 3], [0.3, 0.2, 0.4], atol=2e-6) and np.allclose(T[:3, :3], R, atol=2e-6)
    yawed = TOOL.pose(found(cli, "-p", "0.3,0.2,0.4", "--rpy", "0,0,90deg")["q"])
    assert np.allclose(yawed[:3, 0], [0, 1, 0], atol=2e-6)


def test_many_poses_from_a_file(cli, tmp_path):
    poses = TOOL.pose(ARM.random(0, size=5))
    poses[3, :3, 3] += 10.0
    np.save(tmp_path / "poses.npy", poses)
    content = found(cli, "--pose", tmp_path / "poses.npy", code=1)
    assert content["success"] == [True, True, True, False, True]
    assert np.allclose(TOOL.pose(content["q"])[[0, 1, 2, 4]], poses[[0, 1, 2, 4]], atol=1e-5)
    text = cli("ik", "arm6", "tool0", "--pose", tmp_path / "poses.npy", code=1).stdout
    assert "4 of 5 targets reached" in text and "- target (3,): 'tool0' stays" in text


def test_the_text(cli):
    result = cli("ik", "arm6", "tool0", "-p", "0.4,0.2,0.5", "--q0", "elbow=1")
    assert "shoulder_pan" in result.stdout and "off by" in result.stdout and result.stderr == ""
    result = cli("ik", "arm6", "tool0", "-p", "0.4,0.2,5", code=1)
    assert result.stderr == "no solution: 'tool0' stays 3.9 m short of its target: out of reach by at least 3.78 m\n"


def test_wrong_use(cli, tmp_path):
    for options in (
        [],
        ["-p", "1,2,3", "--pose", "a.npy"],
        ["-p", "1,2,3", "--rpy", "0,0,0", "--quaternion", "0,0,0,1"],
    ):
        assert "expected --position" in " ".join(cli("ik", "arm6", "tool0", *options, code=2).stderr.split())
    assert "did you mean 'tool0'?" in cli("ik", "arm6", "tool", "-p", "1,2,3", code=1).stderr
    np.save(tmp_path / "p.npy", np.eye(3))
    assert "shape (3, 3); expected (…, 4, 4)" in cli("ik", "arm6", "tool0", "--pose", tmp_path / "p.npy", code=1).stderr


def test_what_it_says_goes_into_the_next(shell):
    first = shell("ik", "arm6", "tool0", "-p", "0.4,0.2,0.5", "--json")
    second = shell("dynamics", "arm6", "pose", "--frame", "tool0", "--q", "-", "--json", input=first.stdout)
    pose = np.array(json.loads(second.stdout)["quantities"]["pose"])
    assert np.allclose(pose[:3, 3], [0.4, 0.2, 0.5], atol=2e-6)
