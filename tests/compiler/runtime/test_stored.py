"""Kernels on disk: the next process loads them without tracing; any change leads to others; damage to new ones.

Covers: compiler/runtime/code.py, functions/identity.py, functions/specialization.py.
"""

import errno
import os
import pickle
import platform
import re
import shutil
import stat
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from forbidden import counted
from kinetree.compiler.runtime import cache, native, stored
from kinetree.compiler.runtime.jit import host
from kinetree.compiler.runtime.target import NAMED, architecture
from kinetree.functions import specialization
from processes import run
from targets import RUNNABLE

SOURCE = Path(kt.__file__).parent
posix = pytest.mark.skipif(os.name != "posix", reason="about owners, modes and links")


@pytest.fixture(autouse=True)
def where(tmp_path, monkeypatch):
    """A folder that does not exist yet, no settings of the user's, and a process that has not warned."""
    native.available()  # its own code is not the subject here
    kt.load("planar2").mass_matrix(np.zeros(2))
    for name in (cache.SWITCH, cache.BOUND):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_warned", threading.Lock())
    return tmp_path / "cache"


def contents(where):
    return {path.name: path.read_bytes() for path in where.iterdir()} if where.exists() else {}


# -- the next process -------------------------------------------------------------------------------------------------

WORK = """
import hashlib, sys
import numpy as np
import kinetree as kt
from forbidden import forbid_compiling

if sys.argv[1] == "warm":
    forbid_compiling()
rng = np.random.default_rng(0)
lines = []
for base in ("fixed", "floating"):
    robot = kt.load(sys.argv[2], base)
    tool, push = robot.frame("tool0"), {"tool0": rng.normal(size=6), "forearm_link": kt.Wrench(np.ones(6), "local")}
    for size in ((), (5,)):
        q, v, a = robot.random(rng, size), rng.normal(size=(*size, robot.nv)), rng.normal(size=(*size, robot.nv))
        results = [
            robot.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a, push), robot.forward_dynamics(q, v, a),
            tool.jacobian(q, "local"), tool.acceleration(q, v, a, "world", "spatial"),
        ]
        again = robot.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a, push), tool.jacobian(q, "local")
        assert all(np.array_equal(x, results[k]) for x, k in zip(again, (0, 1, 3)))
        lines += [x.tobytes().hex() for x in results]
print("\\n".join(lines))
print("traced" if "kinetree.compiler.program" in sys.modules else "loaded")
"""


@pytest.mark.sweep
def test_the_next_process_loads_what_this_one_has_compiled(where, tmp_path):
    """The same bits, from the same file in another place, whatever Python hashes strings with; and no address of the
    process in what is kept, since another one keeps the same bytes."""
    model = tmp_path / "elsewhere" / "other.urdf"
    model.parent.mkdir()
    shutil.copy(SOURCE / "robots" / "arm6.urdf", model)
    *cold, how = run(WORK, "cold", "arm6", PYTHONHASHSEED=1).split()
    assert how == "traced"
    kept = contents(where)
    assert len(kept) >= 20
    *warm, how = run(WORK, "warm", model, cwd=model.parent, PYTHONHASHSEED=2).split()
    assert (how, warm) == ("loaded", cold)
    assert contents(where) == kept
    *fresh, _ = run(WORK, "cold", "arm6", PYTHONHASHSEED=3, KINETREE_CACHE_DIR=tmp_path / "fresh").split()
    assert fresh == cold
    assert contents(tmp_path / "fresh") == kept
    *off, how = run(WORK, "cold", "arm6", KINETREE_CACHE="0", KINETREE_CACHE_DIR=tmp_path / "off").split()
    assert (how, off) == ("traced", cold)
    assert not (tmp_path / "off").exists()
    *python, how = run(WORK, "warm", "arm6", KINETREE_NATIVE="0").split()
    assert (how, python) == ("loaded", cold)


