"""Which bodies of a MuJoCo model are the robot: all of them, or one tree of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.errors import unknown
from kinetree.model.builder import ModelBuilder
from kinetree.ops import Array

FREE = 0
"""MuJoCo's number of free joints."""


def bodies_of_robot(model: Any, builder: ModelBuilder, links: Sequence[str], base: str, root: str | None) -> list[int]:
    """The bodies to read, the root first.

    On a fixed base that is the world with all there is on it; with a `root`, of what moves only the tree of that body.
    With a floating base it is the tree of the root, by default of the free body that carries most joints, or of the
    only body on the world, if it has no joint; otherwise the world itself floats.
    """
    tops = _tops(model)
    on_world = [i for i in range(1, model.nbody) if model.body_parentid[i] == 0]
    if root is not None:
        names = [links[i] for i in on_world]
        if root not in names:
            raise unknown("body on the world", root, names)
        chosen = on_world[names.index(root)]
    elif base == "fixed":
        return list(range(model.nbody))
    else:
        free = [i for i in on_world if _is_free(model, i)]
        carried = np.bincount(tops, weights=model.body_jntnum, minlength=model.nbody)
        chosen = max(free, key=lambda i: carried[i], default=0)
        if not free and len(on_world) == 1 and not model.body_jntnum[on_world[0]]:
            chosen = on_world[0]
        if not chosen:
            return list(range(model.nbody))
    if base == "fixed":
        moves = _moves(model)
        return [i for i in range(model.nbody) if tops[i] == chosen or not moves[i]]
    if model.body_jntnum[chosen] and not _is_free(model, chosen):
        raise builder.error(
            "base='floating'", f"body {links[chosen]!r} hangs on the world by a joint; expected base='fixed'"
        )
    return [i for i in range(model.nbody) if tops[i] == chosen]


def note_left_behind(
    model: Any, builder: ModelBuilder, links: Sequence[str], inside: Sequence[int], named: Mapping[str, Sequence[str]]
) -> None:
    """Lists what the file has besides the robot."""
    kept = set(inside)
    outside = [i for i in range(model.nbody) if i not in kept]
    if not outside:
        return
    moves = _moves(model)
    root = next((i for i in inside if i and model.body_parentid[i] == 0 and moves[i]), inside[0])
    moving = [i for i in outside if moves[i] and not moves[model.body_parentid[i]]]
    if moving:
        names = ", ".join(repr(links[i]) for i in moving[:4]) + (", …" if len(moving) > 4 else "")
        many = (
            f"{len(moving)} bodies that move ({names}), and what they carry, were"
            if len(moving) > 1
            else (f"body {names}, which moves, was")
        )
        message = f"{many} left out; the robot is {links[root]!r}, root= chooses another, base='fixed' keeps all"
        builder.note("world", message, count=len(moving))
    fixed = {i for i in outside if not moves[i]}
    lost: dict[str, list[Any]] = {
        "body": [links[i] for i in sorted(fixed) if i],
        "geom": [i for i in range(model.ngeom) if model.geom_bodyid[i] in fixed],
        "site": [name for i, name in enumerate(named["site"]) if model.site_bodyid[i] in fixed],
        "camera": [name for i, name in enumerate(named["camera"]) if model.cam_bodyid[i] in fixed],
    }
    for kind, items in lost.items():
        if items:
            names = f" ({', '.join(map(str, items[:5]))})" if kind != "geom" else ""
            message = f"{len(items)} × <{kind}>{names} fixed to the world left out, because {links[root]!r} floats"
            builder.note("world", f"{message}; base='fixed' keeps the world", count=len(items))


def _tops(model: Any) -> Array:
    """For every body the one on the world that carries it, or it is; bodies come after those that carry them."""
    tops = np.zeros(model.nbody, dtype=int)
    for i in range(1, model.nbody):
        parent = int(model.body_parentid[i])
        tops[i] = tops[parent] if parent else i
    return tops


def _moves(model: Any) -> Array:
    """Whether there is a joint between each body and the world."""
    moves = np.zeros(model.nbody, dtype=bool)
    for i in range(1, model.nbody):
        moves[i] = bool(model.body_jntnum[i]) or moves[model.body_parentid[i]]
    return moves


def _is_free(model: Any, body: int) -> bool:
    return bool(model.body_jntnum[body]) and int(model.jnt_type[model.body_jntadr[body]]) == FREE
