"""Recordings on disk: what kinetree writes, plain tables, and ROS bags."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.recording import read_recording
from recorded_motions import exact

ARM = kt.load("planar2")
RECORDING = exact(ARM, duration=0.5)


def table():
    found = {"t": RECORDING["t"]}
    for name in ("q", "v", "tau"):
        found |= {f"{name}.{joint}": RECORDING[name][:, k] for k, joint in enumerate(ARM.joint_names)}
    return found


def test_csv(tmp_path):
    columns = table()
    for separator, name in ((",", "log.csv"), (";", "other.csv"), ("\t", "log.tsv")):
        rows = np.column_stack(list(columns.values()))
        np.savetxt(tmp_path / name, rows, delimiter=separator, header=separator.join(columns), comments="")
        (read,) = read_recording(ARM, tmp_path / name)
        assert np.array_equal(read.tau, RECORDING["tau"]) and np.array_equal(read.t, RECORDING["t"])
    (tmp_path / "wrong.csv").write_text("t,q.a,q.a\n0,1,2\n")
    with pytest.raises(kt.ArgumentError, match=r"wrong.csv has two columns 'q.a'"):
        read_recording(ARM, tmp_path / "wrong.csv")
    (tmp_path / "words.csv").write_text("t,q\n0,much\n")
    with pytest.raises(kt.ArgumentError, match=r"words.csv is not a table of numbers"):
        read_recording(ARM, tmp_path / "words.csv")


def test_parquet_and_npz(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet  # noqa: PLC0415

    parquet.write_table(pyarrow.table(table()), tmp_path / "log.parquet")
    np.savez(tmp_path / "log.npz", **RECORDING)
    for name in ("log.parquet", "log.npz"):
        assert np.array_equal(read_recording(ARM, str(tmp_path / name))[0].tau, RECORDING["tau"])
    path = ARM.rollout(np.zeros(2), np.zeros(2), np.ones((100, 2)), 1e-3, 100, record=("q", "v", "tau"))
    for name in ("path.parquet", "path.npz"):
        path.save(tmp_path / name)
        (read,) = read_recording(ARM, tmp_path / name)
        assert np.allclose(read.tau, 1.0) and np.array_equal(read.q, path.q)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    (tmp_path / "broken.npz").write_bytes(b"PK and nothing else")
    for name in ("broken.parquet", "broken.npz"):
        with pytest.raises(kt.ArgumentError, match=name):
            read_recording(ARM, tmp_path / name)
    (tmp_path / "log.mat").touch()
    with pytest.raises(kt.ArgumentError, match=r"recording is 'log.mat'; expected a name that ends with .npz"):
        read_recording(ARM, tmp_path / "log.mat")


def test_ros_bags(tmp_path):
    """Joints in another order, one that the robot does not have, and no velocities."""
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import Writer  # noqa: PLC0415
    from rosbags.typesys import Stores, get_typestore  # noqa: PLC0415

    store = get_typestore(Stores.LATEST)
    types = store.types
    JointState, Header = types["sensor_msgs/msg/JointState"], types["std_msgs/msg/Header"]
    Time = types["builtin_interfaces/msg/Time"]
    names = ["gripper", *reversed(ARM.joint_names)]
    with Writer(tmp_path / "bag", version=9) as writer:
        connection = writer.add_connection("/joint_states", JointState.__msgtype__, typestore=store)
        for k, t in enumerate(RECORDING["t"]):
            stamp = Time(sec=100 + int(t), nanosec=round(1e9 * (t % 1.0)))
            q, tau = (np.array([0.0, *RECORDING[x][k][::-1]]) for x in ("q", "tau"))
            message = JointState(Header(stamp=stamp, frame_id=""), names, q, np.zeros(0), tau)
            writer.write(connection, k, store.serialize_cdr(message, JointState.__msgtype__))
    (read,) = read_recording(ARM, tmp_path / "bag")
    assert np.array_equal(read.q, RECORDING["q"]) and np.array_equal(read.tau, RECORDING["tau"]) and read.v is None
    assert np.allclose(read.t, RECORDING["t"], atol=1e-6)
    with pytest.raises(kt.ArgumentError, match="has no joint 'slide'"):
        read_recording(kt.load("cartpole"), tmp_path / "bag")
