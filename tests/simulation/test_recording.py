"""What was seen in a closed loop, as a trajectory."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation import MujocoWorld


@pytest.fixture(scope="module")
def recording():
    """A quadruped that is dropped, and says how high it is."""
    pytest.importorskip("mujoco")
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("_foot")]
    q = robot.neutral()
    q[8::3], q[9::3] = 0.6, -1.2
    q[2] = 0.03 - robot.frame(feet[0]).pose(q)[2, 3]
    return MujocoWorld(robot, feel=feet[:2]).run(
        lambda now: (np.zeros(robot.nv), {"height": now.q[2], "near": now.q[2] < 0.3}), q, duration=0.05
    )


def test_a_recording_is_a_trajectory_with_names_and_units(recording):
    path = recording.trajectory
    assert type(path) is kt.Trajectory and path.batch == () and path.steps == len(path.t) - 1 and not path.diverged
    assert path.t is recording.t and path.q is recording.q and path.v is recording.v
    assert np.array_equal(path["tau"], recording.tau)
    assert np.array_equal(path["report.height"], recording.q[:, 2])
    assert path.names["q"][:3] == ("base.x", "base.y", "base.z") and path.units["tau"][-1] == "N m"


def test_forces_are_of_the_step_that_ends_at_the_next_time(recording):
    path, foot = recording.trajectory, next(iter(recording.forces))
    assert path[f"force.{foot}"].shape == (len(path.t) - 1, 6) and path["elsewhere"].shape == (len(path.t) - 1,)
    first = np.argmax(path[f"force.{foot}"][:, 2] > 0)
    assert first > 0 and np.array_equal(path[f"force.{foot}"][first], recording.force(foot)[first])
    assert path.names[f"force.{foot}"] == ("fx", "fy", "fz", "mx", "my", "mz")
    assert path.units[f"force.{foot}"] == ("N",) * 3 + ("N m",) * 3


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_a_recording_goes_to_disk(recording, tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"drop.{ending}"
    recording.trajectory.save(file)
    again = kt.Trajectory.load(file)
    assert set(again) == set(recording.trajectory) and again.names == recording.trajectory.names
    for name, array in recording.trajectory.series.items():
        np.testing.assert_array_equal(again[name], array)


def test_worlds_and_recordings_print_as_one_line(recording):
    assert repr(recording) == "<Recording of 'quadruped': 50 steps>"
    assert repr(MujocoWorld(recording.robot)) == "<MujocoWorld of 'quadruped' with a period of 0.001 s>"
