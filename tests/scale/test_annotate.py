"""Quantities of collections: the numbers of the calls themselves, in every format; reruns, faults, and refusals.

Covers: scale/collection.py, scale/computed.py, scale/ledger.py, scale/partition.py, scale/run.py,
scale/formats/npz.py, scale/formats/parquet.py, scale/formats/table.py.
"""

import json
import os
import re
import subprocess
import warnings
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kinetree as kt
from kinetree.errors import IncompleteWarning
from kinetree.scale import annotate
from kinetree.scale.partition import split
from kinetree.simulation.trajectory import Trajectory
from logs import by_coordinate, fixed_lists, read_results, states, write_logs

ARM = kt.load("arm6")


@kt.compile
def power(robot, v, tau):
    return v @ tau


def annotated(source, out, quantities="inverse_dynamics", robot=ARM, **options):
    """A run that may fail in part, without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteWarning)
        return annotate(source, robot, quantities, out, **options)


# -- numbers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parquet", "npz"])
@pytest.mark.parametrize("rows", [None, 50, 1000])
def test_results_are_those_of_the_calls(tmp_path, kind, rows):
    given = write_logs(tmp_path / "logs", ARM, [130, 1, 64], kind, group=50)
    wanted = ["inverse_dynamics", "pose@tool0", "kinetic_energy"]
    report = annotate(tmp_path / "logs", ARM, wanted, tmp_path / "out", rows=rows)
    assert report.complete and report.rows == 195 and report.kept == 0 and report.done == (6 if rows == 50 else 3)
    out = partial(read_results, tmp_path / "out")
    np.testing.assert_array_equal(out("inverse_dynamics"), ARM.inverse_dynamics(given["q"], given["v"], given["a"]))
    np.testing.assert_array_equal(out("pose.tool0"), ARM.frame("tool0").pose(given["q"]))
    np.testing.assert_array_equal(out("kinetic_energy"), ARM.kinetic_energy(given["q"], given["v"]))


def test_one_column_for_each_coordinate(tmp_path):
    given = states(ARM, 100)
    pq.write_table(by_coordinate(ARM, given), tmp_path / "log.parquet")
    annotate(tmp_path / "log.parquet", ARM, "inverse_dynamics", tmp_path / "out")
    expected = ARM.inverse_dynamics(given["q"], given["v"], given["a"])
    np.testing.assert_array_equal(read_results(tmp_path / "out", "inverse_dynamics"), expected)


def test_a_trajectory_that_was_saved(tmp_path):
    robot = kt.load("quadruped", "floating")
    motion = robot.rollout(robot.random(0, 3), np.zeros(robot.nv), None, 1e-3, 10)
    motion.save(tmp_path / "motion.parquet")
    assert isinstance(Trajectory.load(tmp_path / "motion.parquet"), Trajectory)
    annotate(tmp_path / "motion.parquet", robot, "centroidal_momentum", tmp_path / "out")
    expected = robot.centroidal_momentum(motion.q, motion.v).reshape(-1, 6)
    np.testing.assert_array_equal(read_results(tmp_path / "out", "centroidal_momentum"), expected)


def test_calls_of_all_kinds(tmp_path):
    """Laws, controllers, calls with options, plain functions with columns of their own, tuples and dicts of results."""
    given = states(ARM, 40)
    given |= {"tau": given.pop("a"), "target": given["q"] + 0.1, "gain": np.linspace(1.0, 2.0, 40)}
    np.savez(tmp_path / "log.npz", **given)
    held = kt.control.JointImpedance(ARM, 50.0, 5.0)
    calls = {
        "power": power.bind(ARM),
        "held": lambda q, v, target: held(q, v, target) + 0.0,
        "J": partial(ARM.frame("tool0").jacobian, reference="local"),
        "scaled": lambda gain, v: {"up": gain[:, None] * v, "twice": 2 * gain},
        "slopes": lambda q, v: (q + v, q - v),
    }
    annotate(tmp_path / "log.npz", ARM, calls, tmp_path / "out", rows=16)
    q, v, tau = given["q"], given["v"], given["tau"]
    expected = {
        "power": np.einsum("ni,ni->n", v, tau),
        "held": held(q, v, given["target"]),
        "J": ARM.frame("tool0").jacobian(q, "local"),
        "scaled_up": given["gain"][:, None] * v,
        "scaled_twice": 2 * given["gain"],
        "slopes_0": q + v,
        "slopes_1": q - v,
    }
    for name, right in expected.items():
        np.testing.assert_allclose(read_results(tmp_path / "out", name), right, rtol=1e-14, atol=1e-14, err_msg=name)


def test_settings_of_a_controller_are_noticed(tmp_path):
    given = states(ARM, 20)
    np.savez(tmp_path / "log.npz", q=given["q"], v=given["v"], q_des=given["q"] + 0.1)
    for gain, done in ((50.0, 1), (50.0, 0)):
        held = kt.control.JointImpedance(ARM, gain, 5.0)
        assert annotate(tmp_path / "log.npz", ARM, {"held": held}, tmp_path / "out").done == done
    with pytest.raises(kt.ArgumentError, match="results for another quantities"):
        annotate(tmp_path / "log.npz", ARM, {"held": kt.control.JointImpedance(ARM, 60.0, 5.0)}, tmp_path / "out")


def test_other_types_and_orders_of_columns(tmp_path):
    given = states(ARM, 30)
    right = ARM.gravity_forces(given["q"].astype(np.float32).astype(float))
    single = given["q"].astype(np.float32)
    flat = pa.array(single.reshape(-1))
    tables = {
        "float32": pa.table({"q": pa.FixedSizeListArray.from_arrays(flat, 6)}),
        "lists": pa.table({"q": pa.array(single.astype(float).tolist())}),
        "large": pa.table({"q": pa.array(single.tolist(), type=pa.large_list(pa.float32()))}),
    }
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=7)
    np.savez(tmp_path / "fortran.npz", q=np.asfortranarray(single))
    np.savez_compressed(tmp_path / "packed.npz", q=single)
    for file in sorted(tmp_path.glob("*.*")):
        annotate(file, ARM, "gravity_forces", tmp_path / f"of {file.stem}", rows=11)
        np.testing.assert_array_equal(read_results(tmp_path / f"of {file.stem}", "gravity_forces"), right)


def test_results_inside_of_the_source_and_as_a_source(tmp_path):
    given = write_logs(tmp_path, ARM, [30, 30])
    for done in (2, 0):
        assert annotate(tmp_path, ARM, {"q": lambda q: q, "v": lambda v: 2.0 * v}, tmp_path / "twice").done == done
    assert annotate(tmp_path / "twice", ARM, "kinetic_energy", tmp_path / "out").complete
    right = ARM.kinetic_energy(given["q"], 2.0 * given["v"])
    np.testing.assert_array_equal(read_results(tmp_path / "out", "kinetic_energy"), right)


def test_nothing_to_do(tmp_path):
    write_logs(tmp_path / "logs", ARM, [0, 20])
    report = annotate(tmp_path / "logs", ARM, "gravity_forces", tmp_path / "out")
    assert report.complete and report.rows == 20
    (tmp_path / "empty").mkdir()
    with pytest.raises(kt.ArgumentError, match="source has no files; expected files of one format"):
        annotate(tmp_path / "empty", ARM, "gravity_forces", tmp_path / "other")


# -- reruns ------------------------------------------------------------------------------------------------------------


def test_a_second_run_does_what_is_missing(tmp_path):
    given = write_logs(tmp_path / "logs", ARM, [200, 100], group=50)
    source, out = tmp_path / "logs", tmp_path / "out"
    assert annotated(source, out, rows=50).done == 6
    names = sorted(path.name for path in out.glob("*.parquet"))
    assert names == [f"log0.{k:04}.parquet" for k in range(4)] + ["log1.0000.parquet", "log1.0001.parquet"]
    assert annotated(source, out).done == 0, "rows of the first run"
    before = {name: (out / name).stat().st_mtime_ns for name in names}
    (out / names[1]).unlink()  # lost
    (out / names[2]).write_bytes(b"short")  # cut by a power failure
    (out / "_kinetree" / "log1.0000.json").unlink()  # killed before its receipt
    (out / "_kinetree" / "log1.0001.json").write_text("{")
    report = annotated(source, out)
    assert (report.done, report.kept, report.complete) == (4, 2, True)
    assert [name for name in names if (out / name).stat().st_mtime_ns == before[name]] == [names[0], names[3]]
    np.testing.assert_array_equal(
        read_results(out, "inverse_dynamics"), ARM.inverse_dynamics(given["q"], given["v"], given["a"])
    )
    changed = states(ARM, 100, seed=9)
    pq.write_table(fixed_lists(changed), source / "log1.parquet", row_group_size=50)
    assert annotated(source, out).done == 2, "a source that has changed"
    right = ARM.inverse_dynamics(*changed.values())
    np.testing.assert_array_equal(read_results(out, "inverse_dynamics")[200:], right)
    (source / "log0.parquet").unlink()
    annotated(source, out)
    assert json.loads((out / "_kinetree" / "manifest.json").read_text())["stale"] == [name[:9] for name in names[:4]]


def test_a_change_is_noticed(tmp_path):
    write_logs(tmp_path / "logs", ARM, [10])
    source, out = tmp_path / "logs", tmp_path / "out"
    annotate(source, ARM, {"x": power_of(ARM)}, out)
    heavier = kt.load("arm6", gravity=(0, 0, -1.62))
    for robot, quantities, word in [
        (heavier, {"x": power_of(ARM)}, "robot"),
        (ARM, {"y": power_of(ARM)}, "quantities"),
        (ARM, {"x": other_power_of(ARM)}, "quantities"),
        (ARM.astype("float32"), {"x": power_of(ARM)}, "dtype"),
    ]:
        with pytest.raises(kt.ArgumentError, match=f"which has results for another {word}, .* or overwrite=True"):
            annotate(source, robot, quantities, out)
    with pytest.raises(kt.ArgumentError, match="results for another rows per partition, 1000000; expected 3"):
        annotate(source, ARM, {"x": power_of(ARM)}, out, rows=3)
    assert annotate(source, ARM, {"x": power_of(ARM)}, out).done == 0
    assert annotate(source, heavier, {"y": power_of(ARM)}, out, overwrite=True).done == 1


def power_of(robot):
    @kt.compile
    def law(robot, q, v):
        return q @ v

    return law.bind(robot)


def other_power_of(robot):
    @kt.compile
    def law(robot, q, v):
        return 2.0 * (q @ v)

    return law.bind(robot)


def test_the_manifest(tmp_path):
    write_logs(tmp_path / "logs", ARM, [30])
    annotate(tmp_path / "logs", ARM, ["inverse_dynamics", "mass_matrix"], tmp_path / "out", rows=20)
    manifest = json.loads((tmp_path / "out" / "_kinetree" / "manifest.json").read_text())
    assert manifest["robot"] == {"name": "arm6", "digest": ARM.model.digest, "nq": 6, "nv": 6}
    assert manifest["kinetree"] == kt.__version__ and manifest["rows"] == 30 and manifest["complete"]
    assert manifest["columns"]["inverse_dynamics"] == {"shape": [6], "unit": "N m or N"}
    assert manifest["columns"]["mass_matrix"]["shape"] == [6, 6]
    written = json.loads(pq.read_schema(tmp_path / "out" / "log0.0000.parquet").metadata[b"kinetree"])
    assert written["robot"] == manifest["robot"]


# -- faults ------------------------------------------------------------------------------------------------------------


def damaged_logs(folder):
    """Five files, of which one is whole."""
    write_logs(folder, ARM, [40, 40, 40, 40, 40])
    data = (folder / "log1.parquet").read_bytes()
    (folder / "log1.parquet").write_bytes(data[: len(data) // 2])  # cut
    pq.write_table(fixed_lists(states(ARM, 40, 2)), folder / "log2.parquet", write_page_checksum=True)
    middle = bytearray((folder / "log2.parquet").read_bytes())
    middle[1000:1100] = bytes(100)  # overwritten inside a page
    (folder / "log2.parquet").write_bytes(middle)
    hurt = states(ARM, 40, 3)
    hurt["v"][17, 2] = np.nan
    pq.write_table(fixed_lists(hurt), folder / "log3.parquet")
    pq.write_table(fixed_lists({"q": hurt["q"], "v": hurt["v"][:, :5]}), folder / "log4.parquet")
    return {
        "log1": "not a Parquet file",
        "log2": "checksum",
        "log3": r"row 17 has v\[2\] = nan; expected finite numbers, or nan='keep'",
        "log4": r"has no column 'a'; there are 'q', 'v'",
    }


def test_good_partitions_are_done_and_others_listed(tmp_path):
    reasons = damaged_logs(tmp_path / "logs")
    source, out = tmp_path / "logs", tmp_path / "out"
    with pytest.warns(IncompleteWarning, match="4 partitions are not done: .*log1.parquet"):
        report = annotate(source, ARM, "inverse_dynamics", out)
    assert report.done == 1 and not report.complete and len(report.failed) == 4
    for failed, (name, reason) in zip(report.failed, reasons.items(), strict=True):
        assert name in failed.partition.source
        assert re.search(reason, failed.reason, re.IGNORECASE), failed.reason
    assert "log3.parquet, rows 0 to 39: row 17 has v" in str(report)
    assert sorted(path.name for path in out.iterdir()) == ["_kinetree", "log0.0000.parquet"]
    manifest = json.loads((out / "_kinetree" / "manifest.json").read_text())
    assert [each["reason"] for each in manifest["failed"]] == [each.reason for each in report.failed]
    for seed, name in enumerate(["log1", "log2", "log4"]):  # repaired
        pq.write_table(fixed_lists(states(ARM, 40, seed)), source / f"{name}.parquet")
    report = annotated(source, out)
    assert report.kept == 1 and report.done == 3 and len(report.failed) == 1
    report = annotate(source, ARM, "inverse_dynamics", out, nan="keep")
    assert report.complete and report.done == 1
    tau = read_results(out, "inverse_dynamics")
    assert np.isnan(tau[137]).any() and np.isfinite(np.delete(tau, 137, axis=0)).all()


def test_a_quaternion_that_is_not_of_unit_length(tmp_path):
    robot = kt.load("quadruped", "floating")
    given = states(robot, 30)
    given["q"][21, 3:7] *= 1.1
    np.savez(tmp_path / "log.npz", **given)
    report = annotated(tmp_path / "log.npz", tmp_path / "out", "center_of_mass", robot, rows=10)
    assert report.done == 2 and report.failed[0].partition.start == 20
    assert "quaternion" in report.failed[0].reason and "norm 1.1" in report.failed[0].reason


def test_damaged_npz_files(tmp_path):
    write_logs(tmp_path, ARM, [40, 40, 40], "npz")
    data = bytearray((tmp_path / "log0.npz").read_bytes())
    data[1200] ^= 1
    (tmp_path / "log0.npz").write_bytes(data)
    (tmp_path / "log1.npz").write_bytes(bytes(data[:2000]))
    np.savez(tmp_path / "log2.npz", q=np.zeros((4, 6)), v=np.zeros((3, 6)), a=np.zeros((4, 6)))
    np.savez(tmp_path / "log3.npz", q=np.array([object()]), v=np.zeros((1, 6)), a=np.zeros((1, 6)))
    reasons = [each.reason for each in annotated(tmp_path, tmp_path / "out").failed]
    words = ("damaged: ", "not an NPZ file", "'v' of shape (3, 6); expected 4 rows", "Python objects")
    for reason, word in zip(reasons, words, strict=True):
        assert word in reason


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk(tmp_path):
    """A disk with room for two partitions of four: what is there is whole, what does not fit is not begun."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", disk]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        write_logs(tmp_path / "logs", ARM, [1000] * 4)
        report = annotated(tmp_path / "logs", disk / "out")
        assert 1 <= report.done <= 3 and "no space left on device" in report.failed[0].reason
        assert report.done + len(report.failed) + report.left == 4 and report.left >= 1
        whole = [pq.read_table(file).num_rows for file in (disk / "out").glob("*.parquet")]
        assert whole == [1000] * report.done and not [p for p in (disk / "out").iterdir() if p.name.startswith(".")]
        subprocess.run(["mount", "-o", "remount,size=10m", disk], check=True)
        again = annotated(tmp_path / "logs", disk / "out")
        assert again.complete and again.kept == report.done
    finally:
        subprocess.run(["umount", disk], check=True)


