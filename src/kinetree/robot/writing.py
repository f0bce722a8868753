"""Robots as files of other formats, with their meshes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from kinetree.algorithms.configuration import neutral
from kinetree.algorithms.tendons import tendon_lengths
from kinetree.base.files import write_text
from kinetree.base.lazy_imports import importing
from kinetree.errors import KinetreeError
from kinetree.model.constraints import TendonCoupling
from kinetree.model.geometry import Mesh
from kinetree.model.tree import Model
from kinetree.model.writers.mesh_points import MeshFiles
from kinetree.model.writers.mjcf import mjcf
from kinetree.model.writers.sdf import sdf
from kinetree.model.writers.urdf import urdf
from kinetree.robot.quantity import HasQuantities


class Writing(HasQuantities):
    """Methods of a `Robot` that write it as a document."""

    def to_mjcf(self, path: str | os.PathLike[str] | None = None, *, lossy: bool = False) -> str:
        """The robot as an MJCF document, also written to `path` if given; paths of meshes are relative to it.

        Loading it gives the same dynamics, here and in MuJoCo, except that MuJoCo couples mimic joints softly to their
        leaders. Meshes that MuJoCo cannot read are converted, if the packages for their files are installed, and stand
        in the document. A moving link called "world" is renamed, with a `kt.ModelWarning`. Features that MJCF cannot
        express raise an error, unless `lossy` leaves them out; velocity limits are always left out.
        """
        folder = None if path is None else Path(path).absolute().parent
        text = mjcf(self.model, folder, lossy, converted, _tendon_lengths(self.model))
        if path is not None:
            write_text(path, text)
        return text

    def to_urdf(self, path: str | os.PathLike[str] | None = None, *, lossy: bool = False) -> str:
        """The robot as a URDF document, also written to `path` if given; meshes without a file are written beside it.

        Loading it gives the same dynamics, with the same options of `kt.load`: the kind of base, gravity, and `passive`
        for damping and friction, which other libraries leave out too. A limit of 1e10 stands for none. A capsule is
        written as a cylinder and two spheres, which all readers know. Features that URDF cannot express, such as
        armature and springs, raise an error, unless `lossy` leaves them out.
        """
        return _written(path, partial(urdf, self.model, lossy))

    def to_sdf(self, path: str | os.PathLike[str] | None = None, *, lossy: bool = False) -> str:
        """The robot as an SDFormat document, also written to `path` if given; meshes without a file are written beside
        it.

        Loading it gives the same dynamics, with the same options of `kt.load`: a floating base, gravity, `passive`. A
        robot that does not float is fixed to the world. Names that SDFormat reserves or has twice are changed, with a
        `kt.ModelWarning`. Features that it cannot express, such as armature, raise an error, unless `lossy` leaves them
        out.
        """
        return _written(path, partial(sdf, self.model, lossy))


def _written(path: str | os.PathLike[str] | None, document: Callable[[MeshFiles | None], str]) -> str:
    """The document, also written to the path after the meshes that it refers to."""
    files = None if path is None else MeshFiles(Path(path).absolute())
    text = document(files)
    if path is not None and files is not None:
        files.write()
        write_text(path, text)
    return text


def _tendon_lengths(model: Model) -> dict[str, float]:
    """Of tendons that are coupled, where all coordinates of MuJoCo are zero, those of followers too."""
    if not any(isinstance(each, TendonCoupling) for each in model.loops):
        return {}
    joints = tuple(joint if joint.follows is None else replace(joint, offset=0.0) for joint in model.joints)  # type: ignore[call-arg]
    lengths = tendon_lengths(replace(model, joints=joints), neutral(model))
    return {tendon.name: float(length) for tendon, length in zip(model.tendons, lengths, strict=True)}


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
