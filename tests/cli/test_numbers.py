"""Numbers as they are typed: vectors, angles, joints by name, files, stdin."""

import io
import json
import sys

import numpy as np
import pytest
import typer

import kinetree as kt
from kinetree.cli.numbers import configuration, coordinate_names, number, plain, position_names, vector, velocities

ARM = kt.load("arm6")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5),
        ("-1e-3", -1e-3),
        ("30deg", np.pi / 6),
        ("-90deg", -np.pi / 2),
        ("pi", np.pi),
        ("-pi/2", -np.pi / 2),
        ("2pi/3", 2 * np.pi / 3),
        ("1.5*pi", 1.5 * np.pi),
    ],
)
def test_numbers(text, value):
    assert number(text, "--x") == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["", "one", "1,2", "nan", "inf", "deg", "pie"])
def test_what_is_no_number(text):
    with pytest.raises(typer.BadParameter, match="expected a number"):
        number(text, "--x")


def test_vectors():
    assert vector("1, 2 ,3", "--x").tolist() == vector("[1 2 3]", "--x").tolist() == [1, 2, 3]
    with pytest.raises(typer.BadParameter, match="expected 3 numbers"):
        vector("1,2", "--x", 3)


def test_configurations():
    assert np.array_equal(configuration(ARM, None, "--q"), ARM.neutral())
    assert np.array_equal(configuration(ARM, "random:3", "--q"), ARM.random(3))
    assert configuration(ARM, "elbow=90deg, wrist_1=-1", "--q").tolist() == [0, 0, np.pi / 2, -1, 0, 0]
    with pytest.raises(kt.UnknownNameError, match="joint 'elbw' does not exist; did you mean 'elbow'"):
        configuration(ARM, "elbw=1", "--q")
    with pytest.raises(kt.ArgumentError, match="--q has 2 numbers; expected 6"):
        configuration(ARM, "1,2", "--q")
    with pytest.raises(typer.BadParameter, match="random:SEED"):
        configuration(ARM, "random:x", "--q")


def test_coordinates_of_a_floating_base_have_places():
    dog = kt.load("quadruped", "floating")
    q = configuration(dog, f"floating_base[2]=0.4,{dog.joint_names[-1]}=-1", "--q")
    expected = dog.neutral()
    expected[2], expected[-1] = 0.4, -1.0
    assert np.array_equal(q, expected)
    v = velocities(dog, f"floating_base[5]=2,{dog.joint_names[0]}=3", "--v", "v")
    assert v[5] == 2 and v[6] == 3 and np.count_nonzero(v) == 2
    assert len(position_names(dog)) == dog.nq and len(coordinate_names(dog)) == dog.nv
    assert position_names(dog)[7:] == coordinate_names(dog)[6:] == list(dog.joint_names)


def test_files(tmp_path, monkeypatch):
    states = ARM.random(0, size=(4, 2))
    np.save(tmp_path / "a.npy", states)
    np.savez(tmp_path / "a.npz", t=np.arange(4), q=states)
    (tmp_path / "a.json").write_text(json.dumps({"q": states[0, 0].tolist()}))
    np.savetxt(tmp_path / "a.csv", states[:, 0], delimiter=",")
    for name, expected in (("npy", states), ("npz", states), ("json", states[0, 0]), ("csv", states[:, 0])):
        assert np.allclose(configuration(ARM, str(tmp_path / f"a.{name}"), "--q"), expected, atol=1e-15)
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(states[1, 1].tolist())))
    assert configuration(ARM, "-", "--q").tolist() == states[1, 1].tolist()


def test_files_with_something_else(tmp_path):
    np.savez(tmp_path / "a.npz", p=np.zeros(6))
    with pytest.raises(kt.UnknownNameError, match=r"a.npz, the key 'q' does not exist"):
        configuration(ARM, str(tmp_path / "a.npz"), "--q")
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(kt.ArgumentError, match=r"--q: .*a.json cannot be read"):
        configuration(ARM, str(tmp_path / "a.json"), "--q")
    (tmp_path / "a.csv").write_text("a,b\n")
    with pytest.raises(kt.ArgumentError, match="cannot be read"):
        configuration(ARM, str(tmp_path / "a.csv"), "--q")
    with pytest.raises(OSError, match="No such file"):
        configuration(ARM, str(tmp_path / "none.npy"), "--q")


def test_json_has_no_infinity():
    assert plain({"a": (np.array([1.0, np.inf]), np.float64(np.nan), np.bool_(True), None)}) == {
        "a": [[1.0, None], None, True, None]
    }
