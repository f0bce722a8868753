"""kt.load: a robot from a file, a document in a string, or a bundled name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, ArgumentTypeError, KinetreeError, ModelError, short, unknown
from kinetree.model.builder import GRAVITY
from kinetree.model.joints import BaseVelocity
from kinetree.model.loaders.dh import read_dh
from kinetree.model.loaders.mjcf import Mjcf, MjModel, is_mjmodel, read_mjcf, read_mjmodel
from kinetree.model.loaders.mjcf_guard import is_mjcf
from kinetree.model.loaders.urdf import read_urdf
from kinetree.robot import Robot
from kinetree.spatial import SpatialOrder


def load(
    path_or_xml: str | os.PathLike[str] | MjModel,
    base: str = "fixed",
    *,
    gravity: ArrayLike | None = None,
    spatial_order: SpatialOrder = "linear-first",
    base_velocity: BaseVelocity = "body",
    keep_fixed: Iterable[str] = (),
    passive: bool | None = None,
    friction_width: float = 0.01,
) -> Robot:
    """A robot from a .urdf file, an .xml file (MJCF), a document of either, a MuJoCo model, or a bundled name: "arm6".

    base            "fixed" to the world, or "floating"
    gravity         in the world [m/s²]; the file's if it has any, otherwise (0, 0, -9.81)
    spatial_order   of all 6-vectors: "linear-first", or "angular-first" (Featherstone's)
    base_velocity   of a free joint: in its own axes ("body"), or [ẋ, ω] in its parent's ("mixed")
    keep_fixed      fixed joints to keep as joints, so that what they move is a body of its own
    passive         whether damping, friction and springs of joints take part; by default they do in MJCF and DH tables
    friction_width  the speed [rad/s or m/s] that friction takes to come up
    """
    mjcf = _mjcf(path_or_xml, base)
    if mjcf is None:
        text, source = document(path_or_xml)
        is_table = source.endswith(".toml")
        builder = read_dh(text, source) if is_table else read_urdf(text, source)
        passive = is_table if passive is None else passive
    else:
        builder = mjcf.builder
        gravity = mjcf.gravity if gravity is None else gravity
        passive = mjcf.passive if passive is None else passive
    model = builder.build(
        base,
        gravity=GRAVITY if gravity is None else gravity,
        spatial_order=spatial_order,
        base_velocity=base_velocity,
        keep_fixed=keep_fixed,
        passive=passive,
        friction_width=friction_width,
    )
    return Robot(model)


def _mjcf(given: str | os.PathLike[str] | MjModel, base: str) -> Mjcf | None:
    """What MuJoCo reads from it, or None if it is a matter of URDF."""
    if is_mjmodel(given):
        return read_mjmodel(given, base=base)
    text, source = document(given)
    if not is_mjcf(text):
        return None
    if isinstance(given, str) and given.lstrip("\ufeff").lstrip().startswith("<"):
        return read_mjcf(text, "the given MJCF document", base)
    return read_mjcf(text, source, base, Path(given))


def bundled_robots() -> list[str]:
    """Names of the robots that come with the package."""
    folder = resources.files("kinetree") / "robots"
    return sorted(
        entry.name.rpartition(".")[0] for entry in folder.iterdir() if entry.name.endswith((".urdf", ".toml"))
    )


def document(path_or_xml: str | os.PathLike[str]) -> tuple[bytes | str, str]:
    """The text of a model and what to call it in errors."""
    if not isinstance(path_or_xml, (str, os.PathLike)):
        raise ArgumentTypeError(
            f"path_or_xml is {short(path_or_xml)}; expected a path, a URDF document or a bundled name"
        )
    if isinstance(path_or_xml, str):
        if not path_or_xml.strip():
            raise ArgumentError("path_or_xml is empty; expected a path, a URDF document or a bundled name")
        document = path_or_xml.removeprefix("\ufeff")  # the byte order mark that some editors save
        if document.lstrip().startswith("<"):
            return document, "the given URDF document"
    path = Path(path_or_xml)
    try:
        if isinstance(path_or_xml, str) and path_or_xml in bundled_robots() and not path.is_file():
            folder = resources.files("kinetree") / "robots"
            (file,) = [entry for entry in folder.iterdir() if entry.name.rpartition(".")[0] == path_or_xml]
            return file.read_bytes(), file.name if file.name.endswith(".toml") else path_or_xml
        if path.is_dir():
            raise ModelError(f"{path} is a folder; expected a model file")
        if not path.exists() and path.name == str(path_or_xml) and not path.suffix:
            raise unknown("bundled robot", str(path_or_xml), bundled_robots())
        return path.read_bytes(), str(path)
    except KinetreeError:
        raise
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        name = str(path) if len(str(path)) < 500 else short(str(path))
        raise ModelError(f"{name} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
