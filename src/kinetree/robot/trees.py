"""Scenes of equal trees: what a quantity of the whole is, given that of each tree.

Trees on the world move on their own, so that a matrix (nv, nv) has a block for each of them and zeros elsewhere. Copies
of a tree are computed as a batch of the tree alone, whose code is compiled once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from kinetree.model.forest import Copies
from kinetree.model.tree import Model
from kinetree.ops import Array

MANY_BODIES = 100
"""From so many on, copies of a tree share their code: it is compiled in less time, and runs a few percent slower than
one long sequence of operations."""
Put: TypeAlias = Callable[[Array, Array, Copies], None]
"""Writes what was computed for all copies of a tree, (…, copies, *shape), where it belongs in that of the whole."""


def shared(model: Model) -> tuple[Copies, ...]:
    """The trees of a large scene that are compiled once for all their copies; none in other models."""
    return model.copies if model.n_bodies >= MANY_BODIES else ()


def of_copies(array: Array, copies: Copies, name: str) -> Array:
    """The parts of an array (…, n) of positions ("q…") or of velocities that belong to the copies, (…, copies, m)."""
    part: Array = array[..., copies.entries("q" if name.startswith("q") else "v")]
    return part


def put_blocks(whole: Array, parts: Array, copies: Copies) -> None:
    """Blocks on the diagonal of (nv, nv)."""
    rows = copies.entries("v")
    whole[..., rows[:, :, None], rows[:, None, :]] = parts


def put_bodies(whole: Array, parts: Array, copies: Copies) -> None:
    """Rows of bodies, (nbodies, n)."""
    whole[..., copies.entries("bodies"), :] = parts


def add(whole: Array, parts: Array, copies: Copies) -> None:
    """One number, the sum of those of all trees."""
    whole += parts.sum(axis=-1)


def put_poses(whole: Array, parts: Array, copies: Copies) -> None:
    """Poses of bodies, of trees that stand elsewhere."""
    poses = np.array(parts)
    poses[..., :3, 3] += np.array([root.position for root in copies.roots])[:, None, :]
    whole[..., copies.entries("bodies"), :, :] = poses
