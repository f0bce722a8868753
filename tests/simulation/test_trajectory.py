"""Trajectories: names, units, one of a batch, and back from the disk.

Covers: simulation/labels.py, simulation/trajectory_files.py.
"""

import os
import pickle
import stat

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation import Ground, RigidContact, Touch
from kinetree.simulation.trajectory import Occurrence


@pytest.fixture(scope="module")
def path():
    robot = kt.load("quadruped", base="floating")
    rng = np.random.default_rng(0)
    u = rng.normal(size=(6, robot.nv))
    return robot.rollout(robot.random(rng, (2, 3)), np.zeros(robot.nv), u, 1e-3, 6, record=("q", "v", "tau"), every=2)


def same(a, b):
    assert set(a.series) == set(b.series) and a.events == () == b.events
    for name in a:
        assert np.array_equal(a[name], b[name]) and a[name].shape == b[name].shape
    assert np.array_equal(a.t, b.t) and np.array_equal(a.diverged, b.diverged) and np.array_equal(a.steps, b.steps)
    assert dict(a.names) == dict(b.names) and dict(a.units) == dict(b.units)
    assert a.diverged.dtype == bool and b.diverged.dtype == bool


def test_names_and_units(path):
    assert path.names["q"][:8] == (
        *("base.x", "base.y", "base.z", "base.qx", "base.qy", "base.qz", "base.qw"),
        kt.load("quadruped").joint_names[0],
    )
    assert path.units["q"][:8] == ("m", "m", "m", "1", "1", "1", "1", "rad")
    assert path.names["tau"][:4] == ("base.vx", "base.vy", "base.vz", "base.wx")
    assert path.units["v"][2:4] == ("m/s", "rad/s") and path.units["tau"][2:4] == ("N", "N m")
    for name in path:
        assert len(path.names[name]) == len(path.units[name]) == path[name].shape[-1]


def test_names_and_units_of_contact(tmp_path):
    """What touches more than once is numbered, and a table has a column for every entry."""
    parquet = pytest.importorskip("pyarrow.parquet")
    robot = kt.load("cartpole")
    contact = RigidContact(["tip", Touch("tip", radius=0.1), Touch("cart_link")], Ground(height=-9.0), stops=True)
    wanted = ("contact_forces", "contact_gaps", "contact_residual", "stop_efforts")
    path = robot.rollout([0.1, 0.2], [0.0, 0.0], None, 1e-3, 4, contact=contact, record=wanted)
    assert path.names["contact_gaps"] == ("tip.1", "tip.2", "cart_link") and path.units["contact_gaps"] == ("m",) * 3
    assert path.names["contact_forces"][2:5] == ("tip.1.z", "tip.2.x", "tip.2.y")
    assert path.units["contact_forces"] == ("N",) * 9 and path.units["contact_residual"] == ("m/s",)
    assert path.names["stop_efforts"] == robot.joint_names[:1] and path.units["stop_efforts"] == ("N",)
    path.save(tmp_path / "run.parquet")
    same(kt.Trajectory.load(tmp_path / "run.parquet"), path)
    table = parquet.read_table(tmp_path / "run.parquet")
    assert np.array_equal(table["contact_gaps.cart_link"].to_numpy()[1:], path["contact_gaps"][:, 2])
    assert table.schema.field("contact_forces.tip.2.x").metadata == {b"unit": b"N"}
    assert table.schema.field("contact_residual").metadata == {b"unit": b"m/s"}


def test_one_of_a_batch(path):
    one = path.state(1, 2)
    assert one.batch == () and np.array_equal(one.q, path.q[1, 2]) and one["tau"].shape == (3, one.v.shape[1])
    assert np.array_equal(path.state(-1, -1).q, one.q)
    with pytest.raises(kt.ArgumentError, match=r"expected 2 numbers for a batch of \(2, 3\)"):
        path.state(1)
    with pytest.raises(kt.ArgumentError, match=r"the batch has shape \(2, 3\)"):
        path.state(2, 0)
    with pytest.raises(kt.UnknownNameError, match="series 'taus' does not exist; did you mean 'tau'"):
        path["taus"]


