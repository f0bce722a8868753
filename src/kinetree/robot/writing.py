"""Robots as files of other formats, with their meshes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kinetree.base.files import write_text
from kinetree.base.lazy_imports import importing
from kinetree.errors import KinetreeError, ModelError
from kinetree.model.geometry import Mesh
from kinetree.model.tree import Model
from kinetree.model.writers.mesh_points import MeshFiles
from kinetree.model.writers.mjcf import mjcf
from kinetree.model.writers.sdf import sdf
from kinetree.model.writers.urdf import urdf


def to_mjcf(model: Model, path: str | os.PathLike[str] | None, lossy: bool) -> str:
    """The document, also written to the path."""
    text = mjcf(model, None if path is None else Path(path).absolute().parent, lossy, converted)
    if path is not None:
        write_text(path, text)
    return text


def to_urdf(model: Model, path: str | os.PathLike[str] | None, lossy: bool) -> str:
    """The document, also written to the path after the meshes that it refers to."""
    if model.description is None:
        raise ModelError(f"model {model.name!r} was made without a description, so it cannot be written")
    files = None if path is None else MeshFiles(Path(path).absolute())
    text = urdf(model.description, lossy, files)
    if path is not None and files is not None:
        files.write()
        write_text(path, text)
    return text


def to_sdf(model: Model, path: str | os.PathLike[str] | None, lossy: bool) -> str:
    """The document, also written to the path after the meshes that it refers to."""
    files = None if path is None else MeshFiles(Path(path).absolute())
    text = sdf(model, lossy, files)
    if path is not None and files is not None:
        files.write()
        write_text(path, text)
    return text


def converted(path: str) -> Mesh | None:
    """The triangles of a mesh file of any kind; None if it, or the packages that read it, are not there."""
    importing("kinetree.geometry.files")
    from kinetree.geometry.files import read_mesh  # noqa: PLC0415 - needed for few files

    try:
        surfaces = read_mesh(path)
    except KinetreeError:
        return None
    starts = np.cumsum([0, *(len(surface.vertices) for surface in surfaces)])
    triangles = [surface.triangles + start for surface, start in zip(surfaces, starts, strict=False)]
    return Mesh(vertices=np.concatenate([each.vertices for each in surfaces]), triangles=np.concatenate(triangles))
