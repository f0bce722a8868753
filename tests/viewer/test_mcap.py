"""Trajectories in MCAP files, read back by the package mcap.

Covers: viewer/recorded_scene.py.
"""

import json
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.rotations import matrix_from_quaternion

reader = pytest.importorskip("mcap.reader")

BOX = """
<robot name="box on a slide">
  <link name="rail"/>
  <link name="cart">
    <visual><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><geometry><box size="0.2 0.4 0.6"/></geometry>
      <material name="red"><color rgba="1 0 0 0.5"/></material></visual>
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="hand"/>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <joint name="grip" type="fixed"><parent link="cart"/><child link="hand"/><origin xyz="0 0 0.5" rpy="0.3 0 0"/></joint>
</robot>
"""


def messages(path):
    """The messages of a file by topic, with their times [ns], in the order in which they lie there."""
    found = {}
    with open(path, "rb") as stream:
        for schema, channel, message in reader.make_reader(stream).iter_messages(log_time_order=False):
            assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
            content = json.loads(message.data)
            assert set(content) <= set(json.loads(schema.data)["properties"])
            found.setdefault((channel.topic, schema.name), []).append((message.log_time, content))
    return found


def numbers(place):
    return np.array(list(place.values()))


def pose(transform):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = matrix_from_quaternion(numbers(transform["rotation"])), numbers(transform["translation"])
    return T


def rolled(robot, steps=8, **options):
    rng = np.random.default_rng(3)
    q = robot.random(rng)
    return robot.rollout(q, rng.normal(size=robot.nv), rng.normal(size=robot.nv), 0.02, steps, **options)


@pytest.mark.parametrize(("name", "base"), [("arm6", "fixed"), ("quadruped", "floating")])
def test_frames_are_where_the_robot_has_them(name, base, tmp_path):
    robot = kt.load(name, base=base)
    path = rolled(robot)
    path.to_mcap(tmp_path / "motion.mcap", robot)
    known, times = {}, set()
    for time, content in messages(tmp_path / "motion.mcap")["/tf", "foxglove.FrameTransforms"]:
        for transform in content["transforms"]:
            parent, child = transform["parent_frame_id"], transform["child_frame_id"]
            at = transform["timestamp"]
            assert at["sec"] * 10**9 + at["nsec"] == time
            known.setdefault(child, []).append((time, parent, pose(transform)))
        times.add(time)
    assert times == {round(t * 1e9) for t in path.t} and set(known) == set(robot.frame_names)
    for k, time in enumerate(sorted(times)):

        def in_world(frame, now=time):
            if frame == "world":
                return np.eye(4)
            _, parent, T = [each for each in known[frame] if each[0] <= now][-1]
            return in_world(parent) @ T

        for frame in robot.frame_names:
            np.testing.assert_allclose(in_world(frame), robot.frame(frame).pose(path.q[k]), atol=1e-12)


def test_joint_states_and_series(tmp_path):
    robot = kt.load("arm6")
    path = rolled(robot, record=("q", "v", "tau"))
    path.to_mcap(tmp_path / "motion.mcap", robot)
    found = messages(tmp_path / "motion.mcap")
    states = found["/joint_states", "foxglove.JointStates"]
    assert len(states) == len(path.t)
    for k, (time, content) in enumerate(states):
        joints = content["joints"]
        assert time == round(path.t[k] * 1e9) and [joint["name"] for joint in joints] == list(robot.joint_names)
        assert [joint["position"] for joint in joints] == path.q[k].tolist()
        assert [joint["velocity"] for joint in joints] == path.v[k].tolist()
        effort = [joint.get("effort") for joint in joints]
        assert effort == ([None] * 6 if k == 0 else path["tau"][k - 1].tolist())
    elbow = [content["elbow"] for _, content in found["/series/q", "kinetree.q"]]
    assert elbow == path.q[:, 2].tolist()
    efforts = found["/series/tau", "kinetree.tau"]
    assert [time for time, _ in efforts] == [round(t * 1e9) for t in path.t[1:]]


