"""Mesh files by trimesh: STL, OBJ, PLY, glTF, and COLLADA with pycollada. The only place that imports it."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.geometry.surfaces import Surface
from kinetree.model.geometry import Color


@lru_cache(maxsize=256)
def read_mesh(path: str) -> list[Surface]:
    """The surfaces in a file, one for every material, as they are placed in its scene [m]."""
    try:
        import trimesh  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise KinetreeError("meshes are read by the package trimesh: pip install 'kinetree[viewer]'") from None
    logging.getLogger("trimesh").setLevel(logging.ERROR)  # it warns of what it handles
    try:
        parts = _parts(trimesh.load_scene(path, process=False))
    except Exception as problem:  # whatever a damaged file makes of a reader
        reason = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
        hint = ""
        if Path(path).suffix.lower() == ".dae" and isinstance(problem, (ModuleNotFoundError, KeyError, ValueError)):
            hint = " (COLLADA files need pip install pycollada)"
        raise KinetreeError(f"mesh {path!r} cannot be read: {reason}{hint}") from problem
    found = [_surface(part) for part in parts if len(getattr(part, "faces", ()))]
    if not found:
        raise KinetreeError(f"mesh {path!r} has no triangles")
    return found


def _parts(scene: Any) -> list[Any]:
    """Every mesh of a scene where it is placed there."""
    parts = []
    for node in scene.graph.nodes_geometry:
        pose, name = scene.graph[node]
        part = scene.geometry[name].copy()
        part.apply_transform(pose)
        parts.append(part)
    return parts


def _surface(part: Any) -> Surface:
    triangles = np.asarray(part.faces, dtype=np.int64)
    color, has_picture = _look(part.visual)
    return Surface(np.asarray(part.vertices, dtype=float), triangles, color, part if has_picture else None)


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


def _color(rgba: Any) -> Color:
    red, green, blue, opacity = (float(part) / 255.0 for part in rgba)
    return red, green, blue, opacity
