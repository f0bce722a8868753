"""Products of what belongs to two columns of a tree's joints, of which one is on the way to the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from kinetree.linalg import pair_products
from kinetree.model.tree import Model
from kinetree.ops import Array, for_each
from kinetree.spatial import Force, Motion, SpatialOrder

T = TypeVar("T")


class ColumnPairs:
    """The columns of steps, each with its body and its places in v, given from the root to the tips; and all pairs
    (i, j) with i on the way to j, but in another step."""

    def __init__(self, model: Model, steps: Sequence[tuple[int, slice, tuple[Motion, ...]]]) -> None:
        numbers: dict[int, list[int]] = {}
        self.at: list[int] = []
        self.pairs: list[tuple[int, int]] = []
        for body, at, S in steps:
            own = range(len(self.at), len(self.at) + len(S))
            self.pairs += [(i, j) for k in model.support(body) for i in numbers.get(k, ()) for j in own]
            numbers.setdefault(body, []).extend(own)
            self.at += range(at.start, at.stop)
        self.S = rows_of(s for _, _, S in steps for s in S)

    def add(self, matrices: Sequence[Array], A: Array, B: Sequence[Array], swapped: bool = False) -> None:
        """Add A_i · B_j for every pair to each of the matrices, with a B for each; or A_j · B_i, if swapped."""
        pairs = [(j, i) for i, j in self.pairs] if swapped else self.pairs
        products = pair_products(A, np.concatenate(B), [(i, j + k * len(A)) for i, j in pairs for k in range(len(B))])
        for k, matrix in enumerate(matrices):
            for i, j in pairs:  # +=: a mimic joint shares the entries of its leader
                matrix[self.at[i], self.at[j]] += products[i, j + k * len(A)]


def for_each_step(
    function: Callable[..., T], items: Sequence[tuple[Any, ...]], columns: Sequence[int], *like: Array
) -> list[T]:
    """The results of a function of one step for each of them, with their counts of columns; those of one column are
    alike."""
    alike = iter(for_each(function, [item for item, n in zip(items, columns, strict=True) if n == 1], *like))
    return [next(alike) if n == 1 else function(*item) for item, n in zip(items, columns, strict=True)]


def rows_of(vectors: Iterable[Motion | Force], order: SpatialOrder = "linear-first") -> Array:
    """One row for each motion or force, (…, 6)."""
    return np.array([vector.vector(order) for vector in vectors]).reshape(-1, 6)


def block(motions: Sequence[Motion], forces: Sequence[Force]) -> Array:
    """sᵀ f of every motion with every force."""
    return np.array([s.dot(f) for s in motions for f in forces]).reshape(len(motions), len(forces))
