"""Shapes of results for one state, as functions of a model."""

from __future__ import annotations

from kinetree.model.tree import Model

Shape = tuple[int, ...]


def scalar(model: Model) -> Shape:
    """()."""
    return ()


def point(model: Model) -> Shape:
    """(3,)."""
    return (3,)


def six(model: Model) -> Shape:
    """(6,)."""
    return (6,)


def three_by_three(model: Model) -> Shape:
    """(3, 3)."""
    return (3, 3)


def pose(model: Model) -> Shape:
    """(4, 4)."""
    return (4, 4)


def positions(model: Model) -> Shape:
    """(nq,)."""
    return (model.nq,)


def velocities(model: Model) -> Shape:
    """(nv,)."""
    return (model.nv,)


def square(model: Model) -> Shape:
    """(nv, nv)."""
    return (model.nv, model.nv)


def cube(model: Model) -> Shape:
    """(nv, nv, nv)."""
    return (model.nv, model.nv, model.nv)


def three_rows(model: Model) -> Shape:
    """(3, nv)."""
    return (3, model.nv)


def six_rows(model: Model) -> Shape:
    """(6, nv)."""
    return (6, model.nv)


def axes(model: Model) -> Shape:
    """(nv, 3)."""
    return (model.nv, 3)


def body_poses(model: Model) -> Shape:
    """(nbodies, 4, 4)."""
    return (model.n_bodies, 4, 4)


def body_vectors(model: Model) -> Shape:
    """(nbodies, 3)."""
    return (model.n_bodies, 3)


def body_sixes(model: Model) -> Shape:
    """(nbodies, 6)."""
    return (model.n_bodies, 6)


def body_rows(model: Model) -> Shape:
    """(nbodies, 6, nv)."""
    return (model.n_bodies, 6, model.nv)


def body_inertias(model: Model) -> Shape:
    """(nbodies, 6, 6)."""
    return (model.n_bodies, 6, 6)


def equation(model: Model) -> tuple[Shape, ...]:
    """Five matrices (nv, nv) and a vector (nv,)."""
    return (*[(model.nv, model.nv)] * 5, (model.nv,))


def rows_of_joints(model: Model) -> Shape:
    """(3, nv - 6)."""
    return (3, max(0, model.nv - 6))
