"""Shapes of results for one state, as functions of a model."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.model.tree import Model

Shape = tuple[int, ...]


def _of(*sizes: int | str) -> Callable[[Model], Shape]:
    """The shape of these sizes: numbers, or names of numbers of a model."""
    return lambda model: tuple(getattr(model, size) if isinstance(size, str) else size for size in sizes)


scalar = _of()
point = _of(3)
six = _of(6)
three_by_three = _of(3, 3)
pose = _of(4, 4)
positions = _of("nq")
velocities = _of("nv")
square = _of("nv", "nv")
cube = _of("nv", "nv", "nv")
three_rows = _of(3, "nv")
six_rows = _of(6, "nv")
axes = _of("nv", 3)
body_poses = _of("n_bodies", 4, 4)
body_vectors = _of("n_bodies", 3)
body_sixes = _of("n_bodies", 6)
body_rows = _of("n_bodies", 6, "nv")
body_inertias = _of("n_bodies", 6, 6)


def equation(model: Model) -> tuple[Shape, ...]:
    """Five matrices (nv, nv) and a vector (nv,)."""
    return (*[(model.nv, model.nv)] * 5, (model.nv,))


def rows_of_joints(model: Model) -> Shape:
    """(3, nv - 6)."""
    return (3, max(0, model.nv - 6))
