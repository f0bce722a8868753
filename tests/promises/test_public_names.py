"""Every public module can be imported by its documented path, and has every name that it lists."""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kinetree as kt

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
DOCUMENTED = sorted(
    {name for page in REFERENCE.glob("*.md") for name in re.findall(r"public-names} (\S+)", page.read_text())}
)
MODULES = sorted(name for name in kt.__all__ if inspect.ismodule(getattr(kt, name)))


def test_the_lists_are_not_empty():
    assert {"cache", "control", "edit", "linalg", "rotations", "solids"} <= set(MODULES)
    assert {"kinetree", "kinetree.rotations", "kinetree.solids"} <= set(DOCUMENTED)


def test_modules_are_imported_both_ways_in_a_new_process():
    """`import kinetree.solids` and `from kinetree import solids` are the same module, whichever comes first."""
    lines = [
        f"import kinetree.{name}; from kinetree import {name}; assert kinetree.{name} is {name}" for name in MODULES
    ]
    lines += [f"import {name}" for name in DOCUMENTED if name not in ("kinetree.environments", "kinetree.viewer")]
    run = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("module", [name for name in DOCUMENTED if name != "kinetree.viewer"])
def test_modules_have_what_they_list(module):
    names = getattr(importlib.import_module(module), "__all__", ())
    assert len(set(names)) == len(names)
    missing = [name for name in names if not hasattr(importlib.import_module(module), name)]
    assert not missing


@pytest.mark.parametrize("module", ["kinetree", *(f"kinetree.{name}" for name in MODULES)])
def test_functions_and_classes_say_what_they_are(module):
    found = importlib.import_module(module)
    for name in getattr(found, "__all__", ()):
        value = getattr(found, name)
        if callable(value) and not (inspect.isclass(value) and issubclass(value, Warning | Exception)):
            assert (value.__doc__ or "").strip(), f"{module}.{name} has no docstring"