LAW = """
import sys
import numpy as np
import kinetree as kt
from forbidden import forbid_compiling

if sys.argv[1] == "warm":
    forbid_compiling()

@kt.compile(shapes={"gain": ()})
def law(robot, q, v, gain):
    return robot.gravity_forces(q) - gain * v - float(sys.argv[2]) * q

robot = kt.load("arm6")
q = robot.random(0, 5)
print(law(robot, q[0], q[1], 3.0).tobytes().hex(), law(robot, q, q, 3.0).tobytes().hex())
"""


@pytest.mark.sweep
def test_compiled_functions_are_known_by_their_graph(where):
    """They are traced again, since what they do is known only then, but not compiled again."""
    cold = run(LAW, "cold", 7.0, PYTHONHASHSEED=1)
    kept = contents(where)
    assert run(LAW, "warm", 7.0, PYTHONHASHSEED=2) == cold
    assert contents(where) == kept
    assert run(LAW, "cold", 7.1) != cold
    assert kept.items() < contents(where).items()


# -- one name for one function ----------------------------------------------------------------------------------------


class Asked(Exception):
    """Carries the name under which code was looked for."""


@pytest.fixture
def name_of():
    """The key under which a call looks for its code first; it is found out without replacing anything."""

    def look(frame, event, argument):
        if event == "call" and frame.f_code is cache.read.__code__:
            raise Asked(frame.f_locals["key"])

    def name(call):
        sys.setprofile(look)
        try:
            call()
        except Asked as asked:
            return asked.args[0]
        finally:
            sys.setprofile(None)
        raise AssertionError("nothing was looked for")

    return name


def arm(text=None, **options):
    return kt.load(text or "arm6", **options)


def gravity(robot):
    return lambda: robot.gravity_forces(robot.neutral())


def bias(robot, wrenches=None):
    return lambda: robot.bias_forces(robot.neutral(), np.zeros(robot.nv), wrenches)


def acceleration(robot, frame, *options):
    return lambda: robot.frame(frame).acceleration(robot.neutral(), *np.zeros((2, robot.nv)), *options)


def heavier():
    text = (SOURCE / "robots" / "arm6.urdf").read_text()
    changed, count = re.subn(r'<mass value="([0-9.]+)"', lambda mass: mass[0][:-1] + '1"', text, count=1)
    assert count == 1 and changed != text
    return changed


def test_whatever_changes_the_function_changes_its_name(name_of):
    six, local = np.zeros(6), kt.Wrench(np.zeros(6), "local")
    names = {
        "one state": name_of(gravity(arm())),
        "another quantity": name_of(lambda: arm().mass_matrix(np.zeros(6))),
        "another mass": name_of(gravity(arm(heavier()))),
        "floating": name_of(gravity(arm(base="floating"))),
        "floating, mixed": name_of(gravity(arm(base="floating", base_velocity="mixed"))),
        "floating, another order": name_of(gravity(arm(base="floating", spatial_order="angular-first"))),
        "another gravity": name_of(gravity(arm(gravity=(0.0, 0.0, -1.62)))),
        "a joint kept": name_of(gravity(arm(keep_fixed=["tool_mount"]))),
        "a frame": name_of(acceleration(arm(), "tool0")),
        "another frame": name_of(acceleration(arm(), "forearm_link")),
        "another reference": name_of(acceleration(arm(), "tool0", "local")),
        "another kind": name_of(acceleration(arm(), "tool0", "local", "spatial")),
        "no wrench": name_of(bias(arm())),
        "a wrench": name_of(bias(arm(), {"tool0": six})),
        "a wrench in another reference": name_of(bias(arm(), {"tool0": local})),
        "a wrench elsewhere": name_of(bias(arm(), {"forearm_link": six})),
        "two wrenches": name_of(bias(arm(), {"tool0": six, "forearm_link": six})),
    }
    assert len(set(names.values())) == len(names)
    assert all(re.fullmatch("[0-9a-f]{88}", name) for name in names.values())


