"""Robots by the names of the package robot_descriptions, which fetches them when they are first asked for."""

from __future__ import annotations

import os
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from kinetree.errors import ModelError, unknown

NAME = re.compile(r"[a-z0-9_]+_description")
NEED = "robots that are called …_description come with pip install 'kinetree[descriptions]'"


def describes(name: str) -> bool:
    """Whether a robot description may be called so."""
    return NAME.fullmatch(name) is not None


def find_description(name: str) -> tuple[str, dict[str, Any]] | None:
    """The file of the robot description with this name, fetched if need be, and what a `Document` knows of it besides;
    None if that package is not installed."""
    if find_spec("robot_descriptions") is None:
        return None
    if find_spec(f"robot_descriptions.{name}") is None:
        raise unknown("robot description", name, _names())
    try:
        module = import_module(f"robot_descriptions.{name}")
    except Exception as problem:  # it clones a repository, so anything may happen
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise ModelError(f"robot description {name!r} cannot be fetched: {reason[:300]}") from problem
    for kind in ("URDF_PATH", "XACRO_PATH", "MJCF_PATH"):
        if hasattr(module, kind):
            arguments = getattr(module, "XACRO_ARGS", {}) if kind == "XACRO_PATH" else {}
            known = {"package_dirs": _package_dirs(module), "packages": getattr(module, "XACRO_PACKAGE_PATHS", {})}
            return str(getattr(module, kind)), {**known, "xacro_args": arguments}
    raise ModelError(f"robot description {name!r} has neither URDF nor xacro nor MJCF")


def _package_dirs(module: ModuleType) -> tuple[str, ...]:
    """The package's and the repository's folder, and what they lie in."""
    folders = [str(getattr(module, name)) for name in ("PACKAGE_PATH", "REPOSITORY_PATH") if hasattr(module, name)]
    return tuple(dict.fromkeys(filter(os.path.isdir, [*folders, *map(os.path.dirname, folders)])))


def _names() -> list[str]:
    """All robot descriptions there are."""
    folders = getattr(import_module("robot_descriptions"), "__path__", ())
    return sorted(file.stem for folder in folders for file in Path(folder).glob("[!_]*_description.py"))