def test_shapes_move_with_their_bodies(tmp_path):
    robot = kt.load(BOX)
    rolled(robot).to_mcap(tmp_path / "motion.mcap", robot)
    ((time, update),) = messages(tmp_path / "motion.mcap")["/scene", "foxglove.SceneUpdate"]
    (entity,) = update["entities"]
    assert (time, entity["frame_id"], entity["frame_locked"], entity["lifetime"]["sec"]) == (0, "cart", True, 0)
    (triangles,) = entity["triangles"]
    points = np.array([numbers(point) for point in triangles["points"]])
    np.testing.assert_allclose(points.max(0), [1.2, 0.1, 0.3], atol=1e-12)
    np.testing.assert_allclose(points.min(0), [0.8, -0.1, -0.3], atol=1e-12)
    assert triangles["color"] == {"r": 1.0, "g": 0.0, "b": 0.0, "a": 0.5}
    corners = points[np.array(triangles["indices"]).reshape(-1, 3)]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert len(corners) == 12 and ((outward * (corners.mean(1) - [1.0, 0.0, 0.0])).sum(1) > 0).all()


def test_messages_lie_in_the_order_of_time(tmp_path):
    robot = kt.load("cartpole")
    rolled(robot, record=("q", "v", "tau")).to_mcap(tmp_path / "motion.mcap", robot)
    with open(tmp_path / "motion.mcap", "rb") as stream:
        listed = list(reader.make_reader(stream).iter_messages(log_time_order=False))
    times = [message.log_time for _, _, message in listed]
    assert times == sorted(times) and listed[0][1].topic == "/tf"


def test_without_a_robot_there_are_series_alone(tmp_path):
    path = kt.Trajectory(
        np.array([0.0, 0.5]),
        {"q": np.array([[1.0], [np.nan]]), "energy": np.array([2.0, np.inf]), "none": np.empty((2, 0))},
    )
    path.to_mcap(tmp_path / "motion.mcap")
    found = messages(tmp_path / "motion.mcap")
    assert set(found) == {(f"/series/{name}", f"kinetree.{name}") for name in ("q", "energy", "none")}
    assert [content["0"] for _, content in found["/series/q", "kinetree.q"]] == [1.0, None]
    assert [content["value"] for _, content in found["/series/energy", "kinetree.energy"]] == [2.0, None]


def test_what_cannot_be_written_says_so_and_leaves_the_file(tmp_path, monkeypatch):
    robot, file = kt.load("cartpole"), tmp_path / "motion.mcap"
    file.write_bytes(b"before")
    path = rolled(robot)
    batch = robot.rollout(np.zeros((3, 2)), np.zeros(2), np.zeros(2), 0.1, 2)
    for written, arguments, sentence in (
        (batch, (file, robot), "is a batch of shape"),
        (path, (file, kt.load("arm6")), "q has shape"),
        (path, (file, "arm6"), "robot is 'arm6'; expected a robot"),
        (path, (tmp_path / "motion.json",), "expected a name that ends with .mcap"),
        (path, (3,), "path is 3; expected the name of a file"),
        (kt.Trajectory(np.empty(0), {"q": np.empty((0, 2))}), (file,), "t is empty"),
        (
            kt.Trajectory(np.array([-1.0, 0.0]), {"q": np.zeros((2, 2))}),
            (file,),
            r"t\[0\] is -1; expected finite times",
        ),
        (kt.Trajectory(path.t, {"v": path.v}), (file, robot), "q was not recorded"),
        (kt.Trajectory(path.t, {"q": path.q}, names={"q": ("a", "a")}), (file,), "two entries of 'q' are called 'a'"),
        (kt.Trajectory(path.t, {"q": path.q}, names={"q": ("a", "timestamp")}), (file,), "called 'timestamp'"),
    ):
        with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=sentence):
            written.to_mcap(*arguments)
    monkeypatch.setitem(sys.modules, "mcap.writer", None)
    with pytest.raises(kt.KinetreeError, match=r"pip install 'kinetree\[mcap\]'"):
        path.to_mcap(file, robot)
    assert file.read_bytes() == b"before" and [each.name for each in tmp_path.iterdir()] == ["motion.mcap"]
