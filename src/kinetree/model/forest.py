"""The trees that stand on the world, and which of them are copies of one another.

Trees with no joint between them move on their own: M is block diagonal, and inverse and forward dynamics of each are
those of a robot of its own. A scene of a hundred equal robots has one formula, with a hundred places in q and v.
Gravity is the same everywhere, so that copies may stand anywhere, as long as their first placements turn alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kinetree.model.tree import FramePlacement, Limits, Model
from kinetree.ops import Array
from kinetree.spatial import Inertia, Transform


class Root(NamedTuple):
    """Where a tree begins: its number among the bodies of `poses`, and where it stands in the world [m]."""

    body: int
    position: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Copies:
    """A tree as a model of its own, and where each of its copies begins in q and in v."""

    model: Model
    places: tuple[tuple[int, int], ...]
    roots: tuple[Root, ...]

    @property
    def bodies(self) -> int:
        """How many bodies all copies have."""
        return self.model.n_bodies * len(self.places)

    def entries(self, name: str) -> Array:
        """The entries of each copy in "q", "v" or the "bodies" of the whole, (copies, n)."""
        starts = [*zip(*self.places, strict=True), [root.body for root in self.roots]]
        k = ("q", "v", "bodies").index(name)
        size = (self.model.nq, self.model.nv, self.model.n_bodies)[k]
        found: Array = np.array(starts[k])[:, None] + np.arange(size)
        return found


def copies(model: Model) -> tuple[Copies, ...]:
    """All trees of a model, equal ones together; none if all are different, or if they do not move on their own."""
    if model.parametric is not None or any(tendon.path for tendon in model.tendons):
        return ()  # the path of a tendon goes by frames, which copies do not have
    found: dict[str, tuple[Model, list[tuple[int, int]], list[Root]]] = {}
    trees = list(_trees(model))
    if len(trees) < 2:
        return ()
    for bodies in trees:
        place = _place(model, bodies)
        alone = None if place is None else _alone(model, bodies, *place)
        if place is None or alone is None:
            return ()
        _, places, roots = found.setdefault(alone.digest, (alone, [], []))
        x, y, z = model.placements[bodies.start].p.tolist()
        places.append(place)
        roots.append(Root(bodies.start - 1, (x, y, z)))
    if len(found) == len(trees) or sum(tree.nv * len(places) for tree, places, _ in found.values()) != model.nv:
        return ()
    if sum(len(tree.tendons) * len(places) for tree, places, _ in found.values()) != len(model.tendons):
        return ()  # one is from tree to tree
    return tuple(Copies(tree, tuple(places), tuple(roots)) for tree, places, roots in found.values() if tree.nv)


def _trees(model: Model) -> Iterator[range]:
    """The bodies of each tree, which are numbered one after the other."""
    starts = [i for i, p in model.root_to_tips() if p == 0]
    return (range(start, end) for start, end in pairwise([*starts, len(model.parents)]))


def _place(model: Model, bodies: range) -> tuple[int, int] | None:
    """Where the coordinates of a tree begin in q and v; None if they are not one behind the other, or another's."""
    owners = [model.joints[i] for i in bodies if model.joints[i].owns_coordinates]
    iq, iv = (owners[0].iq, owners[0].iv) if owners else (0, 0)
    nq, nv = sum(joint.nq for joint in owners), sum(joint.nv for joint in owners)
    for i in bodies:
        joint = model.joints[i]
        inside = iq <= joint.iq <= iq + nq - joint.nq and iv <= joint.iv <= iv + nv - joint.nv
        if joint.nv and not inside:
            return None
    return iq, iv


def _alone(model: Model, bodies: range, iq: int, iv: int) -> Model | None:
    """The tree as a model of its own, with names that copies share and its first origin at that of the world; None if
    a body has its parent in another tree."""
    first = bodies.start
    parents = [max(0, model.parents[i] - first + 1) if model.parents[i] else 0 for i in bodies]
    if any(p >= k for k, p in enumerate(parents, 1)) or any(0 < model.parents[i] < first for i in bodies):
        return None
    called = {model.joints[i].name: f"joint {k}" for k, i in enumerate(bodies, 1)}
    joints = []
    for i in bodies:
        joint: Any = model.joints[i]
        other = {"leader": called[joint.leader]} if joint.follows is not None else {}
        moved = {"iq": joint.iq - iq, "iv": joint.iv - iv} if joint.nv else {}
        joints.append(replace(joint, name=called[joint.name], **moved, **other))
    own = [each for each in model.tendons if all(name in called for name, _ in each.joints)]
    tendons = [replace(each.renamed(called.__getitem__, str), name=f"tendon {k}") for k, each in enumerate(own)]
    nq, nv = (sum(getattr(joint, n) for joint in joints if joint.owns_coordinates) for n in ("nq", "nv"))
    free = [np.full(n, np.inf) for n in (nq, nq, nv, nv)]
    placements = [model.placements[i] for i in bodies]
    placements[0] = Transform(placements[0].R, np.zeros(3))
    return Model(
        name=model.name,
        joints=(replace(model.joints[0], name="world"), *joints),
        parents=(0, *parents),
        placements=(Transform.identity(), *placements),
        inertias=(Inertia.zero(), *(model.inertias[i] for i in bodies)),
        names=("world", *(f"body {k}" for k in range(1, len(bodies) + 1))),
        frames=(FramePlacement("world", 0, Transform.identity()),),
        limits=Limits(*free),
        gravity=model.gravity,
        spatial_order=model.spatial_order,
        passive=model.passive,
        friction_width=model.friction_width,
        tendons=tuple(tendons),
        compensated=(Inertia.zero(), *(model.compensated[i] for i in bodies)) if model.compensated else (),
        fluid=model.fluid,
        drag=tuple((i - first + 1, shape) for i, shape in model.drag if i in bodies),
    )
