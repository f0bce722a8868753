"""SRDF: the group states of a robot, which become its postures, groups, end effectors and disabled collisions.

A file beside the URDF document is read if it is of a robot of the same name: in the same folder, or in the folder srdf
next to it. States of the same name belong together, as those of a left and of a right arm.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np

from kinetree.errors import ModelError, short
from kinetree.model.assembly import FLOATING_BASE
from kinetree.model.builder import ModelBuilder
from kinetree.model.joints import JOINTS, Free, Joint
from kinetree.model.loaders.document import read_document
from kinetree.model.loaders.xml import Element, parse
from kinetree.model.semantics import EndEffector, Semantics, pairs
from kinetree.spatial.rotation import normalized

KNOWN = ("group", "group_state", "end_effector", "disable_collisions", "virtual_joint")
FOLDERS = (".", "srdf", "../srdf")
MOST_FILES = 50
"""Files that are looked at: more are of no one robot."""
MOST_JOINTS = 1_000_000
"""Joints and groups that are met on the way through all groups and chains."""


def read_srdf(srdf: str | bytes | os.PathLike[str], builder: ModelBuilder, base: str) -> None:
    """Add what a given SRDF file or document has."""
    document = read_document(srdf)
    source = document.source if document.path else "the given SRDF document"
    _read(parse(document.text, source), source, builder, base)


def read_srdf_beside(path: Path, builder: ModelBuilder, base: str) -> None:
    """Add what the SRDF file has that lies beside a URDF file, if there is one."""
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
        _read(found[own[0]], str(own[0]), builder, base)
    for file in own[1:]:
        builder.note("SRDF", f"{file.name} also describes a robot of this name and was not read; select it by srdf=…")


def _read(root: Element, source: str, builder: ModelBuilder, base: str) -> None:
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
    for joint in root.all("virtual_joint"):
        kind = joint.attributes.get("type", "")
        if kind != "fixed" and (kind, base) != ("floating", "floating"):
            name, wanted = joint.attributes.get("name", ""), "base='floating'" if kind == "floating" else "base="
            message = f"it says that the base is {short(kind)}, by joint {name!r}; here {wanted} decides that"
            builder.note("SRDF, virtual joint", message, joint.line)
    tools = {}
    for element in root.all("end_effector"):
        name, *ends = (element.attributes.get(key, "") for key in ("name", "parent_link", "group", "parent_group"))
        tools[name] = EndEffector(*ends)
    apart = pairs(
        (pair.attributes.get("link1", ""), pair.attributes.get("link2", "")) for pair in root.all("disable_collisions")
    )
    builder.semantics = builder.semantics.joined(Semantics(_Groups(root, source, builder).joints(), tools, apart))
    ignored = Counter(child.tag for child in root.children if child.tag not in KNOWN)
    for tag, count in ignored.items():
        builder.note(f"SRDF, <{tag}>", f"{count} element{'s were' if count > 1 else ' was'} ignored", count=count)


class _Groups:
    """The joints of each group: listed, above listed links, between the ends of chains, and those of other groups."""

    def __init__(self, root: Element, source: str, builder: ModelBuilder) -> None:
        self.source, self.met = source, 0
        self.above = {joint.child: joint for joint in builder.joints.values()}
        self.own: dict[str, dict[str, None]] = {}
        self.inner: dict[str, dict[str, None]] = {}
        for group in root.all("group"):
            name = group.attributes.get("name", "")
            joints, others = self.own.setdefault(name, {}), self.inner.setdefault(name, {})
            for part in group.children:
                listed = part.attributes.get("name", "")
                if part.tag == "group":
                    others[listed] = None
                elif part.tag == "joint" and listed in builder.joints:
                    joints[listed] = None
                elif part.tag == "link" and listed in builder.links:
                    joints |= dict.fromkeys([self.above[listed].name] if listed in self.above else [])
                elif part.tag == "chain":
                    joints |= dict.fromkeys(self._chain(part))
                else:
                    message = f"<{part.tag}> {short(listed)} is no part of the robot, so it was ignored"
                    builder.note(f"SRDF, group {name!r}", message, part.line)

    def joints(self) -> dict[str, tuple[str, ...]]:
        """By group, with those of the groups in it; a group that is in itself counts once."""
        found = {}
        for group in self.own:
            waiting, met, joints = [group], {group}, dict[str, None]()
            while waiting:
                name = waiting.pop()
                joints |= self.own.get(name, {})
                self._count(1 + len(self.own.get(name, {})) + len(self.inner.get(name, {})))
                new = [each for each in self.inner.get(name, {}) if each not in met]
                met.update(new)
                waiting += reversed(new)
            found[group] = tuple(joints)
        return found

    def _chain(self, chain: Element) -> list[str]:
        """The joints between two links, from the first to the last; none if they do not hang on each other."""
        paths = []
        for end in ("base_link", "tip_link"):
            link, path = chain.attributes.get(end, ""), dict[str, None]()
            while link in self.above and self.above[link].name not in path:
                path[self.above[link].name] = None
                link = self.above[link].parent
            self._count(len(path))
            paths.append(path)
        to_base, to_tip = ([joint for joint in path if joint not in other] for path, other in (paths, paths[::-1]))
        return [*to_base, *reversed(to_tip)]

    def _count(self, more: int) -> None:
        self.met += more
        if self.met > MOST_JOINTS:
            raise ModelError(f"{self.source}: its groups have more than {MOST_JOINTS} joints; no robot has that many")


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
    place, start = name if known is not None else FLOATING_BASE, kind.quaternion_start
    quaternion = slice(0, 0) if start is None else slice(start, start + 4)
    problem = None
    if known is None and len(values) != Free.nq:
        problem = f"there is no joint {name!r}, so its position was ignored"
    elif len(values) != kind.nq:
        counts = f"it has {len(values)} numbers for a {kind.kind} joint, which has {kind.nq}"
        problem = f"joint {name!r}: {counts}, so its position was ignored"
    elif start is not None and not values[quaternion].any():
        problem = f"joint {name!r}: its quaternion is zero, so it was ignored"
    elif place in positions:
        problem = f"joint {name!r} has two positions; the first was kept"
    if problem is not None:
        builder.note(f"SRDF, {state}", problem, joint.line)
        return
    if start is not None:
        values[quaternion] = normalized(values[quaternion])
    positions[place] = tuple(values.tolist()) if len(values) > 1 else float(values[0])
