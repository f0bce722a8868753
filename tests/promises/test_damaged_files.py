"""Whatever is in a file, reading it gives what it says or one sentence of this library: never anything else.

Each fuzzer runs for a few seeds here, for some thousand with -m long, and for as long as wanted as a script.
"""

import io
import random
import zipfile

import numpy as np
import pytest

import fuzz_compiled
import fuzz_dh
import fuzz_mjcf
import fuzz_recordings
import kinetree as kt

OUTCOMES = {
    "tables": (fuzz_dh.run, 60, {"loaded", "refused"}),
    "recordings": (fuzz_recordings.run, 300, {"loaded", "refused"}),
    "MJCF": (fuzz_mjcf.run, 40, {"loaded", "refused"}),
    "URDF, compiled": (fuzz_compiled.run, 12, {"compiled", "refused"}),
}


def meshes(rng):
    pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    import fuzz_meshes  # noqa: PLC0415

    return fuzz_meshes.run(rng)


OUTCOMES["meshes"] = (meshes, 150, {"read", "refused"})


def outcomes(name, seeds):
    if name == "MJCF":
        pytest.importorskip("mujoco")
    return {OUTCOMES[name][0](random.Random(seed)) for seed in seeds}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OUTCOMES)
@pytest.mark.sampled(4)
def test_damaged(name):
    _, count, expected = OUTCOMES[name]
    assert outcomes(name, range(count)) >= expected, "the fuzzer sees both outcomes"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OUTCOMES)
def test_damaged_at_length(name):
    assert outcomes(name, range(10**6, 10**6 + 50 * OUTCOMES[name][1]))


# -- tables ----------------------------------------------------------------------------------------------------------

ROW = "[[link]]\na = 1.0\nmass = 1.0\n"
ODD_TABLES = {
    "values nested deep": "a = " + "[" * 100_000,
    "tables nested deep": "a = " + "{b = " * 20_000,
    "a key of many parts": ".".join("a" * 50_000) + " = 1",
    "a number of many digits": ROW + "theta = " + "9" * 100_000,
    "a number beyond a float": ROW + "theta = " + "9" * 4000,
    "a float that is infinite": ROW + "theta = 1e999",
    "a length that is no number": ROW + "d = 1979-05-27",
    "a name that is none": ROW + "name = [1]",
}


@pytest.mark.parametrize("name", ODD_TABLES)
def test_odd_tables_are_refused(name, tmp_path):
    (tmp_path / "table.toml").write_text(ODD_TABLES[name])
    with pytest.raises(kt.ModelError, match=r"table\.toml") as caught:
        kt.load(tmp_path / "table.toml")
    assert len(str(caught.value)) < 700


# -- recordings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "t",
    [
        np.linspace(0, 1, 5) * 1j,
        np.array(["0", "1", "2", "3", "4"]),
        np.array([b"0", b"1", b"2", b"3", b"4"]),
        np.arange(5).astype("M8[s]"),
        np.array([0.0, 1.0, np.nan, 3.0, 4.0]),
        np.array([0.0, 1.0, 2.0, 3.0, np.inf]),
        np.array([0.0, 1.0, 3.0, 2.0, 4.0]),
        np.zeros((5, 1)),
    ],
)
def test_times_are_real_finite_and_ascending(t, tmp_path):
    path = tmp_path / "recording.npz"
    with zipfile.ZipFile(io.BytesIO(fuzz_recordings.recordings()["single.npz"])) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["t.npy"] = fuzz_recordings.as_npy(t)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(kt.ArgumentError, match=r"recording\.npz is not a trajectory"):
        kt.Trajectory.load(path)


def test_no_pickle_is_read(tmp_path):
    """An array of objects would be read by running what it says."""
    path = tmp_path / "recording.npz"
    np.savez(path, t=np.array([print], dtype=object), head=np.array("{}"))
    with pytest.raises(kt.ArgumentError, match=r"recording\.npz"):
        kt.Trajectory.load(path)


def test_a_recording_does_not_unpack_to_more_than_it_could_hold(tmp_path):
    path = tmp_path / "recording.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("t.npy", "w") as file:
        for _ in range(300):
            file.write(bytes(2**20))
    assert path.stat().st_size < 2**20
    with pytest.raises(kt.ArgumentError, match="that unpack to 300 MB; expected a trajectory"):
        kt.Trajectory.load(path)


def test_a_member_that_lies_about_its_size_is_not_read(tmp_path):
    path = tmp_path / "recording.npz"
    with zipfile.ZipFile(io.BytesIO(fuzz_recordings.recordings()["single.npz"])) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**11,)})
    members["t.npy"] = header.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(kt.ArgumentError, match=r"recording\.npz is not a trajectory"):
        kt.Trajectory.load(path)
