"""SRDF: the group states of a robot, which become its postures.

A file beside the URDF document is read if it is of a robot of the same name: in the same folder, or in the folder srdf
next to it. States of the same name belong together, as those of a left and of a right arm.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kinetree.errors import ModelError, short
from kinetree.model.assembly import FLOATING_BASE
from kinetree.model.builder import ModelBuilder
from kinetree.model.joints import JOINTS, Free, Joint
from kinetree.model.loaders.document import read_document
from kinetree.model.loaders.xml import Element, parse
from kinetree.spatial.rotation import normalized

FOLDERS = (".", "srdf", "../srdf")
MOST_FILES = 50
"""Files that are looked at: more are of no one robot."""


def read_srdf(srdf: str | bytes | os.PathLike[str], builder: ModelBuilder) -> None:
    """Add the postures of a given SRDF file or document."""
    document = read_document(srdf)
    source = document.source if document.path else "the given SRDF document"
    _read(parse(document.text, source), source, builder)


def read_srdf_beside(path: Path, builder: ModelBuilder) -> None:
    """Add the postures of the SRDF file that lies beside a URDF file, if there is one."""
    found: dict[Path, Element] = {}
    for folder in FOLDERS:
        try:
            files = sorted((path.parent / folder).glob("*.srdf"))[:MOST_FILES]
        except OSError:
            continue
        for file in files:
            try:
                root = parse(read_document(file).text, str(file))
            except ModelError as problem:
                builder.note("SRDF", f"{problem}, so it was not read")
                continue
            if root.tag == "robot" and root.attributes.get("name") == builder.name:
                found[file] = root
    own = [file for file in found if file.stem == path.stem] or list(found)
    if own:
        _read(found[own[0]], str(own[0]), builder)
    for file in own[1:]:
        builder.note("SRDF", f"{file.name} also describes a robot of this name and was not read; select it by srdf=…")


def _read(root: Element, source: str, builder: ModelBuilder) -> None:
    if root.tag != "robot":
        raise ModelError(f"{source}: the root element is <{root.tag}>; expected <robot>, with <group_state> in it")
    postures: dict[str, dict[str, float | tuple[float, ...]]] = {}
    for state in root.all("group_state"):
        name = state.attributes.get("name", "")
        if not name:
            raise ModelError(f"{source}, line {state.line}: a <group_state> has no name")
        positions = postures.setdefault(name, {})
        for joint in state.all("joint"):
            _add(joint, f"group state {name!r}", source, positions, builder)
    for name, positions in postures.items():
        builder.posture(name, positions)


def _add(
    joint: Element, state: str, source: str, positions: dict[str, float | tuple[float, ...]], builder: ModelBuilder
) -> None:
    name, text = joint.attributes.get("name", ""), joint.attributes.get("value", "")
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.zeros(0)
    if not values.size or not np.isfinite(values).all():
        where = f"{source}, line {joint.line}"
        raise ModelError(f"{where}: {state}, joint {name!r}: value is {short(text)}; expected finite numbers")
    known = builder.joints.get(name)
    kind: type[Joint] = JOINTS[known.kind] if known is not None else Free
    if known is None and len(values) != Free.nq:
        builder.note(f"SRDF, {state}", f"there is no joint {name!r}, so its position was ignored", joint.line)
        return
    if len(values) != kind.nq:
        counts = f"it has {len(values)} numbers for a {kind.kind} joint, which has {kind.nq}"
        builder.note(f"SRDF, {state}", f"joint {name!r}: {counts}, so its position was ignored", joint.line)
        return
    if kind.quaternion_start is not None:
        part = slice(kind.quaternion_start, kind.quaternion_start + 4)
        if not values[part].any():
            builder.note(f"SRDF, {state}", f"joint {name!r}: its quaternion is zero, so it was ignored", joint.line)
            return
        values[part] = normalized(values[part])
    place = name if known is not None else FLOATING_BASE
    if place in positions:
        builder.note(f"SRDF, {state}", f"joint {name!r} has two positions; the first was kept", joint.line)
        return
    positions[place] = tuple(values.tolist()) if len(values) > 1 else float(values[0])
