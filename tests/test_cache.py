"""`kinetree.cache`: where compiled code is, how much there is, how to empty it and to fill it ahead."""

import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from declared import kernels_of
from kinetree.compiler.runtime import cache as disk
from kinetree.compiler.runtime import native
from kinetree.robot.quantity import quantities_of
from processes import run

STONE = '<robot name="stone"><link name="stone"/></robot>'


@pytest.fixture
def where(tmp_path, monkeypatch):
    """A folder that does not exist yet; native calls have been tried out before, so that it will hold kernels only."""
    native.available()
    kt.load("planar2").mass_matrix(np.zeros(2))
    for name in (disk.SWITCH, disk.BOUND):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(disk.FOLDER, str(tmp_path / "cache"))
    monkeypatch.setattr(disk, "_warned", threading.Lock())
    return tmp_path / "cache"


def test_the_tests_keep_to_a_folder_of_their_own():
    """Also this one's workers and children, by the environment."""
    assert kt.cache.where() == Path(os.environ["KINETREE_CACHE_DIR"])
    assert run("import kinetree; print(kinetree.cache.where())").strip() == os.environ["KINETREE_CACHE_DIR"]


def test_where_is_what_the_environment_says(where, monkeypatch, tmp_path):
    assert kt.cache.where() == where and not where.exists()
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "other"))
    assert kt.cache.where() == tmp_path / "other"
    monkeypatch.delenv("KINETREE_CACHE_DIR")
    assert kt.cache.where().parts[-1] in ("kinetree", "Cache") and kt.cache.where() != where
    monkeypatch.setenv("KINETREE_CACHE", "0")
    assert kt.cache.where() is None


def test_size_grows_and_clear_empties(where):
    assert (kt.cache.size(), kt.cache.clear()) == (0, 0)
    robot = kt.load("planar2")
    one = robot.mass_matrix(np.zeros(2))
    first = kt.cache.size()
    assert first > 1000
    robot.mass_matrix(np.zeros((3, 2)))
    assert kt.cache.size() == sum(path.stat().st_size for path in where.iterdir()) > first
    assert kt.cache.clear() == 3  # a record, code for one state and for batches
    assert kt.cache.size() == 0 and not list(where.iterdir())
    assert np.array_equal(robot.mass_matrix(np.zeros(2)), one)
    assert kt.cache.size() == 0  # it was still in memory
    kt.load("planar2").mass_matrix(np.zeros(2))
    assert kt.cache.size() == first


ALL = """
import sys
import numpy as np
import kinetree as kt
from declared import OF_ROBOT

robot = kt.load(*sys.argv[1:])
for size in ((), (3,)):
    for name, quantity in OF_ROBOT.items():
        if quantity.is_large:
            continue
        inputs = [robot.random(0, size) if n.startswith("q") else np.ones((*size, robot.nv)) for n in quantity.inputs]
        getattr(robot, name)(*inputs)
print("traced" if "kinetree.compiler.program" in sys.modules else "loaded")
"""


@pytest.mark.sweep
def test_a_process_after_warm_never_traces(where):
    kt.cache.warm(kt.load("planar2", "floating"))
    assert len(list(where.iterdir())) == 3 * sum(not quantity.is_large for quantity in quantities_of(kt.Robot).values())
    assert run(ALL, "planar2", "floating").strip() == "loaded"
    assert run(ALL, "planar2", "fixed").strip() == "traced"


def test_warm_makes_just_what_is_asked_for(where):
    robot = kt.load("planar2")
    kt.cache.warm(robot, "mass_matrix", batch=False)
    assert len(list(where.iterdir())) == 2  # a record, and code for one state
    kt.cache.warm(robot, "mass_matrix", "poses")
    assert len(list(where.iterdir())) == 6
    before = {path.name: path.stat().st_mtime_ns for path in where.iterdir()}
    kt.cache.warm(kt.load("planar2"), "mass_matrix", "poses")
    assert {path.name: path.stat().st_mtime_ns for path in where.iterdir()} == before
    for _ in range(5):
        kt.cache.warm(robot, "mass_matrix", "poses")
    assert all(len(function._prepared) == 1 for function in robot._functions.values())


@pytest.mark.parametrize("name", ["mass_matrx", "", 3, None, ["poses"]])
def test_an_unknown_quantity_is_said_before_anything_is_done(where, name):
    robot = kt.load("planar2")
    for call in (kt.cache.warm, kt.Robot.prepare):
        with pytest.raises(kt.UnknownNameError, match=r"^quantity .* does not exist; "):
            call(robot, "mass_matrix", name)
    with pytest.raises(kt.UnknownNameError, match="did you mean 'mass_matrix'"):
        kt.cache.warm(robot, "poses", "mass_matrx")
    with pytest.raises(kt.UnknownNameError, match=r"^quantity .* does not exist; "):
        robot.frame("tip").prepare("pose", name)
    assert not where.exists() and not kernels_of(robot)


def test_what_is_no_robot(where):
    with pytest.raises(kt.ArgumentTypeError, match=r"^robot is 'planar2'; expected a kinetree\.Robot$"):
        kt.cache.warm("planar2")


@pytest.mark.sweep
def test_a_robot_without_mass_has_no_centre_of_mass_to_prepare(where):
    stone = kt.load(STONE)
    kt.cache.warm(stone)
    count = len(list(where.iterdir()))
    for call in (kt.cache.warm, kt.Robot.prepare):
        with pytest.raises(kt.ArgumentError, match="'stone' has no moving mass"):
            call(stone, "poses", "center_of_mass")
    assert len(list(where.iterdir())) == count > 0


def test_switched_off(where, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE", "0")
    robot = kt.load("planar2")
    kt.cache.warm(robot, "mass_matrix")
    assert robot.mass_matrix(np.zeros(2)).shape == (2, 2)
    assert (kt.cache.where(), kt.cache.size(), kt.cache.clear()) == (None, 0, 0)
    assert not where.exists()


def test_an_eager_robot_has_nothing_to_keep(where):
    kt.cache.warm(kt.load("planar2").eager)
    assert not where.exists()


class Screen:
    """Standard error that may be a terminal."""

    def __init__(self, terminal):
        self.terminal, self.text = terminal, ""

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_is_for_terminals(where, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Screen(True))
    kt.cache.warm(kt.load("planar2"), "mass_matrix", "poses")
    assert sys.stderr.text == "\r\x1b[K[1/2] mass_matrix\r\x1b[K[2/2] poses\r\x1b[K"
    for quiet in (Screen(False), None):
        monkeypatch.setattr(sys, "stderr", quiet)
        kt.cache.warm(kt.load("planar2"), "mass_matrix")
        assert quiet is None or quiet.text == ""


def test_an_interrupt_leaves_a_clean_line(where, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stderr", Screen(True))
    monkeypatch.setattr("kinetree.robot.quantity.QuantityFunction.specialization", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kt.cache.warm(kt.load("planar2"))
    assert sys.stderr.text.endswith("\r\x1b[K") and not where.exists()