def test_it_is_frozen_and_pickles(path):
    with pytest.raises(AttributeError):
        path.t = 3
    with pytest.raises(TypeError):
        path.series["q"] = 3
    same(pickle.loads(pickle.dumps(path)), path)


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".NPZ", ".Parquet"])
def test_back_from_the_disk(path, tmp_path, ending):
    for k, one in enumerate((path, path.state(0, 1))):
        file = tmp_path / f"run{k}{ending}"
        one.save(file)
        one.save(str(file))  # again, over the first
        same(kt.Trajectory.load(file), one)
    assert sorted(os.listdir(tmp_path)) == [f"run0{ending}", f"run1{ending}"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
def test_events_and_failures_come_back(tmp_path, ending):
    event = Occurrence("ground", (1,), 0.3, np.array([0.0, 1.0]), np.array([2.0]))
    path = kt.Trajectory(
        np.arange(3.0),
        {"q": np.zeros((2, 3, 2)), "force": np.ones((2, 2, 4, 3))},
        np.array([True, False]),
        np.array([1, 2]),
        events=(event,),
    )
    path.save(tmp_path / f"run{ending}")
    again = kt.Trajectory.load(tmp_path / f"run{ending}")
    assert again["force"].shape == (2, 2, 4, 3) and (again["force"] == 1.0).all()
    assert again.diverged.tolist() == [True, False] and again.steps.tolist() == [1, 2]
    (back,) = again.events
    assert (back.name, back.index, back.t) == ("ground", (1,), 0.3) and back.q.tolist() == [0.0, 1.0]
    assert again.state(1).events[0].index == () and again.state(0).events == ()


def test_other_programs_read_it(path, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path.save(tmp_path / "run.parquet")
    table = parquet.read_table(tmp_path / "run.parquet")
    assert table.num_rows == 6 * 4 and table.schema.field("q.base.x").metadata == {b"unit": b"m"}
    height = table["q.base.z"].to_numpy().reshape(2, 3, 4)
    assert np.array_equal(height, path.q[..., 2])
    path.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        assert np.array_equal(file["series.q"], path.q)


def test_columns_of_one_name_are_refused(tmp_path):
    path = kt.Trajectory(np.arange(3.0), {"q": np.zeros((3, 1)), "t": np.ones(2)})
    with pytest.raises(kt.ArgumentError, match=r"two columns of the table would be called 't'; expected .* \.npz"):
        path.save(tmp_path / "run.parquet")
    assert not os.listdir(tmp_path)
    path.save(tmp_path / "run.npz")
    same(kt.Trajectory.load(tmp_path / "run.npz"), path)


def test_a_write_that_fails_leaves_the_old_file(path, tmp_path, monkeypatch):
    file = tmp_path / "run.npz"
    path.save(file)
    before = file.read_bytes()

    def broken(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", broken)
    with pytest.raises(OSError, match="no space"):
        path.save(file)
    assert file.read_bytes() == before and os.listdir(tmp_path) == ["run.npz"]


def test_what_is_read_only_stays_and_links_are_followed(path, tmp_path):
    file, link = tmp_path / "run.npz", tmp_path / "link.npz"
    path.save(file)
    link.symlink_to(file)
    path.state(0, 0).save(link)
    assert link.is_symlink() and kt.Trajectory.load(file).batch == ()
    before = file.read_bytes()
    file.chmod(0o444)
    for name in (file, link):
        with pytest.raises(PermissionError, match=f"It is read-only: '.*{name.name}'$"):
            path.save(name)
    with pytest.raises(IsADirectoryError, match=r"Is a directory: '[^']*folder\.npz'$"):
        (tmp_path / "folder.npz").mkdir()
        path.save(tmp_path / "folder.npz")
    assert file.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["folder.npz", "link.npz", "run.npz"]


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
def test_a_damaged_file_is_refused_or_whole(path, tmp_path, ending):
    """Whatever byte is wrong: nothing else is read, and nothing else is raised."""
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    file, rng = tmp_path / f"run{ending}", np.random.default_rng(0)
    path.save(file)
    whole, refused = file.read_bytes(), 0
    for k in range(80):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= int(rng.integers(1, 256))
        file.write_bytes(bytes(damaged[: rng.integers(len(whole))] if k % 4 == 0 else damaged))
        try:
            same(kt.Trajectory.load(file), path)
        except kt.ArgumentError:
            refused += 1
    assert refused > 50


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
@pytest.mark.parametrize(("batch", "steps"), [((0,), 2), ((2, 0), 0), ((), 0)])
def test_what_has_no_states_or_steps_comes_back(tmp_path, ending, batch, steps):
    q0 = np.zeros((*batch, 2))
    path = kt.load("planar2").rollout(q0, [0, 0], None, 0.1, steps, record=("q", "tau"))
    path.save(tmp_path / f"run{ending}")
    same(kt.Trajectory.load(tmp_path / f"run{ending}"), path)


def test_arrays_that_do_not_belong_together_are_not_written(tmp_path):
    path = kt.Trajectory(np.arange(3.0), {"q": np.zeros((5, 2))})
    with pytest.raises(kt.ArgumentError, match=r"series 'q' has shape \(5, 2\); expected \(3, …\), or one time fewer"):
        path.save(tmp_path / "run.npz")


def test_what_is_not_a_trajectory(path, tmp_path):
    for other in (None, 3, b"run.npz"):
        with pytest.raises(kt.ArgumentTypeError, match=f"path is {other!r}; expected the name of a file"):
            path.save(other)
    for index in (slice(2), None, True, 0.5):
        with pytest.raises(kt.ArgumentTypeError, match="; expected whole numbers"):
            path.state(0, index)
    with pytest.raises(kt.ArgumentError, match=r"expected a name that ends with \.npz or \.parquet"):
        path.save(tmp_path / "run.csv")
    with pytest.raises(kt.ArgumentError, match=r"expected a name that ends with \.npz or \.parquet"):
        kt.Trajectory.load(tmp_path / "run")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "text.parquet").write_text("hello")
    for name, what in (
        ("other.npz", "trajectory; expected a file that Trajectory.save wrote$"),
        ("text.npz", "trajectory; expected a file that Trajectory.save wrote$"),
        ("text.parquet", "Parquet file"),
    ):
        with pytest.raises(kt.ArgumentError, match=f"{name} is not a {what}"):
            kt.Trajectory.load(tmp_path / name)
    with pytest.raises(kt.ArgumentError, match=r"index is \(3,\); expected none, as this is no batch"):
        path.state(0, 0).state(3)
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*/nowhere/run\.npz'$"):
        path.save(tmp_path / "nowhere" / "run.npz")
    with pytest.raises(FileNotFoundError):
        kt.Trajectory.load(tmp_path / "nothing.npz")
