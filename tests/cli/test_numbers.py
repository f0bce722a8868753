"""Numbers as they are typed: vectors, angles, joints by name, files, stdin."""

import io
import json
import sys

import numpy as np
import pytest
import typer

import kinetree as kt
from kinetree.cli.numbers import (
    array_from,
    configuration,
    coordinate_names,
    number,
    plain,
    position_names,
    vector,
    velocities,
)

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


def test_postures_by_name():
    srdf = "<robot name='arm6'><group_state name='home'><joint name='elbow' value='1.5'/></group_state></robot>"
    robot = kt.load("arm6", srdf=srdf)
    assert (configuration(robot, "home", "--q") == robot.configuration(elbow=1.5)).all()


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
    with pytest.raises(kt.ArgumentError, match=r"--q: .*a.json is no JSON document: .*, line 1"):
        configuration(ARM, str(tmp_path / "a.json"), "--q")
    (tmp_path / "a.csv").write_text("a,b\n")
    with pytest.raises(kt.ArgumentError, match="cannot be read"):
        configuration(ARM, str(tmp_path / "a.csv"), "--q")
    (tmp_path / "whole.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:60])
    (tmp_path / "noise.npy").write_bytes(b"\x80\x04 pickled?")
    (tmp_path / "noise.csv").write_bytes(b"\xff\xfe")
    (tmp_path / "folder.npy").mkdir()
    for name in ("empty.npz", "empty.npy", "empty.csv", "empty.json"):
        (tmp_path / name).touch()
    for name, what in {
        "none.npy": "does not exist; expected a file with q",
        "folder.npy": "is a folder; expected a file with q",
        "whole.npz": "cannot be read: it is not a .npz file",
        "noise.npy": "cannot be read: it is not a .npy file",
        "noise.csv": "is not a text; expected numbers",
        "empty.npz": "cannot be read: it is not a .npz file",
        "empty.npy": "cannot be read: it is not a .npy file",
        "empty.csv": "cannot be read: it is empty; expected numbers",
        "empty.json": "is no JSON document: it is empty",
    }.items():
        with pytest.raises(kt.ArgumentError, match=rf"^--q: .*{name} {what}$"):
            configuration(ARM, str(tmp_path / name), "--q")


def test_what_another_command_wrote(tmp_path):
    table = "t,q:a,q:b,v:a,v:b\n0.0,1.0,2.0,3.0,4.0\n0.1,5.0,6.0,7.0,8.0\n"
    (tmp_path / "motion.csv").write_text(table)
    file = str(tmp_path / "motion.csv")
    assert np.array_equal(array_from(file, "--motion", "t"), [0.0, 0.1])
    assert np.array_equal(array_from(file, "--motion", "q"), [[1.0, 2.0], [5.0, 6.0]])
    assert np.array_equal(array_from(file, "--motion", "v"), [[3.0, 4.0], [7.0, 8.0]])
    (tmp_path / "failed.json").write_text('{"error": "out of reach"}')
    with pytest.raises(kt.ArgumentError, match=r"has the error of another command: out of reach$"):
        configuration(ARM, str(tmp_path / "failed.json"), "--q")


def test_words_that_are_no_state():
    for text in ("elbow", "states.mat", "folder"):
        with pytest.raises(typer.BadParameter, match="expected numbers, joint=value pairs"):
            configuration(ARM, text, "--q")
    with pytest.raises(typer.BadParameter, match="'pi/0'; expected a number"):
        configuration(ARM, "pi/0,0,0,0,0,0", "--q")
    dog = kt.load("quadruped", base="floating")
    with pytest.raises(kt.ArgumentError, match=r"has 7 coordinates; expected floating_base\[0\] to floating_base\[6\]"):
        configuration(dog, "floating_base=1", "--q")


def test_json_has_no_infinity():
    assert plain({"a": (np.array([1.0, np.inf]), np.float64(np.nan), np.bool_(True), None)}) == {
        "a": [[1.0, None], None, True, None]
    }
