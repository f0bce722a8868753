"""Whatever is wrong with files and numbers: one sentence, the right exit code, JSON where it was asked for.

Covers: base/files.py.
"""

import json
import os

import numpy as np
import pytest

from kinetree.base.files import replaced, why_not_written, write_text

WRONG = {
    "ik arm6 tool0 -p 0.4,0.2,1e308": (1, "target has entries beyond 1e+150"),
    "ik arm6 tool0 -p 0.4,0.2,0.5 --quaternion 0,0,0,0": (1, "quaternion has norm 0"),
    "dynamics arm6 --out x.txt": (2, "expected a name that ends with .npz"),
    "dynamics arm6 --out nowhere/x.npz": (1, "--out is nowhere/x.npz: there is no folder nowhere"),
    "dynamics arm6 mass_matrix --frame tool0": (
        1,
        "expected none, because mass_matrix is a quantity of the whole robot",
    ),
    "simulate arm6 --seconds inf": (2, "inf; expected a positive number"),
    "simulate arm6 --seconds 0": (2, "0; expected a positive number"),
    "simulate arm6 --seconds 1e9": (1, "1e+12 steps; expected at most 2e+07"),
    "simulate arm6 --dt 1e-300": (1, "2e+300 steps"),
    "simulate arm6 --dt 5": (2, "expected a step no longer than --seconds, 2"),
    "simulate arm6 --frequency -1": (2, "-1; expected a positive number"),
    "simulate arm6 --q many.json": (1, "--q has states of shape (3,); expected one state"),
    "simulate arm6 --plot picture": (2, "expected a name that ends with .png"),
    "simulate arm6 --plot nowhere/x.png": (1, "there is no folder nowhere"),
    "simulate still.urdf": (1, "'r' has no joint that moves, so there is nothing to simulate"),
    "export arm6 nowhere/x.urdf": (1, "FILE is nowhere/x.urdf: there is no folder nowhere"),
    "export arm6 --to listing --quantity mass_matrix --frame tool0": (1, "of the whole robot; expected no --frame"),
    "equations planar2 --out nowhere/x.py": (1, "there is no folder nowhere"),
    "convert arm6 q --to foo": (1, "--to is 'foo'; expected 'pinocchio'"),
    "view arm6 --html nowhere/x.html": (1, "there is no folder nowhere"),
    "info nowhere.urdf": (1, "nowhere.urdf does not exist; expected a model file"),
    "check .": (1, "is a folder; expected a model file"),
    "bench planar2 --frame nobody": (1, "frame 'nobody' does not exist"),
    "cache warm planar2 -q nothing": (1, "quantity 'nothing' does not exist"),
}


@pytest.mark.parametrize("line", WRONG)
def test_a_sentence_also_as_json(cli, line, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many.json").write_text(json.dumps({"q": np.zeros((3, 6)).tolist()}))
    (tmp_path / "still.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    code, sentence = WRONG[line]
    run = cli(*line.split(), "--json", code=code)
    assert sentence in json.loads(run.stdout)["error"]
    said = " ".join(run.stderr.replace("│", " ").split())
    assert sentence in said and "Errno" not in said


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "robot.urdf"
    write_text(path, "old")
    path.chmod(0o640)
    with pytest.raises(RuntimeError), replaced(path) as file:
        file.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["robot.urdf"]
    link = tmp_path / "link.urdf"
    link.symlink_to(path)
    write_text(link, "new")
    assert link.is_symlink() and path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_as_it_is():
    write_text(os.devnull, "nothing")
    assert not os.path.isfile(os.devnull)


def test_why_a_file_is_not_written(tmp_path):
    with pytest.raises(IsADirectoryError) as found:
        write_text(tmp_path, "x")
    assert why_not_written(found.value) == f"{tmp_path} is a folder; expected the name of a file"
    with pytest.raises(FileNotFoundError) as missing:
        write_text(tmp_path / "a" / "b", "x")
    assert why_not_written(missing.value).endswith(f"b cannot be written: there is no folder {tmp_path / 'a'}")
    refused = PermissionError(13, "Permission denied", str(tmp_path / "c"))
    assert why_not_written(refused).endswith("c cannot be written: permission denied")


def test_a_folder_that_takes_no_files(cli, monkeypatch, tmp_path):
    """The old file is still there, and the error names the file, not the temporary one."""

    def refuse(target):
        raise PermissionError(13, "Permission denied", "temporary")

    (tmp_path / "arm.urdf").write_text("old")
    monkeypatch.setattr("kinetree.base.files._new_beside", refuse)
    for line in ("export arm6", "simulate planar2 --seconds 0.01 --out", "dynamics planar2 --out"):
        name = tmp_path / ("arm.urdf" if "export" in line else "states.npz")
        run = cli(*line.split(), name, code=1)
        assert run.stderr == f"error: {name} cannot be written: permission denied\n"
    assert (tmp_path / "arm.urdf").read_text() == "old"


def test_warnings_are_sentences(shell, tmp_path):
    (tmp_path / "file").touch()
    run = shell("dynamics", "planar2", "mass_matrix", env={"KINETREE_CACHE_DIR": str(tmp_path / "file")})
    assert run.stderr.startswith("warning: compiled code is not kept in ") and ".py" not in run.stderr
