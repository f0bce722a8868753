"""Zarr groups: results in the same group structure, chunk by chunk; reruns and faults."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import IncompleteWarning
from kinetree.scale import annotate
from logs import states

zarr = pytest.importorskip("zarr", reason="needs Zarr: pip install 'kinetree[zarr]'")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
ARM = kt.load("arm6")


@pytest.fixture
def given(tmp_path):
    arrays = states(ARM, 105)
    group = zarr.open_group(str(tmp_path / "logs.zarr"), mode="w")
    for name, array in arrays.items():
        group.create_array(name, data=array, chunks=(16, 6))
    return arrays


def results(tmp_path, name="inverse_dynamics"):
    return zarr.open_group(str(tmp_path / "out"), mode="r")[name][:]


def test_results_are_those_of_the_calls(tmp_path, given):
    wanted = ["inverse_dynamics", "mass_matrix", "kinetic_energy"]
    report = annotate(tmp_path / "logs.zarr", ARM, wanted, tmp_path / "out", rows=20)
    assert report.complete and report.done == 6
    np.testing.assert_array_equal(results(tmp_path), ARM.inverse_dynamics(*given.values()))
    np.testing.assert_array_equal(results(tmp_path, "mass_matrix"), ARM.mass_matrix(given["q"]))
    np.testing.assert_array_equal(results(tmp_path, "kinetic_energy"), ARM.kinetic_energy(given["q"], given["v"]))
    group = zarr.open_group(str(tmp_path / "out"), mode="r")
    assert group.attrs["kinetree"]["robot"]["name"] == "arm6"
    assert group["inverse_dynamics"].attrs["unit"] == "N m or N"


def test_a_second_run_and_faults(tmp_path, given):
    group = zarr.open_group(str(tmp_path / "logs.zarr"), mode="r+")
    group["v"][50] = np.inf
    (tmp_path / "logs.zarr" / "a" / "c" / "0" / "0").write_bytes(b"damaged")
    with pytest.warns(IncompleteWarning, match="2 partitions are not done"):
        report = annotate(tmp_path / "logs.zarr", ARM, "inverse_dynamics", tmp_path / "out", rows=20)
    assert [each.partition.start for each in report.failed] == [0, 40]
    assert "damaged" in report.failed[0].reason and "row 50 has v[0] = inf" in report.failed[1].reason
    assert np.isnan(results(tmp_path)[:20]).all() and np.isnan(results(tmp_path)[40:60]).all()
    group["a"][:20] = given["a"][:20]
    group["v"][50] = given["v"][50]
    report = annotate(tmp_path / "logs.zarr", ARM, "inverse_dynamics", tmp_path / "out")
    assert report.complete and (report.done, report.kept) == (2, 4)
    np.testing.assert_array_equal(results(tmp_path), ARM.inverse_dynamics(*given.values()))


def test_wrong_groups(tmp_path, given):
    zarr.open_group(str(tmp_path / "logs.zarr"), mode="r+").create_array("t", data=np.zeros(3))
    with pytest.warns(IncompleteWarning, match=r"arrays of \[3, 105\] states"):
        annotate(tmp_path / "logs.zarr", ARM, "gravity_forces", tmp_path / "out")
    zarr.open_group(str(tmp_path / "more.zarr"), mode="w").create_array("q", data=given["q"])
    with pytest.raises(kt.ArgumentError, match="source has 2 Zarr groups"):
        annotate([tmp_path / "logs.zarr", tmp_path / "more.zarr"], ARM, "gravity_forces", tmp_path / "other")
    with pytest.raises(kt.ArgumentError, match="format is 'npz' for a source of zarr"):
        annotate(tmp_path / "more.zarr", ARM, "gravity_forces", tmp_path / "other", format="npz")