def test_whatever_makes_the_code_changes_its_name(name_of, monkeypatch):
    monkeypatch.setattr(stored, "replaced", frozenset)  # what follows would count as such
    names = [name_of(gravity(arm()))]
    for owner, attribute, value in (
        (stored, "versions", lambda: "llvmlite 0.0, LLVM 0.0.0"),
        (stored, "_SOURCES", "another text"),
        (np, "__version__", "0.0"),
        (platform, "machine", lambda: "another"),
        *((specialization, "host", lambda cpu, name=name: host(name)) for name in NAMED[architecture()]),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, attribute, value)
            names.append(name_of(gravity(arm())))
    assert len(set(names)) == len(names)
    assert name_of(gravity(arm())) == names[0]


def test_the_name_of_the_same_function_is_the_same(name_of, tmp_path):
    file = tmp_path / "renamed.urdf"
    shutil.copy(SOURCE / "robots" / "arm6.urdf", file)
    name = name_of(gravity(arm()))
    copied = pickle.loads(pickle.dumps(arm()))
    for same in (arm(), arm(file), arm(file.read_text()), arm(gravity=[0, 0, -9.81]), copied):
        assert name_of(gravity(same)) == name
    assert name_of(lambda: arm().gravity_forces(q=[0] * 6, out=np.zeros(6))) == name
    batch = name_of(lambda: arm().gravity_forces(np.zeros((3, 6))))
    assert name_of(lambda: arm().gravity_forces(np.zeros((2, 2, 6)))) == batch
    assert name_of(lambda: arm().prepare("gravity_forces", batch=True)) == batch
    six = np.zeros(6)
    two = name_of(bias(arm(), {"tool0": six, "forearm_link": six}))
    assert name_of(bias(arm(), {"forearm_link": kt.Wrench(six), "tool0": six})) == two
    assert name_of(lambda: arm().frame("tool0").prepare("acceleration")) == name_of(acceleration(arm(), "tool0"))


# -- the library itself changes ---------------------------------------------------------------------------------------

ENERGY = """
import sys
import kinetree as kt
assert kt.__file__.startswith(sys.argv[1]), kt.__file__
if len(sys.argv) > 2:
    with open(sys.argv[2], "a") as file:
        file.write("# edited while it runs\\n")
robot = kt.load("planar2")
print(robot.kinetic_energy([0.1, 0.2], [1.0, 1.0]), "kinetree.compiler.program" in sys.modules)
"""