def test_an_interrupt_leaves_what_is_done(tmp_path):
    write_logs(tmp_path / "logs", ARM, [100], group=25)
    calls = []

    def interrupted(q):
        calls.append(len(q))
        if len(calls) == 4:  # the first is a look at its shape
            raise KeyboardInterrupt
        return q

    with pytest.raises(KeyboardInterrupt):
        annotate(tmp_path / "logs", ARM, {"x": interrupted}, tmp_path / "out", rows=25)
    manifest = json.loads((tmp_path / "out" / "_kinetree" / "manifest.json").read_text())
    assert manifest["done"] == 2 and manifest["partitions"] == 4 and not manifest["complete"]
    assert annotate(tmp_path / "logs", ARM, {"x": interrupted}, tmp_path / "out").done == 2


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quantities", "reason"),
    [
        ("inverse_dynamic", "quantity 'inverse_dynamic' does not exist; did you mean 'inverse_dynamics'"),
        ("pose", "pose is a quantity of a frame; expected the frame's name after it, as in 'pose@tool0'"),
        ("pose@tool", "frame 'tool' does not exist; did you mean 'tool0'"),
        ([], "quantities is empty"),
        (["gravity_forces", "gravity_forces"], "quantities has 'gravity_forces' twice"),
        ([3], "quantities has 3; expected a name, or a dict from names to calls"),
        ({"x": 3}, r"quantities\['x'\] is 3; expected a name or a call"),
        (7, "quantities is 7; expected names"),
        ({"x": lambda q: q[0]}, r"x is an array of float64 of shape \(6,\) for 1 states"),
        ({"x": lambda q: q.astype(str)}, "x is an array of <U"),
    ],
)
def test_wrong_quantities(tmp_path, quantities, reason):
    write_logs(tmp_path / "logs", ARM, [10])
    with pytest.raises(kt.KinetreeError, match=reason):
        annotate(tmp_path / "logs", ARM, quantities, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_wrong_arguments(tmp_path):
    write_logs(tmp_path / "logs", ARM, [10])
    write_logs(tmp_path / "other", ARM, [10], "npz")
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    call = partial(annotate, tmp_path / "logs", ARM, "gravity_forces")
    for act, reason in [
        (
            lambda: annotate(tmp_path / "nowhere", ARM, "gravity_forces", tmp_path / "out"),
            "nowhere', which does not exist",
        ),
        (lambda: annotate(5, ARM, "gravity_forces", tmp_path / "out"), "source is 5"),
        (lambda: annotate(tmp_path / "file", ARM, "gravity_forces", tmp_path / "out"), "ends with .parquet, .npz or"),
        (lambda: annotate(tmp_path, ARM, "gravity_forces", tmp_path / "out"), "source has npz and parquet"),
        (lambda: annotate(tmp_path / "logs", "arm6", "gravity_forces", tmp_path / "out"), "robot is 'arm6'"),
        (lambda: call(tmp_path / "file"), "file', which is a file; expected a folder"),
        (lambda: call(tmp_path / "full"), "full', which has other files; expected an empty or a new folder"),
        (lambda: call(3), "out is 3; expected the name of a folder"),
        (lambda: call(tmp_path / "out", engine="spark"), "engine is 'spark'; expected 'local' or 'dask' or 'ray'"),
        (lambda: call(tmp_path / "out", workers=0), "workers is 0; expected at least 1"),
        (lambda: call(tmp_path / "out", rows=0), "rows is 0; expected at least 1"),
        (lambda: call(tmp_path / "out", nan="drop"), "nan is 'drop'"),
        (lambda: call(tmp_path / "out", format="csv"), "format is 'csv'"),
        (lambda: call(tmp_path / "out", format="zarr"), "format is 'zarr' for a source of parquet"),
    ]:
        with pytest.raises(kt.KinetreeError, match=reason):
            act()
    assert (tmp_path / "full" / "thesis.txt").exists() and not (tmp_path / "out").exists()


def test_where_files_are_cut():
    """At row groups where they fit; a group that is too long alone is cut at multiples of the size."""
    cases = [([0, 10, 20, 30], 20, [0, 20, 30]), ([0, 10, 20, 30], 15, [0, 10, 20, 30]), ([0, 7], 3, [0, 3, 6, 7])]
    cases += [([0, 2, 12, 13], 5, [0, 2, 7, 12, 13]), ([0, 0], 5, [0, 0]), ([0, 5], 5, [0, 5])]
    for bounds, rows, cuts in cases:
        found = list(split("a", "b", bounds, rows))
        assert [found[0].start, *(each.stop for each in found)] == cuts
        assert all(each.rows <= rows for each in found)


def test_a_large_npz_file_is_compared_with_its_checksum(tmp_path):
    write_logs(tmp_path, ARM, [20_000], "npz")
    data = bytearray((tmp_path / "log0.npz").read_bytes())
    data[700_000] ^= 1
    (tmp_path / "log0.npz").write_bytes(data)
    assert "the checksum of q.npy is wrong" in annotated(tmp_path / "log0.npz", tmp_path / "out").failed[0].reason
