"""MJCF: MuJoCo compiles the model, so that defaults, includes and compiler options mean what they mean there, and the
tree is read from what it has compiled.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kinetree.errors import ModelError, one_of
from kinetree.model.builder import ModelBuilder
from kinetree.model.loaders.mjcf_guard import MOST_ELEMENTS, check_cost, is_mjcf
from kinetree.model.loaders.mujoco_compiler import Refused, compile_mjcf
from kinetree.model.loaders.mujoco_keyframes import read_keyframes
from kinetree.model.loaders.mujoco_leftovers import PASSIVE, is_disabled, note_leftovers
from kinetree.model.loaders.mujoco_tree import TreeReader
from kinetree.ops import Array

MjModel: TypeAlias = Any
"""mujoco.MjModel, whether MuJoCo is installed or not."""
UNNAMED = "MuJoCo Model"
"""What MuJoCo calls a model without a name."""
COMPILED = "compiled.mjb"


@dataclass(frozen=True, eq=False)
class Mjcf:
    """What a model of MuJoCo's says."""

    builder: ModelBuilder
    gravity: Array
    passive: bool
    """Whether damping, friction and springs of joints are switched on."""


def is_mjmodel(value: object) -> bool:
    """Whether it is a compiled model of MuJoCo's, without asking for MuJoCo."""
    return type(value).__name__ == "MjModel" and type(value).__module__.partition(".")[0] == "mujoco"


def read_mjcf(
    text: bytes | str, source: str, base: str = "fixed", path: Path | None = None, root: str | None = None
) -> Mjcf:
    """An MJCF document, compiled by MuJoCo in a child process; a file is read again there, to find its includes."""
    mujoco = mujoco_package(source)
    if is_mjcf(text, "mujocoinclude"):
        raise ModelError(f"{source}: this is a part of a model (<mujocoinclude>); expected the file that includes it")
    ill_formed = check_cost(text, source, path.parent if path else Path())
    try:
        compiled = compile_mjcf(mujoco, text, source, path)
    except Refused as problem:
        raise ill_formed or _refused(str(problem), source) from None
    model = mujoco.MjModel.from_binary_path(COMPILED, {COMPILED: compiled.model})
    _check_count(model, source)
    mjcf = read_mjmodel(model, source, base, path.stem if path else "robot", root)
    if ill_formed:
        mjcf.builder.note("XML", f"MuJoCo reads it, but it breaks the rules of XML: {ill_formed}", None, "warning")
    for warning in dict.fromkeys(compiled.warnings):
        mjcf.builder.note("MuJoCo warns", " ".join(warning.split()))
    return mjcf


def read_mjmodel(
    model: MjModel, source: str = "the given MjModel", base: str = "fixed", name: str = "robot", root: str | None = None
) -> Mjcf:
    """A compiled model; the name is for one that has none, the root a body on the world to read alone."""
    one_of("base", base, ("fixed", "floating"))
    mujoco = mujoco_package(source)
    given = bytes(model.names).partition(b"\0")[0].decode("utf-8", "replace")
    builder = ModelBuilder(name if given in ("", UNNAMED) else given, source)
    with np.errstate(all="ignore"):  # what is not finite is refused where a link or a joint takes it
        reader = TreeReader(mujoco, model, builder)
        reader.read(base, root)
        read_keyframes(mujoco, model, builder, reader.joints)
    note_leftovers(mujoco, model, builder)
    off = is_disabled(mujoco, model, "GRAVITY")
    gravity = np.zeros(3) if off else np.array(model.opt.gravity)
    return Mjcf(builder, gravity, not all(is_disabled(mujoco, model, flag) for flag in PASSIVE))


def mujoco_package(source: str) -> Any:
    """The module, imported when it is first needed; `source` is the document that needs it."""
    try:
        mujoco = importlib.import_module("mujoco")
    except ImportError:
        raise ModelError(f"{source} is MJCF, which the package mujoco reads: pip install 'kinetree[mujoco]'") from None
    if not hasattr(mujoco.mjtDisableBit, "mjDSBL_SPRING"):
        installed = getattr(mujoco, "__version__", "this version")
        raise ModelError(f"{source} is MJCF, for which mujoco {installed} is too old: pip install 'kinetree[mujoco]'")
    return mujoco


def _check_count(model: MjModel, source: str) -> None:
    """What is repeated, attached or made by a plugin counts as often as it is there in the end."""
    count = sum(int(getattr(model, size)) for size in ("nbody", "njnt", "ngeom", "nsite", "ncam", "neq", "nu"))
    if count > MOST_ELEMENTS:
        raise ModelError(f"{source}: it has {count} bodies, joints, shapes and other parts; no robot has that many")


def _refused(reason: str, source: str) -> ModelError:
    """MuJoCo's reason in one sentence: 'XML Error: bad format …\\nElement 'body', line 3' and the like."""
    line = re.search(r"\bline (?:number=)?(\d+)", reason, re.IGNORECASE)
    element = re.search(r"Element (?:name )?'([^']+)'", reason)
    message = reason.partition("\nElement")[0]
    if code := re.search(r"\bError=XML_(\w+)", reason):  # from its XML parser, which has words for few of its errors
        message = code[1].lower().replace("_", " ")
    message = " ".join(re.sub(r"^(XML )?Error: (Error: )?", "", message).split()) or "no reason given"
    where = f"{source}, line {line[1]}" if line else source
    return ModelError(f"{where}: {f'{element[1]!r}: ' if element else ''}MuJoCo refuses it: {message}")
