"""Constraints between frames: what is held to the world, and which frames are held together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np

from kinetree.arguments import as_constant
from kinetree.errors import ArgumentError, one_of, short
from kinetree.ops import Array
from kinetree.spatial import Transform
from kinetree.spatial.rotation import is_rotation_matrix

ContactKind: TypeAlias = Literal["point", "surface"]
LoopKind: TypeAlias = Literal["point", "rigid"]


@final
@dataclass(frozen=True)
class Contact:
    """A frame held to the world: its origin ('point', three equations), or its origin and axes ('surface', six).

    `at` says where, as a point (3,) or a pose (4, 4) of the world. Without it the frame is held wherever it is: its
    acceleration and velocity are constrained, and it has no position error.
    """

    frame: str
    kind: ContactKind = "point"
    at: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", one_of("kind", self.kind, ("point", "surface")))
        if self.at is not None:
            object.__setattr__(self, "at", _place(self.at, self.kind))

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    @property
    def size(self) -> int:
        """How many equations it is."""
        return 3 if self.kind == "point" else 6

    @property
    def target(self) -> Transform | None:
        """From world coordinates to those of the place where the frame is held."""
        if self.at is None:
            return None
        at = np.array(self.at)
        return Transform(np.eye(3), at) if at.ndim == 1 else Transform.from_pose(at)


@final
@dataclass(frozen=True)
class Loop:
    """Two frames held together: their origins ('point', three equations), or origins and axes ('rigid', six)."""

    frame_a: str
    frame_b: str
    kind: LoopKind = "point"

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", one_of("kind", self.kind, ("point", "rigid")))

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame_a, self.frame_b)

    @property
    def size(self) -> int:
        """How many equations it is."""
        return 3 if self.kind == "point" else 6


Constraint: TypeAlias = Contact | Loop


@dataclass(frozen=True)
class ConstraintSet:
    """Constraints that hold together, and how their equations are solved."""

    constraints: tuple[Constraint, ...]
    damping: float
    """Of the solve, relative to the inverse inertia that each constraint meets."""
    frequency: float
    """With which errors decay [rad/s]; zero leaves them as they are."""
    damping_ratio: float
    actuated: tuple[int, ...]
    """The entries of v that have a motor."""

    @property
    def size(self) -> int:
        """How many equations they are."""
        return sum(constraint.size for constraint in self.constraints)

    @property
    def rows(self) -> tuple[slice, ...]:
        """Which equations belong to each constraint."""
        rows, end = [], 0
        for constraint in self.constraints:
            rows.append(slice(end, end + constraint.size))
            end += constraint.size
        return tuple(rows)


def _place(at: object, kind: ContactKind) -> tuple[Any, ...]:
    """A point or a pose as tuples of floats, which can be compared and written without loss."""
    if kind == "point":
        point: Array = as_constant("at", at, (3,))
        return tuple(point.tolist())
    pose: Array = as_constant("at", at, (4, 4))
    if not is_rotation_matrix(pose[:3, :3]) or np.any(pose[3] != (0.0, 0.0, 0.0, 1.0)):
        raise ArgumentError(f"at is {short(pose)}; expected a pose, [[R, p], [0, 1]] with a rotation matrix R")
    return tuple(map(tuple, pose.tolist()))
