"""`kinetree.cache`: where compiled code is, how much there is, how to empty it and to fill it ahead."""

import hashlib
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
from kinetree.compiler.runtime.target import NAMED, architecture
from kinetree.robot.quantity import quantities_of
from processes import run
from targets import RUNNABLE

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


# -- other machines ----------------------------------------------------------------------------------------------------

CPU = RUNNABLE[2] if len(RUNNABLE) > 2 else RUNNABLE[-1]
"""Another CPU than this machine's own, which it can run: x86-64-v2, or armv8-a."""

MAKE = """
import sys
import numpy as np
import kinetree as kt

robot = kt.load("planar2")
print(robot.mass_matrix(np.ones(2)).tobytes().hex(), robot.mass_matrix(np.ones((5, 2))).tobytes().hex())
kt.cache.export_archive(sys.argv[1])
"""
USE = """
import sys
import numpy as np
import kinetree as kt
from forbidden import forbid_compiling

print(*(kt.cache.import_archive(name).added for name in sys.argv[1:]))
forbid_compiling()
robot = kt.load("planar2")
print(robot.mass_matrix(np.ones(2)).tobytes().hex(), robot.mass_matrix(np.ones((5, 2))).tobytes().hex())
print(type(robot.mass_matrix).__name__, "kinetree.compiler.program" in sys.modules)
"""


def test_what_one_machine_has_compiled_another_one_loads(where, tmp_path):
    """A process with this CPU compiles and exports; another one, with an empty cache, imports, and compiles nothing."""
    file = tmp_path / "fleet.cache"
    made = run(MAKE, file, KINETREE_CPU=CPU)
    used = run(USE, file, KINETREE_CPU=CPU, KINETREE_CACHE_DIR=tmp_path / "robot").splitlines()
    assert used[0] == str(len(list(where.iterdir()))) and used[1] == made.strip()
    assert used[2] == ("builtin_function_or_method False" if native.available() else "method False")
    with pytest.raises(AssertionError, match="AssertionError: compiled"):
        run(USE, KINETREE_CPU=CPU, KINETREE_CACHE_DIR=tmp_path / "empty")
    with pytest.raises(AssertionError, match="AssertionError: compiled"):
        run(USE, file, KINETREE_CPU=None, KINETREE_CACHE_DIR=tmp_path / "another CPU")


@pytest.mark.sweep
def test_code_for_named_cpus_is_what_these_would_make(where, tmp_path):
    """Made here for all CPUs that have a name, also for those that cannot run here; exported each for itself."""
    robot = kt.load("planar2")
    cpus = list(NAMED[architecture()])
    kt.cache.warm(robot, "mass_matrix", cpus=cpus)
    assert not kernels_of(robot), "none of it was loaded"
    files = [tmp_path / name for name in cpus]
    found = [kt.cache.export_archive(path, cpus=[name]) for path, name in zip(files, cpus, strict=True)]
    assert [archive.cpus for archive in found] == [
        {name: 5} for name in cpus
    ]  # kernels, record, and two of native calls
    both = kt.cache.export_archive(tmp_path / "all", cpus=cpus)
    assert both.entries == 5 * len(cpus) == len(list(where.iterdir()))
    assert both.bytes == (tmp_path / "all").stat().st_size
    assert both.sha256 == hashlib.sha256((tmp_path / "all").read_bytes()).hexdigest()
    made = run(MAKE, tmp_path / "by itself", KINETREE_CPU=CPU, KINETREE_CACHE_DIR=tmp_path / "by itself.cache")
    used = run(USE, tmp_path / CPU, KINETREE_CPU=CPU, KINETREE_CACHE_DIR=tmp_path / "robot").splitlines()
    assert used[:2] == ["5", made.strip()]
    assert (tmp_path / CPU).read_bytes() == (tmp_path / "by itself").read_bytes()


