"""Recordings as mappings, tables, trajectories and lists; what is missing or broken is named."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.recording import read_recording
from recorded_motions import exact

ARM = kt.load("planar2")
RECORDING = exact(ARM, duration=1.0)
JOINTS = ARM.joint_names


def columns(**changes):
    table = {"t": RECORDING["t"]}
    for name in ("q", "v", "tau"):
        table |= {f"{name}.{joint}": RECORDING[name][:, k] for k, joint in enumerate(JOINTS)}
    return table | changes


def test_arrays_and_columns_are_the_same():
    (whole,), (table,) = read_recording(ARM, RECORDING), read_recording(ARM, columns())
    assert np.array_equal(whole.q, table.q) and np.array_equal(whole.tau, table.tau)
    assert table.a is None and np.array_equal(whole.a, RECORDING["a"]) and len(whole) == len(RECORDING["t"])
    other = {
        name.replace("q.", "position/").replace("tau.", "effort/").replace("v.", "velocity:"): column
        for name, column in columns().items()
    }
    (named,) = read_recording(ARM, other | {"unknown": np.zeros(3)})
    assert np.array_equal(named.q, whole.q) and np.array_equal(named.v, whole.v)
    assert len(read_recording(ARM, [RECORDING, columns()])) == 2


class Table:
    """What pandas calls a DataFrame, to those who read it."""

    def __init__(self, columns):
        self.columns = columns

    def keys(self):
        return list(self.columns)

    def __getitem__(self, name):
        return self.columns[name]


def test_a_data_frame():
    (read,) = read_recording(ARM, Table(columns()))
    assert np.array_equal(read.tau, RECORDING["tau"])


def test_trajectories_with_efforts_of_steps():
    law = kt.compile(lambda robot, q, v, t: robot.gravity_forces(q) - v + kt.sin(3.0 * t))
    path = ARM.rollout(np.zeros(2), np.zeros(2), law, 1e-3, 200, record=("q", "v", "tau"))
    (read,) = read_recording(ARM, path)
    assert read.tau.shape == read.v.shape == (201, 2)
    assert np.allclose(read.tau[5], 0.5 * (path["tau"][4] + path["tau"][5]))
    batch = ARM.rollout(np.zeros((3, 2)), np.zeros(2), law, 1e-3, 50, record=("q", "v", "tau"))
    assert len(read_recording(ARM, batch)) == 3


def test_a_floating_base_has_no_effort():
    robot = kt.load("quadruped", "floating")
    n = 20
    q = np.tile(robot.neutral(), (n, 1))
    base = {"t": 0.01 * np.arange(n), "q": q}
    (read,) = read_recording(robot, base | {"tau": np.ones((n, 12))})
    assert read.tau.shape == (n, 18) and not read.tau[:, :6].any() and read.tau[:, 6:].all()
    assert read_recording(robot, base | {"tau": np.ones((n, 18))})[0].tau.all()
    force = np.zeros((n, 6))
    for given in ({"wrench.base_link": force}, {"wrenches": {"base_link": force}}):
        assert read_recording(robot, base | {"tau": np.ones((n, 12))} | given)[0].wrenches["base_link"].shape == (n, 6)
    six = {
        f"wrench.base_link.{axis}": np.full(n, float(k)) for k, axis in enumerate(["fx", "fy", "fz", "mx", "my", "mz"])
    }
    (read,) = read_recording(robot, base | {"tau": np.ones((n, 12))} | six)
    assert np.array_equal(read.wrenches["base_link"][0], np.arange(6.0))


N = len(RECORDING["t"])
HOLE = RECORDING["tau"].copy()
HOLE[7, 1] = np.nan


@pytest.mark.parametrize(
    ("recording", "sentence"),
    [
        ({"q": RECORDING["q"]}, "the recording has no times 't'; it has 'q'"),
        ({"t": RECORDING["t"], "q": RECORDING["q"]}, "the recording has no tau; it has 'q'"),
        (RECORDING | {"t": RECORDING["t"][:4]}, r"t has shape \(4,\); expected \(8,\) or more times"),
        (RECORDING | {"tau": HOLE}, "tau is not finite at sample 7"),
        (RECORDING | {"t": RECORDING["t"][::-1]}, "expected ascending times"),
        (RECORDING | {"q": RECORDING["q"].T}, rf"q has shape \(2, {N}\); expected \({N}, 2\)"),
        (RECORDING | {"v": RECORDING["v"][:-1]}, "v has shape"),
        (RECORDING | {"tau": RECORDING["tau"][:-1]}, rf"tau has shape .*; expected \({N}, 2\)$"),
        (RECORDING | {"wrench.tol": np.zeros((N, 6))}, "frame 'tol' does not exist"),
        (RECORDING | {"wrench.forearm_link": np.zeros((N, 3))}, r"wrench.forearm_link has shape .*; expected"),
        ({k: v for k, v in columns().items() if k != f"tau.{JOINTS[1]}"}, f"column 'tau.{JOINTS[1]}' is missing"),
        (columns(**{f"q.{JOINTS[0]}": np.zeros(3)}), r"has shape \(3,\); expected \(\d+,\), as t has"),
        (3, "recording is 3; expected a mapping with t, q and tau"),
        ([], r"recording is \[\]; expected a mapping"),
        ("nowhere.csv", "recording is 'nowhere.csv'; there is no such file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(recording, sentence):
    with pytest.raises((kt.ArgumentError, kt.ArgumentTypeError), match=sentence):
        read_recording(ARM, recording)
