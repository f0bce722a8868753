"""kt.load: a robot from a file, a document in a string, a MuJoCo model, or a name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from numpy.typing import ArrayLike, DTypeLike

from kinetree.base.precision import as_dtype
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.model.builder import GRAVITY, ModelBuilder
from kinetree.model.findings import refuse
from kinetree.model.joints import BaseVelocity
from kinetree.model.loaders import xacro
from kinetree.model.loaders.dh import read_dh
from kinetree.model.loaders.document import Document, bundled_robots, read_document
from kinetree.model.loaders.mjcf import Mjcf, MjModel, is_mjmodel, read_mjcf, read_mjmodel
from kinetree.model.loaders.mjcf_guard import is_mjcf
from kinetree.model.loaders.resources import Folders, Resources
from kinetree.model.loaders.sdf import read_sdf
from kinetree.model.loaders.srdf import read_srdf, read_srdf_beside
from kinetree.model.loaders.urdf import read_urdf
from kinetree.model.parametric import Choice
from kinetree.robot import Robot
from kinetree.spatial import SpatialOrder

__all__ = ["bundled_robots", "load"]


def load(
    path_or_xml: str | bytes | os.PathLike[str] | MjModel,
    base: str = "fixed",
    *,
    gravity: ArrayLike | None = None,
    spatial_order: SpatialOrder = "linear-first",
    base_velocity: BaseVelocity = "body",
    keep_fixed: Iterable[str] = (),
    passive: bool | None = None,
    friction_width: float = 0.01,
    package_dirs: Folders = (),
    xacro_args: Mapping[str, str] | None = None,
    srdf: str | bytes | os.PathLike[str] | None = None,
    parametric: Choice = None,
    dtype: DTypeLike = "float64",
    root: str | None = None,
    repair: bool = False,
    strict: bool = False,
) -> Robot:
    """A robot from a .urdf, .xacro, .xml (MJCF), .sdf or .toml (DH) file, a URDF, MJCF or SDFormat document, a model of
    MuJoCo's, a bundled name such as "arm6", or the name of a robot description such as "panda_description" (with the
    package robot_descriptions).

    base            "fixed" to the world, or "floating"
    gravity         gravitational acceleration in the world [m/s²]; by default the file's, or (0, 0, -9.81)
    spatial_order   order of all 6-vectors: "linear-first", or "angular-first" (Featherstone's)
    base_velocity   velocity of a free joint: in its own axes ("body"), or [ẋ, ω] in its parent's ("mixed")
    keep_fixed      fixed joints to keep as joints, so that their links are bodies
    passive         whether damping, friction and springs of joints are part of the dynamics; None follows the usual
                    tools of the format: no for URDF, yes for MJCF, SDFormat and DH tables
    friction_width  the speed [rad/s or m/s] at which friction reaches 71 %
    package_dirs    folders of the packages of meshes: folders that contain packages or are one, or folders by name
    xacro_args      arguments of a xacro document; a string with xacro in it is expanded only if they are given, if
                    only as {}, and a file always
    srdf            a file or document with `postures`, `groups`, `end_effectors` and `disabled_collisions` of a URDF
                    robot; by default the one beside it
    parametric      numbers that are inputs of calls, as `parameters=`: some of "inertial" (of bodies), "joint"
                    (armature, damping, friction, springs) and "placement" (of joints); or a dict that has for these
                    kinds True or names of bodies, of joints, of joints and frames
    dtype           the type of numbers that quantities are computed with and returned in: "float64", or "float32",
                    for batches of twice the speed and half the digits
    root            of an MJCF scene, the body on the world that is the robot: what else moves is left out, and listed.
                    By default it is all there is on a fixed base, and the free body with most joints on a floating one
    repair          whether faults of a URDF in masses, inertias, axes and links are replaced by what `robot.check()`
                    then says was assumed, instead of refused. Faults elsewhere, in shapes and limits, are never refused
    strict          whether everything is refused that `robot.check()` would call a warning or an error

    What a file says about the dynamics and is not part of the robot warns by `kt.ModelWarning`.
    """
    dtype = as_dtype(dtype)
    if not isinstance(passive, bool | None):
        raise ArgumentTypeError(f"passive is {short(passive)}; expected True, False or None")
    if repair and strict:
        raise ArgumentError("repair and strict are both True; expected one of them")
    read = _read(path_or_xml, base, package_dirs, xacro_args, srdf is not None, repair, root)
    if srdf is not None:
        read_srdf(srdf, read.builder, base)
    if passive is None:
        passive = read.passive
    if not passive and not read.passive:
        _note_ignored_passive_forces(read.builder)
    model = read.builder.build(
        base, gravity=read.gravity if gravity is None else gravity, spatial_order=spatial_order,
        base_velocity=base_velocity, keep_fixed=keep_fixed, passive=passive, friction_width=friction_width,
        parametric=parametric,
    )  # fmt: skip
    if strict:
        refuse(model.findings, read.builder.source)
    return Robot(model, dtype=dtype)


@dataclass(frozen=True)
class _Read:
    """The content of a file, and the defaults of its format."""

    builder: ModelBuilder
    gravity: ArrayLike = GRAVITY
    passive: bool = False


def _read(
    given: str | bytes | os.PathLike[str] | MjModel, base: str, package_dirs: Folders,
    xacro_args: Mapping[str, str] | None, has_srdf: bool, repair: bool, root: str | None,
) -> _Read | Mjcf:  # fmt: skip
    if is_mjmodel(given):
        return read_mjmodel(given, base=base, root=root)
    document = read_document(given)
    if root is not None and not is_mjcf(document.text):
        raise ArgumentError(f"root is {short(root)}, but {document.source} is no MJCF; expected None")
    if document.suffix == ".toml":
        return _Read(read_dh(document.text, document.source), passive=True)
    if is_mjcf(document.text):
        source = document.source if document.path else "the given MJCF document"
        return read_mjcf(document.text, source, base, document.path, root)
    resources = Resources(None if document.path is None else document.path.parent, package_dirs)
    resources.add(document.package_dirs)
    resources.add(document.packages)
    text, source, remarks = _expanded(document, resources, xacro_args)
    if is_mjcf(text, "sdf"):
        source = source if document.path else "the given SDFormat document"
        builder, gravity = read_sdf(text, source, resources, repair)
        read = _Read(builder, gravity, passive=True)
    else:
        builder = read_urdf(text, source, resources, repair)
        if not builder.links and xacro.defines_macros(document.text):
            message = "it has no links, for the file only defines macros; expected one that uses them"
            raise builder.error("robot", message)
        if document.path is not None and not has_srdf:
            read_srdf_beside(document.path, builder, base)
        read = _Read(builder)
    for remark in remarks:
        builder.note("xacro", remark)
    return read


def _expanded(
    document: Document, resources: Resources, xacro_args: Mapping[str, str] | None
) -> tuple[bytes | str, str, list[str]]:
    """The text without xacro, what to call it, and remarks: a file is expanded that is xacro by its name or its tags,
    and any document if arguments are given."""
    remarks = list[str]()
    if xacro_args is None and document.suffix != ".xacro":
        if document.path is None or not xacro.uses_macros(document.text, document.source):
            return document.text, document.source, remarks
        remarks.append("there are tags of xacro in the file, so it was expanded; lines are those of the result")
    arguments = xacro_args if not document.xacro_args else {**document.xacro_args, **(xacro_args or {})}
    text, said = xacro.expand(document.text, document.source, document.path, arguments or {}, resources)
    return text, f"{document.source}, expanded", [*remarks, *said]


def _note_ignored_passive_forces(builder: ModelBuilder) -> None:
    joints = [joint for joint in builder.joints.values() if joint.dynamics.is_passive]
    if joints:
        whose = f"of {len(joints)} joints" if len(joints) > 1 else "of a joint"
        message = f"damping or friction {whose} is not part of the dynamics; load it with passive=True to have it"
        builder.note(f"joint {joints[0].name!r}", message, joints[0].line)