PROGRAM = """
import sys
import numpy as np
import kinetree as kt
from forbidden import forbid_compiling

if sys.argv[1] == "use":
    kt.cache.import_archive(sys.argv[2])
    forbid_compiling()
robot = kt.load("arm6")
q, v = robot.neutral(), np.zeros(6)
results = [robot.gravity_forces(robot.random(0, 100_000)).sum(axis=0), robot.frame("tool0").jacobian(q, "local")]
law = kt.compile(lambda robot, q, v: robot.gravity_forces(q) - 3.0 * v)
controller = kt.control.ComputedTorque(robot, stiffness=100.0)
results += [law(robot, q, v), controller(q, v, q + 0.1), robot.rollout(q, v, law, dt=1e-3, steps=5).q]
results += [robot.ik("tool0", robot.frame("tool0").pose(q + 0.3), q0=q).q]
results += [kt.ik.DifferentialIK(robot, kt.ik.Pose("tool0"))(q, robot.frame("tool0").pose(q + 0.01))]
if sys.argv[1] == "make":
    kt.cache.export_archive(sys.argv[2])
print(b"".join(np.asarray(result).tobytes() for result in results).hex())
"""


@pytest.mark.sweep
def test_an_archive_has_all_that_a_program_compiles(where, tmp_path):
    made = run(PROGRAM, "make", tmp_path / "fleet.cache", KINETREE_CPU=CPU)
    used = run(PROGRAM, "use", tmp_path / "fleet.cache", KINETREE_CPU=CPU, KINETREE_CACHE_DIR=tmp_path / "robot")
    assert used == made


def test_an_import_merges(where, tmp_path):
    robot = kt.load("planar2")
    kt.cache.warm(robot, "mass_matrix", batch=False)
    first = kt.cache.export_archive(tmp_path / "first")
    assert kt.cache.import_archive(tmp_path / "first") == first and first.added == 0
    kt.cache.warm(robot, "poses", batch=False)
    second = kt.cache.export_archive(tmp_path / "second")
    kt.cache.clear()
    assert kt.cache.import_archive(tmp_path / "first").added == first.entries == 2
    assert kt.cache.import_archive(tmp_path / "second", sha256=second.sha256).added == 2
    assert second.entries == 4 == len(list(where.iterdir()))


def test_archives_that_are_refused(where, tmp_path, monkeypatch):
    file = tmp_path / "fleet.cache"
    with pytest.raises(kt.ArgumentError, match=r"^the cache holds no code of this installation$"):
        kt.cache.export_archive(file)
    kt.cache.warm(kt.load("planar2"), "mass_matrix", batch=False)
    with pytest.raises(kt.ArgumentError, match=rf"^the cache holds no code for {CPU}$"):
        kt.cache.export_archive(file, cpus=iter([CPU]))
    with pytest.raises(kt.ArgumentError, match=r"^cpu is 'z80'; expected "):
        kt.cache.export_archive(file, cpus=["z80"])
    with pytest.raises(kt.ArgumentTypeError, match=r"^cpus is 'x86-64-v3'; expected a list of names$"):
        kt.cache.warm(kt.load("planar2"), cpus="x86-64-v3")
    assert not file.exists()
    kt.cache.export_archive(file)
    with pytest.raises(kt.ArgumentTypeError, match=r"^path is 3; expected the name of a file$"):
        kt.cache.import_archive(3)
    with pytest.raises(kt.ArgumentTypeError, match=r"^sha256 is b'00'; expected 64 hexadecimal digits$"):
        kt.cache.import_archive(file, sha256=b"00")
    kt.cache.clear()
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(kt.ArgumentError, match=r"fleet\.cache is damaged at byte .*; nothing was imported$"):
        kt.cache.import_archive(str(file))
    assert not list(where.iterdir())
    monkeypatch.setenv("KINETREE_CACHE", "0")
    for call in (lambda: kt.cache.import_archive(file), lambda: kt.cache.warm(kt.load("planar2"), cpus=[CPU])):
        with pytest.raises(kt.ArgumentError, match=r"^the cache is switched off"):
            call()


@pytest.mark.skipif(os.name != "posix", reason="about modes")
def test_an_archive_cannot_be_written_by_others(where, tmp_path):
    kt.cache.warm(kt.load("planar2"), "mass_matrix", batch=False)
    before = os.umask(0)
    try:
        kt.cache.export_archive(tmp_path / "fleet.cache")
    finally:
        os.umask(before)
    assert (tmp_path / "fleet.cache").stat().st_mode & 0o777 == 0o644
