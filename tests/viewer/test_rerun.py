"""Trajectories in files of Rerun, read back by rerun-sdk where it is installed."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest

import kinetree as kt
from kinetree.rotations import matrix_from_quaternion


def chunks(path):
    """The columns of every entity of a file: arrays, a row for every time or a single one."""
    read = pytest.importorskip("rerun.chunk").RrdReader(path).stream()
    found = {}
    for chunk in read:
        batch = chunk.to_record_batch()
        found.setdefault(str(chunk.entity_path), {}).update(
            {name: batch[name].to_pylist() for name in batch.schema.names if not name.endswith("RowId")}
        )
    return found


@pytest.mark.skipif(find_spec("rerun") is None, reason="rerun-sdk is not installed")
def test_bodies_shapes_and_series(tmp_path):
    robot = kt.load("quadruped", base="floating")
    rng = np.random.default_rng(2)
    start, effort = robot.random(rng), rng.normal(size=robot.nv)
    path = robot.rollout(start, effort, effort, 0.02, 5, record=("q", "v", "tau"))
    path.to_rerun(tmp_path / "motion.rrd", robot)
    found = chunks(tmp_path / "motion.rrd")
    for name in robot.body_names:
        body = found[f"/world/{name}"]
        seconds = [time.total_seconds() if hasattr(time, "total_seconds") else time / 1e9 for time in body["time"]]
        np.testing.assert_allclose(seconds, path.t, atol=1e-6)
        for k, q in enumerate(path.q):
            T, (p,), (r,) = (
                robot.frame(name).pose(q),
                body["Transform3D:translation"][k],
                body["Transform3D:quaternion"][k],
            )
            np.testing.assert_allclose(p, T[:3, 3], atol=1e-6)
            np.testing.assert_allclose(matrix_from_quaternion(np.array(r)), T[:3, :3], atol=1e-6)
    knee = robot.velocity_names[-1]
    assert [value for (value,) in found[f"/series/v/{knee}"]["Scalars:scalars"]] == path.v[:, -1].tolist()
    assert [value for (value,) in found[f"/series/tau/{knee}"]["Scalars:scalars"]] == path["tau"][:, -1].tolist()
    meshes = [entity for entity, columns in found.items() if "Mesh3D:vertex_positions" in columns]
    visuals = robot.model.description.links
    assert len(meshes) == sum(len(link.visuals) for link in visuals.values())
    foot = found["/world/front_left_shank_link/front_left_foot"]["Transform3D:translation"][0][0]
    np.testing.assert_allclose(foot, robot.model.frame("front_left_foot").X.p, atol=1e-6)


@pytest.mark.skipif(find_spec("rerun") is None, reason="rerun-sdk is not installed")
def test_without_a_robot_there_are_series_alone(tmp_path):
    path = kt.Trajectory(np.array([0.0, 0.5]), {"q": np.array([[1.0], [2.0]]), "energy": np.array([2.0, 3.0])})
    path.to_rerun(tmp_path / "motion.rrd")
    found = chunks(tmp_path / "motion.rrd")
    assert {entity for entity in found if not entity.startswith("/__")} == {"/series/q/0", "/series/energy"}


def test_what_cannot_be_written_says_so_and_leaves_the_file(tmp_path, monkeypatch):
    robot, file = kt.load("cartpole"), tmp_path / "motion.rrd"
    file.write_bytes(b"before")
    batch = robot.rollout(np.zeros((3, 2)), np.zeros(2), np.zeros(2), 0.1, 2)
    with pytest.raises(kt.ArgumentError, match="is a batch of shape"):
        batch.to_rerun(file, robot)
    with pytest.raises(kt.ArgumentError, match=r"expected a name that ends with \.rrd"):
        batch.state(0).to_rerun(tmp_path / "motion.mcap", robot)
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(kt.KinetreeError, match=r"pip install 'kinetree\[rerun\]'"):
        batch.state(0).to_rerun(file, robot)
    assert file.read_bytes() == b"before" and [each.name for each in tmp_path.iterdir()] == ["motion.rrd"]
