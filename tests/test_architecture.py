"""Which module may import which: two columns that meet in robot.py, and one place for each foreign library."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kinetree

SOURCE = Path(kinetree.__file__).parent

# A part may import itself and what is listed; everything may import these.
FOR_ALL = {"errors", "files", "later", "lazy", "locks", "ops", "originals"}
ALLOWED = {
    **{name: set() for name in FOR_ALL},
    "later": {"compiler"},  # of which it takes what knows nothing of compiling
    "linalg": set(),
    "arguments": set(),
    "spatial": {"arguments"},
    "model": {"spatial", "arguments"},
    "algorithms": {"model", "spatial", "linalg", "arguments"},
    "compiler": {"arguments"},
    "binding": set(),
    "compiler/cache": set(),  # not even the compiler: it keeps bytes
    "wrench": {"algorithms", "spatial"},
    "quantities": {"algorithms", "model"},
    "engine": {"algorithms", "model", "arguments", "wrench", "compiler", "quantities", "linalg", "binding"},
    "frame": {"algorithms", "binding", "engine", "quantities", "robot", "spatial"},  # of robot, the type
    "compiled": {"algorithms", "engine", "model", "quantities", "wrench"},
    "parameters": {"algorithms", "binding", "compiled"},
    "bodies": {"algorithms", "binding", "compiled"},
    "textbook_methods": {"binding", "compiled"},
    "centroidal": {"algorithms", "arguments", "binding", "compiled", "compiler", "model", "robot", "spatial"},
    "one_body": {"algorithms", "arguments", "binding", "centroidal", "compiled", "compiler", "spatial"},
    "robot": {
        "bodies",
        "compiled",
        "textbook_methods",
        "one_body",
        "parameters",
        "ik",
        "frame",
        "simulation",
        "constrained",
        "algorithms",
        "model",
        "arguments",
        "engine",
        "binding",
        "equations",
        "backends",
        "viewer",
    },
    "geometry": {"model", "robot"},
    "plot": {"arguments", "geometry", "model", "robot", "simulation"},  # of simulation, the types
    "viewer": {
        "arguments",
        "constrained",
        "geometry",
        "ik",
        "model",
        "robot",
        "rotations",
        "spatial",
    },
    "constrained": {
        "robot",
        "algorithms",
        "engine",
        "quantities",
        "binding",
        "model",
        "arguments",
        "wrench",
        "simulation",
    },
    "equations": {"algorithms", "compiler", "model", "spatial"},
    "backends": {"equations", "compiler", "model"},
    "simulation": {
        "algorithms",
        "arguments",
        "compiler",
        "convert",
        "derivatives",
        "identity",
        "lagrange",
        "law",
        "linalg",
        "model",
        "robot",
        "spatial",
        "wrench",
    },
    "identification": {"arguments", "robot"},
    "solvers": {"arguments", "binding", "compiler", "linalg"},
    "ik": {
        "algorithms",
        "arguments",
        "binding",
        "bound_law",
        "compiler",
        "definition",
        "identity",
        "linalg",
        "model",
        "per_state",
        "robot",
        "rotations",
        "solvers",
        "spatial",
    },
    "control": {
        "algorithms",
        "arguments",
        "binding",
        "bound_law",
        "compiler",
        "constrained",
        "definition",
        "identity",
        "ik",
        "linalg",
        "model",
        "robot",
        "rotations",
        "solvers",
        "spatial",
    },
    "environments": {"__init__", "arguments", "law", "robot", "simulation"},
    "structure": set(),
    "definition": {"robot", "arguments", "compiler"},
    "identity": {"definition", "robot"},
    "bound_law": {"identity", "definition", "robot", "engine", "arguments", "binding", "compiler", "structure"},
    "law": {"frame", "definition", "bound_law", "robot", "quantities", "arguments", "compiler"},
    "derivatives": {"definition", "law", "bound_law", "robot", "algorithms", "compiler", "structure"},
    "per_state": {"compiler", "definition", "law"},
    "rotations": {"arguments", "linalg", "per_state", "spatial"},
    "positions": {"per_state", "spatial"},
    "se3": {"per_state", "rotations", "spatial"},
    "trajectories": {"arguments", "linalg", "per_state", "robot", "rotations", "spatial"},
    "lagrange": {"algorithms", "arguments", "derivatives", "law", "linalg", "robot"},
    "load": {"robot", "model", "spatial"},
    "dh": {"robot", "model"},
    "solids": {"model", "spatial", "arguments"},
    "edit": {"robot", "model", "spatial", "arguments"},
    "cache": {"robot", "quantities", "compiler"},
    "convert": {"robot", "model", "arguments", "spatial"},
    "cli": {
        "__init__",
        "__version__",
        "control",
        "convert",
        "equations",
        "ik",
        "law",
        "load",
        "model",
        "quantities",
        "simulation",
        "spatial",
        "trajectories",
        "viewer",
    },
    "__init__": {
        "cache",
        "constrained",
        "control",
        "law",
        "derivatives",
        "dh",
        "edit",
        "frame",
        "identification",
        "ik",
        "lagrange",
        "later",
        "linalg",
        "se3",
        "solids",
        "solvers",
        "trajectories",
        "plot",
        "positions",
        "rotations",
        "compiler",
        "load",
        "convert",
        "robot",
        "simulation",
        "model",
        "spatial",
        "wrench",
    },
}
ONE_PLACE = {
    "llvmlite": "compiler",
    "jax": "backends/jax.py",
    "torch": "backends/torch.py",
    "casadi": "backends/casadi.py",
    "sympy": "backends/sympy.py",
    "scipy": "rotations/scipy.py",
    "xml": "model/loaders",
    "mujoco": "model/loaders",
    "xacro": "model/loaders/xacro_child.py",
    "viser": "viewer/server.py",
    "imageio": "viewer/server.py",
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


def part_of(path: Path) -> str:
    """The module itself if the table has a line for it, otherwise the first folder on the way to it."""
    module = path.relative_to(SOURCE).with_suffix("")
    return module.as_posix() if module.as_posix() in ALLOWED else module.parts[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_arrows(path):
    part = part_of(path)
    assert part in ALLOWED, f"the design does not know {part}"
    for name in imported(path):
        first, *rest = name.split(".")
        if first == "kinetree":
            rest = rest or ["__init__"]
            assert rest[0] in ALLOWED[part] | {part} | FOR_ALL, f"{part} may not import {name}"
        if first in ONE_PLACE:
            assert str(path.relative_to(SOURCE)).startswith(ONE_PLACE[first]), f"{first} belongs in {ONE_PLACE[first]}"


def test_the_walk_sees_what_it_should():
    assert "kinetree.algorithms.rnea" in imported(SOURCE / "quantities.py")
    assert len(MODULES) > 40


def test_the_cache_keeps_bytes_with_nothing_but_python():
    names = imported(SOURCE / "compiler" / "cache.py")
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


def test_every_algorithm_has_its_test_file():
    tests = Path(__file__).parent / "algorithms"
    files = [path for path in (SOURCE / "algorithms").glob("*.py") if path.stem != "__init__"]
    assert not [path.name for path in files if not (tests / f"test_{path.name}").exists()]


def test_large_parts_come_when_they_are_asked_for():
    code = """
import sys, kinetree as kt
parts = ["control", "identification", "ik", "plot", "simulation"]
assert not [name for name in parts if f"kinetree.{name}" in sys.modules]
assert set(parts) <= set(dir(kt)) and not hasattr(kt, "contrl")
assert kt.Trajectory is __import__("kinetree.simulation.trajectory", fromlist="x").Trajectory
for name in parts:
    assert getattr(kt, name) is sys.modules[f"kinetree.{name}"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