@pytest.fixture
def copy(tmp_path):
    """The package in another place, where it may be changed."""
    place = tmp_path / "library"
    shutil.copytree(SOURCE, place / "kinetree", ignore=shutil.ignore_patterns("__pycache__"))

    def energy(*arguments):
        path = os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])
        value, traced = run(ENERGY, place, *arguments, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1").split()
        return float(value), traced == "True"

    return place / "kinetree", energy


@pytest.mark.sweep
def test_other_sources_other_code(copy, where):
    place, energy = copy
    file = place / "algorithms" / "energy.py"
    right, traced = energy()
    assert traced and energy() == (right, False)
    file.write_text(file.read_text() + "# a comment, which might matter\n")
    assert energy() == (right, True)
    before = len(contents(where))
    text = file.read_text()
    assert text.count("0.5 *") == 1
    file.write_text(text.replace("0.5 *", "1.5 *"))
    wrong, traced = energy()
    assert traced and abs(wrong - 3.0 * right) < 1e-12
    file.write_text(text)
    assert energy() == (right, False)
    assert len(contents(where)) > before


@pytest.mark.sweep
def test_sources_that_change_meanwhile(copy, where):
    """What runs is no longer what is there: nothing is kept, since the next process would take it for that."""
    place, energy = copy
    right, traced = energy(place / "compiler" / "graph" / "passes" / "fold.py")
    assert traced and contents(where) == {}
    assert energy() == (right, True)
    assert contents(where)


@pytest.mark.sweep
def test_no_sources_at_all(copy, where):
    """Only compiled files, as some ship them: nothing would tell one version from another."""
    place, energy = copy
    right, _ = energy()
    kept = contents(where)
    run("import compileall, sys; assert compileall.compile_dir(sys.argv[1], quiet=2, legacy=True)", place)
    for path in place.rglob("*.py"):
        path.unlink()
    assert energy() == (right, True)
    assert contents(where) == kept


def test_sources_that_cannot_be_read(monkeypatch, where):
    def refuse(*arguments):
        raise PermissionError(errno.EACCES, "no")

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", refuse)
        assert stored._sources() == ""
    monkeypatch.setattr(stored, "_SOURCES", "")
    assert kt.load("planar2").kinetic_energy([0.1, 0.2], [1.0, 1.0]) > 0.0
    assert contents(where) == {}


# -- damage -----------------------------------------------------------------------------------------------------------

Q = np.array([[0.3, -0.7]] * 3)


def computed(count=1, dtype="float64"):
    """Results of fresh robots, which look for their code on the disk, and how often they had to trace."""
    with counted(specialization.Specialization._run) as traced:
        for _ in range(count):
            robot = kt.load("planar2", dtype=dtype)
            results = [robot.mass_matrix(Q[0]), robot.mass_matrix(Q), robot.frame("tip").pose(Q[0])]
    return [result.tobytes() for result in results], len(traced)


@pytest.fixture
def right(where):
    """The right results; the entries are on the disk."""
    results, traced = computed()
    assert traced == 2 and len(contents(where)) == 5  # two records, and code for one state and a batch
    assert computed() == (results, 0)
    return results


def changed(function):
    def damage(where):
        for path in where.iterdir():
            path.write_bytes(function(path.read_bytes()))

    return damage


def flipped(position):
    def flip(data):
        changed = bytearray(data)
        changed[position if position < 0 else position % len(changed)] ^= 16
        return bytes(changed)

    return changed(flip)


def replaced_by_folders(where):
    for path in where.iterdir():
        path.unlink()
        path.mkdir()


def replaced_by_links(where):
    for path in list(where.iterdir()):
        elsewhere = where.parent / path.name
        path.rename(elsewhere)
        path.symlink_to(elsewhere)


def exchanged(where):
    paths = sorted(where.iterdir())
    data = [path.read_bytes() for path in paths]
    for path, other in zip(paths, data[1:] + data[:1], strict=True):
        path.write_bytes(other)


DAMAGES = {
    "emptied": changed(lambda data: b""),
    "half": changed(lambda data: data[: len(data) // 2]),
    "one byte short": changed(lambda data: data[:-1]),
    "one byte more": changed(lambda data: data + b"\0"),
    "a bit of the head": flipped(3),
    "a bit of the checksum": flipped(40),
    "a bit of the number of operations": flipped(72),
    "a bit of the code": flipped(600),
    "the last bit": flipped(-1),
    "zeros": changed(lambda data: bytes(len(data))),
    "of another name": exchanged,
    "links": replaced_by_links,
    "gone": shutil.rmtree,
}


@posix
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.sampled(15)
def test_damaged_code_is_made_anew(where, right, damage):
    sound = contents(where)
    damage(where)
    assert computed() == (right, 2)
    assert contents(where) == sound
    assert computed() == (right, 0)


def unwritable(patch):
    def refuse(path, flags, *arguments, **named):
        if flags & os.O_CREAT:
            raise OSError(errno.EACCES, "Permission denied")
        return real(path, flags, *arguments, **named)

    real = os.open
    patch.setattr(os, "open", refuse)


def full(patch):
    def refuse(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    patch.setattr(os, "write", refuse)


def foreign(patch):
    real = os.fstat

    def other(descriptor):
        status = real(descriptor)
        return os.stat_result([*status[:4], status.st_uid + 1, *status[5:]])

    patch.setattr(os, "fstat", other)


def emptied(where):
    shutil.rmtree(where)
    where.mkdir(0o700)


OBSTACLES = {
    "entries of another user": (lambda where: None, foreign, r"belongs to another user"),
    "a folder that others may write": (lambda where: where.chmod(0o777), None, r"by others \(mode 777\)"),
    "a folder for an entry": (replaced_by_folders, None, r"cannot be written"),
    "a file for the folder": (lambda where: (shutil.rmtree(where), where.touch()), None, r"is not a folder"),
    "a link to nowhere": (lambda where: (shutil.rmtree(where), where.symlink_to("gone")), None, r"cannot be made"),
    "a folder that cannot be written": (emptied, unwritable, r"cannot be written \(Permission denied\)"),
    "a full disk": (emptied, full, r"cannot be written \(No space left on device\)"),
}


@posix
@pytest.mark.parametrize(("damage", "patch", "sentence"), OBSTACLES.values(), ids=OBSTACLES)
@pytest.mark.sampled(4)
def test_a_folder_that_cannot_be_used_is_said_once(where, right, monkeypatch, damage, patch, sentence):
    damage(where)
    with monkeypatch.context() as context, pytest.warns(kt.CacheWarning, match=sentence) as caught:
        if patch is not None:
            patch(context)
        assert computed(count=3) == (right, 6)
    assert len(caught) == 1


@posix
def test_entries_that_others_may_have_written_are_replaced(where, right):
    sound = contents(where)
    for path in where.iterdir():
        path.chmod(0o666)
    with pytest.warns(kt.CacheWarning, match=r"may be written by others \(mode 666\)") as caught:
        assert computed(count=3) == (right, 2)
    assert len(caught) == 1 and contents(where) == sound
    assert {stat.S_IMODE(path.stat().st_mode) for path in where.iterdir()} == {0o600}


@posix
def test_a_folder_linked_away_to_one_that_is_ours(where, right, tmp_path):
    where.rename(tmp_path / "away")
    where.symlink_to(tmp_path / "away")
    assert computed() == (right, 0)


def test_code_for_another_cpu_is_not_run(where, right, monkeypatch):
    kept = contents(where)
    lesser = host(RUNNABLE[-1])
    monkeypatch.setattr(specialization, "host", lambda cpu: lesser)
    results, traced = computed()
    assert traced == 2
    for result, expected in zip(results, right, strict=True):
        np.testing.assert_allclose(np.frombuffer(result), np.frombuffer(expected), rtol=1e-14, atol=1e-14)
    both = contents(where)
    assert len(both) == len(kept) + 3 and kept.items() < both.items()


@pytest.mark.sweep
def test_code_for_float32_has_entries_of_its_own(where, right):
    kt.load("planar2", dtype="float32").mass_matrix(Q)  # the entry for calls is not the subject here
    for path in where.iterdir():
        path.unlink()
    assert computed()[1] == 2
    both, traced = computed(dtype="float32")
    assert traced == 2 and both != right and len(contents(where)) == 10
    assert computed(dtype="float32") == (both, 0) and computed() == (right, 0)


def test_entries_are_private(where, right):
    assert {stat.S_IMODE(path.stat().st_mode) for path in where.iterdir()} == {0o600}
    assert stat.S_IMODE(where.stat().st_mode) == 0o700


def test_a_folder_deleted_between_two_calls(where, right):
    robot = kt.load("planar2")
    assert robot.mass_matrix(Q[0]).tobytes() == right[0]
    shutil.rmtree(where)
    assert robot.mass_matrix(Q[0]).tobytes() == right[0]
    assert robot.mass_matrix(Q).tobytes() == right[1]
    assert len(contents(where)) == 1
