"""Mesh files by trimesh: STL, OBJ, PLY, glTF, and COLLADA with pycollada. The only place that imports it.

What a file may cost is bounded by `limits`, which looks at it first.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.base.lazy_imports import extra
from kinetree.errors import KinetreeError
from kinetree.geometry.limits import SUFFIXES, Files, check_content, check_scene
from kinetree.geometry.surfaces import Surface
from kinetree.model.geometry import Color

LONGEST_REASON = 300


@lru_cache(maxsize=256)
def read_mesh(path: str) -> list[Surface]:
    """The surfaces in a file, one for every material, as they are placed in its scene [m]."""
    with extra("viewer", "meshes are read by the package trimesh"):
        import trimesh  # noqa: PLC0415
    logging.getLogger("trimesh").setLevel(logging.ERROR)  # it warns of what it handles
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise KinetreeError(f"mesh {path!r} cannot be read: expected a file that ends with {', '.join(SUFFIXES)}")
    try:
        files = Files(path)
        content = files.read(path)
        check_content(suffix, content)
        scene = trimesh.load_scene(BytesIO(content), file_type=suffix[1:], resolver=files, process=False)
        check_scene(scene)
        found = [_surface(part) for part in scene.dump() if len(getattr(part, "faces", ()))]
    except Exception as problem:  # whatever a damaged file makes of a reader
        raise KinetreeError(f"mesh {path!r} cannot be read: {_reason(suffix, problem)}") from problem
    if not found:
        raise KinetreeError(f"mesh {path!r} has no triangles")
    return found


def _reason(suffix: str, problem: Exception) -> str:
    """The reason of a failure in a sentence; COLLADA has a package of its own."""
    if isinstance(problem, KinetreeError):
        return str(problem)
    if suffix == ".dae" and isinstance(problem, ModuleNotFoundError):
        return "COLLADA files need pip install pycollada"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    said = str(problem)
    reason = f"{type(problem).__name__}: {said}" if said else type(problem).__name__
    return reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}…"


def _surface(part: Any) -> Surface:
    vertices, triangles = np.asarray(part.vertices, dtype=float), np.asarray(part.faces, dtype=np.int64)
    if vertices.shape[1:] != (3,) or triangles.shape[1:] != (3,):
        raise ValueError("its faces are no triangles in space")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise ValueError("its triangles refer to vertices that do not exist")
    if not np.isfinite(vertices).all():
        raise ValueError("a vertex is not finite")
    color, has_picture = _look(part.visual)
    return Surface(vertices, triangles, color, part if has_picture else None)


def _look(visual: Any) -> tuple[Color | None, bool]:
    """The colour of a mesh, if it has one for all of it, and whether there is a picture on it."""
    if not visual.defined:
        return None, False
    material = getattr(visual, "material", None)
    if material is None:
        return _color(np.asarray(visual.main_color)), False
    pictures = (getattr(material, name, None) for name in ("image", "baseColorTexture"))
    has_picture = getattr(visual, "uv", None) is not None and any(picture is not None for picture in pictures)
    return _color(np.asarray(material.main_color)), has_picture


def _color(rgba: Any) -> Color | None:
    if np.shape(rgba) != (4,) or not np.isfinite(rgba).all():
        return None
    red, green, blue, opacity = (float(part) / 255.0 for part in rgba)
    return red, green, blue, opacity
