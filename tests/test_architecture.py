"""Which module may import which: layers, two columns that meet in `functions`, one place for each foreign library."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kinetree
from kinetree import compiler

SOURCE, TESTS = Path(kinetree.__file__).parent, Path(__file__).parent

LAYERS = (
    ("errors", "ops", "base"),  # what everything may import
    ("linalg",),
    ("spatial",),
    ("model",),
    ("solids",),
    ("algorithms",),
    ("compiler",),
    ("functions",),
    ("robot",),
    ("edit",),
    ("rotations", "positions", "se3"),
    ("solvers",),
    ("cache",),
    ("equations", "interop"),
    ("convert",),
    ("tasks",),
    ("ik",),
    ("control",),
    ("simulation",),
    ("trajectories", "identification"),
    ("flight",),
    ("geometry",),
    ("plot", "viewer"),
    ("__init__",),
    ("environments", "scale", "cli", "course"),
)
"""A module imports its own layer and those above it in this list."""
RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
COLUMNS = {"compiler": ("spatial", "model", "algorithms", "linalg")}
"""What a column does not import of the other."""
EXCEPTIONS = {
    ("robot", "ik"): "Robot.ik, imported when it is called",
    ("robot", "simulation"): "Robot.rollout and Constrained.rollout, imported when they are called",
    ("robot", "viewer"): "Robot.view, imported when it is called",
    ("robot", "interop"): "Robot.equations, imported when it is called",
    ("robot", "geometry"): "Robot.to_mjcf converts meshes, whose reader is imported when it is needed",
    ("simulation", "viewer"): "Trajectory.to_mcap and to_rerun, imported when they are called",
    ("robot", "equations"): "the names of symbols in Robot.equations",
}
ONE_PLACE = {
    "llvmlite": "compiler",
    "sympy": "interop/sympy.py",
    "casadi": "interop/casadi.py",
    "torch": "interop/torch.py",
    "jax": "interop/jax.py",
    "scipy": ("rotations/scipy.py", "identification"),
    "clarabel": "identification/semidefinite.py",
    "rosbags": "identification/recording_files.py",
    "xml": "model/loaders",
    "mujoco": "model/loaders",
    "xacro": "model/loaders/xacro_child.py",
    "viser": "viewer/server.py",
    "imageio": "viewer/server.py",
    "mcap": "viewer/mcap.py",
    "rerun": "viewer/rerun.py",
    "trimesh": "geometry/files.py",
    "gymnasium": "environments",
    "typer": "cli",
    "rich": "cli",
}
MODULES = sorted(SOURCE.rglob("*.py"))


def imported(path: Path) -> list[str]:
    """Dotted names of all modules a file imports, wherever in the file it does."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def part_of(name: str) -> str:
    """The part of the library that a dotted name belongs to."""
    _, *rest = name.split(".")
    return rest[0] if rest and rest[0] in RANK else "__init__"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_layers(path):
    part = path.relative_to(SOURCE).with_suffix("").parts[0]
    assert part in RANK, f"no layer has {part}"
    for name in imported(path):
        first = name.split(".")[0]
        if first == "kinetree":
            other = part_of(name)
            allowed = RANK[other] <= RANK[part] or (part, other) in EXCEPTIONS
            assert allowed and other not in COLUMNS.get(part, ()), f"{part} may not import {name}"
            if other == "compiler" != part:  # what it is made of is its own affair
                assert name.removeprefix("kinetree.compiler.") in compiler.__all__, f"{name} is not in the facade"
        if first in ONE_PLACE:
            assert str(path.relative_to(SOURCE)).startswith(ONE_PLACE[first]), f"{first} belongs in {ONE_PLACE[first]}"


def test_every_exception_is_needed():
    found = {
        (path.relative_to(SOURCE).with_suffix("").parts[0], part_of(name))
        for path in MODULES
        for name in imported(path)
        if name.startswith("kinetree")
    }
    assert set(EXCEPTIONS) <= {(part, other) for part, other in found if RANK[other] > RANK[part]}


def test_few_modules_lie_at_the_top():
    assert len(list(SOURCE.glob("*.py"))) <= 8


def test_the_walk_sees_what_it_should():
    assert "kinetree.algorithms.rnea" in imported(SOURCE / "robot" / "robot.py")
    assert len(MODULES) > 40


def test_the_cache_keeps_bytes_with_nothing_but_python():
    names = imported(SOURCE / "compiler" / "runtime" / "cache.py")
    foreign = {name for name in names if name.split(".")[0] not in sys.stdlib_module_names}
    assert foreign == {"kinetree.errors.CacheWarning", "kinetree.errors.short"}


def test_package_files_hold_names_only():
    for path in SOURCE.rglob("__init__.py"):
        for node in ast.parse(path.read_text()).body:
            lines = node.body + node.orelse if isinstance(node, ast.If) else [node]
            for line in lines:  # what is there for type checkers, and later for others
                assert isinstance(line, (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)), f"{path} has logic"


def test_no_file_is_a_drawer():
    assert not [path for path in MODULES if path.stem in ("utils", "helpers", "common", "misc")]


def test_the_core_needs_only_numpy_and_llvmlite():
    heavy = {"jax", "torch", "casadi", "sympy", "mujoco", "pinocchio", "scipy", "matplotlib", "typer", "rich"}
    heavy |= {"viser", "trimesh"}
    code = "import sys, kinetree; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "numpy" in loaded
    assert not loaded & heavy


def covered() -> list[str]:
    """The source files that test files name in their docstrings, after "Covers:"."""
    docstrings = (ast.get_docstring(ast.parse(path.read_text())) or "" for path in TESTS.rglob("test_*.py"))
    return [name for text in docstrings for name in re.findall(r"[\w/]+\.py", text.partition("Covers: ")[2])]


def test_every_file_has_a_test_of_its_name_or_is_named_in_the_one_that_covers_it():
    files = [path.relative_to(SOURCE) for path in MODULES if path.stem != "__init__"]
    own = {file.as_posix() for file in files if (TESTS / file.parent / f"test_{file.name}").exists()}
    missing = {file.as_posix() for file in files} - own - set(covered())
    assert not missing, 'name them after "Covers:" in the docstring of a test that fails where they are wrong'


def test_files_that_tests_name_exist_and_have_no_other_test():
    named = covered()
    assert not [name for name in named if not (SOURCE / name).exists()]
    assert not [name for name in named if (TESTS / name).with_name(f"test_{Path(name).name}").exists()]
    assert len(set(named)) == len(named)


def test_the_reading_list_names_every_algorithm_once():
    folder = SOURCE / "algorithms"
    listed = [line.split()[0] for line in (folder / "__init__.py").read_text().splitlines() if line.startswith("    ")]
    assert sorted(listed) == sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


def test_large_parts_come_when_they_are_asked_for():
    code = """
import sys, kinetree as kt
parts = ["control", "flight", "identification", "ik", "plot", "simulation", "tasks"]
assert not [name for name in parts if f"kinetree.{name}" in sys.modules]
assert set(parts) <= set(dir(kt)) and not hasattr(kt, "contrl")
assert kt.Trajectory is __import__("kinetree.simulation.trajectory", fromlist="x").Trajectory
for name in parts:
    assert getattr(kt, name) is sys.modules[f"kinetree.{name}"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_dir_shows_public_names_only():
    shown = {name for name in dir(kinetree) if not name.startswith("__")}
    assert shown == {*kinetree.__all__, "environments", "scale", "viewer"}
